"""A name that is none of those known: one sentence with the choices and the nearest of them.

Imports nothing heavy, since tokenizers and captions answer without torch.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def check_choice(what: str, value: object, choices: Iterable[str]) -> None:
    """Raise `ValueError` unless `value` is one of `choices`; suggest the nearest.

    Args:
        what: what is chosen, as the sentence begins: `"language"`.
        value: what was given.
        choices: the names that are known.
    """
    names = tuple(choices)
    if isinstance(value, str) and value in names:
        return
    near = difflib.get_close_matches(str(value), names, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else "."
    raise ValueError(f"{what} is {value!r}, but it must be one of {', '.join(names)}{hint}")
