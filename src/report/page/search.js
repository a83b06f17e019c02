// The worker that finds clips: reads descriptions of clips piece by piece, and tells what it has found as it goes.

/// Milliseconds between two messages, clips of a piece, and pieces that are asked for ahead.
const PACE = 100, PIECE = 4096, AHEAD = 3;
/// The most letters of descriptions that are kept for the next search.
const KEPT = 256 << 20;

let base, latest = 0;

/// Lines with descriptions of clips of a data set, from clip `first` on. The server sends fewer than a piece if they are long.
const pieces = (() => {
  const kept = new Map();
  let letters = 0;
  async function read(path) {
    const answer = await fetch(`${base}${path}`);
    const text = await answer.text();
    if (!answer.ok) throw new Error(text.trim());
    letters += text.length;
    return text.slice(0, -1).split("\n");
  }
  return (set, first) => {
    const path = `${set}/clips/${first}`;
    const known = kept.get(path);
    if (known) return known;
    const lines = read(path);
    if (letters < KEPT) kept.set(path, lines);
    lines.catch(() => kept.delete(path));
    return lines;
  };
})();

/// Texts, in lower case, that the description of a clip contains if the clip meets the conditions. What can be written in several
/// ways, such as a number or a quote in JSON, is not among them.
function needles(words, state) {
  const isPlain = (value) => value && JSON.stringify(value) === `"${value}"`;
  const isUsual = (value) => !value.includes(",") && (Number.isNaN(Number(value)) || String(Number(value)) === value);
  const isOfIndex = (name) => OWN.includes(name) || name === "finding";
  const isText = ({ name, how, value }) => !name || ((how === ":" || how === "=") && (name === "class" || name === "source" || (!isOfIndex(name) && isUsual(value))));
  const found = words.filter((word) => !word.not && isPlain(word.value) && isText(word)).map(({ value }) => value);
  return state.class && isPlain(state.class) ? [...found, state.class.toLowerCase()] : found;
}

/// The numbers of the clips of each data set that a state of the page is about, if they are known without a search.
function listedClips({ only }, flagged) {
  if (!only || (ONLY[only] && only !== "findings" && only !== "flagged")) return null;
  const isOf = ([, found]) => only === "findings" || found.some(({ kind }) => kind === only);
  const keys = only === "flagged" ? [...flagged] : [...findingsOf].filter(isOf).map(([key]) => key);
  const listed = report.sets.map(() => []);
  for (const [set, clip] of keys.map((key) => key.split(".").map(Number))) listed[set]?.push(clip);
  return listed;
}

/// What a search does not read of a clip.
const UNKNOWN = ["seconds", "bytes", "bytes per frame"];

async function search(state, flagged, isWanted, tell) {
  const words = state.words ?? queryWords(state.q ?? "");
  const asked = [...words.map(({ name }) => name), state.sort].find((name) => UNKNOWN.includes(name));
  if (asked) {
    tell({ found: [], done: true, why: `No clip is found by ${asked} here: that would need to read the entries of all frames. vidrec inspect --stats has them.` });
    return;
  }
  const fits = matcher(state, [...new Set(report.sets.flatMap((set) => set.class_names))], (key) => flagged.has(key));
  const wanted = needles(words, state);
  let found = [], searched = 0, damaged = 0, told = performance.now();
  const listed = listedClips(state, flagged);
  const isSorted = Boolean(state.sort || state.desc);
  for (const { set, first, last, index } of ranges(state)) {
    const isListed = !listed || listed[set].some((one) => one >= first && one < last);
    // The next pieces come while this one is searched.
    for (let next = first + PIECE; !listed && next < Math.min(first + AHEAD * PIECE, report.sets[set].clips); next += PIECE) pieces(set, next).catch(() => {});
    for (let at = first; isListed && at < last;) {
      const lines = await pieces(set, at);
      if (!isWanted()) return;
      for (let i = 0; i < Math.min(lines.length, last - at); i += 1) {
        const isFault = lines[i].startsWith('{"fault"');
        damaged += isFault;
        const lower = wanted.length && !isFault ? lines[i].toLowerCase() : "";
        if (isFault || !wanted.every((one) => lower.includes(one))) continue;
        const clip = new Clip(JSON.parse(lines[i]));
        if (fits(clip)) found.push({ index: index + at - first + i, value: sortValue(clip, state.sort) });
      }
      at += lines.length;
    }
    searched += last - first;
    if (performance.now() - told > PACE) {
      tell({ found: isSorted ? [] : found.map((one) => one.index), searched });
      if (!isSorted) found = [];
      // Lets a newer search in.
      await new Promise((resume) => setTimeout(resume, 0));
      told = performance.now();
      if (!isWanted()) return;
    }
  }
  tell({ found: arranged(found, state), searched, done: true, damaged });
}

/// The pieces of all data sets that a state of the page asks for, with the index of their first clip on the page.
function* ranges(state) {
  let start = 0;
  for (const [set, { clips }] of report.sets.entries()) {
    for (let first = 0; first < clips && (state.set === undefined || set === Number(state.set)); first += PIECE) {
      yield { set, first, last: Math.min(first + PIECE, clips), index: start + first };
    }
    start += clips;
  }
}

onmessage = async ({ data }) => {
  if (data.head) {
    base = data.base;
    begin(data.head);
    return;
  }
  const { number, stop, lookup, state, flagged } = data;
  // A newer search ends the one before; a lookup ends none.
  if (!lookup) latest = number ?? stop;
  if (stop) return;
  const isWanted = () => lookup !== undefined || number === latest;
  const tell = (what) => { if (isWanted()) postMessage({ number, lookup, ...what }); };
  try {
    await search(state, new Set(flagged), isWanted, tell);
  } catch (e) {
    tell({ found: [], done: true, why: `The search has failed: ${e.message}` });
  }
};
