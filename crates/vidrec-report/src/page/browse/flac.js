// Blocks of coded sound: frames of FLAC with numbers of 16 bits.

const FIXED = [[], [1], [2, -1], [3, -3, 1], [4, -6, 4, -1]];

/// Reads bits, the highest of each byte first.
class Bits {
  constructor(bytes) {
    Object.assign(this, { bytes, at: 0 });
  }

  peek() {
    const [from, shift] = [this.at >> 3, this.at & 7];
    const byte = (i) => this.bytes[from + i] ?? 0;
    const word = (byte(0) << 24) | (byte(1) << 16) | (byte(2) << 8) | byte(3);
    return shift ? (word << shift) | (byte(4) >> (8 - shift)) : word;
  }

  /// At most 32 bits.
  take(count) {
    const word = count ? this.peek() >>> (32 - count) : 0;
    this.at += count;
    return word;
  }

  signed(count) {
    const word = count ? this.peek() >> (32 - count) : 0;
    this.at += count;
    return word;
  }

  unary() {
    let zeros = 0;
    for (this.check(); this.peek() === 0; this.check()) {
      zeros += 32;
      this.at += 32;
    }
    const more = Math.clz32(this.peek());
    this.at += more + 1;
    return zeros + more;
  }

  rice(parameter) {
    const folded = ((this.unary() << parameter) | this.take(parameter)) >>> 0;
    return folded & 1 ? -(folded >>> 1) - 1 : folded >>> 1;
  }

  check() {
    check(this.at <= 8 * this.bytes.length, "a block of sound ends early");
  }
}

/// Decodes frame `number` of a stream, of `count` values, to its place in all numbers.
function decodeFrame(bytes, number, count, channels, out) {
  const code = bytes[3] >> 4;
  check(bytes[0] === 0xff && bytes[1] === 0xf8 && (code === channels - 1 || (channels === 2 && code >= 8 && code <= 10)), "a block of sound has another header");
  const utf8 = number < 0x80 ? 1 : Math.ceil((32 - Math.clz32(number) - 1) / 5);
  // After the fixed part come the number of the frame, the number of values if there are fewer than usual, and a checksum.
  const bits = new Bits(bytes.subarray(4 + utf8 + (count === 4096 ? 0 : 2) + 1, bytes.length - 2));
  const side = { 8: 1, 9: 0, 10: 1 }[code];
  const stored = Array.from({ length: channels }, (_, i) => subframe(bits, count, i === side ? 17 : 16));
  bits.check();
  const at = number * 4096 * channels;
  for (let i = 0; i < count; i += 1) {
    if (side === undefined) {
      for (let channel = 0; channel < channels; channel += 1) out[at + i * channels + channel] = stored[channel][i];
      continue;
    }
    const [a, b] = [stored[0][i], stored[1][i]];
    const mid = (a << 1) | (b & 1);
    out[at + 2 * i] = code === 8 ? a : code === 9 ? a + b : (mid + b) >> 1;
    out[at + 2 * i + 1] = code === 8 ? a - b : code === 9 ? b : (mid - b) >> 1;
  }
}

function subframe(bits, count, width) {
  const [head, numbers] = [bits.take(8), new Int32Array(count)];
  const kind = head >> 1, wasted = head & 1 ? bits.unary() + 1 : 0, depth = width - wasted;
  const fixed = kind >= 8 && kind <= 12;
  check(depth > 0 && (kind < 2 || fixed || (kind >= 32 && kind < 64)), "a block of sound is stored in an unknown way");
  if (kind === 0) numbers.fill(bits.signed(depth));
  if (kind === 1) for (let i = 0; i < count; i += 1) numbers[i] = bits.signed(depth);
  if (kind > 1) {
    const order = fixed ? kind - 8 : kind - 31;
    check(order <= count, "a block of sound is too short");
    for (let i = 0; i < order; i += 1) numbers[i] = bits.signed(depth);
    const precision = fixed ? 0 : bits.take(4) + 1, divisor = fixed ? 1 : 2 ** bits.signed(5);
    const coefficients = fixed ? FIXED[order] : Array.from({ length: order }, () => bits.signed(precision));
    residual(bits, count, order, numbers);
    for (let i = order; i < count; i += 1) {
      let sum = 0;
      for (let j = 0; j < order; j += 1) sum += coefficients[j] * numbers[i - 1 - j];
      numbers[i] += Math.floor(sum / divisor);
    }
  }
  if (wasted) for (let i = 0; i < count; i += 1) numbers[i] <<= wasted;
  return numbers;
}

function residual(bits, count, order, out) {
  const width = 4 + bits.take(2), parts = 1 << bits.take(4), each = count / parts;
  check(width < 6 && Number.isInteger(each) && each >= order, "a block of sound has impossible parts");
  for (let part = 0, i = order; part < parts; part += 1) {
    const parameter = bits.take(width), depth = parameter === (1 << width) - 1 ? bits.take(5) : null;
    for (const end = (part + 1) * each; i < end; i += 1) out[i] = depth === null ? bits.rice(parameter) : bits.signed(depth);
    bits.check();
  }
}
