// The window over a board, for many boards, windows and choices: whatever is chosen from can be seen and touched.

import assert from "node:assert/strict";
import { test } from "node:test";
import { findFreeCorner } from "../../templates/static/small-map.js";
import {
  canTouch,
  clampView,
  dragView,
  findBestView,
  findShown,
  fitWorld,
  frameView,
  interpolate,
  isCrowded,
  measureGap,
  parseBox,
  pinchView,
  showsNearlyAll,
  surround,
  zoomView,
} from "../../templates/static/stage.js";

const WINDOWS = [
  [390, 500],
  [360, 330],
  [844, 230],
  [1366, 520],
  [1920, 900],
  [768, 800],
];
const APART_PX = 24;
const MOST_MARGIN_PX = 2 * 34;

/** Numbers from 0 to 1 that are the same in every run. */
function chances(seed) {
  let value = seed;
  return () => {
    value = (value * 1103515245 + 12345) % 2 ** 31;
    return value / 2 ** 31;
  };
}

test("the small map covers what nobody looks at; where all is free it is at the bottom left", () => {
  const [window, map] = [
    { width: 800, height: 400 },
    { width: 160, height: 80 },
  ];
  const title = { x: 20, y: 330, width: 200, height: 30 };
  const horse = { x: 700, y: 350, width: 60, height: 40 };
  assert.equal(findFreeCorner(window, map, []), "bottom-left");
  assert.equal(findFreeCorner(window, map, [title]), "bottom-right");
  assert.equal(findFreeCorner(window, map, [title, horse]), "top-left");
});

/** A stage with some places on it, by chance. */
function example(seed) {
  const random = chances(seed);
  const [width, height] = [300 + random() * 3000, 300 + random() * 3000];
  const world = { x: -random() * 1000, y: -random() * 1000, width, height };
  const [wide, high] = WINDOWS[seed % WINDOWS.length];
  const size = 20 + random() * 80;
  const boxes = Array.from({ length: 1 + Math.floor(random() * 12) }, () => ({
    x: world.x + random() * (width - size),
    y: world.y + random() * (height - size),
    width: size,
    height: size,
  }));
  const home =
    random() < 0.5 ? world : { x: world.x + width / 4, y: world.y + height / 4, width: width / 2, height: height / 2 };
  return { stage: { window: { width: wide, height: high }, world, home, reach: seed % 2 ? 44 : 24 }, boxes, random };
}

const examples = Array.from({ length: 600 }, (_, seed) => example(seed + 1));
const near = (one, other, within = 1e-6) => assert.ok(Math.abs(one - other) < within, `${one} is not ${other}`);

/** Where a point of the drawing is on the screen, in px from the middle of the window. */
const onScreen = (view, { x, y }) => ({ x: (x - view.x) * view.scale, y: (y - view.y) * view.scale });
const centre = ({ x, y, width, height }) => ({ x: x + width / 2, y: y + height / 2 });

/** Every box with the area in which it is touched lies in the window, worked out from its corners on the screen. */
function assertInside({ window, reach }, view, boxes) {
  for (const box of boxes) {
    const { x, y } = onScreen(view, centre(box));
    const [wide, high] = [box.width, box.height].map((length) => Math.max(length * view.scale, reach) / 2);
    const inside = Math.abs(x) + wide <= window.width / 2 + 1e-6 && Math.abs(y) + high <= window.height / 2 + 1e-6;
    assert.ok(inside, `${JSON.stringify(box)} is outside of ${JSON.stringify({ view, window })}`);
  }
}

test("what can be chosen is inside the window, with the area that is touched", () => {
  for (const { stage, boxes } of examples) {
    const view = clampView(stage, findBestView(stage, boxes, measureGap(boxes)));
    assertInside(stage, view, boxes);
    assert.ok(canTouch(stage, view, boxes));
  }
});

