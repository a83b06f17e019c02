// Flagged clips: kept where the browser allows it, and handed on as lists that `vidrec subset --exclude` reads.

const flags = (() => {
  const flagged = new Map();
  const listeners = new Set();
  let kept = true, place;

  function start() {
    place = `vidrec ${report.key}`;
    try {
      const stored = JSON.parse(localStorage.getItem(place) ?? "[]");
      for (const { set, clip, source } of stored) flagged.set(clipKey(set, clip), { set, clip, source });
    } catch {
      kept = false;
    }
    draw();
  }

  function changed() {
    try {
      if (flagged.size) localStorage.setItem(place, JSON.stringify([...flagged.values()]));
      else localStorage.removeItem(place);
      kept = true;
    } catch {
      kept = false;
    }
    listeners.forEach((listener) => listener());
    draw();
  }

  /// The list of one data set: JSON lines with a clip each.
  function list(set) {
    const own = [...flagged.values()].filter((flag) => flag.set === set).sort((a, b) => a.clip - b.clip);
    return own.map(({ clip, source }) => `${JSON.stringify({ clip, source })}\n`).join("");
  }

  const fileOf = (set) => `flagged${manySets ? `-${set + 1}` : ""}.jsonl`;

  function download(set) {
    const link = el("a", { href: URL.createObjectURL(new Blob([list(set)], { type: "application/jsonl" })), download: fileOf(set) });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  }

  async function copy(set, button) {
    let done = true;
    try {
      await navigator.clipboard.writeText(list(set));
    } catch {
      const area = el("textarea", { class: "unseen", "aria-hidden": "true" });
      area.value = list(set);
      document.body.append(area);
      area.select();
      done = document.execCommand("copy");
      area.remove();
    }
    button.textContent = done ? "Copied" : "Not allowed here";
    setTimeout(() => draw(), 1500);
  }

  const quoted = (name) => (/^[\w./:@-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`);

  function row(set) {
    const name = report.sets[set].name;
    const copier = el("button", { type: "button", onclick: () => copy(set, copier) }, "Copy");
    return [
      el("div", { class: "row" },
        el("b", {}, `${count([...flagged.values()].filter((flag) => flag.set === set).length, "clip")} flagged`, manySets ? ` in ${name}` : ""),
        el("button", { type: "button", class: "main", onclick: () => download(set) }, "Download list"),
        copier,
        el("button", { type: "button", onclick: () => show({ view: "clips", only: "flagged" }) }, "Show"),
        el("button", { type: "button", onclick: () => clear(set) }, "Clear")),
      el("p", {}, el("code", {}, `vidrec subset ${quoted(name)} --exclude ${fileOf(set)} -o cleaned`)),
    ];
  }

  function draw() {
    const panel = byId("flags");
    const sets = [...new Set([...flagged.values()].map((flag) => flag.set))].sort((a, b) => a - b);
    panel.hidden = !sets.length;
    panel.replaceChildren(...sets.flatMap(row));
    if (!kept) panel.append(el("p", {}, "This browser keeps nothing for this file: download the list before you close the page."));
  }

  function clear(set) {
    for (const [key, flag] of flagged) if (flag.set === set) flagged.delete(key);
    changed();
  }

  return {
    start,
    has: (key) => flagged.has(key),
    keys: () => [...flagged.keys()],
    set(entries, on) {
      for (const { set, clip, source } of entries) {
        if (on) flagged.set(clipKey(set, clip), { set, clip, source });
        else flagged.delete(clipKey(set, clip));
      }
      changed();
    },
    listen: (listener) => listeners.add(listener),
    list,
  };
})();

/// A button that flags some clips.
function flagButton(entry, label) {
  const key = clipKey(entry.set, entry.clip);
  const icon = svg("svg", { viewBox: "0 0 16 16", "aria-hidden": "true" },
    svg("path", { d: "M3.5 14.5v-13M3.5 2.5h9l-2.5 3.5 2.5 3.5h-9", fill: "none", stroke: "currentColor", "stroke-width": "1.5", "stroke-linejoin": "round" }));
  const button = el("button", { type: "button", class: "flag", title: "Flag (f)", "aria-label": label, "data-flag": key }, icon);
  button.setAttribute("aria-pressed", flags.has(key));
  button.addEventListener("click", () => flags.set([entry], !flags.has(key)));
  return button;
}

flags.listen(() => {
  for (const button of document.querySelectorAll("[data-flag]")) {
    const on = flags.has(button.dataset.flag);
    button.setAttribute("aria-pressed", on);
    button.closest(".card")?.classList.toggle("flagged", on);
  }
});
