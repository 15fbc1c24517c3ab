#!/usr/bin/env python3
"""Where an idea stands: `make where IDEA="layer norm"`, and MAP.md, the same for all of them.

An idea is what a learner writes and a check judges, a public name of the package, a module, an
explorer, a known mistake, a term of the glossary, a tool, or a script of the pages; its words may
be written in any way (LayerNorm, layer_norm, layer norm). It shows first what has exactly this
name, then what has all the words in its name or in the first line of its documentation, or else
what begins alike in either (smoothing, smoothed), of a tool in all that it says. Words that nothing
has are taken for a symptom: the known mistakes that are described with most of them. MAP.md is made
of the same answers: without arguments the script says whether it is up to date, --write writes it.
"""

from __future__ import annotations

import argparse
import ast
import itertools
import math
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from check import (
    PACKAGE,
    PROOFS,
    TESTS,
    explorers,
    files_of_tests,
    imports,
    is_part_of_the_model,
    modules,
    shown_in,
)
from common import ROOT, notebooks
from link_terms import GLOSSARY

from transformer_book import checks

MAP = ROOT / "MAP.md"
TERM = re.compile(r"^### ([^\n]+)\n(?:<!--([^\n]*)-->\n)?(.*?)(?=^##|\Z)", re.MULTILINE | re.DOTALL)


# What each tool is for. `common` is what they share; a tool that stands nowhere is an error.
TOOLS = {
    "Run by contributors": """
        check where execute_chapters normalise_notebooks core_path setup_cell link_terms
        chapter_changes find_inputs judge_versions twins assignments check_results make_models
        ship_model set_repository vendor check_python common""",
    "Make pages": """
        build_site notebook_runner execution_cache copied_kernels draw draw_card debugging_page
        benchmarks_page model_cards questions questions_export gym slides
        paper paper_pages paper_pdf paper_epub paper_stills""",
    "The laboratory: what is recorded, and what is proven beside the tests": """
        record_ablations record_adapting record_bench record_candidates record_gym record_induction
        record_runs record_smollm2 record_today generations many_at_once searches count_renamings
        reference_mutants true_sentences browser_parity browser_speed page_speed make_class
        try_grader under_load""",
}


@dataclass(frozen=True)
class Definition:
    """A public class, function or method of the package."""

    name: str
    module: str
    line: int
    says: str = ""  # the first line of its documentation


@dataclass
class Idea:
    """What is said of an idea: by what, where. Each place is a path, perhaps with a line."""

    name: str
    places: dict[str, list[str]] = field(default_factory=dict)

    def add(self, what: str, *places: str) -> None:
        known = self.places.setdefault(what, [])
        known += [place for place in dict.fromkeys(places) if place not in known]


def plain(text: str) -> str:
    """The letters and digits of a name, however its words are joined."""
    return re.sub(r"[^a-z0-9]", "", text.lower())


