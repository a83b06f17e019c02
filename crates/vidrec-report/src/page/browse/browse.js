// The page of a browser of data sets begins when these are open.

/// Says what went wrong, until something else does.
function trouble(e) {
  if (e instanceof Dropped) return;
  const said = byId("trouble") ?? el("p", { id: "trouble", class: "notice", role: "alert" });
  said.textContent = e.message;
  byId("main").prepend(said);
}

(async () => {
  const head = JSON.parse(byId("data").textContent);
  views = head.findings ? ["clips", "findings"] : ["clips"];
  for (const tab of document.querySelectorAll(".tab")) tab.hidden = !views.includes(tab.dataset.view);
  byId("query").placeholder = "words, name:value, frames>5";
  try {
    const sets = await catalog.open(head.sets);
    const digests = sets.flatMap((set) => set.listing.shards.map((shard) => shard.sha256)).join();
    const key = `${sets.map((set) => set.clips).join("+")} ${crc32(new TextEncoder().encode(digests)).toString(16)}`;
    begin({ ...head, key, sets: sets.map((set) => ({ name: head.sets[set.number].name, clips: set.clips })), findings: head.findings ?? null, notes: [] });
    catalog.finds = (report.findings ?? []).map((group) => group.kind);
    start();
    offer(await catalog.sample());
  } catch (e) {
    trouble(e);
  }
})();
