// The world on its stage: moved and zoomed by wheel, finger, mouse and keys, and framed on what can be chosen.
// Lengths are in units of the drawing unless they say `px`.

const CLOSEST = 5; // px for a unit of the drawing
const MARGIN = 34; // px that are kept free around what is framed
const APART = 24; // px between two things that can be told apart by touch
const DRAG = 7; // px a pointer moves before it drags
const GLIDE = 240; // ms

export const still = matchMedia("(prefers-reduced-motion: reduce)");
const small = matchMedia("(pointer: coarse), (width < 48rem), (height < 30rem)");

// How wide in px a thing must be that is touched.
export const reach = () => (small.matches ? 44 : 24);

const numbers = (text) => text.trim().split(/\s+/).map(Number);
const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

function rectangle(text) {
  const [x, y, width, height] = numbers(text);
  return { x, y, width, height };
}

function around(boxes) {
  const x = Math.min(...boxes.map((one) => one.x));
  const y = Math.min(...boxes.map((one) => one.y));
  const right = Math.max(...boxes.map((one) => one.x + one.width));
  const bottom = Math.max(...boxes.map((one) => one.y + one.height));
  return { x, y, width: right - x, height: bottom - y };
}

const middle = (box) => ({ x: box.x + box.width / 2, y: box.y + box.height / 2 });

// The smallest distance between the middles of two boxes, along either axis: hit areas are squares.
function nearest(boxes) {
  const points = boxes.map(middle);
  let least = Infinity;
  for (const [at, one] of points.entries()) {
    for (const other of points.slice(at + 1)) least = Math.min(least, Math.max(Math.abs(one.x - other.x), Math.abs(one.y - other.y)) || Infinity);
  }
  return least;
}

