// Clips that are searched together: a piece of a clip table, and its texts as one text. Of the worker.

const CLIPS = 8192;
/// A piece of the string pool is read at once if it has at most so many bytes for each that is needed, and so many more.
const WASTE = 4, MORE = 1 << 20;
/// Bytes that are kept for the next search: more where there is more memory.
const KEPT = (navigator.deviceMemory ?? 4) * (128 << 20);

const NONE = new Uint8Array(0);

/// Strings of a pool: a piece of it, and others by their beginnings.
class Strings {
  constructor(begin, pool, others) {
    Object.assign(this, { begin, pool, others });
    const all = attempt(() => textOf(pool));
    // A place of the bytes is one of the text if all are ASCII.
    this.ascii = all?.length === pool.length ? all : null;
  }

  isInside({ begin, length }) {
    return begin >= this.begin && begin + length <= this.begin + this.pool.length;
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

class Chunk {
  /// Reads clips `first` to `last` (excluded) of a shard.
  static async read(file, first, last) {
    const table = await file.clipTable(first, last);
    const entries = Array.from({ length: last - first }, (_, i) => attempt(() => file.clipEntry(table, i, first + i)));
    return new Chunk(file, first, table, entries, await Chunk.strings(file, entries.filter(Boolean)));
  }

  /// Reads the strings of clips: those of classes, which many clips share, and all others, which lie together.
  static async strings(file, entries) {
    let [begin, end, sum] = [Infinity, 0, 0];
    for (const { strings } of entries) {
      for (const one of [strings[0], strings[2]]) {
        if (!one.length) continue;
        begin = Math.min(begin, one.begin);
        end = Math.max(end, one.begin + one.length);
        sum += one.length;
      }
    }
    const isTogether = sum > 0 && end - begin <= WASTE * sum + MORE;
    if (!isTogether) [begin, end] = [0, 0];
    const isInside = (one) => one.begin >= begin && one.begin + one.length <= end;
    // By their beginnings; of several that begin together, the longest.
    const others = new Map();
    for (const { strings } of entries) {
      for (const one of strings) {
        if (one.length && !isInside(one) && one.length > (others.get(one.begin)?.length ?? 0)) others.set(one.begin, one);
      }
    }
    const [pool, ...found] = await Promise.all([file.stringBytes(begin, end - begin), ...[...others.values()].map((one) => file.stringBytes(one.begin, one.length))]);
    const bytesOf = new Map([...others.keys()].map((at, i) => [at, found[i]]));
    return new Strings(begin, pool, bytesOf);
  }

  constructor(file, first, table, entries, strings) {
    Object.assign(this, { file, first, table, strings, count: entries.length, damaged: 0, starts: new Uint32Array(entries.length + 1), bad: new Uint8Array(entries.length) });
    const texts = entries.map((entry, i) => {
      const text = entry && attempt(() => this.textOf(entry, i));
      if (text === undefined) {
        this.bad[i] = 1;
        this.damaged += 1;
      }
      return text ?? "";
    });
    const written = `${texts.join("\0")}\0`;
    this.text = written.toLowerCase();
    // Few letters become longer in lower case, and none becomes shorter.
    const shown = this.text.length === written.length ? texts : texts.map((text) => text.toLowerCase());
    shown.forEach((text, i) => { this.starts[i + 1] = this.starts[i] + text.length + 1; });
    this.hasEscapes = this.text.includes("\\u");
    this.bytes = table.bytes.length + strings.pool.length + this.text.length;
  }

  /// The texts of a clip, proven.
  textOf(entry, i) {
    const { strings } = this;
    const [source, name, attributes] = entry.strings;
    this.file.prove(entry, strings.crc32(attributes, strings.crc32(name, strings.crc32(source, 0))), this.first + i);
    return `${strings.text(source)}\n${strings.text(name) || entry.label}\n${strings.text(attributes)}`;
  }

  /// The positions of the clips whose texts have all of some words, in any part of them, and of those that may have them.
  * having(words) {
    if (!words.length || this.hasEscapes) {
      for (let i = 0; i < this.count; i += 1) if (!this.bad[i]) yield i;
      return;
    }
    const [rarest, ...others] = [...words].sort((a, b) => b.length - a.length);
    for (let i = 0, at = this.text.indexOf(rarest); at >= 0; at = this.text.indexOf(rarest, this.starts[i])) {
      i = this.clipAt(at, i);
      const text = others.length ? this.text.slice(this.starts[i], this.starts[i + 1]) : "";
      if (others.every((word) => text.includes(word))) yield i;
      i += 1;
    }
  }

  /// The clip that has a place of the text, at or after clip `low`.
  clipAt(place, low) {
    let high = this.count;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.starts[middle] <= place) low = middle;
      else high = middle;
    }
    return low;
  }

  /// A clip with what can be searched.
  clip(set, number, i) {
    const entry = this.file.clipEntry(this.table, i, this.first + i);
    return set.facts(number, entry, entry.strings.map((one) => this.strings.text(one)));
  }
}

/// The result of `work`; `undefined` of what is damaged.
function attempt(work) {
  try {
    return work();
  } catch (e) {
    if (e instanceof Damaged) return undefined;
    throw e;
  }
}

/// Chunks that were read, and are read again if they were forgotten.
const chunks = (() => {
  const kept = new Map();
  let sum = 0;

  function get(set, shard, file, first, last) {
    const key = `${set.number}/${shard}/${first}`;
    let found = kept.get(key);
    if (found) return found;
    found = Chunk.read(file, first, last);
    kept.set(key, found);
    found.then((chunk) => {
      sum += chunk.bytes;
      for (const [old, of] of kept) {
        if (sum <= KEPT || old === key) break;
        kept.delete(old);
        of.then((gone) => { sum -= gone.bytes; }, () => {});
      }
    }, () => kept.delete(key));
    return found;
  }

  return { get };
})();
