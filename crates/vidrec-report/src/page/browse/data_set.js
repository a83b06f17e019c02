// A data set on a web server: its shards, and its clips.

/// The most bytes of a dataset.json.
const MOST_LISTING = 256 << 20;

/// The class of a clip, or its label as text.
const classOf = (name, label) => name || (label >= 0 ? String(label) : "no label");

class DataSet {
  /// Opens data set `number` of the page at the address of its folder.
  static async open(number, base) {
    const url = new URL("dataset.json", base).href;
    let answer;
    try {
      answer = await fetch(url, { cache: "no-cache", credentials: "same-origin" });
    } catch (e) {
      const why = location.protocol === "file:" ? "a browser reads no files from a disk: open the page through a web server, such as that of `vidrec browse`" : e.message;
      throw new Error(`${url}: ${why}`);
    }
    if (!answer.ok) throw new Error(`${url}: the server answers ${answer.status} ${answer.statusText}`.trim());
    check(Number(answer.headers.get("Content-Length") ?? 0) <= MOST_LISTING, `${url}: the file is too long`);
    const listing = await answer.json();
    check(listing.format === "vidrec" && listing.format_version === 1 && Array.isArray(listing.shards), `${url}: this is not the dataset.json of a data set that this page can read`);
    return new DataSet(number, base, listing);
  }

  constructor(number, base, listing) {
    Object.assign(this, { number, base, listing, shards: [], trackFiles: [], starts: [0] });
    for (const shard of listing.shards) {
      check([shard.clips, shard.frames, shard.bytes].every((n) => Number.isSafeInteger(n) && n >= 0), "dataset.json has a wrong number");
      this.starts.push(this.starts.at(-1) + shard.clips);
    }
    this.clips = this.starts.at(-1);
  }

  /// The address of a file of the data set.
  url(name) {
    check(typeof name === "string" && !/[/\\]|^\./.test(name), "dataset.json has a wrong name of a file");
    return new URL(encodeURIComponent(name), this.base).href;
  }

  /// The index of a shard, which is opened once. After an error, it is tried again.
  index(shard) {
    const listed = this.listing.shards[shard];
    this.shards[shard] ??= IndexFile.open(this.url(listed.index_file), listed).catch((e) => {
      delete this.shards[shard];
      throw e;
    });
    return this.shards[shard];
  }

  /// The track file of a shard, which is opened once; nothing if it has none.
  async tracks(shard) {
    const listed = this.listing.shards[shard];
    if (!listed.track_file) return null;
    this.trackFiles[shard] ??= TrackFile.open(this.url(listed.track_file.file), listed.track_file, listed.clips).catch((e) => {
      delete this.trackFiles[shard];
      throw e;
    });
    return this.trackFiles[shard];
  }

  /// The shard that has a clip.
  shardOf(clip) {
    let [low, high] = [0, this.starts.length - 1];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.starts[middle] <= clip) low = middle;
      else high = middle;
    }
    return low;
  }

  /// What the page shows of a clip, but for its frames, out of its entry and its texts.
  facts(clip, entry, [source, className, attributes]) {
    let known = {};
    try {
      known = JSON.parse(attributes || "{}");
    } catch {
      throw new Damaged(`the attributes of clip ${clip} are not JSON`);
    }
    if (!isObject(known)) throw new Damaged(`the attributes of clip ${clip} are no object`);
    const { frames, width, height, short, label } = entry;
    return new Clip({ set: this.number, clip, source, class: classOf(className, label), frames, width, height, short, attributes: known });
  }
}
