// Where the page has its clips from: the server.

const catalog = {
  size: places.count,
  numberNames: [],
  classNames: [...new Set(report.sets.flatMap((set) => set.class_names))],
  lengthsDiffer: true,
  finds: (report.findings ?? []).map((group) => group.kind),
  keyOf: places.keyOf,
  indexOf: places.indexOf,
  clip: shownClips.at,
  find: finder.find,
  episode: finder.episode,
  /// The clip of a finding.
  foundClip([set, number, source, className]) {
    const index = places.indexOf(clipKey(set, number));
    return index < 0 ? shownClips.unread(set, number, source, className ?? "", "not in this data set") : shownClips.at(index);
  },
  /// What can be sorted by, and which classes there are, as far as the first clips say it.
  async sample() {
    const known = (await Promise.all(places.firstOfEach(8).map((index) => shownClips.at(index)))).filter((one) => !one.absent);
    return { numberNames: namesOfNumbers(known), classNames: catalog.classNames.length ? [] : [...new Set(known.map((one) => one.class))] };
  },
};
