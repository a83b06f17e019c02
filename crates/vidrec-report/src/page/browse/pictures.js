// Tracks whose values are pictures, such as depth: PNG files of numbers with 8 or 16 bits, one to a block.

/// Whether values are pictures: rows and columns of one to four numbers without a sign.
const isPicture = ({ type, shape }) => (type === "u8" || type === "u16") && (shape.length === 2 || (shape.length === 3 && shape[2] <= 4));

/// The file of each picture. Ends and CRC-32s of all are in the list; the times of values are between list and files.
function pictureFiles(stored, count, times) {
  const list = viewOf(stored), begin = 8 * count * (1 + times);
  check(begin <= stored.length, "the list of pictures is cut off");
  return (i) => {
    const [from, to] = [i ? list.getUint32(8 * (i - 1), true) : 0, list.getUint32(8 * i, true)];
    const file = stored.subarray(begin + from, begin + to);
    check(from <= to && begin + to <= stored.length && crc32(file) === list.getUint32(8 * i + 4, true), `the CRC-32 of picture ${i} does not match`);
    return file;
  };
}

/// The numbers of a PNG file.
async function numbersOf(file, { type, shape }) {
  const [height, width, channels = 1] = shape, each = type === "u16" ? 2 : 1;
  const view = viewOf(file), parts = [];
  for (let at = 8; at + 12 <= file.length; at += 12 + view.getUint32(at)) {
    if (asciiOf(file.subarray(at + 4, at + 8)) === "IDAT") parts.push(file.subarray(at + 8, at + 8 + view.getUint32(at)));
  }
  const isSame = file.length >= 33 && view.getUint32(16) === width && view.getUint32(20) === height && file[24] === 8 * each && file[28] === 0;
  check(isSame && height * width * channels * each <= MOST_BLOCK, "a picture has another size than the track");
  const stream = new Blob(parts).stream().pipeThrough(new DecompressionStream("deflate"));
  const rows = new Uint8Array(await new Response(stream).arrayBuffer());
  const pixel = channels * each, line = width * pixel, out = new Uint8Array(height * line);
  check(rows.length === height * (line + 1), "a picture has too few rows");
  for (let y = 0; y < height; y += 1) {
    const kind = rows[y * (line + 1)];
    for (let x = 0; x < line; x += 1) {
      const at = y * line + x;
      const [a, b, c] = [x < pixel ? 0 : out[at - pixel], y ? out[at - line] : 0, x < pixel || !y ? 0 : out[at - line - pixel]];
      const [toA, toB, toC] = [Math.abs(b - c), Math.abs(a - c), Math.abs(a + b - 2 * c)];
      const paeth = toA <= toB && toA <= toC ? a : toB <= toC ? b : c;
      out[at] = rows[y * (line + 1) + 1 + x] + [0, a, b, (a + b) >> 1, paeth][kind];
    }
  }
  if (each === 1) return out;
  return Uint16Array.from({ length: out.length / 2 }, (_, i) => (out[2 * i] << 8) | out[2 * i + 1]);
}

/// Draws the picture of a track that is shown, from the least number in black to the greatest in white.
function pictureTrack(track) {
  const [height, width, channels = 1] = track.shape;
  const canvas = el("canvas", { width, height, class: "picture", role: "img", "aria-label": `Track ${track.name}` });
  const value = el("span", { class: "quiet" });
  let wanted = -1;
  const draw = async (at) => {
    const numbers = await track.picture(at);
    if (at !== wanted) return;
    const [low, high] = numbers.reduce(([least, most], n) => [Math.min(least, n), Math.max(most, n)], [Infinity, 0]);
    const pixels = new ImageData(width, height);
    for (let i = 0; i < width * height; i += 1) {
      const level = (channel) => (255 * (numbers[i * channels + channel] - low)) / (high - low || 1);
      const gray = channels < 3;
      pixels.data.set([level(0), level(gray ? 0 : 1), level(gray ? 0 : 2), 255], 4 * i);
    }
    canvas.getContext("2d").putImageData(pixels, 0, 0);
    value.textContent = `${plain(low)} to ${plain(high)}`;
  };
  const node = el("div", { class: "track" }, el("p", {}, el("b", {}, track.name), " ", value), canvas);
  return { node, follow(time) {
    const at = valueAt(track, time);
    if (at === wanted || at < 0) return;
    wanted = at;
    draw(at).catch((e) => { value.textContent = e.message; });
  } };
}
