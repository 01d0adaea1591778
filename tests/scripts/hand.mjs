// A hand that plays on a choice as on the page: it touches what is lit and presses buttons that are shown. And what a
// menu allows, worked out from its rows and nothing else.

import { readFileSync } from "node:fs";
import { offers, press, start, touch } from "../../templates/static/choice.js";

const MOST_STEPS = 40;

/** The menus of all games: a few, or those that pytest has just made with the engine. */
export const menus = JSON.parse(readFileSync(new URL("menus.json", import.meta.url), "utf-8"));

/** The state at the beginning of a menu. */
export const begin = ({ menu, spots, ghost }) => start({ menu, labels: {} }, spots, ghost);

/** Every move of a menu as words, the verb first; of items to tick some sets of each size. */
export function movesOf(menu) {
  return menu.flatMap((entry) => {
    if (entry.options) return entry.options.map((row) => [entry.verb, ...row]);
    if (!entry.items) return [];
    const sizes = Array.from({ length: entry.most + 1 }, (_, size) => size).filter(
      (size) => size >= Math.max(entry.least, 1),
    );
    return sizes.flatMap((size) => [
      [entry.verb, ...entry.items.slice(0, size)],
      [entry.verb, ...entry.items.slice(-size)],
    ]);
  });
}

/** Whether these words can still become a move: `early` must come among the rest. */
export function isPossible(menu, { verb, tokens, early }) {
  return menu.some((entry) => {
    if (verb !== null && verb !== entry.verb) return false;
    if (entry.options)
      return entry.options.some(
        (row) =>
          tokens.every((token, at) => row[at] === token) &&
          (early === null || row.slice(tokens.length).includes(early)),
      );
    if (!entry.items) return !tokens.length && early === null;
    return (
      early === null &&
      tokens.length <= entry.most &&
      tokens.every((token) => count(tokens, token) <= count(entry.items, token))
    );
  });
}

const count = (list, one) => list.filter((other) => other === one).length;

/** The verbs of which the chosen tokens are a whole move. */
export function wholeVerbs(menu, { verb, tokens, early }) {
  if (early !== null || (verb === null && !tokens.length)) return [];
  const fitting = menu.filter((entry) => verb === null || verb === entry.verb);
  return fitting
    .filter((entry) => {
      if (entry.options) return entry.options.some((row) => row.join(" ") === tokens.join(" "));
      return entry.items && tokens.length >= Math.max(entry.least, 1) && isPossible([entry], { verb, tokens, early });
    })
    .map((entry) => entry.verb);
}

/** Make a move by touching and pressing only what is offered; return the states on the way, the last one whole. */
export function makeMove(state, [verb, ...tokens]) {
  const states = [state];
  for (let step = 0; step < MOST_STEPS; step += 1) {
    const now = offers(states.at(-1));
    const { tokens: chosen } = states.at(-1);
    if (chosen.join(" ") === tokens.join(" ") && now.complete.some((entry) => entry.verb === verb)) return states;
    states.push(nextState(states.at(-1), now, verb, tokens));
  }
  throw new Error(`“${verb} ${tokens.join(" ")}” is never whole`);
}

function nextState(state, { marks, buttons }, verb, tokens) {
  const chosen = state.tokens;
  const lit = state.spots.filter((spot) => marks.get(spot).lit);
  if (chosen.length && chosen.length === tokens.length)
    return touch(
      state,
      lit.find((spot) => spot.token === tokens[0]),
    );
  const rest = tokens.slice(chosen.length);
  const wanted = rest.length ? rest : [verb];
  const fitting = lit.filter((spot) => follows(spot.token.split(" "), tokens.slice(0, chosen.length), wanted));
  fitting.sort((one, other) => other.token.length - one.token.length);
  if (fitting.length) return touch(state, fitting[0]);
  const button = buttons.find((one) => one.kind !== "move" && (one.token || one.verb) === wanted[0]);
  if (button) return press(state, button);
  throw new Error(`nothing to touch or press for “${wanted[0]}” of “${verb} ${tokens.join(" ")}”`);
}

/** Whether a spot with these words says the next ones, perhaps after some that are chosen already. */
function follows(words, chosen, rest) {
  return words.some((_, cut) => {
    const [overlap, own] = [words.slice(0, cut).join(" "), words.slice(cut).join(" ")];
    return own === rest.slice(0, words.length - cut).join(" ") && (!cut || chosen.slice(-cut).join(" ") === overlap);
  });
}
