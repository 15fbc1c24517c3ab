"""The tool that compares the browser's model with PyTorch: what it refuses."""

from __future__ import annotations

import browser_parity
import pytest

from tests.tools.running import run_tool


def test_bad_input_is_answered_in_one_sentence() -> None:
    done = run_tool("browser_parity.py", "--models", "capitons", real=True)
    assert done.returncode == 1
    sentence = "There is no model 'capitons'; they are captions-de-en"
    assert done.stderr.startswith(sentence) and len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--sentences", "0"], "--logits and --sentences must be at least 1, and --strings at lea"),
        (["--browser", "chromium"], "No Chromium or Chrome is installed"),
    ],
)
def test_other_refusals_end_the_program_likewise(monkeypatch, options, sentence) -> None:
    monkeypatch.setattr(browser_parity, "installed_chromium", lambda: None)
    monkeypatch.setattr("sys.argv", ["browser_parity.py", *options])
    with pytest.raises(SystemExit) as end:
        browser_parity.main()
    assert end.value.code.startswith(sentence) and "\n" not in end.value.code


def test_an_error_in_a_job_is_raised_with_its_sentence() -> None:
    jobs = [{"operation": "search"}, {"operation": "logits"}]
    assert browser_parity.without_errors(jobs, [[], ["AAAA"]]) == [[], ["AAAA"]]
    with pytest.raises(RuntimeError, match="logits: no such file"):
        browser_parity.without_errors(jobs, [[], {"error": "no such file"}])
