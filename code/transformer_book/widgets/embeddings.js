import {
  button,
  choice,
  clamp,
  explorer,
  figure,
  html,
  line,
  mark,
  number,
  panel,
  plane,
  slider,
  sum,
  svg,
  table,
  upTo,
} from "./shared.js";

const MARKS = ["circle", "square", "diamond", "ring"]; // of the groups, in their order
const MOST_NEAR = 8;

const cosineOf = ({ cosines, table: name }, i, j) => cosines[name][Math.max(i, j)][Math.min(i, j)];

/** All words but i, the nearest first: sort keeps the order of equal ones, as Python's does. */
function nearest(state, i) {
  const places = state.places[state.table];
  const [x, y] = places[i];
  const away = places.map(([px, py]) => (px - x) * (px - x) + (py - y) * (py - y));
  const others = upTo(places.length).filter((j) => j !== i);
  return {
    byCosine: [...others].sort((a, b) => cosineOf(state, i, b) - cosineOf(state, i, a)),
    onMap: [...others].sort((a, b) => away[a] - away[b]),
  };
}

/** Share, in percent, of words whose nearest word in a group is of the same group. */
function same(groups, orders) {
  const own = upTo(groups.length).filter((i) => groups[i]);
  const alike = own.filter((i) => groups[orders[i].find((j) => groups[j])] === groups[i]);
  return (100 * alike.length) / own.length;
}

/** What the page shows: the same as EmbeddingMap.numbers in Python. */
export function numbers(state) {
  const { words, word, near } = state;
  const groups = state.groups[state.grouping];
  const all = words.map((_, i) => nearest(state, i));
  const inBoth = all.map(({ byCosine, onMap }) => {
    const there = onMap.slice(0, near);
    return byCosine.slice(0, near).filter((j) => there.includes(j)).length;
  });
  const here = all[word].byCosine.slice(0, near);
  const there = all[word].onMap.slice(0, near);
  const cosinesTo = (others) => others.map((j) => cosineOf(state, word, j));
  const groupsOf = (others) => others.map((j) => groups[j] || "—");
  return {
    chosen: words[word],
    group: groups[word] || "in no group",
    neighbours: here.map((j) => words[j]),
    neighbour_cosines: cosinesTo(here),
    neighbour_groups: groupsOf(here),
    neighbour_places: here.map((j) => all[word].onMap.indexOf(j) + 1),
    on_map: there.map((j) => words[j]),
    map_cosines: cosinesTo(there),
    map_groups: groupsOf(there),
    common: inBoth[word],
    agreement: (100 * sum(inBoth)) / (near * words.length),
    same_by_cosine: same(groups, all.map(({ byCosine }) => byCosine)),
    same_on_map: same(groups, all.map(({ onMap }) => onMap)),
    share: 100 * state.shares[state.table],
    count: words.length,
  };
}

/** The groups of a grouping, in the order of their first words. */
const groupNames = (groups) => [...new Set(groups)].filter(Boolean);

// --- the map -------------------------------------------------------------------------------------

const [ACROSS, UP] = [1.28, 1.08];

/** Places of one table as places of the drawing: equal units, the longer side from −1 to 1. */
function fitted(places) {
  const sides = [0, 1].map((axis) => places.map((place) => place[axis]));
  const middle = sides.map((values) => (Math.max(...values) + Math.min(...values)) / 2);
  const half = Math.max(...sides.map((values) => (Math.max(...values) - Math.min(...values)) / 2)) || 1;
  return places.map((place) => place.map((value, axis) => (value - middle[axis]) / half));
}

const WIDE = 400; // the drawing, in its own units

/** The area in which two boxes overlap. */
const overlap = (a, b) =>
  Math.max(0, Math.min(a.right, b.right) - Math.max(a.left, b.left)) *
  Math.max(0, Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top));

/** Where a word is written: near its mark, and on as little as possible of what is there. */
function freePlace([x, y], text, taken, high) {
  const long = 7.8 * text.length;
  const found = [];
  for (const far of [9, 18, 30, 44]) {
    for (let turn = 0; turn < 12; turn += 1) {
      const angle = (turn * Math.PI) / 6;
      // The box touches a circle around the mark.
      const [dx, dy] = [Math.cos(angle) * far, Math.sin(angle) * far];
      const left = clamp(x + dx - (long / 2) * (1 - Math.cos(angle)), 3, WIDE - long - 3);
      const middle = clamp(y + dy, 9, high - 9);
      const box = { left, right: left + long, top: middle - 8, bottom: middle + 8 };
      found.push({ box, cost: far + 3 * Math.abs(Math.sin(angle)) + sum(taken.map((each) => overlap(box, each))) });
    }
  }
  const { box } = found.reduce((best, each) => (each.cost < best.cost ? each : best));
  taken.push(box);
  return box;
}

