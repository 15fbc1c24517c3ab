#!/usr/bin/env python3
"""Is every number that the book quotes the one that a run produced?

Measures each shipped model again, on the pairs and with the search that its `results.json` names,
and compares; compares each model's card with `results.json`; and compares the numbers that chapters
and pages quote. A quoted number carries, in a comment that no reader sees, what it is:

    It translates 42.1<!-- = multi30k-de-en test bleu_tokens --> ...
    ... 99.5 %<!-- = captions-de-en test exact_match --> of the sentences ...
    With seed 2 it is 42.0<!-- = multi30k-de-en/2 test bleu_tokens -->, on average over all seeds
    42.4<!-- = multi30k-de-en/seeds test bleu_tokens -->, with a standard deviation of
    0.3<!-- = multi30k-de-en/seeds test bleu_tokens.spread -->.

Exit status 1, and a sentence for each number, if one differs. With `--quick` nothing is measured.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from common import PAGES, ROOT, notebooks
from model_cards import METRICS, averages, card

from transformer_book.pretrained import FOLDER, results_as_shipped, results_by_seed
from transformer_book.recipes import recorded_runs

QUOTE = re.compile(r"(?P<before>[^\s(|]*(?:\s%)?)\s?<!-- = (?P<what>[^>]*?) -->")
NUMBER = re.compile(r"[\d.,]*\d")
# How far apart two kinds of processor may be: a sentence or two in a thousand.
TOLERANCE = {"share": 0.002, "bleu": 0.05, "perplexity": 0.001}


def results_of(model: str, root: Path = FOLDER) -> list[dict]:
    """What was measured of a shipped model as it is shipped, or of a recipe whose run is recorded.

    Always with its own search. After a slash come the runs of its recipe: `model/2` is the run
    with seed 2, `model/seeds` the mean over all of them.
    """
    model, _, seed = model.partition("/")
    if (root / model / "results.json").is_file():
        if not seed:
            return results_as_shipped(root / model, chosen=True)
        by_seed = results_by_seed(root / model)
        return averages(by_seed) if seed == "seeds" else by_seed[int(seed)]
    runs = recorded_runs().get(model, [])
    if seed or len(runs) != 1:
        raise ValueError(f"there is no model {model!r}, and {len(runs)} recorded runs of it")
    return runs[0]["results"]


def quotes(text: str) -> Iterator[tuple[str, str]]:
    """Each number that is marked as quoted, as it is written, and what the mark says it is."""
    for match in QUOTE.finditer(text):
        yield match["before"], match["what"]


def problem_of_quote(written: str, what: str, root: Path = FOLDER) -> str | None:
    """What is wrong with a quoted number, if anything."""
    number = NUMBER.search(written)
    if number is None:
        return f"no number stands before the mark {what!r}"
    try:
        model, split, metric = what.split()
        metric, _, part = metric.partition(".")
        (result,) = [r for r in results_of(model, root) if r["split"] == split]
        value = result[metric][part or "value"]
    except (ValueError, KeyError) as error:
        return f"the mark {what!r} names nothing that was measured ({error})"
    digits = number[0].replace(",", "")
    if "%" in written:
        value *= 100
    decimals = len(digits.partition(".")[2])
    if f"{value:.{decimals}f}" != digits:
        return f"{digits} is quoted as {what}, but that is {value:.{decimals}f}"
    return None


def pages() -> Iterator[tuple[str, str]]:
    """The text of every page: its name, its Markdown."""
    for path in [*sorted(PAGES.glob("*.md")), ROOT / "README.md"]:
        yield str(path.relative_to(ROOT)), path.read_text("utf-8")
    for path in notebooks():
        cells = json.loads(path.read_text("utf-8"))["cells"]
        text = "\n\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
        yield str(path.relative_to(ROOT)), text


def problems_of_text() -> list[str]:
    """The quoted numbers that are not those measured, and the cards that say something else."""
    found = []
    for name, text in pages():
        for written, what in quotes(text):
            problem = problem_of_quote(written, what)
            if problem:
                found.append(f"{name}: {problem}.")
    for folder in sorted(path.parent for path in FOLDER.glob("*/config.json")):
        if (folder / "README.md").read_text("utf-8") != card(folder):
            found.append(f"{folder.name}: the card differs from results.json and config.json.")
    return found


def differences(recorded: dict, measured: dict) -> list[str]:
    """Where a new measurement does not bear out the recorded one."""
    found = []
    for key, name, kind in METRICS:
        if (key in recorded) != (key in measured):
            found.append(f"{name} was measured only once")
        elif key in recorded:
            old, new = recorded[key]["value"], measured[key]["value"]
            if not math.isclose(old, new, rel_tol=0, abs_tol=TOLERANCE[kind]):
                found.append(f"{name} is {new:.4f}, not {old:.4f}")
            old, new = (one[key].get("error", 0.0) for one in (recorded, measured))
            if not math.isclose(old, new, rel_tol=0, abs_tol=TOLERANCE["share"]):
                found.append(f"the error of {name} is {new:.4f}, not {old:.4f}")
            old, new = (one[key].get("signature") for one in (recorded, measured))
            if old != new:
                found.append(f"the signature of {name} is {new}, not {old}")
    return found


def problems_of_models() -> list[str]:
    """The recorded results that the shipped models do not reproduce."""
    from transformer_book.runs.evaluation import evaluate
    from transformer_book.tasks.downloads import NotDownloaded
    from transformer_book.translator import Translator

    found = []
    for folder in sorted(path.parent for path in FOLDER.glob("*/config.json")):
        translator = Translator.from_pretrained(folder)
        for recorded in results_of(folder.name):
            name = f"{folder.name}, {recorded['split']}"
            search = {key: recorded["decoding"][key] for key in ("beam_size", "length_penalty")}
            try:
                measured = evaluate(translator, recorded["split"], n=recorded["n"], **search)
            except NotDownloaded as error:
                found.append(f"{name}: not measured: {error}")
                continue
            wrong = differences(recorded, measured)
            print(f"{name}: {'; '.join(wrong) or 'as recorded'}", flush=True)
            found += [f"{name}: {one}." for one in wrong]
    return found


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="compare the texts, measure nothing")
    arguments = parser.parse_args()
    problems = problems_of_text()
    if not arguments.quick:
        problems += problems_of_models()
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
