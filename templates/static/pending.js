// Where the pieces of a move go, before the server has judged it. No DOM: a drawing is given as places and pieces.

/**
 * @typedef {{ x: number, y: number }} Point
 * @typedef {Point & { turn?: string, middle?: boolean }} Place of a spot; at its `middle` all pieces are put
 *
 * A piece on the board. `moves` are the verbs that move it, whatever their words are, and `gone` are the moves that
 * take it off its place. It also leaves with a move whose first word is `leaves`. `shift` is how far beside a place it
 * is put, or beside the piece that carries it.
 * @typedef {Point & { moves: string[], gone: string[], leaves: string, shift: Point, seat?: string }} Piece
 * Only moves of its `seat` move a piece or add one, if it has any.
 *
 * A piece that is drawn already, for moves that begin so. It is put `at` a point, or at the place of the move; where it
 * has a `start`, it is the piece there that goes. Of those with the same `once` only one is put, such as a known tile.
 * Without a place of its own it is put on what was added last by the verb `upon`, such as a figure on a planned tile.
 * @typedef {{ begin: string, seat?: string, at?: Point, start?: Point, once?: string, upon?: string }} Added
 *
 * @typedef {object} Drawing
 * @property {Map<string, Place>} places by the token of the spot
 * @property {Piece[]} pieces
 * @property {Added[]} added
 * @property {Map<string, Point>} [laid] where something was added last, by the verb that did it
 *
 * @typedef {Point & { piece: number, added: number, turn: string }} Step `piece` or `added` is an index, or -1; a piece
 * that is taken off the board has its `turn` as `gone`
 */

const CLOSE = 4; // units between a piece and the place that it is on
export const GONE = "gone";

/**
 * Say whether the first words of a move are these.
 * @type {(move: string, begin: string) => boolean}
 */
export const beginsWith = (move, begin) => `${move} `.startsWith(`${begin} `);

/**
 * Return where the pieces go that a move adds, moves or takes away; empty where the drawing does not tell. Only a move
 * for which no piece is named makes pieces leave the place in its first word.
 * @param {string} move @param {Drawing} drawing @returns {Step[]}
 */
export function planMove(move, drawing) {
  const [verb, ...tokens] = move.split(" ");
  const { pieces, added } = drawing;
  const taken = takeOff(pieces, move);
  const addition = added.findIndex(({ begin }) => beginsWith(move, begin));
  const moved = taken.length ? -1 : pieces.findIndex(({ moves }) => moves.includes(verb));
  if (!taken.length && addition < 0 && moved < 0) {
    return leave(drawing, tokens).flatMap((step) => [step, ...carry(drawing, step)]);
  }
  const goal = findGoal(drawing, tokens);
  return [...taken, ...putAdded(drawing, addition, goal, tokens.at(-1)), ...putPiece(drawing, moved, goal)];
}

/**
 * Return a step for each piece that a move takes off the board.
 * @param {Piece[]} pieces @param {string} move
 */
function takeOff(pieces, move) {
  /** @type {Step[]} */
  const steps = [];
  for (const [piece, { gone, x, y }] of pieces.entries()) {
    if (gone.includes(move)) steps.push({ piece, added: -1, x, y, turn: GONE });
  }
  return steps;
}

/**
 * Return the steps of what a piece carries, which goes with it.
 * @param {Drawing} drawing @param {Step} step of the piece that carries
 */
function carry({ pieces }, step) {
  const carrier = pieces[step.piece];
  /** @type {Step[]} */
  const steps = [];
  for (const [piece, { x, y, shift }] of pieces.entries()) {
    const isShifted = shift.x !== 0 || shift.y !== 0;
    const carriedFrom = { x: x - shift.x, y: y - shift.y };
    if (isShifted && isClose(carriedFrom, carrier)) {
      steps.push({ ...step, piece, x: step.x + shift.x, y: step.y + shift.y });
    }
  }
  return steps;
}

/** @type {(one: Point, other: Point) => boolean} */
const isClose = (one, other) => Math.hypot(one.x - other.x, one.y - other.y) < CLOSE;

/**
 * Return the step that puts what a move adds: at its own point, else at the goal of the move, else on what was added
 * last by the verb that it is put upon. Empty without such a place, or where nothing is added (`index` is -1).
 * @param {Drawing} drawing @param {number} index @param {Place | null} goal
 * @param {string} [last] word of the move, which may be how the piece is turned
 * @returns {Step[]}
 */
function putAdded({ pieces, added, laid }, index, goal, last = "") {
  if (index < 0) return [];
  const { at, start, upon = "" } = added[index];
  const place = at ?? goal ?? laid?.get(upon);
  if (!place) return [];
  const lastTurn = Number(last) >= 0 ? last : "";
  const turn = at ? "" : (goal?.turn ?? lastTurn);
  const piece = start ? findPiece(pieces, start) : -1;
  return [{ piece, added: index, x: place.x, y: place.y, turn }];
}

/**
 * Return the step that puts a piece at a goal; empty without one, or without a piece (`piece` is -1).
 * @param {Drawing} drawing @param {number} piece @param {Place | null | undefined} goal
 * @param {Place | null} start the place that the piece leaves; beside the goal it is as far as beside this
 * @returns {Step[]}
 */
function putPiece({ pieces }, piece, goal, start = null) {
  if (piece < 0 || !goal) return [];
  const { x, y, shift } = pieces[piece];
  const beside = start && !goal.middle ? { x: x - start.x, y: y - start.y } : shift;
  return [{ piece, added: -1, x: goal.x + beside.x, y: goal.y + beside.y, turn: goal.turn ?? "" }];
}

/**
 * Return the steps of the pieces that leave the place in the first word.
 *
 * If the first two words together are the place of one piece, this goes to the place in the third word, and the others
 * that leave with it go to those in the words after it, one each. Otherwise one piece goes to the place in the last
 * word.
 * @param {Drawing} drawing @param {string[]} tokens
 */
function leave(drawing, tokens) {
  const { places, pieces } = drawing;
  const [from = "", second, ...rest] = tokens;
  const start = places.get(from);
  if (!start || second === undefined) return [];
  const own = places.get(`${from} ${second}`);
  if (!own) return putPiece(drawing, findPiece(pieces, start), places.get(tokens[tokens.length - 1]), start);
  const first = findPiece(pieces, own);
  if (first < 0) return [];
  const leaving = [first];
  for (const [piece, { leaves }] of pieces.entries()) {
    if (piece !== first && leaves === from) leaving.push(piece);
  }
  const goals = rest.map((token) => places.get(token));
  return leaving.flatMap((piece, index) => putPiece(drawing, piece, goals[index], start));
}

/**
 * Return the index of the piece at a point; -1 if there is none.
 * @param {Piece[]} pieces @param {Point} at
 */
export const findPiece = (pieces, at) => pieces.findIndex((one) => isClose(one, at));

/**
 * Return the place of the last two words together, else of the last word that has one; null if none has.
 * @param {Drawing} drawing @param {string[]} tokens
 */
export function findGoal({ places }, tokens) {
  for (const name of [tokens.slice(-2).join(" "), ...tokens.toReversed()]) {
    const place = places.get(name);
    if (place) return place;
  }
  return null;
}
