import {
  choice,
  clamp,
  dot,
  explorer,
  figure,
  handle,
  html,
  line,
  mark,
  matmul,
  number,
  panel,
  plane,
  points,
  slider,
  sum,
  svg,
  symbol,
  table,
  upTo,
} from "./shared.js";

const PLACES = 64; // rows of the table
const WIDTHS = [4, 8, 16, 32, 64, 128];
const [BACK, ONWARD] = [-8, 32]; // the shortest and the longest step

/** How far hand i turns at each place. */
const frequency = (i, width) => 10000 ** ((-2 * i) / width);

/** Where a hand points that turns by omega at each place. */
const tip = (place, omega) => [Math.sin(place * omega), Math.cos(place * omega)];

/** A row of the table: the tips of all hands at one place. */
const row = (place, width) => upTo(width / 2).flatMap((i) => tip(place, frequency(i, width)));

/** The dot product of two places from their distance alone. */
const byDistance = (distance, width) =>
  sum(upTo(width / 2).map((i) => Math.cos(distance * frequency(i, width))));

/** What the page shows: the same as PositionExplorer.numbers in Python. */
export function numbers({ d_model: width, place, step, hand }) {
  const later = place + step;
  const omega = frequency(hand, width);
  const angle = step * omega;
  const [here, there] = [tip(place, omega), tip(later, omega)];
  const turn = [
    [Math.cos(angle), Math.sin(angle)],
    [-Math.sin(angle), Math.cos(angle)],
  ];
  return {
    later,
    omega,
    wavelength: (2 * Math.PI) / omega,
    angle,
    angles: [place * omega, later * omega],
    here,
    there,
    turn,
    turned: matmul(turn, here.map((x) => [x])).flat(),
    share: dot(here, there),
    product: dot(row(place, width), row(later, width)),
    elsewhere: dot(row(0, width), row(Math.abs(step), width)),
    by_distance: byDistance(step, width),
  };
}

// Both places stay on the table: whatever would lead out of it stops at its end.
const placeWithin = (place, step) => clamp(place, Math.max(0, -step), Math.min(PLACES, PLACES - step) - 1);
const stepWithin = (step, place) => clamp(step, Math.max(BACK, -place), Math.min(ONWARD, PLACES - 1 - place));

const letter = (name) => svg("tspan", { class: "letter" }, name);

const write = (element, [x, y]) => {
  element.setAttribute("x", x.toFixed(1));
  element.setAttribute("y", y.toFixed(1));
};

// --- the three drawings --------------------------------------------------------------------------

const MAP = 26; // how high the map is, in the units of its plane: places
const WAVE = { middle: 33, height: 4.5 };
const ENDS = { place: -5.6, later: 41.6 }; // where the two places are taken hold of
const LEVELS = upTo(17).map((level) => (level - 8) / 8); // of colour, from −1 to 1

