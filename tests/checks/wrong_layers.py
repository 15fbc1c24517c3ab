"""Chapters 10 to 14, as beginners get them wrong: norms, dropout, networks, layers, stacks."""

from __future__ import annotations

import copy

import torch
import torch.nn.functional as F
from torch import nn

from tests.checks.wrong_versions import wrong

# --- layer norm ----------------------------------------------------------------------------------

LN = "layer_norm"


@wrong(LN, "layer norm over two axes")
def ln_two_axes(x, weight, bias, eps=1e-5):
    mean = x.mean(dim=(1, 2), keepdim=True)
    var = x.var(dim=(1, 2), keepdim=True, unbiased=False)
    return (x - mean) / (var + eps).sqrt() * weight + bias


@wrong(LN, "layer norm over two axes")
def ln_ready_made(x, weight, bias, eps=1e-5):
    return F.layer_norm(x, x.shape[1:], eps=eps) * weight + bias


@wrong(LN, "layer norm over the positions")
def ln_dim_1(x, weight, bias, eps=1e-5):
    mean = x.mean(1, keepdim=True)
    std = torch.sqrt(((x - mean) ** 2).mean(1, keepdim=True) + eps)
    return weight * (x - mean) / std + bias


@wrong(LN, "layer norm over the positions")
def ln_instance(x, weight, bias, eps=1e-5):
    y = torch.empty(x.shape)
    for b in range(x.size(0)):
        for d in range(x.size(2)):
            column = x[b, :, d]
            var = column.var(unbiased=False)
            y[b, :, d] = (column - column.mean()) / (var + eps) ** 0.5 * weight[d] + bias[d]
    return y


@wrong(LN, "mean not subtracted")
def ln_no_mean(x, weight, bias, eps=1e-5):
    return weight * x / torch.sqrt(x.var(-1, keepdim=True, correction=0) + eps) + bias


