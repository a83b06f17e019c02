// The data sets of the page, and where each of their clips is among all of them.

const places = (() => {
  /// The index of the first clip of each data set, and that behind the last clip.
  const starts = [0];
  let sets = [];

  const setOf = (index) => starts.findLastIndex((start) => start <= index);

  function keyOf(index) {
    const set = setOf(index);
    return clipKey(set, index - starts[set]);
  }

  function indexOf(key) {
    const [, set, clip] = /^(\d{1,6})\.(\d{1,15})$/.exec(key) ?? [];
    const index = starts[set] + Number(clip);
    return index < starts[Number(set) + 1] ? index : -1;
  }

  /// The data set of an index, and the number of the clip in it.
  function at(index) {
    const number = setOf(index);
    return [sets[number], index - starts[number]];
  }

  /// Opens the data sets.
  async function open(listed) {
    sets = await Promise.all(listed.map(({ address }, number) => DataSet.open(number, new URL(address, location.href).href)));
    for (const set of sets) starts.push(starts.at(-1) + set.clips);
    check(starts.at(-1) < 2 ** 32, "these are more clips than a page can show");
    return sets;
  }

  /// The indexes of all clips of a state without filters.
  function all({ set, desc }) {
    const [first, last] = set === undefined ? [0, starts.at(-1)] : [starts[set] ?? 0, starts[Number(set) + 1] ?? 0];
    const indexes = new Uint32Array(Math.max(last - first, 0)).map((_, i) => first + i);
    return desc ? indexes.reverse() : indexes;
  }

  /// The indexes of the first clips of each data set.
  const firstOfEach = (most) => sets.flatMap((set) => Array.from({ length: Math.min(set.clips, most) }, (_, i) => starts[set.number] + i));

  return { open, all, at, keyOf, indexOf, firstOfEach, count: () => starts.at(-1), sets: () => sets };
})();
