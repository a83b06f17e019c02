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