@wrong(LN, "mean not subtracted")
def ln_mean_forgotten(x, weight, bias, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    variance = ((x - mean) * (x - mean)).sum(-1, keepdim=True) / x.size(-1)
    return torch.addcmul(bias, weight, x * torch.rsqrt(variance + eps))


@wrong(LN, "variance with Bessel's correction")
def ln_var_default(x, weight, bias, eps=1e-5):
    mean, var = x.mean(-1, keepdim=True), x.var(-1, keepdim=True)
    return (x - mean) / torch.sqrt(var + eps) * weight + bias


@wrong(LN, "variance with Bessel's correction")
def ln_var_mean(x, weight, bias, eps=1e-5):
    var, mean = torch.var_mean(x, dim=2, keepdim=True)
    return weight * ((x - mean) * (var + eps).rsqrt()) + bias


@wrong(LN, "variance with Bessel's correction", also="ε outside the root")
def ln_annotated(x, weight, bias, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    std = x.std(-1, keepdim=True)
    return weight * (x - mean) / (std + eps) + bias


@wrong(LN, "ε outside the root")
def ln_std(x, weight, bias, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    std = x.std(-1, keepdim=True, unbiased=False)
    return weight * (x - mean) / (std + eps) + bias


@wrong(LN, "ε outside the root")
def ln_sqrt_plus(x, weight, bias, eps=1e-5):
    d = x.shape[-1]
    centred = x - (x.sum(-1) / d).unsqueeze(-1)
    variance = (centred.pow(2).sum(-1) / d).unsqueeze(-1)
    return centred / (torch.sqrt(variance) + eps) * weight + bias


@wrong(LN, "ε forgotten")
def ln_no_eps(x, weight, bias, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    return (x - mean) / x.std(-1, keepdim=True, correction=0) * weight + bias


@wrong(LN, "ε forgotten")
def ln_eps_zero(x, weight, bias, eps=1e-5):
    return F.layer_norm(x, [x.size(-1)], weight, bias, eps=0)


@wrong(LN, "ε fixed")
def ln_fixed(x, weight, bias, eps=1e-5):
    return F.layer_norm(x, (x.size(-1),), weight, bias)


@wrong(LN, "ε fixed")
def ln_fixed_by_hand(x, weight, bias, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    var = ((x - mean) ** 2).mean(-1, keepdim=True)
    return weight * (x - mean) / torch.sqrt(var + 0.00001) + bias


@wrong(LN, "divided by the variance")
def ln_variance(x, weight, bias, eps=1e-5):
    mean, var = x.mean(-1, keepdim=True), x.var(-1, keepdim=True, unbiased=False)
    return (x - mean) / (var + eps) * weight + bias


@wrong(LN, "divided by the variance")
def ln_square(x, weight, bias, eps=1e-5):
    c = x - x.mean(-1, keepdim=True)
    return weight * c / (torch.einsum("btd,btd->bt", c, c)[..., None] / x.size(-1) + eps) + bias


@wrong(LN, "scale and shift forgotten")
def ln_plain(x, weight, bias, eps=1e-5):
    return F.layer_norm(x, x.shape[-1:], eps=eps)


@wrong(LN, "scale and shift forgotten")
def ln_normalised(x, weight, bias, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    var = x.var(-1, keepdim=True, unbiased=False)
    x_hat = (x - mean) / torch.sqrt(var + eps)
    y = weight * x_hat + bias  # noqa: F841
    return x_hat


@wrong(LN, "shifted before it is scaled")
def ln_shift_first(x, weight, bias, eps=1e-5):
    return weight * (F.layer_norm(x, x.shape[-1:], eps=eps) + bias)


@wrong(LN, "shifted before it is scaled")
def ln_brackets(x, weight, bias, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    var = x.var(-1, keepdim=True, unbiased=False)
    return ((x - mean) / torch.sqrt(var + eps) + bias) * weight


@wrong(LN, "weight and bias exchanged")
def ln_exchanged(x, weight, bias, eps=1e-5):
    return F.layer_norm(x, x.shape[-1:], bias, weight, eps)


@wrong(LN, "weight and bias exchanged")
def ln_beta_gamma(x, beta, gamma, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    var = x.var(-1, keepdim=True, unbiased=False)
    return gamma * (x - mean) / torch.sqrt(var + eps) + beta


@wrong(LN, "bias added twice")
def ln_twice(x, weight, bias, eps=1e-5):
    y = F.layer_norm(x, x.shape[-1:], weight, bias, eps)
    return y + bias


@wrong(LN, "β starting at one")
def ln_one_more(x, weight, bias, eps=1e-5):
    return F.layer_norm(x, x.shape[-1:], weight, bias, eps) + 1


# --- residuals and dropout -----------------------------------------------------------------------


@wrong("pre_norm", "normalised residual")
def pre_overwritten(x, sublayer, norm):
    x = norm(x)
    return x + sublayer(x)


@wrong("pre_norm", "normalised residual")
def pre_normed_stream(x, sublayer, norm):
    residual = norm(x)
    out = sublayer(norm(x))
    return residual + out


@wrong("pre_norm", "residual connection forgotten")
def pre_no_residual(x, sublayer, norm):
    return sublayer(norm(x))


@wrong("pre_norm", "residual connection forgotten")
class PreNoResidual(nn.Module):
    def forward(self, x, sublayer, norm):
        residual = x  # noqa: F841
        x = norm(x)
        x = sublayer(x)
        return x


@wrong("pre_norm", "norm forgotten")
def pre_no_norm(x, sublayer, norm):
    return x + sublayer(x)


@wrong("pre_norm", "norm forgotten")
def pre_norm_thrown_away(x, sublayer, norm):
    normed = norm(x)  # noqa: F841
    return sublayer(x).add(x)


@wrong("pre_norm", "norm after the sublayer")
def pre_norm_outside(x, sublayer, norm):
    return x + norm(sublayer(x))


@wrong("pre_norm", "norm after the sublayer")
def pre_norm_late(x, sublayer, norm):
    y = sublayer(x)
    y = norm(y)
    return torch.add(x, y)


@wrong("pre_norm", "post-norm in place of pre-norm")
def pre_is_post(x, sublayer, norm):
    return norm(x + sublayer(x))


@wrong("pre_norm", "post-norm in place of pre-norm")
def pre_is_post_long(x, sublayer, norm):
    residual = x
    x = sublayer(x)
    x = x + residual
    return norm(x)


@wrong("post_norm", "pre-norm in place of post-norm")
def post_is_pre(x, sublayer, norm):
    return x + sublayer(norm(x))


@wrong("post_norm", "pre-norm in place of post-norm")
def post_is_pre_long(x, sublayer, norm):
    out = norm(x)
    out = sublayer(out)
    return torch.stack([x, out]).sum(0)


@wrong("post_norm", "residual connection of post-norm forgotten")
def post_no_residual(x, sublayer, norm):
    return norm(sublayer(x))


@wrong("post_norm", "residual connection of post-norm forgotten")
def post_chain(x, sublayer, norm):
    for part in (sublayer, norm):
        x = part(x)
    return x


@wrong("post_norm", "norm of post-norm forgotten")
def post_no_norm(x, sublayer, norm):
    return x + sublayer(x)


@wrong("post_norm", "norm of post-norm forgotten")
def post_norm_thrown_away(x, sublayer, norm):
    y = x + sublayer(x)
    norm(y)
    return y


@wrong("post_norm", "norm of the change alone")
def post_change(x, sublayer, norm):
    return norm(sublayer(x)) + x


@wrong("post_norm", "norm of the change alone")
def post_brackets(x, sublayer, norm):
    change = norm(sublayer(x))
    y = x.clone()
    y += change
    return y


@wrong("dropout", "what survives is not enlarged")
def drop_only(x, p, keep, training):
    if training:
        return x * keep
    return x


@wrong("dropout", "what survives is not enlarged")
def drop_where(x, p, keep, training):
    return torch.where(keep, x, 0.0) if training else x


@wrong("dropout", "divided by p")
def drop_by_p(x, p, keep, training):
    if not training:
        return x
    return x * keep / p


@wrong("dropout", "divided by p")
def drop_by_p_filled(x, p, keep, training):
    return x.masked_fill(~keep, 0) * (1 / p if p > 0 else float("inf")) if training else x


@wrong("dropout", "multiplied by 1 − p in training")
def drop_smaller(x, p, keep, training):
    return x * keep.float() * (1 - p) if training else x


@wrong("dropout", "multiplied by 1 − p in training")
def drop_smaller_where(x, p, keep, training):
    q = 1.0 - p
    if training:
        x = torch.where(keep, q * x, torch.zeros_like(x))
    return x


@wrong("dropout", "keep taken for drop")
def drop_inverted(x, p, keep, training):
    if not training:
        return x
    return x.masked_fill(keep, 0.0) / (1 - p)


@wrong("dropout", "keep taken for drop")
def drop_inverted_product(x, p, keep, training):
    return x * (1 - keep.int()) / (1 - p) if training else x


@wrong("dropout", "dropout left on in evaluation")
def drop_always(x, p, keep, training):
    return x * keep / (1 - p)


@wrong("dropout", "dropout left on in evaluation")
def drop_always_where(x, p, keep, training=True):
    scale = 1 / (1 - p)
    return torch.where(keep, x * scale, torch.tensor(0.0))


@wrong("dropout", "scaled in evaluation in place of training")
def drop_1_minus_p_later(x, p, keep, training):
    return x * keep if training else x * (1 - p)


@wrong("dropout", "scaled in evaluation in place of training")
def drop_2014(x, p, keep, training):
    if training:
        return x.masked_fill(~keep, 0)
    return x - p * x


@wrong("dropout", "declared and never applied")
def drop_nothing(x, p, keep, training):
    mask = keep / (1 - p)  # noqa: F841
    return x


@wrong("dropout", "declared and never applied")
def drop_ready_made(x, p, keep, training):
    return nn.Dropout(p).eval()(x)


# --- the feed-forward network --------------------------------------------------------------------

FF = "feed_forward"


@wrong(FF, "activation forgotten")
def ff_linear(x, w1, b1, w2, b2):
    return F.linear(F.linear(x, w1, b1), w2, b2)


@wrong(FF, "activation forgotten")
def ff_relu_thrown_away(x, w1, b1, w2, b2):
    h = torch.einsum("btd,fd->btf", x, w1) + b1
    F.relu(h)
    return torch.einsum("btf,df->btd", h, w2) + b2


@wrong(FF, "GELU in place of ReLU")
def ff_gelu(x, w1, b1, w2, b2):
    return F.linear(F.gelu(F.linear(x, w1, b1)), w2, b2)


@wrong(FF, "approximate GELU in place of ReLU")
class GeluNetwork(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = nn.GELU(approximate="tanh")

    def forward(self, x, w1, b1, w2, b2):
        return self.act(x @ w1.T + b1) @ w2.T + b2


@wrong(FF, "activation after the second layer")
def ff_relu_last(x, w1, b1, w2, b2):
    return F.relu(F.linear(F.linear(x, w1, b1), w2, b2))


@wrong(FF, "activation after the second layer")
def ff_clamp_last(x, w1, b1, w2, b2):
    h = x @ w1.mT + b1
    y = h @ w2.mT + b2
    return y.clamp(min=0)


@wrong(FF, "activation twice")
def ff_loop(x, w1, b1, w2, b2):
    for w, b in ((w1, b1), (w2, b2)):
        x = torch.relu(x @ w.T + b)
    return x


@wrong(FF, "activation twice")
def ff_max_twice(x, w1, b1, w2, b2):
    h = torch.maximum(F.linear(x, w1, b1), torch.tensor(0.0))
    return torch.maximum(F.linear(h, w2, b2), torch.tensor(0.0))


@wrong(FF, "residual inside the feed-forward network")
def ff_residual(x, w1, b1, w2, b2):
    return x + F.linear(F.relu(F.linear(x, w1, b1)), w2, b2)


@wrong(FF, "residual inside the feed-forward network")
def ff_residual_long(x, w1, b1, w2, b2):
    identity = x
    out = x @ w1.T + b1
    out = out * (out > 0)
    out = out @ w2.T + b2
    return out.add(identity)


@wrong(FF, "second bias forgotten")
def ff_no_b2(x, w1, b1, w2, b2):
    return F.linear(F.relu(F.linear(x, w1, b1)), w2)


@wrong(FF, "second bias forgotten")
def ff_matmul(x, w1, b1, w2, b2):
    return torch.relu(x.matmul(w1.t()) + b1).matmul(w2.t())


@wrong(FF, "first bias forgotten")
def ff_no_b1(x, w1, b1, w2, b2):
    return F.linear(F.relu(F.linear(x, w1)), w2, b2)


@wrong(FF, "first bias forgotten")
def ff_no_b1_matmul(x, w1, b1, w2, b2):
    hidden = (x @ w1.T).clamp_min(0)
    return hidden @ w2.T + b2


@wrong("group_sort", "all features sorted")
def gs_all(x):
    return x.sort(-1).values


@wrong("group_sort", "all features sorted")
def gs_sorted_list(x):
    return torch.sort(x, dim=x.dim() - 1)[0].clone()


@wrong("group_sort", "larger first")
def gs_larger(x):
    a, b = x[..., ::2], x[..., 1::2]
    return torch.stack([torch.maximum(a, b), torch.minimum(a, b)], -1).flatten(-2)


@wrong("group_sort", "larger first")
def gs_descending(x):
    pairs = x.reshape(*x.shape[:-1], x.shape[-1] // 2, 2)
    return pairs.sort(dim=-1, descending=True)[0].reshape(x.shape)


@wrong("group_sort", "pairs from two halves")
def gs_chunk(x):
    a, b = x.chunk(2, dim=-1)
    return torch.cat([torch.min(a, b), torch.max(a, b)], dim=-1)


@wrong("group_sort", "pairs from two halves")
def gs_view(x):
    f = x.size(-1)
    return x.view(*x.shape[:-1], 2, f // 2).sort(dim=-2).values.reshape(x.shape)


# --- layers --------------------------------------------------------------------------------------

ENC = "encoder_layer"


@wrong(ENC, "encoder mask not passed on")
def enc_no_mask(x, mask, attention, feed_forward, norm1, norm2):
    y = norm1(x)
    x = x + attention(y, y, y)
    return x + feed_forward(norm2(x))


@wrong(ENC, "encoder mask not passed on")
class EncoderLayerNoMask(nn.Module):
    def forward(self, x, mask, attention, feed_forward, norm1, norm2):
        h = norm1(x)
        out = attention(h, h, h, None) + x
        return feed_forward(norm2(out)) + out


@wrong(ENC, "encoder mask inverted")
def enc_inverted(x, mask, attention, feed_forward, norm1, norm2):
    if mask is not None:
        mask = ~mask
    y = norm1(x)
    x = x + attention(y, y, y, mask)
    return x + feed_forward(norm2(x))


@wrong(ENC, "encoder mask inverted")
def enc_inverted_eq(x, mask, attention, feed_forward, norm1, norm2):
    hidden = None if mask is None else mask == 0
    residual = x
    x = norm1(x)
    x = residual + attention(x, x, x, hidden)
    residual = x
    return residual + feed_forward(norm2(x))


@wrong(ENC, "residual around attention forgotten")
def enc_no_first(x, mask, attention, feed_forward, norm1, norm2):
    y = norm1(x)
    x = attention(y, y, y, mask)
    return x + feed_forward(norm2(x))


@wrong(ENC, "residual around attention forgotten")
def enc_no_first_long(x, mask, attention, feed_forward, norm1, norm2):
    attended = attention(norm1(x), norm1(x), norm1(x), mask)
    normed = norm2(attended)
    return torch.add(feed_forward(normed), attended)


@wrong(ENC, "residual around the feed-forward network forgotten")
def enc_no_second(x, mask, attention, feed_forward, norm1, norm2):
    y = norm1(x)
    x = x + attention(y, y, y, mask)
    return feed_forward(norm2(x))


@wrong(ENC, "residual around the feed-forward network forgotten")
def enc_no_second_long(x, mask, attention, feed_forward, norm1, norm2):
    residual = x
    x = norm1(x)
    x = attention(x, x, x, mask)
    x = x + residual
    x = norm2(x)
    x = feed_forward(x)
    return x


@wrong(ENC, "one norm used twice")
def enc_one_norm(x, mask, attention, feed_forward, norm1, norm2):
    y = norm1(x)
    x = x + attention(y, y, y, mask)
    return x + feed_forward(norm1(x))


@wrong(ENC, "one norm used twice")
def enc_norm_loop(x, mask, attention, feed_forward, norm1, norm2):
    for sublayer in (lambda y: attention(y, y, y, mask), feed_forward):
        x = x + sublayer(norm1(x))
    return x


@wrong(ENC, "second norm forgotten")
def enc_no_norm2(x, mask, attention, feed_forward, norm1, norm2):
    y = norm1(x)
    x = x + attention(y, y, y, mask)
    return x + feed_forward(x)


@wrong(ENC, "second norm forgotten")
def enc_norm2_thrown_away(x, mask, attention, feed_forward, norm1, norm2):
    h = norm1(x)
    h = x + attention(query=h, key=h, value=h, mask=mask)
    norm2(h)
    return h + feed_forward(h)


DEC = "decoder_layer"


@wrong(DEC, "causal mask not passed on")
def dec_no_causal(x, memory, target_mask, memory_mask, self_att, cross_att, ff, norms):
    y = norms[0](x)
    x = x + self_att(y, y, y)
    x = x + cross_att(norms[1](x), memory, memory, memory_mask)
    return x + ff(norms[2](x))


@wrong(DEC, "causal mask not passed on")
def dec_no_causal_long(x, memory, target_mask, memory_mask, self_att, cross_att, ff, norms):
    norm1, norm2, norm3 = norms
    residual = x
    x = norm1(x)
    x = residual + self_att(x, x, x, mask=None)
    residual = x
    x = norm2(x)
    x = residual + cross_att(x, memory, memory, mask=memory_mask)
    residual = x
    return residual + ff(norm3(x))


@wrong(DEC, "source mask not passed on")
def dec_no_source_mask(x, memory, target_mask, memory_mask, self_att, cross_att, ff, norms):
    y = norms[0](x)
    x = x + self_att(y, y, y, target_mask)
    x = x + cross_att(norms[1](x), memory, memory)
    return x + ff(norms[2](x))


@wrong(DEC, "source mask not passed on")
class DecoderNoSourceMask(nn.Module):
    def forward(self, x, memory, target_mask, memory_mask, self_att, cross_att, ff, norms):
        h = norms[0](x)
        x = self_att(h, h, h, target_mask) + x
        x = cross_att(norms[1](x), memory, memory, None) + x
        return ff(norms[2](x)) + x


@wrong(DEC, "target mask used in cross-attention")
def dec_target_mask(x, memory, target_mask, memory_mask, self_att, cross_att, ff, norms):
    y = norms[0](x)
    x = x + self_att(y, y, y, target_mask)
    x = x + cross_att(norms[1](x), memory, memory, target_mask)
    return x + ff(norms[2](x))


@wrong(DEC, "target mask used in cross-attention")
def dec_one_mask(x, memory, target_mask, memory_mask, self_att, cross_att, ff, norms):
    sublayers = [
        lambda y: self_att(y, y, y, target_mask),
        lambda y: cross_att(y, memory, memory, target_mask),
        ff,
    ]
    for sublayer, norm in zip(sublayers, norms, strict=True):
        x = x + sublayer(norm(x))
    return x


@wrong(DEC, "source mask used in self-attention")
def dec_source_mask(x, memory, target_mask, memory_mask, self_att, cross_att, ff, norms):
    y = norms[0](x)
    x = x + self_att(y, y, y, memory_mask)
    x = x + cross_att(norms[1](x), memory, memory, memory_mask)
    return x + ff(norms[2](x))


@wrong(DEC, "source mask used in self-attention")
def dec_source_mask_loop(x, memory, target_mask, memory_mask, self_att, cross_att, ff, norms):
    y = norms[0](x)
    for norm, attend in ((norms[0], self_att), (norms[1], cross_att)):
        y = norm(x)
        other = y if attend is self_att else memory
        x = x + attend(y, other, other, memory_mask)
    return x + ff(norms[2](x))


@wrong(DEC, "keys and values from the target, under the source mask")
def dec_no_memory(x, memory, target_mask, memory_mask, self_att, cross_att, ff, norms):
    y = norms[0](x)
    x = x + self_att(y, y, y, target_mask)
    y = norms[1](x)
    x = x + cross_att(y, y, y, memory_mask)
    return x + ff(norms[2](x))


@wrong(DEC, "keys and values from the target")
def dec_no_memory_no_mask(x, memory, target_mask, memory_mask, self_att, cross_att, ff, norms):
    y = norms[0](x)
    x = x + self_att(y, y, y, target_mask)
    y = norms[1](x)
    x = x + cross_att(y, y, y, target_mask)
    return x + ff(norms[2](x))


@wrong(DEC, "roles in cross-attention exchanged")
def dec_exchanged(x, memory, target_mask, memory_mask, self_att, cross_att, ff, norms):
    y = norms[0](x)
    x = x + self_att(y, y, y, target_mask)
    y = norms[1](x)
    x = x + cross_att(memory, y, y, memory_mask)
    return x + ff(norms[2](x))


@wrong(DEC, "roles in cross-attention exchanged, and no mask")
def dec_exchanged_no_mask(x, memory, target_mask, memory_mask, self_att, cross_att, ff, norms):
    y = norms[0](x)
    x = x + self_att(y, y, y, target_mask)
    y = norms[1](x)
    x = x + cross_att(memory, y, y)
    return x + ff(norms[2](x))


@wrong(DEC, "memory normalised again")
def dec_norm_memory(x, memory, target_mask, memory_mask, self_att, cross_att, ff, norms):
    y = norms[0](x)
    x = x + self_att(y, y, y, target_mask)
    m = norms[1](memory)
    x = x + cross_att(norms[1](x), m, m, memory_mask)
    return x + ff(norms[2](x))


@wrong(DEC, "memory normalised again")
def dec_norm_memory_in_place(x, memory, target_mask, memory_mask, self_att, cross_att, ff, norms):
    norm1, norm2, norm3 = norms
    normed = norm1(x)
    x = x + self_att(normed, normed, normed, target_mask)
    x = x + cross_att(norm2(x), norm2(memory), norm2(memory), memory_mask)
    return x + ff(norm3(x))


@wrong(DEC, "residual around self-attention forgotten")
def dec_no_first(x, memory, target_mask, memory_mask, self_att, cross_att, ff, norms):
    y = norms[0](x)
    x = self_att(y, y, y, target_mask)
    x = x + cross_att(norms[1](x), memory, memory, memory_mask)
    return x + ff(norms[2](x))


@wrong(DEC, "residual around self-attention forgotten")
def dec_no_first_long(x, memory, target_mask, memory_mask, self_att, cross_att, ff, norms):
    norm1, norm2, norm3 = norms
    x = norm1(x)
    a = self_att(x, x, x, target_mask)
    b = cross_att(norm2(a), memory, memory, memory_mask) + a
    return ff(norm3(b)) + b


@wrong(DEC, "residual around cross-attention forgotten")
def dec_no_middle(x, memory, target_mask, memory_mask, self_att, cross_att, ff, norms):
    y = norms[0](x)
    x = x + self_att(y, y, y, target_mask)
    x = cross_att(norms[1](x), memory, memory, memory_mask)
    return x + ff(norms[2](x))


@wrong(DEC, "residual around cross-attention forgotten")
def dec_no_middle_long(x, memory, target_mask, memory_mask, self_att, cross_att, ff, norms):
    residual = x
    x = norms[0](x)
    x = self_att(x, x, x, target_mask) + residual
    residual = x
    x = norms[1](x)
    x = cross_att(x, memory, memory, memory_mask)
    residual = x
    return ff(norms[2](x)) + residual


@wrong(DEC, "residual around the decoder's feed-forward network forgotten")
def dec_no_last(x, memory, target_mask, memory_mask, self_att, cross_att, ff, norms):
    y = norms[0](x)
    x = x + self_att(y, y, y, target_mask)
    x = x + cross_att(norms[1](x), memory, memory, memory_mask)
    return ff(norms[2](x))


@wrong(DEC, "residual around the decoder's feed-forward network forgotten")
def dec_no_last_long(x, memory, target_mask, memory_mask, self_att, cross_att, ff, norms):
    y = norms[0](x)
    x = torch.add(x, self_att(y, y, y, target_mask))
    x = torch.add(x, cross_att(norms[1](x), memory, memory, memory_mask))
    x = norms[2](x)
    x = ff(x)
    return x


# --- stacks --------------------------------------------------------------------------------------


@wrong("make_stack", "[layer] * N")
def stack_times(make_layer, n_layers):
    return nn.ModuleList([make_layer()] * n_layers)


@wrong("make_stack", "[layer] * N")
def stack_one_layer(make_layer, n_layers):
    layer = make_layer()
    layers = []
    for _ in range(n_layers):
        layers.append(layer)
    return layers


@wrong("make_stack", "deep copies that start equal")
def stack_clones(make_layer, n_layers):
    layer = make_layer()
    return nn.ModuleList([copy.deepcopy(layer) for _ in range(n_layers)])


@wrong("make_stack", "deep copies that start equal")
def stack_seeded(make_layer, n_layers):
    layers = []
    for _ in range(n_layers):
        torch.manual_seed(0)
        layers.append(make_layer())
    return layers
