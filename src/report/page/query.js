// Which clips are wanted, in which order.

/// The words of a query; quotes keep a word together.
const queryWords = (text) => [...text.matchAll(/(-?)(?:([^\s"':=<>]+|"[^"]*")(>=|<=|[:=<>]))?("[^"]*"|\S+)/g)].map(([, not, name, how, value]) => ({
  not: not === "-", name: name?.replaceAll('"', ""), how, value: value.replace(/^"|"$/g, "").toLowerCase(),
}));

function fits(clip, { name, how, value }) {
  if (!name) return clip.text.includes(value);
  let found = clip.value(name) ?? clip.value(`video.${name}`);
  if (found === undefined && name === "finding") found = clip.findings.map((finding) => finding.kind).join(" ");
  if (found === undefined || found === null) return false;
  if (how === ":") return String(found).toLowerCase().includes(value);
  if (how === "=") return String(found).toLowerCase() === value || (typeof found === "number" && found === Number(value));
  const [a, b] = [Number(found), Number(value)];
  return how === ">" ? a > b : how === "<" ? a < b : how === ">=" ? a >= b : a <= b;
}

const ONLY = {
  "": ["all clips", () => true],
  "flagged": ["flagged", (clip, isFlagged) => isFlagged(clip.key)],
  "findings": ["in findings", (clip) => clip.findings.length > 0],
  "short": ["short videos", (clip) => clip.short],
  "damaged": ["damaged frames", (clip) => clip.strip?.damaged.length > 0 || clip.value("video.damaged_frames") > 0 || clip.value("video.decode_errors") > 0],
};

/// Whether a name of a class is that which a state of the page asks for: the whole name if there is such a class.
function classMatcher(state, classNames) {
  const wanted = (state.class ?? "").toLowerCase();
  if (!wanted) return () => true;
  const exact = classNames.some((name) => name.toLowerCase() === wanted);
  return (name) => (exact ? name.toLowerCase() === wanted : name.toLowerCase().includes(wanted));
}

/// Whether a clip is among those that a state of the page asks for.
function matcher(state, classNames, isFlagged) {
  const words = state.words ?? queryWords(state.q ?? "");
  const only = ONLY[state.only ?? ""]?.[1] ?? ((clip) => clip.findings.some((finding) => finding.kind === state.only));
  const isOfClass = classMatcher(state, classNames);
  return (clip) => (state.set === undefined || clip.set === Number(state.set))
    && isOfClass(clip.class)
    && only(clip, isFlagged)
    && words.every((word) => fits(clip, word) !== word.not);
}

/// The value of a clip to sort by, if a state of the page names one.
const sortValue = (clip, name) => (!name ? undefined : name === "findings" ? clip.findings.length : clip.value(name));

const inOrder = new Intl.Collator("en", { numeric: true }).compare;

/// The indexes of found clips in the order that a state of the page asks for. `found` has the index and the value of each.
function arranged(found, state) {
  if (state.sort) {
    const missing = (v) => v === undefined || v === null || v === "";
    const order = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : inOrder(String(a), String(b)));
    const sign = state.desc ? -1 : 1;
    found.sort((a, b) => {
      if (missing(a.value) || missing(b.value)) return missing(a.value) - missing(b.value) || a.index - b.index;
      return sign * order(a.value, b.value) || a.index - b.index;
    });
  } else if (state.desc) {
    found.reverse();
  }
  return found.map((one) => one.index);
}
