// Pieces glide from where they were to where they are. A piece is known by its kind, for equal ones are alike: those
// that stay are matched first, then each goes the shortest way.

import { still } from "./stage.js";

const TIME = 260;

export function snapshot(root) {
  const found = new Map();
  for (const piece of root.querySelectorAll("[data-stage] [data-piece]")) {
    const at = piece.transform.baseVal.consolidate()?.matrix;
    if (!at) continue;
    const kind = piece.dataset.piece;
    if (!found.has(kind)) found.set(kind, []);
    found.get(kind).push({ piece, x: at.e, y: at.f });
  }
  return found;
}

export function glide(before, root, time = TIME) {
  if (still.matches) return;
  for (const [kind, now] of snapshot(root)) {
    const left = [...(before.get(kind) ?? [])];
    const moved = now.filter((one) => {
      const at = left.findIndex((old) => old.x === one.x && old.y === one.y);
      if (at >= 0) left.splice(at, 1);
      return at < 0;
    });
    for (const one of moved) come(one, closest(left, one), root, time);
  }
}

function closest(left, one) {
  if (!left.length) return null;
  const far = left.map((old) => Math.hypot(old.x - one.x, old.y - one.y));
  return left.splice(far.indexOf(Math.min(...far)), 1)[0];
}

// Along the trail where it ends here, straight otherwise; what was not there before fades in.
function come({ piece, x, y }, old, root, time) {
  if (!old) {
    piece.animate([{ opacity: 0 }, { opacity: 1 }], { duration: time, easing: "ease-out" });
    return;
  }
  const steps = along(root.querySelector("[data-stage] path.trail"), old, { x, y }) ?? [old, { x, y }];
  const frames = steps.map((at) => ({ translate: `${at.x - x}px ${at.y - y}px` }));
  piece.animate(frames, { duration: time * Math.min(1 + (steps.length - 2) / 8, 2), easing: "ease-in-out" });
}

function along(trail, from, to) {
  if (!trail?.getTotalLength) return null;
  const length = trail.getTotalLength();
  const near = (at, place) => Math.hypot(at.x - place.x, at.y - place.y) < 30;
  if (!length || !near(trail.getPointAtLength(0), from) || !near(trail.getPointAtLength(length), to)) return null;
  return Array.from({ length: 9 }, (_, step) => trail.getPointAtLength((length * step) / 8));
}
