"""Your own part in the whole model: a copy of the source to edit, and its place in the package.

edit_source(MultiHeadAttention)  # puts a copy, named MyMultiHeadAttention, into a new cell

with using(MultiHeadAttention=MyMultiHeadAttention):
    model = Transformer(config)
"""

from __future__ import annotations

import ast
import inspect
import keyword
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FunctionType, ModuleType
from typing import Any

from IPython import get_ipython
from torch import Tensor, nn

# `pytorch_twins` is here so that it is not first imported while a name is replaced.
from transformer_book import (  # noqa: F401
    attention,
    decoder,
    decoder_cache,
    embeddings,
    encoder,
    layers,
    masks,
    optimization,
    pytorch_twins,
    transformer,
)
from transformer_book.support.arguments import check_choice

PACKAGE = "transformer_book"
WIDTH = 88
BELOW = "A copy for you to change stands in the cell below. Run that cell, too."

# What can be replaced, by name: the modules and the functions of the model, and of its loss.
REPLACEABLE: dict[str, object] = {
    name: thing
    for module in (
        embeddings,
        attention,
        masks,
        layers,
        encoder,
        decoder,
        transformer,
        optimization,
    )
    for name, thing in vars(module).items()
    if getattr(thing, "__module__", None) == module.__name__
    and (inspect.isfunction(thing) or (inspect.isclass(thing) and issubclass(thing, nn.Module)))
    and name not in ("keeps_weights", "recorded_attention")  # these look at a model
    and not name.startswith("_")
}


# --- the source ----------------------------------------------------------------------------------


def source_of(thing: object, fold: Mapping[str, int] | None = None) -> tuple[str, str]:
    """The source of a class or function of the package, and its documentation taken out of it.

    Args:
        thing: a class or function.
        fold: methods that belong to a later chapter, with its number; their bodies are left out.

    Raises:
        ValueError: if `fold` names something that is not a method of `thing`.
    """
    source = textwrap.dedent(inspect.getsource(thing))
    tree = ast.parse(source).body[0]
    lines = source.splitlines()
    cuts: list[tuple[int, int, list[str]]] = []
    if ast.get_docstring(tree):
        first = tree.body[0]
        cuts.append((first.lineno - 1, first.end_lineno, []))
    methods = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    for name, chapter in (fold or {}).items():
        if name not in methods:
            raise ValueError(f"{name!r} is not a method of {tree.name}: {', '.join(methods)}.")
        body = methods[name].body
        indent = " " * body[0].col_offset
        cuts.append(
            (body[0].lineno - 1, body[-1].end_lineno, [f"{indent}...  # chapter {chapter}"])
        )
    for start, end, instead in sorted(cuts, reverse=True):
        lines[start:end] = instead
    return "\n".join(lines), ast.get_docstring(tree) or ""  # its own, not an inherited one


def editable_source(thing: object, name: str | None = None) -> str:
    """A copy of a class or function of the package that runs as it stands.

    The imports come first, each name by itself; the documentation is left out.

    Args:
        thing: a class or function of the package.
        name: what the copy is called; by default `MyMultiHeadAttention` for `MultiHeadAttention`
            and `my_padding_mask` for `padding_mask`, so that the package's own stays what it was.

    Raises:
        ValueError: `thing` is not one of the package, or `name` cannot be a name in Python.
    """
    here = getattr(thing, "__module__", None) or ""
    if not (inspect.isclass(thing) or inspect.isfunction(thing)) or not _of_package(here):
        raise ValueError(
            f"{thing!r} has no source here: give a class or function of {PACKAGE}, such as "
            "MultiHeadAttention, without calling it."
        )
    old = thing.__name__
    name = f"{'My' if inspect.isclass(thing) else 'my_'}{old}" if name is None else name
    if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name):
        raise ValueError(
            f"name is {name!r}, but it must be a name in Python, such as {'Mine'!r}: letters, "
            "digits and _, no digit first."
        )
    source, _ = source_of(thing)
    body = _renamed(source, old, name)
    parts = [f"# A copy of {here}.{old}: change it, and run the cell."]
    if old in REPLACEABLE:
        builds = inspect.isclass(thing)
        inside = "model = Transformer(config)" if builds else "model(source, target)"
        parts.append(f"# Then: with using({old}={name}): {inside}")
    return "\n".join([*parts, *_imports(source, sys.modules[here], old), "", "", body, ""])


