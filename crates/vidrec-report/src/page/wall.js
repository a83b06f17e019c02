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
    tall.resize(node(), Math.ceil(found.length / columns) * rowHeight);
  }

  /// Shows a place of the wall at the top of the window.
  function look(place) {
    tall.look(node(), place);
    placeAll();
  }

  /// Brings the scroll bar to where the view is on the wall, when nobody scrolls any more.
  function settle() {
    if (!tall.isNeeded() || byId("clips").hidden) return;
    draw();
    look(tall.follow(node()));
  }

  function placeAll() {
    for (const [position, element] of cards) place(position, element);
  }

  function place(position, element) {
    const x = (position % columns) * (width + GAP), y = Math.floor(position / columns) * rowHeight - tall.shift();
    element.style.transform = `translate(${x}px, ${y}px)`;
  }

  function draw() {
    waiting = false;
    if (byId("clips").hidden) return;
    const before = tall.shift();
    const top = tall.follow(node());
    if (tall.shift() !== before) placeAll();
    const topRow = Math.floor(top / rowHeight), bottomRow = Math.ceil((top + innerHeight) / rowHeight);
    const first = Math.max(topRow - READY, 0) * columns;
    const last = Math.min((bottomRow + READY) * columns, found.length);
    const focused = document.activeElement?.closest("#wall .card");
    for (const [position, element] of cards) {
      if ((position < first || position >= last) && element !== focused) {
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
      const element = cardAt(position);
      const after = [...node().children].find((other) => Number(other.dataset.position) > position);
      node().insertBefore(element, after ?? null);
    }
  }

  /// A card at a position. If its clip has to be read first, another one takes its place.
  function cardAt(position) {
    const clip = catalog.clip(found[position], () => cards.get(position) === element);
    const element = cardOf(clip, undefined, (arrived, empty) => { if (cards.get(position) === empty) keep(position, arrived); });
    keep(position, element);
    return element;
  }

  function keep(position, element) {
    element.setAttribute("role", "listitem");
    element.setAttribute("aria-posinset", position + 1);
    element.setAttribute("aria-setsize", found.length);
    element.dataset.position = position;
    place(position, element);
    reach(element, position === active);
    cards.set(position, element);
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
    const onWall = Math.floor(position / columns) * rowHeight;
    const top = node().getBoundingClientRect().top + onWall - tall.shift();
    if (top < 70 || top + rowHeight > innerHeight) look(onWall - innerHeight / 2 + rowHeight / 2);
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
    tall.jump(node());
    draw();
  }

  /// Draws what was found since the list was shown.
  function grow() {
    measure();
    draw();
  }

  function resize() {
    if (byId("clips").hidden) return;
    measure();
    tall.jump(node());
    placeAll();
    draw();
  }

  function start() {
    addEventListener("scroll", later, { passive: true });
    addEventListener("scrollend", settle);
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

  /// The key of the clip before or after one, for the dialog.
  function neighbor(key, step) {
    const at = found.indexOf(catalog.indexOf(key));
    const next = at < 0 ? undefined : found[at + step];
    return next === undefined ? undefined : catalog.keyOf(next);
  }

  return { start, show, grow, neighbor };
})();
