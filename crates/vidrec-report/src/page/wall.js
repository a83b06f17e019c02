// The wall: only cards in view exist.

const wall = (() => {
  const GAP = 14, UNDER = 42, LEAST = 164;
  /// Rows beyond the view that are kept ready, and cards of them that are made in one frame.
  const READY = 2, AT_ONCE = 2;
  /// No browser has elements of any height: a wall that is higher than this moves under the view, in which it is drawn.
  const MOST_HEIGHT = 8_000_000;
  const cards = new Map();
  /// How far down the wall is what lies at the top of its element.
  let shift = 0, lastTop = 0;
  let found = [], columns = 1, width = LEAST, rowHeight = 1, active = 0, waiting = false;

  const node = () => byId("wall");

  function measure() {
    const room = node().clientWidth || 1;
    columns = Math.max(Math.floor((room + GAP) / (LEAST + GAP)), 2);
    width = Math.floor((room - GAP * (columns - 1)) / columns);
    rowHeight = Math.round((width * 10) / 16) + UNDER + GAP;
    node().style.setProperty("--card", `${width}px`);
    node().style.height = `${Math.min(height(), MOST_HEIGHT)}px`;
  }

  const height = () => Math.ceil(found.length / columns) * rowHeight;

  /// Sets which part of the wall is in view when the view has moved far: as far down the wall as down its element.
  function shiftTo(top) {
    const beyond = height() - MOST_HEIGHT;
    const share = Math.min(Math.max(top / (MOST_HEIGHT - innerHeight), 0), 1);
    const moved = beyond > 0 ? Math.round(share * beyond) : 0;
    if (moved === shift) return;
    shift = moved;
    for (const [position, element] of cards) place(position, element);
  }

  /// Moves the view to where it is on the scroll bar what it is on the wall, when nobody scrolls any more.
  function settle() {
    const beyond = height() - MOST_HEIGHT;
    if (beyond <= 0) return;
    const onWall = shift - node().getBoundingClientRect().top;
    lookAt(onWall);
  }

  /// Shows a place of the wall at the top of the window.
  function lookAt(onWall) {
    const beyond = height() - MOST_HEIGHT;
    const top = node().getBoundingClientRect().top + scrollY;
    if (beyond > 0) {
      const inElement = (onWall * (MOST_HEIGHT - innerHeight)) / (height() - innerHeight);
      shift = Math.min(Math.max(Math.round(onWall - inElement), 0), beyond);
      for (const [position, element] of cards) place(position, element);
    }
    lastTop = onWall - shift;
    scrollTo(0, Math.max(top + onWall - shift, 0));
  }

  function place(position, element) {
    const x = (position % columns) * (width + GAP), y = Math.floor(position / columns) * rowHeight - shift;
    element.style.transform = `translate(${x}px, ${y}px)`;
  }

  function draw() {
    waiting = false;
    if (byId("clips").hidden) return;
    const inElement = -node().getBoundingClientRect().top;
    if (Math.abs(inElement - lastTop) > 4 * innerHeight || inElement <= 0) shiftTo(inElement);
    lastTop = inElement;
    const top = inElement + shift;
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
    const top = node().getBoundingClientRect().top + onWall - shift;
    if (top < 70 || top + rowHeight > innerHeight) lookAt(onWall - innerHeight / 2 + rowHeight / 2);
    draw();
    activate(position);
    cards.get(position)?.querySelector("[role=slider]").focus({ preventScroll: true });
  }

  function show(list) {
    found = list;
    for (const element of cards.values()) element.remove();
    cards.clear();
    active = 0;
    shift = 0;
    measure();
    shiftTo(-node().getBoundingClientRect().top);
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
    for (const [position, element] of cards) place(position, element);
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