test("what has to be told apart is far enough apart, where all of it fits into the window like that", () => {
  for (const { stage, boxes } of examples) {
    const gap = measureGap(boxes);
    const view = findBestView(stage, boxes, gap);
    const all = surround(boxes);
    const fill = Math.max(all.width * view.scale - stage.window.width, all.height * view.scale - stage.window.height);
    const isClose = gap * view.scale >= APART_PX - 1e-6 || view.scale === 5;
    assert.ok(isClose || fill >= -MOST_MARGIN_PX - 1e-6, `${gap * view.scale} px apart, with ${-fill} px to spare`);
  }
});

test("the part around the choice is seen too, where everything fits", () => {
  const stage = {
    window: { width: 800, height: 600 },
    world: parseBox("0 0 400 300"),
    home: parseBox("0 0 400 300"),
    reach: 24,
  };
  const view = findBestView(stage, [{ x: 190, y: 140, width: 20, height: 20 }], Infinity);
  assert.deepEqual([view.x, view.y], [200, 150]);
  assert.ok(findShown(stage, view).width >= 400 && findShown(stage, view).height >= 300);
});

test("where nothing can be chosen the home of the board is shown, and it is never too close", () => {
  for (const { stage } of examples) {
    const view = findBestView(stage, [], Infinity);
    const shown = findShown(stage, view);
    assert.ok(shown.width >= stage.home.width - 1e-6 && shown.height >= stage.home.height - 1e-6);
    assert.deepEqual({ x: view.x, y: view.y }, centre(stage.home));
    assert.ok(view.scale <= 5);
  }
});

test("a view that the player moved stays while all of the choice can be touched in it, and no longer", () => {
  let [stayed, framed] = [0, 0];
  for (const { stage, boxes, random } of examples) {
    const gap = measureGap(boxes);
    const moved = clampView(stage, {
      x: boxes[0].x,
      y: boxes[0].y,
      scale: fitWorld(stage).scale * (0.8 + random() * 3),
    });
    const view = frameView(stage, moved, boxes, gap);
    assertInside(stage, view, boxes);
    if (view === moved) stayed += 1;
    else framed += 1;
    assert.equal(frameView(stage, moved, [], Infinity), moved);
    assert.notEqual(frameView(stage, null, boxes, gap), moved);
  }
  assert.ok(stayed > 20 && framed > 20, `${stayed} stayed, ${framed} framed`);
});

test("zooming keeps the point under the finger where it is", () => {
  for (const { stage, boxes, random } of examples) {
    const view = clampView(stage, findBestView(stage, boxes, measureGap(boxes)));
    const at = { x: (random() - 0.5) * stage.window.width, y: (random() - 0.5) * stage.window.height };
    const point = { x: view.x + at.x / view.scale, y: view.y + at.y / view.scale };
    for (const factor of [0.2, 0.7, 1, 1.6, 40, Infinity]) {
      const next = zoomView(stage, view, factor, at);
      near(onScreen(next, point).x, at.x, 1e-3);
      near(onScreen(next, point).y, at.y, 1e-3);
      assert.ok(factor > 1 ? next.scale >= view.scale : next.scale <= view.scale);
    }
  }
});

test("two places that a touch cannot tell apart are both inside after the zoom that tells them apart", () => {
  for (const {
    stage,
    boxes: [box],
    random,
  } of examples) {
    const view = clampView(stage, findBestView(stage, [box], Infinity));
    const apart = (random() * stage.reach) / 2;
    const [one, other] = [-1, 1].map((side) => ({
      x: centre(box).x + (side * apart) / 2 / view.scale,
      y: centre(box).y,
    }));
    const next = zoomView(stage, view, Math.max(2, stage.reach / 2 / apart), onScreen(view, centre(box)));
    for (const point of [one, other]) {
      const { x, y } = onScreen(next, point);
      assert.ok(Math.abs(x) <= stage.window.width / 2 && Math.abs(y) <= stage.window.height / 2, `${x}, ${y}`);
    }
  }
});

