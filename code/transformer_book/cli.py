"""The command line: train, evaluate, translate and grade; look at recipes, models and data.

Nothing heavy is imported before a command needs it: `--help` and the lists answer at once.

Exit status: 0, all went well; 2, something could not be done, and one sentence on stderr says
what; 130 and 143, stopped by Ctrl-C or SIGTERM; 141, the reader of the output has gone.
"""

from __future__ import annotations

import contextlib
import difflib
import json
import math
import os
import shlex
import signal
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

import typer

from transformer_book import __version__

if TYPE_CHECKING:
    from transformer_book.experiment import Experiment
    from transformer_book.training import Trainer
    from transformer_book.translator import Translation, Translator

PROGRAM = "transformer-book"
CHUNK = 512  # lines that are translated together: enough to sort them by length
NAMED = 10  # unknown words that are named; the others are counted
SHARES = {
    "exact_match": "exact match",
    "exact_match_lowercase": "exact match, lower-cased",
    "mathematically_equal": "mathematically equal",
}
SIGNED = {
    "bleu": "BLEU",
    "bleu_lowercase": "BLEU, lower case",
    "bleu_tokens": "BLEU, tokens in lower case",
}
UsageError = typer.BadParameter.__base__

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
data = typer.Typer(rich_markup_mode=None)
app.add_typer(data, name="data")


def _whole(least: int) -> Callable[[str], int]:
    """Reads a whole number from an option; typer's own error would not say what was typed."""

    def parse(text: str) -> int:
        with contextlib.suppress(ValueError):
            if int(text) >= least:
                return int(text)
        raise typer.BadParameter(f"{text!r} is not a whole number of at least {least}.")

    return parse


def _positive(text: str) -> float:
    with contextlib.suppress(ValueError):
        if 0 < float(text) < math.inf:
            return float(text)
    raise typer.BadParameter(f"{text!r} is not a number above 0.")


