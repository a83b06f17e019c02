// A track file (.vtrk): format-spec/vidrec-v1.md. The tracks of one clip are read when it is opened.

const TRACK_ENDS = 64, TRACK_ENTRY = 24, DIRECTORY = 8, DIRECTORY_ENTRY = 48;
const TRACK_MAGIC = "\x89VTRK\r\n\x1a";
/// The longest schema, and the most bytes of the tracks of a clip that are read.
const MOST_SCHEMA = 1 << 20, MOST_BLOCK = 128 << 20;
/// The values in a block of FLAC.
const FLAC_VALUES = 4096;
const NUMBERS = { f32: Float32Array, f64: Float64Array, i16: Int16Array, i32: Int32Array, i64: BigInt64Array, u8: Uint8Array, u16: Uint16Array, bool: Uint8Array };

class TrackFile {
  /// Opens the track file of a shard that has so many clips.
  static async open(url, { file, bytes }, clips) {
    const named = (what) => `${file}: ${what}`;
    check(Number.isSafeInteger(bytes) && bytes >= 2 * TRACK_ENDS, named("the file is too short"));
    const [head, foot] = await Promise.all([requests.read(url, 0, TRACK_ENDS), requests.read(url, bytes - TRACK_ENDS, bytes)]);
    const [header, footer] = [viewOf(head), viewOf(foot)];
    check(asciiOf(head.subarray(0, 8)) === TRACK_MAGIC && asciiOf(foot.subarray(56)) === TRACK_MAGIC, named("this is not a track file"));
    check(header.getUint16(8, true) === 1 && header.getUint32(12, true) === 0, named("it needs something that this page does not know"));
    check(crc32(head.subarray(0, 60)) === header.getUint32(60, true) && footer.getUint32(40, true) === header.getUint32(60, true), named("the CRC-32 of the header does not match"));
    check(crc32(foot.subarray(0, 52)) === footer.getUint32(52, true), named("the CRC-32 of the footer does not match"));
    const [table, schema, length] = [u64(footer, 16), u64(footer, 24), footer.getUint32(32, true)];
    const isInPlace = u64(footer, 0) === bytes && u64(footer, 8) === clips && table + clips * TRACK_ENTRY === schema && schema + length === bytes - TRACK_ENDS;
    check(isInPlace && length <= MOST_SCHEMA, named("its parts are not where they must be"));
    const text = await requests.read(url, schema, schema + length);
    check(crc32(text) === footer.getUint32(36, true), named("the CRC-32 of the schema does not match"));
    const { tracks } = JSON.parse(textOf(text));
    check(Array.isArray(tracks) && tracks.every((track) => typeof track.name === "string" && Array.isArray(track.shape)), named("the schema is not one"));
    return Object.assign(new TrackFile(), { url, table, tracks, named });
  }

  /// The tracks of a clip of the shard, which has these times of frames in seconds. A damaged one has a `fault` instead of values.
  async tracksOf(ordinal, times) {
    const at = this.table + ordinal * TRACK_ENTRY;
    const entry = await requests.read(this.url, at, at + TRACK_ENTRY);
    check(isEntry(entry, ordinal, 0, TRACK_ENTRY), this.named("the CRC-32 of the clip's entry does not match"));
    const view = viewOf(entry);
    const [begin, length] = [u64(view, 0), u64(view, 8)];
    if (!length) return [];
    check(begin >= TRACK_ENDS && begin + length <= this.table, this.named("the tracks of the clip are not in the file"));
    check(length <= MOST_BLOCK, `the tracks of the clip are longer than ${bytes(MOST_BLOCK)}, and are not shown here`);
    const block = await requests.read(this.url, begin, begin + length);
    return Promise.all(this.directory(block, view.getUint32(16, true), ordinal).map(async (found) => {
      try {
        return await trackOf(found, block.subarray(found.offset, found.offset + found.length), times);
      } catch (e) {
        if (!(e instanceof Damaged)) throw e;
        return { ...found.schema, fault: e.message };
      }
    }));
  }

  directory(block, crc, ordinal) {
    const view = viewOf(block);
    const count = view.getUint32(0, true);
    const end = DIRECTORY + count * DIRECTORY_ENTRY;
    check(count <= this.tracks.length && end <= block.length && view.getUint32(4, true) === ordinal, this.named("the tracks are not those of the clip"));
    check(crc32(block.subarray(0, end)) === crc, this.named("the CRC-32 of the directory does not match"));
    return Array.from({ length: count }, (_, i) => {
      const at = DIRECTORY + i * DIRECTORY_ENTRY;
      const found = {
        schema: this.tracks[view.getUint16(at, true)], coding: view.getUint16(at + 2, true), crc: view.getUint32(at + 4, true), offset: u64(view, at + 8), length: u64(view, at + 16),
        count: u64(view, at + 24), first: i64(view, at + 32), rate: view.getUint32(at + 40, true) / view.getUint32(at + 44, true),
      };
      check(found.schema && found.offset + found.length <= block.length, this.named("the directory is wrong"));
      return found;
    });
  }
}