function mapPanel(change, start) {
  const drawing = plane({ label: "", x: [-ACROSS, ACROSS], y: [-UP, UP], width: WIDE, image: true });
  const [lines, marks, leaders, texts] = upTo(4).map(() => svg("g"));
  const over = svg("text", { class: "label over" });
  drawing.element.append(lines, marks, leaders, texts, over);
  drawing.element.classList.add("map");

  let at = []; // where the words stand now, in the drawing
  // The word nearest to the pointer, if it is near enough for a finger.
  const under = (event) => {
    const [x, y] = drawing.at(drawing.from(event));
    const away = at.map(([px, py]) => Math.hypot(px - x, py - y));
    const closest = Math.min(...away);
    return closest < 24 ? away.indexOf(closest) : -1;
  };
  drawing.element.addEventListener("click", (event) => {
    const i = under(event);
    if (i >= 0) change({ word: i });
  });
  drawing.element.addEventListener("pointermove", (event) => {
    const i = event.pointerType === "touch" ? -1 : under(event);
    over.textContent = i < 0 ? "" : start.words[i];
    if (i < 0) return;
    over.setAttribute("x", clamp(at[i][0], 4 * start.words[i].length, WIDE - 4 * start.words[i].length).toFixed(1));
    over.setAttribute("y", (at[i][1] - 12).toFixed(1));
  });
  drawing.element.addEventListener("pointerleave", () => (over.textContent = ""));

  const legend = html("p", { class: "note legend" });
  const draw = (state, shown) => {
    const { words, word } = state;
    const places = fitted(state.places[state.table]);
    at = places.map((place) => drawing.at(place));
    const groups = state.groups[state.grouping];
    const names = groupNames(groups);
    const named = (list) => list.map((each) => words.indexOf(each));
    const [here, there] = [named(shown.neighbours), named(shown.on_map)];
    const join = (j, look) => {
      const each = line(drawing, { class: look });
      each.move(places[word], places[j]);
      return each;
    };
    lines.replaceChildren(
      ...there.filter((j) => !here.includes(j)).map((j) => join(j, "dashed")),
      ...here.map((j) => join(j, "path")),
    );
    const look = (i) => {
      const group = names.indexOf(groups[i]);
      const kind = i === word ? " chosen" : here.includes(i) ? " near" : "";
      return svg(
        "g",
        {
          class: `word ${group < 0 ? "none" : `token-${group}`}${kind}`,
          transform: `translate(${at[i].map((p) => p.toFixed(1)).join(" ")})`,
        },
        mark(MARKS[group] ?? "circle", group < 0 ? 2.2 : 4.5),
      );
    };
    marks.replaceChildren(
      ...upTo(words.length).filter((i) => i !== word).map(look),
      svg("circle", { class: "around", cx: at[word][0].toFixed(1), cy: at[word][1].toFixed(1), r: 10 }),
      look(word),
    );
    const written = [word, ...here, ...there.filter((j) => !here.includes(j))];
    const high = (WIDE * UP) / ACROSS;
    const taken = written.map((i) => ({ left: at[i][0] - 6, right: at[i][0] + 6, top: at[i][1] - 6, bottom: at[i][1] + 6 }));
    const boxes = written.map((i) => freePlace(at[i], words[i], taken, high));
    texts.replaceChildren(
      ...written.map((i, r) => {
        const kind = i === word ? "chosen" : here.includes(i) ? "near" : "on-map";
        const [x, y] = [boxes[r].left, boxes[r].bottom - 4];
        return svg("text", { class: `name ${kind}`, x: x.toFixed(1), y: y.toFixed(1) }, words[i]);
      }),
    );
    leaders.replaceChildren(
      ...written.map((i, r) => {
        const [x, y] = at[i];
        const [tx, ty] = [clamp(x, boxes[r].left, boxes[r].right), clamp(y, boxes[r].top, boxes[r].bottom)];
        return svg("line", { class: "dotted", x1: x, y1: y, x2: tx.toFixed(1), y2: ty.toFixed(1) });
      }),
    );
    legend.replaceChildren(
      ...names.map((name, i) => {
        const drawn = svg("g", { class: "word" }, mark(MARKS[i], 5));
        const look = { viewBox: "-8 -8 16 16", class: `key token-${i}`, "aria-hidden": "true" };
        return html("span", {}, svg("svg", look, drawn), name);
      }),
    );
    drawing.element.setAttribute(
      "aria-label",
      `Map of ${words.length} words, table ${state.table}. ${shown.chosen} and lines to its nearest words: ` +
        `by cosine ${shown.neighbours.join(", ")}; on the map ${shown.on_map.join(", ")}`,
    );
  };
  const note = html(
    "p",
    { class: "note" },
    "Solid lines: nearest by the cosine of all ", figure("width", 0), " numbers. Dashed: nearest on the map only, which shows ",
    figure("share", 0), " % of the variance.",
  );
  return { element: panel("The map", drawing.element, legend, note), draw };
}

