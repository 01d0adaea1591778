// A move on the board before its verdict: its pieces are shown where they go, until the answer draws the world anew.

import { beginsWith, GONE, planMove } from "./pending.js";

/** @typedef {import("./pending.js").Place} Place */
/** @typedef {import("./pending.js").Piece} Piece */
/** @typedef {"planned" | "pending" | "ordered"} Look `pending` moves are sent, `ordered` ones are made later */

/** @param {string} [text] two numbers; (0, 0) without it */
function parsePoint(text = "0 0") {
  const [x, y] = text.split(" ").map(Number);
  return { x, y };
}

/**
 * Return where a piece or a spot is, in units of the drawing.
 * @param {SVGGraphicsElement} one
 */
export function findOrigin(one) {
  const matrix = one.transform.baseVal.consolidate()?.matrix;
  return { x: matrix?.e ?? 0, y: matrix?.f ?? 0 };
}

/**
 * Return the name and the place of what can be touched, or only be named, such as a tile that was laid. All pieces are
 * put in the middle of one that cannot be touched, or that says at which point of it pieces are put.
 * @param {SVGGraphicsElement} one @returns {[string, Place]}
 */
function readPlace(one) {
  const { token, place = "", point, turn } = one.dataset;
  const at = point ? parsePoint(point) : findOrigin(one);
  const middle = point !== undefined || token === undefined;
  return [token ?? place, { ...at, turn, middle }];
}

/** @param {SVGGraphicsElement} one @returns {Piece} */
function readPiece(one) {
  const { moves = "", gone = "", leaves = "", shift, seat } = one.dataset;
  return {
    ...findOrigin(one),
    moves: moves.split(" "),
    gone: gone.split("|").filter(Boolean),
    leaves,
    shift: parsePoint(shift),
    seat,
  };
}

/** @param {SVGGraphicsElement} one @returns {import("./pending.js").Added} */
function readAdded({ dataset }) {
  const { plan = "", seat, point, start, once, upon } = dataset;
  return {
    begin: dataset.new ?? plan,
    seat,
    at: point ? parsePoint(point) : undefined,
    start: start ? parsePoint(start) : undefined,
    once,
    upon,
  };
}

/**
 * Draw a copy of a piece where it goes, and return it. The copy of a pending move keeps its kind, to glide from there.
 * @param {SVGGraphicsElement} piece @param {import("./pending.js").Step} step @param {Look} look
 */
export function drawGoing(piece, { x, y, turn }, look) {
  const going = /** @type {SVGGraphicsElement} */ (piece.cloneNode(true));
  for (const name of going.getAttributeNames()) {
    if (name.startsWith("data-") || name === "display") going.removeAttribute(name);
  }
  going.setAttribute("transform", `translate(${x.toFixed(1)} ${y.toFixed(1)})`);
  if (turn) going.querySelector("[transform^=rotate]")?.setAttribute("transform", `rotate(${turn})`);
  going.setAttribute("class", `piece ${look}`);
  if (look === "pending") going.dataset.goes = piece.dataset.piece ?? "";
  piece.parentNode?.append(going);
  return going;
}

/**
 * Return the drawn pieces, those that moves may add, and where all of them are.
 * @param {Element} world @param {string} [adding] marks those that moves may add
 */
export function readDrawing(world, adding = "[data-new]") {
  /** @param {string} selector */
  const all = (selector) => /** @type {SVGGraphicsElement[]} */ ([...world.querySelectorAll(selector)]);
  const [pieces, added] = [all("[data-piece]"), all(adding)];
  const drawing = {
    places: new Map([...all("[data-place][transform]"), ...all("[data-token]")].map(readPlace)),
    pieces: pieces.map(readPiece),
    added: added.map(readAdded),
  };
  return { pieces, added, drawing };
}

/**
 * Return the elements which show that moves have results which only the server knows, such as a die.
 * @param {string[]} moves
 */
const findResults = (moves) =>
  [.../** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-result]"))].filter(({ dataset }) =>
    moves.some((move) => beginsWith(move, dataset.result ?? "")),
  );

/**
 * Return the class of a piece that leaves its place. From a pending move its copy glides on into the world of the
 * answer, and not the piece, which has `left`.
 * @param {import("./pending.js").Step} step @param {Look} look
 */
const nameLeaving = ({ turn }, look) => (look === "pending" && turn !== GONE ? "left" : "leaving");

/**
 * Show the pieces of moves where they go; return a function that takes that back.
 * @param {Element} world @param {string[]} moves in order @param {Look} look @returns {() => void}
 */
export function showPieces(world, moves, look) {
  const { pieces, added, drawing } = readDrawing(world);
  const steps = moves.flatMap((move) => planMove(move, drawing));
  const going = steps.filter(({ turn }) => turn !== GONE);
  const copies = going.map((step) => drawGoing(added[step.added] ?? pieces[step.piece], step, look));
  /** @type {{ element: Element, name: string }[]} the classes that are added */
  const classes = [];
  for (const element of world.querySelectorAll("[data-ghost]")) classes.push({ element, name: look });
  for (const step of steps) {
    if (step.piece >= 0) classes.push({ element: pieces[step.piece], name: nameLeaving(step, look) });
  }
  const results = look === "pending" ? findResults(moves) : [];
  for (const element of results) classes.push({ element, name: "rolling" });
  for (const { element, name } of classes) element.classList.add(name);
  return () => {
    for (const copy of copies) copy.remove();
    for (const { element, name } of classes) element.classList.remove(name);
  };
}