def edit_source(thing: object, name: str | None = None) -> None:
    """Put a copy of a class or function of the package into a new cell, for you to change.

    The cell appears below this one, in Jupyter, VS Code and Colab; one such copy for each cell that
    asks. Where there are no cells, in a terminal, the copy is printed.

    Args, errors: as for `editable_source`, which returns the text.
    """
    text = editable_source(thing, name)
    shell = get_ipython()
    if hasattr(shell, "payload_manager"):  # a kernel, whose front end has cells
        shell.set_next_input(text)
        print(BELOW)
    else:
        print(text)


def _of_package(module: str) -> bool:
    return module.split(".")[0] == PACKAGE


def _renamed(source: str, old: str, new: str) -> str:
    """The source with the name of the class or function changed, wherever it speaks of itself."""
    tree = ast.parse(source).body[0]
    lines = [line.encode() for line in source.splitlines()]  # offsets are counted in bytes
    word = "class" if isinstance(tree, ast.ClassDef) else "def"
    places = [
        (node.lineno - 1, node.col_offset)
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and node.id == old
    ]
    places.append((tree.lineno - 1, len(word) + 1))
    for row, column in sorted(places, reverse=True):
        rest = lines[row][column + len(old.encode()) :]
        lines[row] = lines[row][:column] + new.encode() + rest
    text = [line.decode() for line in lines]
    if isinstance(tree, ast.ClassDef) and not text[tree.lineno].strip():
        del text[tree.lineno]  # the empty line that the documentation left
    return "\n".join(text)


def _imports(source: str, module: ModuleType, own_name: str) -> list[str]:
    """The lines that import every name which the source takes from its module."""
    tree = ast.parse(source)
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} - {own_name}
    whole: list[str] = []
    groups: dict[str, list[str]] = {}
    for node in ast.parse(inspect.getsource(module)).body:
        if isinstance(node, ast.Import):
            for alias in node.names:
                if (alias.asname or alias.name.split(".")[0]) in used:
                    whole.append(f"import {_alias(alias)}")
        elif isinstance(node, ast.ImportFrom) and node.module != "__future__":
            for alias in node.names:
                if (alias.asname or alias.name) in used:
                    groups.setdefault(node.module, []).append(_alias(alias))
        else:
            for name in sorted(_defined(node) & used):
                groups.setdefault(module.__name__, []).append(name)
    ordered = sorted(groups.items(), key=lambda group: (_of_package(group[0]), group[0]))
    return [*whole, *(_import_line(where, sorted(names)) for where, names in ordered)]


def _alias(alias: ast.alias) -> str:
    return f"{alias.name} as {alias.asname}" if alias.asname else alias.name


