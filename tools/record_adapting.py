#!/usr/bin/env python3
"""Pre-train the small language model of chapter 27, adapt it in many ways, and record the results.

The model is written beside the record, in half precision, and adapted as it is read from there.
Each way has three seeds, of the order of the pairs and of what is drawn new. A run that stands in
the record with the same settings is not repeated, so this can be stopped and started again. Nothing
is read off the test split.
"""

from __future__ import annotations

import argparse
import platform
from typing import Any

from common import ROOT
from record_ablations import SEEDS, record_once

FOLDER = ROOT / "code" / "transformer_book" / "recipes" / "adapting"

MODEL = {
    "d_model": 64,
    "n_heads": 4,
    "n_layers": 3,
    "d_ff": 128,
    "max_length": 32,
    "dropout": 0.0,
    "tie_embeddings": True,
    "initialization": "scaled_normal",
}
PRETRAINING = {"updates": 400, "batch_size": 64, "peak": 5e-3, "warmup": 50, "seed": 1}
COURSE = {
    "updates": 300,
    "batch_size": 32,
    "schedule": "linear",
    "warmup": 20,
    "validate_every": 300,
}
# All matrices of the layers, those of the feed-forward networks, too.
ADAPTED = [
    *(f"attention.{name}" for name in ("query", "key", "value", "output")),
    *(f"feed_forward.{name}" for name in ("gate", "value", "output")),
]
RATES = {"rank": 1e-2, "whole": 3e-3, "scratch": 5e-3}
# Rank 8 and all weights with other rates, to see which is each way's best.
OTHER_RATES = {
    "rank-8-fast": 3e-2,
    "rank-8-faster": 1e-1,
    "whole-slow": 1e-3,
    "whole-fast": 1e-2,
    "whole-faster": 3e-2,
}
# Rank of the adapters, or None; what the run begins with.
WAYS: dict[str, tuple[int | None, str]] = {
    **{f"rank-{rank}": (rank, "twice") for rank in (1, 2, 4, 8)},
    "whole": (None, "twice"),
    "whole-once": (None, "once"),
    "scratch": (None, "nothing"),
    **{f"rank-{rank}-loud": (rank, "twice") for rank in (1, 2, 4)},
    **{way: (8 if way.startswith("rank") else None, "twice") for way in OTHER_RATES},
}
LOUD = 8.0  # α of the loud ones, as rank 8 has it; elsewhere α is the rank, and the factor 1
TIMES = {"twice": 2, "once": 1}


def settings_of(way: str, seed: int) -> dict[str, Any]:
    """All that decides a run."""
    rank, begin = WAYS[way]
    kind = "scratch" if begin == "nothing" else "whole" if rank is None else "rank"
    return {
        "model": MODEL,
        "begins_with": begin,
        "pretraining": None if begin == "nothing" else {**PRETRAINING, "times": TIMES[begin]},
        "rank": rank,
        **({"alpha": LOUD} if way.endswith("loud") else {}),
        "names": None if rank is None else ADAPTED,
        "training": {**COURSE, "learning_rate": OTHER_RATES.get(way, RATES[kind]), "seed": seed},
    }


