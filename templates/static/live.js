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
let fruitless = 0; // checks without news, since the last news
let isChecking = false;
let isDue = false; // whether something may have happened since the last check began

/**
 * Call `check` whenever there may be news; return a function that calls it at once.
 * @param {string} url of the connection @param {() => Promise<boolean | void>} check says whether there were news
 */
export function watch(url, check) {
  [address, checkOnce] = [url, check];
  document.addEventListener("visibilitychange", onVisibility);
  // After the back button the browser may show the page as it was.
  const [navigation] = performance.getEntriesByType("navigation");
  if (/** @type {PerformanceNavigationTiming} */ (navigation)?.type === "back_forward") checkNow();
  setTimeout(poll, QUICK_MS);
  return checkNow;
}

/** Check at once, or again after the check that is running; not while the page is hidden. */
async function checkNow() {
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
function updateConnection() {
  if (document.hidden) {
    connection?.close();
    connection = null;
  } else if (!connection) {
    connection = new EventSource(address);
    connection.onopen = checkNow;
    connection.onmessage = checkNow;
  }
}

/** Check now and then, rarely while the connection is open, which tells of news by itself. */
async function poll() {
  const isConnected = connection?.readyState === EventSource.OPEN;
  updateConnection();
  if (!isConnected) fruitless += 1;
  await checkNow();
  const unconnectedMs = fruitless > PATIENCE ? SLOW_MS : QUICK_MS;
  setTimeout(poll, isConnected ? CONNECTED_MS : unconnectedMs);
}

function onVisibility() {
  updateConnection();
  checkNow();
}
