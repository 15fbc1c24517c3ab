#!/usr/bin/env python3
"""Prove that the model in the browser computes what the package computes.

Runs `book/assets/model/` beside PyTorch, in node (the one that Playwright brings) or, with
`--browser chromium`, in a page of Chromium. On the weights that the package ships it compares:
logits, all at once and token by token; greedy search and the search that the model is shipped with;
the pieces of every tokenizer on random strings. The tests do the same with fewer sentences.

The sentences are the book's own: captions from its grammar, expressions from its generator. A
search may end differently where two continuations are equally good but for the last digits; each
such sentence is listed, with the difference that shows the tie. Exit status 1 for any other
difference.
"""

from __future__ import annotations

import argparse
import base64
import json
import random
import shutil
import subprocess
import sys
import tempfile
import time
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import torch
from common import ALONE, ROOT, installed_chromium, served

from transformer_book import pretrained
from transformer_book.batches import collate
from transformer_book.known_words import FILE as KNOWN_WORDS
from transformer_book.known_words import KnownWords, words
from transformer_book.tasks import captions
from transformer_book.tasks.series import SeriesTask
from transformer_book.tokens import (
    EOS,
    PAD,
    SOS,
    MathTokenizer,
    SpaceTokenizer,
    SpacyTokenizer,
    Tokenizer,
    tokenizer_from_dict,
    uniform,
)
from transformer_book.translator import Translation, Translator

sys.path.append(str(ROOT / "book" / "extension"))
from transformer_book_model import copy_models, unicode_tables, write_rules

if TYPE_CHECKING:
    from playwright.sync_api import Page

MODULES = ROOT / "book" / "assets" / "model"
RUNNER = ROOT / "tests" / "javascript" / "run.mjs"
OPERATIONS = RUNNER.with_name("operations.mjs")
TOLERANCE = 2e-3  # of logits
TIE = 1e-3  # in log-probability: what rounding can turn round

Job: TypeAlias = dict[str, Any]
# Does jobs, wherever the modules run; a result for each. An error in one is raised.
Run: TypeAlias = Callable[[Sequence[Job]], list[Any]]


# --- node -----------------------------------------------------------------------------------------


def node() -> str:
    """The node that Playwright brings along: nothing has to be installed."""
    from playwright._impl._driver import compute_driver_executable

    return compute_driver_executable()[0]


def whole(job: Job) -> Job:
    """A job that says whether the folder of its model has the file that not every model has."""
    there = "folder" in job and (Path(job["folder"]) / KNOWN_WORDS).is_file()
    return {**job, "known_words": True} if there else job


@contextmanager
def conversation(rules: Path) -> Iterator[Callable[[Path, Sequence[Job]], list[Any]]]:
    """A function that does jobs with some modules, in one node: a result for each job.

    What the jobs are says operations.mjs.
    """
    command = [node(), "--no-warnings", str(RUNNER), str(rules)]
    with tempfile.TemporaryFile("w+", encoding="utf-8") as said:
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": said}
        with subprocess.Popen(command, **pipes, text=True, encoding="utf-8") as process:

            def ask(modules: Path, jobs: Sequence[Job]) -> list[Any]:
                asked = {"modules": str(modules), "jobs": list(map(whole, jobs))}
                with suppress(BrokenPipeError):
                    print(json.dumps(asked), file=process.stdin, flush=True)
                if line := process.stdout.readline():
                    return json.loads(line)
                said.seek(0)
                raise RuntimeError(f"node ended with status {process.wait()}:\n{said.read()}")

            yield ask


def run(jobs: Sequence[Job], rules: Path, modules: Path = MODULES) -> list[Any]:
    """Do the jobs; an error in one is raised here."""
    with conversation(rules) as ask:
        return without_errors(jobs, ask(modules, jobs))


def without_errors(jobs: Sequence[Job], results: list[Any]) -> list[Any]:
    """The results, if no job has thrown.

    Raises:
        RuntimeError: with the sentence of the first one that has.
    """
    for job, result in zip(jobs, results, strict=True):
        if isinstance(result, dict) and set(result) == {"error"}:
            raise RuntimeError(f"{job['operation']}: {result['error']}")
    return results


