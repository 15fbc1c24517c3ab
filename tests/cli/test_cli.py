"""The command line as a whole: how it starts, and that whatever is wrong becomes one sentence."""

from __future__ import annotations

import errno
import importlib
import importlib.metadata
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from tests.cli.small import TINY, files, python, refused, settings, tiny

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
    "progress",
    "class-report",
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
        "models, progress, class-report, data.",
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


# --- what several commands share ------------------------------------------------------------------


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
