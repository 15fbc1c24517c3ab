"""Small damages to the right implementations: the checks' references, changed in one place each.

The right steps of a component are changed in their syntax tree, one place at a time: another
operator, another constant, another axis, a condition turned round, a call left out.
"""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import CodeType, ModuleType
from typing import Any

Ideas = Mapping[str, ModuleType]  # the module of each component, by its name

OPERATORS = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.In: ast.NotIn,
    ast.Or: ast.And,
    ast.And: ast.Or,
}
NAMES = {
    "sum": "mean",
    "mean": "sum",
    "sin": "cos",
    "cos": "sin",
    "tril": "triu",
    "amax": "amin",
    "max": "min",
    "min": "max",
    "argmax": "argmin",
    "exp": "sigmoid",
    "sqrt": "square",
    "softmax": "log_softmax",
    "log_softmax": "softmax",
    "square": "abs",
    "relu": "abs",
    "zeros": "ones",
    "ones": "zeros",
}


def variants(node: ast.AST) -> Iterator[ast.AST]:
    """The node changed in one place, in every way we know."""
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        yield ast.BinOp(node.left, OPERATORS[type(node.op)](), node.right)
        yield node.left
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        yield ast.BinOp(node.right, node.op, node.left)
    if isinstance(node, ast.BoolOp):
        yield ast.BoolOp(OPERATORS[type(node.op)](), node.values)
    if isinstance(node, ast.Compare) and type(node.ops[0]) in OPERATORS:
        yield ast.Compare(node.left, [OPERATORS[type(node.ops[0])]()], node.comparators)
    if isinstance(node, ast.UnaryOp):
        yield node.operand
    if isinstance(node, ast.IfExp):
        yield ast.IfExp(node.test, node.orelse, node.body)
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        yield ast.Constant(node.value + 1)
        yield ast.Constant(node.value - 1)
    if isinstance(node, ast.Attribute) and node.attr in NAMES:
        yield ast.Attribute(node.value, NAMES[node.attr], node.ctx)
    if isinstance(node, ast.Name) and node.id in NAMES:
        yield ast.Name(NAMES[node.id], node.ctx)
    if isinstance(node, ast.Call) and len(set(map(ast.dump, node.args))) == len(node.args) == 2:
        yield ast.Call(node.func, node.args[::-1], node.keywords)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        yield node.func.value  # x.transpose(1, 2) → x


def compiled(statement: ast.stmt) -> CodeType:
    module = ast.Module([ast.fix_missing_locations(statement)], [])
    return compile(module, "<changed>", "exec")  # with this file's future imports


@functools.cache
def parsed(module: ModuleType) -> tuple[dict[str, ast.stmt], dict[str, tuple[str, str]]]:
    """The statement behind each name of an idea's module, and what it takes of other ideas."""
    defined: dict[str, ast.stmt] = {}
    taken: dict[str, tuple[str, str]] = {}
    for node in ast.parse(inspect.getsource(module)).body:
        decorators = [ast.dump(decorator) for decorator in getattr(node, "decorator_list", ())]
        if any("mistake" in decorator for decorator in decorators):
            continue  # no right step calls it, though an argument may have its name
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            defined[node.name] = node
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            defined[node.targets[0].id] = node
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            defined[node.target.id] = node
        elif isinstance(node, ast.ImportFrom) and ".ideas." in (node.module or ""):
            idea = (node.module or "").rpartition(".")[2]
            taken |= {alias.asname or alias.name: (idea, alias.name) for alias in node.names}
    return defined, taken


def statements(ideas: Ideas, component: Any) -> dict[ast.stmt, CodeType]:
    """What a component is made of, each compiled by itself: of its own module and of others.

    They stand in an order in which they can be run. The known mistakes are not among them.
    """
    found: dict[ast.stmt, CodeType] = {}

    def look(idea: str, name: str) -> None:
        defined, taken = parsed(ideas[idea])
        if name in taken:
            look(*taken[name])
        elif name in defined and defined[name] not in met:
            met.add(defined[name])
            for node in ast.walk(defined[name]):
                if isinstance(node, ast.Name):
                    look(idea, node.id)
            found[defined[name]] = compiled(defined[name])

    met: set[ast.stmt] = set()
    module = ideas[component.name]
    (own,) = [name for name, part in vars(module).items() if part is component]
    look(component.name, own)
    return found


def reached(ideas: Ideas, idea: str) -> list[str]:
    """The ideas from which one takes something, itself last."""
    found: dict[str, None] = {}
    for other, _ in parsed(ideas[idea])[1].values():
        found |= dict.fromkeys(reached(ideas, other))
    return [*found, idea]


def reference_of(code: Iterable[CodeType], ideas: Ideas, component: Any) -> Callable[..., Any]:
    """The component's reference as these statements make it."""
    namespace: dict[str, Any] = {}
    for idea in reached(ideas, component.name):
        namespace |= vars(ideas[idea])
    for statement in code:
        exec(statement, namespace)
    made = [part for part in namespace.values() if isinstance(part, type(component))]
    (found,) = [part for part in made if part.name == component.name]
    return found.reference


def right_code(body: Iterable[ast.stmt], component: Any) -> list[tuple[ast.stmt, ast.AST]]:
    """What computes a component: its pipeline, steps and their functions; each in its statement."""
    functions = {n.name: n for n in body if isinstance(n, ast.FunctionDef)}
    for node in body:
        call = node.value if isinstance(node, ast.Assign) else None
        if not isinstance(call, ast.Call) or getattr(call.func, "id", "") != "Component":
            continue
        given = {keyword.arg: keyword.value for keyword in call.keywords}
        if "name" in given and ast.literal_eval(given["name"]) == component.name:
            parts: list[tuple[ast.stmt, ast.AST]]
            parts = [(node, given["pipeline"]), (node, given["steps"])]
            for _, part in parts:
                for name in ast.walk(part):
                    function = functions.get(getattr(name, "id", ""))
                    if function is not None and (function, function) not in parts:
                        parts.append((function, function))
            return parts
    raise AssertionError(f"the source of {component.name} was not found")


def places(part: ast.AST) -> Iterator[tuple[Any, Any]]:
    """Where the nodes of a part stand: in a list, or in the dictionary of a node's fields."""
    body = part.body if isinstance(part, ast.FunctionDef) else [part]
    if isinstance(part, ast.FunctionDef) and ast.get_docstring(part):
        body = body[1:]
    for statement in body:
        for parent in ast.walk(statement):
            for name, value in ast.iter_fields(parent):
                if name in ("annotation", "keys"):
                    continue
                if isinstance(value, ast.AST):
                    yield vars(parent), name
                elif isinstance(value, list):
                    yield from ((value, i) for i, v in enumerate(value) if isinstance(v, ast.AST))


def mutants(ideas: Ideas, component: Any) -> Iterator[tuple[str, Callable[..., Any] | None]]:
    """Every change, in words, and the reference with it; `None` where nothing can be computed."""
    code = statements(ideas, component)
    for statement, part in right_code(code, component):
        for holder, key in places(part):
            node = holder[key]
            for variant in variants(node):
                change = f"{ast.unparse(node)} → {ast.unparse(variant)}"
                holder[key] = variant
                try:
                    changed = {**code, statement: compiled(statement)}
                    reference = reference_of(changed.values(), ideas, component)
                except Exception:
                    reference = None
                finally:
                    holder[key] = node
                yield change, reference
