// The figures.

function block(title, small, ...content) {
  return el("section", { class: "block" }, el("h2", {}, title, small ? el("small", {}, small) : null), content);
}

function tiles(set) {
  const tile = (value, what) => el("div", { class: "tile" }, el("b", {}, value), el("span", {}, what));
  return el("div", { class: "tiles" },
    tile(whole.format(set.clips), "clips"),
    tile(whole.format(set.frames), "frames"),
    tile(duration(set.seconds), "of video"),
    tile(bytes(set.bytes), "in record files"),
    set.classes ? tile(whole.format(set.classes), "classes") : null,
    report.findings ? tile(whole.format(findingCount), "findings") : null);
}

/// How the names of settings begin among the facts.
const SETTING = "Setting: ";

/// Rows of facts, a column for each data set; those that differ are bold. Settings that do not differ are folded.
function factRows() {
  const rows = [];
  const add = (name, of, always) => {
    const texts = report.sets.map((set) => of(set));
    if (always || texts.some((text) => text)) rows.push([name, texts]);
  };
  if (manySets) {
    add("Clips", (set) => whole.format(set.clips), true);
    add("Frames", (set) => whole.format(set.frames), true);
    add("Video, first frames to last", (set) => duration(set.seconds), true);
    add("Record files", (set) => bytes(set.bytes), true);
    add("Classes with clips", (set) => whole.format(set.classes), true);
  }
  add("An epoch reads", (set) => `${bytes(set.epoch_bytes)}, which decode to ${bytes(set.epoch_rgb_bytes)} of RGB`, true);
  add("Shards", (set) => whole.format(set.shards), true);
  add("Packed by", (set) => [set.tool, set.ffmpeg].filter(Boolean).join(", "));
  add("Draws of a video", (set) => (set.draws > 1 ? String(set.draws) : ""));
  const settings = new Set(report.sets.flatMap((set) => Object.keys(set.settings)));
  for (const name of settings) {
    add(SETTING + name.replaceAll("_", " "), (set) => {
      const value = set.settings[name];
      return value === undefined || value === null ? "" : typeof value === "object" ? JSON.stringify(value) : String(value);
    });
  }
  const some = (n, text) => (n ? `${whole.format(n)} ${text}` : "");
  add("Short clips", (set) => some(set.short_clips, "whose video had fewer frames than asked for"));
  add("Repeated frames", (set) => some(set.repeated_frames, "in such clips"));
  add("Digest", (set) => set.digest, true);
  const differs = (texts) => new Set(texts).size > 1;
  const row = ([name, texts]) => el("tr", { class: differs(texts) && name !== "Digest" ? "differs" : null },
    el("th", { scope: "row" }, name[0].toUpperCase() + name.slice(1)),
    texts.map((text) => el("td", {}, name === "Digest" ? el("code", {}, text) : text || "–")));
  const equal = rows.filter(([name, texts]) => name.startsWith(SETTING) && !differs(texts));
  const others = rows.filter((one) => !equal.includes(one)).map(row);
  if (!equal.length) return others;
  const folded = equal.map(([name, texts]) => row([name.slice(SETTING.length), texts.slice(0, 1)]));
  return [...others, el("tr", {}, el("th", { scope: "row" }, manySets ? "Equal settings" : "Settings"), el("td", { colspan: report.sets.length },
    el("details", {}, el("summary", {}, count(equal.length, "setting")), el("table", {}, el("tbody", {}, folded)))))];
}

function facts() {
  const head = manySets ? el("thead", {}, el("tr", {}, el("td", {}),
    report.sets.map((set, i) => el("th", { scope: "col" }, el("span", { class: `key s${i % 6}` }), unbroken(set.name))))) : null;
  return el("div", { class: "scroll" }, el("table", { class: "facts" }, head, el("tbody", {}, factRows())));
}

const className = (row) => row.name || (row.label === null ? "no label" : String(row.label));

function classes() {
  const { classes: rows, other_classes: others, other_clips: otherClips } = report.classes;
  const used = rows.filter((row) => total(row.clips) > 0);
  if (used.length < 2) return null;
  const all = report.sets.map((set) => set.clips);
  const most = Math.max(...rows.flatMap((row) => row.clips.map((n, set) => (all[set] ? n / all[set] : 0))), 1e-9);
  const list = el("div", { class: "bars wide" });
  const rest = el("p", { class: "quiet", role: "status" });
  const search = el("input", { type: "search", placeholder: "Find a class", "aria-label": "Find a class", oninput: () => draw() });
  let limit = 20;
  const more = el("button", { type: "button", onclick: () => { limit = limit > 20 ? 20 : Infinity; draw(); } });
  function draw() {
    const wanted = search.value.trim().toLowerCase();
    const found = rows.filter((row) => className(row).toLowerCase().includes(wanted));
    const visible = found.slice(0, limit);
    list.replaceChildren(...visible.map((row) => {
      const name = className(row);
      const texts = row.clips.map((n, set) => `${manySets ? `${report.sets[set].short}: ` : ""}${count(n, "clip")}, ${share(n, all[set])}`);
      const button = el("button", { type: "button", class: "text", title: `Show clips of ${name}`, onclick: () => show({ view: "clips", class: name }) }, name);
      return barRow(button, row.clips, all, most, `${name}: ${texts.join("; ")}`);
    }));
    const hidden = found.slice(visible.length);
    const unlisted = wanted ? 0 : others;
    const left = hidden.length + unlisted;
    rest.textContent = left ? `and ${count(left, "class")} more with ${count(total(hidden.flatMap((row) => row.clips)) + (unlisted ? total(otherClips) : 0), "clip")}` : found.length ? "" : "no such class";
    more.hidden = found.length <= 20;
    more.textContent = limit > 20 ? "Fewer" : `All ${whole.format(found.length)}`;
  }
  draw();
  const named = used.filter((row) => row.name || row.label !== null);
  const sizes = named.map((row) => total(row.clips));
  const small = `${count(named.length + others, "class")}; the largest has ${count(Math.max(...sizes), "clip")}, the smallest ${count(Math.min(...sizes), "clip")}`;
  return block("Classes", small, rows.length > 20 ? el("div", { class: "classes-tools" }, search, more) : null, list, rest);
}

/// The distributions of all data sets, which have the same bins: lists with a number of each data set.
const joined = () => report.sets[0].distributions.map((first, at) => {
  const each = report.sets.map((set) => set.distributions[at]);
  const bins = first.bins.map((bin, i) => ({ ...bin, clips: each.map((one) => one.bins[i].clips) }));
  return { ...first, bins, summaries: each.map((one) => one.summary), without: each.map((one) => one.without) };
});

function drawOverview() {
  const distributions = joined();
  const words = distributions.filter((d) => d.summaries.every((found) => found === null));
  const numeric = distributions.filter((d) => !words.includes(d));
  put(byId("overview"), {}, [
    manySets ? null : tiles(report.sets[0]),
    classes(),
    numeric.length ? block("Distributions", manySets ? "shares of the clips of each data set" : "number of clips", legend(),
      el("div", { class: "charts" }, numeric.map(histogram))) : null,
    words.length ? block("Formats and attributes", null, el("div", { class: "charts" }, words.map(wordBars))) : null,
    block(manySets ? "Data sets" : "Data set", manySets ? "what differs is bold" : report.sets[0].name, facts()),
  ]);
  if (manySets) byId("overview").insertBefore(byId("overview").lastElementChild, byId("overview").children[1]);
}
