"""Several processes train one model: data parallelism (chapter 23).

    torchrun --standalone --nproc-per-node 2 -m transformer_book train captions-de-en

Every process holds the whole model. Of each batch it computes its share, the gradients are added
up, and all take the same step, so that the weights stay equal to the last bit. Processes find each
other by what `torchrun` tells them in the environment.
"""

from __future__ import annotations

import json
import os
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor
from torch.distributed.rendezvous import rendezvous
from torch.nn.parallel import DistributedDataParallel

from transformer_book.batches import Batch, PairDataset, limit_of
from transformer_book.training import (
    Trainer,
    TrainingConfig,
    _random_state_of,
    _remember_random_state,
    choose_device,
    total_loss,
)
from transformer_book.transformer import Transformer

PATIENCE = timedelta(minutes=30)  # that one process waits for the others
NEEDED = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT")


class LostProcess(ValueError):
    """Another process of the training has ended, or does not answer: this one cannot go on."""


@dataclass(frozen=True)
class Processes:
    """Which of several processes this one is.

    Attributes:
        rank: its number, from 0. Process 0 writes the files and speaks.
        count: how many there are.
        local_rank, local_count: the same among those on this machine.
    """

    rank: int = 0
    count: int = 1
    local_rank: int = 0
    local_count: int = 1

    @classmethod
    def from_environment(cls) -> Processes:
        """What `torchrun` put into the environment; without `torchrun`, this process is alone.

        Raises:
            ValueError: the environment names more than one process but lacks what is needed to
                find the others, or has something else where a number is needed.
        """
        environment = {name: os.environ.get(name, "") for name in NEEDED}
        if environment["WORLD_SIZE"] in ("", "1"):
            return cls()
        missing = [name for name, value in environment.items() if not value]
        if missing:
            raise ValueError(
                f"WORLD_SIZE is {environment['WORLD_SIZE']!r}, but {', '.join(missing)} "
                f"{'is' if len(missing) == 1 else 'are'} not set; start several processes with "
                "torchrun --standalone --nproc-per-node 2 -m transformer_book train RECIPE, or "
                "unset WORLD_SIZE."
            )
        number = {}
        for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_PORT"):
            if not environment[name].isdecimal():
                raise ValueError(
                    f"{name} is {environment[name]!r}, but it must be a whole number; leave it to "
                    "torchrun to set it."
                )
            number[name] = int(environment[name])
        rank, count, local_rank = (number[n] for n in ("RANK", "WORLD_SIZE", "LOCAL_RANK"))
        if rank >= count:
            raise ValueError(
                f"RANK is {rank} and WORLD_SIZE is {count}, but ranks count from 0 and stay below "
                "it; leave it to torchrun to set them."
            )
        local_count = os.environ.get("LOCAL_WORLD_SIZE", "")
        return cls(rank, count, local_rank, int(local_count) if local_count.isdecimal() else count)

    def largest(self, *numbers: int) -> int:
        """The largest number, at least 0, that any of the processes has; all must ask."""
        found = torch.tensor(max(numbers, default=0))
        if self.count > 1:
            with _lost_is_said():
                dist.all_reduce(found, dist.ReduceOp.MAX)
        return int(found)

    def device(self, name: str | None = None) -> torch.device:
        """The device of this process: a GPU of its own, or the CPU.

        Raises:
            ValueError: an unknown device, one that this machine lacks, or fewer GPUs than
                processes.
        """
        if self.count == 1:
            return choose_device(name)
        if name is None:
            name = "cuda" if torch.cuda.is_available() else "cpu"
        device = choose_device(name)
        if device.type == "mps" or device.index is not None:
            raise ValueError(
                f"device is {name!r}, but {self.count} processes compute on 'cpu', or on 'cuda' "
                "with a GPU for each; choose one of the two."
            )
        if device.type == "cuda":
            if self.local_count > torch.cuda.device_count():
                raise ValueError(
                    f"There are {self.local_count} processes on this machine, but "
                    f"{torch.cuda.device_count()} GPUs; start as many processes as GPUs, or choose "
                    "the device 'cpu'."
                )
            device = torch.device("cuda", self.local_rank)
        return device


