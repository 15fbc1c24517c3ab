"""The command line: what it does, and that whatever is wrong becomes one sentence.

Run as users run it: the package is imported anew, without the annotations' hook.
"""

from __future__ import annotations

import errno
import importlib
import importlib.metadata
import io
import itertools
import json
import math
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import pytest
import torch

from tests import made_data
from tests.faults import no_network
from tests.fresh import fresh_package

pytestmark = pytest.mark.usefixtures("hears_ctrl_c")
MODULES = ("checkpoints", "cli", "evaluation", "pretrained", "recipes", "tasks", "training")
# Sequences of two or three symbols, a model of 3,000 parameters: a second.
TINY = {
    "task.min_length": 2,
    "task.max_length": 3,
    "data.train": 200,
    "data.validation": 12,
    "model.d_model": 16,
    "model.n_heads": 2,
    "model.d_ff": 16,
    "model.dropout": 0.1,
    "model.max_length": 8,
    "training.updates": 20,
    "training.batch_size": 20,
    "training.warmup": 2,
    "training.validate_every": 5,
}


class Answer(NamedTuple):
    """What a command gave."""

    status: int
    out: str
    err: str


def settings(changes: dict[str, object]) -> list[str]:
    return [word for key, value in changes.items() for word in ("--set", f"{key}={value}")]


def tiny(output: Path, **changes: object) -> list[str]:
    """The arguments of a run that takes a second."""
    changed = TINY | {key.replace("__", "."): value for key, value in changes.items()}
    return ["train", "copy", "--output", str(output), "--threads", "1", *settings(changed)]


@pytest.fixture(scope="module")
def book() -> Iterator[SimpleNamespace]:
    """The package as users import it, for as long as these tests last."""
    threads = torch.get_num_threads()
    with fresh_package():
        names = {name: importlib.import_module(f"transformer_book.{name}") for name in MODULES}
        yield SimpleNamespace(**names)
    torch.set_num_threads(threads)


@pytest.fixture
def call(book, capsys, monkeypatch, tmp_path) -> Callable[..., Answer]:
    """A function that runs a command in an empty folder, with `stdin`."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object, stdin: object = b"") -> Answer:
        stream = io.TextIOWrapper(io.BytesIO(stdin)) if isinstance(stdin, bytes) else stdin
        monkeypatch.setattr(sys, "stdin", stream)
        capsys.readouterr()
        status = book.cli.run([str(argument) for argument in arguments])
        return Answer(status, *capsys.readouterr())

    return run


def refused(answer: Answer) -> str:
    """The one sentence with which a command was refused."""
    assert answer.status == 2
    assert answer.out == ""
    assert answer.err.startswith("transformer-book: ")
    assert answer.err.count("\n") == 1 and answer.err.endswith("\n")
    return answer.err.removeprefix("transformer-book: ").strip()


def files(folder: Path) -> dict[str, bytes]:
    """Every file below a folder with its content."""
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


@pytest.fixture(scope="module")
def model(book, tmp_path_factory) -> Path:
    """A model that has been trained for a second; tests that write into it copy it first."""
    folder = tmp_path_factory.mktemp("trained") / "model"
    assert book.cli.run([*tiny(folder), "--quiet"]) == 0
    return folder


@pytest.fixture
def own(model, tmp_path) -> Path:
    """A copy of the model."""
    return Path(shutil.copytree(model, tmp_path / "own"))


# --- starting -------------------------------------------------------------------------------------

LIGHT = [
    ["--help"],
    ["--version"],
    ["train", "--help"],
    ["recipes"],
    ["models"],
    ["data", "list"],
    ["data", "show", "captions", "-n", "2", "--alignment"],
]


def python(code: str, *arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(words, capture_output=True, text=True, check=False, **options)


def test_help_and_lists_import_no_torch():
    code = f"""
import sys
from transformer_book.cli import run
for arguments in {LIGHT}:
    assert run(arguments) == 0, arguments
    assert "torch" not in sys.modules, arguments
