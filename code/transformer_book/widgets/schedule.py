"""The learning rate against the update, to be moved by hand: a tent, its peak, its area."""

from __future__ import annotations

import math

import torch
import traitlets

from transformer_book.optimization import learning_rate
from transformer_book.support.arguments import check_choice, check_switch
from transformer_book.widgets.explorer import Explorer, check_share, check_whole

LONGEST = 100_000  # updates: the paper's
WIDEST = 4096
SCHEDULES = ("constant", "inverse_sqrt", "linear")  # those that chapter 15 compares


class ScheduleExplorer(Explorer):
    r"""Three schedules of `learning_rate`, and one update that is looked at.

    The peak is the paper's, $1 / \sqrt{d_{model}\, w}$, or one that is set.

    Args:
        schedule: "constant", "inverse_sqrt" or "linear".
        d_model: $d_{model}$, 1 to 4096, for the paper's peak.
        warmup: $w$, updates of the rise, 1 to 100,000; with 1, update 1 has the peak.
        updates: $N$, updates in all, 1 to 100,000.
        update: $n$, the update that is looked at, 1 to $N$.
        by_paper: the peak is the paper's, not `peak`.
        peak: the highest learning rate, if it is not the paper's; above 0, at most 1.

    Raises:
        ValueError: if one of them is out of these limits.
    """

    javascript = "schedule.js"
    label = "Schedule explorer"
    digits = ".4g"  # rates are small

    schedule = traitlets.Unicode("inverse_sqrt").tag(sync=True, moved=True)
    d_model = traitlets.Int(512).tag(sync=True, moved=True)
    warmup = traitlets.Int(4000).tag(sync=True, moved=True)
    updates = traitlets.Int(LONGEST).tag(sync=True, moved=True)
    update = traitlets.Int(16_000).tag(sync=True, moved=True)
    by_paper = traitlets.Bool(True).tag(sync=True, moved=True)
    peak = traitlets.Float(0.001).tag(sync=True, moved=True)

    def __init__(
        self,
        schedule: str = "inverse_sqrt",
        d_model: int = 512,
        warmup: int = 4000,
        updates: int = LONGEST,
        update: int = 16_000,
        by_paper: bool = True,
        peak: float = 0.001,
    ) -> None:
        check_choice("schedule", schedule, SCHEDULES)
        check_whole("d_model", d_model, 1, WIDEST)
        check_whole("warmup", warmup, 1, LONGEST)
        check_whole("updates", updates, 1, LONGEST)
        check_whole("update", update, 1, updates)
        check_switch(by_paper=by_paper)
        check_share("peak", peak)
        super().__init__(
            schedule=schedule,
            d_model=d_model,
            warmup=warmup,
            updates=updates,
            update=update,
            by_paper=by_paper,
            peak=float(peak),
        )

    def numbers(self) -> dict[str, object]:
        r"""Peak, rates and sums of rates, as the page shows them.

        `top` is the peak, `one_in` its reciprocal. `line` and `root` are the two curves of the
        paper's formula at the update: $\text{peak} \cdot n / w$ and $\text{peak} \sqrt{w / n}$.
        `rates`, `shares` (of the peak), `so_far` (rates of all updates up to this one, added up)
        and `whole` (of all updates) have one number for each schedule; `rate` and `share` are
        those of the chosen one. `reached` is the highest rate of the run, `reached_at` its update.
        """
        n, w, N = self.update, self.warmup, self.updates
        top = 1 / math.sqrt(self.d_model * w) if self.by_paper else self.peak
        rates = [self._rate(schedule, n, top) for schedule in SCHEDULES]
        chosen = SCHEDULES.index(self.schedule)
        line, root = n / w, math.sqrt(w / n)
        reached_at = min(w, N)
        return {
            "top": top,
            "one_in": 1 / top,
            "made_of": f"1 / √({self.d_model} · {w})" if self.by_paper else "set by hand",
            "warm_share": 100 * reached_at / N,
            "reached_at": reached_at,
            "reached": self._rate(self.schedule, reached_at, top),
            "rate": rates[chosen],
            "share": rates[chosen] / top,
            "line": top * line,
            "line_share": line,
            "root": top * root,
            "root_share": root,
            "rates": rates,
            "shares": [rate / top for rate in rates],
            "so_far": [top * self._added_up(schedule, n) for schedule in SCHEDULES],
            "whole": [top * self._added_up(schedule, N) for schedule in SCHEDULES],
        }

    def _rate(self, schedule: str, update: int, peak: float) -> float:
        return learning_rate(
            update, peak=peak, schedule=schedule, warmup=self.warmup, updates=self.updates
        )

    def _added_up(self, schedule: str, last: int) -> float:
        """The rates of the updates 1 to `last`, as shares of the peak, added up.

        The formulas of `learning_rate` for all updates at once: a hundred thousand calls take
        too long for something that moves.
        """
        w, N = self.warmup, self.updates
        n = torch.arange(1, last + 1, dtype=torch.float64)
        after = {
            "constant": torch.ones_like(n),
            "inverse_sqrt": (w / n).sqrt(),
            "linear": (N + 1 - n) / (N + 1 - w) if w <= N else n,  # n: never asked for
        }[schedule]
        return torch.where(n <= w, n / w, after).sum().item()
