// The clips of data sets on a web server: read when they are shown, found by a worker.

const catalog = (() => {
  /// Clips that are kept, and the most frames of a clip whose entries are all read with it.
  const KEPT = 2000, FEW = 256;
  /// The most frames of a clip that is shown.
  const MOST_FRAMES = 1 << 20;
  const kept = new Map();
  const starts = [0];
  const lookups = new Map();
  let sets = [], worker = null, latest = 0, asked = 0, answer = null;

  const setOf = (index) => starts.findLastIndex((start) => start <= index);
  const keyOf = (index) => clipKey(setOf(index), index - starts[setOf(index)]);

  function indexOf(key) {
    const [, set, clip] = /^(\d{1,6})\.(\d{1,15})$/.exec(key) ?? [];
    const index = starts[set] + Number(clip);
    return index < starts[Number(set) + 1] ? index : -1;
  }

  async function read(index, isWanted) {
    const set = sets[setOf(index)];
    const clip = index - starts[set.number];
    const shard = set.shardOf(clip);
    const ordinal = clip - set.starts[shard];
    const file = await set.index(shard);
    const entry = file.clipEntry(await file.clipTable(ordinal, ordinal + 1, isWanted), 0, ordinal);
    check(entry.frames <= MOST_FRAMES, `the clip has ${count(entry.frames, "frame")}, more than this page shows`);
    const listed = set.listing.shards[shard];
    const strip = {
      index: file, records: { url: set.url(listed.record_file), bytes: listed.bytes }, first: entry.first, unit: entry.unit, per: entry.per,
      width: entry.width, height: entry.height, entries: [], times: [], damaged: [], frames: Array.from({ length: entry.frames }, (_, t) => t),
    };
    // The frames that the card needs. What is asked for here at once is one request, if it lies together.
    const blocks = entry.frames <= FEW ? [[0, entry.frames]] : [0, entry.frames >> 1, entry.frames - 1].map((t) => [t, t + 1]);
    const [parts] = await Promise.all([
      Promise.all(entry.strings.map(({ begin, length }) => file.stringBytes(begin, length, isWanted))),
      ...blocks.map(([first, last]) => strips.entries({ strip }, first, last, isWanted)),
    ]);
    const found = set.facts(clip, entry, file.texts(entry, parts, ordinal));
    const [from, to] = [strip.times[0], strip.times[entry.frames - 1]];
    let tracks = null;
    found.tracks = () => (tracks ??= readTracks(set, shard, ordinal, found));
    return Object.assign(found, { index, strip, opened: strip, shard, ordinal, seconds: to > from ? to - from : null });
  }

  /// The tracks of a clip, if its shard has any.
  async function readTracks(set, shard, ordinal, found) {
    await strips.entries(found, 0, found.frames);
    const file = await set.tracks(shard);
    return file ? file.tracksOf(ordinal, found.strip.times) : [];
  }

  /// The clip at an index, or a promise of it; `Dropped` if none of those who asked wants it when its turn comes.
  function clip(index, isWanted = () => true) {
    const known = kept.get(index);
    known?.wanted?.push(isWanted);
    if (known) return known;
    const key = keyOf(index);
    const [set, number] = key.split(".").map(Number);
    const wanted = [isWanted];
    const promise = read(index, () => wanted.some((one) => one())).catch((e) => {
      kept.delete(index);
      if (e instanceof Dropped) throw e;
      if (!(e instanceof Damaged)) trouble(e);
      return { key, set, clip: number, index, source: "", class: "", frames: 0, findings: findingsOf.get(key) ?? [], absent: e.message };
    });
    promise.wanted = wanted;
    kept.set(index, promise);
    promise.then((found) => { if (!found.absent) kept.set(index, found); }, () => {});
    for (const old of kept.keys()) {
      if (kept.size <= KEPT) break;
      kept.delete(old);
    }
    return promise;
  }

  /// All clips of a state without filters.
  function all({ set, desc }) {
    const [first, last] = set === undefined ? [0, starts.at(-1)] : [starts[set] ?? 0, starts[Number(set) + 1] ?? 0];
    const indexes = new Uint32Array(Math.max(last - first, 0)).map((_, i) => first + i);
    return desc ? indexes.reverse() : indexes;
  }

  /// Tells `tell` what was found so far, again and again until all is searched.
  function find(state, tell) {
    latest += 1;
    if (!["q", "class", "only", "sort"].some((name) => state[name])) {
      worker?.postMessage({ stop: latest });
      tell({ found: all(state), done: true });
      return;
    }
    worker ??= hire();
    const found = [];
    answer = (told) => {
      if (told.number !== latest) return;
      for (const index of told.found) found.push(index);
      if (told.found.length || told.done || told.why) tell({ ...told, found });
      else if (told.searched) byId("result").textContent = resultText(found.length, told.searched);
    };
    worker.postMessage({ number: latest, state, flagged: flags.keys() });
  }

  function hire() {
    const made = new Worker(URL.createObjectURL(new Blob([byId("worker").textContent], { type: "text/javascript" })));
    made.onmessage = ({ data }) => (data.lookup ? lookups.get(data.lookup)(data) : answer(data));
    made.onerror = (event) => trouble(new Error(`the search has failed: ${event.message}`));
    made.postMessage({ sets: sets.map(({ number, base, listing }) => ({ number, base, listing })), head: report });
    return made;
  }

  /// The indexes of the clips of an episode.
  function episode(set, value) {
    worker ??= hire();
    const lookup = (asked += 1);
    const words = [{ not: false, name: "episode", how: "=", value: String(value).toLowerCase() }];
    const found = [];
    return new Promise((succeed, fail) => {
      lookups.set(lookup, (told) => {
        found.push(...told.found);
        if (told.done) lookups.delete(lookup);
        if (told.why) fail(new Error(told.why));
        else if (told.done) succeed(found);
      });
      worker.postMessage({ lookup, state: { words, set }, flagged: [] });
    });
  }

  /// Opens the data sets of the page.
  async function open(listed) {
    sets = await Promise.all(listed.map(({ address }, number) => DataSet.open(number, new URL(address, location.href).href)));
    for (const set of sets) starts.push(starts.at(-1) + set.clips);
    check(starts.at(-1) < 2 ** 32, "these are more clips than a page can show");
    Object.assign(catalog, { size: starts.at(-1), classNames: [...new Set(sets.flatMap((set) => set.listing.classes ?? []))] });
    return sets;
  }

  /// What can be sorted by, and which classes there are, as far as the first clips say it.
  async function sample() {
    const first = sets.flatMap((set) => Array.from({ length: Math.min(set.clips, 8) }, (_, i) => clip(starts[set.number] + i)));
    const known = (await Promise.all(first)).filter((one) => !one.absent);
    return { numberNames: namesOfNumbers(known), classNames: catalog.classNames.length ? [] : [...new Set(known.map((one) => one.class))] };
  }

  return { open, sample, size: 0, numberNames: [], classNames: [], finds: [], clip, keyOf, indexOf, find, episode, lengthsDiffer: true, foundClip: ([set, number, source, className]) => {
    const index = indexOf(clipKey(set, number));
    return index < 0 ? { key: clipKey(set, number), set, clip: number, source, class: className ?? "", frames: 0, findings: [], absent: "not in this data set" } : clip(index);
  } };
})();