def words(text: str) -> list[str]:
    """The words of a name: LayerNorm, layer_norm and "layer norm" have the same ones."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", text)
    return re.findall(r"[a-z0-9]+", apart.lower())


def shown(path: Path, line: int | None = None) -> str:
    place = path.relative_to(ROOT).as_posix()
    return f"{place}:{line}" if line else place


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def definitions() -> tuple[Definition, ...]:
    """The public names of the package, without the checks: those are ideas of their own."""
    found = []
    for module, path in modules().items():
        if module.split(".")[0] in ("checks", "course"):
            continue
        for node in tree(path).body:
            if not isinstance(node, ast.FunctionDef | ast.ClassDef) or node.name.startswith("_"):
                continue
            found.append(Definition(node.name, module, node.lineno, first_line(node)))
            for inside in getattr(node, "body", ()) if isinstance(node, ast.ClassDef) else ():
                if isinstance(inside, ast.FunctionDef) and not inside.name.startswith("_"):
                    name = f"{node.name}.{inside.name}"
                    found.append(Definition(name, module, inside.lineno, first_line(inside)))
    return tuple(found)


def first_line(node: ast.AST) -> str:
    return (ast.get_docstring(node) or "").partition("\n")[0]


def defined(name: str) -> Definition:
    """The definition of this name, `Class` or `Class.method`; a KeyError if there is none."""
    for each in definitions():
        if each.name == name:
            return each
    raise KeyError(name)


def definition_of(component: str) -> Definition | None:
    """What does in the package what a component asks for."""
    if done_by := checks.COMPONENTS[component].done_by:
        return defined(done_by)
    same = [each for each in definitions() if plain(each.name.split(".")[-1]) == plain(component)]
    return min(same, key=lambda each: "." in each.name, default=None)


@cache
def named_in(path: Path) -> frozenset[str]:
    """Every name that a file of tests uses, of whatever it has imported."""
    nodes = list(ast.walk(tree(path)))
    return frozenset(
        {node.id for node in nodes if isinstance(node, ast.Name)}
        | {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    )


def tests_of(definition: Definition) -> Iterator[str]:
    """The test files that use a definition themselves; the one named after its module first.

    A part of the model is proven by tables that several tests share (tests/proofs.py): what they
    prove of it, and that a damaged copy of it is found out, they do not say by its name.
    """
    name, module = definition.name.split(".")[0], definition.module
    using = [
        path for path in files_of_tests() if name in named_in(path) and module in imports(path)
    ]
    own = list(TESTS.rglob(f"test_{module.split('.')[-1]}.py"))
    if not own and not using:  # it is proven as a part of those that are made of it
        files = modules()
        own = [
            path
            for other in files
            if re.search(
                rf"import .*\b{module}\b|\.{module} import", files[other].read_text("utf-8")
            )
            for path in TESTS.rglob(f"test_{other.split('.')[-1]}.py")
        ]
    proofs = PROOFS[:2] if is_part_of_the_model(module) else ()
    yield from dict.fromkeys([*map(shown, own), *proofs, *map(shown, using)])


@cache
def chapter_files() -> dict[int, Path]:
    return {int(path.name[:2]): path for path in notebooks() if path.name[:2].isdigit()}


def shows(text: str, explorer: str) -> bool:
    """Whether a notebook makes this explorer."""
    return f"{explorer}(" in text or f"{explorer}." in text


@cache
def explorer_modules() -> dict[str, Path]:
    """Each explorer that a chapter shows, and its module."""
    text = "".join(path.read_text(encoding="utf-8") for path in notebooks())
    return {
        name: path
        for module, path in modules().items()
        if module.startswith("widgets.") and module != "widgets.explorer"
        for name in explorers(path)
        if shows(text, name)
    }


def explorers_in(chapter: Path) -> list[str]:
    text = chapter.read_text(encoding="utf-8")
    return [
        f"{name} ({shown(path)})" for name, path in explorer_modules().items() if shows(text, name)
    ]


@cache
def recipe_text() -> dict[str, str]:
    folder = PACKAGE / "recipes"
    return {
        shown(path): path.read_text(encoding="utf-8") for path in sorted(folder.rglob("*.toml"))
    }


def recipes_of(name: str) -> list[str]:
    """Recipes that are named after an idea, or set it."""
    key = "_".join(words(name))
    named = [path for path in recipe_text() if plain(name) in plain(Path(path).stem)]
    setting = re.compile(rf"^{re.escape(key)}\b.* = ", re.MULTILINE)
    return named or [path for path, text in recipe_text().items() if setting.search(text)][:3]


def module_of(component: str) -> Path:
    """The file that says everything about a component."""
    return PACKAGE / "checks" / "ideas" / checks.FAMILIES[component] / f"{component}.py"


def lines_of(path: Path, *called: str) -> list[int]:
    """Where a file calls one of these, or decorates with it."""
    return sorted(
        node.lineno
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in called
    )


def of_definition(idea: Idea, definition: Definition) -> None:
    path = modules()[definition.module]
    idea.add("package", f"{shown(path, definition.line)} {definition.name}")
    for chapter in notebooks():
        if definition.module in shown_in(chapter) and re.search(
            rf"show_source\([^)]*\b{definition.name.split('.')[0]}\b", chapter.read_text("utf-8")
        ):
            idea.add("shown in", shown(chapter))
    idea.add("tests", *tests_of(definition))
    twin = ROOT / "book" / "assets" / "model" / f"{definition.module.split('.')[-1]}.js"
    if twin.exists():
        idea.add("in the browser", shown(twin))


def of_component(name: str) -> Idea:
    """The whole row of an idea that has a check."""
    component = checks.COMPONENTS[name]
    idea = Idea(name)
    chapter = chapter_files()[component.chapter]
    idea.add("chapter", f"{shown(chapter)}, “{component.section}”")
    if definition := definition_of(name):
        of_definition(idea, definition)
    module = module_of(name)
    idea.add("check", f"{shown(module, lines_of(module, 'Component')[0])} checks.{name}")
    if mistakes := lines_of(module, "mistake"):
        idea.add("known mistakes", f"{shown(module, mistakes[0])} ({len(mistakes)})")
    for path in sorted((TESTS / "checks" / "corpus").glob("*/*.py")):
        if re.search(rf'version\(\s*"{name}"', path.read_text(encoding="utf-8")):
            idea.add("right and wrong versions", shown(path))
    if recipes := recipes_of(name):
        idea.add("recipe", *recipes)
    if found := explorers_in(chapter):
        idea.add("explorer", *found)
    return idea


def of_name(definition: Definition) -> Idea:
    idea = Idea(definition.name)
    of_definition(idea, definition)
    if recipes := recipes_of(definition.name):
        idea.add("recipe", *recipes)
    return idea


def of_module(module: str) -> Idea:
    """A module as a whole."""
    path = modules()[module]
    idea = Idea(module)
    idea.add("package", f"{shown(path)}: {(ast.get_docstring(tree(path)) or '').splitlines()[0]}")
    idea.add("shown in", *(shown(each) for each in notebooks() if module in shown_in(each)))
    own = list(TESTS.rglob(f"test_{module.split('.')[-1]}.py"))
    using = [path for path in files_of_tests() if module in imports(path)]
    proofs = PROOFS if is_part_of_the_model(module) else ()
    if names := [name for name, of in explorer_modules().items() if of == path]:
        idea.add("explorer", *names)
        own.append(TESTS / "site" / "test_widgets.py")
    idea.add("tests", *map(shown, own), *proofs, *map(shown, using))
    if (script := path.with_suffix(".js")).exists():
        idea.add("in the browser", shown(script))
    return idea


def of_mistake(mistake: checks.Mistake) -> Idea:
    idea = Idea(f"mistake: {mistake.name}")
    path = module_of(mistake.component)
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Constant) and node.value == mistake.name:
            idea.add("known mistakes", shown(path, node.lineno))
    chapter = chapter_files()[mistake.chapter or checks.COMPONENTS[mistake.component].chapter]
    idea.add("chapter", f"{shown(chapter)}, “{mistake.section}”")
    idea.add("check", f"checks.{mistake.component}")
    return idea


def of_term(entry: re.Match[str]) -> Idea:
    """An entry of the glossary, and the chapters to which it leads."""
    idea = Idea(f"term: {entry[1]}")
    idea.add("glossary", shown(GLOSSARY, entry.string.count("\n", 0, entry.start()) + 1))
    idea.add("chapter", *re.findall(r"\(\.\./(chapters/\w+\.ipynb)", entry[3]))
    return idea


def of_tool(path: Path) -> Idea:
    """A script that works on the book, and what runs or tests it."""
    idea = Idea(path.stem)
    idea.add("tool", f"{shown(path)}: {first_line(tree(path))}")
    used = re.compile(rf"\b{path.stem}\.py\b|^(import|from) {path.stem}\b", re.MULTILINE)
    names = sorted(TESTS.rglob("test_*.py"))
    idea.add("tests", *(shown(each) for each in names if used.search(each.read_text("utf-8"))))
    for guide in (ROOT / "Makefile", ROOT / "CONTRIBUTING.md"):
        for number, line in enumerate(guide.read_text("utf-8").splitlines(), start=1):
            if f"tools/{path.name}" in line:
                idea.add("run in", shown(guide, number))
    return idea


def scripts() -> Iterator[tuple[str, str, Path]]:
    """What runs in the pages: each script's name, what its first comment says, and its path."""
    for path in sorted((ROOT / "book" / "assets").rglob("*.js")):
        comment = re.match(r"(?:\s*//[^\n]*\n)+|\s*/\*.*?\*/", path.read_text("utf-8"), re.DOTALL)
        yield f"{path.parent.name}/{path.stem}", comment[0] if comment else "", path


