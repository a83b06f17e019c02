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

/// Names and values of all attributes, of objects inside of objects by a path with dots.
function flatten(value, path, out) {
  for (const [name, inner] of Object.entries(value)) {
    const here = path ? `${path}.${name}` : name;
    if (inner !== null && typeof inner === "object" && !Array.isArray(inner)) flatten(inner, here, out);
    else out.set(here, Array.isArray(inner) ? inner.join(", ") : inner);
  }
  return out;
}

/// Adds to a clip what can be searched and sorted. Seconds and bytes are known only to those who have read its frames.
function describe(clip) {
  clip.key = clipKey(clip.set, clip.clip);
  clip.findings = findingsOf.get(clip.key) ?? [];
  clip.values = flatten(clip.attributes, "", new Map());
  const own = { clip: clip.clip, source: clip.source, class: clip.class, frames: clip.frames, width: clip.width, height: clip.height };
  if (clip.bytes !== undefined) Object.assign(own, { bytes: clip.bytes, "bytes per frame": clip.frames ? clip.bytes / clip.frames : 0 });
  if (clip.seconds) own.seconds = clip.seconds;
  for (const [name, value] of Object.entries(own)) clip.values.set(name, value);
  clip.text = [clip.source, clip.class, ...[...clip.values.values()].filter((v) => typeof v === "string")].join("\n").toLowerCase();
  return clip;
}

/// Names of the values of some clips that are numbers.
function namesOfNumbers(clips) {
  const names = new Set();
  for (const clip of clips) for (const [name, value] of clip.values) if (typeof value === "number") names.add(name);
  return [...names];
}
