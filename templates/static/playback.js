// The game so far, played on the board of the table: since the reader's last move, or step by step from any entry. The
// world of an earlier moment is drawn over that of now, which keeps what is chosen and alone can be touched.

import { floatPoints, glide, locatePieces, readScores, showScores } from "./animation.js";

/**
 * The position after an entry, and what happened in it. `at` is the number of the entry, `first` and `last` are those
 * of the game, and `scores` are by seat, with blanks between.
 * @typedef {{ world: SVGElement, sentences: Element[] } & Record<"at" | "first" | "last" | "scores", string>} Moment
 */

const CATCH_UP_MS = 2600; // for everything since the last move
const MOST_STEP_MS = 800; // for one entry of it
const MOST_STEPS = 6; // positions that are loaded for it
const FIRST_STEP_MS = 250; // for the position before it, which does not move
const MOVING = 0.8; // of the time for an entry, in which pieces glide; then they rest
const PLAY_MS = 1300; // for an entry while the game plays by itself
const STEER_MS = 300;
const CLOSE_MS = 200;

/** @type {Map<number, Promise<string>>} */
const answers = new Map();
let shown = null; // the earlier world, while one is shown
let entry = 0; // the entry that is shown
let timer = 0; // of the next step, while the game plays by itself
let catchingUp = null; // the run of `catchUp` that may go on; a touch ends it
let scoresNow = []; // while others are shown

const getTable = () => document.querySelector(".table");
const getWorld = () => document.querySelector("figure.stage [data-stage]");
/** @param {string} name */
const getControl = (name) => document.querySelector(`.film [data-film=${name}]`);
/** @param {number} time ms */
const wait = (time) => new Promise((done) => setTimeout(done, time));
const isOpen = () => getTable().classList.contains("filming");

/**
 * Load the position after an entry and what happened in it. Answers are remembered.
 * @param {number} number @returns {Promise<Moment>}
 */
async function load(number) {
  const url = new URL(getTable().dataset.then, location.href);
  url.searchParams.set("at", number);
  const answer = answers.get(number) ?? fetch(url).then((one) => (one.ok ? one.text() : Promise.reject(one)));
  answers.set(number, answer);
  answer.catch(() => answers.delete(number));
  const page = new DOMParser().parseFromString(await answer, "text/html");
  const { dataset } = page.querySelector("[data-at]");
  return { world: page.querySelector("[data-stage]"), sentences: [...page.querySelectorAll("p")], ...dataset };
}

/**
 * Draw an earlier world over that of now; what moved since the last one glides.
 * @param {Moment} moment @param {number} time ms; with 0 nothing glides, and no points float
 */
function show({ world, scores }, time) {
  const before = locatePieces(shown ?? getWorld());
  const oldScores = readScores();
  for (const one of [world, ...world.querySelectorAll("[data-token]")]) {
    delete one.dataset.stage;
    delete one.dataset.token;
  }
  world.classList.add("past");
  world.setAttribute("viewBox", getWorld().getAttribute("viewBox"));
  if (shown) shown.remove();
  else scoresNow = oldScores;
  getWorld().after(world);
  shown = world;
  getTable().classList.add("rewound");
  showScores(scores.split(" "));
  const piece = glide(before, world, time);
  if (time) floatPoints(oldScores, piece);
}

/**
 * Take the earlier world away; what moved since then glides.
 * @param {number} time ms
 */
function showNow(time) {
  const before = locatePieces(shown);
  const oldScores = readScores();
  shown.remove();
  shown = null;
  getTable().classList.remove("rewound");
  showScores(scoresNow);
  floatPoints(oldScores, glide(before, getWorld(), time));
}

/**
 * Play what happened since the reader's last move: the position before it, those that followed, and that of now.
 * @param {() => boolean} isBusy says whether the reader has begun a move, which ends it
 */
export async function catchUp(isBusy) {
  const run = {};
  catchingUp = run;
  const entries = getTable().dataset.since.split(" ").map(Number);
  const earlier = [entries[0] - 1, ...entries.slice(0, -1)]; // the last one is the position of now
  const moments = await Promise.all(earlier.slice(-MOST_STEPS).map(load));
  const time = Math.min(MOST_STEP_MS, CATCH_UP_MS / moments.length);
  for (const [step, moment] of moments.entries()) {
    if (catchingUp !== run || isBusy()) return;
    const isFirst = step === 0;
    show(moment, isFirst ? 0 : time * MOVING);
    await wait(isFirst ? FIRST_STEP_MS : time);
  }
  if (catchingUp === run) showNow(time * MOVING);
}

/**
 * Show the game from an entry on, with a slider and keys.
 * @param {number} from @param {boolean} plays whether it goes on by itself
 */
export async function open(from, plays) {
  stop();
  getTable().classList.add("filming");
  document.querySelector(".film").hidden = false;
  await goTo(from);
  getControl("at").focus();
  if (plays) play();
}

/**
 * Load and show the position after an entry, unless another one was asked for meanwhile. The next one is loaded, too.
 * @param {number} to @param {number} time ms; 0 for no motion
 */
async function goTo(to, time = 0) {
  entry = to;
  const moment = await load(to);
  if (entry !== to || !isOpen()) return;
  const slider = getControl("at");
  [slider.min, slider.max, slider.value] = [moment.first, moment.last, moment.at];
  entry = Number(moment.at);
  getControl("sentences").replaceChildren(...moment.sentences);
  show(moment, time);
  if (entry < Number(moment.last)) load(entry + 1).catch(() => {});
}

/** Let the game play by itself, or stop that if it does. */
function play() {
  if (timer) return pause();
  getControl("play").setAttribute("aria-pressed", "true");
  timer = setTimeout(playNext, PLAY_MS / 2);
}

/** Show the next entry, and after a pause the one after it; at the end stop. */
async function playNext() {
  if (entry >= Number(getControl("at").max)) return pause();
  await goTo(entry + 1, PLAY_MS / 2).catch(pause);
  if (timer) timer = setTimeout(playNext, PLAY_MS);
}

function pause() {
  clearTimeout(timer);
  timer = 0;
  getControl("play").setAttribute("aria-pressed", "false");
}

/** Return to the position of now, and end all that plays. */
export function stop() {
  pause();
  catchingUp = null;
  document.querySelector(".film").hidden = true;
  if (shown) showNow(CLOSE_MS);
  if (document.activeElement?.closest(".film")) document.querySelector("[role=tab][aria-selected=true]").focus();
  getTable().classList.remove("filming");
}

/**
 * Go to an entry as the reader says, and play no more by itself.
 * @param {number} to an entry; beyond the first or the last one it means that
 */
function steer(to) {
  pause();
  const { min, max } = getControl("at");
  goTo(Math.min(Math.max(to, Number(min)), Number(max)), STEER_MS).catch(() => {});
}

const ACTIONS = {
  first: () => steer(0),
  back: () => steer(entry - 1),
  next: () => steer(entry + 1),
  last: () => steer(Infinity),
  play,
  close: stop,
};
const KEYS = { ArrowLeft: "back", ArrowRight: "next", Home: "first", End: "last" };

// A touch of the board ends the catching up.
document.addEventListener("pointerdown", (event) => {
  if (!isOpen() && event.target.closest(".stage, .tray")) stop();
});
document.addEventListener("click", (event) => ACTIONS[event.target.closest("[data-film]")?.dataset.film]?.());
document.addEventListener("input", (event) => {
  if (event.target === getControl("at")) steer(Number(event.target.value));
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") return stop();
  if (!isOpen() || !KEYS[event.key]) return;
  event.preventDefault();
  ACTIONS[KEYS[event.key]]();
});
