// A clip as a card: its frames under the pointer, its name, its flag.

/// The frames of a clip as a slider: by pointer, touch and keys. `changed` learns which frame is shown. `frame` is the one
/// to begin with. Only an opened clip has `changed`, and shows whole frames where they are asked for one by one.
function player(clip, changed, frame) {
  const name = changed ? "opened" : "strip";
  const shown = clip.strip?.frames.length ?? 0;
  const canvas = shown ? el("canvas", { "aria-hidden": "true" }) : null;
  const seek = el("span", { class: "seek" });
  const why = clip.absent ?? "no frames";
  const operated = {
    role: "slider", tabindex: "0", "aria-label": `Frames of ${clip.source}`, "aria-valuemin": "1", "aria-valuemax": Math.max(shown, 1),
  };
  const node = el("div", { class: "picture", ...(clip.absent ? { role: "img", "aria-label": `${clip.source}: ${why}` } : operated) }, canvas, seek);
  if (!shown) node.append(el("span", { class: "none" }, why));
  const first = frame === undefined ? shown >> 1 : Math.max(clip.strip?.frames.findLastIndex((t) => t <= frame) ?? 0, 0);
  let at = null;

  /// Shows a frame; what this returns is done when it is drawn.
  function go(position) {
    const next = Math.min(Math.max(position, 0), Math.max(shown - 1, 0));
    if (next === at || clip.absent) return undefined;
    at = next;
    seek.style.transform = `scaleX(${shown ? (at + 1) / shown : 0})`;
    tell();
    // What a frame is worth is known when it is there.
    return shown ? strips.draw(canvas, clip, next, name).then(() => { if (at === next) tell(); }) : undefined;
  }

  function tell() {
    node.setAttribute("aria-valuenow", at + 1);
    node.setAttribute("aria-valuetext", frameText());
    changed?.(at, frameText());
  }

  function frameText() {
    if (!shown) return "no frames";
    const { frames, times, damaged } = clip.strip;
    const broken = damaged.includes(frames[at]) ? ", damaged" : "";
    const time = times[at] === undefined ? "" : `, ${numbers.format(times[at])} s`;
    return `frame ${frames[at]} of ${clip.frames}${time}${broken}`;
  }

  const place = (event) => {
    const box = node.getBoundingClientRect();
    return Math.floor(((event.clientX - box.left) / box.width) * shown);
  };
  let from = null;
  node.addEventListener("pointerdown", (event) => { from = event.clientX; });
  node.addEventListener("pointermove", (event) => go(place(event)));
  node.addEventListener("pointerleave", (event) => {
    if (event.pointerType === "mouse" && !changed) go(first);
  });
  node.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: shown - 1 }[event.key];
    if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    go(step);
  });
  go(first);
  /// Whether a click ends a drag.
  const dragged = (event) => from !== null && Math.abs(event.clientX - from) > 6;
  return { node, go, dragged, at: () => at };
}

/// A card. `clip` may be absent from the page, and then has only a source and a number. It begins with
/// `frame`, or with one in the middle.
function card(clip, frame) {
  const play = player(clip, undefined, frame);
  const label = clip.source || `clip ${clip.clip}`;
  const link = clip.absent ? {} : { href: hashOf({ clip: clip.key }) };
  const name = el(clip.absent ? "span" : "a", { class: "name", title: clip.source, ...link }, fileName(label));
  const facts = [clip.class];
  if (!clip.absent) {
    if (catalog.lengthsDiffer) facts.push(count(clip.frames, "frame"));
    if (clip.seconds) facts.push(duration(clip.seconds));
  }
  const kinds = [...new Set(clip.findings.map((finding) => finding.kind))];
  const tag = kinds.length ? el("span", { class: "tag" }, kinds.length > 1 ? `${kindTitle(kinds[0])} +${kinds.length - 1}` : kindTitle(kinds[0])) : null;
  if (tag) play.node.append(tag);
  const node = el("article", { class: `card${flags.has(clip.key) ? " flagged" : ""}`, "data-key": clip.key },
    play.node,
    el("div", { class: "under" }, name,
      el("span", { class: "meta", title: facts.join(" · ") }, manySets ? `${report.sets[clip.set].short} · ` : "", facts.join(" · ")),
      flagButton(clip, `Flag ${label}`)));
  if (!clip.absent) {
    play.node.addEventListener("click", (event) => {
      if (!play.dragged(event)) show({ clip: clip.key });
    });
    play.node.addEventListener("keydown", (event) => {
      if (event.key === "Enter") show({ clip: clip.key });
    });
  }
  return node;
}

/// The card of a clip that is there, or that comes. Until it has come, an empty card stands in its place.
function cardOf(clip, frame, arrived) {
  if (!clip.then) return card(clip, frame);
  const empty = el("article", { class: "card" }, el("div", { class: "picture", role: "slider", tabindex: "0", "aria-busy": "true", "aria-label": "A clip that is being read", "aria-valuenow": "0" }));
  clip.then((found) => {
    const made = card(found, frame);
    const isFocused = empty.contains(document.activeElement);
    arrived?.(made, empty);
    empty.replaceWith(made);
    if (isFocused) made.querySelector(".picture").focus({ preventScroll: true });
  }, () => {
    // Nobody looks any more: the clip has left the view before it was read.
  });
  return empty;
}

document.addEventListener("keydown", (event) => {
  if (event.key !== "f" || event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select, textarea")) return;
  const holder = event.target.closest(".card, dialog");
  holder?.querySelector(".flag")?.click();
});