def _not_negative(text: str) -> float:
    with contextlib.suppress(ValueError):
        if 0 <= float(text) < math.inf:
            return float(text)
    raise typer.BadParameter(f"{text!r} is not a number of at least 0.")


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status; whatever is wrong becomes one sentence.

    Args:
        arguments: those of the command line, without the program's name; `None`: this process's.
    """
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    _speak_utf8()
    # Read when torch is loaded: a thread that waits lets other programs work.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    try:
        with warnings.catch_warnings():
            if not sys.warnoptions:
                warnings.simplefilter("ignore")  # torch's are about torch, not about the model
            try:
                # Not app(): it would exit by itself, and word its errors in three lines.
                command = typer.main.get_command(app)
                with command.make_context(PROGRAM, arguments) as context:
                    command.invoke(context)
            finally:
                if sys.stdout is not None:
                    sys.stdout.flush()  # here a reader that has gone can still be answered
        return 0
    except typer.Exit as end:
        return end.exit_code
    except UsageError as error:
        return _refuse(_usage(error))
    except (KeyboardInterrupt, typer.Abort):
        return 130
    except BrokenPipeError:
        # Python flushes once more at its end, and would complain then.
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except OSError as error:
        return _refuse(_of_the_system(error))
    except ValueError as error:
        return _refuse(str(error))
    except (MemoryError, RuntimeError) as error:
        if not _out_of_memory(error):
            raise
        return _refuse("The memory does not suffice: choose a smaller model or smaller batches.")


# --- train ----------------------------------------------------------------------------------------


Threads = Annotated[
    int | None,
    typer.Option(
        parser=_whole(1),
        metavar="N",
        help="Threads of the processor.",
        show_default="those that fit the model; a run that goes on has its own",
    ),
]


@app.command()
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
    device: Annotated[
        str | None,
        typer.Option(metavar="D", help="cpu, cuda or mps.", show_default="the best there is"),
    ] = None,
    minutes: Annotated[
        float | None,
        typer.Option(parser=_positive, metavar="M", help="Stop and save after so long."),
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

    from transformer_book.distributed import DistributedTrainer, processes
    from transformer_book.experiment import Experiment
    from transformer_book.recipes import load_recipe
    from transformer_book.threads import use_threads

    folder = Path("runs", Path(recipe).stem) if output is None else output
    command = ["train", recipe, *([] if output is None else ["--output", str(output)])]
    with processes() as here:
        say = _nothing if quiet or here.rank else print
        kept = _kept_run(folder, Path(recipe).stem, resume)
        chosen = (
            load_recipe(recipe, changes or ())
            if kept is None
            else _same_recipe(kept, changes or (), folder)
        )
        if kept is not None and recipe.endswith(".toml"):
            _tell_differences(chosen, load_recipe(recipe, changes or ()), recipe, folder)
        _check_writable(folder)
        experiment = Experiment(chosen)
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
        if kept is not None:
            _check_vocabularies(experiment, folder)
        if resume and not trainer.resume():
            say(f"There is no run in {folder} yet: it starts from the beginning.")
        if threads is not None:  # what is asked for now goes before what the run had
            torch.set_num_threads(threads)
        if here.rank == 0:
            experiment.translator(trainer.model).save_description(folder)
        say(_what_is_trained(trainer, experiment, here.count))
        with _stopped_by_signals(trainer, announced=here.count == 1) as received:
            finished = trainer.fit(minutes=minutes)
            signalled = here.largest(*received)
        say(_what_was_reached(trainer, finished))
        if not finished:
            again = _command(*command, "--resume", processes=here.local_count)
            say(f"Everything is saved. To go on:\n  {again}")
        elif not quiet:
            example = experiment.task.pairs("validation", n=1, seed=chosen.data.seed)[0]
            text = experiment.task.source_tokenizer.detokenize(example.source)
            say(f"The model is in {folder}. Next:\n  {_command('evaluate', str(folder))}")
            say(f"  {_command('translate', str(folder), text)}")
    if signalled and not finished:
        raise typer.Exit(128 + signalled)


def _kept_run(folder: Path, name: str, resume: bool) -> dict[str, Any] | None:
    """The recipe of the run to be resumed, `None` for a new one; an error where there is no way."""
    from transformer_book.checkpoints import list_checkpoints
    from transformer_book.files import read_json

    elsewhere = "choose another --output."
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"--output is {folder}, which is a file; choose a folder.")
    checkpoints = list_checkpoints(folder)
    config = read_json(folder / "config.json") if (folder / "config.json").exists() else {}
    recipe = config.get("recipe") if isinstance(config, dict) else None
    if config and not (isinstance(recipe, dict) and "name" in recipe):
        raise ValueError(f"{folder / 'config.json'} is not that of a run of a recipe; {elsewhere}")
    if not checkpoints:
        if (folder / "model.safetensors").exists():
            raise ValueError(
                f"{folder} holds a trained model, and no checkpoint to go on from; {elsewhere}"
            )
        return None
    if not recipe:
        raise ValueError(f"{folder} holds a run, but its config.json is missing; {elsewhere}")
    if not resume:
        updates = recipe.get("training", {}).get("updates")
        raise ValueError(
            f"{folder} holds a run of {recipe['name']!r}, at update {checkpoints[-1][0]} of "
            f"{updates}; add --resume to go on with it, or {elsewhere}"
        )
    if recipe["name"] != name:
        raise ValueError(
            f"{folder} holds a run of {recipe['name']!r}, not of {name!r}; {elsewhere}"
        )
    return recipe


def _same_recipe(kept: Mapping[str, Any], changes: Iterable[str], folder: Path) -> Any:
    """The recipe that a run began with. Nothing of it may change but the number of updates."""
    from transformer_book.recipes import changed, recipe_from_dict

    began = recipe_from_dict(kept)
    recipe = recipe_from_dict(changed(kept, changes))
    for name, then, now in _differences(began, recipe):
        if name != "training.updates":
            raise ValueError(
                f"The run in {folder} has {name} = {then!r}, not {now!r}; leave that --set out, or "
                "choose another --output."
            )
    return recipe


def _tell_differences(begun: Any, now: Any, path: str, folder: Path) -> None:
    """A file may have been changed since the run began; the run goes on as it is."""
    found = [f"{name} = {a!r}, where {path} has {b!r}" for name, a, b in _differences(begun, now)]
    if found:
        _warn(f"The run in {folder} goes on as it began: {'; '.join(found)}.")


def _differences(one: Any, other: Any) -> Iterator[tuple[str, Any, Any]]:
    """The settings in which two recipes differ, `section.key`, with both values."""
    for section, values in other.to_dict().items():
        before = one.to_dict()[section]
        if isinstance(values, dict):
            for key in {**before, **values}:
                if before.get(key) != values.get(key):
                    yield f"{section}.{key}", before.get(key), values.get(key)


def _check_vocabularies(experiment: Experiment, folder: Path) -> None:
    from transformer_book.tokens import Vocabulary

    for side, vocabulary in zip(("source", "target"), experiment.vocabularies, strict=True):
        path = folder / f"{side}_vocabulary.json"
        if path.exists() and Vocabulary.load(path).tokens != vocabulary.tokens:
            raise ValueError(
                f"The run in {folder} began with another {side} vocabulary: its data have changed "
                "since; choose another --output."
            )


def _check_writable(folder: Path) -> None:
    """Before the data are made, which may take a minute, and without leaving an empty folder."""
    there = next(path for path in (folder.absolute(), *folder.absolute().parents) if path.exists())
    if not there.is_dir():
        raise ValueError(f"--output is {folder}, but {there} is a file; choose another folder.")
    if not os.access(there, os.W_OK | os.X_OK):
        raise ValueError(f"--output is {folder}, but {there} cannot be written to.")


@contextlib.contextmanager
def _stopped_by_signals(trainer: Trainer, announced: bool) -> Iterator[list[int]]:
    """Inside, Ctrl-C and SIGTERM end the training in good order; yields those that came."""
    from transformer_book.distributed import LostProcess

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
    parameters = sum(parameter.numel() for parameter in trainer.model.parameters())
    left_out = f" ({dropped:,} longer ones left out)" if dropped else ""
    device = trainer.device.type
    if device == "cpu":
        device += f", {_count(torch.get_num_threads(), 'thread')}"
    if processes > 1:
        device += f" in each of {processes} processes"
    begun = f", the first {trainer.update:,} made before" if trainer.update else ""
    return (
        f"{recipe.name}: task {_options(recipe.task)}, {len(trainer.train):,} pairs{left_out}, "
        f"{parameters:,} parameters, {_count(trainer.config.updates, 'update')}{begun}, on {device}"
    )


def _what_was_reached(trainer: Trainer, finished: bool) -> str:
    from transformer_book.metrics import perplexity

    updates = _count(trainer.config.updates, "update")
    done = (
        f"{updates} made" if finished else f"Stopped after update {trainer.update:,} of {updates}"
    )
    if trainer.best is None:
        return f"{done}; nothing validated yet."
    update, loss = trainer.best
    measured = f"validation loss {loss:.4f}, perplexity {perplexity(loss):.3f}"
    return f"{done}; {measured}, at update {update:,}."


# --- evaluate -------------------------------------------------------------------------------------

Model = Annotated[
    str, typer.Argument(metavar="MODEL", help="The name of a model of the book, or a folder.")
]
BeamSize = Annotated[
    int | None,
    typer.Option(
        parser=_whole(1),
        metavar="W",
        help="Hypotheses kept at each step; 1: greedy.",
        show_default="the model's",
    ),
]
LengthPenalty = Annotated[
    float | None,
    typer.Option(
        parser=_not_negative,
        metavar="A",
        help="α of the search; 0: none.",
        show_default="the model's",
    ),
]


@app.command()
def evaluate(
    model: Model,
    split: Annotated[
        str, typer.Option(metavar="NAME", help="A split of the model's task.")
    ] = "validation",
    n: Annotated[
        int, typer.Option("-n", parser=_whole(1), metavar="N", help="How many pairs.")
    ] = 1000,
    beam_size: BeamSize = None,
    length_penalty: LengthPenalty = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    record: Annotated[
        bool,
        typer.Option(help="Keep the result in the model's results.json, if it is not the book's."),
    ] = True,
    device: Annotated[
        str | None,
        typer.Option(metavar="D", help="cpu, cuda or mps.", show_default="the best there is"),
    ] = None,
    threads: Threads = None,
) -> None:
    """Measure a model on pairs that it was not trained on.

    Choose between models on validation. Each look at test or compositional is logged in the model's
    folder, in test_looks.jsonl.

    \b
    Examples:
      transformer-book evaluate runs/copy
      transformer-book evaluate captions-de-en --split test -n 2000 --json
    """
    from transformer_book import evaluation, pretrained
    from transformer_book.threads import use_threads
    from transformer_book.training import choose_device
    from transformer_book.translator import Translator

    folder = pretrained.find(model)
    translator = Translator.from_pretrained(folder, choose_device(device))
    use_threads(translator.model, "many sentences", threads)
    result = evaluation.evaluate(
        translator, split, n=n, beam_size=beam_size, length_penalty=length_penalty
    )
    print(json.dumps(result, indent=1, ensure_ascii=False) if as_json else _table(model, result))
    try:
        if not record:
            evaluation.log_look(folder, result)
            return
        ours = folder.resolve().parent == pretrained.FOLDER.resolve()
        if not evaluation.record(folder, result, quoted=ours):
            _warn(
                f"The result is not recorded: {model} is a model of the book, and its "
                "results.json holds what the book quotes."
            )
    except OSError as error:
        _warn(f"The {'result' if record else 'look'} is not recorded: {_of_the_system(error)}")
    except ValueError as error:
        _warn(f"The result is not recorded: {error}")


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
    rows += _measured(result)
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
    return _columns(rows)


def _measured(result: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What was measured, for reading: (name, value) of each metric."""
    rows = [
        (name, f"{100 * result[key]['value']:.1f} ± {100 * result[key]['error']:.1f} %")
        for key, name in SHARES.items()
        if key in result
    ]
    if "too_long" in result:
        rows.append(("too long for the model", f"{result['too_long']:,} pairs"))
    if "perplexity" in result:
        rows.append(("perplexity", f"{result['perplexity']['value']:.3f}"))
    rows += [(name, f"{result[key]['value']:.1f}") for key, name in SIGNED.items() if key in result]
    return rows


