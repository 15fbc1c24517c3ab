"""Which one small change of a learner's code would make it right on every input.

The code is changed in its syntax tree, one place at a time, and run: another name, another axis,
a call left out, a line that moves. What is told was tried on all inputs.
"""

from __future__ import annotations

import ast
import contextlib
import copy
import functools
import inspect
import itertools
import linecache
import operator
import re
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch import Tensor

from transformer_book.checks import builtin, kept
from transformer_book.checks.attempt import Attempt
from transformer_book.checks.comparing import holds_nan, same
from transformer_book.checks.components import MISTAKES
from transformer_book.checks.explaining import known_outcomes
from transformer_book.checks.learners_code import code_of
from transformer_book.checks.running import Outcome, call

MOST = 8000  # changes that are tried
SECONDS = 3.0  # of processor time, in all
LONG = 0.5  # seconds of processor time for what does not end
LIKELY = 3  # the rank of a change that may be told where it does not mend everything
ADDED = 4  # the rank from which a change adds something to the code
FURTHER = 2000  # changes that are tried behind one that adds: another may be shorter
BESIDE = 300  # and behind one that does not
ENDLESS = 40  # changes that do not end: then no more are tried
BRIEF, MANY = 0.02, 10  # seconds that each change has on an input, and how often its own time
SHARE = 6  # only one in so many wrong inputs may stay wrong behind a change that is told
FEW = 2  # wrong inputs that many a change fits by chance
FIRST = 6  # changes that help a little: for so many, a second one is looked for
MEMORY = 2 * 2**30  # bytes beyond what the process holds
WIDE = 70  # letters of code that are told in full
HUGE = 1e6  # one divided by a constant as large is as good as 0, which is meant

Definition = ast.FunctionDef | ast.ClassDef
Part = Definition | ast.Assign


# --- the code ------------------------------------------------------------------------------------


@dataclass
class Code:
    """What a learner handed in, as a syntax tree that can be changed and built again.

    Attributes:
        made: the function or class that was handed in.
        parts: the functions, classes and constants of the same file that it uses, itself last.
        held: of an object, what it holds before its first call.
    """

    made: Any
    parts: list[Part]
    held: dict[str, Any] | None = None

    @classmethod
    def of(cls, made: Any, held: dict[str, Any] | None = None) -> Code | None:
        """The code of a function, a class or an object, if its source can be found."""
        code, owner = code_of(made), owner_of(made)
        if code is None or not (inspect.isfunction(owner) or isinstance(owner, type)):
            return None
        text = "".join(linecache.getlines(code.co_filename))
        tree = parsed(text)
        own = [
            node
            for node in ast.walk(tree)
            if isinstance(node, Definition) and node.name == owner.__name__
            if min([node.lineno, *(d.lineno for d in node.decorator_list)]) <= code.co_firstlineno
            if code.co_firstlineno <= (node.end_lineno or 0)
        ]
        if not own:
            return None
        by_name: dict[str, Part] = {n.name: n for n in tree.body if isinstance(n, Definition)}
        for n in tree.body:
            if isinstance(n, ast.Assign) and isinstance(n.value, ast.Constant):
                by_name |= {t.id: n for t in n.targets if isinstance(t, ast.Name)}
        parts: list[Part] = [own[-1]]
        for part in parts:
            for node in ast.walk(part):
                other = by_name.get(getattr(node, "id", ""))
                if other is not None and other not in parts:
                    parts.append(other)
        parts = [copy.deepcopy(part) for part in parts[::-1]]
        for part in parts:
            if isinstance(part, Definition):
                part.decorator_list = []
        return cls(made, parts, held)

    def build(self, parts: Sequence[ast.stmt] | None = None, **more: Any) -> Any:
        """The function or class, as the tree stands now.

        Raises:
            Exception: whatever the code raises as it is defined.
        """
        cells = getattr(self.made, "__closure__", None) or ()
        names = self.made.__code__.co_freevars if cells else ()
        space = dict(globals_of(self.made))
        space |= {n: type(space[n])() for n in self.filled if n in space}
        space |= {n: cell.cell_contents for n, cell in zip(names, cells, strict=True)} | more
        body = [ast.fix_missing_locations(part) for part in parts or self.parts]
        exec(compile(ast.Module(body, []), "<changed>", "exec"), space)  # with our future import
        found = space[owner_of(self.made).__name__]
        if owner_of(self.made) is self.made:
            return found
        new = object.__new__(found)
        kept.hold_alike(new, self.made, self.held)
        return new

    @functools.cached_property
    def filled(self) -> set[str]:
        """The names beside the code that it may put something into: earlier calls have done so."""
        nodes = [node for part in self.parts for node in ast.walk(part)]
        stored = [n.value for n in nodes if isinstance(n, ast.Subscript) and _stored(n)]
        stored += [n.value for n in nodes if isinstance(n, ast.Attribute) and n.attr in FILLING]
        names = {n.id for n in stored if isinstance(n, ast.Name)}
        kept = globals_of(self.made)
        return {n for n in names if isinstance(kept.get(n), (dict, list))}


def _read(code: Code) -> set[str]:
    """The names that are read somewhere: what `+=` changes is read, too."""
    nodes = [node for part in code.parts for node in ast.walk(part)]
    read = [n for n in nodes if isinstance(n, ast.Name) and not _stored(n)]
    read += [n.target for n in nodes if isinstance(n, ast.AugAssign)]
    return {n.id for n in read if isinstance(n, ast.Name)}


def unread_arguments(code: Code) -> dict[int, str]:
    """The arguments that are never read: their places, and names; of a class, none."""
    own, read = code.parts[-1], _read(code)
    if isinstance(own, ast.ClassDef):
        calls = [n for n in own.body if isinstance(n, ast.FunctionDef) and n.name == "__call__"]
        own = calls[0] if calls and owner_of(code.made) is not code.made else own
    names = [a.arg for a in _arguments(own)] if isinstance(own, ast.FunctionDef) else []
    names = names[names[:1] == ["self"] :]
    return {place: name for place, name in enumerate(names) if name not in read}


def unread_names(code: Code) -> list[tuple[str, int]]:
    """The names that get a value and are never read, and the line of the first that each gets."""
    read = _read(code)
    return [
        (target.id, node.lineno)
        for part in code.parts
        if isinstance(part, ast.FunctionDef)
        for node in ast.walk(part)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name) and target.id not in {*read, "_"}
    ]


def dropped(code: Code, attempt: Attempt, i: int) -> list[tuple[str, int]]:
    """The calls whose new tensor or text goes nowhere on an input, as written, and their lines."""
    values = values_of(code, attempt, i)
    found: list[tuple[str, int]] = []
    for node in (node for part in code.parts for node in ast.walk(part)):
        if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
            continue
        made, func = node.value, node.value.func
        if not isinstance(func, ast.Attribute) or func.attr.endswith("_"):
            continue
        if {keyword.arg for keyword in made.keywords} & {"inplace", "out"}:
            continue
        what, of = values.get(made.place), values.get(func.value.place)  # ty: ignore
        of_torch = isinstance(of, ModuleType) and of.__name__.partition(".")[0] == "torch"
        new = isinstance(what, (Tensor, str)) and what is not of
        if new and (of_torch or isinstance(of, (Tensor, str))):
            found.append((written(made), node.lineno))
    return found


