// Where the page has its clips from: data sets on a web server.

const catalog = {
  size: 0,
  numberNames: [],
  classNames: [],
  lengthsDiffer: true,
  finds: [],
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
  /// Opens the data sets of the page.
  async open(listed) {
    const sets = await places.open(listed);
    catalog.size = places.count();
    catalog.classNames = [...new Set(sets.flatMap((set) => set.listing.classes ?? []))];
    return sets;
  },
  /// What can be sorted by, and which classes there are, as far as the first clips say it.
  async sample() {
    const known = (await Promise.all(places.firstOfEach(8).map((index) => shownClips.at(index)))).filter((one) => !one.absent);
    return { numberNames: namesOfNumbers(known), classNames: catalog.classNames.length ? [] : [...new Set(known.map((one) => one.class))] };
  },
};
