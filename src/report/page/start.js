// The page begins when its script does. A page that has its clips inside has its figures, too; one that asks a server asks for them
// when they are looked at, because they need the index of every shard.

(() => {
  if (catalog.isEmbedded) {
    drawOverview();
    return start();
  }
  views = report.findings ? ["clips", "findings", "overview"] : ["clips", "overview"];
  for (const tab of document.querySelectorAll(".tab")) tab.hidden = !views.includes(tab.dataset.view);
  byId("query").placeholder = "words, name:value, frames>5";
  let figures = null;
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
})();
