// A small page beside the table, shown in a dialog.

const dialog = document.createElement("dialog");
dialog.className = "keys";
document.body.append(dialog);
dialog.addEventListener("click", (event) => {
  const target = /** @type {Element} */ (event.target);
  if (target !== dialog && !target.closest("[data-aside]")) return;
  event.preventDefault();
  dialog.close();
});

/**
 * Show a page of this server; if it cannot be loaded, go there. Its way back closes the dialog.
 * @param {string} address
 */
export async function open(address) {
  try {
    const answer = await fetch(address);
    if (!answer.ok) throw answer.status;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const content = /** @type {Element} */ (page.querySelector("main > div"));
    dialog.replaceChildren(...content.childNodes);
    dialog.setAttribute("aria-label", dialog.querySelector("h1")?.textContent ?? "");
    if (!dialog.open) dialog.showModal();
  } catch {
    location.href = address;
  }
}
