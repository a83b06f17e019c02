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

  /// A strip of a clip as a picture: "strip", or "opened", the larger one that some clips have.
  function load(clip, name = "strip") {
    const id = `${name}-${clip.index}`;
    let entry = held.get(id);
    held.delete(id);
    if (!entry) {
      const size = clip[name].pitch * clip[name].frames.length * clip[name].height;
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
  async function draw(canvas, clip, position, name = "strip") {
    wanted.set(canvas, position);
    const picture = await load(clip, name);
    if (wanted.get(canvas) !== position) return;
    const { width, height, pitch } = clip[name];
    if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
    canvas.getContext("2d", { alpha: false }).drawImage(picture, position * pitch, 0, width, height, 0, 0, width, height);
  }

  return { load, draw };
})();
