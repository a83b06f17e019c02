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
