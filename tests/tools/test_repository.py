"""The repository as a whole: what must hold for every file, now and after the next chapter."""

from __future__ import annotations

import re
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path

import nbformat
import pytest
import yaml
from common import CHAPTERS, ROOT, configuration, notebooks, problem_sets, repository_url, tracked
from nbclient import NotebookClient
from packaging.requirements import Requirement

import transformer_book

LIMIT = 45_000_000  # bytes of the whole tracked tree
SHOW = "import code; print(code.__file__)"


def texts() -> list[tuple[Path, str]]:
    """Our own text files."""
    found = []
    for path in tracked():
        if "vendor" in path.parts:
            continue
        try:
            found.append((path.relative_to(ROOT), path.read_text(encoding="utf-8")))
        except UnicodeDecodeError:
            continue
    return found


def test_the_tree_stays_small() -> None:
    assert sum(path.stat().st_size for path in tracked()) <= LIMIT


def test_no_file_names_a_folder_of_somebodys_machine() -> None:
    pattern = re.compile(r"(?<![\w.:/-])/(?:home|Users|root|work|opt|private)/\w[\w./-]*")
    found = [f"{name}: {hit[0]}" for name, text in texts() for hit in pattern.finditer(text)]
    own = "tests/tools/"  # the tests of the tools invent such paths
    assert [each for each in found if not each.startswith(own)] == []


# --- the standard library's `code` ----------------------------------------------------------------


def standard(path: str) -> bool:
    return Path(path.strip()).parent == Path(sysconfig.get_path("stdlib"))


def test_import_code_is_the_standard_librarys_under_pytest() -> None:
    import code

    assert standard(code.__file__)
    assert not (ROOT / "code" / "__init__.py").exists()


@pytest.mark.parametrize("module", [["-c", SHOW], ["-m", "IPython", "--quick", "-c", SHOW]])
def test_import_code_is_the_standard_librarys_in_the_root(module: list[str]) -> None:
    shown = subprocess.run(
        [sys.executable, *module], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert standard(shown.stdout)


def test_import_code_is_the_standard_librarys_in_a_notebook() -> None:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(SHOW)])
    resources = {"metadata": {"path": str(ROOT)}}
    NotebookClient(notebook, kernel_name="python3", resources=resources).execute()
    assert standard(notebook.cells[0].outputs[0].text)


# --- versions and addresses -----------------------------------------------------------------------


def pins(file: str = "requirements.txt") -> dict[str, str]:
    lines = (ROOT / file).read_text(encoding="utf-8").splitlines()
    wanted = [line for line in lines if not line.startswith("#")]
    bad = [line for line in wanted if not re.fullmatch(r"[\w.-]+==[\w.]+", line)]
    assert bad == [], f"{file} holds name==version lines and nothing else"
    return {canonical(name): version for name, version in (w.split("==") for w in wanted)}


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_every_dependency_is_pinned_within_its_range() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = list(project["dependencies"])
    for extra in project["optional-dependencies"].values():
        wanted += extra
    # The peers of the benchmarks are pinned apart: the book needs none of them.
    pinned = pins() | pins("benchmarks/requirements.txt")
    for line in wanted:
        requirement = Requirement(line)
        name = canonical(requirement.name)
        assert name in pinned, f"{name} has no pin"
        assert requirement.specifier.contains(pinned[name]), f"{line} excludes {pinned[name]}"


def test_the_package_asks_for_no_upper_bound_of_python_or_of_what_colab_brings() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["requires-python"] == ">=3.11"
    colab = {"torch": "2.11", "numpy": "2.1", "ipywidgets": "7.7.1", "anywidget": "0.9.21"}
    for line in project["dependencies"]:
        requirement = Requirement(line)
        if version := {**colab, "ipython": "7.34"}.get(requirement.name):
            assert requirement.specifier.contains(version), f"{line} would change Colab's"
    assert project["dynamic"] == ["version"], "the version stands in the package, and nowhere else"


def test_one_version() -> None:
    """The package says it, and a wheel takes it from there; citation and changelog repeat it."""
    setuptools = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    attribute = setuptools["setuptools"]["dynamic"]["version"]["attr"]
    assert attribute == "transformer_book.__version__"
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == transformer_book.__version__
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    released = re.findall(r"^## (.+) \((\d{4}-\d\d-\d\d)\)$", changelog, flags=re.MULTILINE)
    assert released[0] == (transformer_book.__version__, str(citation["date-released"]))


def test_one_repository_address() -> None:
    """_config.yml names it; what cannot read that file repeats it exactly."""
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["repository-code"] == repository_url()
    assert citation["url"] == configuration()["html"]["baseurl"]


def test_vendored_code_has_its_licence_beside_it() -> None:
    """In its folder of vendor/; for a file that has none, under its own name."""
    code = [path for path in tracked() if path.suffix in {".js", ".woff", ".woff2"}]
    vendored = [path for path in code if "vendor" in path.parts]
    assert vendored
    for path in vendored:
        vendor = next(folder for folder in path.parents if folder.name == "vendor")
        first, *rest = path.relative_to(vendor).parts
        name = path.name.partition(".")[0]
        licences = (vendor / first).glob("*LICENSE*") if rest else vendor.glob(f"LICENSE-{name}*")
        assert any(licences), path


def test_the_table_of_contents_and_the_chapters_agree() -> None:
    text = (ROOT / "_toc.yml").read_text(encoding="utf-8")
    listed = re.findall(r"file: (\S+)", text)
    run = [name for name in listed if (ROOT / f"{name}.ipynb").exists()]
    found = [path.relative_to(ROOT).with_suffix("").as_posix() for path in notebooks()]
    pages = {name for name in found if name.startswith("book/")}  # stand where they are needed
    assert pages == {name for name in run if name.startswith("book/")}
    assert [name for name in run if name not in pages] == found[len(pages) :]
    assert [name for name in run if name.startswith(f"{CHAPTERS.name}/")], "no chapter"
    assert [name for name in listed if not list(ROOT.glob(f"{name}.*"))] == []


def test_the_one_list_of_notebooks_leaves_none_out() -> None:
    """Every tracked notebook is executed, normalised, linked, tested; problem sets are graded."""
    there = {path for path in tracked() if path.suffix == ".ipynb"}
    assert there == {*notebooks(), *problem_sets()}
    assert notebooks(["x.ipynb"]) == [Path("x.ipynb")]
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    collected = settings["pytest"]["ini_options"]
    assert "--nbval-lax" in collected["addopts"]
    folders = {path.parent for path in notebooks()}
    assert folders <= {ROOT / name for name in collected["testpaths"]}


def test_git_shows_every_notebook_as_text() -> None:
    asked = subprocess.run(
        ["git", "check-attr", "diff", "--", *map(str, notebooks())],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if asked.returncode == 0:  # in a copy without git, the rule itself is what can be read
        assert all(line.endswith(": diff: ipynb") for line in asked.stdout.splitlines())
    assert "*.ipynb diff=ipynb" in (ROOT / ".gitattributes").read_text(encoding="utf-8")


def test_make_lists_its_targets_and_the_continuous_build_calls_test() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    phony = re.search(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)[1].split()
    assert sorted(phony) == sorted(re.findall(r"^(\w+):.* ## \w", makefile, re.MULTILINE))
    assert "make test" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
