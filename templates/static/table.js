// The page of a table. Forms are sent and news fetched without leaving it: what comes back is laid into the page, and a
// move or a message that the reader has begun stays.

import { Board } from "./board.js";
import { noteButtons, reducedMotion } from "./device.js";
import { watch } from "./live.js";
import { localise } from "./local-times.js";
import { showPieces } from "./pending-view.js";
import { closeSheet, openPanel, updateRail } from "./rail.js";
import { findNews, showSounds, sound, switchSounds } from "./sound.js";

const KEY_ZOOM = 1.4;
const KEY_DRAG_PX = 90;
// The board goes to the right so that more on its left is seen.
const KEY_DIRECTIONS = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
const PRESENCE_MS = 300_000;
const LOAD_REST_MS = 2000; // until the scripts that are not needed at first are loaded
const PENDING_MS = 700; // until a verdict that is due is looked for

const getTable = () => document.querySelector(".table");
const getWords = () => JSON.parse(document.getElementById("words").textContent);

let board = new Board(getTable(), showBubble);
let etag = ""; // of the last news
let sent = 0; // forms; news that were asked for before the last one are too old
/** @type {typeof import("./playback.js") | null} */
let playback = null; // once it was needed
/** @type {typeof import("./counting.js") | null} */
let counting = null; // once it was needed
/** @type {typeof import("./bubble.js") | null} */
let bubble = null; // once something was said
let notedUntil = 0; // ms of this page's life, until which its reader counts as being here
let verdictQuery = ""; // of the last verdict, for the page that is fetched next

/** @type {import("./bubble.js").Tell} */
async function showBubble(text, at, rule = "") {
  bubble ??= await import("./bubble.js");
  bubble.show(document.body, text, at, rule ? makeRuleLink(rule) : null);
}

/**
 * Show one line in the bar in place of the one before; an empty text only takes that away.
 * @param {string} text @param {"wait" | "bad"} kind
 */
function showNote(text, kind = "wait") {
  const prompt = document.querySelector(".bar .prompt");
  for (const old of prompt.querySelectorAll(".note")) old.remove();
  if (!text) return;
  const note = document.createElement("div");
  note.className = `note ${kind}`;
  note.setAttribute("role", kind === "bad" ? "alert" : "status");
  note.textContent = text;
  prompt.append(note);
}

/** @param {string} rule */
function makeRuleLink(rule) {
  const link = document.createElement("a");
  link.className = "rule";
  link.href = `${getTable().dataset.rules}#${rule}`;
  link.textContent = `§ ${rule}`;
  return link;
}

/** Load the script that shows earlier positions. */
async function loadPlayback() {
  playback ??= await import("./playback.js");
  return playback;
}

/** @param {Response} answer */
const parsePage = async (answer) => new DOMParser().parseFromString(await answer.text(), "text/html");

/**
 * Lay a page of this table into the one that is open: first the world, in which pieces glide, then the rest. Say
 * whether it was such a page.
 * @param {Document} page @param {HTMLFormElement | null} form that was sent
 */
async function replacePage(page, form = null) {
  const fresh = page.querySelector("main .table");
  if (!fresh) return false;
  const exchange = await import("./exchange.js").catch(() => null);
  if (!exchange) return false;
  const { floatPoints, morphTable, readScores, replaceWorld } = exchange;
  playback?.stop();
  counting?.stop();
  const [moved, scores, choice] = [board.stage?.getMovedView(), readScores(), board.choice?.save()];
  const isNews = fresh.dataset.length !== getTable().dataset.length;
  const holdNewButtons = noteButtons();
  const isJudging = !isNews && fresh.querySelector(".bar .note[data-pending]"); // what was moved stays where it is
  board.leave(); // before there is another world, on which it might still draw
  const piece = isJudging ? null : await replaceWorld(fresh);
  form?.reset();
  localise(fresh);
  morphTable(getTable(), fresh);
  document.title = page.title;
  updatePage(page);
  board = new Board(getTable(), showBubble, moved);
  if (choice && !board.isBegun() && !form?.matches(".deed")) board.choice?.resume(choice);
  holdNewButtons();
  if (isNews) {
    floatPoints(scores, piece);
    announceNews();
    const isOwnMove = form?.matches(".deed") && !fresh.dataset.over;
    sound(isOwnMove ? "move" : chooseTone());
  }
  return true;
}

/**
 * Do what the page needs besides the board when it is opened or replaced: its rail, the button of the tones, and
 * confetti. After a first own move offer notifications and keep the page: that script is loaded then.
 * @param {Document} page that the server sent last
 */
