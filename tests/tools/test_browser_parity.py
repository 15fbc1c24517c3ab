"""The tool that compares the browser's model with PyTorch: what it refuses."""

from __future__ import annotations

import browser_parity
import pytest

from tests.tools.running import run_tool


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--models", "capitons"], "There is no model 'capitons'; they are captions-de-en"),
        (["--sentences", "0"], "--logits and --sentences must be at least 1, and --strings"),
    ],
)
def test_bad_input_is_answered_in_one_sentence(options, sentence) -> None:
    done = run_tool("browser_parity.py", *options)
    assert done.returncode == 1
    assert done.stderr.startswith(sentence) and len(done.stderr.splitlines()) == 1


def test_without_a_chromium_one_sentence_says_so(monkeypatch) -> None:
    monkeypatch.setattr(browser_parity, "installed_chromium", lambda: None)
    monkeypatch.setattr("sys.argv", ["browser_parity.py", "--browser", "chromium"])
    with pytest.raises(SystemExit, match="No Chromium or Chrome is installed"):
        browser_parity.main()


def test_an_error_in_a_job_is_raised_with_its_sentence() -> None:
    jobs = [{"operation": "search"}, {"operation": "logits"}]
    assert browser_parity.without_errors(jobs, [[], ["AAAA"]]) == [[], ["AAAA"]]
    with pytest.raises(RuntimeError, match="logits: no such file"):
        browser_parity.without_errors(jobs, [[], {"error": "no such file"}])
