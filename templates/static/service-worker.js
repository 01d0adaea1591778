// The service worker: shows notifications, stores my tables for reading offline, and holds a move back while the line
// is down.

const PAGES = "pages";
const FILES = "files";
const MOVES = "moves"; // at most one for each table
const MAX_PAGES = 30;
const MAX_FILES = 200; // the addresses of files change with each version
const TABLE_PATH = /^\/t\/[0-9a-z]+$/;
const SIGNING_PATH = /^\/(my|leave)\b/; // forms that sign a player in or out

addEventListener("install", () => skipWaiting());
addEventListener("activate", (event) => event.waitUntil(clients.claim()));
addEventListener("push", (event) => event.waitUntil(notify(event.data.json().notification)));
addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(openPage(event.notification.data));
});
addEventListener("sync", (event) => event.waitUntil(sendMoves()));
addEventListener("message", (event) => event.data === "send" && event.waitUntil(sendMoves()));
addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (url.origin !== location.origin) return;
  if (request.method === "POST") {
    if (TABLE_PATH.test(url.pathname)) event.respondWith(sendOrKeep(request, url));
    else if (SIGNING_PATH.test(url.pathname)) event.waitUntil(caches.delete(PAGES)); // the next player may be another
  } else if (request.mode === "navigate" && (TABLE_PATH.test(url.pathname) || url.pathname === "/my")) {
    event.respondWith(loadPage(request, url));
  } else if (url.pathname.startsWith("/static/")) {
    event.respondWith(loadFile(request));
  }
});

/**
 * Show a notification, and on the icon how many tables wait.
 * @param {any} notification as the server pushes it
 */
async function notify(notification) {
  const { title, body, tag, lang, navigate, app_badge: waiting } = notification;
  navigator.setAppBadge?.(Number(waiting)).catch(() => {});
  await registration.showNotification(title, { body, tag, lang, data: navigate, icon: "/static/icons/192.png" });
}

/**
 * Show a page in a window that has it already, or in a new one.
 * @param {string} address
 */
async function openPage(address) {
  const windows = await clients.matchAll({ type: "window", includeUncontrolled: true });
  const same = windows.find((one) => one.url.split(/[?#]/)[0] === address);
  return same ? same.focus() : clients.openWindow(address);
}

/**
 * Load a page and keep it; offline, return the kept one, which says that it is old.
 * @param {Request} request @param {URL} url
 */
async function loadPage(request, url) {
  try {
    const answer = await fetch(request);
    if (answer.ok && !answer.redirected) await keepPage(url.pathname, answer.clone());
    return answer;
  } catch (error) {
    const kept = await showKept(url.pathname, "offline", 200);
    if (kept) return kept;
    throw error;
  }
}

/**
 * Keep a page, and delete the oldest if there are too many.
 * @param {string} path @param {Response} answer
 */
async function keepPage(path, answer) {
  const pages = await caches.open(PAGES);
  await pages.put(path, answer);
  const old = (await pages.keys()).slice(0, -MAX_PAGES);
  await Promise.all(old.map((request) => pages.delete(request)));
}

/**
 * Return a kept page with one of its hidden notes shown; null if the page was not kept.
 * @param {string} path @param {string} note @param {number} status
 */
async function showKept(path, note, status) {
  const kept = await (await caches.open(PAGES)).match(path);
  if (!kept) return null;
  const text = (await kept.text()).replace(`data-line="${note}" hidden`, `data-line="${note}"`);
  return new Response(text, { status, headers: { "Content-Type": "text/html; charset=utf-8" } });
}

/**
 * Load a file and keep it; offline, return the kept one.
 * @param {Request} request
 */
async function loadFile(request) {
  const files = await caches.open(FILES);
  try {
    const answer = await fetch(request);
    if (answer.ok) await files.put(request, answer.clone());
    const old = (await files.keys()).slice(0, -MAX_FILES);
    await Promise.all(old.map((one) => files.delete(one)));
    return answer;
  } catch (error) {
    const kept = await files.match(request);
    if (kept) return kept;
    throw error;
  }
}

/**
 * Send a form of a table; offline, keep a move with its key and show the page that says so.
 * @param {Request} request @param {URL} url
 */
async function sendOrKeep(request, url) {
  const copy = request.clone();
  try {
    return await fetch(request);
  } catch (error) {
    const fields = new URLSearchParams(await copy.formData());
    const page = fields.get("key") ? await showKept(url.pathname, "kept", 202) : null;
    if (!page) throw error;
    await (await caches.open(MOVES)).put(url.pathname, new Response(fields.toString()));
    await registration.sync?.register(MOVES).catch(() => {});
    return page;
  }
}

/**
 * Send the moves that were kept; those that the server cannot judge now stay. The key of a move makes sure that it is
 * made once.
 */
async function sendMoves() {
  const moves = await caches.open(MOVES);
  for (const { url } of await moves.keys()) {
    const body = await (await moves.match(url)).text();
    const headers = { "Content-Type": "application/x-www-form-urlencoded" };
    const answer = await fetch(url, { method: "POST", body, headers });
    if (answer.status >= 500) continue;
    await moves.delete(url);
    await showVerdict(url, answer);
  }
}

/**
 * Show the verdict on a move that was kept: in the window of its table, or as a notification.
 * @param {string} url @param {Response} answer
 */
async function showVerdict(url, answer) {
  const windows = await clients.matchAll({ type: "window" });
  const same = windows.find((one) => one.url.split(/[?#]/)[0] === url);
  if (same) return same.navigate(answer.url);
  if (Notification.permission !== "granted") return null;
  const page = await answer.text(); // read by patterns: a worker has no parser of HTML
  const [, title = "Depesche"] = /<title>(.*?)<\/title>/s.exec(page) ?? [];
  const [, note = ""] = /<div class="note (?:good|bad)"[^>]*>(.*?)<\/div>/s.exec(page) ?? [];
  const verdict = note.replace(/<[^>]*>/g, " ").replace(/\s+/g, " ");
  return registration.showNotification(title.trim(), { body: verdict.trim(), data: url });
}