def unpacked(text: str, *shape: int) -> np.ndarray:
    """Numbers that operations.mjs has packed."""
    return np.frombuffer(base64.b64decode(text), dtype=np.float32).reshape(*shape)


# --- Chromium -------------------------------------------------------------------------------------

# Whatever the folder of a model, the site has its files under the model's name.
IN_PAGE = """async ([code, base, jobs]) => {
    const address = URL.createObjectURL(new Blob([code], {type: "text/javascript"}));
    const {done} = await import(address);
    URL.revokeObjectURL(address);
    const at = async path => {
        const response = await fetch(new URL(path, base));
        if (!response.ok) throw new Error(`${path}: status ${response.status}`);
        return response;
    };
    return done(jobs, {
        module: name => import(new URL(`${name}.js`, base).href),
        file: async (folder, name) =>
            (await at(`pretrained/${folder.split(/[\\\\/]/).at(-1)}/${name}`)).arrayBuffer(),
        rule: async name => (await at(`rules/${name}.json`)).json(),
    });
}"""


def run_in_page(page: Page, base: str, jobs: Sequence[Job]) -> list[Any]:
    """Do the jobs in a page; `base` is the address of the site's `_static/model/`."""
    code = OPERATIONS.read_text(encoding="utf-8")
    results = page.evaluate(IN_PAGE, [code, base, list(map(whole, jobs))])
    return without_errors(jobs, results)


@contextmanager
def chromium_with(rules: Path) -> Iterator[Run]:
    """A page in Chromium that does jobs, with the files that the site's build copies.

    Nothing but the local server that has these files can be reached.
    """
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        shutil.copytree(MODULES, folder, dirs_exist_ok=True)
        shutil.copytree(rules, folder / "rules")
        copy_models(folder / "pretrained")
        browser = playwright.chromium.launch(executable_path=installed_chromium(), args=ALONE)
        with served(folder) as base:
            page = browser.new_page()
            page.goto(f"{base}rules/version.txt")
            yield partial(run_in_page, page, base)
        browser.close()


# --- sentences ------------------------------------------------------------------------------------


@cache
def translator_of(folder: Path) -> Translator:
    return Translator.from_pretrained(folder)


def sentences(name: str, n: int, seed: int = 0) -> list[str]:
    """Texts for a model of the book, none of them from a corpus."""
    if name == "series":
        return ["".join(p.source) for p in SeriesTask().pairs("validation", n, seed)]
    language = name.split("-")[1]
    other = "en" if language != "en" else "de"
    return [p.source_text for p in captions.pairs(language, other, "validation", n, seed)]


def pairs_of(translator: Translator, texts: Sequence[str]) -> list[tuple[list[int], list[int]]]:
    """Source ids, and what the decoder reads when it says the model's own translation."""
    found = translator.search(texts, beam_size=1)
    ids = translator.target_vocabulary.encode
    return [
        (translator.encode(text).ids, [SOS, *ids(one.tokens[:-1])])
        for text, one in zip(texts, found, strict=True)
    ]


@torch.no_grad()
def logits_of(translator: Translator, pairs: Sequence[tuple[list[int], list[int]]]) -> list:
    """What PyTorch computes, (T, V) for each pair: in batches of similar length."""
    found: dict[int, np.ndarray] = {}
    order = sorted(range(len(pairs)), key=lambda i: len(pairs[i][1]))
    for start in range(0, len(order), 16):
        rows = order[start : start + 16]
        batch = collate([(pairs[i][0], [*pairs[i][1], EOS]) for i in rows])
        for i, logits in zip(rows, translator.model(batch.source, batch.target_in), strict=True):
            found[i] = logits[: len(pairs[i][1])].numpy()
    return [found[i] for i in range(len(pairs))]


# --- logits ---------------------------------------------------------------------------------------