"""
    done = python(code)
    assert done.returncode == 0, done.stderr
    assert "Usage: transformer-book" in done.stdout


def test_python_m_is_the_same_program():
    command = [sys.executable, "-m", "transformer_book"]
    done = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"transformer-book {importlib.metadata.version('transformer-book')}\n"
    done = subprocess.run([*command, "trian"], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "did you mean 'train'?" in done.stderr


def test_the_installed_program_is_this_one():
    (entry,) = importlib.metadata.entry_points(group="console_scripts", name="transformer-book")
    assert entry.value == "transformer_book.cli:run"


COMMANDS = (
    "train",
    "evaluate",
    "continue",
    "translate",
    "recipes",
    "models",
    "data show",
    "data list",
)


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_explains_itself_with_an_example(call, command):
    answer = call(*command.split(), "--help")
    assert answer.status == 0 and answer.err == ""
    assert f"Usage: transformer-book {command} [OPTIONS]" in answer.out
    assert f"\n    transformer-book {command}" in answer.out
    assert not set("╭│─") & set(answer.out)
    assert max(map(len, answer.out.splitlines())) <= 100


def test_no_command_shows_the_help(call):
    assert call() == call("--help")
    assert call("data") == call("data", "--help")
    for command in COMMANDS:
        name = command.split()[-1]
        assert f"\n  {name} " in call(*command.split()[:-1]).out


# --- whatever is wrong becomes one sentence -------------------------------------------------------

WRONG = [
    ("trian", "transformer-book has no command 'trian'; did you mean 'train'?"),
    (
        "xyz",
        "has no command 'xyz'; it has train, evaluate, grade, continue, translate, recipes, "
        "models, data.",
    ),
    ("data lst", "transformer-book data has no command 'lst'; did you mean 'list'?"),
    ("train copy --minuts 3", "transformer-book train has no option --minuts; did you mean --min"),
    ("train copy -q", "transformer-book train has no option -q; see transformer-book train --help"),
    ("train", "Missing argument 'RECIPE'; see transformer-book train --help"),
    ("train copy more", "Got unexpected extra argument"),
    ("train copi", "recipe is 'copi', but it must be one of"),
    ("train copi", "did you mean 'copy'?"),
    ("train no.toml", "There is no recipe no.toml."),
    ("train copy --set training.update=3", "training key 'update' is not known; did you mean 'upd"),
    (
        "train copy --set training.updates=many",
        "training.updates is 'many', but it must be a whole",
    ),
    (
        "train copy --set training.updates=3.5",
        "training.updates is 3.5, but it must be a whole num",
    ),
    ("train copy --set trainng.updates=3", "section is 'trainng'"),
    ("train copy --set updates=3", "'updates=3' is not a change of a recipe: write section.key=va"),
    ("train copy --set training.updates", "is not a change of a recipe"),
    ("train copy --set training.updates=", "does not say training.updates"),
    ("train copy --set model.n_heads=5", "d_model = 64 is not divisible by n_heads = 5"),
    (
        "train copy --set task.name=cpoy",
        "task is 'cpoy', but it must be one of copy, captions, ser",
    ),
    ("train copy --set task.min_lenght=3", "did you mean 'min_length'?"),
    ("train copy --set task.kind=mirror", "kind is 'mirror', but it must be one of copy, reverse"),
    ("train copy --set task.min_length=x", "min_length is 'x', but it must be a whole number"),
    ("train copy --set decoding.beam_size=0", "decoding.beam_size is 0, but it must be at least 1"),
    ("train copy --set task.max_length=2", "min_length is 10, but it must be at most max_length"),
    ("train copy --set model.max_length=5", "has 12 tokens, special tokens included, but max_leng"),
    ("train copy --set model.max_length=5", "(data.max_length in a recipe, too_long='drop' in "),
    ("train copy --minutes 0", "Invalid value for '--minutes': '0' is not a number above 0"),
    ("train copy --minutes soon", "'soon' is not a number above 0"),
    ("train copy --minutes nan", "'nan' is not a number above 0"),
    ("train copy --minutes inf", "'inf' is not a number above 0"),
    ("grade . --memory inf", "'inf' is not a number above 0"),
    (
        "train copy --threads 0",
        "Invalid value for '--threads': '0' is not a whole number of at lea",
    ),
    ("train copy --device tpu", "device is 'tpu', but it must be one of cpu, cuda, mps"),
    ("train copy --output FILE", "--output is FILE, which is a file; choose a folder."),
    (
        "train copy --output FILE/run",
        "--output is FILE/run, but TMP/FILE is a file; choose another",
    ),
    ("train copy --output /dev/null/run", "/dev/null is a file; choose another folder."),
    ("evaluate nothing", "There is no folder 'nothing', and the"),
    ("evaluate EMPTY", "EMPTY holds no trained model: config.json is missing."),
    ("evaluate MODEL --split tset", "split is 'tset', but it must be one of"),
    ("evaluate MODEL -n 0", "Invalid value for '-n': '0' is not a whole number of at least 1"),
    ("evaluate MODEL -n 9999", "n is 9999, but only 22 pairs of the split"),
    ("evaluate MODEL --beam-size 0", "Invalid value for '--beam-size': '0' is not a whole number"),
    (
        "evaluate MODEL -n 5 --beam-size 2 --length-penalty 99",
        "length_penalty is 99.0, but it must be",
    ),
    ("evaluate MODEL --length-penalty -1", "'-1' is not a number of at least 0"),
    ("evaluate MODEL --length-penalty inf", "'inf' is not a number of at least 0"),
    ("evaluate TRUNCATED", "model.safetensors is damaged"),
    ("evaluate PICKLE", "model.safetensors is a pickle, which could run any code"),
    ("evaluate FOREIGN", "config.json does not describe a model of this book"),
    ("translate TRUNCATED a", "model.safetensors is damaged"),
    ("translate PICKLE a", "model.safetensors is a pickle, which could run any code"),
    ("translate nothing a", "There is no folder 'nothing', and the"),
    ("translate MODEL --beam-size two a", "'two' is not a whole number of at least 1"),
    ("translate MODEL --temperature 0 a", "'0' is not a number above 0"),
    ("translate MODEL --temperature inf a", "'inf' is not a number above 0"),
    ("translate MODEL --top-k 0 a", "Invalid value for '--top-k': '0' is not a whole number"),
    (
        "translate MODEL --top-k 99 a",
        "top_k is 99, but it must be None or a whole number from 1 to",
    ),
    ("translate MODEL --seed -1 a", "Invalid value for '--seed': '-1' is not a whole number of at"),
    ("translate MODEL --n-best 3 --beam-size 2 a", "n_best is 3, but a beam of 2 has only so many"),
    (
        "translate MODEL --n-best 2 --top-k 3 a",
        "--n-best 2 is for a search, but --temperature, --top-k",
    ),
    ("data show cpoy", "task is 'cpoy', but it must be one of"),
    ("data show copy --split dev", "split is 'dev', but it must be one of train, validation, test"),
    ("data show copy --set kind", "'kind' is not an option of a task: write key=value."),
    ("data show copy --set knid=copy", "did you mean 'kind'?"),
    ("data show copy --set name=copy", "name is no option"),
    ("data show copy --alignment", "The pairs of the task 'copy' have no alignment."),
    ("data show captions --set source=fr", "source is 'fr', but it must be one of en, de, it"),
    ("data show copy --set max_length=1 --set min_length=1 -n 99", "n is 99, but only 7 pairs"),
    ("recipes copi", "did you mean 'copy'?"),
    ("continue", "Missing argument 'MODEL'; see transformer-book continue --help"),
    ("continue nothing-here A", "'nothing-here' is neither a folder nor the name of a model"),
    ("continue EMPTY A", "EMPTY has no config.json."),
    ("continue FOREIGN A", "The settings do not say which kind of model it is"),
    ("continue EMPTY A --tokens 0", "'0' is not a whole number of at least 1;"),
    ("continue EMPTY A --temperature hot", "'hot' is not a number above 0;"),
]


@pytest.fixture(scope="module")
def prepared(model, tmp_path_factory) -> Path:
    """A folder with everything that can be wrong with a model."""
    folder = tmp_path_factory.mktemp("wrong")
    (folder / "FILE").write_text("text")
    (folder / "EMPTY").mkdir()
    for name in ("MODEL", "TRUNCATED", "PICKLE", "FOREIGN"):
        shutil.copytree(model, folder / name)
    weights = (model / "model.safetensors").read_bytes()
    (folder / "TRUNCATED" / "model.safetensors").write_bytes(weights[: len(weights) // 2])
    torch.save({"a": torch.ones(3)}, folder / "PICKLE" / "model.safetensors")
    (folder / "FOREIGN" / "config.json").write_text('{"name": "something else"}')
    return folder


@pytest.mark.parametrize(("command", "sentence"), WRONG, ids=lambda text: text[:60])
def test_bad_input(call, monkeypatch, prepared, command, sentence):
    monkeypatch.chdir(prepared)
    before = files(prepared)
    assert sentence.replace("TMP", str(prepared)) in refused(call(*command.split()))
    assert files(prepared) == before, "a refused command has written something"
    assert not (prepared / "runs").exists()


def test_no_permission_is_found_before_the_data_are_made(call, book, monkeypatch, tmp_path):
    # Not by chmod: the account that runs the tests may be allowed everything.
    monkeypatch.setattr(book.cli.os, "access", lambda path, mode: False)
    monkeypatch.setattr("transformer_book.tasks.copy.CopyTask.pairs", pytest.fail)
    sentence = refused(call("train", "copy", "--output", "a/b"))
    assert sentence == f"--output is a/b, but {tmp_path} cannot be written to."
    assert list(tmp_path.iterdir()) == []


def test_what_the_system_refuses_is_one_sentence(call, book, monkeypatch, model):
    def denied(path: object, data: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr("transformer_book.tokens.write_json", denied)
    assert refused(call(*tiny(Path("run")))) == "run/source_vocabulary.json: Permission denied."


def test_a_defect_keeps_its_traceback(call, book, monkeypatch):
    def broken() -> None:
        raise RuntimeError("a defect")

    monkeypatch.setattr(book.pretrained, "names", broken)
    with pytest.raises(RuntimeError, match="a defect"):
        call("models")


@pytest.mark.parametrize(
    "error", [MemoryError(), RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried")]
)
def test_too_little_memory_is_one_sentence(call, book, monkeypatch, error):
    def hungry() -> None:
        raise error

    monkeypatch.setattr(book.pretrained, "names", hungry)
    assert refused(call("models")).startswith("The memory does not suffice")


def test_warnings_of_torch_stay_away(call, book, monkeypatch):
    def warn() -> list[str]:
        importlib.import_module("warnings").warn("about torch", UserWarning, stacklevel=1)
        return []

    monkeypatch.setattr(book.pretrained, "names", warn)
    assert call("models").err == ""


def test_a_reader_that_goes_away_is_no_error():
    command = [sys.executable, "-m", "transformer_book", "data", "show", "copy", "-n", "20000"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout.readline().count(b"\t") == 1
        process.stdout.close()
        complaint = process.stderr.read()
    assert (process.returncode, complaint) == (141, b"")


def test_output_is_utf8_whatever_the_locale():
    environment = {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "LC_ALL": "C"}
    command = [sys.executable, "-m", "transformer_book", "data", "show", "captions", "-n", "40"]
    done = subprocess.run(command, capture_output=True, env=environment, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert "ü" in done.stdout.decode("utf-8")


# --- train, evaluate, translate -------------------------------------------------------------------


def test_train_evaluate_translate(call, tmp_path, book):
    changes = {"model__d_model": 32, "model__d_ff": 64, "model__dropout": 0.0}
    changes |= {"training__updates": 250, "training__validate_every": 125}
    changes |= {"training__learning_rate": 5e-3}
    trained = call(*tiny(Path("run"), **changes))
    assert trained.status == 0 and trained.err == ""
    first, reached, *following = trained.out.splitlines()
    assert first.startswith("copy: task copy (kind=copy, min_length=2, max_length=3), 200 pairs, ")
    weights, _ = book.checkpoints.load_tensors(tmp_path / "run" / "model.safetensors")
    parameters = sum(tensor.numel() for tensor in weights.values())
    assert first.endswith(f", {parameters:,} parameters, 250 updates, on cpu, 1 thread")
    metrics = (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()
    best = min(json.loads(line).get("validation_loss", math.inf) for line in metrics)
    assert (
        f"250 updates made; validation loss {best:.4f}, perplexity {math.exp(best):.3f}" in reached
    )

    # What it says to type next works as it stands.
    evaluate, translate = (line.split() for line in following[1:])
    assert evaluate == ["transformer-book", "evaluate", "run"]
    measured = call(*evaluate[1:], "-n", 12, "--json")
    assert measured.status == 0
    result = json.loads(measured.out)
    assert result["perplexity"]["value"] == pytest.approx(math.exp(best), rel=1e-4)
    assert result["exact_match"]["value"] >= 0.75  # it has learned to copy
    assert json.loads((tmp_path / "run" / "results.json").read_text()) == [result]

    assert translate[1:3] == ["translate", "run"]
    pairs = book.tasks.make_task("copy", min_length=2, max_length=3).pairs("validation", n=12)
    sources = [" ".join(pair.source) for pair in pairs]
    assert " ".join(translate[3:]) == f"'{sources[0]}'"
    answer = call("translate", "run", stdin="\n".join(sources).encode())
    copied = sum(map(str.__eq__, answer.out.splitlines(), sources))
    assert copied / 12 == pytest.approx(result["exact_match"]["value"])


def test_a_printed_recipe_is_one(call, tmp_path):
    printed = call("recipes", "copy")
    assert printed.status == 0
    (tmp_path / "mine.toml").write_text(printed.out)
    assert call("recipes", "mine.toml").out == printed.out
    changes = TINY | {"training.updates": 3}
    answer = call("train", "mine.toml", "--threads", 1, *settings(changes))
    assert answer.status == 0 and answer.out.startswith("mine: task copy")
    assert (tmp_path / "runs" / "mine" / "model.safetensors").exists()  # the default folder


def test_a_file_that_was_changed_since_the_run_began_is_no_secret(call, tmp_path):
    (tmp_path / "mine.toml").write_text(call("recipes", "copy").out)
    changes = settings(TINY | {"training.updates": 3})
    assert call("train", "mine.toml", "--threads", 1, *changes).status == 0
    text = (tmp_path / "mine.toml").read_text()
    (tmp_path / "mine.toml").write_text(
        text.replace("label_smoothing = 0.0", "label_smoothing = 0.2")
    )
    answer = call("train", "mine.toml", "--resume", *changes)
    assert answer.status == 0
    assert answer.err == (
        "transformer-book: The run in runs/mine goes on as it began: "
        "training.label_smoothing = 0.0, where mine.toml has 0.2.\n"
    )
    (tmp_path / "mine.toml").unlink()
    assert refused(call("train", "mine.toml", "--resume")) == "There is no recipe mine.toml."


def test_every_recipe_survives_being_printed(book, tmp_path):
    for name in book.recipes.names():
        recipe = book.recipes.load_recipe(name)
        (tmp_path / f"{name}.toml").write_text(book.recipes.to_toml(recipe), encoding="utf-8")
        assert book.recipes.load_recipe(tmp_path / f"{name}.toml") == recipe
        assert book.recipes.recipe_from_dict(json.loads(json.dumps(recipe.to_dict()))) == recipe


def test_a_change_without_a_value_leaves_the_key_out(book):
    by_tokens = ["training.batch_size=", "training.max_tokens=500"]
    training = book.recipes.load_recipe("copy", by_tokens).training
    assert (training["batch_size"], training["max_tokens"]) == (None, 500)


def test_quiet_says_nothing(call):
    assert call(*tiny(Path("run"), training__updates=3), "--quiet") == (0, "", "")


def test_the_progress_bar_is_for_terminals(call, book, monkeypatch):
    shown = []

    def fit(self, **options: object) -> bool:
        shown.append(self.progress)
        return True

    monkeypatch.setattr(book.training.Trainer, "fit", fit)
    call(*tiny(Path("a")))
    monkeypatch.setattr(book.cli.sys.stderr.__class__, "isatty", lambda self: True)
    call(*tiny(Path("b")))
    call(*tiny(Path("c")), "--quiet")
    assert shown == [False, True, False]


def test_a_run_of_no_updates_leaves_a_model(call):
    answer = call(*tiny(Path("run"), training__updates=0, training__schedule="constant"))
    assert answer.status == 0
    assert call("translate", "run", "a b").status == 0


def test_a_loss_that_explodes_is_one_sentence(call, tmp_path):
    wild = {"training__learning_rate": 1e30, "training__clip_norm": 0, "training__warmup": 0}
    answer = call(*tiny(Path("run"), **wild))
    assert answer.status == 2
    assert answer.err.startswith("transformer-book: The ") and answer.err.count("\n") == 1
    assert "is not finite at update" in answer.err


# --- stopping and going on ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def whole(model) -> tuple[str, bytes]:
    """What an uninterrupted run leaves: its metrics, and its best weights."""
    return (model / "metrics.jsonl").read_text(), (model / "model.safetensors").read_bytes()


def left_by(folder: Path) -> tuple[str, bytes]:
    return (folder / "metrics.jsonl").read_text(), (folder / "model.safetensors").read_bytes()


def test_minutes_stop_and_resume_goes_on(call, book, monkeypatch, tmp_path, whole):
    seconds = itertools.count()
    clock = SimpleNamespace(monotonic=lambda: next(seconds))
    with monkeypatch.context() as patch:
        patch.setattr(book.training, "time", clock)
        stopped = call(*tiny(Path("run")), "--minutes", 0.4)
    assert stopped.status == 0
    reached = int(stopped.out.split("Stopped after update ")[1].split()[0])
    assert 0 < reached < 20
    assert stopped.out.endswith("  transformer-book train copy --output run --resume\n")
    for again in (1, 2):  # the second time there is nothing left to do
        finished = call("train", "copy", "--output", "run", "--resume")
        assert finished.status == 0, finished.err
        assert "20 updates made; validation loss" in finished.out
        done = reached if again == 1 else 20
        assert f"20 updates, the first {done} made before, on cpu" in finished.out
        assert left_by(tmp_path / "run") == whole


@pytest.mark.parametrize(("asked", "had"), [([], 1), (["--threads", 2], 2)])
def test_a_resumed_run_has_its_threads_or_those_asked_for(call, tmp_path, asked, had):
    assert call(*tiny(Path("run"), training__updates=2)).status == 0
    torch.set_num_threads(3)
    resumed = call("train", "copy", "--output", "run", "--resume", *asked)
    assert resumed.status == 0, resumed.err
    assert torch.get_num_threads() == had
    assert f"on cpu, {had} thread" in resumed.out


@pytest.mark.parametrize(("asked", "had"), [([], 1), (["--threads", 2], 2)])
@pytest.mark.parametrize("command", ["evaluate", "translate", "train"])
def test_a_small_model_has_one_thread_unless_more_are_asked_for(call, own, command, asked, had):
    arguments = {
        "evaluate": ["evaluate", own, "-n", 2],
        "translate": ["translate", own, "a b", "b a"],
        "train": ["train", "copy", *settings(TINY | {"training.updates": 1})],
    }
    torch.set_num_threads(3)
    assert call(*arguments[command], *asked).status == 0
    assert torch.get_num_threads() == had


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_stops_in_good_order(call, book, monkeypatch, tmp_path, whole, number, status):
    before = signal.getsignal(number)
    step = book.training.Trainer._step

    def interrupted(self, batch):
        if self.update == 6:
            signal.raise_signal(number)
        return step(self, batch)

    with monkeypatch.context() as patch:
        patch.setattr(book.training.Trainer, "_step", interrupted)
        stopped = call(*tiny(Path("run")))
    assert stopped.status == status
    assert signal.getsignal(number) is before
    assert "Stopped after update 7 of 20 updates; validation loss" in stopped.out
    assert call("train", "copy", "--output", "run", "--resume").status == 0
    assert left_by(tmp_path / "run") == whole


def test_the_second_signal_ends_at_once(call, book, monkeypatch, tmp_path, whole):
    step = book.training.Trainer._step

    def interrupted(self, batch):
        if self.update == 6:
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
        return step(self, batch)

    with monkeypatch.context() as patch:
        patch.setattr(book.training.Trainer, "_step", interrupted)
        assert call(*tiny(Path("run"))).status == 130
    assert [update for update, _ in book.checkpoints.list_checkpoints("run")] == [5]
    assert call("train", "copy", "--output", "run", "--resume").status == 0
    assert left_by(tmp_path / "run") == whole


def test_a_signal_that_was_ignored_stays_ignored(call, book, monkeypatch, tmp_path, whole):
    """As in a background job of a shell: Ctrl-C is meant for what runs in the foreground."""
    step = book.training.Trainer._step

    def interrupted(self, batch):
        signal.raise_signal(signal.SIGINT)
        return step(self, batch)

    monkeypatch.setattr(book.training.Trainer, "_step", interrupted)
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        assert call(*tiny(Path("run"))).status == 0
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
    assert left_by(tmp_path / "run") == whole


KILLED = """
import os, signal, sys
from transformer_book import checkpoints, training
from transformer_book.cli import run