function updatePage(page = document) {
  updateRail();
  showSounds();
  const { won } = getTable().dataset;
  if (won) import("./confetti.js").then((loaded) => loaded.celebrate(won)).catch(() => {});
  if (page.querySelector(".bar .note.good")) localStorage.setItem("moved", "1");
  if (localStorage.getItem("moved"))
    loadRest() // a page that is kept for use offline needs them all
      .then(() => import("./push.js"))
      .then((push) => push.offerPush(page))
      .catch(() => {});
}

/** Return which tone tells what the page says now. */
function chooseTone() {
  const { over, won } = getTable().dataset;
  return findNews({ isTurn: Boolean(document.getElementById("menu")), isOver: Boolean(over), isWon: Boolean(won) });
}

/** Say what happened to readers who do not see it. */
function announceNews() {
  const sentence = [...document.querySelectorAll("#now .events li")].at(-1);
  const texts = [sentence, document.querySelector(".bar h1")].map((one) => one?.textContent.trim());
  document.getElementById("heard").textContent = texts.filter(Boolean).join(" ");
}

/**
 * Show moves on the board before their verdicts; return what takes them back.
 * @param {string[]} moves
 */
function showMoves(moves) {
  const hide = showPieces(document.querySelector("[data-stage]"), moves, "pending");
  return () => {
    hide();
    board.choice?.draw();
  };
}

/**
 * Say that a form is sent: a move on its button, so that nothing on the page changes its place.
 * @param {HTMLFormElement} form @param {HTMLElement | null} button
 */
function showSending(form, button) {
  const { sending } = getWords();
  if (!button || !form.matches(".deed")) return showNote(sending);
  showNote("");
  button.textContent = sending;
  document.getElementById("heard").textContent = sending; // read out by screen readers
}

/**
 * Send a form of this table without leaving the page; an answer from elsewhere is opened.
 * @param {HTMLFormElement} form @param {HTMLElement | null} button
 */
async function sendForm(form, button) {
  sent += 1;
  const body = new URLSearchParams(/** @type {any} */ (new FormData(form, button)));
  form.inert = true;
  showSending(form, button);
  const secondMove = (button?.form === form && form.dataset.second) || "";
  const takeBack = showMoves([String(body.get("move")), secondMove].filter(Boolean));
  try {
    let answer = await fetch(form.action, { method: "POST", body });
    if (secondMove && answer.ok) answer = await sendSecond(answer, secondMove);
    const url = new URL(answer.url);
    const page = await parsePage(answer);
    if (!answer.ok) {
      takeBack();
      showNote(page.querySelector("main p, main h1")?.textContent ?? getWords().lost, "bad");
    } else if (url.pathname === location.pathname && (await replacePage(page, form))) followUp(url);
    else location.assign(url);
  } catch {
    takeBack();
    showNote(getWords().lost, "bad");
  } finally {
    form.inert = false;
    check();
  }
}

/**
 * Send the second of two moves, with the form of the page that answered the first, and return the answer. If the first
 * was refused, return what `sendForm` reads of its own answer: this has been read here, and can be read only once.
 * @param {Response} answer to the first @param {string} move the second
 */
async function sendSecond(answer, move) {
  const text = await answer.text();
  const page = new DOMParser().parseFromString(text, "text/html");
  const form = page.querySelector("form.deed");
  const isAccepted = page.querySelector(".bar .note.good") !== null;
  if (!isAccepted || !form) return { ok: true, url: answer.url, text: async () => text };
  const body = new URLSearchParams(/** @type {any} */ (new FormData(form)));
  body.set("move", move);
  return fetch(answer.url.split("?")[0], { method: "POST", body });
}

/**
 * Open the panel of the form that was sent, and look again while its verdict is due.
 * @param {URL} url
 */
function followUp(url) {
  verdictQuery = document.querySelector(".bar :is(.note.good, .note[data-pending])") ? url.search : "";
  if (url.hash) openPanel(url.hash.slice(1));
  if (document.querySelector(".bar .note.hint")) closeSheet();
  const isPending = document.querySelector(".bar .note.wait[data-pending]");
  if (isPending) setTimeout(() => lookAgain(url).catch(() => {}), PENDING_MS);
}

/**
 * Show the page again that says whether a move is judged, and go on while its verdict is due.
 * @param {URL} url
 */
async function lookAgain(url) {
  const answer = await fetch(url, { cache: "no-store" });
  if (answer.ok && (await replacePage(await parsePage(answer)))) followUp(url);
}

/** Tell the server now and then that the reader is here, for the other players to see. */
function notePresence() {
  const { here } = getTable().dataset;
  if (!here || document.hidden || performance.now() < notedUntil) return;
  notedUntil = performance.now() + PRESENCE_MS;
  fetch(here, { method: "PUT" }).catch(() => {});
}

