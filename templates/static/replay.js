// Replay: the slider, the arrow keys and the links change the position without loading the whole page anew.

import { localise } from "./moments.js";

let wanted = null;
let newest = new AbortController();

const place = () => document.querySelector("[data-replay]");

function address(at) {
  const url = new URL(location.href);
  url.searchParams.set("at", at);
  return url;
}

async function go(at) {
  const { first, last } = place().dataset;
  wanted = Math.min(Math.max(at, Number(first)), Number(last));
  document.getElementById("at").value = wanted;
  newest.abort();
  newest = new AbortController();
  const url = address(wanted);
  try {
    const answer = await fetch(url, { signal: newest.signal });
    if (answer.ok) show(new DOMParser().parseFromString(await answer.text(), "text/html"), url);
  } catch (error) {
    if (error.name !== "AbortError") location.assign(url);
  }
}

// The slider itself stays, for a thumb may be on it.
function show(page, url) {
  const fresh = page.querySelector("[data-replay]");
  const old = place();
  const slider = document.getElementById("at");
  localise(fresh);
  fresh.querySelector("#at").replaceWith(fresh.ownerDocument.createComment("slider"));
  const [oldParts, freshParts] = [[...old.children], [...fresh.children]];
  freshParts.forEach((part, number) => number && oldParts[number].replaceWith(document.adoptNode(part)));
  oldParts[0].querySelector("label").replaceWith(document.adoptNode(fresh.querySelector("label")));
  const focused = [...oldParts[0].querySelectorAll(".keys a")].indexOf(document.activeElement);
  oldParts[0].querySelector(".keys").replaceWith(document.adoptNode(fresh.querySelector(".keys")));
  if (focused >= 0) old.querySelectorAll(".keys a")[focused].focus();
  old.dataset.at = fresh.dataset.at;
  slider.value = wanted;
  document.title = page.title;
  history.replaceState(null, "", url);
}

const now = () => wanted ?? Number(place().dataset.at);

document.addEventListener("input", (event) => event.target.id === "at" && go(Number(event.target.value)));
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-at]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  go(Number(link.dataset.at));
});
document.addEventListener("keydown", (event) => {
  if (event.target.matches("input, select, textarea, pre") || event.altKey || event.ctrlKey || event.metaKey) return;
  const steps = { ArrowLeft: () => now() - 1, ArrowRight: () => now() + 1, Home: () => Number(place().dataset.first), End: () => Number(place().dataset.last) };
  if (!steps[event.key]) return;
  event.preventDefault();
  go(steps[event.key]());
});