def die():
    os.kill(os.getpid(), signal.SIGKILL)

step, write = training.Trainer._step, checkpoints.write_atomically
def fatal_step(self, batch):
    if sys.argv[1] == "update" and self.update == 12:
        die()
    return step(self, batch)
def fatal_write(path, data):
    if sys.argv[1] in str(path):
        write(path, data[: len(data) // 2])
        die()
    write(path, data)
training.Trainer._step, checkpoints.write_atomically = fatal_step, fatal_write
sys.exit(run(sys.argv[2:]))
"""


@pytest.mark.parametrize(
    ("where", "kept"),
    [
        ("update", [10]),  # in the middle of the third stretch of five
        (".00000015.", [10]),  # while the checkpoint of update 15 is half written
        (".00000005.", [0]),  # while the first checkpoint after the start is half written
        (".00000000.", []),  # before there is any
    ],
)
def test_a_killed_run_goes_on_as_if_nothing_had_happened(call, book, tmp_path, whole, where, kept):
    run = tmp_path / "run"
    killed = python(KILLED, where, *tiny(run))
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert [update for update, _ in book.checkpoints.list_checkpoints(run)] == kept
    assert (run / "metrics.jsonl").read_text() != whole[0]
    if kept:
        resumed = call("train", "copy", "--output", run, "--resume")
    else:
        resumed = call(*tiny(run), "--resume")
        assert "There is no run in" in resumed.out
    assert resumed.status == 0, resumed.err
    assert left_by(run) == whole
    assert not list(run.rglob("*.tmp"))


def test_a_full_disk_leaves_what_was_saved(call, book, monkeypatch, tmp_path, whole):
    write = book.checkpoints.write_atomically

    def full(path: object, data: bytes) -> None:
        if ".00000015." in str(path) and "optimizer" in str(path):
            raise OSError(errno.ENOSPC, "No space left on device")
        write(path, data)

    with monkeypatch.context() as patch:
        patch.setattr(book.checkpoints, "write_atomically", full)
        answer = call(*tiny(Path("run")))
    assert answer.status == 2
    assert answer.err == "transformer-book: No space left on device.\n"
    assert [update for update, _ in book.checkpoints.list_checkpoints("run")] == [10]
    assert call("train", "copy", "--output", "run", "--resume").status == 0
    assert left_by(tmp_path / "run") == whole


def test_a_folder_with_a_run_is_left_alone(call, own):
    before = files(own)
    sentence = refused(call(*tiny(own)))
    advice = "add --resume to go on with it, or choose another --output."
    assert sentence == f"{own} holds a run of 'copy', at update 20 of 20; {advice}"
    assert files(own) == before


RESUMED = [
    (["captions-small"], {}, "holds a run of 'copy', not of 'captions-small'; choose another"),
    (["copy"], {"model.d_model": 32}, "has model.d_model = 16, not 32; leave that --set out"),
    (["copy"], {"task.kind": "reverse"}, "has task.kind = 'copy', not 'reverse'"),
    (["copy"], {"data.train": 100}, "has data.train = 200, not 100"),
    (["copy"], {"decoding.beam_size": 3}, "has decoding.beam_size = 1, not 3"),
    (["copy"], {"training.updates": 30}, "has training.updates = 20, not 30"),  # linear schedule
    (["copy"], {"training.seed": 7}, "has training.seed = 1, not 7"),
]


@pytest.mark.parametrize(("recipe", "changes", "sentence"), RESUMED, ids=str)
def test_another_run_is_not_resumed(call, own, recipe, changes, sentence):
    before = files(own)
    command = ["train", *recipe, "--output", own, "--resume", *settings(changes)]
    assert sentence in refused(call(*command))
    assert files(own) == before


def test_the_command_of_the_beginning_may_be_repeated(call, own, whole):
    assert call(*tiny(own), "--resume").status == 0
    assert left_by(own) == whole


def test_a_run_can_be_made_longer_unless_its_end_decides(call, tmp_path):
    constant = {"training__schedule": "constant", "training__warmup": 0}
    assert call(*tiny(Path("short"), training__updates=10, **constant)).status == 0
    more = ["--output", "short", "--resume", "--set", "training.updates=20"]
    longer = call("train", "copy", *more)
    assert longer.status == 0, longer.err
    assert call(*tiny(Path("long"), **constant)).status == 0
    assert left_by(tmp_path / "short") == left_by(tmp_path / "long")
    configurations = [tmp_path / name / "config.json" for name in ("short", "long")]
    assert configurations[0].read_text() == configurations[1].read_text()


def test_data_that_have_changed_since_are_noticed(call, own):
    path = own / "source_vocabulary.json"
    path.write_text(path.read_text().replace('"a"', '"A"'))
    sentence = refused(call("train", "copy", "--output", own, "--resume"))
    assert "began with another source vocabulary" in sentence


def test_folders_that_are_no_run(call, own, tmp_path):
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "config.json").write_text('{"mine": 1}')
    shutil.copytree(own, tmp_path / "lost")
    (tmp_path / "lost" / "config.json").unlink()
    shutil.copytree(own, tmp_path / "shipped")
    shutil.rmtree(tmp_path / "shipped" / "checkpoints")
    before = files(tmp_path)
    sentences = {
        "foreign": "foreign/config.json is not that of a run of a recipe",
        "lost": "lost holds a run, but its config.json is missing",
        "shipped": "shipped holds a trained model, and no checkpoint to go on from",
    }
    for name, sentence in sentences.items():
        for resume in ([], ["--resume"]):
            assert sentence in refused(call(*tiny(Path(name)), *resume))
    assert files(tmp_path) == before


def test_there_may_be_nothing_to_resume(call, tmp_path, whole):
    (tmp_path / "empty").mkdir()
    for name in ("absent", "empty"):
        answer = call(*tiny(Path(name)), "--resume")
        assert answer.status == 0
        assert f"There is no run in {name} yet: it starts from the beginning." in answer.out
        assert left_by(tmp_path / name) == whole


# --- evaluate -------------------------------------------------------------------------------------


def test_evaluate_prints_a_table_and_keeps_the_result(call, own):
    answer = call("evaluate", own, "-n", 5, "--beam-size", 2)
    assert answer.status == 0 and answer.err == ""
    rows = dict(line.split("  ", 1) for line in answer.out.splitlines())
    (result,) = json.loads((own / "results.json").read_text())
    exact, perplexity = result["exact_match"], result["perplexity"]["value"]
    assert rows["split"].strip() == "validation, 5 pairs"
    assert "beam size 2" in rows["search"]
    assert f"{100 * exact['value']:.1f} ± {100 * exact['error']:.1f} %" in rows["exact match"]
    assert rows["perplexity"].strip() == f"{perplexity:.3f}"
    assert result["decoding"]["beam_size"] == 2 and result["n"] == 5


def test_the_table_counts_series_by_their_functions(call, book, own, monkeypatch):
    counts = {"1": {"right": 2, "n": 2}, "3": {"right": 0, "n": 1}}
    measured = book.evaluation.evaluate

    def of_series(*given: object, **options: object) -> dict[str, object]:
        return measured(*given, **options) | {"equal_by_functions": counts}

    monkeypatch.setattr(book.evaluation, "evaluate", of_series)
    rows = call("evaluate", own, "-n", 3).out.splitlines()
    counted = [" ".join(row.split()) for row in rows if row.startswith("equal")]
    assert counted == ["equal, 1 function 2 of 2", "equal, 3 functions 0 of 1"]


def test_looks_at_the_test_split_are_counted(call, own):
    for n in (3, 3, 4):
        assert call("evaluate", own, "-n", n, "--split", "test").status == 0
    assert call("evaluate", own, "-n", 3, "--split", "test", "--no-record").status == 0
    assert call("evaluate", own, "-n", 3, "--no-record").status == 0
    assert len(json.loads((own / "results.json").read_text())) == 2
    assert len((own / "test_looks.jsonl").read_text().splitlines()) == 4


def test_closed_streams(call, book, model, monkeypatch):
    assert refused(call("translate", model, stdin=None)) == (
        "There is nothing to translate: stdin is closed."
    )
    monkeypatch.setattr(sys, "stdout", None)
    assert book.cli.run(["data", "list"]) == 0
    monkeypatch.setattr(sys, "stderr", None)
    assert book.cli.run(["train", "copy", "--threads", "1", *settings(TINY)]) == 0
    monkeypatch.setattr(sys, "stderr", None)
    assert book.cli.run(["train", "no"]) == 2


def test_a_result_that_cannot_be_kept_is_printed_all_the_same(call, book, monkeypatch, own):
    (own / "results.json").write_text('"mine"')
    answer = call("evaluate", own, "-n", 3, "--json")
    assert answer.status == 0 and json.loads(answer.out)["n"] == 3
    assert answer.err.startswith("transformer-book: The result is not recorded: ")
    assert (own / "results.json").read_text() == '"mine"'
    (own / "results.json").unlink()

    def denied(path: object, *_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(book.evaluation, "write_json", denied)
    answer = call("evaluate", own, "-n", 3)
    assert answer.status == 0 and "exact match" in answer.out
    assert answer.err == (
        f"transformer-book: The result is not recorded: {own}/results.json: Permission denied.\n"
    )


def test_another_measurement_of_a_model_of_the_book_is_not_quoted(call, book, monkeypatch, own):
    """The text quotes its results: they stay as they are, and looks at the test are logged."""
    call("evaluate", own, "-n", 5)
    before = (own / "results.json").read_bytes().replace(b'"seconds"', b'"quoted"')
    (own / "results.json").write_bytes(before)
    monkeypatch.setattr(book.pretrained, "FOLDER", own.parent)
    for options in (["-n", 5], ["-n", 3], ["-n", 3, "--split", "test"]):
        assert "is a model of the book" in call("evaluate", own, *options).err
    assert (own / "results.json").read_bytes() == before
    assert len((own / "test_looks.jsonl").read_text().splitlines()) == 1


# --- translate ------------------------------------------------------------------------------------


def test_one_line_of_output_for_each_line(call, model):
    one = call("translate", model, "a b").out
    assert one.count("\n") == 1
    answer = call("translate", model, stdin=b"a b\n\n  \t\na b\r\na b")
    assert answer == (0, f"{one}\n\n{one}{one}", "")
    assert call("translate", model, "a b", "", "a b").out == f"{one}\n{one}"
    assert call("translate", model, stdin=b"") == (0, "", "")
    assert call("translate", model, stdin=b"\n") == (0, "\n", "")
    assert call("translate", model, stdin=b"\xef\xbb\xbfa b\n") == (0, one, "")  # a byte order mark


def test_a_line_that_cannot_be_read_is_named_and_the_others_are_translated(call, model):
    one = call("translate", model, "a b").out
    answer = call("translate", model, stdin=b"a b\na b c d e f g a b\na b\n")
    assert (answer.status, answer.out) == (2, f"{one}\n{one}")
    assert answer.err == (
        "transformer-book: Line 2: The text has 10 tokens, special tokens included, but this model "
        "reads at most 8; translate it sentence by sentence.\n"
    )
    answer = call("translate", model, "a b c d e f g a b", "a b")
    assert (answer.status, answer.out) == (2, f"\n{one}")
    assert answer.err.startswith("transformer-book: Text 1: The text has 10 tokens")


def test_invalid_utf8_is_named_and_the_lines_before_it_are_translated(call, model):
    one = call("translate", model, "a b").out
    answer = call("translate", model, stdin=b"a b\na b\na \xff\na b\n")
    assert (answer.status, answer.out) == (2, one + one)
    assert answer.err == "transformer-book: Line 3: This is not valid UTF-8.\n"
    answer = call("translate", model, "a b", "a \udcff")
    assert (answer.status, answer.out) == (2, one)
    assert answer.err == "transformer-book: Text 2: This is not valid UTF-8.\n"


def test_unknown_words_are_translated_and_named_once(call, model):
    odd = "a 🦊 \x07 \ue000 zebra"
    answer = call("translate", model, stdin=f"{odd}\na b\n{odd}\n".encode())
    assert answer.status == 0 and answer.out.count("\n") == 3
    assert answer.err == "transformer-book: The model has never seen: 🦊, '\\ue000', zebra.\n"
    lines = "".join(f"w{i} x{i} y{i} z{i}\n" for i in range(5))
    answer = call("translate", model, stdin=lines.encode())
    assert answer.err.endswith("w2, x2 and 10 more.\n")


def test_odd_lines_give_one_line_each(call, model):
    lines = [
        "\x00",
        "\x1b[31m",
        "a\u2028b",
        "a\x0bb",
        "a\x85b",
        "\u200b",
        "é" * 50,
        "a\tb",
        "<eos>",
    ]
    answer = call("translate", model, stdin="\n".join(lines).encode())
    assert answer.out.count("\n") == len(lines)
    assert answer.status == 0


def test_several_translations(call, model):
    answer = call("translate", model, "--n-best", 3, "a b", "", "c d")
    rows = [line.split("\t") for line in answer.out.splitlines()]
    assert [row[0] for row in rows] == ["1", "1", "1", "2", "3", "3", "3"]
    scores = [float(row[1]) for row in rows[:3]]
    assert scores == sorted(scores, reverse=True)
    assert len({row[2] for row in rows[:3]}) == 3
    assert rows[3] == ["2", "", ""]


def test_probabilities(call, model):
    text, tokens = call("translate", model, "--probabilities", "a b").out.rstrip("\n").split("\t")
    pairs = [piece.split() for piece in tokens.split("  ")]
    assert [token for token, _ in pairs if token != "<eos>"] == text.split()
    assert all(0 <= float(p) <= 1 for _, p in pairs)


class Arriving(io.RawIOBase):
    """A stream whose bytes arrive in these pieces."""

    def __init__(self, *pieces: bytes) -> None:
        self.pieces = list(pieces)

    def read1(self, size: int) -> bytes:
        return self.pieces.pop(0) if self.pieces else b""


def test_lines_are_given_out_as_they_arrive(book):
    chunks = book.cli._chunks
    pieces = b"a\nb", b"c\r\n", b"d", b"e", b"f\n\ng\nh\n", b"i"
    assert list(chunks(Arriving(*pieces), 3, full=False)) == [
        [b"a"],
        [b"bc"],
        [b"def", b"", b"g"],
        [b"h"],
        [b"i"],
    ]
    full = [[b"a", b"bc", b"def"], [b"", b"g", b"h"], [b"i"]]
    assert list(chunks(Arriving(*pieces), 3, full=True)) == full
    assert list(chunks(Arriving(b"".join(pieces)), 3, full=True)) == full
    assert list(chunks(Arriving(b"a\n"), 3, full=True)) == [[b"a"]]
    assert list(chunks(Arriving(), 3, full=False)) == []


def test_draws_repeat_and_do_not_depend_on_when_lines_arrive(call, book, monkeypatch, model):
    monkeypatch.setattr(book.cli, "CHUNK", 4)
    lines = b"a b\n" * 10
    draw = ("translate", model, "--temperature", 3, "--seed")
    drawn = call(*draw, 1, stdin=lines).out
    assert len(set(drawn.splitlines())) > 1
    assert call(*draw, 2, stdin=lines).out != drawn
    slowly = SimpleNamespace(isatty=lambda: False, buffer=Arriving(*[b"a b\n"] * 10))
    assert call(*draw, 1, stdin=slowly).out == drawn
    searched = call("translate", model, stdin=lines).out
    assert call("translate", model, "--top-k", 1, stdin=lines).out == searched


class Terminal(io.TextIOWrapper):
    """What is typed at a terminal."""

    def isatty(self) -> bool:
        return True


def test_at_a_terminal_each_sentence_is_answered(call, model):
    one = call("translate", model, "a b").out
    typed = Terminal(io.BytesIO(b"a b\n\na b c d e f g a b\na q\na b\n"), encoding="utf-8")
    answer = call("translate", model, stdin=typed)
    said = answer.err.splitlines()
    assert said[0] == "Type a sentence and press Enter; Ctrl-D ends."
    assert said[1].startswith("transformer-book: The text has 10 tokens")
    assert said[2] == "transformer-book: The model has never seen: q."
    assert answer.status == 0
    odd = call("translate", model, "a q").out
    assert answer.out == f"{one}\n\n{odd}{one}"  # no prompts in a file


# --- captions -------------------------------------------------------------------------------------

SMALL = {
    "data.train": 60,
    "data.validation": 8,
    "model.d_model": 8,
    "model.n_heads": 2,
    "model.d_ff": 8,
    "training.updates": 3,
    "training.warmup": 1,
    "training.max_tokens": 400,
}


@pytest.fixture(scope="module")
def captions(book, tmp_path_factory) -> Path:
    """A model of captions that has learned next to nothing."""
    folder = tmp_path_factory.mktemp("captions") / "model"
    command = ["train", "captions-small", "--output", str(folder), "--threads", "1", "--quiet"]
    assert book.cli.run([*command, *settings(SMALL)]) == 0
    return folder


def test_captions_are_measured_with_bleu(call, captions):
    answer = call("evaluate", captions, "-n", 4)
    assert answer.status == 0
    (result,) = json.loads((captions / "results.json").read_text())
    rows = dict(line.split("  ", 1) for line in answer.out.splitlines())
    assert rows["BLEU"].strip() == f"{result['bleu']['value']:.1f}"
    assert rows["BLEU, signature"].strip() == result["bleu"]["signature"]
    tokens = f"{result['bleu_tokens']['value']:.1f}"
    assert rows["BLEU, tokens in lower case"].strip() == tokens
    assert "tok:13a" in result["bleu"]["signature"]


def test_odd_captions(call, captions):
    odd = ["Ein Hund 🐕 schläft.", "\x00\x07", "Zoë", "Ein\u2028Hund", "(((", "schläft" * 36]
    long = "Ein " * 80
    answer = call("translate", captions, stdin="\n".join([*odd, long, "Ein Hund."]).encode())
    assert answer.status == 2
    lines = answer.out.split("\n")
    assert len(lines) == len(odd) + 3 and lines[len(odd)] == lines[-1] == ""
    sentences = answer.err.splitlines()
    assert sentences[0].startswith("transformer-book: Line 7: The text has 81 tokens")
    assert sentences[1].startswith("transformer-book: The model has never seen: ")
    assert "🐕" in sentences[1] and "Zoë" in sentences[1] and len(sentences) == 2
    assert len(sentences[1]) < 200


def test_odd_sentences_for_a_model_of_subwords(call):
    """A sentence in another language, emoji only, nothing, and 504 words."""
    long = "Ein Hund läuft über die Wiese und " * 72
    lines = ["The dog sleeps on the sofa.", "🐶🐶🐶", "", long, "Ein Hund schläft."]
    answer = call("translate", "multi30k-de-en", "--beam-size", 1, stdin="\n".join(lines).encode())
    assert answer.status == 2
    english = answer.out.split("\n")
    assert english[2:4] == ["", ""] and "dog" in english[4]
    assert english[0] and english[1]  # it has no way to say that it does not know
    refused, *warnings = answer.err.splitlines()
    assert refused.startswith("transformer-book: Line 4: The text has 505 tokens")
    assert len(warnings) <= 1 and "Traceback" not in answer.err


# --- looking at what there is ---------------------------------------------------------------------


def test_data_show_prints_the_pairs_of_the_task(call, book):
    options = {"kind": "reverse", "min_length": 3, "max_length": 4}
    task = book.tasks.make_task("copy", **options)
    command = ["data", "show", "copy", "-n", 4, "--split", "test", "--seed", 5, *settings(options)]
    rows = [line.split("\t") for line in call(*command).out.splitlines()]
    pairs = task.pairs("test", n=4, seed=5)
    assert rows == [[" ".join(pair.source), " ".join(pair.target)] for pair in pairs]


def test_data_show_prints_alignments(call, book):
    command = ["data", "show", "captions", "-n", 30, "--set", "source=en", "--set", "target=it"]
    rows = [line.split("\t") for line in call(*command, "--alignment").out.splitlines()]
    pairs = book.tasks.make_task("captions", source="en", target="it").pairs("train", n=30)
    for (source, target, alignment), pair in zip(rows, pairs, strict=True):
        assert (source, target) == (pair.source_text, pair.target_text)
        links = tuple(tuple(map(int, link.split("-"))) for link in alignment.split())
        assert links == pair.alignment


def test_data_list_names_every_task(call, book):
    lines = call("data", "list").out.splitlines()
    assert [line.split()[0] for line in lines] == list(book.tasks.TASKS)
    for line, task in zip(lines, book.tasks.TASKS.values(), strict=True):
        assert line.endswith(task.description)


def test_data_download_says_where_the_files_are(call, tmp_path, monkeypatch):
    monkeypatch.setenv("TRANSFORMER_BOOK_DATA", str(tmp_path))
    assert call("data", "download", "copy").out == "The task 'copy' needs no download.\n"
    for name in ("en", "it"):
        made_data.write_lines(tmp_path / "europarl" / f"europarl-v7.it-en.{name}", ["No."])
    answer = call("data", "download", "europarl", "--set", "source=it", "--set", "target=en")
    there = [f"{tmp_path}/europarl/europarl-v7.it-en.{name}\n" for name in ("it", "en")]
    assert answer == (0, "".join(there), "")
    (tmp_path / "multi30k").write_text("no folder")
    assert "multi30k" in refused(call("data", "download", "multi30k"))


def test_data_download_without_a_network(call, tmp_path, monkeypatch):
    no_network(monkeypatch)
    monkeypatch.setenv("TRANSFORMER_BOOK_DATA", str(tmp_path / "data"))
    commands = (
        ("data", "download", "multi30k"),
        ("data", "show", "multi30k"),
        ("train", "multi30k-tutorial", "--output", "run"),
    )
    for command in commands:
        sentence = refused(call(*command))
        for told in ("train.de.gz", "https://raw.git", str(tmp_path / "data"), "'captions'"):
            assert told in sentence
    assert not (tmp_path / "run").exists()


def test_data_count_says_what_is_left_out(call, tmp_path):
    made_data.write_lines(tmp_path / "a.en", ["Yes.", "", "No.", "No."])
    made_data.write_lines(tmp_path / "a.it", ["Sì.", "", "No.", "No."])
    files = ["--set", "source_file=a.en", "--set", "target_file=a.it"]
    rows = dict(
        line.rsplit(maxsplit=1)
        for line in call("data", "count", "europarl", *files).out.splitlines()
    )
    assert rows == {
        "kept": "2",
        "blank": "1",
        "one-sided": "0",
        "too long": "0",
        "unknown words": "0",
        "repeated": "1",
    }
    assert refused(call("data", "count", "copy")) == (
        "The task 'copy' reads no corpus: there are no lines to count."
    )
    made_data.write_lines(tmp_path / "a.it", ["Sì."])
    assert "a.en has 4 lines and a.it 1" in refused(call("data", "count", "europarl", *files))


def test_recipes_lists_every_recipe(call, book):
    about = {name: book.recipes.description(name) for name in book.recipes.names()}
    lines = call("recipes").out.splitlines()
    assert [line.split()[0] for line in lines] == list(about)
    assert all(line.endswith(one) for line, one in zip(lines, about.values(), strict=True))
    assert json.loads(call("recipes", "--json").out) == about
    recipe = json.loads(call("recipes", "copy", "--json").out)
    assert recipe == book.recipes.load_recipe("copy").to_dict()
    assert recipe["model"]["norm"] and recipe["task"]["min_length"]  # defaults are filled in


def test_models_lists_what_is_shipped(call, book, monkeypatch, model, tmp_path):
    monkeypatch.setattr(book.pretrained, "FOLDER", tmp_path / "pretrained")
    assert call("models").out == "This version of the book comes without trained models.\n"
    sentence = refused(call("translate", "copier", "a"))
    assert sentence == "There is no folder 'copier', and the book has no model."
    shutil.copytree(model, tmp_path / "pretrained" / "copies")
    first = call("models").out
    loaded = book.checkpoints.load_tensors(model / "model.safetensors")[0]
    n = sum(tensor.numel() for tensor in loaded.values())
    size = (model / "model.safetensors").stat().st_size / 1e6
    assert first == (
        f"copies: task copy (kind=copy, min_length=2, max_length=3), {n:,} parameters, "
        f"{size:.1f} MB\n"
    )
    assert call("evaluate", "copies", "-n", 4).status == 0
    (result,) = json.loads((tmp_path / "pretrained" / "copies" / "results.json").read_text())
    exact = result["exact_match"]
    assert call("models").out == (
        f"{first}    validation, 4 pairs: exact match {100 * exact['value']:.1f} ± "
        f"{100 * exact['error']:.1f} %, perplexity {result['perplexity']['value']:.3f}\n"
    )
    assert "did you mean 'copies'?" in refused(call("translate", "copier", "a"))
    assert call("translate", "copies", "a b") == call("translate", model, "a b")
    (tmp_path / "pretrained" / "copies" / "model.safetensors").write_bytes(b"half")
    assert "does not hold a model of this book" in refused(call("models"))


# --- continue -------------------------------------------------------------------------------------


@pytest.fixture
def llama(tmp_path) -> Path:
    """A checkpoint of one layer in the layout of Llama, with random weights."""
    from safetensors.torch import save_file
    from tokenizers import Tokenizer, models, pre_tokenizers

    folder = tmp_path / "llama"
    folder.mkdir()
    shapes = {
        "model.embed_tokens.weight": (5, 4),
        "model.norm.weight": (4,),
        "model.layers.0.input_layernorm.weight": (4,),
        "model.layers.0.self_attn.q_proj.weight": (4, 4),
        "model.layers.0.self_attn.k_proj.weight": (2, 4),
        "model.layers.0.self_attn.v_proj.weight": (2, 4),
        "model.layers.0.self_attn.o_proj.weight": (4, 4),
        "model.layers.0.post_attention_layernorm.weight": (4,),
        "model.layers.0.mlp.gate_proj.weight": (6, 4),
        "model.layers.0.mlp.up_proj.weight": (6, 4),
        "model.layers.0.mlp.down_proj.weight": (4, 6),
    }
    generator = torch.Generator().manual_seed(1)
    weights = {name: torch.randn(shape, generator=generator) for name, shape in shapes.items()}
    save_file(weights, folder / "model.safetensors")
    config = {
        "model_type": "llama",
        "vocab_size": 5,
        "hidden_size": 4,
        "intermediate_size": 6,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "num_key_value_heads": 1,
        "max_position_embeddings": 64,
        "rms_norm_eps": 1e-5,
        "tie_word_embeddings": True,
    }
    (folder / "config.json").write_text(json.dumps(config))
    words = {word: i for i, word in enumerate("abcde")}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="a"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


def test_continue(call, llama):
    answer = call("continue", llama, "a b", "--tokens", 6)
    assert (answer.status, answer.err) == (0, "")
    words = answer.out.split()
    assert words[:2] == ["a", "b"] and len(words) == 8
    assert call("continue", llama, "a b", "--tokens", 6) == answer
    draws = {
        seed: call("continue", llama, "a b", "--temperature", 9, "--seed", seed).out
        for seed in (1, 2, 3)
    }
    assert len(set(draws.values())) == 3
    assert call("continue", llama, "a b", "--temperature", 9, "--seed", 2).out == draws[2]
    assert "the text has no tokens" in refused(call("continue", llama, ""))
    assert "64 positions" in refused(call("continue", llama, "a " * 64))
