// The rail of a table: one of its panels is open. On a phone it is a sheet, which a second press of the tab closes.

const TABS = ["now", "log", "talk", "more"];

let tab = "now";
let isSheetOpen = false;

const getTable = () => document.querySelector(".table");
const listTabs = () => [...getTable().querySelectorAll("[role=tab]")];

/** Show the open panel, after a press or on a new page. */
export function updateRail() {
  if (!document.getElementById(tab) || !TABS.includes(tab)) tab = "now";
  getTable().dataset.tab = tab;
  getTable().classList.toggle("drawn", isSheetOpen);
  for (const button of listTabs()) {
    const isSelected = button.dataset.tab === tab;
    button.setAttribute("aria-selected", String(isSelected));
    button.tabIndex = isSelected ? 0 : -1;
  }
  scrollTalk();
}

/**
 * Open the panel with a part of the page, and unfold what it is in.
 * @param {string} id
 */
export function openPanel(id) {
  const panel = document.getElementById(id)?.closest(".panel");
  if (!panel) return;
  tab = panel.id;
  isSheetOpen = true;
  updateRail();
  document.getElementById(id).closest("details")?.setAttribute("open", "");
}

export function closeSheet() {
  isSheetOpen = false;
  updateRail();
}

/** Scroll the talk to what was written last. */
function scrollTalk() {
  const lines = document.querySelector(".talk .words");
  if (lines && tab === "talk") lines.scrollTop = lines.scrollHeight;
}

/**
 * Move to the tab beside, with an arrow key.
 * @param {KeyboardEvent} event
 */
function selectBeside(event) {
  const tabs = listTabs();
  const next = tabs.at((tabs.indexOf(event.target) + (event.key === "ArrowRight" ? 1 : -1)) % tabs.length);
  next?.focus();
  next?.click();
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[role=tab]");
  if (button) {
    isSheetOpen = !(isSheetOpen && tab === button.dataset.tab);
    tab = button.dataset.tab;
    updateRail();
  } else if (isSheetOpen && event.target.closest(".stage")) closeSheet();
});
document.addEventListener("keydown", (event) => {
  const isPlain = !(event.altKey || event.ctrlKey || event.metaKey || event.shiftKey);
  if (isPlain && event.key.startsWith("Arrow") && event.target.matches("[role=tab]")) selectBeside(event);
});
