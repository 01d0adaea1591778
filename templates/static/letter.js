// A letter of the local mailbox is shown as long as it is; without scripts it scrolls within its frame.

/** @type {HTMLIFrameElement | null} */
const frame = document.querySelector("iframe.mail");
const BORDERS_PX = 2; // of the frame, above and below

/** Give the frame the height of what is in it. */
function fit() {
  const root = frame?.contentDocument?.documentElement;
  if (frame && root) frame.style.height = `${root.scrollHeight + BORDERS_PX}px`;
}

frame?.addEventListener("load", fit);
addEventListener("resize", fit);
fit();
