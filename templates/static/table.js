// The page of a table: a frame with a stage, a bar and a rail. What is sent is fetched, what comes back is laid into
// the page, and what others do is noticed; a move or a message in the making survives all of it.

import { Board } from "./board.js";
import { reducedMotion } from "./device.js";
import * as film from "./film.js";
import { float, glide, scores, snapshot } from "./glide.js";
import { live } from "./live.js";
import { localise } from "./moments.js";
import { morph } from "./morph.js";
import "./places.js";

const WORLD = "figure.stage .frame";
const TABS = ["now", "log", "talk", "more"];

const table = () => document.querySelector(".table");
const words = () => JSON.parse(document.getElementById("words").textContent);

let board = new Board(table(), tell);
let tag = "";
let tab = "now";
let sent = 0; // so many forms; a look that began before the last one is too old
let said = ""; // the query of the last verdict, for the page that is fetched next
let sheet = false; // whether the rail is drawn up, where it is a sheet

// One line in the one place for them.
function tell(text, rule = "", kind = "wait") {
  const prompt = document.querySelector(".bar .prompt");
  for (const old of prompt.querySelectorAll(".note")) old.remove();
  if (!text) return;
  const note = document.createElement("div");
  note.className = `note ${kind}`;
  note.setAttribute("role", kind === "bad" ? "alert" : "status");
  note.textContent = text;
  if (rule) {
    const link = document.createElement("a");
    link.className = "rule";
    link.href = `${table().dataset.rules}#${rule}`;
    link.textContent = ` § ${rule}`;
    note.append(link);
  }
  prompt.append(note);
}

// Something in a field that is being written, or was changed and not sent.
const unsent = (field) => field.matches("textarea, [type=text], [type=number], [type=date], [type=email]") && field.value !== field.defaultValue;

// A page of this table laid into the one that is open: the world first, in which pieces glide, then all around it.
async function renew(page, sent = null) {
  const fresh = page.querySelector("main .table");
  if (!fresh) return false;
  film.stop();
  const [view, old, counted] = [board.stage?.movedView(), document.querySelector("[data-stage]"), scores()];
  const before = snapshot(old);
  let last = null;
  const moved = fresh.dataset.length !== table().dataset.length;
  const choice = board.choice?.save();
  board.leave(); // before there is another world, on which it might still lay something
  const frame = document.querySelector(WORLD);
  if (frame) {
    frame.replaceChildren(...fresh.querySelector(WORLD).childNodes);
    const world = document.querySelector("[data-stage]");
    world.setAttribute("viewBox", old.getAttribute("viewBox"));
    last = glide(before, world);
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  }
  sent?.reset();
  localise(fresh);
  morph(table(), fresh, keeps);
  document.title = page.title;
  dress();
  board = new Board(table(), tell, view);
  if (choice && !board.isBegun() && !sent?.matches(".deed")) board.choice?.resume(choice);
  if (moved) float(counted, last);
  if (moved) hear();
  return true;
}

// What the fresh page does not touch: the world, which is there already, and what somebody is writing.
const keeps = (old) => old.matches(WORLD) || (old.matches("input, textarea") && unsent(old));

async function page(answer) {
  return new DOMParser().parseFromString(await answer.text(), "text/html");
}

// A form of this table is sent without leaving the page; what leads elsewhere leads there.
async function send(form, button) {
  sent += 1;
  const body = new FormData(form, button);
  form.inert = true;
  tell(words().sending);
  try {
    const then = button?.form === form && form.dataset.then;
    let answer = await fetch(form.action, { method: "POST", body });
    if (then && answer.ok) answer = await second(answer, then);
    const here = new URL(answer.url);
    if (answer.ok && here.pathname === location.pathname && (await renew(await page(answer), form))) return follow(here);
    if (answer.ok) return location.assign(answer.url);
    const problem = (await page(answer)).querySelector("main p, main h1");
    tell(problem?.textContent ?? words().lost, "", "bad");
  } catch {
    tell(words().lost, "", "bad");
  } finally {
    form.inert = false;
    check();
  }
  return null;
}

// The other of two moves that were put together; where the first was refused, it stays unsent.
async function second(answer, move) {
  const text = await answer.text();
  const fresh = new DOMParser().parseFromString(text, "text/html");
  const form = fresh.querySelector("form.deed");
  if (!fresh.querySelector(".bar .note.good") || !form) return { ok: true, url: answer.url, text: async () => text };
  const body = new FormData(form);
  body.set("move", move);
  return fetch(answer.url.split("?")[0], { method: "POST", body });
}

// After a form of the edge one stays where it was; while the referee looks, the page looks again.
function follow(here) {
  said = document.querySelector(".bar .note.good") ? here.search : "";
  if (here.hash) open(here.hash.slice(1));
  if (document.querySelector(".bar .note.hint")) putAway();
  if (document.querySelector(".bar .note.wait[data-pending]")) setTimeout(() => again(here).catch(() => {}), 700);
}

