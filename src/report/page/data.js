// What the page knows of its data sets, and what can be searched of a clip.

/// The figures and findings; set before anything is drawn.
let report, manySets;

const KINDS = {
  "black": ["Black", "All frames are black, or nearly."],
  "uniform": ["Of one color", "All frames are of nearly one color."],
  "dark": ["Very dark", "All frames are very dark."],
  "blown-out": ["Blown out", "Much of the picture is white, without any detail."],
  "frozen": ["Frozen", "All frames show the same."],
  "repeated-frames": ["Repeated frames", "Some frames repeat the one before."],
  "scene-cut": ["Scene cut", "The scene changes inside of the clip."],
  "near-duplicate": ["Near duplicates", "Clips of one data set that show nearly the same."],
  "leak": ["Leaks", "Clips of different data sets that show nearly the same."],
  "label-conflict": ["Label conflicts", "Clips that show nearly the same have different labels."],
  "corrupt": ["Damaged", "Frames whose bytes have another checksum, or do not decode."],
  "substituted": ["Substituted", "Another frame than was asked for had to be packed, or the video has known faults."],
  "rounded-times": ["Rounded times", "An older version packed at a rate: frames are missing, and others are repeated."],
  "failed": ["Not packed", "Videos that could not be packed, by FFmpeg's message."],
};
const kindTitle = (kind) => (KINDS[kind] ?? [kind.replaceAll("-", " ")])[0];

const clipKey = (set, clip) => `${set}.${clip}`;

/// The findings of clips by their keys.
const findingsOf = new Map();
let findingCount = 0;

/// Sets what the page knows besides its clips.
function begin(head) {
  report = head;
  manySets = report.sets.length > 1;
  // Where there is little room, a data set is called by the last part of its path, unless another has the same.
  const last = (set) => fileName(set.name.replace(/\/+$/, ""));
  for (const set of report.sets) set.short = report.sets.some((other) => other !== set && last(other) === last(set)) ? set.name : last(set);
  const add = (kind, [set, number], text) => {
    const key = clipKey(set, number);
    if (!findingsOf.has(key)) findingsOf.set(key, []);
    const known = findingsOf.get(key);
    if (text !== undefined) known.push({ kind, text });
    else if (!known.some((found) => found.kind === kind)) known.push({ kind, text: "vidrec check has more about it." });
  };
  for (const group of report.findings ?? []) {
    findingCount += group.count;
    for (const finding of group.findings) for (const clip of finding.clips) add(group.kind, clip, finding.text);
  }
  // Clips of findings that are not listed.
  for (const [kind, clips] of Object.entries(report.marks ?? {})) for (const clip of clips) add(kind, clip);
}

/// The text of a list; anything else as it is.
const asValue = (value) => (Array.isArray(value) ? value.join(", ") : value);
const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

/// Names and values of all attributes, of objects inside of objects by a path with dots.
function flatten(value, path, out) {
  for (const [name, inner] of Object.entries(value)) {
    const here = path ? `${path}.${name}` : name;
    if (isObject(inner)) flatten(inner, here, out);
    else out.set(here, asValue(inner));
  }
  return out;
}

/// The value that `flatten` would name so.
function attribute(value, name) {
  if (Object.hasOwn(value, name) && !isObject(value[name])) return asValue(value[name]);
  for (let dot = name.indexOf("."); dot >= 0; dot = name.indexOf(".", dot + 1)) {
    const inner = Object.hasOwn(value, name.slice(0, dot)) ? value[name.slice(0, dot)] : null;
    const found = isObject(inner) ? attribute(inner, name.slice(dot + 1)) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

/// Values of a clip that are no attributes. Seconds and bytes are known only to those who have read its frames.
const OWN = ["clip", "source", "class", "frames", "width", "height", "seconds", "bytes", "bytes per frame"];

/// A clip with what can be searched and sorted.
class Clip {
  constructor(facts) {
    Object.assign(this, facts);
    this.key = clipKey(this.set, this.clip);
    this.findings = findingsOf.get(this.key) ?? [];
  }

  /// One value; `undefined` if the clip has none of this name.
  value(name) {
    return (OWN.includes(name) ? this.own(name) : undefined) ?? attribute(this.attributes, name);
  }

  own(name) {
    if (name !== "bytes per frame") return this[name] ?? undefined;
    return this.bytes === undefined ? undefined : this.frames ? this.bytes / this.frames : 0;
  }

  /// All values by their names.
  get values() {
    const all = flatten(this.attributes, "", new Map());
    for (const name of OWN) if (this.own(name) !== undefined) all.set(name, this.own(name));
    return all;
  }

  /// All texts in lower case.
  get text() {
    this.texts ??= [this.source, this.class, ...[...this.values.values()].filter((v) => typeof v === "string")].join("\n").toLowerCase();
    return this.texts;
  }
}

/// Names of the values of some clips that are numbers.
function namesOfNumbers(clips) {
  const names = new Set();
  for (const clip of clips) for (const [name, value] of clip.values) if (typeof value === "number") names.add(name);
  return [...names];
}
