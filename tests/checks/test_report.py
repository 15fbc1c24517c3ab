"""The panel: what it shows, and that a learner's text stays text."""

from __future__ import annotations

from tests.checks.judged import checks, verdict


def test_the_panel_is_plain_and_says_the_same() -> None:
    found = verdict("merge_heads", lambda heads: heads.reshape(heads.size(0), heads.size(2), -1))
    panel = checks.report.as_html(found)
    assert "role='status'" in panel and "<script" not in panel
    assert "Merging" in panel and "Not yet" in panel


def test_the_panel_escapes_what_the_learner_wrote() -> None:
    def broken(scores):
        raise ValueError("<b>bold</b>")

    assert "<b>" not in checks.report.as_html(verdict("softmax", broken))