def _defined(node: ast.stmt) -> set[str]:
    """The names that a statement at the top of a module defines."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return {node.name}
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return {target.id for target in targets if isinstance(target, ast.Name)}


def _import_line(module: str, names: list[str]) -> str:
    line = f"from {module} import {', '.join(names)}"
    if len(line) <= WIDTH:
        return line
    return f"from {module} import (\n" + "".join(f"    {name},\n" for name in names) + ")"


# --- the place in the package --------------------------------------------------------------------


@contextmanager
def using(**replacements: Callable[..., Any] | None) -> Iterator[None]:
    """Inside, the package uses your class or function in the place of its own.

        with using(MultiHeadAttention=Mine):
            model = Transformer(config)

    A *class* is asked for when a model is built. The model keeps its parts, so it can be trained,
    decoded and looked at outside. `Translator.from_pretrained` builds a model, too, and loads
    the weights into your parts, if those have the same names and shapes. Yours is built with the
    arguments that the package's own gets; one it does not take may be missing as long as it has its
    default value. It needs `forward` and no other method: decoding then computes the whole target
    at every step, without the cache. To be looked at, an attention sets `self.weights = None` in
    `__init__` and leaves its weights `(B, H, T, S)` there in `forward`.

    A *function* is looked up whenever it is called. A model does not keep it, so training,
    decoding and looking belong inside, too. Decoding does without the cache meanwhile. Your
    `scaled_dot_product_attention` also stands for the fused kernel.

    What the model is made of is not saved with its weights. `Translator.save` and the
    checkpoints of a `Trainer` note the names of your classes, and loading without them is refused;
    of functions nothing is noted.

    Uses may stand inside each other. On leaving, by an error too, all is as before. The names are
    those of the whole process: no other thread or task should build or call a model meanwhile.

    Args:
        **replacements: by the name in the package (see `REPLACEABLE`), your class or function.

    Raises:
        ValueError: an unknown name; something that cannot be called; an argument that yours does
            not take; a class that builds no module, or whose `forward` returns something other than
            the package's does; and, on leaving, if nothing inside used a replacement.
    """
    if not replacements:
        raise ValueError("using() replaces nothing: write using(MultiHeadAttention=Mine).")
    for name, own in replacements.items():
        check_choice("The name to replace", name, REPLACEABLE)
        _check_replacement(name, own)
    stands = {name: _Stand(name, own) for name, own in replacements.items()}
    places, formula = dict(stands), "scaled_dot_product_attention"
    if formula in stands and "fused_attention" not in stands:
        # Another object, since each goes back to its own place.
        places["fused_attention"] = _Stand(formula, replacements[formula])
    before = [_put(_present(name), stand) for name, stand in places.items()]
    if any(isinstance(REPLACEABLE[name], FunctionType) for name in stands):
        # The cache passes over masks, among others.
        before.append(_put(decoder_cache.can_be_cached, lambda model: False))
    try:
        yield
    finally:
        for stand, thing in reversed(before):
            _put(stand, thing)
    for name in stands:
        if not any(stand.used for stand in places.values() if stand.name == name):
            how = (
                "build the model inside"
                if inspect.isclass(REPLACEABLE[name])
                else "a function is looked up when it is called, so call the model inside"
            )
            raise ValueError(f"Nothing inside using({name}=…) used your {name}: {how}.")


def _check_replacement(name: str, own: object) -> None:
    wanted = "class" if inspect.isclass(REPLACEABLE[name]) else "function"
    if not callable(own):
        raise ValueError(
            f"{name} is a {wanted}, but what should replace it is {own!r}; has the cell with yours "
            "been run?"
        )
    if wanted == "class" and isinstance(own, nn.Module):
        raise ValueError(
            f"using({name}=…) got a module that is built already; give the class, "
            f"{type(own).__name__}, without calling it."
        )
    if wanted == "function" and inspect.isclass(own):
        raise ValueError(f"{name} is a function, but what should replace it is the class {own!r}.")


def _present(name: str) -> object:
    """What stands for this name now: the package's own, or what another `using` has put there."""
    return vars(sys.modules[REPLACEABLE[name].__module__])[name]


def _put(old: object, new: object) -> tuple[object, object]:
    """Put `new` wherever a module of the package has `old`; what to put back, and for what.

    All modules are searched, on leaving as well: one may have been imported in between.
    """
    for module in [sys.modules[name] for name in sorted(sys.modules) if _of_package(name)]:
        if module is None or module.__name__ == __name__:
            continue
        for table in (vars(module), *(v for v in vars(module).values() if type(v) is dict)):
            for name in [name for name, thing in table.items() if thing is old]:
                table[name] = new
    return new, old