class Study:
    """The data, the tokenizers, and the models that runs begin with."""

    def __init__(self) -> None:
        from transformer_book.runs.pretraining import CONSTRUCTIONS, corpora, documents
        from transformer_book.tasks import make_task

        self.corpora = corpora()
        self.vocabulary = self.corpora.vocabulary()
        self.task = make_task("captions", constructions=list(CONSTRUCTIONS))
        sides = {"de": "source", "en": "target"}
        self.plain = {
            language: documents(
                [getattr(p, side) for p in self.corpora.validation], self.vocabulary
            )
            for language, side in sides.items()
        }
        self.dataset = self.encoded(self.corpora.pairs)
        self.validation = self.encoded(self.corpora.validation)

    def encoded(self, pairs):
        from transformer_book.batches import PairDataset

        return PairDataset(pairs, self.vocabulary, self.vocabulary)

    def new(self, seed: int):
        import torch

        from transformer_book.decoder_only import DecoderOnly, todays

        torch.manual_seed(seed)
        return DecoderOnly(todays(len(self.vocabulary), **MODEL))

    def translator(self, model):
        from transformer_book.translator import Translator

        tokenizers = self.task.source_tokenizer, self.task.target_tokenizer
        recipe = {"name": "adapting", "task": self.task.to_dict(), "pretraining": PRETRAINING}
        return Translator(model, *tokenizers, *[self.vocabulary] * 2, recipe=recipe)

    def pretrained(self, times: int):
        """What `pretrain` makes, rounded to half precision."""
        import torch

        from transformer_book.runs.pretraining import documents, pretrain

        model = self.new(PRETRAINING["seed"])
        pretrain(model, documents(self.corpora.texts, self.vocabulary, times), **PRETRAINING)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.copy_(parameter.half())
        return model

    def measured(self, model) -> dict[str, Any]:
        """Translations, and the old task."""
        import torch

        from transformer_book.metrics import exact_match
        from transformer_book.runs.pretraining import text_perplexity
        from transformer_book.training import mean_loss

        pairs = self.corpora.validation
        said = self.translator(model).translate([pair.source_text for pair in pairs])
        right = exact_match(said, [pair.target_text for pair in pairs])
        return {
            "validation_loss": mean_loss(model, self.validation, batch_size=100),
            "old_perplexity": {k: text_perplexity(model, v) for k, v in self.plain.items()},
            "exact_match": right.value,
            "n": len(pairs),
            "torch": torch.__version__.partition("+")[0],
            "hardware": f"cpu ({platform.machine()}, 1 thread)",
        }


def adapted(study: Study, way: str, seed: int, begin) -> dict[str, Any]:
    """One run: what is recorded of it."""
    import torch

    from transformer_book.adapters import add_lora, n_trainable
    from transformer_book.training import Trainer, TrainingConfig

    settings = settings_of(way, seed)
    model = study.new(seed)
    if begin is not None:
        model.load_state_dict(begin.state_dict())
    torch.manual_seed(seed)
    if settings["rank"] is not None:
        add_lora(model, settings["rank"], settings.get("alpha"), names=ADAPTED)
    config = TrainingConfig(**settings["training"])
    trainer = Trainer(model, study.dataset, study.validation, config)
    trainer.fit()
    return {
        "recipe": way,
        "seed": seed,
        "settings": settings,
        "trainable": n_trainable(model),
        "train_nll": sum(r["nll"] for r in trainer.history[-50:]) / 50,
        "diverged": None,
        **study.measured(model.eval()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", metavar="WAY", choices=WAYS, help="only these ways")
    parser.add_argument("--seeds", nargs="+", type=int, default=SEEDS, help="only these seeds")
    arguments = parser.parse_args()

    import torch

    from transformer_book.runs.pretraining import PRETRAINED, load_language_model

    torch.set_num_threads(1)
    study = Study()
    record, every = FOLDER / "recorded.json", ["pretrained", *WAYS]
    begins: dict[str, Any] = {"nothing": None}

    def begin_of(name: str):
        if name == "twice" and name not in begins:
            begins[name] = load_language_model().model
        if name not in begins:
            begins[name] = study.pretrained(TIMES[name])
        return begins[name]

    def pretrained() -> dict[str, Any]:
        model = study.pretrained(TIMES["twice"]).eval()
        study.translator(model).save(PRETRAINED, dtype=torch.float16)
        found = {"recipe": "pretrained", "seed": PRETRAINING["seed"], "settings": settings}
        return {**found, "trainable": model.n_parameters, "diverged": None} | study.measured(model)

    settings = {"model": MODEL, "pretraining": {**PRETRAINING, "times": TIMES["twice"]}}
    record_once(record, every, {"recipe": "pretrained", "settings": settings}, pretrained)
    for seed in arguments.seeds:
        for way in arguments.only or WAYS:

            def make(way=way, seed=seed) -> dict[str, Any]:
                return adapted(study, way, seed, begin_of(WAYS[way][1]))

            asked = {"recipe": way, "seed": seed, "settings": settings_of(way, seed)}
            record_once(record, every, asked, make)


if __name__ == "__main__":
    main()