def rebound(code: Code) -> list[tuple[str, int]]:
    """Names of loops that are set in the loop to what nothing reads, and the lines.

    Of a loop inside another one nothing is said: what stands before it comes again behind it.
    """

    def reads(nodes: Iterable[ast.AST], name: str) -> bool:
        names = (n for node in nodes for n in ast.walk(node) if isinstance(n, ast.Name))
        return any(n.id == name and isinstance(n.ctx, ast.Load) for n in names)

    found: list[tuple[str, int]] = []
    for part in code.parts:
        loops = [node for node in ast.walk(part) if isinstance(node, (ast.For, ast.While))]
        inner = {n for loop in loops for n in ast.walk(loop) if n is not loop}
        for loop in (each for each in loops if isinstance(each, ast.For) and each not in inner):
            name = getattr(loop.target, "id", "")
            behind = [n for n in ast.walk(part) if getattr(n, "lineno", 0) > (loop.end_lineno or 0)]
            for i, s in enumerate(loop.body):
                targets = s.targets if isinstance(s, ast.Assign) else []
                own = [getattr(target, "id", None) for target in targets] == [name]
                if own and not reads([*loop.body[i + 1 :], *behind], name):
                    found.append((name, s.lineno))
    return found


def owner_of(made: Any) -> Any:
    """The function or class whose code it is; of an object its class, if it is a plain one."""
    plain = inspect.isroutine(made) or isinstance(made, (type, torch.nn.Module))
    return made if plain else type(made)


def globals_of(made: Any) -> dict[str, Any]:
    """What the names in its code mean."""
    function = getattr(made, "forward", made) if isinstance(made, type) else made
    function = function if inspect.isroutine(function) else type(made).__call__
    return inspect.unwrap(function).__globals__


_TREES: dict[str, ast.Module] = {}


def parsed(text: str) -> ast.Module:
    """The tree of a file; those last met are kept."""
    if text not in _TREES:
        if len(_TREES) > 8:
            _TREES.clear()
        _TREES[text] = ast.parse(text)
    return _TREES[text]


# --- what its expressions are --------------------------------------------------------------------


class _Noting(ast.NodeTransformer):
    """Lets every expression note what it gives."""

    def __init__(self) -> None:
        self.nodes: list[ast.expr] = []

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, (ast.JoinedStr, ast.pattern, ast.arguments)):
            return node
        if isinstance(node, ast.FunctionDef):
            node.body = [self.visit(x) for x in node.body]
            arguments = [ast.Expr(_noted(x, ast.Name(x.arg, ast.Load()))) for x in _arguments(node)]
            node.body[:0] = arguments  # ty: ignore
            return node
        if isinstance(node, ast.AnnAssign):
            node.value = node.value and self.visit(node.value)
            return node
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute):
                node.func.value = self.visit(node.func.value)
            node.args = [self.visit(x) for x in node.args]
            node.keywords = [self.visit(x) for x in node.keywords]
        else:
            self.generic_visit(node)
        loads = isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
        if (
            not isinstance(node, ast.expr)
            or not loads
            or isinstance(node, (ast.Slice, ast.Starred))
        ):
            return node
        return ast.copy_location(_noted(node, node), node)


def _noted(node: Any, value: ast.expr) -> ast.Call:
    return ast.Call(ast.Name("__note__", ast.Load()), [ast.Constant(node.place), value], [])


def _arguments(function: ast.FunctionDef) -> list[ast.arg]:
    """The arguments of a function that have a place."""
    return [*function.args.args, *function.args.kwonlyargs]


Values = dict[int, Any]


def values_of(code: Code, attempt: Attempt, i: int) -> Values:
    """What each expression gives on an input, the last time, by the number of its node."""
    number = 0
    for part in code.parts:
        for node in ast.walk(part):
            node.place = number = number + 1  # ty: ignore
    found: dict[int, Any] = {}

    def note(place: int, value: Any) -> Any:
        found[place] = value
        return value

    parts = [_Noting().visit(copy.deepcopy(part)) for part in code.parts]
    try:
        made = code.build(parts, __note__=note)
    except Exception:
        return found
    call(attempt.component.observe(made), attempt.cases[i], gradients=False, seconds=4 * LONG)
    return found


def _kind_of_items(value: Sequence[Any]) -> str:
    return kind(value[0]) if value else ""


def kind(value: Any) -> str:
    """What a value is, as far as it matters to what can be done with it."""
    if isinstance(value, Tensor):
        if value.dtype == torch.bool:
            return "mask"
        return "vectors" if value.is_floating_point() else "tokens"
    if isinstance(value, bool):
        return "flag"
    if isinstance(value, (int, float)):
        return "number"
    if isinstance(value, (list, tuple, str)):
        return "text" if isinstance(value, str) else "list"
    if inspect.isfunction(value) or inspect.ismethod(value):
        return "function"
    return {"Tensor": "vectors"}.get(type(value).__name__, type(value).__name__)


# --- changes -------------------------------------------------------------------------------------

NUMBERS = (ast.Add, ast.Sub, ast.Mult, ast.Div)
PAIRS = ({ast.Add, ast.Sub}, {ast.Mult, ast.Div})  # taken for each other more often than others
OPERATORS = {kind: NUMBERS for kind in NUMBERS}
OPERATORS |= {ast.Pow: (ast.Mult, ast.Div), ast.FloorDiv: (ast.Mod, ast.Div)}
OPERATORS |= {ast.Mod: (ast.FloorDiv,), ast.MatMult: (ast.Mult,)}
OPERATORS |= {ast.BitAnd: (ast.BitOr,), ast.BitOr: (ast.BitAnd,)}
ORDERS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
STRICT = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
COMPARED = {kind: (*ORDERS, ast.Eq, ast.NotEq) for kind in ORDERS}
COMPARED |= {ast.Eq: (ast.NotEq, ast.GtE, ast.LtE), ast.NotEq: (ast.Eq, ast.Gt)}
COMPARED |= {ast.In: (ast.NotIn,), ast.NotIn: (ast.In,), ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,)}
FAMILIES = (
    {"sum", "mean", "max", "min", "prod"},
    {"amax", "amin", "mean", "sum"},
    {"var", "std"},
    {"sin", "cos"},
    {"tril", "triu"},
    {"argmax", "argmin"},
    {"softmax", "log_softmax", "sigmoid"},
    {"exp", "log", "exp2", "log2", "log10", "log1p", "expm1"},
    {"sqrt", "rsqrt", "square"},
    {"relu", "gelu", "silu", "tanh", "sigmoid"},
    {"zeros", "ones", "empty"},
    {"zeros_like", "ones_like", "empty_like"},
    {"new_zeros", "new_ones"},
    {"repeat", "repeat_interleave", "tile"},
    {"any", "all"},
    {"floor", "ceil", "round"},
    {"cumsum", "cumprod"},
    {"index_select", "gather"},
    {"masked_fill", "masked_fill_"},
    {"append", "extend"},
    {"view", "reshape"},
    {"cat", "stack"},
    {"mul", "add", "sub", "div"},
    {"T", "mT"},
    {"step", "zero_grad"},
    {"eval", "train"},
)
KEYWORDS = ("keepdim=True", "unbiased=False", "dim=-1", "dim=-2", "dim=0", "ignore_index=0")
KEYWORDS += ("reverse=True", "reduction='sum'", "diagonal=1", "diagonal=-1", "largest=False")

