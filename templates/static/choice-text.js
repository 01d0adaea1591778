// A choice in words: what is chosen so far, what can be done, and the names of spots and buttons. No DOM.

import { findNextTokens, findPossible, isBegun } from "./choice.js";
import { dedupe, isBare } from "./menu.js";

/**
 * @typedef {import("./choice.js").State} State
 * @typedef {import("./menu.js").Entry} Entry
 *
 * Why a spot cannot be chosen: it is in no move, it comes later in a move, or another choice excludes it.
 * @typedef {"never" | "later" | "other"} Obstacle
 *
 * @typedef {object} Words sentences in the reader's language
 * @property {string} touch where something on the board can be touched
 * @property {string} colon with the blank that the language puts before it
 * @property {string} whole on the button that sends a move
 * @property {string} turn on the button that turns the ghost
 * @property {string} undo on the button that stops a move before it is sent
 * @property {string} can of a spot that can be chosen
 * @property {string} chosen of a spot that is chosen
 * @property {Record<Obstacle, string>} not why a spot cannot be chosen
 */

/** @param {State} state @param {string} verb @param {string} token */
const labelToken = ({ labels }, verb, token) => labels[verb]?.tokens[token] ?? token;

/** @param {State} state @param {string} verb */
const labelVerb = ({ labels }, verb) => labels[verb]?.verb ?? verb;

/**
 * Return the move of an entry as far as it is chosen. Where a piece lies as a ghost, its place is seen and not named.
 * @param {State} state @param {Entry} entry @param {Words} words
 */
function describeMove(state, { verb, items }, words) {
  const named = verb === state.ghost ? [] : state.tokens.map((token) => labelToken(state, verb, token));
  const rest = named.length ? `${words.colon} ${named.join(items ? ", " : " → ")}` : "";
  return labelVerb(state, verb) + rest;
}

/**
 * Return what is chosen so far, which may mean several moves; empty if nothing is.
 * @param {State} state @param {Words} words @returns {string}
 */
export function describeChoice(state, words) {
  const { first, verb, tokens } = state;
  if (!isBegun(state)) return "";
  const isSecondEmpty = first !== null && verb === null && !tokens.length;
  const own = isSecondEmpty
    ? describeNext(state)
    : findPossible(state).map((entry) => describeMove(state, entry, words));
  const firstMove = first ? describeChoice(first, words) : "";
  return [firstMove, dedupe(own).join(" / ")].filter(Boolean).join("; ");
}

/**
 * Return in words where the ghost lies and how it is turned, for readers who do not see it; empty without a ghost.
 * @param {State} state @param {string[]} ghost
 */
export const describeGhost = ({ labels, ghost: verb }, ghost) =>
  ghost.map((token) => labels[verb ?? ""]?.tokens[token] ?? token).join(", ");

/**
 * Return what can be touched for the second of two moves: a verb alone is a button.
 * @param {State} state
 */
const describeNext = (state) =>
  state.menu.filter((entry) => !isBare(entry)).map(({ verb }) => `${labelVerb(state, verb)}\u00a0…`);

/**
 * Return what can be done before anything is chosen, and that it can be touched if a spot begins a move.
 * @param {State} state @param {Words} words
 */
export function describeMenu(state, words) {
  const verbs = dedupe(state.menu.map(({ verb }) => labelVerb(state, verb))).join(" · ");
  const hasJoined = state.spots.some((spot) => spot.token.includes(" ")); // whose tokens are no spots of their own
  const drawn = new Set(state.spots.map((spot) => spot.token));
  const canTouch = findNextTokens(state).some((token) => hasJoined || drawn.has(token));
  return canTouch ? `${verbs}. ${words.touch}` : verbs;
}

/**
 * Return the text of a button.
 * @param {State} state @param {import("./choice.js").Button} button @param {Words} words
 */
export function labelButton(state, { kind, verb, token }, words) {
  if (kind === "turn") return `⟳ ${words.turn}`;
  if (kind === "token") return labelToken(state, verb, token);
  if (kind === "verb" || kind === "end") return labelVerb(state, verb);
  const entry = findPossible(state).find((one) => one.verb === verb);
  return entry ? describeMove(state, entry, words) : labelVerb(state, verb);
}

/**
 * Return the text of the button that sends the move: its verb where what is chosen could also become another move.
 * @param {State} state @param {Entry[]} complete @param {Words} words
 */
export function labelConfirm(state, complete, words) {
  const isOneOfSeveral = complete.length === 1 && findPossible(state).length > 1 && !state.first;
  return isOneOfSeveral ? labelVerb(state, complete[0].verb) : words.whole;
}

/**
 * Return the name of a spot, with what lies on it.
 * @param {State} state @param {string} token @param {string} what
 */
export function nameSpot(state, token, what = "") {
  const last = token.split(" ").at(-1) ?? "";
  const entry = state.menu.find(({ verb }) => state.labels[verb]?.tokens[last] !== undefined);
  const name = entry ? labelToken(state, entry.verb, last) : labelVerb(state, last);
  return what ? `${what}, ${name}` : name;
}

/**
 * Return why a spot cannot be chosen now.
 * @param {State} state @param {import("./choice.js").Spot} spot @returns {Obstacle}
 */
function findObstacle(state, spot) {
  /** @type {(row: string[]) => boolean} */
  const containsSpot = (row) => spot.token.split(" ").every((word) => row.includes(word));
  const rows = state.menu.flatMap(({ options, items }) => options ?? [items ?? []]);
  if (!rows.some(containsSpot)) return "never";
  return state.tokens.length ? "other" : "later";
}

/**
 * Return in words why a spot cannot be chosen now, and the paragraph of the rules that says so; empty if there is none.
 * @param {State} state @param {import("./choice.js").Spot} spot @param {Words} words
 */
export function explainRefusal(state, spot, words) {
  const entry = findPossible(state)[0] ?? state.menu[0];
  return { text: words.not[findObstacle(state, spot)], rule: state.rules?.[entry.verb] ?? "" };
}
