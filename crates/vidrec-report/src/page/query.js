// Which clips are wanted, in which order.

/// The words of a query; quotes keep a word together.
const queryWords = (text) => [...text.matchAll(/(-?)(?:([^\s"':=<>]+|"[^"]*")(>=|<=|[:=<>]))?("[^"]*"|\S+)/g)].map(([, not, name, how, value]) => ({
  not: not === "-", name: name?.replaceAll('"', ""), how, value: value.replace(/^"|"$/g, "").toLowerCase(),
}));

function fits(clip, { name, how, value }) {
  if (!name) return clip.text.includes(value);
  let found = clip.values.get(name) ?? clip.values.get(`video.${name}`);
  if (found === undefined && name === "finding") found = clip.findings.map((finding) => finding.kind).join(" ");
  if (found === undefined || found === null) return false;
  if (how === ":") return String(found).toLowerCase().includes(value);
  if (how === "=") return String(found).toLowerCase() === value || (typeof found === "number" && found === Number(value));
  const [a, b] = [Number(found), Number(value)];
  return how === ">" ? a > b : how === "<" ? a < b : how === ">=" ? a >= b : a <= b;
}

const ONLY = {
  "": ["all clips", () => true],
  "flagged": ["flagged", (clip) => flags.has(clip.key)],
  "findings": ["in findings", (clip) => clip.findings.length > 0],
  "short": ["short videos", (clip) => clip.short],
  "damaged": ["damaged frames", (clip) => clip.strip?.damaged.length > 0 || clip.values.get("video.damaged_frames") > 0 || clip.values.get("video.decode_errors") > 0],
};

/// The clips that a state of the page asks for.
function wanted(state) {
  const words = queryWords(state.q ?? "");
  const only = ONLY[state.only ?? ""] ?? [null, (clip) => clip.findings.some((finding) => finding.kind === state.only)];
  const ofClass = (state.class ?? "").toLowerCase();
  const exact = clips.some((clip) => clip.class.toLowerCase() === ofClass);
  const found = clips.filter((clip) =>
    (state.set === undefined || clip.set === Number(state.set))
    && (!ofClass || (exact ? clip.class.toLowerCase() === ofClass : clip.class.toLowerCase().includes(ofClass)))
    && only[1](clip)
    && words.every((word) => fits(clip, word) !== word.not));
  const name = state.sort;
  if (name) {
    const value = (clip) => (name === "findings" ? clip.findings.length : clip.values.get(name));
    const missing = (v) => v === undefined || v === null || v === "";
    const order = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true }));
    const sign = state.desc ? -1 : 1;
    found.sort((a, b) => {
      const [x, y] = [value(a), value(b)];
      if (missing(x) || missing(y)) return missing(x) - missing(y) || a.index - b.index;
      return sign * order(x, y) || a.index - b.index;
    });
  } else if (state.desc) {
    found.reverse();
  }
  return found;
}
