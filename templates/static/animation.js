// Pieces glide from where they were to where they are, and points float from the piece that moved to the score. A piece
// is known by its kind, for equal ones look alike: those that stay are matched first, then each goes the shortest way.
// A piece that is new comes from its player, or is set down, and one that is gone is lifted off.

import { reducedMotion } from "./device.js";

/** @typedef {{ piece: SVGGElement, x: number, y: number }} Placed */
/** @typedef {Map<string, Placed[]>} Placement pieces by kind */

const GLIDE_MS = 260;
const LIFTED = 1.35; // the size of a piece before it is set down
const FLOAT_MS = 900;
const TRAIL_STEPS = 8;
const ON_TRAIL = 30; // units between a piece and the end of its trail

/**
 * Return where the pieces are.
 * @param {Element | null} world @returns {Placement}
 */
export function locatePieces(world) {
  /** @type {Placement} */
  const placement = new Map();
  for (const piece of /** @type {Iterable<SVGGElement>} */ (
    world?.querySelectorAll("[data-piece], [data-laid]") ?? []
  )) {
    const matrix = piece.transform.baseVal.consolidate()?.matrix;
    if (!matrix) continue;
    const kind = piece.dataset.piece ?? piece.dataset.laid ?? "";
    placement.set(kind, [...(placement.get(kind) ?? []), { piece, x: matrix.e, y: matrix.f }]);
  }
  return placement;
}

/**
 * Let the pieces of a world glide from where they were; return the one that moved last.
 * @param {Placement} before @param {Element} world
 */
export function glide(before, world, time = GLIDE_MS) {
  let last = null;
  if (reducedMotion.matches) return last;
  const after = locatePieces(world);
  for (const kind of new Set([...before.keys(), ...after.keys()])) {
    const olds = [...(before.get(kind) ?? [])];
    const moved = (after.get(kind) ?? []).filter((one) => !takeEqual(olds, one));
    const source = findPlayer(kind, world);
    for (const one of moved) animate(one, takeNearest(olds, one) ?? source, world, time);
    for (const old of olds) lift(old, world, time);
    last = moved.at(-1)?.piece ?? last;
  }
  return last;
}

/**
 * Return where on the board the player is from whom a new piece comes, whose kind begins with the seat; null for others.
 * @param {string} kind @param {Element} world @returns {DOMPoint | null}
 */
function findPlayer(kind, world) {
  const seat = kind.match(/^(\d+)-/)?.[1];
  const chip = seat && document.querySelectorAll(".strip li")[Number(seat)]?.getBoundingClientRect();
  const toScreen = /** @type {SVGSVGElement} */ (world).getScreenCTM();
  if (!chip || !toScreen) return null;
  return new DOMPoint(chip.left + chip.width / 2, chip.top + chip.height / 2).matrixTransform(toScreen.inverse());
}

/** @param {Placed} placed */
const makeLifted = ({ x, y }) => ({
  opacity: 0,
  scale: LIFTED,
  translate: `${(1 - LIFTED) * x}px ${(1 - LIFTED) * y}px`,
});

/**
 * Show a piece that is gone for a moment, while it disappears.
 * @param {Placed} old @param {Element} world @param {number} time
 */
function lift(old, world, time) {
  const gone = /** @type {SVGGElement} */ (old.piece.cloneNode(true));
  for (const name of ["piece", "laid", "place", "moves"]) delete gone.dataset[name];
  world.append(gone);
  gone.animate([{ opacity: 1 }, makeLifted(old)], { duration: time, easing: "ease-in" }).onfinish = () => gone.remove();
}

/** @param {Placed[]} olds @param {Placed} one */
function takeEqual(olds, one) {
  const index = olds.findIndex((old) => old.x === one.x && old.y === one.y);
  if (index >= 0) olds.splice(index, 1);
  return index >= 0;
}

/** @param {Placed[]} olds @param {Placed} one */
function takeNearest(olds, one) {
  if (!olds.length) return null;
  const distances = olds.map((old) => Math.hypot(old.x - one.x, old.y - one.y));
  return olds.splice(distances.indexOf(Math.min(...distances)), 1)[0];
}

/**
 * Move a piece along the trail if that ends here, straight otherwise; set it down if it is new.
 * @param {Placed} placed @param {DOMPointInit | null} old @param {Element} world @param {number} time
 */
function animate({ piece, x, y }, old, world, time) {
  if (!old) {
    piece.animate([makeLifted({ piece, x, y }), {}], { duration: time, easing: "ease-out" });
    return;
  }
  const steps = findTrail(world.querySelector("path.trail"), old, { x, y }) ?? [old, { x, y }];
  const frames = steps.map((step) => ({ translate: `${step.x - x}px ${step.y - y}px` }));
  piece.animate(frames, { duration: time * Math.min(1 + (steps.length - 2) / 8, 2), easing: "ease-in-out" });
}

/**
 * Return points along a trail; null if it does not lead from one place to the other.
 * @param {SVGPathElement | null} trail @param {DOMPointInit} from @param {DOMPointInit} to
 */
function findTrail(trail, from, to) {
  if (!trail?.getTotalLength) return null;
  const length = trail.getTotalLength();
  const isNear = (point, place) => Math.hypot(point.x - place.x, point.y - place.y) < ON_TRAIL;
  if (!length || !isNear(trail.getPointAtLength(0), from) || !isNear(trail.getPointAtLength(length), to)) return null;
  return Array.from({ length: TRAIL_STEPS + 1 }, (_, step) => trail.getPointAtLength((length * step) / TRAIL_STEPS));
}

const findScores = () => [...document.querySelectorAll(".strip .score")];

/** Return the scores that are shown, by seat. */
export const readScores = () => findScores().map((one) => one.textContent);

/** @param {string[]} scores by seat */
export function showScores(scores) {
  for (const [seat, score] of findScores().entries()) score.textContent = scores[seat];
}

/**
 * Let the points of each seat float to its score, from a piece or from the middle of the board.
 * @param {(string | null)[]} before the scores before them @param {Element | null} piece
 */
export function floatPoints(before, piece) {
  if (reducedMotion.matches) return;
  for (const [seat, score] of findScores().entries()) {
    const gain = Number(score.textContent) - Number(before[seat]);
    if (gain) floatTo(score, piece ?? document.querySelector(".stage"), gain > 0 ? `+${gain}` : `−${-gain}`);
  }
}

/** @param {Element} score @param {Element} from @param {string} text */
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
    { transform: start, opacity: 1, offset: 0.3 },
    { transform: end, opacity: 1 },
  ];
  points.animate(frames, { duration: FLOAT_MS, easing: "ease-in" }).onfinish = () => points.remove();
}
