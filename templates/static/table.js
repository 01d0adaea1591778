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
  const form = document.activeElement?.closest("main input:not([type=hidden]), main select");
  const ticked = document.querySelector("main input[type=checkbox]:checked, details.resign[open]");
  return Boolean(board?.begun() || form || ticked);
}

async function look() {
  if (document.hidden) return;
  looks += 1;
  const answer = await fetch(table().dataset.pulse, { headers: tag ? { "If-None-Match": tag } : {}, cache: "no-store" });
  if (answer.status !== 200) return;
  tag = answer.headers.get("ETag") ?? "";
  const { length } = await answer.json();
  if (length <= Number(table().dataset.length)) return;
  looks = 0;
  if (busy()) document.querySelector(".news").hidden = false;
  else await renew();
}

// The new page in place of the old one, without losing where one was reading.
async function renew() {
  const answer = await fetch(location.pathname, { cache: "no-store" });
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.querySelector("main");
  if (!fresh) return;
  localise(fresh);
  document.querySelector("main").replaceWith(document.adoptNode(fresh));
  document.title = page.title;
  history.replaceState(null, "", location.pathname);
  board?.leave();
  board = lay();
}

async function watch() {
  try {
    await look();
  } catch {
    // the service is out of reach for the moment; the next look may find it again
  }
  setTimeout(watch, looks > PATIENCE ? SLOW : QUICK);
}

document.addEventListener("visibilitychange", () => look().catch(() => {}));
if (!document.querySelector("meta[http-equiv=refresh]")) setTimeout(watch, QUICK);
