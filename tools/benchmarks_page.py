#!/usr/bin/env python3
"""Make book/benchmarks.md and its figures from benchmarks/results and benchmarks/page.md."""

from __future__ import annotations

import argparse
import io
import sys
from pathlib import Path
from typing import Any

from common import PAGES, ROOT

RESULT = ROOT / "benchmarks" / "results" / "cpu.json"
THREADS = ROOT / "benchmarks" / "results" / "threads.json"
CONTINUATION = ROOT / "benchmarks" / "results" / "continuation.json"
TEXT = ROOT / "benchmarks" / "page.md"
PAGE = PAGES / "benchmarks.md"
FIGURES = PAGES / "assets" / "figures"
BOOK = "the book"
ALL = "all of them"  # nothing taken away
RAN = {
    BOOK: "training as `transformer-book train` does it; `greedy_search`, `beam_search`",
    "nn.Transformer": "`nn.Transformer`, batch first, with the causal hint; it has no search",
    "Hugging Face Marian": "`MarianMTModel`, fused attention; `generate` with cache, on batches",
    "x-transformers": "`XTransformer`, flash attention; `generate` with cache, on batches",
    "CTranslate2": "`Translator.translate_batch`, float32, on batches: an engine in C++",
    "tutorial loop": "`nn.Transformer`, one sentence at a time, the whole target anew at each step",
}


def rate(number: float) -> str:
    """Three digits, with commas: `12,300`."""
    digits = f"{number:.3g}"
    return f"{float(digits):,.0f}" if number >= 100 else f"{float(digits):g}"


def ratio(entry: dict[str, Any]) -> str:
    low, middle, high = (rate(entry[key]) for key in ("ratio_from", "ratio", "ratio_to"))
    return f"{middle} ({low}–{high})"


def table(part: dict[str, Any], column: str, value: Any = rate) -> str:
    """One row for each contestant, the fastest first."""
    rows = [f"| | {column} | the book is … times as fast |", "|---|---:|---:|"]
    for name, entry in sorted(part.items(), key=lambda item: -item[1]["rate"]):
        compared = "" if name == BOOK else ratio(entry)
        shown = f"**{name}**" if name == BOOK else name
        rows.append(f"| {shown} | {value(entry['rate'])} | {compared} |")
    return "\n".join(rows)


def goals(result: dict[str, Any]) -> str:
    """The goals that the book has set itself, and what became of them."""
    peers = {name: e["ratio"] for name, e in result["training"].items() if name != BOOK}
    wanted = [
        (f"training ahead of {name}", "1", ratio_, ratio_ >= 1) for name, ratio_ in peers.items()
    ]
    for part, name, least in (
        ("greedy", "tutorial loop", 20),
        ("beam", "tutorial loop", 20),
        ("greedy", "Hugging Face Marian", 1),
        ("beam", "Hugging Face Marian", 1),
        ("greedy", "CTranslate2", 0.5),
        ("beam", "CTranslate2", 0.5),
    ):
        if name in result[part]:
            found = result[part][name]["ratio"]
            wanted.append((f"{part} search beside {name}", f"{least}", found, found >= least))
    rows = ["| goal | at least | measured | |", "|---|---:|---:|---|"]
    for what, least, found, met in wanted:
        rows.append(f"| {what} | {least} | {rate(found)} | {'met' if met else '**missed**'} |")
    return "\n".join(rows)


