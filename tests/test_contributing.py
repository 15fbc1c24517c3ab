"""The example of CONTRIBUTING: an idea is four files, and nothing else names it."""

from __future__ import annotations

import json
import re
import shutil
import textwrap
from pathlib import Path

from common import ROOT

from tests import copied

PACKAGE = Path("code", "transformer_book")
TRY = """
import json, sys
sys.path[:0] = [{code!r}, {root!r}]
from pathlib import Path
from tests.checks import corpus
from transformer_book import checks

told = {{}}
for version in corpus.load(*sorted(Path({root!r}, "tests/checks/corpus/layers").glob("*.py"))):
    if version.component == "squared_relu":
        component = checks.COMPONENTS[version.component]
        found = checks.judging.judge(component, version.made, checks.MISTAKES)
        names = [mistake.name for mistake in found.mistakes]
        told[version.label] = [version.verdict, ": ".join([found.status, *names])]
checks.squared_relu(lambda x: x.clamp(min=0) ** 2)
order = list(checks.COMPONENTS)
print(json.dumps([told, order[order.index("squared_relu") - 1], checks.squared_relu.__doc__]))
"""


def blocks() -> dict[str, str]:
    """The code of the example, by its file."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    found = {}
    for block in re.findall(r"^ *```python\n(.*?)^ *```", text, re.DOTALL | re.MULTILINE):
        first, _, code = textwrap.dedent(block).partition("\n")
        found[first.removeprefix("# ")] = code
    return found


def test_the_example_of_an_idea_is_judged_as_it_says(tmp_path: Path) -> None:
    modules = ("checks", "support")
    for path in (*(PACKAGE / name for name in modules), Path("tests", "checks", "corpus")):
        copy = shutil.copytree if (ROOT / path).is_dir() else shutil.copy
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        copy(ROOT / path, tmp_path / path)
    (tmp_path / PACKAGE / "__init__.py").touch()
    example = blocks()
    assert len(example) == 3  # the fourth is the chapter
    for name, code in example.items():
        path = tmp_path / name
        before = path.read_text(encoding="utf-8") if path.exists() else ""
        path.write_text(f"{before}\n\n{code}", encoding="utf-8")
    script = tmp_path / "try.py"
    script.write_text(TRY.format(code=str(tmp_path / "code"), root=str(tmp_path)))
    done = copied.run(str(script), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    told, before, published = json.loads(done.stdout.splitlines()[-1])
    assert len(told) == 6 and all(expected == said for expected, said in told.values()), told
    assert before == "group_sort"  # the last of its chapter
    assert "Check your `squared_relu(x)`." in published
