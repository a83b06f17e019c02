// The worker that finds clips: reads clip tables and texts piece by piece, and tells what it has found as it goes.

/// Milliseconds between two messages, and pieces that are read ahead.
const PACE = 100, AHEAD = 3;

const sets = [];
let latest = 0;

/// Texts, in lower case, that the texts of a clip contain if it meets the conditions. What can be written in several ways, such as
/// a number or a quote in JSON, is not among them.
function needles(words, state) {
  const isPlain = (value) => value && JSON.stringify(value) === `"${value}"`;
  const isUsual = (value) => !value.includes(",") && (Number.isNaN(Number(value)) || String(Number(value)) === value);
  const isOfIndex = (name) => OWN.includes(name) || name === "finding";
  const isText = ({ name, how, value }) => !name || ((how === ":" || how === "=") && (name === "class" || name === "source" || (!isOfIndex(name) && isUsual(value))));
  const found = words.filter((word) => !word.not && isPlain(word.value) && isText(word)).map(({ value }) => value);
  return state.class ? [...found, state.class.toLowerCase()] : found;
}

/// The numbers of the clips of each data set that a state of the page is about, if they are known without a search.
function listedClips({ only }, flagged) {
  if (!only || (ONLY[only] && only !== "findings" && only !== "flagged")) return null;
  const isOf = ([, found]) => only === "findings" || found.some(({ kind }) => kind === only);
  const keys = only === "flagged" ? [...flagged] : [...findingsOf].filter(isOf).map(([key]) => key);
  const listed = sets.map(() => []);
  for (const [set, clip] of keys.map((key) => key.split(".").map(Number))) listed[set]?.push(clip);
  return listed;
}

/// What the index does not say of a clip.
const UNKNOWN = ["seconds", "bytes", "bytes per frame"];

async function search(state, flagged, isWanted, tell) {
  const words = state.words ?? queryWords(state.q ?? "");
  const asked = [...words.map(({ name }) => name), state.sort].find((name) => UNKNOWN.includes(name));
  if (asked) {
    tell({ found: [], done: true, why: `No clip is found by ${asked} here: that would need to read the entries of all frames. vidrec inspect --stats has them.` });
    return;
  }
  const fits = matcher(state, [...new Set(sets.flatMap((set) => set.listing.classes ?? []))], (key) => flagged.has(key));
  const wanted = needles(words, state);
  let found = [], searched = 0, damaged = 0, told = performance.now();
  const listed = listedClips(state, flagged);
  const isSorted = Boolean(state.sort || state.desc);
  for (const piece of pieces(state)) {
    const { set, shard, first, last, clip, index } = piece;
    searched += last - first;
    if (listed && !listed[set.number].some((one) => one >= clip && one < clip + last - first)) continue;
    const file = await set.index(shard);
    const chunk = await chunks.get(set, shard, file, first, last);
    if (!isWanted()) return;
    // The next pieces come while this one is searched.
    for (let next = last; !listed && next < Math.min(last + AHEAD * CLIPS, file.clips); next += CLIPS) {
      chunks.get(set, shard, file, next, Math.min(next + CLIPS, file.clips)).catch(() => {});
    }
    damaged += chunk.damaged;
    for (const i of chunk.having(wanted)) {
      const one = attempt(() => chunk.clip(set, clip + i, i));
      if (one === undefined) damaged += 1;
      else if (fits(one)) found.push({ index: index + i, value: sortValue(one, state.sort) });
    }
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

/// The pieces of all shards that a state of the page asks for, with the number of their first clip in its data set and on the page.
function* pieces(state) {
  let start = 0;
  for (const set of sets) {
    for (let shard = 0; shard < set.listing.shards.length; shard += 1) {
      if (state.set !== undefined && set.number !== Number(state.set)) continue;
      const { clips } = set.listing.shards[shard];
      for (let first = 0; first < clips; first += CLIPS) {
        const clip = set.starts[shard] + first;
        yield { set, shard, first, last: Math.min(first + CLIPS, clips), clip, index: start + clip };
      }
    }
    start += set.clips;
  }
}

onmessage = async ({ data }) => {
  if (data.sets) {
    begin(data.head);
    sets.push(...data.sets.map(({ number, base, listing }) => new DataSet(number, base, listing)));
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
