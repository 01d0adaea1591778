// Notifications on this device, and the service worker. Both begin after the first own move, which the server accepted.

const SUBSCRIBED = "told"; // the tables, by link, that this browser is subscribed for

/** @param {string} name */
const readStore = (name) => localStorage.getItem(name) ?? "";
const canPush = () => "PushManager" in window && "Notification" in window && Notification.permission !== "denied";
const makePath = () => location.pathname.split("/").slice(0, 3).join("/");

/**
 * Register the service worker, and offer notifications where they are not on yet.
 * @param {Document} page that was shown last
 */
export function offerPush(page) {
  showLineNotes(page);
  navigator.setAppBadge?.(Number(document.querySelector("main .table").dataset.waiting)).catch(() => {});
  const form = document.getElementById("tell-me");
  if (!form || !("serviceWorker" in navigator)) return;
  startWorker();
  form.hidden = !canPush() || readStore(SUBSCRIBED).split(" ").includes(makePath());
  form.onsubmit = (event) => {
    event.preventDefault();
    subscribe(form).catch(() => showAnswer(form, form.dataset.failed));
  };
}

let started = false;

/** Register the service worker, keep this page for reading offline, and send a move that was kept. */
async function startWorker() {
  if (started) return;
  started = true;
  const registration = await navigator.serviceWorker.register("/service-worker.js").catch(() => null);
  if (!registration) return;
  const { active } = await navigator.serviceWorker.ready;
  const send = () => active.postMessage("send");
  addEventListener("online", send);
  send();
  const pages = await caches.open("pages");
  await pages.add(makePath()).catch(() => {});
  // The files of this page were loaded before the worker could keep them; without them it would be no table offline.
  const files = await caches.open("files");
  await Promise.all(listFiles().map((name) => files.add(name).catch(() => {})));
  document.documentElement.dataset.kept = ""; // from now on this page can be read offline
}

/** Return the addresses of the scripts, styles and pictures that this page has loaded. */
const listFiles = () =>
  performance
    .getEntriesByType("resource")
    .map(({ name }) => new URL(name))
    .filter(({ origin, pathname }) => origin === location.origin && pathname.startsWith("/static/"))
    .map(({ href }) => href);

/** @param {HTMLFormElement} form */
async function subscribe(form) {
  if ((await Notification.requestPermission()) !== "granted") return showAnswer(form, form.dataset.refused);
  const { pushManager } = await navigator.serviceWorker.ready;
  const applicationServerKey = await (await fetch("/push-key")).text();
  const old = await pushManager.getSubscription();
  if (old && !hasKey(old, applicationServerKey)) await old.unsubscribe();
  const made = await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey });
  const { endpoint, keys } = made.toJSON();
  const body = new URLSearchParams({ endpoint, ...keys, label: nameDevice() });
  const answer = await fetch(form.action, { method: "POST", body });
  if (!answer.ok) throw new Error(String(answer.status));
  localStorage.setItem(SUBSCRIBED, `${readStore(SUBSCRIBED)} ${makePath()}`.trim());
  return showAnswer(form, form.dataset.done);
}

/**
 * Say whether a subscription was made with this key of the server.
 * @param {PushSubscription} subscription @param {string} key
 */
function hasKey(subscription, key) {
  const bytes = new Uint8Array(subscription.options.applicationServerKey ?? []);
  return (
    btoa(String.fromCharCode(...bytes))
      .replace(/\+/g, "-")
      .replace(/\//g, "_")
      .replace(/=+$/, "") === key
  );
}

/** Return a name by which the player finds this device in the settings. */
function nameDevice() {
  const { userAgent } = navigator;
  const browser = /(Firefox|Edg|OPR|Chrome|Safari)/.exec(userAgent)?.[1] ?? "Browser";
  const system = /(Android|iPhone|iPad|Windows|Mac OS|Linux)/.exec(userAgent)?.[1] ?? "";
  return [{ Edg: "Edge", OPR: "Opera" }[browser] ?? browser, system].filter(Boolean).join(", ");
}

/** @param {HTMLFormElement} form @param {string} text */
function showAnswer(form, text) {
  form.replaceChildren(Object.assign(document.createElement("p"), { textContent: text }));
}

/**
 * Show the notes about the line that a page brought: that it is old, or that a move is kept.
 * @param {Document} page
 */
function showLineNotes(page) {
  for (const note of document.querySelectorAll("[data-line]")) {
    note.hidden = page.querySelector(`[data-line="${note.dataset.line}"]`)?.hidden ?? true;
  }
}
