"""Known mistakes of chapters 10 to 14: norms, residuals, dropout, feed-forward, layers, stacks."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from transformer_book.checks.mistakes.registry import mistake

# --- layer norm ----------------------------------------------------------------------------------

LN = "Layer norm, by hand"


@mistake(
    "layer_norm",
    "mean",
    "layer norm over two axes",
    symptom="A position's output changes with the other positions, padding included.",
    cause="Mean and variance are taken over positions and features: take them over the features "
    "only, dim=-1.",
    section="Break it: statistics over the wrong axes",
    steps={"variance": lambda x: x.var(dim=(-2, -1), keepdim=True, unbiased=False)},
    seen="Fix layernorm bug in baseline transformer, "
    "https://github.com/Qualcomm-AI-research/geometric-algebra-transformer/pull/8",
)
def mean_over_two_axes(x: Tensor) -> Tensor:
    return x.mean(dim=(-2, -1), keepdim=True)


@mistake(
    "layer_norm",
    "mean",
    "layer norm over the positions",
    symptom="Each feature has mean 0 over the sentence, not each position over its features.",
    cause="Mean and variance are taken over dim=1: take them over the last axis.",
    section="Break it: statistics over the wrong axes",
    steps={"variance": lambda x: x.var(dim=1, keepdim=True, unbiased=False)},
    seen="Correct LayerNormalization, "
    "https://github.com/jadore801120/attention-is-all-you-need-pytorch/pull/17",
)
def mean_over_positions(x: Tensor) -> Tensor:
    return x.mean(dim=1, keepdim=True)


@mistake(
    "layer_norm",
    "mean",
    "mean not subtracted",
    symptom="The features do not have mean 0.",
    cause="The mean is not subtracted (that is the beginning of RMSNorm, another norm).",
    section=LN,
)
def no_mean(x: Tensor) -> Tensor:
    return torch.zeros_like(x[..., :1])


@mistake(
    "layer_norm",
    "mean",
    "RMS norm in place of layer norm",
    symptom="The vectors are divided by their root mean square, and their mean stays.",
    cause="This is RMSNorm, another norm that works as well; layer norm subtracts the mean "
    "first. Weights do not fit from one to the other.",
    section=LN,
    kind="convention",
    steps={"variance": lambda x: x.square().mean(dim=-1, keepdim=True)},
)
def rms(x: Tensor) -> Tensor:
    return torch.zeros_like(x[..., :1])


@mistake(
    "layer_norm",
    "mean",
    "RMS norm without the bias",
    symptom="The vectors are divided by their root mean square, and nothing is added.",
    cause="This is RMSNorm, another norm that works as well; layer norm subtracts the mean first "
    "and adds a bias at the end.",
    section=LN,
    kind="convention",
    steps={
        "variance": lambda x: x.square().mean(dim=-1, keepdim=True),
        "scale": lambda x, weight, bias: weight * x,
    },
)
def rms_unbiased(x: Tensor) -> Tensor:
    return torch.zeros_like(x[..., :1])


@mistake(
    "layer_norm",
    "variance",
    "variance with Bessel's correction",
    symptom="The outputs are a little too small, by the root of (D − 1)/D.",
    cause="torch.var and torch.std divide by D − 1 by default: pass unbiased=False.",
    section="Break it: ε outside the root, and the other variance",
    seen="Is there any reason we used a different LayerNorm implementation?, "
    "https://github.com/harvardnlp/annotated-transformer/issues/122",
)
def bessel(x: Tensor) -> Tensor:
    return x.var(dim=-1, keepdim=True)


@mistake(
    "layer_norm",
    "divide",
    "ε outside the root",
    symptom="Vectors with a small variance come out too large, before weight and bias.",
    cause="ε is added to the standard deviation: add it to the variance, inside the root.",
    section="Break it: ε outside the root, and the other variance",
    seen="The LayerNorm implementation, https://github.com/codertimo/BERT-pytorch/issues/30",
)
def epsilon_outside(centred: Tensor, variance: Tensor, eps: float) -> Tensor:
    return centred / (variance.sqrt() + eps)


@mistake(
    "layer_norm",
    "divide",
    "ε forgotten",
    symptom="A vector of equal numbers gives nan.",
    cause="The variance of such a vector is zero, so that zero is divided by zero: add ε inside "
    "the root.",
    section="Break it: ε outside the root, and the other variance",
)
def epsilon_forgotten(centred: Tensor, variance: Tensor, eps: float) -> Tensor:
    return centred / variance.sqrt()


@mistake(
    "layer_norm",
    "divide",
    "ε fixed",
    symptom="The argument eps changes nothing.",
    cause="1e-5 is written into the function: use eps.",
    section="Break it: ε outside the root, and the other variance",
)
def epsilon_fixed(centred: Tensor, variance: Tensor, eps: float) -> Tensor:
    return centred / torch.sqrt(variance + 1e-5)


@mistake(
    "layer_norm",
    "divide",
    "divided by the variance",
    symptom="The features do not have variance 1.",
    cause="The root is missing: divide by the root of the variance (plus ε).",
    section=LN,
)
def root_forgotten(centred: Tensor, variance: Tensor, eps: float) -> Tensor:
    return centred / (variance + eps)


@mistake(
    "layer_norm",
    "scale",
    "scale and shift forgotten",
    symptom="The parameters change nothing.",
    cause="Multiply by the weight and add the bias.",
    section=LN,
)
def unscaled(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return x


@mistake(
    "layer_norm",
    "scale",
    "shifted before it is scaled",
    symptom="The bias is multiplied by the weight.",
    cause="Multiply first, then add: weight * x + bias, not weight * (x + bias).",
    section=LN,
)
def shifted_first(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return weight * (x + bias)


@mistake(
    "layer_norm",
    "scale",
    "weight and bias exchanged",
    symptom="The bias scales and the weight shifts.",
    cause="Weight and bias have changed places: multiply by the weight, and add the bias.",
    section=LN,
)
def exchanged(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return bias * x + weight


@mistake(
    "layer_norm",
    "scale",
    "bias added twice",
    symptom="The bias counts twice.",
    cause="F.layer_norm has added it already, or a line stands twice: weight * x + bias.",
    section=LN,
)
def bias_twice(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return weight * x + 2 * bias


@mistake(
    "layer_norm",
    "scale",
    "β starting at one",
    symptom="Every output is too large by one.",
    cause="One is added beside the bias, or is what the bias begins with: β starts at zero.",
    section=LN,
)
def one_more(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return weight * x + bias + 1


@mistake(
    "layer_norm_parameters",
    "shift",
    "bias that starts at one",
    symptom="A fresh layer norm gives vectors of mean 1.",
    cause="β starts at zero (and γ at one).",
    section=LN,
)
def starting_at_one(d_model: int) -> Tensor:
    return torch.ones(d_model)


@mistake(
    "layer_norm_parameters",
    "scale",
    "weight that starts at zero",
    symptom="A fresh layer norm gives nothing but zeros.",
    cause="γ starts at one.",
    section=LN,
)
def starting_at_zero(d_model: int) -> Tensor:
    return torch.zeros(d_model)


@mistake(
    "layer_norm_parameters",
    "scale",
    "starts of weight and bias exchanged",
    symptom="A fresh layer norm gives nothing but ones.",
    cause="γ starts at one and β at zero.",
    section=LN,
    steps={"shift": torch.ones},
)
def starts_exchanged(d_model: int) -> Tensor:
    return torch.zeros(d_model)


# --- residuals -----------------------------------------------------------------------------------

STREAM = "Where to put the norm"


@mistake(
    "pre_norm",
    "add",
    "normalised residual",
    symptom="The stream itself is normalised in each sublayer.",
    cause="norm(x) is added to the sublayer's output: add x, untouched.",
    section=STREAM,
    seen="pre-norm bug in transformer block, "
    "https://github.com/Howuhh/faster-trajectory-transformer/issues/3",
)
def normalised_stream(x: Tensor, change: Tensor, norm: Callable[[Tensor], Tensor]) -> Tensor:
    return norm(x) + change


@mistake(
    "pre_norm",
    "add",
    "residual connection forgotten",
    symptom="What came in is lost: only the sublayer's output goes on.",
    cause="Add x.",
    section=STREAM,
)
def stream_lost(x: Tensor, change: Tensor, norm: Callable[[Tensor], Tensor]) -> Tensor:
    return change


@mistake(
    "pre_norm",
    "inside",
    "norm forgotten",
    symptom="The sublayer sees x as it is, however large.",
    cause="Hand norm(x) to the sublayer.",
    section=STREAM,
)
def not_normalised(
    x: Tensor, sublayer: Callable[[Tensor], Tensor], norm: Callable[[Tensor], Tensor]
) -> Tensor:
    return sublayer(x)


@mistake(
    "pre_norm",
    "inside",
    "norm after the sublayer",
    symptom="The sublayer's output is normalised, not its input.",
    cause="Normalise what goes in, not what comes out: sublayer(norm(x)), not norm(sublayer(x)).",
    section=STREAM,
)
def normalised_afterwards(
    x: Tensor, sublayer: Callable[[Tensor], Tensor], norm: Callable[[Tensor], Tensor]
) -> Tensor:
    return norm(sublayer(x))


@mistake(
    "pre_norm",
    "inside",
    "post-norm in place of pre-norm",
    symptom="This is post-norm, norm(x + f(x)), as in the 2017 paper.",
    cause="Pre-norm is x + f(norm(x)). Both exist; weights do not fit from one to the other.",
    section=STREAM,
    kind="convention",
    steps={"add": lambda x, change, norm: norm(x + change)},
)
def post_norm(
    x: Tensor, sublayer: Callable[[Tensor], Tensor], norm: Callable[[Tensor], Tensor]
) -> Tensor:
    return sublayer(x)


@mistake(
    "post_norm",
    "inside",
    "pre-norm in place of post-norm",
    symptom="This is pre-norm, x + f(norm(x)).",
    cause="Post-norm is norm(x + f(x)). Both exist; weights do not fit from one to the other.",
    section=STREAM,
    kind="convention",
    steps={"add": lambda x, change, norm: x + change},
    seen="LayerNorm(x + Sublayer(x)), https://github.com/harvardnlp/annotated-transformer/issues/1",
)
def pre_norm(
    x: Tensor, sublayer: Callable[[Tensor], Tensor], norm: Callable[[Tensor], Tensor]
) -> Tensor:
    return sublayer(norm(x))


@mistake(
    "post_norm",
    "add",
    "residual connection of post-norm forgotten",
    symptom="What came in is lost.",
    cause="Add x before the norm.",
    section=STREAM,
)
def post_stream_lost(x: Tensor, change: Tensor, norm: Callable[[Tensor], Tensor]) -> Tensor:
    return norm(change)


@mistake(
    "post_norm",
    "add",
    "norm of post-norm forgotten",
    symptom="The sum is not normalised.",
    cause="norm(x + f(x)).",
    section=STREAM,
)
def sum_not_normalised(x: Tensor, change: Tensor, norm: Callable[[Tensor], Tensor]) -> Tensor:
    return x + change


@mistake(
    "post_norm",
    "add",
    "norm of the change alone",
    symptom="x is added after the norm.",
    cause="Add first, then normalise: norm(x + f(x)), not x + norm(f(x)).",
    section=STREAM,
)
def change_normalised(x: Tensor, change: Tensor, norm: Callable[[Tensor], Tensor]) -> Tensor:
    return x + norm(change)


# --- dropout -------------------------------------------------------------------------------------

DROPOUT = "Dropout"


@mistake(
    "dropout",
    "rescale",
    "what survives is not enlarged",
    symptom="In training the outputs are smaller, on average, than in evaluation.",
    cause="Divide what survives by 1 − p.",
    section=DROPOUT,
)
def not_enlarged(x: Tensor, p: float) -> Tensor:
    return x


@mistake(
    "dropout",
    "rescale",
    "divided by p",
    symptom="What survives is enlarged by the wrong factor.",
    cause="Divide by 1 − p, the share that survives, not by p.",
    section=DROPOUT,
)
def divided_by_p(x: Tensor, p: float) -> Tensor:
    return x / p


@mistake(
    "dropout",
    "rescale",
    "multiplied by 1 − p in training",
    symptom="What survives is made smaller, not larger.",
    cause="Divide by 1 − p.",
    section=DROPOUT,
)
def multiplied(x: Tensor, p: float) -> Tensor:
    return x * (1 - p)


@mistake(
    "dropout",
    "drop",
    "keep taken for drop",
    symptom="What should survive is dropped.",
    cause="keep is True where an entry survives.",
    section=DROPOUT,
)
def kept_dropped(x: Tensor, keep: Tensor) -> Tensor:
    return x * ~keep


@mistake(
    "dropout",
    "evaluate",
    "dropout left on in evaluation",
    symptom="The outputs are random in evaluation, too.",
    cause="Return x as it is unless training.",
    section=DROPOUT,
    seen="Dropout not disabled for eval when using SDPA, "
    "https://github.com/wenet-e2e/wenet/issues/2699",
)
def always_on(x: Tensor, p: float, keep: Tensor) -> Tensor:
    return x * keep / (1 - p)


@mistake(
    "dropout",
    "evaluate",
    "scaled in evaluation in place of training",
    symptom="This scales by 1 − p in evaluation and leaves training alone.",
    cause="An older convention, consistent in itself. PyTorch and this book enlarge in training.",
    section=DROPOUT,
    kind="convention",
    steps={"rescale": not_enlarged},
)
def scaled_in_evaluation(x: Tensor, p: float, keep: Tensor) -> Tensor:
    return x * (1 - p)


@mistake(
    "dropout",
    "drop",
    "declared and never applied",
    symptom="Nothing is ever dropped.",
    cause="Multiply by keep, and divide by 1 − p.",
    section=DROPOUT,
    steps={"rescale": not_enlarged},
)
def never_applied(x: Tensor, keep: Tensor) -> Tensor:
    return x


@mistake(
    "sublayer_with_dropout",
    "drop",
    "dropout declared and never applied",
    symptom="Nothing is ever dropped.",
    cause="The dropout is made, and not called: wrap the sublayer's output in it.",
    section=DROPOUT,
)
def never_called(change: Tensor, dropout: Callable[[Tensor], Tensor]) -> Tensor:
    return change


@mistake(
    "sublayer_with_dropout",
    "out",
    "dropout applied to the residual stream",
    symptom="What came in is dropped, too: the stream loses numbers in each sublayer.",
    cause="Apply dropout to the sublayer's output alone: x + dropout(f(norm(x))), not dropout(x "
    "+ f(norm(x))).",
    section=DROPOUT,
    steps={"drop": never_called},
)
def sum_dropped(
    x: Tensor, change: Tensor, dropout: Callable[[Tensor], Tensor], norm: object
) -> Tensor:
    return dropout(x + change)


@mistake(
    "sublayer_with_dropout",
    "out",
    "dropout on x in place of the sublayer",
    symptom="What came in is dropped, and the sublayer's output is not.",
    cause="Dropout belongs to the sublayer's output; x stays whole.",
    section=DROPOUT,
    steps={"drop": never_called},
)
def stream_dropped(
    x: Tensor, change: Tensor, dropout: Callable[[Tensor], Tensor], norm: object
) -> Tensor:
    return dropout(x) + change


@mistake(
    "sublayer_with_dropout",
    "feed",
    "dropout before the sublayer",
    symptom="The sublayer's input is dropped, and its output is not.",
    cause="Apply dropout to what the sublayer gives.",
    section=DROPOUT,
    steps={"drop": never_called},
)
def input_dropped(y: Tensor, dropout: Callable[[Tensor], Tensor]) -> Tensor:
    return dropout(y)


# --- the feed-forward network --------------------------------------------------------------------

FF = "Two matrices and a bend, by hand"


@mistake(
    "feed_forward",
    "activate",
    "activation forgotten",
    symptom="The network is linear: two matrices in a row do no more than one.",
    cause="Apply ReLU between the two layers.",
    section=FF,
)
def no_activation(h: Tensor, b: Tensor) -> Tensor:
    return h


@mistake(
    "feed_forward",
    "activate",
    "GELU in place of ReLU",
    symptom="This is GELU where the book's check expects ReLU.",
    cause="Both are in use; this exercise asks for ReLU.",
    section=FF,
    kind="convention",
)
def gelu(h: Tensor, b: Tensor) -> Tensor:
    return nn.functional.gelu(h)


@mistake(
    "feed_forward",
    "activate",
    "approximate GELU in place of ReLU",
    symptom="This is GELU, by its approximation with tanh, where the check expects ReLU.",
    cause="Both are in use; this exercise asks for ReLU.",
    section=FF,
    kind="convention",
)
def gelu_by_tanh(h: Tensor, b: Tensor) -> Tensor:
    return nn.functional.gelu(h, approximate="tanh")


@mistake(
    "feed_forward",
    "activate",
    "activation after the second layer",
    symptom="No output is negative.",
    cause="ReLU belongs between the layers, not behind them.",
    section=FF,
    steps={"second": lambda h, w, b, x: torch.relu(h @ w.T + b)},
)
def activated_late(h: Tensor, b: Tensor) -> Tensor:
    return h


@mistake(
    "feed_forward",
    "second",
    "activation twice",
    symptom="No output is negative.",
    cause="The second layer has no activation.",
    section=FF,
)
def activated_twice(h: Tensor, w: Tensor, b: Tensor, x: Tensor) -> Tensor:
    return torch.relu(h @ w.T + b)


@mistake(
    "feed_forward",
    "second",
    "residual inside the feed-forward network",
    symptom="x is added already here.",
    cause="The residual connection stands around the network, not in it: it would be added twice.",
    section=FF,
)
def residual_inside(h: Tensor, w: Tensor, b: Tensor, x: Tensor) -> Tensor:
    return x + h @ w.T + b


@mistake(
    "feed_forward",
    "second",
    "second bias forgotten",
    symptom="b2 changes nothing.",
    cause="Add b2 at the end.",
    section=FF,
)
def second_bias_forgotten(h: Tensor, w: Tensor, b: Tensor, x: Tensor) -> Tensor:
    return h @ w.T


@mistake(
    "feed_forward",
    "first",
    "first bias forgotten",
    symptom="b1 changes nothing.",
    cause="Add b1 before the ReLU.",
    section=FF,
)
def first_bias_forgotten(x: Tensor, w: Tensor, b: Tensor) -> Tensor:
    return x @ w.T


@mistake(
    "group_sort",
    "sort",
    "all features sorted",
    symptom="All features of a position are sorted, not each pair.",
    cause="Unfold the last axis into pairs first.",
    section="Three bends",
)
def all_sorted(x: Tensor) -> Tensor:
    return x.sort(dim=-1).values


@mistake(
    "group_sort",
    "sort",
    "larger first",
    symptom="In each pair the larger number comes first.",
    cause="A different convention; the book puts the smaller first.",
    section="Three bends",
    kind="convention",
)
def larger_first(x: Tensor) -> Tensor:
    return x.unflatten(-1, (-1, 2)).sort(dim=-1, descending=True).values.flatten(-2)


@mistake(
    "group_sort",
    "sort",
    "pairs from two halves",
    symptom="Feature i is paired with feature i + F/2, not with its neighbour.",
    cause="The axis is unfolded as (2, F/2): unfold it as (F/2, 2).",
    section="Three bends",
)
def pairs_of_halves(x: Tensor) -> Tensor:
    return x.unflatten(-1, (2, -1)).sort(dim=-2).values.flatten(-2)


# --- layers --------------------------------------------------------------------------------------

ENCODER = "Two words, by hand"


@mistake(
    "encoder_layer",
    "attend",
    "encoder mask not passed on",
    symptom="The mask changes nothing: padding is read.",
    cause="Hand the mask to the attention.",
    section=ENCODER,
)
def encoder_mask_lost(
    y: Tensor, mask: Tensor | None, attention: Callable[..., Tensor], x: Tensor
) -> Tensor:
    return attention(y, y, y, None)


@mistake(
    "encoder_layer",
    "attend",
    "encoder mask inverted",
    symptom="Only what should be hidden is seen.",
    cause="True means 'may attend' in this book.",
    section="PyTorch's modules mean the opposite",
    chapter=8,
)
def encoder_mask_inverted(
    y: Tensor, mask: Tensor | None, attention: Callable[..., Tensor], x: Tensor
) -> Tensor:
    return attention(y, y, y, None if mask is None else ~mask)


@mistake(
    "encoder_layer",
    "first",
    "residual around attention forgotten",
    symptom="What came in is lost after the attention.",
    cause="Add x to the attention's output.",
    section=ENCODER,
)
def encoder_first_lost(x: Tensor, change: Tensor) -> Tensor:
    return change


@mistake(
    "encoder_layer",
    "second",
    "residual around the feed-forward network forgotten",
    symptom="The network's output takes the place of what went into it.",
    cause="The second residual connection is missing: add what went into the second norm to the "
    "network's output.",
    section=ENCODER,
)
def encoder_second_lost(x: Tensor, change: Tensor) -> Tensor:
    return change


@mistake(
    "encoder_layer",
    "norms",
    "one norm used twice",
    symptom="The second norm does not matter.",
    cause="Both sublayers use norm1: each has its own parameters. (Fresh norms are alike, so a new "
    "model that shares one begins with the same numbers.)",
    section=ENCODER,
)
def same_norm_twice(norm1: Any, norm2: Any) -> tuple[Any, Any]:
    return norm1, norm1


@mistake(
    "encoder_layer",
    "norms",
    "second norm forgotten",
    symptom="The feed-forward network sees the stream as it is.",
    cause="Hand norm2(x) to the feed-forward network.",
    section=ENCODER,
)
def no_second_norm(norm1: Any, norm2: Any) -> tuple[Any, Any]:
    return norm1, lambda x: x


@mistake(
    "encoder_layer",
    "around",
    "post-norm encoder layer",
    symptom="This is a post-norm layer, norm(x + f(x)) twice, as in the 2017 paper.",
    cause="The book's layers are pre-norm, x + f(norm(x)). Both exist; weights do not fit from one "
    "to the other.",
    section=STREAM,
    chapter=10,
    kind="convention",
)
def post_norm_encoder(x: Tensor, sublayer: Any, norm: Any, add: Callable[..., Tensor]) -> Tensor:
    return norm(add(x, sublayer(x)))


@mistake(
    "encoder_layer",
    "around",
    "normalised stream in the encoder layer",
    symptom="The stream itself is normalised in each sublayer.",
    cause="norm(x) is added to the sublayer's output, often because x = norm(x) overwrote x: add "
    "x, untouched.",
    section=STREAM,
    chapter=10,
    seen="Incorrect pre-LN in the transformer model, "
    "https://github.com/pytorch/pytorch/issues/61165",
)
def stream_normalised(x: Tensor, sublayer: Any, norm: Any, add: Callable[..., Tensor]) -> Tensor:
    return add(norm(x), sublayer(norm(x)))


DECODER = "Two words and a memory, by hand"


@mistake(
    "decoder_layer",
    "around",
    "post-norm decoder layer",
    symptom="This is a post-norm layer, norm(x + f(x)) three times, as in the 2017 paper.",
    cause="The book's layers are pre-norm, x + f(norm(x)). Both exist; weights do not fit from one "
    "to the other.",
    section=STREAM,
    chapter=10,
    kind="convention",
)
def post_norm_decoder(x: Tensor, sublayer: Any, norm: Any, add: Callable[..., Tensor]) -> Tensor:
    return norm(add(x, sublayer(x)))


@mistake(
    "decoder_layer",
    "around",
    "normalised stream in the decoder layer",
    symptom="The stream itself is normalised in each sublayer.",
    cause="norm(x) is added to the sublayer's output, often because x = norm(x) overwrote x: add "
    "x, untouched.",
    section=STREAM,
    chapter=10,
)
def decoder_stream_normalised(
    x: Tensor, sublayer: Any, norm: Any, add: Callable[..., Tensor]
) -> Tensor:
    return add(norm(x), sublayer(norm(x)))


@mistake(
    "decoder_layer",
    "look_back",
    "causal mask not passed on",
    symptom="A position sees its future.",
    cause="Hand target_mask to the self-attention.",
    section=DECODER,
)
def target_mask_lost(y: Tensor, masks: Any, attention: Callable[..., Tensor]) -> Tensor:
    return attention(y, y, y, None)


@mistake(
    "decoder_layer",
    "look_over",
    "source mask not passed on",
    symptom="The padding of the source is read.",
    cause="Hand memory_mask to the cross-attention.",
    section=DECODER,
    seen="Appropriate masks are needed for TransformerASR.decode(), "
    "https://github.com/speechbrain/speechbrain/issues/1107",
)
def memory_mask_lost(
    y: Tensor, memory: Tensor, masks: Any, attention: Callable[..., Tensor]
) -> Tensor:
    return attention(y, memory, memory, None)


@mistake(
    "decoder_layer",
    "look_over",
    "target mask used in cross-attention",
    symptom="The first words of the target see only the first words of the source; if the lengths "
    "differ it stops.",
    cause="Cross-attention takes memory_mask: the source is known from the start.",
    section=DECODER,
    seen="Fix masks in English-to-Spanish translation example, "
    "https://github.com/keras-team/keras-io/pull/1046",
)
def target_mask_across(
    y: Tensor, memory: Tensor, masks: Any, attention: Callable[..., Tensor]
) -> Tensor:
    return attention(y, memory, memory, masks[0])


@mistake(
    "decoder_layer",
    "look_back",
    "source mask used in self-attention",
    symptom="The target is hidden where the source is padded, and the future is seen.",
    cause="Self-attention takes target_mask.",
    section=DECODER,
)
def memory_mask_inside(y: Tensor, masks: Any, attention: Callable[..., Tensor]) -> Tensor:
    return attention(y, y, y, masks[1])


@mistake(
    "decoder_layer",
    "look_over",
    "keys and values from the target",
    symptom="The memory does not matter: the source is never read.",
    cause="In cross-attention keys and values are the memory.",
    section=DECODER,
)
def memory_never_read(
    y: Tensor, memory: Tensor, masks: Any, attention: Callable[..., Tensor]
) -> Tensor:
    return attention(y, y, y, masks[0])


@mistake(
    "decoder_layer",
    "look_over",
    "queries from the memory",
    symptom="The output of cross-attention has the length of the source.",
    cause="In cross-attention the queries come from the target.",
    section=DECODER,
)
def queries_from_memory(
    y: Tensor, memory: Tensor, masks: Any, attention: Callable[..., Tensor]
) -> Tensor:
    return attention(memory, memory, memory, masks[1])


@mistake(
    "decoder_layer",
    "look_over",
    "mask of cross-attention transposed",
    symptom="Whole queries are hidden in place of padded keys; if the lengths differ it stops.",
    cause="The mask's last axis is the source: (B, 1, S), not (B, S, 1).",
    section="Break it: mistakes that need S = T",
)
def memory_mask_transposed(
    y: Tensor, memory: Tensor, masks: Any, attention: Callable[..., Tensor]
) -> Tensor:
    return attention(y, memory, memory, masks[1] if masks[1] is None else masks[1].mT)


@mistake(
    "decoder_layer",
    "look_over",
    "keys and values from the target, under the source mask",
    symptom="The memory does not matter: the source is never read.",
    cause="In cross-attention keys and values are the memory.",
    section=DECODER,
)
def memory_never_read_but_masked(
    y: Tensor, memory: Tensor, masks: Any, attention: Callable[..., Tensor]
) -> Tensor:
    return attention(y, y, y, masks[1])


@mistake(
    "decoder_layer",
    "look_over",
    "roles in cross-attention exchanged",
    symptom="The memory asks and the target answers.",
    cause="In cross-attention the queries come from the target, keys and values from the memory.",
    section=DECODER,
)
def roles_exchanged(
    y: Tensor, memory: Tensor, masks: Any, attention: Callable[..., Tensor]
) -> Tensor:
    return attention(memory, y, y, masks[1])


@mistake(
    "decoder_layer",
    "look_over",
    "roles in cross-attention exchanged, and no mask",
    symptom="The memory asks and the target answers.",
    cause="In cross-attention the queries come from the target, keys and values from the memory; "
    "and it takes memory_mask.",
    section=DECODER,
)
def roles_exchanged_unmasked(
    y: Tensor, memory: Tensor, masks: Any, attention: Callable[..., Tensor]
) -> Tensor:
    return attention(memory, y, y, None)


@mistake(
    "decoder_layer",
    "read",
    "memory normalised again",
    symptom="The memory goes through the layer's norm.",
    cause="The encoder's final norm has normalised it: hand it over as it is.",
    section=DECODER,
)
def memory_normalised(memory: Tensor, norms: Any) -> Tensor:
    return norms[1](memory)


@mistake(
    "decoder_layer",
    "norm",
    "first norm used for cross-attention, too",
    symptom="The second norm does not matter.",
    cause="Each of the three sublayers has its own norm: norms[1] stands before cross-attention.",
    section=DECODER,
    seen="[Bug?] Wrong layer norm used in TransformerDecoderLayer, "
    "https://github.com/ml-explore/mlx/issues/1636",
)
def first_norm_again(norms: Any, i: int) -> Any:
    return norms[0] if i == 1 else norms[i]


@mistake(
    "decoder_layer",
    "first",
    "residual around self-attention forgotten",
    symptom="What a position held before self-attention is lost.",
    cause="Add x to the output of self-attention.",
    section=DECODER,
)
def decoder_first_lost(x: Tensor, change: Tensor) -> Tensor:
    return change


@mistake(
    "decoder_layer",
    "middle",
    "residual around cross-attention forgotten",
    symptom="After cross-attention nothing is left of the target.",
    cause="Add x to the output of cross-attention.",
    section=DECODER,
)
def decoder_middle_lost(x: Tensor, change: Tensor) -> Tensor:
    return change


@mistake(
    "decoder_layer",
    "last",
    "residual around the decoder's feed-forward network forgotten",
    symptom="The network's output takes the place of what went into it.",
    cause="The last residual connection is missing: add what went into the last norm to the "
    "network's output.",
    section=DECODER,
)
def decoder_last_lost(x: Tensor, change: Tensor) -> Tensor:
    return change


# --- stacks --------------------------------------------------------------------------------------


@mistake(
    "make_stack",
    "build",
    "[layer] * N",
    symptom="There is one layer, N times: all share their weights.",
    cause="A list times N repeats the same object: make each layer anew.",
    section="Break it: N layers that are one",
    seen="ff_layer weights sharing, https://github.com/habla-liaa/encodecmae/issues/3",
)
def one_layer_repeated(make: Callable[[], nn.Module], n: int) -> list[nn.Module]:
    return [make()] * n


@mistake(
    "make_stack",
    "build",
    "deep copies that start equal",
    symptom="The layers have weights of their own that all begin with the same numbers.",
    cause="deepcopy copies the numbers, too. It trains (nn.TransformerEncoder does it), but layers "
    "should begin differently: make each anew, or initialise afterwards.",
    section="Break it: N layers that are one",
    kind="convention",
    seen="TransformerEncoder/TransformerDecoder has same initial parameters for all layers, "
    "https://github.com/pytorch/pytorch/issues/86274",
)
def deep_copies(make: Callable[[], nn.Module], n: int) -> list[nn.Module]:
    layer = make()
    return [copy.deepcopy(layer) for _ in range(n)]


MODES = "Break it: a mask in one mode only"


@mistake(
    "causal_self_attention",
    "seen",
    "causal mask only in training mode",
    symptom="In evaluation every position sees its future, so that a test with teacher forcing "
    "looks too good.",
    cause="The mask stands behind `if self.training`: it belongs to both modes.",
    section=MODES,
)
def masked_in_training(ones: Tensor, training: bool) -> Tensor:
    return ones.tril() if training else ones


@mistake(
    "causal_self_attention",
    "seen",
    "causal mask only in evaluation",
    symptom="In training every position sees the answer, and learns to copy it.",
    cause="The mask is missing where `self.training` is true: it belongs to both modes.",
    section=MODES,
)
def masked_in_evaluation(ones: Tensor, training: bool) -> Tensor:
    return ones if training else ones.tril()


@mistake(
    "causal_self_attention",
    "seen",
    "no causal mask in either mode",
    symptom="Every position sees its future, always.",
    cause="Hide the scores above the diagonal, before the softmax.",
    section="Leak tests, in both modes",
    seen="`RoFormerForCausalLM`, … attend to future tokens since v5.9.0 — CLM training loss "
    "collapses, https://github.com/huggingface/transformers/issues/48745",
)
def never_masked(ones: Tensor, training: bool) -> Tensor:
    return ones


@mistake(
    "causal_self_attention",
    "seen",
    "past hidden in place of the future",
    symptom="A position sees its future and not its past.",
    cause="This is the upper triangle: use tril.",
    section="Leak tests, in both modes",
)
def past_hidden(ones: Tensor, training: bool) -> Tensor:
    return ones.triu()


# --- the whole model -----------------------------------------------------------------------------

WIRING = "The wiring"


@mistake(
    "transformer_forward",
    "finish",
    "forward returns argmax",
    symptom="The answer is token ids, and no loss can be computed from them.",
    cause="Return the logits; whoever decodes takes the argmax.",
    section=WIRING,
)
def ids_returned(y: Tensor, output: Callable[[Tensor], Tensor]) -> Tensor:
    return output(y).argmax(dim=-1)


@mistake(
    "transformer_forward",
    "finish",
    "forward returns probabilities",
    symptom="The rows sum to one: a softmax has been taken.",
    cause="Return the logits: the loss takes the softmax itself, and a second one spoils it.",
    section=WIRING,
    seen="Softmax applied before CrossEntropyLoss, "
    "https://github.com/lansinuote/Huggingface_Toturials/issues/6",
)
def probabilities_returned(y: Tensor, output: Callable[[Tensor], Tensor]) -> Tensor:
    return output(y).softmax(dim=-1)


@mistake(
    "transformer_forward",
    "finish",
    "forward returns log-probabilities",
    symptom="The rows are logarithms of probabilities, not logits.",
    cause="A consistent choice: a second log-softmax changes nothing. The book returns logits.",
    section=WIRING,
    kind="convention",
)
def logarithms_returned(y: Tensor, output: Callable[[Tensor], Tensor]) -> Tensor:
    return output(y).log_softmax(dim=-1)


@mistake(
    "transformer_forward",
    "finish",
    "output projection of the model forgotten",
    symptom="The rows have as many numbers as the model is wide, not as there are words.",
    cause="Return output(y).",
    section=WIRING,
)
def vectors_returned(y: Tensor, output: Callable[[Tensor], Tensor]) -> Tensor:
    return y


def _causal(length: int) -> Tensor:
    return torch.ones(length, length).tril().bool()


@mistake(
    "transformer_forward",
    "target_mask",
    "padding mask of the source used for the target",
    symptom="Words of the target are hidden where the source is padded; if the lengths differ it "
    "stops.",
    cause="Make the mask of the target from the target's ids.",
    section=WIRING,
)
def source_padding_in_target(target: Tensor, source: Tensor) -> Tensor:
    return (source != 0)[:, None, None] & _causal(target.size(1))


@mistake(
    "transformer_forward",
    "target_mask",
    "future of the target visible",
    symptom="Each position of the target sees the words it is to predict.",
    cause="The target's mask hides the padding alone: combine it with the causal mask.",
    section=WIRING,
)
def future_visible(target: Tensor, source: Tensor) -> Tensor:
    return (target != 0)[:, None, None] & torch.ones_like(_causal(target.size(1)))


@mistake(
    "transformer_forward",
    "memory_mask",
    "source padding read by the decoder",
    symptom="A sentence's logits change with the padding of its source.",
    cause="Hand the source's mask to the decoder, too, as memory_mask.",
    section=WIRING,
)
def memory_unmasked(mask: Tensor, target: Tensor) -> None:
    return None


@mistake(
    "transformer_forward",
    "memory_mask",
    "mask of the target handed to cross-attention",
    symptom="The first words of the target see only the first words of the source; if the lengths "
    "differ it stops.",
    cause="Cross-attention takes the mask of the source.",
    section=WIRING,
)
def memory_mask_of_target(mask: Tensor, target: Tensor) -> Tensor:
    return (target != 0)[:, None, None] & _causal(target.size(1))


@mistake(
    "transformer_forward",
    "encode",
    "source padding read by the encoder",
    symptom="A sentence's logits change with the padding of its source.",
    cause="Hand the source's mask to the encoder.",
    section=WIRING,
)
def encoder_unmasked(x: Tensor, mask: Tensor, encoder: Callable[..., Tensor]) -> Tensor:
    return encoder(x, None)


@mistake(
    "transformer_forward",
    "encode",
    "encoder left out",
    symptom="The decoder reads the embedded source, not the memory.",
    cause="memory = encoder(x, mask), and the memory goes to the decoder.",
    section=WIRING,
)
def not_encoded(x: Tensor, mask: Tensor, encoder: Callable[..., Tensor]) -> Tensor:
    return x


@mistake(
    "transformer_forward",
    "embedded",
    "source embedded with the table of the target",
    symptom="The source's embedding does not matter.",
    cause="Two vocabularies, two tables: embed_source for the source.",
    section=WIRING,
)
def wrong_table(source: Tensor, embed_source: object, embed_target: Any) -> Tensor:
    return embed_target(source)


@mistake(
    "layer_norm",
    "mean",
    "layer norm over the batch",
    symptom="A sentence's output changes with the other sentences.",
    cause="Mean and variance are taken over dim=0, the batch: take them over the last axis.",
    section="Break it: statistics over the wrong axes",
    steps={"variance": lambda x: x.var(dim=0, keepdim=True, unbiased=False)},
)
def mean_over_batch(x: Tensor) -> Tensor:
    return x.mean(dim=0, keepdim=True)


@mistake(
    "layer_norm",
    "mean",
    "layer norm over everything",
    symptom="A position's output changes with all others, in all sentences.",
    cause="x.mean() without dim is one number for the batch: take mean and variance over the last "
    "axis, dim=-1, keepdim=True.",
    section="Break it: statistics over the wrong axes",
    steps={"variance": lambda x: x.var(unbiased=False)},
)
def mean_over_everything(x: Tensor) -> Tensor:
    return x.mean()


@mistake(
    "layer_norm",
    "mean",
    "layer norm over batch and positions",
    symptom="Each feature has mean 0 over the whole batch: this is batch norm.",
    cause="Mean and variance are taken over dim=(0, 1): take them over the last axis.",
    section="Break it: statistics over the wrong axes",
    steps={"variance": lambda x: x.var(dim=(0, 1), keepdim=True, unbiased=False)},
)
def mean_over_sentences(x: Tensor) -> Tensor:
    return x.mean(dim=(0, 1), keepdim=True)


@mistake(
    "layer_norm",
    "scale",
    "a norm without its bias",
    symptom="The bias changes nothing.",
    cause="Add the bias at the end: weight * x + bias.",
    section=LN,
)
def bias_forgotten(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return weight * x


@mistake(
    "layer_norm",
    "scale",
    "a norm without its weight",
    symptom="The weight changes nothing.",
    cause="Multiply by the weight: weight * x + bias.",
    section=LN,
)
def weight_forgotten(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return x + bias


@mistake(
    "layer_norm",
    "divide",
    "not divided at all",
    symptom="The features have mean 0, and the variance they had.",
    cause="Divide by the root of the variance (plus ε).",
    section=LN,
)
def not_divided(centred: Tensor, variance: Tensor, eps: float) -> Tensor:
    return centred


@mistake(
    "layer_norm",
    "variance",
    "variance as mean of squares minus square of the mean",
    symptom="Far from zero the numbers are wrong, or nan: the digits cancel.",
    cause="Two large numbers are subtracted: subtract the mean first, then take the mean of the "
    "squares.",
    section=LN,
)
def cancelling(x: Tensor) -> Tensor:
    return x.square().mean(dim=-1, keepdim=True) - x.mean(dim=-1, keepdim=True).square()


@mistake(
    "layer_norm",
    "divide",
    "ε fixed at 1e-12",
    symptom="The argument eps changes nothing, and vectors of a small variance come out too large.",
    cause="1e-12, BERT's ε, is written into the function: use eps.",
    section="Break it: ε outside the root, and the other variance",
)
def epsilon_of_bert(centred: Tensor, variance: Tensor, eps: float) -> Tensor:
    return centred / torch.sqrt(variance + 1e-12)


@mistake(
    "layer_norm",
    "divide",
    "ε fixed at 1e-6",
    symptom="The argument eps changes nothing, and vectors of a small variance come out too large.",
    cause="1e-6 is written into the function: use eps.",
    section="Break it: ε outside the root, and the other variance",
)
def epsilon_of_a_millionth(centred: Tensor, variance: Tensor, eps: float) -> Tensor:
    return centred / torch.sqrt(variance + 1e-6)


@mistake(
    "layer_norm_parameters",
    "scale",
    "one number for all features",
    symptom="There is one weight and one bias for all features.",
    cause="Each feature has its own: torch.ones(d_model) and torch.zeros(d_model).",
    section=LN,
    steps={"shift": lambda d_model: torch.zeros(1)},
)
def one_number(d_model: int) -> Tensor:
    return torch.ones(1)


@mistake(
    "layer_norm_parameters",
    "scale",
    "a matrix for the weight",
    symptom="The weight is a matrix, (D, D).",
    cause="Features are scaled one by one: D numbers, torch.ones(d_model).",
    section=LN,
)
def identity_matrix(d_model: int) -> Tensor:
    return torch.eye(d_model)


@mistake(
    "post_norm",
    "inside",
    "normalised in front and behind",
    symptom="The sublayer sees norm(x), and the sum is normalised, too.",
    cause="Post-norm has one norm, behind the sum: norm(x + f(x)).",
    section=STREAM,
)
def both_normalised(
    x: Tensor, sublayer: Callable[[Tensor], Tensor], norm: Callable[[Tensor], Tensor]
) -> Tensor:
    return sublayer(norm(x))


@mistake(
    "post_norm",
    "add",
    "x normalised and not the sum",
    symptom="norm(x) is added to the sublayer's output, and the sum is not normalised.",
    cause="Add first, then normalise: norm(x + f(x)), not norm(x) + f(x).",
    section=STREAM,
)
def x_normalised(x: Tensor, change: Tensor, norm: Callable[[Tensor], Tensor]) -> Tensor:
    return norm(x) + change


@mistake(
    "pre_norm",
    "add",
    "sum normalised once more",
    symptom="The sum is normalised, too: the stream never stays what it was.",
    cause="Pre-norm has one norm, in front of the sublayer: x + f(norm(x)).",
    section=STREAM,
)
def sum_normalised_too(x: Tensor, change: Tensor, norm: Callable[[Tensor], Tensor]) -> Tensor:
    return norm(x + change)


@mistake(
    "pre_norm",
    "add",
    "residual subtracted",
    symptom="The sublayer's output has the wrong sign.",
    cause="Add it: x + f(norm(x)).",
    section=STREAM,
)
def change_subtracted(x: Tensor, change: Tensor, norm: Callable[[Tensor], Tensor]) -> Tensor:
    return x - change


@mistake(
    "dropout",
    "rescale",
    "multiplied by one plus p",
    symptom="What survives is enlarged too little, and less so the smaller p is.",
    cause="1 + p is near 1 / (1 − p) for small p only: divide by 1 − p.",
    section=DROPOUT,
)
def one_plus_p(x: Tensor, p: float) -> Tensor:
    return x * (1 + p)


@mistake(
    "dropout",
    "evaluate",
    "made smaller in evaluation, too",
    symptom="In evaluation the outputs are multiplied by 1 − p.",
    cause="Training has enlarged what survives already: in evaluation x goes through as it is.",
    section=DROPOUT,
)
def smaller_in_evaluation(x: Tensor, p: float, keep: Tensor) -> Tensor:
    return x * (1 - p)


@mistake(
    "dropout",
    "evaluate",
    "enlarged in evaluation",
    symptom="In evaluation the outputs are too large by a factor of 1 / (1 − p).",
    cause="Only training enlarges: in evaluation x goes through as it is.",
    section=DROPOUT,
)
def larger_in_evaluation(x: Tensor, p: float, keep: Tensor) -> Tensor:
    return x / (1 - p)


@mistake(
    "sublayer_with_dropout",
    "norm",
    "norm in front of the sublayer forgotten",
    symptom="The sublayer sees x as it is, however large.",
    cause="Hand norm(x) to the sublayer.",
    section=STREAM,
)
def sublayer_not_normalised(x: Tensor, norm: Callable[[Tensor], Tensor]) -> Tensor:
    return x


@mistake(
    "sublayer_with_dropout",
    "out",
    "residual connection around the dropout forgotten",
    symptom="What came in is lost.",
    cause="Add x to what the dropout gives.",
    section=STREAM,
)
def dropout_without_stream(x: Tensor, change: Tensor, dropout: object, norm: object) -> Tensor:
    return change


@mistake(
    "sublayer_with_dropout",
    "out",
    "normalised x in the sum",
    symptom="The stream itself is normalised.",
    cause="norm(x) is added, often because x = norm(x) overwrote x: add x, untouched.",
    section=STREAM,
)
def normalised_x(
    x: Tensor, change: Tensor, dropout: object, norm: Callable[[Tensor], Tensor]
) -> Tensor:
    return norm(x) + change


@mistake(
    "sublayer_with_dropout",
    "out",
    "dropout on the output and on the sum",
    symptom="Dropout is applied twice, the second time to the stream.",
    cause="Once is enough: x + dropout(f(norm(x))).",
    section=DROPOUT,
)
def dropped_again(
    x: Tensor, change: Tensor, dropout: Callable[[Tensor], Tensor], norm: object
) -> Tensor:
    return dropout(x + change)


@mistake(
    "sublayer_with_dropout",
    "feed",
    "dropout before the sublayer and behind it",
    symptom="The sublayer's input is dropped, too.",
    cause="Apply dropout to what the sublayer gives, and to nothing else.",
    section=DROPOUT,
)
def dropped_before_and_behind(y: Tensor, dropout: Callable[[Tensor], Tensor]) -> Tensor:
    return dropout(y)


@mistake(
    "feed_forward",
    "activate",
    "first bias behind the activation",
    symptom="b1 is added after the ReLU.",
    cause="relu(x @ w1.T + b1), not relu(x @ w1.T) + b1.",
    section=FF,
    steps={"first": lambda x, w, b: x @ w.T},
)
def biased_late(h: Tensor, b: Tensor) -> Tensor:
    return torch.relu(h) + b


@mistake(
    "feed_forward",
    "activate",
    "leaky ReLU in place of ReLU",
    symptom="Negative numbers are made small, not zero.",
    cause="This is a leaky ReLU; the check asks for ReLU.",
    section=FF,
)
def leaky(h: Tensor, b: Tensor) -> Tensor:
    return nn.functional.leaky_relu(h)


@mistake(
    "feed_forward",
    "activate",
    "tanh in place of ReLU",
    symptom="No number between the layers is larger than one.",
    cause="This is tanh; the check asks for ReLU.",
    section=FF,
)
def hyperbolic(h: Tensor, b: Tensor) -> Tensor:
    return torch.tanh(h)


@mistake(
    "feed_forward",
    "activate",
    "sigmoid in place of ReLU",
    symptom="All numbers between the layers lie between zero and one.",
    cause="This is the sigmoid; the check asks for ReLU.",
    section=FF,
)
def logistic(h: Tensor, b: Tensor) -> Tensor:
    return torch.sigmoid(h)


@mistake(
    "group_sort",
    "sort",
    "smaller ones in front, larger ones behind",
    symptom="The smaller numbers of all pairs stand in the first half, the larger in the second.",
    cause="The two of a pair stay neighbours: stack them on a new last axis, and flatten it.",
    section="Three bends",
)
def minima_first(x: Tensor) -> Tensor:
    pairs = x.unflatten(-1, (-1, 2))
    return torch.cat([pairs.amin(dim=-1), pairs.amax(dim=-1)], dim=-1)


@mistake(
    "group_sort",
    "sort",
    "pairs that overlap",
    symptom="Features wander: each number is compared with the next one after it has been moved.",
    cause="The pairs are (0, 1), (2, 3), …: go on by two, not by one.",
    section="Three bends",
)
def overlapping(x: Tensor) -> Tensor:
    columns = list(x.unbind(-1))
    for i in range(len(columns) - 1):
        both = columns[i], columns[i + 1]
        columns[i], columns[i + 1] = torch.minimum(*both), torch.maximum(*both)
    return torch.stack(columns, dim=-1)


@mistake(
    "encoder_layer",
    "wire",
    "sublayers side by side",
    symptom="The feed-forward network does not see what the attention found.",
    cause="Both sublayers get the same x: hand the attention's sum to the feed-forward network.",
    section=ENCODER,
)
def in_parallel(x: Tensor, attended: Any, transformed: Any) -> Tensor:
    return attended(x) + transformed(x) - x


@mistake(
    "encoder_layer",
    "wire",
    "feed-forward network before the attention",
    symptom="The sublayers come in the wrong order.",
    cause="Self-attention first, then the feed-forward network.",
    section=ENCODER,
)
def in_wrong_order(x: Tensor, attended: Any, transformed: Any) -> Tensor:
    return attended(transformed(x))


@mistake(
    "encoder_layer",
    "wire",
    "feed-forward network first, behind the first norm",
    symptom="The sublayers come in the wrong order, the norms in the right one.",
    cause="Self-attention first, then the feed-forward network.",
    section=ENCODER,
    steps={"norms": lambda norm1, norm2: (norm2, norm1)},
)
def in_wrong_order_and_renormed(x: Tensor, attended: Any, transformed: Any) -> Tensor:
    return attended(transformed(x))


@mistake(
    "encoder_layer",
    "wire",
    "second residual from the layer's input",
    symptom="What the attention found reaches the output only through the feed-forward network.",
    cause="The second sum adds the layer's input: add what the first sum gave.",
    section=ENCODER,
)
def back_to_the_input(x: Tensor, attended: Any, transformed: Any) -> Tensor:
    y = attended(x)
    return x + transformed(y) - y


@mistake(
    "encoder_layer",
    "norms",
    "norms of the encoder layer exchanged",
    symptom="The attention gets the second norm, and the feed-forward network the first.",
    cause="norm1 belongs to the attention, norm2 to the feed-forward network.",
    section=ENCODER,
)
def norms_exchanged(norm1: Any, norm2: Any) -> tuple[Any, Any]:
    return norm2, norm1


@mistake(
    "encoder_layer",
    "norms",
    "first norm forgotten",
    symptom="The attention sees the stream as it is.",
    cause="Hand norm1(x) to the attention.",
    section=ENCODER,
)
def no_first_norm(norm1: Any, norm2: Any) -> tuple[Any, Any]:
    return lambda x: x, norm2


@mistake(
    "encoder_layer",
    "attend",
    "only the queries normalised",
    symptom="Keys and values are taken from the stream as it is.",
    cause="Query, key and value are all y = norm1(x): attention(y, y, y, mask).",
    section=ENCODER,
)
def queries_normalised(
    y: Tensor, mask: Tensor | None, attention: Callable[..., Tensor], x: Tensor
) -> Tensor:
    return attention(y, x, x, mask)


@mistake(
    "encoder_layer",
    "attend",
    "values not normalised",
    symptom="The values are taken from the stream as it is.",
    cause="Query, key and value are all y = norm1(x): attention(y, y, y, mask).",
    section=ENCODER,
)
def values_not_normalised(
    y: Tensor, mask: Tensor | None, attention: Callable[..., Tensor], x: Tensor
) -> Tensor:
    return attention(y, y, x, mask)


@mistake(
    "decoder_layer",
    "wire",
    "cross-attention before self-attention",
    symptom="The two attentions come in the wrong order.",
    cause="Self-attention first, then cross-attention, then the feed-forward network.",
    section=DECODER,
)
def across_first(x: Tensor, back: Any, over: Any, transformed: Any) -> Tensor:
    return transformed(back(over(x)))


@mistake(
    "decoder_layer",
    "wire",
    "cross-attention first, behind the first norm",
    symptom="The two attentions come in the wrong order, the norms in the right one.",
    cause="Self-attention first, then cross-attention, then the feed-forward network.",
    section=DECODER,
    steps={"norm": lambda norms, i: norms[(1, 0, 2)[i]]},
)
def across_first_and_renormed(x: Tensor, back: Any, over: Any, transformed: Any) -> Tensor:
    return transformed(back(over(x)))


@mistake(
    "decoder_layer",
    "wire",
    "cross-attention left out",
    symptom="The memory does not matter: the source is never read.",
    cause="The second of the three sublayers is missing.",
    section=DECODER,
)
def never_across(x: Tensor, back: Any, over: Any, transformed: Any) -> Tensor:
    return transformed(back(x))


@mistake(
    "decoder_layer",
    "wire",
    "feed-forward network of the decoder left out",
    symptom="The feed-forward network does not matter.",
    cause="The third of the three sublayers is missing.",
    section=DECODER,
)
def never_transformed(x: Tensor, back: Any, over: Any, transformed: Any) -> Tensor:
    return over(back(x))


@mistake(
    "decoder_layer",
    "wire",
    "attentions side by side",
    symptom="Cross-attention does not see what self-attention found.",
    cause="Both attentions get the same x: hand the sum of the first to the second.",
    section=DECODER,
)
def attentions_in_parallel(x: Tensor, back: Any, over: Any, transformed: Any) -> Tensor:
    return transformed(back(x) + over(x) - x)


@mistake(
    "decoder_layer",
    "attentions",
    "self-attention used for cross-attention, too",
    symptom="The weights of cross-attention do not matter.",
    cause="The second sublayer calls cross_attention, which has weights of its own.",
    section=DECODER,
)
def self_attention_twice(self_attention: Any, cross_attention: Any) -> tuple[Any, Any]:
    return self_attention, self_attention


@mistake(
    "decoder_layer",
    "attentions",
    "self-attention and cross-attention exchanged",
    symptom="The weights of the two attentions have changed places.",
    cause="self_attention reads the target, cross_attention the memory.",
    section=DECODER,
)
def attentions_exchanged(self_attention: Any, cross_attention: Any) -> tuple[Any, Any]:
    return cross_attention, self_attention


@mistake(
    "decoder_layer",
    "norm",
    "one norm for all three sublayers",
    symptom="The second and the third norm do not matter.",
    cause="Each of the three sublayers has its own norm: norms[0], norms[1], norms[2].",
    section=DECODER,
)
def one_norm(norms: Any, i: int) -> Any:
    return norms[0]


@mistake(
    "decoder_layer",
    "norm",
    "norm before cross-attention forgotten",
    symptom="Cross-attention's queries are taken from the stream as it is.",
    cause="Hand norms[1](x) to cross-attention.",
    section=DECODER,
)
def no_norm_across(norms: Any, i: int) -> Any:
    return norms[i] if i != 1 else lambda x: x


@mistake(
    "decoder_layer",
    "norm",
    "norm before the decoder's feed-forward network forgotten",
    symptom="The feed-forward network sees the stream as it is.",
    cause="Hand norms[2](x) to the feed-forward network.",
    section=DECODER,
)
def no_last_norm(norms: Any, i: int) -> Any:
    return norms[i] if i != 2 else lambda x: x


@mistake(
    "decoder_layer",
    "look_over",
    "values of cross-attention from the target",
    symptom="The target's own vectors are averaged; if the lengths differ it stops.",
    cause="In cross-attention keys and values are the memory.",
    section=DECODER,
)
def values_from_target(
    y: Tensor, memory: Tensor, masks: Any, attention: Callable[..., Tensor]
) -> Tensor:
    return attention(y, memory, y, masks[1])


@mistake(
    "causal_self_attention",
    "root",
    "causal scores not scaled",
    symptom="The weights are too sharp, and all the more so the wider the vectors are.",
    cause="The scores are not divided by the root of D.",
    section="Why divide by the square root of the width",
    chapter=7,
)
def causal_not_scaled(x: Tensor) -> float:
    return 1.0


@mistake(
    "causal_self_attention",
    "root",
    "causal scores divided by the root of the length",
    symptom="The weights depend on how long the sentence is.",
    cause="x.size(1) is the number of tokens; the width is x.size(-1).",
    section="Why divide by the square root of the width",
    chapter=7,
)
def causal_divided_by_length(x: Tensor) -> float:
    return x.size(1) ** 0.5


@mistake(
    "causal_self_attention",
    "weights",
    "future scores set to zero",
    symptom="The future still gets weight: the exponential of zero is one.",
    cause="Multiplied by the mask, hidden scores are 0: set them to −inf, before the softmax.",
    section="Break it: the mask after the softmax",
    chapter=8,
)
def future_at_zero(scores: Tensor, seen: Tensor) -> Tensor:
    return (scores * seen).softmax(dim=-1)


@mistake(
    "causal_self_attention",
    "weights",
    "future hidden after the softmax",
    symptom="The weights of a position do not sum to one.",
    cause="The future still counts in the softmax's sum: hide its scores before it.",
    section="Break it: the mask after the softmax",
    chapter=8,
)
def future_hidden_late(scores: Tensor, seen: Tensor) -> Tensor:
    return scores.softmax(dim=-1) * seen


@mistake(
    "causal_self_attention",
    "seen",
    "next token visible to causal attention",
    symptom="A position sees the token after it, the one it is to predict.",
    cause="The triangle is one too wide (diagonal=1): use diagonal=0.",
    section="Break it: masks that are nearly right",
    chapter=8,
)
def causal_next_visible(ones: Tensor, training: bool) -> Tensor:
    return ones.tril(1)


@mistake(
    "make_stack",
    "build",
    "one layer too few",
    symptom="There are n_layers − 1 layers.",
    cause="range(n_layers) has n_layers numbers; range(1, n_layers) has one less.",
    section="Break it: N layers that are one",
)
def one_layer_less(make: Callable[[], nn.Module], n: int) -> list[nn.Module]:
    return [make() for _ in range(n - 1)]


@mistake(
    "make_stack",
    "build",
    "one layer too many",
    symptom="There are n_layers + 1 layers.",
    cause="Either a layer that was made for a trial is in the list, too, or the loop runs once "
    "too often: make n_layers of them.",
    section="Break it: N layers that are one",
)
def one_layer_more(make: Callable[[], nn.Module], n: int) -> list[nn.Module]:
    return [make() for _ in range(n + 1)]


@mistake(
    "make_stack",
    "build",
    "always six layers",
    symptom="There are six layers, as in the paper, whatever n_layers is.",
    cause="The 6 is written into the function: use n_layers.",
    section="Break it: N layers that are one",
)
def always_six(make: Callable[[], nn.Module], n: int) -> list[nn.Module]:
    return [make() for _ in range(6)]


@mistake(
    "transformer_forward",
    "embedded_target",
    "target embedded with the table of the source",
    symptom="The target's embedding does not matter.",
    cause="Two vocabularies, two tables: embed_target for the target.",
    section=WIRING,
)
def wrong_table_of_target(target: Tensor, embed_source: Any, embed_target: object) -> Tensor:
    return embed_source(target)


@mistake(
    "transformer_forward",
    "embedded",
    "tables of source and target exchanged",
    symptom="Each side is embedded with the other one's table.",
    cause="embed_source for the source, embed_target for the target.",
    section=WIRING,
    steps={"embedded_target": lambda target, embed_source, embed_target: embed_source(target)},
)
def tables_exchanged(source: Tensor, embed_source: object, embed_target: Any) -> Tensor:
    return embed_target(source)


@mistake(
    "transformer_forward",
    "real",
    "special tokens of the source hidden",
    symptom="<sos>, <eos> and <unk> of the source are hidden with the padding.",
    cause="source > 3 hides four tokens: padding is token 0 alone, source != 0.",
    section="The three masks of one batch",
    chapter=8,
)
def source_specials_hidden(source: Tensor) -> Tensor:
    return source > 3


@mistake(
    "transformer_forward",
    "real",
    "source mask of the model inverted",
    symptom="Only the padding of the source is read.",
    cause="True means 'may attend': source != 0. (nn.Transformer means the opposite.)",
    section="PyTorch's modules mean the opposite",
    chapter=8,
)
def source_mask_inverted(source: Tensor) -> Tensor:
    return source == 0


@mistake(
    "transformer_forward",
    "finish",
    "last row of the model's logits cut off",
    symptom="There are T − 1 rows of logits.",
    cause="The caller has shifted the target already: return one row for each token that came in.",
    section="One place to the right",
    chapter=3,
)
def last_row_cut(y: Tensor, output: Callable[[Tensor], Tensor]) -> Tensor:
    return output(y)[:, :-1]


@mistake(
    "transformer_forward",
    "finish",
    "logits of the last position only",
    symptom="There is one row of logits for each sentence.",
    cause="Training needs the logits of all positions; whoever decodes takes the last.",
    section=WIRING,
)
def last_row_only(y: Tensor, output: Callable[[Tensor], Tensor]) -> Tensor:
    return output(y)[:, -1]


# --- harmless ------------------------------------------------------------------------------------


@mistake(
    "encoder_layer",
    "norms",
    "one LayerNorm shared, at the beginning",
    symptom="In a new model nothing changes: all norms begin with ones and zeros.",
    cause="Both sublayers use one module. It has fewer parameters, and weights of a model with two "
    "do not fit in.",
    section=ENCODER,
    kind="harmless",
)
def shared_norm(norm1: Any, norm2: Any) -> tuple[Any, Any]:
    return norm1, norm1


@mistake(
    "transformer_forward",
    "target_mask",
    "padding of the target left to the causal mask",
    symptom="No real position changes: padding comes last, and the future is hidden anyway.",
    cause="Only what stands at the padding itself changes, and no loss reads that. (With padding "
    "in front it would matter.)",
    section=WIRING,
    kind="harmless",
)
def target_padding_visible(target: Tensor, source: Tensor) -> Tensor:
    return _causal(target.size(1))
