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

/** @type {(move: string, begin: string) => boolean} */
export const beginsWith = (move, begin) => `${move} `.startsWith(`${begin} `);

/**
 * Return where the pieces go that a move adds, moves or takes away; nothing where the drawing does not tell.
 * @param {string} move @param {Drawing} drawing @returns {Step[]}
 */
export function planMove(move, drawing) {
  const [verb, ...tokens] = move.split(" ");
  const { pieces, added } = drawing;
  const goal = findGoal(drawing, tokens);
  const gone = pieces.flatMap((one, piece) => (one.gone.includes(move) ? takeOff(one, piece) : []));
  const addition = added.findIndex(({ begin }) => beginsWith(move, begin));
  const moved = gone.length ? -1 : pieces.findIndex(({ moves }) => moves.includes(verb));
  const steps = [...gone, ...putAdded(drawing, addition, goal, tokens.at(-1)), ...putPiece(drawing, moved, goal)];
  return steps.length || addition >= 0 || moved >= 0
    ? steps
    : leave(drawing, tokens).flatMap((step) => [step, ...carry(drawing, step)]);
}

/** @param {Point} at @param {number} piece @returns {Step[]} */
const takeOff = ({ x, y }, piece) => [{ piece, added: -1, x, y, turn: GONE }];

/**
 * Move what a piece carries with it.
 * @param {Drawing} drawing @param {Step} step @returns {Step[]}
 */
function carry({ pieces }, step) {
  const carrier = pieces[step.piece];
  return pieces.flatMap(({ x, y, shift }, piece) =>
    (shift.x || shift.y) && isClose({ x: x - shift.x, y: y - shift.y }, carrier)
      ? [{ ...step, piece, x: step.x + shift.x, y: step.y + shift.y }]
      : [],
  );
}

/** @type {(one: Point, other: Point) => boolean} */
const isClose = (one, other) => Math.hypot(one.x - other.x, one.y - other.y) < CLOSE;

/**
 * @param {Drawing} drawing @param {number} added @param {Place | null} goal
 * @param {string} [last] word of the move, which may be how the piece is turned
 * @returns {Step[]}
 */
function putAdded({ pieces, added: all, laid }, added, goal, last = "") {
  const { at = goal ?? laid?.get(all[added]?.upon ?? ""), start } = all[added] ?? {};
  if (added < 0 || !at) return [];
  const piece = start ? findPiece(pieces, start) : -1;
  const turn = (all[added].at ? "" : goal?.turn) ?? (Number(last) >= 0 ? last : "");
  return [{ piece, added, x: at.x, y: at.y, turn }];
}

/**
 * @param {Drawing} drawing @param {number} piece @param {Place | null | undefined} goal
 * @param {Place | null} start the place that the piece leaves; beside the goal it is as far as beside this
 * @returns {Step[]}
 */
function putPiece({ pieces }, piece, goal, start = null) {
  if (piece < 0 || !goal) return [];
  const { x, y, shift } = pieces[piece];
  const [right, down] = start && !goal.middle ? [x - start.x, y - start.y] : [shift.x, shift.y];
  return [{ piece, added: -1, x: goal.x + right, y: goal.y + down, turn: goal.turn ?? "" }];
}

/**
 * Move the piece on the first place to the next one, and those that leave with it to the place after that.
 * @param {Drawing} drawing @param {string[]} tokens
 */
function leave(drawing, tokens) {
  const { places, pieces } = drawing;
  const [from = "", ...rest] = tokens;
  const start = places.get(from);
  if (!start || !rest.length) return [];
  const joined = places.get(`${from} ${rest[0]}`);
  const goals = (joined ? rest.slice(1) : rest.slice(-1)).map((token) => places.get(token));
  const first = findPiece(pieces, joined ?? start);
  const others = pieces.flatMap(({ leaves }, index) => (index !== first && joined && leaves === from ? [index] : []));
  const leaving = first < 0 ? [] : [first, ...others];
  return leaving.flatMap((piece, index) => putPiece(drawing, piece, goals[index], start));
}

/** @param {Piece[]} pieces @param {Point} at */
export const findPiece = (pieces, at) => pieces.findIndex((one) => isClose(one, at));

/**
 * Return the place of the last words that have one.
 * @param {Drawing} drawing @param {string[]} tokens
 */
export function findGoal({ places }, tokens) {
  const names = [tokens.slice(-2).join(" "), ...tokens.toReversed()];
  const name = names.find((one) => places.has(one));
  return name === undefined ? null : (places.get(name) ?? null);
}
