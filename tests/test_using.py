"""A learner's own part in the whole model: copied into a cell, built in, trained, decoded, seen."""

from __future__ import annotations

import ast
import json
import sys
from contextlib import ExitStack
from types import ModuleType

import pytest
import torch
from jupyter_client.manager import start_new_kernel
from torch import Tensor, nn
from torch.testing import assert_close

from tests import small
from tests.typecheck import unenforced
from transformer_book import attention, decoder_cache, encoder, layers, masks, transformer
from transformer_book import using as replacing
from transformer_book.attention import recorded_attention, scaled_dot_product_attention
from transformer_book.batches import collate
from transformer_book.decoding import beam_search, greedy_search
from transformer_book.layers import LayerNorm
from transformer_book.notebook import edit_source, editable_source, using
from transformer_book.tokens import EOS
from transformer_book.training import Trainer
from transformer_book.translator import Translator
from transformer_book.weights.checkpoints import own_parts, weights_of

SOURCE = torch.tensor([[4, 5, 6, 2], [7, 2, 0, 0]])


class Mine(nn.Module):
    """Multi-head attention as a learner writes it: two methods, and the weights put aside."""

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.query = nn.Linear(d_model, d_model)
        self.key = nn.Linear(d_model, d_model)
        self.value = nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, d_model)
        self.weights = None

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
    ) -> Tensor:
        heads, weights = scaled_dot_product_attention(
            self.split(self.query(query)),
            self.split(self.key(key)),
            self.split(self.value(value)),
            mask,
        )
        self.weights = weights.detach()
        return self.output(self.merge(heads))

    def split(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def merge(self, heads: Tensor) -> Tensor:
        return heads.transpose(1, 2).flatten(-2)


class WrongMerge(Mine):
    def merge(self, heads: Tensor) -> Tensor:
        return heads.reshape(heads.size(0), heads.size(2), -1)


class MyNorm(nn.Module):
    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x: Tensor) -> Tensor:
        centred = x - x.mean(dim=-1, keepdim=True)
        return self.weight * centred / (centred.square().mean(-1, True) + 1e-5).sqrt() + self.bias


def build(**replacements: object) -> transformer.Transformer:
    with using(**replacements):
        return small.model(n_decoder_layers=2)


# --- the source in a cell ------------------------------------------------------------------------


@pytest.mark.parametrize("name", replacing.REPLACEABLE)
def test_the_copy_runs_as_it_stands(name, unhooked):
    """Without a star, in an empty world; annotations, defaults and decorators are evaluated."""
    thing = getattr(unhooked(replacing.REPLACEABLE[name].__module__), name)
    text = unhooked("transformer_book.using").editable_source(thing, name="Mine")
    world = {"__name__": "__main__"}
    exec(compile(text, "<cell>", "exec", dont_inherit=True), world)
    assert world["Mine"].__module__ == "__main__"
    imported = [node for node in ast.parse(text).body if isinstance(node, ast.ImportFrom)]
    assert all(alias.name not in ("*", name) for node in imported for alias in node.names)
    words = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
    bound = {alias.asname or alias.name for node in imported for alias in node.names}
    assert bound <= words  # nothing is imported that is not needed
    assert name not in words


def copy_of(thing: object) -> object:
    world: dict[str, object] = {"__name__": "__main__"}
    exec(compile(editable_source(thing, "Copy"), "<cell>", "exec", dont_inherit=True), world)
    return world["Copy"]


@pytest.mark.parametrize(
    "thing",
    [
        attention.MultiHeadAttention,
        layers.LayerNorm,
        layers.FeedForward,
        layers.Residual,
        encoder.EncoderLayer,
        transformer.Transformer,
    ],
)
def test_a_model_with_the_copy_is_the_same_model(thing):
    copy = copy_of(thing)
    if thing is transformer.Transformer:
        ours = small.model()
        torch.manual_seed(0)
        theirs = copy(ours.config)
    else:
        ours, theirs = small.model(n_decoder_layers=2), build(**{thing.__name__: copy})
    assert any(type(module) is copy for module in theirs.modules())
    small.assert_same_weights(ours, theirs)
    ours.eval(), theirs.eval()
    assert torch.equal(ours(SOURCE, SOURCE), theirs(SOURCE, SOURCE))


