// Clips that meet conditions, which a worker finds.

const finder = (() => {
  const lookups = new Map();
  let worker = null, latest = 0, asked = 0, answer = null;

  /// Tells `tell` what was found so far, again and again until all is searched.
  function find(state, tell) {
    latest += 1;
    if (!["q", "class", "only", "sort"].some((name) => state[name])) {
      worker?.postMessage({ stop: latest });
      tell({ found: places.all(state), done: true });
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
    made.postMessage({ base: new URL("./", location.href).href, head: report });
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

  return { find, episode };
})();
