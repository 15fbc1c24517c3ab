// Taylor and Laurent series about x = 0, exactly, as transformer_book.tasks.series has them.
//
// The model of the series writes what looks right; this file knows what is right, and what has no
// series. It mirrors expressions.py and expansion.py: the same canonical forms, the same sentences.

import { brief } from "./tokens.js";

const VARIABLE = "x";
const FUNCTIONS = ["exp", "sin", "cos", "tan", "sinh", "cosh", "tanh"];
const MAX_EXPONENT = 20;
const MAX_TOKENS = 200;
const MAX_BITS = 2000;
const ORDER = 6;
const DEEPEST = 60;
const MOST_PRODUCTS = 100_000;
const GRAMMAR =
  `whole numbers, single letters, + - * / **, parentheses, whole exponents up to ${MAX_EXPONENT}, and ` +
  `${FUNCTIONS.join(" ")} of an argument that vanishes at x = 0, such as sin(3*a*x)`;

class NotInGrammar extends Error {}
class Unknown extends Error {} // a divisor has no known term: more terms are needed

// --- fractions -----------------------------------------------------------------------------------

const absolute = (a) => (a < 0n ? -a : a);

function gcd(a, b) {
  [a, b] = [absolute(a), absolute(b)];
  while (b) [a, b] = [b, a % b];
  return a;
}

const lcm = (a, b) => (a && b ? absolute(a * b) / gcd(a, b) : 0n);

/** n/d in lowest terms, d above zero. */
function fraction(n, d = 1n) {
  const common = gcd(n, d) * (d < 0n ? -1n : 1n);
  return { n: n / common, d: d / common };
}

const ZERO = fraction(0n);
const ONE = fraction(1n);
const plus = (a, b) => fraction(a.n * b.d + b.n * a.d, a.d * b.d);
const times = (a, b) => fraction(a.n * b.n, a.d * b.d);
const over = (a, b) => fraction(a.n * b.d, a.d * b.n);
const minus = (a) => ({ n: -a.n, d: a.d });

/** a ** exponent, for whole exponents. */
const raised = (a, exponent) =>
  exponent < 0 ? fraction(a.d ** BigInt(-exponent), a.n ** BigInt(-exponent)) : fraction(a.n ** BigInt(exponent), a.d ** BigInt(exponent));

const bits = (a) => absolute(a).toString(2).length;

// Repeated powers would otherwise make numbers that fill the memory.
function bounded(value) {
  if (Math.max(bits(value.n), bits(value.d)) > MAX_BITS) throw new NotInGrammar(`a number in it has more than ${MAX_BITS} binary digits`);
  return value;
}

// --- expressions: a sum is a list of terms {number, factors}, a factor {base, exponent} ----------
// A base is a letter, {function, argument} or {sum}.

/** Values that are equal have equal keys. */
const key_of_base = (base) => {
  if (typeof base === "string") return base;
  return base.sum ? `(${key_of(base.sum)})` : `${base.function}(${key_of(base.argument)})`;
};
const key_of_factors = (factors) => factors.map(({ base, exponent }) => `${key_of_base(base)}^${exponent}`).join("*");
const key_of = (sum) => sum.map(({ number: { n, d }, factors }) => `${n}/${d}*${key_of_factors(factors)}`).join("+");

/** Python's order of tuples: entry by entry, the shorter one first. */
function compare(a, b) {
  if (Array.isArray(a)) {
    for (let i = 0; i < Math.min(a.length, b.length); i += 1) {
      const order = compare(a[i], b[i]);
      if (order) return order;
    }
    return a.length - b.length;
  }
  if (typeof a === "object") return compare(a.n * b.d, b.n * a.d); // fractions
  return a < b ? -1 : Number(a > b);
}

const order_of_base = (base) => {
  if (typeof base === "string") return [0, base];
  if (base.sum) return [2, ...base.sum.map(order_of_term)];
  return [1, FUNCTIONS.indexOf(base.function), ...base.argument.map(order_of_term)];
};
const order_of_term = ({ number, factors }) => [
  factors.length ? 0 : 1,
  factors.map(({ base, exponent }) => [order_of_base(base), -exponent]),
  number,
];

