"""Series: exact, canonical, deterministic; splits that do not leak; refusals in one sentence."""

import hashlib
import itertools
import random
import re
import time
from functools import cache

import mpmath
import pytest
import sympy
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from tests.fresh import fresh_package

# Without the hook that checks annotations: millions of short calls would take many times as long.
with fresh_package():
    from transformer_book.tasks import series
    from transformer_book.tasks.series import expressions as e
    from transformer_book.tasks.series import generator
    from transformer_book.tokens import MathTokenizer

SIZES = tuple(generator.SIZES)
TOKENIZER = MathTokenizer()
SYMBOLS = {letter: sympy.Symbol(letter) for letter in "abcdfghx"}


@cache
def pairs(size: str, split: str = "train", n: int = 3000, seed: int = 0, split_by: str = "random"):
    return series.SeriesTask(size, split_by).pairs(split, n, seed)


def text(tokens) -> str:
    return "".join(tokens)


# --- the series are right -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("exp(x)", "1+x+x**2/2+x**3/6+x**4/24+x**5/120+O(x**6)"),
        ("sin(a*x)", "a*x-a**3*x**3/6+a**5*x**5/120+O(x**6)"),
        ("cos(2*a*x)", "1-2*a**2*x**2+2*a**4*x**4/3+O(x**6)"),
        ("tan(x)", "x+x**3/3+2*x**5/15+O(x**6)"),
        ("tanh(x)", "x-x**3/3+2*x**5/15+O(x**6)"),
        ("sinh(b*x)-cosh(b*x)+1", "b*x-b**2*x**2/2+b**3*x**3/6-b**4*x**4/24+b**5*x**5/120+O(x**6)"),
        # Poles, among them one that only shows when leading terms cancel.
        ("1/sin(a*x)", "1/(a*x)+a*x/6+7*a**3*x**3/360+31*a**5*x**5/15120+O(x**6)"),
        ("1/sin(-x)", "-1/x-x/6-7*x**3/360-31*x**5/15120+O(x**6)"),
        ("cos(x)/x**2", "1/x**2-1/2+x**2/24-x**4/720+O(x**6)"),
        ("tan(x)/(tan(x)-tanh(x))", "3/(2*x**2)+1/2-3*x**2/70+O(x**6)"),
        ("(a+b)*x**5/x**7+1/x", "(a+b)/x**2+1/x+O(x**6)"),
        # Sums as coefficients: in parentheses, but not at x**0; the first letter's power decides.
        ("b*x+a*x", "x*(a+b)+O(x**6)"),
        ("(a+b)**2", "a**2+2*a*b+b**2+O(x**6)"),
        ("x**2*(b/a+a/b+1)", "x**2*(a/b+1+b/a)+O(x**6)"),
        # Functions of functions, finite and vanishing series.
        ("exp(sin(x))", "1+x+x**2/2-x**4/8-x**5/15+O(x**6)"),
        ("1/(1-x)", "1+x+x**2+x**3+x**4+x**5+O(x**6)"),
        ("x**3/3+a", "a+x**3/3+O(x**6)"),
        ("sin(x)**6", "O(x**6)"),
        ("0", "O(x**6)"),
        (" x * 2 ", "2*x+O(x**6)"),
    ],
)
def test_series_known_by_heart(expression, expected):
    assert series.series_of(expression) == expected


@pytest.mark.parametrize(("size", "n"), [("two-terms", 30), ("long", 24)])
def test_series_agree_with_sympy(size, n):
    for pair in pairs(size, "test", n, seed=11):
        source = sympy.sympify(text(pair.source), locals=SYMBOLS)
        ours = sympy.sympify(text(pair.target[:-2]), locals=SYMBOLS)  # without +O(x**6)
        theirs = sympy.series(source, SYMBOLS["x"], 0, 6).removeO()
        assert sympy.expand(theirs - ours) == 0, text(pair.source)


X = mpmath.mpf(10) ** -30
LETTERS = {letter: mpmath.mpf(7 + 3 * i) / 8 for i, letter in enumerate("abcdfgh")}


class TooLarge(Exception):
    """A number too large to go on with."""


def guarded(function):
    def call(argument):
        if abs(argument) > 100:
            raise TooLarge
        return function(argument)

    return call


FUNCTIONS = {name: guarded(getattr(mpmath, name)) for name in e.FUNCTIONS}


