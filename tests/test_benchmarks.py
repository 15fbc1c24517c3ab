"""benchmarks/: a tiny run of everything, and the page that shows the recorded one."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from benchmarks_page import BOOK, CONTINUATION, RESULT, THREADS, files, goals, line_through, page
from benchmarks_page import continuation as told_of
from common import ROOT

import transformer_book.fused
import transformer_book.training
from benchmarks import contestants, continuation, growth, memory, proofs
from benchmarks.__main__ import measure
from benchmarks.clock import round_robin, summary
from benchmarks.contestants import Book, CTranslate2, Marian, TorchTransformer, Tutorial
from benchmarks.improvements import TAKEN, Partly
from benchmarks.setting import QUICK, Setting
from benchmarks.shares import kind_of, shares


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("weights")


@pytest.fixture(scope="module")
def setting(folder) -> Setting:
    return Setting(QUICK, folder)


@pytest.fixture(scope="module")
def recorded() -> dict:
    return json.loads(RESULT.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def by_threads() -> dict:
    return json.loads(THREADS.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def tiny(folder) -> dict:
    """A run of the whole machinery, on a machine that has no peers but PyTorch."""
    said = []
    with pytest.MonkeyPatch.context() as patch:
        found = contestants.find_spec
        absent = {Marian.package, "x_transformers", CTranslate2.package}
        patch.setattr(
            contestants, "find_spec", lambda name: None if name in absent else found(name)
        )
        # Each takes a process of its own: the test of `peak` starts one.
        patch.setattr("benchmarks.__main__.peak", lambda *_: {"before": 1.0, "peak": 2.0})
        result = measure(QUICK, threads=torch.get_num_threads(), folder=folder, say=said.append)
    return result | {"note": None, "said": said}


# --- a tiny run -----------------------------------------------------------------------------------


def test_everything_is_measured_side_by_side(tiny) -> None:
    sizes, here = tiny["sizes"], {BOOK, TorchTransformer.name, Tutorial.name}
    assert set(tiny["contestants"]) == here
    assert set(tiny["training"]) == {BOOK, TorchTransformer.name}
    for part, rounds in (("greedy", "decode_rounds"), ("beam", "beam_rounds")):
        assert set(tiny[part]) == {BOOK, Tutorial.name}
        assert {len(e["seconds"]) for e in tiny[part].values()} == {sizes[rounds]}
    for part in ("training", "greedy", "beam", "latency"):
        assert tiny[part][BOOK]["ratio"] == 1
        assert all(entry["rate"] > 0 for entry in tiny[part].values())
    assert set(tiny["memory"]) == {"train", "greedy"}


def test_absent_peers_are_named_with_the_remedy(tiny, by_threads) -> None:
    assert set(tiny["missing"]) == {"Hugging Face Marian", "x-transformers", "CTranslate2"}
    assert all(
        why.endswith("not installed; make benchmarks installs it")
        for why in tiny["missing"].values()
    )
    assert tiny["said"][0] == (
        "Hugging Face Marian: not measured, transformers is not installed; "
        "make benchmarks installs it"
    )
    assert "CTranslate2 was not measured: ctranslate2 is not installed" in page(tiny, by_threads)


def test_each_improvement_is_taken_away_by_itself(tiny, by_threads) -> None:
    training, greedy = tiny["improvements"]["training"], tiny["improvements"]["greedy"]
    assert list(training) == ["all of them", *TAKEN]
    assert list(greedy) == ["all of them", "the cache", "batches", "the cache and batches"]
    text = page(tiny, by_threads)
    assert all(f"| {name} | " in text for name in [*TAKEN, "the cache and batches"])


@pytest.mark.parametrize(
    ("without", "missing"),
    [
        (None, set()),
        ("the formula for short attentions", {"formula"}),
        ("fused norms", {"norms"}),
        ("the projection in slices", {"slices"}),
    ],
)
def test_what_is_taken_away_is_not_used(setting, monkeypatch, without, missing) -> None:
    used = set()

    def watch(where, name: str, as_: str) -> None:
        original = getattr(where, name)
        monkeypatch.setattr(where, name, lambda *a, **k: used.add(as_) or original(*a, **k))

    watch(transformer_book.fused, "scaled_dot_product_attention", "formula")
    watch(torch.nn.functional, "layer_norm", "norms")
    watch(transformer_book.training, "projected_loss", "slices")
    contestant = Partly(setting, without=without)
    contestant.prepare()
    contestant.update(setting.train_batches(1)[0])
    assert used == {"formula", "norms", "slices"} - missing


def test_batches_as_they_come_have_more_padding(setting) -> None:
    def padding(bucket: bool) -> float:
        batches = setting.train_batches(10, bucket=bucket)
        return sum(int((b.source == 0).sum()) for b in batches)

    assert padding(bucket=False) > padding(bucket=True)


def test_shares_of_the_time_are_shares(tiny) -> None:
    for part in tiny["shares"].values():
        for entry in part.values():
            assert sum(entry.values()) == pytest.approx(1, abs=1e-3)
    assert set(tiny["shares"]["training"]) == {BOOK, TorchTransformer.name}
    assert set(tiny["shares"]["beam"]) == {BOOK, Tutorial.name}


def test_operations_are_told_apart() -> None:
    a = torch.randn(600, 600)
    found = shares(lambda: [a @ a for _ in range(20)])
    assert max(found, key=found.get) == "matrix products"
    found = shares(lambda: [a.log_softmax(-1) for _ in range(20)])
    assert max(found, key=found.get) == "softmax and its logarithm"
    assert kind_of("aten::_scaled_dot_product_flash_attention_for_cpu") == "fused attention"
    assert kind_of("aten::add") == "the rest"


def test_counted_operations_are_those_of_the_formula(tiny) -> None:
    decoding = tiny["decoding_growth"]
    rows = decoding["by_length"] + decoding["by_beams"]
    assert len(rows) == 2 * len(QUICK.growth_lengths) + len(QUICK.growth_beams)
    assert [row["operations"] for row in rows] == [row["formula"] for row in rows]


def test_a_cache_saves_operations(tiny) -> None:
    costs = {
        (r["length"], r["cached"]): r["operations"] for r in tiny["decoding_growth"]["by_length"]
    }
    longest = QUICK.growth_lengths[-1]
    assert costs[longest, True] < costs[longest, False]


def test_the_machine_is_described_without_its_name(tiny) -> None:
    import platform

    text = json.dumps(tiny["machine"])
    assert platform.node() not in text
    assert set(tiny["machine"]) == {
        *("processor", "cores", "threads", "instructions", "system", "python", "torch")
    }


# --- its parts ------------------------------------------------------------------------------------


def test_turns_alternate_and_each_round_begins_with_another() -> None:
    order = []
    turns = {name: lambda name=name: order.append(name) for name in "abc"}
    seconds = round_robin(turns, rounds=3, warm_up=1)
    assert [len(s) for s in seconds.values()] == [3, 3, 3]
    assert "".join(order) == "cab" + "abc" + "bca" + "cab"


def test_ratios_compare_turns_of_the_same_round() -> None:
    # The machine is three times as slow in the second round: the ratio does not notice.
    seconds = {"ours": [1.0, 3.0, 1.0], "theirs": [2.0, 6.0, 4.0]}
    result = summary(seconds, {"ours": 10, "theirs": 10}, "ours")
    assert (result["theirs"]["ratio"], result["theirs"]["ratio_to"]) == (2.0, 4.0)
    assert result["ours"]["rate"] == 10


def test_a_contestant_that_translates_another_way_is_found(setting) -> None:
    class Shorter(Book):
        name = "shorter"

        def greedy(self, source):
            return [tokens[:-1] for tokens in super().greedy(source)]

    with pytest.raises(AssertionError, match="shorter, greedy: 8 of 8 translations differ"):
        proofs.same_translations([Book(setting), Shorter(setting)], setting)


def test_what_is_cut_off_is_counted_and_seldom(setting) -> None:
    class Longer(Book):
        name = "longer"

        def beam(self, source):
            return [[*tokens[:-1], 9, 9] for tokens in super().beam(source)]

    with pytest.raises(AssertionError, match="longer, beam: 8 of 8 translations differ"):
        proofs.same_translations([Book(setting), Longer(setting)], setting)


def test_the_page_says_what_was_cut_off(recorded, by_threads) -> None:
    result = copy.deepcopy(recorded)
    result["proofs"]["beam"]["cut_off"] = 3
    assert "(but for 3 that one of them cuts off at" in page(result, by_threads)
    result["proofs"]["beam"]["cut_off"] = 0
    assert "cuts off" not in page(result, by_threads)


def test_a_contestant_with_another_loss_is_found(setting) -> None:
    class Padded(TorchTransformer):
        name = "padding counted"

        def loss(self, batch):
            logits = self.model(batch.source, batch.target_in)
            return torch.nn.functional.cross_entropy(logits.mT, batch.target_out)

    with pytest.raises(AssertionError, match="padding counted: "):
        proofs.same_losses(setting, [Book, Padded])


def test_weights_are_trained_once(setting, monkeypatch) -> None:
    first = setting.model().state_dict()
    again = Setting(QUICK, setting.folder)
    monkeypatch.setattr(again, "_learn", lambda run: pytest.fail("trained again"))
    second = again.model().state_dict()
    assert first.keys() == second.keys()
    assert all(torch.equal(first[name], second[name]) for name in first)


def test_the_peak_of_memory_is_that_of_another_process(folder) -> None:
    held = torch.ones(150_000_000)  # 600 MB held here must not count there
    result = memory.peak(QUICK, Book.name, "greedy", 1, folder)
    assert 50 < result["before"] <= result["peak"] < memory.megabytes()
    assert held.sum() > 0


def test_a_process_that_fails_says_why(folder) -> None:
    with pytest.raises(RuntimeError, match=r"(?s)memory of nobody failed: .*StopIteration"):
        memory.peak(QUICK, "nobody", "greedy", 1, folder)


def test_the_formula_by_hand() -> None:
    from transformer_book.transformer import TransformerConfig

    config = TransformerConfig(
        10, 10, d_model=2, n_heads=1, n_encoder_layers=1, n_decoder_layers=1, d_ff=3
    )
    # One source token, two target tokens. Encoder: projections 32, network 24, attention 8; the
    # memory's keys and values 16; two steps of projections 48, network 24, attention to the memory
    # 8, logits 40; attention to one and to two tokens 24.
    assert growth.formula(config, 1, 2) == 64 + 16 + 2 * (48 + 24 + 8 + 40) + 24


# --- the page -------------------------------------------------------------------------------------


def test_the_page_and_its_figures_are_those_of_the_recorded_runs(recorded, by_threads) -> None:
    for path, text in files(recorded, by_threads).items():
        assert path.read_text(encoding="utf-8") == text, "run tools/benchmarks_page.py --write"


def test_a_lost_comparison_is_published(recorded, by_threads) -> None:
    result = copy.deepcopy(recorded)
    result["training"]["nn.Transformer"] |= {"ratio": 0.512, "ratio_from": 0.5, "ratio_to": 0.6}
    text = page(result, by_threads)
    assert "0.512 (0.5–0.6)" in text
    assert "| training ahead of nn.Transformer | 1 | 0.512 | **missed** |" in goals(result)
    assert "**missed**" in text


def test_the_recorded_run_has_every_peer_and_all_agreed(recorded) -> None:
    names = {kind.name for kind in contestants.EVERY}
    assert set(recorded["contestants"]) == names
    assert not recorded["missing"]
    for search in ("greedy", "beam"):
        able = {kind.name for kind in contestants.EVERY if hasattr(kind, search)}
        assert set(recorded["proofs"][search]["equal"]) == able - {BOOK}
        assert recorded["proofs"][search]["captions"] == 1000
    able = {kind.name for kind in contestants.EVERY if hasattr(kind, "update")}
    assert set(recorded["proofs"]["training"]["contestants"]) == able
    for row in [
        *recorded["decoding_growth"]["by_length"],
        *recorded["decoding_growth"]["by_beams"],
    ]:
        assert row["operations"] == row["formula"]


def test_a_line_is_recognised() -> None:
    assert line_through([(0, 1.0), (1, 3.0), (2, 5.0)]) == pytest.approx((1, 2, 1))
    assert line_through([(0, 0.0), (1, 1.0), (2, 0.0)])[2] == pytest.approx(0)


def test_peers_are_no_requirement_of_the_book() -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    peers = project["optional-dependencies"]["benchmarks"]
    names = {name.split(">")[0] for name in peers}
    assert names == {"transformers", "ctranslate2", "x-transformers"}
    assert not set(peers) & {*project["dependencies"], *project["optional-dependencies"]["book"]}
    names -= {"transformers"}  # a model of theirs is shown in a test of the head explorer
    pinned = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    assert not any(f"\n{name}==" in pinned for name in names)


def test_the_command_explains_itself() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "--quick" in done.stdout


# --- going on with a text -------------------------------------------------------------------------


def test_both_write_the_same_text_and_each_has_its_turns() -> None:
    size = {
        "vocab_size": 50,
        "hidden_size": 16,
        "intermediate_size": 24,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "num_key_value_heads": 1,
        "max_position_embeddings": 64,
    }
    found = continuation.measure(size, prompt=5, n_new=6, rounds=2)
    assert found["contestants"]["the book"]["ratio"] == 1
    assert len(found["contestants"]) == 3
    assert all(len(each["seconds"]) == 2 for each in found["contestants"].values())


def test_the_page_says_who_went_on_faster() -> None:
    recorded = json.loads(CONTINUATION.read_text(encoding="utf-8"))
    theirs = recorded["contestants"]["Hugging Face Llama"]
    for ratio, said in ((2.0, "The book is faster"), (0.5, "The book is slower")):
        theirs.update(ratio=ratio, ratio_from=0.9 * ratio, ratio_to=1.1 * ratio)
        assert told_of(recorded)["llama_says"] == f"{said}, by a factor of 2"
    theirs.update(ratio=1.06, ratio_from=0.97, ratio_to=1.1)
    assert told_of(recorded)["llama_says"].startswith("Neither is faster in every round")
