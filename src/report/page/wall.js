// The wall: only cards in view exist.

const wall = (() => {
  /// Rows beyond the view that are kept ready, and cards of them that are made in one frame.
  const READY = 2, AT_ONCE = 2;
  const cards = new Map();
  let found = [], waiting = false;

  const node = () => byId("wall");

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
    for (const [position, element] of cards) grid.place(position, element);
  }

  function draw() {
    waiting = false;
    if (byId("clips").hidden) return;
    const before = tall.shift();
    const top = tall.follow(node());
    if (tall.shift() !== before) placeAll();
    const [firstInView, endOfView] = grid.between(top, top + innerHeight);
    const [first, end] = grid.between(top, top + innerHeight, READY);
    const last = Math.min(end, found.length);
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
      const isInView = position >= firstInView && position < endOfView;
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
    grid.place(position, element);
    wallKeys.meet(position, element);
    cards.set(position, element);
  }

  function later() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(draw);
  }

  /// Makes the card of a position exist in view. Returns whether there is one.
  function bring(position) {
    if (position < 0 || position >= found.length) return false;
    const onWall = grid.topOf(position), height = grid.rowHeight();
    const top = node().getBoundingClientRect().top + onWall - tall.shift();
    if (top < 70 || top + height > innerHeight) look(onWall - innerHeight / 2 + height / 2);
    draw();
    return true;
  }

  function show(list) {
    found = list;
    for (const element of cards.values()) element.remove();
    cards.clear();
    wallKeys.restart();
    grid.measure(node(), found.length);
    tall.jump(node());
    draw();
  }

  /// Draws what was found since the list was shown.
  function grow() {
    grid.measure(node(), found.length);
    draw();
  }

  /// Fits the cards into another width of the wall. The row at the top of the view stays there.
  function resize() {
    if (byId("clips").hidden) return;
    const top = tall.follow(node());
    const [first] = grid.between(top, top);
    const below = (top - grid.topOf(first)) / grid.rowHeight();
    if (!grid.measure(node(), found.length)) return;
    tall.jump(node());
    if (top > 0) look(grid.topOf(first) + below * grid.rowHeight());
    else placeAll();
    draw();
  }

  function start() {
    addEventListener("scroll", later, { passive: true });
    addEventListener("scrollend", settle);
    // A window that gets higher shows more rows, though the wall is as wide as before.
    addEventListener("resize", later);
    new ResizeObserver(resize).observe(node());
    wallKeys.start(node(), cards, bring);
  }

  /// The key of the clip before or after one, for the dialog.
  function neighbor(key, step) {
    const at = found.indexOf(catalog.indexOf(key));
    const next = at < 0 ? undefined : found[at + step];
    return next === undefined ? undefined : catalog.keyOf(next);
  }

  return { start, show, grow, neighbor };
})();
