// What the page knows of its data sets from the beginning: names, numbers of clips, findings.

begin(JSON.parse(byId("data").textContent));

/// Where each clip is among all of them.
const places = (() => {
  /// The index of the first clip of each data set, and that behind the last clip.
  const starts = [0];
  for (const set of report.sets) starts.push(starts.at(-1) + set.clips);

  /// The data set of an index, and the number of the clip in it.
  function at(index) {
    const set = starts.findLastIndex((start) => start <= index);
    return [set, index - starts[set]];
  }

  function indexOf(key) {
    const [, set, clip] = /^(\d{1,6})\.(\d{1,15})$/.exec(key) ?? [];
    const index = starts[set] + Number(clip);
    return index < starts[Number(set) + 1] ? index : -1;
  }

  /// The indexes of all clips of a state without filters.
  function all({ set, desc }) {
    const [first, last] = set === undefined ? [0, starts.at(-1)] : [starts[set] ?? 0, starts[Number(set) + 1] ?? 0];
    const indexes = new Uint32Array(Math.max(last - first, 0)).map((_, i) => first + i);
    return desc ? indexes.reverse() : indexes;
  }

  /// The indexes of the first clips of each data set.
  const firstOfEach = (most) => report.sets.flatMap((set, number) => Array.from({ length: Math.min(set.clips, most) }, (_, i) => starts[number] + i));

  return { all, at, indexOf, keyOf: (index) => clipKey(...at(index)), firstOfEach, count: starts.at(-1) };
})();
