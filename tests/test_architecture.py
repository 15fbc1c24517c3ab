"""The shape of the package itself: short enough to read, imports one way, nothing shadowed."""

from __future__ import annotations

import ast
import graphlib
import io
import subprocess
import sys
import tokenize
from pathlib import Path

import pytest

import transformer_book
from tests.fresh import MODEL

PACKAGE = Path(transformer_book.__file__).parent
ROOT = Path(__file__).parents[1]

IDEAS = [
    str(path.relative_to(PACKAGE).with_suffix(""))
    for path in (PACKAGE / "checks" / "ideas").rglob("*.py")
]

# What each module may import of the package: imports go one way.
MAY_IMPORT = {
    "arguments": set(),
    "embeddings": {"arguments"},
    "attention": {"arguments"},
    "masks": {"arguments"},
    "layers": {"arguments"},
    "encoder": {"attention", "layers", "arguments"},
    "decoder": {"attention", "layers", "arguments"},
    "transformer": {"arguments", "embeddings", "encoder", "decoder", "layers", "masks"},
    "rms_norm": {"arguments"},
    "sampling": {"arguments"},
    "adapters": {"arguments"},
    "swiglu": {"arguments"},
    "rotary": {"arguments"},
    "grouped_attention": {"attention", "rotary", "arguments"},
    "decoder_only": {
        "arguments",
        "embeddings",
        "grouped_attention",
        "layers",
        "masks",
        "rms_norm",
        "rotary",
        "swiglu",
        "tokens",
        "transformer",
    },
    "llama": {"decoder_only"},
    "induction": {
        "attention",
        "checkpoints",
        "arguments",
        "embeddings",
        "layers",
        "masks",
    },
    "pretraining": {
        "decoder_only",
        "optimization",
        "recipes",
        "tasks",
        "tokens",
        "translator",
        "arguments",
    },
    "gpt2": {"decoder_only"},
    "checkpoint_settings": {"decoder_only", "gpt2", "llama"},
    "continuation": {"decoder_only", "sampling", "arguments"},
    "language_model": {"continuation", "decoder_only"},
    "hugging_face": {"checkpoint_settings", "decoder_only", "atomic_files", "language_model"},
    "architectures": {"arguments", "decoder_only", "transformer"},
    "pytorch_twins": {"attention", "decoder", "encoder", "layers", "transformer"},
    "using": {
        "attention",
        "arguments",
        "decoder",
        "decoder_cache",
        "embeddings",
        "encoder",
        "layers",
        "masks",
        "optimization",
        "pytorch_twins",
        "transformer",
    },
    "notebook": {"using"},
    "plots": {"arguments"},
    "atomic_files": set(),
    "tokens": {"arguments", "atomic_files"},
    "batches": {"tokens", "arguments"},
    "known_words": {"atomic_files", "tokens"},
    "optimization": {"arguments", "tokens"},
    "checkpoints": {"atomic_files"},
    "threads": set(),
    "fused": {"attention", "layers", "tokens", "arguments"},
    "training": {
        "architectures",
        "batches",
        "checkpoints",
        "arguments",
        "decoder_only",
        "atomic_files",
        "optimization",
        "fused",
    },
    "distributed": {"batches", "training", "transformer"},
    "decoder_cache": {
        "architectures",
        "attention",
        "decoder",
        "decoder_only",
        "masks",
        "transformer",
    },
    "decoding": {
        "architectures",
        "attention",
        "decoder_cache",
        "decoder_only",
        "layers",
        "sampling",
        "tokens",
        "arguments",
    },
    "tasks/__init__": {"arguments", "tokens"},
    "tasks/copy": {"arguments", "tasks", "tokens"},
    "tasks/captions/task": {"arguments", "tasks", "tokens"},
    "tasks/downloads": {"__version__"},
    "tasks/corpora": {"tasks", "tokens"},
    "tasks/multi30k": {"arguments", "tasks", "tokens"},
    "tasks/europarl": {"arguments", "tasks", "tokens"},
    "tasks/series/__init__": {"arguments", "tasks", "tokens"},
    "tasks/series/public": {"tasks", "tokens"},
    "tasks/series/expressions": {"tokens"},
    "tasks/series/expansion": {"tasks", "tokens"},
    "tasks/series/generator": {"tasks"},
    "pretrained/__init__": {"atomic_files", "recipes"},
    "metrics": {"arguments"},
    # `tasks` is light; what a recipe is checked against is imported when one is read.
    "recipes/__init__": {"architectures", "arguments", "tasks", "training"},
    "translator": {
        "__version__",
        "architectures",
        "batches",
        "checkpoints",
        "arguments",
        "decoding",
        "atomic_files",
        "known_words",
        "pretrained",
        "recipes",
        "tasks",
        "tokens",
    },
    "experiment": {
        "architectures",
        "batches",
        "known_words",
        "recipes",
        "tasks",
        "tokens",
        "training",
        "translator",
    },
    "evaluation": {
        "__version__",
        "batches",
        "atomic_files",
        "metrics",
        "tasks",
        "tokens",
        "training",
        "translator",
    },
    # What learners' code is held against stands on its own: nothing of the model.
    "processor_time": set(),
    "kernels": {"processor_time"},
    "checks/watchdog": {"checks", "processor_time"},
    **{
        name: {"checks"}
        for name in (
            "checks/__init__",
            "checks/endless",
            "checks/kept",
            "checks/comparing",
            "checks/contract",
            "checks/diagnosis/__init__",
            "checks/diagnosis/asif",
            "checks/diagnosis/conditions",
            "checks/diagnosis/places",
            "checks/diagnosis/relations",
            "checks/diagnosis/trials",
            "checks/classes",
            "checks/components",
            "checks/explaining",
            "checks/judging",
            "checks/learners_code",
            "checks/running",
            "checks/verdicts",
            "checks/report",
            "checks/exercise",
            "checks/attempt",
            "checks/boundaries",
            "checks/given",
            "checks/catalogue",
            "checks/builtin",
            *IDEAS,
        )
    },
    # Known mistakes made in the whole model: the only place where `checks` and the model meet.
    "checks/in_whole_models": {
        "attention",
        "batches",
        "checks",
        "arguments",
        "decoder",
        "decoder_cache",
        "embeddings",
        "encoder",
        "layers",
        "optimization",
        "recipes",
        "tokens",
        "training",
        "transformer",
    },
    "inspection": {
        "attention",
        "arguments",
        "decoder_only",
        "masks",
        "tokens",
        "transformer",
        "translator",
    },
    "diversification": {"atomic_files", "checkpoints", "tasks", "translator"},
    "interventions": {"attention", "inspection", "layers", "transformer"},
    # Explorers: each may use the package's own formulas for its numbers.
    "widgets/__init__": set(),
    "widgets/explorer": set(),
    "widgets/embeddings": {"arguments", "widgets"},
    "widgets/beam": {"decoding", "tokens", "widgets"},
    "widgets/geometry": {"attention", "plots", "arguments", "widgets"},
    "widgets/heads": {"arguments", "inspection", "transformer", "widgets"},
    "widgets/induction": {"induction", "widgets"},
    "widgets/rotary": {"rotary", "widgets"},
    "widgets/masks": {"attention", "arguments", "masks", "tokens", "widgets"},
    "widgets/neuron": {
        "attention",
        "arguments",
        "inspection",
        "masks",
        "transformer",
        "widgets",
    },
    "widgets/normalisation": {"arguments", "layers", "widgets"},
    "widgets/positions": {"embeddings", "widgets"},
    "widgets/schedule": {"arguments", "optimization", "widgets"},
    "widgets/shapes": {"arguments", "widgets"},
    "widgets/talk": {
        "attention",
        "inspection",
        "interventions",
        "layers",
        "masks",
        "tokens",
        "transformer",
        "translator",
        "widgets",
    },
    "course/__init__": {"checks", "arguments"},
    "course/isolation": set(),
    "course/forkserver": {"course"},
    "course/supervisor": {"checks", "course", "kernels"},
    "course/apart": {"course"},
    "course/second_look": {"checks"},
    "course/sandbox": {"course"},
    "course/release": {"arguments", "course"},
    "course/cheap": {"checks", "course"},
    "course/collecting": set(),
    "course/feedback": set(),
    "course/grading": {"arguments", "course", "atomic_files"},
    "course/proof": {"course"},
    "cli/__init__": {"__version__", "cli"},
    "cli/messages": {"distributed"},
    "cli/options": set(),
    "cli/train": {
        *("cli", "distributed", "diversification", "experiment", "metrics", "recipes", "tasks"),
        *("threads", "training", "translator"),
    },
    "cli/run_folder": {"checkpoints", "cli", "experiment", "atomic_files", "recipes", "tokens"},
    "cli/evaluate": {"cli", "evaluation", "pretrained", "threads", "training", "translator"},
    "cli/grade": {"cli", "course"},
    "cli/continue_text": {"cli", "hugging_face", "threads", "training"},
    "cli/translate": {"cli", "threads", "tokens", "training", "translator"},
    "cli/shipped": {"cli", "pretrained", "recipes"},
    "cli/data": {"cli", "recipes", "tasks"},
}


