// Playing an opened clip: at the times of its frames, with its sound if there is any.

detail.parts.push((clip, play) => {
  if (clip.frames < 2) return undefined;
  const button = el("button", { type: "button", class: "main", onclick: () => (isPlaying ? stop() : start()) }, "Play");
  let isPlaying = false, times = null, sound;

  /// The times of all frames; of a clip whose frames are not in order of time, ten a second.
  async function known() {
    await strips.entries(clip, 0, clip.frames);
    const all = clip.strip.times;
    const isInOrder = clip.strip.frames.every((t) => t === 0 || all[t] > all[t - 1]);
    times = isInOrder ? Array.from(all) : clip.strip.frames.map((t) => t / 10);
  }

  async function start() {
    isPlaying = true;
    button.textContent = "Pause";
    try {
      if (!times) await known();
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
