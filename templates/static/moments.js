// Moments in the reader's own time; without a script they stay in UTC.

const today = new Date().toDateString();
const shown = (shape) => new Intl.DateTimeFormat(document.documentElement.lang, { ...shape, timeStyle: "short" });
const [hour, date] = [shown({}), shown({ dateStyle: "medium" })];

export function localise(within) {
  for (const time of within.querySelectorAll("time[datetime]")) {
    const moment = new Date(time.getAttribute("datetime"));
    if (Number.isNaN(moment.getTime())) continue;
    time.textContent = (moment.toDateString() === today ? hour : date).format(moment);
    time.removeAttribute("datetime");
    time.title = moment.toString();
  }
}

localise(document);

// Whoever has not said where he lives is offered the zone of his device.
for (const field of document.querySelectorAll("input[data-here]")) {
  field.value = new Intl.DateTimeFormat().resolvedOptions().timeZone || field.value;
}
