// The window over a board that is moved and zoomed: arithmetic alone, without DOM. Lengths are in units of the drawing
// unless they say px.

/** @typedef {{ x: number, y: number }} Point */
/** @typedef {{ x: number, y: number, width: number, height: number }} Box */
/** @typedef {{ x: number, y: number, scale: number }} View the point in the middle, and how many px a unit is wide */

/**
 * @typedef {object} Stage
 * @property {{ width: number, height: number }} window px
 * @property {Box} world the whole drawing
 * @property {Box} home the part that is shown where nothing can be chosen
 * @property {number} reach px; the least width of what is touched
 */

const CLOSEST = 5; // px for a unit of the drawing
const MARGIN_PX = 34; // kept free around what is framed
const WORLD_MARGIN_PX = 4;
const APART_PX = 24; // between two things that can be told apart by touch
const FURTHEST = 0.8; // of the scale at which the whole world fits
const MIN_ROOM_PX = 20; // of a window that is smaller than its margins
const NEARLY_ALL = 0.8; // of the width and of the height
const NEIGHBOUR_MARGIN_PX = 2; // at least, between an area that is touched and the middle of the next one

/** @type {(value: number, low: number, high: number) => number} */
const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

/** @param {string} text four numbers, as in a viewBox @returns {Box} */
export function parseBox(text) {
  const [x, y, width, height] = text.trim().split(/\s+/).map(Number);
  return { x, y, width, height };
}

/**
 * Return the smallest box around all of these.
 * @param {Box[]} boxes @returns {Box}
 */
export function surround(boxes) {
  const x = Math.min(...boxes.map((one) => one.x));
  const y = Math.min(...boxes.map((one) => one.y));
  const right = Math.max(...boxes.map((one) => one.x + one.width));
  const bottom = Math.max(...boxes.map((one) => one.y + one.height));
  return { x, y, width: right - x, height: bottom - y };
}

/** @param {Box} box @returns {Point} */
const findCentre = (box) => ({ x: box.x + box.width / 2, y: box.y + box.height / 2 });

/**
 * Return the smallest distance between the middles of two boxes, along either axis, for what is touched is a square.
 * Boxes with one middle count as one.
 * @param {Box[]} boxes
 */
export function measureGap(boxes) {
  const points = boxes.map(findCentre);
  const gaps = points.flatMap((one, index) =>
    points.slice(index + 1).map((other) => Math.max(Math.abs(one.x - other.x), Math.abs(one.y - other.y)) || Infinity),
  );
  return gaps.reduce((least, gap) => Math.min(least, gap), Infinity);
}

/**
 * Return the largest scale at which a box fits into the window.
 * @param {Stage} stage @param {Box} box
 */
function fitScale({ window }, box, marginPx = MARGIN_PX) {
  const [width, height] = [window.width, window.height].map((length) => Math.max(length - 2 * marginPx, MIN_ROOM_PX));
  return Math.min(width / Math.max(box.width, 1), height / Math.max(box.height, 1));
}

/**
 * Return the view of the whole world.
 * @param {Stage} stage @returns {View}
 */
export const fitWorld = (stage) => ({
  ...findCentre(stage.world),
  scale: fitScale(stage, stage.world, WORLD_MARGIN_PX),
});

/**
 * Return the view in which all boxes can be seen and touched, near enough to be told apart, with as much around them as
 * fits.
 * @param {Stage} stage @param {Box[]} boxes @param {number} gap between those to be told apart @returns {View}
 */
export function findBestView(stage, boxes, gap) {
  const { home } = stage;
  if (!boxes.length) return { ...findCentre(home), scale: Math.min(fitScale(stage, home, WORLD_MARGIN_PX), CLOSEST) };
  const needed = APART_PX / gap;
  const all = surround([home, ...boxes]);
  const wide = fitScale(stage, all, WORLD_MARGIN_PX);
  const view = { ...findCentre(all), scale: Math.min(wide, CLOSEST) };
  if (wide >= needed && canTouch(stage, view, boxes)) return view;
  const tight = surround(boxes);
  return { ...findCentre(tight), scale: Math.min(fitScale(stage, tight), Math.max(needed, wide), CLOSEST) };
}

/**
 * Say whether all of every box is in the window, and the area in which it is touched too.
 * @param {Stage} stage @param {View} view @param {Box[]} boxes
 */
export function canTouch({ window, reach }, view, boxes) {
  /** @type {(far: number, length: number, room: number) => boolean} */
  const fits = (far, length, room) => Math.abs(far) * view.scale + Math.max(length * view.scale, reach) / 2 <= room / 2;
  return boxes.every((box) => {
    const { x, y } = findCentre(box);
    return fits(x - view.x, box.width, window.width) && fits(y - view.y, box.height, window.height);
  });
}