/** Sorted by the order of what `order` makes of each. */
function sorted(values, order) {
  const decorated = values.map((value) => [order(value), value]);
  return decorated.sort(([a], [b]) => compare(a, b)).map(([, value]) => value);
}

function sum_of(terms) {
  const found = new Map();
  for (const { number, factors } of terms) {
    const key = key_of_factors(factors);
    const before = found.get(key);
    found.set(key, { number: before ? plus(before.number, number) : number, factors });
  }
  const kept = [...found.values()].filter(({ number }) => number.n !== 0n);
  return sorted(kept.map(({ number, factors }) => ({ number: bounded(number), factors })), order_of_term);
}

function product_of(value, factors) {
  const found = new Map(); // key → {base, exponent}
  const put = (base, exponent) => {
    const key = key_of_base(base);
    found.set(key, { base, exponent: (found.get(key)?.exponent ?? 0) + exponent });
  };
  let exponential = [];
  for (let { base, exponent } of factors) {
    if (base.function === "exp") {
      const multiple = spread(base.argument).map((term) => ({ ...term, number: times(term.number, fraction(BigInt(exponent))) }));
      exponential = sum_of([...exponential, ...multiple]);
      continue;
    }
    if (base.sum) {
      const [content, rest] = primitive(base.sum);
      value = times(value, raised(content, exponent));
      base = { sum: rest };
    }
    put(base, exponent);
  }
  if (exponential.length) {
    const base = { function: "exp", argument: gathered(exponential) };
    found.set(key_of_base(base), { base, exponent: 1 });
  }
  if (value.n === 0n) return [];
  for (const { exponent } of found.values()) {
    if (Math.abs(exponent) > MAX_EXPONENT) throw new NotInGrammar(`the exponent ${brief(String(exponent))} is beyond ${MAX_EXPONENT}`);
  }
  const kept = sorted([...found.values()].filter(({ exponent }) => exponent), ({ base }) => order_of_base(base));
  if (kept.length === 1 && kept[0].base.sum && kept[0].exponent === 1) {
    return kept[0].base.sum.map(({ number, factors: rest }) => ({ number: bounded(times(number, value)), factors: rest }));
  }
  return [{ number: bounded(value), factors: kept }];
}

/** A number times a sum with whole coprime numbers, the first of them positive. */
function primitive(sum) {
  const above = sum.reduce((common, { number }) => gcd(common, number.n), 0n);
  const below = sum.reduce((common, { number }) => lcm(common, number.d), 1n);
  let content = fraction(above, below);
  if (sum[0].number.n < 0n) content = minus(content);
  return [content, sum.map(({ number, factors }) => ({ number: over(number, content), factors }))];
}

const is_x = ({ base, exponent }) => base === VARIABLE && exponent === 1;
const X = { base: VARIABLE, exponent: 1 };

/** The terms of an exponent, those of x*(a+b) one by one. */
const spread = (argument) =>
  argument.flatMap(({ number, factors }) => {
    const [first, second] = factors;
    if (factors.length !== 2 || !is_x(first) || !second.base.sum || second.exponent !== 1) return [{ number, factors }];
    return second.base.sum.flatMap((inner) => product_of(times(number, inner.number), [...inner.factors, X]));
  });

/** An exponent of several terms, x before the others in parentheses: x*(a+b). */
function gathered(argument) {
  if (argument.length < 2 || !argument.every(({ factors }) => factors.some(is_x))) return argument;
  let [content, inner] = primitive(sum_of(argument.map(({ number, factors }) => ({ number, factors: factors.filter((each) => !is_x(each)) }))));
  if (content.n < 0n) [content, inner] = [minus(content), negated(inner)];
  return [{ number: content, factors: [X, { base: { sum: inner }, exponent: 1 }] }];
}

const negated = (sum) => sum.map(({ number, factors }) => ({ number: minus(number), factors }));

function as_term(sum) {
  if (sum.length === 1) return sum[0];
  return sum.length ? { number: ONE, factors: [{ base: { sum }, exponent: 1 }] } : { number: ZERO, factors: [] };
}

