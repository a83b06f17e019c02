// Distributions as SVG: with exact values under the pointer, and as tables.

const WIDTH = 340, HEIGHT = 120, TOP = 6, BOTTOM = 18;

/// The clips of each data set that a distribution counts.
const counted = (distribution) => report.sets.map((_, set) => total(distribution.bins.map((bin) => bin.clips[set])));

function binName(bin, unit) {
  if (bin.from === undefined) return bin.word;
  if (bin.below === bin.from) return withUnit(bin.from, unit);
  if (bin.below > 1e300) return `from ${withUnit(bin.from, unit)}`;
  return `${withUnit(bin.from, unit)} to ${withUnit(bin.below, unit)}`;
}

function binText(bin, unit, all) {
  const values = bin.clips.map((n, set) => `${manySets ? `${report.sets[set].short}: ` : ""}${count(n, "clip")}, ${share(n, all[set])}`);
  return `${binName(bin, unit)}: ${values.join("; ")}`;
}

function valueTable(distribution, all) {
  const head = el("tr", {}, el("th", { scope: "col" }, "Value"), report.sets.map((set) => el("th", { scope: "col", class: "number" }, manySets ? set.short : "Clips")));
  const rows = distribution.bins.map((bin) => el("tr", {}, el("td", {}, binName(bin, distribution.unit)),
    bin.clips.map((n, set) => el("td", { class: "number" }, `${whole.format(n)} (${share(n, all[set])})`))));
  const without = distribution.without.some((n) => n > 0)
    ? el("tr", {}, el("td", {}, "no value"), distribution.without.map((n) => el("td", { class: "number" }, whole.format(n)))) : null;
  // Browsers leave it where it is when it gets the focus, even half below the window.
  const onfocus = (event) => event.currentTarget.scrollIntoView({ block: "nearest" });
  return el("details", {}, el("summary", {}, "Values"),
    el("div", { class: "values", tabindex: "0", role: "group", onfocus, "aria-label": `Values of ${distribution.title}` }, el("table", {}, el("thead", {}, head), el("tbody", {}, rows, without))));
}

function summaryText(distribution) {
  const texts = distribution.summaries.map((found) => found && (found.min === found.max
    ? `all ${withUnit(found.min, distribution.unit)}`
    : `median ${withUnit(found.median, distribution.unit)}, ${plain(found.min, distribution.unit)} to ${withUnit(found.max, distribution.unit)}`));
  return manySets ? "" : texts[0] ?? "";
}

/// Numbers as columns; of several data sets the first is filled, the others are outlines.
function histogram(distribution) {
  const { bins, unit, title } = distribution;
  const caption = el("figcaption", {}, el("h3", {}, title), el("span", { class: "sum" }, summaryText(distribution)));
  if (bins.length === 1 && !manySets) return el("figure", { class: "chart" }, caption);
  const all = counted(distribution);
  const most = Math.max(...bins.flatMap((bin) => bin.clips.map((n, set) => (all[set] ? n / all[set] : 0))), 1e-9);
  const column = Math.min(WIDTH / bins.length, 48);
  const gap = column > 5 ? 1 : 0;
  const high = (n, set) => (n ? Math.max(((HEIGHT - TOP - BOTTOM) * n) / all[set] / most, 1) : 0);
  const base = HEIGHT - BOTTOM;
  const readout = el("p", { class: "readout", "aria-hidden": "true" });
  const drawing = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `${title}. ${summaryText(distribution)}. The table that follows has the values.` });
  bins.forEach((bin, i) => {
    const h = high(bin.clips[0], 0);
    drawing.append(svg("rect", { class: "bar", x: i * column, y: base - h, width: Math.max(column - gap, 0.5), height: h }));
  });
  for (let set = 1; set < report.sets.length; set += 1) {
    let path = `M0 ${base}`;
    bins.forEach((bin, i) => {
      path += `V${(base - high(bin.clips[set], set)).toFixed(1)}H${((i + 1) * column).toFixed(1)}`;
    });
    drawing.append(svg("path", { class: `step s${set % 6}`, d: `${path}V${base}`, "stroke-dasharray": ["", "", "5 3", "2 2", "8 2 2 2"][set % 5] || null }));
  }
  drawing.append(svg("line", { class: "axis", x1: 0, x2: WIDTH, y1: base, y2: base }));
  const every = Math.ceil(bins.length / 6);
  bins.forEach((bin, i) => {
    const single = bin.below === bin.from;
    if (i % every === 0) {
      drawing.append(svg("text", { x: single ? i * column + (column - gap) / 2 : i * column, y: HEIGHT - 4, "text-anchor": single ? "middle" : "start" }, plain(bin.from, unit)));
    }
    const text = binText(bin, unit, all);
    drawing.append(svg("rect", { class: "hit", x: i * column, y: 0, width: column, height: base, onpointerenter: () => { readout.textContent = text; } }, svg("title", {}, text)));
  });
  drawing.addEventListener("pointerleave", () => { readout.textContent = ""; });
  return el("figure", { class: "chart" }, caption, drawing, readout, valueTable(distribution, all));
}

/// Height of a bar in a row.
const BAR = manySets ? 8 : 10;

/// Rows of bars, one bar for each data set: `name` may be a node.
function barRow(name, values, all, most, text) {
  const bars = values.map((n, set) => svg("rect", {
    class: `s${set % 6}`, x: 0, y: BAR * set, height: BAR - (values.length > 1 ? 1 : 0),
    width: `${all[set] ? Math.max((100 * n) / all[set] / most, n ? 0.4 : 0) : 0}%`,
  }));
  const each = (of) => values.map((n, set) => (values.length > 1 ? el("i", {}, of(n, set)) : of(n, set)));
  return el("div", {},
    el("span", { class: "name" }, name),
    svg("svg", { role: "img", "aria-label": text, height: BAR * values.length }, svg("title", {}, text), bars),
    el("span", { class: "n" }, each((n) => whole.format(n))),
    el("span", { class: "share" }, each((n, set) => share(n, all[set]))));
}

/// Words as rows of bars.
function wordBars(distribution) {
  const all = counted(distribution);
  const most = Math.max(...distribution.bins.flatMap((bin) => bin.clips.map((n, set) => (all[set] ? n / all[set] : 0))), 1e-9);
  const rows = el("div", { class: "bars" });
  const FIRST = 6;
  const fill = (bins) => bins.forEach((bin) => {
    rows.append(barRow(el("span", { title: bin.word }, bin.word), bin.clips, all, most, binText(bin, "", all)));
  });
  fill(distribution.bins.slice(0, FIRST));
  const rest = distribution.bins.slice(FIRST);
  const more = rest.length ? el("button", { type: "button", class: "text more", onclick: () => { fill(rest); more.remove(); } },
    `${rest.length} more with ${count(total(rest.flatMap((bin) => bin.clips)), "clip")}`) : null;
  return el("figure", { class: "chart" }, el("figcaption", {}, el("h3", {}, distribution.title),
    el("span", { class: "sum" }, distribution.without.some((n) => n > 0) ? `${distribution.without.map((n) => whole.format(n)).join(" / ")} without` : "")), rows, more);
}

function legend() {
  if (!manySets) return null;
  return el("ul", { class: "legend" }, report.sets.map((set, i) => el("li", {}, el("span", { class: `key s${i % 6}` }), set.short)));
}
