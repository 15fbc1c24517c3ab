"""What people reported in public, rebuilt on 2026-11-28 to 30 from descriptions, in our own code."""

from __future__ import annotations

import copy
import math
from collections import OrderedDict

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from tests.checks.corpus import version
from tests.checks.corpus.parts import DecoderParts


@version("layer_norm", "wrong: squared in place of the root")
def squared_in_place_of_a_root(x, weight, bias, eps=1e-5):
    centred = x - x.mean(-1, keepdim=True)
    variance = (centred**2).mean(-1, keepdim=True)
    std = (variance + eps) ** 2
    return centred / std * weight + bias


@version("layer_norm", "wrong: variance with Bessel's correction + root of the standard deviation")
def root_of_the_deviation(x, weight, bias, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    std = x.std(-1, keepdim=True)
    return weight * ((x - mean) / torch.sqrt(std + eps)) + bias


@version("encoder_layer", "wrong")
def second_residual_behind_the_norm(x, mask, attention, feed_forward, norm1, norm2):
    y = norm1(x)
    x = x + attention(y, y, y, mask)
    x = norm2(x)
    return x + feed_forward(x)


@version("pre_norm", "wrong: input added before the sublayer")
def sum_inside_the_sublayer(x, sublayer, norm):
    return sublayer(norm(x) + x)


@version("feed_forward", "wrong")
def quick_gelu(x, w1, b1, w2, b2):
    h = x @ w1.T + b1
    h = 0.5 * h * (1.0 + torch.tanh(h * 0.044715 * (1.0 + 0.7978845608 * h * h)))
    return h @ w2.T + b2


@version("causal_self_attention", "wrong: additive mask where ones and zeros are meant")
def additive_where_binary_is_meant(x, training):
    length = x.size(1)
    mask = torch.triu(torch.full((length, length), -1e9), diagonal=1)
    scores = x @ x.mT / math.sqrt(x.size(-1))
    scores = scores + (1 - mask) * -1e9
    return scores.softmax(-1) @ x


@version("dropout", "wrong: kept from the call before", instance=True)
class OffForGood:
    def __init__(self):
        self.on = True

    def __call__(self, x, p, keep, training):
        if not training:
            self.on = False
        if not self.on:
            return x
        return x * keep / (1 - p)


# --- rebuilt on 2026-11-29 -----------------------------------------------------------------------


@version("dropout", "wrong")
def scaled_by_what_is_dropped(x, p, keep, training):
    if training:
        return x.masked_fill(~keep, 0.0)
    return x * p


@version("registered_layers", "wrong: layers in a plain list")
class LayersInListsOfLists(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.hids = []
        for layer in layers:
            self.hids.append([layer, nn.Identity()])

    def forward(self, x):
        for layer, act in self.hids:
            x = act(layer(x))
        return x


@version("layer_norm_parameters", "wrong")
def both_drawn_narrowly(d_model):
    gamma = torch.ones(d_model)
    beta = torch.zeros(d_model)
    for p in (gamma, beta):
        p.normal_(mean=0.0, std=0.02)
    return gamma, beta


@version("feed_forward", "wrong")
def activation_behind_both_layers(x, w1, b1, w2, b2):
    x_fc1 = x @ w1.T + b1
    return torch.nn.functional.gelu(x_fc1 @ w2.T + b2)


@version("causal_self_attention", "wrong")
def dropout_always_on_in_fused_attention(x, training):
    return F.scaled_dot_product_attention(x, x, x, dropout_p=0.1, is_causal=True)


def dropout_mask(x, keep, p):
    return keep.to(x.dtype) / (1 - p) ** 0.5


@version("dropout", "wrong")
def over_the_root_of_what_stays(x, p, keep, training):
    if not training or p == 0:
        return x
    return x * dropout_mask(x, keep, p)


@version("group_sort", "wrong: smaller ones in front, larger ones behind")
def minima_first(x):
    pairs = x.reshape(*x.shape[:-1], -1, 2)
    mins = pairs.min(dim=-1).values
    maxes = pairs.max(dim=-1).values
    return torch.cat((mins, maxes), dim=-1)


@version("layer_norm", "wrong: ε outside the root")
class EpsilonBesideTheRoot(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))
        self.eps = eps

    def forward(self, x):
        x = x - x.mean(-1, keepdim=True)
        var = (x * x).mean(-1, keepdim=True)
        out = x / (var.sqrt() + self.eps)
        return out * self.weight + self.bias


@version("layer_norm_parameters", "wrong")
def gamma_near_zero(d_model):
    gamma = torch.zeros(d_model) + 1e-6
    beta = torch.zeros(d_model)
    return gamma, beta


@version("layer_norm_parameters", "wrong")
def gamma_around_zero(d_model):
    layer_norm_weight = torch.empty(d_model).normal_(0.0, 0.023)
    layer_norm_bias = torch.zeros(d_model)
    return layer_norm_weight, layer_norm_bias


@version("post_norm", "wrong: normalised stream in place of post-norm")
def normed_first_and_added(x, sublayer, norm):
    n = norm(x)
    out = n + sublayer(n)
    return out


@version("pre_norm", "wrong: sublayer's output added to itself")
def added_to_itself(x, sublayer, norm):
    x = sublayer(norm(x))
    x = x + x
    return x


@version("sublayer_with_dropout", "wrong")
def norm_behind_the_sublayer(x, sublayer, norm, dropout):
    return x + dropout(norm(sublayer(x)))


@version("sublayer_with_dropout", "wrong")
def dropout_made_at_each_call(x, sublayer, norm, dropout):
    out = sublayer(norm(x))
    out = nn.Dropout(p=0.5)(out)
    return x + out


@version("sublayer_with_dropout", "wrong")
def dropout_of_the_wrong_variable(x, sublayer, norm, dropout):
    z = norm(x)
    z_ = sublayer(z)
    z_ = dropout(z)
    return x + z_


@version("feed_forward", "wrong: activation after the second layer")
class ReLUBehindBoth(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)
        self.activation = nn.ReLU()

    def forward(self, x):
        x = self.linear1(x)
        x = self.linear2(x)
        return self.activation(x)


@version("post_norm", "wrong")
def own_output_added_again(x, sublayer, norm):
    out = sublayer(x)
    residual = out
    for step in "an":
        if step == "a":
            out = out + residual
        else:
            out = norm(out)
    return out


class Stack(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.last = self.layers[len(layers) - 1]

    def forward(self, x):
        for layer in self.layers[:-1]:
            x = layer(x)
        return self.last(x)


@version("registered_layers", "wrong: a layer registered twice")
def LastLayerOnceMore(layers):
    return Stack(layers)


@version("registered_layers", "wrong: all layers under one name")
def named_by_their_class(layers):
    named = OrderedDict((type(layer).__name__.lower(), layer) for layer in layers)
    return nn.Sequential(named)


@version("encoder_layer", "wrong")
def residual_of_the_input(x, mask, attention, feed_forward, norm1, norm2):
    attended = norm1(x + attention(x, x, x, mask))
    return norm2(x + feed_forward(attended))


@version("encoder_layer", "wrong")
def first_norm_off_the_residual(x, mask, attention, feed_forward, norm1, norm2):
    h = x + attention(x, x, x, mask)
    residual = h
    h = feed_forward(norm1(h))
    return norm2(h + residual)


@version("decoder_layer", "wrong")
def memory_added_in_place_of_x(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    n1, n2, n3 = norms
    h = n1(x)
    x = x + self_attention(h, h, h, target_mask)
    x = memory + cross_attention(n2(x), memory, memory, memory_mask)
    return x + feed_forward(n3(x))


@version("decoder_layer", "wrong")
def norm_kept_as_the_stream(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    x = norms[0](x)
    x = x + self_attention(x, x, x, target_mask)
    x = norms[1](x)
    h = x + cross_attention(x, memory, memory, memory_mask)
    return h + feed_forward(norms[2](h))


@version("dropout", "wrong: enlarged twice")
def enlarged_twice(x, p, keep, training):
    if not training:
        return x
    scale = 1.0 / (1.0 - p)
    mask = keep.to(x.dtype) * scale
    return x * mask * scale


@version("sublayer_with_dropout", "wrong", instance=True)
class everything_normalised_and_dropped(nn.Module):
    def forward(self, x, sublayer, norm, dropout):
        return dropout(norm(x + sublayer(x)))


def pad_mask(tokens):
    return (tokens != 0)[:, None, None, :]


def causal(n):
    return torch.ones(n, n, dtype=torch.bool).tril()


@version("transformer_forward", "wrong")
def one_embedding_for_both(source, target, embed_source, embed_target, encoder, decoder, output):
    x = embed_source(source)
    memory_mask = pad_mask(source)
    enc_out = encoder(x, memory_mask)
    x = decoder(x, enc_out, pad_mask(target) & causal(target.size(1)), memory_mask)
    return output(x)


@version("registered_layers", "wrong: only layers with parameters registered")
class DropoutInAPlainList(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.trained = nn.ModuleList(layer for layer in layers if len(list(layer.parameters())) > 0)
        self.order = tuple(layers)

    def forward(self, x):
        for layer in self.order:
            x = layer(x)
        return x


@version("causal_self_attention", "wrong")
def triangle_lost_off_the_fast_path(x, training):
    T, D = x.shape[1:]
    logits = x @ x.transpose(1, 2)
    scale = D**-0.5
    if T % 4 == 0:
        hidden = torch.ones(T, T, dtype=torch.bool).triu(1)
        weights = torch.softmax((logits * scale).masked_fill(hidden, float("-inf")), dim=-1)
    else:
        weights = torch.softmax(logits * scale, dim=-1)
    return weights @ x


@version("decoder_layer", "wrong: self-attention used for cross-attention, too")
class first_attention_for_the_memory_too(DecoderParts):
    def forward(self, x, memory, target_mask=None, memory_mask=None):
        h = self.self_residual(x)
        x = x + self.self_attention(h, h, h, target_mask)
        x = x + self.self_attention(self.cross_residual(x), memory, memory, memory_mask)
        return x + self.feed_forward(self.feed_forward_residual(x))


@version("decoder_layer", "wrong")
def memory_beside_own_positions(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    h = norms[0](x)
    x = x + self_attention(h, h, h, target_mask)
    h = norms[1](x)
    keys = torch.cat([memory, h], dim=1)
    if memory_mask is not None:
        own = torch.ones(*memory_mask.shape[:-1], h.size(1), dtype=torch.bool)
        memory_mask = torch.cat([memory_mask, own], dim=-1)
    x = x + cross_attention(h, keys, keys, memory_mask)
    return x + feed_forward(norms[2](x))


@version("encoder_layer", "wrong: second norm forgotten + post-norm encoder layer")
def post_norm_without_its_last_norm(x, mask, attention, feed_forward, norm1, norm2):
    attended = attention(x, x, x, mask)
    added = norm1(x + attended)
    return added + feed_forward(added)


@version("layer_norm", "wrong")
def epsilon_on_the_number_of_features(x, weight, bias, eps=1e-5):
    K = x.size(-1)
    mean = x.sum(-1, keepdim=True) / K
    centred = x - mean
    variance = (centred * centred).sum(-1, keepdim=True)
    scale = torch.rsqrt(variance / (K + eps))
    return centred * scale * weight + bias


@version("layer_norm", "wrong: shifted before it is scaled")
class shifted_and_then_scaled(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))
        self.eps = 1e-5

    def forward(self, x):
        zero_mean = x - x.mean(-1, keepdim=True)
        denom = (zero_mean.pow(2).mean(-1, keepdim=True) + self.eps).rsqrt()
        out = zero_mean * denom
        return (out + self.bias) * self.weight


@version("layer_norm", "wrong: layer norm over batch and positions")
def normalised_over_batch_and_positions(x, weight, bias, eps=1e-5):
    axes = tuple(range(x.dim() - 1))
    mean = x.mean(axes, keepdim=True)
    variance = x.var(axes, unbiased=False, keepdim=True)
    normalized = (x - mean) / (variance + eps) ** 0.5
    return weight * normalized + bias


def add_norm(x, y, norm):
    return norm(x + y)


@version("post_norm", "wrong")
def normalised_twice_in_a_row(x, sublayer, norm):
    out = add_norm(x, sublayer(x), norm)
    out = norm(out)
    return out


@version("registered_layers", "wrong")
class field_and_list_register_twice(nn.Module):
    def __init__(self, layers):
        super().__init__()
        for i, layer in enumerate(layers):
            setattr(self, f"layer{i}", layer)
        self.layers = nn.ModuleList(layers)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


@version("sublayer_with_dropout", "wrong")
def dropout_of_the_input_by_a_slip(x, sublayer, norm, dropout):
    x_res = norm(x)
    x_res = sublayer(x_res)
    x_res = dropout(x)
    return x_res + x


def no_later(rows, columns):
    return torch.ones(rows, columns, dtype=torch.bool).tril()


@version("transformer_forward", "wrong")
def causal_towards_the_source(source, target, embed_source, embed_target, encoder, decoder, output):
    S, T = source.size(1), target.size(1)
    source_mask = source.ne(0).view(-1, 1, 1, S)
    target_mask = target.ne(0).view(-1, 1, 1, T) & no_later(T, T)
    memory = encoder(embed_source(source), source_mask)
    cross_mask = source_mask & no_later(T, S)
    return output(decoder(embed_target(target), memory, target_mask, cross_mask))


@version("causal_self_attention", "wrong")
def sentences_taken_for_positions(x, training):
    S, N, D = x.shape
    seq = x.transpose(0, 1)
    scores = seq @ seq.transpose(1, 2) / math.sqrt(D)
    mask = torch.triu(torch.full((S, S), float("-inf")), diagonal=1)
    out = torch.softmax(scores + mask, dim=-1) @ seq
    return out.transpose(0, 1)


@version("causal_self_attention", "wrong")
def raw_scores_for_weights(x, training):
    T = x.size(1)
    scores = torch.bmm(x, x.transpose(1, 2))
    scores = scores * torch.tril(torch.ones(T, T))
    # scores = torch.softmax(scores, dim=-1)
    return torch.bmm(scores, x)


@version(
    "decoder_layer",
    "wrong: residual around self-attention forgotten + residual around cross-attention forgotten",
)
def replaced_twice_and_not_added(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    y = norms[0](x)
    x = self_attention(y, y, y, target_mask)
    x = cross_attention(norms[1](x), memory, memory, memory_mask)
    return x + feed_forward(norms[2](x))


@version("dropout", "wrong")
def no_way_back_in_evaluation(x, p, keep, training):
    if training:
        return x * keep / (1 - p)
    return x.detach() + 0 * x


@version("make_stack", "wrong")
def halves_that_share_layers(make_layer, n_layers):
    first = [make_layer() for _ in range((n_layers + 1) // 2)]
    second = list(first)
    second.reverse()
    return (first + second)[:n_layers]


@version("post_norm", "wrong")
def two_residuals_before_the_norm(x, sublayer, norm):
    out = sublayer(x) + x
    return norm(out + x)


@version("pre_norm", "wrong")
def skip_around_the_whole(x, sublayer, norm):
    start = x
    x = x + sublayer(norm(x))
    return x + start


@version("registered_layers", "wrong")
class each_layer_deep_copied(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.layers = nn.ModuleList([copy.deepcopy(l) for l in layers])

    def forward(self, x):
        for l in self.layers:
            x = l(x)
        return x


@version("decoder_layer", "wrong")
def attended_and_never_used(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    h = norms[0](x)
    attn_out = self_attention(h, h, h, target_mask) + x
    x = cross_attention(norms[1](x), memory, memory, memory_mask) + x
    x = feed_forward(norms[2](x)) + x
    return x


@version("decoder_layer", "wrong")
def norm_on_the_sublayers_answer(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    norm1, norm2, norm3 = norms
    x = x + norm1(self_attention(x, x, x, target_mask))
    x = x + norm2(cross_attention(x, memory, memory, memory_mask))
    return x + norm3(feed_forward(x))


@version("encoder_layer", "wrong", instance=True)
class keys_and_values_normalised_alone:
    def __call__(self, x, mask, attention, feed_forward, norm1, norm2):
        c = norm1(x)
        h = attention(x, c, c, mask)
        x = x + h
        h = feed_forward(norm2(x))
        return x + h


@version("feed_forward", "wrong")
def first_bias_added_twice(x, w1, b1, w2, b2):
    hidden = F.linear(x, w1, b1)
    hidden = torch.relu(hidden + b1)
    return F.linear(hidden, w2, b2)


@version("group_sort", "wrong")
def groups_and_sizes_exchanged(x):
    group = 2
    grouped = x.reshape(*x.shape[:-1], group, x.shape[-1] // group)
    return grouped.sort(dim=-1).values.reshape(x.shape)


@version("layer_norm", "wrong: layer norm over two axes")
class one_mean_a_sentence(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))
        self.eps = eps

    def forward(self, x):
        mean = x.mean((-2, -1), keepdim=True)
        var = x.var((-2, -1), unbiased=False, keepdim=True)
        return (x - mean) * torch.rsqrt(var + self.eps) * self.weight + self.bias


@version("layer_norm", "wrong")
def inverse_root_of_a_rounded_variance(x, weight, bias, eps=1e-5):
    mean = x.mean(dim=-1, keepdim=True)
    var = x.var(dim=-1, keepdim=True, unbiased=False) + eps
    var = var.to(torch.float16).to(x.dtype)
    return (x - mean) * var.rsqrt() * weight + bias


@version("make_stack", "wrong")
def loop_one_layer_short(make_layer, n_layers):
    layers = [make_layer()]
    for _ in range(2, n_layers - 1):
        layers.append(make_layer())
    if n_layers > 1:
        layers.append(make_layer())
    return layers


class Container(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.inner = nn.ModuleList(layers)

    def train(self, mode=True):
        self.training = mode
        return self

    def forward(self, x):
        for module in self.inner:
            x = module(x)
        return x


@version("registered_layers", "wrong: a mode that does not reach the layers")
def mode_not_handed_on(layers):
    return Container(layers)


@version("causal_self_attention", "wrong")
def softmax_again_without_a_mask(x, training):
    T, D = x.shape[1:]
    scores = torch.bmm(x, x.mT) / D**0.5
    scores = scores + torch.full((T, T), float("-inf")).triu(1)
    weights = scores.softmax(dim=-1)
    weights = torch.softmax(weights, dim=-1)
    return weights @ x


@version("decoder_layer", "wrong")
def cross_attention_beside_the_input(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    h = norms[0](x)
    y = x + self_attention(h, h, h, target_mask)
    y = x + cross_attention(norms[1](y), memory, memory, memory_mask)
    return y + feed_forward(norms[2](y))


@version(
    "decoder_layer", "wrong: post-norm decoder layer + first norm used for cross-attention, too"
)
def first_norm_behind_cross_attention(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    ln1, ln2, ln3 = norms
    x = ln1(x + self_attention(x, x, x, target_mask))
    x = ln1(x + cross_attention(x, memory, memory, memory_mask))
    return ln3(x + feed_forward(x))


class Dropout(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, p, keep):
        out = x * keep / (1 - p)
        ctx.save_for_backward(x, out)
        return out

    @staticmethod
    def backward(ctx, grad):
        x, out = ctx.saved_tensors
        ratio = torch.where(
            x == 0, torch.ones_like(x), out / torch.where(x == 0, torch.ones_like(x), x)
        )
        return grad * ratio, None, None


@version("dropout", "wrong")
def gradient_from_output_over_input(x, p, keep, training):
    return Dropout.apply(x, p, keep) if training else x


class DropoutFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, p, keep):
        ctx.p = p
        return x.masked_fill(~keep, 0.0) / (1.0 - p)

    @staticmethod
    def backward(ctx, dLdy):
        return dLdy / (1.0 - ctx.p), None, None


@version("dropout", "wrong")
def mask_forgotten_on_the_way_back(x, p, keep, training):
    if not training:
        return x
    return DropoutFunction.apply(x, p, keep)


@version("encoder_layer", "wrong")
def output_multiplied_with_the_stream(x, mask, attention, feed_forward, norm1, norm2):
    q = norm1(x)
    output = attention(q, q, q, mask) + x
    output = output * feed_forward(norm2(output))
    return output


@version("encoder_layer", "wrong")
def without_the_feed_forward(x, mask, attention, feed_forward, norm1, norm2):
    enc = norm1(x)
    enc = attention(enc, enc, enc, mask)
    return x + enc


@version("layer_norm", "wrong: layer norm over the positions")
class along_the_positions(nn.Module):
    def __init__(self, d_model, axis=1, eps=1e-5):
        super().__init__()
        self.axis = axis
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        var, mean = torch.var_mean(x, dim=self.axis, correction=0, keepdim=True)
        return (x - mean) * torch.rsqrt(var + self.eps) * self.weight + self.bias


@version("sublayer_with_dropout", "wrong")
def output_added_to_itself(x, sublayer, norm, dropout):
    out = norm(x)
    x = sublayer(out)
    return x + dropout(x)


# 2026-11-30: RMSNorm as most people write it, the weight first.
@version("layer_norm", "convention: RMS norm in place of layer norm")
def weight_first_and_then_the_root(x, weight, bias, eps=1e-5):
    return weight * x / (x.square().mean(-1, keepdim=True) + eps).sqrt() + bias


# 2026-11-30: and without the bias.
@version("layer_norm", "convention: RMS norm without the bias")
def weight_first_without_the_bias(x, weight, bias, eps=1e-5):
    return weight * x / torch.sqrt((x**2).mean(dim=-1, keepdim=True) + eps)


# 2026-11-30: the same seed before each layer, and each made anew.
@version("make_stack", "convention: deep copies that start equal")
def same_seed_before_each(make_layer, n_layers):
    layers = []
    for _ in range(n_layers):
        torch.manual_seed(0)
        layers.append(make_layer())
    return nn.ModuleList(layers)


# 2026-11-30: the layers are registered as the module is called, when the optimizer is made already.
@version("registered_layers", "wrong")
class registered_in_forward(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.plain = list(layers)

    def forward(self, x):
        self.layers = nn.ModuleList(self.plain)
        for layer in self.layers:
            x = layer(x)
        return x


# --- rebuilt on 2026-11-30 ------------------------------------------------------------------------


@version("decoder_layer", "wrong")
def fourth_sublayer(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    def ff(x):
        return x + feed_forward(norms[2](x))

    normed = norms[0](x)
    x = x + self_attention(normed, normed, normed, target_mask)
    x = ff(x)
    normed = norms[1](x)
    x = x + cross_attention(normed, memory, memory, memory_mask)
    return ff(x)


@version("dropout", "wrong")
def halved_in_evaluation(x, p, keep, training):
    if training:
        return x * keep
    return x * 0.5


@version("dropout", "wrong")
def enlarged_to_the_same_sum(x, p, keep, training):
    if not training:
        return x
    kept = x * keep
    return kept * (x.sum() / kept.sum())


@version("feed_forward", "wrong")
def swish_named_relu(x, w1, b1, w2, b2):
    def relu_fn(x):
        return x * torch.sigmoid(x)

    return relu_fn(x @ w1.T + b1) @ w2.T + b2


@version("group_sort", "wrong")
def sorted_across_the_batch(x):
    shape = x.shape
    pairs = x.reshape(*shape[:-1], -1, 2)
    ordered, _ = torch.sort(pairs, dim=0)
    return ordered.reshape(shape)


@version("layer_norm", "wrong: variance as mean of squares minus square of the mean")
class negative_variance_cut_off(torch.nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(d_model))
        self.bias = torch.nn.Parameter(torch.zeros(d_model))
        self.eps = eps

    def forward(self, x):
        mean = x.mean(-1, keepdim=True)
        var = x.pow(2).mean(-1, keepdim=True) - mean.pow(2)
        var = var.clamp(min=0.0)
        return self.weight * (x - mean) * torch.rsqrt(var + self.eps) + self.bias


@version("layer_norm_parameters", "wrong")
def weight_drawn_small(d_model):
    gamma = torch.empty(d_model).uniform_(-0.05, 0.05)
    beta = torch.zeros(d_model)
    return gamma, beta


@version("layer_norm_parameters", "wrong")
def bias_drawn_at_random(d_model):
    weight, bias = torch.ones(d_model), torch.empty(d_model)
    torch.nn.init.normal_(bias, mean=0.0, std=0.02)
    return weight, bias


@version("pre_norm", "wrong")
def branch_added_to_itself(x, sublayer, norm):
    out = sublayer(norm(x))
    layer_input = norm(out)
    return out + layer_input


@version("pre_norm", "wrong: normalised residual")
def residual_in_the_same_memory(x, sublayer, norm):
    residual = x
    x.data.copy_(norm(x))
    return residual + sublayer(x)


@version("layer_norm", "wrong: layer norm over the positions")
def statistics_along_the_sequence(x, weight, bias, eps=1e-5):
    mu = torch.mean(x, dim=1, keepdim=True)
    sigma = torch.var(x, dim=1, keepdim=True, unbiased=False)
    z = (x - mu.expand_as(x)) / torch.sqrt(sigma.expand_as(x) + eps)
    return z * weight.expand_as(z) + bias.expand_as(z)


@version("dropout", "wrong")
def dropped_in_prediction_only(x, p, keep, training):
    if not training:
        return x * keep / (1.0 - p)
    return x


def _b_masks(source, target):
    src = (source != 0)[:, None, None, :]
    n = target.size(1)
    past = torch.ones(n, n, dtype=torch.bool, device=target.device).tril()
    return src, (target != 0)[:, None, None, :] & past


@version("transformer_forward", "wrong")
def decoder_reads_the_source_again(
    source, target, embed_source, embed_target, encoder, decoder, output
):
    src_mask, _ = _b_masks(source, target)
    x = embed_source(source)
    memory = encoder(x, src_mask)
    n = source.size(1)
    past = torch.ones(n, n, dtype=torch.bool).tril()
    return output(decoder(x, memory, src_mask & past, src_mask))


@version("transformer_forward", "wrong")
def decoder_gets_the_last_steps_of_the_encoder_input(
    source, target, embed_source, embed_target, encoder, decoder, output
):
    src_mask, tgt_mask = _b_masks(source, target)
    e = encoder(embed_source(source), src_mask)
    last = source[:, -target.size(1) :]
    d = decoder(embed_target(last), e, tgt_mask[..., : last.size(1), : last.size(1)], src_mask)
    return output(d)


@version("layer_norm", "wrong: layer norm over batch and positions")
def layer_norm_each_feature_alone(x, weight, bias, eps=1e-5):
    # statistics of each feature, over everything it has in the batch
    m = x.mean(dim=(0, 1), keepdim=True)
    v = ((x - m) ** 2).mean(dim=(0, 1), keepdim=True)
    normed = (x - m) * torch.rsqrt(v + eps)
    return torch.addcmul(bias, normed, weight)


class _PairSortEqualMasks(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        a, b = x[..., 0::2], x[..., 1::2]
        low, high = torch.minimum(a, b), torch.maximum(a, b)
        ctx.save_for_backward(a, b, low, high)
        return torch.stack((low, high), dim=-1).reshape(x.shape)

    @staticmethod
    def backward(ctx, grad):
        a, b, low, high = ctx.saved_tensors
        g_low, g_high = grad[..., 0::2], grad[..., 1::2]
        g_a = (a == low) * g_low + (a == high) * g_high
        g_b = (b == low) * g_low + (b == high) * g_high
        return torch.stack((g_a, g_b), dim=-1).reshape(grad.shape)


@version("group_sort", "wrong")
def both_of_a_tie_get_the_whole_gradient(x):
    return _PairSortEqualMasks.apply(x)


@version("group_sort", "wrong: first of a pair overwritten")
def swap_that_overwrites_the_smaller_of_two(x):
    y = x.clone()
    first, second = y[..., 0::2].clone(), y[..., 1::2].clone()
    wrong_way = first > second
    first = torch.where(wrong_way, second, first)
    second = torch.where(wrong_way, first, second)
    return torch.stack([first, second], -1).flatten(-2)


@version("encoder_layer", "wrong")
def normalised_twice_before_attention(x, mask, attention, feed_forward, norm1, norm2):
    residual = x
    hidden = norm1(x)

    def attend(states):
        states = norm1(states)
        return attention(states, states, states, mask)

    x = residual + attend(hidden)
    return x + feed_forward(norm2(x))


@version("feed_forward", "right")
def feed_forward_by_convolutions_of_size_one(x, w1, b1, w2, b2):
    rows = x.reshape(-1, x.shape[-1]).t().unsqueeze(0)
    hidden = F.relu(F.conv1d(rows, w1.unsqueeze(-1), b1))
    out = F.conv1d(hidden, w2.unsqueeze(-1), b2)
    return out.squeeze(0).t().reshape(*x.shape[:-1], w2.shape[0])


_c_norms = {}


@version("layer_norm_parameters", "wrong: kept from the call before")
def layer_norm_parameters_one_norm_for_all(d_model):
    # all norms of one width do the same thing, so one is enough and saves the loop
    if d_model not in _c_norms:
        _c_norms[d_model] = nn.LayerNorm(d_model)
    norm = _c_norms[d_model]
    return norm.weight, norm.bias


@version("transformer_forward", "wrong")
def transformer_forward_decodes_the_encoding_itself(
    source, target, embed_source, embed_target, encoder, decoder, output
):
    s_mask = source.ne(0).unsqueeze(1).unsqueeze(2)
    t_len = target.shape[1]
    t_mask = target.ne(0).view(-1, 1, 1, t_len) & torch.tril(torch.ones(t_len, t_len)).bool()

    encoding = embed_source(source)
    encoding = encoder(encoding, s_mask)

    decoding = encoding
    decoding = decoder(decoding, encoding, t_mask, s_mask)
    return output(decoding)


class _e_DropoutFromSeed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, keep, p):
        ctx.p = p
        ctx.seed = 1234
        return torch.where(keep, x / (1 - p), torch.zeros_like(x))

    @staticmethod
    def backward(ctx, grad):
        # the mask is not stored, it is made once more from the seed
        generator = torch.Generator().manual_seed(ctx.seed)
        kept = torch.rand(grad.shape, generator=generator).to(grad.device) >= ctx.p
        return torch.where(kept, grad / (1 - ctx.p), torch.zeros_like(grad)), None, None


@version("dropout", "wrong")
def dropout_backward_draws_its_own_mask(x, p, keep, training):
    if training:
        return _e_DropoutFromSeed.apply(x, keep, p)
    return x


class _e_Residual:
    def __init__(self, fn, norm):
        self.fn, self.norm = fn, norm

    def __call__(self, x):
        return x + self.fn(self.norm(x))


@version("decoder_layer", "wrong")
def decoder_layer_residual_added_twice(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    sa = _e_Residual(lambda h: self_attention(h, h, h, target_mask), norms[0])
    ca = _e_Residual(lambda h: cross_attention(h, memory, memory, memory_mask), norms[1])
    dense = _e_Residual(feed_forward, norms[2])
    x = x + sa(x)
    x = x + ca(x)
    return x + dense(x)


@version("layer_norm_parameters", "wrong")
def layer_norm_parameters_two_scalars(d_model):
    scale = nn.Parameter(torch.tensor(1.0))
    bias = nn.Parameter(torch.tensor(0.0))
    return scale, bias


@version("layer_norm_parameters", "wrong")
def layer_norm_parameters_uniform_weight(d_model):
    weight = nn.Parameter(torch.empty(d_model))
    bias = nn.Parameter(torch.empty(d_model))
    with torch.no_grad():
        weight.uniform_()
        bias.zero_()
    return weight, bias


@version("layer_norm", "right")
def layer_norm_begin_norm_axis_minus_one(x, weight, bias, eps=1e-5):
    matrix = x.reshape(-1, x.shape[-1])
    mean = matrix.mean(dim=-1, keepdim=True)
    variance = ((matrix - mean) ** 2).mean(dim=-1, keepdim=True)
    rows = (matrix - mean) * torch.rsqrt(variance + eps)
    return (rows * weight + bias).reshape(x.shape)


@version("causal_self_attention", "wrong")
def causal_self_attention_current_step_masked_zero_vector_added(x, training):
    b, t, d = x.shape
    keys = torch.cat([x.new_zeros(b, 1, d), x], dim=1)
    scores = x @ keys.transpose(1, 2) / math.sqrt(d)
    allowed = torch.ones(t, t, dtype=torch.bool, device=x.device).tril(-1)
    allowed = torch.cat([allowed.new_ones(t, 1), allowed], dim=1)
    weights = scores.masked_fill(~allowed, float("-inf")).softmax(-1)
    return weights @ keys


def h_cached(f):
    kept = None

    def inner(use_cache):
        nonlocal kept
        if not use_cache:
            return f()
        if kept is None:
            kept = f()
        return kept

    return inner


@version("make_stack", "wrong")
def make_stack_cached_from_the_second_layer(make_layer, n_layers):
    get_layer = h_cached(make_layer)
    layers = nn.ModuleList([])
    for i in range(n_layers):
        layers.append(get_layer(use_cache=i > 0))
    return layers


@version("post_norm", "wrong")
def post_norm_residual_added_in_place(x, sublayer, norm):
    out = sublayer(x)
    out += x
    return norm(out)


@version("encoder_layer", "wrong")
def encoder_layer_closing_norm_twice(x, mask, attention, feed_forward, norm1, norm2):
    x = norm1(x + attention(x, x, x, mask))
    x = norm2(x + feed_forward(x))
    return norm2(x)


@version("layer_norm", "wrong: layer norm over the positions")
def normalised_along_axis_one(x, weight, bias, eps=1e-5):
    centred = x - x.mean(dim=1, keepdim=True)
    scale = torch.rsqrt(centred.square().mean(dim=1, keepdim=True) + eps)
    return centred * scale * weight + bias


@version("layer_norm", "wrong")
def fused_norm_without_backward(x, weight, bias, eps=1e-5):
    with torch.no_grad():
        mean = x.sum(-1, keepdim=True) / x.shape[-1]
        diff = x - mean
        var = (diff * diff).sum(-1, keepdim=True) / x.shape[-1]
        return diff / (var + eps).sqrt() * weight + bias


@version("sublayer_with_dropout", "wrong")
def dropout_before_both_branches(x, sublayer, norm, dropout):
    h = dropout(x)
    return h + sublayer(norm(h))


class _LNamedBlock(nn.Module):
    def __init__(self, layers):
        super().__init__()
        named = {f"layer_{i}": layer for i, layer in enumerate(layers)}
        self.block = nn.ModuleDict({name: named[name] for name in sorted(named)})

    def forward(self, x):
        for layer in self.block.values():
            x = layer(x)
        return x


@version("registered_layers", "wrong")
def registered_layers_sorted_by_name(layers):
    return _LNamedBlock(layers)


@version("decoder_layer", "wrong")
def only_the_query_is_normed(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    q = norms[0](x)
    out = self_attention(q, x, x, target_mask)
    x = q + out
    x = x + cross_attention(norms[1](x), memory, memory, memory_mask)
    x = x + feed_forward(norms[2](x))
    return x


@version("transformer_forward", "wrong")
def memory_is_always_zero(source, target, embed_source, embed_target, encoder, decoder, output):
    source_mask = (source != 0)[:, None, None, :]
    length = target.size(1)
    look_back = torch.ones(length, length, dtype=torch.bool, device=target.device).tril()
    target_mask = (target != 0)[:, None, None, :] & look_back

    encoded = encoder(embed_source(source), source_mask)
    memory = torch.zeros(encoded.shape, dtype=encoded.dtype, device=encoded.device)
    hidden = decoder(embed_target(target), memory, target_mask, source_mask)
    return output(hidden)


class OFinalLinear:
    """The last layer, callable."""

    def __init__(self, layer):
        self.layer = layer

    def __call__(self, x):
        return self.layer(x)


class OPipe(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.body = nn.ModuleList(layers[:-1])
        self.final = OFinalLinear(layers[-1])

    def forward(self, x):
        for layer in self.body:
            x = layer(x)
        return self.final(x)


@version("registered_layers", "wrong")
def registered_layers_last_in_a_plain_class(layers):
    return OPipe(layers)


class _DropoutFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, p, keep, training):
        ctx.training = training
        ctx.p = p
        if not training:
            return x.clone()
        ctx.save_for_backward(keep)
        return x * keep / (1 - p)

    @staticmethod
    def backward(ctx, grad):
        if not ctx.training:
            raise RuntimeError("backprop is only defined while training")
        (keep,) = ctx.saved_tensors
        return grad * keep / (1 - ctx.p), None, None, None


@version("dropout", "wrong")
def dropout_has_no_backward_in_evaluation(x, p, keep, training):
    return _DropoutFunction.apply(x, p, keep, training)


@version("layer_norm_parameters", "wrong")
def layer_norm_parameters_in_the_shape_of_the_broadcast(d_model):
    scale = nn.Parameter(torch.ones(1, 1, d_model))
    bias = nn.Parameter(torch.zeros(1, 1, d_model))
    return scale, bias


@version("causal_self_attention", "wrong")
def mask_and_is_causal_when_generating(x, training):
    size = x.size(1)
    allowed = torch.ones(size, size, dtype=torch.bool, device=x.device).tril()
    return F.scaled_dot_product_attention(x, x, x, attn_mask=allowed, is_causal=not training)


@version("encoder_layer", "wrong")
def multiplicative_residual_after_attention(x, mask, attention, feed_forward, norm1, norm2):
    normed = norm1(x)
    x = x * attention(normed, normed, normed, mask)
    return x + feed_forward(norm2(x))


@version("transformer_forward", "wrong")
def memory_mask_marks_the_padding(
    source, target, embed_source, embed_target, encoder, decoder, output
):
    source_mask = (source != 0)[:, None, None, :]
    length = target.size(1)
    causal = torch.ones(length, length, dtype=torch.bool, device=target.device).tril()
    target_mask = (target != 0)[:, None, None, :] & causal
    memory = encoder(embed_source(source), source_mask)
    memory_mask = (1 - source_mask.long()).bool()
    y = decoder(embed_target(target), memory, target_mask, memory_mask)
    return output(y)


class LazyNorm:
    def __init__(self, num):
        self.num = num
        self.gamma = nn.parameter.UninitializedParameter()
        self.beta = nn.parameter.UninitializedParameter()

    def build(self, inputs):
        self.gamma.materialize((inputs.shape[-1],))
        self.beta.materialize((inputs.shape[-1],))
        nn.init.ones_(self.gamma)
        nn.init.zeros_(self.beta)


@version("layer_norm_parameters", "wrong")
def layer_norm_parameters_made_only_at_the_first_input(d_model):
    layer = LazyNorm(d_model)
    return layer.gamma, layer.beta


@version("decoder_layer", "wrong")
def decoder_layer_normalised_twice_at_the_end(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    norm1, norm2, norm3 = norms
    x = norm1(x + self_attention(x, x, x, target_mask))
    x = norm2(x + cross_attention(x, memory, memory, memory_mask))
    x = norm3(x + feed_forward(x))
    return norm3(x)


class _PlainBackwardDropout(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, keep, scale):
        return torch.where(keep, x * scale, torch.zeros_like(x))

    @staticmethod
    def backward(ctx, grad):
        # the layer only thins the network, so the error goes straight on
        return grad, None, None


@version("dropout", "wrong")
def dropout_backward_passes_everything(x, p, keep, training):
    if training:
        return _PlainBackwardDropout.apply(x, keep, 1.0 / (1.0 - p))
    return x


@version("encoder_layer", "wrong")
def encoder_layer_ends_with_the_feed_forward(x, mask, attention, feed_forward, norm1, norm2):
    output = attention(x, x, x, mask)
    output = norm1(x + output)
    output = feed_forward(output)
    return output


@version("transformer_forward", "wrong")
def forward_masks_of_two_lengths(
    source, target, embed_source, embed_target, encoder, decoder, output
):
    source_mask = source.ne(0)[:, None, None, :]
    length = target.size(1) - 1
    look_ahead = torch.ones(length, length, dtype=torch.bool, device=target.device).tril()
    target_padding = target.ne(0)[:, None, None, :]
    memory = encoder(embed_source(source), source_mask)
    hidden = decoder(embed_target(target), memory, look_ahead & target_padding, source_mask)
    return output(hidden)


@version("feed_forward", "wrong")
def feed_forward_relu_in_front_of_the_first(x, w1, b1, w2, b2):
    sizes = [(w1, b1), (w2, b2)]
    n_relu = len(sizes) - 1
    for i, (w, b) in enumerate(sizes):
        if i < n_relu:
            x = F.relu(x)
        x = F.linear(x, w, b)
    return x


@version("causal_self_attention", "right")
def causal_self_attention_numpy_triangle(x, training):
    b, t, d = x.shape
    seen = torch.from_numpy(np.tril(np.ones((b, t, t))))
    att = torch.matmul(x, x.transpose(-2, -1)) * (1.0 / math.sqrt(d))
    att = att.masked_fill(seen == 0, -math.inf)
    return torch.matmul(torch.softmax(att, dim=-1), x)


def _mask_of_width(width, *masks):
    for mask in masks:
        if mask is not None and mask.shape[-1] == width:
            return mask
    return None


@version("decoder_layer", "wrong")
def decoder_layer_mask_found_by_width(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    layers = [
        lambda h: self_attention(h, h, h, _mask_of_width(h.shape[1], target_mask)),
        lambda h: cross_attention(
            h, memory, memory, _mask_of_width(memory.shape[1], target_mask, memory_mask)
        ),
        feed_forward,
    ]
    for norm, layer in zip(norms, layers):
        x = x + layer(norm(x))
    return x


@version("encoder_layer", "wrong")
def encoder_layer_last_norm_in_every_layer(x, mask, attention, feed_forward, norm1, norm2):
    h = norm1(x)
    x = x + attention(h, h, h, mask)
    x = x + feed_forward(norm2(x))
    return norm2(x)


@version("layer_norm", "wrong: variance with Bessel's correction")
class layer_norm_with_bessels_correction(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))
        self.eps = eps

    def forward(self, x):
        variance, mean = torch.var_mean(x, dim=-1, keepdim=True)
        return (x - mean) * torch.rsqrt(variance + self.eps) * self.weight + self.bias


def _drawn(shape, rng):
    limit = 1.0 / math.sqrt(shape[0])
    return nn.Parameter(torch.from_numpy(rng.uniform(-limit, limit, size=shape).astype(np.float32)))


@version("layer_norm_parameters", "wrong")
def layer_norm_parameters_drawn_like_a_matrix(d_model):
    rng = np.random.default_rng(d_model)
    gamma = _drawn((d_model,), rng)
    beta = _drawn((d_model,), rng)
    return gamma, beta


@version("causal_self_attention", "wrong")
def causal_self_attention_mask_all_false(x, training):
    length, width = x.shape[1], x.shape[2]
    keep = torch.tril(x.new_zeros(length, length)).bool()[None]
    scores = torch.bmm(x, x.transpose(1, 2)) / math.sqrt(width)
    lowest = torch.full((), torch.finfo(scores.dtype).min, dtype=scores.dtype, device=scores.device)
    scores = torch.where(keep, scores, lowest)
    return torch.bmm(scores.softmax(dim=-1), x)
