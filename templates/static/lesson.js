// A lesson on the stage of a table: a try is an address, and what comes back is laid into the page. Solved lessons are
// remembered in this browser.

import { glide, locatePieces } from "./animation.js";
import { Board } from "./board.js";
import * as bubble from "./bubble.js";
import { morph } from "./morph.js";
import { showPieces } from "./pending-view.js";
import { closeSheet, updateRail } from "./rail.js";

const FRAME = "figure.stage .frame"; // around the world

/** @returns {HTMLElement} */
const getLesson = () => document.querySelector(".lesson");

/** @type {import("./bubble.js").Tell} */
const tell = (text, at) => bubble.show(document.body, text, at);

let board = new Board(getLesson(), tell);

/** Remember that this lesson is solved, if it is, and tick the links to all lessons of the game that were solved. */
function tickSolved() {
  const { game, number, solved } = getLesson().dataset;
  const key = `lessons.${game}`;
  const known = new Set(JSON.parse(localStorage.getItem(key) ?? "[]"));
  if (solved !== undefined) localStorage.setItem(key, JSON.stringify([...known.add(number)]));
  for (const link of document.querySelectorAll("[data-lesson]"))
    link.classList.toggle("done", known.has(link.dataset.lesson));
}

/**
 * Lay another page of this lesson into the one that is open, and let the piece glide.
 * @param {Document} page
 */
function replacePage(page) {
  const fresh = page.querySelector(".lesson");
  const moved = board.stage?.getMovedView();
  board.leave();
  const frame = document.querySelector(FRAME);
  const old = document.querySelector("[data-stage]");
  const before = locatePieces(old);
  frame.replaceChildren(...fresh.querySelector(FRAME).childNodes);
  const world = document.querySelector("[data-stage]");
  world.setAttribute("viewBox", old.getAttribute("viewBox"));
  glide(before, world);
  morph(getLesson(), fresh, (one) => one.matches(FRAME));
  closeSheet();
  board = new Board(getLesson(), tell, moved);
  tickSolved();
}

/**
 * Show what an address of this lesson says; without a connection the browser says why it cannot.
 * @param {string} address
 */
async function open(address) {
  const answer = await fetch(address).catch(() => null);
  if (!answer?.ok) return location.assign(address);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  history.replaceState(null, "", address);
  return replacePage(page);
}

document.addEventListener("submit", (event) => {
  const { target: form, submitter } = event;
  if (form.method !== "get" || !form.closest(".lesson")) return;
  event.preventDefault();
  const body = new FormData(form, submitter);
  if (form.matches(".deed")) showPieces(document.querySelector("[data-stage]"), [String(body.get("move"))], "pending");
  open(`${location.pathname}?${new URLSearchParams(body)}`);
});
document.addEventListener("click", (event) => {
  const link = event.target.closest("a.answer-link");
  if (!link || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  open(link.href);
});
document.addEventListener("pointerdown", ({ target }) => target.closest(".bubble") || bubble.hide());

updateRail();
tickSolved();
