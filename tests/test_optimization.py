"""The loss is PyTorch's cross-entropy over real tokens; the schedules follow their formulas."""

from __future__ import annotations

import math
import re

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from transformer_book.fused import _ProjectedLoss, projected_loss
from transformer_book.optimization import SCHEDULES, label_smoothed_loss, learning_rate
from transformer_book.tokens import PAD


@pytest.fixture(scope="module")
def book(unhooked):
    return unhooked("transformer_book.optimization")


# --- the loss -------------------------------------------------------------------------------------


def example(seed: int = 0, B: int = 3, T: int = 5, V: int = 7) -> tuple[torch.Tensor, torch.Tensor]:
    """Logits and targets of which some are padding, the first never."""
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(B, T, V, dtype=torch.float64, generator=generator) * 3
    target = torch.randint(0, V, (B, T), generator=generator)
    target[0, 0] = V - 1
    return logits, target


@given(
    seed=st.integers(0, 1000),
    sizes=st.tuples(st.integers(1, 4), st.integers(1, 5), st.integers(2, 9)),
    smoothing=st.sampled_from([0.0, 0.1, 0.3, 0.9]),
    padding=st.sampled_from([PAD, 1, -100]),
)
def test_the_loss_is_that_of_pytorch(seed, sizes, smoothing, padding):
    logits, target = example(seed, *sizes)
    if padding < 0:
        target[-1, 1:] = padding
    elif padding == sizes[2] - 1:
        target[0, 0] = 0  # some token is real
    mine, theirs = logits.clone().requires_grad_(), logits.clone().requires_grad_()
    loss, nll = label_smoothed_loss(mine, target, smoothing, padding)
    loss.backward()
    options = {"ignore_index": padding, "label_smoothing": smoothing}
    expected = F.cross_entropy(theirs.flatten(0, 1), target.flatten(), **options)
    expected.backward()
    torch.testing.assert_close(loss, expected)
    torch.testing.assert_close(mine.grad, theirs.grad)
    plain = F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=padding)
    torch.testing.assert_close(nll, plain)


def test_the_loss_by_hand():
    probabilities = torch.tensor([[[0.5, 0.25, 0.125, 0.125], [0.7, 0.1, 0.1, 0.1]]])
    target = torch.tensor([[1, PAD]])
    loss, nll = label_smoothed_loss(probabilities.log(), target)
    assert loss.item() == nll.item() == pytest.approx(math.log(4))
    # ε is shared out among all four tokens: 0.6 · log 4 + 0.4 / 4 · (log 2 + log 4 + 2 log 8)
    loss, nll = label_smoothed_loss(probabilities.log(), target, smoothing=0.4)
    assert nll.item() == pytest.approx(math.log(4))
    assert loss.item() == pytest.approx((0.6 * 2 + 0.1 * (1 + 2 + 6)) * math.log(2))


def test_all_real_tokens_count_alike():
    """A mean over sentences of their means would weigh the only token of a short one more."""
    logits, _ = example()
    logits[1, 0, 6] -= 10
    target = torch.tensor([[1, 2, 3, 4, 5], [6, PAD, PAD, PAD, PAD], [1, 2, PAD, PAD, PAD]])
    loss, _ = label_smoothed_loss(logits, target)
    costs = -logits.log_softmax(-1).gather(2, target[..., None]).squeeze(2)  # (B, T)
    every = [costs[b, t] for b in range(3) for t in range(5) if target[b, t] != PAD]
    torch.testing.assert_close(loss, sum(every) / 8)
    of_sentences = [costs[0].mean(), costs[1, 0], costs[2, :2].mean()]
    assert loss < sum(of_sentences) / 3 - 1


def test_padding_has_no_influence():
    logits, target = example()
    target[1, 2:] = PAD
    logits = logits.requires_grad_()
    loss, _ = label_smoothed_loss(logits, target, 0.1)
    loss.backward()
    assert (logits.grad[target == PAD] == 0).all()
    assert (logits.grad[target != PAD] != 0).all()
    # Not even where its own logit is −∞, as in a model that never says it.
    forbidden = logits.detach().clone()
    forbidden[target == PAD] = torch.nan
    forbidden[..., PAD] = -torch.inf
    loss, _ = label_smoothed_loss(forbidden.requires_grad_(), target)
    loss.backward()
    assert loss.isfinite()
    assert forbidden.grad[target != PAD].isfinite().all()


def test_the_second_value_carries_no_gradient():
    logits, target = example()
    for smoothing in (0.0, 0.1):
        loss, nll = label_smoothed_loss(logits.requires_grad_(), target, smoothing)
        assert loss.requires_grad and not nll.requires_grad


def test_a_uniform_guess_costs_the_logarithm_of_the_vocabulary():
    for smoothing in (0.0, 0.3):
        loss, _ = label_smoothed_loss(torch.zeros(2, 3, 50), torch.ones(2, 3).long(), smoothing)
        assert loss.item() == pytest.approx(math.log(50))


