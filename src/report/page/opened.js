// The other cameras of an episode: clips with the same attribute `episode`, each with a `camera`.

/// The most cameras beside the one that is opened.
const MOST_CAMERAS = 8;

detail.parts.push((clip) => {
  const { episode, camera } = clip.attributes;
  if (episode === undefined || camera === undefined) return undefined;
  const node = el("div", { class: "cameras" });
  let others = [], at = 0, isOpen = true;
  const follow = (t) => {
    at = t;
    const time = clip.strip.times[t];
    for (const other of others) other.follow(t, time);
  };
  catalog.episode(clip.set, episode).then(async (indexes) => {
    const found = await Promise.all(indexes.filter((index) => index !== clip.index).slice(0, MOST_CAMERAS).map((index) => catalog.clip(index)));
    if (!isOpen) return;
    others = found.filter((other) => !other.absent && other.attributes.camera !== camera).map(cameraOf);
    node.replaceChildren(...others.map((other) => other.node));
    follow(at);
  }).catch((e) => node.replaceChildren(el("p", { class: "notice" }, `Other cameras are not shown: ${e.message}.`)));
  return { node, follow, isBeside: true, stop: () => { isOpen = false; } };
});

/// A clip that follows the time of another one.
function cameraOf(other) {
  const canvas = el("canvas", { "aria-hidden": "true" });
  const link = el("a", { href: hashOf({ clip: other.key }) }, canvas, String(other.attributes.camera));
  let shown = -1;
  return { node: link, follow(t, time) {
    const { times } = other.strip;
    const next = time === undefined ? Math.min(t, other.frames - 1) : Math.max(times.findLastIndex((one) => one <= time + 1e-6), 0);
    if (next === shown) return;
    shown = next;
    strips.draw(canvas, other, next, "opened");
  } };
}

// Playing an opened clip: at the times of its frames, with its sound if there is any.

detail.parts.push((clip, play) => {
  if (clip.frames < 2) return undefined;
  const button = el("button", { type: "button", class: "main", onclick: () => (isPlaying ? stop() : start()) }, "Play");
  let isPlaying = false, sound;

  /// The times of all frames; of a clip whose frames are not in order of time, ten a second.
  const all = clip.strip.times;
  const times = all.every((time, t) => t === 0 || time > all[t - 1]) ? all : clip.strip.frames.map((t) => t / 10);

  async function start() {
    isPlaying = true;
    button.textContent = "Pause";
    try {
      sound ??= await soundOf(clip);
    } catch (e) {
      trouble(e);
      stop();
    }
    if (!isPlaying) return;
    if (play.at() === clip.frames - 1) play.go(0);
    sound?.start(times[play.at()]);
    const [from, began] = [times[play.at()], performance.now()];
    const end = times.at(-1) + (times.at(-1) - times[0]) / (times.length - 1);
    let isDrawing = false;
    const step = () => {
      if (!isPlaying) return;
      const now = from + (performance.now() - began) / 1000;
      if (now >= end) return stop();
      const t = Math.max(times.findLastIndex((time) => time <= now), 0);
      if (!isDrawing && t !== play.at()) {
        isDrawing = true;
        Promise.resolve(play.go(t)).finally(() => { isDrawing = false; });
        for (let next = t + 1; next < Math.min(t + 4, clip.frames); next += 1) strips.load(clip, next, "opened").catch(() => {});
      }
      requestAnimationFrame(step);
    };
    step();
  }

  function stop() {
    isPlaying = false;
    button.textContent = "Play";
    sound?.stop();
  }

  function close() {
    stop();
    sound?.close();
  }

  play.node.addEventListener("keydown", (event) => {
    if (event.key !== " ") return;
    event.preventDefault();
    button.click();
  });
  return { node: el("p", { class: "transport" }, button, el("span", { class: "quiet" }, "Space plays")), stop: close };
});

