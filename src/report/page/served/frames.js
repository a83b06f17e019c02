// Frames: asked for when they are shown, and forgotten when too many are held.

const strips = (() => {
  const HELD_PIXELS = 32_000_000;
  /// Frames of cards are kept this wide.
  const CARD = 480;

  /// What was used last, as far as the sizes of all have room.
  function shelf(most) {
    const held = new Map();
    let sum = 0;
    return (key, make, size) => {
      let entry = held.get(key);
      held.delete(key);
      if (!entry) {
        entry = { size, value: make() };
        sum += size;
        // What failed is tried again when it is asked for again.
        entry.value.catch(() => { if (held.get(key) === entry && held.delete(key)) sum -= entry.size; });
      }
      held.set(key, entry);
      for (const [other, old] of held) {
        if (sum <= most || other === key) break;
        held.delete(other);
        sum -= old.size;
      }
      return entry.value;
    };
  }
  const pictures = shelf(HELD_PIXELS);

  async function decoded(clip, t, name) {
    const jpeg = await asks.get(`${clip.set}/${clip.clip}/${t}.jpg`, (answer) => answer.blob());
    const options = name === "strip" && clip.width > CARD ? { resizeWidth: CARD, resizeQuality: "medium" } : {};
    return createImageBitmap(jpeg, options).catch(() => { throw new Damaged("the JPEG does not decode"); });
  }

  /// A frame as a picture.
  function load(clip, t, name = "strip") {
    const size = Math.max(clip.width * clip.height, 1 << 16);
    return pictures(`${name}-${clip.key}/${t}`, () => decoded(clip, t, name), name === "strip" ? Math.min(size, CARD * CARD) : size);
  }

  /// The frame that each canvas is to show.
  const wanted = new WeakMap();

  /// Draws a frame of a clip, or that it is damaged, unless the canvas is to show another one when it is there.
  async function draw(canvas, clip, t, name = "strip") {
    wanted.set(canvas, t);
    let picture, why;
    try {
      picture = await load(clip, t, name);
    } catch (e) {
      if (!(e instanceof Damaged)) trouble(e);
      else if (!clip.strip.damaged.includes(t)) clip.strip.damaged.push(t);
      why = e instanceof Damaged ? ["damaged", e.message] : ["not read", e.message];
    }
    if (wanted.get(canvas) !== t) return;
    if (picture) paint(canvas, picture);
    else refuse(canvas, clip, why);
  }

  function paint(canvas, picture) {
    const { width, height } = picture;
    if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
    canvas.getContext("2d", { alpha: false }).drawImage(picture, 0, 0);
    canvas.removeAttribute("data-fault");
  }

  /// Says in place of a frame why it is not there.
  function refuse(canvas, { strip }, [word, why]) {
    const width = 320, height = Math.round((320 * (strip.height || 200)) / (strip.width || 320));
    [canvas.width, canvas.height] = [width, height];
    canvas.dataset.fault = why;
    const pen = canvas.getContext("2d", { alpha: false });
    pen.fillStyle = "#7a2b24";
    pen.fillRect(0, 0, width, height);
    pen.strokeStyle = "#c98a84";
    pen.lineWidth = 2;
    pen.strokeRect(1, 1, width - 2, height - 2);
    pen.fillStyle = "#ffffff";
    pen.textAlign = "center";
    pen.font = "600 28px system-ui, sans-serif";
    pen.fillText(word, width / 2, height / 2);
    pen.font = "12px system-ui, sans-serif";
    pen.fillText(why, width / 2, height / 2 + 24, width - 12);
  }

  return { load, draw };
})();