def test_a_copy_of_a_function_is_the_same_function():
    q, k, v = torch.randn(3, 2, 4, 8)
    copy = copy_of(scaled_dot_product_attention)
    mask = masks.causal_mask(4)
    for mine, own in zip(
        copy(q, k, v, mask), scaled_dot_product_attention(q, k, v, mask), strict=True
    ):
        assert torch.equal(mine, own)


def test_the_copy_has_another_name_unless_told():
    assert "class MyLayerNorm(nn.Module):" in editable_source(LayerNorm)
    assert "def my_causal_mask(" in editable_source(masks.causal_mask)
    assert "using(LayerNorm=LayerNorm)" in editable_source(LayerNorm, name="LayerNorm")
    text = editable_source(transformer.Transformer, name="Mine")
    assert "register_load_state_dict_post_hook(Mine.tie_weights)" in text


@pytest.mark.parametrize("thing", [torch.nn.Linear, LayerNorm(4), "LayerNorm", None, 3])
def test_a_copy_of_what_is_not_the_packages(thing, unhooked):
    with pytest.raises(ValueError, match="has no source here: give a class or function of"):
        unhooked("transformer_book.using").editable_source(thing)


@pytest.mark.parametrize("name", ["my norm", "2nd", "class", "", 4])
def test_a_copy_with_an_impossible_name(name, unhooked):
    module = unhooked("transformer_book.using")
    with pytest.raises(ValueError, match="but it must be a name in Python"):
        module.editable_source(unhooked("transformer_book.layers").LayerNorm, name)


def test_in_a_terminal_the_copy_is_printed(capsys):
    edit_source(LayerNorm)
    assert capsys.readouterr().out == editable_source(LayerNorm) + "\n"


CELLS = """\
from transformer_book.attention import MultiHeadAttention
from transformer_book.notebook import edit_source, using
from transformer_book.transformer import Transformer, TransformerConfig
edit_source(MultiHeadAttention)
"""
BUILD = """\
with using(MultiHeadAttention=MyMultiHeadAttention):
    model = Transformer(TransformerConfig(9, 9, d_model=8, n_heads=2, d_ff=8))
print(sum(type(part) is MyMultiHeadAttention for part in model.modules()))
"""


def test_in_a_notebook_the_copy_comes_as_a_cell_that_runs():
    manager, client = start_new_kernel(kernel_name="python3")
    printed: list[str] = []

    def collect(message: dict) -> None:
        content = message["content"]
        assert message["msg_type"] != "error", content["evalue"]
        printed.append(content.get("text", ""))

    try:
        reply = client.execute_interactive(CELLS, output_hook=collect)
        [payload] = reply["content"]["payload"]
        assert payload["source"] == "set_next_input" and payload["replace"] is False
        assert payload["text"] == editable_source(attention.MultiHeadAttention)
        assert "".join(printed) == replacing.BELOW + "\n"  # the same in every run, and no path
        client.execute_interactive(payload["text"], output_hook=collect)
        client.execute_interactive(BUILD, output_hook=collect)
        assert "".join(printed) == replacing.BELOW + "\n18\n"
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


# --- in the place of the package's ---------------------------------------------------------------


def best_of_beam(model: transformer.Transformer, source: Tensor, **options: object) -> list:
    return [best for [best] in beam_search(model, source, 3, n_best=1, **options)]


def test_a_right_one_of_your_own_changes_nothing():
    """Built, with the same weights: every output, every gradient and every search."""
    ours, theirs = small.model(n_decoder_layers=2), build(MultiHeadAttention=Mine)
    assert own_parts(theirs) == ["Mine"] and own_parts(ours) == []
    small.assert_same_weights(ours, theirs)
    ours.eval(), theirs.eval()
    for model in (ours, theirs):
        model(SOURCE, SOURCE).square().sum().backward()
    assert_close(ours(SOURCE, SOURCE), theirs(SOURCE, SOURCE))
    for (name, mine), other in zip(ours.named_parameters(), theirs.parameters(), strict=True):
        assert_close(mine.grad, other.grad, msg=lambda text, name=name: f"{name}: {text}")
    long = {"ban": [EOS], "max_length": 6}
    for search, options in ((greedy_search, long), (best_of_beam, long)):
        for asked in ({}, {"cached": False}, {"keep_attention": True}):
            found = search(theirs, SOURCE, **options, **asked)
            wanted = search(ours, SOURCE, **options, **asked)
            assert [one.tokens for one in found] == [one.tokens for one in wanted]
            for one, other in zip(found, wanted, strict=True):
                assert_close(one.score, other.score, rtol=0, atol=1e-5)
                if asked.get("keep_attention"):
                    assert_close(one.attention, other.attention)


