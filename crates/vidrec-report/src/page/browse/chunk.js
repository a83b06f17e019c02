// Clips that are searched together: a piece of a clip table, and its texts as one text. Of the worker.

const CLIPS = 8192;
/// Bytes that are kept for the next search: more where there is more memory.
const KEPT = (navigator.deviceMemory ?? 4) * (128 << 20);

class Chunk {
  /// Reads clips `first` to `last` (excluded) of a shard.
  static async read(file, first, last) {
    const table = await file.clipTable(first, last);
    const entries = Array.from({ length: last - first }, (_, i) => attempt(() => file.clipEntry(table, i, first + i)));
    return new Chunk(file, first, table, entries, await Strings.read(file, entries.filter(Boolean)));
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
    strings.settle();
    this.bytes = table.bytes.length + strings.length + this.text.length;
  }

  /// The texts of a clip, proven.
  textOf(entry, i) {
    const { strings } = this;
    const [source, name, attributes] = entry.strings;
    this.file.prove(entry, strings.crc32(attributes, strings.crc32(name, strings.crc32(source, 0))), this.first + i);
    return `${strings.text(source)}\n${classOf(strings.text(name), entry.label)}\n${strings.text(attributes)}`;
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