# --- grade ----------------------------------------------------------------------------------------


@app.command()
def grade(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="The course, with submitted/STUDENT/SET.")
    ],
    sets: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="SET", help="Such as ps2; may be repeated.", show_default="all"
        ),
    ] = None,
    students: Annotated[
        list[str] | None,
        typer.Option("--student", metavar="NAME", help="May be repeated.", show_default="all"),
    ] = None,
    jobs: Annotated[
        int, typer.Option(parser=_whole(1), metavar="N", help="Submissions at a time.")
    ] = 1,
    minutes: Annotated[
        float,
        typer.Option(parser=_positive, metavar="M", help="Of processor time, for one submission."),
    ] = 10.0,
    cell_seconds: Annotated[
        float, typer.Option(parser=_positive, metavar="S", help="Of processor time, for one cell.")
    ] = 60.0,
    memory: Annotated[
        float, typer.Option(parser=_positive, metavar="GIB", help="For one submission.")
    ] = 6.0,
    force: Annotated[bool, typer.Option("--force", help="Also what has not changed.")] = False,
) -> None:
    """Grade what a class handed in; nothing a submission does can lose another one.

    Writes grades.csv, lms.csv, report.html and feedback/ into the course. What was graded before
    and has not changed is not run again.

    \b
    Example:
      transformer-book grade assignments --set ps2 --jobs 2
    """
    try:
        from transformer_book.course import grading
    except ModuleNotFoundError as error:
        raise ValueError(
            f"Grading needs {error.name}, which is not installed: "
            "pip install 'transformer-book[course]'."
        ) from None
    limits = grading.Limits(60 * minutes, cell_seconds, int(memory * 2**30))

    def tell(done: int, of: int, outcome: grading.Outcome) -> None:
        score = "no grade" if outcome.score is None else f"{outcome.score:g}/{outcome.max_score:g}"
        line = f"{done}/{of} {outcome.problem_set} {outcome.student}: {outcome.status}, {score}"
        print(line, file=sys.stderr, flush=True)

    outcomes = grading.grade(
        folder, sets or (), students or (), limits=limits, jobs=jobs, force=force, progress=tell
    )
    counts = {status: sum(o.status == status for o in outcomes) for status in grading.STATUSES}
    print(_columns([(status, str(n)) for status, n in counts.items()]))
    print(f"grades.csv, lms.csv, report.html and feedback/ are in {folder}.")
    if sentence := grading.without_isolation(outcomes):
        print(sentence, file=sys.stderr)


