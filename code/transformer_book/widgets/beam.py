"""The tree of a beam search: what goes on, what is dropped, what ends, and when it may stop."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from numbers import Real
from typing import Any

import traitlets

from transformer_book.decoding import check_length_penalty, length_divisor
from transformer_book.tokens import EOS, SPECIALS
from transformer_book.widgets.explorer import Explorer, check_whole

BEAMS = 4  # what is recorded, unless more are asked for
MOST_BEAMS = 16
LONGEST = 40
END = SPECIALS[EOS]

Node = tuple[int, float]  # a place in the list of nodes, and the sum of its log-probabilities


def record_search(
    name: str,
    follow: Callable[[tuple[str, ...]], Mapping[str, float]],
    max_length: int,
    beams: int | None = None,
) -> dict[str, Any]:
    """Every beginning that beam search with 1 to `beams` beams visits, with what may follow it.

    A search with W beams needs the 2 W most probable continuations, so as many of each beginning
    are kept.

    Args:
        name: of the search, such as its source.
        follow: from the words so far to the probabilities of the next words, `<eos>` among them.
        max_length: the longest target, `<eos>` included; at most 40.
        beams: how many beams the search may have; 4 if it is not said.

    Returns:
        `name`, `max_length`, `beams` if that was said, and `nodes`: a list of [parent, token,
        log-probability], parents first, the children of one parent together and the most probable
        first. A parent is a place in this list, -1 for the empty beginning. Logarithms are natural,
        rounded to five digits.

    Raises:
        ValueError: for a `max_length` out of range, a probability that is none, or a beginning
            after which nothing is possible.
    """
    *_, record = record_steps(name, follow, max_length, beams)
    return record


def record_steps(
    name: str,
    follow: Callable[[tuple[str, ...]], Mapping[str, float]],
    max_length: int,
    beams: int | None = None,
) -> Iterator[dict[str, Any]]:
    """`record_search` step by step: the record as it grows, one and the same dictionary."""
    check_whole("max_length", max_length, 1, LONGEST)
    nodes: list[list] = []
    record: dict[str, Any] = {"name": name, "max_length": max_length, "nodes": nodes}
    if beams is not None:
        check_whole("beams", beams, 1, MOST_BEAMS)
        record["beams"] = beams
    children: dict[int, list[int]] = {}

    def expand(parent: int) -> list[int]:
        if parent in children:
            return children[parent]
        words: list[str] = []
        node = parent
        while node >= 0:
            node, word, _ = nodes[node]
            words.insert(0, word)
        following = list(follow(tuple(words)).items())
        for word, p in following:
            if not isinstance(p, Real) or not 0 <= p <= 1 + 1e-6:
                raise ValueError(
                    f"follow gives {word!r} the probability {p!r} after {words}, but it must be "
                    "from 0 to 1."
                )
        if not any(p for _, p in following):
            raise ValueError(
                f"follow gives nothing that may come after {words}; <eos> ends a line."
            )
        best = sorted((pair for pair in following if pair[1] > 0), key=lambda pair: -pair[1])
        best = best[: 2 * _beams_of(record)]
        children[parent] = list(range(len(nodes), len(nodes) + len(best)))
        nodes.extend([parent, word, min(0.0, round(math.log(p), 5))] for word, p in best)
        return children[parent]

    for beam_size in range(1, _beams_of(record) + 1):
        for _ in _steps(nodes, expand, beam_size, max_length):
            yield record


def _steps(
    nodes: Sequence[Sequence[Any]],
    expand: Callable[[int], Iterable[int]],
    beam_size: int,
    max_length: int,
) -> Iterable[tuple[list[Node], list[Node], list[Node]]]:
    """After each step: the 2 W best continuations, those of them that end, those that go on.

    Until all W best have ended, or to the longest target: a length penalty decides only when to
    stop before that, and which of the finished is best.
    """
    beams: list[Node] = [(-1, 0.0)]
    for _ in range(max_length):
        ranked = [
            (child, total + nodes[child][2]) for node, total in beams for child in expand(node)
        ]
        ranked.sort(key=lambda entry: -entry[1])
        ended = [entry for entry in ranked[:beam_size] if nodes[entry[0]][1] == END]
        beams = [entry for entry in ranked if nodes[entry[0]][1] != END][:beam_size]
        yield ranked[: 2 * beam_size], ended, beams
        if len(ended) == len(ranked[:beam_size]):
            return


class BeamExplorer(Explorer):
    r"""A recorded beam search, step by step, with a beam size and a length penalty to be chosen.

    $$\mathrm{score}(y) = \frac{\sum_t \log p(y_t \mid y_{<t}, x)}{((5 + |y|) / 6)^\alpha}$$

    The rules are those of `transformer_book.decoding.beam_search`: of the W best continuations
    those that end are finished and set aside; the W best that do not end go on; the search stops
    when the W best have all ended, when no open beam can win any more, or at the longest target.

    Args:
        searches: one or more, each from `record_search`.
        example: which of them is shown.
        beam_size: W, from 1 to 4, or to what was recorded.
        length_penalty: $\alpha$, from 0 to 10.
        step: up to which step the tree is shown, from 1 on; beyond the last one: all of it.

    Raises:
        ValueError: if one of them is outside its limits, or a search was not recorded far enough.
    """

    javascript = "beam.js"
    label = "Beam explorer"

    searches = traitlets.List(traitlets.Dict()).tag(sync=True)
    example = traitlets.Int().tag(sync=True, moved=True)
    beam_size = traitlets.Int().tag(sync=True, moved=True)
    length_penalty = traitlets.Float().tag(sync=True, moved=True)
    step = traitlets.Int().tag(sync=True, moved=True)

    def __init__(
        self,
        searches: Sequence[Mapping[str, object]],
        example: int = 0,
        beam_size: int = 2,
        length_penalty: float = 0.0,
        step: int = 1,
    ) -> None:
        searches = [dict(search) for search in searches]
        if not searches:
            raise ValueError("searches is empty, but there must be one to show; see record_search.")
        for search in searches:
            _check_search(search)
        check_whole("example", example, 0, len(searches) - 1)
        check_whole("beam_size", beam_size, 1, min(map(_beams_of, searches)))
        check_whole("step", step, 1, LONGEST)
        check_length_penalty(length_penalty)
        super().__init__(
            searches=searches,
            example=example,
            beam_size=beam_size,
            length_penalty=float(length_penalty),
            step=step,
        )

    def _search(self, beam_size: int) -> list[dict]:
        """Each step up to the last: its continuations, the finished so far, whether to stop."""
        search = self.searches[self.example]
        nodes, longest, alpha = search["nodes"], search["max_length"], self.length_penalty
        steps: list[dict] = []
        finished: list[dict] = []
        for ranked, ended, beams in _steps(nodes, _children(nodes).get, beam_size, longest):
            length = len(steps) + 1
            divisor = length_divisor(length, alpha)
            finished = finished + [
                {
                    "node": node,
                    "tokens": length,
                    "sum": total,
                    "divisor": divisor,
                    "score": total / divisor,
                }
                for node, total in ended
            ]
            finished.sort(key=lambda one: -one["score"])
            all_ended = len(ended) == len(ranked[:beam_size])
            hope = math.nan if all_ended else beams[0][1]
            bound = hope / length_divisor(longest, alpha)
            best = finished[0]["score"] if finished else math.nan
            if all_ended:
                verdict = "the search stops: the best have all ended"
            elif best >= bound:
                verdict = "the search stops: no open beam can win any more"
            elif length == longest:
                verdict = "the search stops: this is the longest target allowed"
            elif finished:
                verdict = "the search goes on: an open beam could still win"
            else:
                verdict = "the search goes on: nothing has ended yet"
            stops = verdict.startswith("the search stops")
            going = "left open" if stops else "goes on"
            fates = {node: going for node, _ in beams} | {node: "finished" for node, _ in ended}
            rows = [
                {
                    "node": node,
                    "token": nodes[node][1],
                    "beginning": _sentence(nodes, node),
                    "log_probability": nodes[node][2],
                    "sum": total,
                    "probability": math.exp(total),
                    "score": total / divisor,
                    "fate": fates.get(node, "dropped"),
                }
                for node, total in ranked
            ]
            steps.append(
                {
                    "rows": rows,
                    "beams": beams,
                    "finished": finished,
                    "divisor": divisor,
                    "hope": hope,
                    "bound": bound,
                    "best": best,
                    "verdict": verdict,
                }
            )
            if stops:
                break
        return steps

    def _result(self, steps: list[dict]) -> dict[str, object]:
        """What the search returns: the best that is finished, else the best that is open."""
        nodes = self.searches[self.example]["nodes"]
        last = steps[-1]
        node, total = (
            (last["finished"][0]["node"], last["finished"][0]["sum"])
            if last["finished"]
            else last["beams"][0]
        )
        tokens = len(_line(nodes, node))
        return {
            "node": node,
            "sentence": _sentence(nodes, node),
            "tokens": tokens,
            "sum": total,
            "probability": math.exp(total),
            "score": total / length_divisor(tokens, self.length_penalty),
            "steps": len(steps),
        }

    def numbers(self) -> dict[str, object]:
        """The search up to the step that is shown, and what it returns in the end.

        `tree[t]` are the 2 W best continuations of step t + 1, best first, as they stand in the
        drawing; `rows` those of the present step in full. `finished` are the hypotheses that have
        ended so far, the best score first. `hope` is the sum of the best open beam, `bound` the
        score that it cannot exceed, `best` the best finished score so far; what there is none of is
        not a number. `greedy` is what one beam returns.
        """
        search = self.searches[self.example]
        nodes = search["nodes"]
        steps = self._search(self.beam_size)
        now = min(self.step, len(steps))
        here = steps[now - 1]
        result, greedy = self._result(steps), self._result(self._search(1))
        winning, greedily = (set(_line(nodes, one["node"])) for one in (result, greedy))
        return {
            "now": now,
            "n_steps": len(steps),
            "max_length": search["max_length"],
            "tree": [
                [
                    {
                        "node": row["node"],
                        "parent": nodes[row["node"]][0],
                        "token": row["token"],
                        "sum": row["sum"],
                        "fate": row["fate"],
                        "wins": row["node"] in winning,
                        "greedy": row["node"] in greedily,
                    }
                    for row in step["rows"]
                ]
                for step in steps[:now]
            ],
            "rows": here["rows"],
            "divisor": here["divisor"],
            "finished": [
                {**one, "sentence": _sentence(nodes, one["node"])} for one in here["finished"]
            ],
            "hope": here["hope"],
            "longest_divisor": length_divisor(search["max_length"], self.length_penalty),
            "bound": here["bound"],
            "best": here["best"],
            "verdict": here["verdict"],
            "result": result,
            "greedy": greedy,
            "compared": (
                "That is the same."
                if result["node"] == greedy["node"]
                else "Greedy search loses: its sentence has the lower score."
                if result["score"] > greedy["score"]
                else "Here greedy search has found the better score."
            ),
        }

    def text(self) -> str:
        """The present step and the results as text, for front ends that show no widgets."""
        numbers = self.numbers()
        found = [(f"W = {self.beam_size}", "result"), ("greedy search", "greedy")]
        return "\n".join(
            [
                f"{self.label} (a widget; where it is not shown, these are its numbers)",
                f"{self.searches[self.example]['name']}: step {numbers['now']} of "
                f"{numbers['n_steps']}, after it {numbers['verdict']}",
                *(
                    f"  {row['beginning']}: sum {row['sum']:.2f}, score {row['score']:.2f}, "
                    f"{row['fate']}"
                    for row in numbers["rows"]
                ),
                *(
                    f"{who} returns: {numbers[key]['sentence']}, score {numbers[key]['score']:.2f}"
                    for who, key in found
                ),
            ]
        )


def _beams_of(search: Mapping[str, Any]) -> int:
    return search.get("beams", BEAMS)


def _children(nodes: Sequence[Sequence[Any]]) -> dict[int, list[int]]:
    children: dict[int, list[int]] = {}
    for i, (parent, _, _) in enumerate(nodes):
        children.setdefault(parent, []).append(i)
    return children


def _line(nodes: Sequence[Sequence[Any]], node: int) -> list[int]:
    """The nodes from the first word to this one."""
    line: list[int] = []
    while node >= 0:
        line.insert(0, node)
        node = nodes[node][0]
    return line


def _sentence(nodes: Sequence[Sequence[Any]], node: int) -> str:
    return " ".join(nodes[i][1] for i in _line(nodes, node))


def _check_search(search: Mapping[str, Any]) -> None:
    """Raise `ValueError` unless every beam size can run to its end on what is recorded."""
    if search.keys() - {"beams"} != {"name", "max_length", "nodes"}:
        raise ValueError(
            f"A search holds {sorted(search)}, but it must hold max_length, name, nodes; see "
            "record_search."
        )
    check_whole("max_length", search["max_length"], 1, LONGEST)
    nodes = search["nodes"]
    for i, (parent, token, log_p) in enumerate(nodes):
        if not isinstance(parent, int) or not -1 <= parent < i:
            raise ValueError(
                f"Node {i} ({token!r}) has the parent {parent!r}, but it must be from -1 to "
                f"{i - 1}: parents come first."
            )
        if not isinstance(log_p, Real) or not -math.inf < log_p <= 0:
            raise ValueError(
                f"Node {i} ({token!r}) has the log-probability {log_p!r}, but it must be finite "
                "and at most 0."
            )
    children = _children(nodes)

    def expand(node: int) -> list[int]:
        if node not in children:
            raise ValueError(
                f"Nothing is recorded after {_sentence(nodes, node)!r} of {search['name']!r}, but "
                "a search comes by it; record it anew with record_search."
            )
        return children[node]

    check_whole("beams", _beams_of(search), 1, MOST_BEAMS)
    for beam_size in range(1, _beams_of(search) + 1):
        for _ in _steps(nodes, expand, beam_size, search["max_length"]):
            pass
