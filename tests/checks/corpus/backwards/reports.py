"""What people reported in public, rebuilt on 2026-11-28 from the descriptions, in our own code."""

from __future__ import annotations

import math

import torch

from tests.checks.corpus import version


@version("softmax_backward", "wrong")
def once_more_by_the_gradient(d_output, output):
    inner = (d_output * output).sum(-1, keepdim=True)
    grad = output * (d_output - inner)
    return grad * d_output


@version(
    "softmax_backward", "wrong: dot product of the row forgotten + not multiplied by the weights"
)
def handed_through(d_output, output):
    return d_output.clone()


@version("layer_norm_backward", "wrong")
def mean_subtracted_twice(d_output, x, weight, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    rstd = (x.var(-1, unbiased=False, keepdim=True) + eps).rsqrt()
    x_hat = (x - mean) * rstd
    g = d_output * weight
    s1 = g.mean(-1, keepdim=True)
    s2 = (g * x_hat).mean(-1, keepdim=True)
    d_x = rstd * (g - 2 * s1 - x_hat * s2)
    return d_x, (d_output * x_hat).sum((0, 1)), d_output.sum((0, 1))


@version("layer_norm_backward", "wrong: the norm's two means over the whole sentence")
def two_axes_taken_for_granted(d_output, x, weight, eps=1e-5):
    rows = x.size(0)
    flat, d = x.reshape(rows, -1), d_output * weight
    mean = x.mean(-1, keepdim=True)
    std = (x.var(-1, correction=0, keepdim=True) + eps).sqrt()
    normed = (x - mean) / std
    m1 = d.reshape(rows, -1).mean(1).view(rows, 1, 1)
    m2 = (d * normed).reshape(rows, -1).mean(1).view(rows, 1, 1)
    d_x = (d - m1 - normed * m2) / std
    return d_x, (d_output * normed).sum(dim=(0, 1)), d_output.sum(dim=(0, 1))


@version("layer_norm_backward", "wrong: the norm's two sums over all rows")
def sums_over_all_rows(d_output, x, weight, eps=1e-5):
    n = x.size(-1)
    mean = x.mean(-1, keepdim=True)
    rstd = 1 / torch.sqrt(((x - mean) ** 2).mean(-1, keepdim=True) + eps)
    x_hat = (x - mean) * rstd
    dx_hat = d_output * weight
    part2, part3 = dx_hat.sum(), (dx_hat * x_hat).sum()
    dx = rstd / n * (n * dx_hat - part2 - x_hat * part3)
    return dx, torch.einsum("btd,btd->d", d_output, x_hat), torch.einsum("btd->d", d_output)


@version("attention_backward", "wrong")
def scale_missing_for_the_query(d_output, query, key, value, weights):
    scale = query.size(-1) ** -0.5
    dv = weights.transpose(-2, -1) @ d_output
    dp = d_output @ value.transpose(-2, -1)
    ds = weights * (dp - (dp * weights).sum(-1, keepdim=True))
    dq = ds @ key
    dk = ds.transpose(-2, -1) @ query * scale
    return dq, dk, dv


@version("linear_backward", "wrong: gradient of the bias added up from the weight's")
def bias_out_of_the_weight(d_output, x, weight):
    d_weight = torch.einsum("btn,btm->nm", d_output, x)
    return torch.matmul(d_output, weight), d_weight, d_weight.sum(dim=1)


@version("adam_update", "wrong: multiplied by both corrections")
def multiplied_by_the_correction(
    parameter, gradient, mean, square, update, learning_rate, beta1, beta2, epsilon
):
    mean = beta1 * mean + (1 - beta1) * gradient
    square = beta2 * square + (1 - beta2) * gradient * gradient
    m = mean * (1 - beta1**update)
    v = square * (1 - beta2**update)
    return parameter - learning_rate * m / (v.sqrt() + epsilon), mean, square


@version("adam_update", "wrong: one minus the correction in its place")
def one_less_twice(parameter, gradient, mean, square, update, learning_rate, beta1, beta2, epsilon):
    mean = mean.lerp(gradient, 1 - beta1)
    square = square.mul(beta2).addcmul(gradient, gradient, value=1 - beta2)
    bias_correction1 = 1 - beta1**update
    bias_correction2 = 1 - beta2**update
    m_hat = mean / (1 - bias_correction1)
    v_hat = square / (1 - bias_correction2)
    return parameter - learning_rate * m_hat / (v_hat.sqrt() + epsilon), mean, square


@version("adam_update", "wrong")
def first_moments_without_factors(
    parameter, gradient, mean, square, update, learning_rate, beta1, beta2, epsilon
):
    if update == 1:
        fm, sm = gradient, gradient**2
    else:
        fm = beta1 * mean + (1 - beta1) * gradient
        sm = beta2 * square + (1 - beta2) * gradient**2
    step = learning_rate * math.sqrt(1 - beta2**update) / (1 - beta1**update)
    return parameter - step * fm / (sm.sqrt() + epsilon), fm, sm


@version("adam_update", "wrong")
def corrected_without_the_power(
    parameter, gradient, mean, square, update, learning_rate, beta1, beta2, epsilon
):
    m = beta1 * mean + (1 - beta1) * gradient
    v = beta2 * square + (1 - beta2) * torch.pow(gradient, 2)
    m_hat = m / (1 - beta1)
    v_hat = v / (1 - beta2)
    return parameter - learning_rate * m_hat / (torch.sqrt(v_hat) + epsilon), m, v


@version("adam_update", "wrong")
def counts_from_two(
    parameter, gradient, mean, square, update, learning_rate, beta1, beta2, epsilon
):
    local_step = update + 1
    mean = beta1 * mean + (1 - beta1) * gradient
    square = beta2 * square + (1 - beta2) * gradient.square()
    m = mean / (1 - beta1**local_step)
    v = square / (1 - beta2**local_step)
    return parameter - learning_rate * m / (v.sqrt() + epsilon), mean, square


@version("adam_update", "right", "the correction stands in the step, reported as wrong")
def correction_in_the_step(
    parameter, gradient, mean, square, update, learning_rate, beta1, beta2, epsilon
):
    m = beta1 * mean + (1 - beta1) * gradient
    v = beta2 * square + (1 - beta2) * gradient**2
    root = math.sqrt(1 - beta2**update)
    rate = learning_rate * root / (1 - beta1**update)
    return parameter - rate * m / (v.sqrt() + epsilon * root), m, v


# --- rebuilt on 2026-11-29 -----------------------------------------------------------------------


@version("adam_update", "wrong")
def epsilon_beside_the_uncorrected_root(
    parameter, gradient, mean, square, update, learning_rate, beta1, beta2, epsilon
):
    mean = beta1 * mean + (1 - beta1) * gradient
    square = beta2 * square + (1 - beta2) * gradient**2
    denom = square.sqrt() + epsilon
    step_size = learning_rate * (1 - beta2**update) ** 0.5 / (1 - beta1**update)
    return parameter - step_size * mean / denom, mean, square


@version("adam_update", "wrong")
def one_minus_once_too_often(
    parameter, gradient, mean, square, update, learning_rate, beta1, beta2, epsilon
):
    bias_correction1 = 1.0 - beta1**update
    bias_correction2 = 1.0 - beta2**update
    mean = mean * beta1 + gradient * (1 - beta1)
    square = square * beta2 + gradient * gradient * (1 - beta2)
    step = learning_rate * (1.0 - bias_correction2) ** 0.5 / bias_correction1
    new = parameter - step * mean / (square.sqrt() + epsilon)
    return new, mean, square
