// A table that is gathering: when somebody sits down or speaks, the page is loaded again, unless somebody writes in it.

import { live } from "./live.js";

const table = document.querySelector("[data-pulse]");

const writing = () => [...document.querySelectorAll("main textarea, main [type=text]:not([readonly])")].some((field) => field === document.activeElement || field.value !== field.defaultValue);

async function look() {
  const answer = await fetch(table.dataset.pulse, { cache: "no-store" });
  if (!answer.ok) return;
  const { length, talk } = await answer.json();
  if (length <= Number(table.dataset.length) && talk <= Number(table.dataset.talk)) return;
  if (writing()) document.querySelector(".news").hidden = false;
  else location.assign(location.pathname);
}

live(table.dataset.live, look);