/** Ask whether there are news and show them; say whether there were. */
async function checkForNews() {
  notePresence();
  if (document.querySelector(".table form[inert], .filming")) return false;
  const before = sent;
  const answer = await fetch(getTable().dataset.pulse, {
    headers: etag ? { "If-None-Match": etag } : {},
    cache: "no-store",
  });
  if (answer.status !== 200) return false;
  const { length, talk } = await answer.json();
  if (sent !== before) return false;
  const isNews = length > Number(getTable().dataset.length) || talk > Number(getTable().dataset.talk);
  if (isNews) {
    const fresh = await fetch(location.pathname + verdictQuery, { cache: "no-store" });
    const page = fresh.ok ? await parsePage(fresh) : null;
    if (sent !== before || !page) return false;
    await replacePage(page);
    history.replaceState(null, "", location.pathname);
  }
  etag = answer.headers.get("ETag") ?? "";
  return isNews;
}

/**
 * Play what happened since the reader's last move.
 * @param {() => boolean} isBusy says whether the reader has begun a move, which ends it
 */
function catchUp(isBusy) {
  loadPlayback()
    .then((loaded) => loaded.catchUp(isBusy))
    .catch(() => {});
}

/**
 * Show the moment of a link on the board: the entry `at`. Without it play the game, from the entry before `since`, or
 * else from its beginning.
 * @param {Event} event @param {HTMLAnchorElement} link
 */
function openPlayback(event, link) {
  event.preventDefault();
  closeSheet();
  const { searchParams } = new URL(link.getAttribute("href"), location.href);
  const at = searchParams.get("at");
  const beforeSince = Number(searchParams.get("since") ?? 1) - 1;
  loadPlayback()
    .then(({ open }) => (at === null ? open(beforeSince, true) : open(Number(at), false)))
    .catch(() => location.assign(link.getAttribute("href")));
}

/** @param {KeyboardEvent} event */
function onKey(event) {
  if (event.target.matches("input, select, textarea, pre") || event.altKey || event.ctrlKey || event.metaKey) return;
  const actions = {
    n: () => document.querySelector("a[data-next]")?.click(),
    "+": () => board.zoom(KEY_ZOOM),
    "-": () => board.zoom(1 / KEY_ZOOM),
    0: () => board.stage?.showAll(),
    f: () => board.stage?.showAll(),
    u: () => document.querySelector('.bar button[value="undo"]')?.click(),
    "?": () => document.getElementById("keys").showModal(),
  };
  const direction = event.shiftKey && KEY_DIRECTIONS[event.key];
  if (direction) board.stage?.drag({ x: direction[0] * KEY_DRAG_PX, y: direction[1] * KEY_DRAG_PX }, true);
  else actions[event.key]?.();
}

/** @param {MouseEvent} event */
function onClick(event) {
  if (event.target.closest("[data-sounds]")) switchSounds();
  if (event.target.closest("button[data-since]")) catchUp(() => false);
  if (event.target.closest("[data-count=open]"))
    import("./counting.js").then((loaded) => {
      counting = loaded;
      closeSheet();
      counting.open(board.stage);
    });
  const page = event.target.closest("a[data-dialog]");
  if (page && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    import("./page-dialog.js").then((loaded) => loaded.open(page.href));
  }
  if (event.target.closest("a.place")) {
    event.preventDefault();
    closeSheet();
    return;
  }
  const link = event.target.closest(".table a[href*='/replay?'], .table a[data-replay]");
  if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey) openPlayback(event, link);
}

/**
 * Send a form of this table by script; those that lead to other pages are left to the browser.
 * @param {SubmitEvent} event
 */
function onSubmit(event) {
  const form = event.target;
  if (form.method !== "post" || !form.closest(".table")) return;
  if (!new URL(form.action).pathname.startsWith(location.pathname)) return;
  event.preventDefault();
  sendForm(form, event.submitter);
}

/**
 * Load the scripts that the page needs only when it is touched: at the first touch, or a while after the page.
 * @param {Event} [event] the first touch
 */
function loadRest(event) {
  const scripts = [import("./highlight.js"), import("./exchange.js"), import("./bubble.js"), import("./lookahead.js")];
  return Promise.all(scripts)
    .then(([highlight]) => event && highlight.point(event))
    .catch(() => {});
}

document.addEventListener("pointerdown", ({ target }) => target.closest(".bubble") || bubble?.hide());
for (const name of ["pointerover", "pointerdown", "keydown", "focusin"])
  document.addEventListener(name, loadRest, { once: true, capture: true });
addEventListener("load", () => setTimeout(loadRest, LOAD_REST_MS));
document.addEventListener("click", onClick);
document.addEventListener("keydown", onKey);
document.addEventListener("submit", onSubmit);
const check = watch(getTable().dataset.live, checkForNews);

updatePage();
if (getTable().dataset.since && !reducedMotion.matches) catchUp(() => board.isBegun());
if (location.hash) openPanel(location.hash.slice(1));
if (new URL(location).searchParams.has("said")) followUp(new URL(location));
