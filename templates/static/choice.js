// What has been chosen of a move so far, as a value: no DOM, no time, no fetch.
//
// `start` makes the first state, `touch` and `press` the next ones, and `offers` says what the page shows of a state.

import { dedupe, findNext, findRows, fits, isBare, isWhole } from "./menu.js";

/**
 * @typedef {import("./menu.js").Entry} Entry
 *
 * A thing on the page that can be touched. `token` is a verb, one token, or several with blanks between, which are
 * chosen together. An `early` one may be touched before its turn in the words.
 * @typedef {{ token: string, early?: boolean }} Spot
 *
 * @typedef {object} Menu what the server says of the moves of a seat
 * @property {Entry[]} menu
 * @property {Record<string, { verb: string, tokens: Record<string, string> }>} labels by verb
 * @property {Record<string, string>} [rules] the paragraph of the rules, by verb
 *
 * @typedef {object} State
 * @property {Entry[]} menu
 * @property {Menu["labels"]} labels
 * @property {Menu["rules"]} rules
 * @property {Spot[]} spots
 * @property {string | null} ghost the verb whose piece is shown where it would lie; a touch there turns it
 * @property {string | null} verb
 * @property {string[]} tokens chosen so far, in the order of the words
 * @property {string | null} early the token that was touched before its turn
 * @property {string | null} turned the turn that the ghost was given last
 * @property {State | null} first the whole move before this one, where two are made in order
 * @property {Spot | null} refused the spot that was touched last, if it cannot be chosen now
 *
 * @typedef {Partial<Pick<State, "verb" | "tokens" | "early" | "turned">>} Step
 * @typedef {{ kind: "turn" | "token" | "verb" | "move" | "end", verb: string, token: string }} Button
 * An `end` makes a second move without any token, and sends both.
 * @typedef {{ lit: boolean, chosen: boolean }} Mark
 *
 * @typedef {object} Offers what the page shows of a state
 * @property {Map<Spot, Mark>} marks
 * @property {Button[]} buttons that are needed
 * @property {Entry[]} complete the entries of which a move is whole
 * @property {boolean} isFinal whether exactly one move is whole, and nothing can be added to it or turned
 * @property {boolean} canConfirm whether one button sends the moves; a button of kind `move` or `end` sends by itself
 * @property {string[]} moves to send, in order: one, or two where a second is chosen; each is empty until it is whole
 * @property {string[]} ghost where the ghost lies and how it is turned; empty where it is not shown
 */

/**
 * Return the state before anything is touched, or with the words of a move that is already begun.
 * @param {Menu} menu @param {Spot[]} spots @param {string | null} ghost @param {string[]} words
 * @returns {State}
 */
export function start({ menu, labels, rules }, spots, ghost = null, words = []) {
  const [verb = null, ...tokens] = words;
  const untouched = { early: null, turned: null, first: null, refused: null };
  return { menu, labels, rules, spots, ghost, verb, tokens, ...untouched };
}

/**
 * Return the state in which a second move is chosen; the first one is whole, and both are sent in order.
 * @param {State} first @param {Menu} menu @param {Spot[]} spots @returns {State}
 */
export const chain = (first, menu, spots) => ({ ...start(menu, spots, first.ghost), first });

/**
 * Return the state after a spot is touched. A spot of the first of two moves returns to that move.
 * @param {State} state @param {Spot} spot @returns {State}
 */
export function touch(state, spot) {
  if (state.first?.spots.includes(spot)) return touch(state.first, spot);
  if (findGhostEntry(state) && spot.token === state.tokens[0]) return turn(state);
  const step = findStep(state, spot);
  if (step) return take(state, step);
  return replace(state, spot) ?? { ...state, refused: spot };
}

/**
 * Return the state after a button of `offers` is pressed; the same one for a `move`, which is whole already.
 * @param {State} state @param {Button} button @returns {State}
 */
export function press(state, { kind, verb, token }) {
  if (kind === "turn") return turn(state.first ?? state);
  if (kind === "token") return take(state, { tokens: [...state.tokens, token] });
  return kind === "move" ? state : take(state, { verb });
}

/**
 * Return the state with nothing chosen.
 * @param {State} state @returns {State}
 */