FILLING = ("append", "extend", "insert", "update", "setdefault")  # methods
BOUNDS = {"min": "max", "max": "min"}

TOKENS = ("<pad>", "<sos>", "<eos>", "<unk>", "", " ")

METHODS = ("eval", "train", "zero_grad", "step")  # that may be missing

# What can be done to an expression `e` of a kind, and with a name `a` of another kind beside it.
WRAPS = {
    "vectors": "-e; e.mT; e.transpose(1, 2); e.softmax(-1); e.exp(); e.log(); e ** 0.5; "
    "e ** 2; 1 - e; 1 + e; 2 * e; e / 2; e.detach(); e.clone(); e.float(); e.unsqueeze(1); "
    "e / e.size(-1) ** 0.5; e * e.size(-1) ** 0.5; e.unsqueeze(-1); e.unsqueeze(0); e.flip(-1); "
    "e - e.mean(-1, keepdim=True); e.abs(); e.relu(); e.sum(-1, keepdim=True); e.clamp(min=0); "
    "e.mean(-1, keepdim=True); e[:, -1]; e[:, :-1]; e[:, 1:]; e.log_softmax(-1); "
    "e.T; e.mean(); e.sum(); e.sum(0)",
    "tokens": "e[:, :-1]; e[:, 1:]; e[:, -1]; e + 1; e - 1; e != 0; e.unsqueeze(1); e.T; "
    "e.clone(); e.unsqueeze(-1); e.unsqueeze(0); e.flip(-1); e.clamp(min=1); e.float()",
    "mask": "~e; e.mT; e.unsqueeze(1); e.unsqueeze(-1); e.unsqueeze(-2); e[:, None, None]; "
    "e.tril(); e.flip(-1); e.clone(); e.sum(); e.any(-1, keepdim=True); "
    "e & e.new_ones(e.size(-1), e.size(-1)).tril()",
    "number": "-e; e + 1; e - 1; 2 * e; e / 2; e ** 0.5; 1 / e; 1 - e; e ** 2; e ** -0.5; "
    "max(e, 1); max(e, 0); min(e, 1); math.exp(e); math.log(e); int(e); abs(e)",
    "flag": "not e",
    "list": "e[:-1]; e[1:]; e[::-1]; sorted(e); list(dict.fromkeys(e)); set(e); list(e); len(e); "
    "e[0]; e[-1]; [*e, 2]; [1, *e]; sum(e)",
    "text": "e[:-1]; e[1:]; e[::-1]; e.lower(); e.split(); list(e); e.strip()",
}
WITH = {
    ("vectors", "vectors"): "e + a; e - a; e * a; e / a; e @ a; a - e; e[:a.size(1)]; "
    "e[:, :a.size(1)]",
    ("vectors", "number"): "e * a; e / a; e / a ** 0.5; e * a ** 0.5; e * (1 - a); e / (1 - a); "
    "e + a; e - a",
    ("vectors", "mask"): "e * a; e[a]; e.masked_fill(a, 0); e.masked_fill(~a, 0); "
    "e.masked_fill(~a, -1e9); e.masked_fill(a, -1e9); e * a.any(-1, keepdim=True)",
    ("vectors", "tokens"): "e[a]; e[a != 0]; e * (a != 0); e * (a != 0).unsqueeze(-1)",
    ("vectors", "function"): "a(e)",
    ("tokens", "number"): "e + a; e - a; e[:, :a]; e[:, -a:]",
    ("tokens", "tokens"): "e + a; e * a",
    ("tokens", "function"): "a(e)",
    ("tokens", "mask"): "e * a; e[a]",
    ("mask", "mask"): "e & a; e | a; e & ~a",
    ("mask", "tokens"): "e & (a != 0); e & (a != 0)[:, None, None]",
    ("number", "number"): "a; e * a; e / a; e + a; e - a; max(e, a); min(e, a); e * a ** 0.5; "
    "e / a ** 0.5; e * (1 - a); e // a; a // e; a - e; a / e",
    ("number", "list"): "len(a); e * len(a); e / len(a); e - len(a)",
    ("flag", "flag"): "e and a; e or a; e and not a",
    ("list", "list"): "e + a; a + e",
    ("list", "number"): "e[:a]; e[a:]; e[-a:]",
    ("text", "text"): "e + a; a + e",
}
WITHIN_ONE = "e ** a"  # of a number between 0 and 1


@dataclass
class Edit:
    """A change: in which list or dictionary of the tree, at which key, and what comes there."""

    holder: Any
    key: Any
    new: Any
    line: int
    above: tuple[ast.AST, ...]
    rank: int
    said: str = ""

    def swap(self) -> None:
        """Make the change, or take it back."""
        self.holder[self.key], self.new = self.new, self.holder[self.key]

    def likely(self) -> bool:
        """Whether it may be told where it mends only a part: some constant always fits some."""
        old = self.holder[self.key]
        both = isinstance(self.new, ast.Constant) and isinstance(old, ast.Constant)
        return self.rank <= LIKELY and not both

    def meets(self, node: ast.AST) -> bool:
        """Whether it is made inside an expression, or around it."""
        old = self.holder[self.key]
        return node in self.above or (isinstance(old, ast.expr) and node in ast.walk(old))

    def scales(self) -> bool:
        """Whether it multiplies or divides what stood there, or adds a number to it."""
        new, old = self.new, self.holder[self.key]
        if not isinstance(new, ast.BinOp) or old not in (new.left, new.right):
            return False
        other = new.right if old is new.left else new.left
        return isinstance(new.op, (ast.Mult, ast.Div)) or isinstance(other, ast.Constant)

    def told(self) -> str:
        """What changes, in words: the shortest expression that shows it."""
        if self.said:
            return self.said
        around = [x for x in self.above if isinstance(x, ast.expr) and not _of_slices(x)]
        before = [written(x) for x in (self.holder[self.key], *around)]
        old = self.holder[self.key]
        self.swap()
        after = [written(x) for x in (self.holder[self.key], *around)]
        self.swap()
        both = [*zip(after, before, strict=True)][bool(around) and _of_slices(old) :]
        once = [p for p in both if _count(p[1], before[-1]) == 1] or both[-1:]
        fit = [pair for pair in once if max(map(len, pair)) <= WIDE]
        new, was = next((p for p in fit if min(map(len, p)) > 8), (fit or once)[0])
        wider = both[both.index((new, was)) + 1 :]  # what it stands in may ask for brackets
        if wider and f"({new})" in wider[0][0] and f"({was})" not in wider[0][1]:
            new = f"({new})"
        new = re.sub(r"(?<![\w)\] ])-0(?![\w.])", "0", new)
        return f"with `{new}` in the place of `{was}`"

    def sentence(self, what: str) -> str:
        """The beginning of what is said of the change."""
        return f"Line {self.line} of your cell or file: {self.told()} {what}"


def written(node: ast.AST) -> str:
    """Code as people write it: `sum(x for x in y)` with one pair of brackets."""
    text = ast.unparse(node)
    for part in ast.walk(node):
        match part:
            case ast.Call(args=[ast.GeneratorExp() as alone], keywords=[]):
                inner = ast.unparse(alone)
                text = text.replace(f"({inner})", inner)
    return text


