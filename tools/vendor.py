#!/usr/bin/env python3
"""Refresh the browser code that the website serves itself, from the npm registry, by name.

The site loads nothing from other hosts, so what pages and slides need lies in book/assets/vendor,
each with its licence beside it. axe-core, which the tests use, lies in tests/site/vendor. This
script fetches the packages with `npm pack`, keeps the files that are used, and writes VERSIONS.txt.
The font of the formulas comes with a package of the Python index; it and the typefaces of the text
are cut to the characters and weights that the book uses, and lie in book/assets/fonts. The script
needs npm, and building the book does not.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

from common import ROOT
from fontTools import subset
from fontTools.ttLib import TTFont
from fontTools.varLib.instancer import instantiateVariableFont

VENDOR = ROOT / "book" / "assets" / "vendor"
TESTS = "../../../tests/site/vendor/"

# package, version, and what is taken: pattern inside the package -> folder or file in vendor/
PACKAGES: list[tuple[str, str, dict[str, str]]] = [
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
    (
        "minisearch",
        "7.2.0",
        {
            "dist/umd/index.js": "minisearch/minisearch.js",
            "LICENSE.txt": "minisearch/LICENSE",
        },
    ),
    (
        "ts-fsrs",
        "5.4.2",
        {"dist/index.umd.js": "ts-fsrs/ts-fsrs.js", "LICENSE": "ts-fsrs/LICENSE"},
    ),
    ("axe-core", "4.14.1", {"axe.min.js": TESTS, "LICENSE": TESTS + "LICENSE-axe"}),
]

# The font of the formulas: where it is, and what of it is kept. Letters of formulas are characters
# apart from those of texts: italic, bold, Greek.
FONTS = ROOT / "book" / "assets" / "fonts"
MATH_FONT = ("ziamath", "0.13", "ziamath/fonts/STIXTwoMath-Regular.ttf")
MATH_LICENCE = ("@fontsource/stix-two-text", "5.3.0", "LICENSE")
MATH_RANGES = [
    (0x20, 0x7E),
    (0x391, 0x3C9),
    (0x1D400, 0x1D467),  # bold and italic letters
    (0x1D6E2, 0x1D71B),  # italic Greek
    (0x1D7CE, 0x1D7D7),  # bold digits
]
MATH_SIGNS = (
    "\u00a0\u2061\u2062\u2063¬°±·×÷ˆ˘˙˜¯ϑϕϱϵ†…′″‖ℎℓℒℕℝℤℂ𝔼𝟙←→↔↦⇒⇔∀∂∃∅∇∈∉∋∏∑−∓∗∘√∝∞∣∥∧∨∩∪∫≈≠≡≤≥≪≫⊂⊆⊕⊗⊙⊤⊥⋅⋮⋯⋱⌈⌉⌊⌋"
    "⏞⏟⟨⟩⟵⟶"
)

# The typefaces of the text: package, version, style, weights (a range stays variable).
TYPEFACES: list[tuple[str, str, str, tuple[int, int] | int]] = [
    ("source-serif-4", "5.3.1", "normal", (400, 700)),
    ("source-serif-4", "5.3.1", "italic", 400),
    ("source-sans-3", "5.3.1", "normal", (400, 700)),
    ("source-code-pro", "5.3.1", "normal", (400, 700)),
]
# What English, German and Italian need, and the signs of the text; browsers take others elsewhere.
CHARACTERS = "".join(map(chr, range(32, 127))) + (
    "\u00a0ÀÈÉÌÒÙàèéìòùÄÖÜäöüßáëçó°±²³¹·×½¼¾«»©§µ–—‘’“”„‚…−′″•€"
)
FEATURES = ["kern", "liga", "mark", "mkmk", "ccmp", "tnum", "lnum"]


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


def fit_for_browsers(font: TTFont) -> None:
    """Mend what Chromium makes of tall glyphs and primes.

    It keeps as much room beside a small bracket or root as the widest of its heights needs. So the
    tall roots become as narrow as the small one, and of brackets the tall ones are put together of
    parts, which are narrower. A prime is always an exponent: it gets the form that is made for it.
    """
    names, widths, glyphs = font.getBestCmap(), font["hmtx"], font["glyf"]
    variants = font["MATH"].table.MathVariants
    signs = zip(variants.VertGlyphCoverage.glyphs, variants.VertGlyphConstruction, strict=True)
    for sign, heights in signs:
        width = widths[sign][0]
        found = heights.MathGlyphVariantRecord
        parts = heights.GlyphAssembly.PartRecords if heights.GlyphAssembly else []
        if sign == names[ord("√")]:
            for name in {*(each.VariantGlyph for each in found), *(each.glyph for each in parts)}:
                scale = width / widths[name][0]
                glyph = glyphs[name]
                glyph.coordinates.scale((scale, 1))
                glyph.coordinates.toInt()
                glyph.recalcBounds(glyphs)
                widths[name] = (width, glyph.xMin)
        elif parts:
            heights.MathGlyphVariantRecord = [
                each for each in found if widths[each.VariantGlyph][0] < 1.3 * width
            ]
            heights.VariantCount = len(heights.MathGlyphVariantRecord)
    substitutions = font["GSUB"].table
    exponents = {
        index
        for feature in substitutions.FeatureList.FeatureRecord
        if feature.FeatureTag == "ssty"
        for index in feature.Feature.LookupListIndex
    }
    for lookup in map(substitutions.LookupList.Lookup.__getitem__, exponents):
        for table in lookup.SubTable:
            forms = getattr(getattr(table, "ExtSubTable", table), "alternates", {})
            if prime := forms.get(names[ord("′")]):
                for mapping in font["cmap"].tables:
                    mapping.cmap[ord("′")] = prime[0]


def cut_math_font(folder: Path) -> None:
    """Write the font of the formulas and its licence: the wanted characters, and their sizes.

    A bracket or a root has glyphs of several heights; the font's table names them, and they stay.
    Smaller forms of letters for exponents are left out: they would double the file.
    """
    package, version, inside = MATH_FONT
    wanted = f"{package}=={version}"
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    subprocess.run([*command, "--dest", str(folder), wanted], check=True)
    with zipfile.ZipFile(next(folder.glob(f"{package}-*.whl"))) as wheel:
        source = wheel.extract(inside, folder)
    options = subset.Options(
        flavor="woff2", layout_features=[], hinting=False, notdef_outline=True, name_languages=[9]
    )
    options.name_IDs = [0, 1, 2, 3, 4, 5, 6, 13, 14]  # who made it, and under which licence
    font = subset.load_font(source, options)
    fit_for_browsers(font)
    cutter = subset.Subsetter(options)
    kept = [c for first, last in MATH_RANGES for c in range(first, last + 1)]
    cutter.populate(unicodes=kept, text=MATH_SIGNS)
    cutter.subset(font)
    FONTS.mkdir(exist_ok=True)
    subset.save_font(font, str(FONTS / "stix-two-math.woff2"), options)
    package, version, inside = MATH_LICENCE
    shutil.copyfile(fetch(package, version, folder) / inside, FONTS / "LICENSE-STIX")


def cut_typeface(file: Path, weights: tuple[int, int] | int, goal: Path) -> None:
    """Write a typeface with the book's characters and these weights only."""
    font = TTFont(file)
    options = subset.Options(layout_features=FEATURES, hinting=False, desubroutinize=True)
    subsetter = subset.Subsetter(options)
    subsetter.populate(text=CHARACTERS)
    subsetter.subset(font)
    instantiateVariableFont(font, {"wght": weights}, inplace=True)
    # A changed font may not bear the name that its licence reserves; it keeps its copyright.
    for record in font["name"].names:
        if record.nameID in (1, 3, 4, 6, 16):
            record.string = goal.stem.replace("source-", "Book-")
    font.flavor = "woff2"
    font.save(goal)


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
        cut_math_font(Path(temporary))
        print(" ".join(MATH_FONT[:2]))
        for name, version, style, weights in TYPEFACES:
            source = fetch(f"@fontsource-variable/{name}", version, Path(temporary))
            file = source / "files" / f"{name}-latin-wght-{style}.woff2"
            cut_typeface(file, weights, FONTS / f"{name}-{style}.woff2")
            shutil.copyfile(source / "LICENSE", FONTS / f"LICENSE-{name}")
            print(f"{name} {version} {style}")
    lines = [f"{package} {version}\n" for package, version, _ in PACKAGES]
    (VENDOR / "VERSIONS.txt").write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
