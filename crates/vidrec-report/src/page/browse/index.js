// An index file (.vidx): format-spec/vidrec-v1.md. Its tables are read entry by entry, and its head once.

const HEADER = 64, SECTION = 32, FRAME = 32, CLIP = 80, FOOTER = 24;
const MOST_SECTIONS = 64;
const INDEX_MAGIC = "\x89VIDX\r\n\x1a";

const asciiOf = (bytes) => String.fromCharCode(...bytes);

const stringAt = (view, offset, length) => ({ begin: u64(view, offset), length: view.getUint32(length, true) });

class IndexFile {
  constructor(url, header, sections) {
    Object.assign(this, { url, ...header, sections });
  }

  /// Opens the index that `dataset.json` lists.
  static async open(url, listed) {
    const named = (what) => `${listed.index_file}: ${what}`;
    const head = await requests.read(url, 0, HEADER);
    const view = viewOf(head);
    check(asciiOf(head.subarray(0, 8)) === INDEX_MAGIC, named("this is not an index"));
    check(view.getUint16(8, true) === 1, named(`this page reads version 1 of the format, and not ${view.getUint16(8, true)}`));
    const crc = view.getUint32(60, true);
    check(crc === crc32(head.subarray(0, 60)), named("the CRC-32 of the header does not match"));
    check(view.getUint32(12, true) === 0, named("it needs something that this page does not know"));
    const [count, at, length] = [view.getUint32(20, true), u64(view, 24), u64(view, 32)];
    const [clips, frames] = [u64(view, 40), u64(view, 48)];
    const isListed = clips === listed.clips && frames === listed.frames && (listed.index_crc32 === undefined || listed.index_crc32 === crc);
    check(isListed, named("this is not the index that dataset.json lists; load the page again if the data set was just changed"));
    const end = at + count * SECTION;
    check(count <= MOST_SECTIONS && at >= HEADER && end + FOOTER === length, named("the section table is not where it must be"));
    const table = await requests.read(url, at, end);
    check(crc32(table) === view.getUint32(56, true), named("the CRC-32 of the section table does not match"));
    return new IndexFile(url, { clips, frames, name: listed.index_file }, IndexFile.sections(table, at, { clips, frames }, named));
  }

  static sections(table, end, { clips, frames }, named) {
    const sections = new Map();
    const view = viewOf(table);
    const sizes = { FRMS: frames * FRAME, CLPS: clips * CLIP };
    for (let at = 0; at < table.length; at += SECTION) {
      const id = asciiOf(table.subarray(at, at + 4));
      const [begin, length] = [u64(view, at + 8), u64(view, at + 16)];
      check(["FRMS", "CLPS", "STRS", "DATA", "META"].includes(id) || !(view.getUint32(at + 4, true) & 1), named(`section ${id} is needed and not known`));
      check(begin >= HEADER && begin + length <= end && length === (sizes[id] ?? length), named(`section ${id} is not where it must be`));
      sections.set(id, { begin, length });
    }
    check(["FRMS", "CLPS", "STRS"].every((id) => sections.has(id)), named("a section is missing"));
    return sections;
  }

  /// Entries `first` to `last` (excluded) of the clip table, as bytes and as a view of these.
  async clipTable(first, last, isWanted) {
    const { begin } = this.sections.get("CLPS");
    const bytes = await requests.read(this.url, begin + first * CLIP, begin + last * CLIP, isWanted);
    return { bytes, view: viewOf(bytes) };
  }

  /// The entry of a clip, which is entry `i` of a part of the table.
  clipEntry({ bytes, view }, i, ordinal) {
    const at = i * CLIP;
    if (!isEntry(bytes, ordinal, at, CLIP)) throw new Damaged(`${this.name}: the CRC-32 of the entry of clip ${ordinal} does not match`);
    const entry = {
      first: u64(view, at), frames: view.getUint32(at + 8, true), label: view.getInt32(at + 12, true), width: view.getUint16(at + 16, true),
      height: view.getUint16(at + 18, true), short: Boolean(view.getUint32(at + 20, true) & 1), unit: view.getUint32(at + 24, true), per: view.getUint32(at + 28, true),
      strings: [stringAt(view, at + 32, at + 56), stringAt(view, at + 40, at + 60), stringAt(view, at + 48, at + 64)],
      crc: view.getUint32(at + 68, true),
    };
    const pool = this.sections.get("STRS").length;
    if (entry.strings.some(({ begin, length }) => begin + length > pool)) throw new Damaged(`${this.name}: a string of clip ${ordinal} is not in the pool`);
    const isRight = entry.first + entry.frames <= this.frames && entry.unit > 0 && entry.per > 0;
    if (!isRight) throw new Damaged(`${this.name}: the entry of clip ${ordinal} is wrong`);
    return entry;
  }

  /// A part of the string pool.
  stringBytes(begin, length, isWanted) {
    const at = this.sections.get("STRS").begin + begin;
    return requests.read(this.url, at, at + length, isWanted);
  }

  /// Compares the checksum of the strings of a clip.
  prove(entry, crc, ordinal) {
    if (crc !== entry.crc) throw new Damaged(`${this.name}: the CRC-32 of the strings of clip ${ordinal} does not match`);
  }

  /// Source, class and attributes of a clip.
  texts(entry, parts, ordinal) {
    this.prove(entry, crc32(parts[2], crc32(parts[1], crc32(parts[0]))), ordinal);
    return parts.map(textOf);
  }

  /// Frames `first` to `last` (excluded) of the shard. Of an entry with a wrong checksum there is nothing.
  async frameEntries(first, last, isWanted) {
    const { begin } = this.sections.get("FRMS");
    const bytes = await requests.read(this.url, begin + first * FRAME, begin + last * FRAME, isWanted);
    const view = viewOf(bytes);
    return Array.from({ length: last - first }, (_, i) => {
      const at = i * FRAME;
      if (!isEntry(bytes, first + i, at, FRAME)) return null;
      return { offset: u64(view, at), pts: i64(view, at + 8), length: view.getUint32(at + 16, true), crc: view.getUint32(at + 20, true) };
    });
  }
}
