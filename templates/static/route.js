// The way of a piece: along a trail that leads from its old place to the new one, along a road that passes by both, or
// straight. No DOM: trails and roads are points in order.

/** @typedef {{ x: number, y: number }} Point */

const ON_TRAIL = 30; // units between a piece and the end of its trail

/** @type {(one: Point, other: Point) => number} */
const measure = (one, other) => Math.hypot(one.x - other.x, one.y - other.y);

/**
 * Return the points of the way from one place to another, with both ends.
 * @param {Point} from @param {Point} to @param {Point[]} trail @param {Point[]} road @returns {Point[]}
 */
export function findWay(from, to, trail, road) {
  const last = trail.at(-1);
  if (last && measure(trail[0], from) < ON_TRAIL && measure(last, to) < ON_TRAIL) return trail;
  const [start, end] = [from, to].map((place) => findNearest(road, place));
  const part = road.slice(Math.min(start, end), Math.max(start, end) + 1);
  return [from, ...(part.length < 3 ? [] : start < end ? part : part.toReversed()), to];
}

/** @param {Point[]} road @param {Point} place */
function findNearest(road, place) {
  const distances = road.map((point) => measure(point, place));
  return distances.indexOf(Math.min(...distances));
}

/**
 * Return at which part of the time each point of a way is reached at equal speed.
 * @param {Point[]} way
 */
export function timeWay(way) {
  const reached = [0];
  for (const [index, point] of way.slice(1).entries()) reached.push(reached[index] + measure(way[index], point));
  return reached.map((length) => length / (reached.at(-1) || 1));
}