def why(result: dict[str, Any]) -> str:
    """What stands behind each goal that was missed; nothing where all were met."""
    beams = result["sizes"]["beam_size"]
    products = {
        name: f"{100 * share['matrix products']:.0f} %"
        for name, share in result["shares"]["training"].items()
    }
    reasons = []
    for name, entry in result["training"].items():
        if entry["ratio"] < 1:
            reasons.append(
                f"* **Training, {name}.** Both make the same products with the same kernels "
                f"({products[BOOK]} of the book's time, {products[name]} of theirs). What is left "
                f"to gain is small beside how much a turn varies: from {rate(entry['ratio_from'])} "
                f"to {rate(entry['ratio_to'])} from round to round."
            )
    if "tutorial loop" in result["beam"] and result["beam"]["tutorial loop"]["ratio"] < 20:
        rates = {
            (search, name): rate(result[search][name]["rate"])
            for search in ("greedy", "beam")
            for name in (BOOK, "tutorial loop")
        }
        slower = {
            name: rate(result["greedy"][name]["rate"] / result["beam"][name]["rate"])
            for name in (BOOK, "tutorial loop")
        }
        reasons.append(
            f"* **Beam search, the tutorial loop.** One sentence leaves the processor waiting for "
            f"memory, and {beams} beams are a batch of {beams} that costs it next to nothing: "
            f"{rates['greedy', 'tutorial loop']} sentences/s become "
            f"{rates['beam', 'tutorial loop']}, {slower['tutorial loop']} times as slow. The "
            f"book's batches keep the processor busy already, so that {beams} beams are work: "
            f"{rates['greedy', BOOK]} become {rates['beam', BOOK]}, {slower[BOOK]} times as slow."
        )
    return "\n".join(["Why goals were missed:\n", *reasons]) if reasons else ""


def worth(part: dict[str, Any]) -> str:
    """One row for each improvement, the most valuable first."""
    rows = ["| without | times as long |", "|---|---:|"]
    for name, entry in sorted(part.items(), key=lambda item: -item[1]["ratio"]):
        if name != ALL:
            rows.append(f"| {name} | {ratio(entry)} |")
    return "\n".join(rows)


def shares(part: dict[str, dict[str, float]]) -> str:
    """One row for each kind of operation, one column for each contestant."""
    kinds = list(next(iter(part.values())))
    names = [f"**{name}**" if name == BOOK else name for name in part]
    rows = [f"| | {' | '.join(names)} |", f"|---|{'---:|' * len(part)}"]
    for kind in kinds:
        cells = [f"{100 * entry[kind]:.0f}" for entry in part.values()]
        rows.append(f"| {kind} | {' | '.join(cells)} |")
    return "\n".join(rows)


def in_short(result: dict[str, Any]) -> str:
    """The finding in a few lines."""
    lines = []
    for part, what in (("training", "trains"), ("greedy", "decodes greedily")):
        lines.append(f"* The book's model {what} {_compared(result[part])}.")
    beams = result["sizes"]["beam_size"]
    lines.append(f"* With {beams} beams it is {_compared(result['beam'])}.")
    return "\n".join(lines)


def _compared(part: dict[str, Any]) -> str:
    """`1.2 times as fast as …, 0.8 times as fast as …`."""
    others = {name: rate(e["ratio"]) for name, e in part.items() if name != BOOK}
    names = {name: f"the {name}" if name.endswith("loop") else name for name in others}
    return ", ".join(f"{r} times as fast as {names[name]}" for name, r in others.items())


def line_through(points: list[tuple[float, float]]) -> tuple[float, float, float]:
    """The least-squares line: intercept, slope, and the share of the variance it explains."""
    n = len(points)
    mean_x, mean_y = (sum(p[i] for p in points) / n for i in (0, 1))
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / spread
    base = mean_y - slope * mean_x
    rest = sum((y - base - slope * x) ** 2 for x, y in points)
    return base, slope, 1 - rest / sum((y - mean_y) ** 2 for _, y in points)


def memory(result: dict[str, Any]) -> str:
    rows = ["| | training | greedy search |", "|---|---:|---:|"]
    parts = result["memory"]
    for name in result["contestants"]:
        cells = [f"{parts[t][name]['peak']:,.0f}" if name in parts[t] else "" for t in parts]
        rows.append(f"| {f'**{name}**' if name == BOOK else name} | {' | '.join(cells)} |")
    return "\n".join(rows)