def test_extreme_logits_stay_finite():
    logits = torch.tensor([[[1e4, -1e4, 0.0, 0.0]]], requires_grad=True)
    loss, nll = label_smoothed_loss(logits, torch.tensor([[1]]), 0.1)
    loss.backward()
    assert nll.item() == pytest.approx(2e4)
    assert logits.grad.isfinite().all()


LOSSES = [
    (torch.zeros(2, 3, 5), torch.ones(2, 4).long(), {}, "(2, 3, 5) and the target (2, 4)"),
    (torch.zeros(3, 5), torch.ones(3).long(), {}, "(3, 5) and the target (3,)"),
    (torch.zeros(2, 3, 5), torch.zeros(2, 3).long(), {}, "nothing but padding"),
    (torch.zeros(0, 3, 5), torch.zeros(0, 3).long(), {}, "nothing but padding"),
    (torch.zeros(1, 2, 5), torch.tensor([[5, 1]]), {}, "5 is outside the vocabulary of 5 entries"),
    (torch.zeros(1, 2, 5), torch.tensor([[1, -1]]), {}, "-1 is outside the vocabulary"),
    (torch.zeros(1, 2, 5), torch.tensor([[1.0, 2.0]]), {}, "Token ids have the type torch.float32"),
    (torch.zeros(1, 2, 5), torch.ones(1, 2).long(), {"smoothing": 1.0}, "smoothing is 1.0"),
    (torch.zeros(1, 2, 5), torch.ones(1, 2).long(), {"smoothing": -0.1}, "smoothing is -0.1"),
]


@pytest.mark.parametrize(("logits", "target", "options", "message"), LOSSES)
def test_bad_input_to_the_loss(book, logits, target, options, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        book.label_smoothed_loss(logits, target, **options)


# --- the loss, projected slice by slice -----------------------------------------------------------


@given(
    seed=st.integers(0, 1000),
    sizes=st.tuples(st.integers(1, 4), st.integers(1, 5), st.integers(2, 9)),
    smoothing=st.sampled_from([0.0, 0.1, 0.9]),
    padding=st.sampled_from([PAD, 1, -100]),
    bias=st.booleans(),
    logits=st.sampled_from([1, 20, 10**6]),
)
def test_slices_make_the_loss_and_the_gradients_of_the_whole(
    seed, sizes, smoothing, padding, bias, logits
):
    """Slices of one position, of a few, and one of all."""
    (_, target), V = example(seed, *sizes), sizes[2]
    target[-1, 1:] = padding
    target[0, 0] = 0 if padding else V - 1  # some token is real
    torch.manual_seed(seed)
    output = torch.nn.Linear(4, V, bias=bias, dtype=torch.float64)
    vectors = torch.randn(*sizes[:2], 4, dtype=torch.float64)
    found = []
    for sliced in (False, True):
        x = vectors.clone().requires_grad_()
        output.zero_grad()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_ProjectedLoss, "SLICE", logits)
            if sliced:
                loss, nll = projected_loss(x, output, target, smoothing, padding)
            else:
                loss, nll = label_smoothed_loss(output(x), target, smoothing, padding)
        (3 * loss).backward()
        found.append([loss.detach(), nll, x.grad, *(p.grad.clone() for p in output.parameters())])
    for whole, slices in zip(*found, strict=True):
        torch.testing.assert_close(slices, whole, atol=1e-12, rtol=1e-12)


def test_slices_have_the_derivative_that_differences_show():
    """Against the definition of a derivative, not against the other function."""
    torch.manual_seed(0)
    output = torch.nn.Linear(3, 5, dtype=torch.float64)
    x = torch.randn(2, 2, 3, dtype=torch.float64, requires_grad=True)
    target = torch.tensor([[1, 4], [2, PAD]])

    def loss(x, *parameters):  # gradcheck changes them in place
        return projected_loss(x, output, target, 0.1)[0]

    assert torch.autograd.gradcheck(loss, (x, *output.parameters()))


def test_slices_of_extreme_logits_stay_finite():
    output = torch.nn.Linear(1, 4, bias=False)
    with torch.no_grad():
        output.weight[:] = torch.tensor([[1e4], [-1e4], [0.0], [0.0]])
    x = torch.ones(1, 1, 1, requires_grad=True)
    loss, nll = projected_loss(x, output, torch.tensor([[1]]), 0.1)
    loss.backward()
    assert nll.item() == pytest.approx(2e4)
    assert x.grad.isfinite().all() and output.weight.grad.isfinite().all()


def test_slices_without_gradients_make_none():
    output, x = torch.nn.Linear(3, 5), torch.randn(2, 2, 3)
    target = torch.tensor([[1, 4], [2, PAD]])
    with torch.no_grad():
        loss, nll = projected_loss(x, output, target)
    assert not loss.requires_grad
    assert (
        loss.item() == nll.item() == pytest.approx(label_smoothed_loss(output(x), target)[0].item())
    )
    loss, nll = projected_loss(x, output, target)
    assert loss.requires_grad and not nll.requires_grad


