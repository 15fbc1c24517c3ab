"""Going on with a text: the book's decoder-only model and Hugging Face's Llama, the same weights.

`python -m benchmarks.continuation` shows first that both write the same tokens, and then gives each
a turn, round after round: the likeliest token each time, one text, with the cache of keys and
values; the book once more without it.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import torch

from benchmarks.clock import round_robin, summary
from transformer_book.continuation import continue_tokens
from transformer_book.decoder_only import DecoderOnly
from transformer_book.support.atomic_files import write_json
from transformer_book.weights.llama import config_from_llama, weights_from_llama

RESULT = Path(__file__).resolve().parent / "results" / "continuation.json"
OURS, THEIRS, UNCACHED = "the book", "Hugging Face Llama", "the book, without the cache"
SIZE = {
    "vocab_size": 16_000,
    "hidden_size": 384,
    "intermediate_size": 1024,
    "num_hidden_layers": 8,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "max_position_embeddings": 2048,
}
PROMPT, NEW, ROUNDS = 64, 192, 7


def measure(
    size: dict[str, int] = SIZE, prompt: int = PROMPT, n_new: int = NEW, rounds: int = ROUNDS
) -> dict[str, Any]:
    """Tokens per second of each, and how many times as fast the book is."""
    import transformers
    from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    theirs = LlamaForCausalLM(LlamaConfig(**size)).eval()
    ours = DecoderOnly(config_from_llama(theirs.config.to_dict())).eval()
    ours.load_state_dict(weights_from_llama(theirs.state_dict()))
    tokens = torch.randint(4, size["vocab_size"], (1, prompt))
    greedy = GenerationConfig(
        max_new_tokens=n_new, min_new_tokens=n_new, do_sample=False, use_cache=True, pad_token_id=0
    )

    def generate() -> list[int]:
        with torch.inference_mode():
            found = theirs.generate(tokens, generation_config=greedy)
        return found[0, prompt:].tolist()

    turns = {
        OURS: lambda: continue_tokens(ours, tokens, n_new).tokens,
        THEIRS: generate,
        UNCACHED: lambda: continue_tokens(ours, tokens, n_new, cached=False).tokens,
    }
    written = {name: turn() for name, turn in turns.items()}
    if any(found != written[OURS] for found in written.values()):
        raise SystemExit("They do not write the same tokens, so nothing was measured.")
    amounts = dict.fromkeys(turns, float(n_new))
    return {
        "size": size,
        "parameters": sum(p.numel() for p in ours.parameters()),
        "prompt": prompt,
        "new": n_new,
        "torch": torch.__version__.partition("+")[0],
        "transformers": transformers.__version__,
        "threads": torch.get_num_threads(),
        "contestants": summary(round_robin(turns, rounds), amounts, OURS),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--output", type=Path, default=RESULT, metavar="FILE")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    result = measure()
    write_json(arguments.output, result, indent=1)
    for name, entry in result["contestants"].items():
        print(f"{name}: {entry['rate']} tokens/s, ratio {entry['ratio']}", file=sys.stderr)


if __name__ == "__main__":
    main()