def _length(code: Code, edit: Edit) -> int:
    """Of how many expressions the code is made with a change."""
    edit.swap()
    found = sum(isinstance(node, ast.expr) for part in code.parts for node in ast.walk(part))
    edit.swap()
    return found


def _count(said: str, text: str) -> int:
    """How often an expression is written in a text, and not as a part of a longer name."""
    return len(re.findall(rf"(?<!\w){re.escape(said)}(?!\w)", text))


def _of_slices(node: ast.AST) -> bool:
    """What stands in square brackets, and is no expression by itself."""
    parts = node.elts if isinstance(node, ast.Tuple) else [node]
    return any(isinstance(part, ast.Slice) for part in parts)


def edits(code: Code, values: Values, gradients: bool = False) -> Iterator[Edit]:
    """Every change, the most likely first; for gradients alone those of a `backward`, if any."""
    nodes = [node for part in code.parts for node in ast.walk(part)]
    texts = {
        ast.unparse(n): n.value
        for n in nodes
        if isinstance(n, ast.Constant) and isinstance(n.value, str) and n.value.isidentifier()
    }
    found = [edit for part in code.parts for edit in _of_part(part, values, texts)]
    backward = [n for n in nodes if isinstance(n, ast.FunctionDef) and n.name == "backward"]
    if gradients and backward:
        lines = {i for n in backward for i in range(n.lineno, (n.end_lineno or 0) + 1)}
        found = [edit for edit in found if edit.line in lines]
    found.sort(key=lambda edit: edit.rank)
    return iter(found)


def _of_part(part: Part, values: Values, texts: Mapping[str, str]) -> Iterator[Edit]:
    stored = {n.id for n in ast.walk(part) if isinstance(n, ast.Name) and _stored(n)}
    stored |= {a.arg for n in ast.walk(part) if isinstance(n, ast.arguments) for a in n.args}
    # An argument that is never read may be what is missing.
    names = {
        a.arg: values[a.place]  # ty: ignore
        for n in ast.walk(part)
        if isinstance(n, ast.FunctionDef)
        for a in _arguments(n)
        if a.arg != "self" and a.place in values  # ty: ignore
    }
    for n in ast.walk(part):
        if isinstance(n, ast.Name) and n.id in names:
            n.given = True  # ty: ignore
    names |= {
        ast.unparse(n): values[n.place]  # ty: ignore
        for n in ast.walk(part)
        if _named(n) and n.place in values and (_root(n) in stored)  # ty: ignore
    }
    others = {
        ast.unparse(n): values[n.place]  # ty: ignore
        for n in ast.walk(part)
        if isinstance(n, (ast.BinOp, ast.Subscript, ast.Call)) and not _stored(n)
        if n.place in values and isinstance(values[n.place], (int, float, Tensor))  # ty: ignore
    }
    others = {text: value for text, value in others.items() if len(text) <= WIDE // 2} | texts
    yield from _walk(part, (), part.lineno, values, names, others)


def _stored(node: ast.AST) -> bool:
    return not isinstance(getattr(node, "ctx", ast.Load()), ast.Load)


def _named(node: ast.AST) -> bool:
    """A name, or an attribute of `self`."""
    if isinstance(node, ast.Attribute):
        return _root(node.value) == "self" and not _stored(node)
    return isinstance(node, ast.Name) and node.id != "self" and not _stored(node)


def _root(node: Any) -> str:
    return node.id if isinstance(node, ast.Name) else _root(getattr(node, "value", ast.Name("")))


def _walk(
    node: ast.AST,
    above: tuple[ast.AST, ...],
    line: int,
    values: Values,
    names: Mapping[str, Any],
    others: Mapping[str, Any],
) -> Iterator[Edit]:
    above = () if isinstance(node, ast.stmt) else (node, *above)
    for part, value in ast.iter_fields(node):
        if part in ("annotation", "returns"):
            continue
        if part in ("body", "orelse") and isinstance(value, list):
            yield from _statements(node, part, value, names)
        holder = value if isinstance(value, list) else vars(node)
        for key, child in enumerate(value) if isinstance(value, list) else [(part, value)]:
            if not isinstance(child, ast.AST):
                continue
            here = getattr(child, "lineno", line)
            variants: Iterable[tuple[int, ast.expr]] = ()
            if isinstance(child, ast.Slice):
                variants = _slices(child)
            elif isinstance(child, ast.expr) and not _stored(child):
                # A whole number with a large exponent cannot be computed, nor stopped.
                power = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow)
                beside = ({}, {}) if power and key == "right" else (names, others)
                variants = _variants(child, values, *beside)
            asked = _asked(node)
            sized = isinstance(node, ast.Attribute) and node.attr in ("shape", "size")
            for rank, new in variants:
                if sized and rank >= ADDED:
                    continue  # the size of something else may be 1 by chance
                if not (asked and _never(new, child, values.get(getattr(asked, "place", None)))):
                    yield Edit(holder, key, new, here, above, rank)
            yield from _walk(child, above, here, values, names, others)


def _asked(node: ast.AST) -> ast.expr | None:
    """What a comparison by `==`, `!=`, `eq` or `ne` asks about."""
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.Eq, ast.NotEq)):
        return node.left
    called = node.func if isinstance(node, ast.Call) else None
    return (
        called.value if isinstance(called, ast.Attribute) and called.attr in ("eq", "ne") else None
    )


def _never(new: ast.expr, old: ast.AST, asked: Any) -> bool:
    """Whether no id is equal to it, or no longer to what stands beside it: both always hold.

    Of vectors no number is equal to another constant either.
    """
    if isinstance(new, ast.Constant) and isinstance(old, ast.Constant) and kind(asked) == "vectors":
        return True
    if isinstance(new, ast.BinOp):
        one = isinstance(new.right, ast.Constant) or kind(asked) == "tokens"
        return new.left is old and one
    if isinstance(new, ast.Call):
        return isinstance(new.func, ast.Attribute) and new.func.attr == "clamp"
    return isinstance(new, ast.Constant) and isinstance(new.value, int) and new.value < 0


def expression(text: str) -> ast.expr:
    """An expression that stands in no line yet: it gets that of what it comes into."""
    tree = ast.parse(text, mode="eval").body
    for node in ast.walk(tree):
        for place in ("lineno", "col_offset", "end_lineno", "end_col_offset"):
            vars(node).pop(place, None)
    return tree


class _Filled(ast.NodeTransformer):
    def __init__(self, e: ast.expr) -> None:
        self.e, self.once = e, False

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id != "e":
            return node
        again, self.once = self.once, True
        return copy.deepcopy(self.e) if again else self.e  # no node stands twice in a tree


