// Curves over updates, and where embeddings lie: what a run has come to, drawn.

import { number, svg } from "../model/widgets/shared.js";

const [WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT] = [420, 190, 44, 30, 12, 10];
const TALL = 300; // of the picture of embeddings
const MOST_POINTS = 160;

/** A curve of few points: the mean of as many neighbours as it takes. */
export function thinned(points) {
  const size = Math.ceil(points.length / MOST_POINTS);
  if (size <= 1) return points;
  const means = [];
  for (let i = 0; i < points.length; i += size) {
    const some = points.slice(i, i + size);
    const mean = (axis) => some.reduce((total, point) => total + point[axis], 0) / some.length;
    means.push([mean(0), mean(1)]);
  }
  return means;
}

/** About four round numbers from 0 to `most`. */
function ticks(most) {
  const rough = most / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough);
  return Array.from({ length: Math.floor(most / step + 1e-9) + 1 }, (_, i) => i * step);
}

/**
 * A drawing of curves. curves: [{points: [[update, value], …], look: a class, dots: whether each point
 * is marked}]; marks: updates at which something was switched; label: what a screen reader hears.
 */
export function drawn({ curves, marks = [], updates, most, unit = "", digits, label }) {
  const x = (update) => LEFT + (update / updates) * (WIDTH - LEFT - RIGHT);
  const y = (value) => TOP + (1 - Math.min(1.03, value / most)) * (HEIGHT - TOP - BOTTOM);
  const drawing = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label, class: "curves" });
  for (const value of ticks(most)) {
    drawing.append(
      svg("path", { class: "rule", d: `M${LEFT} ${y(value).toFixed(1)}H${WIDTH - RIGHT}` }),
      svg("text", { x: LEFT - 5, y: y(value) + 4, "text-anchor": "end" }, number(value, digits) + unit),
    );
  }
  for (const update of ticks(updates)) drawing.append(svg("text", { x: x(update), y: HEIGHT - BOTTOM + 16, "text-anchor": "middle" }, String(update)));
  for (const update of marks) drawing.append(svg("path", { class: "switched", d: `M${x(update).toFixed(1)} ${TOP}V${HEIGHT - BOTTOM}` }));
  for (const { points, look, dots } of curves) {
    const finite = points.filter(([, value]) => Number.isFinite(value));
    if (!finite.length) continue;
    const places = finite.map(([update, value]) => `${x(update).toFixed(1)} ${y(value).toFixed(1)}`);
    if (places.length > 1) drawing.append(svg("path", { class: look, d: `M${places.join("L")}` }));
    if (dots || places.length === 1) for (const place of places) drawing.append(svg("circle", { class: `${look} dot`, r: 2.2, cx: place.split(" ")[0], cy: place.split(" ")[1] }));
  }
  return drawing;
}

/** A drawing of the last of several pictures {names, points, share}; a line shows where each point has come from. */
export function scattered(pictures) {
  const { names, points, share } = pictures.at(-1);
  const all = pictures.flatMap((each) => each.points);
  const most = Math.max(1e-9, ...all.flat().map(Math.abs));
  const scale = Math.min(WIDTH / 2 - LEFT, TALL / 2 - RIGHT) / most;
  const place = ([x, y]) => [WIDTH / 2 + x * scale, TALL / 2 - y * scale].map((each) => each.toFixed(1));
  const gap = (i, j) => Math.hypot(points[i][0] - points[j][0], points[i][1] - points[j][1]);
  const pairs = names.flatMap((_, i) => names.slice(0, i).map((__, j) => [i, j]));
  const [one, other] = pairs.reduce((best, pair) => (gap(...pair) < gap(...best) ? pair : best));
  const label = `Token embeddings in the two directions in which they differ most; these hold ${number(100 * share, 0)} % of their variance. Closest to each other are ${names[one]} and ${names[other]}.`;
  const drawing = svg("svg", { viewBox: `0 0 ${WIDTH} ${TALL}`, role: "img", "aria-label": label, class: "curves lying" });
  names.forEach((name, i) => {
    if (pictures.length > 1) drawing.append(svg("path", { class: "way", d: `M${pictures.map((each) => place(each.points[i]).join(" ")).join("L")}` }));
    const [x, y] = place(points[i]);
    drawing.append(svg("text", { x, y, "text-anchor": "middle", "dominant-baseline": "middle" }, name));
  });
  return drawing;
}