def continuation(found: dict[str, Any]) -> dict[str, str]:
    """What the page says of the decoder-only model beside Llama."""
    size, contestants = found["size"], found["contestants"]
    (theirs,) = [name for name in contestants if name.startswith("Hugging Face")]
    middle, low, high = (contestants[theirs][key] for key in ("ratio", "ratio_from", "ratio_to"))
    by = f"by a factor of {rate(max(middle, 1 / middle))}"
    if low <= 1 <= high:
        says = f"Neither is faster in every round: the book is {rate(middle)} times as fast"
    else:
        says = f"The book is {'faster' if middle > 1 else 'slower'}, {by}"
    return {
        "llama_size": (
            f"{found['parameters'] / 1e6:.1f} million parameters, "
            f"{size['num_hidden_layers']} layers, `d_model` {size['hidden_size']}, "
            f"{size['num_attention_heads']} heads of queries and "
            f"{size['num_key_value_heads']} of keys and values"
        ),
        "llama_prompt": str(found["prompt"]),
        "llama_new": str(found["new"]),
        "llama_versions": (
            f"transformers {found['transformers']}, PyTorch {found['torch']}, 1 thread"
        ),
        "llama_table": table(contestants, "tokens/s"),
        "llama_says": says,
    }


def threads(found: dict[str, Any]) -> str:
    """Times as fast with all threads as with one: a row for each size of model."""
    work = [name for name in found["sizes"][0] if name not in ("d_model", "layers", "parameters")]
    rows = [f"| million parameters | {' | '.join(work)} |", "|---:|" + "---:|" * len(work)]
    for entry in found["sizes"]:
        cells = " | ".join(f"{entry[name]:.2f}" for name in work)
        rows.append(f"| {entry['parameters'] / 1e6:.1f} | {cells} |")
    return "\n".join(rows)


def left_out(result: dict[str, Any]) -> str:
    """Who does not take part in what, and why."""
    words = {"greedy": "greedy search", "beam": "beam search"}
    lines = [
        f"{name} takes no part in {words[task]}: it {why}."
        if not why.startswith("its")
        else f"{name} takes no part in {words[task]}: {why}."
        for name, tasks in result["cannot"].items()
        for task, why in tasks.items()
        if task in words
    ]
    lines += [f"{name} was not measured: {why}." for name, why in result["missing"].items()]
    return "\n".join(lines)


def cut_off(proofs: dict[str, Any]) -> str:
    """How many captions were not compared, in words."""
    most = max(proofs[search].get("cut_off", 0) for search in ("greedy", "beam"))
    if not most:
        return ""
    many = "one that one of them cuts" if most == 1 else f"{most} that one of them cuts"
    return f" (but for {many} off at its longest length: there libraries choose differently)"


def unequal(training: dict[str, Any]) -> str:
    """What x-transformers' architecture does not allow to copy."""
    if "x-transformers" not in training:
        return "Those that are compared have equally many weights."
    theirs, ours = (training[name]["parameters"] for name in ("x-transformers", BOOK))
    return (
        "Two things could not be made equal. x-transformers has no biases in attention and norms. "
        "So the weights are learned without\nthem, and the others compute with biases of zero, for "
        "the same result. And it cannot tie its output matrix to its embedding, so it has\n"
        f"{theirs:,} weights to train where the others have {ours:,}."
    )


def machine(result: dict[str, Any]) -> str:
    m = result["machine"]
    threads = "1 thread" if m["threads"] == 1 else f"{m['threads']} threads"
    return (
        f"{m['processor']}, {m['cores']} cores, {threads}, {m['instructions']}, "
        f"{m['system']}; Python {m['python']}, PyTorch {m['torch']}"
    )


