// Clips, which are read when they are shown, and kept.

const shownClips = (() => {
  const KEPT = 2000;
  const kept = new Map();

  async function read(index, isWanted) {
    const [set, number] = places.at(index);
    const { times, ...facts } = await asks.get(`${set}/${number}.json`, undefined, isWanted);
    const found = new Clip(facts);
    const strip = { width: found.width, height: found.height, times, damaged: [], frames: times.map((_, t) => t) };
    let tracks = null;
    found.tracks = () => (tracks ??= asks.get(`${set}/${number}/tracks.json`));
    return Object.assign(found, { index, strip, opened: strip });
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
      return { ...unread(...places.at(index), "", "", e.message), index, findings: findingsOf.get(places.keyOf(index)) ?? [] };
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
