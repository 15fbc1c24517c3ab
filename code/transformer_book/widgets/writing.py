"""A sentence becoming a translation, token by token; and what mistakes in the model make of it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import Any

import traitlets

from transformer_book.translator import Translator
from transformer_book.widgets.explorer import Explorer, check_whole

MOST_SWITCHES = 4  # each doubles what is recorded


class WritingExplorer(Explorer):
    """What a model wrote, step by step: where it looked, and which tokens it held for likely.

    Everything is recorded: the page computes nothing but products of probabilities.

    Args:
        sentences: the recorded ones; each has `source`, its tokens, and `runs`, one for each
            combination of switches: $2^n$ for n of them, the first without any. A run is a list
            of steps, a step has `next`, the most probable tokens with their probabilities, of
            which the first is written, and `looks`, the weight on each source token, if known.
        switches: the names of what can be switched on.
        sentence: the chosen one.
        on: which switches are on.
        step: how many tokens are written; beyond the end of a run, all of them.

    Raises:
        ValueError: if there is no sentence, a choice is out of range, or runs are missing.
    """

    javascript = "writing.js"
    label = "Writing explorer"

    sentences = traitlets.List().tag(sync=True)
    switches = traitlets.List(traitlets.Unicode()).tag(sync=True)
    sentence = traitlets.Int(0).tag(sync=True, moved=True)
    on = traitlets.List(traitlets.Bool()).tag(sync=True, moved=True)
    step = traitlets.Int(1).tag(sync=True, moved=True)

    def __init__(
        self,
        sentences: Sequence[Mapping[str, Any]],
        switches: Sequence[str] = (),
        sentence: int = 0,
        on: Sequence[bool] | None = None,
        step: int = 1,
    ) -> None:
        if not sentences:
            raise ValueError("There is nothing to show: sentences is empty.")
        check_whole("the number of switches", len(switches), 0, MOST_SWITCHES)
        check_whole("sentence", sentence, 0, len(sentences) - 1)
        for each in sentences:
            if len(each["runs"]) != 2 ** len(switches) or not all(each["runs"]):
                raise ValueError(
                    f"{len(switches)} switches need {2 ** len(switches)} runs of at least one step "
                    f"for each sentence, but {' '.join(each['source'])!r} has {len(each['runs'])}."
                )
        longest = max(len(run) for each in sentences for run in each["runs"])
        check_whole("step", step, 1, longest)
        super().__init__(
            sentences=[dict(each) for each in sentences],
            switches=list(switches),
            sentence=sentence,
            on=[False] * len(switches) if on is None else list(on),
            step=step,
        )

    @classmethod
    def from_translator(
        cls,
        translator: Translator,
        texts: Sequence[str],
        mistakes: Mapping[str, Callable[[], AbstractContextManager]] | None = None,
        n: int = 4,
        max_length: int = 24,
        **chosen: object,
    ) -> WritingExplorer:
        """What a model writes for these texts by greedy search, with and without mistakes.

        Where it looks is recorded if there are no mistakes: some leave no weights to show.

        Args:
            translator: with the model in it.
            texts: the sentences to read.
            mistakes: by the name of its switch, what opens a context in which it is made.
            n: how many of the most probable tokens are shown at each step.
            max_length: the longest translation, in tokens.
            chosen: sentence, on, step.
        """
        mistakes = dict(mistakes or {})
        runs: list[list[list[dict]]] = [[] for _ in texts]
        # The first switch changes slowest, as in the binary digits of the number of a run.
        for on in itertools.product([False, True], repeat=len(mistakes)):
            with ExitStack() as stack:
                for switched, make in zip(on, mistakes.values(), strict=True):
                    if switched:
                        stack.enter_context(make())
                found = [
                    translator.search(
                        [text],
                        beam_size=1,
                        n_candidates=n,
                        keep_attention=not mistakes,
                        max_length=max_length,
                    )[0]
                    for text in texts
                ]
            for of_text, result in zip(runs, found, strict=True):
                run = [
                    {"next": [[token, round(p, 4)] for token, p in candidates], "looks": []}
                    for candidates in result.candidates
                ]
                if result.attention is not None:
                    of_all_heads = result.attention.mean(dim=(0, 1)).tolist()  # (T, S)
                    for one, row in zip(run, of_all_heads, strict=False):
                        one["looks"] = [round(weight, 2) for weight in row]
                of_text.append(run)
        sources = [list(result.source_tokens) for result in found]
        sentences = [
            {"source": source, "runs": of_text}
            for source, of_text in zip(sources, runs, strict=True)
        ]
        return cls(sentences, list(mistakes), **chosen)

    def numbers(self) -> dict[str, object]:
        """The last step that is shown: what could be written, and where the model looked.

        `length` is how many tokens the run has, `shown` how many of them are written, `sure` the
        product of their probabilities; `right` is that of the run without mistakes.
        """
        runs = self.sentences[self.sentence]["runs"]
        run = runs[int("".join(str(int(each)) for each in self.on) or "0", 2)]
        shown = run[: self.step]
        last = shown[-1]
        return {
            "length": len(run),
            "shown": len(shown),
            "written": " ".join(step["next"][0][0] for step in shown),
            "wanted": " ".join(step["next"][0][0] for step in runs[0]),
            "sure": math.prod(step["next"][0][1] for step in shown),
            "tokens": [token for token, _ in last["next"]],
            "chances": [p for _, p in last["next"]],
            "looks": last["looks"],
        }