def value(expression: str, x: mpmath.mpf) -> mpmath.mpf:
    """An expression evaluated by mpmath; numbers are made exact first, for Python's 1/3 is not."""
    exact = re.sub(r"(?<!\*\*)\b[0-9]+", r"mpf(\g<0>)", expression)
    return eval(exact, {"mpf": mpmath.mpf, "x": x, **FUNCTIONS, **LETTERS})


def assert_series(expression: str, target: str) -> None:
    """At x = 1e-30 the difference has to be O(x**6): a wrong x**5 would stick out by 1e+30.

    400 digits behind the point; what has a pole has more before it: 1/x**9 is 1e+270.
    """
    with mpmath.workdps(400):
        size = abs(value(expression, X))
        before = max(0, int(mpmath.log10(size))) if size else 0
    with mpmath.workdps(400 + before):
        series_value = value(target.removesuffix("O(x**6)").removesuffix("+") or "0", X)
        difference = value(expression, X) - series_value
        assert abs(difference) < mpmath.mpf(10) ** -165, expression


@pytest.mark.parametrize("size", SIZES)
def test_series_agree_with_numbers(size):
    for pair in pairs(size)[:500]:
        assert_series(text(pair.source), text(pair.target))


def test_the_comparison_with_numbers_sees_a_wrong_coefficient():
    with pytest.raises(AssertionError):
        assert_series("sin(a*x)", "a*x-a**3*x**3/6+a**5*x**5/121+O(x**6)")


# Expressions beyond those generated: functions of sums, bare letters, powers, negative exponents.
small = st.one_of(st.integers(0, 3).map(str), st.sampled_from(["a", "b", "x", "x"]))
trees = st.recursive(
    small,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+-*/"), inner).map(lambda t: f"({t[0]}{t[1]}{t[2]})"),
        st.tuples(inner, st.integers(-3, 3)).map(lambda t: f"({t[0]})**{t[1]}"),
        st.tuples(st.sampled_from(e.FUNCTIONS), inner).map(lambda t: f"{t[0]}(x*{t[1]})"),
        st.tuples(st.sampled_from(e.FUNCTIONS), inner).map(lambda t: f"{t[0]}({t[1]})"),
        inner.map(lambda t: f"-{t}" if t[0] != "-" else t),
    ),
    max_leaves=8,
)


def known_value(expression: str, x: mpmath.mpf) -> mpmath.mpf:
    try:
        return value(expression, x)
    except (ZeroDivisionError, TooLarge):
        assume(False)


@settings(max_examples=300)
@example(tree="(sin(x*sin(x*x)))**-3")
@given(tree=trees)
def test_any_expression_of_the_grammar_has_the_right_series(tree):
    try:
        target = series.series_of(tree)
    except series.NotInGrammar:
        assume(False)
    with mpmath.workdps(400):
        known_value(tree, X)
    assert_series(tree, target)


@settings(max_examples=300)
@given(tree=trees)
def test_the_canonical_spelling_has_the_same_value_and_is_its_own(tree):
    try:
        spelling = series.canonical_source(tree)
    except series.NotInGrammar:
        assume(False)
    assert series.canonical_source(spelling) == spelling
    assert text(TOKENIZER(spelling)) == spelling
    with mpmath.workdps(60):
        x = mpmath.mpf(5) / 7
        expected = known_value(tree, x)
        difference = known_value(spelling, x) - expected
        assert abs(difference) <= mpmath.mpf(10) ** -30 * max(1, abs(expected))


@settings(max_examples=100)
@given(left=trees, right=trees, third=trees)
def test_order_does_not_change_the_spelling(left, right, third):
    spell = series.canonical_source
    try:
        assert spell(f"{left}+({right})") == spell(f"{right}+({left})")
        assert spell(f"({left})*({right})") == spell(f"({right})*({left})")
        assert spell(f"({left})+({right}+({third}))") == spell(f"({left}+({right}))+({third})")
    except series.NotInGrammar:
        assume(False)