function tablePanel(change, now) {
  const drawing = plane({
    label: "The sines of the table: a column for each place, a row for each hand",
    x: [-2.2, 65.2], y: [-8, 44],
  });
  // One path for each level: a few elements, however many cells the table has.
  const levels = LEVELS.map((level) => {
    const share = `${Math.round(100 * Math.abs(level))}%`;
    const colour = level > 0 ? "var(--plus)" : "var(--minus)";
    return svg("path", { style: `fill: color-mix(in srgb, ${colour} ${share}, var(--paper))` });
  });
  const colour = (width) => {
    const hands = width / 2;
    const paths = levels.map(() => []);
    for (const i of upTo(hands)) {
      for (const place of upTo(PLACES)) {
        const [sine] = tip(place, frequency(i, width));
        const [x, y] = drawing.at([place - 0.5, MAP - (MAP / hands) * i]);
        paths[Math.round(8 * sine) + 8].push(
          `M${x.toFixed(1)} ${y.toFixed(1)}h${drawing.unit.toFixed(2)}v${((drawing.unit * MAP) / hands).toFixed(2)}h${(-drawing.unit).toFixed(2)}z`,
        );
      }
    }
    levels.forEach((path, n) => path.setAttribute("d", paths[n].join("")));
  };
  const [left, upper] = drawing.at([-0.5, MAP]);
  const edge = svg("rect", {
    class: "rim", x: left, y: upper, width: drawing.unit * PLACES, height: drawing.unit * MAP,
  });
  const frame = svg("polygon", { class: "chosen" });
  // At both ends of the row, because a thin row would vanish under a frame.
  const pointers = svg("path", { class: "pointers" });
  const wave = svg("polyline", { class: "path" });
  const level = line(drawing, { class: "dotted" });
  level.move([-0.5, WAVE.middle], [PLACES - 0.5, WAVE.middle]);
  const turns = svg("path", { class: "dotted" }); // where the hand is back
  const ticks = [0, 10, 20, 30, 40, 50, 60].map((place) => {
    const [x, y] = drawing.at([place, -2.2]);
    return svg("text", { class: "tick", x, y, "aria-hidden": "true" }, String(place));
  });
  const value = (path) => svg("tspan", { "data-number": path, "data-digits": 0 });
  const texts = [
    svg("text", { class: "label" }, letter("p"), " = ", value("place")),
    svg("text", { class: "label" }, letter("p"), " + ", letter("k"), " = ", value("later")),
  ];
  const [first, second] = ["first", "second"].map((name) => line(drawing, { class: `column ${name}` }));
  const dots = ["circle", "square"].map((kind, n) =>
    svg("g", { class: `spot token-${n + 2}` }, mark(kind, 4)),
  );
  const grip = (name, look, y, act) =>
    handle(drawing, {
      name, look, step: 1, stride: 8, reach: 14,
      within: [[0, PLACES - 1], [y, y]],
      change: ([x]) => act(x),
    });
  const handles = [
    grip("place p, on the table", { size: 7, class: "token-2" }, ENDS.place,
      (x) => change({ place: placeWithin(x, now("step")) })),
    grip("place p + k, on the table", { kind: "square", size: 6, class: "token-3" }, ENDS.later,
      (x) => change({ step: stepWithin(x - now("place"), now("place")) })),
  ];
  drawing.element.append(
    svg("g", {}, levels), edge, frame, pointers, level, turns, wave, first, second, ...ticks, ...texts, ...dots,
    ...handles.map(({ element }) => element),
  );
  let coloured = 0; // the width that the map shows
  const draw = ({ d_model: width, place, hand }, { later, omega, wavelength, here, there }) => {
    if (coloured !== width) colour((coloured = width));
    const height = MAP / (width / 2);
    const [top, bottom] = [MAP - height * hand, MAP - height * (hand + 1)];
    frame.setAttribute("points", points(drawing, [
      [-0.5, top], [PLACES - 0.5, top], [PLACES - 0.5, bottom], [-0.5, bottom],
    ]));
    frame.style.display = height > 1 ? "" : "none";
    const middle = (top + bottom) / 2;
    const [[fromLeft, py], [fromRight]] = [drawing.at([-0.6, middle]), drawing.at([PLACES - 0.4, middle])];
    pointers.setAttribute("d", `M${fromLeft} ${py}l-7 -5v10zM${fromRight} ${py}l7 -5v10z`);
    const onWave = (x, sine) => [x, WAVE.middle + WAVE.height * sine];
    wave.setAttribute("points", points(drawing,
      upTo(8 * PLACES - 7).map((n) => onWave(n / 8, Math.sin((n / 8) * omega)))));
    const back = [];
    for (let x = place - Math.floor(place / wavelength) * wavelength; x < PLACES - 0.5; x += wavelength) {
      const [[px, low], [, high]] = [drawing.at([x, WAVE.middle - 5.5]), drawing.at([x, WAVE.middle + 5.5])];
      if (Math.abs(x - place) > 1e-6) back.push(`M${px.toFixed(1)} ${low.toFixed(1)}V${high.toFixed(1)}`);
    }
    turns.setAttribute("d", back.join(""));
    [place, later].forEach((x, n) => {
      const tipHere = n ? there : here;
      const end = n ? ENDS.later : ENDS.place;
      (n ? second : first).move([x, n ? end : -3], [x, n ? 0 : WAVE.middle + 6]);
      dots[n].setAttribute("transform", `translate(${drawing.at(onWave(x, tipHere[0])).join(" ")})`);
      handles[n].move([x, end]);
      handles[n].element.setAttribute("aria-valuetext", `place ${x}`);
      // The name stands on the side where there is room.
      const side = x > PLACES - 14 ? -1 : 1;
      const [px, py] = drawing.at([x, end]);
      texts[n].style.textAnchor = side > 0 ? "start" : "end";
      write(texts[n], [px + 13 * side, py + 5]);
    });
  };
  const note = html(
    "p", { class: "note" },
    "Below: the sines of all hands, red +1, blue −1, the fastest on top. Above: hand ", figure("hand", 0),
    ", marked below. Dotted: where it is back, after ", symbol("λ"), " = ", figure("wavelength", 1), " places.",
  );
  return { element: panel("1. Two places of the table", drawing.element, note), draw };
}

