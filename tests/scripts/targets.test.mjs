// Which thing on the screen a touch or an arrow key means.

import assert from "node:assert/strict";
import { test } from "node:test";
import { findNeighbour, pick } from "../../templates/static/targets.js";

const REACH = 44;
const square = (x, y, size) => ({ left: x - size / 2, top: y - size / 2, width: size, height: size });
const target = (name, x, y) => ({ name, hit: square(x, y, REACH), outline: square(x, y, 10) });

test("of the things that are hit the nearest is meant, and nothing where none is hit", () => {
  const targets = [target("a", 300, 200), target("b", 340, 200)];
  assert.equal(pick(targets, 312, 203, REACH).target.name, "a");
  assert.equal(pick(targets, 335, 200, REACH).target.name, "b");
  assert.deepEqual(pick(targets, 500, 200, REACH), { target: null, zoom: null });
  assert.equal(pick(targets.toReversed(), 312, 203, REACH).target.name, "a", "in whatever order they are drawn");
});

test("a touch between two that are too near each other asks for a closer look, which tells them apart", () => {
  const pair = (apart) => [target("a", 300, 200), target("b", 300 + apart, 200)];
  const { zoom } = pick(pair(8), 305, 220, REACH);
  assert.deepEqual(zoom, { factor: REACH / 2 / 8, x: 304, y: 200 }, "around the point between them");
  assert.equal(pick(pair(20), 310, 200, REACH).zoom.factor, 2, "and by no less than this");
  assert.equal(pick(pair(30), 315, 200, REACH).zoom, null, "these can be told apart");
  assert.equal(pick(pair(20), 300, 200, REACH).zoom, null, "this touch is clear");
});

test("an arrow key goes to the next thing in its direction, rather ahead than aside", () => {
  const others = [
    [400, 200],
    [350, 270],
    [300, 280],
    [270, 200],
    [310, 140],
    [290, 190],
  ];
  const boxes = others.map(([x, y]) => square(x, y, 10));
  const found = ["ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp"].map((key) =>
    findNeighbour(square(300, 200, 10), boxes, key),
  );
  assert.deepEqual(found, [0, 2, 3, 5]);
  assert.equal(findNeighbour(square(300, 200, 10), [square(270, 200, 10)], "ArrowRight"), -1);
});