test("no view is further away than the world is large, closer than can be drawn, or beside the drawing", () => {
  for (const { stage, random } of examples) {
    const wild = { x: (random() - 0.5) * 1e5, y: (random() - 0.5) * 1e5, scale: random() < 0.5 ? 1e-3 : 1e3 };
    const view = clampView(stage, wild);
    const { x, y, width, height } = stage.world;
    assert.ok(view.x >= x && view.x <= x + width && view.y >= y && view.y <= y + height);
    assert.ok(
      view.scale >= Math.min(fitWorld(stage).scale, 5) * 0.8 && view.scale <= Math.max(5, fitWorld(stage).scale),
    );
    assert.deepEqual(clampView(stage, view), view);
  }
});

test("the whole world is seen at once", () => {
  for (const { stage } of examples) {
    const shown = findShown(stage, fitWorld(stage));
    assert.ok(shown.width >= stage.world.width && shown.height >= stage.world.height);
    assert.ok(showsNearlyAll(stage, shown));
    assert.ok(!showsNearlyAll(stage, { ...shown, width: stage.world.width * 0.5 }));
  }
});

test("a view shows its point in the middle of the window", () => {
  const stage = { ...examples[0].stage, window: { width: 400, height: 300 } };
  assert.deepEqual(findShown(stage, { x: 50, y: -20, scale: 2 }), { x: -50, y: -95, width: 200, height: 150 });
});

test("the board follows the finger, and two fingers spread it", () => {
  const [{ stage }] = examples;
  const view = { ...centre(stage.world), scale: fitWorld(stage).scale * 1.5 };
  const dragged = dragView(view, { x: 30, y: -12 });
  near(onScreen(dragged, view).x, 30);
  near(onScreen(dragged, view).y, -12);
  const [before, after] = [
    [
      { x: -40, y: 6 },
      { x: 60, y: 6 },
    ],
    [
      { x: -70, y: 10 },
      { x: 80, y: 10 },
    ],
  ];
  const pinched = pinchView(stage, view, before, after);
  near(pinched.scale, view.scale * 1.5);
  for (const [finger, now] of before.map((one, at) => [one, after[at]])) {
    const point = { x: view.x + finger.x / view.scale, y: view.y + finger.y / view.scale };
    near(onScreen(pinched, point).x, now.x, 1e-3);
    near(onScreen(pinched, point).y, now.y, 1e-3);
  }
});

test("a glide begins and ends where it should, and comes ever nearer", () => {
  const [from, to] = [
    { x: 7, y: 3, scale: 2 },
    { x: 100, y: -50, scale: 8 },
  ];
  assert.deepEqual(interpolate(from, to, 0), from);
  assert.deepEqual(interpolate(from, to, 1), to);
  assert.ok(interpolate(from, to, 0.5).x > (from.x + to.x) / 2, "it is faster at first");
  const scales = [0, 0.2, 0.4, 0.6, 0.8, 1].map((part) => interpolate(from, to, part).scale);
  assert.deepEqual(
    scales,
    [...scales].sort((one, other) => one - other),
  );
});

test("the gap is that of the nearest two, and boxes upon each other count as one", () => {
  const at = (x, y) => ({ x, y, width: 10, height: 10 });
  assert.equal(measureGap([at(-60, 20), at(-20, 30)]), 40);
  assert.equal(measureGap([at(0, 0), at(30, 40), at(100, 0)]), 40);
  assert.equal(measureGap([at(0, 0), at(0, 0)]), Infinity);
  assert.equal(measureGap([]), Infinity);
  const stage = { ...examples[0].stage, reach: 44 };
  assert.deepEqual(
    [isCrowded(stage, { x: 0, y: 0, scale: 2 }, 11.9), isCrowded(stage, { x: 0, y: 0, scale: 2 }, 12)],
    [true, false],
  );
});
