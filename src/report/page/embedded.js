// Strips: decoded when they come into view, and forgotten when too many are held.

const strips = (() => {
  const HELD_PIXELS = 24_000_000;
  const held = new Map();
  let pixels = 0;

  const parsed = new Promise((resolve) => {
    if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", resolve, { once: true });
    else resolve();
  });

  async function decode(id) {
    let node = byId(id);
    if (!node) {
      await parsed;
      node = byId(id);
    }
    return createImageBitmap(new Blob([bytesOf(node.textContent)], { type: "image/jpeg" }));
  }

  function bytesOf(base64) {
    if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
    const text = atob(base64);
    const out = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i += 1) out[i] = text.charCodeAt(i);
    return out;
  }

  /// The strip of a clip as a picture.
  function load(clip) {
    const id = `strip-${clip.index}`;
    let entry = held.get(id);
    held.delete(id);
    if (!entry) {
      const size = clip.strip.pitch * clip.strip.frames.length * clip.strip.height;
      entry = { size, picture: decode(id) };
      pixels += size;
    }
    held.set(id, entry);
    for (const [other, old] of held) {
      if (pixels <= HELD_PIXELS || other === id) break;
      held.delete(other);
      pixels -= old.size;
    }
    return entry.picture;
  }

  /// The frame that each canvas is to show.
  const wanted = new WeakMap();

  /// Draws the frame at a position of a clip, unless the canvas is to show another one when it is there.
  async function draw(canvas, clip, position) {
    wanted.set(canvas, position);
    const picture = await load(clip);
    if (wanted.get(canvas) !== position) return;
    const { width, height, pitch } = clip.strip;
    if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
    canvas.getContext("2d", { alpha: false }).drawImage(picture, position * pitch, 0, width, height, 0, 0, width, height);
  }

  return { load, draw };
})();

// The clips of a report, which are all inside of the page.

begin(JSON.parse(byId("data").textContent));
const clips = JSON.parse(byId("clip-list").textContent).map((facts, index) => new Clip({ ...facts, index }));
const clipByKey = new Map(clips.map((clip) => [clip.key, clip]));

/// Where the page has its clips from. `index` counts the clips of the page.
const catalog = {
  isEmbedded: true,
  size: clips.length,
  numberNames: namesOfNumbers(clips),
  classNames: [...new Set(clips.map((clip) => clip.class))].sort(),
  lengthsDiffer: clips.some((clip) => clip.frames !== clips[0].frames),
  finds: [...new Set(clips.flatMap((clip) => clip.findings.map((found) => found.kind)))],
  keyOf: (index) => clips[index].key,
  indexOf: (key) => clipByKey.get(key)?.index ?? -1,
  /// The clip at an index.
  clip: (index) => clips[index],
  /// The clip of a finding, which the page may not have.
  foundClip([set, number, source, className]) {
    const key = clipKey(set, number);
    return clipByKey.get(key) ?? { key, set, clip: number, source, class: className ?? "no label", frames: 0, findings: [], absent: "not among the clips shown here" };
  },
  /// Tells `tell` the indexes of the clips that a state of the page asks for.
  find(state, tell) {
    const fits = matcher(state, clips.map((clip) => clip.class), flags.has);
    tell({ found: arranged(clips.filter(fits).map((clip) => ({ index: clip.index, value: sortValue(clip, state.sort) })), state), done: true });
  },
};
