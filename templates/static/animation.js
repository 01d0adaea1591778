// Pieces glide from where they were to where they are, and points float from the piece that moved to the score.
//
// A piece is known by its kind, for equal ones look alike: those that stay are matched first, then each goes the
// shortest way. A piece that is new comes from its player, or is set down, and one that is gone goes home, or is lifted
// off. What the page has put on the board before the verdict does not glide there again.

import { reducedMotion } from "./device.js";
import { findWay, timeWay } from "./route.js";

/** @typedef {{ piece: SVGGElement, x: number, y: number }} Placed */
/** @typedef {Map<string, Placed[]>} Placement pieces by kind; those of a pending move that are new have no kind */

const GLIDE_MS = 260;
const LIFTED = 1.35; // the size of a piece before it is set down
const FAINT = 0.2; // the opacity of a piece that comes home
const FLOAT_MS = 900;
const STEPS = 32; // of a trail or a road
const CLOSE = 4; // units between a piece and where it was, so that it need not glide
// What has a place: pieces on the board, tiles, pieces of a sent move, and the ghost of it.
const LOCATED = "[data-piece]:not(.left), [data-laid], [data-goes], [data-ghost].pending";

/**
 * Return where the pieces of a world are, each by the transform that puts it there.
 * @param {Element | null} world @returns {Placement}
 */
export function locatePieces(world) {
  /** @type {Placement} */
  const placement = new Map();
  for (const piece of /** @type {Iterable<SVGGElement>} */ (world?.querySelectorAll(LOCATED) ?? [])) {
    const matrix = piece.transform.baseVal.consolidate()?.matrix;
    if (!matrix) continue;
    const kind = piece.dataset.piece ?? piece.dataset.laid ?? piece.dataset.goes ?? "";
    placement.set(kind, [...(placement.get(kind) ?? []), { piece, x: matrix.e, y: matrix.f }]);
  }
  return placement;
}

/**
 * Let the pieces of a world glide from where they were. Return the one that moved last, which may be there already
 * since the move was sent; null if none moved, and for players who prefer reduced motion.
 * @param {Placement} before @param {Element} world @param {number} time ms
 */
export function glide(before, world, time = GLIDE_MS) {
  if (reducedMotion.matches) return null;
  let last = null;
  const after = locatePieces(world);
  const withoutKind = [...(before.get("") ?? [])];
  const kinds = new Set([...before.keys(), ...after.keys()]);
  kinds.delete("");
  for (const kind of kinds) {
    const olds = [...(before.get(kind) ?? [])];
    const pairs = pairClose(after.get(kind) ?? [], olds, withoutKind);
    const moved = pairs.filter(({ old }) => !old);
    const source = findPlayer(kind, world);
    for (const { one } of moved) animate(one, takeNearest(olds, one) ?? source, world, time);
    for (const old of olds) lift(old, world, time);
    const lastOfKind = pairs.findLast(({ old }) => !old || old.piece.matches(".pending"));
    if (lastOfKind) last = lastOfKind.one.piece;
  }
  return last;
}

/**
 * Pair each piece with the old one that was at the same place, which is removed from its list; with null if none was.
 * @param {Placed[]} all @param {Placed[]} olds of the same kind
 * @param {Placed[]} withoutKind old ones that may be of this kind
 */
const pairClose = (all, olds, withoutKind) =>
  all.map((one) => ({ one, old: takeClose(olds, one) ?? takeClose(withoutKind, one) }));

/**
 * Return the place on the board of the player who brings a new piece, if its kind begins with a seat; otherwise null.
 * @param {string} kind @param {Element} world @returns {DOMPoint | null}
 */
function findPlayer(kind, world) {
  const seat = kind.match(/^(\d+)-/)?.[1];
  const chip = seat && document.querySelectorAll(".strip li")[Number(seat)]?.getBoundingClientRect();
  const toScreen = /** @type {SVGSVGElement} */ (world).getScreenCTM();
  if (!chip || !toScreen) return null;
  return new DOMPoint(chip.left + chip.width / 2, chip.top + chip.height / 2).matrixTransform(toScreen.inverse());
}

/**
 * Return the keyframe of a piece in the air: it is larger, with its middle where it was, and cannot be seen.
 * @param {Placed} placed
 */
const makeLifted = ({ x, y }) => ({
  opacity: 0,
  scale: LIFTED,
  translate: `${(1 - LIFTED) * x}px ${(1 - LIFTED) * y}px`,
});

/**
 * Show a piece that is gone for a moment, while it goes home or disappears.
 * @param {Placed} old @param {Element} world @param {number} time ms
 */
