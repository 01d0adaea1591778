// Where the moves of a plan are on the board: pieces that would move are ghosts at the places they go to, and each move
// has a number.
// No DOM: a drawing is given as places and pieces.

import { findGoal, findPiece, GONE, planMove } from "./pending.js";

/**
 * @typedef {import("./pending.js").Drawing} Drawing
 * @typedef {import("./pending.js").Point} Point
 * @typedef {import("./pending.js").Step} Step
 *
 * A move of a plan, by a seat. Those of one `group` follow from each other; moves of others come `before` it.
 * @typedef {{ number: string, move: string, seat: string, before: string[], group: string, done: boolean }} Entry
 *
 * Where an entry is: its ghosts, those of moves before it, and the place of its number; null if the board shows none.
 * @typedef {{ number: string, own: Step[], others: Step[], at: Point | null }} Layout
 */

const BESIDE = { x: 28, y: 5 }; // units from the middle of a planned piece to what is put on it
const APART_PX = 26; // between numbers at the same place
const NO_ADDITION = { begin: "?" }; // in place of what cannot be added: no move begins so
const OFF_BOARD = { x: Number.NaN, y: Number.NaN }; // close to no place

/**
 * Return where each entry is. A move that is done has a number where its piece is now. The others follow from the
 * moves before them in their group; one that these do not make possible is shown as if it were made now.
 * @param {Entry[]} entries @param {Drawing} drawing @returns {Layout[]}
 */
export function layOut(entries, drawing) {
  /** @type {Map<string, Drawing>} by group */
  const drawings = new Map();
  return entries.map((entry) => {
    const { number, move, seat, before, group, done } = entry;
    const at = findNumberPlace(move, drawing);
    if (done) return { number, own: [], others: [], at };
    const others = imagine(before, drawings.get(group) ?? drawing);
    let own = imagine([move], others.drawing, seat);
    if (!own.steps.length) own = imagine([move], drawing, seat);
    drawings.set(group, own.drawing);
    return { number, own: own.steps, others: others.steps, at: own.steps.at(-1) ?? at };
  });
}

/**
 * Return the place that a move names last, of the board as it is; null if it names none.
 * @param {string} move @param {Drawing} drawing
 */
const findNumberPlace = (move, drawing) => findGoal(drawing, move.split(" ").slice(1));

/**
 * Return the steps of moves, and the drawing after them.
 * @param {string[]} moves @param {Drawing} drawing @param {string} [seat] that makes them, if it is known
 */
function imagine(moves, drawing, seat) {
  /** @type {Step[]} */
  const steps = [];
  let now = drawing;
  for (const move of moves) {
    const next = planMove(move, choosePieces(now, seat));
    steps.push(...next);
    now = next.reduce(carryOut, now);
  }
  return { steps, drawing: now };
}

/**
 * Return the drawing without what only moves of other seats can move or add; all of it if the seat is not known. What
 * is put upon another addition, as a figure upon a planned tile, is of one seat: without a seat it is left out.
 * @param {Drawing} drawing @param {string} [seat] @returns {Drawing}
 */
function choosePieces(drawing, seat) {
  /** @param {{ seat?: string }} one */
  const isOther = (one) => Boolean(seat && one.seat) && one.seat !== seat;
  /** @param {import("./pending.js").Added} one */
  const cannotBeAdded = (one) => isOther(one) || Boolean(one.upon && !seat);
  return {
    ...drawing,
    pieces: drawing.pieces.map((one) => (isOther(one) ? { ...one, moves: [] } : one)),
    added: drawing.added.map((one) => (cannotBeAdded(one) ? NO_ADDITION : one)),
  };
}

/**
 * Return the drawing after a step.
 *
 * A piece at the place where another one goes leaves the board. A piece of a seat moves once only, so that the next
 * step with the same verb moves another piece. What can be added `once` is used up.
 * @param {Drawing} drawing @param {Step} step @returns {Drawing}
 */
function carryOut(drawing, { piece, added, x, y, turn }) {
  if (added >= 0) return carryOutAddition(drawing, drawing.added[added], { x, y });
  if (piece < 0) return drawing;
  const taken = findPiece(drawing.pieces, { x, y });
  const pieces = drawing.pieces.map((one, index) => {
    if (index === piece && turn !== GONE) return { ...one, x, y, moves: one.seat ? [] : one.moves };
    return index === taken ? { ...one, ...OFF_BOARD } : one;
  });
  return { ...drawing, pieces };
}

/**
 * Return the drawing after something was added at a point; the next move may put something on it.
 * @param {Drawing} drawing @param {import("./pending.js").Added} addition @param {Point} at @returns {Drawing}
 */
function carryOutAddition(drawing, { begin, once }, { x, y }) {
  const [verb] = begin.split(" ");
  const laid = new Map([...(drawing.laid ?? []), [verb, { x: x + BESIDE.x, y: y + BESIDE.y }]]);
  const added = drawing.added.map((one) => (once && one.once === once ? NO_ADDITION : one));
  return { ...drawing, laid, added };
}

/**
 * Return how far to the right each number is put, in px, so that numbers at the same place are beside each other.
 * @param {(Point | null)[]} points @param {number} scale px for a unit of the drawing
 */
export function spread(points, scale) {
  return points.map((point, index) => {
    if (!point) return 0;
    const near = points.slice(0, index).filter((one) => one && isNear(one, point, APART_PX / scale));
    return near.length * APART_PX;
  });
}

/** @param {Point} one @param {Point} other @param {number} far */
const isNear = (one, other, far) => Math.hypot(one.x - other.x, one.y - other.y) < far;
