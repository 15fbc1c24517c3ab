"""The base of every explorer: its JavaScript in one piece, its numbers, its text equivalent."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from numbers import Real
from pathlib import Path
from typing import ClassVar

import anywidget
import traitlets
from torch import Tensor

HERE = Path(__file__).parent
SHARED_IMPORT = re.compile(r'^import \{[^}]*\} from "\./shared\.js";\n', re.MULTILINE)


def module_source(name: str) -> str:
    """The JavaScript of an explorer as one module: `shared.js`, then the file `name`.

    The file imports the shared functions, so it is a module in its own right. A notebook can hold
    only a single module: there the functions are put in front, and the import is removed.

    Raises:
        ValueError: if the file does not import from `./shared.js` exactly once.
    """
    own, n_imports = SHARED_IMPORT.subn("", (HERE / name).read_text(encoding="utf-8"))
    if n_imports != 1:
        raise ValueError(
            f"{name} imports from ./shared.js {n_imports} times, but it must do so once, "
            'as `import { … } from "./shared.js";`.'
        )
    return (HERE / "shared.js").read_text(encoding="utf-8") + "\n" + own


IMPORT = re.compile(
    r'^import (?P<names>\w+|\{[^}]*\}) from "\./(?P<file>\w+\.js)";\n', re.MULTILINE
)
EXPORT = re.compile(
    r"^export (?:default|(?P<start>(?:const|class|function\*?) (?P<name>\w+)))", re.M
)


def bundled(name: str) -> str:
    """A module of several files as one: each file it imports, once, in a function of its own.

    What a file exports is what its function returns; names that are not exported stay inside, so
    files may use the same ones.
    """
    return "".join([*functions_of(name), f"export default {module_of(name)}.default;\n"])


def page_script(name: str) -> str:
    """An explorer as a script for pages: it registers by its name how it is made of its traits.

    It is no module, since browsers load none in pages that are opened from a folder.
    """
    functions = "".join(functions_of("standalone.js", name))
    make = f"$standalone.standalone({module_of(name)}.default, traits, traits.start)"
    registered = f'(window.bookExplorers ??= {{}})["{name.removesuffix(".js")}"]'
    return f"(() => {{\n{functions}{registered} = (traits) => {make};\n}})();\n"


def module_of(file: str) -> str:
    return f"${file.removesuffix('.js')}"


def functions_of(*names: str) -> list[str]:
    """Each of these files, and of those that they import, as a function that gives its exports."""
    done: dict[str, str] = {}

    def add(file: str) -> None:
        text = (HERE / file).read_text(encoding="utf-8")
        parts = []
        for found in IMPORT.finditer(text):
            if found["file"] not in done:
                add(found["file"])
            names = found["names"]
            taken = f"{{ default: {names} }}" if names.isidentifier() else names
            parts.append(f"const {taken} = {module_of(found['file'])};\n")
        parts.append(EXPORT.sub(lambda m: m["start"] or "const $default =", IMPORT.sub("", text)))
        exported = [each["name"] or "default: $default" for each in EXPORT.finditer(text)]
        parts.append(f"return {{ {', '.join(exported)} }};\n")
        done[file] = f"const {module_of(file)} = (() => {{\n{''.join(parts)}}})();\n"

    for name in names:
        if name not in done:
            add(name)
    return list(done.values())


def style_source(name: str) -> str:
    """The CSS of an explorer: `shared.css`, then the file of its own name, if it has one."""
    return styles("shared.css", Path(name).with_suffix(".css").name)


def styles(*names: str) -> str:
    """These files of CSS in one, as far as they are there."""
    files = [HERE / name for name in names]
    return "\n".join(file.read_text(encoding="utf-8") for file in files if file.exists())


def number_list(what: str, values: object, *shape: int) -> list:
    """Numbers given as lists, an array or a tensor, as nested lists of the shape asked for.

    Numbers are rounded to six digits after the point: what the page holds stays short, and
    a 0.1 that went through float32 is 0.1 again.

    Raises:
        ValueError: if the shape differs, or a number is not finite.
    """
    if isinstance(values, Tensor):
        values = values.detach().cpu()
    given = values.tolist() if hasattr(values, "tolist") else values
    try:
        return _rounded(given, shape)
    except _OtherShape:
        raise ValueError(
            f"{what} is {given!r}, but it must have the shape {shape}, "
            "as nested lists, an array or a tensor."
        ) from None
    except ValueError as error:
        raise ValueError(f"{what} holds {error}") from None


class _OtherShape(Exception):
    """Nested lists have another shape than was asked for."""


def _rounded(part: object, sizes: tuple[int, ...]) -> list | float:
    """The numbers of nested lists, or a number, to six digits."""
    if sizes:
        if not isinstance(part, Sequence) or isinstance(part, str) or len(part) != sizes[0]:
            raise _OtherShape
        return [_rounded(each, sizes[1:]) for each in part]
    if not isinstance(part, (int, float)) or isinstance(part, bool):
        raise ValueError(f"{part!r}, but it must hold numbers.")
    if not math.isfinite(part):
        raise ValueError(f"{part!r}, but its numbers must be finite.")
    return round(float(part), 6)


def check_whole(what: str, value: object, low: int, high: int, because: str = "") -> None:
    """Raise `ValueError` unless `value` is a whole number from `low` to `high`.

    `because` says where these limits come from.
    """
    whole = isinstance(value, int) and not isinstance(value, bool)
    if not (whole and low <= value <= high):
        reason = f"{because}: " if because else ""
        raise ValueError(
            f"{what} is {value!r}, but {reason}it must be a whole number from {low} to {high}."
        )


def check_share(what: str, value: object) -> None:
    """Raise `ValueError` unless `value` is a number above 0 and at most 1."""
    number = isinstance(value, Real) and not isinstance(value, bool)
    if not (number and 0 < value <= 1):
        raise ValueError(f"{what} is {value!r}, but it must be a number above 0 and at most 1.")


class Explorer(anywidget.AnyWidget):
    """A widget that computes in the browser, and its twin in Python.

    A subclass names its JavaScript file in `javascript` and its purpose in `label`. It declares
    what the page needs as traits tagged `sync=True`, and tags `moved=True` those that the reader
    changes. Its constructor takes each of them by name. `numbers` computes in Python what the
    JavaScript function `numbers` computes from the same state.
    """

    javascript: ClassVar[str]
    label: ClassVar[str]
    digits: ClassVar[str] = ".2f"  # of the numbers in the text

    # The initial state of what the reader may change: the button *Reset* restores it.
    start = traitlets.Dict().tag(sync=True)

    def __init_subclass__(cls, **options: object) -> None:
        if "javascript" in cls.__dict__:  # not in the subclass that anywidget makes per instance
            cls._esm = module_source(cls.javascript)
            cls._css = style_source(cls.javascript)
        super().__init_subclass__(**options)

    def __init__(self, **traits: object) -> None:
        super().__init__(**traits)
        self.start = {name: getattr(self, name) for name in self.traits(moved=True)}

    def state(self) -> dict[str, object]:
        """What the page shows, as plain data: every trait of the explorer by its name."""
        inherited = Explorer.class_traits()
        names = [name for name in self.traits(sync=True) if name not in inherited]
        return {name: getattr(self, name) for name in names if not name.startswith("_")}

    def numbers(self) -> dict[str, object]:
        """The numbers that the page shows in the present state; each explorer has its own."""
        raise NotImplementedError

    def text(self) -> str:
        """The numbers as text, for front ends that show no widgets."""
        lines = [f"{self.label} (a widget; where it is not shown, these are its numbers)"]
        lines += [
            f"{name}: {_as_text(value, self.digits)}" for name, value in self.numbers().items()
        ]
        return "\n".join(lines)

    def _repr_mimebundle_(self, **options: object) -> tuple[dict, dict] | dict | None:
        bundle = super()._repr_mimebundle_(**options)
        if bundle is not None:
            data = bundle[0] if isinstance(bundle, tuple) else bundle
            data["text/plain"] = self.text()
        return bundle


def _as_text(value: object, digits: str) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_as_text(each, digits)}" for name, each in value.items())
    if isinstance(value, (list, tuple)):
        nested = any(isinstance(each, (list, tuple)) for each in value)
        return ("; " if nested else ", ").join(_as_text(each, digits) for each in value)
    return f"{value + 0.0:{digits}}" if isinstance(value, float) else str(value)
