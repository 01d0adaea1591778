// News of the table on this page come over one connection that is open while the page is seen (server-sent events).
// Without it the page asks now and then.

const QUICK_MS = 4000;
const SLOW_MS = 20000;
const CONNECTED_MS = 60000; // between checks while the connection is open
const PATIENCE = 30; // checks without news, after which they become slow

/** @type {EventSource | null} */
let connection = null;
let address = "";
/** @type {() => Promise<boolean | void>} */
let checkOnce;
let fruitless = 0; // checks without news
let isChecking = false;
let isDue = false;

/**
 * Call `check` whenever there may be news; return a function that calls it at once.
 * @param {string} url of the connection @param {() => Promise<boolean | void>} check says whether there were news
 */
export function watch(url, check) {
  [address, checkOnce] = [url, check];
  document.addEventListener("visibilitychange", onVisibility);
  // After the back button the browser may show the page as it was.
  const [navigation] = performance.getEntriesByType("navigation");
  if (/** @type {PerformanceNavigationTiming} */ (navigation)?.type === "back_forward") checkAll();
  setTimeout(poll, QUICK_MS);
  return checkAll;
}

/** Check one time after another: what arrives during a check is looked at after it. */
async function checkAll() {
  isDue = true;
  if (isChecking) return;
  isChecking = true;
  while (isDue && !document.hidden) {
    isDue = false;
    // A server that cannot be reached may be back at the next check.
    if (await checkOnce().catch(() => false)) fruitless = 0;
  }
  isChecking = false;
}

/** Open the connection while the page is seen, and close it while it is hidden. */
function connect() {
  if (document.hidden) {
    connection?.close();
    connection = null;
  } else if (!connection) {
    connection = new EventSource(address);
    connection.onopen = connection.onmessage = checkAll;
  }
}

async function poll() {
  const isOpen = connection?.readyState === EventSource.OPEN;
  connect();
  if (!isOpen) fruitless += 1;
  await checkAll();
  const pause = fruitless > PATIENCE ? SLOW_MS : QUICK_MS;
  setTimeout(poll, isOpen ? CONNECTED_MS : pause);
}

function onVisibility() {
  if (connection || !document.hidden) connect();
  checkAll();
}
