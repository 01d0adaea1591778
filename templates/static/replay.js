// Replay: the slider, the arrow keys, the links and the play button change the position without loading the page anew.

import { localise } from "./moments.js";

const MOST = 80;
const AHEAD = 3;
const frames = new Map(); // what has been fetched, by position: the last ones asked for

let wanted = null; // the position to be shown
let shown = null; // the position that is shown
let direction = 1;
let flowing = false;
let playing = null;

const place = () => document.querySelector("[data-replay]");
const first = () => Number(place().dataset.first);
const last = () => Number(place().dataset.last);
const now = () => wanted ?? Number(place().dataset.at);

function address(at, base = location.href) {
  const url = new URL(base, location.href);
  url.searchParams.set("at", at);
  return url;
}

function frame(at) {
  const kept = frames.get(at) ?? fetched(at);
  frames.delete(at);
  frames.set(at, kept);
  if (frames.size > MOST) frames.delete(frames.keys().next().value);
  return kept;
}

function fetched(at) {
  const answer = fetch(address(at, place().dataset.replay)).then((response) => (response.ok ? response.text() : Promise.reject(response)));
  answer.catch(() => frames.delete(at));
  return answer;
}

function go(at) {
  const to = Math.min(Math.max(at, first()), last());
  if (to !== now()) direction = Math.sign(to - now());
  wanted = to;
  document.getElementById("at").value = wanted;
  return flow();
}

// One position after the other, each painted before the next: whoever holds a key down sees the game go by.
async function flow() {
  if (flowing) return;
  flowing = true;
  try {
    while (shown !== wanted) {
      const at = wanted;
      show(await frame(at));
      shown = at;
      if (shown !== wanted) await new Promise(requestAnimationFrame);
    }
    history.replaceState(null, "", address(wanted));
    for (let step = 1; step <= AHEAD; step += 1) {
      const near = shown + step * direction;
      if (near >= first() && near <= last()) frame(near).catch(() => {});
    }
  } catch {
    location.assign(address(wanted));
  } finally {
    flowing = false;
  }
}

// The slider and the play button stay, for a thumb may be on them; what was unfolded stays unfolded.
function show(text) {
  const fresh = new DOMParser().parseFromString(text, "text/html").querySelector("[data-replay]");
  const old = place();
  localise(fresh);
  const unfolded = Boolean(old.querySelector("details[open]"));
  for (const part of fresh.querySelectorAll("[data-part]")) {
    const before = old.querySelector(`[data-part="${part.dataset.part}"]`);
    const focused = [...before.querySelectorAll("a")].indexOf(document.activeElement);
    before.replaceWith(document.adoptNode(part));
    if (focused >= 0) part.querySelectorAll("a")[focused]?.focus();
  }
  for (const details of old.querySelectorAll("details")) details.open = unfolded;
  old.dataset.at = fresh.dataset.at;
  document.title = fresh.dataset.title;
}

// Playing by itself: nothing moves unasked, and it pauses when somebody steers, looks away, or the end is reached.

function play() {
  if (playing) return pause();
  if (now() >= last()) go(first());
  toggle();
  next();
}

function next() {
  playing = setTimeout(async () => {
    await go(now() + 1);
    if (!playing) return;
    if (now() >= last() || document.hidden) pause();
    else next();
  }, Number(document.getElementById("speed").value));
}

function pause() {
  if (!playing) return;
  clearTimeout(playing);
  playing = null;
  toggle();
}

function toggle() {
  for (const face of document.querySelectorAll(".play button span")) face.hidden = !face.hidden;
}

function steer(at) {
  pause();
  go(at);
}

function round(number) {
  return Number(document.querySelectorAll("[data-part=rounds] a")[number]?.dataset.at ?? now());
}

const STEPS = {
  ArrowLeft: () => now() - 1,
  ArrowRight: () => now() + 1,
  Home: first,
  End: last,
  PageUp: () => round(0),
  PageDown: () => round(1),
};

document.addEventListener("input", (event) => event.target.id === "at" && steer(Number(event.target.value)));
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-at]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  steer(Number(link.dataset.at));
});
document.addEventListener("keydown", (event) => {
  if (event.target.matches("input, select, textarea, pre") || event.altKey || event.ctrlKey || event.metaKey) return;
  if (!STEPS[event.key]) return;
  event.preventDefault();
  steer(STEPS[event.key]());
});

shown = now();
document.querySelector(".play").hidden = false;
document.querySelector(".play button").addEventListener("click", play);
if (matchMedia("(prefers-reduced-motion: reduce)").matches) document.getElementById("speed").selectedIndex = 0;

// The slider may have been moved before this script was there.
const slid = Number(document.getElementById("at").value);
if (slid !== shown) steer(slid);
