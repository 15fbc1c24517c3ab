"""Small damages to the right implementations: the checks' references, changed in one place each.

The right steps of a component are changed in their syntax tree, one place at a time: another
operator, another constant, another axis, a condition turned round, a call left out.
"""

from __future__ import annotations

import ast
import copy
import inspect
from collections.abc import Iterator
from types import ModuleType
from typing import Any

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
    if isinstance(node, ast.Call) and len(node.args) == 2:
        yield ast.Call(node.func, node.args[::-1], node.keywords)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        yield node.func.value  # x.transpose(1, 2) → x


def right_code(tree: ast.Module, component: Any) -> list[ast.AST]:
    """The parts of a module that compute a component: its pipeline, its steps, their functions."""
    functions = {n.name: n for n in tree.body if isinstance(n, ast.FunctionDef)}
    for node in tree.body:
        call = node.value if isinstance(node, ast.Assign) else None
        if not isinstance(call, ast.Call) or getattr(call.func, "id", "") != "Component":
            continue
        given = {keyword.arg: keyword.value for keyword in call.keywords}
        if "name" in given and ast.literal_eval(given["name"]) == component.name:
            parts: list[ast.AST] = [given["pipeline"], given["steps"]]
            for part in parts:
                for name in ast.walk(part):
                    function = functions.get(getattr(name, "id", ""))
                    if function is not None and function not in parts:
                        parts.append(function)
            return parts
    raise AssertionError(f"the source of {component.name} was not found")


def mutants(module: ModuleType, component: Any) -> Iterator[tuple[str, ast.Module]]:
    """Every change, in words, and the module with it: only the changed definition is a copy."""
    tree = ast.parse(inspect.getsource(module))
    definition = {node: top for top in tree.body for node in ast.walk(top)}
    places = []
    for part in right_code(tree, component):
        body = part.body if isinstance(part, ast.FunctionDef) else [part]
        if isinstance(part, ast.FunctionDef) and ast.get_docstring(part):
            body = body[1:]
        for statement in body:
            for parent in ast.walk(statement):
                for name, value in ast.iter_fields(parent):
                    if name in ("annotation", "keys"):
                        continue
                    if isinstance(value, ast.AST):
                        places.append((parent, name, None, value))
                    elif isinstance(value, list):
                        places += [
                            (parent, name, i, item)
                            for i, item in enumerate(value)
                            if isinstance(item, ast.AST)
                        ]
    for parent, name, index, node in places:
        for variant in variants(node):
            before, after = ast.unparse(node), ast.unparse(variant)
            if index is None:
                setattr(parent, name, variant)
            else:
                getattr(parent, name)[index] = variant
            changed = definition[parent]
            copied = ast.fix_missing_locations(copy.deepcopy(changed))
            body = [copied if top is changed else top for top in tree.body]
            yield f"{before} → {after}", ast.Module(body, [])
            if index is None:
                setattr(parent, name, node)
            else:
                getattr(parent, name)[index] = node


def reference_of(tree: ast.Module, module: ModuleType, name: str) -> Any:
    """The component's reference as the changed module has it."""
    namespace: dict[str, Any] = {"__name__": "changed", "__builtins__": __builtins__}
    namespace |= {k: v for k, v in vars(module).items() if isinstance(v, ModuleType)}
    for key in ("AsClass", "Case", "Component", "MULTI_HEAD", "normal", "sentences"):
        if key in vars(module):
            namespace[key] = vars(module)[key]
    body = [n for n in tree.body if not isinstance(n, (ast.Import, ast.ImportFrom))]
    for node in tree.body:
        if isinstance(node, ast.Import) or (
            isinstance(node, ast.ImportFrom) and not (node.module or "").startswith("transformer")
        ):
            body.insert(0, node)
    future = [n for n in body if isinstance(n, ast.ImportFrom) and n.module == "__future__"]
    body = future + [n for n in body if n not in future]
    exec(compile(ast.Module(body, []), "<changed>", "exec"), namespace)
    (found,) = [part for part in namespace["COMPONENTS"] if part.name == name]
    return found.reference