function multiplied(left, right) {
  const [a, b] = [as_term(left), as_term(right)];
  return product_of(times(a.number, b.number), [...a.factors, ...b.factors]);
}

function power(sum, exponent) {
  const { number, factors } = as_term(sum);
  if (absolute(exponent) > MAX_EXPONENT) throw new NotInGrammar(`the exponent ${brief(String(exponent))} is beyond ${MAX_EXPONENT}`);
  if (number.n === 0n && exponent <= 0n) throw new NotInGrammar(exponent ? "it divides by zero" : "0**0 has no value");
  const n = Number(exponent);
  return product_of(raised(number, n), factors.map((factor) => ({ base: factor.base, exponent: factor.exponent * n })));
}

// --- writing -------------------------------------------------------------------------------------

/** Terms, each with its minus sign if it has one, as a sum. */
const join = (terms) => terms.map((term) => (term.startsWith("-") ? term : `+${term}`)).join("").replace(/^\+/, "");

/** A product of a number and powers, negative powers behind one `/`: -3*a**2*x/(2*b). */
function write_term(numerator, denominator, factors) {
  const above = absolute(numerator) === 1n ? [] : [String(absolute(numerator))];
  const below = denominator === 1n ? [] : [String(denominator)];
  for (const [base, exponent] of factors) {
    const size = Math.abs(exponent);
    (exponent > 0 ? above : below).push(size === 1 ? base : `${base}**${size}`);
  }
  const text = `${numerator < 0n ? "-" : ""}${above.join("*") || "1"}`;
  if (!below.length) return text;
  return `${text}/${below.length === 1 ? below[0] : `(${below.join("*")})`}`;
}

const write = (sum) =>
  join(sum.map(({ number, factors }) => write_term(number.n, number.d, factors.map(({ base, exponent }) => [write_base(base), exponent])))) || "0";

function write_base(base) {
  if (typeof base === "string") return base;
  return base.sum ? `(${write(base.sum)})` : `${base.function}(${write(base.argument)})`;
}

// --- reading -------------------------------------------------------------------------------------

class Syntax extends Error {}

/** The tree of an expression, by Python's rules, from its tokens. */
class Parser {
  constructor(tokens) {
    // Digits that stand together are one number, and two strokes one operator.
    this.pieces = tokens.reduce((pieces, token) => {
      const last = pieces.at(-1) ?? "";
      if ((/^\d$/.test(token) && /^\d+$/.test(last)) || (token === "/" && last === "/")) pieces.push(pieces.pop() + token);
      else pieces.push(token);
      return pieces;
    }, []);
    this.at = 0;
  }

  get next() {
    return this.pieces[this.at];
  }

  take(piece) {
    if (this.next !== piece) return false;
    this.at += 1;
    return true;
  }

  need(piece) {
    if (!this.take(piece)) throw new Syntax();
  }

  whole() {
    return this.items(undefined, false);
  }

  /** What stands between parentheses, or all of it: one expression, or a tuple. */
  items(end, starred) {
    const found = [];
    let comma = false;
    while (this.next !== end) {
      if (found.length && !comma) throw new Syntax();
      found.push(starred && this.take("*") ? { kind: "starred", value: this.sum() } : this.sum());
      comma = this.take(",");
    }
    if (end) this.need(end);
    const tuple = comma || found.length !== 1;
    if (!tuple && found[0].kind === "starred") throw new Syntax();
    if (!found.length && !end) throw new Syntax();
    return tuple ? { kind: "tuple", items: found } : found[0];
  }

  left(signs, operand) {
    let tree = operand();
    while (signs.includes(this.next)) {
      const sign = this.pieces[this.at++];
      tree = { kind: "binary", sign, left: tree, right: operand() };
    }
    return tree;
  }

  sum() {
    return this.left(["+", "-"], () => this.left(["*", "/", "//"], () => this.factor()));
  }

  factor() {
    for (const sign of ["-", "+"]) if (this.take(sign)) return { kind: "unary", sign, value: this.factor() };
    const base = this.atom();
    return this.take("**") ? { kind: "binary", sign: "**", left: base, right: this.factor() } : base;
  }

