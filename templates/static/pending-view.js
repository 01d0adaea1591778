// A move on the board before its verdict: its pieces are shown where they go, until the answer draws the world anew.

import { beginsWith, GONE, planMove } from "./pending.js";

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

/**
 * Return the name and the place of what can be touched, or only be named, such as a tile that was laid.
 * @param {SVGGraphicsElement} one @returns {[string, Place]}
 */
function readPlace(one) {
  const { token, place = "", point, turn } = one.dataset;
  const middle = point !== undefined || token === undefined;
  return [token ?? place, { ...(point ? parsePoint(point) : findOrigin(one)), turn, middle }];
}

/** @param {SVGGraphicsElement} one @returns {Piece} */
function readPiece(one) {
  const { moves = "", gone, leaves = "", shift, seat } = one.dataset;
  const takes = gone ? gone.split("|") : [];
  return { ...findOrigin(one), moves: moves.split(" "), gone: takes, leaves, shift: parsePoint(shift), seat };
}

/** @param {SVGGraphicsElement} one @returns {import("./pending.js").Added} */
function readAdded({ dataset: { new: own, plan = "", seat, point, start, once, upon } }) {
  const [at, from] = [point, start].map((text) => (text ? parsePoint(text) : undefined));
  return { begin: own ?? plan, seat, at, start: from, once, upon };
}

/**
 * Draw a piece where it goes.
 * @param {SVGGraphicsElement} piece @param {import("./pending.js").Step} step @param {Look} look
 */
export function drawGoing(piece, { x, y, turn }, look) {
  const going = /** @type {SVGGraphicsElement} */ (piece.cloneNode(true));
  for (const name of [...going.getAttributeNames()].filter((one) => /^d(ata-|isplay)/.test(one)))
    going.removeAttribute(name);
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
 * Return what shows that moves have results which only the server knows, such as a die.
 * @param {string[]} moves
 */
const findResults = (moves) =>
  [.../** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-result]"))].filter(({ dataset }) =>
    moves.some((move) => beginsWith(move, dataset.result ?? "")),
  );

/**
 * Show the pieces of moves where they go; return what takes that back.
 * @param {Element} world @param {string[]} moves in order @param {Look} look @returns {() => void}
 */
export function showPieces(world, moves, look) {
  const { pieces, added, drawing } = readDrawing(world);
  const steps = moves.flatMap((move) => planMove(move, drawing));
  const going = steps.filter(({ turn }) => turn !== GONE);
  const drawn = going.map((step) => drawGoing(added[step.added] ?? pieces[step.piece], step, look));
  const marked = [
    ...[...world.querySelectorAll("[data-ghost]")].map((ghost) => ({ one: ghost, name: look })),
    ...steps.flatMap(({ piece, turn }) =>
      pieces[piece] ? { one: pieces[piece], name: look !== "pending" || turn === GONE ? "leaving" : "left" } : [],
    ),
    ...(look === "pending" ? findResults(moves) : []).map((result) => ({ one: result, name: "rolling" })),
  ];
  for (const { one, name } of marked) one.classList.add(name);
  return () => {
    for (const one of drawn) one.remove();
    for (const { one, name } of marked) one.classList.remove(name);
  };
}