@contextmanager
def processes() -> Iterator[Processes]:
    """Inside, the processes that `torchrun` started can talk to each other.

    They do so by gloo, and between GPUs by nccl.

    Raises:
        ValueError: see `Processes.from_environment`.
        LostProcess: the others do not answer.
    """
    here = Processes.from_environment()
    if here.count == 1:
        yield here
        return
    backend = "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo"
    if torch.cuda.is_available() and here.local_rank < torch.cuda.device_count():
        torch.cuda.set_device(here.local_rank)
    with _lost_is_said():
        dist.init_process_group(
            backend, store=_store(), rank=here.rank, world_size=here.count, timeout=PATIENCE
        )
    try:
        yield here
        with _lost_is_said():
            dist.barrier()  # none leaves before all are done
    except BaseException:
        first_to_speak()  # before the others notice that this one has gone
        raise
    finally:
        dist.destroy_process_group()


_meeting: dict[str, Any] = {}


def _store() -> dist.Store:
    """Where all processes leave notes for each other."""
    if "store" not in _meeting:
        _meeting["store"], _, _ = next(rendezvous("env://", timeout=timedelta(minutes=2)))
    return _meeting["store"]


def first_to_speak() -> bool:
    """Whether no other process has reported an error yet: several that fail say one sentence."""
    if "first" not in _meeting:
        _meeting["first"] = True
        with suppress(RuntimeError, ValueError):  # nobody to ask
            _meeting["first"] = _store().add("transformer-book/spoken", 1) == 1
    return _meeting["first"]


LOST = ("gloo", "nccl", "connection", "socket", "timed out", "peer", "broken pipe")


@contextmanager
def _lost_is_said() -> Iterator[None]:
    """Turns the errors of gloo and nccl about a process that has ended into a sentence."""
    try:
        yield
    except RuntimeError as error:
        said = str(error).lower()
        if not isinstance(error, dist.DistError) and not any(word in said for word in LOST):
            raise
        raise LostProcess(
            "Another process of this training has ended, or does not answer, so that all of them "
            "end; what is saved stays as it is, and --resume goes on from the last checkpoint."
        ) from error