def of_script(path: Path) -> Idea:
    """A script of the pages, and the tests that name it."""
    idea = Idea(f"script: {path.parent.name}/{path.name}")
    idea.add("in the browser", shown(path))
    used = re.compile(rf"\b{path.parent.name}/{path.stem}\b|[\"'/]{path.stem}\.js\b")
    names = sorted([*(TESTS / "javascript").glob("*.*s"), *TESTS.rglob("test_*.py")])
    idea.add("tests", *(shown(each) for each in names if used.search(each.read_text("utf-8"))))
    return idea


def tools() -> list[Path]:
    """The tools, as they stand in `TOOLS`; a ValueError if one stands in none of its groups."""
    found = [ROOT / "tools" / f"{name}.py" for names in TOOLS.values() for name in names.split()]
    if set(found) != set((ROOT / "tools").glob("*.py")):
        odd = {path.stem for path in set(found) ^ set((ROOT / "tools").glob("*.py"))}
        raise ValueError(f"Say in TOOLS of tools/where.py what these are for: {sorted(odd)}")
    return found


def everything() -> Iterator[tuple[str, str, Callable[[Any], Idea], Any]]:
    """Each idea's name, its description, the function that makes its answer, and the argument."""
    yield from ((name, of.section, of_component, name) for name, of in checks.COMPONENTS.items())
    yield from ((each.name, each.says, of_name, each) for each in definitions())
    yield from ((name, first_line(tree(path)), of_module, name) for name, path in modules().items())
    yield from ((each.name, "", of_mistake, each) for each in checks.MISTAKES)
    entries = TERM.finditer(GLOSSARY.read_text(encoding="utf-8"))
    yield from ((entry[1], entry[2] or "", of_term, entry) for entry in entries)
    yield from ((path.stem, ast.get_docstring(tree(path)) or "", of_tool, path) for path in tools())
    yield from ((name, says, of_script, path) for name, says, path in scripts())