def largest_difference(folder: Path, texts: Sequence[str], run: Run) -> float:
    """The largest difference of any logit, computed at once and token by token, from PyTorch's."""
    translator = translator_of(folder)
    pairs = pairs_of(translator, texts)
    expected = logits_of(translator, pairs)
    jobs = [
        {"operation": operation, "folder": str(folder), "pairs": pairs}
        for operation in ("logits", "stepwise")
    ]
    largest = 0.0
    for results in run(jobs):
        for packed, right in zip(results, expected, strict=True):
            difference = np.abs(unpacked(packed, *right.shape) - right).max()
            largest = max(largest, float(difference))
            if not np.isfinite(difference):
                return float("inf")
    return largest


# --- searches -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Difference:
    """A sentence that the browser translates differently."""

    text: str
    expected: str
    found: str
    gap: float  # in log-probability, or in score; below TIE it is a tie

    def __str__(self) -> str:
        kind = "a tie" if self.gap < TIE else "NOT a tie"
        return f"{self.text!r}: {self.expected!r} / {self.found!r}, {kind} (gap {self.gap:.1e})"


def differences(
    folder: Path, texts: Sequence[str], options: dict[str, Any], run: Run
) -> list[Difference]:
    """Sentences whose tokens, text or probabilities are not the package's."""
    (found,) = run([search_job(folder, texts, options)])
    return differing(folder, texts, options, found)


def search_job(folder: Path, texts: Sequence[str], options: dict[str, Any]) -> Job:
    return {"operation": "search", "folder": str(folder), "texts": list(texts), "options": options}


def differing(
    folder: Path, texts: Sequence[str], options: dict[str, Any], found: Sequence[Any]
) -> list[Difference]:
    """Where the answer to a `search_job` differs from the package's."""
    translator = translator_of(folder)
    expected = translator.search(texts, **options)
    other = []
    for text, right, results in zip(texts, expected, found, strict=True):
        if isinstance(results, dict):
            other.append(Difference(text, right.text, results["error"], float("inf")))
            continue
        for one, result in zip((right, *right.alternatives), results, strict=True):
            gap = _gap(translator, text, one, result, greedy=options.get("beam_size") == 1)
            if gap:
                other.append(Difference(text, one.text, result["text"], gap))
    return other


def _gap(
    translator: Translator, text: str, right: Translation, found: dict[str, Any], greedy: bool
) -> float:
    """0 for the same translation; else how far apart the two are."""
    if list(right.tokens) == found["tokens"]:
        same = (
            right.text == found["text"]
            and right.source_tokens == tuple(found["source_tokens"])
            and right.unknown == tuple(found["unknown"])
            and right.rare == (None if found["rare"] is None else tuple(found["rare"]))
            and right.finished == found["finished"]
            and abs(right.score - found["score"]) < TIE
            and np.allclose(right.probabilities, found["probabilities"], atol=TIE)
        )
        return 0.0 if same else float("inf")
    if not greedy:
        return abs(right.score - found["score"])
    # Where the two part, both tokens must be equally probable.
    part = next(i for i, (a, b) in enumerate(zip(right.tokens, found["tokens"])) if a != b)  # noqa: B905
    ids = translator.target_vocabulary.encode
    prefix = ids(right.tokens[:part])
    ((logits),) = (logits_of(translator, [(translator.encode(text).ids, [SOS, *prefix])]),)
    last = torch.from_numpy(logits[0][-1]).clone()
    last[[PAD, SOS]] = -float("inf")
    log_p = last.log_softmax(0)
    names = translator.target_vocabulary.tokens
    a, b = names.index(right.tokens[part]), names.index(found["tokens"][part])
    return float(abs(log_p[a] - log_p[b])) or sys.float_info.min


# --- tokenizers -----------------------------------------------------------------------------------

