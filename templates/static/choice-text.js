// A choice in words: what is chosen so far, what can be done, and the names of spots and buttons. No DOM.

import { followers, isBegun, living } from "./choice.js";
import { unique } from "./menu.js";

/**
 * @typedef {import("./choice.js").State} State
 * @typedef {import("./menu.js").Entry} Entry
 *
 * @typedef {object} Words sentences in the reader's language
 * @property {string} touch
 * @property {string} colon
 * @property {string} whole
 * @property {string} turn
 * @property {string} can
 * @property {string} chosen
 * @property {string} not
 */

/** @param {State} state @param {string} verb @param {string} token */
const tokenText = ({ offer }, verb, token) => offer.labels[verb]?.tokens[token] ?? token;

/** @param {State} state @param {string} verb */
const verbText = ({ offer }, verb) => offer.labels[verb]?.verb ?? verb;

/**
 * Return the move of an entry as far as it is chosen. Where a piece lies as a ghost, its place is seen and not named.
 * @param {State} state @param {Entry} entry @param {Words} words
 */
function moveText(state, { verb, items }, words) {
  const named = verb === state.ghost ? [] : state.tokens.map((token) => tokenText(state, verb, token));
  const rest = named.length ? `${words.colon} ${named.join(items ? ", " : " → ")}` : "";
  return verbText(state, verb) + rest;
}

/**
 * Return what is chosen so far, which may mean several moves; empty if nothing is.
 * @param {State} state @param {Words} words @returns {string}
 */
export function chosenText(state, words) {
  const { first, verb, tokens } = state;
  if (!isBegun(state)) return "";
  const isEmpty = first && verb === null && !tokens.length;
  const own = isEmpty ? "" : unique(living(state).map((entry) => moveText(state, entry, words))).join(" / ");
  return [first && chosenText(first, words), own].filter(Boolean).join("; ");
}

/**
 * Return what can be done, before anything is chosen.
 * @param {State} state @param {Words} words
 */
export function menuText(state, words) {
  const verbs = unique(state.offer.menu.map(({ verb }) => verbText(state, verb))).join(" · ");
  const isJoined = state.spots.some((spot) => spot.token.includes(" "));
  const drawn = new Set(state.spots.map((spot) => spot.token));
  const canTouch = followers(state).some((token) => isJoined || drawn.has(token));
  return canTouch ? `${verbs}. ${words.touch}` : verbs;
}

/**
 * Return the text of a button.
 * @param {State} state @param {import("./choice.js").Button} button @param {Words} words
 */
export function buttonText(state, { kind, verb, token }, words) {
  if (kind === "turn") return `⟳ ${words.turn}`;
  if (kind === "token") return tokenText(state, verb, token);
  const entry = kind === "move" && living(state).find((one) => one.verb === verb);
  return entry ? moveText(state, entry, words) : verbText(state, verb);
}

/**
 * Return the text of the button that sends the move: its verb where what is chosen could also become another move.
 * @param {State} state @param {Entry[]} complete @param {Words} words
 */
export function confirmText(state, complete, words) {
  const isOneOfSeveral = complete.length === 1 && living(state).length > 1 && !state.first;
  return isOneOfSeveral ? verbText(state, complete[0].verb) : words.whole;
}

/**
 * Return the name of a spot, with what lies on it.
 * @param {State} state @param {string} token @param {string} what
 */
export function spotText(state, token, what = "") {
  const last = token.split(" ").at(-1) ?? "";
  const entry = state.offer.menu.find(({ verb }) => state.offer.labels[verb]?.tokens[last] !== undefined);
  const name = entry ? tokenText(state, entry.verb, last) : verbText(state, last);
  return what ? `${what}, ${name}` : name;
}

/**
 * Return why a spot cannot be chosen now, and the paragraph of the rules that says so, or an empty one.
 * @param {State} state @param {string} name @param {Words} words
 */
export function refusalText(state, name, words) {
  const entry = living(state)[0] ?? state.offer.menu[0];
  return { text: words.not.replace("{what}", name), rule: state.offer.rules?.[entry.verb] ?? "" };
}
