"""Measuring a trained model on a split of its task, and keeping what was measured."""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from transformer_book import __version__
from transformer_book.batches import PairDataset
from transformer_book.metrics import (
    bleu,
    exact_match,
    loops,
    perplexity,
    repeated_ngrams,
    repetitions,
    share,
)
from transformer_book.support.atomic_files import read_json, write_atomically, write_json
from transformer_book.tasks import make_task, texts_of
from transformer_book.tasks.series import count_by_functions, same_series
from transformer_book.tokens import SPECIALS, UNK
from transformer_book.training import mean_loss
from transformer_book.translator import Translator

LANGUAGE_TASKS = ("captions", "multi30k", "europarl")
CORPORA = ("multi30k", "europarl")  # written by people, so that one can ask what they repeat
UNKNOWN = "unknownword"  # one token in every language, and never found in a reference
_SAME = ("split", "n", "decoding", "weights")  # where these agree, it is the same measurement


def evaluate(
    translator: Translator,
    split: str = "validation",
    *,
    n: int = 1000,
    beam_size: int | None = None,
    length_penalty: float | None = None,
) -> dict[str, Any]:
    """Translate a split of the task that the model was trained for, and compare.

    Args:
        translator: a model with its recipe.
        split: a split of the task.
        n: number of pairs, the first of that split in the order of the recipe's data seed.
        beam_size, length_penalty: instead of those that the model was saved with.

    Returns:
        `exact_match` with its binomial error (`exact_match_lowercase` too, of a model that writes
        no capitals), `perplexity` per token; for series the share that is right however it is
        written (`mathematically_equal`, see `tasks.series.same_series`), and of how many, by the
        number of functions in the expression (`equal_by_functions`); for languages three times
        BLEU with its signature (`bleu`; `bleu_lowercase`; `bleu_tokens`, on the lower-cased tokens
        of the task's own tokenizer, as tutorials measure it); for corpora the share of translations
        in which three words in a row stand twice (`repetitions`), the share that says something
        twice without a pause (`loops`), and how many n-grams per translation have stood in it
        before, for n from 1 to 5 (`repeated_ngrams`), each with that of the `references`; and
        everything that is needed to repeat the measurement. `too_long` is there if some pairs are
        longer than the model can read or write, and says how many: the perplexity leaves them out,
        and such a source has an empty translation. Of a model that says what it met in training
        (`known_words`), the share of the references' rare words that the translations have, of how
        many, and that of all `others` (`rare_words`; a word is rare if training had it fewer than
        `least` times).

    Raises:
        ValueError: an unknown split, or a model that was saved without a recipe.
    """
    if not translator.recipe:
        raise ValueError("This model was saved without its recipe: it is not known what to ask it.")
    try:
        name, options = translator.recipe["name"], dict(translator.recipe["task"])
        kind, seed = options["name"], translator.recipe["data"]["seed"]
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"The recipe that this model was saved with is not whole ({error}): put back the "
            "config.json that training wrote."
        ) from error
    task = make_task(**options)
    began = time.perf_counter()
    pairs = task.pairs(split, n=n, seed=seed)
    sources, references = map(list, zip(*(texts_of(task, pair) for pair in pairs), strict=True))
    search = {"beam_size": beam_size, "length_penalty": length_penalty}
    limit = translator.model.config.max_length
    dataset = PairDataset(  # a pair that the model has no positions for counts as wrong, below
        zip(sources, references, strict=True),
        translator.source_vocabulary,
        translator.target_vocabulary,
        source_tokenizer=translator.source_tokenizer,
        target_tokenizer=translator.target_tokenizer,
        source_sos=translator.source_sos,
        max_length=limit,
        too_long="drop",
    )
    readable = [source if _source_length(translator, source) <= limit else "" for source in sources]
    predictions = translator.translate(readable, **search)
    nll = mean_loss(translator.model, dataset, batch_size=64)
    decoding = asdict(translator.decoding)
    decoding |= {name: value for name, value in search.items() if value is not None}
    result = {
        "recipe": name,
        "split": split,
        "n": n,
        "seeds": 1,
        "decoding": decoding,
        "exact_match": _known(exact_match(predictions, references)),
        "perplexity": {"value": perplexity(nll)},
    }
    if dataset.dropped:
        result["too_long"] = dataset.dropped
    if _lowercases(translator.recipe):
        lower = ([text.lower() for text in texts] for texts in (predictions, references))
        result["exact_match_lowercase"] = _known(exact_match(*lower))
    if translator.known_words is not None:
        rare, others = translator.known_words.found(predictions, references)
        if rare and others:
            among_others = {"others": share(others).value, "least": translator.known_words.least}
            result["rare_words"] = _known(share(rare)) | {"n": len(rare)} | among_others
    if kind == "series":
        equal = list(map(same_series, predictions, references))
        result["mathematically_equal"] = _known(share(equal))
        result["equal_by_functions"] = count_by_functions(sources, equal, "right")
    if kind in LANGUAGE_TASKS:
        result["bleu"] = _known(bleu(predictions, references))
        result["bleu_lowercase"] = _known(bleu(predictions, references, lowercase=True))
        tokens = [
            [" ".join(task.target_tokenizer(_with_unknown_words(text))) for text in texts]
            for texts in (predictions, references)
        ]
        result["bleu_tokens"] = _known(bleu(*tokens, tokenize="none", lowercase=True))
    if kind in CORPORA:
        for metric in (repetitions, loops):
            among_references = {"references": metric(references).value}
            result[metric.__name__] = _known(metric(predictions)) | among_references
        result["repeated_ngrams"] = {
            side: [repeated_ngrams(texts, n) for n in range(1, 6)]
            for side, texts in (("value", predictions), ("references", references))
        }
    device = translator.model.output.weight.device
    machine = torch.cuda.get_device_name(device) if device.type == "cuda" else platform.machine()
    result |= {
        "transformer_book": __version__,
        "torch": torch.__version__.partition("+")[0],
        "hardware": f"{device.type} ({machine}, {torch.get_num_threads()} threads)",
        "seconds": round(time.perf_counter() - began, 1),
    }
    return result


