// Requests to the server that the page comes from.

/// What the server has found to be damaged. The message is for people.
class Damaged extends Error {}
/// What nobody waits for any more.
class Dropped extends Error {}

const asks = (() => {
  const AT_ONCE = 6;
  const waiting = [];
  let running = 0;

  /// What `read` makes of the answer to a request; `Dropped` if nobody wants it any more when its turn comes.
  function get(path, read = (answer) => answer.json(), isWanted = () => true) {
    return new Promise((succeed, fail) => {
      waiting.push({ path, read, isWanted, succeed, fail });
      // Not before who asks has what the answer is for.
      queueMicrotask(next);
    });
  }

  function next() {
    while (running < AT_ONCE && waiting.length) {
      const one = waiting.shift();
      if (!one.isWanted()) {
        one.fail(new Dropped());
        continue;
      }
      running += 1;
      send(one).then(one.succeed, one.fail).finally(() => {
        running -= 1;
        next();
      });
    }
  }

  async function send({ path, read }) {
    let answer;
    try {
      answer = await fetch(path);
    } catch {
      throw new Error("the server of this page does not answer: run vidrec browse again, and open the address that it prints");
    }
    if (answer.ok) return read(answer);
    const why = (await answer.text()).trim();
    throw answer.status === 422 ? new Damaged(why) : new Error(why);
  }

  return { get };
})();

/// Says what went wrong, until something else does.
function trouble(e) {
  if (e instanceof Dropped) return;
  const said = byId("trouble") ?? el("p", { id: "trouble", class: "notice", role: "alert" });
  said.textContent = e.message;
  byId("main").prepend(said);
}

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

// Frames: asked for when they are shown, and forgotten when too many are held.

const strips = (() => {
  const HELD_PIXELS = 32_000_000;
  /// Frames of cards are kept this wide.
  const CARD = 480;

  /// What was used last, as far as the sizes of all have room.
  function shelf(most) {
    const held = new Map();
    let sum = 0;
    return (key, make, size) => {
      let entry = held.get(key);
      held.delete(key);
      if (!entry) {
        entry = { size, value: make() };
        sum += size;
        // What failed is tried again when it is asked for again.
        entry.value.catch(() => { if (held.get(key) === entry && held.delete(key)) sum -= entry.size; });
      }
      held.set(key, entry);
      for (const [other, old] of held) {
        if (sum <= most || other === key) break;
        held.delete(other);
        sum -= old.size;
      }
      return entry.value;
    };
  }
  const pictures = shelf(HELD_PIXELS);

  async function decoded(clip, t, name) {
    const jpeg = await asks.get(`${clip.set}/${clip.clip}/${t}.jpg`, (answer) => answer.blob());
    const options = name === "strip" && clip.width > CARD ? { resizeWidth: CARD, resizeQuality: "medium" } : {};
    return createImageBitmap(jpeg, options).catch(() => { throw new Damaged("the JPEG does not decode"); });
  }

  /// A frame as a picture.
  function load(clip, t, name = "strip") {
    const size = Math.max(clip.width * clip.height, 1 << 16);
    return pictures(`${name}-${clip.key}/${t}`, () => decoded(clip, t, name), name === "strip" ? Math.min(size, CARD * CARD) : size);
  }

  /// The frame that each canvas is to show.
  const wanted = new WeakMap();

  /// Draws a frame of a clip, or that it is damaged, unless the canvas is to show another one when it is there.
  async function draw(canvas, clip, t, name = "strip") {
    wanted.set(canvas, t);
    let picture, why;
    try {
      picture = await load(clip, t, name);
    } catch (e) {
      if (!(e instanceof Damaged)) trouble(e);
      else if (!clip.strip.damaged.includes(t)) clip.strip.damaged.push(t);
      why = e instanceof Damaged ? ["damaged", e.message] : ["not read", e.message];
    }
    if (wanted.get(canvas) !== t) return;
    if (picture) paint(canvas, picture);
    else refuse(canvas, clip, why);
  }

  function paint(canvas, picture) {
    const { width, height } = picture;
    if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
    canvas.getContext("2d", { alpha: false }).drawImage(picture, 0, 0);
    canvas.removeAttribute("data-fault");
  }

  /// Says in place of a frame why it is not there.
  function refuse(canvas, { strip }, [word, why]) {
    const width = 320, height = Math.round((320 * (strip.height || 200)) / (strip.width || 320));
    [canvas.width, canvas.height] = [width, height];
    canvas.dataset.fault = why;
    const pen = canvas.getContext("2d", { alpha: false });
    pen.fillStyle = "#7a2b24";
    pen.fillRect(0, 0, width, height);
    pen.strokeStyle = "#c98a84";
    pen.lineWidth = 2;
    pen.strokeRect(1, 1, width - 2, height - 2);
    pen.fillStyle = "#ffffff";
    pen.textAlign = "center";
    pen.font = "600 28px system-ui, sans-serif";
    pen.fillText(word, width / 2, height / 2);
    pen.font = "12px system-ui, sans-serif";
    pen.fillText(why, width / 2, height / 2 + 24, width - 12);
  }

  return { load, draw };
})();

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
    return Object.assign(found, { index, strip });
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