# --- continue -------------------------------------------------------------------------------------


Temperature = Annotated[
    float | None,
    typer.Option(
        parser=_positive, metavar="T", help="Draw at random; below 1 stays near the likeliest."
    ),
]
TopK = Annotated[
    int | None,
    typer.Option(parser=_whole(1), metavar="K", help="Draw among the k likeliest only."),
]
TopP = Annotated[
    float | None,
    typer.Option(
        parser=_positive, metavar="P", help="Draw among the likeliest that sum to p only."
    ),
]
MinP = Annotated[
    float | None,
    typer.Option(
        parser=_positive, metavar="P", help="Draw among those p times as likely as the first."
    ),
]
Seed = Annotated[int, typer.Option(parser=_whole(0), metavar="N", help="Of the random draws.")]


@app.command("continue")
def continue_(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            help="A folder with a checkpoint (GPT-2 or Llama), or a name on the Hugging Face hub.",
        ),
    ],
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The beginning.")],
    n_new: Annotated[
        int,
        typer.Option("--tokens", parser=_whole(1), metavar="N", help="Write so many at most."),
    ] = 40,
    temperature: Temperature = None,
    top_k: TopK = None,
    top_p: TopP = None,
    min_p: MinP = None,
    seed: Seed = 0,
    device: Annotated[str, typer.Option(metavar="D", help="cpu, cuda or mps.")] = "cpu",
    threads: Threads = None,
) -> None:
    """Go on with a text, with the weights of others in the book's own model.

    The folder holds config.json, tokenizer.json and model.safetensors (or several files and their
    index). A name is fetched the first time; that needs the package huggingface_hub and a network.
    Nothing of what is fetched is executed. Without one of --temperature, --top-k, --top-p and
    --min-p, the likeliest token is taken each time. A text that begins with a dash needs -- before
    it.

    \b
    Examples:
      transformer-book continue HuggingFaceTB/SmolLM2-135M "The capital of Italy is"
      transformer-book continue openai-community/gpt2 "Once upon a time" --tokens 60 --top-p 0.9
      transformer-book continue my-folder "A dog" --temperature 0.8 --seed 7
    """
    import torch

    from transformer_book.hugging_face import open_model
    from transformer_book.threads import use_threads
    from transformer_book.training import choose_device

    chosen = choose_device(device)
    language_model = open_model(model, str(chosen))
    use_threads(language_model.model, "one sentence", threads)
    draws = {"temperature": temperature, "top_k": top_k, "top_p": top_p, "min_p": min_p}
    generator = torch.Generator(chosen).manual_seed(seed)
    print(language_model.continued(text, n_new, **draws, generator=generator))


