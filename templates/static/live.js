// Changes are told by one connection, held open while the page is seen; without it the page looks now and then.

const QUICK = 4000;
const SLOW = 20000;
const PATIENCE = 30; // looks without news, after which it looks less often

export function live(address, look) {
  let stream = null;
  let looks = 0;
  let busy = false;
  let again = false;

  // One look after the other; what is told during one is looked at after it. A look answers whether there was news.
  async function check() {
    again = true;
    if (busy) return;
    busy = true;
    while (again && !document.hidden) {
      again = false;
      // out of reach for the moment: the next look may find the service again
      if (await look().catch(() => false)) looks = 0;
    }
    busy = false;
  }

  function listen() {
    if (document.hidden) {
      stream?.close();
      stream = null;
    } else if (!stream) {
      stream = new EventSource(address);
      stream.onopen = stream.onmessage = check;
    }
  }

  async function watch() {
    const told = stream?.readyState === EventSource.OPEN;
    listen();
    if (!told) looks += 1;
    await check();
    setTimeout(watch, told ? 3 * SLOW : looks > PATIENCE ? SLOW : QUICK);
  }

  document.addEventListener("visibilitychange", () => {
    if (stream || !document.hidden) listen();
    check();
  });
  setTimeout(watch, QUICK);
  return check;
}