def by_symptom(stems: list[str], most: int) -> list[checks.Mistake]:
    """The known mistakes that are described with most of the words, rare ones counting more."""
    having = []
    for each in checks.MISTAKES:
        text = f"{each.component} {each.name} {each.symptom} {each.cause}".replace("√", " root ")
        said = words(text)
        having.append([stem for stem in stems if any(w.startswith(stem) for w in said)])
    often = Counter(itertools.chain(*having))
    weights = {stem: math.log(len(having) / max(often[stem], 1)) for stem in stems}
    scores = [sum(weights[stem] for stem in has) for has in having]
    best = sorted(range(len(scores)), key=lambda i: -scores[i])[:most]
    return [checks.MISTAKES[i] for i in best if scores[i] > sum(weights.values()) / 2]


def search(text: str, most: int = 4) -> list[Idea]:
    """What an idea's name finds, in the order that the script's documentation gives."""
    asked = words(text)
    stems = [word.removesuffix("s")[:5] for word in asked]

    def alike(text: str) -> bool:
        return all(any(word.startswith(stem) for word in words(text)) for stem in stems)

    def documented(says: str) -> bool:
        return " ".join(asked) in " ".join(words(says))

    ways = (
        lambda name, says: plain(text) in (plain(name), plain(name.rpartition(".")[2])),
        lambda name, says: set(asked) <= set(words(name)),
        lambda name, says: documented(says),
        lambda name, says: alike(name),
        lambda name, says: alike(f"{name} {says}"),
    )
    known = list(everything())
    rows: dict[tuple[str, str], tuple[Callable[[Any], Idea], Any]] = {}
    for way in ways:
        for name, says, make, of in known:
            if way(name, says):
                rows.setdefault((make.__name__, name), (make, of))
        if way in ways[2:] and any(make is not of_term for make, _ in rows.values()):
            break  # words that only begin alike are a last resort
    if not rows:
        return [of_mistake(each) for each in by_symptom(stems, most)]
    of_check = [definition_of(of) for make, of in rows.values() if make is of_component]
    chosen = [row for row in rows.values() if row[1] not in of_check]  # it is in the check's row
    return [make(of) for make, of in chosen[:most]]