class DistributedTrainer(Trainer):
    r"""A `Trainer` in each of several processes, which together make the updates of one.

    A batch of the configuration is divided: process $r$ of $W$ computes the pairs $r$, $r + W$,
    $r + 2W$, … of it. Its loss $L_r$ is a mean over the $n_r$ tokens of its share, and shares
    differ in tokens. The gradient of the whole batch is therefore

    $$\nabla L = \sum_r \frac{n_r}{\sum_s n_s}\, \nabla L_r ,$$

    and not the mean of the $\nabla L_r$. Losses are weighed in the same way, and the validation
    split is divided by batches. So the updates are those of one process, but for the rounding of
    sums in another order.

    Each process draws its own random numbers for dropout; those of process 0 are those that a
    single process would draw. A run with dropout is therefore another one with another number of
    processes. A run may be resumed with any number of processes; with the same
    number, the updates that follow are those of an uninterrupted run, to the last bit.

    Process 0 writes the files and shows the progress. The others read the folder, too: on several
    machines it must be a shared one.

    Args:
        processes: as `processes()` gave them.
        others: as for `Trainer`.

    Raises:
        ValueError: there is one process only, a batch has fewer pairs than there are processes, or
            the processes differ in recipe or data.
        LostProcess: another process has ended.
    """

    def __init__(
        self,
        model: Transformer,
        train: PairDataset,
        validation: PairDataset,
        config: TrainingConfig,
        *,
        processes: Processes,
        progress: bool = False,
        **options: Any,
    ) -> None:
        if not dist.is_initialized() or processes.count < 2:
            raise ValueError(
                "There is one process only: start several with torchrun and enter processes(), or "
                "use a Trainer."
            )
        self.processes = processes
        self._writes = processes.rank == 0
        options["progress"] = progress and self._writes
        super().__init__(model, train, validation, config, **options)
        self._check_batches()
        with _lost_is_said(), warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # broadcast_buffers will be renamed
            self._check_same("recipe or data", self._fingerprint())
            self._parallel = DistributedDataParallel(
                self.model,
                device_ids=[self.device] if self.device.type == "cuda" else None,
                broadcast_buffers=False,  # these are constants
            )
        self._parallel.register_comm_hook(self, sum_by_tokens)
        self._weight = 1.0
        for rank in range(1, processes.count):
            fresh = _random_state_of(zlib.crc32(f"{config.seed} {rank}".encode()), self.device)
            self._random |= {f"{kind}.{rank}": state for kind, state in fresh.items()}
        self._own_random()

    def fit(self, **options: Any) -> bool:
        """As `Trainer.fit`, together. All end as soon as one is stopped.

        Raises:
            LostProcess: another process has ended.
        """
        with _lost_is_said():
            return super().fit(**options)

    def resume(self) -> bool:
        """As `Trainer.resume`: with any number of processes, whatever it was before.

        Raises:
            ValueError: as there, or the processes do not find the same checkpoint.
        """
        found = super().resume()
        if found:
            self._own_random()
        with _lost_is_said():
            self._check_same("folder", self.update if found else -1)
        return found

    def validate(self) -> float:
        """The loss on the validation split; each process measures its share of the batches."""
        part = slice(self.processes.rank, None, self.processes.count)
        total, count = total_loss(self.model, self.validation, **self.config.size, part=part)
        total, count = self._sum(total, count)
        return total / count

    def _step(self, batch: Batch) -> dict[str, Any]:
        rank, count = self.processes.rank, self.processes.count
        rows = slice(rank, None, count)
        # At the end of an epoch there may be fewer pairs than processes. Then this one takes
        # part, since the others wait for its gradient, but with a weight of zero.
        spare = rank >= batch.size
        share = batch if spare else Batch(batch.source[rows], batch.target[rows])
        self._weight = 0.0 if spare else share.n_tokens / batch.n_tokens
        model, self.model = self.model, self._parallel
        try:
            record = super()._step(share)
        finally:
            self.model = model
        loss, nll = self._sum(self._weight * record["loss"], self._weight * record["nll"])
        record |= {"loss": loss, "nll": nll, "tokens": batch.n_tokens}
        return record

    def _anywhere(self, here: bool) -> bool:
        (somewhere,) = self._sum(float(here))
        return somewhere > 0

    def _save(self) -> None:
        _remember_random_state(self._random, self.device)
        for kind in _kinds(self._random):
            for rank, state in enumerate(self._gathered(self._random[kind])):
                if rank:
                    self._random[f"{kind}.{rank}"] = state
        super()._save()
        self._unsaved = []
        dist.barrier()  # so that all may read what process 0 has written

    def _own_random(self) -> None:
        """Go on with the random numbers of this process, not with those of process 0."""
        if self.processes.rank:
            for kind in _kinds(self._random):
                self._random[kind] = self._random[f"{kind}.{self.processes.rank}"]

    def _check_batches(self) -> None:
        largest = max(len(indices) for indices in self.batches)
        if largest < self.processes.count:
            name, limit = limit_of(**self.config.size)
            raise ValueError(
                f"There are {self.processes.count} processes, but at most {largest} "
                f"{'pair' if largest == 1 else 'pairs'} in a batch ({name} = "
                f"{limit}); start fewer processes or raise {name}."
            )

    def _fingerprint(self) -> int:
        """What must be the same everywhere, as a number."""
        about = [asdict(self.config), self._model(), self.train.examples, self.validation.examples]
        return zlib.crc32(json.dumps(about, sort_keys=True).encode())

    def _check_same(self, what: str, number: int) -> None:
        numbers = [int(n) for n in self._gathered(torch.tensor(number))]
        for rank, other in enumerate(numbers):
            if other != numbers[0]:
                raise ValueError(
                    f"Process {rank} has another {what} than process 0; start all processes with "
                    "the same command, on the same files."
                )

    def _sum(self, *numbers: float) -> list[float]:
        """Each of the numbers, added up over all processes; the same bits everywhere."""
        sums = torch.tensor(numbers, dtype=torch.float64)
        dist.all_reduce(sums)
        return sums.tolist()

    def _gathered(self, tensor: Tensor) -> list[Tensor]:
        """The tensors, on the CPU, of all processes."""
        every = [torch.empty_like(tensor) for _ in range(self.processes.count)]
        dist.all_gather(every, tensor)
        return every


def sum_by_tokens(trainer, bucket):  # PyTorch does not accept annotations that are strings
    """Weigh gradients by tokens and add them up over the processes, as soon as they are ready."""
    weighed = bucket.buffer().mul_(trainer._weight)
    work = dist.all_reduce(weighed, async_op=True)
    return work.get_future().then(lambda future: future.value()[0])


def _kinds(random: dict[str, Tensor]) -> list[str]:
    return [kind for kind in random if "." not in kind]
