// The clips of a report, which are all inside of the page.

begin(JSON.parse(byId("data").textContent));
const clips = JSON.parse(byId("clip-list").textContent).map((facts, index) => new Clip({ ...facts, index }));
const clipByKey = new Map(clips.map((clip) => [clip.key, clip]));

/// Where the page has its clips from. `index` counts the clips of the page.
const catalog = {
  size: clips.length,
  numberNames: namesOfNumbers(clips),
  classNames: [...new Set(clips.map((clip) => clip.class))].sort(),
  lengthsDiffer: clips.some((clip) => clip.frames !== clips[0].frames),
  finds: [...new Set(clips.flatMap((clip) => clip.findings.map((found) => found.kind)))],
  keyOf: (index) => clips[index].key,
  indexOf: (key) => clipByKey.get(key)?.index ?? -1,
  /// The clip at an index.
  clip: (index) => clips[index],
  /// The clip of a finding, which the page may not have.
  foundClip([set, number, source, className]) {
    const key = clipKey(set, number);
    return clipByKey.get(key) ?? { key, set, clip: number, source, class: className ?? "no label", frames: 0, findings: [], absent: "not among the clips shown here" };
  },
  /// Tells `tell` the indexes of the clips that a state of the page asks for.
  find(state, tell) {
    const fits = matcher(state, clips.map((clip) => clip.class), flags.has);
    tell({ found: arranged(clips.filter(fits).map((clip) => ({ index: clip.index, value: sortValue(clip, state.sort) })), state), done: true });
  },
};
