// The way of a piece: along a trail that leads from its old place to the new one, along a road that passes by both, or
// straight. No DOM: trails and roads are points in order.

/** @typedef {{ x: number, y: number }} Point */

const ON_TRAIL = 30; // units between a piece and the end of its trail
const SHORTEST_PART = 3; // points of a road that are worth following

/** @type {(one: Point, other: Point) => number} */
const measure = (one, other) => Math.hypot(one.x - other.x, one.y - other.y);

/**
 * Return the points of the way from one place to another, with both ends. A trail or a road that is not on the board
 * has no points.
 * @param {Point} from @param {Point} to @param {Point[]} trail @param {Point[]} road @returns {Point[]}
 */
export function findWay(from, to, trail, road) {
  const last = trail.at(-1);
  if (last && measure(trail[0], from) < ON_TRAIL && measure(last, to) < ON_TRAIL) return trail;
  const start = findNearestIndex(road, from);
  const end = findNearestIndex(road, to);
  const part = road.slice(Math.min(start, end), Math.max(start, end) + 1);
  if (part.length < SHORTEST_PART) return [from, to];
  return [from, ...(start < end ? part : part.toReversed()), to];
}

/**
 * Return the index of the point of a road that is nearest to a place; -1 if the road has no points.
 * @param {Point[]} road @param {Point} place
 */
function findNearestIndex(road, place) {
  const distances = road.map((point) => measure(point, place));
  return distances.indexOf(Math.min(...distances));
}

/**
 * Return at which part of the time, from 0 to 1, each point of a way is reached at equal speed.
 * @param {Point[]} way
 */
export function timeWay(way) {
  let length = 0;
  let last = way[0];
  const lengths = way.map((point) => {
    length += measure(last, point);
    last = point;
    return length;
  });
  return lengths.map((reached) => reached / (length || 1));
}