# --- translate ------------------------------------------------------------------------------------


@app.command()
def translate(
    model: Model,
    texts: Annotated[
        list[str] | None,
        typer.Argument(metavar="TEXT", help="What to translate.", show_default="lines of stdin"),
    ] = None,
    beam_size: BeamSize = None,
    length_penalty: LengthPenalty = None,
    n_best: Annotated[
        int | None,
        typer.Option(
            parser=_whole(1), metavar="N", help="Print so many: line number, score, text."
        ),
    ] = None,
    temperature: Temperature = None,
    top_k: TopK = None,
    top_p: TopP = None,
    min_p: MinP = None,
    seed: Seed = 0,
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="Print each token with its probability.")
    ] = False,
    device: Annotated[str, typer.Option(metavar="D", help="cpu, cuda or mps.")] = "cpu",
    threads: Threads = None,
) -> None:
    """Translate texts, or the lines of stdin.

    Each gives one line of output. An empty line stays empty. A line that the model cannot read
    gives an empty line and a sentence on stderr; the others are translated, and the exit status is
    2. Input and output are UTF-8: at a line that is not, reading ends. A text that begins with a
    dash needs -- before it.

    \b
    Examples:
      transformer-book translate captions-de-en "Ein Hund schläft auf dem Sofa."
      transformer-book translate captions-de-en < german.txt > english.txt
      transformer-book translate captions-de-en --n-best 3 --probabilities "Zwei Hunde schlafen."
      transformer-book translate captions-de-en --temperature 1.2 --seed 7 "Ein Hund schläft."
    """
    draws = {"temperature": temperature, "top_k": top_k, "top_p": top_p, "min_p": min_p}
    random = any(value is not None for value in draws.values())
    for option, value in (("--n-best", n_best), ("--beam-size", beam_size)):
        if random and value is not None:
            raise ValueError(
                f"{option} {value} is for a search, but --temperature, --top-k, --top-p and "
                "--min-p draw at random; leave out one or the other."
            )
    from transformer_book.threads import use_threads
    from transformer_book.training import choose_device
    from transformer_book.translator import Translator

    translator = Translator.from_pretrained(model, choose_device(device))
    one = sys.stdin is None or sys.stdin.isatty() if not texts else len(texts) == 1
    use_threads(translator.model, "one sentence" if one else "many sentences", threads)
    options: dict[str, Any] = {"length_penalty": length_penalty}
    if random:
        options |= draws
    else:
        options |= {"beam_size": beam_size, "n_best": n_best or 1}
        if beam_size is None and (n_best or 1) > translator.decoding.beam_size:
            options["beam_size"] = n_best
    session = _Session(translator, options, seed, n_best is not None, probabilities)
    if texts:
        session.what = "text"
        session.translate([text.encode("utf-8", "surrogateescape") for text in texts])
    elif sys.stdin is None:
        raise ValueError("There is nothing to translate: stdin is closed.")
    elif sys.stdin.isatty():
        session.what = ""
        _converse(session)
    else:
        # Which draws belong to which line must not depend on when the lines arrive.
        for lines in _chunks(sys.stdin.buffer, CHUNK, full=random):
            session.translate(lines)
    session.name_unknown()
    if session.failed:
        raise typer.Exit(2)


