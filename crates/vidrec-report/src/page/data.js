// What the page knows: figures, and clips with what can be searched and sorted.

const report = JSON.parse(byId("data").textContent);
const clips = JSON.parse(byId("clip-list").textContent);
const manySets = report.sets.length > 1;
/// The distributions of all data sets, which have the same bins: lists with a number of each data set.
const distributions = report.sets[0].distributions.map((first, at) => {
  const each = report.sets.map((set) => set.distributions[at]);
  const bins = first.bins.map((bin, i) => ({ ...bin, clips: each.map((one) => one.bins[i].clips) }));
  return { ...first, bins, summaries: each.map((one) => one.summary), without: each.map((one) => one.without) };
});

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
const clipByKey = new Map();

/// Names and values of all attributes, of objects inside of objects by a path with dots.
function flatten(value, path, out) {
  for (const [name, inner] of Object.entries(value)) {
    const here = path ? `${path}.${name}` : name;
    if (inner !== null && typeof inner === "object" && !Array.isArray(inner)) flatten(inner, here, out);
    else out.set(here, Array.isArray(inner) ? inner.join(", ") : inner);
  }
  return out;
}

clips.forEach((clip, index) => {
  clip.index = index;
  clip.key = clipKey(clip.set, clip.clip);
  clip.findings = [];
  clip.values = flatten(clip.attributes, "", new Map());
  const own = {
    clip: clip.clip, source: clip.source, class: clip.class, frames: clip.frames, bytes: clip.bytes,
    width: clip.width, height: clip.height, "bytes per frame": clip.frames ? clip.bytes / clip.frames : 0,
  };
  if (clip.seconds !== null) own.seconds = clip.seconds;
  for (const [name, value] of Object.entries(own)) clip.values.set(name, value);
  clip.text = [clip.source, clip.class, ...[...clip.values.values()].filter((v) => typeof v === "string")].join("\n").toLowerCase();
  clipByKey.set(clip.key, clip);
});

for (const group of report.findings ?? []) {
  for (const finding of group.findings) {
    for (const [set, number] of finding.clips) {
      clipByKey.get(clipKey(set, number))?.findings.push({ kind: group.kind, text: finding.text });
    }
  }
}

const lengthsDiffer = clips.some((clip) => clip.frames !== clips[0].frames);

const findingCount = (report.findings ?? []).reduce((sum, group) => sum + group.count, 0);

/// Names of the values of clips that are numbers.
const numberNames = (() => {
  const names = new Set();
  for (const clip of clips) for (const [name, value] of clip.values) if (typeof value === "number") names.add(name);
  return [...names];
})();