// --- the lists -----------------------------------------------------------------------------------

function listsPanel(change) {
  const place = html("div");
  let built;
  let buttons;
  const draw = ({ near, words }, shown) => {
    if (near !== built) {
      built = near;
      // Pressed, a neighbour becomes the chosen word.
      buttons = ["neighbours", "on_map"].map((path) =>
        upTo(near).map((r) => {
          const element = button("", () => change({ word: words.indexOf(buttons.texts(path, r)) }));
          element.className = "go";
          element.append(figure(`${path}.${r}`));
          return element;
        }),
      );
      place.replaceChildren(
        table({
          caption: html("span", {}, "Nearest to ", figure("chosen"), " by cosine"),
          columns: ["word", "group", "cosine", "rank on the map"],
          rows: upTo(near).map((r) => [
            buttons[0][r], figure(`neighbour_groups.${r}`), figure(`neighbour_cosines.${r}`),
            figure(`neighbour_places.${r}`, 0),
          ]),
        }),
        table({
          caption: html("span", {}, "Nearest to ", figure("chosen"), " on the map"),
          columns: ["word", "group", "cosine"],
          rows: upTo(near).map((r) => [buttons[1][r], figure(`map_groups.${r}`), figure(`map_cosines.${r}`)]),
        }),
      );
    }
    buttons.texts = (path, r) => shown[path][r];
    upTo(near).forEach((r) => {
      buttons[0][r].setAttribute("aria-label", `${shown.neighbours[r]}, nearest by cosine, number ${r + 1}`);
      buttons[1][r].setAttribute("aria-label", `${shown.on_map[r]}, nearest on the map, number ${r + 1}`);
    });
  };
  return { element: place, draw };
}

const countsParts = () => [
  table({
    caption: html("span", {}, "Over all ", figure("count", 0), " words"),
    columns: ["what", "by cosine", "on the map"],
    rows: [
      [
        "the nearest is of the same group",
        html("span", {}, figure("same_by_cosine", 0), " %"),
        html("span", {}, figure("same_on_map", 0), " %"),
      ],
    ],
  }),
  html("p", { class: "note" }, "Of the ", figure("near", 0), " nearest, ", figure("agreement", 0), " % are the same by cosine and on the map."),
];

// --- all of it -----------------------------------------------------------------------------------

function render(context) {
  function build(change, start) {
    const named = (names) => names.map((name) => [name, name]);
    const sorted = start.words.map((name, i) => [i, name]);
    const word = choice({ label: "word", options: sorted, change: (i) => change({ word: i }) });
    const tables = Object.keys(start.places);
    const which = choice({ label: "table", options: named(tables), change: (name) => change({ table: name }) });
    const groupings = Object.keys(start.groups);
    const grouping = choice({ label: "marks show", options: named(groupings), change: (name) => change({ grouping: name }) });
    const near = slider({
      label: "neighbours",
      values: upTo(Math.min(MOST_NEAR, start.words.length - 1)).map((i) => i + 1),
      change: (n) => change({ near: n }),
    });
    const map = mapPanel(change, start);
    const lists = listsPanel(change);
    const sentence = html(
      "p",
      { class: "note" },
      figure("chosen"), " (", figure("group"), "): ", figure("common", 0), " of its ", figure("near", 0),
      " nearest by cosine are among the ", figure("near", 0), " nearest on the map.",
    );
    return {
      controls: [
        word.element,
        ...(tables.length > 1 ? [which.element] : []),
        ...(groupings.length > 1 ? [grouping.element] : []),
        near.element,
      ],
      parts: [
        html("div", { class: "panels" }, html("div", {}, map.element, countsParts()), html("div", {}, sentence, lists.element)),
      ],
      draw(state, shown) {
        word.move(state.word);
        which.move(state.table);
        grouping.move(state.grouping);
        near.move(state.near);
        map.draw(state, shown);
        lists.draw(state, shown);
      },
    };
  }

  return explorer(context, {
    name: "EmbeddingMap",
    label: "Embedding map",
    hint: "Choose a word: in the list, on the map, or among the neighbours. By keyboard: Tab, arrow keys, Enter.",
    traits: ["words", "cosines", "places", "shares", "groups", "width", "table", "grouping", "word", "near"],
    numbers,
    build,
    say: ({ near }, { chosen, neighbours, neighbour_cosines, on_map, common }) =>
      `${chosen}: nearest by cosine ${neighbours[0]}, ${number(neighbour_cosines[0])}; nearest on the map ${on_map[0]}. ` +
      `${common} of ${near} neighbours are the same.`,
  });
}

export default { render };