export const reset = (state) => change(state.first ?? state, { verb: null, tokens: [], early: null });

/**
 * Return what can be chosen again on a later page with `resume`; of two moves that is the first.
 * @param {State} state
 */
export function save(state) {
  const { verb, tokens, early } = state.first ?? state;
  return { verb, tokens, early };
}

/**
 * Return the state with what was saved, or the same state if the menu no longer allows that.
 * @param {State} state @param {ReturnType<typeof save>} saved @returns {State}
 */
export function resume(state, saved) {
  const next = change(state, saved);
  return findPossible(next).length ? next : state;
}

/**
 * Say whether anything is chosen.
 * @param {State} state
 */
export const isBegun = ({ verb, tokens, early, first }) =>
  Boolean(tokens.length) || [verb, early, first].some((one) => one !== null);

/**
 * Return the entries of which a move can still be made.
 * @param {State} state @returns {Entry[]}
 */
export const findPossible = (state) => findEntries(state).filter((entry) => fits(entry, state.tokens, state.early));

/**
 * Return the tokens that may follow what is chosen.
 * @param {State} state
 */
export const findNextTokens = (state) =>
  dedupe(findPossible(state).flatMap((entry) => findNext(entry, state.tokens, state.early)));

/**
 * Return what the page shows of a state.
 * @param {State} state @returns {Offers}
 */
export function offers(state) {
  const { first, spots } = state;
  /** @type {Map<Spot, Mark>} */
  const marks = new Map();
  for (const spot of [...(first?.spots ?? []), ...spots]) marks.set(spot, findMark(state, spot));
  const complete = findWhole(state);
  const isOnly = complete.length === 1 && findPossible(state).length === 1;
  const isFinal = isOnly && !findNextTokens(state).length && !findGhostEntry(state);
  const moves = (first ? [first, state] : [state]).map(formatMove);
  const buttons = listButtons(state);
  const firstIsEnough = first !== null && buttons.every(({ kind }) => kind !== "end"); // it may be sent alone
  const canConfirm = complete.length === 1 || firstIsEnough;
  return { marks, buttons, complete, isFinal, canConfirm, moves, ghost: findGhost(state) };
}

/**
 * Return where the ghost lies and how it is turned; nothing where it is not shown.
 * @param {State} state @returns {string[]}
 */
function findGhost(state) {
  const base = state.first ?? state;
  return findGhostEntry(base) ? base.tokens : [];
}

/**
 * Return the move that is chosen; empty unless exactly one is whole.
 * @param {State} state
 */
function formatMove(state) {
  const complete = findWhole(state);
  return complete.length === 1 ? [complete[0].verb, ...state.tokens].join(" ") : "";
}

/**
 * Return the entries of which what is chosen is a whole move.
 * @param {State} state
 */
function findWhole(state) {
  if (state.early !== null || (state.verb === null && !state.tokens.length)) return [];
  return findPossible(state).filter((entry) => isWhole(entry, state.tokens));
}

/**
 * Return whether touching a spot now chooses it or turns the ghost on it, and whether it is chosen.
 * @param {State} state @param {Spot} spot @returns {Mark}
 */
function findMark(state, spot) {
  if (state.first?.spots.includes(spot)) return findMark(state.first, spot);
  const chosen = isChosen(state, spot);
  const turnsGhost = chosen && findGhostEntry(state) !== null && spot.token === state.tokens[0];
  return { lit: turnsGhost || findStep(state, spot) !== null, chosen };
}

/**
 * Say whether the tokens of a spot are chosen, or its verb alone. The blanks around them keep a token from being found
 * within another one.
 * @param {State} state @param {Spot} spot
 */
function isChosen({ verb, tokens, early }, spot) {
  const words = ` ${tokens.join(" ")} ${early ?? ""} `;
  return words.includes(` ${spot.token} `) || (!tokens.length && verb === spot.token);
}

/**
 * Return the entries of the chosen verb; all before one is chosen.
 * @param {State} state
 */
const findEntries = ({ menu, verb }) => menu.filter((entry) => verb === null || entry.verb === verb);

/**
 * Return the entry whose piece is shown as a ghost; null where none is. The first of two moves keeps its ghost.
 * @param {State} state @returns {Entry | null}
 */