def test_slices_refuse_what_the_loss_refuses(unhooked):
    output, x = torch.nn.Linear(3, 5), torch.randn(2, 2, 3)
    target = torch.tensor([[1, 4], [2, PAD]])
    for arguments, sentence in [
        ((x[:, :1], output, target), r"must be \(batch, length, 3\)"),
        ((x[..., :2], output, target), r"must be \(batch, length, 3\)"),
        ((x, output, target * 0), "nothing but padding"),
        ((x, output, target + 5), "outside the vocabulary"),
        ((x, output, target, 1.0), "smoothing"),
    ]:
        with pytest.raises(ValueError, match=sentence):
            unhooked("transformer_book.fused").projected_loss(*arguments)


# --- the learning rate ----------------------------------------------------------------------------


def rates(updates: int, **options: object) -> list[float]:
    return [learning_rate(n, updates=updates, **options) for n in range(1, updates + 1)]


def test_schedules_by_hand():
    rise = [0.25, 0.5, 0.75, 1.0]
    options = {"updates": 9, "peak": 1.0, "warmup": 4}
    assert rates(schedule="constant", **options) == [*rise, 1, 1, 1, 1, 1]
    assert rates(schedule="linear", **options) == pytest.approx(
        [*rise, 5 / 6, 4 / 6, 0.5, 2 / 6, 1 / 6]
    )
    wave = [(1 + math.cos(math.pi * k / 6)) / 2 for k in (1, 2, 3, 4, 5)]
    assert rates(schedule="cosine", **options) == pytest.approx([*rise, *wave])
    fall = [2 / math.sqrt(n) for n in (5, 6, 7, 8, 9)]
    assert rates(schedule="inverse_sqrt", **options) == pytest.approx([*rise, *fall])


def test_schedules_without_a_warmup():
    options = {"updates": 4, "peak": 2.0}
    assert rates(schedule="constant", **options) == [2, 2, 2, 2]
    assert rates(schedule="linear", **options) == pytest.approx([1.6, 1.2, 0.8, 0.4])
    high, low = 1 + math.cos(math.pi / 5), 1 + math.cos(2 * math.pi / 5)
    assert rates(schedule="cosine", **options) == pytest.approx([high, low, 2 - low, 2 - high])
    assert rates(schedule="inverse_sqrt", **options)[0] == 2
    assert rates(schedule="inverse_sqrt", **options)[3] == pytest.approx(1)


def test_cosine_is_pytorchs_own():
    parameter = torch.nn.Parameter(torch.zeros(1))
    optimizer = torch.optim.SGD([parameter], lr=0.3)
    wave = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=21)
    found = rates(20, schedule="cosine", peak=0.3)
    for rate in found:
        optimizer.step()
        wave.step()
        assert rate == pytest.approx(optimizer.param_groups[0]["lr"], rel=1e-9)


@pytest.mark.parametrize(("d_model", "warmup"), [(512, 4000), (128, 400), (64, 1)])
def test_inverse_sqrt_is_equation_3_of_the_paper(d_model, warmup):
    peak = 1 / math.sqrt(d_model * warmup)
    for n in (1, 2, 37, warmup - 1, warmup, warmup + 1, 3 * warmup, 100_000):
        if n >= 1:
            paper = d_model**-0.5 * min(n**-0.5, n * warmup**-1.5)
            found = learning_rate(n, peak=peak, schedule="inverse_sqrt", warmup=warmup)
            assert found == pytest.approx(paper, rel=1e-12)


@given(
    schedule=st.sampled_from(SCHEDULES),
    peak=st.floats(1e-6, 10),
    warmup=st.integers(0, 60),
    updates=st.integers(1, 120),
)
def test_the_rate_rises_to_its_peak_and_never_again(schedule, peak, warmup, updates):
    found = rates(updates, schedule=schedule, peak=peak, warmup=warmup)
    assert all(0 < rate <= peak for rate in found)
    rise, rest = found[:warmup], found[warmup:]
    assert rise == sorted(rise)
    assert rest == sorted(rest, reverse=True)
    if updates >= max(warmup, 1) and schedule in ("constant", "inverse_sqrt"):
        assert max(found) == peak


BAD_RATES = [
    (0, {"peak": 1.0}, "update is 0, but it must be a whole number of at least 1"),
    (1, {"peak": 0.0}, "peak is 0.0, but it must be a positive number"),
    (1, {"peak": -1.0}, "peak is -1.0"),
    (1, {"peak": math.nan}, "peak is nan"),
    (1, {"peak": math.inf}, "peak is inf"),
    (1, {"peak": 1.0, "warmup": -1}, "warmup is -1, but it must be at least 0"),
    (1, {"peak": 1.0, "schedule": "inverse_root"}, "did you mean 'inverse_sqrt'?"),
    (3, {"peak": 1.0, "schedule": "linear"}, "updates is None, but this is update 3"),
    (3, {"peak": 1.0, "schedule": "linear", "updates": 2}, "updates is 2, but this is update 3"),
    (3, {"peak": 1.0, "schedule": "cosine"}, "schedule 'cosine' must know how many there will be"),
]


@pytest.mark.parametrize(("update", "options", "message"), BAD_RATES)
def test_bad_input_to_the_schedule(book, update, options, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        book.learning_rate(update, **options)
