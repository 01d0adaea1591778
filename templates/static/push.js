// Notifications on this device, and the service worker. Both begin after the first own move, which the server accepted.

const SUBSCRIBED_KEY = "told"; // in this browser: the paths of the tables that it is subscribed for, parted by blanks
// The words in user agents that name browsers and systems; the first one that is found counts, although others follow.
const BROWSERS = { Firefox: "Firefox", Edg: "Edge", OPR: "Opera", Chrome: "Chrome", Safari: "Safari" };
const SYSTEMS = ["Android", "iPhone", "iPad", "Windows", "Mac OS", "Linux"];

const listSubscribed = () => (localStorage.getItem(SUBSCRIBED_KEY) ?? "").split(" ").filter(Boolean);
const canPush = () => "PushManager" in window && "Notification" in window && Notification.permission !== "denied";

/** Return the path of the table without what follows its link: `/t/LINK`. */
const getTablePath = () => location.pathname.split("/").slice(0, 3).join("/");

/**
 * Show the notes about the connection and how many tables wait; register the service worker, and offer notifications
 * where they are not on yet.
 * @param {Document} page that the server sent last
 */
export function offerPush(page) {
  showConnectionNotes(page);
  navigator.setAppBadge?.(Number(document.querySelector("main .table").dataset.waiting)).catch(() => {});
  const form = document.getElementById("tell-me");
  if (!form || !("serviceWorker" in navigator)) return;
  startWorker();
  form.hidden = !canPush() || listSubscribed().includes(getTablePath());
  form.onsubmit = (event) => {
    event.preventDefault();
    subscribe(form).catch(() => showAnswer(form, form.dataset.failed));
  };
}

let isStarted = false;

/** Register the service worker, keep this page for reading offline, and send a move that was kept; do it once. */
async function startWorker() {
  if (isStarted) return;
  isStarted = true;
  const registration = await navigator.serviceWorker.register("/service-worker.js").catch(() => null);
  if (!registration) return;
  const { active } = await navigator.serviceWorker.ready;
  const send = () => active.postMessage("send");
  addEventListener("online", send);
  send();
  const pages = await caches.open("pages");
  await pages.add(getTablePath()).catch(() => {});
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

/**
 * Ask for permission, send this browser's subscription to the server, and show in the form how that went.
 * @param {HTMLFormElement} form
 */
async function subscribe(form) {
  if ((await Notification.requestPermission()) !== "granted") return showAnswer(form, form.dataset.refused);
  const { pushManager } = await navigator.serviceWorker.ready;
  const applicationServerKey = await (await fetch("/push-key")).text();
  const old = await pushManager.getSubscription();
  if (old && !hasKey(old, applicationServerKey)) await old.unsubscribe();
  const subscription = await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey });
  const { endpoint, keys } = subscription.toJSON();
  const body = new URLSearchParams({ endpoint, ...keys, label: nameDevice() });
  const answer = await fetch(form.action, { method: "POST", body });
  if (!answer.ok) throw new Error(String(answer.status));
  localStorage.setItem(SUBSCRIBED_KEY, [...listSubscribed(), getTablePath()].join(" "));
  return showAnswer(form, form.dataset.done);
}

/**
 * Say whether a subscription was made with this key of the server.
 * @param {PushSubscription} subscription @param {string} key
 */
function hasKey(subscription, key) {
  const bytes = new Uint8Array(subscription.options.applicationServerKey ?? []);
  return encodeForAddress(bytes) === key;
}

/**
 * Return bytes in base64 as in addresses, without padding.
 * @param {Uint8Array} bytes
 */
function encodeForAddress(bytes) {
  const base64 = btoa(String.fromCharCode(...bytes));
  return base64.replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

/** Return a name by which the player finds this device in the settings. */
function nameDevice() {
  const { userAgent } = navigator;
  const browser = Object.keys(BROWSERS).find((word) => userAgent.includes(word));
  const system = SYSTEMS.find((word) => userAgent.includes(word));
  return [BROWSERS[browser] ?? "Browser", system].filter(Boolean).join(", ");
}

/**
 * Show one sentence in place of the form's fields.
 * @param {HTMLFormElement} form @param {string} text
 */
function showAnswer(form, text) {
  form.replaceChildren(Object.assign(document.createElement("p"), { textContent: text }));
}

/**
 * Show the notes about the connection that a page shows, and hide the others. In a page that it kept, the service
 * worker shows that the page is old, or that a move is kept until it can be sent.
 * @param {Document} page
 */
function showConnectionNotes(page) {
  for (const note of document.querySelectorAll("[data-line]")) {
    const sameNote = page.querySelector(`[data-line="${note.dataset.line}"]`);
    note.hidden = sameNote?.hidden ?? true;
  }
}