function findGhostEntry(state) {
  if (state.first || state.ghost === null || !state.tokens.length) return null;
  return findPossible(state).find((entry) => entry.verb === state.ghost) ?? null;
}

/**
 * Return how the ghost may be turned where it lies; empty where it is not shown.
 * @param {State} state
 */
function findTurns(state) {
  const entry = findGhostEntry(state);
  return entry ? findNext(entry, state.tokens.slice(0, 1)) : [];
}

/** @param {State} state @param {Step} step @returns {State} */
const change = (state, step) => ({ ...state, refused: null, ...step });

/**
 * Return what touching a spot would choose, or null if it cannot be chosen now.
 * @param {State} state @param {Spot} spot @returns {Step | null}
 */
function findStep(state, spot) {
  const words = spot.token.split(" ");
  const step = words.length > 1 ? findJoinedStep(state, words) : findSingleStep(state, words[0]);
  if (step || !spot.early || state.early !== null) return step;
  return findEntries(state).some((entry) => findRows(entry, state.tokens, words[0]).length)
    ? { early: words[0] }
    : null;
}

/** @param {State} state @param {string} token a verb or one token of a move @returns {Step | null} */
function findSingleStep(state, token) {
  const { menu, verb, tokens, early } = state;
  if (!tokens.length && verb === null && menu.some((entry) => entry.verb === token)) return { verb: token };
  const follows = findPossible(state).some(
    (entry) => findNext(entry, tokens, early).includes(token) && !isPartOfSpots(state, entry, token),
  );
  return follows ? { tokens: [...tokens, token] } : null;
}

/**
 * Return the step of a spot with several tokens, of which the first ones may be chosen already.
 * @param {State} state @param {string[]} words @returns {Step | null}
 */
function findJoinedStep(state, words) {
  for (let overlap = words.length - 1; overlap >= 0; overlap -= 1) {
    const last = overlap ? state.tokens.slice(-overlap) : [];
    const tokens = [...state.tokens, ...words.slice(overlap)];
    const joins = last.join(" ") === words.slice(0, overlap).join(" ");
    if (joins && findPossible(state).some((entry) => fits(entry, tokens, state.early))) return { tokens };
  }
  return null;
}

/** Return the tokens of each spot that has several, with blanks between. @param {State} state */
const listJoined = (state) => state.spots.map((spot) => spot.token).filter((token) => token.includes(" "));

/**
 * Say whether everything that may come after this token is touched together with it, so that it is not touched alone.
 * @param {State} state @param {Entry} entry @param {string} token
 */
function isPartOfSpots(state, entry, token) {
  const joined = listJoined(state);
  const rows = findRows(entry, [...state.tokens, token], state.early);
  const ends = rows.map((row) => row.slice(state.tokens.length).join(" "));
  return ends.length > 0 && ends.every((end) => joined.some((words) => `${end} `.startsWith(`${words} `)));
}

/**
 * Return the state after a step: a new ghost is turned as the last one was, or else in the first way that fits, and
 * what needs no choice is added.
 * @param {State} state @param {Step} step @returns {State}
 */
function take(state, step) {
  const next = change(state, step);
  if (next.early !== null && next.tokens.includes(next.early)) next.early = null;
  const turns = next.tokens.length === 1 ? findTurns(next) : [];
  if (!turns.length) return fillIn(next);
  const turned = turns.find((one) => one === state.turned) ?? turns[0];
  return fillIn(change(next, { tokens: [...next.tokens, turned] }));
}

/**
 * Add what needs no choice: the only token that can follow, and the tokens before one that was touched early.
 * @param {State} state @returns {State}
 */
function fillIn(state) {
  const { tokens, early } = state;
  const entries = findPossible(state);
  const nextTokens = findNextTokens(state);
  if (entries.some((entry) => isWhole(entry, tokens))) return state;
  if (early !== null) {
    const [row] = entries.flatMap((entry) => findRows(entry, tokens, early));
    const place = row.indexOf(early, tokens.length);
    return fillIn(change(state, { tokens: row.slice(0, place + 1), early: null }));
  }
  if (!tokens.length || nextTokens.length !== 1 || entries.some((entry) => entry.items)) return state;
  return fillIn(change(state, { tokens: [...tokens, nextTokens[0]] }));
}

