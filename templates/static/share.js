// A button with `data-share` gives that address to the share sheet of the device. Where there is none it copies the
// address, and says the word in `data-copied`.

const SHOWN_MS = 2000;

/**
 * Share the address of a button; where the device has no share sheet, or refuses, copy it or show it for copying.
 * @param {HTMLElement} button with `data-share`
 */
export async function share(button) {
  const url = new URL(button.dataset.share ?? "", location.href).href;
  if (navigator.share) {
    const refusal = await navigator.share({ title: button.dataset.title ?? document.title, url }).catch((why) => why);
    if (!refusal || refusal.name === "AbortError") return; // the reader has closed the sheet
  }
  if (await copy(url)) confirmCopy(button);
  else prompt(button.textContent, url); // the reader copies it by hand
}

/**
 * Copy a text; return false if the browser refuses it. Pages without HTTPS have no `navigator.clipboard`.
 * @param {string} text
 */
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copySelection(text);
  }
}

/**
 * Copy a text by selecting it in a field that is not seen; return false if the browser refuses it.
 * @param {string} text
 */
function copySelection(text) {
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "unseen";
  document.body.append(field);
  field.select();
  const isCopied = document.execCommand("copy");
  field.remove();
  return isCopied;
}

/**
 * Let a button say for a moment that its address is copied.
 * @param {HTMLElement} button
 */
function confirmCopy(button) {
  const text = button.textContent;
  button.textContent = button.dataset.copied;
  setTimeout(() => {
    button.textContent = text;
  }, SHOWN_MS);
}