function clockPanel() {
  const drawing = plane({ label: "", x: [-1.75, 1.75], y: [-1.45, 1.45], image: true });
  const rim = svg("circle", { class: "rim", r: drawing.unit });
  rim.setAttribute("transform", `translate(${drawing.at([0, 0]).join(" ")})`);
  const noon = line(drawing, { class: "axis" });
  noon.move([0, 0.9], [0, 1]);
  const between = svg("path", { class: "steps" });
  const arc = svg("polyline", { class: "path" });
  const head = svg("path", { class: "head", d: "M0 -4.5L9 0 0 4.5z" });
  const hands = ["first", "second"].map((name, n) => line(drawing, { class: `arrow ${name} token-${n + 2}` }));
  const tips = ["circle", "square"].map((kind, n) => svg("g", { class: `spot token-${n + 2}` }, mark(kind, 5)));
  const texts = [[letter("p")], [letter("p"), " + ", letter("k")]].map((text) =>
    svg("text", { class: "label" }, text));
  drawing.element.append(rim, noon, between, arc, head, ...hands, ...tips, ...texts);
  const draw = ({ place, step, hand }, { later, omega, here, there, angle }) => {
    [here, there].forEach((end, n) => {
      hands[n].move([0, 0], end);
      tips[n].setAttribute("transform", `translate(${drawing.at(end).join(" ")})`);
      // p + k stands further out, so that both can be read where the hand hardly moves.
      const far = n ? 1.38 : 1.15;
      const [x, y] = drawing.at(end.map((x) => far * x));
      write(texts[n], [x + (n ? 14 * end[0] : 0), y + 5]);
    });
    const low = Math.min(place, later);
    between.setAttribute("d", upTo(Math.abs(step) + 1).map((n) => {
      const [inner, outer] = [0.94, 1].map((r) => drawing.at(tip(low + n, omega).map((x) => r * x)));
      return `M${inner.map((x) => x.toFixed(1)).join(" ")}L${outer.map((x) => x.toFixed(1)).join(" ")}`;
    }).join(""));
    // A little further out at every turn, so that a long way is a spiral and not a ring.
    const way = upTo(201).map((n) => {
      const radius = 0.4 + 0.35 * (n / 200) * Math.min(1, Math.abs(angle) / 6.3);
      return tip(place + (step * n) / 200, omega).map((x) => radius * x);
    });
    arc.setAttribute("points", points(drawing, way));
    const [[x1, y1], [x2, y2]] = way.slice(-2).map(drawing.at);
    const slope = (Math.atan2(y2 - y1, x2 - x1) * 180) / Math.PI;
    head.setAttribute("transform", `translate(${x2.toFixed(1)} ${y2.toFixed(1)}) rotate(${slope.toFixed(1)}) translate(-5 0)`);
    head.style.display = Math.abs(angle) > 0.06 ? "" : "none"; // too short a way for an arrow
    drawing.element.setAttribute(
      "aria-label",
      `Hand ${hand} as on a clock: from place ${place} to place ${later} it turns by ${number(angle)}`,
    );
  };
  const matrix = (label, rows) =>
    html("span", { class: "matrix", role: "group", "aria-label": label },
      rows.map((paths) => html("span", {}, paths.map((path) => figure(path)))));
  const equation = html(
    "p", { class: "equation" },
    matrix("The turn", [["turn.0.0", "turn.0.1"], ["turn.1.0", "turn.1.1"]]),
    matrix("The hand at p", [["here.0"], ["here.1"]]), " = ",
    matrix("The hand at p, turned", [["turned.0"], ["turned.1"]]),
  );
  const note = html(
    "p", { class: "note" },
    "The step turns the hand by ", symbol("k"), symbol("ω"), " = ", figure("angle"),
    ". In the matrix there is no ", symbol("p"), ". In the table, the hand at ", symbol("p"), " + ", symbol("k"),
    " has the sine ", figure("there.0"), " and the cosine ", figure("there.1"), ".",
  );
  return { element: panel("2. The step is a turn", drawing.element, equation, note), draw };
}