@pytest.mark.parametrize(
    ("expression", "spelling"),
    [
        ("x*a", "a*x"),
        ("tan(x*b)+sin(x*a)", "sin(a*x)+tan(b*x)"),
        ("cos(a*x)-sin(b*x)", "-sin(b*x)+cos(a*x)"),
        ("sin(a*x)+sin(a*x)", "2*sin(a*x)"),
        ("sin(a*x)*sin(a*x)/cos(b*x)/tan(a*x)", "sin(a*x)**2/(cos(b*x)*tan(a*x))"),
        ("exp(a*x)**3", "exp(3*a*x)"),
        ("1/exp(a*x)", "exp(-a*x)"),
        ("exp(a*x)/exp(b*x)**2", "exp(x*(a-2*b))"),
        ("exp(2*b*x-4*a*x)", "exp(2*x*(-2*a+b))"),
        ("exp(x*(a-2*b))*exp(2*b*x)", "exp(a*x)"),
        ("exp(x*(a+(b*x+c*x)/x))", "exp(x*(a+b+c))"),
        ("-(sin(a*x)-cos(a*x))", "-sin(a*x)+cos(a*x)"),
        ("2*(sin(a*x)-cos(a*x))", "2*sin(a*x)-2*cos(a*x)"),
        ("-(cos(x)-tan(x))/tanh(x)", "-(cos(x)-tan(x))/tanh(x)"),
        ("(4*tan(x)-2*cos(x))**3*b/3", "-8*b*(cos(x)-2*tan(x))**3/3"),
        ("(cos(a*x)+sin(a*x))*sinh(x)", "sinh(x)*(sin(a*x)+cos(a*x))"),
        ("a-a", "0"),
        ("(a+b)**2/(b+a)", "a+b"),
        ("a**2+b+a*b+1", "a**2+a*b+b+1"),
    ],
)
def test_canonical_spelling(expression, spelling):
    assert series.canonical_source(expression) == spelling


# --- the pairs ------------------------------------------------------------------------------------


@settings(max_examples=12)
@given(
    size=st.sampled_from(SIZES),
    split_by=st.sampled_from(series.SPLIT_BY),
    split=st.sampled_from(list(series.SHARES)),
    seed=st.integers(-3, 10**12),
    n=st.integers(1, 30),
)
def test_pairs_are_deterministic_and_fewer_are_the_first(size, split_by, split, seed, n):
    task = series.SeriesTask(size, split_by)
    many = task.pairs(split, 30, seed)
    assert len(many) == 30
    series._draws.cache_clear()
    assert task.pairs(split, n, seed) == many[:n]
    assert many != task.pairs(split, 30, seed + 1)


def test_what_is_drawn_once_serves_all_splits_and_what_is_not_kept_is_drawn_anew(monkeypatch):
    asked = [
        (series.SeriesTask("two-terms", split_by), split)
        for split_by, split in itertools.product(series.SPLIT_BY, ("test", "train", "validation"))
    ]
    anew = []
    for task, split in asked:
        series._draws.cache_clear()
        anew.append(task.pairs(split, 100, 5))
    for kept in (30_000, 300):
        monkeypatch.setattr(series, "_KEPT", kept)
        series._draws.cache_clear()
        assert [task.pairs(split, 100, 5) for task, split in asked] == anew
        here = series._draws("two-terms", 5).kept
        assert sum(one is not None for one in here) == kept or kept == 30_000


def test_the_pairs_are_those_of_every_release():
    """If this fails, trained models and recorded results no longer fit the data they name."""
    found = []
    for size, split_by in itertools.product(SIZES, series.SPLIT_BY):
        sample = pairs(size, "test", 200, split_by=split_by)
        lines = [f"{text(pair.source)}|{text(pair.target)}" for pair in sample]
        found.append(hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16])
    assert found == [
        "6172280b10f9bdc0",
        "37de3d185558f067",
        "06ec3348f395204f",
        "a5940c7eccbd7da2",
    ]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("split_by", series.SPLIT_BY)
def test_sources_are_distinct_and_in_one_split(size, split_by):
    splits = [pairs(size, split, 200, 0, split_by) for split in series.SHARES]
    sources = [pair.source for split in splits for pair in split]
    assert len(set(sources)) == len(sources) == 600


def test_splits_have_their_shares():
    task = series.SeriesTask("long")
    drawn = {e.write(expression): expression for expression in take("long", 8000)}
    splits = [task._split_of(series._Drawn(tree, source)) for source, tree in drawn.items()]
    for split, share in series.SHARES.items():
        assert abs(splits.count(split) / len(splits) - share / 100) < 0.02


def take(size: str, n: int):
    return itertools.islice(generator.draw(size, 3), n)


@pytest.mark.parametrize("size", SIZES)
def test_pairs_are_canonical_and_come_back_from_text(size):
    for pair in pairs(size)[:500]:
        source, target = text(pair.source), text(pair.target)
        assert series.canonical_source(source) == source
        assert series.series_of(source) == target
        assert tuple(TOKENIZER(source)) == pair.source
        assert tuple(TOKENIZER(target)) == pair.target


