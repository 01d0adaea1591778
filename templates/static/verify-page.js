// The page /verify: reads files that stay in this browser and shows what the verifier says of them.
import { held, receipts, verify } from "./verify.mjs";

const words = JSON.parse(document.getElementById("words").textContent);
const [log, letters, pasted, verdict] = ["log", "letters", "pasted", "verdict"].map((id) => document.getElementById(id));
const [note, detail] = verdict.querySelectorAll("p");
const shown = { report: null, letters: [] };

const filled = (sentence, values) => sentence.replace(/\{(\w+)\}/g, (_, name) => values[name]);

function line(text, kind) {
  const item = document.createElement("li");
  item.className = kind;
  item.textContent = text;
  return item;
}

function sentences(report) {
  if (!report.sound) return [filled(words.broken, { entry: report.finding.seq })];
  const told = [report.finished ? words.sound : words.running, filled(words.proven, report)];
  if (report.rounds) told.push(filled(words.lit, report));
  return [...told, ...(report.finished ? [words.moves] : []), ...(report.named ? [] : [words.nameless])];
}

function compared() {
  return [...shown.letters, pasted.value].filter((letter) => letter.trim()).flatMap((letter) => {
    const found = receipts(letter);
    if (!found.length) return [line(words.none, "unknown")];
    return found.map((receipt) => {
      const says = held(shown.report, receipt);
      return line(filled(words[says], receipt), { agrees: "good", contradicts: "bad" }[says] ?? "unknown");
    });
  });
}

function show() {
  const { report } = shown;
  if (!report) return;
  const receiptLines = compared();
  const contradicted = receiptLines.some((item) => item.className === "bad");
  verdict.hidden = false;
  note.className = `note ${report.sound && !contradicted ? "good" : "bad"}`;
  note.textContent = sentences(report).join(" ");
  detail.textContent = report.finding ? report.finding.sentence : "";
  const checks = report.checks.map(({ name, ok }) => line(words.checks[name], ok ? "good" : "bad"));
  verdict.querySelector(".checks").replaceChildren(...checks);
  const head = report.head ? [line(`${filled(words.head, report)} ${report.head}`, "head")] : [];
  verdict.querySelector(".receipts").replaceChildren(...head, ...receiptLines);
}

// Bytes that are no UTF-8 are part of no log: a reader that mends them would hide that.
async function textOf(file) {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
  } catch {
    return "";
  }
}

async function take(files) {
  for (const file of files) {
    if (/\.json$/i.test(file.name)) shown.report = await verify(await textOf(file));
    else shown.letters = [...shown.letters, await file.text()];
  }
  show();
}

log.addEventListener("change", async () => {
  if (log.files[0]) shown.report = await verify(await textOf(log.files[0]));
  show();
});
letters.addEventListener("change", async () => {
  shown.letters = await Promise.all(Array.from(letters.files, (file) => file.text()));
  show();
});
pasted.addEventListener("input", show);
document.getElementById("verify").addEventListener("submit", (event) => event.preventDefault());
document.addEventListener("dragover", (event) => event.preventDefault());
document.addEventListener("drop", (event) => {
  event.preventDefault();
  take(event.dataTransfer.files);
});
