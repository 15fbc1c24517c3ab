"""Every explorer of the book: where it stands, and random states in which to compare it.

To add one, add one `Case`. test_widgets.py drives all controls that it shows, by pointer and by
keyboard, and compares all numbers that it shows with those that Python computes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from transformer_book.widgets import (
    BeamExplorer,
    EmbeddingMap,
    Explorer,
    GeometryExplorer,
    HeadExplorer,
    InductionExplorer,
    MaskExplorer,
    NeuronView,
    NormalisationExplorer,
    PositionExplorer,
    RotaryExplorer,
    ScheduleExplorer,
    ShapeStepper,
    WritingExplorer,
)
from transformer_book.widgets.beam import record_search
from transformer_book.widgets.induction import packed
from transformer_book.widgets.masks import RULES
from transformer_book.widgets.neuron import ORDERS
from transformer_book.widgets.normalisation import OVER
from transformer_book.widgets.schedule import SCHEDULES
from transformer_book.widgets.shapes import VERSIONS


@dataclass(frozen=True)
class Case:
    """One explorer, and what the tests need to know of it.

    Args:
        widget: the class.
        page: where it stands, as "chapters/06_geometry_of_attention".
        arguments: from a source of random numbers to the constructor's keyword arguments.
        example: what one control must do: (its accessible name, the key pressed, the number that
            must change, the value it must then show); the first numbers of the chapter are best.
        drag: how far a handle is dragged, in pixels, where (23, −17) does not suit it.
        silent: names of controls that rightly change no number.
    """

    widget: type[Explorer]
    page: str
    arguments: Callable[[Random], dict]
    example: tuple[str, str, str, str]
    drag: dict[str, tuple[int, int]] = field(default_factory=dict)
    silent: frozenset[str] = frozenset()


def vectors(random: Random, *shape: int) -> list:
    """Nested lists of random numbers between −3 and 3."""
    if not shape:
        return random.uniform(-3, 3)
    return [vectors(random, *shape[1:]) for _ in range(shape[0])]


def geometry(random: Random) -> dict:
    return {
        "query": vectors(random, 2),
        "key": vectors(random, 3, 2),
        "value": vectors(random, 3, 2),
        "temperature": random.choice([0.02, 0.5, 1.0, 3.0, 100.0]),
        "scaled": random.random() < 0.5,
    }


def attention(random: Random, *shape: int) -> list:
    """Nested lists of attention weights: the last axis sums to one."""
    if len(shape) == 1:
        exponentials = [math.exp(random.uniform(-4, 4)) for _ in range(*shape)]
        return [each / sum(exponentials) for each in exponentials]
    return [attention(random, *shape[1:]) for _ in range(shape[0])]


def heads(random: Random) -> dict:
    n = {"source": random.randint(1, 7), "target": random.randint(1, 7)}
    sides = {"encoder": ("source",) * 2, "decoder": ("target",) * 2, "cross": ("target", "source")}
    sizes = {kind: (random.randint(1, 3), random.randint(1, 4)) for kind in sides}
    kind = random.choice(list(sides))
    side, (queries, keys) = random.choice(["query", "key"]), sides[kind]
    return {
        **{name: [f"{name} {i}" for i in range(length)] for name, length in n.items()},
        **{each: attention(random, *sizes[each], n[q], n[k]) for each, (q, k) in sides.items()},
        "kind": kind,
        "layer": random.randrange(sizes[kind][0]),
        "head": random.randrange(-1, sizes[kind][1]),
        "side": side,
        "token": random.randrange(-1, n[queries]) if side == "query" else random.randrange(n[keys]),
        "threshold": random.choice([0.01, 0.1, 0.25, 0.9]),
    }


def induction(random: Random) -> dict:
    n_tokens, n_layers, n_heads = (random.randint(*ends) for ends in ((2, 9), (1, 3), (1, 3)))
    measured = sorted(random.sample(range(0, 500, 50), random.randint(2, 9)))
    updates = sorted(random.sample(measured, random.randint(1, len(measured))))

    def one() -> str:
        return packed([[random.randint(0, 100) for _ in range(t + 1)] for t in range(n_tokens)])

    return {
        "tokens": [f"token {i}" for i in range(n_tokens)],
        "period": random.randint(1, n_tokens - 1),
        "updates": updates,
        "maps": [[[one() for _ in range(n_heads)] for _ in range(n_layers)] for _ in updates],
        "measured": measured,
        "first": [random.uniform(0, 5) for _ in measured],
        "again": [random.uniform(0, 5) for _ in measured],
        "stop": random.randrange(len(updates)),
        "layer": random.randrange(n_layers),
        "head": random.randrange(n_heads),
        "row": random.randrange(n_tokens),
    }


def embedding_map(random: Random) -> dict:
    n, tables = random.randint(3, 12), ["reader", "writer"][: random.randint(1, 2)]
    grouped = ["noun"] + [random.choice(["noun", "verb", "adjective", ""]) for _ in range(n - 1)]
    return {
        "words": [f"word {i}" for i in range(n)],
        "cosines": {
            name: [[round(random.uniform(-1, 1), 1) for _ in range(i)] for i in range(n)]
            for name in tables
        },
        # Few digits, so that some are equally near.
        "places": {
            name: [[round(random.uniform(-1, 1), 1) for _ in "xy"] for _ in range(n)]
            for name in tables
        },
        "shares": {name: random.random() for name in tables},
        "groups": {"class": grouped, "all one": ["x"] * n},
        "width": 128,
        "table": random.choice(tables),
        "grouping": random.choice(["class", "all one"]),
        "word": random.randrange(n),
        "near": random.randint(1, min(8, n - 1)),
    }


def masks(random: Random) -> dict:
    where = random.choice(["encoder", "decoder", "cross"])
    lengths = {"source": random.randint(2, 8), "target": random.randint(2, 8)}
    batch = {
        side: [
            [f"word{j}" if j < n_words else "<pad>" for j in range(length)]
            for n_words in (length, random.randint(1, length))
        ]
        for side, length in lengths.items()
    }
    queries = lengths["source" if where == "encoder" else "target"]
    columns = lengths["target" if where == "decoder" else "source"]
    cells = [[i, j] for i in range(queries) for j in range(columns)]
    return {
        **batch,
        "where": where,
        "sentence": random.randrange(2),
        "shortened": random.choice([0, 0, 1, 3, 8]),
        "front": random.random() < 0.5,
        "rule": random.choice(RULES),
        "late": random.random() < 0.3,
        "flipped": random.sample(cells, random.choice([0, 0, 1, 4])),
        "changed": random.randint(1, 8),
    }


def beams(random: Random) -> dict:
    def follow(words: tuple[str, ...]) -> dict[str, float]:
        likely = random.sample(["a", "b", "c", "d", "<eos>"], random.randint(2, 5))
        parts = [math.exp(random.uniform(-4, 2)) for _ in likely]
        return {word: part / sum(parts) for word, part in zip(likely, parts, strict=True)}

    searches = [
        record_search(f"search {i}", follow, max_length=random.randint(1, 7))
        for i in range(random.randint(1, 3))
    ]
    return {
        "searches": searches,
        "example": random.randrange(len(searches)),
        "beam_size": random.randint(1, 4),
        "length_penalty": random.choice([0.0, 0.2, 0.6, 1.0, 2.0]),
        "step": random.randint(1, 9),
    }


def neuron(random: Random) -> dict:
    n_layers, n_heads, n_queries, n_keys = (random.randint(1, 4) for _ in range(4))
    width = random.randint(1, 9)
    masked = random.random() < 0.5
    return {
        "q": vectors(random, n_layers, n_heads, n_queries, width),
        "k": vectors(random, n_layers, n_heads, n_keys, width),
        "query_tokens": [f"query {i}" for i in range(n_queries)],
        "key_tokens": [f"key {j}" for j in range(n_keys)],
        # The last key is always seen.
        "mask": [
            [j == n_keys - 1 or random.random() < 0.5 for j in range(n_keys)]
            for _ in range(n_queries)
        ]
        if masked
        else None,
        "scale": random.choice([None, 1.0, 0.1]),
        "layer": random.randrange(n_layers),
        "head": random.randrange(n_heads),
        "query": random.randrange(n_queries),
        "key": random.randrange(n_keys),
        "order": random.choice(ORDERS),
        "kept": random.randint(1, width),
        "turned": random.random() < 0.3,
    }


def positions(random: Random) -> dict:
    d_model, place = random.choice([4, 8, 16, 32, 64, 128]), random.randrange(64)
    return {
        "d_model": d_model,
        "place": place,
        "step": random.randint(max(-8, -place), min(32, 63 - place)),
        "hand": random.randrange(d_model // 2),
    }


def rotary(random: Random) -> dict:
    return {
        **{name: [random.uniform(-2.5, 2.5) for _ in range(2)] for name in ("query", "key")},
        **{name: random.randint(0, 24) for name in ("m", "n", "shift")},
        "pair": random.randrange(4),
    }


def shapes(random: Random) -> dict:
    n_positions, n_heads = random.randint(2, 8), random.randint(2, 4)
    d_head = random.randint(2, 8 // n_heads)
    return {
        "n_positions": n_positions,
        "n_heads": n_heads,
        "d_head": d_head,
        "position": random.randrange(n_positions),
        "head": random.randrange(n_heads),
        "feature": random.randrange(d_head),
        "version": random.choice(VERSIONS),
    }


def schedule(random: Random) -> dict:
    updates = random.choice([1, 7, 450, 10_000, 100_000])
    return {
        "schedule": random.choice(SCHEDULES),
        "d_model": random.choice([32, 512, 2048]),
        "warmup": random.choice([1, 100, 450, 4000, 16_000]),
        "updates": updates,
        "update": random.randint(1, updates),
        "by_paper": random.random() < 0.5,
        "peak": random.uniform(1e-5, 0.1),
    }


def normalisation(random: Random) -> dict:
    chosen = {"sentence": random.randrange(2), "word": random.randrange(2)}
    return {
        "batch": vectors(random, 2, 2, 4),
        "pad": vectors(random, 4),
        **chosen,
        "vector": vectors(random, 4),
        "scale": random.choice([-1.0, 0.0, 1e-4, 0.01, 1.0, 3.0]),
        "shift": random.uniform(-10, 10),
        "over": random.choice(list(OVER)),
        "padding": random.choice([0, 0, 1, 10]),
        "bessel": random.random() < 0.5,
        "outside": random.random() < 0.5,
    }


def writing(random: Random) -> dict:
    n_switches, n_likely = random.randint(0, 2), random.randint(1, 4)
    looks = random.random() < 0.5

    def one(n_read: int) -> dict:
        chances = sorted((random.random() for _ in range(n_likely)), reverse=True)
        return {
            "next": [[f"token{random.randrange(9)}", chance] for chance in chances],
            "looks": [random.random() for _ in range(n_read)] if looks else [],
        }

    def sentence() -> dict:
        n_read = random.randint(1, 6)
        runs = [[one(n_read) for _ in range(random.randint(1, 7))] for _ in range(2**n_switches)]
        return {"source": [f"word{i}" for i in range(n_read)], "runs": runs}

    sentences = [sentence() for _ in range(random.randint(1, 3))]
    longest = max(len(run) for each in sentences for run in each["runs"])
    return {
        "sentences": sentences,
        "switches": [f"switch {i}" for i in range(n_switches)],
        "sentence": random.randrange(len(sentences)),
        "on": [random.random() < 0.5 for _ in range(n_switches)],
        "step": random.randint(1, longest),
    }


CASES = [
    Case(
        GeometryExplorer,
        "chapters/06_geometry_of_attention",
        geometry,
        # q = (1.1, 1): the score of A grows by 0.1 · 4.
        example=("query", "ArrowRight", "scores.0", "3.40"),
    ),
    Case(
        PositionExplorer,
        "chapters/05_positions",
        positions,
        # The pencil: from place 1 on by k = 1, the hand's sine is 0.91.
        example=("step k", "ArrowLeft", "turned.0", "0.91"),
    ),
    Case(
        MaskExplorer,
        "chapters/08_masks",
        masks,
        # "the" sees "dog", one word of its future.
        example=("query 0 the, key 1 dog: hidden", "Enter", "outputs.0", "5.00"),
    ),
    Case(
        HeadExplorer,
        "chapters/12_encoder",
        heads,
        # Layer 2, head 4: who looks at the adjective? The noun, as before, by 0.79.
        example=("key 2: alte", "Enter", "weights.2", "0.79"),
    ),
    Case(
        InductionExplorer,
        "chapters/26_induction",
        induction,
        # Update 1700 in place of 2400: the induction head is there, a little less sharp.
        example=("update", "ArrowLeft", "update", "1700"),
        silent=frozenset({"layer 2, head 2, induction score: 0.98"}),  # chosen from the start
    ),
    Case(
        EmbeddingMap,
        "chapters/04_embeddings",
        embedding_map,
        # red: from the reader's table to the writer's, where yellow is nearest.
        example=("table", "ArrowDown", "neighbour_cosines.0", "0.49"),
    ),
    Case(
        ShapeStepper,
        "chapters/09_multi_head_attention",
        shapes,
        # Never permuted: attention runs over the heads of position 1.
        example=("version", "ArrowDown", "partners", "10, 110, 210"),
        silent=frozenset({"position 1, head 2, feature 0: 210"}),  # followed from the start
    ),
    Case(
        BeamExplorer,
        "chapters/17_decoding",
        beams,
        # Two beams find the sentence that greedy search misses; one more step finishes it.
        example=("Step on", "Enter", "finished.0.sentence", "some dogs sleep <eos>"),
    ),
    Case(
        NeuronView,
        "chapters/21_looking_inside",
        neuron,
        # Three features instead of four: isst is ahead as before, by less.
        example=("features shown", "ArrowLeft", "kept_weights.9", "0.95"),
        silent=frozenset({"query 8: woman", "key 10: isst"}),  # chosen from the start
    ),
    Case(
        ScheduleExplorer,
        "chapters/15_loss_and_schedule",
        schedule,
        # Half the warm-up: a higher peak, 1 / √(512 · 2000).
        example=("warm-up w", "ArrowLeft", "top", "0.00098821"),
    ),
    Case(
        NormalisationExplorer,
        "chapters/10_residuals_and_layer_norm",
        normalisation,
        # The mean over words, too: 3x + 5 moves the word beside it.
        example=("mean and variance over", "ArrowDown", "moved.0.1", "1.11"),
        silent=frozenset({"<pad> after each sentence"}),  # over features: that is the point
    ),
    Case(
        RotaryExplorer,
        "chapters/25_todays_parts",
        rotary,
        # The key one position nearer: it is turned by 1 less, cos 1 · 4 − sin 1 · 3.
        example=("position of the key n", "ArrowLeft", "product", "−0.36"),
    ),
    Case(
        WritingExplorer,
        "chapters/01_sequence_to_sequence",
        writing,
        # After A comes the teacher.
        example=("Next token", "Enter", "tokens.0", "teacher"),
    ),
    Case(
        WritingExplorer,
        "chapters/22_known_mistakes",
        writing,
        # A decoder that cannot see the source begins in another way.
        example=("cross-attention left out", "Space", "tokens.0", "An"),
    ),
]
