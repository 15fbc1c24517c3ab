#!/usr/bin/env python3
"""Refresh the browser code that the website serves itself, from the npm registry, by name.

The site loads nothing from other hosts, so MathJax, require.js, the Jupyter widgets and anywidget
lie in book/assets/vendor, each with its licence beside it. axe-core, which the tests use, lies in
tests/site/vendor. This script fetches the packages with
`npm pack`, keeps the files that the site uses, and writes VERSIONS.txt. It needs npm; building the
book does not.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

from common import ROOT

VENDOR = ROOT / "book" / "assets" / "vendor"
TESTS = "../../../tests/site/vendor/"

# package, version, and what is taken: pattern inside the package -> folder or file in vendor/
PACKAGES: list[tuple[str, str, dict[str, str]]] = [
    ("requirejs", "2.3.8", {"require.js": "require.js"}),
    (
        "@jupyter-widgets/html-manager",
        "1.0.15",
        {
            "dist/embed-amd.js": "html-manager/",
            "dist/embed.js.LICENSE.txt": "html-manager/",
            "dist/*.woff2": "html-manager/",
        },
    ),
    ("@jupyter-widgets/schema", "0.5.6", {"LICENSE": "html-manager/LICENSE"}),
    (
        "@fortawesome/fontawesome-free",
        "5.15.4",
        {"LICENSE.txt": "html-manager/LICENSE-fontawesome.txt"},
    ),
    ("anywidget", "0.11.0", {"dist/index.js": "anywidget/", "LICENSE": "anywidget/"}),
    (
        "mathjax",
        "3.2.2",
        {
            "es5/tex-mml-chtml.js": "mathjax/",
            "es5/output/chtml/fonts/woff-v2/*.woff": "mathjax/output/chtml/fonts/woff-v2/",
            "LICENSE": "mathjax/",
        },
    ),
    (
        "reveal.js",
        "5.2.1",
        {
            "dist/reset.css": "reveal/",
            "dist/reveal.css": "reveal/",
            "dist/reveal.js": "reveal/",
            "plugin/notes/notes.js": "reveal/",
            "LICENSE": "reveal/",
        },
    ),
    ("axe-core", "4.14.1", {"axe.min.js": TESTS, "LICENSE": TESTS + "LICENSE-axe"}),
]

REQUIREJS_LICENSE = """\
RequireJS is released under the MIT license. Its package ships the notice at the head of
require.js; the licence text is:

Copyright jQuery Foundation and other contributors, https://jquery.org/

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and
associated documentation files (the "Software"), to deal in the Software without restriction,
including without limitation the rights to use, copy, modify, merge, publish, distribute,
sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or
substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT
NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND
NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM,
DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT
OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
"""


def fetch(package: str, version: str, folder: Path) -> Path:
    """Unpack one package of the npm registry into `folder`; return where its files lie."""
    command = ["npm", "pack", "--silent", "--pack-destination", str(folder), f"{package}@{version}"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"npm could not fetch {package}@{version}:\n{done.stderr}")
    archive = folder / done.stdout.strip().splitlines()[-1]
    unpacked = folder / archive.stem
    with tarfile.open(archive) as tar:
        tar.extractall(unpacked, filter="data")
    return next(path for path in unpacked.iterdir() if path.is_dir())


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.parse_args()
    if not shutil.which("npm"):
        raise SystemExit("tools/vendor.py needs npm: install Node.js and run it again.")
    with tempfile.TemporaryDirectory() as temporary:
        for package, version, wanted in PACKAGES:
            source = fetch(package, version, Path(temporary))
            for pattern, target in wanted.items():
                files = sorted(source.glob(pattern))
                if not files:
                    raise SystemExit(f"{package}@{version} holds no {pattern}.")
                for file in files:
                    goal = VENDOR / target
                    if target.endswith("/"):
                        goal = goal / file.name
                    goal.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(file, goal)
            print(f"{package} {version}")
    (VENDOR / "LICENSE-requirejs").write_text(REQUIREJS_LICENSE, encoding="utf-8")
    lines = [f"{package} {version}\n" for package, version, _ in PACKAGES]
    (VENDOR / "VERSIONS.txt").write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