// `kept` is the view of a stage before this one, if somebody had moved it.
export function stage(figure, changed, kept) {
  const svg = figure.querySelector("[data-stage]");
  const map = figure.querySelector(".mini");
  let view = kept; // what is in the middle, and how many px a unit is wide
  let wanted = []; // what was framed last
  let steered = Boolean(kept); // whether somebody has moved the view since
  let gliding = 0;
  let gap = Infinity; // between the nearest two that can be touched
  let room = Infinity; // the same between those that are to be told apart at first sight

  const world = () => rectangle(svg.dataset.box);
  const size = () => ({ width: svg.clientWidth || 1, height: svg.clientHeight || 1 });
  const fitting = (box, margin = MARGIN) => {
    const { width, height } = size();
    return Math.min(Math.max(width - 2 * margin, 20) / Math.max(box.width, 1), Math.max(height - 2 * margin, 20) / Math.max(box.height, 1));
  };
  const whole = () => ({ ...middle(world()), scale: fitting(world(), 4) });
  const home = () => (svg.dataset.focus ? rectangle(svg.dataset.focus) : world());

  // Where a part of the drawing is, in its units.
  function box(part) {
    const outline = part.firstElementChild ?? part;
    const { x, y, width, height } = outline.getBBox();
    const to = svg.getScreenCTM().inverse().multiply(outline.getScreenCTM());
    const corners = [[x, y], [x + width, y], [x, y + height], [x + width, y + height]].map(([left, top]) => new DOMPoint(left, top).matrixTransform(to));
    return around(corners.map((corner) => ({ x: corner.x, y: corner.y, width: 0, height: 0 })));
  }

  // The view in which all of these are seen, near enough to be told apart, with as much around them as fits.
  function best(boxes) {
    const base = home();
    if (!boxes.length) return { ...middle(base), scale: Math.min(fitting(base, 4), CLOSEST) };
    const needed = APART / room;
    const both = around([base, ...boxes]);
    const [wide, tight] = [fitting(both, 4), fitting(around(boxes))];
    if (wide >= needed && covers(both, wide, boxes)) return { ...middle(both), scale: Math.min(wide, CLOSEST) };
    return { ...middle(around(boxes)), scale: Math.min(tight, Math.max(needed, wide), CLOSEST) };
  }

  // Whether all that is touched lies on the stage, hit areas and all.
  function covers(frame, scale, boxes) {
    const { width, height } = size();
    const centre = middle(frame);
    const fits = (far, long, room) => far * scale + Math.max(long * scale, reach()) / 2 <= room / 2;
    return boxes.every((one) => fits(Math.abs(middle(one).x - centre.x), one.width, width) && fits(Math.abs(middle(one).y - centre.y), one.height, height));
  }

  function inside(next) {
    const limits = world();
    const scale = clamp(next.scale, Math.min(whole().scale, CLOSEST) * 0.8, Math.max(CLOSEST, whole().scale));
    return { scale, x: clamp(next.x, limits.x, limits.x + limits.width), y: clamp(next.y, limits.y, limits.y + limits.height) };
  }

  function draw(next) {
    view = inside(next);
    const { width, height } = size();
    const shown = [view.x - width / 2 / view.scale, view.y - height / 2 / view.scale, width / view.scale, height / view.scale];
    for (const one of [svg, ...figure.querySelectorAll(".past")]) one.setAttribute("viewBox", shown.map((at) => at.toFixed(2)).join(" "));
    figure.style.setProperty("--px", 1 / view.scale);
    // Where hit areas would lie upon each other's middles, only what is drawn hides what lies below.
    figure.classList.toggle("crowded", gap * view.scale < reach() / 2 + 2);
    if (map) point(shown);
    changed(view.scale);
  }

  // The part that is shown, on the small map of the whole.
  function point([x, y, width, height]) {
    const limits = world();
    map.toggleAttribute("hidden", width > limits.width * 0.8 && height > limits.height * 0.8);
    const shown = map.querySelector(".shown");
    for (const [name, value] of Object.entries({ x, y, width, height })) shown.setAttribute(name, value);
  }

  function go(next, slowly = true) {
    cancelAnimationFrame(gliding);
    const [start, from] = [performance.now(), view];
    if (!slowly || still.matches || !from) return draw(next);
    const step = (now) => {
      const part = clamp((now - start) / GLIDE, 0, 1);
      const eased = 1 - (1 - part) ** 3;
      const scale = from.scale * (next.scale / from.scale) ** eased;
      draw({ x: from.x + (next.x - from.x) * eased, y: from.y + (next.y - from.y) * eased, scale });
      if (part < 1) gliding = requestAnimationFrame(step);
    };
    gliding = requestAnimationFrame(step);
  }

  // Frame these, unless all of them can be seen and touched as it is.
  function frame(parts, slowly = true) {
    wanted = parts;
    const boxes = parts.map(box);
    gap = nearest(boxes);
    room = nearest(parts.filter((part) => !("beside" in part.dataset)).map(box));
    if (view && steered && (!boxes.length || (APART / room <= view.scale && covers(asShown(), view.scale, boxes)))) return draw(view);
    steered = false;
    go(best(boxes), slowly);
  }

  const asShown = () => ({ x: view.x, y: view.y, width: 0, height: 0 });

  // Closer or further away, with this point of the screen staying where it is; whether that went any further.
  function zoom(factor, left, top, slowly = false) {
    const { width, height } = size();
    const edge = svg.getBoundingClientRect();
    const [right, down] = [left === undefined ? 0 : left - edge.left - width / 2, top === undefined ? 0 : top - edge.top - height / 2];
    const next = inside({ ...view, scale: view.scale * factor });
    steered = true;
    const shift = 1 / view.scale - 1 / next.scale;
    go({ ...next, x: view.x + right * shift, y: view.y + down * shift }, slowly);
    return shift !== 0;
  }

  function move(right, down, slowly = false) {
    steered = true;
    go({ ...view, x: view.x - right / view.scale, y: view.y - down / view.scale }, slowly);
  }

  function rest() {
    steered = true;
    go(whole());
  }

  const fingers = new Map();
  let dragged = false;

  function down(event) {
    if (event.button) return;
    if (!fingers.size) dragged = false;
    fingers.set(event.pointerId, { x: event.clientX, y: event.clientY, startX: event.clientX, startY: event.clientY });
  }

  function drag(event) {
    const finger = fingers.get(event.pointerId);
    if (!finger) return;
    const before = [...fingers.values()].map((one) => ({ ...one }));
    const far = Math.hypot(event.clientX - finger.startX, event.clientY - finger.startY) > DRAG;
    if (!dragged && !far) return;
    if (!dragged) svg.setPointerCapture(event.pointerId);
    dragged = true;
    Object.assign(finger, { x: event.clientX, y: event.clientY });
    const after = [...fingers.values()];
    if (after.length > 1) pinch(before, after);
    else move(after[0].x - before[0].x, after[0].y - before[0].y);
  }

  function pinch([one, other], [oneNow, otherNow]) {
    const span = (a, b) => Math.hypot(a.x - b.x, a.y - b.y) || 1;
    const [x, y] = [(oneNow.x + otherNow.x) / 2, (oneNow.y + otherNow.y) / 2];
    move(x - (one.x + other.x) / 2, y - (one.y + other.y) / 2);
    zoom(span(oneNow, otherNow) / span(one, other), x, y);
  }

  const up = (event) => fingers.delete(event.pointerId);

  svg.addEventListener("pointerdown", down);
  svg.addEventListener("pointermove", drag);
  for (const name of ["pointerup", "pointercancel", "lostpointercapture"]) svg.addEventListener(name, up);
  svg.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0016)), event.clientX, event.clientY);
  }, { passive: false });
  svg.addEventListener("dblclick", (event) => {
    if (!event.target.closest(".lit")) zoom(1.8, event.clientX, event.clientY, true);
  });
  const watcher = new ResizeObserver(() => {
    if (!view) return;
    if (steered) draw(view);
    else go(best(wanted.filter((part) => part.isConnected).map(box)), false);
  });
  watcher.observe(svg);

  return {
    frame, zoom, move, whole: rest, box,
    dragged: () => dragged,
    scale: () => view?.scale ?? 1,
    kept: () => (steered ? view : null),
  };
}
