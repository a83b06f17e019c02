// Clips, which are read when they are shown, and kept.

const shownClips = (() => {
  /// Clips that are kept, and the most frames of a clip whose entries are all read with it.
  const KEPT = 2000, FEW = 256;
  /// The most frames of a clip that is shown.
  const MOST_FRAMES = 1 << 20;
  const kept = new Map();

  async function read(index, isWanted) {
    const [set, clip] = places.at(index);
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
  function at(index, isWanted = () => true) {
    const known = kept.get(index);
    known?.wanted?.push(isWanted);
    if (known) return known;
    const wanted = [isWanted];
    const promise = read(index, () => wanted.some((one) => one())).catch((e) => {
      kept.delete(index);
      if (e instanceof Dropped) throw e;
      if (!(e instanceof Damaged)) trouble(e);
      const [set, clip] = places.at(index);
      return { ...unread(set.number, clip, "", "", e.message), index, findings: findingsOf.get(places.keyOf(index)) ?? [] };
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

  /// What stands for a clip that is not there.
  function unread(set, clip, source, className, why) {
    return { key: clipKey(set, clip), set, clip, source, class: className, frames: 0, findings: [], absent: why };
  }

  return { at, unread };
})();
