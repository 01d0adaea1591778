// The page /verify: reads files, which stay in this browser, and shows what the verifier says of them.

import { judgeReceipt, receipts, verify } from "./verify.mjs";

const words = JSON.parse(document.getElementById("words").textContent);
const [log, letters, pasted, verdict] = ["log", "letters", "pasted", "verdict"].map((id) =>
  document.getElementById(id),
);
const [note, detail] = verdict.querySelectorAll("p");

let report = null; // of the verifier, on the log; null until there is one
let letterTexts = []; // of the files with letters
const RECEIPT_CLASSES = { agrees: "good", contradicts: "bad", "another table": "unknown" };

/** @param {string} sentence with names in braces @param {Record<string, unknown>} values by name */
const fillIn = (sentence, values) => sentence.replace(/\{(\w+)\}/g, (_, name) => values[name]);

/** @param {string} text @param {string} kind its class @returns {HTMLLIElement} */
function makeLine(text, kind) {
  const item = document.createElement("li");
  item.className = kind;
  item.textContent = text;
  return item;
}

/** Return the verdict on the log in sentences. */
function describeVerdict() {
  if (!report.sound) return [fillIn(words.broken, { entry: report.finding.seq })];
  const sentences = [report.finished ? words.sound : words.running, fillIn(words.proven, report)];
  if (report.rounds) sentences.push(fillIn(words.lit, report));
  if (report.finished) sentences.push(words.moves);
  if (!report.named) sentences.push(words.nameless);
  return sentences;
}

/** Return a line for each receipt in the letters and in the pasted text, and one for each of them without a receipt. */
function listReceipts() {
  const texts = [...letterTexts, pasted.value].filter((letter) => letter.trim());
  return texts.flatMap((letter) => {
    const found = receipts(letter);
    return found.length ? found.map(describeReceipt) : [makeLine(words.none, "unknown")];
  });
}

/** @param {{ table: string, length: number, hash: string }} receipt */
function describeReceipt(receipt) {
  const result = judgeReceipt(report, receipt);
  return makeLine(fillIn(words[result], receipt), RECEIPT_CLASSES[result]);
}

/** Show the verdict, each check and each receipt; nothing until there is a log. */
function show() {
  if (!report) return;
  const lines = listReceipts();
  const isContradicted = lines.some((item) => item.className === "bad");
  verdict.hidden = false;
  note.className = `note ${report.sound && !isContradicted ? "good" : "bad"}`;
  note.textContent = describeVerdict().join(" ");
  detail.textContent = report.finding ? report.finding.sentence : "";
  const checks = report.checks.map(({ name, ok }) => makeLine(words.checks[name], ok ? "good" : "bad"));
  verdict.querySelector(".checks").replaceChildren(...checks);
  const head = report.head ? [makeLine(`${fillIn(words.head, report)} ${report.head}`, "head")] : [];
  verdict.querySelector(".receipts").replaceChildren(...head, ...lines);
}

/**
 * Return the text of a file; empty if it is not UTF-8. A reader that repairs bytes would hide that they are no log.
 * @param {File} file
 */
async function readText(file) {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
  } catch {
    return "";
  }
}

/** @param {FileList} files dropped on the page: a log ends in `.json`, all others are letters */
async function readFiles(files) {
  for (const file of files) {
    if (/\.json$/i.test(file.name)) report = await verify(await readText(file));
    else letterTexts = [...letterTexts, await file.text()];
  }
  show();
}

/** Check the log of a table whose page led here; its address is after the “#”, which no browser sends. */
async function readLinked() {
  const address = decodeURIComponent(location.hash.slice(1));
  if (!/^\/t\/[^/]+\/log\.json$/.test(address)) return;
  const answer = await fetch(address);
  report = await verify(await answer.text());
  show();
  verdict.scrollIntoView({ block: "nearest" });
}

log.addEventListener("change", async () => {
  if (log.files[0]) report = await verify(await readText(log.files[0]));
  show();
});
letters.addEventListener("change", async () => {
  letterTexts = await Promise.all(Array.from(letters.files, (file) => file.text()));
  show();
});
pasted.addEventListener("input", show);
addEventListener("hashchange", readLinked);
readLinked();
document.getElementById("verify").addEventListener("submit", (event) => event.preventDefault());
document.addEventListener("dragover", (event) => event.preventDefault());
document.addEventListener("drop", (event) => {
  event.preventDefault();
  readFiles(event.dataTransfer.files);
});
