// A table that waits for players: when one sits down or writes, the page is loaded again, unless the reader is writing.

import { watch } from "./live.js";
import { share } from "./share.js";

const table = document.querySelector("[data-pulse]");

/** Say whether the reader has the cursor in a field, or has changed one. */
function isWriting() {
  const fields = [...document.querySelectorAll("main textarea, main [type=text]:not([readonly])")];
  return fields.some((field) => field === document.activeElement || field.value !== field.defaultValue);
}

/** Ask whether a player sat down or wrote, and show that. */
async function checkForNews() {
  const answer = await fetch(table.dataset.pulse, { cache: "no-store" });
  if (!answer.ok) return;
  const { length, talk } = await answer.json();
  if (length <= Number(table.dataset.length) && talk <= Number(table.dataset.talk)) return;
  if (isWriting()) document.querySelector(".news").hidden = false;
  else location.assign(location.pathname);
}

for (const button of document.querySelectorAll("[data-share]")) {
  if (button.dataset.copyWord && !navigator.share) button.textContent = button.dataset.copyWord;
  button.addEventListener("click", () => share(button));
}
watch(table.dataset.live, checkForNews);
