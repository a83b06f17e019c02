// Strips: decoded when they come into view, and forgotten when too many are held.

const strips = (() => {
  const HELD_PIXELS = 24_000_000;
  const held = new Map();
  let pixels = 0;

  const parsed = new Promise((resolve) => {
    if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", resolve, { once: true });
    else resolve();
  });

  async function decode(index) {
    let node = byId(`strip-${index}`);
    if (!node) {
      await parsed;
      node = byId(`strip-${index}`);
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
    let entry = held.get(clip.index);
    held.delete(clip.index);
    if (!entry) {
      const size = clip.strip.pitch * clip.strip.frames.length * clip.strip.height;
      entry = { size, picture: decode(clip.index) };
      pixels += size;
    }
    held.set(clip.index, entry);
    for (const [index, old] of held) {
      if (pixels <= HELD_PIXELS || index === clip.index) break;
      held.delete(index);
      pixels -= old.size;
    }
    return entry.picture;
  }

  /// Draws the frame at a position of the strip.
  function draw(canvas, clip, picture, position) {
    const { width, height, pitch } = clip.strip;
    if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
    canvas.getContext("2d", { alpha: false }).drawImage(picture, position * pitch, 0, width, height, 0, 0, width, height);
  }

  return { load, draw };
})();
