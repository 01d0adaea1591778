// The game as it was, on the stage of the table: since one's last move, or step by step from any moment. The world of
// then lies over that of now, which keeps what has been chosen; only that of now can be touched.

import { float, glide, scores, snapshot } from "./glide.js";

const LONGEST = 2600; // ms for all that happened since one was here
const STEP = 800; // ms for one entry of it, at most
const FRAMES = 6; // positions that are fetched for it, at most
const PACE = 1300; // ms for an entry where the game plays by itself

const known = new Map();
let shown = null; // the world of then
let at = 0;
let timer = 0; // of the next step, while it plays by itself
let turn = null; // of what plays since one's last move; a touch ends it
let own = []; // the scores of now, while others are shown

const table = () => document.querySelector(".table");
const now = () => document.querySelector("figure.stage [data-stage]");
const part = (name) => document.querySelector(`.film [data-film=${name}]`);
const wait = (time) => new Promise((done) => setTimeout(done, time));

// A position with the words for it; those that were asked for are kept.
async function then(entry) {
  const url = new URL(table().dataset.then, location.href);
  url.searchParams.set("at", entry);
  if (!known.has(entry)) known.set(entry, fetch(url).then((answer) => (answer.ok ? answer.text() : Promise.reject(answer))));
  known.get(entry).catch(() => known.delete(entry));
  const page = new DOMParser().parseFromString(await known.get(entry), "text/html");
  return { world: page.querySelector("[data-stage]"), told: [...page.querySelectorAll("p")], ...page.querySelector("[data-at]").dataset };
}

// The world of then over that of now, seen from the same side, with what moved since the last one gliding.
function show({ world, scores: points }, time) {
  const [before, counted] = [snapshot(shown ?? now()), scores()];
  for (const one of [world, ...world.querySelectorAll("[data-token]")]) {
    delete one.dataset.stage;
    delete one.dataset.token;
  }
  world.classList.add("past");
  world.setAttribute("viewBox", now().getAttribute("viewBox"));
  if (shown) shown.remove();
  else own = counted;
  now().after(world);
  shown = world;
  table().classList.add("rewound");
  count(points.split(" "));
  const last = glide(before, world, time);
  if (time) float(counted, last);
}

function count(points) {
  for (const [seat, score] of [...document.querySelectorAll(".strip .score")].entries()) score.textContent = points[seat];
}

// Back to now, to which the pieces glide.
function lift(time) {
  const [before, counted] = [snapshot(shown), scores()];
  shown.remove();
  shown = null;
  table().classList.remove("rewound");
  count(own);
  float(counted, glide(before, now(), time));
}

// What happened since one's last move: the position before it, then those that followed, and at last that of now.
export async function catchUp(begun) {
  const mine = (turn = {});
  const entries = table().dataset.since.split(" ").map(Number);
  const steps = [entries[0] - 1, ...entries.slice(0, -1)].filter((_, place, all) => all.length - place <= FRAMES);
  const past = await Promise.all(steps.map(then));
  const time = Math.min(STEP, LONGEST / past.length);
  for (const [step, one] of past.entries()) {
    if (turn !== mine || begun()) return;
    show(one, step && time * 0.8);
    await wait(step ? time : 250);
  }
  if (turn === mine) lift(time * 0.8);
}

// The game from this entry on, with a slider and keys; `plays` says that it goes on by itself.
export async function open(entry, plays) {
  stop();
  table().classList.add("filming");
  document.querySelector(".film").hidden = false;
  await go(entry);
  part("at").focus();
  if (plays) play();
}

async function go(entry, time = 0) {
  at = entry;
  const one = await then(entry);
  if (at !== entry || !table().classList.contains("filming")) return;
  [part("at").min, part("at").max, part("at").value] = [one.first, one.last, one.at];
  at = Number(one.at);
  part("told").replaceChildren(...one.told);
  show(one, time);
  if (at < Number(one.last)) then(at + 1).catch(() => {});
}

function play() {
  if (timer) return pause();
  part("play").setAttribute("aria-pressed", "true");
  const next = async () => {
    if (at >= Number(part("at").max)) return pause();
    await go(at + 1, PACE / 2).catch(pause);
    if (timer) timer = setTimeout(next, PACE);
  };
  timer = setTimeout(next, PACE / 2);
}

function pause() {
  clearTimeout(timer);
  timer = 0;
  part("play").setAttribute("aria-pressed", "false");
}

// The end of whatever is shown.
export function stop() {
  const was = Boolean(shown);
  pause();
  turn = null;
  document.querySelector(".film").hidden = true;
  if (was) lift(200);
  if (document.activeElement?.closest(".film")) document.querySelector("[role=tab][aria-selected=true]").focus();
  table().classList.remove("filming");
}

function steer(entry) {
  pause();
  go(Math.min(Math.max(entry, Number(part("at").min)), Number(part("at").max)), 300).catch(() => {});
}

const DEEDS = { first: () => steer(0), back: () => steer(at - 1), next: () => steer(at + 1), last: () => steer(Infinity), play, close: stop };
const KEYS = { ArrowLeft: "back", ArrowRight: "next", Home: "first", End: "last" };

document.addEventListener("pointerdown", (event) => {
  if (!table().classList.contains("filming") && event.target.closest(".stage, .tray")) stop();
});
document.addEventListener("click", (event) => DEEDS[event.target.closest("[data-film]")?.dataset.film]?.());
document.addEventListener("input", (event) => event.target === part("at") && steer(Number(event.target.value)));
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") return stop();
  if (!table().classList.contains("filming") || !KEYS[event.key]) return;
  event.preventDefault();
  DEEDS[KEYS[event.key]]();
});
