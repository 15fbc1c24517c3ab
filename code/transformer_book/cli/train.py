"""`train`: a model by a recipe, until it is done or a signal stops it."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from transformer_book.cli import run_folder
from transformer_book.cli.messages import command_line, counted, task_with_options
from transformer_book.cli.options import BestDevice, Threads, positive

if TYPE_CHECKING:
    import torch

    from transformer_book.recipes import Recipe
    from transformer_book.runs.distributed import Processes
    from transformer_book.runs.experiment import Experiment
    from transformer_book.training import Trainer


def train(
    recipe: Annotated[
        str, typer.Argument(metavar="RECIPE", help="The name of a recipe, or a TOML file.")
    ],
    changes: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="SECTION.KEY=VALUE",
            help="Change the recipe; may be repeated. Nothing behind = leaves the key out.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="The folder of the run.", show_default="runs/RECIPE"),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run there.")] = False,
    teacher: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MODEL",
            help="A trained model whose translations of the training split are trained on, too, "
            "for recipes with data.teachers; may be repeated.",
        ),
    ] = None,
    device: BestDevice = None,
    minutes: Annotated[
        float | None,
        typer.Option(parser=positive, metavar="M", help="Stop and save after so long."),
    ] = None,
    threads: Threads = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Say nothing but errors.")] = False,
) -> None:
    """Train a model by a recipe.

    Ctrl-C finishes the present update, saves everything, and exits with status 130 (SIGTERM: 143);
    a second one ends at once. A killed run loses at most the last minute. With --resume it goes on
    as if nothing had happened: on one machine, with as many threads, the weights are the same to
    the last bit.

    Started by torchrun, several processes share each batch: the same gradients, made by more cores
    or GPUs. Only dropout draws other random numbers then.

    \b
    Examples:
      transformer-book train copy
      transformer-book train captions-de-en --minutes 10
      transformer-book train captions-de-en --resume
      transformer-book train copy --set training.updates=200 --set model.d_model=32 --output my-run
      torchrun --standalone --nproc-per-node 2 -m transformer_book train captions-de-en
    """
    import torch

    from transformer_book.runs.distributed import processes
    from transformer_book.runs.experiment import Experiment

    folder = Path("runs", Path(recipe).stem) if output is None else output
    command = ["train", recipe, *([] if output is None else ["--output", str(output)])]
    command += [part for name in teacher or () for part in ("--teacher", name)]
    with processes() as here:
        say = (lambda *_: None) if quiet or here.rank else print
        kept = run_folder.kept_recipe(folder, Path(recipe).stem, resume)
        chosen = run_folder.chosen_recipe(recipe, changes or (), kept, folder)
        run_folder.check_writable(folder)
        made = _what_teachers_make(chosen, teacher or (), folder, here.device(device), say)
        experiment = Experiment(chosen, made)
        if kept is not None:
            run_folder.take_up_vocabularies(experiment, folder)
        trainer = _trainer(experiment, folder, device, here, quiet)
        if resume and not trainer.resume():
            say(f"There is no run in {folder} yet: it starts from the beginning.")
        if threads is not None:  # what is asked for now overrides what the run had
            torch.set_num_threads(threads)
        if here.rank == 0:
            experiment.translator(trainer.model).save_description(folder)
        say(_what_is_trained(trainer, experiment, here.count))
        with _stopped_by_signals(trainer, announced=here.count == 1) as received:
            finished = trainer.fit(minutes=minutes)
            signalled = here.largest(*received)
        say(_what_was_reached(trainer, finished))
        if not finished:
            again = command_line(*command, "--resume", processes=here.local_count)
            say(f"Everything is saved. To go on:\n  {again}")
        elif not quiet:
            say(_what_to_do_next(experiment, folder))
    if signalled and not finished:
        raise typer.Exit(128 + signalled)


def _what_teachers_make(
    recipe: Recipe,
    names: Sequence[str],
    folder: Path,
    device: torch.device,
    say: Callable[[str], None],
) -> list[tuple[str, str]]:
    """The pairs that trained models make of the training split; kept in the folder of the run."""
    import torch

    from transformer_book.runs.diversification import new_pairs, side_read, translated
    from transformer_book.support.threads import use_threads
    from transformer_book.tasks import make_task, texts_of
    from transformer_book.translator import Translator

    if len(names) != recipe.data.teachers:
        wanted = counted(recipe.data.teachers, "trained model")
        raise ValueError(
            f"{recipe.name} also trains on what other models make of its pairs: name {wanted} with "
            f"--teacher ({len(names)} given)."
            if recipe.data.teachers
            else f"{recipe.name} has no teachers (data.teachers = 0): leave --teacher out."
        )
    if not names:
        return []
    task = make_task(**recipe.task)
    pairs = task.pairs("train", n=recipe.data.train, seed=recipe.data.seed)
    texts = [texts_of(task, pair) for pair in pairs]
    teachers = [Translator.from_pretrained(name, device=device) for name in names]
    for teacher in teachers:  # before the first of them spends minutes
        side_read(task, teacher)
    made, threads = [], torch.get_num_threads()
    for number, (name, teacher) in enumerate(zip(names, teachers, strict=True), 1):
        use_threads(teacher.model, "many sentences")

        def tell(done: int, name: str = name) -> None:
            if done and (done % 5000 == 0 or done == len(texts)):
                say(f"{name}: {done:,} of {len(texts):,} translations")

        file = folder / "translations" / f"{number}.jsonl"
        made.append(translated(task, texts, teacher, file, tell))
        torch.set_num_threads(threads)
    return new_pairs(texts, made)


def _trainer(
    experiment: Experiment, folder: Path, device: str | None, here: Processes, quiet: bool
) -> Trainer:
    """The trainer of this process, with the threads that fit its model."""
    from transformer_book.runs.distributed import DistributedTrainer
    from transformer_book.support.threads import use_threads

    several = {"kind": DistributedTrainer, "processes": here} if here.count > 1 else {}
    trainer = experiment.trainer(
        folder=folder,
        device=here.device(device),
        progress=not quiet and sys.stderr.isatty(),
        fused=True,
        **several,
    )
    if here.count == 1:  # started by torchrun, the processes share the cores already
        use_threads(trainer.model, "training")
    return trainer


@contextlib.contextmanager
def _stopped_by_signals(trainer: Trainer, announced: bool) -> Iterator[list[int]]:
    """Inside, Ctrl-C and SIGTERM end the training in good order; yields those that came."""
    from transformer_book.runs.distributed import LostProcess

    received: list[int] = []

    def stop(number: int, _: object) -> None:
        received.append(number)
        trainer.stop()
        signal.signal(number, before[number])  # the second one ends at once
        if not announced:
            return
        with contextlib.suppress(OSError, ValueError):  # not print: it may be interrupted just now
            os.write(
                sys.stderr.fileno(), b"\nStopping after this update; once more ends at once.\n"
            )

    before = {
        number: signal.getsignal(number)
        for number in (signal.SIGINT, signal.SIGTERM)
        if signal.getsignal(number) not in (None, signal.SIG_IGN)  # a shell's background job
    }
    for number in before:
        signal.signal(number, stop)
    after = dict(before)
    try:
        yield received
    except LostProcess:
        after = {}  # torchrun sends SIGTERM now; the reason is to be said first
        raise
    finally:
        for number, handler in after.items():
            signal.signal(number, handler)


def _what_is_trained(trainer: Trainer, experiment: Experiment, processes: int) -> str:
    import torch

    recipe, dropped = experiment.recipe, trainer.train.dropped
    task, updates = task_with_options(recipe.task), counted(trainer.config.updates, "update")
    parameters = sum(parameter.numel() for parameter in trainer.model.parameters())
    left_out = f" ({dropped:,} longer ones left out)" if dropped else ""
    device = trainer.device.type
    if device == "cpu":
        device += f", {counted(torch.get_num_threads(), 'thread')}"
    if processes > 1:
        device += f" in each of {processes} processes"
    begun = f", the first {trainer.update:,} made before" if trainer.update else ""
    return (
        f"{recipe.name}: task {task}, {len(trainer.train):,} pairs{left_out}, "
        f"{parameters:,} parameters, {updates}{begun}, on {device}"
    )


def _what_was_reached(trainer: Trainer, finished: bool) -> str:
    from transformer_book.metrics import perplexity

    updates = counted(trainer.config.updates, "update")
    done = (
        f"{updates} made" if finished else f"Stopped after update {trainer.update:,} of {updates}"
    )
    if trainer.best is None:
        return f"{done}; nothing validated yet."
    update, loss = trainer.best
    measured = f"validation loss {loss:.4f}, perplexity {perplexity(loss):.3f}"
    return f"{done}; {measured}, at update {update:,}."


def _what_to_do_next(experiment: Experiment, folder: Path) -> str:
    example = experiment.task.pairs("validation", n=1, seed=experiment.recipe.data.seed)[0]
    text = experiment.task.source_tokenizer.detokenize(example.source)
    evaluate = command_line("evaluate", str(folder))
    translate = command_line("translate", str(folder), text)
    return f"The model is in {folder}. Next:\n  {evaluate}\n  {translate}"
