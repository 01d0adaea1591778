// A button with `data-share` gives an address to the device's own share sheet, or copies it where there is none.

const SHOWN_MS = 2000;

/** @param {HTMLElement} button with `data-share` */
export async function share(button) {
  const url = new URL(button.dataset.share ?? "", location.href).href;
  if (navigator.share) return navigator.share({ title: button.dataset.title ?? document.title, url });
  await navigator.clipboard.writeText(url);
  const text = button.textContent;
  button.textContent = button.dataset.copied ?? JSON.parse(document.getElementById("words").textContent).copied;
  setTimeout(() => {
    button.textContent = text;
  }, SHOWN_MS);
}