def test_its_weights_are_recorded_with_the_others():
    model = build(MultiHeadAttention=Mine).eval()
    with recorded_attention(model) as modules:
        model(SOURCE, SOURCE)
    assert len(modules) == 5
    shapes = {tuple(module.weights.shape) for module in modules.values()}
    assert shapes == {(2, 2, 4, 4)}


def test_a_parameter_called_weights_is_no_attention():
    class Scale(nn.Module):
        def __init__(self, d_model: int) -> None:
            super().__init__()
            self.weights = nn.Parameter(torch.ones(d_model))

        def forward(self, x: Tensor) -> Tensor:
            return self.weights * x

    with recorded_attention(build(LayerNorm=Scale)) as modules:
        assert all(type(module) is attention.MultiHeadAttention for module in modules.values())


def test_attention_that_is_not_kept():
    class Silent(Mine):
        def forward(self, *arguments: Tensor) -> Tensor:
            output = super().forward(*arguments)
            self.weights = None
            return output

    class Forgetful(Mine):
        def __init__(self, *arguments: int) -> None:
            super().__init__(*arguments)
            del self.weights

    for kind, sentence in ((Silent, "found no weights"), (Forgetful, "set `self.weights = None`")):
        with pytest.raises(ValueError, match=sentence):
            greedy_search(build(MultiHeadAttention=kind), SOURCE, keep_attention=True)


def trained(**replacements: object) -> tuple[Trainer, int]:
    """200 updates of copying letters, and how many of 64 sequences are then copied rightly."""
    with ExitStack() as stack:
        if replacements:
            stack.enter_context(using(**replacements))
        model = small.model(d_model=16, d_ff=32, dropout=0.0)
    course = small.config(updates=200, batch_size=32, validate_every=200, label_smoothing=0.0)
    with small.one_thread(), unenforced():  # test_training trains with the annotations enforced
        trainer = Trainer(model, small.dataset(512), small.dataset(64, seed=1), course)
        trainer.fit()
        batch = collate([trainer.validation[i] for i in range(64)])
        found = greedy_search(model, batch.source)
    wanted = [[token for token in row if token] for row in batch.target_out.tolist()]
    return trainer, sum(one.tokens == row for one, row in zip(found, wanted, strict=True))


def test_own_attention_is_trained_and_a_wrong_one_learns_less():
    usual, hits = trained()
    mine, mine_hits = trained(MultiHeadAttention=Mine)
    wrong, wrong_hits = trained(MultiHeadAttention=WrongMerge)
    print(hits, mine_hits, wrong_hits)
    assert_close(mine.validate(), usual.validate(), rtol=1e-3, atol=0)
    assert abs(mine_hits - hits) <= 2
    assert wrong.validate() > mine.validate() + 0.1
    assert wrong_hits < mine_hits / 3


def test_trained_weights_are_loaded_into_it():
    usual = Translator.from_pretrained("captions-de-en")
    with using(MultiHeadAttention=Mine, LayerNorm=MyNorm):
        mine = Translator.from_pretrained("captions-de-en")
    assert own_parts(mine.model) == ["Mine", "MyNorm"]
    sentences = ["Ein Hund schläft auf dem Sofa.", "Zwei Kinder spielen im Garten."]
    assert mine.translate(sentences) == usual.translate(sentences)


def test_positions_stand_in_a_table():
    class Shifted(nn.Module):
        def __init__(self, d_model: int, max_length: int) -> None:
            super().__init__()

        def forward(self, x: Tensor) -> Tensor:
            return x + torch.arange(x.size(1))[:, None]

    model = build(SinusoidalPositions=Shifted)
    assert type(model.source_positions) is type(model.target_positions) is Shifted
    assert len(greedy_search(model, SOURCE)) == 2  # without the cache, which needs `start`
    assert type(small.model().source_positions).__name__ == "SinusoidalPositions"