function lift(old, world, time) {
  const gone = /** @type {SVGGElement} */ (old.piece.cloneNode(true));
  const home = findHome(old.piece, world);
  for (const name of Object.keys(gone.dataset)) delete gone.dataset[name];
  world.append(gone);
  const animation = home
    ? go({ ...old, piece: gone }, old, home, world, 2 * time, { opacity: FAINT })
    : gone.animate([{ opacity: 1 }, makeLifted(old)], { duration: time, easing: "ease-in" });
  animation.onfinish = () => gone.remove();
}

/**
 * Return where a piece goes when it leaves the board: to the point that it names as its home, or to its player if that
 * is empty; null if it has no home.
 * @param {SVGGElement} piece @param {Element} world
 */
function findHome({ dataset: { piece = "", home } }, world) {
  if (home === undefined) return null;
  if (home === "") return findPlayer(piece, world);
  const [x, y] = home.split(" ").map(Number);
  return { x, y };
}

/**
 * Remove the first of some pieces that is where this one is, and return it; null if there is none.
 * @param {Placed[]} olds @param {Placed} one
 */
function takeClose(olds, one) {
  const index = olds.findIndex((old) => Math.hypot(old.x - one.x, old.y - one.y) < CLOSE);
  return index < 0 ? null : olds.splice(index, 1)[0];
}

/**
 * Remove that of some pieces which is nearest to this one, and return it; null if there is none.
 * @param {Placed[]} olds @param {Placed} one
 */
function takeNearest(olds, one) {
  if (!olds.length) return null;
  const distances = olds.map((old) => Math.hypot(old.x - one.x, old.y - one.y));
  return olds.splice(distances.indexOf(Math.min(...distances)), 1)[0];
}

/**
 * Let a piece go from a place to where it is; set it down if there is no such place.
 * @param {Placed} placed @param {DOMPointInit | null} from @param {Element} world @param {number} time ms
 */
function animate(placed, from, world, time) {
  if (from) go(placed, from, placed, world, time);
  else placed.piece.animate([makeLifted(placed), {}], { duration: time, easing: "ease-out" });
}

/**
 * Let a piece go from one place to another, along a trail or a road if there is one, which takes twice the time.
 * @param {Placed} placed @param {DOMPointInit} from @param {DOMPointInit} to
 * @param {Element} world @param {number} time ms
 * @param {Keyframe} [end] how it is at last
 */
function go({ piece, x, y }, from, to, world, time, end = {}) {
  const trail = samplePath(world.querySelector("path.trail"));
  const road = samplePath(world.querySelector("[data-road]"));
  const way = findWay(from, to, trail, road);
  const offsets = timeWay(way);
  const frames = way.map((step, index) => ({
    translate: `${step.x - x}px ${step.y - y}px`,
    offset: offsets[index],
  }));
  Object.assign(frames[frames.length - 1], end);
  const isStraight = way.length === 2;
  return piece.animate(frames, { duration: isStraight ? time : 2 * time, easing: "ease-in-out" });
}

/**
 * Return points at equal distances along a path, with both ends; none without a path.
 * @param {SVGPathElement | null} path
 */
function samplePath(path) {
  const length = path?.getTotalLength?.();
  if (!path || !length) return [];
  return Array.from({ length: STEPS + 1 }, (_, step) => path.getPointAtLength((length * step) / STEPS));
}

const findScores = () => [...document.querySelectorAll(".strip .score")];

/** Return the scores that are shown, by seat. */
export const readScores = () => findScores().map((one) => one.textContent);

/**
 * Show other scores, such as those of an earlier moment.
 * @param {string[]} scores by seat
 */
export function showScores(scores) {
  for (const [seat, score] of findScores().entries()) score.textContent = scores[seat];
}

/**
 * Let the points that each seat has gained or lost float to its score, from a piece or from the middle of the board.
 * @param {(string | null)[]} before the scores before, by seat @param {Element | null} piece
 */
export function floatPoints(before, piece) {
  if (reducedMotion.matches) return;
  for (const [seat, score] of findScores().entries()) {
    const gain = Number(score.textContent) - Number(before[seat]);
    if (gain) floatTo(score, piece ?? document.querySelector(".stage"), gain > 0 ? `+${gain}` : `−${-gain}`);
  }
}

/**
 * Let a text appear in the middle of one element, float to the middle of a score, and disappear.
 * @param {Element} score @param {Element} from @param {string} text
 */
function floatTo(score, from, text) {
  const points = document.createElement("span");
  points.className = "gain";
  points.ariaHidden = "true";
  points.textContent = text;
  document.body.append(points);
  const [start, end] = [from, score].map((one) => {
    const { left, top, width, height } = one.getBoundingClientRect();
    return `translate(${left + width / 2}px, ${top + height / 2}px) translate(-50%, -50%)`;
  });
  const frames = [
    { transform: start, opacity: 0 },
    { transform: start, opacity: 1, offset: 0.3 }, // it can be read before it goes
    { transform: end, opacity: 1 },
  ];
  points.animate(frames, { duration: FLOAT_MS, easing: "ease-in" }).onfinish = () => points.remove();
}