/// What plays the sound of a clip, its track `audio`, if a browser can play it.
async function soundOf(clip) {
  const RATES = [3000, 768_000];
  const track = (await clip.tracks()).find(({ name, rate }) => name === "audio" && rate);
  const perSecond = track && track.rate[1] * track.step;
  if (!track?.count || !(perSecond >= RATES[0] && perSecond <= RATES[1])) return null;
  const wav = await asks.get(`${clip.set}/${clip.clip}/audio.wav`, (answer) => answer.arrayBuffer());
  const context = new AudioContext({ sampleRate: perSecond });
  const buffer = await context.decodeAudioData(wav);
  let running = null;
  return {
    /// Plays from a time of the clip on.
    start(time) {
      running?.stop();
      running = context.createBufferSource();
      running.buffer = buffer;
      running.connect(context.destination);
      const into = time - track.rate[0];
      context.resume();
      running.start(context.currentTime + Math.max(-into, 0), Math.max(into, 0));
    },
    stop() {
      running?.stop();
      running = null;
    },
    close: () => context.close(),
  };
}

// The tracks of an opened clip: numbers as curves, texts as words and pictures of numbers, with a cursor at the frame that is shown.

const CURVE_WIDTH = 600, CURVE_HEIGHT = 64;
/// The most curves of a track, and points of a curve.
const MOST_CURVES = 8, MOST_POINTS = 600;

/// Values per second of which nobody reads one: sound.
const FAST = 1000;

/// The lines of a track between two times: each the lowest and the highest value of a slice of time.
function curve(track, component, [from, to], [low, high]) {
  const x = (time) => ((time - from) / (to - from)) * CURVE_WIDTH;
  const y = (value) => CURVE_HEIGHT - 3 - ((value - low) / (high - low || 1)) * (CURVE_HEIGHT - 6);
  const each = Math.max(1, Math.ceil((2 * track.sent) / MOST_POINTS));
  const points = [];
  for (let first = 0; first < track.sent; first += each) {
    let [least, most] = [Infinity, -Infinity];
    for (let i = first; i < Math.min(first + each, track.sent); i += 1) {
      const value = track.values[i * track.width + component] ?? NaN;
      if (value < least) least = value;
      if (value > most) most = value;
    }
    const at = x(track.timeOf(first)).toFixed(1);
    if (Number.isFinite(least) && Number.isFinite(most)) points.push(`${at},${y(least).toFixed(1)}`, ...(most > least ? [`${at},${y(most).toFixed(1)}`] : []));
  }
  return svg("polyline", { points: points.join(" "), class: `curve s${component % 6}` });
}

/// The least and the greatest of the numbers of a track that are shown.
function extent(track, shown) {
  let [low, high] = [Infinity, -Infinity];
  for (let i = 0; i < track.sent; i += 1) {
    for (let component = 0; component < shown; component += 1) {
      const value = track.values[i * track.width + component] ?? NaN;
      if (value < low) low = value;
      if (value > high && value < Infinity) high = value;
    }
  }
  return Number.isFinite(low) && Number.isFinite(high) ? [low, high] : [0, 1];
}

/// Position of the latest value at or before a time; -1 before the first.
function valueAt(track, time) {
  let [low, high] = [-1, track.sent];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (track.timeOf(middle) <= time + 1e-6) low = middle;
    else high = middle;
  }
  return low;
}

/// A number with few digits. Infinite ones and those that are not a number do not come as such.
const shortOrNone = (value) => (value === null ? "not finite" : short(value));

