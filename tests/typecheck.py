"""The type checker behind the annotations' hook: beartype, with int accepted where float is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from beartype import BeartypeConf, beartype
from jaxtyping import config, install_import_hook

# It makes millions of short calls and uses no tensors: hooked, its first sentence takes 15 seconds
# in every process. `test_captions_annotations.py` hooks it as well, for some sentences.
SPARED = "transformer_book.tasks.captions"

typechecker = beartype(conf=BeartypeConf(is_pep484_tower=True))


def enforce_annotations(spared: str | None = SPARED) -> None:
    """From now on the package is imported with its annotations enforced, but for one part."""
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