  atom() {
    const piece = this.next;
    this.at += 1;
    if (piece === undefined) throw new Syntax();
    if (piece === "(") return this.items(")", true);
    if (/^\d+$/.test(piece)) {
      if (/^0+[1-9]/.test(piece)) throw new Syntax(); // 07 is not a number
      return { kind: "number", value: BigInt(piece) };
    }
    if (piece.startsWith("O(")) {
      const exponent = { kind: "number", value: BigInt(piece.match(/\d+/)[0]) };
      if (/\*\*0+[1-9]/.test(piece)) throw new Syntax();
      const power_ = { kind: "binary", sign: "**", left: { kind: "name", name: "x" }, right: exponent };
      return { kind: "call", name: "O", items: [power_], keywords: [] };
    }
    if (!/^[a-z]+$/.test(piece)) throw new Syntax();
    return this.take("(") ? this.call(piece) : { kind: "name", name: piece };
  }

  call(name) {
    const [items, keywords] = [[], []];
    let comma = true;
    while (this.next !== ")") {
      if (!comma) throw new Syntax();
      if (this.take("**")) keywords.push(this.sum());
      else if (this.take("*")) items.push({ kind: "starred", value: this.sum() });
      else {
        if (keywords.length) throw new Syntax();
        items.push(this.sum());
      }
      comma = this.take(",");
    }
    this.need(")");
    if (comma && !items.length && !keywords.length && this.pieces[this.at - 2] === ",") throw new Syntax();
    return { kind: "call", name, items, keywords };
  }
}

const LEVELS = { "+": 1, "-": 1, "*": 2, "/": 2, "//": 2, unary: 3, "**": 4 };
const ATOM = 6;

/** A tree as Python writes it: spaces around operators, parentheses where they are needed. */
function unparse(tree, level = 0) {
  const list = (items) => items.map((each) => unparse(each)).join(", ");
  const inside = (own, text) => (level > own ? `(${text})` : text);
  switch (tree.kind) {
    case "number":
      return String(tree.value);
    case "name":
      return tree.name;
    case "unary":
      return inside(LEVELS.unary, `${tree.sign}${unparse(tree.value, LEVELS.unary)}`);
    case "binary": {
      const own = LEVELS[tree.sign];
      const [left, right] = tree.sign === "**" ? [own + 1, own] : [own, own + 1];
      return inside(own, `${unparse(tree.left, left)} ${tree.sign} ${unparse(tree.right, right)}`);
    }
    case "starred":
      return `*${unparse(tree.value, LEVELS.unary)}`;
    case "tuple":
      return `(${list(tree.items)}${tree.items.length === 1 ? "," : ""})`;
    default:
      return `${tree.name}(${[...tree.items.map((each) => unparse(each)), ...tree.keywords.map((each) => `**${unparse(each)}`)].join(", ")})`;
  }
}

const quoted = (tree) => brief(`'${unparse(tree, tree.kind === "tuple" ? ATOM : 0)}'`, "'");

function build(tree) {
  if (tree.kind === "number") return sum_of([{ number: fraction(tree.value), factors: [] }]);
  if (tree.kind === "name" && tree.name.length === 1) return [{ number: ONE, factors: [{ base: tree.name, exponent: 1 }] }];
  if (tree.kind === "unary") return tree.sign === "-" ? negated(build(tree.value)) : build(tree.value);
  if (tree.kind === "binary" && tree.sign !== "//") {
    const left = build(tree.left);
    if (tree.sign === "**") return power(left, exponent_of(tree.right));
    const right = build(tree.right);
    if (tree.sign === "+") return sum_of([...left, ...right]);
    if (tree.sign === "-") return sum_of([...left, ...negated(right)]);
    return multiplied(left, tree.sign === "*" ? right : power(right, -1n));
  }
  if (tree.kind === "call" && FUNCTIONS.includes(tree.name)) {
    if (tree.items.length !== 1) throw new NotInGrammar(`${tree.name} takes one argument`);
    return product_of(ONE, [{ base: { function: tree.name, argument: build(tree.items[0]) }, exponent: 1 }]);
  }
  throw new NotInGrammar(`${quoted(tree)} does not belong there`);
}