def test_a_function_counts_where_it_is_called():
    def nothing(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        return 0 * query, torch.zeros(*query.shape[:-1], key.size(-2))

    model = small.model().eval()
    before = model(SOURCE, SOURCE)
    with using(scaled_dot_product_attention=nothing):  # and the fused kernel
        inside = model(SOURCE, SOURCE)
        with recorded_attention(model) as modules:
            assert torch.equal(model(SOURCE, SOURCE), inside)
        assert not any(module.weights.any() for module in modules.values())
    assert not torch.allclose(before, inside)
    assert torch.equal(model(SOURCE, SOURCE), before)


def test_a_search_with_your_mask_does_not_go_past_it():
    """Keeping keys and values would: it asks for no mask of the target."""

    def only_the_last(tokens: Tensor) -> Tensor:
        return torch.eye(tokens.size(1), dtype=torch.bool)[None, None]

    model, long = small.model(dropout=0.0).eval(), {"ban": [EOS], "max_length": 6}
    with using(target_mask=only_the_last):
        cached, whole = (greedy_search(model, SOURCE, cached=c, **long) for c in (True, False))
        assert not decoder_cache.can_be_cached(model)
    assert decoder_cache.can_be_cached(model)
    assert [one.log_probabilities for one in cached] == [one.log_probabilities for one in whole]
    usual = greedy_search(model, SOURCE, **long)
    assert [one.log_probabilities for one in usual] != [one.log_probabilities for one in whole]


def names() -> dict[str, object]:
    """What every place that `using` may change holds now."""
    modules = (attention, encoder, layers, masks, transformer, decoder_cache)
    found = {f"{m.__name__}.{k}": v for m in modules for k, v in vars(m).items()}
    return {k: dict(v) if type(v) is dict and "builtins" not in k else v for k, v in found.items()}


def test_all_is_as_before_also_after_an_error():
    before = names()
    build(MultiHeadAttention=Mine, LayerNorm=MyNorm)
    assert names() == before
    with using(scaled_dot_product_attention=copy_of(scaled_dot_product_attention)):
        small.model()(SOURCE, SOURCE)
    assert names() == before
    with pytest.raises(KeyError, match="oh"), using(MultiHeadAttention=Mine, padding_mask=len):
        assert names() != before
        raise KeyError("oh")
    assert names() == before
    with pytest.raises(ValueError, match="It"), using(LayerNorm=MyNorm):
        raise ValueError("It")  # not hidden behind: nothing used your LayerNorm
    assert names() == before


def test_uses_stand_inside_each_other():
    class Other(Mine):
        pass

    before = names()
    with using(MultiHeadAttention=Mine):
        with using(MultiHeadAttention=Other, LayerNorm=MyNorm):
            assert own_parts(small.model()) == ["MyNorm", "Other"]
        assert own_parts(small.model()) == ["Mine"]
    assert own_parts(small.model()) == []
    assert names() == before


def test_a_module_imported_inside_keeps_nothing(monkeypatch):
    late = ModuleType("transformer_book.late")
    with using(LayerNorm=MyNorm):
        small.model()
        late.LayerNorm = layers.LayerNorm  # what `from … import LayerNorm` in it does
        monkeypatch.setitem(sys.modules, late.__name__, late)
        assert late.LayerNorm is not LayerNorm
    assert late.LayerNorm is LayerNorm


# --- saved and loaded ----------------------------------------------------------------------------


def test_saved_with_a_part_of_your_own(tmp_path):
    with using(MultiHeadAttention=Mine):
        translator = small.translator()
    translator.save(tmp_path)
    with pytest.raises(
        ValueError, match=r"part of your own, the class Mine, .* inside `with using"
    ):
        Translator.from_pretrained(tmp_path)
    with using(MultiHeadAttention=Mine):
        again = Translator.from_pretrained(tmp_path)
    small.assert_same_weights(again.model, translator.model)
    # The other way round is meant: weights of the package's part in your own.
    small.translator().save(tmp_path / "usual")
    with using(MultiHeadAttention=Mine):
        Translator.from_pretrained(tmp_path / "usual")


def test_a_run_is_not_resumed_with_other_parts(tmp_path):
    with using(MultiHeadAttention=Mine):
        trainer = small.trainer(tmp_path)
    trainer.fit(updates=2)
    with pytest.raises(ValueError, match=r"model.own_parts = \['Mine'\], not None"):
        small.trainer(tmp_path).resume()
    with using(MultiHeadAttention=Mine):
        again = small.trainer(tmp_path)
    assert again.resume()
    again.fit()
    trainer.fit()
    small.assert_same_weights(again.model, trainer.model)


def test_runs_from_before_this_was_noted_are_resumed(tmp_path):
    small.trainer(tmp_path).fit(updates=2)
    for path in tmp_path.glob("checkpoints/*/state.json"):
        state = json.loads(path.read_text())
        del state["model"]["own_parts"]
        path.write_text(json.dumps(state))
    assert small.trainer(tmp_path).resume()


# --- bad input -----------------------------------------------------------------------------------


class Pair(Mine):
    def forward(self, *arguments: Tensor) -> tuple[Tensor, Tensor]:
        return super().forward(*arguments), self.weights


class NoForward(nn.Module):
    def __init__(self, d_model: int) -> None:
        super().__init__()


def run(**options: object) -> None:
    model = small.model(**options)
    model(SOURCE, SOURCE)


BAD = {
    "nothing": ({}, run, "using\\(\\) replaces nothing"),
    "a name with a slip": ({"MultiHeadAtention": Mine}, run, "did you mean 'MultiHeadAttention'"),
    "a stub": ({"MultiHeadAttention": None}, run, "it is None; has the cell with yours been run"),
    "no class": ({"LayerNorm": lambda d: 3}, run, "makes 3, but in the place of LayerNorm stands"),
    "no forward": ({"LayerNorm": NoForward}, run, "NoForward has no method forward"),
    "a class for a function": ({"padding_mask": Mine}, run, "is a function, but what should"),
    "two results": ({"MultiHeadAttention": Pair}, run, r"returns a tuple, but .* \(2, 4, 8\)"),
    "one result": (
        {"scaled_dot_product_attention": lambda q, k, v, mask: v},
        run,
        "returns a Tensor, but scaled_dot_product_attention returns two things",
    ),
    "no mask": (
        {"scaled_dot_product_attention": lambda q, k, v: (v, v)},
        run,
        r"takes no argument 'mask', but the model gives mask=a tensor of shape \(2, 1, 1, 4\)",
    ),
    "an option it lacks": (
        {"MultiHeadAttention": Mine},
        lambda: run(attention_dropout=0.1),
        "Mine takes no argument 'dropout', but the model gives dropout=0.1; add it, or leave it",
    ),
    "built outside": ({"LayerNorm": MyNorm}, lambda: None, "used your LayerNorm: build the model"),
    "called outside": (
        {"padding_mask": masks.padding_mask},
        small.model,
        "a function is looked up when it is called, so call the model inside",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_told_in_one_sentence(case):
    replacements, body, sentence = BAD[case]
    before = names()
    with pytest.raises(ValueError, match=sentence) as caught, using(**replacements):
        body()
    assert "\n" not in str(caught.value)
    assert names() == before


def test_a_module_instead_of_its_class():
    with (
        pytest.raises(ValueError, match="built already; give the class, MyNorm, without"),
        using(LayerNorm=MyNorm(8)),
    ):
        run()


def test_arguments_reach_it_under_the_names_it_gives_them():
    """Keyword-only where the package passes by position, and the other way round."""
    seen = []

    def mine(query: Tensor, key: Tensor, value: Tensor, *, mask: Tensor) -> tuple[Tensor, None]:
        seen.append(mask is not None)
        return value.mean(dim=-2, keepdim=True).expand_as(query), None

    with using(scaled_dot_product_attention=mine):
        run()
    assert seen == [True] * 3


def test_own_weights_have_the_packages_names():
    assert (
        weights_of(build(MultiHeadAttention=Mine)).keys()
        == weights_of(small.model(n_decoder_layers=2)).keys()
    )