class _Session:
    """Lines in, lines out, and what has to be said at the end."""

    def __init__(
        self,
        translator: Translator,
        options: dict[str, Any],
        seed: int,
        several: bool,
        probabilities: bool,
    ) -> None:
        self.translator, self.options, self.seed = translator, options, seed
        self.several, self.probabilities = several, probabilities
        self.what = "line"
        self.count = 0
        self.failed = False
        self.unknown: dict[str, None] = {}  # a set that keeps its order

    def translate(self, lines: Sequence[bytes]) -> None:
        """Print the translations of some lines.

        Raises:
            ValueError: a line is not UTF-8; those before it have been translated.
        """
        from transformer_book.tokens import uniform

        first = self.count + 1
        self.count += len(lines)
        readable: dict[int, str] = {}
        broken = None
        for number, line in enumerate(lines, first):
            try:
                text = line.decode("utf-8-sig" if number == 1 else "utf-8")
                if uniform(text):
                    self.translator.encode(text)
                    readable[number] = text
            except UnicodeDecodeError:
                broken, self.count = number, number - 1
                break
            except ValueError as error:
                self.failed = True
                _warn(f"{self._which(number)}{error}")
        found = {}
        if readable:
            seed = (self.seed + first - 1) % 2**63  # as far as torch counts
            results = self.translator.search(list(readable.values()), seed=seed, **self.options)
            found = dict(zip(readable, results, strict=True))
        for number in range(first, self.count + 1):
            print(self._shown(number, found.get(number)))
        sys.stdout.flush()
        for translation in found.values():
            self.unknown |= dict.fromkeys(translation.unknown)
        if broken is not None:
            raise ValueError(f"{self._which(broken)}This is not valid UTF-8.")

    def name_unknown(self) -> None:
        """Say which words the model has not learned, and forget them."""
        if self.unknown:
            some, more = map(_word, list(self.unknown)[:NAMED]), len(self.unknown) - NAMED
            others = f" and {more} more" if more > 0 else ""
            _warn(f"The model has never seen: {', '.join(some)}{others}.")
        self.unknown = {}

    def _which(self, number: int) -> str:
        return f"{self.what.capitalize()} {number}: " if self.what else ""

    def _shown(self, number: int, translation: Translation | None) -> str:
        every = [] if translation is None else [translation, *translation.alternatives]
        if self.several:
            rows = [(number, f"{one.score:.3f}", *self._fields(one)) for one in every]
            return "\n".join("\t".join(map(str, row)) for row in rows or [(number, "", "")])
        return "\t".join(self._fields(every[0])) if every else ""

    def _fields(self, translation: Translation) -> list[str]:
        fields = [_one_line(translation.text)]
        if self.probabilities:
            each = zip(translation.tokens, translation.probabilities, strict=True)
            fields.append("  ".join(f"{_one_line(token)} {p:.2f}" for token, p in each))
        return fields


def _converse(session: _Session) -> None:
    """Translate what is typed at a terminal, sentence by sentence, until Ctrl-D."""
    with contextlib.suppress(ImportError):
        import readline  # noqa: F401  # arrow keys
    print("Type a sentence and press Enter; Ctrl-D ends.", file=sys.stderr)
    prompt = "> " if sys.stdout.isatty() else ""
    while True:
        try:
            line = input(prompt)
        except EOFError:
            print(file=sys.stderr)
            break
        session.translate([line.encode("utf-8", "surrogateescape")])
        session.name_unknown()
    session.failed = False  # each was answered when it was typed


def _chunks(stream: BinaryIO, size: int, *, full: bool) -> Iterator[list[bytes]]:
    """The lines of a stream, at most `size` at a time; those that have arrived, unless `full`.

    Only a line feed ends a line, as for `tokens.read_lines`.
    """
    lines: list[bytes] = []
    begun: list[bytes] = []
    while block := stream.read1(1 << 16):
        ended, feed, rest = block.rpartition(b"\n")
        if feed:
            lines += b"".join([*begun, ended]).split(b"\n")
            begun = []
        begun.append(rest)
        while len(lines) >= size or (lines and not full):
            yield [line.removesuffix(b"\r") for line in lines[:size]]
            del lines[:size]
    if any(begun):
        lines.append(b"".join(begun))
    if lines:
        yield [line.removesuffix(b"\r") for line in lines]