/**
 * Return the state with the ghost turned to the next way in which it fits.
 * @param {State} state @returns {State}
 */
function turn(state) {
  const turns = findTurns(state);
  const turned = turns[(turns.indexOf(state.tokens[1]) + 1) % turns.length];
  return change(state, { tokens: [state.tokens[0], turned], turned });
}

/**
 * Say whether a spot is what was chosen last.
 * @param {State} state @param {Spot} spot
 */
export const isLast = (state, spot) =>
  isChosen(state, spot) && state.tokens.length > 0 && state.tokens.at(-1) === spot.token.split(" ").at(-1);

/**
 * Return the state after a spot is touched that cannot follow what is chosen: it is given up if it was chosen, or it
 * takes the place of the last tokens, as few as possible. Return null if it can take no place.
 * @param {State} state @param {Spot} spot @returns {State | null}
 */
function replace(state, spot) {
  const { tokens } = state;
  const [word] = spot.token.split(" ");
  // Of items, which have no order, each can be given up; of words in order only the last.
  if (tokens.includes(word) && findPossible(state).some((entry) => entry.items)) {
    return change(state, { tokens: tokens.toSpliced(tokens.lastIndexOf(word), 1) });
  }
  if (isLast(state, spot)) return change(state, { tokens: tokens.slice(0, -1), early: null });
  // It may have been possible a few tokens earlier.
  for (let length = tokens.length - 1; length >= 0; length -= 1) {
    const shorter = change(state, { tokens: tokens.slice(0, length), early: null });
    const step = findStep(shorter, spot);
    if (step) return take(shorter, step);
  }
  if (tokens.length || (state.verb === null && state.early === null)) return null;
  // Only a verb or an early token is chosen: it is given up in any case.
  const empty = change(state, { verb: null, early: null });
  const step = findStep(empty, spot);
  return step ? take(empty, step) : empty;
}

/**
 * Return the buttons for what has no spot, for whole moves where there are several, and for turning the ghost.
 * @param {State} state @returns {Button[]}
 */
function listButtons(state) {
  if (findGhostEntry(state)) return listTurns(state);
  const complete = findWhole(state);
  const wholes = complete.length > 1 ? complete.map(({ verb }) => makeButton("move", verb)) : [];
  return [...listTurns(state.first), ...listTokens(state), ...listVerbs(state), ...wholes];
}

/** @param {Button["kind"]} kind @param {string} verb @returns {Button} */
const makeButton = (kind, verb, token = "") => ({ kind, verb, token });

/** Return the button that turns the ghost, if it can be turned in more than one way. @param {State | null} state */
function listTurns(state) {
  return state && findTurns(state).length > 1 ? [makeButton("turn", state.ghost ?? "")] : [];
}

/**
 * Return a button for each next token that no spot chooses, alone or as the first or last of several. A verb that may
 * be a move alone has a button of its own at first, and none for its tokens.
 * @param {State} state
 */
function listTokens(state) {
  const { verb, tokens, early, spots } = state;
  const isEmpty = !tokens.length && verb === null;
  const joined = listJoined(state).map((words) => words.split(" "));
  /** @param {string} token */
  const hasSpot = (token) =>
    spots.some((spot) => spot.token === token) ||
    joined.some((words) => words.at(-1) === token || (!tokens.length && words[0] === token));
  /** @type {Map<string, Button>} */
  const found = new Map();
  for (const entry of findPossible(state).filter((one) => !(isEmpty && isBare(one)))) {
    for (const token of findNext(entry, tokens, early)) {
      if (!found.has(token) && !hasSpot(token)) found.set(token, makeButton("token", entry.verb, token));
    }
  }
  return [...found.values()];
}

/**
 * Return a button for each verb that may be a move alone and has no spot, while nothing is chosen.
 * @param {State} state
 */
function listVerbs({ menu, verb, tokens, spots, first }) {
  if (tokens.length || verb !== null) return [];
  const bare = menu.filter((entry) => isBare(entry) && !spots.some((spot) => spot.token === entry.verb));
  return bare.map((entry) => makeButton(first ? "end" : "verb", entry.verb));
}
