"""The trained models that come with the book: one folder each, and where to find them.

    captions-de-en/
      config.json, source_vocabulary.json, target_vocabulary.json   what the model is
      model.safetensors                                             its weights
      results.json                                                  what was measured of it

Finding and listing them imports no torch.
"""

from __future__ import annotations

import difflib
import math
from pathlib import Path
from typing import Any

from transformer_book.files import read_json

FOLDER = Path(__file__).parent


def names() -> list[str]:
    """The names of the models that come with the book."""
    return sorted(path.parent.name for path in FOLDER.glob("*/config.json"))


def find(name: str | Path) -> Path:
    """The folder of a model: of the book's own by its name, of any other the folder itself.

    Raises:
        ValueError: there is neither (with the nearest name that is known).
    """
    if Path(name).is_dir():
        return Path(name)
    known = names()
    if str(name) in known:
        return FOLDER / name
    near = difflib.get_close_matches(str(name), known, n=1)
    models = f"the models of the book are {', '.join(known)}" if known else "the book has no model"
    hint = f"; did you mean {near[0]!r}?" if near else "."
    raise ValueError(f"There is no folder {str(name)!r}, and {models}{hint}")


def describe(folder: str | Path) -> dict[str, Any]:
    """What a model is, without loading it.

    Returns:
        `task`, its name and options; `parameters`, their number; `bytes`, the size of the weights;
        `results`, what was measured of it, a list, empty if that is nothing. (`results.json` also
        has what was measured of other weights on the way, such as those before the rounding.)

    Raises:
        ValueError: the folder does not hold a model.
    """
    import safetensors

    folder = Path(folder)
    weights, results = folder / "model.safetensors", folder / "results.json"
    try:
        with safetensors.safe_open(weights, framework="np") as file:
            shapes = [file.get_slice(name).get_shape() for name in file.keys()]  # noqa: SIM118
        return {
            "task": dict(read_json(folder / "config.json")["recipe"]["task"]),
            "parameters": sum(map(math.prod, shapes)),
            "bytes": weights.stat().st_size,
            "results": [
                result
                for result in (read_json(results) if results.exists() else [])
                if "weights" not in result
            ],
        }
    except (OSError, safetensors.SafetensorError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{folder} does not hold a model of this book: {error}.") from error
