// Short tones for what happens at the table, made by the browser itself. No DOM, no audio.

/** @typedef {{ pitch: number, at: number, lasts: number, loud: number }} Tone Hz, seconds, seconds, 0 to 1 */
/** @typedef {"touch" | "refused" | "move" | "news" | "turn" | "won" | "over"} Happening */

/** @param {number} pitch @param {number} at @returns {Tone} */
const tap = (pitch, at = 0) => ({ pitch, at, lasts: 0.07, loud: 0.25 });
/** @param {number} pitch @param {number} at @returns {Tone} */
const chime = (pitch, at = 0) => ({ pitch, at, lasts: 0.5, loud: 0.3 });

/** @type {Record<Happening, Tone[]>} */
export const TONES = {
  touch: [tap(880)],
  refused: [tap(196), tap(165, 0.09)],
  move: [tap(330), tap(247, 0.05)],
  news: [chime(440)],
  turn: [chime(523), chime(784, 0.16)],
  won: [chime(523), chime(659, 0.13), chime(784, 0.26), chime(1047, 0.39)],
  over: [chime(523), chime(392, 0.2)],
};