/**
 * Return the view after a choice changes: the best one, or the very same if the player moved it and everything can
 * still be touched and told apart there.
 * @param {Stage} stage @param {View | null} moved the view that the player moved; null if the view may be changed
 * @param {Box[]} boxes @param {number} gap @returns {View}
 */
export function frameView(stage, moved, boxes, gap) {
  const stays = moved && (!boxes.length || (APART_PX / gap <= moved.scale && canTouch(stage, moved, boxes)));
  return stays ? moved : findBestView(stage, boxes, gap);
}

/**
 * Return the nearest view that is neither too near nor too far, and whose middle is on the drawing.
 * @param {Stage} stage @param {View} view @returns {View}
 */
export function clampView(stage, view) {
  const { x, y, width, height } = stage.world;
  const whole = fitWorld(stage).scale;
  const scale = clamp(view.scale, Math.min(whole, CLOSEST) * FURTHEST, Math.max(CLOSEST, whole));
  return { scale, x: clamp(view.x, x, x + width), y: clamp(view.y, y, y + height) };
}

/**
 * Return the view closer by a factor, with one point of the screen staying where it is.
 * @param {Stage} stage @param {View} view @param {number} factor @param {Point} at px from the middle of the window
 * @returns {View}
 */
export function zoomView(stage, view, factor, at = { x: 0, y: 0 }) {
  const { scale } = clampView(stage, { ...view, scale: view.scale * factor });
  const shift = 1 / view.scale - 1 / scale;
  return { scale, x: view.x + at.x * shift, y: view.y + at.y * shift };
}

/**
 * Return the view closer by a factor, with one point of the screen in the middle.
 * @param {Stage} stage @param {View} view @param {number} factor @param {Point} at px from the middle of the window
 * @returns {View}
 */
export const approachPoint = (stage, view, factor, at) =>
  clampView(stage, { x: view.x + at.x / view.scale, y: view.y + at.y / view.scale, scale: view.scale * factor });

/**
 * Return the view after the board is dragged to the right and down.
 * @param {View} view @param {Point} by px @returns {View}
 */
export const dragView = (view, by) => ({ ...view, x: view.x - by.x / view.scale, y: view.y - by.y / view.scale });

/**
 * Return the view after two fingers move.
 * @param {Stage} stage @param {View} view @param {Point[]} before px from the middle of the window
 * @param {Point[]} after @returns {View}
 */
export function pinchView(stage, view, [one, other], [oneNow, otherNow]) {
  const [from, to] = [findMiddle(one, other), findMiddle(oneNow, otherNow)];
  const dragged = clampView(stage, dragView(view, { x: to.x - from.x, y: to.y - from.y }));
  return zoomView(stage, dragged, measureSpan(oneNow, otherNow) / measureSpan(one, other), to);
}

/** @param {Point} one @param {Point} other */
const findMiddle = (one, other) => ({ x: (one.x + other.x) / 2, y: (one.y + other.y) / 2 });

/**
 * Return how far apart two fingers are; 1 at the same point, for another span is divided by it.
 * @param {Point} one @param {Point} other
 */
const measureSpan = (one, other) => Math.hypot(one.x - other.x, one.y - other.y) || 1;

/**
 * Return the view part of the way from one to another, slower towards the end.
 * @param {View} from @param {View} to @param {number} part from 0 to 1 @returns {View}
 */
export function interpolate(from, to, part) {
  const eased = 1 - (1 - part) ** 3;
  const scale = from.scale * (to.scale / from.scale) ** eased;
  return { x: from.x + (to.x - from.x) * eased, y: from.y + (to.y - from.y) * eased, scale };
}

/**
 * Return the part of the drawing that a view shows.
 * @param {Stage} stage @param {View} view @returns {Box}
 */
export function findShown({ window }, { x, y, scale }) {
  const [width, height] = [window.width / scale, window.height / scale];
  return { x: x - width / 2, y: y - height / 2, width, height };
}

/**
 * Say whether nearly the whole world is shown, so that a small map is of no use.
 * @param {Stage} stage @param {Box} shown
 */
export const showsNearlyAll = ({ world }, shown) =>
  shown.width > world.width * NEARLY_ALL && shown.height > world.height * NEARLY_ALL;

/**
 * Say whether the areas that are touched would cover each other's middles.
 * @param {Stage} stage @param {View} view @param {number} gap
 */
export const isCrowded = ({ reach }, view, gap) => gap * view.scale < reach / 2 + NEIGHBOUR_MARGIN_PX;