@pytest.mark.parametrize("size", SIZES)
def test_what_the_corpus_is_made_of(size):
    sample = pairs(size)
    lengths = [(len(pair.source), len(pair.target)) for pair in sample]
    assert max(s for s, _ in lengths) <= 58 and 190 < max(t for _, t in lengths) <= 198
    source_tokens = set().union(*(pair.source for pair in sample))
    target_tokens = set().union(*(pair.target for pair in sample))
    letters = set("abcdfgh" if size == "two-terms" else "abcdfg")
    symbols = {"+", "-", "*", "**", "/", "(", ")"}
    functions = set(e.FUNCTIONS)
    assert source_tokens - set("0123456789") == letters | functions | symbols | {"x"}
    assert target_tokens == letters | symbols | {"x", "O(x**6)"} | set("0123456789")
    for pair in sample:
        assert "x" in pair.source and len(pair.target) > 2
        assert pair.target[-2:] == ("+", "O(x**6)")
    poles = sum("x" in text(p.target) and is_pole(text(p.target)) for p in sample) / len(sample)
    assert 0.03 < poles < 0.15
    means = [sum(column) / len(sample) for column in zip(*lengths, strict=True)]
    expected = (14, 60) if size == "two-terms" else (29, 97)
    assert means == pytest.approx(expected, rel=0.1)


def is_pole(target: str) -> bool:
    """Whether a series begins with a negative power of x."""
    with mpmath.workdps(60):
        return abs(value(target.removesuffix("+O(x**6)"), mpmath.mpf(10) ** -20)) > 10**12


def test_two_terms_are_one_or_two_factors():
    pattern = r"(-?(exp|sinh?|cosh?|tanh?)\(-?([2-6]\*)?[a-dfgh]\*x\)(\*\*[2-6])?)"
    merged = r"exp\(([23]\*)?x\*\(-?([23]\*)?[a-h][-+]([23]\*)?[a-h]\)\)"
    shapes = re.compile(rf"({pattern}|1/{pattern}|2\*{pattern}|{merged}|{pattern}[-+*/]{pattern})")
    for pair in pairs("two-terms"):
        assert shapes.fullmatch(text(pair.source)), text(pair.source)


def test_long_expressions_have_what_the_short_ones_lack():
    sources = [text(pair.source) for pair in pairs("long")]
    counts = [len(re.findall(r"exp|sinh?|cosh?|tanh?", source)) for source in sources]
    assert set(counts) == {1, 2, 3, 4, 5, 6}
    for part in ("exp(3*a*x)", "exp(-b*x)", "sin(2*c*x)", ")/(", "*(", "/(sin", ")**3", "-exp("):
        assert any(part in source for source in sources), part


def test_more_pairs_than_there_are(monkeypatch):
    monkeypatch.setattr(series, "_PATIENCE", 300)
    monkeypatch.setattr(series, "_draws", series._Draws)
    monkeypatch.setitem(generator.SIZES, "two-terms", lambda choose: e.symbol(choose.pick("xab")))
    assert [text(p.source) for p in series.SeriesTask().pairs("train", 1)] == ["x"]
    message = "n is 3, but only 1 pairs of the split 'train' were found: ask for fewer"
    with pytest.raises(ValueError, match=message):
        series.SeriesTask().pairs("train", 3)


def test_speed(tell):
    for size in SIZES:
        for split in ("train", "test"):
            series._draws.cache_clear()
            start = time.process_time()
            assert len(series.SeriesTask(size).pairs(split, 300, seed=99)) == 300
            speed = 300 / (time.process_time() - start)
            tell(f"series, {size}, {split}: {speed:.0f} pairs a second")


# --- renamed letters ------------------------------------------------------------------------------


LETTER = re.compile(r"\b[a-h]\b")


def rename(source: str, table: dict[str, str]) -> str:
    return LETTER.sub(lambda match: table[match.group()], source)


def leaks(size: str, split_by: str, most_letters: int) -> float:
    """The share of held-out sources that are a training source with other letters, by brute force:
    every renaming, brought into canonical order."""
    train = {text(pair.source) for pair in pairs(size, split_by=split_by)}
    alphabet = sorted(set().union(*map(LETTER.findall, train)))
    leaked = []
    for split in ("validation", "test"):
        for pair in pairs(size, split, 200, 0, split_by)[:80]:
            source = text(pair.source)
            letters = sorted(set(LETTER.findall(source)))
            if len(letters) <= most_letters:
                others = itertools.permutations(alphabet, len(letters))
                tables = (dict(zip(letters, some, strict=True)) for some in others)
                renamed = {series.canonical_source(rename(source, table)) for table in tables}
                leaked.append(not train.isdisjoint(renamed))
    assert len(leaked) > 30
    return sum(leaked) / len(leaked)