# --- looking at what there is ---------------------------------------------------------------------


@data.callback(invoke_without_command=True)
def tasks(context: typer.Context) -> None:
    """Look at the sentences that models learn from."""
    if context.invoked_subcommand is None:
        print(context.get_help())


TaskName = Annotated[str, typer.Argument(metavar="TASK", help="The name of a task.")]
Options = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="An option of the task; may be repeated."),
]


def _made(task: str, options: Iterable[str] | None) -> Any:
    """The task with the options of the command line."""
    from transformer_book.recipes import value_of
    from transformer_book.tasks import make_task

    chosen = {}
    for option in options or ():
        key, equals, value = option.partition("=")
        if not equals or not key.strip():
            raise ValueError(f"{option!r} is not an option of a task: write key=value.")
        chosen[key.strip()] = value_of(value.strip())
    if "name" in chosen:
        raise ValueError("name is no option: the task stands before the options.")
    return make_task(task, **chosen)


@data.command("show")
def show(
    task: TaskName,
    n: Annotated[
        int, typer.Option("-n", parser=_whole(1), metavar="N", help="How many pairs.")
    ] = 10,
    split: Annotated[str, typer.Option(metavar="NAME", help="A split of the task.")] = "train",
    seed: Annotated[
        int, typer.Option(parser=_whole(0), metavar="N", help="Another order of the pairs.")
    ] = 0,
    options: Options = None,
    alignment: Annotated[
        bool, typer.Option("--alignment", help="Add which words correspond: 0-0 1-2 ...")
    ] = False,
) -> None:
    """Print pairs of a task: source, a tab, target.

    \b
    Examples:
      transformer-book data show copy --set kind=reverse
      transformer-book data show captions --set source=en --set target=it --alignment
    """
    made = _made(task, options)
    for pair in made.pairs(split, n=n, seed=seed):
        if hasattr(pair, "source_text"):  # spaCy, which brings torch along, is not needed
            fields = [pair.source_text, pair.target_text]
        else:
            fields = [
                made.source_tokenizer.detokenize(pair.source),
                made.target_tokenizer.detokenize(pair.target),
            ]
        if alignment:
            if not hasattr(pair, "alignment"):
                raise ValueError(f"The pairs of the task {task!r} have no alignment.")
            fields.append(" ".join(f"{i}-{j}" for i, j in pair.alignment))
        print("\t".join(fields))


@data.command("list")
def list_tasks() -> None:
    """List the tasks.

    \b
    Example:
      transformer-book data list
    """
    from transformer_book.tasks import TASKS

    print(_columns((name, entry.description) for name, entry in TASKS.items()))


@data.command("download")
def download(task: TaskName, options: Options = None) -> None:
    """Download what a task needs, check it, and print where it is.

    Files that are there already are checked and not downloaded again. They are kept in the folder
    that TRANSFORMER_BOOK_DATA names, or else in the user's cache.

    \b
    Examples:
      transformer-book data download multi30k
      TRANSFORMER_BOOK_DATA=my-data transformer-book data download europarl
    """
    made = _made(task, options)
    paths = made.download() if hasattr(made, "download") else []
    print("\n".join(map(str, paths)) or f"The task {task!r} needs no download.")


@data.command("count")
def count(task: TaskName, options: Options = None) -> None:
    """Count the pairs of lines of a corpus: how many are kept, how many left out, and why.

    \b
    Example:
      transformer-book data count europarl --set source_file=my.en --set target_file=my.it
    """
    made = _made(task, options)
    if not hasattr(made, "counts"):
        raise ValueError(f"The task {task!r} reads no corpus: there are no lines to count.")
    print(_columns((name, f"{n:,}") for name, n in made.counts().items()))


