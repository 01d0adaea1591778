// Where the small map of a large board is: in the corner of the window where it covers least.

/** @typedef {import("./stage.js").Box} Box */

const AROUND_PX = 16; // around what is worth seeing: a name on the board is often in a frame, which is larger
const WORTH_SEEING = "text, .piece, .lit, .chosen";

/**
 * Return the corner of the window in which a small map covers least: "bottom-left" and so on.
 * @param {{ width: number, height: number }} window @param {{ width: number, height: number }} map px
 * @param {Box[]} boxes what should be seen; px from the top left of the window
 */
export function findFreeCorner(window, map, boxes) {
  const [right, bottom] = [window.width - map.width, window.height - map.height];
  const corners = {
    "bottom-left": [0, bottom],
    "bottom-right": [right, bottom],
    "top-left": [0, 0],
    "top-right": [right, 0],
  };
  let best = { name: "", covered: Infinity };
  for (const [name, [x, y]] of Object.entries(corners)) {
    let covered = 0;
    for (const box of boxes) covered += measureOverlap(box, { x, y, width: map.width, height: map.height });
    if (covered < best.covered) best = { name, covered };
  }
  return best.name;
}

/**
 * Return the area that is in both boxes.
 * @param {Box} one @param {Box} other
 */
function measureOverlap(one, other) {
  const width = Math.min(one.x + one.width, other.x + other.width) - Math.max(one.x, other.x);
  const height = Math.min(one.y + one.height, other.y + other.height) - Math.max(one.y, other.y);
  return Math.max(width, 0) * Math.max(height, 0);
}

/**
 * Put the small map where it covers least.
 * @param {SVGSVGElement} svg the board @param {Element} map
 */
export function place(svg, map) {
  const { left, top, width, height } = svg.getBoundingClientRect();
  const boxes = [...svg.querySelectorAll(WORTH_SEEING)].map((one) => {
    const box = one.getBoundingClientRect();
    const [x, y] = [box.left - left - AROUND_PX, box.top - top - AROUND_PX];
    return { x, y, width: box.width + 2 * AROUND_PX, height: box.height + 2 * AROUND_PX };
  });
  map.setAttribute("data-corner", findFreeCorner({ width, height }, map.getBoundingClientRect(), boxes));
}
