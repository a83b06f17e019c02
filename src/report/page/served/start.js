// The page of a server begins: with findings, if there is a report of a check, and with clips.

views = report.findings ? ["clips", "findings", "overview"] : ["clips", "overview"];
for (const tab of document.querySelectorAll(".tab")) tab.hidden = !views.includes(tab.dataset.view);
byId("query").placeholder = "words, name:value, frames>5";

let figures = null;
/// The figures need the index of every shard, so they are asked for when they are looked at.
openOverview = () => {
  figures ??= asks.get("overview.json").then((head) => {
    head.sets.forEach((set, i) => Object.assign(report.sets[i], set, { name: report.sets[i].name }));
    report.classes = head.classes;
    drawOverview();
  }).catch((e) => {
    figures = null;
    trouble(e);
  });
};
start();
catalog.sample().then(offer, trouble);