function numberTrack(track, span) {
  const shown = Math.min(track.width, MOST_CURVES);
  const range = extent(track, shown);
  const cursor = svg("line", { y1: 0, y2: CURVE_HEIGHT, class: "cursor" });
  const drawing = svg("svg", { viewBox: `0 0 ${CURVE_WIDTH} ${CURVE_HEIGHT}`, preserveAspectRatio: "none", role: "img", "aria-label": `Track ${track.name}, from ${plain(range[0])} to ${plain(range[1])}` },
    Array.from({ length: shown }, (_, component) => curve(track, component, span, range)), cursor);
  const value = el("span", { class: "quiet" });
  const more = (track.list ? " items" : "") + (track.width > shown ? `, the first ${shown} of ${whole.format(track.width)} numbers` : "") + (track.step > 1 ? `, one of ${whole.format(track.step)} values` : "");
  const node = el("div", { class: "track" }, el("p", {}, el("b", {}, track.name), " ", value, el("span", { class: "quiet" }, more)), drawing);
  return { node, follow(time) {
    const x = Math.min(Math.max(((time - span[0]) / (span[1] - span[0])) * CURVE_WIDTH, 0), CURVE_WIDTH);
    cursor.setAttribute("x1", x);
    cursor.setAttribute("x2", x);
    const at = valueAt(track, time);
    if (track.perSecond > FAST) value.textContent = `${short(track.perSecond)} values per second`;
    else value.textContent = at < 0 ? "no value yet" : Array.from({ length: shown }, (_, i) => shortOrNone(track.values[at * track.width + i])).join(", ");
  } };
}

function textTrack(track) {
  const words = el("span", {});
  const node = el("div", { class: "track" }, el("p", {}, el("b", {}, track.name), " ", words));
  return { node, follow(time) {
    const at = valueAt(track, time);
    const isOver = at >= 0 && track.ends && track.ends[at] <= time;
    words.textContent = at < 0 || isOver ? "–" : track.texts[at];
  } };
}

/// The pictures of a track, such as depth: from the least number in black to the greatest in white.
function pictureTrack(track, clip, number) {
  const [height, width] = track.shape;
  const canvas = el("canvas", { width, height, class: "picture", role: "img", "aria-label": `Track ${track.name}` });
  const fault = el("span", { class: "quiet" });
  let wanted = -1;
  const draw = async (at) => {
    const png = await asks.get(`${clip.set}/${clip.clip}/${number}/${at}.png`, (answer) => answer.blob(), () => at === wanted);
    const picture = await createImageBitmap(png);
    if (at === wanted) canvas.getContext("2d").drawImage(picture, 0, 0);
    fault.textContent = "";
  };
  const node = el("div", { class: "track" }, el("p", {}, el("b", {}, track.name), " ", fault), canvas);
  return { node, follow(time) {
    const at = valueAt(track, time);
    if (at === wanted || at < 0) return;
    wanted = at;
    draw(at).catch((e) => { if (!(e instanceof Dropped)) fault.textContent = e.message; });
  } };
}

/// A track as it is drawn: with the time of each value that was sent.
function drawnTrack(track, frameTimes) {
  const [first, perSecond] = track.rate ?? [];
  const times = track.times ?? (track.rate ? null : frameTimes.filter((_, t) => t % track.step === 0));
  const sent = Math.ceil(track.count / track.step);
  return { ...track, sent, perSecond: perSecond * track.step, timeOf: times ? (i) => times[i] : (i) => first + i / perSecond };
}

detail.parts.push((clip) => {
  const node = el("div", { class: "tracks" });
  let drawn = [], at = 0;
  const follow = (t) => {
    at = t;
    const time = clip.strip.times[t];
    if (time !== undefined) for (const one of drawn) one.follow(time);
  };
  clip.tracks().then((tracks) => {
    const { times } = clip.strip;
    const span = [times[0], Math.max(times.at(-1), times[0] + 1e-3)];
    drawn = tracks.flatMap((sent, number) => {
      if (sent.fault) return [];
      const track = drawnTrack(sent, times);
      return [track.texts ? textTrack(track) : track.is_picture ? pictureTrack(track, clip, number) : numberTrack(track, span)];
    });
    node.replaceChildren(...drawn.map((one) => one.node), ...tracks.filter((track) => track.fault).map((track) => el("p", { class: "notice" }, `Track ${track.name} cannot be shown: ${track.fault}.`)));
    follow(at);
  }, (e) => node.replaceChildren(el("p", { class: "notice" }, `Tracks are not shown: ${e.message}.`)));
  return { node, follow };
});
