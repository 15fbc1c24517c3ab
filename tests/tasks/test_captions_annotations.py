"""The annotations of the captions' grammar hold, too: other tests import it without their hook."""

from __future__ import annotations

import subprocess
import sys

import pytest
from common import ROOT

# One construction: to count the sentences of all takes a quarter of a minute under the hook.
SENTENCES = """
import sys
from itertools import islice
from tests.typecheck import enforce_annotations
enforce_annotations(spared=None)
from transformer_book.tasks import captions
if len(sys.argv) > 1:
    captions.split_of("no list", 3)
spoken = {
    captions.speak(sentence, language)
    for sentence, _ in islice(captions.derivations(seed=1), 300)
    for language in ("en", "de", "it")
}
assert len(spoken) > 800
assert len(captions.pairs("de", "it", "test", n=3, constructions=["existential"])) == 3
"""


@pytest.mark.parametrize(("arguments", "status"), [([], 0), (["wrong"], 1)])
def test_the_annotations_of_the_grammar_hold(arguments: list[str], status: int) -> None:
    command = [sys.executable, "-c", SENTENCES, *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == status, done.stderr
    assert ("TypeCheckError" in done.stderr) == bool(status)