# What texts are made of here: words and the marks that rules look at, and what breaks rules.
_WORDS = """
a Ein ein dog Hund straße STRASSE Ärger don't DON'T can't cannot gonna I'm we've z.B. d.h. u.s.w.
Mr. U.S. a.m. 8am 10km dell'acqua un' po' l'amico C'è sull' Dr. U-Bahn well-known Haus-Tür e.g.
i.e. Σίσυφος ΟΔΟΣ İstanbul ΣΑΣ ﬁn Ǆ ẞ x exp sin cos tanh O(x**6) O ( x ** 6 ) ** * + - / ( ) , 2 3
10 x**2 a*x 2x log sqrt y E http://a.example/b?c=d www.example.org me@example.com 192.168.0.1 1.5
1,000 3/4 -5 5% $5 5€ US$ #tag @me :-) :( ;) <3 ^_^ O.o ... … -- – — ' " ’ ‘ “ ” „ « » ( ) [ ] { }
! ? ¿ ¡ . , ; : / \\ | & _ ▁ ° % $ £ € ' '' `` 'em y'all ' n't nt 's ’s 日本語 한국어 Ελληνικά
русский עברית العربية हिन्दी ไทย <eos> <pad> <unk>
"""
_MARKS = "\u0301\u0308\u0327\u0323\u0338\u0345\u093c\u1161\u11a8\u3099\u20e3\ufe0f\u0344\u0f73"
_SPACES = (
    " \u00a0\u2003\u3000\u2028\t\n\r\x0b\x0c\x1c\x85\u200b\ufeff\u00ad\u200d\u200c\u2060\x00\x07"
)
_EMOJI = "😀👩🧑🏽🇩🇪❤👍🏿🪿🫨🏴"
_UNASSIGNED = (
    "\u0378\u05ff\u1c8a\ua7dc\U0001c000\U000e0080\U0001e8ff\u0897\u1acf\U00010ec2\U000107ff"
)


def random_strings(n: int, seed: int = 0) -> Iterator[str]:
    """Combining marks, emoji, unassigned code points, rare spaces, and ordinary words."""
    draw = random.Random(seed)
    words = _WORDS.split()
    unassigned = [*_UNASSIGNED, *(c for c in map(chr, range(0x300, 0x3000)) if not_there(c))]

    def piece() -> str:
        kind = draw.random()
        if kind < 0.5:
            return draw.choice(words)
        if kind < 0.65:
            return " "
        if kind < 0.72:
            return draw.choice(_MARKS) * draw.choice((1, 1, 2))
        if kind < 0.79:
            return draw.choice(_EMOJI)
        if kind < 0.84:
            return draw.choice(unassigned)
        if kind < 0.9:
            return draw.choice(_SPACES)
        code = draw.randrange(0x20, 0x20000 if draw.random() < 0.7 else sys.maxunicode + 1)
        return "?" if 0xD800 <= code < 0xE000 else chr(code)

    for i in range(n):
        text = "".join(piece() for _ in range(draw.randint(0, 14)))
        yield text * 60 if i % 500 == 499 else text  # some are longer than any word


def not_there(character: str) -> bool:
    """Whether this Python's Unicode has no such character."""
    return unicodedata.category(character) == "Cn"


def tokenizers() -> dict[str, Tokenizer]:
    """One of each kind that a model of the book may have."""
    subword = json.loads((pretrained.find("multi30k-de-en") / "config.json").read_text("utf-8"))
    return {
        "subword": tokenizer_from_dict(subword["source_tokenizer"]),
        "subword, lower-cased": tokenizer_from_dict(
            subword["source_tokenizer"] | {"lowercase": True}
        ),
        "de": SpacyTokenizer("de"),
        "en": SpacyTokenizer("en"),
        "it": SpacyTokenizer("it", lowercase=True),
        "math": MathTokenizer(),
        "space": SpaceTokenizer(),
    }


def tokenized(tokenizer: Tokenizer, text: str) -> Any:
    """The pieces and what they are put together to; or the error's sentence."""
    try:
        pieces = tokenizer(text)
        return [pieces, tokenizer.detokenize(pieces)]
    except ValueError as error:
        return {"error": str(error)}


def wrong_pieces(name: str, texts: Sequence[str], run: Run) -> list[str]:
    """Texts that a tokenizer splits differently in the browser."""
    tokenizer = tokenizers()[name]
    job = {"operation": "tokenize", "description": tokenizer.to_dict(), "texts": list(texts)}
    (found,) = run([job])
    return [
        f"{text!r}: {right} / {one}"
        for text, one in zip(texts, found, strict=True)
        if one != (right := tokenized(tokenizer, text))
    ]