def told(idea: Idea) -> str:
    width = max(map(len, idea.places), default=0)
    rows = [idea.name]
    for what, places in idea.places.items():
        for n, place in enumerate(places):
            rows.append(f"  {what if n == 0 else '':{width}}  {place}")
    return "\n".join(rows)


def linked(place: str) -> str:
    """A place as a link in MAP.md, without line numbers, which change too often."""
    path, _, rest = place.partition(" ")
    address = re.sub(r":\d+$", "", path.rstrip(",:"))
    label = Path(address).stem if address.endswith(".ipynb") else address.split("/", 1)[-1]
    label = label.removeprefix("transformer_book/")
    text = f"[{label}]({address})"
    name = re.match(r"([A-Za-z][\w.]*)$", rest)
    return f"{text} `{name[1]}`" if name else text


def page() -> str:
    """The text of MAP.md."""
    rows = [
        "# Where everything is",
        "",
        "This page is made by `tools/where.py --write`. For one idea, with lines: "
        '`make where IDEA="layer norm"`.',
        "",
        "## Ideas that a check judges",
        "",
        "The number of known mistakes leads to the file in which they stand; right and wrong "
        "versions that people write are in `tests/checks/corpus/`, in the folder of its family. "
        "[tests/proofs.py](tests/proofs.py) holds the proofs that `test_proofs.py` runs, every "
        "part of the model beside PyTorch's; `test_mutants.py` shows that they notice damage.",
        "",
        "| idea | chapter | in the package | check | mistakes | tests | explorer |",
        "|---|---|---|---|---:|---|---|",
    ]

    def cell(places: list[str], most: int = 3) -> str:
        more = [f"and {len(places) - most} more"] if len(places) > most else []
        return ", ".join([*map(linked, places[:most]), *more])

    for name in checks.COMPONENTS:
        p = of_component(name).places
        many = sum(each.component == name for each in checks.MISTAKES)
        explorer = ", ".join(each.split(" ")[0] for each in p.get("explorer", ()))
        columns = (
            f"`{name}`",
            cell(p["chapter"]),
            cell(p.get("package", [])),
            cell(p["check"]).split(" ")[0],
            f"[{many}]({re.split('[: ]', p['known mistakes'][0])[0]})" if many else "0",
            cell(p.get("tests", [])),
            explorer,
        )
        rows.append("| " + " | ".join(columns) + " |")
    rows += [
        "",
        "## Modules of the package",
        "",
        "| module | what | shown in | tests | in the browser |",
    ]
    rows.append("|---|---|---|---|---|")
    for module, path in modules().items():
        if module.startswith("checks.ideas."):  # each is a row above
            continue
        p = of_module(module).places
        what = p["package"][0].partition(": ")[2].rstrip(".").replace("|", "\\|")
        what = ": ".join([*p.get("explorer", []), what])
        columns = (
            f"[{module}]({shown(path)})",
            what,
            cell(p["shown in"], most=4),
            cell(p["tests"]),
            cell(p.get("in the browser", [])),
        )
        rows.append("| " + " | ".join(columns) + " |")
    rows += ["", "## Tools", ""]
    for group, names in TOOLS.items():
        rows += [f"**{group}**", ""]
        for path in tools():
            if path.stem in names.split():
                rows.append(f"* [{path.stem}]({shown(path)}): {first_line(tree(path))}")
        rows.append("")
    return "\n".join(rows)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("idea", nargs="*", help='such as "layer norm" or beam_search')
    parser.add_argument("--write", action="store_true", help="write MAP.md")
    options = parser.parse_args()
    if options.idea:
        found = search(" ".join(options.idea))
        if not found:
            print(
                f"Nothing is called {' '.join(options.idea)!r}: try fewer words.", file=sys.stderr
            )
            return 1
        print("\n\n".join(map(told, found)))
        return 0
    text = page()
    if options.write:
        MAP.write_text(text, encoding="utf-8")
    elif not MAP.exists() or MAP.read_text(encoding="utf-8") != text:
        print("MAP.md is not up to date: run python tools/where.py --write", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