@pytest.mark.parametrize(
    ("size", "most_letters", "at_random"), [("two-terms", 2, 0.7), ("long", 2, 0.05)]
)
def test_renamed_letters_leak_at_random_and_not_where_shapes_are_disjoint(
    size, most_letters, at_random
):
    assert leaks(size, "shape-disjoint", most_letters) == 0
    assert leaks(size, "random", most_letters) > at_random  # as in a public corpus


@pytest.mark.parametrize("size", SIZES)
def test_the_shape_does_not_depend_on_the_letters(size):
    rng = random.Random(1)
    letters = list("abcdfgh")
    for expression in take(size, 2000):
        renamed = rename(
            e.write(expression), dict(zip(letters, rng.sample(letters, 7), strict=True))
        )
        assert e.shape(e.read(renamed)) == e.shape(expression), renamed


def test_shapes_tell_structures_apart():
    sources = ["sin(a*x)", "cos(a*x)", "sin(2*a*x)", "sin(a*x)**2", "1/sin(a*x)", "-sin(a*x)"]
    sources += ["sin(a*x)*cos(b*x)", "sin(a*x)+cos(b*x)", "sin(x)", "sin(a*x)/cos(b*x)"]
    sources += ["sinh(x)*(sin(a*x)+cos(a*x))", "sinh(x)*(sin(a*x)-cos(a*x))"]
    sources += ["1+sinh(x)*(sin(a*x)-cos(a*x))**2", "1-sinh(x)*(sin(a*x)-cos(a*x))**2"]
    assert len({e.shape(e.read(source)) for source in sources}) == len(sources)


# --- bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        ("", "it is empty"),
        ("  ", "it is empty"),
        (None, "it is not a text"),
        ("2x", "'x' at position 1 (counted from 0) needs an operator before it"),
        ("sin(a*x", "a part is missing or misplaced"),
        ("a*", "a part is missing or misplaced"),
        ("()", "'()' does not belong there"),
        ("a;b", "';' at position 1 (counted from 0) is not in the grammar"),
        ("sec(x)", "'sec' at position 0"),
        ("log(1+x)", "'log(1 + x)' does not belong there"),
        ("sqrt(1+x)", "does not belong there"),
        ("x+O(x**6)", "'O(x ** 6)' does not belong there"),
        ("a,b", "'(a, b)' does not belong there"),
        ("sin(a,b)", "sin takes one argument"),
        ("sin", "'sin' does not belong there"),
        ("007", "a part is missing or misplaced"),
        ("x**a", "the exponent 'a' is not a whole number"),
        ("x**(1/2)", "the exponent '1 / 2' is not a whole number"),
        ("2**-x", "the exponent '-x' is not a whole number"),
        ("x**21", "the exponent 21 is beyond 20"),
        ("x**11*x**11", "the exponent 22 is beyond 20"),
        ("((((9**20)**20)**20)**20)**20", "more than 2000 binary digits"),
        ("1/0", "divides by zero"),
        ("1/(a-a)", "divides by zero"),
        ("0**0", "0**0 has no value"),
        ("1/sin(0)", "a divisor has no term below x**60"),
        ("1/(sin(x)**2+cos(x)**2-1)", "a divisor has no term below x**60"),
        ("exp(1+x)", "the argument of exp(x+1) does not vanish at x = 0"),
        ("cos(a)", "the argument of cos(a) does not vanish"),
        ("sin(1/x)", "the argument of sin(1/x) does not vanish"),
        ("1/(a+b)", "in the divisor (a+b) the coefficient of the lowest power of x is a sum"),
        ("1/(sin(a*x)+sin(b*x))", "in the divisor (sin(a*x)+sin(b*x)) the coefficient"),
        ("1/sin(a*x+b*x)", "in the divisor sin(a*x+b*x) the coefficient"),
        ("(a+b+c+d+f+g)**20", "its coefficients have too many terms"),
        ("1/(1+(a+b+c+d+f)*x)/x**20", "its coefficients have too many terms"),
        ("+".join(["x"] * 101), "it has 201 tokens, more than 200"),
        ("9" * 300, "it has 300 tokens"),
    ],
)
def test_what_is_outside_the_grammar_is_refused_in_one_sentence(expression, problem):
    with pytest.raises(ValueError) as caught:
        series.series_of(expression)
    message = str(caught.value)
    assert problem in message
    assert message.startswith(repr(expression)[:60])
    assert message.endswith(f"; the grammar has {e.GRAMMAR}.")
    assert "\n" not in message and message.count(". ") == 0