def page(result: dict[str, Any], by_threads: dict[str, Any]) -> str:
    """The whole page: of the run beside the peers, and of the one with more and fewer threads."""
    from transformer_book.support.atomic_files import read_json

    s, proofs = result["sizes"], result["proofs"]
    decoding = result["decoding_growth"]
    growth = [(p["tokens"], p["seconds"]) for p in result["training_growth"]]
    _, slope, r2 = line_through(growth)
    longest = max(p["length"] for p in decoding["by_length"])
    last = {p["cached"]: p for p in decoding["by_length"] if p["length"] == longest}
    first_beam, last_beam = decoding["by_beams"][0], decoding["by_beams"][-1]
    rounds = (
        f"{s['train_rounds']} times in training, {s['decode_rounds']} times in greedy and "
        f"{s['beam_rounds']} times in beam search"
    )
    training = result["training"]
    note = f"> **Note.** {result['note']}\n\n" if result.get("note") else ""
    return TEXT.read_text(encoding="utf-8").format(
        note=note,
        short=in_short(result),
        contestants="\n".join(
            f"| {name} | {entry['version']} | {RAN[name]} |"
            for name, entry in result["contestants"].items()
        ),
        size=(
            f"{s['n_layers']} + {s['n_layers']} layers, `d_model` {s['d_model']}, "
            f"{s['n_heads']} heads, `d_ff` {s['d_ff']}"
        ),
        vocab=f"{s['vocab_size']:,}",
        words=f"{result['words']:,}",
        learning=s["learning_updates"],
        captions=f"{proofs['greedy']['captions']:,}",
        cut_off=cut_off(proofs),
        beam=s["beam_size"],
        within=f"{proofs['training']['within']:f}".rstrip("0"),
        unequal=unequal(training),
        rounds=rounds,
        machine=machine(result),
        max_tokens=f"{s['max_tokens']:,}",
        training=table(training, "tokens/s"),
        decode_batch=s["decode_batch"],
        slow=s["slow_captions"],
        tokens=f"{proofs['greedy']['tokens']:,}",
        pool=f"{s['pool'] * s['captions']:,}",
        spare=s["spare"],
        greedy=table(result["greedy"], "sentences/s"),
        beams=table(result["beam"], "sentences/s"),
        latency=table(result["latency"], "milliseconds", lambda r: f"{1000 / r:.3g}"),
        cannot=left_out(result),
        memory=memory(result),
        several=by_threads["threads"],
        threads=threads(by_threads),
        thread_tokens=f"{by_threads['tokens']:,}",
        thread_sentences=by_threads["sentences"],
        improvements_training=worth(result["improvements"]["training"]),
        improvements_greedy=worth(result["improvements"]["greedy"]),
        shares_training=shares(result["shares"]["training"]),
        shares_beam=shares(result["shares"]["beam"]),
        why=why(result),
        slope=f"{1e6 * slope:.3g}",
        r2=f"{100 * r2:.1f}",
        width=20,
        longest=longest,
        few=millions(last[True]["operations"]),
        many=millions(last[False]["operations"]),
        times=f"{last[False]['operations'] / last[True]['operations']:.3g}",
        longer=f"{last[False]['seconds'] / last[True]['seconds']:.2g}",
        max_beams=last_beam["beams"],
        beam_operations=f"{last_beam['operations'] / first_beam['operations']:.3g}",
        beam_seconds=f"{last_beam['seconds'] / first_beam['seconds']:.3g}",
        goals=goals(result),
        minutes=f"{result['minutes']:.0f}",
        **continuation(read_json(CONTINUATION)),
        **{f"{name}_alt": alt for name, (_, alt) in figures(result).items()},
    )


def millions(operations: int) -> str:
    return f"{operations / 1e6:,.0f} million"


