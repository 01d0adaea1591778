// The ways that pieces go on the board.

import assert from "node:assert/strict";
import { test } from "node:test";
import { findWay, timeWay } from "../../templates/static/route.js";

const at = (x, y) => ({ x, y });
const ROAD = [at(0, 0), at(0, 100), at(100, 100), at(100, 200), at(0, 200)];

test("a piece goes along its trail, and not along one that ends elsewhere", () => {
  const trail = [at(5, 0), at(50, 50), at(99, 0)];
  assert.equal(findWay(at(0, 0), at(100, 0), trail, []), trail);
  assert.deepEqual(findWay(at(0, 0), at(300, 0), trail, []), [at(0, 0), at(300, 0)]);
  assert.deepEqual(findWay(at(100, 0), at(0, 0), trail, []), [at(100, 0), at(0, 0)]);
});

test("a piece walks to the road, along it in either direction, and from it to its place", () => {
  const [inn, other] = [at(-40, 100), at(140, 200)];
  assert.deepEqual(findWay(inn, other, [], ROAD), [inn, ROAD[1], ROAD[2], ROAD[3], other]);
  assert.deepEqual(findWay(other, inn, [], ROAD), [other, ROAD[3], ROAD[2], ROAD[1], inn]);
});

test("where the road brings a piece nowhere it goes straight", () => {
  assert.deepEqual(findWay(at(-40, 90), at(-40, 110), [], ROAD), [at(-40, 90), at(-40, 110)]);
});

test("a piece is as fast on a long part of its way as on a short one", () => {
  assert.deepEqual(timeWay([at(0, 0), at(30, 0), at(30, 70), at(100, 70)]), [0, 30 / 170, 100 / 170, 1]);
  assert.deepEqual(timeWay([at(5, 5), at(5, 5)]), [0, 0]);
});
