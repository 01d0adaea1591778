// The page of a table: a move is put together on the board, and what others do is noticed.

import { lay } from "./board.js";
import { localise } from "./moments.js";

const QUICK = 4000;
const SLOW = 20000;
const PATIENCE = 30; // looks without news, after which it looks less often

let board = lay();
let looks = 0;
let tag = "";

const table = () => document.querySelector("[data-pulse]");

function busy() {
  const fields = "main input:not([type=hidden], [data-here]), main textarea, main select";
  const begun = [...document.querySelectorAll(fields)].some(touched) || document.querySelector("details.resign[open]");
  return Boolean(board?.begun() || begun);
}

// A field that somebody is in, or has changed.
function touched(field) {
  if (field === document.activeElement || field.checked !== field.defaultChecked) return true;
  return field.matches("textarea, [type=text], [type=number], [type=date]") && field.value !== field.defaultValue;
}

async function look() {
  if (document.hidden) return;
  looks += 1;
  const answer = await fetch(table().dataset.pulse, { headers: tag ? { "If-None-Match": tag } : {}, cache: "no-store" });
  if (answer.status !== 200) return;
  tag = answer.headers.get("ETag") ?? "";
  const { length, talk } = await answer.json();
  const moved = length > Number(table().dataset.length);
  if (!moved && talk <= Number(table().dataset.talk)) return;
  looks = 0;
  if (moved && !busy()) await renew();
  else await hear(talk);
  if (moved && busy()) document.querySelector(".news").hidden = false;
}

// The page as it is now, if it can be had.
async function drawn() {
  const answer = await fetch(location.pathname, { cache: "no-store" });
  const page = answer.ok ? new DOMParser().parseFromString(await answer.text(), "text/html") : null;
  const fresh = page?.querySelector("main");
  if (fresh) localise(fresh);
  return fresh ? page : null;
}

// What was said, while everything else stays as it is.
async function hear(talk) {
  const said = document.querySelector(".talk .words");
  if (!said || talk <= Number(table().dataset.talk)) return;
  const fresh = (await drawn())?.querySelector(".talk .words");
  if (!fresh) return;
  said.replaceChildren(...document.adoptNode(fresh).childNodes);
  toNewest();
  table().dataset.talk = talk;
}

// The new page in place of the old one, without losing where one was reading.
async function renew() {
  const page = await drawn();
  if (!page) return;
  const fresh = page.querySelector("main");
  document.querySelector("main").replaceWith(document.adoptNode(fresh));
  document.title = page.title;
  history.replaceState(null, "", location.pathname);
  board?.leave();
  board = lay();
  toNewest();
}

// What was said last is read first.
function toNewest() {
  const said = document.querySelector(".talk .words");
  if (said) said.scrollTop = said.scrollHeight;
}

async function watch() {
  try {
    await look();
  } catch {
    // the service is out of reach for the moment; the next look may find it again
  }
  setTimeout(watch, looks > PATIENCE ? SLOW : QUICK);
}

toNewest();
document.addEventListener("visibilitychange", () => look().catch(() => {}));
if (!document.querySelector("meta[http-equiv=refresh]")) setTimeout(watch, QUICK);