def wrong_texts(texts: Sequence[str], run: Run) -> list[str]:
    """Texts made uniform, lower-cased, composed or shown differently in the browser."""
    (found,) = run([{"operation": "text", "texts": list(texts)}])
    wrong = []
    for text, one in zip(texts, found, strict=True):
        right = [uniform(text), text.lower(), unicodedata.normalize("NFC", text), repr(text)]
        if one != right:
            wrong.append(f"{text!r}: {right} / {one}")
    return wrong


def wrong_rare_words(texts: Sequence[str], run: Run) -> list[str]:
    """Texts in which the browser finds other rare words: half of all words are made known."""
    wrong = []
    for lowercase in (False, True):
        met = {word for text in texts for word in words(text) if len(word) % 2}
        known = KnownWords.build(met, (), lowercase=lowercase, least=1)
        listed = {"source": sorted(known.source), "lowercase": lowercase}
        (found,) = run([{"operation": "rare_words", "words": listed, "texts": list(texts)}])
        wrong += [
            f"{text!r}: {right} / {one}"
            for text, one in zip(texts, found, strict=True)
            if one != (right := list(known.rare(text)))
        ]
    return wrong


# --- the whole proof ------------------------------------------------------------------------------


def prove(names: Sequence[str], n_logits: int, n_search: int, n_strings: int, run: Run) -> bool:
    """Compare everything and print it; whether all agrees."""
    right = True
    print(f"Unicode {unicode_tables()['version']}; {n_strings} random strings")
    for name in tokenizers():
        wrong = wrong_pieces(name, list(random_strings(n_strings)), run)
        print(f"  {name}: {len(wrong)} split otherwise", *wrong[:5], sep="\n    ")
        right &= not wrong
    wrong = wrong_texts(list(random_strings(n_strings)), run)
    print(f"  uniform, lower, NFC, repr: {len(wrong)} otherwise", *wrong[:5], sep="\n    ")
    right &= not wrong
    wrong = wrong_rare_words(list(random_strings(n_strings)), run)
    print(f"  rare words: {len(wrong)} otherwise", *wrong[:5], sep="\n    ")
    right &= not wrong
    for name in names:
        folder = pretrained.find(name)
        difference = largest_difference(folder, sentences(name, n_logits), run)
        print(f"{name}: logits of {n_logits} sentences differ by at most {difference:.1e}")
        right &= difference < TOLERANCE
        for label, options in (("greedy", {"beam_size": 1}), ("as shipped", {})):
            began = time.monotonic()
            found = differences(folder, sentences(name, n_search), options, run)
            ties = [each for each in found if each.gap < TIE]
            print(
                f"  {label}: {n_search} sentences, {len(ties)} ties, "
                f"{len(found) - len(ties)} other differences ({time.monotonic() - began:.0f} s)",
                *found,
                sep="\n    ",
                flush=True,
            )
            right &= len(ties) == len(found)
    return right


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", nargs="*", default=pretrained.names(), help="default: all")
    parser.add_argument("--logits", type=int, default=100, help="sentences for the logits")
    parser.add_argument("--sentences", type=int, default=1000, help="sentences for each search")
    parser.add_argument("--strings", type=int, default=10_000, help="for each tokenizer")
    parser.add_argument(
        "--browser", choices=["chromium"], help="run the model there; default: in node"
    )
    options = parser.parse_args()
    unknown = sorted(set(options.models) - set(pretrained.names()))
    if unknown:
        sys.exit(f"There is no model {unknown[0]!r}; they are {', '.join(pretrained.names())}.")
    if min(options.logits, options.sentences) < 1 or options.strings < 0:
        sys.exit("--logits and --sentences must be at least 1, and --strings at least 0.")
    if options.browser and not installed_chromium():
        sys.exit("No Chromium or Chrome is installed; leave --browser out to run in node.")
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        rules = Path(folder)
        write_rules(rules)
        counts = (options.logits, options.sentences, options.strings)
        if options.browser:
            with chromium_with(rules) as run_there:
                right = prove(options.models, *counts, run_there)
        else:
            right = prove(options.models, *counts, partial(run, rules=rules))
    sys.exit(0 if right else 1)


if __name__ == "__main__":
    main()
