// What the check has found, by kind.

function finding(entry) {
  if (!entry.clips.length) {
    return el("div", { class: "finding" }, el("p", {}, entry.text),
      el("ul", { class: "plain" }, entry.videos.map(([set, source]) => el("li", {}, manySets ? `${report.sets[set].short}: ` : "", unbroken(source)))),
      entry.count > entry.videos.length ? el("p", { class: "quiet" }, `and ${whole.format(entry.count - entry.videos.length)} more`) : null);
  }
  const members = entry.clips.map(catalog.foundClip);
  const cards = members.map((clip) => cardOf(clip, members.length === 1 ? entry.frame ?? undefined : undefined));
  if (members.length === 1) return el("div", { class: "finding" }, cards[0], el("p", {}, entry.text));
  const flagOthers = el("button", { type: "button", class: "text", onclick: () => flags.set(entry.clips.slice(1).map(named), true) }, "flag all but the first");
  return el("div", { class: "finding" }, el("p", {}, entry.text, " ", flagOthers), el("div", { class: "row" }, cards),
    entry.count > members.length ? el("p", { class: "quiet" }, `and ${count(entry.count - members.length, "clip")} more`) : null);
}

/// The clip of a finding as it is flagged.
const named = ([set, clip, source]) => ({ set, clip, source });

/// Kinds of clips that show the same. The first of each finding is the best.
const COPIES = ["near-duplicate", "leak"];

function group({ kind, count: all, findings: entries }) {
  const [title, about] = KINDS[kind] ?? [kindTitle(kind), ""];
  const single = entries.every((entry) => entry.clips.length === 1);
  const list = el("div", { class: single ? "singles" : "list" });
  const members = entries.flatMap((entry) => entry.clips).map(named);
  const id = `kind-${kind}`;
  const STEP = single ? 60 : 20;
  let shown = 0;
  const more = el("button", { type: "button", class: "more", onclick: () => add() });
  function add() {
    list.append(...entries.slice(shown, shown + STEP).map(finding));
    shown = Math.min(shown + STEP, entries.length);
    more.textContent = `Show more (${whole.format(entries.length - shown)} left)`;
    more.hidden = shown === entries.length;
  }
  add();
  return el("section", { class: "group", "aria-labelledby": id },
    el("div", { class: "group-head" },
      el("h2", { id }, title, " ", el("span", { class: "count" }, whole.format(all))),
      el("p", {}, about, all > entries.length ? ` The first ${whole.format(entries.length)} are listed; vidrec check lists all.` : ""),
      single && members.length ? el("button", { type: "button", onclick: () => flags.set(members, true) }, members.length === 1 ? "Flag this clip" : `Flag these ${count(members.length, "clip")}`) : null,
      COPIES.includes(kind) ? el("button", { type: "button", onclick: () => flags.set(entries.flatMap((entry) => entry.clips.slice(1)).map(named), true) }, "Flag all but the first of each") : null),
    list, more);
}

function drawFindings(state) {
  const section = byId("findings");
  const head = byId("findings-title");
  if (!report.findings) {
    section.replaceChildren(head, el("p", { class: "all-good" }, report.notes.at(-1)));
    return;
  }
  if (!report.findings.length) {
    section.replaceChildren(head, el("p", { class: "all-good" }, "Nothing was found that a person should look at."));
    return;
  }
  const kinds = report.findings.map((entry) => entry.kind);
  const current = kinds.includes(state.kind) ? state.kind : undefined;
  const link = (kind, title, n) => el("li", {}, el("a", { href: hashOf({ view: "findings", kind }), "aria-current": (kind ?? "") === (current ?? "") ? "true" : null }, title, " ", el("span", {}, whole.format(n))));
  section.replaceChildren(head,
    el("ul", { class: "kinds" }, link(undefined, "All", findingCount), report.findings.map((entry) => link(entry.kind, kindTitle(entry.kind), entry.count))),
    ...report.findings.filter((entry) => !current || entry.kind === current).map(group));
}
