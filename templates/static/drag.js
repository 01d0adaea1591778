// Dragging a thing as a choice: to pick it up is to touch it, and to put it down is to touch the place below. No DOM.

import { isLast, offers, touch } from "./choice.js";

/**
 * @typedef {import("./choice.js").State} State
 * @typedef {import("./choice.js").Spot} Spot
 * @typedef {{ x: number, y: number }} Point px
 */

const DRAG_PX = 7; // a pointer that moves less only touches

/**
 * Say whether a pointer drags.
 * @param {Point} start @param {Point} at
 */
export const isFar = (start, at) => Math.hypot(at.x - start.x, at.y - start.y) > DRAG_PX;

/**
 * Return the state while a thing is held; null if it can be put nowhere. A thing without a spot, such as the tile to be
 * placed, needs no touch, nor does that tile where it lies as a ghost.
 * @param {State} state @param {Spot | null} spot @returns {State | null}
 */
export function pickUp(state, spot) {
  if (!spot || offers(state).ghost[0] === spot.token || isLast(state, spot)) return state;
  const held = touch(state, spot);
  if (held.refused) return null;
  const marksBefore = offers(state).marks;
  for (const [other, { lit, chosen }] of offers(held).marks) {
    const canBeChosen = lit && !chosen;
    const isChosenWithIt = chosen && !marksBefore.get(other)?.chosen; // the only place, which needs no touch
    if (other !== spot && (canBeChosen || isChosenWithIt)) return held;
  }
  return null;
}

/**
 * Return the state after a thing is put down on a spot; without one, or on the spot that it came from, it is as before.
 * If it cannot be put there, the state is as before, too, but for the spot that is refused.
 * @param {State} before @param {State} held @param {Spot | null} from @param {Spot | null} to @returns {State}
 */
export function putDown(before, held, from, to) {
  if (!to || to === from) return before;
  if (isLast(held, to) && !isLast(before, to)) return held; // the only place that it could have
  const next = touch(held, to);
  return next.refused ? { ...before, refused: to } : next;
}