function exponent_of(tree) {
  const sum = build(tree);
  if (!sum.length) return 0n;
  const { number, factors } = sum[0];
  if (sum.length > 1 || factors.length || number.d !== 1n) throw new NotInGrammar(`the exponent ${quoted(tree)} is not a whole number`);
  return number.n;
}

// --- series: {low, rows, denominator}, Σ rows[i] / denominator · x**(low + i) ---------------------
// A row is a Map {monomial: numerator}; a monomial holds the exponents of the letters, 24 bits each.

const BITS = 24n;
const HALF = 1n << (BITS - 1n);
const nothing = (n) => Array.from({ length: Math.max(0, n) }, () => new Map());
const order_of = ({ low, rows }) => low + rows.length;
const constant = (numerator, denominator, depth) => ({ low: 0, rows: [new Map([[0n, numerator]]), ...nothing(depth - 1)], denominator });
const rows_of = (rows, change) => rows.map((row) => new Map([...row].map(([monomial, value]) => change(monomial, value))));

/** Without zeros, without empty rows in front, and with the smallest denominator. */
function tidy(low, rows, denominator) {
  rows = rows.map((row) => new Map([...row].filter(([, value]) => value)));
  const first = rows.findIndex((row) => row.size);
  const empty = first < 0 ? rows.length : first;
  rows = rows.slice(empty);
  let common = denominator;
  for (const row of rows) for (const value of row.values()) common = gcd(common, value);
  if (common > 1n) rows = rows_of(rows, (monomial, value) => [monomial, value / common]);
  return { low: low + empty, rows, denominator: denominator / common };
}

function added(left, right) {
  const order = Math.min(order_of(left), order_of(right));
  const low = Math.min(left.low, right.low, order);
  const denominator = lcm(left.denominator, right.denominator);
  const rows = nothing(order - low);
  for (const series of [left, right]) {
    const scale = denominator / series.denominator;
    series.rows.slice(0, Math.max(0, order - series.low)).forEach((row, i) => {
      const into = rows[series.low - low + i];
      for (const [monomial, value] of row) into.set(monomial, (into.get(monomial) ?? 0n) + value * scale);
    });
  }
  return tidy(low, rows, denominator);
}

/** into += scale · left · right; returns `work` plus the number of products. */
function accumulate(into, left, right, work, scale = 1n) {
  work += left.size * right.size;
  if (work > MOST_PRODUCTS) throw new NotInGrammar("its coefficients have too many terms");
  for (const [m, a] of left) for (const [n, b] of right) into.set(m + n, (into.get(m + n) ?? 0n) + scale * a * b);
  return work;
}

function product(left, right) {
  const known = Math.min(left.rows.length, right.rows.length);
  const rows = nothing(known);
  let work = 0;
  for (let i = 0; i < left.rows.length; i += 1) {
    if (!left.rows[i].size) continue;
    for (let j = 0; i + j < known; j += 1) work = accumulate(rows[i + j], left.rows[i], right.rows[j], work);
  }
  return tidy(left.low + right.low, rows, left.denominator * right.denominator);
}

/** 1 / series, where the lowest coefficient is a single product, first·m. */
function inverted(series, base) {
  if (!series.rows.length) throw new Unknown();
  if (series.rows[0].size > 1) {
    throw new NotInGrammar(
      `in the divisor ${brief(write_base(base))} the coefficient of the lowest power of ${VARIABLE} is a sum, not a single product`,
    );
  }
  const [[monomial, first]] = series.rows[0];
  const known = series.rows.length;
  const rest = rows_of(series.rows, (m, value) => [m - monomial, value]);
  const rows = [new Map([[0n, 1n]]), ...nothing(known - 1)];
  let work = 0;
  for (let n = 1; n < known; n += 1) {
    for (let i = 1; i <= n; i += 1) {
      if (rest[i].size) work = accumulate(rows[n], rest[i], rows[n - i], work, -(first ** BigInt(i - 1)));
    }
  }
  const sign = first > 0n || known % 2 === 0 ? 1n : -1n;
  const scaled = rows.map((row, n) => {
    const scale = sign * series.denominator * first ** BigInt(known - 1 - n);
    return new Map([...row].map(([m, value]) => [m - monomial, value * scale]));
  });
  return tidy(-series.low, scaled, absolute(first) ** BigInt(known));
}

