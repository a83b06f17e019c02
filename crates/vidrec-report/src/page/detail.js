// One clip in full: large, frame by frame, with all that is known of it.

const detail = (() => {
  let shown = null;

  function valueText(name, value) {
    if (name === "bytes" || name === "bytes per frame") return bytes(value);
    return typeof value === "number" && name !== "video.creation_year" ? numbers.format(value) : String(value);
  }

  function table(clip) {
    const own = ["source", "class", "clip", "frames", "seconds", "width", "height", "bytes", "bytes per frame"];
    const others = [...clip.values.keys()].filter((name) => !own.includes(name));
    const row = (name) => el("tr", {}, el("th", { scope: "row" }, name.replace(/^video\./, "").replace(/[._]/g, "$&\u200b")),
      el("td", {}, valueText(name, clip.values.get(name))));
    const rows = (names) => el("tbody", {}, names.filter((name) => clip.values.has(name) && clip.values.get(name) !== "").map(row));
    const ofVideo = others.filter((name) => name.startsWith("video."));
    const main = el("table", {}, rows([...own, ...others.filter((name) => !ofVideo.includes(name))]));
    if (manySets) main.tBodies[0].prepend(el("tr", {}, el("th", { scope: "row" }, "data set"), el("td", {}, report.sets[clip.set].name)));
    return [main, ofVideo.length ? el("details", { class: "facts-of-video" }, el("summary", {}, "Facts about the video"), el("table", {}, rows(ofVideo))) : null];
  }

  function frameButtons(clip, go) {
    const buttons = (clip.strip?.frames ?? []).map((t, position) => {
      const canvas = el("canvas", { "aria-hidden": "true" });
      const button = el("button", { type: "button", "aria-label": `Frame ${t}, ${numbers.format(clip.strip.times[position])} s`, onclick: () => go(position) },
        canvas, `${numbers.format(clip.strip.times[position])} s`);
      strips.load(clip).then((picture) => strips.draw(canvas, clip.strip, picture, position));
      return button;
    });
    return { node: el("div", { class: "frames" }, buttons), mark: (at) => buttons.forEach((button, i) => button.setAttribute("aria-pressed", i === at)) };
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

  function open(clip) {
    const dialog = byId("detail");
    shown = clip.key;
    const readout = el("p", { class: "quiet", "aria-hidden": "true" });
    let buttons = null;
    const play = player(clip, (at, text) => {
      readout.textContent = text;
      buttons?.mark(at);
    });
    if (clip.strip) play.node.style.aspectRatio = `${clip.strip.width} / ${clip.strip.height}`;
    buttons = frameButtons(clip, (at) => play.go(at));
    play.go((clip.strip?.frames.length ?? 0) >> 1);
    const to = (step) => {
      const next = wall.neighbor(clip.key, step);
      return el("button", { type: "button", class: "icon", "aria-label": step < 0 ? "Clip before (k)" : "Next clip (j)", disabled: !next, "data-step": step, onclick: () => show({ clip: next.key }) }, step < 0 ? "‹" : "›");
    };
    const copy = el("button", { type: "button", onclick: () => copyLink(copy) }, "Copy link");
    dialog.replaceChildren(
      el("div", { class: "detail-top" }, el("h2", { id: "detail-title", title: clip.source }, clip.source || `clip ${clip.clip}`),
        flagButton(clip, `Flag ${clip.source}`), copy, to(-1), to(1),
        el("button", { type: "button", class: "icon", "aria-label": "Close", onclick: () => dialog.close() }, "✕")),
      el("div", { class: "detail-body" },
        el("div", {}, el("div", { class: "card" }, play.node), readout, buttons.node),
        el("div", {}, clip.findings.length ? el("ul", { class: "about" }, clip.findings.map((found) => el("li", {}, el("b", {}, kindTitle(found.kind)), `: ${found.text}`))) : null, table(clip))));
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
      show({ clip: undefined });
      document.querySelector(`section:not([hidden]) .card[data-key="${CSS.escape(key)}"] [role=slider]`)?.focus({ preventScroll: true });
    });
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog) dialog.close();
    });
    dialog.addEventListener("keydown", (event) => {
      const step = { j: 1, k: -1 }[event.key];
      if (step) dialog.querySelector(`[data-step="${step}"]`)?.click();
    });
  }

  function draw(key) {
    const clip = key === undefined ? undefined : clipByKey.get(key);
    if (!clip) {
      shown = null;
      if (byId("detail").open) byId("detail").close();
    } else if (clip.key !== shown) {
      open(clip);
    }
  }

  return { start, draw };
})();
