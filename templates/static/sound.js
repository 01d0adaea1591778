// Tones are off until the reader chooses them on this device; their script is loaded then.

const CHOICE = "sounds";

const isOn = () => localStorage.getItem(CHOICE) === "on";

/**
 * Play the tones of what happens, if the reader has chosen to hear them.
 * @param {import("./tones.js").Happening} happening
 */
export function sound(happening) {
  if (isOn()) import("./tone-player.js").then(({ play }) => play(happening)).catch(() => {});
}

/** Show on its button whether tones are on. */
export function showSounds() {
  document.querySelector("[data-sounds]")?.setAttribute("aria-pressed", String(isOn()));
}

/** Switch the tones on or off; when they are on, one is heard. */
export function switchSounds() {
  localStorage.setItem(CHOICE, isOn() ? "off" : "on");
  showSounds();
  sound("turn");
}

/**
 * Return what a page that is new tells, from what it says of the game.
 * @param {{ isTurn: boolean, isOver: boolean, isWon: boolean }} page @returns {import("./tones.js").Happening}
 */
export function findNews({ isTurn, isOver, isWon }) {
  if (isWon) return "won";
  if (isOver) return "over";
  return isTurn ? "turn" : "news";
}