def docstring_lines(tree: ast.AST) -> set[int]:
    lines: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(
            node
        ):
            expression = node.body[0]
            lines |= set(range(expression.lineno, expression.end_lineno + 1))
    return lines


def logical_lines(source: str) -> int:
    """Logical lines of Python, docstrings and comments not counted."""
    skip = docstring_lines(ast.parse(source))
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return sum(token.type == tokenize.NEWLINE and token.start[0] not in skip for token in tokens)


def test_the_model_is_read_in_one_sitting():
    """At most 500 logical lines, the argument checks included."""
    counts = {
        name: logical_lines((PACKAGE / f"{name}.py").read_text(encoding="utf-8"))
        for name in (*MODEL, "arguments")
    }
    print(counts, sum(counts.values()))
    assert sum(counts.values()) <= 500


@pytest.mark.parametrize("name", MODEL)
def test_each_forward_is_short(name):
    tree = ast.parse((PACKAGE / f"{name}.py").read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name in ("forward", "attend"):
            skip = docstring_lines(node)
            lines = set(range(node.body[0].lineno, node.end_lineno + 1)) - skip
            assert len(lines) <= 20, f"{name}.{node.name}"


def test_every_module_is_listed():
    modules = {str(path.relative_to(PACKAGE).with_suffix("")) for path in PACKAGE.rglob("*.py")}
    inside = {name for name in modules if name.startswith("tasks/captions/")}  # a world of its own
    assert modules - inside - {"__init__", "__main__"} <= MAY_IMPORT.keys()
    assert MAY_IMPORT.keys() <= modules


@pytest.mark.parametrize("name", MAY_IMPORT)
def test_imports_go_one_way(name):
    tree = ast.parse((PACKAGE / f"{name}.py").read_text(encoding="utf-8"))
    imported = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "a relative import"
            imported |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
    own = {path.split(".")[1] for path in imported if path.startswith("transformer_book.")}
    assert own <= MAY_IMPORT[name]
    assert "transformer_book" not in imported


def test_within_the_checks_imports_go_one_way():
    """Each module's own imports from `checks`, in an order in which all can be made."""
    needs: dict[str, set[str]] = {}
    for path in (PACKAGE / "checks").rglob("*.py"):
        name = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
        needs[name.removesuffix(".__init__")] = {
            place
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.ImportFrom)
            for place in (node.module, *(f"{node.module}.{alias.name}" for alias in node.names))
        }
    known = {
        name: (found & needs.keys()) - {f"{PACKAGE.name}.checks"} for name, found in needs.items()
    }
    assert list(graphlib.TopologicalSorter(known).static_order())


def test_the_engine_of_the_checks_knows_no_component():
    """What judges names no idea: `ideas` alone is imported, where the checks are put together."""
    names = {Path(name).name for name in IDEAS} - {"__init__"}
    for path in (PACKAGE / "checks").rglob("*.py"):
        place = path.relative_to(PACKAGE / "checks")
        if place.parts[0] == "ideas" or path.stem == "in_whole_models":
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
        # `shift` and `softmax` are words of other things, too.
        assert not (texts & names) - {"shift", "softmax", "dropout"}, place
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and ".ideas" in (node.module or ""):
                assert place == Path("__init__.py"), place


def modules_after(statement: str) -> set[str]:
    code = f"{statement}\nimport sys\nprint(' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return {name.split(".")[0] for name in done.stdout.split()}


def test_importing_attention_imports_torch_and_nothing_heavier():
    heavy = {"spacy", "tokenizers", "matplotlib", "seaborn", "IPython", "ipywidgets", "pandas"}
    loaded = modules_after("import transformer_book.attention")
    assert "torch" in loaded
    assert not loaded & heavy


def test_importing_the_package_imports_nothing():
    assert not {"torch", "anywidget"} & modules_after("import transformer_book")
    assert "anywidget" not in modules_after("import transformer_book.widgets")
