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