class _Stand:
    """Stands in the package where a class or function stood, and hands on to the learner's own."""

    def __init__(self, name: str, own: Callable[..., Any]) -> None:
        self.name, self.own, self.used = name, own, False
        self.original = REPLACEABLE[name]

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        self.used = True
        arguments, keywords = self._fitted(arguments, keywords)
        made = self.own(*arguments, **keywords)
        if inspect.isclass(self.original):
            self._check_module(made)
        elif self.name == "scaled_dot_product_attention" and not isinstance(made, tuple):
            raise ValueError(
                f"{_title(self.own)} returns a {type(made).__name__}, but scaled_dot_product_"
                "attention returns two things: the outputs and the weights."
            )
        return made

    def __getattr__(self, name: str) -> Any:
        return getattr(self.own, name)

    def __instancecheck__(self, thing: object) -> bool:
        kinds = [kind for kind in (self.own, self.original) if inspect.isclass(kind)]
        return isinstance(thing, tuple(kinds))

    def _fitted(self, arguments: tuple, keywords: dict[str, Any]) -> tuple[tuple, dict[str, Any]]:
        """The arguments without those that the learner's own does not take, if they are default."""
        try:
            takes = inspect.signature(self.own)
        except ValueError:  # a built-in may have none
            return arguments, keywords
        kinds = {parameter.kind for parameter in takes.parameters.values()}
        original = inspect.signature(self.original)
        names = list(original.bind(*arguments, **keywords).arguments)[: len(arguments)]
        left_out = {}
        if inspect.Parameter.VAR_POSITIONAL not in kinds:
            room = sum(
                parameter.kind <= inspect.Parameter.POSITIONAL_OR_KEYWORD
                for parameter in takes.parameters.values()
            )
            beyond = dict(zip(names[room:], arguments[room:], strict=True))
            keywords |= {k: v for k, v in beyond.items() if k in takes.parameters}
            left_out |= {k: v for k, v in beyond.items() if k not in takes.parameters}
            arguments = arguments[:room]
        if inspect.Parameter.VAR_KEYWORD not in kinds:
            left_out |= {k: v for k, v in keywords.items() if k not in takes.parameters}
            keywords = {k: v for k, v in keywords.items() if k in takes.parameters}
        for key, value in left_out.items():
            known = original.parameters.get(key)
            if known is None or not _equal(value, known.default):
                raise ValueError(
                    f"{_title(self.own)} takes no argument {key!r}, but the model gives "
                    f"{key}={_brief(value)}; add it, or leave it at its default."
                )
        return arguments, keywords

    def _check_module(self, made: object) -> None:
        if not isinstance(made, nn.Module):
            raise ValueError(
                f"{_title(self.own)} makes {_brief(made)}, but in the place of {self.name} "
                "stands a module: let your class inherit from nn.Module."
            )
        if getattr(type(made).forward, "__name__", "") == "_forward_unimplemented":
            raise ValueError(f"{type(made).__name__} has no method forward, which the model calls.")
        if _shape_is_kept(self.name):
            made.register_forward_hook(_check_output)


def _shape_is_kept(name: str) -> bool:
    """Whether what a part of the model returns has the shape of its first input."""
    return name not in ("Transformer", "TokenEmbedding")


def _check_output(module: nn.Module, inputs: tuple, output: object) -> None:
    """A forward hook of every module that stands in the place of one of the package's."""
    wanted = tuple(inputs[0].shape) if inputs else None
    got = tuple(output.shape) if isinstance(output, Tensor) else f"a {type(output).__name__}"
    if wanted is not None and got != wanted:
        raise ValueError(
            f"The forward of {type(module).__name__} returns {got}, but the model needs a tensor "
            f"of the shape {wanted} from it, and nothing beside it."
        )


def _title(own: object) -> str:
    return getattr(own, "__name__", type(own).__name__)


def _equal(value: object, default: object) -> bool:
    return value is default or (type(value) is type(default) and value == default)


def _brief(value: object) -> str:
    return f"a tensor of shape {tuple(value.shape)}" if isinstance(value, Tensor) else repr(value)
