"""The type checker behind the annotations' hook: beartype, with int accepted where float is.

jaxtyping compares the sizes that the annotations of a call name, such as `Float[Tensor, "B T D"]`.
For that it binds the arguments and checks them twice. Most functions name no sizes: their arguments
and results go to beartype alone, which takes a fraction of the time.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any, get_type_hints

import jaxtyping
from beartype import BeartypeConf, beartype
from jaxtyping import TypeCheckError, config, install_import_hook

# It makes millions of short calls and uses no tensors: hooked, its first sentence takes 15 seconds
# in every process. `test_captions_annotations.py` hooks it as well, for some sentences.
SPARED = "transformer_book.tasks.captions"

typechecker = beartype(conf=BeartypeConf(is_pep484_tower=True))
_alone = beartype(conf=BeartypeConf(is_pep484_tower=True, violation_type=TypeCheckError))
_with_sizes = jaxtyping.jaxtyped
_SIZES = re.compile(r"\b(Bool|Complex|Float|Inexact|Int|Integer|Num|Real|Shaped|UInt)\d*\[")


def names_sizes(function: FunctionType) -> bool:
    """Whether an annotation of a function is one of jaxtyping's."""
    return any(
        _SIZES.search(annotation)
        if isinstance(annotation, str)
        else "jaxtyping" in type(annotation).__module__ + str(annotation)
        for annotation in function.__annotations__.values()
    )


def _checked(function: FunctionType, typechecker: Callable[..., Any]) -> Callable[..., Any]:
    try:
        get_type_hints(function)
    except NameError:  # imported for type checkers only, or local: jaxtyping passes over it
        known = False
    else:
        known = True
    if names_sizes(function) or not known:
        return _with_sizes(typechecker=typechecker)(function)
    return _alone(function)


def _jaxtyped(*, typechecker: Callable[..., Any]) -> Callable[[Any], Any]:
    """In the place of `jaxtyping.jaxtyped`, which the hook applies to functions and classes.

    A function is made ready when it is called first: of thousands, most processes call few.
    """

    def decorate(thing: Any) -> Any:
        if not isinstance(thing, FunctionType):
            return _with_sizes(typechecker=typechecker)(thing)
        if not thing.__annotations__:
            return thing
        checked = None

        @functools.wraps(thing)
        def call(*arguments: Any, **keywords: Any) -> Any:
            nonlocal checked
            if config.jaxtyping_disable:
                return thing(*arguments, **keywords)
            if checked is None:
                checked = _checked(thing, typechecker)
            return checked(*arguments, **keywords)

        return call

    return decorate


def enforce_annotations(spared: str | None = SPARED) -> None:
    """From now on the package is imported with its annotations enforced, but for one part."""
    jaxtyping.jaxtyped = _jaxtyped
    finder = install_import_hook("transformer_book", f"{__name__}.typechecker").hook
    every = finder.should_instrument

    def should_instrument(name: str) -> bool:
        return every(name) and not (spared and f"{name}.".startswith(f"{spared}."))

    finder.should_instrument = should_instrument


@contextmanager
def unenforced() -> Iterator[None]:
    """Inside, annotations are not looked at: a small model then computes in half the time.

    For what is done a hundredfold, if other tests do the same with the annotations enforced.
    """
    before = config.jaxtyping_disable
    config.update("jaxtyping_disable", True)
    try:
        yield
    finally:
        config.update("jaxtyping_disable", before)
