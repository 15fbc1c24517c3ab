"""The trained models that come with the book: one folder each, and where to find them.

    captions-de-en/
      config.json, source_vocabulary.json, target_vocabulary.json   what the model is
      known_words.json                                              what a model of subwords met
      model.safetensors                                             its weights
      results.json                                                  what was measured of it
      test_looks.jsonl                                              every look at a test split
      README.md                                                     its card: data, licence, limits

Finding and listing them imports no torch.
"""

from __future__ import annotations

import difflib
import math
from pathlib import Path
from typing import Any

from transformer_book.support.atomic_files import read_json

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


def results_as_shipped(folder: str | Path, *, chosen: bool = False) -> list[dict[str, Any]]:
    """What was measured of a model as it is shipped: a list, empty if that is nothing.

    `results.json` also has what was measured of other weights on the way, such as those before the
    rounding: these entries say of which, under `weights`, and are left out. With `chosen`, only
    what was measured with the model's own search stays: `decoding` of its `config.json`.

    Raises:
        ValueError: a file is not JSON, or holds something else.
        OSError: a file cannot be read.
    """
    path = Path(folder) / "results.json"
    results = read_json(path) if path.exists() else []
    if not isinstance(results, list) or not all(isinstance(one, dict) for one in results):
        raise ValueError(f"{path} does not hold results.")
    shipped = [result for result in results if "weights" not in result]
    if not (shipped and chosen):
        return shipped
    decoding = read_json(path.with_name("config.json"))["decoding"]
    return [result for result in shipped if result["decoding"] == decoding]


def results_by_seed(folder: str | Path) -> dict[int, list[dict[str, Any]]]:
    """What the runs of a model's recipe reached, by seed: the model first, then what is recorded.

    All are measured with the search that the model has. Of the other runs only the results were
    kept (`recipes.recorded_runs`); their weights were not rounded.

    Raises:
        ValueError: a file is not JSON, or holds something else.
        OSError: a file cannot be read.
    """
    from transformer_book.recipes import recorded_runs

    recipe = read_json(Path(folder) / "config.json")["recipe"]
    own = {recipe["training"]["seed"]: results_as_shipped(folder, chosen=True)}
    others = recorded_runs().get(recipe["name"], [])
    return own | {run["seed"]: run["results"] for run in others if run["seed"] not in own}


def describe(folder: str | Path) -> dict[str, Any]:
    """What a model is, without loading it.

    Returns:
        `task`, its name and options; `parameters`, their number; `bytes`, the size of the weights;
        `results`, what was measured of it, as `results_as_shipped` gives it.

    Raises:
        ValueError: the folder does not hold a model.
    """
    import safetensors

    folder = Path(folder)
    weights = folder / "model.safetensors"
    try:
        with safetensors.safe_open(weights, framework="np") as file:
            shapes = [file.get_slice(name).get_shape() for name in file.keys()]  # noqa: SIM118
        return {
            "task": dict(read_json(folder / "config.json")["recipe"]["task"]),
            "parameters": sum(map(math.prod, shapes)),
            "bytes": weights.stat().st_size,
            "results": results_as_shipped(folder),
        }
    except (OSError, safetensors.SafetensorError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{folder} does not hold a model of this book: {error}.") from error
