// The page of the replay: slider, arrow keys, links and the play button change the position without loading a page.

import { localise } from "./local-times.js";

const MOST_FRAMES = 80; // that are remembered
const PRELOADED = 3; // frames, in the direction of the reader

/** @type {Map<number, Promise<string>>} */
const frames = new Map(); // by position, those asked for last at the end

let wanted = null; // the position that is asked for
let shown = null; // the position that is shown
let direction = 1;
let isShowing = false;
let playing = null; // the timer of the next step, while it plays by itself

const getRoot = () => document.querySelector("[data-replay]");
const getFirst = () => Number(getRoot().dataset.first);
const getLast = () => Number(getRoot().dataset.last);
const getCurrent = () => wanted ?? Number(getRoot().dataset.at);
const getSlider = () => document.getElementById("at");

/**
 * Return an address with the position that is to be shown.
 * @param {number} position @param {string} base
 */
function makeAddress(position, base = location.href) {
  const url = new URL(base, location.href);
  url.searchParams.set("at", position);
  return url;
}

/**
 * Return the page of a position, from memory if it was asked for lately.
 * @param {number} position @returns {Promise<string>}
 */
function loadFrame(position) {
  const frame = frames.get(position) ?? fetchFrame(position);
  frames.delete(position);
  frames.set(position, frame);
  if (frames.size > MOST_FRAMES) frames.delete(frames.keys().next().value);
  return frame;
}

/**
 * Fetch the page of a position; one that cannot be fetched is not remembered.
 * @param {number} position
 */
function fetchFrame(position) {
  const answer = fetch(makeAddress(position, getRoot().dataset.replay));
  const frame = answer.then((response) => (response.ok ? response.text() : Promise.reject(response)));
  frame.catch(() => frames.delete(position));
  return frame;
}

/**
 * Move the slider to a position and show it, as soon as those before are painted.
 * @param {number} position before the first or after the last one it means that
 */
function goTo(position) {
  const to = Math.min(Math.max(position, getFirst()), getLast());
  if (to !== getCurrent()) direction = Math.sign(to - getCurrent());
  wanted = to;
  getSlider().value = wanted;
  return showWanted();
}

/** Show one position after another, each painted before the next, so that a key that is held down plays the game. */
async function showWanted() {
  if (isShowing) return;
  isShowing = true;
  try {
    while (shown !== wanted) {
      const position = wanted;
      show(await loadFrame(position));
      shown = position;
      if (shown !== wanted) await new Promise(requestAnimationFrame);
    }
    history.replaceState(null, "", makeAddress(wanted));
    preload();
  } catch {
    location.assign(makeAddress(wanted));
  } finally {
    isShowing = false;
  }
}

/** Load the positions that the reader would see next, without showing them. */
function preload() {
  for (let step = 1; step <= PRELOADED; step += 1) {
    const position = shown + step * direction;
    if (position >= getFirst() && position <= getLast()) loadFrame(position).catch(() => {});
  }
}

/**
 * Replace the parts of the page that change. The slider and the play button stay, for a thumb may be on them.
 * @param {string} text a page
 */
function show(text) {
  const fresh = new DOMParser().parseFromString(text, "text/html").querySelector("[data-replay]");
  const old = getRoot();
  localise(fresh);
  const isUnfolded = Boolean(old.querySelector("details[open]"));
  for (const part of fresh.querySelectorAll("[data-part]")) {
    const before = old.querySelector(`[data-part="${part.dataset.part}"]`);
    const focusedIndex = [...before.querySelectorAll("a")].indexOf(document.activeElement);
    before.replaceWith(document.adoptNode(part));
    if (focusedIndex >= 0) part.querySelectorAll("a")[focusedIndex]?.focus();
  }
  for (const details of old.querySelectorAll("details")) details.open = isUnfolded;
  old.dataset.at = fresh.dataset.at;
  document.title = fresh.dataset.title;
}

/** Let the game play by itself, from its beginning if it is at its end; or stop that if it does. */
function play() {
  if (playing) return pause();
  if (getCurrent() >= getLast()) goTo(getFirst());
  toggleButton();
  scheduleStep();
}

/** Take a step after the time that the reader chose, and go on until the end, or until the page is hidden. */
function scheduleStep() {
  playing = setTimeout(
    async () => {
      await goTo(getCurrent() + 1);
      if (!playing) return;
      if (getCurrent() >= getLast() || document.hidden) pause();
      else scheduleStep();
    },
    Number(document.getElementById("speed").value),
  );
}

function pause() {
  if (!playing) return;
  clearTimeout(playing);
  playing = null;
  toggleButton();
}

/** Change between the two faces of the button: play and pause. */
function toggleButton() {
  for (const face of document.querySelectorAll(".play button span")) face.hidden = !face.hidden;
}

/**
 * Go to a position as the reader says, and play no more by itself.
 * @param {number} position
 */
function steer(position) {
  pause();
  goTo(position);
}

/**
 * Return where the round before or after begins; the position that is shown if there is no such round.
 * @param {0 | 1} index of its link: 0 for the round before, 1 for the one after
 */
function findRound(index) {
  const link = document.querySelectorAll("[data-part=rounds] a")[index];
  return Number(link?.dataset.at ?? getCurrent());
}

const POSITIONS = {
  ArrowLeft: () => getCurrent() - 1,
  ArrowRight: () => getCurrent() + 1,
  Home: getFirst,
  End: getLast,
  PageUp: () => findRound(0),
  PageDown: () => findRound(1),
};

document.addEventListener("input", (event) => {
  if (event.target === getSlider()) steer(Number(event.target.value));
});
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-at]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  steer(Number(link.dataset.at));
});
document.addEventListener("keydown", (event) => {
  if (event.target.matches("input, select, textarea, pre") || event.altKey || event.ctrlKey || event.metaKey) return;
  if (!POSITIONS[event.key]) return;
  event.preventDefault();
  steer(POSITIONS[event.key]());
});

shown = getCurrent();
document.querySelector(".play").hidden = false;
document.querySelector(".play button").addEventListener("click", play);
if (matchMedia("(prefers-reduced-motion: reduce)").matches) document.getElementById("speed").selectedIndex = 0;

// The slider may have been moved before this script was loaded.
const moved = Number(getSlider().value);
if (moved !== shown) steer(moved);
