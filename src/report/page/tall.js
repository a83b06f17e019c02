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
