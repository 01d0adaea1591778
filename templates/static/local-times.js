// Times in the reader's own time zone, written as in the reader's country; without scripts they stay in UTC.

const today = new Date().toDateString();

// The page knows the language and the browser the country: "en" becomes "en-GB" for readers in Britain.
const language = document.documentElement.lang;
const locale = navigator.languages.find((one) => one.split("-")[0] === language) ?? language;

/** @param {Intl.DateTimeFormatOptions} options */
const makeFormat = (options) => new Intl.DateTimeFormat(locale, { ...options, timeStyle: "short" });
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
