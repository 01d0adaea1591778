// Answers a question a line, for tests: see second.py.
import { createInterface } from "node:readline";
import { canonical, isSigned, judgeReceipt, parse, receipts, sha256, verify } from "../../templates/static/verify.mjs";

const answers = {
  log: (text) => verify(text),
  letter: (text) => receipts(text),
  signed: ({ key, round, signature }) => isSigned(key, round, signature),
  json: (text) => canonical(parse(text)),
  sha256: (text) => Buffer.from(sha256(Buffer.from(text))).toString("hex"),
  held: async ({ log, receipt }) => judgeReceipt(await verify(log), receipt),
};

for await (const line of createInterface({ input: process.stdin })) {
  const [[kind, question]] = Object.entries(JSON.parse(line));
  console.log(JSON.stringify(await answers[kind](question)));
}
