"""`evaluate`: a model measured on pairs that it was not trained on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from transformer_book.cli import options
from transformer_book.cli.messages import columns, of_the_system, warn

SHARES = {
    "exact_match": "exact match",
    "exact_match_lowercase": "exact match, lower-cased",
    "rare_words": "rare words found",
    "mathematically_equal": "mathematically equal",
    "repetitions": "three words in a row twice",
}
SIGNED = {
    "bleu": "BLEU, cased",
    "bleu_lowercase": "BLEU, lower case",
    "bleu_tokens": "BLEU, tokens in lower case",
}


def evaluate(
    model: options.Model,
    split: Annotated[
        str, typer.Option(metavar="NAME", help="A split of the model's task.")
    ] = "validation",
    n: Annotated[
        int, typer.Option("-n", parser=options.whole(1), metavar="N", help="How many pairs.")
    ] = 1000,
    beam_size: options.BeamSize = None,
    length_penalty: options.LengthPenalty = None,
    as_json: options.AsJson = False,
    record: Annotated[
        bool,
        typer.Option(help="Keep the result in the model's results.json, if it is not the book's."),
    ] = True,
    device: options.BestDevice = None,
    threads: options.Threads = None,
) -> None:
    """Measure a model on pairs that it was not trained on.

    Choose between models on validation. Each look at test or compositional is logged in the model's
    folder, in test_looks.jsonl.

    \b
    Examples:
      transformer-book evaluate runs/copy
      transformer-book evaluate captions-de-en --split test -n 2000 --json
    """
    from transformer_book import pretrained
    from transformer_book.runs import evaluation
    from transformer_book.support.threads import use_threads
    from transformer_book.training import choose_device
    from transformer_book.translator import Translator

    folder = pretrained.find(model)
    translator = Translator.from_pretrained(folder, choose_device(device))
    use_threads(translator.model, "many sentences", threads)
    result = evaluation.evaluate(
        translator, split, n=n, beam_size=beam_size, length_penalty=length_penalty
    )
    print(json.dumps(result, indent=1, ensure_ascii=False) if as_json else _table(model, result))
    _keep(result, model, folder, record)


def _keep(result: dict[str, Any], model: str, folder: Path, record: bool) -> None:
    """Record a result, or only log that it was looked at; the result is printed already."""
    from transformer_book import pretrained
    from transformer_book.runs import evaluation

    try:
        if not record:
            evaluation.log_look(folder, result)
            return
        ours = folder.resolve().parent == pretrained.FOLDER.resolve()
        if not evaluation.record(folder, result, quoted=ours):
            warn(
                f"The result is not recorded: {model} is a model of the book, and its "
                "results.json holds what the book quotes."
            )
    except OSError as error:
        warn(f"The {'result' if record else 'look'} is not recorded: {of_the_system(error)}")
    except ValueError as error:
        warn(f"The result is not recorded: {error}")


def _table(model: str, result: Mapping[str, Any]) -> str:
    decoding = ", ".join(
        f"{name.replace('_', ' ')} {value}"
        for name, value in result["decoding"].items()
        if value is not None
    )
    rows = [
        ("model", model),
        ("split", f"{result['split']}, {result['n']:,} pairs"),
        ("search", decoding),
    ]
    rows += measured(result)
    rows += [
        (f"equal, {count} function{'s' * (count != '1')}", f"{right['right']:,} of {right['n']:,}")
        for count, right in result.get("equal_by_functions", {}).items()
    ]
    rows += [
        (f"{name}, signature", result[key]["signature"])
        for key, name in SIGNED.items()
        if key in result
    ]
    rows += [("time", f"{result['seconds']} s, {result['hardware']}")]
    return columns(rows)


def measured(result: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What was measured, for reading: (name, value) of each metric."""
    rows = [(name, f"{result[key]['value']:.1f}") for key, name in SIGNED.items() if key in result]
    rows += [
        (name, f"{100 * result[key]['value']:.1f} ± {100 * result[key]['error']:.1f} %")
        for key, name in SHARES.items()
        if key in result
    ]
    if "too_long" in result:
        rows.append(("too long for the model", f"{result['too_long']:,} pairs"))
    if "perplexity" in result:
        rows.append(("perplexity", f"{result['perplexity']['value']:.3f}"))
    return rows