async function again(here) {
  const answer = await fetch(here, { cache: "no-store" });
  if (answer.ok && (await renew(await page(answer)))) follow(here);
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.method !== "post" || !form.closest(".table") || !new URL(form.action).pathname.startsWith(location.pathname) || "away" in form.dataset) return;
  event.preventDefault();
  send(form, event.submitter);
});

// The rail: one of its panels is open; where it is a sheet, the same tab again puts it away.

function dress() {
  const root = table();
  const there = TABS.filter((name) => document.getElementById(name));
  if (!there.includes(tab)) tab = "now";
  root.dataset.tab = tab;
  root.classList.toggle("drawn", sheet);
  for (const button of root.querySelectorAll("[role=tab]")) {
    button.setAttribute("aria-selected", String(button.dataset.tab === tab));
    button.tabIndex = button.dataset.tab === tab ? 0 : -1;
  }
  navigator.setAppBadge?.(Number(root.dataset.waiting)).catch(() => {});
  toNewest();
}

function open(part) {
  const panel = document.getElementById(part)?.closest(".panel");
  if (!panel) return;
  tab = panel.id;
  sheet = true;
  dress();
  document.getElementById(part).closest("details")?.setAttribute("open", "");
}

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-since]")) film.catchUp(() => false).catch(() => {});
  if (event.target.closest("a.place")) {
    event.preventDefault();
    sheet = false;
    dress();
    return;
  }
  const link = event.target.closest(".table a[href*='/replay?'], .table a[data-replay]");
  if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey) replay(event, new URL(link.getAttribute("href"), location.href).searchParams);
  const button = event.target.closest("[role=tab]");
  if (button) {
    sheet = !(sheet && tab === button.dataset.tab);
    tab = button.dataset.tab;
    dress();
  } else if (sheet && event.target.closest(".stage")) putAway();
});

function putAway() {
  sheet = false;
  dress();
}

// What was said last is read first.
function toNewest() {
  const said = document.querySelector(".talk .words");
  if (said && tab === "talk") said.scrollTop = said.scrollHeight;
}

// What the others did is told to whoever does not see it glide.
function hear() {
  const told = [...document.querySelectorAll("#now .told li")].at(-1);
  document.getElementById("heard").textContent = told?.textContent ?? "";
}

// Answers whether something had happened.
async function look() {
  if (document.querySelector(".table form[inert], .filming")) return false;
  const before = sent;
  const answer = await fetch(table().dataset.pulse, { headers: tag ? { "If-None-Match": tag } : {}, cache: "no-store" });
  if (answer.status !== 200) return false;
  const { length, talk } = await answer.json();
  if (sent !== before) return false;
  const news = length > Number(table().dataset.length) || talk > Number(table().dataset.talk);
  if (news) {
    const fresh = await fetch(location.pathname + said, { cache: "no-store" });
    const drawn = fresh.ok ? await page(fresh) : null;
    if (sent !== before || !drawn) return false;
    await renew(drawn);
    history.replaceState(null, "", location.pathname);
  }
  tag = answer.headers.get("ETag") ?? "";
  return news;
}

// Keys that work everywhere on the page.
document.addEventListener("keydown", (event) => {
  if (event.target.matches("input, select, textarea, pre") || event.altKey || event.ctrlKey || event.metaKey) return;
  if (event.target.matches("[role=tab]") && event.key.startsWith("Arrow")) return turn(event);
  const deeds = {
    n: () => document.querySelector("a[data-next]")?.click(),
    "+": () => board.zoom(1.4),
    "-": () => board.zoom(1 / 1.4),
    0: () => board.stage?.showAll(),
  };
  const ways = { ArrowLeft: { x: 90, y: 0 }, ArrowRight: { x: -90, y: 0 }, ArrowUp: { x: 0, y: 90 }, ArrowDown: { x: 0, y: -90 } };
  if (event.shiftKey && ways[event.key]) board.stage?.drag(ways[event.key], true);
  else deeds[event.key]?.();
});

function turn(event) {
  const tabs = [...table().querySelectorAll("[role=tab]")];
  const next = tabs.at((tabs.indexOf(event.target) + (event.key === "ArrowRight" ? 1 : -1)) % tabs.length);
  next?.focus();
  next?.click();
}

// A link into the replay shows that moment on the stage; without one the game plays, from one's last move or from the beginning.
function replay(event, asked) {
  event.preventDefault();
  sheet = false;
  dress();
  const [at, since] = [asked.get("at"), asked.get("since")];
  film.open(Number(at ?? (since ?? 1) - 1), at === null).catch(() => location.assign(event.target.closest("a").getAttribute("href")));
}

const check = live(table().dataset.live, look);

dress();
if (table().dataset.since && !reducedMotion.matches) film.catchUp(() => board.isBegun()).catch(() => {});
if (location.hash) open(location.hash.slice(1));
if (new URL(location).searchParams.has("said")) follow(new URL(location));
