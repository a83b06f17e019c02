// What is shown is in the address, behind the #: view, filters, order and clip.

let views = ["clips", "findings", "overview"];
/// What is done when the overview is looked at.
let openOverview = () => {};
let state = {};

function read() {
  const [view, rest] = location.hash.slice(1).split(/\?(.*)/s);
  const parts = Object.fromEntries(new URLSearchParams(rest ?? ""));
  return { ...parts, view: views.includes(view) ? view : state.view ?? (parts.clip ? "clips" : views[0]) };
}

/// The address of a state: that of the view now, with some changes.
function hashOf(changes) {
  const other = changes.view !== undefined && changes.view !== state.view;
  const { view, ...parts } = { ...(other ? { view: state.view } : state), ...changes };
  if (changes.view !== undefined) delete parts.clip;
  const used = Object.entries(parts).filter(([, value]) => value !== undefined && value !== "" && value !== false);
  const text = new URLSearchParams(used.map(([name, value]) => [name, value === true ? "1" : String(value)])).toString();
  return `#${view ?? views[0]}${text ? `?${text}` : ""}`;
}

/// Shows a state. Filters replace the address; other steps can be undone with the browser's button.
function show(changes, replace) {
  const hash = hashOf(changes);
  if (hash === location.hash) return draw();
  try {
    if (replace) history.replaceState(null, "", hash);
    else history.pushState(null, "", hash);
  } catch {
    location.hash = hash;
    return;
  }
  draw();
}

let drawn = {};

function draw() {
  const before = drawn;
  state = read();
  drawn = state;
  for (const view of views) byId(view).hidden = view !== state.view;
  for (const tab of document.querySelectorAll(".tab")) {
    if (tab.dataset.view === state.view) tab.setAttribute("aria-current", "page");
    else tab.removeAttribute("aria-current");
  }
  if (before.view !== state.view) scrollTo(0, 0);
  const differs = ["q", "set", "class", "only", "sort", "desc"].some((name) => before[name] !== state[name]);
  if (state.view === "clips" && (differs || before.view !== "clips")) drawClips();
  if (state.view === "overview" && before.view !== "overview") openOverview();
  if (state.view === "findings" && (before.view !== "findings" || before.kind !== state.kind)) drawFindings(state);
  detail.draw(state.clip);
}

function drawClips() {
  const set = (id, value) => { if (byId(id).value !== value) byId(id).value = value; };
  set("query", state.q ?? "");
  set("filter-set", state.set ?? "");
  set("filter-class", state.class ?? "");
  set("filter-only", state.only ?? "");
  set("sort", state.sort ?? "");
  const down = Boolean(state.desc);
  byId("direction").textContent = down ? "↓ Descending" : "↑ Ascending";
  byId("direction").setAttribute("aria-pressed", down);
  let isFirst = true;
  byId("wall").setAttribute("aria-busy", "true");
  catalog.find(state, ({ found, done, searched, damaged, why }) => {
    if (isFirst) wall.show(found);
    else wall.grow(found);
    isFirst = false;
    if (done) byId("wall").removeAttribute("aria-busy");
    byId("result").textContent = why ?? resultText(found.length, done ? null : searched) + (damaged ? `; ${whole.format(damaged)} ${damaged === 1 ? "is" : "are"} damaged and not searched` : "");
  });
}

/// How many clips were found, and how much of a search is done that is not.
function resultText(n, searched) {
  const all = total(report.sets.map((one) => one.clips));
  const sampled = catalog.size < all ? ` on this page, a sample of ${whole.format(all)}` : "";
  const of = n === catalog.size ? count(n, "clip") : `${whole.format(n)} of ${count(catalog.size, "clip")}`;
  return `${of}${sampled}${searched === null ? "" : `; ${share(searched, catalog.size)} searched`}`;
}

/// Offers numbers to sort by, and classes.
function offer({ numberNames, classNames }) {
  byId("sort").append(...numberNames.filter((name) => name !== "clip").map((name) => el("option", { value: name }, name)));
  byId("sort").value = state.sort ?? "";
  byId("class-names").append(...classNames.slice(0, 2000).map((name) => el("option", { value: name })));
}

function startFilters() {
  const option = ([value, text]) => el("option", { value }, text);
  byId("filter-set").append(...[["", "all"], ...report.sets.map((set, i) => [String(i), set.name])].map(option));
  byId("filter-set").closest(".field").hidden = !manySets;
  byId("filter-only").append(...Object.entries(ONLY).map(([value, [text]]) => [value, text]).map(option), ...catalog.finds.map((kind) => [kind, kindTitle(kind)]).map(option));
  byId("sort").append(...[["", "number"], ["source", "source"], ["class", "class"], ["findings", "findings"]].map(option));
  offer(catalog);
  const on = (id, event, name) => byId(id).addEventListener(event, () => show({ [name]: byId(id).value || undefined }, true));
  on("query", "input", "q");
  on("filter-set", "change", "set");
  on("filter-class", "input", "class");
  on("filter-only", "change", "only");
  on("sort", "change", "sort");
  byId("direction").addEventListener("click", () => show({ desc: state.desc ? undefined : "1" }, true));
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  byId("filters").addEventListener("reset", (event) => {
    event.preventDefault();
    show({ q: undefined, set: undefined, class: undefined, only: undefined, sort: undefined, desc: undefined }, true);
  });
  byId("hint").textContent = "← → frames, ↑ ↓ j k clips, Enter opens, f flags, / searches";
}

addEventListener("hashchange", () => {
  if (location.hash !== "#main") draw();
});
addEventListener("popstate", () => {
  if (location.hash !== "#main") draw();
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.target.matches("input, select, textarea") || byId("detail").open) return;
  event.preventDefault();
  if (state.view !== "clips") show({ view: "clips" });
  byId("query").focus();
});
flags.listen(() => {
  if (state.view === "clips" && state.only === "flagged") drawClips();
});

/// Draws the page, when its clips are known.
function start() {
  byId("count-clips").textContent = whole.format(catalog.size);
  byId("count-findings").textContent = report.findings ? whole.format(findingCount) : "";
  byId("notes").textContent = report.notes.join(" ");
  byId("found").append(...(report.findings ?? []).map(({ kind, count: n }) => el("li", {}, el("a", { href: hashOf({ view: "findings", kind }) }, kindTitle(kind), " ", el("span", {}, whole.format(n))))));
  byId("found").hidden = !report.findings?.length;
  startFilters();
  wall.start();
  detail.start();
  flags.start();
  draw();
}
