// Which thing on the screen a touch or an arrow key means.

import assert from "node:assert/strict";
import { test } from "node:test";
import { neighbour, pick } from "../../templates/static/targets.js";

const REACH = 44;
const square = (x, y, size) => ({ left: x - size / 2, top: y - size / 2, width: size, height: size });
const target = (name, x, y) => ({ name, hit: square(x, y, REACH), outline: square(x, y, 10) });

test("of the things that are hit the nearest is meant, and nothing where none is hit", () => {
  const targets = [target("a", 0, 0), target("b", 40, 0)];
  assert.equal(pick(targets, 12, 3, REACH).target.name, "a");
  assert.equal(pick(targets, 35, 0, REACH).target.name, "b");
  assert.deepEqual(pick(targets, 200, 0, REACH), { target: null, zoom: null });
});

test("a touch between two that are too near each other asks for a closer look, which tells them apart", () => {
  const { zoom } = pick([target("a", 0, 0), target("b", 8, 0)], 5, 20, REACH);
  assert.ok(8 * zoom.factor >= REACH / 2);
  assert.deepEqual([zoom.x, zoom.y], [4, 0], "around the point between them, wherever they were touched");
  assert.equal(pick([target("a", 0, 0), target("b", 30, 0)], 15, 0, REACH).zoom, null, "these can be told apart");
  assert.equal(pick([target("a", 0, 0), target("b", 20, 0)], 0, 0, REACH).zoom, null, "this touch is clear");
});

test("an arrow key goes to the next thing in its direction", () => {
  const others = [square(100, 0, 10), square(50, 60, 10), square(0, 80, 10), square(-30, 0, 10)];
  const from = square(0, 0, 10);
  const found = ["ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp"].map((key) => neighbour(from, others, key));
  assert.deepEqual(found, [0, 2, 3, -1]);
});
