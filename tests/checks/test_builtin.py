"""`allow_builtin=False`: ready-made functions are seen, however they are called."""

from __future__ import annotations

import sys
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from tests.checks import corpus
from tests.fresh import import_fresh
from transformer_book import attention, decoder, decoding, embeddings, encoder, layers, masks

checks = import_fresh("transformer_book.checks")


def verdict(name: str, attempt: Any) -> Any:
    component = checks.COMPONENTS[name]
    return checks.judging.judge(component, attempt, checks.MISTAKES, allow_builtin=False)


class ReadySoftmax(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.softmax = nn.Softmax(dim=-1)

    def forward(self, scores):
        return self.softmax(scores)


class ReadyLoss(nn.Module):
    def forward(self, logits, target):
        return nn.CrossEntropyLoss(ignore_index=0)(logits.transpose(1, 2), target)


class HeadsOnTop(attention.MultiHeadAttention):
    def forward(self, query, key, value, mask=None):
        return super().forward(query, key, value, mask)


def packed_heads(query, key, value, wq, wk, wv, wo, n_heads, mask=None):
    packed = nn.MultiheadAttention(query.size(-1), n_heads, bias=False, batch_first=True)
    return packed(query, key, key, need_weights=False)[0]


def clipped(gradients, limit):
    parameters = [nn.Parameter(torch.zeros_like(g)) for g in gradients]
    for parameter, gradient in zip(parameters, gradients, strict=True):
        parameter.grad = gradient.clone()
    nn.utils.clip_grad_norm_(parameters, limit)
    return [parameter.grad for parameter in parameters]


@pytest.mark.parametrize(
    ("component", "attempt", "called"),
    [
        ("softmax", lambda s: F.softmax(s, dim=-1), "F.softmax"),
        ("softmax", lambda s: s.softmax(-1), "Tensor.softmax"),
        ("softmax", lambda s: torch.softmax(s, -1), "torch.softmax"),
        ("softmax", lambda s: s.log_softmax(-1).exp(), "Tensor.log_softmax"),
        ("softmax", ReadySoftmax(), "nn.Softmax"),
        (
            "scaled_dot_product_attention",
            F.scaled_dot_product_attention,
            "F.scaled_dot_product_attention",
        ),
        (
            "scaled_dot_product_attention",
            lambda *a, **k: attention.scaled_dot_product_attention(*a, **k)[0],
            "attention.scaled_dot_product_attention",
        ),
        ("multi_head_attention", packed_heads, "nn.MultiheadAttention"),
        ("multi_head_attention", attention.MultiHeadAttention, "MultiHeadAttention"),
        ("multi_head_attention", HeadsOnTop, "MultiHeadAttention"),
        ("layer_norm", nn.LayerNorm, "nn.LayerNorm"),
        ("layer_norm", lambda x, w, b, eps=1e-5: F.layer_norm(x, w.shape, w, b, eps), "F.layer_n"),
        ("layer_norm", layers.LayerNorm, "LayerNorm"),
        ("feed_forward", layers.FeedForward, "FeedForward"),
        ("encoder_layer", encoder.EncoderLayer, "EncoderLayer"),
        ("decoder_layer", decoder.DecoderLayer, "DecoderLayer"),
        ("embedding", embeddings.TokenEmbedding, "TokenEmbedding"),
        ("sinusoids", embeddings.sinusoids, "embeddings.sinusoids"),
        ("target_mask", masks.target_mask, "masks.target_mask"),
        ("cross_entropy", ReadyLoss(), "nn.CrossEntropyLoss"),
        ("clip_gradients", clipped, "nn.utils.clip_grad_norm_"),
        ("length_normalised", lambda s, n, a: s / decoding.length_divisor(n, a), "decoding.l"),
    ],
)
def test_a_ready_made_function_is_named(component: str, attempt: Any, called: str) -> None:
    found = verdict(component, attempt)
    assert found.status == "wrong"
    (sentence,) = found.sentences
    assert sentence.startswith(f"You call {called}")
    assert sentence.endswith(", which this task asks you to write yourself.")


def test_the_line_is_the_learners() -> None:
    def softmax(scores):
        moved = scores - 1
        return F.softmax(moved, dim=-1)

    assert verdict("softmax", softmax).line == softmax.__code__.co_firstlineno + 2


def test_the_checks_own_answer_is_no_answer() -> None:
    found = verdict("causal_mask", lambda n: checks.COMPONENTS["causal_mask"].reference(n))
    assert "the check's reference" in found.text()


def test_what_is_written_by_hand_passes() -> None:
    def softmax(scores):
        e = (scores - scores.amax(-1, keepdim=True)).exp()
        return e / e.sum(-1, keepdim=True)

    assert verdict("softmax", softmax).status == "right"


def test_the_same_calls_are_allowed_in_a_chapter(capsys) -> None:
    checks.softmax(lambda s: F.softmax(s, dim=-1))
    assert capsys.readouterr().out.startswith("Right")
    with pytest.raises(checks.CheckFailed, match=r"You call F\.softmax"):
        checks.softmax(lambda s: F.softmax(s, dim=-1), allow_builtin=False)


def test_watching_leaves_no_trace() -> None:
    before = sys.getprofile()
    verdict("softmax", lambda s: F.softmax(s, dim=-1))
    assert sys.getprofile() is before


def test_each_component_has_a_correct_version_without_ready_made_functions() -> None:
    """Nothing that is needed is forbidden."""
    for name in (name for name, of in checks.COMPONENTS.items() if of.ready_made):
        versions = [each.made for each in corpus.right_versions() if each.component == name]
        assert any(verdict(name, version).status == "right" for version in versions), name


def test_the_names_of_our_own_functions_exist() -> None:
    """A function that is renamed would no longer be seen."""
    import importlib

    for component in checks.COMPONENTS.values():
        for function in component.ready_made.values():
            if isinstance(function, str):
                module, *path = function.split(".")
                found: Any = importlib.import_module(f"transformer_book.{module.replace('/', '.')}")
                for part in path:
                    found = getattr(found, part)
                assert callable(found)


# --- classes -------------------------------------------------------------------------------------


def test_other_names_are_listed() -> None:
    text = verdict("multi_head_attention", nn.MultiheadAttention).text()
    assert "in_proj_weight" in text and "query.weight" in text and "line" not in text


def test_a_parameter_of_another_shape_is_described() -> None:
    class Turned(nn.Module):
        def __init__(self, d_model, d_ff):
            super().__init__()
            self.linear1, self.linear2 = nn.Linear(d_ff, d_model), nn.Linear(d_model, d_ff)

        def forward(self, x):
            return x

    text = checks.judging.judge(checks.COMPONENTS["feed_forward"], Turned).text()
    assert "linear1.weight has the shape" in text


def test_a_shared_norm_is_described() -> None:
    class Shared(encoder.EncoderLayer):
        def __init__(self, config: layers.LayerConfig):
            super().__init__(config)
            self.feed_forward_residual.norm = self.attention_residual.norm

    text = checks.judging.judge(checks.COMPONENTS["encoder_layer"], Shared).text()
    assert "one and the same parameter twice" in text and "fresh model" in text


def test_an_untouched_class_is_not_started() -> None:
    class Stub(nn.Module):
        def __init__(self, d_model):
            super().__init__()

        def forward(self, x): ...

    assert checks.judging.judge(checks.COMPONENTS["layer_norm"], Stub).status == "not started"


def test_a_class_is_refused_where_none_is_taken() -> None:
    with pytest.raises(TypeError, match="hand in an instance"):
        checks.softmax(ReadySoftmax)


def test_the_packages_own_classes_are_right() -> None:
    for name, own in (
        ("multi_head_attention", attention.MultiHeadAttention),
        ("layer_norm", layers.LayerNorm),
        ("feed_forward", layers.FeedForward),
        ("encoder_layer", encoder.EncoderLayer),
        ("decoder_layer", decoder.DecoderLayer),
        ("embedding", embeddings.TokenEmbedding),
    ):
        found = checks.judging.judge(checks.COMPONENTS[name], own, checks.MISTAKES)
        assert found.status == "right", found.text()
