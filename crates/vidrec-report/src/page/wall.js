// The wall: only cards in view exist.

const wall = (() => {
  const GAP = 14, UNDER = 42, LEAST = 164;
  /// Rows beyond the view that are kept ready, and cards of them that are made in one frame.
  const READY = 2, AT_ONCE = 2;
  const cards = new Map();
  let found = [], columns = 1, width = LEAST, rowHeight = 1, active = 0, waiting = false;

  const node = () => byId("wall");

  function measure() {
    const room = node().clientWidth || 1;
    columns = Math.max(Math.floor((room + GAP) / (LEAST + GAP)), 2);
    width = Math.floor((room - GAP * (columns - 1)) / columns);
    rowHeight = Math.round((width * 10) / 16) + UNDER + GAP;
    node().style.setProperty("--card", `${width}px`);
    node().style.height = `${Math.ceil(found.length / columns) * rowHeight}px`;
  }

  function place(position, element) {
    const x = (position % columns) * (width + GAP), y = Math.floor(position / columns) * rowHeight;
    element.style.transform = `translate(${x}px, ${y}px)`;
  }

  function draw() {
    waiting = false;
    if (byId("clips").hidden) return;
    const top = -node().getBoundingClientRect().top;
    const topRow = Math.floor(top / rowHeight), bottomRow = Math.ceil((top + innerHeight) / rowHeight);
    const first = Math.max(topRow - READY, 0) * columns;
    const last = Math.min((bottomRow + READY) * columns, found.length);
    const keep = document.activeElement?.closest("#wall .card");
    for (const [position, element] of cards) {
      if ((position < first || position >= last) && element !== keep) {
        element.remove();
        cards.delete(position);
      }
    }
    let made = 0;
    for (let position = first; position < last; position += 1) {
      if (cards.has(position)) continue;
      const isInView = position >= topRow * columns && position < bottomRow * columns;
      if (!isInView && made >= AT_ONCE) {
        later();
        continue;
      }
      made += 1;
      const element = card(found[position]);
      element.setAttribute("role", "listitem");
      element.setAttribute("aria-posinset", position + 1);
      element.setAttribute("aria-setsize", found.length);
      element.dataset.position = position;
      place(position, element);
      reach(element, position === active);
      cards.set(position, element);
      const after = [...node().children].find((other) => Number(other.dataset.position) > position);
      node().insertBefore(element, after ?? null);
    }
  }

  function later() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(draw);
  }

  /// Only one card can be reached with Tab; arrow keys lead to the others.
  function reach(element, on) {
    for (const inner of element.querySelectorAll("[role=slider], a, button")) inner.tabIndex = on ? 0 : -1;
  }

  function activate(position) {
    if (cards.has(active)) reach(cards.get(active), false);
    active = position;
    if (cards.has(active)) reach(cards.get(active), true);
  }

  function go(position) {
    if (position < 0 || position >= found.length) return;
    const box = node().getBoundingClientRect();
    const top = box.top + scrollY + Math.floor(position / columns) * rowHeight;
    if (top < scrollY + 70 || top + rowHeight > scrollY + innerHeight) scrollTo(0, Math.max(top - innerHeight / 2 + rowHeight / 2, 0));
    draw();
    activate(position);
    cards.get(position)?.querySelector("[role=slider]").focus({ preventScroll: true });
  }

  function show(list) {
    found = list;
    for (const element of cards.values()) element.remove();
    cards.clear();
    active = 0;
    measure();
    draw();
  }

  function resize() {
    if (byId("clips").hidden) return;
    measure();
    for (const [position, element] of cards) place(position, element);
    draw();
  }

  function start() {
    addEventListener("scroll", later, { passive: true });
    new ResizeObserver(resize).observe(node());
    node().addEventListener("focusin", (event) => {
      const element = event.target.closest(".card");
      if (element) activate(Number(element.dataset.position));
    });
    node().addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const step = { ArrowDown: columns, ArrowUp: -columns, j: 1, k: -1 }[event.key];
      if (step === undefined) return;
      event.preventDefault();
      go(active + step);
    });
  }

  /// The clip before or after one, for the dialog.
  function neighbor(key, step) {
    const at = found.findIndex((clip) => clip.key === key);
    return at < 0 ? undefined : found[at + step];
  }

  return { start, show, neighbor };
})();