/// The blocks of coded numbers, of `each` values: a list with the end and the CRC-32 of each block, then the blocks.
function codedBlocks(bytes, count, each, channels) {
  const blocks = Math.ceil(count / each), list = viewOf(bytes);
  check(8 * blocks <= bytes.length && channels <= 8 && 2 * count * channels <= MOST_BLOCK, "there are too many values to show");
  let start = 8 * blocks;
  return Array.from({ length: blocks }, (_, i) => {
    const end = 8 * blocks + list.getUint32(8 * i, true);
    const block = bytes.subarray(start, end);
    check(end <= bytes.length && crc32(block) === list.getUint32(8 * i + 4, true), `the CRC-32 of block ${i} does not match`);
    start = end;
    return { block, count: Math.min(each, count - i * each) };
  });
}

/// The bytes of coded numbers, as they are.
function decodedSound(bytes, coding, count, channels, rate) {
  const blocks = codedBlocks(bytes, count, blockValues(coding, rate), channels);
  if (coding === 2) return opusNumbers(blocks, channels, rate);
  const out = new Int16Array(count * channels);
  blocks.forEach(({ block, count: values }, i) => decodeFrame(block, i, values, channels, out));
  return new Uint8Array(out.buffer);
}

function blockValues(coding, rate) {
  return coding === 2 ? rate / 2 : FLAC_VALUES;
}

/// The values and the times of a track. Numbers lie one after the other, `width` to a value.
async function trackOf({ schema, coding, crc, count, first, rate }, stored, frameTimes) {
  const width = schema.shape.reduce((product, n) => product * n, 1);
  const times = { times: 1, spans: 2 }[schema.timing] ?? 0;
  const isKnown = coding < 2 || (coding === 2 && OPUS_RATES.includes(rate) && width <= 2) || coding === 3;
  check(isKnown, "this page does not know how the values are stored");
  const listed = coding === 3 ? 8 * count * (1 + times) : 8 * Math.ceil(count / blockValues(coding, rate));
  check(crc32(coding ? stored.subarray(0, listed) : stored) === crc, "the CRC-32 does not match");
  const bytes = coding === 1 || coding === 2 ? await decodedSound(stored, coding, count, width, rate) : stored;
  const track = { ...schema, count, width, rate };
  let end;
  if (coding === 3) {
    check(isPicture(schema), "its values are not pictures");
    const file = pictureFiles(stored, count, times);
    track.picture = (i) => numbersOf(file(i), schema);
    end = 8 * count;
  } else if (schema.type === "utf-8") {
    const offsets = viewOf(bytes);
    const list = 4 * (count + 1);
    check(list <= bytes.length, "the texts are cut off");
    const place = (i) => list + offsets.getUint32(4 * i, true);
    end = place(count);
    track.texts = Array.from({ length: count }, (_, i) => textOf(bytes.subarray(place(i), place(i + 1))));
  } else {
    const Type = NUMBERS[schema.type];
    check(Type && Number.isSafeInteger(count * width), "this page does not know the type");
    end = count * width * Type.BYTES_PER_ELEMENT;
    check(end <= bytes.length, "the values are cut off");
    track.values = new Type(bytes.slice(0, end).buffer);
    if (isPicture(schema)) track.picture = (i) => track.values.subarray(i * width, (i + 1) * width);
  }
  const timesOf = (list) => {
    const at = Math.ceil(end / 8) * 8 + list * 8 * count;
    check(at + 8 * count <= bytes.length, "the times are cut off");
    const view = viewOf(bytes);
    return Float64Array.from({ length: count }, (_, i) => i64(view, at + 8 * i) / 1e9);
  };
  if (schema.timing === "frames") {
    check(count === frameTimes.length, "there is not one value for each frame");
    track.times = Float64Array.from(frameTimes);
  } else if (schema.timing === "rate") {
    check(rate > 0 && Number.isFinite(rate), "the rate is wrong");
    track.first = first / 1e9;
  } else {
    track.times = timesOf(0);
    if (schema.timing === "spans") track.ends = timesOf(1);
  }
  track.timeOf = track.times ? (i) => track.times[i] : (i) => track.first + i / rate;
  return track;
}
