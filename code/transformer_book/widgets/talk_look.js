// How “Talk to the model” draws: maps of numbers, what differs between two sentences, and what a
// change has moved inside.

import { html, number, sum, svg, upTo } from "./shared.js";
import { KINDS } from "./talk_state.js";

const percent = (p) => `${number(100 * p, 1)} %`;

// --- keeping the focus ---------------------------------------------------------------------------

/**
 * Other children in the place of the present ones. What has the focus keeps it: by its mark
 * `data-at`, else the focus goes to `otherwise`, and never to the page.
 */
export function swap(box, children, otherwise = null) {
  const focused = box.getRootNode().activeElement;
  const inside = focused && focused !== box && box.contains(focused);
  const at = inside ? focused.closest("[data-at]")?.dataset.at : null;
  box.replaceChildren(...children.flat(Infinity));
  if (!inside) return;
  const again = at && box.querySelector(`[data-at="${CSS.escape(at)}"]`);
  (again || otherwise || box.querySelector("button:not([tabindex='-1']), select, input") || box).focus({ preventScroll: true });
}

// --- maps of numbers -----------------------------------------------------------------------------

const CELL = 20;
const LETTER = 7.5;
const LONGEST = 18; // letters of a name beside a map

/**
 * A map of numbers: a cell for each, the stronger the number, the fuller the cell; negative ones
 * have another colour and a minus sign. A pointer on a cell shows its number below.
 *
 * rows, columns: names, of columns perhaps none; value(r, c); label: what screen readers hear;
 * say(r, c): the sentence about a cell; chosen: a row with a frame; pick(r, c): when one is pressed; told: the sentence to begin with.
 */
