// The strings of clips that are searched together: read at once where they lie together. Of the worker.

/// A piece of the pool is read at once if it has at most so many bytes for each that is needed, and so many more.
const WASTE = 4, MORE = 1 << 20;

/// The result of `work`; `undefined` of what is damaged.
function attempt(work) {
  try {
    return work();
  } catch (e) {
    if (e instanceof Damaged) return undefined;
    throw e;
  }
}

const NONE = new Uint8Array(0);

/// Strings of a pool: a piece of it, and others by their beginnings.
class Strings {
  /// Reads the strings of clips: those of classes, which many clips of a file share, and all others, which lie together.
  static async read(file, entries) {
    const [begin, end] = Strings.piece(entries);
    const isInside = (one) => one.begin >= begin && one.begin + one.length <= end;
    const others = begin < end ? (file.shared ??= new Map()) : new Map();
    // Of several that begin together, the longest.
    const missing = new Map();
    for (const { strings } of entries) {
      for (const one of strings) {
        const known = others.get(one.begin)?.length ?? missing.get(one.begin)?.length ?? 0;
        if (one.length > known && !isInside(one)) missing.set(one.begin, one);
      }
    }
    const read = async (one) => others.set(one.begin, (await file.stringBytes(one.begin, one.length)).slice());
    const [pool] = await Promise.all([file.stringBytes(begin, end - begin), ...[...missing.values()].map(read)]);
    return new Strings(begin, pool, others);
  }

  /// The piece of the pool that has the sources and attributes of clips; an empty one if they do not lie together.
  static piece(entries) {
    let [begin, end, sum] = [Infinity, 0, 0];
    for (const { strings: [source, , attributes] } of entries) {
      for (const one of [source, attributes]) {
        if (!one.length) continue;
        begin = Math.min(begin, one.begin);
        end = Math.max(end, one.begin + one.length);
        sum += one.length;
      }
    }
    return sum > 0 && end - begin <= WASTE * sum + MORE ? [begin, end] : [0, 0];
  }

  constructor(begin, pool, others) {
    Object.assign(this, { begin, pool, others, length: pool.length });
    const all = attempt(() => textOf(pool));
    // A place of the bytes is one of the text if all are ASCII.
    this.ascii = all?.length === pool.length ? all : null;
  }

  /// Keeps the text alone if it has all that the bytes have, once these are proven.
  settle() {
    if (this.ascii !== null) this.pool = null;
  }

  isInside({ begin, length }) {
    return begin >= this.begin && begin + length <= this.begin + this.length;
  }

  bytes(one) {
    if (!one.length) return NONE;
    const at = one.begin - this.begin;
    return this.isInside(one) ? this.pool.subarray(at, at + one.length) : this.others.get(one.begin).subarray(0, one.length);
  }

  /// The CRC-32 of a string and of what comes before it.
  crc32(one, before) {
    const at = one.begin - this.begin;
    return this.isInside(one) ? crc32(this.pool, before, at, at + one.length) : crc32(this.bytes(one), before);
  }

  text(one) {
    const at = one.begin - this.begin;
    return this.ascii !== null && this.isInside(one) ? this.ascii.slice(at, at + one.length) : textOf(this.bytes(one));
  }
}