function productPanel() {
  const [x, y] = [[-9, 66], [-10, 38]];
  const drawing = plane({ label: "", x, y, image: true });
  const high = 30; // where D/2 is
  const curve = svg("polyline", { class: "path" });
  const spots = svg("path", { class: "spots" });
  const down = line(drawing, { class: "dashed" });
  const here = svg("g", { class: "here" }, mark("circle", 6));
  const rules = [0, 0.5, 1].map((share) => {
    const rule = line(drawing, { class: share ? "rule" : "axis" });
    rule.move([0, share * high], [PLACES - 1, share * high]);
    const [px, py] = drawing.at([-1.5, share * high]);
    return { share, rule, text: svg("text", { class: "end", x: px, y: py + 3.5 }) };
  });
  const ticks = [0, 10, 20, 30, 40, 50, 60].map((distance) => {
    const [px, py] = drawing.at([distance, -6]);
    return svg("text", { class: "tick", x: px, y: py }, String(distance));
  });
  const [ax, ay] = drawing.at([(PLACES - 1) / 2, -9.2]);
  drawing.element.append(
    svg("g", { class: "grid" }, rules.flatMap(({ rule, text }) => [rule, text])), ...ticks,
    svg("text", { class: "tick", x: ax, y: ay }, "distance"), down, curve, spots, here,
  );
  const draw = ({ d_model: width, step }, { product }) => {
    const at = (value) => (value / (width / 2)) * high;
    for (const { share, text } of rules) text.textContent = number((share * width) / 2, 0);
    const places = upTo(PLACES).map((distance) => [distance, at(byDistance(distance, width))]);
    curve.setAttribute("points", points(drawing, places));
    spots.setAttribute("d", places.map((place) => {
      const [px, py] = drawing.at(place);
      return `M${(px - 1.4).toFixed(1)} ${py.toFixed(1)}a1.4 1.4 0 1 0 2.8 0 1.4 1.4 0 1 0 -2.8 0`;
    }).join(""));
    const spot = [Math.abs(step), at(product)];
    down.move(spot, [spot[0], -4]);
    here.setAttribute("transform", `translate(${drawing.at(spot).join(" ")})`);
    drawing.element.setAttribute(
      "aria-label",
      `The dot product of two places against their distance, from ${width / 2} at distance 0; at distance ${Math.abs(step)} it is ${number(product)}`,
    );
  };
  const note = html(
    "p", { class: "note" },
    "The dot is the dot product of the rows ", figure("place", 0), " and ", figure("later", 0),
    ". Move ", symbol("p"), ": it stays.",
  );
  return { element: panel("3. The dot product knows the distance", drawing.element, note), draw };
}

// --- all of it -----------------------------------------------------------------------------------

function render(context) {
  const now = (trait) => context.model.get(trait);

  function build(change) {
    const drawings = [tablePanel(change, now), clockPanel(), productPanel()];
    const width = choice({
      label: ["width ", symbol("D")],
      options: WIDTHS.map((each) => [each, String(each)]),
      change: (value) => change({ d_model: value, hand: Math.min(now("hand"), value / 2 - 1) }),
    });
    const place = slider({
      label: ["place ", symbol("p")],
      values: upTo(PLACES),
      change: (value) => change({ place: placeWithin(value, now("step")) }),
    });
    const step = slider({
      label: ["step ", symbol("k")],
      values: upTo(ONWARD - BACK + 1).map((n) => n + BACK),
      show: (value) => number(value, 0),
      change: (value) => change({ step: stepWithin(value, now("place")) }),
    });
    const hand = slider({
      label: ["hand ", symbol("i")],
      values: upTo(WIDTHS.at(-1) / 2),
      change: (value) => change({ hand: value }),
    });
    const handTable = table({
      caption: html("span", {}, "Hand ", figure("hand", 0), ": ", symbol("ω"), " = ", figure("omega", 4)),
      columns: ["place", "angle", "sine", "cosine"],
      rows: [
        [figure("place", 0), figure("angles.0"), figure("here.0"), figure("here.1")],
        [figure("later", 0), figure("angles.1"), figure("there.0"), figure("there.1")],
      ],
    });
    const productTable = table({
      caption: "Dot products",
      columns: ["of what", "dot product"],
      rows: [
        [html("span", {}, "this hand, both places"), figure("share")],
        [html("span", {}, "the rows ", symbol("p"), " and ", symbol("p"), " + ", symbol("k")), figure("product")],
        [html("span", {}, "the rows 0 and |", symbol("k"), "|"), figure("elsewhere")],
        [html("span", {}, "sum of all cos ", symbol("k"), symbol("ω")), figure("by_distance")],
      ],
    });
    return {
      controls: [width.element, place.element, step.element, hand.element],
      parts: [
        html("div", { class: "panels" }, drawings.map(({ element }) => element), html("div", {}, handTable, productTable)),
      ],
      draw(state, shown) {
        hand.element.querySelector("input").max = state.d_model / 2 - 1;
        width.move(state.d_model);
        place.move(state.place);
        step.move(state.step);
        hand.move(state.hand);
        for (const drawing of drawings) drawing.draw(state, shown);
      },
    };
  }

  return explorer(context, {
    name: "PositionExplorer",
    label: "Position explorer",
    hint: "Move the sliders, or drag p and p + k on the table. p takes p + k along with it.",
    traits: ["d_model", "place", "step", "hand"],
    numbers,
    build,
    say: ({ place, step, hand }, { later, angle, product }) =>
      `Places ${place} and ${later}: dot product ${number(product)}. ` +
      `The step of ${number(step, 0)} turns hand ${hand} by ${number(angle)}.`,
  });
}

export default { render };
