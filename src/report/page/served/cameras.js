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