/** The first n Taylor coefficients of a function, exactly. */
function coefficients(name, n) {
  if (name === "tan" || name === "tanh") {
    // f' = 1 ± f² gives each coefficient from those before it.
    const f = [ZERO];
    for (let k = 1; k < n; k += 1) {
      let square = ZERO;
      for (let i = 0; i < k; i += 1) square = plus(square, times(f[i], f[k - 1 - i]));
      const right = plus(k === 1 ? ONE : ZERO, name === "tan" ? square : minus(square));
      f.push(times(right, fraction(1n, BigInt(k))));
    }
    return f.slice(0, n);
  }
  const parities = { exp: [0, 1], sin: [1], sinh: [1], cos: [0], cosh: [0] }[name];
  let factorial = 1n;
  return Array.from({ length: n }, (_, k) => {
    if (k) factorial *= BigInt(k);
    if (!parities.includes(k % 2)) return ZERO;
    const alternating = (name === "sin" || name === "cos") && Math.floor(k / 2) % 2;
    return fraction(alternating ? -1n : 1n, factorial);
  });
}

/** Σ f_k argument**k, where the argument has no constant term. */
function composed(name, argument) {
  const order = order_of(argument);
  const scaled = (factor, series) => ({
    ...series,
    rows: rows_of(series.rows, (m, value) => [m, value * factor.n]),
    denominator: series.denominator * factor.d,
  });
  const f = coefficients(name, order);
  let total = added({ low: order, rows: [], denominator: 1n }, scaled(f[0], constant(1n, 1n, order)));
  let power_ = argument;
  for (let k = 1; k < order; k += 1) {
    if (k > 1) power_ = product(power_, argument);
    if (power_.low >= order) break;
    if (f[k].n) total = added(total, scaled(f[k], power_));
  }
  return total;
}

/** Evaluates expressions in given letters. Constants and letters are exact to any depth. */
class Evaluation {
  constructor(letters) {
    this.monomials = Object.fromEntries(letters.map((letter, i) => [letter, 1n << (BITS * BigInt(letters.length - 1 - i))]));
  }

  sum(terms, depth) {
    let total = { low: depth, rows: [], denominator: 1n };
    for (const { number, factors } of terms) {
      let series = constant(number.n, number.d, depth);
      for (const { base, exponent } of factors) series = product(series, this.power(base, exponent, depth));
      total = added(total, series);
    }
    return total;
  }

  power(base, exponent, depth) {
    if (base === VARIABLE) return { low: exponent, rows: constant(1n, 1n, depth).rows, denominator: 1n };
    if (typeof base === "string") {
      return { low: 0, rows: [new Map([[this.monomials[base] * BigInt(exponent), 1n]]), ...nothing(depth - 1)], denominator: 1n };
    }
    const series = this.base(base, depth);
    let result = series;
    for (let i = 1; i < Math.abs(exponent); i += 1) result = product(result, series);
    return exponent < 0 ? inverted(result, base) : result;
  }

  base(base, depth) {
    if (base.sum) return this.sum(base.sum, depth);
    const argument = this.sum(base.argument, depth);
    if (argument.low < 1) {
      throw new NotInGrammar(`the argument of ${base.function}(${brief(write(base.argument))}) does not vanish at ${VARIABLE} = 0`);
    }
    return composed(base.function, argument);
  }
}

function letters_of(sum, found = new Set()) {
  for (const { factors } of sum) {
    for (const { base } of factors) {
      if (typeof base === "string") found.add(base);
      else letters_of(base.sum ?? base.argument, found);
    }
  }
  return [...found].filter((letter) => letter !== VARIABLE).sort();
}