export function mapped({ rows, columns = null, n_columns = columns?.length, value, most, label, say, chosen = -1, pick = null, told = "", cell = CELL }) {
  const short = (text) => (text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text);
  const longest = (names) => Math.min(LONGEST, Math.max(0, ...names.map((each) => each.length)));
  const [left, top] = [longest(rows) * LETTER + 10, columns ? longest(columns) * LETTER + 10 : 4];
  const [width, height] = [left + n_columns * cell + 4, top + rows.length * cell + 4];
  const drawing = svg("svg", { class: "large", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
  drawing.style.width = `${width}px`;
  drawing.append(
    ...rows.map((each, r) => svg("text", { x: left - 6, y: top + (r + 0.7) * cell, "text-anchor": "end", class: r === chosen ? "chosen" : "" }, short(each))),
    ...(columns ?? []).map((each, c) => svg("text", { transform: `translate(${left + (c + 0.7) * cell} ${top - 6}) rotate(-90)` }, short(each))),
    svg("rect", { class: "sheet", x: left, y: top, width: n_columns * cell, height: rows.length * cell }),
  );
  const largest = most ?? Math.max(1e-9, ...rows.flatMap((_, r) => upTo(n_columns).map((c) => Math.abs(value(r, c)))));
  for (const r of rows.keys()) {
    for (let c = 0; c < n_columns; c += 1) {
      const share = Math.min(1, Math.abs(value(r, c)) / largest);
      if (!(share >= 0.005)) continue;
      const [x, y] = [left + c * cell, top + r * cell];
      const negative = value(r, c) < 0;
      drawing.append(svg("rect", { class: negative ? "weight less" : "weight", x, y, width: cell, height: cell, "fill-opacity": share.toFixed(3) }));
      if (negative && share >= 0.1) drawing.append(svg("path", { class: "minus", d: `M${x + cell * 0.3} ${y + cell / 2}h${cell * 0.4}` }));
    }
  }
  if (chosen >= 0) drawing.append(svg("rect", { class: "asked", x: left, y: top + chosen * cell, width: n_columns * cell, height: cell }));
  const readout = html("p", { class: "readout", "aria-hidden": "true" }, told || "Point at a cell, or touch it: its number stands here.");
  const place = (event) => {
    const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(drawing.getScreenCTM().inverse());
    const [r, c] = [Math.floor((y - top) / cell), Math.floor((x - left) / cell)];
    return r >= 0 && r < rows.length && c >= 0 && c < n_columns ? [r, c] : null;
  };
  const read = (event) => {
    const at = place(event);
    if (at) readout.textContent = say(...at);
  };
  drawing.addEventListener("pointermove", read);
  drawing.addEventListener("pointerdown", read);
  if (pick) drawing.addEventListener("click", (event) => place(event) && pick(...place(event)));
  return { drawing, readout };
}

/** A map of one head as a small picture: one pixel for each weight, (T, S) of them. */
export function thumbnail(T, S, value) {
  const canvas = html("canvas", { width: S, height: T, "aria-hidden": "true" });
  const context = canvas.getContext("2d");
  const image = context.createImageData(S, T);
  for (let i = 0; i < T * S; i += 1) {
    // Black with this opacity; the style sheet inverts it on dark paper.
    image.data[4 * i + 3] = Math.round(255 * Math.min(1, Math.abs(value(i))));
  }
  context.putImageData(image, 0, 0);
  return canvas;
}

// --- what differs --------------------------------------------------------------------------------

/** For each part of two lists, whether it belongs to their longest common subsequence. */
export function common(left, right) {
  const length = Array.from({ length: left.length + 1 }, () => new Uint16Array(right.length + 1));
  for (let i = left.length - 1; i >= 0; i -= 1) {
    for (let j = right.length - 1; j >= 0; j -= 1) {
      length[i][j] = left[i] === right[j] ? length[i + 1][j + 1] + 1 : Math.max(length[i + 1][j], length[i][j + 1]);
    }
  }
  const kept = [left.map(() => false), right.map(() => false)];
  for (let i = 0, j = 0; i < left.length && j < right.length; ) {
    if (left[i] === right[j]) kept[0][i++] = kept[1][j++] = true;
    else if (length[i + 1][j] >= length[i][j + 1]) i += 1;
    else j += 1;
  }
  return kept;
}

/** A sentence whose words are marked where `other` has them not; the text stays the same. */
export function marked(text, other, kind) {
  const parts = text.split(/(\s+)/);
  const words = parts.filter((_, i) => i % 2 === 0);
  const [kept] = common(words, other.split(/\s+/));
  return parts.map((part, i) => (i % 2 || kept[i / 2] || !part ? part : html("mark", { class: kind }, part)));
}

// --- what has moved inside -----------------------------------------------------------------------

/** How many first tokens two translations share. */
function shared(a, b) {
  const first = a.findIndex((token, i) => token !== b[i]);
  return first < 0 ? a.length : first;
}

/**
 * For each head the share of its attention that lies elsewhere than before: half the sum of what
 * each row has gained and lost, on average over the rows in which both have read the same.
 *
 * [{kind, layer, head, moved}, …], what moved most first.
 */
export function moved_heads(before, after) {
  const rows = shared(before.translation.ids, after.translation.ids) + 1; // <sos> stands in front
  return Object.keys(KINDS)
    .flatMap((kind) =>
      before.attention[kind].flatMap(({ H, T, S, weights }, layer) => {
        const other = after.attention[kind][layer];
        const n = kind === "encoder" ? T : Math.min(T, other.T, rows);
        const at = ({ T: height, S: width, weights: all }, h, t, s) => (s < width ? all[(h * height + t) * width + s] : 0);
        const width = Math.max(S, other.S);
        return upTo(H).map((head) => {
          const of_row = (t) => sum(upTo(width).map((s) => Math.abs(at({ T, S, weights }, head, t, s) - at(other, head, t, s)))) / 2;
          return { kind, layer, head, moved: sum(upTo(n).map(of_row)) / n };
        });
      }),
    )
    .sort((a, b) => b.moved - a.moved);
}

/** Two or three sentences: which words are others, which heads look elsewhere, what is less sure. */
export function told_of(before, after) {
  const [ours, theirs] = [before.translation, after.translation];
  const n = shared(ours.ids, theirs.ids);
  const same = n === ours.ids.length && n === theirs.ids.length;
  const others = common(ours.tokens, theirs.tokens)[1].filter((kept) => !kept).length;
  const words = same
    ? "The words stay."
    : others
      ? `${others} of ${theirs.tokens.length} tokens ${others === 1 ? "is another one" : "are other ones"}, from step ${n + 1} on.`
      : `The words end earlier, after step ${n}.`;
  const heads = moved_heads(before, after).filter(({ moved }) => moved >= 0.005);
  const total = Object.values(before.attention).flat().reduce((n_heads, { H }) => n_heads + H, 0);
  const name = ({ kind, layer, head, moved }) => `layer ${layer + 1}, head ${head + 1} of ${KINDS[kind][1]} moved most: ${number(100 * moved, 0)} % of its attention lies elsewhere`;
  const looked = heads.length
    ? `Inside, ${name(heads[0])}; ${heads.length} of ${total} heads moved.`
    : `Inside, none of the ${total} heads looks elsewhere by half a per cent.`;
  const step = upTo(n).sort((i, j) => gap(j) - gap(i))[0];
  function gap(i) {
    return Math.abs(theirs.probabilities[i] - ours.probabilities[i]);
  }
  const sure =
    step === undefined || gap(step) < 0.0005
      ? "Each shared word is as probable as before."
      : `“${ours.tokens[step]}” had a probability of ${percent(ours.probabilities[step])} and has ${percent(theirs.probabilities[step])}.`;
  return `${words} ${looked} ${n ? sure : ""}`.trim();
}
