// Times in the reader's own time zone; without scripts they stay in UTC.

const today = new Date().toDateString();

/** @param {Intl.DateTimeFormatOptions} options */
const makeFormat = (options) =>
  new Intl.DateTimeFormat(document.documentElement.lang, { ...options, timeStyle: "short" });
const [timeOfDay, dateAndTime] = [makeFormat({}), makeFormat({ dateStyle: "medium" })];

/**
 * Rewrite all times within an element.
 * @param {ParentNode} root
 */
export function localise(root) {
  for (const time of /** @type {NodeListOf<HTMLTimeElement>} */ (root.querySelectorAll("time[datetime]"))) {
    const moment = new Date(time.getAttribute("datetime") ?? "");
    if (Number.isNaN(moment.getTime())) continue;
    time.textContent = (moment.toDateString() === today ? timeOfDay : dateAndTime).format(moment);
    time.removeAttribute("datetime");
    time.title = moment.toString();
  }
}

localise(document);

// A player who has not chosen a time zone is offered the one of this device.
for (const field of /** @type {NodeListOf<HTMLInputElement>} */ (document.querySelectorAll("input[data-here]"))) {
  field.value = new Intl.DateTimeFormat().resolvedOptions().timeZone || field.value;
}