@pytest.mark.parametrize("depth", [10, 65, 99])
def test_deep_nesting_is_read_or_refused(depth):
    assert series.series_of("(" * depth + "x" + ")" * depth) == "x+O(x**6)"
    nested = "sin(" * (depth // 2) + "x" + ")" * (depth // 2)
    assert series.series_of(nested).startswith("x-")
    assert series.series_of("-" * depth + "x").endswith("x+O(x**6)")


@given(expression=st.text(st.sampled_from("abx0123()+-*/ ,O.=<sincoxptah\n"), max_size=25))
def test_any_text_is_read_or_refused(expression):
    try:
        target = series.series_of(expression)
    except ValueError as error:
        assert "the grammar has" in str(error)
    else:
        assert target.endswith("O(x**6)")


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (
            lambda: series.SeriesTask("short"),
            "size is 'short', but it must be one of two-terms, lo",
        ),
        (lambda: series.SeriesTask("lnog"), "did you mean 'long'"),
        (lambda: series.SeriesTask(split_by="shapes"), "split_by is 'shapes'.* 'shape-disjoint'"),
        (lambda: series.SeriesTask().pairs("tset"), "split is 'tset'.* did you mean 'test'"),
        (lambda: series.SeriesTask().pairs(n=0), "n is 0, but it must be a whole number of at lea"),
        (lambda: series.SeriesTask().pairs(n="9"), "n is '9'"),
        (lambda: series.SeriesTask().pairs(n=True), "n is True"),
        (lambda: series.SeriesTask().pairs(seed=0.5), "seed is 0.5, but it must be a whole number"),
    ],
)
def test_bad_options(use, message):
    with pytest.raises(ValueError, match=message):
        use()


# --- the same series, written in another way ------------------------------------------------------


def test_a_series_means_the_same_in_any_order():
    """Terms and factors are shuffled, fractions written otherwise: the meaning stays."""
    rng = random.Random(5)
    for pair in series.SeriesTask().pairs("validation", n=40):
        text = "".join(pair.target)
        terms = sympy.sympify(text.removesuffix("+O(x**6)"))
        assert series.same_series(text, f"{sympy.expand(terms)}+O(x**6)")
        parts = list(sympy.Add.make_args(sympy.expand(terms)))
        rng.shuffle(parts)
        shuffled = "+".join(f"({part})" for part in parts)
        assert series.same_series(shuffled + " + O(x**6)", text)
        parts[0] = parts[0] * rng.choice([-1, 2, sympy.Rational(1, 3), sympy.Symbol("a")])
        changed = "+".join(f"({part})" for part in parts)
        assert not series.same_series(f"{changed}+O(x**6)", text)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("x**2/2+x*a+O(x**6)", "a*x+2*x**2/4+O(x**6)", True),
        ("1/(b*x)+a/b+O(x**6)", "a/b+x**-1/b+O(x**6)", True),
        ("O(x**6)", "0+O(x**6)", True),
        ("x+x**6+O(x**6)", "x+O(x**6)", True),  # the rest hides it
        ("x+O(x**6)", "x", False),
        ("x", "x", False),
        ("x+O(x**5)", "x+O(x**5)", False),
        ("xO(x**6)", "x+O(x**6)", False),
        ("x++O(x**6)", "x+O(x**6)", False),
        ("x*(+O(x**6)", "x*(+O(x**6)", False),
        ("a*x/3+O(x**6)", "333*a*x/1000+O(x**6)", False),
        ("x+x**7*a/7+O(x**6)", "x+O(x**6)", True),
        ("", "", False),
        ("exp(" + "7" * 180 + "*x)/x**20+O(x**6)", "1+O(x**6)", False),  # too large to write
        ("q*x+O(x**6)+O(x**6)", "q*x+O(x**6)", False),
    ],
)
def test_what_is_the_same_series(one, other, same):
    assert series.same_series(one, other) is same
    assert series.same_series(other, one) is same