@app.command()
def recipes(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Print this recipe, complete, as TOML.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the recipes, or print one of them.

    What is printed is complete: what the recipe is based on is in it, and so are all defaults.

    \b
    Examples:
      transformer-book recipes
      transformer-book recipes captions-en-it > my-recipe.toml
      transformer-book train my-recipe.toml
    """
    from transformer_book import recipes as known

    if name is not None:
        recipe = known.load_recipe(name)
        text = json.dumps(recipe.to_dict(), indent=1, ensure_ascii=False) + "\n"
        print(text if as_json else known.to_toml(recipe), end="")
        return
    about = {name: known.description(name) for name in known.names()}
    print(json.dumps(about, indent=1, ensure_ascii=False) if as_json else _columns(about.items()))


@app.command()
def models() -> None:
    """List the trained models that come with the book.

    \b
    Example:
      transformer-book models
    """
    from transformer_book import pretrained

    if not pretrained.names():
        print("This version of the book comes without trained models.")
    for name in pretrained.names():
        about = pretrained.describe(pretrained.FOLDER / name)
        size = f"{about['parameters']:,} parameters, {about['bytes'] / 1e6:.1f} MB"
        print(f"{name}: task {_options(about['task'])}, {size}")
        for result in about["results"]:
            measured = ", ".join(f"{metric} {value}" for metric, value in _measured(result))
            print(f"    {result['split']}, {result['n']:,} pairs: {measured}")


@app.callback(invoke_without_command=True)
def main(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Train Transformers, translate with them, and look at what they learn from.

    \b
    Examples:
      transformer-book recipes
      transformer-book train captions-small
      transformer-book evaluate runs/captions-small
      transformer-book translate runs/captions-small "Ein Hund schläft auf dem Sofa."

    Each command explains itself: transformer-book train --help
    """
    if version:
        print(f"{PROGRAM} {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        print(context.get_help())


# --- words ----------------------------------------------------------------------------------------


def _speak_utf8() -> None:
    """Write UTF-8 into files and pipes; on a terminal, what it cannot show becomes a `?`."""
    if sys.stderr is None:  # closed: then there is nobody to tell
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            if stream.isatty():
                stream.reconfigure(errors="replace")
            else:
                stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def _warn(sentence: str) -> None:
    print(f"{PROGRAM}: {_one_line(sentence)}", file=sys.stderr)


def _refuse(sentence: str) -> int:
    if _speaks():
        _warn(sentence)
    return 2


def _speaks() -> bool:
    """Whether this process is to say what is wrong: always, but for torchrun's second and later."""
    if os.environ.get("TORCHELASTIC_RUN_ID") is None:
        return True
    from transformer_book.distributed import first_to_speak

    return first_to_speak()


def _usage(error: Any) -> str:
    """What is wrong with the command line, with the nearest command or option that is right."""
    context = getattr(error, "ctx", None)
    path = context.command_path if context else PROGRAM
    help_ = f"see {path} --help."
    option = getattr(error, "option_name", None)
    if option and type(error).__name__ == "NoSuchOption":
        near = sorted(error.possibilities or ())
        hint = f"did you mean {' or '.join(near)}?" if near else help_
        return f"{path} has no option {option}; {hint}"
    message = error.format_message()
    if message.startswith("No such command"):
        commands = list(getattr(context.command, "commands", {}))
        wrong = message.split("'")[1]
        near = difflib.get_close_matches(wrong, commands, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(commands)}."
        return f"{path} has no command {wrong!r}; {hint}"
    return f"{message.rstrip('.')}; {help_}"


def _of_the_system(error: OSError) -> str:
    """`[Errno 28] No space left on device: 'a/b'` as a sentence."""
    if error.strerror is None:
        return str(error)
    return f"{error.filename}: {error.strerror}." if error.filename else f"{error.strerror}."


def _out_of_memory(error: BaseException) -> bool:
    return (
        isinstance(error, MemoryError)
        or type(error).__name__ == "OutOfMemoryError"
        or "can't allocate memory" in str(error)
    )


def _word(word: str) -> str:
    """A word as it can be shown on any terminal: without control characters, and not too long."""
    word = word if len(word) <= 40 else f"{word[:39]}…"
    return word if word.isprintable() else repr(word)


def _command(*arguments: str, processes: int = 1) -> str:
    if processes == 1:
        return shlex.join([PROGRAM, *arguments])
    start = f"torchrun --standalone --nproc-per-node {processes} -m transformer_book"
    return f"{start} {shlex.join(arguments)}"


def _one_line(text: str) -> str:
    return " ".join(text.splitlines())


def _count(n: int, what: str) -> str:
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"


def _options(task: Mapping[str, Any]) -> str:
    """A task with its options: `captions (source=de, target=en)`."""
    options = [
        f"{key}={value}" for key, value in task.items() if key != "name" and value is not None
    ]
    return f"{task['name']} ({', '.join(options)})" if options else task["name"]


def _columns(rows: Iterable[tuple[str, str]]) -> str:
    rows = list(rows)
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"{name:{width}}  {text}" for name, text in rows)


def _nothing(*_: object) -> None:
    pass
