// A dialog with one paragraph of the rules; and “What is this?”, which shows the paragraph of the thing touched next.

const dialog = document.createElement("dialog");
dialog.className = "paragraph";
document.body.append(dialog);
const style = document.createElement("link");
style.rel = "stylesheet";
style.href = new URL("book.css", import.meta.url);
document.head.append(style);

let rules = ""; // the address of the rules that are shown

dialog.addEventListener("click", (event) => {
  const link = event.target.closest('a[href*="#"]');
  if (event.target === dialog || event.target.closest("[data-close]")) dialog.close();
  else if (link?.hash) {
    event.preventDefault();
    open(`${rules}${link.hash}`);
  }
});

/**
 * Show a paragraph by itself; if it cannot be loaded, go to the page of all the rules.
 * @param {string} address the address of the rules, with the paragraph after `#`
 */
export async function open(address) {
  const [path, paragraph] = address.split("#");
  rules = path;
  try {
    const answer = await fetch(`${path}/${paragraph}`);
    if (!answer.ok) throw answer.status;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    dialog.replaceChildren(page.querySelector("[data-close]"), page.querySelector("article"));
    for (const one of dialog.querySelectorAll("[id]")) one.removeAttribute("id");
    dialog.querySelector("[data-close]").hidden = false;
    if (!dialog.open) dialog.showModal();
    dialog.scrollTop = 0;
  } catch {
    location.href = address;
  }
}

/**
 * Let the next touch of a thing open its paragraph of the rules, and not choose it.
 * @param {string} address of the rules
 */
export async function askForThing(address) {
  const things = await (await fetch(`${address}/things.json`)).json();
  document.body.classList.add("asking");
  addEventListener("click", (event) => explainTouched(event, address, things), { capture: true, once: true });
}

/**
 * Open the paragraph of the piece or spot that is touched, or the short rules for one that has none. A touch of
 * anything else does what it always does.
 * @param {MouseEvent} event @param {string} address
 * @param {{ pattern: string, rule: string }[]} things the first one is meant whose pattern matches a whole name
 */
function explainTouched(event, address, things) {
  document.body.classList.remove("asking");
  const spot = event.target.closest("[data-token]");
  const piece = [...document.querySelectorAll("[data-piece]")].findLast((one) => isTouched(one, event));
  if (!spot && !piece) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  const token = spot?.dataset.token ?? "";
  const names = piece ? [piece.dataset.piece] : [token, ...token.split(" ").reverse()];
  const thing = things.find(({ pattern }) => {
    const wholeName = new RegExp(`^(?:${pattern})$`);
    return names.some((name) => name && wholeName.test(name));
  });
  open(`${address}#${thing?.rule ?? "short"}`);
}

/**
 * Say whether a piece is where the touch was. Pieces let touches through to their place, so the event does not say it.
 * @param {Element} piece @param {MouseEvent} event
 */
function isTouched(piece, { clientX, clientY }) {
  const { left, right, top, bottom } = piece.getBoundingClientRect();
  return left <= clientX && clientX <= right && top <= clientY && clientY <= bottom;
}
