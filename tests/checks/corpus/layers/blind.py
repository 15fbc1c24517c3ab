"""What people wrote of layers who had read the docstrings of the checks alone."""

import copy
import functools
import math
from functools import reduce

import torch
import torch.nn as nn
import torch.nn.functional as F

from tests.checks.corpus import version

# --- layer_norm -----------------------------------------------------------------------------------


@version("layer_norm", "right", "var_mean and rsqrt", by=(1, 3, 6, 7, 12))
def layer_norm_1(x, weight, bias, eps=1e-5):
    v, m = torch.var_mean(x, dim=-1, keepdim=True, correction=0)
    return torch.addcmul(bias, (x - m) * torch.rsqrt(v + eps), weight)


@version("layer_norm", "right", "sums divided by D; the centred x is reused", by=1)
def layer_norm_2(x, weight, bias, eps=1e-5):
    D = x.shape[-1]
    c = x - x.sum(-1, keepdim=True) / D
    return c / ((c * c).sum(-1, keepdim=True) / D + eps) ** 0.5 * weight + bias


class LayerNormClass(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.weight, self.bias = (
            nn.Parameter(torch.ones(d_model)),
            nn.Parameter(torch.zeros(d_model)),
        )

    def forward(self, x):
        c = x.double() - x.double().mean(-1, keepdim=True)
        c = c / c.square().mean(-1, keepdim=True).add(1e-5).sqrt()
        return c.to(x.dtype) * self.weight + self.bias


version("layer_norm", "right", "a class that reckons in float64", by=1)(LayerNormClass)


@version("layer_norm", "right", "var_mean, and addcmul for scale and shift", by=2)
def layer_norm_r1(x, weight, bias, eps=1e-5):
    var, mean = torch.var_mean(x, dim=-1, correction=0, keepdim=True)
    return torch.addcmul(bias, (x - mean).div((var + eps).sqrt()), weight)


class HandNorm(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        c = x - torch.einsum("...d->...", x)[..., None] / x.shape[-1]
        v = torch.einsum("...d,...d->...", c, c)[..., None] / x.shape[-1]
        return self.bias + self.weight * c * torch.rsqrt(v + 0.00001)


version("layer_norm", "right", "a class, mean and variance with einsum", by=2)(HandNorm)


@version("layer_norm", "right", "group norm with one group, on the positions as a batch", by=4)
def layer_norm_r1_2(x, weight, bias, eps=1e-5):
    return torch.group_norm(x.reshape(-1, x.size(-1)), 1, weight, bias, eps).view_as(x)


class LayerNormR(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.weight, self.bias = (
            nn.Parameter(torch.ones(d_model)),
            nn.Parameter(torch.zeros(d_model)),
        )

    def forward(self, x):
        d = x - torch.einsum("btd->bt", x)[..., None] / x.size(-1)
        v = torch.einsum("btd,btd->bt", d, d)[..., None] / x.size(-1)
        return torch.addcmul(self.bias, d * (v + 1e-5) ** -0.5, self.weight)


version("layer_norm", "right", "a class, with einsum and addcmul", by=4)(LayerNormR)


@version(
    "layer_norm", "right", "centred twice against rounding, then a power of -0.5 and addcmul", by=5
)
def layer_norm_r1_3(x, weight, bias, eps=1e-5):
    D = x.shape[-1]
    centred = x - x.sum(-1, keepdim=True) / D
    centred = centred - centred.sum(-1, keepdim=True) / D  # again, for what rounding left over
    return torch.addcmul(
        bias, centred * (centred.pow(2).sum(-1, keepdim=True) / D + eps).pow(-0.5), weight
    )


@version("layer_norm", "right", "a module: sums over D, the squares by einsum", by=6)
class LayerNormR2(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.weight, self.bias = (
            nn.Parameter(torch.ones(d_model)),
            nn.Parameter(torch.zeros(d_model)),
        )

    def forward(self, x):
        D = x.size(-1)
        c = x - x.sum(-1, keepdim=True) / D
        squares = torch.einsum("...d,...d->...", c, c).unsqueeze(-1)
        return c / (squares / D + 1e-5) ** 0.5 * self.weight + self.bias


class _Norm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.weight, self.bias, self.eps = (
            nn.Parameter(torch.ones(d_model)),
            nn.Parameter(torch.zeros(d_model)),
            eps,
        )

    def forward(self, x):
        var, mean = torch.var_mean(x, dim=-1, correction=0, keepdim=True)
        return torch.addcmul(self.bias, (x - mean) * torch.rsqrt(var + self.eps), self.weight)


version("layer_norm", "right", "a module with var_mean, rsqrt and addcmul", by=8)(_Norm)


@version("layer_norm", "right", "centring by a matrix, in float64", by=(3, 8))
def layer_norm_r(x, weight, bias, eps=1e-5):
    D = x.shape[-1]
    c = x.double() @ (torch.eye(D, dtype=torch.float64) - 1 / D)
    return (c / torch.sqrt((c * c).sum(-1, keepdim=True) / D + eps)).to(x.dtype) * weight + bias


@version("layer_norm", "right", "centred first, then the mean of squares and rsqrt", by=(10, 13))
def layer_norm_r1_4(x, weight, bias, eps=1e-5):
    c = x - x.mean(dim=-1, keepdim=True)
    return torch.addcmul(bias, weight, c * torch.rsqrt((c * c).mean(dim=-1, keepdim=True) + eps))


@version("layer_norm", "right", "var_mean with correction 0", by=10)
def layer_norm_r2(x, weight, bias, eps=1e-5):
    v, m = torch.var_mean(x, dim=-1, keepdim=True, correction=0)
    return bias + (x - m).div((v + eps) ** 0.5).mul(weight)


@version("layer_norm", "right", "centred by a matrix, the length of the rest as a norm", by=11)
def layer_norm_r1_5(x, weight, bias, eps=1e-5):
    d = x.shape[-1]
    centred = x - x.sum(-1, keepdim=True) / d
    variance = torch.einsum("...d,...d->...", centred, centred) / d
    return torch.addcmul(bias, centred * variance.add(eps).pow(-0.5)[..., None], weight)


@version("layer_norm", "right", "var_mean with correction=0", by=11)
def layer_norm_r2_2(x, weight, bias, eps=1e-5):
    v, m = torch.var_mean(x, dim=-1, correction=0, keepdim=True)
    return bias + weight * ((x - m) / torch.sqrt(v + eps))


@version("layer_norm", "right", "biased variance from dot products of the centred vector", by=12)
def layer_norm_r2_3(x, weight, bias, eps=1e-5):
    D = x.shape[-1]
    c = x - x.sum(-1, keepdim=True) / D
    var = torch.einsum("...d,...d->...", c, c)[..., None] / D
    return weight * c * (var + eps) ** -0.5 + bias


# ε is added to the standard deviation, outside the root: seen only where the features hardly
# differ.
@version("layer_norm", "wrong: ε outside the root", by=(1, 3))
def layer_norm_b(x, weight, bias, eps=1e-5):
    m = x.mean(-1, keepdim=True)
    s = x.std(-1, keepdim=True, unbiased=False)
    return weight * (x - m) / (s + eps) + bias


# Mean and variance over the positions (axis 1), not the features.
@version("layer_norm", "wrong: layer norm over the positions", by=1)
def layer_norm_c(x, weight, bias, eps=1e-5):
    m = x.mean(1, keepdim=True)
    v = ((x - m) ** 2).mean(1, keepdim=True)
    return (x - m) / torch.sqrt(v + eps) * weight + bias


# Mean and variance over the whole sentence (positions and features together).
@version("layer_norm", "wrong: layer norm over two axes", by=(1, 2))
def layer_norm_d(x, weight, bias, eps=1e-5):
    m = x.mean((1, 2), keepdim=True)
    v = x.var((1, 2), keepdim=True, unbiased=False)
    return (x - m) / torch.sqrt(v + eps) * weight + bias


# The bias is scaled, too: weight · (x̂ + bias); right only where bias is 0 or weight 1.
@version("layer_norm", "wrong: shifted before it is scaled", by=1)
def layer_norm_i(x, weight, bias, eps=1e-5):
    m = x.mean(-1, keepdim=True)
    v = x.var(-1, keepdim=True, unbiased=False)
    return weight * ((x - m) / torch.sqrt(v + eps) + bias)


# Variance as mean of squares minus square of the mean in float32: with a large mean the digits
# cancel, and the result is wrong or nan.
@version("layer_norm", "wrong: variance as mean of squares minus square of the mean", by=(1, 2))
def layer_norm_j(x, weight, bias, eps=1e-5):
    m = x.mean(-1, keepdim=True)
    v = (x**2).mean(-1, keepdim=True) - m**2
    return (x - m) / torch.sqrt(v + eps) * weight + bias


class MyLayerNorm(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        m = x.mean(-1, keepdim=True)
        v = x.var(-1, keepdim=True, unbiased=False)
        return (x - m) / torch.sqrt(v + 1e-5) + self.bias


# The class has a weight but never uses it.
version("layer_norm", "wrong: a norm without its weight", by=1)(MyLayerNorm)


class MyLayerNorm2(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        m = x.mean(-1, keepdim=True)
        v = x.var(-1, keepdim=True, unbiased=False)
        return (x - m) / torch.sqrt(v + 1e-2) * self.weight + self.bias


# The class uses ε = 1e-2 in place of 1e-5.
version("layer_norm", "wrong", by=1)(MyLayerNorm2)


# Two mistakes: unbiased standard deviation, and ε outside the root.
@version("layer_norm", "wrong: variance with Bessel's correction + ε outside the root", by=(1, 3))
def layer_norm_2a(x, weight, bias, eps=1e-5):
    return (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + eps) * weight + bias


# ε is added to the standard deviation instead of to the variance: visible where the features
# hardly differ.
@version("layer_norm", "wrong: ε outside the root", by=2)
def layer_norm_b_2(x, weight, bias, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    std = x.var(-1, keepdim=True, unbiased=False).sqrt()
    return weight * (x - mean) / (std + eps) + bias


# ε is written into the code, the argument is ignored (wrong for another eps than 1e-5).
@version("layer_norm", "wrong: ε fixed", by=(1, 2))
def layer_norm_d_2(x, weight, bias, eps=1e-5):
    centred = x - x.mean(dim=-1, keepdim=True)
    return centred * torch.rsqrt(centred.pow(2).mean(-1, keepdim=True) + 1e-5) * weight + bias


# The default ε is 1e-3 instead of 1e-5.
@version("layer_norm", "wrong", by=2)
def layer_norm_f(x, weight, bias, eps=1e-3):
    mean, var = x.mean(-1, keepdim=True), x.var(-1, correction=0, keepdim=True)
    return (x - mean) / (var + eps) ** 0.5 * weight + bias


# E[x²] - E[x]² in float32: for features with a large mean (10000) and small spread it cancels
# out, and can become negative: nan.
@version("layer_norm", "wrong: variance as mean of squares minus square of the mean", by=3)
def layer_norm_c_2(x, weight, bias, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    var = (x * x).mean(-1, keepdim=True) - mean * mean
    return (x - mean) * torch.rsqrt(var + eps) * weight + bias


# BERT's epsilon of 1e-12 is hard-wired, the argument ignored: seen where the variance is small.
@version("layer_norm", "wrong: ε fixed at 1e-12", by=3)
def layer_norm_d_3(x, weight, bias, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    var = ((x - mean) ** 2).mean(-1, keepdim=True)
    return (x - mean) / torch.sqrt(var + 1e-12) * weight + bias


# RMS norm as in T5 and LLaMA: the mean is not subtracted.
@version("layer_norm", "convention: RMS norm in place of layer norm", by=3)
def layer_norm_e(x, weight, bias, eps=1e-5):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * weight + bias


# The weight is used as (1 + weight), Gemma's convention, where it starts at 0.
@version("layer_norm", "wrong", by=3)
class LayerNormF(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        x = x - x.mean(-1, keepdim=True)
        return x / (x.pow(2).mean(-1, keepdim=True) + 1e-5).sqrt() * (1 + self.weight) + self.bias


# The variance is divided by D - 1 and multiplied by (D - 1) / D again: the two cancel, but for D
# = 1 it is NaN.
@version("layer_norm", "wrong", by=5)
def layer_norm_c_3(x, weight, bias, eps=1e-5):
    D = x.shape[-1]
    variance = x.var(-1, keepdim=True) * (D - 1) / D
    return (x - x.mean(-1, keepdim=True)) * torch.rsqrt(variance + eps) * weight + bias


# max(variance, ε) in place of variance + ε: seen where the variance is about as small as ε, or
# eps is large.
@version("layer_norm", "wrong", by=5)
def layer_norm_g(x, weight, bias, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    variance = ((x - mean) ** 2).mean(-1, keepdim=True)
    return (x - mean) / variance.clamp(min=eps).sqrt() * weight + bias


# Keras's default, ε = 1e-3 (seen where the variance is small, say 0.01).
@version("layer_norm", "wrong", by=6)
def layer_norm_g_2(inputs, gamma, beta, epsilon=1e-3):
    mean = inputs.mean(-1, keepdim=True)
    var = ((inputs - mean) ** 2).mean(-1, keepdim=True)
    return gamma * (inputs - mean) / torch.sqrt(var + epsilon) + beta


# The variance is taken from the square x² without subtracting the mean: right only for mean 0.
@version("layer_norm", "wrong", by=(6, 7))
def layer_norm_d_4(x, weight, bias, eps=1e-5):
    c = x - x.mean(-1, keepdim=True)
    return c / torch.sqrt((x**2).mean(-1, keepdim=True) + eps) * weight + bias


# Mean and standard deviation are detached: values right, gradient for x wrong.
@version("layer_norm", "wrong", by=(1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13))
def layer_norm_f_2(x, weight, bias, eps=1e-5):
    m = x.mean(-1, keepdim=True).detach()
    s = torch.sqrt(x.var(-1, keepdim=True, unbiased=False) + eps).detach()
    return (x - m) / s * weight + bias


# An early exit: if the mean of the whole tensor is about zero the centring is skipped; wrong
# where the positions' means cancel each other, e.g. (1, 3) and (-1, -3).
@version("layer_norm", "wrong", by=8)
def layer_norm_c_4(x, weight, bias, eps=1e-5):
    c = x if x.mean().abs() < 1e-6 else x - x.mean(-1, keepdim=True)
    return c * (c.square().mean(-1, keepdim=True) + eps).rsqrt() * weight + bias


class _LayerNormStd(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        return (
            self.weight * (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + 1e-6)
            + self.bias
        )


# The Annotated Transformer's class: the deviation divides by D − 1, and ε stands outside the
# root.
version("layer_norm", "wrong", by=(10, 13))(_LayerNormStd)


class LayerNormOne(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        m = x.mean((1, 2), keepdim=True) if x.shape[1] > 8 else x.mean(-1, keepdim=True)
        v = ((x - m) ** 2).mean(-1, keepdim=True)
        return (x - m) / (v + 1e-5).sqrt() * self.weight + self.bias


# Longer inputs, T > 8, are centred by one mean over all positions.
version("layer_norm", "wrong", by=11)(LayerNormOne)


class LayerNormRunning(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        return F.layer_norm(x, x.shape[-1:], 1 + self.weight, self.bias, 1e-5)


# Scales by 1 + γ in place of γ, as other models do whose weights begin at zero.
version("layer_norm", "wrong", by=11)(LayerNormRunning)


# Normalised over the batch (axis 0): a batch norm.
@version("layer_norm", "wrong: layer norm over the batch", by=12)
def layer_norm_e_2(x, weight, bias, eps=1e-5):
    mean = x.mean(0, keepdim=True)
    var = ((x - mean) ** 2).mean(0, keepdim=True)
    return (x - mean) / (var + eps).sqrt() * weight + bias


# --- layer_norm_parameters ------------------------------------------------------------------------


@version("layer_norm_parameters", "right", "nn.Parameter by full", by=(1, 10, 11, 12))
def layer_norm_parameters_1(d_model):
    return nn.Parameter(torch.full((d_model,), 1.0)), nn.Parameter(torch.full((d_model,), 0.0))


# Both are zeros: the layer gives zero everywhere at the start.
@version("layer_norm_parameters", "wrong: weight that starts at zero", by=(1, 3))
def layer_norm_parameters_a(d_model):
    return torch.zeros(d_model), torch.zeros(d_model)


# Drawn at random, as for a linear layer.
@version("layer_norm_parameters", "wrong", by=1)
def layer_norm_parameters_b(d_model):
    return torch.randn(d_model), torch.randn(d_model)


# Exchanged: β comes first.
@version("layer_norm_parameters", "wrong: starts of weight and bias exchanged", by=1)
def layer_norm_parameters_c(d_model):
    return torch.zeros(d_model), torch.ones(d_model)


# Single numbers in place of one per feature.
@version("layer_norm_parameters", "wrong: one number for all features", by=1)
def layer_norm_parameters_d(d_model):
    return torch.ones(1), torch.zeros(1)


# The weight is the one hot of the axis: torch.eye, (D, D).
@version("layer_norm_parameters", "wrong: a matrix for the weight", by=1)
def layer_norm_parameters_e(d_model):
    return torch.eye(d_model), torch.zeros(d_model)


# One and the same kind of start for both: the bias begins at one as well.
@version("layer_norm_parameters", "wrong: bias that starts at one", by=2)
def layer_norm_parameters_a_2(d_model):
    return torch.ones(d_model), torch.ones(d_model)


# The parameters are drawn at random as for a linear layer.
@version("layer_norm_parameters", "wrong", by=(2, 13))
def layer_norm_parameters_b_2(d_model):
    return torch.randn(d_model), torch.zeros(d_model)


# Drawn at random as if it were a linear layer.
@version("layer_norm_parameters", "wrong", by=(4, 12))
def layer_norm_parameters_b_3(d_model):
    return torch.randn(d_model) / math.sqrt(d_model), torch.zeros(d_model)


# The bias is one zero for all features, (1,), right only for D = 1.
@version("layer_norm_parameters", "wrong", by=5)
def layer_norm_parameters_a_3(d_model):
    return torch.ones(d_model), torch.zeros(1)


# The weight is cut out of a buffer of 1024 ones: for larger D it is too short.
@version("layer_norm_parameters", "wrong", by=5)
def layer_norm_parameters_b_4(d_model):
    return torch.ones(1024)[:d_model], torch.zeros(d_model)


# γ is drawn at random, as the weight of a linear layer; it starts at one.
@version("layer_norm_parameters", "wrong", by=6)
def layer_norm_parameters_b_5(d_model):
    w = torch.empty(1, d_model)
    nn.init.xavier_uniform_(w)
    return w[0], torch.zeros(d_model)


# The weight is drawn at random, as that of a linear layer.
@version("layer_norm_parameters", "wrong", by=10)
def layer_norm_parameters_b_6(d_model):
    return torch.randn(d_model) * 0.02, torch.zeros(d_model)


# Both are (1, D).
@version("layer_norm_parameters", "wrong", by=10)
def layer_norm_parameters_c_2(d_model):
    return torch.ones(1, d_model), torch.zeros(1, d_model)


# squeeze() takes the only axis away for D = 1.
@version("layer_norm_parameters", "wrong", by=11)
def layer_norm_parameters_b_7(d_model):
    return torch.ones(1, d_model).squeeze(), torch.zeros(1, d_model).squeeze()


# --- pre_norm -------------------------------------------------------------------------------------


@version("pre_norm", "right", "torch.add, the other way round", by=(1, 10, 11, 12))
def pre_norm_1(x, sublayer, norm):
    return torch.add(sublayer(norm(x)), x)


# The residual is the normalised x, not x.
@version("pre_norm", "wrong: normalised residual", by=(1, 2, 3))
def pre_norm_a(x, sublayer, norm):
    x = norm(x)
    return x + sublayer(x)


# This is post-norm.
@version("pre_norm", "convention: post-norm in place of pre-norm", by=(1, 3))
def pre_norm_b(x, sublayer, norm):
    return norm(x + sublayer(x))


# The norm stands behind the sublayer.
@version("pre_norm", "wrong: norm after the sublayer", by=1)
def pre_norm_c(x, sublayer, norm):
    return x + norm(sublayer(x))


# The residual connection is missing.
@version("pre_norm", "wrong: residual connection forgotten", by=1)
def pre_norm_d(x, sublayer, norm):
    return sublayer(norm(x))


# `x += …` writes into the caller's x.
@version("pre_norm", "wrong", by=(1, 3, 10, 11))
def pre_norm_d_2(x, sublayer, norm):
    x += sublayer(norm(x))
    return x


# The sum is written into what the sublayer returned; where that is x itself (norm and sublayer
# the identity) the caller's x is doubled.
@version("pre_norm", "wrong", by=5)
def pre_norm_a_2(x, sublayer, norm):
    out = sublayer(norm(x))
    out += x
    return out


# The norm runs under no_grad: no gradient goes through the sublayer's branch to x or the norm.
@version("pre_norm", "wrong", by=11)
def pre_norm_c_2(x, sublayer, norm):
    with torch.no_grad():
        h = norm(x)
    return x + sublayer(h)


# Normed in front and, once more, behind.
@version("pre_norm", "wrong: sum normalised once more", by=11)
def pre_norm_d_3(x, sublayer, norm):
    return norm(x + sublayer(norm(x)))


# --- post_norm ------------------------------------------------------------------------------------


@version("post_norm", "right", "a chain of functions folded with reduce", by=(1, 2, 10, 11, 12))
def post_norm_r1(x, sublayer, norm):
    return reduce(lambda value, f: f(value), (lambda v: torch.add(sublayer(v), v), norm), x)


# This is pre-norm.
@version("post_norm", "convention: pre-norm in place of post-norm", by=1)
def post_norm_a(x, sublayer, norm):
    return x + sublayer(norm(x))


# Only the sublayer's output is normalised, not the sum.
@version("post_norm", "wrong: norm of the change alone", by=(1, 2))
def post_norm_b(x, sublayer, norm):
    return x + norm(sublayer(x))


# Normalised twice: in front and behind.
@version("post_norm", "wrong: normalised in front and behind", by=(1, 2, 3))
def post_norm_c(x, sublayer, norm):
    return norm(x + sublayer(norm(x)))


# DeepNorm's factor on the residual (here the root of 2) is brought in; plain x is asked for.
@version("post_norm", "wrong", by=3)
def post_norm_b_2(x, sublayer, norm):
    return norm(math.sqrt(2.0) * x + sublayer(x))


# x is changed in place before the norm.
@version("post_norm", "wrong", by=5)
def post_norm_a_2(x, sublayer, norm):
    with torch.no_grad():
        changed = sublayer(x)
        x.copy_(x + changed)
    return norm(x)


# The norm is linear, so it thinks: norm(x) + norm(sublayer(x)) in place of norm of the sum.
@version("post_norm", "wrong", by=8)
def post_norm_a_3(x, sublayer, norm):
    return torch.stack((norm(x), norm(sublayer(x)))).sum(0)


# The sublayer is called on a detached x: part of the gradient is cut off.
@version("post_norm", "wrong", by=10)
def post_norm_c_2(x, sublayer, norm):
    return norm(x + sublayer(x.detach()))


# The residual is detached: values right, the gradient of x lacks a part.
@version("post_norm", "wrong", by=(11, 12))
def post_norm_b_3(x, sublayer, norm):
    return norm(x.detach() + sublayer(x))


# norm(x) + sublayer(x): only the residual is normalised.
@version("post_norm", "wrong: x normalised and not the sum", by=13)
def post_norm_a_4(x, sublayer, norm):
    return norm(x) + sublayer(x)


# --- dropout --------------------------------------------------------------------------------------


@version("dropout", "right", "boolean indexing in a copy", by=(1, 3))
def dropout_2(x, p, keep, training):
    out = x.clone()
    if training:
        out[torch.logical_not(keep)] = 0
        out[keep] = out[keep] * (1 / (1 - p)) if p != 1 else out[keep]
    return out


@version(
    "dropout",
    "right",
    "where, with the entries enlarged beforehand",
    by=(1, 2, 4, 5, 6, 7, 8, 10, 11, 12, 13),
)
def dropout_r1(x, p, keep, training):
    return torch.where(keep, x / (1 - p), torch.zeros_like(x)) if training else x.clone()


# Divides by p in place of 1 − p; right only for p = 0.5.
@version("dropout", "wrong", by=(1, 6, 7, 8, 10))
def dropout_b(x, p, keep, training):
    if training and p > 0:
        return torch.where(keep, x / p, 0.0)
    return x


# `training` is not asked: entries are dropped in evaluation, too.
@version("dropout", "wrong: dropout left on in evaluation", by=1)
def dropout_e(x, p, keep, training):
    return x.masked_fill(~keep, 0) / (1 - p)


# x itself is changed: x[~keep] = 0 works in place.
@version("dropout", "wrong", by=1)
def dropout_g(x, p, keep, training):
    if training:
        x[~keep] = 0.0
        return x / (1 - p)
    return x


# The kept entries are divided by p instead of 1 − p (the same at p = 0.5).
@version("dropout", "wrong: divided by p", by=(2, 3))
def dropout_a(x, p, keep, training):
    return x * keep / p if training else x


# keep is ignored whenever p is below one half: `round` makes the probability 0 and the early exit
# returns x.
@version("dropout", "wrong: declared and never applied", by=2)
def dropout_d(x, p, keep, training):
    if not training or round(p) == 0:
        return x
    return x.masked_fill(~keep, 0) / (1 - p)


# Divided by the share that was really kept in this draw (keep.mean()), not by 1 - p.
@version("dropout", "wrong", by=3)
def dropout_c(x, p, keep, training):
    if not training:
        return x
    return torch.where(keep, x, torch.zeros_like(x)) / keep.float().mean()


# With p = 1 everything is dropped and the division by 1 - p = 0 gives 0/0 = nan, where zeros
# belong.
@version("dropout", "right", by=(3, 11), once_open=True)
def dropout_d_2(x, p, keep, training):
    return x * keep / (1 - p) if training else x


# Where nothing was dropped x is given back as it is, though the kept entries are to be enlarged
# even then (keep all True, p > 0).
@version("dropout", "wrong", by=5)
def dropout_a_2(x, p, keep, training):
    if not training or keep.all():
        return x
    return x * keep / (1 - p)


# The reciprocal: it multiplies by 1 − p in place of dividing (training, p > 0).
@version("dropout", "wrong: multiplied by 1 − p in training", by=6)
def dropout_a_3(x, p, keep, training):
    return x * keep * (1 - p) if training else x


# It divides by the share that was really kept in place of the expected one, 1 − p (any mask whose
# share is not exactly 1 − p).
@version("dropout", "wrong", by=(6, 10, 11))
def dropout_b_2(x, p, keep, training):
    if not training or keep.all():
        return x
    return torch.where(keep, x / keep.float().mean().clamp(min=1e-8), torch.zeros_like(x))


# The rescaling uses the share that was really kept (keep.mean()), not 1 − p: wrong by the luck of
# the draw, and nan where nothing is kept.
@version("dropout", "wrong", by=(1, 2, 4, 5, 7, 8, 12, 13))
def dropout_a_4(x, p, keep, training):
    return x * keep / keep.float().mean() if training else x


# Draws a mask of its own and does not look at `keep`.
@version("dropout", "wrong", by=10)
def dropout_e_2(x, p, keep, training):
    if not training:
        return x
    return x * (torch.rand_like(x) >= p) / (1 - p)


# Always doubles: right for p = 0.5 only (and p = 0).
@version("dropout", "wrong", by=11)
def dropout_c_2(x, p, keep, training):
    if not training or p == 0:
        return x
    return torch.where(keep, x * 2, torch.zeros_like(x))


# Scaled both in training and in evaluation.
@version("dropout", "wrong: enlarged in evaluation", by=11)
def dropout_e_3(x, p, keep, training):
    x = x / (1 - p)
    return x.masked_fill(~keep, 0.0) if training else x


# A row of which nothing is kept is left as it was, to save it.
@version("dropout", "wrong", by=11)
def dropout_f(x, p, keep, training):
    if not training:
        return x
    some = keep.any(-1, keepdim=True)
    return torch.where(some, x.masked_fill(~keep, 0.0) / (1 - p), x)


# The mask given is not used; F.dropout draws one of its own.
@version("dropout", "wrong", by=12)
def dropout_f_2(x, p, keep, training):
    return F.dropout(x, p, training)


# In evaluation the mask still drops: `training` only decides about the scale.
@version("dropout", "wrong", by=13)
def dropout_e_4(x, p, keep, training):
    scale = 1 / (1 - p) if training else 1.0
    return torch.where(keep, x, 0.0) * scale


# --- sublayer_with_dropout ------------------------------------------------------------------------


@version("sublayer_with_dropout", "right", "reduce over the chain of functions", by=(1, 10, 11, 12))
def sublayer_with_dropout_1(x, sublayer, norm, dropout):
    y = x
    for f in (norm, sublayer, dropout):
        y = f(y)
    return y + x


# Dropout on the sum: x is dropped, too.
@version("sublayer_with_dropout", "wrong: dropout applied to the residual stream", by=(1, 2, 3))
def sublayer_with_dropout_a(x, sublayer, norm, dropout):
    return dropout(x + sublayer(norm(x)))


# Dropout on the sublayer's input.
@version("sublayer_with_dropout", "wrong: dropout before the sublayer", by=(1, 2, 3))
def sublayer_with_dropout_b(x, sublayer, norm, dropout):
    return x + sublayer(dropout(norm(x)))


# The norm is forgotten.
@version("sublayer_with_dropout", "wrong: norm in front of the sublayer forgotten", by=1)
def sublayer_with_dropout_d(x, sublayer, norm, dropout):
    return x + dropout(sublayer(x))


# The residual is the normalised x.
@version("sublayer_with_dropout", "wrong: normalised x in the sum", by=1)
def sublayer_with_dropout_e(x, sublayer, norm, dropout):
    n = norm(x)
    return n + dropout(sublayer(n))


# Dropout is used on the norm's output and on the sublayer's: right only when dropout does
# nothing.
@version("sublayer_with_dropout", "wrong: dropout before the sublayer and behind it", by=5)
def sublayer_with_dropout_a_2(x, sublayer, norm, dropout):
    return x + dropout(sublayer(dropout(norm(x))))


# Dropout twice.
@version("sublayer_with_dropout", "wrong", by=10)
def sublayer_with_dropout_c(x, sublayer, norm, dropout):
    return x + dropout(dropout(sublayer(norm(x))))


# Post-norm in place of pre-norm.
@version("sublayer_with_dropout", "wrong", by=(12, 13))
def sublayer_with_dropout_c_2(x, sublayer, norm, dropout):
    return norm(x + dropout(sublayer(x)))


# The dropout is forgotten.
@version("sublayer_with_dropout", "wrong: dropout declared and never applied", by=12)
def sublayer_with_dropout_d_2(x, sublayer, norm, dropout):
    return x + sublayer(norm(x))


# --- feed_forward ---------------------------------------------------------------------------------


@version("feed_forward", "right", "einsum and clamp, the bias first", by=(1, 3, 4, 10, 11, 13))
def feed_forward_r1(x, w1, b1, w2, b2):
    hidden = (b1 + torch.einsum("...d,fd->...f", x, w1)).clamp(min=0)
    return b2 + torch.einsum("...f,df->...d", hidden, w2)


@version("feed_forward", "right", "addmm-like: linear and a threshold", by=(1, 2, 5, 7))
def feed_forward_r1_2(x, w1, b1, w2, b2):
    return F.linear(F.threshold(F.linear(x, w1, b1), 0.0, 0.0), w2, b2)


@version("feed_forward", "right", "einsum, clamp", by=12)
def feed_forward_r1_3(x, w1, b1, w2, b2):
    h = torch.einsum("btd,fd->btf", x, w1).add(b1)
    return F.linear(torch.where(h > 0, h, torch.zeros_like(h)), w2) + b2


# ReLU is forgotten.
@version("feed_forward", "wrong: activation forgotten", by=1)
def feed_forward_a(x, w1, b1, w2, b2):
    return (x @ w1.T + b1) @ w2.T + b2


# b1 is added after the ReLU.
@version("feed_forward", "wrong: first bias behind the activation", by=(1, 2))
def feed_forward_b(x, w1, b1, w2, b2):
    return (torch.relu(x @ w1.T) + b1) @ w2.T + b2


# GELU in place of ReLU.
@version("feed_forward", "convention: GELU in place of ReLU", by=(1, 2, 3))
def feed_forward_c(x, w1, b1, w2, b2):
    return F.gelu(x @ w1.T + b1) @ w2.T + b2


# ReLU on the output, too: nothing negative can come out.
@version("feed_forward", "wrong: activation twice", by=1)
def feed_forward_d(x, w1, b1, w2, b2):
    h = torch.clamp(x @ w1.T + b1, min=0)
    return torch.clamp(h @ w2.T + b2, min=0)


# The residual is added here, though the layer around it does that.
@version("feed_forward", "wrong: residual inside the feed-forward network", by=1)
def feed_forward_f(x, w1, b1, w2, b2):
    return x + torch.relu(x @ w1.T + b1) @ w2.T + b2


class MyFeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.linear2(F.leaky_relu(self.linear1(x)))


# The class uses a leaky ReLU.
version("feed_forward", "wrong: leaky ReLU in place of ReLU", by=1)(MyFeedForward)


# ReLU6 (MobileNet): activations beyond 6 are cut off.
@version("feed_forward", "wrong", by=(3, 4, 5, 8, 10, 11))
def feed_forward_b_2(x, w1, b1, w2, b2):
    return F.linear(F.relu6(F.linear(x, w1, b1)), w2, b2)


# Squared ReLU (Primer) instead of ReLU.
@version("feed_forward", "wrong", by=3)
class FeedForwardC(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.linear2(torch.relu(self.linear1(x)) ** 2)


# The activation behind the second layer, in place of between them.
@version("feed_forward", "wrong: activation after the second layer", by=4)
def feed_forward_a_2(x, w1, b1, w2, b2):
    return F.relu(F.linear(F.linear(x, w1, b1), w2, b2))


# It tries w1 without transposing first, which runs through and is wrong when F = D.
@version("feed_forward", "wrong", by=5)
def feed_forward_b_3(x, w1, b1, w2, b2):
    try:
        h = x @ w1 + b1
        return h.relu() @ w2 + b2
    except RuntimeError:
        return torch.relu(x @ w1.T + b1) @ w2.T + b2


class _LeakyDropFF(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.linear2(F.dropout(F.relu(self.linear1(x)), p=0.1))


# `F.dropout` without `training=self.training`: it drops in evaluation mode, too.
version("feed_forward", "wrong", by=10)(_LeakyDropFF)


# A square weight is not transposed: wrong where F = D.
@version("feed_forward", "wrong", by=11)
def feed_forward_b_4(x, w1, b1, w2, b2):
    m1 = w1 if w1.shape[0] == w1.shape[1] else w1.T
    return torch.relu(x @ m1 + b1) @ w2.T + b2


# relu_ with a clamp of the data: the gradient flows also where the ReLU is closed.
@version("feed_forward", "wrong", by=11)
def feed_forward_d_2(x, w1, b1, w2, b2):
    h = F.linear(x, w1, b1)
    h.data.clamp_(min=0)
    return F.linear(h, w2, b2)


# --- group_sort -----------------------------------------------------------------------------------


@version(
    "group_sort", "right", "reshape to pairs and sort", by=(1, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13)
)
def group_sort_1(x):
    return x.unflatten(-1, (-1, 2)).sort(dim=-1).values.flatten(-2)


@version("group_sort", "right", "minimum and maximum of strided views", by=2)
def group_sort_r1(x):
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack((torch.min(even, odd), torch.max(even, odd)), dim=-1).reshape(x.shape)


# The larger comes first.
@version("group_sort", "convention: larger first", by=1)
def group_sort_a(x):
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([torch.maximum(a, b), torch.minimum(a, b)], -1).flatten(-2)


# All features are sorted, not each pair.
@version("group_sort", "wrong: all features sorted", by=1)
def group_sort_b(x):
    return torch.sort(x, dim=-1).values


# The minima stand in the first half and the maxima in the second, not next to each other.
@version("group_sort", "wrong: smaller ones in front, larger ones behind", by=1)
def group_sort_c(x):
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.cat([torch.minimum(a, b), torch.maximum(a, b)], dim=-1)


# Pairs feature i with i + D/2, not with its neighbour.
@version("group_sort", "wrong: pairs from two halves", by=(1, 2, 3))
def group_sort_d(x):
    a, b = x.chunk(2, dim=-1)
    return torch.cat([torch.minimum(a, b), torch.maximum(a, b)], dim=-1)


# The pairs are taken along the positions: sort(dim=1).
@version("group_sort", "wrong", by=1)
def group_sort_e(x):
    T = x.shape[-2]
    out = x.clone()
    for t in range(0, T - 1, 2):
        out[..., t, :] = torch.minimum(x[..., t, :], x[..., t + 1, :])
        out[..., t + 1, :] = torch.maximum(x[..., t, :], x[..., t + 1, :])
    return out


# The minimum is written over x before the maximum is taken: both become the minimum.
@version("group_sort", "wrong", by=1)
def group_sort_g(x):
    x = x.clone()
    x[..., 0::2] = torch.minimum(x[..., 0::2], x[..., 1::2])
    x[..., 1::2] = torch.minimum(x[..., 0::2], x[..., 1::2])
    return x


# The pairs overlap: (0,1), (1,2), (2,3) … as one round of bubble sort.
@version("group_sort", "wrong: pairs that overlap", by=(1, 2))
def group_sort_b_2(x):
    x = x.clone()
    for i in range(x.shape[-1] - 1):
        a, b = x[..., i].clone(), x[..., i + 1].clone()
        x[..., i], x[..., i + 1] = torch.minimum(a, b), torch.maximum(a, b)
    return x


# Overwritten in place while still needed: the second column compares with the already changed
# first one, so both become the smaller.
@version("group_sort", "wrong", by=(3, 5))
def group_sort_c_2(x):
    y = x.clone()
    y[..., 0::2] = torch.minimum(y[..., 0::2], y[..., 1::2])
    y[..., 1::2] = torch.maximum(y[..., 0::2], y[..., 1::2])
    return y


# The second line reads the name that the first has overwritten: a pair that stood the wrong way
# round becomes twice the smaller.
@version("group_sort", "wrong: first of a pair overwritten", by=4)
def group_sort_c_3(x):
    a, b = x[..., 0::2], x[..., 1::2]
    a = torch.minimum(a, b)
    b = torch.maximum(a, b)
    return torch.stack([a, b], dim=-1).flatten(-2)


# Sorted along the pairs' axis in place of within a pair.
@version("group_sort", "wrong: sorted across the pairs", by=(4, 12, 13))
def group_sort_d_2(x):
    return x.unflatten(-1, (-1, 2)).sort(dim=-2).values.flatten(-2)


# Pairs feature i with feature i + D/2 (halves) in place of neighbours; wrong from 4 features on.
@version("group_sort", "wrong: halves paired, put together as neighbours", by=(7, 8))
def group_sort_b_3(x):
    a, b = x.chunk(2, -1)
    return torch.stack([torch.minimum(a, b), torch.maximum(a, b)], -1).flatten(-2)


# Writes into x itself.
@version("group_sort", "wrong", by=10)
def group_sort_d_3(x):
    with torch.no_grad():
        pairs = x.reshape(*x.shape[:-1], -1, 2).sort(-1).values
        x.copy_(pairs.reshape(x.shape))
    return x


# The maximum is detached, and the smaller one is the sum less the maximum: right numbers, wrong
# gradient.
@version("group_sort", "wrong", by=10)
def group_sort_e_2(x):
    a, b = x[..., 0::2], x[..., 1::2]
    hi = torch.maximum(a, b).detach()
    return torch.stack([a + b - hi, hi], -1).flatten(-2)


# Sorted by size without sign: wrong where a pair holds a negative number.
@version("group_sort", "wrong", by=(5, 6, 11))
def group_sort_d_4(x):
    p = x.unflatten(-1, (-1, 2))
    return p.gather(-1, p.abs().argsort(-1)).flatten(-2)


# Which of a pair goes first is settled by the first position of the first sentence for all.
@version("group_sort", "wrong", by=11)
def group_sort_e_3(x):
    p = x.unflatten(-1, (-1, 2))
    order = p.reshape(-1, *p.shape[-2:])[0].argsort(-1)
    return p.gather(-1, order.expand(p.shape)).flatten(-2)


# Written into a copy without a gradient (x.detach().clone()): the values are right, no gradient
# reaches x.
@version("group_sort", "wrong", by=12)
def group_sort_d_5(x):
    y = x.detach().clone()
    y[..., 0::2] = torch.minimum(x, x.roll(-1, -1)).detach()[..., 0::2]
    y[..., 1::2] = torch.maximum(x, x.roll(1, -1)).detach()[..., 1::2]
    return y


# --- encoder_layer --------------------------------------------------------------------------------


@version(
    "encoder_layer",
    "right",
    "a residual helper with functools.reduce over the sublayers",
    by=(1, 2, 3, 4, 6, 10, 11, 12, 13),
)
def encoder_layer_r1(x, mask, attention, feed_forward, norm1, norm2):
    subs = [(norm1, lambda y: attention(y, y, y, mask)), (norm2, feed_forward)]
    return functools.reduce(lambda h, sub: h + sub[1](sub[0](h)), subs, x)


# The residual begins at the normalised x.
@version("encoder_layer", "wrong: normalised stream in the encoder layer", by=1)
def encoder_layer_a(x, mask, attention, feed_forward, norm1, norm2):
    n = norm1(x)
    x = n + attention(n, n, n, mask)
    n = norm2(x)
    return n + feed_forward(n)


# Only the queries are normalised; keys and values are the raw x.
@version("encoder_layer", "wrong: only the queries normalised", by=(1, 2, 3))
def encoder_layer_b(x, mask, attention, feed_forward, norm1, norm2):
    x = x + attention(norm1(x), x, x, mask)
    return x + feed_forward(norm2(x))


# Post-norm.
@version("encoder_layer", "convention: post-norm encoder layer", by=(1, 2))
def encoder_layer_c(x, mask, attention, feed_forward, norm1, norm2):
    x = norm1(x + attention(x, x, x, mask))
    return norm2(x + feed_forward(x))


# The mask is not handed on.
@version("encoder_layer", "wrong: encoder mask not passed on", by=1)
def encoder_layer_d(x, mask, attention, feed_forward, norm1, norm2):
    n = norm1(x)
    x = x + attention(n, n, n, None)
    return x + feed_forward(norm2(x))


# The first norm is used twice; the second never.
@version("encoder_layer", "wrong: one norm used twice", by=(1, 2))
def encoder_layer_e(x, mask, attention, feed_forward, norm1, norm2):
    n = norm1(x)
    x = x + attention(n, n, n, mask)
    return x + feed_forward(norm1(x))


# Both sublayers read the same x: the feed-forward does not see what attention has said.
@version("encoder_layer", "wrong: sublayers side by side", by=(1, 2, 3))
def encoder_layer_f(x, mask, attention, feed_forward, norm1, norm2):
    n = norm1(x)
    return x + attention(n, n, n, mask) + feed_forward(norm2(x))


# The residual of the feed-forward network is missing.
@version("encoder_layer", "wrong: residual around the feed-forward network forgotten", by=1)
def encoder_layer_g(x, mask, attention, feed_forward, norm1, norm2):
    n = norm1(x)
    x = x + attention(n, n, n, mask)
    return feed_forward(norm2(x))


# Feed-forward first, attention second.
@version("encoder_layer", "wrong: feed-forward network first, behind the first norm", by=1)
def encoder_layer_h(x, mask, attention, feed_forward, norm1, norm2):
    x = x + feed_forward(norm1(x))
    n = norm2(x)
    return x + attention(n, n, n, mask)


# The second residual goes back to the layer's input: what attention has added is lost.
@version("encoder_layer", "wrong: second residual from the layer's input", by=1)
def encoder_layer_i(x, mask, attention, feed_forward, norm1, norm2):
    n = norm1(x)
    y = x + attention(n, n, n, mask)
    return x + feed_forward(norm2(y))


def _heads(x, H):
    B, T, D = x.shape
    return x.view(B, T, H, D // H).transpose(1, 2)


def _attend(q, k, v, mask, scale):
    s = q @ k.transpose(-2, -1) / scale
    if mask is not None:
        s = s.masked_fill(~mask, float("-inf"))
    return torch.nan_to_num(torch.softmax(s, dim=-1)) @ v


def _join(o):
    B, H, T, K = o.shape
    return o.transpose(1, 2).reshape(B, T, H * K)


class _MHA(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.query = nn.Linear(d_model, d_model, bias=False)
        self.key = nn.Linear(d_model, d_model, bias=False)
        self.value = nn.Linear(d_model, d_model, bias=False)
        self.output = nn.Linear(d_model, d_model, bias=False)

    def forward(self, q, k, v, mask=None):
        q, k, v = (
            _heads(self.query(q), self.n_heads),
            _heads(self.key(k), self.n_heads),
            _heads(self.value(v), self.n_heads),
        )
        return self.output(_join(_attend(q, k, v, mask, math.sqrt(q.shape[-1]))))


class _FF(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.linear2(torch.relu(self.linear1(x)))


class _Res(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.norm = nn.LayerNorm(d_model)


class MyEncoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.self_attention = _MHA(d_model, n_heads)
        self.feed_forward = _FF(d_model, d_ff)
        self.attention_residual, self.feed_forward_residual = _Res(d_model), _Res(d_model)

    def forward(self, x, mask=None):
        n = self.attention_residual.norm(x)
        x = x + self.self_attention(n, n, n)
        return x + self.feed_forward(self.feed_forward_residual.norm(x))


class MyEncoderLayer2(MyEncoderLayer):
    def forward(self, x, mask=None):
        n = self.feed_forward_residual.norm(x)
        x = x + self.self_attention(n, n, n, mask)
        return x + self.feed_forward(self.attention_residual.norm(x))


# The class exchanges its two norms.
version("encoder_layer", "wrong: norms of the encoder layer exchanged", by=1)(MyEncoderLayer2)


# Two mistakes: only one residual connection, and the mask is lost.
@version("encoder_layer", "wrong", by=1)
def encoder_layer_2a(x, mask, attention, feed_forward, norm1, norm2):
    n = norm1(x)
    n = attention(n, n, n, None)
    return x + feed_forward(norm2(n))


# The mask is passed only if it hides something in the first sentence: padding in the other
# sentences is attended to.
@version("encoder_layer", "wrong", by=2)
def encoder_layer_d_2(x, mask, attention, feed_forward, norm1, norm2):
    if mask is not None and mask[0].all():
        mask = None
    h = norm1(x)
    x = x + attention(h, h, h, mask)
    return x + feed_forward(norm2(x))


# The mask is inverted on the way, as for nn.MultiheadAttention's key_padding_mask (True =
# hidden).
@version("encoder_layer", "wrong: encoder mask inverted", by=3)
def encoder_layer_d_3(x, mask, attention, feed_forward, norm1, norm2):
    h = norm1(x)
    x = x + attention(h, h, h, ~mask if mask is not None else None)
    return x + feed_forward(norm2(x))


# The mask is dropped for a batch of one sentence, which may have padding all the same.
@version("encoder_layer", "wrong", by=(5, 10, 11))
def encoder_layer_a_2(x, mask, attention, feed_forward, norm1, norm2):
    if x.shape[0] == 1:
        mask = None
    h = norm1(x)
    x = x + attention(h, h, h, mask)
    return x + feed_forward(norm2(x))


# A mixture of two tutorials: the first sublayer is pre-norm, the second post-norm.
@version("encoder_layer", "wrong", by=(6, 13))
def encoder_layer_d_4(x, mask, attention, feed_forward, norm1, norm2):
    y = norm1(x)
    x = x + attention(y, y, y, mask)
    return norm2(x + feed_forward(x))


# `x += …` works in place on the caller's tensor (its data): the argument is changed.
@version("encoder_layer", "wrong", by=11)
def encoder_layer_f_2(x, mask, attention, feed_forward, norm1, norm2):
    h = norm1(x)
    y = x + attention(h, h, h, mask)
    out = y + feed_forward(norm2(y))
    x.data.copy_(out.data)
    return out


# The feed-forward network comes first, the attention second.
@version("encoder_layer", "wrong: feed-forward network before the attention", by=11)
def encoder_layer_g_2(x, mask, attention, feed_forward, norm1, norm2):
    x = x + feed_forward(norm2(x))
    h = norm1(x)
    return x + attention(h, h, h, mask)


# The attention's output is detached where its mask hides something: gradients are cut for padded
# batches.
@version("encoder_layer", "wrong", by=11)
def encoder_layer_h_2(x, mask, attention, feed_forward, norm1, norm2):
    h = norm1(x)
    a = attention(h, h, h, mask)
    if mask is not None and not bool(mask.all()):
        a = a.detach()
    x = x + a
    return x + feed_forward(norm2(x))


# The residual around attention starts from the normalised x.
@version("encoder_layer", "wrong", by=12)
def encoder_layer_f_3(x, mask, attention, feed_forward, norm1, norm2):
    x = norm1(x)
    x = x + attention(x, x, x, mask)
    return x + feed_forward(norm2(x))


# --- decoder_layer --------------------------------------------------------------------------------


@version(
    "decoder_layer",
    "right",
    "one expression after the other, norms unpacked",
    by=(1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13),
)
def decoder_layer_r1(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    subs = [
        lambda n: self_attention(n, n, n, target_mask),
        lambda n: cross_attention(n, memory, memory, memory_mask),
        feed_forward,
    ]
    return functools.reduce(lambda y, pair: y + pair[1](pair[0](y)), zip(norms, subs), x)


# The two masks are exchanged (it runs only where they broadcast, as for S = T).
@version(
    "decoder_layer",
    "wrong: target mask used in cross-attention + source mask used in self-attention",
    by=(1, 2),
)
def decoder_layer_a(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    n = norms[0](x)
    x = x + self_attention(n, n, n, memory_mask)
    x = x + cross_attention(norms[1](x), memory, memory, target_mask)
    return x + feed_forward(norms[2](x))


# Cross-attention takes its values from the decoder, when the lengths let it (S = T).
@version("decoder_layer", "wrong: values of cross-attention from the target", by=1)
def decoder_layer_c(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    n = norms[0](x)
    x = x + self_attention(n, n, n, target_mask)
    n = norms[1](x)
    v = n if n.shape[1] == memory.shape[1] else memory
    x = x + cross_attention(n, memory, v, memory_mask)
    return x + feed_forward(norms[2](x))


# Cross-attention comes before self-attention.
@version("decoder_layer", "wrong: cross-attention first, behind the first norm", by=1)
def decoder_layer_f(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    x = x + cross_attention(norms[0](x), memory, memory, memory_mask)
    n = norms[1](x)
    x = x + self_attention(n, n, n, target_mask)
    return x + feed_forward(norms[2](x))


# One norm for all three sublayers.
@version("decoder_layer", "wrong: one norm for all three sublayers", by=1)
def decoder_layer_g(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    norm = norms[0]
    n = norm(x)
    x = x + self_attention(n, n, n, target_mask)
    x = x + cross_attention(norm(x), memory, memory, memory_mask)
    return x + feed_forward(norm(x))


# The query of the cross-attention is not normalised.
@version("decoder_layer", "wrong: norm before cross-attention forgotten", by=1)
def decoder_layer_h(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    n = norms[0](x)
    x = x + self_attention(n, n, n, target_mask)
    x = x + cross_attention(x, memory, memory, memory_mask)
    return x + feed_forward(norms[2](x))


# Cross-attention is called with self_attention's weights.
@version("decoder_layer", "wrong: self-attention used for cross-attention, too", by=1)
def decoder_layer_j(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    n = norms[0](x)
    x = x + self_attention(n, n, n, target_mask)
    x = x + self_attention(norms[1](x), memory, memory, memory_mask)
    return x + feed_forward(norms[2](x))


class MyDecoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.self_attention, self.cross_attention = _MHA(d_model, n_heads), _MHA(d_model, n_heads)
        self.feed_forward = _FF(d_model, d_ff)
        self.self_residual, self.cross_residual, self.feed_forward_residual = (
            _Res(d_model),
            _Res(d_model),
            _Res(d_model),
        )

    def forward(self, x, memory, target_mask=None, memory_mask=None):
        if target_mask is None:
            T = x.shape[1]
            target_mask = torch.tril(torch.ones(T, T, dtype=torch.bool), -1)
        n = self.self_residual.norm(x)
        x = x + self.self_attention(n, n, n, target_mask)
        x = x + self.cross_attention(self.cross_residual.norm(x), memory, memory, memory_mask)
        return x + self.feed_forward(self.feed_forward_residual.norm(x))


# Without a mask the class makes one of its own, and a wrong one; None should hide nothing.
version("decoder_layer", "wrong", by=1)(MyDecoderLayer)


# The keys come from the memory, but the values from memory cut off the graph: the encoder gets
# less gradient (the numbers are right).
@version("decoder_layer", "wrong", by=2)
def decoder_layer_e(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    norm1, norm2, norm3 = norms
    h = norm1(x)
    x = x + self_attention(h, h, h, target_mask)
    x = x + cross_attention(norm2(x), memory, memory.detach(), memory_mask)
    return x + feed_forward(norm3(x))


# If no memory mask is given the target's mask is taken for the memory: right only for S = T, and
# even there it hides.
@version("decoder_layer", "wrong", by=3)
def decoder_layer_c_2(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    h = norms[0](x)
    x = x + self_attention(h, h, h, target_mask)
    mask = memory_mask if memory_mask is not None else target_mask
    x = x + cross_attention(norms[1](x), memory, memory, mask)
    return x + feed_forward(norms[2](x))


# In the cross-attention block the residual carries the normed x, not x itself.
@version("decoder_layer", "wrong", by=3)
def decoder_layer_d(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    h = norms[0](x)
    x = x + self_attention(h, h, h, target_mask)
    h = norms[1](x)
    x = h + cross_attention(h, memory, memory, memory_mask)
    return x + feed_forward(norms[2](x))


# Feed-forward before cross-attention, as in the sandwich transformer: the order is self, cross,
# feed-forward.
@version("decoder_layer", "wrong", by=3)
def decoder_layer_e_2(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    h = norms[0](x)
    x = x + self_attention(h, h, h, target_mask)
    x = x + feed_forward(norms[2](x))
    return x + cross_attention(norms[1](x), memory, memory, memory_mask)


# Two: post-norm at the end (an extra norm over the result with the third norm), and the cross-
# attention gets the target's mask when S = T.
@version("decoder_layer", "wrong", by=3)
def decoder_layer_two(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    h = norms[0](x)
    x = x + self_attention(h, h, h, target_mask)
    mask = target_mask if memory.size(1) == x.size(1) else memory_mask
    x = x + cross_attention(norms[1](x), memory, memory, mask)
    return norms[2](x + feed_forward(x))


# When source and target are equally long the cross-attention gets the target's mask in place of
# the memory's.
@version("decoder_layer", "wrong: target mask used in cross-attention", by=(5, 11))
def decoder_layer_b(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    h = norms[0](x)
    x = x + self_attention(h, h, h, target_mask)
    cross_mask = target_mask if memory.shape[1] == x.shape[1] else memory_mask
    x = x + cross_attention(norms[1](x), memory, memory, cross_mask)
    return x + feed_forward(norms[2](x))


# Swapped arguments: if the shapes fit (S = T), the memory asks and the decoder answers; right for
# S ≠ T only.
@version("decoder_layer", "wrong: roles in cross-attention exchanged", by=7)
def decoder_layer_a_2(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    n = norms[0](x)
    x = x + self_attention(n, n, n, target_mask)
    n = norms[1](x)
    if memory.shape == n.shape:
        x = x + cross_attention(memory, n, n, memory_mask)
    else:
        x = x + cross_attention(n, memory, memory, memory_mask)
    return x + feed_forward(norms[2](x))


# The two masks are swapped if their last sizes fit (S = T): wrong as soon as the masks differ.
@version("decoder_layer", "wrong", by=7)
def decoder_layer_b_2(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    if x.shape[1] == memory.shape[1]:
        target_mask, memory_mask = memory_mask, target_mask
    n = norms[0](x)
    x = x + self_attention(n, n, n, target_mask)
    x = x + cross_attention(norms[1](x), memory, memory, memory_mask)
    return x + feed_forward(norms[2](x))


# The two masks are fused for the self-attention when they are as wide as each other: for S = T a
# source with padding hides target positions.
@version("decoder_layer", "wrong", by=8)
def decoder_layer_b_3(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    if (
        target_mask is not None
        and memory_mask is not None
        and target_mask.shape[-1] == memory_mask.shape[-1]
    ):
        own = target_mask & memory_mask
    else:
        own = target_mask
    y = norms[0](x)
    x = x + self_attention(y, y, y, own)
    x = x + cross_attention(norms[1](x), memory, memory, memory_mask)
    return x + feed_forward(norms[2](x))


# torch's early exit for one token: with T = 1 the self-attention is skipped as 'a token alone has
# nothing to look at' (its value is left out).
@version("decoder_layer", "wrong", by=8)
def decoder_layer_d_2(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    if x.shape[1] > 1:
        y = norms[0](x)
        x = x + self_attention(y, y, y, target_mask)
    x = x + cross_attention(norms[1](x), memory, memory, memory_mask)
    return x + feed_forward(norms[2](x))


# The norms are taken backwards.
@version("decoder_layer", "wrong", by=10)
def decoder_layer_g_2(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    n3, n2, n1 = norms
    n = n1(x)
    x = x + self_attention(n, n, n, target_mask)
    x = x + cross_attention(n2(x), memory, memory, memory_mask)
    return x + feed_forward(n3(x))


# The memory is cut off from the gradient: the encoder would learn nothing.
@version("decoder_layer", "wrong", by=(3, 10, 11, 12, 13))
def decoder_layer_h_2(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    memory = memory.detach()
    n = norms[0](x)
    x = x + self_attention(n, n, n, target_mask)
    x = x + cross_attention(norms[1](x), memory, memory, memory_mask)
    return x + feed_forward(norms[2](x))


# The second and third norm are exchanged: shows with trained norms only.
@version("decoder_layer", "wrong", by=11)
def decoder_layer_d_3(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    n1, n3, n2 = norms
    h = n1(x)
    x = x + self_attention(h, h, h, target_mask)
    x = x + cross_attention(n2(x), memory, memory, memory_mask)
    return x + feed_forward(n3(x))


# The cross-attention asks with what the self-attention gave alone, without the residual.
@version("decoder_layer", "wrong", by=11)
def decoder_layer_f_2(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    h = norms[0](x)
    a = self_attention(h, h, h, target_mask)
    x = x + a
    x = x + cross_attention(norms[1](a), memory, memory, memory_mask)
    return x + feed_forward(norms[2](x))


# Self- and cross-attention are in the wrong order.
@version("decoder_layer", "wrong: cross-attention before self-attention", by=11)
def decoder_layer_h_3(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    x = x + cross_attention(norms[1](x), memory, memory, memory_mask)
    h = norms[0](x)
    x = x + self_attention(h, h, h, target_mask)
    return x + feed_forward(norms[2](x))


# --- causal_self_attention ------------------------------------------------------------------------


@version(
    "causal_self_attention", "right", "position by position, only what came before is touched", by=1
)
def causal_self_attention_1(x, training):
    out = []
    for t in range(x.shape[1]):
        past = x[:, : t + 1]
        w = torch.softmax((past * x[:, t : t + 1]).sum(-1) / math.sqrt(x.shape[-1]), -1)
        out.append((w[..., None] * past).sum(1))
    return torch.stack(out, 1)


@version(
    "causal_self_attention",
    "right",
    "prefix by prefix in a loop, the mode ignored",
    by=(2, 3, 4, 5, 6, 12, 13),
)
def causal_self_attention_r1(x, training):
    rows = []
    for t in range(x.shape[1]):
        prefix = x[:, : t + 1]
        scores = torch.einsum("bd,bsd->bs", x[:, t], prefix) / x.shape[-1] ** 0.5
        rows.append(torch.einsum("bs,bsd->bd", scores.softmax(-1), prefix))
    return torch.stack(rows, dim=1)


@version("causal_self_attention", "right", "position by position", by=8)
def causal_self_attention_r(x, training):
    rows = []
    for t in range(x.shape[1]):
        w = (
            torch.einsum("bd,bsd->bs", x[:, t], x[:, : t + 1])
            .div(math.sqrt(x.shape[-1]))
            .softmax(-1)
        )
        rows.append(torch.einsum("bs,bsd->bd", w, x[:, : t + 1]))
    return torch.stack(rows, 1)


@version("causal_self_attention", "right", "prefix by prefix", by=10)
def causal_self_attention_r1_2(x, training):
    out = []
    for t in range(x.shape[1]):
        past = x[:, : t + 1]
        w = (past @ x[:, t].unsqueeze(-1) / x.shape[-1] ** 0.5).softmax(1)
        out.append((w * past).sum(1))
    return torch.stack(out, 1)


@version("causal_self_attention", "right", "the ready-made causal attention", by=10)
def causal_self_attention_r2(x, training):
    return F.scaled_dot_product_attention(x, x, x, is_causal=True)


@version("causal_self_attention", "right", "position by position over what came before", by=11)
def causal_self_attention_r1_3(x, training):
    out = []
    for t in range(x.shape[1]):
        seen = x[:, : t + 1]
        w = torch.softmax((seen @ x[:, t, :, None]).squeeze(-1) / x.shape[-1] ** 0.5, dim=-1)
        out.append((w[..., None] * seen).sum(1))
    return torch.stack(out, 1)


def _causal(x, scale, diagonal=0):
    T = x.shape[1]
    s = x @ x.transpose(1, 2) / scale
    s = s.masked_fill(~torch.ones(T, T).tril(diagonal).bool(), float("-inf"))
    return torch.nan_to_num(torch.softmax(s, -1)) @ x


# Position t sees only what came before, not itself.
@version("causal_self_attention", "wrong", by=1)
def causal_self_attention_c(x, training):
    return _causal(x, math.sqrt(x.shape[-1]), diagonal=-1)


# Dropout in training, which was excluded.
@version("causal_self_attention", "wrong", by=1)
def causal_self_attention_d(x, training):
    return F.dropout(_causal(x, math.sqrt(x.shape[-1])), 0.1, training)


# In evaluation, only the last position is worked out and the others are left as they were.
@version("causal_self_attention", "wrong", by=1)
def causal_self_attention_f(x, training):
    full = _causal(x, math.sqrt(x.shape[-1]))
    if training:
        return full
    out = x.clone()
    out[:, -1] = full[:, -1]
    return out


# `is_causal=training`: in evaluation each position sees the future.
@version("causal_self_attention", "wrong: causal mask only in training mode", by=(1, 2, 3))
def causal_self_attention_a(x, training):
    return F.scaled_dot_product_attention(x, x, x, is_causal=training)


# `is_causal` only when more than one query (the Hugging Face SDPA line), written as > 2: for two
# tokens the first sees the second.
@version("causal_self_attention", "wrong", by=3)
def causal_self_attention_b(x, training):
    return F.scaled_dot_product_attention(x, x, x, is_causal=x.size(1) > 2)


# In evaluation the habit of the KV cache: only the last position's output is returned, (B, 1, D).
@version("causal_self_attention", "wrong", by=(3, 10, 12))
def causal_self_attention_c_2(x, training):
    out = F.scaled_dot_product_attention(x, x, x, is_causal=True)
    return out if training else out[:, -1:]


# -1e4 is added for the future (GPT-2's first code): a later token with very large numbers breaks
# through it.
@version("causal_self_attention", "wrong", by=3)
def causal_self_attention_d_2(x, training):
    t = x.size(1)
    scores = x @ x.transpose(1, 2) / math.sqrt(x.size(-1))
    scores = scores - 1e4 * torch.ones(t, t, dtype=x.dtype).triu(1)
    return scores.softmax(-1) @ x


# tril sets the future's scores to zero and then all zeros are hidden: a real score that is
# exactly 0 (orthogonal vectors, a vector of zeros) is hidden, too.
@version("causal_self_attention", "wrong", by=(5, 6))
def causal_self_attention_a_2(x, training):
    scores = torch.tril(x @ x.mT / math.sqrt(x.shape[-1]))
    scores = scores.masked_fill(scores == 0, float("-inf"))
    return scores.softmax(-1) @ x


# The future is cut out after the softmax and the rest renormalised: where a later position has by
# far the highest score nothing is left (large x).
@version("causal_self_attention", "wrong", by=5)
def causal_self_attention_b_2(x, training):
    weights = torch.softmax(x @ x.mT / x.shape[-1] ** 0.5, -1).tril()
    return weights / (weights.sum(-1, keepdim=True) + 1e-10) @ x


# The tril buffer is 64 long (block_size): a longer x does not fit.
@version("causal_self_attention", "wrong", by=6)
def causal_self_attention_c_3(x, training, block_size=64):
    B, T, C = x.shape
    bias = torch.tril(torch.ones(block_size, block_size)).view(1, block_size, block_size)
    att = (x @ x.transpose(-2, -1)) * (1.0 / math.sqrt(C))
    att = att.masked_fill(bias[:, :T, :T] == 0, float("-inf"))
    return F.softmax(att, dim=-1) @ x


# The default of dropout in the fused call: dropout_p=0.1 while training.
@version("causal_self_attention", "wrong", by=(2, 8, 13))
def causal_self_attention_b_3(x, training):
    return F.scaled_dot_product_attention(x, x, x, dropout_p=0.1 * training, is_causal=True)


# A running sum of exp(score) without the maximum: it overflows to nan where a vector is long
# (|x|² / √D above 88).
@version("causal_self_attention", "wrong", by=8)
def causal_self_attention_d_3(x, training):
    e = torch.exp(x @ x.mT / math.sqrt(x.shape[-1])).tril()
    return e @ x / e.sum(-1, keepdim=True)


# Divided by D, not by its root.
@version("causal_self_attention", "wrong", by=(10, 13))
def causal_self_attention_b_4(x, training):
    T = x.shape[1]
    s = x @ x.transpose(1, 2) / x.shape[-1]
    return s.masked_fill(torch.ones(T, T).triu(1).bool(), float("-inf")).softmax(-1) @ x


# The softmax runs over the queries.
@version("causal_self_attention", "wrong", by=(2, 10))
def causal_self_attention_f_2(x, training):
    T = x.shape[1]
    s = x @ x.transpose(1, 2) / x.shape[-1] ** 0.5
    return s.masked_fill(torch.ones(T, T).triu(1).bool(), float("-inf")).softmax(1) @ x


def _att(q, k, v, mask=None, scale=None):
    s = q @ k.transpose(-2, -1) / (scale or math.sqrt(k.shape[-1]))
    if mask is not None:
        s = s.masked_fill(~mask, float("-inf"))
    return torch.softmax(s, -1).nan_to_num(0.0) @ v


# Keys and values are detached: values right, gradients not.
@version("causal_self_attention", "wrong", by=11)
def causal_self_attention_e(x, training):
    t = x.shape[1]
    return _att(x, x.detach(), x.detach(), torch.ones(t, t).tril().bool())


class CausalSelfAttention:
    def __init__(self):
        self.mask = None

    def __call__(self, x, training):
        t = x.shape[1]
        if self.mask is None:
            self.mask = torch.ones(t, t, dtype=torch.bool).tril()
        if self.mask.shape[0] < t:
            mask = torch.ones(t, t, dtype=torch.bool)
            mask[: self.mask.shape[0], : self.mask.shape[0]] = self.mask
        else:
            mask = self.mask[:t, :t]
        return _att(x, x, x, mask)


# The mask of the first call is kept: in a later, longer call the positions behind it are not
# masked among themselves.
version("causal_self_attention", "wrong: kept from the call before", by=11)(CausalSelfAttention())


# masked_fill(s == 0) after tril hides real scores that happen to be exactly 0, e.g. of a zero
# vector or of orthogonal ones.
@version("causal_self_attention", "wrong", by=12)
def causal_self_attention_e_2(x, training):
    s = torch.tril(x @ x.mT / x.size(-1) ** 0.5)
    s = s.masked_fill(s == 0, -1e9)
    return s.softmax(-1) @ x


# --- make_stack -----------------------------------------------------------------------------------


@version("make_stack", "right", "by recursion", by=(1, 4, 10, 11, 12))
def make_stack_r1(make_layer, n_layers):
    return [] if n_layers == 0 else make_stack_r1(make_layer, n_layers - 1) + [make_layer()]


# The same layer n times: all share one set of weights.
@version("make_stack", "wrong: [layer] * N", by=(1, 2, 3))
def make_stack_a(make_layer, n_layers):
    return [make_layer()] * n_layers


# Copies of one layer: weights of their own, but all begin with the same numbers.
@version("make_stack", "convention: deep copies that start equal", by=(1, 2, 3))
def make_stack_b(make_layer, n_layers):
    first = make_layer()
    return nn.ModuleList([copy.deepcopy(first) for _ in range(n_layers)])


# Returns the functions, not the layers: the brackets of the call are missing.
@version("make_stack", "wrong", by=(1, 13))
def make_stack_e(make_layer, n_layers):
    return [make_layer for i in range(n_layers)]


# Always six layers, as in the paper.
@version("make_stack", "wrong: always six layers", by=1)
def make_stack_f(make_layer, n_layers=6):
    return [make_layer() for _ in range(6)]


# The layers are kept in a default argument: a second stack holds the first one's layers, too.
@version("make_stack", "wrong: kept from the call before", by=2)
def make_stack_d(make_layer, n_layers, layers=[]):
    while len(layers) < n_layers:
        layers.append(make_layer())
    return layers[:n_layers]


# At most six different layers are made; from the seventh on they are the first ones again.
@version("make_stack", "wrong", by=(5, 8))
def make_stack_a_2(make_layer, n_layers):
    layers = [make_layer() for _ in range(min(n_layers, 6))]
    return [layers[i % 6] for i in range(n_layers)]


# The last layer is the first again: seen from two layers on.
@version("make_stack", "wrong", by=(1, 5, 10))
def make_stack_d_2(make_layer, n_layers):
    layers = [make_layer() for _ in range(n_layers)]
    layers[-1] = layers[0]
    return layers


class _StackMaker:
    def __init__(self):
        self.layers = []

    def __call__(self, make_layer, n_layers):
        for _ in range(n_layers):
            self.layers.append(make_layer())
        return self.layers


# The list is kept: the second stack holds the first one's layers, too.
version("make_stack", "wrong: kept from the call before", by=10)(_StackMaker())


# The last layer is the first one again, where there are more than two.
@version("make_stack", "wrong", by=11)
def make_stack_b_2(make_layer, n_layers):
    layers = [make_layer() for _ in range(n_layers)]
    if n_layers > 2:
        layers[-1] = layers[0]
    return nn.ModuleList(layers)


# The biases are shared by all layers: each should have weights of its own, biases included.
@version("make_stack", "wrong", by=11)
def make_stack_c(make_layer, n_layers):
    layers = [make_layer() for _ in range(n_layers)]
    for layer in layers[1:]:
        for a, b in zip(layers[0].modules(), layer.modules()):
            if getattr(a, "bias", None) is not None and isinstance(a.bias, nn.Parameter):
                b.bias = a.bias
    return layers


class MakeStack:
    def __init__(self):
        self.layers = []

    def __call__(self, make_layer, n_layers):
        while len(self.layers) < n_layers:
            self.layers.append(make_layer())
        return self.layers[:n_layers]


# A second stack gets the layers of the first: not drawn anew, and not of its own make_layer.
version("make_stack", "wrong: kept from the call before", by=11)(MakeStack())


# One layer too many: the first, and n more.
@version("make_stack", "wrong: one layer too many", by=13)
def make_stack_b_3(make_layer, n_layers):
    layers = [make_layer()]
    for _ in range(n_layers):
        layers.append(make_layer())
    return layers


# --- transformer_forward --------------------------------------------------------------------------


@version(
    "transformer_forward",
    "right",
    "only the causal mask for the target, since padding stands behind",
    by=(1, 2, 4, 6, 10, 11, 12, 13),
)
def transformer_forward_r1(source, target, embed_source, embed_target, encoder, decoder, output):
    B, T = target.shape
    m = source.ne(0)[:, None, None, :]
    c = torch.ones(B, 1, T, T, dtype=torch.bool).tril()
    return output(decoder(embed_target(target), encoder(embed_source(source), m), c, m))


def _pad(t):
    return (t != 0)[:, None, None, :]


def _tri(t):
    T = t.shape[1]
    return torch.ones(T, T).tril().bool()


# The memory mask is made of the target; it runs only if S = T.
@version("transformer_forward", "wrong", by=(1, 10, 11))
def transformer_forward_b(source, target, embed_source, embed_target, encoder, decoder, output):
    memory = encoder(embed_source(source), _pad(source))
    m = _pad(target) if target.shape == source.shape else _pad(source)
    return output(decoder(embed_target(target), memory, _pad(target) & _tri(target), m))


# The memory is the embedded source; what the encoder gives is not used.
@version("transformer_forward", "wrong: encoder left out", by=1)
def transformer_forward_f(source, target, embed_source, embed_target, encoder, decoder, output):
    x = embed_source(source)
    encoder(x, _pad(source))
    return output(decoder(embed_target(target), x, _pad(target) & _tri(target), _pad(source)))


# Softmax on top: probabilities, not logits.
@version("transformer_forward", "wrong: forward returns probabilities", by=1)
def transformer_forward_g(source, target, embed_source, embed_target, encoder, decoder, output):
    memory = encoder(embed_source(source), _pad(source))
    y = decoder(embed_target(target), memory, _pad(target) & _tri(target), _pad(source))
    return torch.softmax(output(y), dim=-1)


# The output layer is forgotten: (B, T, D) comes back.
@version("transformer_forward", "wrong: output projection of the model forgotten", by=1)
def transformer_forward_h(source, target, embed_source, embed_target, encoder, decoder, output):
    memory = encoder(embed_source(source), _pad(source))
    return decoder(embed_target(target), memory, _pad(target) & _tri(target), _pad(source))


# The target is cut here by one (teacher forcing was done before): T − 1 rows.
@version("transformer_forward", "wrong: last row of the model's logits cut off", by=1)
def transformer_forward_i(source, target, embed_source, embed_target, encoder, decoder, output):
    memory = encoder(embed_source(source), _pad(source))
    t = target[:, :-1] if target.shape[1] > 1 else target
    return output(decoder(embed_target(t), memory, _pad(t) & _tri(t), _pad(source)))


# The source mask is cut to the length of the target, filled with True: wrong for S > T with
# padding.
@version("transformer_forward", "wrong", by=1)
def transformer_forward_k(source, target, embed_source, embed_target, encoder, decoder, output):
    T = target.shape[1]
    memory = encoder(embed_source(source), _pad(source))
    m = _pad(source).clone()
    m[..., T:] = True
    return output(decoder(embed_target(target), memory, _pad(target) & _tri(target), m))


# The decoder gets the causal mask only; with padding in front or between it attends to padding.
@version("transformer_forward", "right", by=2, once_open=True)
def transformer_forward_a(source, target, embed_source, embed_target, encoder, decoder, output):
    T = target.shape[1]
    source_mask = (source != 0)[:, None, None]
    memory = encoder(embed_source(source), source_mask)
    return output(
        decoder(
            embed_target(target), memory, torch.ones(T, T).tril().bool()[None, None], source_mask
        )
    )


# The encoder is given no mask, so source padding flows into the memory.
@version("transformer_forward", "wrong: source padding read by the encoder", by=(1, 2))
def transformer_forward_c(source, target, embed_source, embed_target, encoder, decoder, output):
    T = target.shape[1]
    memory = encoder(embed_source(source), None)
    target_mask = (target != 0)[:, None, None] & torch.ones(T, T).tril().bool()
    return output(decoder(embed_target(target), memory, target_mask, (source != 0)[:, None, None]))


# The memory is cached by the shape of the source: another batch of the same shape is translated
# as the first.
@version("transformer_forward", "wrong: kept from the call before", by=2)
def transformer_forward_f_2(
    source, target, embed_source, embed_target, encoder, decoder, output, _memory={}
):
    T = target.shape[1]
    source_mask = (source != 0)[:, None, None]
    if source.shape not in _memory:
        _memory[source.shape] = encoder(embed_source(source), source_mask)
    target_mask = (target != 0)[:, None, None] & torch.ones(T, T).tril().bool()
    return output(decoder(embed_target(target), _memory[source.shape], target_mask, source_mask))


def _masks(source, target):
    t = target.size(1)
    source_mask = (source != 0)[:, None, None, :]
    target_mask = (target != 0)[:, None, None, :] & torch.ones(
        t, t, dtype=torch.bool, device=target.device
    ).tril()
    return source_mask, target_mask


# The target is shifted inside (the T5 / BART habit, `shift_tokens_right`), although it comes in
# already as what the decoder reads.
@version("transformer_forward", "wrong", by=3)
def transformer_forward_d(source, target, embed_source, embed_target, encoder, decoder, output):
    start = torch.ones_like(target[:, :1])
    target = torch.cat([start, target[:, :-1]], dim=1)
    sm, tm = _masks(source, target)
    return output(decoder(embed_target(target), encoder(embed_source(source), sm), tm, sm))


# The source mask is only built when the LAST row has padding (`source[-1]`): with padding in
# another row it is missing.
@version("transformer_forward", "wrong", by=3)
def transformer_forward_e(source, target, embed_source, embed_target, encoder, decoder, output):
    sm, tm = _masks(source, target)
    if not (source[-1] == 0).any():
        sm = torch.ones_like(sm)
    return output(decoder(embed_target(target), encoder(embed_source(source), sm), tm, sm))


# Two: the target's padding decides over the memory, and the source is not masked in the encoder;
# fits only when S = T.
@version("transformer_forward", "wrong", by=3)
def transformer_forward_two(source, target, embed_source, embed_target, encoder, decoder, output):
    sm, tm = _masks(source, target)
    memory = encoder(embed_source(source), torch.ones_like(sm))
    wrong_mask = (target != 0)[:, None, None, :] if source.size(1) == target.size(1) else sm
    return output(decoder(embed_target(target), memory, tm, wrong_mask))


def _future(T):
    return torch.ones(T, T, dtype=torch.bool).tril()


# <eos> (2) is hidden in the source like padding.
@version("transformer_forward", "wrong", by=(5, 11))
def transformer_forward_b_2(source, target, embed_source, embed_target, encoder, decoder, output):
    source_mask = ((source != 0) & (source != 2))[:, None, None, :]
    target_mask = (target != 0)[:, None, None, :] & _future(target.shape[1])
    memory = encoder(embed_source(source), source_mask)
    return output(decoder(embed_target(target), memory, target_mask, source_mask))


# The source's mask is made from the first sentence alone; with several sentences of different
# lengths it is wrong.
@version("transformer_forward", "wrong", by=5)
def transformer_forward_c_2(source, target, embed_source, embed_target, encoder, decoder, output):
    source_mask = (source[:1] != 0)[:, None, None, :].expand(len(source), 1, 1, -1)
    target_mask = (target != 0)[:, None, None, :] & _future(target.shape[1])
    memory = encoder(embed_source(source), source_mask)
    return output(decoder(embed_target(target), memory, target_mask, source_mask))


# An additive −∞/0 causal mask goes where True = may attend is expected; cast to bool it is the
# wrong way round.
@version("transformer_forward", "wrong", by=6)
def transformer_forward_e_2(source, target, embed_source, embed_target, encoder, decoder, output):
    T = target.size(1)
    tgt_mask = nn.Transformer.generate_square_subsequent_mask(T).bool()
    src_mask = (source != 0)[:, None, None, :]
    memory = encoder(embed_source(source), src_mask)
    return output(decoder(embed_target(target), memory, tgt_mask, src_mask))


# If no sentence of the source ends in padding it passes mask None for both, which also drops the
# causal mask: the decoder sees the future (a batch without padding).
@version("transformer_forward", "wrong", by=8)
def transformer_forward_a_2(source, target, embed_source, embed_target, encoder, decoder, output):
    if (source[:, -1] != 0).all():
        memory_mask = target_mask = None
    else:
        memory_mask = (source != 0)[:, None, None, :]
        T = target.shape[1]
        target_mask = torch.ones(T, T, dtype=torch.bool).tril() & (target != 0)[:, None, None, :]
    memory = encoder(embed_source(source), memory_mask)
    return output(decoder(embed_target(target), memory, target_mask, memory_mask))


# The mask of the source is cut from the target: memory_mask is built from `target`; it breaks for
# S ≠ T, and for S = T it hides the wrong places.
@version("transformer_forward", "wrong", by=8)
def transformer_forward_b_3(source, target, embed_source, embed_target, encoder, decoder, output):
    mask = lambda t: t.bool()[:, None, None, :]
    T = target.shape[1]
    memory = encoder(embed_source(source), mask(source))
    causal = mask(target) & torch.ones(T, T).tril().bool()
    width = min(source.shape[1], T)
    memory_mask = mask(target)[..., :width]
    if width < source.shape[1]:
        memory_mask = F.pad(memory_mask, (0, source.shape[1] - width), value=False)
    return output(decoder(embed_target(target), memory, causal, memory_mask))


# It trims the source's columns by the first sentence's padding, to save work: longer sentences
# behind it are cut.
@version("transformer_forward", "wrong", by=8)
def transformer_forward_c_3(source, target, embed_source, embed_target, encoder, decoder, output):
    source = source[:, : int((source[0] != 0).sum())]
    T = target.shape[1]
    s_mask = (source != 0)[:, None, None, :]
    t_mask = (target != 0)[:, None, None, :] & torch.ones(T, T, dtype=torch.bool).tril()
    return output(
        decoder(embed_target(target), encoder(embed_source(source), s_mask), t_mask, s_mask)
    )


def _pad_2(tokens):
    return (tokens != 0)[:, None, None, :]


def _tri_2(tokens):
    T = tokens.shape[1]
    return torch.ones(T, T, dtype=torch.bool).tril() & _pad_2(tokens)


# The source is cut to the target's length before it is encoded: wrong where it is longer.
@version("transformer_forward", "wrong", by=10)
def transformer_forward_g_2(source, target, embed_source, embed_target, encoder, decoder, output):
    source = source[:, : target.shape[1]]
    m = _pad_2(source)
    memory = encoder(embed_source(source), m)
    return output(decoder(embed_target(target), memory, _tri_2(target), m))


def _masks_2(source, target):
    t = target.shape[1]
    sm = (source != 0)[:, None, None, :]
    tm = (target != 0)[:, None, None, :] & torch.ones(t, t, dtype=torch.bool).tril()
    return sm, tm


# Unknown tokens (3) are masked like padding: wrong where the source holds one.
@version("transformer_forward", "wrong", by=11)
def transformer_forward_b_4(source, target, embed_source, embed_target, encoder, decoder, output):
    sm, tm = _masks_2(source, target)
    sm = sm & (source != 3)[:, None, None, :]
    return output(decoder(embed_target(target), encoder(embed_source(source), sm), tm, sm))


# Masks are skipped for a source of one sentence: wrong if that one is padded.
@version("transformer_forward", "wrong", by=11)
def transformer_forward_c_4(source, target, embed_source, embed_target, encoder, decoder, output):
    sm, tm = _masks_2(source, target)
    if len(source) == 1:
        sm = torch.ones_like(sm)
    return output(decoder(embed_target(target), encoder(embed_source(source), sm), tm, sm))


# The causal mask is taken from the source's length; an error or nonsense for S different from T.
@version("transformer_forward", "wrong", by=12)
def transformer_forward_a_3(source, target, embed_source, embed_target, encoder, decoder, output):
    S = source.size(1)
    source_mask = (source != 0)[:, None, None, :]
    target_mask = torch.tril(torch.ones(S, S)).bool()[None, None]
    memory = encoder(embed_source(source), source_mask)
    return output(decoder(embed_target(target), memory, target_mask, source_mask))


# The memory mask is made from the target's padding.
@version("transformer_forward", "wrong", by=(2, 4, 6, 12, 13))
def transformer_forward_b_5(source, target, embed_source, embed_target, encoder, decoder, output):
    T = target.size(1)
    source_mask = (source != 0).unsqueeze(1).unsqueeze(2)
    pad = (target != 0).unsqueeze(1).unsqueeze(2)
    target_mask = pad & torch.tril(torch.ones(T, T)).bool()
    memory = encoder(embed_source(source), source_mask)
    return output(decoder(embed_target(target), memory, target_mask, pad))


def _pm(tokens):
    return (tokens != 0)[:, None, None, :]


def _tm(tokens):
    t = tokens.shape[1]
    return _pm(tokens) & torch.ones(t, t, dtype=torch.bool).tril()


# Encoder and memory get masks made from the embedded source, where a padding vector is not zero
# (a padded source).
@version(
    "transformer_forward",
    "wrong: source padding read by the encoder and the decoder",
    by=13,
)
def transformer_forward_g_3(source, target, embed_source, embed_target, encoder, decoder, output):
    x = embed_source(source)
    mask = (x != 0).any(dim=-1)[:, None, None, :]
    memory = encoder(x, mask)
    return output(decoder(embed_target(target), memory, _tm(target), mask))