def filled(text: str, e: ast.expr, a: str = "") -> ast.expr:
    """An expression with another one in the place of its `e`, and a name in that of its `a`."""
    tree = expression(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id == "a":
            node.id = a  # may be an attribute: the tree is read again
    return _Filled(e).visit(expression(ast.unparse(tree)))


def _slices(node: ast.Slice) -> Iterator[tuple[int, ast.expr]]:
    for lower, upper in (("", ""), ("1", ""), ("", "-1"), ("-1", ""), ("1", "-1")):
        low, high = (expression(x) if x else None for x in (lower, upper))
        yield 3 if lower or upper else 2, ast.Slice(low, high, node.step)
    if node.lower and node.upper:
        for more in (1, -1):
            yield 3, ast.Slice(_plus(node.lower, more), _plus(node.upper, more), node.step)


def _plus(node: ast.expr, more: int) -> ast.expr:
    """A number one larger or smaller, as it would be written."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
        undone = more if isinstance(node.op, ast.Sub) else -more
        if isinstance(node.right, ast.Constant) and node.right.value == undone:
            return node.left
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return ast.Constant(node.value + more)
    return ast.BinOp(node, ast.Add() if more > 0 else ast.Sub(), ast.Constant(1))


def _variants(
    node: ast.expr, values: Values, names: Mapping[str, Any], others: Mapping[str, Any]
) -> Iterator[tuple[int, ast.expr]]:
    """What may come in its place, with a rank; of `others` only as they stand elsewhere."""
    place = node.place  # ty: ignore
    if place not in values and not isinstance(node, ast.Constant):
        if isinstance(node, (ast.Call, ast.BinOp, ast.Subscript)):
            yield from _simple(node)  # it may be what stops
        return
    own = kind(values.get(place))
    for rank, new in _simple(node):
        part = values.get(getattr(new, "place", None))
        other = own == "flag" if part is None else kind(part) != own  # it may not have been reached
        odd = rank == 0 and not _is_to(node) and other
        # A condition that always holds, or never, may be right for another reason.
        equal = isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.Eq, ast.NotEq))
        always = own == "flag" and equal and isinstance(new, ast.Compare)
        yield (6 if odd else ADDED if always else rank), new
    if isinstance(node, ast.Constant):
        if isinstance(node.value, str):
            texts = (text for text, value in others.items() if isinstance(value, str))
            yield from ((2, expression(text)) for text in texts if text != ast.unparse(node))
        return
    if own == "number":
        yield 2, ast.Constant(0)
    for name, value in {**names, **others}.items() if _named(node) else ():
        if kind(value) == own and name != ast.unparse(node):
            yield 6 if name in others else 2, expression(name)
    shape = getattr(values[place], "shape", ())  # a function may have an attribute of the name
    alone = isinstance(shape, tuple) and shape[-1:] == (1,)
    odd = r"softmax\(-1|- e\.mean\(-1" if alone else "$^"  # a number, whatever it is
    of_ids = isinstance(values[place], list) and _kind_of_items(values[place]) == "number"
    if own == "list" and not of_ids:
        odd = r"\*e"
    if isinstance(node, (ast.Tuple, ast.List)):
        odd += r"|^len|^sum"  # a number that anyone would write as one
    if own == "number" and isinstance(values[place], int):
        odd = r"^min\(e, 1\)|^1 / e"  # it is 1, whatever it was
    if own == "tokens" and getattr(node, "given", False):
        odd = r"^e [-+*] \w"  # ids are what they are
    for text in WRAPS.get(own, "e").split("; "):
        if not re.search(odd, text):
            yield 4, filled(text, node)
    small = own == "number" and 0 < values[place] < 1
    for name, value in names.items():
        lists = own == kind(value) == "list"
        if lists and _kind_of_items(value) != _kind_of_items(values[place]):
            continue  # a pair among pieces is there only to be unequal
        texts = WITH.get((own, other := kind(value)), "e").split("; ")
        for text in [*texts, *([WITHIN_ONE] if small and other == "number" else ())]:
            if name != ast.unparse(node) and not re.search(odd, text):
                yield (3 if text == "a(e)" else 5), filled(text, node, name)


def _simple(node: ast.expr) -> Iterator[tuple[int, ast.expr]]:
    """Another operator, another constant, a part alone."""
    if isinstance(node, ast.BinOp):
        for operator in OPERATORS.get(type(node.op), ()):
            if operator is not type(node.op):
                near = {type(node.op), operator} in PAIRS or type(node.op) not in NUMBERS
                yield 1 if near else ADDED, ast.BinOp(node.left, operator(), node.right)
        yield 1, ast.BinOp(node.right, node.op, node.left)
        yield 0, node.left
        yield 0, node.right
        yield from ((1, new) for new in _brackets_moved(node))
        if isinstance(node.op, ast.MatMult):
            yield 1, ast.BinOp(node.left, node.op, filled("e.mT", node.right))
    elif isinstance(node, ast.BoolOp):
        yield 1, ast.BoolOp(ast.And() if isinstance(node.op, ast.Or) else ast.Or(), node.values)
        for i in range(len(node.values)):
            rest = node.values[:i] + node.values[i + 1 :]
            yield 0, rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)
    elif isinstance(node, ast.Compare):
        # In `0 <= a < n` both point the same way.
        chained = node.ops[1:] and STRICT.get(type(node.ops[0]))
        for operator in (chained,) if chained else COMPARED.get(type(node.ops[0]), ()):
            if operator is not type(node.ops[0]):
                yield 1, ast.Compare(node.left, [operator(), *node.ops[1:]], node.comparators)
        yield 0, node.left
        yield 0, node.comparators[-1]
    elif isinstance(node, ast.UnaryOp):
        yield 1, node.operand
        if isinstance(node.operand, ast.Constant) and isinstance(node.operand.value, (int, float)):
            for x in (node.operand.value + 1, node.operand.value - 1, 0.5, 1e9):
                yield 2, ast.UnaryOp(node.op, ast.Constant(x))
            yield 2, ast.Constant(0)
            if 0 < abs(node.operand.value) < HUGE:
                yield 2, ast.Constant(1 / node.operand.value)
    elif isinstance(node, ast.IfExp):
        yield 0, node.body
        yield 0, node.orelse
        yield 1, ast.IfExp(node.test, node.orelse, node.body)
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield 1, ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield from ((2, ast.Constant(token)) for token in TOKENS if token != node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        x = node.value
        for y in (
            x + 1,
            x - 1,
            -x,
            -x - 1,
            2 * x,
            x / 2,
            x + 2,
            0,
            0.0,
            1,
            1 / x if 0 < abs(x) < HUGE else 0,
            1 - x,
        ):
            if y != x or type(y) is not type(x):
                yield 2, ast.Constant(y)
        if not isinstance(x, int):
            others = ("float('-inf')", "float('inf')", "1e-5", "1e-6", "1e-8", "0.5")
            yield from ((2, expression(text)) for text in others)
    elif isinstance(node, ast.Attribute):
        for family in FAMILIES:
            if node.attr in family:
                for other in sorted(family - {node.attr}):
                    yield 1, ast.Attribute(node.value, other, node.ctx)
        yield 0, node.value
    elif isinstance(node, ast.Subscript):
        yield 0, node.value
        if not isinstance(node.slice, (ast.Slice, ast.Tuple, ast.Constant)):
            for end in (node.slice, _plus(node.slice, 1)):
                yield 3, ast.Subscript(node.value, ast.Slice(None, end), node.ctx)
    elif isinstance(node, ast.Call):
        yield from _calls(node)
        yield from _moved(node)
    elif isinstance(node, (ast.GeneratorExp, ast.ListComp, ast.SetComp)):
        for i, generator in enumerate(node.generators):
            for j in range(len(generator.ifs)):
                changed = copy.deepcopy(node)
                del changed.generators[i].ifs[j]
                yield 0, changed
    elif isinstance(node, (ast.Tuple, ast.List)) and 2 <= len(node.elts) <= 4:
        for i in range(len(node.elts)):
            for j in range(i):
                items = list(node.elts)
                items[i], items[j] = items[j], items[i]
                yield 2, type(node)(items, node.ctx)
        if all(isinstance(item, ast.Constant) for item in node.elts):  # axes, for one
            yield from ((2, item) for item in (*node.elts, expression("-1")))


def _brackets_moved(node: ast.BinOp) -> Iterator[ast.expr]:
    """`a / (b + c)` as `a / b + c`, and the other way round."""
    if isinstance(inner := node.right, ast.BinOp):
        yield ast.BinOp(ast.BinOp(node.left, node.op, inner.left), inner.op, inner.right)
    if isinstance(inner := node.left, ast.BinOp):
        yield ast.BinOp(inner.left, inner.op, ast.BinOp(inner.right, node.op, node.right))


def _is_to(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "to"


def _calls(node: ast.Call) -> Iterator[tuple[int, ast.expr]]:
    """Other arguments of a call, another function of its family, or no call."""
    if isinstance(node.func, ast.Attribute):
        yield 0, node.func.value
    for i, argument in enumerate(node.args):
        if not isinstance(argument, ast.Starred):
            yield 3 if isinstance(argument, ast.Constant) else 0, argument
        if isinstance(argument, ast.BinOp):
            yield 3, argument.left
        if len(node.args) > 1 or not _is_to(node):  # `x.to()` does nothing
            odd = isinstance(argument, ast.Starred)  # `zip()` gives nothing
            fewer = ast.Call(node.func, node.args[:i] + node.args[i + 1 :], node.keywords)
            yield 6 if odd else 2, fewer
        for j in range(i):
            order = list(node.args)
            order[i], order[j] = order[j], order[i]
            yield 2, ast.Call(node.func, order, node.keywords)
    for i, given in enumerate(node.keywords):
        before, after = node.keywords[:i], node.keywords[i + 1 :]
        yield 2, ast.Call(node.func, node.args, before + after)
        if given.arg in BOUNDS:
            other = ast.keyword(BOUNDS[given.arg], given.value)
            yield 2, ast.Call(node.func, node.args, [*before, other, *after])
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    for family in FAMILIES:
        if name in family:
            for other in sorted(family - {name}):
                func = (
                    ast.Attribute(node.func.value, other, ast.Load())
                    if isinstance(node.func, ast.Attribute)
                    else ast.Name(other, ast.Load())
                )
                yield 2, ast.Call(func, node.args, node.keywords)
    if not node.args and not node.keywords:
        for text in ("f(-1)", "f(-1, keepdim=True)", "f(0)"):
            more = expression(text)
            yield 2, ast.Call(node.func, more.args, more.keywords)  # ty: ignore
    named = {keyword.arg for keyword in node.keywords}
    for text in KEYWORDS:
        keyword = expression(f"f({text})").keywords[0]  # ty: ignore
        if keyword.arg not in named:
            yield 2, ast.Call(node.func, node.args, [*node.keywords, keyword])


def _moved(node: ast.Call) -> Iterator[tuple[int, ast.expr]]:
    """A call of one argument around a part of that argument, not around the whole."""
    inner = node.func.value if isinstance(node.func, ast.Attribute) else None
    argument = node.args[0] if len(node.args) == 1 else None if node.args else inner
    if argument is None or node.keywords or isinstance(argument, (ast.Name, ast.Starred)):
        return
    parts = [n for n in ast.walk(argument) if isinstance(n, (ast.Name, ast.BinOp, ast.Call))]
    for i, part in enumerate(parts):
        if i and not _stored(part):
            yield 3, _Around(part, node, argument).visit(argument)


class _Around(ast.NodeTransformer):
    """An expression, and around one part of it a call."""

    def __init__(self, part: ast.expr, call: ast.Call, argument: ast.expr) -> None:
        self.part, self.call, self.argument = part, call, argument

    def visit(self, node: ast.AST) -> Any:
        if node is self.part:
            args = [node if x is self.argument else x for x in self.call.args]
            func = self.call.func
            if isinstance(func, ast.Attribute) and func.value is self.argument:
                func = ast.Attribute(node, func.attr, func.ctx)  # ty: ignore
            return ast.Call(func, args, [])  # ty: ignore
        changed = copy.copy(node)
        for name, value in ast.iter_fields(node):
            if isinstance(value, list):
                setattr(
                    changed, name, [self.visit(x) if isinstance(x, ast.AST) else x for x in value]
                )
            elif isinstance(value, ast.AST):
                setattr(changed, name, self.visit(value))
        return changed


def _statements(
    holder: ast.AST, field: str, body: list[ast.stmt], names: Mapping[str, Any]
) -> Iterator[Edit]:
    """Lines that go, move, come twice, or come in addition."""

    def edit(new: list[ast.stmt], at: ast.stmt, said: str, rank: int = 1) -> Edit:
        return Edit(vars(holder), field, new or [ast.Pass()], at.lineno, (), rank, said)

    for i, s in enumerate(body):
        before, after = body[:i], body[i + 1 :]
        if isinstance(s, (ast.FunctionDef, ast.ClassDef)):
            continue
        alone = not before and not after and isinstance(holder, (ast.For, ast.While, ast.With))
        if not isinstance(s, ast.Return) and not alone:  # then all of the block is left out
            guards = isinstance(s, ast.If) and isinstance(s.body[-1], ast.Raise)
            yield edit([*before, *after], s, f"without `{_first(s)}`", LIKELY if guards else 0)
        if after:
            said = f"with `{_first(after[0])}` moved before `{_first(s)}`"
            yield edit([*before, after[0], s, *after[1:]], after[0], said)
        others: list[ast.stmt] = []
        if isinstance(s, ast.AugAssign):
            now = expression(ast.unparse(s.target))
            sums = (ast.BinOp(now, s.op, s.value), s.value)
            others = [ast.Assign([s.target], value) for value in sums]
        elif isinstance(s, (ast.Break, ast.Continue)):
            others = [ast.Continue() if isinstance(s, ast.Break) else ast.Break()]
        for other in others:
            other = ast.copy_location(other, s)
            said = f"with `{_first(other)}` in the place of `{_first(s)}`"
            yield edit([*before, other, *after], s, said)
        if isinstance(s, (ast.For, ast.While, ast.If, ast.With)):
            yield from _of_block(s, before, after, edit)
        if isinstance(s, (ast.With, ast.Try)):
            alone = f"with what stands below `{_first(s)}` alone in its place"
            yield edit([*before, *s.body, *after], s, alone)
        for handler in s.handlers if isinstance(s, ast.Try) else ():
            instead = f"with what stands below `{_first(handler)}` in the place of the whole `try`"
            yield edit([*before, *handler.body, *after], handler, instead)
        for name, value in names.items():
            for method in METHODS:
                if not isinstance(value, Tensor) and hasattr(value, method):
                    more = ast.Expr(expression(f"{name}.{method}()"))
                    said = f"`{_first(s)}`, with `{name}.{method}()`"
                    yield edit([*before, more, s, *after], s, f"before {said} there,", 3)
                    if not isinstance(s, ast.Return):
                        yield edit([*before, s, more, *after], s, f"behind {said} there,", 3)


def _of_block(
    s: ast.For | ast.While | ast.If | ast.With,
    before: list[ast.stmt],
    after: list[ast.stmt],
    edit: Callable[..., Edit],
) -> Iterator[Edit]:
    """Lines that move into a block, or out of it."""

    def block(new: list[ast.stmt]) -> ast.stmt:
        changed = copy.copy(s)
        changed.body = new or [ast.Pass()]
        return changed

    inner, said = s.body, f"`{_first(s)}`"
    if isinstance(s, ast.If):
        yield edit([*before, *inner, *after], s, f"with what stands below {said} always done,", 2)
        if s.orelse:
            asked = isinstance(s.orelse[0], ast.If) and not s.orelse[1:]
            rest = (
                f"`elif` behind {said} always asked" if asked else f"`else` of {said} always done"
            )
            yield edit([*before, *s.orelse, *after], s, f"with the {rest},", 2)
    first, last = _first(inner[0]), _first(inner[-1])
    for n in range(2, len(inner)):
        some = f"with the last {n} lines of the block of {said}, from `{_first(inner[-n])}` on,"
        yield edit([*before, block(inner[:-n]), *inner[-n:], *after], s, f"{some} behind it", 3)
    for n in range(2, len(after) + 1):
        if not isinstance(after[n - 1], ast.Return):
            some = f"with the {n} lines behind {said}, from `{_first(after[0])}` on,"
            into = [*before, block([*inner, *after[:n]]), *after[n:]]
            yield edit(into, after[0], f"{some} at the end of its block", 3)
    if inner[1:]:
        out = [*before, block(inner[:-1]), inner[-1], *after]
        yield edit(out, inner[-1], f"with `{last}` behind the block of {said} and not in it", 3)
        out = [*before, inner[0], block(inner[1:]), *after]
        yield edit(out, inner[0], f"with `{first}` before {said} and not in its block", 3)
    elif isinstance(s, (ast.For, ast.While)):
        out = [*before, *inner, *after]
        yield edit(out, s, f"with `{first}` alone in the place of {said}", 3)
    if after:
        into = [*before, block([*inner, after[0]]), *after[1:]]
        yield edit(
            into, after[0], f"with `{_first(after[0])}` moved to the end of the block of {said}", 3
        )
    if before:
        into = [*before[:-1], block([before[-1], *inner]), *after]
        yield edit(
            into, before[-1], f"with `{_first(before[-1])}` moved to the beginning of {said}", 3
        )
    for one in inner:
        again = f"with `{_first(one)}` once more behind the block of {said}"
        yield edit([*before, s, one, *after], one, again, 3)
    if after and isinstance(inner[-1], ast.Break):
        return
    for one in after[:2]:
        if isinstance(one, ast.Return):
            into = [*before, block([*inner, one]), *after]
            yield edit(into, one, f"with `{_first(one)}` in the block of {said}, too,", 4)


def _first(statement: ast.AST) -> str:
    """The first line of a statement."""
    first, *more = written(statement).splitlines()
    return f"{first} …" if more else first


# --- trying --------------------------------------------------------------------------------------


def right(attempt: Attempt, i: int, mine: Outcome) -> bool:
    """Whether an outcome on an input is right in all respects."""
    target = attempt.expected[i]
    if mine.trouble or mine.changed or not same(mine.answer, target.answer):
        return False
    # Where none were asked for, there are none.
    for own, other in zip(mine.gradients, target.gradients, strict=False):
        if other is None or not other.any():
            continue
        if own is None or not (attempt.cases[i].rough or same(own, other)):
            return False
    return True


def mended(attempt: Attempt) -> tuple[str, ...]:
    """The change that would make it right, or two of them, a sentence each.

    Or the one that would make it a known convention. Nothing if no change that was tried makes it
    right on nearly all inputs, and on no other one wrong.
    """
    code = Code.of(attempt.function, attempt.held)
    if code is None:
        return ()
    with bounded_memory(), lists_that_end(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is tried here may be odd
        tries = Tries(attempt)
        if not tries.faithful(code):
            return ()
        some: list[Found] = []
        best = tries.one(code, attempt, wrong_of(attempt), some)
        if best and not best[1] and best[0].rank < ADDED:
            return _told(attempt, [best])
        # What has the right numbers is no other convention, whatever its gradients.
        for name, goal in conventions(attempt) if attempt.wrong else ():
            if len(wrong := wrong_of(goal)) > len(wrong_of(attempt)):
                continue  # it is nearer to what is right
            one = tries.one(code, goal, wrong)
            if one and not one[1] and not (best and not best[1] and one[0].rank >= ADDED):
                return (f"{one[0].sentence('yours would be')} the convention “{name}”.",)
        if best and not best[1]:
            return _told(attempt, [best])
        return _told(attempt, tries.two(code, attempt, best, some))


def _probes(wrong: Sequence[int]) -> list[int]:
    """The first of these inputs, the last, and one between."""
    return list(dict.fromkeys((wrong[0], wrong[-1], wrong[len(wrong) // 2])))


def conventions(attempt: Attempt) -> Iterator[tuple[str, Attempt]]:
    """The attempt, held against each convention in the place of the right version."""
    for mistake in MISTAKES[attempt.plain.name]:
        if mistake.kind == "convention":
            goal = copy.copy(attempt)
            vars(goal)["expected"] = known_outcomes(attempt.component, (mistake,))
            yield mistake.name, goal


def wrong_of(attempt: Attempt) -> list[int]:
    """The inputs on which it is not right in all respects, and those it was not tried on."""
    tried = attempt.found
    wrong = [i for i, mine in enumerate(tried) if not right(attempt, i, mine)]
    return [*wrong, *range(len(tried), len(attempt.cases))]


Left = list[int]  # the inputs on which it is still wrong
Found = tuple[Edit, Left]


def _told(attempt: Attempt, found: Sequence[Found]) -> tuple[str, ...]:
    """These changes, made one after the other, in sentences."""
    told: list[str] = []
    of, before = len(attempt.cases), len(wrong_of(attempt))
    for edit, left in found:
        number = (
            f"{of - len(left)} of {of} inputs, not {of - before}; the cause may be another"
            if left
            else f"all {of} inputs"
            + "; the cause may be another" * (before <= FEW and edit.rank > 1)
        )
        start = f"{'With that, l' if told else 'L'}{edit.sentence('yours would be')[1:]}"
        told.append(f"{start} right on {number}.")
        before = len(left)
        edit.swap()
    for edit, _ in found[::-1]:
        edit.swap()
    return tuple(told)


@dataclass
class Tries:
    """How changes are tried: first on the first input that is wrong, or on another one of them."""

    attempt: Attempt
    number: int = 0
    endless: int = 0
    start: float = field(default_factory=time.process_time)
    times: dict[int, float] = field(default_factory=dict)

    @property
    def over(self) -> bool:
        """Whether enough was tried."""
        long = time.process_time() - self.start > SECONDS
        return self.number >= MOST or self.endless >= ENDLESS or long

    def faithful(self, code: Code) -> bool:
        """Whether the code, built again, is still wrong where it was: else it is another version.

        Its decorators are lost, its names have the last value that they had, and what it keeps from
        one call to the next is gone.
        """
        wrong = wrong_of(self.attempt)
        component = self.attempt.component
        for i in _probes(wrong):
            try:
                tried = component.observe(code.build())
            except Exception:
                return False
            given = self.attempt.cases[i]
            mine = call(tried, given, gradients=component.differentiable, seconds=4 * LONG)
            stops = bool(mine.trouble) and not self.attempt.found[i].trouble
            if stops or right(self.attempt, i, mine):
                return False
        return True

    def two(
        self, code: Code, goal: Attempt, best: Found | None, some: Sequence[Found]
    ) -> list[Found]:
        """Two changes after which it is right on all inputs, or one or two that help most."""
        # Behind a factor that fits some inputs, another change may fit the rest.
        likely = [each for each in some if each[0].likely() or not each[0].scales()]
        pairs: list[tuple[int, list[Found]]] = []
        for first in sorted(likely, key=lambda each: (len(each[1]), each[0].rank))[:FIRST]:
            second = self._with(code, goal, first)
            if second and not second[1]:
                first[0].swap()
                pairs.append((_length(code, second[0]), [first, second]))
                first[0].swap()
        if pairs:
            return min(pairs, key=operator.itemgetter(0))[1]
        second = self._with(code, goal, best) if best else None
        found = [each for each in (best, second) if each]
        # Of many changes one helps on some inputs by chance.
        some = len(wrong_of(goal)) // SHARE
        return found if found and len(found[-1][1]) <= some else []

    def _with(self, code: Code, goal: Attempt, first: Found) -> Found | None:
        """Another change behind the first one."""
        first[0].swap()
        second = self.one(code, goal, first[1], beside=first[0].holder[first[0].key])
        first[0].swap()
        return second

    def one(
        self,
        code: Code,
        goal: Attempt,
        wrong: Sequence[int],
        some: list[Found] | None = None,
        beside: ast.AST | None = None,
    ) -> Found | None:
        """The first change after which it is right on all inputs, or else on most.

        Those that help at all are put into `some`, if it is given: a second one may do the rest.
        It stands `beside` what was changed before, and does not change that again.
        """
        best, least = None, len(wrong) // 3 + 1
        nan = any(holds_nan(mine.answer) for mine in self.attempt.found)
        until = 0
        for probe in _probes(wrong)[: 1 if some is None else None]:
            whole: list[Edit] = []
            values = values_of(code, self.attempt, probe)
            for number, edit in enumerate(edits(code, values, not self.attempt.wrong)):
                if self.over or (whole and number > until):
                    break
                if whole and whole[0].rank < ADDED <= edit.rank:
                    break  # what adds nothing comes before what does
                if nan and edit.scales():
                    continue  # it hides what was rounded to 0, and does not mend it
                if beside is not None and edit.meets(beside):
                    continue
                edit.swap()
                left = self.left(code, goal, wrong, probe, least if some is None else len(wrong))
                edit.swap()
                if left is None or (not left and len(wrong) <= FEW and edit.rank >= ADDED):
                    continue  # what adds to the code fits few inputs by chance
                if some is not None:
                    some.append((edit, left))
                # What only helps must be likely: among many changes, some help by chance.
                if not left or (len(left) < least and edit.likely()):
                    best, least = (edit, left), len(left)
                if not left:
                    whole.append(edit)
                    further = FURTHER if edit.rank >= ADDED else BESIDE
                    until = until if whole[1:] else number + further
            if whole:
                return min(whole, key=functools.partial(_length, code)), []
            if self.over:
                return best
        return best

    def left(
        self, code: Code, goal: Attempt, wrong: Sequence[int], probe: int, most: int
    ) -> Left | None:
        """On which inputs the code as it stands is wrong; `None` if it mends too little.

        It must mend the input `probe`, make none wrong that is right, and leave fewer than `most`.
        """
        self.number += 1
        try:
            return self._left(code.build(), goal, wrong, probe, most, anew=not code.filled)
        except Exception:  # a change may make anything
            return None

    def _left(
        self, made: Any, goal: Attempt, wrong: Sequence[int], probe: int, most: int, *, anew: bool
    ) -> Left | None:
        component = goal.component
        tried, found = component.observe(made), []
        order = [*range(len(goal.cases))]
        if anew:  # no call leaves something to the next
            order.sort(key=lambda i: (i != probe, i not in wrong, i))
        ways = (False, True) if component.differentiable else (False,)
        for gradients, i in itertools.product(ways, order):
            if i in found:
                continue
            case, long = goal.cases[i], self.long(i)
            mine = call(tried, case, gradients=gradients, seconds=long, endless=False)
            self.endless += mine.unfinished
            if mine.unfinished and long < LONG and i != probe and i in wrong:
                # What stops early takes less time than the right answer may.
                mine = call(tried, case, gradients=gradients, seconds=LONG, endless=False)
            if right(goal, i, mine):
                continue
            found.append(i)
            if i == probe or i not in wrong or len(found) >= most:
                return None
        ready = self._ready_made(tried) and not self._ready_made(goal.tried)
        return None if ready else found

    def long(self, i: int) -> float:
        """Seconds of processor time that a change may take on an input: many times its own."""
        if i not in self.times:
            start = time.process_time()
            if i < len(self.attempt.found) and not self.attempt.found[i].unfinished:
                self.attempt.call(self.attempt.cases[i])
                own = time.process_time() - start
                self.times[i] = min(max(LONG, 3 * own), BRIEF + MANY * own)
        return self.times.get(i, LONG)

    def _ready_made(self, tried: Any) -> bool:
        """Whether it calls what a task on the component may forbid."""
        with builtin.watch(self.attempt.component, None) as noted:
            call(tried, self.attempt.cases[0], gradients=False, seconds=self.long(0), endless=False)
        return bool(noted)


@contextlib.contextmanager
def bounded_memory() -> Iterator[None]:
    """Let a change fail that makes something huge, where the system can tell."""
    try:
        import resource

        pages = int(Path("/proc/self/statm").read_text().split()[0])
        soft, hard = before = resource.getrlimit(resource.RLIMIT_AS)
        most = pages * resource.getpagesize() + MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (most if soft < 0 else min(most, soft), hard))
    except (ImportError, OSError, ValueError):
        yield
        return
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


@contextlib.contextmanager
def lists_that_end() -> Iterator[None]:
    """Let torch refuse a list that holds itself, as a change may make it: it would end Python."""

    def ends(data: Any, *above: Any) -> None:
        if any(data is other for other in above):
            raise ValueError("A list holds itself.")
        for part in data:
            if isinstance(part, (list, tuple)):
                ends(part, data, *above)

    def guarded(make: Callable[..., Tensor]) -> Callable[..., Tensor]:
        @functools.wraps(make)
        def guard(*given: Any, **more: Any) -> Tensor:
            ends((*given, *more.values()))
            return make(*given, **more)

        return guard

    made = {name: getattr(torch, name) for name in ("tensor", "as_tensor")}
    try:
        vars(torch).update({name: guarded(make) for name, make in made.items()})
        yield
    finally:
        vars(torch).update(made)
