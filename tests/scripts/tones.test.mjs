// The tones of what happens at the table.

import assert from "node:assert/strict";
import test from "node:test";
import { findNews } from "../../templates/static/sound.js";
import { TONES } from "../../templates/static/tones.js";

test("all tones are short, quiet and can be heard", () => {
  for (const tones of Object.values(TONES)) {
    assert.ok(tones.length);
    for (const { pitch, at, lasts, loud } of tones) {
      assert.ok(at + lasts <= 1 && loud <= 0.3);
      assert.ok(pitch > 100 && pitch < 2000);
    }
  }
});

test("what matters most about new pages is what is heard", () => {
  const page = { isTurn: false, isOver: false, isWon: false };
  assert.equal(findNews(page), "news");
  assert.equal(findNews({ ...page, isTurn: true }), "turn");
  assert.equal(findNews({ ...page, isOver: true }), "over");
  assert.equal(findNews({ ...page, isOver: true, isWon: true }), "won");
});
