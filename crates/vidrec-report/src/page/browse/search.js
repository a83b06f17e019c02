// The worker that finds clips: reads clip tables and texts piece by piece, and tells what it has found as it goes.

/// Clips that are searched at once, bytes of the string pool that are read at once, and how many bytes of both are kept.
const CLIPS = 8192, POOL = 1 << 20, KEPT = 400 << 20;
/// Milliseconds between two messages.
const PACE = 100;

const sets = [];
let latest = 0, keptBytes = 0;
const kept = new Map();

/// Bytes that are read once, and again if they were forgotten.
function held(key, read) {
  let found = kept.get(key);
  if (found) return found;
  found = read().then((part) => {
    keptBytes += part.length;
    for (const [old, of] of kept) {
      if (keptBytes <= KEPT || old === key) break;
      kept.delete(old);
      of.then((gone) => { keptBytes -= gone.length; });
    }
    return part;
  });
  found.catch(() => kept.delete(key));
  kept.set(key, found);
  return found;
}

const clipBlock = (set, shard, file, first) => held(`${set.number}/${shard}/c${first}`, () => file.clipBytes(first, Math.min(first + CLIPS, file.clips)));

/// The blocks of the string pool that some strings are in.
async function pool(set, shard, file, entries) {
  const wanted = new Set();
  for (const { begin, length } of entries.flatMap((entry) => entry.strings)) {
    for (let block = Math.floor(begin / POOL); length > 0 && block * POOL < begin + length; block += 1) wanted.add(block);
  }
  const blocks = new Map();
  const { length } = file.sections.get("STRS");
  await Promise.all([...wanted].map(async (block) => {
    const begin = block * POOL;
    blocks.set(block, await held(`${set.number}/${shard}/s${block}`, () => file.stringBytes(begin, Math.min(POOL, length - begin))));
  }));
  return ({ begin, length: size }) => {
    const block = Math.floor(begin / POOL), at = begin - block * POOL;
    if (!size) return new Uint8Array(0);
    if (at + size <= POOL) return blocks.get(block).subarray(at, at + size);
    const whole = new Uint8Array(size);
    for (let done = 0; done < size;) {
      const place = begin + done, of = blocks.get(Math.floor(place / POOL)), from = place % POOL;
      const part = of.subarray(from, from + size - done);
      whole.set(part, done);
      done += part.length;
    }
    return whole;
  };
}

/// Texts that a clip can only have if its own contain them, in lower case. Numbers are written in several ways.
function needles(state) {
  const words = queryWords(state.q ?? "").filter(({ not, name, how, value }) => !not && (!name || how === ":" || how === "=")
    && !["frames", "width", "height", "clip", "finding"].includes(name) && !(name && /[\d,]/.test(value)));
  return words.map(({ value }) => JSON.stringify(value).slice(1, -1));
}

/// The keys of the clips that a state of the page is about, if they are known without a search.
function listedKeys({ only }, flagged) {
  if (only === "flagged") return [...flagged];
  if (!only || (ONLY[only] && only !== "findings")) return null;
  return [...findingsOf].filter(([, found]) => only === "findings" || found.some(({ kind }) => kind === only)).map(([key]) => key);
}

/// Whether a clip of a data set between two numbers is among the listed ones.
const hasListed = (listed, set, first, last) => listed === null || listed.some((key) => {
  const [of, clip] = key.split(".").map(Number);
  return of === set.number && clip >= first && clip < last;
});

/// What the index does not say of a clip.
const UNKNOWN = ["seconds", "bytes", "bytes per frame"];

async function search(state, flagged, isWanted, tell) {
  const asked = [...queryWords(state.q ?? "").map(({ name }) => name), state.sort].find((name) => UNKNOWN.includes(name));
  if (asked) {
    tell({ found: [], done: true, why: `No clip is found by ${asked} here: that would need to read the entries of all frames. vidrec inspect --stats has them.` });
    return;
  }
  const fits = matcher(state, [...new Set(sets.flatMap((set) => set.listing.classes ?? []))], (key) => flagged.has(key));
  const wanted = needles(state);
  let found = [], searched = 0, damaged = 0, told = performance.now(), start = 0;
  const listed = listedKeys(state, flagged);
  const isSorted = Boolean(state.sort || state.desc);
  const classes = new Map();
  for (const set of sets) {
    for (let shard = 0; shard < set.listing.shards.length; shard += 1) {
      const shardStart = start + set.starts[shard];
      const count = set.listing.shards[shard].clips;
      if (state.set !== undefined && set.number !== Number(state.set)) { searched += count; continue; }
      const file = await set.index(shard);
      for (let first = 0; first < count; first += CLIPS) {
        const last = Math.min(first + CLIPS, count);
        if (!hasListed(listed, set, set.starts[shard] + first, set.starts[shard] + last)) { searched += last - first; continue; }
        const table = await clipBlock(set, shard, file, first);
        // The next block comes while this one is searched.
        if (last < count && !listed) clipBlock(set, shard, file, last).catch(() => {});
        const entries = Array.from({ length: last - first }, (_, i) => attempt(() => file.clipEntry(table, i, first + i)));
        const stringOf = await pool(set, shard, file, entries.filter(Boolean));
        if (!isWanted()) return;
        for (let i = 0; i < entries.length; i += 1) {
          const clip = entries[i] && attempt(() => candidate(file, entries[i], first + i, stringOf, wanted, set, set.starts[shard] + first + i, classes));
          if (clip === undefined) damaged += 1;
          else if (clip && fits(clip)) found.push({ index: shardStart + first + i, value: state.sort ? sortValue(clip, state.sort) : 0 });
        }
        searched += last - first;
        if (performance.now() - told > PACE) {
          tell({ found: isSorted ? [] : found.map((one) => one.index), searched });
          if (!isSorted) found = [];
          told = performance.now();
          // Lets a newer search in.
          await new Promise((resume) => setTimeout(resume, 0));
          if (!isWanted()) return;
        }
      }
    }
    start += set.clips;
  }
  tell({ found: arranged(found, state), searched, done: true, damaged });
}

/// The result of `work`; `undefined` of what is damaged.
function attempt(work) {
  try {
    return work();
  } catch (e) {
    if (e instanceof Damaged) return undefined;
    throw e;
  }
}

/// A clip with what can be searched; `null` if its texts already say that it is not wanted.
function candidate(file, entry, ordinal, stringOf, wanted, set, clip, classes) {
  const texts = file.texts(entry, entry.strings.map(stringOf), ordinal);
  if (wanted.length) {
    const text = `${texts[0]}\n${texts[1] || entry.label}\n${texts[2]}`.toLowerCase();
    if (!text.includes("\\u") && !wanted.every((needle) => text.includes(needle))) return null;
  }
  return set.facts(clip, entry, texts);
}

onmessage = async ({ data }) => {
  if (data.sets) {
    begin(data.head);
    sets.ready = Promise.all(data.sets.map(({ base, number }) => DataSet.open(number, base))).then((opened) => sets.push(...opened));
    // A search says what is wrong.
    sets.ready.catch(() => {});
    return;
  }
  const { number, stop, lookup, state, flagged } = data;
  // A newer search ends the one before; a lookup ends none.
  if (!lookup) latest = number ?? stop;
  if (stop) return;
  const isWanted = () => lookup !== undefined || number === latest;
  const tell = (what) => { if (isWanted()) postMessage({ number, lookup, ...what }); };
  try {
    await sets.ready;
    await search(state, new Set(flagged), isWanted, tell);
  } catch (e) {
    tell({ found: [], done: true, why: `The search has failed: ${e.message}` });
  }
};
