// A move on the board before its verdict: its pieces are shown where they go, until the answer draws the world anew.

import { planMove } from "./pending.js";

/** @typedef {import("./pending.js").Place} Place */
/** @typedef {import("./pending.js").Piece} Piece */
/** @typedef {"planned" | "pending" | "ordered"} Look `pending` moves are sent, `ordered` ones are made later */

/** @param {string} [text] two numbers */
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

/** @param {SVGGraphicsElement} one @returns {Place} */
function readPlace(one) {
  const { point, turn } = one.dataset;
  return { ...(point ? parsePoint(point) : findOrigin(one)), turn, middle: point !== undefined };
}

/** @param {SVGGraphicsElement} one @returns {Piece} */
function readPiece(one) {
  const { moves = "", leaves = "", shift } = one.dataset;
  return { ...findOrigin(one), moves: moves.split(" "), leaves, shift: parsePoint(shift) };
}

/**
 * Draw a piece where it goes.
 * @param {SVGGraphicsElement} piece @param {import("./pending.js").Step} step @param {Look} look
 */
export function drawGoing(piece, { x, y, turn }, look) {
  const going = /** @type {SVGGraphicsElement} */ (piece.cloneNode(true));
  for (const name of ["data-piece", "data-new", "data-place", "data-moves", "data-drag", "display"])
    going.removeAttribute(name);
  going.setAttribute("transform", `translate(${x.toFixed(1)} ${y.toFixed(1)})`);
  if (turn) going.querySelector("[transform^=rotate]")?.setAttribute("transform", `rotate(${turn})`);
  going.setAttribute("class", `piece ${look}`);
  piece.parentNode?.append(going);
  return going;
}

/**
 * Return the drawn pieces, those that moves may add, and where all of them are.
 * @param {Element} world
 */
export function readDrawing(world) {
  /** @param {string} selector */
  const all = (selector) => /** @type {SVGGraphicsElement[]} */ ([...world.querySelectorAll(selector)]);
  const [pieces, added] = [all("[data-piece]"), all("[data-new]")];
  const drawing = {
    places: new Map(all("[data-token]").map((spot) => [spot.dataset.token ?? "", readPlace(spot)])),
    pieces: pieces.map(readPiece),
    added: added.map((one) => one.dataset.new ?? ""),
  };
  return { pieces, added, drawing };
}

/**
 * Show the pieces of moves where they go; return what takes that back.
 * @param {Element} world @param {string[]} moves in order @param {Look} look @returns {() => void}
 */
export function showPieces(world, moves, look) {
  const { pieces, added, drawing } = readDrawing(world);
  const ghosts = [...world.querySelectorAll("[data-ghost]")];
  for (const ghost of ghosts) ghost.classList.add(look);
  const steps = moves.flatMap((move) => planMove(move, drawing));
  const drawn = steps.map((step) => drawGoing(pieces[step.piece] ?? added[step.added], step, look));
  const leaving = steps.flatMap(({ piece }) => pieces[piece] ?? []);
  for (const piece of leaving) piece.classList.add("leaving");
  return () => {
    for (const one of drawn) one.remove();
    for (const piece of leaving) piece.classList.remove("leaving");
    for (const ghost of ghosts) ghost.classList.remove(look);
  };
}
