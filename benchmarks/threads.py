"""How large a model must be for a second thread to help: `python -m benchmarks.threads`.

`transformer_book.support.threads` follows the result that is kept here.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from statistics import median
from typing import Any

# Before torch is loaded: threads that wait let the others work.
os.environ["OMP_WAIT_POLICY"] = "PASSIVE"

import torch
import torch.nn.functional as F
from torch import Tensor

from benchmarks.clock import _short, round_robin
from transformer_book.decoding import beam_search
from transformer_book.support.atomic_files import write_json
from transformer_book.transformer import Transformer, TransformerConfig

RESULT = Path(__file__).resolve().parent / "results" / "threads.json"
# d_model, layers of encoder and decoder each, tokens of the vocabulary
SIZES = ((64, 2, 1000), (128, 3, 4000), (256, 3, 6000), (512, 6, 8000))
TOKENS = 2000  # of an update, a side
SENTENCES = 64  # that are translated together
LENGTH = 16  # tokens of each sentence
BEAMS = 4


def model_of(size: tuple[int, int, int]) -> Transformer:
    """A model of this size, with random weights."""
    width, layers, words = size
    torch.manual_seed(0)
    config = TransformerConfig(
        words,
        words,
        d_model=width,
        n_heads=width // 32,
        n_encoder_layers=layers,
        n_decoder_layers=layers,
        d_ff=2 * width,
    )
    return Transformer(config)


def work(model: Transformer) -> dict[str, Any]:
    """What is measured, by name: an update, a batch that is translated, one sentence."""
    generator = torch.Generator().manual_seed(0)
    words = model.config.source_vocab_size
    ids = torch.randint(4, words, (TOKENS // LENGTH, LENGTH), generator=generator)
    optimizer = torch.optim.Adam(model.parameters(), fused=True)
    options = {"max_length": LENGTH, "ban": (0, 1, 2)}  # the model never ends a sentence

    def train() -> None:
        model.train()
        F.cross_entropy(model(ids, ids).flatten(0, 1), ids.flatten()).backward()
        optimizer.step()
        optimizer.zero_grad()

    def translate(source: Tensor) -> None:
        model.eval()
        beam_search(model, source, BEAMS, **options)

    return {
        "training": train,
        "many sentences": lambda: translate(ids[:SENTENCES]),
        "one sentence": lambda: translate(ids[:1]),
    }


def measure(
    sizes: tuple[tuple[int, int, int], ...] = SIZES, rounds: int = 7, threads: int | None = None
) -> dict[str, Any]:
    """Times as fast with `threads` threads as with one, by size and kind of work."""
    threads = threads or os.cpu_count() or 1
    found = []
    before = torch.get_num_threads()
    try:
        for size in sizes:
            model = model_of(size)
            entry: dict[str, Any] = {
                "d_model": size[0],
                "layers": size[1],
                "parameters": sum(p.numel() for p in model.parameters()),
            }
            for name, run in work(model).items():

                def turn(number: int, run: Any = run) -> None:
                    torch.set_num_threads(number)
                    run()

                turns = {"one": lambda turn=turn: turn(1), "all": lambda turn=turn: turn(threads)}
                seconds = round_robin(turns, rounds)
                pairs = zip(seconds["one"], seconds["all"], strict=True)
                entry[name] = _short(median(one / several for one, several in pairs))
            found.append(entry)
            print(entry, file=sys.stderr, flush=True)
    finally:
        torch.set_num_threads(before)
    return {"threads": threads, "tokens": TOKENS, "sentences": SENTENCES, "sizes": found}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--output", type=Path, default=RESULT, metavar="FILE")
    arguments = parser.parse_args()
    write_json(arguments.output, measure(), indent=1)


if __name__ == "__main__":
    main()