def figures(result: dict[str, Any]) -> dict[str, tuple[Any, str]]:
    """Each figure as a function that draws it, and its alternative text."""
    growth = result["training_growth"]
    by_length = result["decoding_growth"]["by_length"]
    by_beams = result["decoding_growth"]["by_beams"]

    def training(plots: Any) -> Any:
        drawn, (axes,) = plots.figure(width=4.8, height=2.6)
        tokens = [p["tokens"] for p in growth]
        axes.plot(tokens, [p["seconds"] for p in growth], "o", color=plots.PALETTE[0])
        base, slope, _ = line_through([(p["tokens"], p["seconds"]) for p in growth])
        ends = [0, tokens[-1]]
        axes.plot(ends, [base + slope * x for x in ends], color=plots.PALETTE[0])
        axes.set(xlabel="tokens in the batch", ylabel="seconds of an update", ylim=(0, None))
        return drawn

    def length(plots: Any) -> Any:
        drawn, axes = plots.figure(2, 1, width=4.8, height=4.6, sharex=True)
        for cached, color, label in ((True, 0, "with a cache"), (False, 1, "without")):
            rows = [p for p in by_length if p["cached"] is cached]
            lengths = [p["length"] for p in rows]
            color = plots.PALETTE[color]
            counted = [p["operations"] / 1e6 for p in rows]
            axes[0].plot(lengths, [p["formula"] / 1e6 for p in rows], color=color, label=label)
            axes[0].plot(lengths, counted, "o", color=color)
            axes[1].plot(lengths, [1000 * p["seconds"] for p in rows], "o-", color=color)
        axes[0].set(ylabel="million operations", ylim=(0, None))
        axes[1].set(xlabel="tokens of the target", ylabel="milliseconds", ylim=(0, None))
        axes[0].legend()
        return drawn

    def beams(plots: Any) -> Any:
        drawn, axes = plots.figure(2, 1, width=4.8, height=4.6, sharex=True)
        wide = [p["beams"] for p in by_beams]
        color = plots.PALETTE[0]
        axes[0].plot(wide, [p["formula"] / 1e6 for p in by_beams], color=color)
        axes[0].plot(wide, [p["operations"] / 1e6 for p in by_beams], "o", color=color)
        axes[1].plot(wide, [1000 * p["seconds"] for p in by_beams], "o-", color=color)
        axes[0].set(ylabel="million operations", ylim=(0, None))
        axes[1].set(xlabel="beams", ylabel="milliseconds", ylim=(0, None))
        return drawn

    return {
        "training": (
            training,
            "Seconds of an update against the tokens in its batch: dots along a straight line.",
        ),
        "length": (
            length,
            "Counted operations and milliseconds of decoding against the length of the target: "
            "a straight line with a cache, a parabola without.",
        ),
        "beams": (
            beams,
            "Counted operations and milliseconds of decoding against the number of beams: "
            "operations on a straight line, time below one.",
        ),
    }


def drawn(result: dict[str, Any]) -> dict[str, str]:
    """The figures as SVG, the same on every run."""
    import matplotlib as mpl

    from transformer_book import plots

    made = {}
    for name, (draw, _) in figures(result).items():
        figure = draw(plots)
        buffer = io.StringIO()
        with mpl.rc_context(plots.STYLE):
            figure.savefig(buffer, format="svg", metadata={"Date": None}, bbox_inches="tight")
        plots.plt.close(figure)
        made[f"benchmarks_{name}.svg"] = "\n".join(map(str.rstrip, buffer.getvalue().splitlines()))
    return {name: text + "\n" for name, text in made.items()}


def files(result: dict[str, Any], by_threads: dict[str, Any]) -> dict[Path, str]:
    """What the tool writes: the page and its figures."""
    svgs = {FIGURES / name: svg for name, svg in drawn(result).items()}
    return {PAGE: page(result, by_threads), **svgs}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write them; else only compare")
    arguments = parser.parse_args()

    from transformer_book.support.atomic_files import read_json

    for path, text in files(read_json(RESULT), read_json(THREADS)).items():
        if arguments.write:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            print(f"{path.name} is not up to date: run python tools/benchmarks_page.py --write")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