def record(folder: str | Path, result: dict[str, Any], *, quoted: bool = False) -> bool:
    """Keep a result in the `results.json` of a model's folder; log a look at a test split.

    A newer result of the same split, size and search (and, if the result says which, of the same
    `weights`) replaces the older one. The look is logged, see `log_look`.

    Args:
        folder: of the model.
        result: as `evaluate` gives it.
        quoted: the book's text quotes the results that are there, as for its own models: they
            are left unchanged.

    Returns:
        Whether the result was kept.

    Raises:
        ValueError: there is a `results.json` that holds something else.
        OSError: the folder cannot be written to.
    """
    folder = Path(folder)
    path = folder / "results.json"
    kept = read_json(path) if path.exists() else []
    if not isinstance(kept, list) or not all(isinstance(old, dict) for old in kept):
        raise ValueError(f"{path} does not hold results: move it away, and evaluate again.")
    log_look(folder, result)  # first: no result without its look
    if quoted and kept:
        return False
    others = [old for old in kept if any(old.get(name) != result.get(name) for name in _SAME)]
    write_json(path, [*others, result], indent=1)
    return True


def log_look(folder: str | Path, result: dict[str, Any]) -> None:
    """Add a line to the `test_looks.jsonl` of a model's folder, if the split is a test.

    That is, if it is called `test` or `compositional`. Nothing removes the line: choices are made
    on validation, and anyone can count how often the test was looked at. (Measure one after the
    other: of two that end at the same moment, one line may be lost.)

    Raises:
        OSError: the folder cannot be written to.
    """
    if result["split"] in ("test", "compositional"):
        names = ("recipe", "seed", "updates", *_SAME, "exact_match")
        look = {name: result[name] for name in names if name in result}
        log = Path(folder) / "test_looks.jsonl"
        before = log.read_bytes() if log.exists() else b""
        write_atomically(log, before + json.dumps(look).encode() + b"\n")


def _with_unknown_words(text: str) -> str:
    """A tokenizer takes `<unk>` apart: one wrong word would count as three or four."""
    return text.replace(SPECIALS[UNK], UNKNOWN)


def _source_length(translator: Translator, source: str) -> int:
    """Tokens of a source, the special ones included."""
    tokens = translator.source_tokenizer(source)
    return len(translator.source_vocabulary.encode_source(tokens, sos=translator.source_sos))


def _lowercases(recipe: Mapping[str, Any]) -> bool:
    """Whether the model was trained on lower-cased text: its capitals say nothing then."""
    tokens = recipe.get("tokens", {})
    words = tokens.get("kind", "words") == "words"
    return bool((recipe["task"] if words else tokens).get("lowercase"))


def _known(measured: Any) -> dict[str, Any]:
    return {name: value for name, value in asdict(measured).items() if value is not None}
