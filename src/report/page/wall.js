// A wall may be higher than browsers allow elements to be. Then its element is lower than the wall, and `shift` pixels of the
// wall lie above what is at the top of the element. Small moves of the view are those on the wall; after large ones the view is
// as far down the wall as it is down the element.

const tall = (() => {
  const MOST_HEIGHT = 8_000_000;
  let shift = 0, lastTop = 0, wallHeight = 0;

  const topOf = (node) => -node.getBoundingClientRect().top;

  /// Sets the height of the wall.
  function resize(node, height) {
    wallHeight = height;
    node.style.height = `${Math.min(height, MOST_HEIGHT)}px`;
  }

  /// Moves the wall to where the view is on its element.
  function jump(node) {
    const share = Math.min(Math.max(topOf(node) / (MOST_HEIGHT - innerHeight), 0), 1);
    shift = Math.round(share * Math.max(wallHeight - MOST_HEIGHT, 0));
    lastTop = topOf(node);
  }

  /// Follows the view. Returns where its top is on the wall.
  function follow(node) {
    const top = topOf(node);
    if (Math.abs(top - lastTop) > 4 * innerHeight || top <= 0) jump(node);
    lastTop = top;
    return top + shift;
  }

  /// Moves the view so that a place of the wall is at its top.
  function look(node, place) {
    const beyond = wallHeight - MOST_HEIGHT;
    if (beyond > 0) {
      const top = (place * (MOST_HEIGHT - innerHeight)) / (wallHeight - innerHeight);
      shift = Math.min(Math.max(Math.round(place - top), 0), beyond);
    }
    lastTop = place - shift;
    scrollTo(0, Math.max(scrollY - topOf(node) + lastTop, 0));
  }

  return { resize, jump, follow, look, shift: () => shift, isNeeded: () => wallHeight > MOST_HEIGHT };
})();

// Where cards are on the wall: in rows of one height, and in as many columns as fit.

const grid = (() => {
  const GAP = 14, UNDER = 42, LEAST = 164;
  let columns = 1, width = LEAST, rowHeight = 1;

  /// Fits the columns into the wall, and gives it the height of all rows. Returns whether cards have to move.
  function measure(node, cards) {
    const before = [columns, width].join();
    const room = node.clientWidth || 1;
    columns = Math.max(Math.floor((room + GAP) / (LEAST + GAP)), 2);
    width = Math.floor((room - GAP * (columns - 1)) / columns);
    rowHeight = Math.round((width * 10) / 16) + UNDER + GAP;
    node.style.setProperty("--card", `${width}px`);
    tall.resize(node, Math.ceil(cards / columns) * rowHeight);
    return [columns, width].join() !== before;
  }

  /// The top of a card on the wall.
  const topOf = (position) => Math.floor(position / columns) * rowHeight;

  function place(position, element) {
    const x = (position % columns) * (width + GAP), y = topOf(position) - tall.shift();
    element.style.transform = `translate(${x}px, ${y}px)`;
  }

  /// The positions from the row at a place of the wall to that at a later one, and some rows around them.
  function between(top, bottom, around = 0) {
    const first = Math.max(Math.floor(top / rowHeight) - around, 0) * columns;
    return [first, (Math.ceil(bottom / rowHeight) + around) * columns];
  }

  return { measure, topOf, place, between, columns: () => columns, rowHeight: () => rowHeight };
})();

// Keys on the wall. Tab reaches only one card, and arrow keys lead from it to the others.

const wallKeys = (() => {
  let active = 0;

  function reach(element, on) {
    for (const inner of element.querySelectorAll("[role=slider], a, button")) inner.tabIndex = on ? 0 : -1;
  }

  /// Says of a new card whether it is the one.
  function meet(position, element) {
    reach(element, position === active);
  }

  function activate(position, cards) {
    if (cards.has(active)) reach(cards.get(active), false);
    active = position;
    if (cards.has(active)) reach(cards.get(active), true);
  }

  /// Begins with the first card of another list.
  function restart() {
    active = 0;
  }

  /// `cards` has those that exist by position, and `bring` makes that of a position exist in view, if there is one.
  function start(node, cards, bring) {
    node.addEventListener("focusin", (event) => {
      const element = event.target.closest(".card");
      if (element) activate(Number(element.dataset.position), cards);
    });
    node.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const step = { ArrowDown: grid.columns(), ArrowUp: -grid.columns(), j: 1, k: -1 }[event.key];
      if (step === undefined) return;
      event.preventDefault();
      const position = active + step;
      if (!bring(position)) return;
      activate(position, cards);
      cards.get(position)?.querySelector("[role=slider]").focus({ preventScroll: true });
    });
  }

  return { start, restart, meet };
})();

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