/** The series of an expression up to O(x**6). */
function expand(expression, letters) {
  const evaluation = new Evaluation(letters);
  // Poles and divisors use up known terms: try, see how many are missing, start that much deeper.
  for (let depth = ORDER; depth <= DEEPEST; ) {
    try {
      const series = evaluation.sum(expression, depth);
      if (order_of(series) >= ORDER) {
        const rows = series.rows.slice(0, Math.max(ORDER - series.low, 0));
        return tidy(Math.min(series.low, ORDER), rows, series.denominator);
      }
      depth += ORDER - order_of(series);
    } catch (error) {
      if (!(error instanceof Unknown)) throw error;
      depth += ORDER;
    }
  }
  throw new NotInGrammar(`a divisor has no term below ${VARIABLE}**${DEEPEST}, or its pole is as high as that`);
}

/** The letters of a monomial with their exponents. */
function unpacked(monomial, letters) {
  const factors = [];
  for (const letter of [...letters].reverse()) {
    const size = 2n * HALF;
    const exponent = ((((monomial + HALF) % size) + size) % size) - HALF;
    monomial = (monomial - exponent) >> BITS;
    if (exponent) factors.unshift([letter, Number(exponent)]);
  }
  return factors;
}

function write_series(expression) {
  const letters = letters_of(expression);
  const { low, rows, denominator } = expand(expression, letters);
  const terms = [];
  rows.forEach((row, i) => {
    const x = low + i ? [[VARIABLE, low + i]] : [];
    const alone = row.size === 1;
    const written = [...row]
      .sort(([a], [b]) => compare(b, a))
      .map(([monomial, value]) => {
        const common = gcd(value, denominator);
        return write_term(value / common, denominator / common, [...unpacked(monomial, letters), ...(alone ? x : [])]);
      });
    if (alone || !x.length) terms.push(...written);
    else if (written.length) terms.push(write_term(1n, 1n, [...x, [`(${join(written)})`, 1]]));
  });
  return join([...terms, `O(${VARIABLE}**${ORDER})`]);
}

/**
 * The Taylor or Laurent series of an expression about x = 0 to O(x**6), in canonical form.
 *
 * `tokenizer` is the MathTokenizer, `unicode` Python's view of text.
 *
 * Throws an Error, one sentence, for what is outside the grammar, or has no such series.
 */
export function series_of(text, tokenizer, unicode) {
  try {
    return write_series(read(text, tokenizer, unicode));
  } catch (error) {
    if (error instanceof RangeError) error = new NotInGrammar("it is nested too deeply");
    if (!(error instanceof NotInGrammar)) throw error;
    throw new Error(`${brief(unicode.repr(text), "'")} is not in the grammar: ${error.message}; the grammar has ${GRAMMAR}.`);
  }
}

/**
 * What a check says of the series that was written for an expression: does it agree to O(x**6)?
 *
 * Python asks by numbers (verified.checked), this by the series of the difference, which is exact.
 */
export function checked(expression, series, tokenizer, unicode) {
  const [ending, none] = [`O(${VARIABLE}**${ORDER})`, `no series to O(${VARIABLE}**${ORDER})`];
  const text = series.replaceAll(" ", "");
  const terms = text.slice(0, -ending.length);
  if (!text.endsWith(ending) || (terms && !terms.endsWith("+"))) return none;
  try {
    const [right, written] = [expression, terms.slice(0, -1) || "0"].map((each) => read(each, tokenizer, unicode));
    const difference = sum_of([...right, ...negated(written)]);
    const { low, rows } = expand(difference, letters_of(difference));
    return rows.length ? `wrong from ${VARIABLE}**${low} on` : `agrees to ${ending}`;
  } catch (error) {
    if (error instanceof RangeError || error instanceof NotInGrammar) return none;
    throw error;
  }
}

function read(text, tokenizer, unicode) {
  if (!unicode.split(text).length) throw new NotInGrammar("it is empty");
  let tokens;
  try {
    tokens = tokenizer.tokenize(text);
  } catch (error) {
    throw new NotInGrammar(error.message.split("; the grammar")[0]);
  }
  if (tokens.length > MAX_TOKENS) throw new NotInGrammar(`it has ${tokens.length} tokens, more than ${MAX_TOKENS}`);
  let tree;
  try {
    tree = new Parser(tokens).whole();
  } catch (error) {
    if (!(error instanceof Syntax)) throw error;
    throw new NotInGrammar("it cannot be read, since a part is missing or misplaced");
  }
  return build(tree);
}
