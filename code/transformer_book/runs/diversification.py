"""More to learn from, and no new data: what trained models make of the training pairs.

A caption has more than one good translation, and the corpus shows one. *Data diversification*
(Nguyen et al. 2020) lets several models translate the training split: those of the same direction
its sources, those of the reverse direction its targets. The new model reads all of it, true pairs
and made ones. A made pair keeps one true side: `(source, what a model made of it)`, or `(what a
model made of the target, target)`.

    transformer-book train multi30k-best --teacher runs/one --teacher runs/two ...
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Literal

from transformer_book.support.atomic_files import write_atomically
from transformer_book.tasks import Task, make_task
from transformer_book.translator import Translator
from transformer_book.weights.checkpoints import weights_of

TextsOfPair = tuple[str, str]
SEARCH = {"beam_size": 5, "length_penalty": 0.6}  # with 1.0 models say things twice more often
CHUNK = 500  # translations between two writes: what a stop may cost


def side_read(task: Task, teacher: Translator) -> Literal["source", "target"]:
    """Which side of the task's pairs a trained model reads.

    Raises:
        ValueError: neither: it was trained on another task.
    """
    wanted, theirs = task.to_dict(), teacher.recipe.get("task")
    theirs = theirs and make_task(**theirs).to_dict()
    if theirs == wanted:
        return "source"
    if theirs == {**wanted, "source": wanted.get("target"), "target": wanted.get("source")}:
        return "target"
    raise ValueError(
        f"A teacher was trained on the task {theirs}, but this model is to learn "
        f"{wanted}: a teacher translates in the same direction, or in the reverse one."
    )


def translated(
    task: Task,
    pairs: Sequence[TextsOfPair],
    teacher: Translator,
    path: str | Path,
    tell: Callable[[int], None] = lambda made: None,
) -> list[TextsOfPair]:
    """The pairs that a trained model makes of others, by beam search.

    Args:
        task: of the pairs.
        pairs: source text and target text of each.
        teacher: see `side_read`.
        path: a file of what it has made; what stands there is not made again.
        tell: is called with the number of translations so far.

    Raises:
        ValueError: see `side_read`; or the file is of another model, or of other texts.
    """
    side = side_read(task, teacher)
    texts = [source if side == "source" else target for source, target in pairs]
    weights = (tensor.cpu().numpy().tobytes() for tensor in weights_of(teacher.model).values())
    about = {"teacher": _crc(weights), "texts": _crc(text.encode() for text in texts)}
    path = Path(path)
    made = _read(path, about, len(texts)) if path.exists() else []
    tell(len(made))
    while len(made) < len(texts):
        made += teacher.translate(texts[len(made) : len(made) + CHUNK], **SEARCH)
        rows = [about, *made]
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, "".join(json.dumps(row) + "\n" for row in rows).encode())
        tell(len(made))
    if side == "source":
        return list(zip(texts, made, strict=True))
    return list(zip(made, texts, strict=True))


def new_pairs(
    pairs: Iterable[TextsOfPair], made: Iterable[Iterable[TextsOfPair]]
) -> list[TextsOfPair]:
    """What several models made, without empty sides and without what is there already."""
    known = set(pairs)
    new = []
    for several in made:
        for pair in several:
            if all(pair) and pair not in known:
                known.add(pair)
                new.append(pair)
    return new


def _crc(parts: Iterable[bytes]) -> int:
    number = 0
    for part in parts:
        number = zlib.crc32(part, number)
    return number


def _read(path: Path, about: dict[str, int], n: int) -> list[str]:
    """The translations in a file, which must be those of this model and these texts."""
    try:
        first, *made = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    except ValueError:
        first, made = None, []
    if first != about or len(made) > n or not all(isinstance(text, str) for text in made):
        raise ValueError(
            f"{path} holds what another teacher made, or makes of other texts; remove it, or name "
            "the teachers in the order in which the run began with them."
        )
    return made
