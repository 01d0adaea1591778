// Which of several things on the screen is meant by a touch or by an arrow key. Lengths are px.

/** @typedef {{ left: number, top: number, width: number, height: number }} Rectangle */
/** @typedef {{ hit: Rectangle, outline: Rectangle }} Target `hit` is the area that can be touched */

const DIRECTIONS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const CLOSER = 2; // the least factor by which a zoom tells two things apart
const ASIDE = 2; // what is a px aside of an arrow key's direction counts as so many px further away
const AHEAD_PX = 1; // what is not further ahead than this is not in the direction of the arrow key

/** @param {Rectangle} box */
const findCentre = ({ left, top, width, height }) => ({ x: left + width / 2, y: top + height / 2 });

/** @param {{ x: number, y: number }} one @param {{ x: number, y: number }} other */
const measure = (one, other) => Math.hypot(one.x - other.x, one.y - other.y);

/**
 * Return the target nearest to a touch, of those whose area is hit; null if none is. If two are so near each other that
 * the touch may mean either, `zoom` tells them apart: the factor, and the point between them.
 * @template {Target} T
 * @param {T[]} targets @param {number} x @param {number} y @param {number} reach the least width of what is touched
 * @returns {{ target: T | null, zoom: { factor: number, x: number, y: number } | null }}
 */
export function pick(targets, x, y, reach) {
  /** @param {Rectangle} box */
  const isHit = (box) => box.left <= x && x <= box.left + box.width && box.top <= y && y <= box.top + box.height;
  const hits = targets.filter(({ hit }) => isHit(hit));
  const near = hits.map((target) => ({ target, far: measure(findCentre(target.hit), { x, y }) }));
  const [first, second] = near.sort((one, other) => one.far - other.far);
  if (!first) return { target: null, zoom: null };
  if (!second) return { target: first.target, zoom: null };
  const isMuchNearer = second.far - first.far >= reach / 3;
  if (isMuchNearer) return { target: first.target, zoom: null };
  const [one, other] = [findCentre(first.target.outline), findCentre(second.target.outline)];
  const apart = measure(one, other);
  const minApart = reach / 2; // targets that are this far apart need no zoom
  if (apart >= minApart) return { target: first.target, zoom: null };
  const factor = Math.max(CLOSER, minApart / apart);
  return { target: first.target, zoom: { factor, x: (one.x + other.x) / 2, y: (one.y + other.y) / 2 } };
}

/**
 * Return the index of the box that is next to another in the direction of an arrow key; -1 if there is none.
 * @param {Rectangle} from @param {Rectangle[]} others @param {string} key
 */
export function findNeighbour(from, others, key) {
  const [right, down] = DIRECTIONS[/** @type {keyof typeof DIRECTIONS} */ (key)];
  const start = findCentre(from);
  const ways = others.map((other, index) => {
    const { x, y } = findCentre(other);
    const along = (x - start.x) * right + (y - start.y) * down;
    const across = Math.abs((x - start.x) * down) + Math.abs((y - start.y) * right);
    return { index, along, far: along + ASIDE * across };
  });
  return ways.filter(({ along }) => along > AHEAD_PX).sort((one, other) => one.far - other.far)[0]?.index ?? -1;
}
