"""Started by torchrun from test_distributed.py: what several processes do, written into a folder.

All of it in one program, since starting the processes takes longer than anything they do.
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

import torch

import tests.conftest  # noqa: F401  # with the annotations enforced
from tests import small
from transformer_book import training
from transformer_book.batches import PairDataset
from transformer_book.runs.distributed import DistributedTrainer, Processes, processes
from transformer_book.weights.checkpoints import save_tensors, weights_of

# Two batches of 8 and one of a single pair: at the end of an epoch process 1 has nothing to do.
SEVENTEEN = small.dataset(17)
TWICE = PairDataset([(["a", "b"], ["a", "b"])] * 2, small.VOCABULARY, small.VOCABULARY)


def trainer(
    here: Processes,
    folder: Path | None = None,
    *,
    exact: bool = False,
    data: PairDataset = small.TRAIN,
    **options: object,
) -> DistributedTrainer:
    """As `small.trainer`; `exact`: in float64 and without dropout."""
    model = small.model(dropout=0.0).double() if exact else small.model(dropout=0.3)
    config = small.config(**options)
    return DistributedTrainer(model, data, small.VALIDATION, config, folder=folder, processes=here)


def sentence_of(action: object, *arguments: object, **options: object) -> str:
    """What a `ValueError` says."""
    try:
        action(*arguments, **options)
    except ValueError as error:
        return str(error)
    return "nothing"


def main(out: Path) -> None:
    torch.set_num_threads(1)
    with processes() as here:
        found: dict[str, object] = {}

        def keep(name: str, tensors: dict[str, torch.Tensor]) -> None:
            save_tensors(out / f"{name}.{here.rank}.safetensors", tensors)

        # The same updates as one process makes.
        for name, options in {
            "plain": {},
            "tokens": {"batch_size": None, "max_tokens": 30, "label_smoothing": 0.0},
            "left over": {"data": SEVENTEEN, "clip_norm": 0.0},
        }.items():
            exact = trainer(here, exact=True, **options)
            gradients: dict[str, torch.Tensor] = {}
            parameters = dict(exact.model.named_parameters())

            def remember(
                *_: object, exact=exact, gradients=gradients, parameters=parameters
            ) -> None:
                for parameter, tensor in parameters.items():
                    gradients[f"{exact.update}.{parameter}"] = tensor.grad.clone()

            exact.optimizer.register_step_pre_hook(remember)
            exact.fit()
            keep(f"{name}.gradients", gradients)
            keep(f"{name}.weights", weights_of(exact.model))
            found[name] = [exact.history, exact.best]

        # A run that is cut in two, with dropout.
        whole = trainer(here, out / "whole")
        whole.fit()
        first = trainer(here, out / "cut")
        first.fit(updates=3)
        second = trainer(here, out / "cut")
        found["resumed"] = second.resume()
        second.fit()
        keep("whole", weights_of(whole.model))
        keep("cut", weights_of(second.model))
        found["cut"] = [whole.best == second.best, whole.model.training == second.model.training]

        # A run of one process goes on in two, and the other way round.
        other = trainer(here, out / "one-then-two", exact=True)
        found["other resumed"] = other.resume()
        other.fit()
        trainer(here, out / "two-then-one", exact=True).fit(updates=3)

        # Both processes compute the same pair: equal without dropout, different with it.
        for dropout in (0.0, 0.3):
            alike = trainer(here, data=TWICE, exact=dropout == 0, updates=1, batch_size=2)
            seen: list[float] = []
            alike.model.register_forward_hook(
                lambda *io, seen=seen: seen.append(float(io[2].detach().sum()))
            )
            alike.fit()
            found[f"dropout {dropout}"] = seen[0]

        # One is stopped, and both stop; one finds a loss that is not a number, and both say so.
        stopped = trainer(here)
        if here.rank == 1:
            stopped.optimizer.register_step_post_hook(
                lambda *_: stopped.stop() if stopped.update == 1 else None
            )
        found["stopped"] = [stopped.fit(), stopped.update]
        spoiled, real = trainer(here), training.label_smoothed_loss
        if here.rank == 1:

            def spoil(*arguments: object) -> tuple[torch.Tensor, torch.Tensor]:
                loss, nll = real(*arguments)
                return loss * (math.nan if spoiled.update == 2 else 1.0), nll

            training.label_smoothed_loss = spoil
        found["not finite"] = [sentence_of(spoiled.fit), spoiled.update]
        training.label_smoothed_loss = real

        # What is refused.
        found["few pairs"] = sentence_of(trainer, here, batch_size=1)
        found["other seed"] = sentence_of(trainer, here, seed=here.rank)
        other_data = small.dataset(20 + here.rank)
        found["other data"] = sentence_of(trainer, here, data=other_data)
        folder = out / ("whole" if here.rank == 0 else "not shared")
        found["other folder"] = sentence_of(trainer(here, folder).resume)
        found["device"] = (
            sentence_of(here.device, "mps") if torch.backends.mps.is_available() else ""
        )

        (out / f"found.{here.rank}.json").write_text(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
