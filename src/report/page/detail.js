// One clip in full: large, frame by frame, with all that is known of it.

const detail = (() => {
  /// The most buttons of frames.
  const MOST_BUTTONS = 24;
  /// What else belongs to an opened clip: functions of the clip and its player, whose results have a node below or
  /// beside the player, `follow` the frames, and may `stop`.
  const parts = [];
  let shown = null, running = [];

  function valueText(name, value) {
    if (name === "bytes" || name === "bytes per frame") return bytes(value);
    return typeof value === "number" && name !== "video.creation_year" ? numbers.format(value) : String(value);
  }

  function table(clip) {
    const own = ["source", "class", "clip", "frames", "seconds", "width", "height", "bytes", "bytes per frame"];
    const { values } = clip;
    const others = [...values.keys()].filter((name) => !own.includes(name));
    const row = (name) => el("tr", {}, el("th", { scope: "row" }, name.replace(/^video\./, "").replace(/[._]/g, "$&\u200b")),
      el("td", {}, valueText(name, values.get(name))));
    const rows = (names) => el("tbody", {}, names.filter((name) => values.has(name) && values.get(name) !== "").map(row));
    const ofVideo = others.filter((name) => name.startsWith("video."));
    const main = el("table", {}, rows([...own, ...others.filter((name) => !ofVideo.includes(name))]));
    if (manySets) main.tBodies[0].prepend(el("tr", {}, el("th", { scope: "row" }, "data set"), el("td", {}, report.sets[clip.set].name)));
    return [main, ofVideo.length ? el("details", { class: "facts-of-video" }, el("summary", {}, "Facts about the video"), el("table", {}, rows(ofVideo))) : null];
  }

  /// Buttons for frames: for all of few, or for some of many.
  function frameButtons(clip, go) {
    const { frames = [], times } = clip.strip ?? {};
    const few = Math.min(frames.length, frames.length > MOST_BUTTONS ? MOST_BUTTONS : Infinity);
    const positions = Array.from({ length: few }, (_, i) => Math.floor((i * frames.length) / few));
    const buttons = positions.map((position) => {
      const canvas = el("canvas", { "aria-hidden": "true" });
      const time = new Text();
      const button = el("button", { type: "button", onclick: () => go(position) }, canvas, time);
      const name = () => {
        if (times[position] !== undefined) time.textContent = `${numbers.format(times[position])} s`;
        button.setAttribute("aria-label", `Frame ${frames[position]}, ${time.textContent}`);
      };
      name();
      strips.draw(canvas, clip, position).then(name);
      return button;
    });
    const mark = (at) => buttons.forEach((button, i) => button.setAttribute("aria-pressed", i === positions.findLastIndex((position) => position <= at)));
    return { node: el("div", { class: "frames" }, buttons), mark };
  }

  async function copyLink(button) {
    try {
      await navigator.clipboard.writeText(location.href);
      button.textContent = "Copied";
    } catch {
      button.textContent = "See the address bar";
    }
    setTimeout(() => { button.textContent = "Copy link"; }, 1500);
  }

  function stop() {
    for (const part of running) part.stop?.();
    running = [];
  }

  function open(clip, isWanted) {
    if (!isWanted()) return;
    const dialog = byId("detail");
    stop();
    const readout = el("p", { class: "quiet", "aria-hidden": "true" });
    let buttons = null;
    const play = player(clip, (at, text) => {
      readout.textContent = text;
      buttons?.mark(at);
      for (const part of running) part.follow?.(at);
    });
    if (clip.strip) play.node.style.aspectRatio = `${clip.strip.width} / ${clip.strip.height}`;
    buttons = frameButtons(clip, (at) => play.go(at));
    running = clip.absent ? [] : parts.map((part) => part(clip, play)).filter(Boolean);
    buttons.mark(play.at());
    for (const part of running) part.follow?.(play.at());
    const to = (step) => {
      const next = wall.neighbor(clip.key, step);
      return el("button", { type: "button", class: "icon", "aria-label": step < 0 ? "Clip before (k)" : "Next clip (j)", disabled: next === undefined, "data-step": step, onclick: () => show({ clip: next }) }, step < 0 ? "‹" : "›");
    };
    const nodes = (isBeside) => running.filter((part) => Boolean(part.isBeside) === isBeside).map((part) => part.node);
    const copy = el("button", { type: "button", onclick: () => copyLink(copy) }, "Copy link");
    dialog.replaceChildren(
      el("div", { class: "detail-top" }, el("h2", { id: "detail-title", title: clip.source }, clip.source || `clip ${clip.clip}`),
        flagButton(clip, `Flag ${clip.source}`), copy, to(-1), to(1),
        el("button", { type: "button", class: "icon", "aria-label": "Close", onclick: () => dialog.close() }, "✕")),
      el("div", { class: "detail-body" },
        el("div", {}, el("div", { class: "views" }, el("div", { class: "card" }, play.node), nodes(true)), readout, nodes(false), buttons.node),
        el("div", {}, clip.findings.length ? el("ul", { class: "about" }, clip.findings.map((found) => el("li", {}, el("b", {}, kindTitle(found.kind)), `: ${found.text}`))) : null, clip.absent ? null : table(clip))));
    if (!dialog.open) dialog.showModal();
    play.node.focus({ preventScroll: true });
    dialog.scrollTop = 0;
  }

  function start() {
    const dialog = byId("detail");
    dialog.addEventListener("close", () => {
      if (shown === null) return;
      const key = shown;
      shown = null;
      stop();
      show({ clip: undefined });
      document.querySelector(`main > section:not([hidden]) .card[data-key="${CSS.escape(key)}"] [role=slider]`)?.focus({ preventScroll: true });
    });
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog) dialog.close();
    });
    dialog.addEventListener("keydown", (event) => {
      const step = { j: 1, k: -1 }[event.key];
      if (step) dialog.querySelector(`[data-step="${step}"]`)?.click();
    });
  }

  /// Opens the clip of a key, when it is there.
  async function draw(key) {
    const index = key === undefined ? -1 : catalog.indexOf(key);
    if (index < 0) {
      shown = null;
      stop();
      if (byId("detail").open) byId("detail").close();
    } else if (key !== shown) {
      shown = key;
      const clip = catalog.clip(index, () => shown === key);
      open(clip.then ? await clip : clip, () => shown === key);
    }
  }

  return { start, draw, parts };
})();
