// Numbers and checksums in bytes. What does not hold is an error that says so.

/// Bytes that are not what the format says. The message is for people.
class Damaged extends Error {}

function check(holds, what) {
  if (!holds) throw new Damaged(what);
}

const viewOf = (bytes) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/// A u64 or a non-negative i64. Larger numbers than JavaScript has are no offsets of files.
function u64(view, at) {
  const value = view.getUint32(at, true) + view.getUint32(at + 4, true) * 2 ** 32;
  if (!Number.isSafeInteger(value)) throw new Damaged("a number is too large");
  return value;
}

/// An i64, which may lose its last bits beyond 2^53.
const i64 = (view, at) => view.getUint32(at, true) + view.getInt32(at + 4, true) * 2 ** 32;

/// The CRC-32 of zlib and PNG, of eight bytes at a time. `before` is that of the bytes that come before.
const crc32 = (() => {
  const tables = Array.from({ length: 8 }, () => new Int32Array(256));
  for (let i = 0; i < 256; i += 1) {
    let c = i;
    for (let bit = 0; bit < 8; bit += 1) c = c & 1 ? (c >>> 1) ^ 0xedb88320 : c >>> 1;
    tables[0][i] = c;
  }
  for (let i = 0; i < 256; i += 1) {
    for (let t = 1; t < 8; t += 1) tables[t][i] = tables[0][tables[t - 1][i] & 255] ^ (tables[t - 1][i] >>> 8);
  }
  const [t0, t1, t2, t3, t4, t5, t6, t7] = tables;
  return (bytes, before = 0, begin = 0, end = bytes.length) => {
    let c = ~before;
    let i = begin;
    for (; i + 8 <= end; i += 8) {
      c ^= bytes[i] | (bytes[i + 1] << 8) | (bytes[i + 2] << 16) | (bytes[i + 3] << 24);
      c = t7[c & 255] ^ t6[(c >>> 8) & 255] ^ t5[(c >>> 16) & 255] ^ t4[c >>> 24]
        ^ t3[bytes[i + 4]] ^ t2[bytes[i + 5]] ^ t1[bytes[i + 6]] ^ t0[bytes[i + 7]];
    }
    for (; i < end; i += 1) c = t0[(c ^ bytes[i]) & 255] ^ (c >>> 8);
    return ~c >>> 0;
  };
})();

/// Whether an entry of a table has the checksum at its end, which is of its other bytes and of its ordinal.
const isEntry = (() => {
  const number = new Uint8Array(8);
  const view = viewOf(number);
  return (bytes, ordinal, begin, length) => {
    view.setUint32(0, ordinal % 2 ** 32, true);
    view.setUint32(4, Math.floor(ordinal / 2 ** 32), true);
    const found = crc32(number, crc32(bytes, 0, begin, begin + length - 4));
    const at = begin + length - 4;
    return found === (bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24)) >>> 0;
  };
})();

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function textOf(bytes) {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new Damaged("a text is not UTF-8");
  }
}
