"""What people reported in public, rebuilt on 2026-11-28 to 30 from descriptions, in our own code."""

from __future__ import annotations

import math

import numpy as np
import torch
import torch.nn.functional as F

from tests.checks.corpus import version


@version("softmax_backward", "wrong")
def once_more_by_the_gradient(d_output, output):
    inner = (d_output * output).sum(-1, keepdim=True)
    grad = output * (d_output - inner)
    return grad * d_output


@version("softmax_backward", "wrong")
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


@version("adam_update", "wrong: ε beside the uncorrected root")
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


@version("adam_update", "wrong")
def epsilon_taken_off_the_root(
    parameter, gradient, mean, square, update, learning_rate, beta1, beta2, epsilon
):
    m = mean + (gradient - mean) * (1 - beta1)
    v = square + (gradient * gradient - square) * (1 - beta2)
    m_hat = m / (1 - beta1**update)
    v_hat = v / (1 - beta2**update)
    return parameter - learning_rate * m_hat / (v_hat.sqrt() - epsilon), m, v


@version("adam_update", "wrong")
def squares_corrected_by_the_second_power(
    parameter, gradient, mean, square, update, learning_rate, beta1, beta2, epsilon
):
    m = beta1 * mean + (1 - beta1) * gradient
    v = beta2 * square + (1 - beta2) * gradient * gradient
    m_hat = m / (1 - beta1**update)
    v_hat = v / (1 - beta2**2)
    return parameter - learning_rate * m_hat / (v_hat.sqrt() + epsilon), m, v


@version("adam_update", "wrong")
def corrected_means_given_back(
    parameter, gradient, mean, square, update, learning_rate, beta1, beta2, epsilon
):
    exp_avg = mean.clone().mul_(beta1).add_(gradient, alpha=1 - beta1)
    exp_avg_sq = square.clone().mul_(beta2).addcmul_(gradient, gradient, value=1 - beta2)
    exp_avg.div_(1 - beta1**update)
    exp_avg_sq.div_(1 - beta2**update)
    new = parameter - learning_rate * exp_avg / exp_avg_sq.sqrt().add(epsilon)
    return new, exp_avg, exp_avg_sq


@version(
    "adam_update",
    "wrong: neither mean corrected for its start at zero",
)
def no_correction_of_either_mean(
    parameter, gradient, mean, square, update, learning_rate, beta1, beta2, epsilon
):
    new_m = beta1 * mean + (1 - beta1) * gradient
    new_v = beta2 * square + (1 - beta2) * gradient.square()
    new_parameter = parameter - learning_rate * new_m / (new_v.sqrt() + epsilon)
    return new_parameter, new_m, new_v


@version("attention_backward", "wrong")
def keys_without_the_transpose(d_output, query, key, value, weights):
    scale = query.size(-1) ** -0.5
    d_value = weights.transpose(-1, -2) @ d_output
    d_weights = d_output @ value.transpose(-1, -2)
    d_scores = weights * (d_weights - (d_weights * weights).sum(-1, keepdim=True))
    d_query = scale * d_scores @ key
    d_key = scale * d_scores @ query
    return d_query, d_key, d_value


@version("cross_entropy_backward", "wrong")
def over_the_sentences_too(logits, target, smoothing=0.0):
    v = logits.size(-1)
    real = (target != 0).unsqueeze(-1)
    q = torch.full_like(logits, smoothing / v)
    q.scatter_add_(-1, target.unsqueeze(-1), torch.full_like(q, 1 - smoothing))
    grad = (logits.softmax(-1) - q) * real
    grad = grad / real.sum()
    return grad / logits.size(0)


@version("cross_entropy_backward", "wrong")
def softmax_of_padding_stays(logits, target, smoothing=0.0):
    V = logits.size(-1)
    real = (target != 0).float().unsqueeze(-1)
    onehot = torch.nn.functional.one_hot(target, V).float()
    dist = ((1 - smoothing) * onehot + smoothing / V) * real
    return (torch.softmax(logits, -1) - dist) / real.sum()


@version("cross_entropy_backward", "wrong")
def target_added(logits, target, smoothing=0.0):
    probs = logits.softmax(-1)
    q = torch.full_like(probs, smoothing / probs.size(-1))
    q.scatter_add_(-1, target[..., None], torch.full_like(probs[..., :1], 1 - smoothing))
    mask = (target != 0)[..., None]
    return (probs + q) * mask / mask.sum()


@version("cross_entropy_backward", "wrong")
def with_respect_to_probabilities(logits, target, smoothing=0.0):
    p = logits.softmax(-1)
    V = p.size(-1)
    y = (1 - smoothing) * F.one_hot(target, V) + smoothing / V
    ret = -y / p
    real = (target != 0).unsqueeze(-1)
    return ret * real / real.sum()


@version("linear_backward", "wrong")
def bias_summed_over_all(d_output, x, weight):
    d_x = d_output @ weight
    d_weight = torch.einsum("btn,btm->nm", d_output, x)
    d_bias = torch.sum(d_output).expand(weight.size(0))
    return d_x, d_weight, d_bias


@version("linear_backward", "wrong")
def bias_not_summed(d_output, x, weight):
    n = weight.shape[0]
    error = d_output.reshape(-1, n)
    return d_output.matmul(weight), error.t() @ x.reshape(-1, x.shape[-1]), error


@version("linear_backward", "wrong")
def gradient_where_the_weight_belongs(d_output, x, weight):
    flat_d = d_output.flatten(0, 1)
    grad_w = flat_d.T @ x.flatten(0, 1)
    grad_x = d_output @ grad_w
    return grad_x, grad_w, flat_d.sum(0)


@version("attention_backward", "wrong")
def scale_of_the_padded_width(d_output, query, key, value, weights):
    K = query.shape[-1]
    padded = (K + 15) // 16 * 16
    scale = 1 / padded**0.5
    d_value = weights.transpose(-2, -1) @ d_output
    d_weights = d_output @ value.transpose(-2, -1)
    d_scores = weights * (d_weights - (weights * d_weights).sum(-1, keepdim=True))
    d_query = d_scores @ key * scale
    d_key = d_scores.transpose(-2, -1) @ query * scale
    return d_query, d_key, d_value


@version("layer_norm_backward", "wrong")
def weight_and_bias_in_each_others_place(d_output, x, weight, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    rstd = 1 / torch.sqrt(x.var(-1, unbiased=False, keepdim=True) + eps)
    x_hat = (x - mean) * rstd
    g = d_output * weight
    d_x = rstd * (g - g.mean(-1, keepdim=True) - x_hat * (g * x_hat).mean(-1, keepdim=True))
    d_gamma = (d_output * x_hat).sum(dim=(0, 1))
    d_beta = d_output.sum(dim=(0, 1))
    return d_x, d_beta, d_gamma


@version("linear_backward", "wrong")
def weight_transposed_once_more(d_output, x, weight):
    d_x = torch.matmul(d_output, weight.t())
    d_weight = torch.einsum("btn,btm->nm", d_output, x)
    d_bias = d_output.sum(dim=(0, 1))
    return d_x, d_weight, d_bias


@version("adam_update", "wrong: both decay rates the wrong way round")
def both_decay_rates_turned_round(
    parameter, gradient, mean, square, update, learning_rate, beta1, beta2, epsilon
):
    mean = (1 - beta1) * mean + beta1 * gradient
    square = (1 - beta2) * square + beta2 * gradient**2
    m = mean / (1 - beta1**update)
    s = square / (1 - beta2**update)
    parameter = parameter - learning_rate * m / (s.sqrt() + epsilon)
    return parameter, mean, square


@version("cross_entropy_backward", "wrong")
def over_a_sentence_too(logits, target, smoothing=0.0):
    B, T, V = logits.shape
    probs = torch.exp(logits - logits.logsumexp(dim=-1, keepdim=True))
    q = torch.full_like(probs, smoothing / V)
    q[torch.arange(B)[:, None], torch.arange(T), target] += 1 - smoothing
    valid = target != 0
    grad = (probs - q) * valid[..., None]
    return grad / T / valid.sum()


@version("attention_backward", "wrong")
def unscaled_gradient_of_the_key(d_output, query, key, value, weights):
    softmax_scale = query.size(-1) ** -0.5
    d_value = weights.transpose(1, 2) @ d_output
    d_weights = d_output @ value.transpose(1, 2)
    row = (weights * d_weights).sum(-1, keepdim=True)
    d_scores = weights * (d_weights - row)
    d_query = d_scores @ key * softmax_scale
    d_key = d_scores.transpose(1, 2) @ query
    return d_query, d_key, d_value


@version("layer_norm_backward", "wrong")
def weight_of_the_position(d_output, x, weight, eps=1e-5):
    mu = x.mean(-1, keepdim=True)
    rstd = torch.rsqrt(((x - mu) ** 2).mean(-1, keepdim=True) + eps)
    x_hat = (x - mu) * rstd
    pos = torch.arange(x.size(1)) % weight.numel()
    gamma = weight[pos].view(1, -1, 1)
    g = d_output * gamma
    d_x = rstd * (g - g.mean(-1, keepdim=True) - x_hat * (g * x_hat).mean(-1, keepdim=True))
    return d_x, (d_output * x_hat).sum((0, 1)), d_output.sum((0, 1))


@version("linear_backward", "wrong: gradients of the parameters averaged over the sentences")
def mean_over_the_sentences(d_output, x, weight):
    batch = x.shape[0]
    d_x = d_output @ weight
    flat_d = d_output.reshape(-1, d_output.shape[-1])
    flat_x = x.reshape(-1, x.shape[-1])
    d_weight = flat_d.T @ flat_x / batch
    d_bias = flat_d.sum(0) / batch
    return d_x, d_weight, d_bias


@version("linear_backward", "wrong")
def output_in_place_of_the_gradient(d_output, x, weight):
    out = x @ weight.T
    d_x = out @ weight
    d_weight = torch.einsum("btn,btm->nm", out, x)
    d_bias = d_output.sum((0, 1))
    return d_x, d_weight, d_bias


@version("softmax_backward", "wrong", instance=True)
class probability_less_one:
    def gradient(self, x, p):
        return x * (p - 1)

    def __call__(self, d_output, output):
        return self.gradient(d_output, output)


@version("adam_update", "wrong")
def counted_from_update_zero(
    parameter, gradient, mean, square, update, learning_rate, beta1, beta2, epsilon
):
    iteration = update - 1
    mean = mean * beta1 + gradient * (1 - beta1)
    square = square * beta2 + gradient.square() * (1 - beta2)
    corrected_mean = mean / (1 - beta1**iteration)
    corrected_square = square / (1 - beta2**iteration)
    new = parameter - learning_rate * corrected_mean / (torch.sqrt(corrected_square) + epsilon)
    return new, mean, square


@version("attention_backward", "wrong")
def exponential_alone_on_the_way_back(d_output, query, key, value, weights):
    scale = 1.0 / np.sqrt(query.shape[2])
    e = torch.exp(torch.bmm(query, key.transpose(1, 2)) * scale)
    d_value = torch.bmm(weights.transpose(1, 2), d_output)
    d_weights = torch.bmm(d_output, value.transpose(1, 2))
    d_scores = torch.mul(d_weights, e) * scale
    d_query = torch.bmm(d_scores, key)
    d_key = torch.bmm(d_scores.transpose(1, 2), query)
    return d_query, d_key, d_value


@version(
    "cross_entropy_backward", "wrong: padding gets a gradient + divided by all tokens, padding too"
)
def ignored_label_minus_one(logits, target, smoothing=0.0):
    B, T, V = logits.shape
    d = torch.softmax(logits.reshape(B * T, V), dim=1)
    t = target.reshape(-1)
    d = d - smoothing / V
    d[torch.arange(B * T), t] -= 1 - smoothing
    ignored = t == -1
    d[ignored] = 0
    d = d / (~ignored).sum()
    return d.reshape(B, T, V)


@version("layer_norm_backward", "wrong")
def inverse_deviation_inverted_again(d_output, x, weight, eps=1e-5):
    mu = x.mean(dim=-1, keepdim=True)
    saved = torch.rsqrt(((x - mu) ** 2).mean(dim=-1, keepdim=True) + eps)
    inv_std = torch.rsqrt(saved + eps)
    x_hat = (x - mu) * inv_std
    d_bias = d_output.flatten(0, 1).sum(0)
    d_weight = (d_output * x_hat).flatten(0, 1).sum(0)
    g = d_output * weight
    D = x.shape[-1]
    d_x = (
        inv_std / D * (D * g - g.sum(-1, keepdim=True) - x_hat * (g * x_hat).sum(-1, keepdim=True))
    )
    return d_x, d_weight, d_bias


@version("softmax_backward", "wrong")
def jacobian_and_its_transpose_added(d_output, output):
    jac = torch.diag_embed(output) - output.unsqueeze(-1) * output.unsqueeze(-2)
    jac = jac + jac.transpose(-1, -2)
    return torch.einsum("...ij,...j->...i", jac, d_output)


@version("softmax_backward", "wrong")
def gradient_added_to_the_probabilities(d_output, output):
    grad = torch.empty_like(output)
    grad.copy_(output)
    grad += d_output
    return grad


@version("adam_update", "wrong")
def times_the_root_of_the_square(
    parameter, gradient, mean, square, update, learning_rate, beta1, beta2, epsilon
):
    new_mean = torch.lerp(gradient, mean, beta1)
    new_square = torch.lerp(gradient.square(), square, beta2)
    rate = learning_rate / (1 - beta1**update)
    scale = (new_square / (1 - beta2**update)).sqrt() + epsilon
    return parameter - rate * new_mean * scale, new_mean, new_square


@version("attention_backward", "wrong")
def row_sums_without_the_last_row(d_output, query, key, value, weights):
    out = torch.einsum("bts,bsv->btv", weights, value)
    delta = torch.zeros(d_output.shape[:2])
    written = max(d_output.shape[1] - 1, 0)
    delta[:, :written] = (out * d_output)[:, :written].sum(-1)
    dv = torch.einsum("bts,btv->bsv", weights, d_output)
    dw = torch.einsum("btv,bsv->bts", d_output, value)
    ds = weights * (dw - delta[..., None]) / math.sqrt(query.shape[-1])
    dq = torch.einsum("bts,bsk->btk", ds, key)
    dk = torch.einsum("bts,btk->bsk", ds, query)
    return dq, dk, dv


@version("cross_entropy_backward", "wrong")
def padding_keeps_its_smoothing(logits, target, smoothing=0.0):
    V = logits.size(-1)
    real = (target != 0).unsqueeze(-1)
    p = torch.softmax(logits, dim=-1)
    hot = torch.zeros_like(p).scatter_(-1, target.unsqueeze(-1), 1.0)
    grad = (p - (1 - smoothing) * hot) * real
    grad = grad - smoothing / V
    return grad / real.sum()


@version("layer_norm_backward", "wrong")
def weight_in_place_of_the_normalised(d_output, x, weight, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    rstd = torch.rsqrt(x.var(-1, unbiased=False, keepdim=True) + eps)
    hat = (x - mean) * rstd
    g = d_output * weight
    dx = rstd * (g - g.mean(-1, keepdim=True) - hat * (g * hat).mean(-1, keepdim=True))
    d_weight = (d_output * weight).sum(dim=(0, 1))
    return dx, d_weight, d_output.sum(dim=(0, 1))


@version("layer_norm_backward", "wrong")
def nothing_for_weight_and_bias(d_output, x, weight, eps=1e-5):
    mu = x.mean(-1, keepdim=True)
    sigma = ((x - mu).square().mean(-1, keepdim=True) + eps).sqrt()
    z = (x - mu) / sigma
    dz = d_output * weight
    dx = (dz - dz.mean(-1, keepdim=True) - z * (dz * z).mean(-1, keepdim=True)) / sigma
    return dx, torch.zeros_like(weight), torch.zeros_like(weight)


@version("linear_backward", "wrong")
def divided_by_the_number_of_neurons(d_output, x, weight):
    N, M = weight.shape
    flat = d_output.reshape(-1, N)
    d_weight = flat.T @ x.reshape(-1, M) / N
    return d_output @ weight, d_weight, flat.sum(0)


@version("softmax_backward", "wrong: gradient of the log-softmax")
def formula_of_the_log_softmax(d_output, output):
    return d_output - output * d_output.sum(dim=-1, keepdim=True)


@version("tied_backward", "wrong")
def one_half_of_the_tied_gradient(d_vectors, tokens, d_logits, vectors):
    D = d_vectors.size(-1)
    V = d_logits.size(-1)
    table = torch.zeros(V, D)
    table.index_add_(0, tokens.reshape(-1), d_vectors.reshape(-1, D))
    head = d_logits.reshape(-1, V).T @ vectors.reshape(-1, D)
    return table + head / 2


@version("cross_entropy_backward", "wrong")
def wanted_times_probability_less_one(logits, target, smoothing=0.0):
    probs = logits.softmax(-1)
    V = probs.size(-1)
    wanted = torch.full_like(probs, smoothing / V)
    wanted.scatter_add_(2, target.unsqueeze(2), torch.full_like(probs[..., :1], 1 - smoothing))
    mask = target.ne(0).unsqueeze(2)
    return wanted * (probs - 1) * mask / mask.sum()


@version("layer_norm_backward", "wrong")
def blocks_that_overwrite_the_sum(d_output, x, weight, eps=1e-5):
    D = x.shape[-1]
    mean = x.mean(-1, keepdim=True)
    rstd = (x.var(-1, unbiased=False, keepdim=True) + eps).rsqrt()
    x_hat = (x - mean) * rstd
    g = d_output * weight
    sum_g = torch.zeros_like(mean)
    for start in range(0, D, 4):
        sum_g = g[..., start : start + 4].sum(-1, keepdim=True)
    sum_gx = (g * x_hat).sum(-1, keepdim=True)
    d_x = rstd * (g - sum_g / D - x_hat * sum_gx / D)
    d_weight = (d_output * x_hat).sum((0, 1))
    d_bias = d_output.sum((0, 1))
    return d_x, d_weight, d_bias


@version("layer_norm_backward", "wrong")
def variance_without_epsilon_on_the_way_back(d_output, x, weight, eps=1e-5):
    D = x.size(-1)
    centred = x - x.mean(dim=-1, keepdim=True)
    var = centred.pow(2).mean(dim=-1, keepdim=True)
    rstd = (var + eps) ** -0.5
    normed = centred * rstd
    d_normed = d_output * weight
    d_var = (d_normed * centred).sum(-1, keepdim=True) * -0.5 * var**-1.5
    d_centred = d_normed * rstd + d_var * 2 * centred / D
    d_x = d_centred - d_centred.mean(dim=-1, keepdim=True)
    return d_x, (d_output * normed).sum(dim=(0, 1)), d_output.sum(dim=(0, 1))


@version("linear_backward", "wrong")
def gradient_through_the_updated_weight(d_output, x, weight):
    d_weight = torch.einsum("btn,btm->nm", d_output, x)
    d_bias = d_output.sum(dim=(0, 1))
    weight = weight - 0.01 * d_weight
    d_x = torch.einsum("btn,nm->btm", d_output, weight)
    return d_x, d_weight, d_bias


@version("linear_backward", "wrong")
def weight_read_in_the_other_order(d_output, x, weight):
    N, M = weight.shape
    dy = d_output.reshape(-1, N)
    flat_x = x.reshape(-1, M)
    transposed = weight.contiguous().view(M, N)
    d_x = (dy @ transposed.T).reshape(x.shape)
    d_weight = dy.T @ flat_x
    d_bias = dy.sum(0)
    return d_x, d_weight, d_bias


def matmul_backward(dy, a):
    return dy.transpose(0, 1) @ a


@version("linear_backward", "wrong")
def first_sentence_alone_for_the_weight(d_output, x, weight):
    d_x = d_output @ weight
    d_weight = matmul_backward(d_output[0], x[0])
    d_bias = d_output.flatten(0, 1).sum(0)
    return d_x, d_weight, d_bias


_main_grad = {}


@version("tied_backward", "wrong: kept from the call before")
def buffer_never_cleared(d_vectors, tokens, d_logits, vectors):
    shape = (d_logits.shape[-1], d_vectors.shape[-1])
    if shape not in _main_grad:
        _main_grad[shape] = torch.zeros(shape, dtype=d_logits.dtype)
    buffer = _main_grad[shape]
    buffer += torch.einsum("nv,nd->vd", d_logits.flatten(0, -2), vectors.flatten(0, -2))
    buffer.index_add_(0, tokens.flatten(), d_vectors.flatten(0, -2))
    return buffer.clone()


@version("adam_update", "wrong", instance=True)
class own_count_of_steps:
    def __init__(self):
        self.count = 0

    def __call__(
        self, parameter, gradient, mean, square, update, learning_rate, beta1, beta2, epsilon
    ):
        self.count += 1
        m = beta1 * mean + (1 - beta1) * gradient
        v = beta2 * square + (1 - beta2) * gradient * gradient
        m_hat = m / (1 - beta1**self.count)
        v_hat = v / (1 - beta2**self.count)
        return parameter - learning_rate * m_hat / (v_hat.sqrt() + epsilon), m, v


@version("adam_update", "wrong")
def epsilon_behind_the_reciprocal(
    parameter, gradient, mean, square, update, learning_rate, beta1, beta2, epsilon
):
    exp_avg = torch.lerp(mean, gradient, 1 - beta1)
    exp_avg_sq = beta2 * square + (1 - beta2) * gradient**2
    inverse = torch.rsqrt(exp_avg_sq / (1 - beta2**update)) + epsilon
    new = parameter - learning_rate / (1 - beta1**update) * exp_avg * inverse
    return new, exp_avg, exp_avg_sq


@version("attention_backward", "wrong")
def scaled_twice_for_the_query(d_output, query, key, value, weights):
    scale = query.shape[-1] ** -0.5
    dV = weights.transpose(-2, -1) @ d_output
    dP = d_output @ value.transpose(-2, -1)
    row = (dP * weights).sum(-1, keepdim=True)
    dS = weights * (dP - row) * scale
    dQ = torch.einsum("bts,bsk->btk", dS, key) * scale
    dK = torch.einsum("bts,btk->bsk", dS, query)
    return dQ, dK, dV


@version("attention_backward", "wrong")
def first_features_of_the_values_alone(d_output, query, key, value, weights):
    head_dim = query.shape[-1]
    d_value = weights.mT @ d_output
    d_weights = d_output[..., :head_dim] @ value[..., :head_dim].mT
    delta = (weights * d_weights).sum(dim=-1, keepdim=True)
    d_scores = weights * (d_weights - delta) / math.sqrt(head_dim)
    return d_scores @ key, d_scores.mT @ query, d_value


@version("layer_norm_backward", "wrong")
def blocks_of_four_rows(d_output, x, weight, eps=1e-5):
    D = x.shape[-1]
    mean = x.mean(-1, keepdim=True)
    rstd = torch.rsqrt(x.var(-1, unbiased=False, keepdim=True) + eps)
    xhat = (x - mean) * rstd
    g = d_output * weight
    dx = rstd * (g - g.mean(-1, keepdim=True) - xhat * (g * xhat).mean(-1, keepdim=True))
    rows_g = d_output.reshape(-1, D)
    rows_x = xhat.reshape(-1, D)
    block = 4
    n_blocks = rows_g.shape[0] // block
    if n_blocks == 0:
        n_blocks = 1
    dw = torch.zeros(D, dtype=x.dtype)
    db = torch.zeros(D, dtype=x.dtype)
    for i in range(n_blocks):
        part = slice(i * block, (i + 1) * block)
        dw += (rows_g[part] * rows_x[part]).sum(0)
        db += rows_g[part].sum(0)
    return dx, dw, db


@version("layer_norm_backward", "wrong")
def written_into_the_gradient_of_the_output(d_output, x, weight, eps=1e-5):
    buffer = d_output.clone()
    var, mean = torch.var_mean(x, dim=-1, keepdim=True, unbiased=False)
    r = 1.0 / torch.sqrt(var + eps)
    normed = (x - mean) * r
    d_bias = buffer.sum(dim=(0, 1))
    buffer.mul_(weight)
    a = buffer.mean(dim=-1, keepdim=True)
    b = (buffer * normed).mean(dim=-1, keepdim=True)
    buffer.sub_(a).sub_(normed * b).mul_(r)
    d_weight = (buffer * normed).sum(dim=(0, 1))
    return buffer, d_weight, d_bias


@version("layer_norm_backward", "wrong")
def bias_gradient_from_the_input(d_output, x, weight, eps=1e-5):
    N = x.shape[-1]
    mu = x.mean(-1, keepdim=True)
    inv = (x.var(-1, unbiased=False, keepdim=True) + eps) ** -0.5
    xhat = (x - mu) * inv
    dgamma = (d_output * xhat).sum((0, 1))
    dbeta = x.sum((0, 1))
    dxhat = d_output * weight
    dx = (
        inv
        / N
        * (N * dxhat - dxhat.sum(-1, keepdim=True) - xhat * (dxhat * xhat).sum(-1, keepdim=True))
    )
    return dx, dgamma, dbeta


@version("linear_backward", "wrong")
def bias_gradient_added_to_itself(d_output, x, weight):
    B, T, N = d_output.shape
    dx = torch.zeros_like(x)
    dW = torch.zeros_like(weight)
    db = torch.zeros(N, dtype=weight.dtype)
    for t in reversed(range(T)):
        dy = d_output[:, t]
        dW += dy.T @ x[:, t]
        db += db
        dx[:, t] = dy @ weight
    return dx, dW, db


@version("softmax_backward", "wrong")
def output_minus_label(d_output, output):
    dz = output - d_output
    return dz


# --- rebuilt on 2026-11-30 ------------------------------------------------------------------------


@version("adam_update", "wrong")
def adam_bias_corrected_twice(
    parameter, gradient, mean, square, update, learning_rate, beta1, beta2, epsilon
):
    rate = learning_rate * math.sqrt(1 - beta2**update) / (1 - beta1**update)
    m = beta1 * mean + (1 - beta1) * gradient
    v = beta2 * square + (1 - beta2) * gradient**2
    m_hat = m / (1 - beta1**update)
    v_hat = v / (1 - beta2**update)
    return parameter - rate * m_hat / (torch.sqrt(v_hat) + epsilon), m, v


@version("adam_update", "wrong")
def adam_old_square_divided(
    parameter, gradient, mean, square, update, learning_rate, beta1, beta2, epsilon
):
    mean = mean.mul(beta1).add(gradient, alpha=1 - beta1)
    square = square.div(beta2).addcmul(gradient, gradient, value=1 - beta2)
    m = mean / (1 - beta1**update)
    v = square / (1 - beta2**update)
    return parameter - learning_rate * m / (v.sqrt() + epsilon), mean, square


@version("attention_backward", "wrong")
def gradient_that_comes_in_ignored(d_output, query, key, value, weights):
    scale = query.size(-1) ** -0.5
    grad = torch.ones_like(d_output)
    d_value = weights.transpose(-2, -1) @ grad
    d_weights = grad @ value.transpose(-2, -1)
    d_scores = weights * (d_weights - (d_weights * weights).sum(-1, keepdim=True))
    d_query = d_scores @ key * scale
    d_key = d_scores.transpose(-2, -1) @ query * scale
    return d_query, d_key, d_value


@version("cross_entropy_backward", "wrong")
def loss_gradient_through_bounded_p(logits, target, smoothing=0.0):
    V = logits.size(-1)
    p = torch.softmax(logits, dim=-1)
    t = F.one_hot(target, V).to(p.dtype) * (1 - smoothing) + smoothing / V
    d_p = -t / p.clamp(min=1e-7)
    d_logits = p * (d_p - (d_p * p).sum(-1, keepdim=True))
    real = target != 0
    return d_logits * real.unsqueeze(-1) / real.sum()


@version("layer_norm_backward", "wrong")
def blocks_of_four_overwrite(d_output, x, weight, eps=1e-5):
    D = x.shape[-1]
    mu = x.mean(-1, keepdim=True)
    rstd = 1 / torch.sqrt(((x - mu) ** 2).mean(-1, keepdim=True) + eps)
    x_hat = (x - mu) * rstd
    g = d_output * weight
    for start in range(0, D, 4):
        total = (g[..., start : start + 4] * x_hat[..., start : start + 4]).sum(-1, keepdim=True)
    dx = rstd * (g - g.mean(-1, keepdim=True) - x_hat * total / D)
    return dx, (d_output * x_hat).sum((0, 1)), d_output.sum((0, 1))


@version("layer_norm_backward", "wrong")
def memory_of_d_output_reused(d_output, x, weight, eps=1e-5):
    mean = x.mean(dim=-1, keepdim=True)
    inv = (x.var(dim=-1, unbiased=False, keepdim=True) + eps).rsqrt()
    normed = (x - mean) * inv
    d_weight = (d_output * normed).sum(dim=(0, 1))
    d_bias = d_output.sum(dim=(0, 1))
    m1 = (d_output * weight).mean(-1, keepdim=True)
    m2 = (d_output * weight * normed).mean(-1, keepdim=True)
    dx = d_output
    dx.copy_(normed)
    dx.mul_(-m2)
    dx.sub_(m1)
    dx.add_(d_output * weight)
    dx.mul_(inv)
    return dx, d_weight, d_bias


@version("layer_norm_backward", "wrong")
def correction_without_its_axis(d_output, x, weight, eps=1e-5):
    D = x.size(-1)
    rows, dy = x.reshape(-1, D), d_output.reshape(-1, D)
    mean = rows.mean(1, keepdim=True)
    rstd = torch.rsqrt(rows.var(1, unbiased=False, keepdim=True) + eps)
    x_hat = (rows - mean) * rstd
    g = dy * weight
    correction = (g * x_hat).sum(1) / D
    dx = rstd * (g - g.mean(1, keepdim=True) - x_hat * correction)
    return dx.view_as(x), (dy * x_hat).sum(0), dy.sum(0)


@version("linear_backward", "wrong")
def gradient_with_the_updated_weight(d_output, x, weight, lr=0.01):
    N, M = weight.shape
    dy, rows = d_output.reshape(-1, N), x.reshape(-1, M)
    dx = dy @ weight
    dw = dy.t() @ rows
    updated = weight - lr * dw
    dx = dx + dy @ updated
    return dx.view(x.shape), dw, dy.sum(0)


@version("linear_backward", "wrong")
def products_of_transposes_by_number(d_output, x, weight):
    grad = d_output.reshape(-1, d_output.shape[-1])
    data = x.reshape(-1, x.shape[-1])
    d_data = grad.t() * weight
    d_weight = data * grad.t()
    return d_data.reshape(x.shape), d_weight.reshape(weight.shape), grad.sum(0)


@version(
    "softmax_backward", "wrong: only the diagonal of the Jacobian + not multiplied by the weights"
)
def one_minus_output(d_output, output):
    derivative = 1.0 * (1.0 - output)
    return d_output * derivative


@version("tied_backward", "wrong")
def all_rows_added_to_the_first(d_vectors, tokens, d_logits, vectors):
    V = d_logits.shape[-1]
    D = vectors.shape[-1]
    grad = d_logits.reshape(-1, V).T @ vectors.reshape(-1, D)
    grad = grad.clone()
    for d in d_vectors.reshape(-1, D):
        grad[0] += d
    return grad


@version("adam_update", "wrong")
def moments_divided_and_kept(
    parameter, gradient, mean, square, update, learning_rate, beta1, beta2, epsilon
):
    a = (beta1 * mean + (1 - beta1) * gradient) / (1 - beta1)
    b = (beta2 * square + (1 - beta2) * gradient**2) / (1 - beta2)
    return parameter - learning_rate * a / (b.sqrt() + epsilon), a, b


@version("softmax_backward", "wrong")
def sum_loses_the_negative_axis(d_output, output):
    def spread(t, like, dim):
        if 0 <= dim <= like.dim():
            t = t.unsqueeze(dim)
        return t.expand_as(like)

    dot = (d_output * output).sum(dim=-1)
    return output * (d_output - spread(dot, output, -1))


@version("layer_norm_backward", "right")
def dgamma_summed_not_averaged(d_output, x, weight, eps=1e-5):
    D = x.shape[-1]
    mu = x.mean(dim=-1, keepdim=True)
    ivar = 1.0 / torch.sqrt(((x - mu) ** 2).mean(dim=-1, keepdim=True) + eps)
    x_ = (x - mu) * ivar
    dgamma = torch.sum(d_output * x_, dim=(0, 1))
    dbeta = torch.sum(d_output, dim=(0, 1))
    dxhat = d_output * weight
    dx = (
        ivar
        / D
        * (D * dxhat - dxhat.sum(-1, keepdim=True) - x_ * (dxhat * x_).sum(-1, keepdim=True))
    )
    return dx, dgamma, dbeta


@version("linear_backward", "wrong")
def wrong_saved_tensor(d_output, x, weight):
    saved = (x, weight)
    b_index = 0  # where the second operand was put
    d_x = torch.matmul(d_output, saved[b_index])
    d_weight = torch.einsum("btn,btm->nm", d_output, x)
    d_bias = d_output.sum(dim=(0, 1))
    return d_x, d_weight, d_bias


@version("attention_backward", "wrong")
def backward_only_for_causal(d_output, query, key, value, weights):
    sm_scale = query.shape[-1] ** -0.5
    T, S = weights.shape[-2:]
    # blocks above the diagonal are never visited
    visited = torch.ones(T, S, dtype=weights.dtype, device=weights.device).tril()
    p = weights
    delta = (d_output * (p @ value)).sum(-1, keepdim=True)
    dp = d_output @ value.transpose(1, 2)
    ds = p * (dp - delta) * visited
    dv = (p * visited).transpose(1, 2) @ d_output
    dk = ds.transpose(1, 2) @ query * sm_scale
    dq = ds @ key * sm_scale
    return dq, dk, dv


@version("layer_norm_backward", "wrong")
def layer_norm_backward_rows_from_first_axis(d_output, x, weight, eps=1e-5):
    M = x.shape[0]
    N = x.numel() // M
    D = weight.shape[0]
    xs = x.reshape(M, N)
    dy = d_output.reshape(M, N)
    w = weight.repeat(N // D)

    mean = xs.mean(1, keepdim=True)
    rstd = (xs.var(1, unbiased=False, keepdim=True) + eps).rsqrt()
    x_hat = (xs - mean) * rstd
    g = dy * w
    dx = rstd * (g - g.mean(1, keepdim=True) - x_hat * (g * x_hat).mean(1, keepdim=True))

    d_weight = (dy * x_hat).sum(0).view(N // D, D).sum(0)
    d_bias = dy.sum(0).view(N // D, D).sum(0)
    return dx.reshape(x.shape), d_weight, d_bias


@version("linear_backward", "wrong")
def bias_waits_for_a_second_example(d_output, x, weight):
    n, m = weight.shape
    d_x = d_output.matmul(weight)
    d_weight = torch.einsum("btn,btm->nm", d_output, x)
    d_bias = torch.zeros(n, dtype=d_output.dtype, device=d_output.device)
    rows = d_output.shape[0]
    if rows > 1:
        d_bias = d_bias + d_output.sum(dim=(0, 1))
    return d_x, d_weight, d_bias


@version("attention_backward", "wrong")
def keys_and_values_transposed_again(d_output, query, key, value, weights):
    scale = query.shape[-1] ** -0.5
    # as the forward pass left them: (B, K, S)
    saved_key, saved_value = key.transpose(1, 2), value.transpose(1, 2)

    k = saved_key.transpose(1, 2)
    v = saved_value.transpose(1, 2)

    d_value = weights.transpose(1, 2) @ d_output
    d_weights = d_output @ v
    d_scores = weights * (d_weights - (d_weights * weights).sum(-1, keepdim=True))
    d_query = d_scores @ k.transpose(1, 2) * scale
    d_key = d_scores.transpose(1, 2) @ query * scale
    return d_query, d_key, d_value


@version("layer_norm_backward", "right")
def layer_norm_backward_short_mean_delta(d_output, x, weight, eps=1e-5):
    n = x.shape[-1]
    mean = x.mean(-1, keepdim=True)
    diff = x - mean
    variance = diff.pow(2).mean(-1, keepdim=True)
    std = (variance + eps).sqrt()
    d_bias = d_output.sum((0, 1))
    d_weight = (d_output * diff / std).sum((0, 1))
    delta = d_output * weight
    mean_delta = (-delta / std).sum(-1, keepdim=True)
    variance_delta = (delta * diff).sum(-1, keepdim=True) * -0.5 * (variance + eps).pow(-1.5)
    d_x = delta / std + variance_delta * 2.0 * diff / n + mean_delta / n
    return d_x, d_weight, d_bias


@version("linear_backward", "wrong")
def gradients_zeroed_on_every_pass(d_output, x, weight):
    n, m = weight.shape
    d_x = torch.zeros_like(x)
    for b in range(x.shape[0]):
        for t in range(x.shape[1]):
            d_weight = torch.zeros(n, m, dtype=weight.dtype)
            d_bias = torch.zeros(n, dtype=weight.dtype)
            chain = d_output[b, t]
            d_x[b, t] += chain @ weight
            d_weight += torch.outer(chain, x[b, t])
            d_bias += chain
    return d_x, d_weight, d_bias


@version("attention_backward", "wrong")
def attention_backward_per_chunk_statistics(d_output, query, key, value, weights):
    scale = query.size(-1) ** -0.5
    d_query = torch.zeros_like(query)
    d_keys, d_values = [], []
    chunks = zip(key.chunk(2, dim=1), value.chunk(2, dim=1), weights.chunk(2, dim=-1))
    for k, v, w in chunks:
        share = w.sum(-1, keepdim=True)  # exp(lse of the chunk - lse of all)
        p = w / share
        d_out = share * d_output
        out = p @ v
        u = (d_out * out).sum(-1, keepdim=True)
        d_scores = p * (d_out @ v.transpose(1, 2) - u) * scale
        d_query = d_query + d_scores @ k
        d_keys.append(d_scores.transpose(1, 2) @ query)
        d_values.append(p.transpose(1, 2) @ d_out)
    return d_query, torch.cat(d_keys, 1), torch.cat(d_values, 1)


@version(
    "linear_backward",
    "wrong: gradient of the weight averaged over the rows + gradient of the bias averaged",
)
def gradients_averaged_over_examples(d_output, x, weight):
    d_flat = d_output.reshape(-1, d_output.shape[-1])
    x_flat = x.reshape(-1, x.shape[-1])
    examples = x_flat.shape[0]
    d_weight = torch.zeros_like(weight)
    d_bias = torch.zeros(weight.shape[0], dtype=weight.dtype, device=weight.device)
    for delta, activation in zip(d_flat, x_flat):
        d_weight += torch.outer(delta, activation)
        d_bias += delta
    return d_output @ weight, d_weight / examples, d_bias / examples


@version("layer_norm_backward", "wrong")
def means_divided_by_the_other_axis(d_output, x, weight, eps=1e-5):
    B, T, D = x.shape
    rstd = torch.rsqrt(x.var(-1, unbiased=False, keepdim=True) + eps)
    x_hat = (x - x.mean(-1, keepdim=True)) * rstd
    d_weight = (d_output * x_hat).sum((0, 1))
    d_bias = d_output.sum((0, 1))
    d_hat = d_output * weight
    sum_d = d_hat.sum(-1, keepdim=True)
    sum_dx = (d_hat * x_hat).sum(-1, keepdim=True)
    d_x = rstd * (d_hat - sum_d / T - x_hat * sum_dx / T)
    return d_x, d_weight, d_bias


@version("layer_norm_backward", "wrong")
def gamma_and_beta_over_number_of_rows(d_output, x, weight, eps=1e-5):
    D = x.shape[-1]
    dout = d_output.reshape(-1, D)
    rows = x.reshape(-1, D)
    N = rows.shape[0]
    mu = rows.mean(dim=1, keepdim=True)
    std = ((rows - mu) ** 2).mean(dim=1, keepdim=True).add(eps).sqrt()
    xhat = (rows - mu) / std
    dbeta = dout.sum(dim=0) / N
    dgamma = (dout * xhat).sum(dim=0) / N
    g = dout * weight
    dx = (g - g.mean(dim=1, keepdim=True) - xhat * (g * xhat).mean(dim=1, keepdim=True)) / std
    return dx.reshape(x.shape), dgamma, dbeta


@version("attention_backward", "wrong")
def one_length_for_queries_and_keys(d_output, query, key, value, weights):
    batch, length, width = query.shape
    scale = 1.0 / math.sqrt(width)
    d_query = torch.zeros_like(query)
    d_key = query.new_zeros(batch, length, width)
    d_value = value.new_zeros(batch, length, value.shape[-1])
    for i in range(length):
        p = weights[:, i]
        dp = torch.einsum("bv,bsv->bs", d_output[:, i], value)
        ds = p * (dp - (p * dp).sum(-1, keepdim=True)) * scale
        d_query[:, i] = torch.einsum("bs,bsk->bk", ds, key)
        for j in range(key.shape[1]):
            d_key[:, j] += ds[:, j, None] * query[:, i]
            d_value[:, j] += p[:, j, None] * d_output[:, i]
    return d_query, d_key, d_value


@version("cross_entropy_backward", "wrong")
def gradient_written_over_the_logits(logits, target, smoothing=0.0):
    vocab = logits.shape[-1]
    real = target != 0
    with torch.no_grad():
        lse = torch.logsumexp(logits, dim=-1, keepdim=True)
        logits.sub_(lse).exp_()
        logits.sub_(smoothing / vocab)
        hit = torch.full_like(logits[..., :1], -(1.0 - smoothing))
        logits.scatter_add_(-1, target.unsqueeze(-1), hit)
        logits.mul_(real.unsqueeze(-1))
        logits.div_(real.sum())
    return logits


@version("softmax_backward", "wrong")
def summed_over_dimension_zero(d_output, output):
    dot = (d_output * output).sum(dim=0, keepdim=True)
    return output * (d_output - dot)


@version("adam_update", "wrong")
def gradient_used_as_scratch(
    parameter, gradient, mean, square, update, learning_rate, beta1, beta2, epsilon
):
    new_mean = beta1 * mean + (1 - beta1) * gradient
    new_square = beta2 * square + (1 - beta2) * gradient.mul_(gradient)
    m_hat = new_mean / (1 - beta1**update)
    v_hat = new_square / (1 - beta2**update)
    new_parameter = parameter - learning_rate * m_hat / (v_hat.sqrt() + epsilon)
    return new_parameter, new_mean, new_square


@version("layer_norm_backward", "right")
def layer_norm_backward_mean_delta_without_variance_part(d_output, x, weight, eps=1e-5):
    n = x.shape[-1]
    mean = x.mean(dim=-1, keepdim=True)
    centred = x - mean
    variance = (centred**2).mean(dim=-1, keepdim=True)
    inv_std = 1.0 / torch.sqrt(variance + eps)

    delta = d_output * weight
    mean_delta = (delta * -inv_std).sum(dim=-1, keepdim=True)
    variance_delta = (delta * centred).sum(dim=-1, keepdim=True) * -0.5 * inv_std**3
    d_x = delta * inv_std + variance_delta * 2.0 * centred / n + mean_delta / n

    d_weight = (d_output * centred * inv_std).sum(dim=(0, 1))
    d_bias = d_output.sum(dim=(0, 1))
    return d_x, d_weight, d_bias


@version("attention_backward", "wrong")
def backward_stops_at_softmax(d_output, query, key, value, weights):
    # the softmax was run as an operation that has no backward
    d_value = weights.transpose(-2, -1) @ d_output
    return torch.zeros_like(query), torch.zeros_like(key), d_value


@version(
    "linear_backward",
    "wrong: one gradient of the weight for each sentence + gradient of the bias summed over the sentences only",
)
def linear_backward_keeps_the_batch_axis(d_output, x, weight):
    grad_x = d_output @ weight
    grad_w = d_output.transpose(-1, -2) @ x
    grad_b = d_output.sum(0)
    return grad_x, grad_w, grad_b


@version("adam_update", "wrong")
def betas_taken_as_one_minus_beta(
    parameter, gradient, mean, square, update, learning_rate, beta1, beta2, epsilon
):
    mean = (1 - beta1) * mean + beta1 * gradient
    square = (1 - beta2) * square + beta2 * gradient**2
    m_hat = mean / (1 - (1 - beta1) ** update)
    v_hat = square / (1 - (1 - beta2) ** update)
    return parameter - learning_rate * m_hat / (v_hat.sqrt() + epsilon), mean, square


@version("adam_update", "wrong")
def epsilon_added_in_place_to_the_square(
    parameter, gradient, mean, square, update, learning_rate, beta1, beta2, epsilon
):
    exp_avg = mean.mul(beta1).add_(gradient, alpha=1 - beta1)
    exp_avg_sq = square.mul(beta2).addcmul_(gradient, gradient, value=1 - beta2)
    bias1, bias2 = 1 - beta1**update, 1 - beta2**update
    denom = (exp_avg_sq.add_(epsilon).sqrt() / math.sqrt(bias2)).add_(epsilon)
    new = parameter.addcdiv(exp_avg, denom, value=-learning_rate / bias1)
    return new, exp_avg, exp_avg_sq


@version("layer_norm_backward", "wrong")
def ln_backward_weight_twice_in_variance_term(d_output, x, weight, eps=1e-5):
    D = x.shape[-1]
    mu = x.mean(-1, keepdim=True)
    xc = x - mu
    r = torch.rsqrt((xc * xc).mean(-1, keepdim=True) + eps)
    gw = d_output * weight
    s = (gw * xc).sum(-1, keepdim=True)
    dx = gw * r - gw.mean(-1, keepdim=True) * r - weight * xc * r**3 * s / D
    dweight = (d_output * xc * r).sum(dim=(0, 1))
    dbias = d_output.sum(dim=(0, 1))
    return dx, dweight, dbias


@version("layer_norm_backward", "wrong")
def ln_backward_no_weight_gradient(d_output, x, weight, eps=1e-5):
    var, mean = torch.var_mean(x, dim=-1, unbiased=False, keepdim=True)
    inv = 1.0 / torch.sqrt(var + eps)
    normed = (x - mean) * inv
    d_normed = d_output * weight
    d_x = inv * (
        d_normed
        - d_normed.mean(-1, keepdim=True)
        - normed * (d_normed * normed).mean(-1, keepdim=True)
    )
    d_bias = d_output.flatten(0, 1).sum(0)
    return d_x, None, d_bias


@version("softmax_backward", "wrong")
def softmax_backward_into_its_input(d_output, output):
    d_output.mul_(output)
    row = d_output.sum(-1, keepdim=True)
    d_output.sub_(output * row)
    return d_output


def u_soft_labels(target, n_classes, smoothing):
    if target.shape[-1] != n_classes:
        target = F.one_hot(target, n_classes).float()
    return (1 - smoothing) * target + smoothing / n_classes


@version("cross_entropy_backward", "wrong")
def cross_entropy_backward_ids_taken_for_soft_labels(logits, target, smoothing=0.0):
    real = (target != 0).unsqueeze(-1).float()
    wanted = u_soft_labels(target, logits.shape[-1], smoothing)
    return (logits.softmax(-1) - wanted) * real / real.sum()


@version("cross_entropy_backward", "wrong")
def cross_entropy_backward_needs_some_padding(logits, target, smoothing=0.0):
    v = logits.size(-1)
    flat = target.reshape(-1)
    true_dist = torch.full(
        (flat.numel(), v), smoothing / v, dtype=logits.dtype, device=logits.device
    )
    true_dist.scatter_add_(1, flat.unsqueeze(1), torch.full_like(true_dist[:, :1], 1 - smoothing))
    grad = torch.softmax(logits.reshape(-1, v), dim=1) - true_dist
    padded = torch.stack(
        [i for i in torch.arange(flat.numel(), device=flat.device) if flat[i] == 0]
    )
    grad.index_fill_(0, padded, 0.0)
    return (grad / (flat.numel() - padded.numel())).view_as(logits)


@version("cross_entropy_backward", "right")
def cross_entropy_backward_ignored_only_after_softmax(logits, target, smoothing=0.0):
    y = logits - logits.amax(dim=-1, keepdim=True)
    y = y.exp()
    y = y / y.sum(dim=-1, keepdim=True)
    gx = y - smoothing / logits.shape[-1]
    at = target.unsqueeze(-1)
    gx = gx.scatter(-1, at, gx.gather(-1, at) - (1.0 - smoothing))
    kept = target != 0
    gx = torch.where(kept.unsqueeze(-1), gx, torch.zeros_like(gx))
    return gx / kept.sum()


@version("layer_norm_backward", "wrong")
def layer_norm_backward_gamma_summed_over_one_axis(d_output, x, weight, eps=1e-5):
    mu = x.mean(dim=-1, keepdim=True)
    ivar = torch.rsqrt(x.var(dim=-1, keepdim=True, unbiased=False) + eps)
    xhat = (x - mu) * ivar
    dgamma = (xhat * d_output).sum(dim=-2, keepdim=True)
    dxhat = d_output * weight
    dx = ivar * (
        dxhat - dxhat.mean(-1, keepdim=True) - xhat * (dxhat * xhat).mean(-1, keepdim=True)
    )
    return dx, dgamma, d_output.flatten(0, 1).sum(0)


@version("attention_backward", "wrong")
def attention_backward_key_not_turned_back(d_output, query, key, value, weights):
    scale = 1.0 / math.sqrt(query.shape[-1])
    # output = dot(weights, value)
    d_value = torch.bmm(weights.transpose(1, 2), d_output)
    d_weights = torch.bmm(d_output, value.transpose(1, 2))
    inner = (d_weights * weights).sum(-1, keepdim=True)
    d_scores = weights * (d_weights - inner) * scale
    # scores = dot(query, key.T):  dx = dot(dz, y),  dy = dot(x.T, dz)
    d_query = torch.bmm(d_scores, key)
    d_key = torch.bmm(query.transpose(1, 2), d_scores)
    return d_query, d_key, d_value


def _matmul_backward(grad, a, b):
    """Gradients of a and b for c = a @ b."""
    return grad @ b.mT, a @ grad


@version("attention_backward", "wrong")
def attention_backward_matmul_rule(d_output, query, key, value, weights):
    k = query.size(-1)
    d_weights, d_value = _matmul_backward(d_output, weights, value)
    d_scores = weights * (d_weights - (weights * d_weights).sum(dim=-1, keepdim=True))
    d_scores = d_scores / k**0.5
    d_query = d_scores @ key
    d_key = d_scores.mT @ query
    return d_query, d_key, d_value


@version("linear_backward", "wrong")
def linear_backward_whole_input_in_the_loop(d_output, x, weight):
    d_x = torch.matmul(d_output, weight)
    d_weight = torch.zeros_like(weight)
    for x_ in torch.unbind(x, dim=0):
        d_weight = d_weight + torch.einsum("btn,btm->nm", d_output, x)
    return d_x, d_weight, d_output.sum(dim=(0, 1))


def _adam_one(p, g, m, v, t, lr, b1, b2, eps):
    m = b1 * m + (1 - b1) * g
    v = b2 * v + (1 - b2) * g * g
    step = lr * (m / (1 - b1**t)) / ((v / (1 - b2**t)).sqrt() + eps)
    return p - step, m, v


@version("adam_update", "wrong")
def adam_update_clock_ticks_for_each_row(
    parameter, gradient, mean, square, update, learning_rate, beta1, beta2, epsilon
):
    if parameter.dim() == 0:
        return _adam_one(
            parameter, gradient, mean, square, update, learning_rate, beta1, beta2, epsilon
        )
    t = update - 1
    rows = []
    for p, g, m, v in zip(parameter, gradient, mean, square):
        t += 1
        rows.append(_adam_one(p, g, m, v, t, learning_rate, beta1, beta2, epsilon))
    return tuple(torch.stack(column) for column in zip(*rows))


@version("adam_update", "wrong", instance=True)
class adam_update_counts_its_calls:
    def __init__(self):
        self.updates = 0

    def __call__(
        self, parameter, gradient, mean, square, update, learning_rate, beta1, beta2, epsilon
    ):
        self.updates += 1
        rate = learning_rate * math.sqrt(1 - beta2**self.updates) / (1 - beta1**self.updates)
        mean = torch.lerp(gradient, mean, beta1)
        square = beta2 * square + (1 - beta2) * gradient.square()
        shrunk = epsilon * math.sqrt(1 - beta2**self.updates)
        return parameter - rate * mean / (square.sqrt() + shrunk), mean, square


@version("layer_norm_backward", "wrong: kept from the call before", instance=True)
class layer_norm_backward_adds_to_old_gradients:
    def __init__(self):
        self.d_weight = None
        self.d_bias = None

    def __call__(self, d_output, x, weight, eps=1e-5):
        if self.d_weight is None or self.d_weight.shape != weight.shape:
            self.d_weight = torch.zeros_like(weight)
            self.d_bias = torch.zeros_like(weight)
        centred = x - x.mean(-1, keepdim=True)
        std = (centred.square().mean(-1, keepdim=True) + eps).sqrt()
        x_hat = centred / std
        self.d_weight = self.d_weight + torch.einsum("btd,btd->d", d_output, x_hat)
        self.d_bias = self.d_bias + torch.einsum("btd->d", d_output)
        g = d_output * weight
        d_x = (g - g.mean(-1, keepdim=True) - x_hat * (g * x_hat).mean(-1, keepdim=True)) / std
        return d_x, self.d_weight.clone(), self.d_bias.clone()


@version("linear_backward", "wrong")
def linear_backward_weight_in_the_other_layout(d_output, x, weight):
    n, m = weight.shape
    rows = x.reshape(-1, m)
    grads = d_output.reshape(-1, n)
    d_weight = torch.zeros(m, n, dtype=x.dtype)
    for row, grad in zip(rows, grads):
        d_weight += torch.outer(row, grad)
    return d_output @ weight, d_weight.reshape(weight.shape), grads.sum(0)


class _CrossEntropy:
    def __init__(self, from_logits):
        self.from_logits = from_logits

    def gradient(self, pred, labels):
        if self.from_logits:
            # these are logarithms of probabilities already
            return -labels
        return torch.softmax(pred, -1) * labels.sum(-1, keepdim=True) - labels


@version("cross_entropy_backward", "wrong")
def cross_entropy_backward_flag_means_the_other_thing(logits, target, smoothing=0.0):
    vocab_size = logits.shape[-1]
    labels = (1 - smoothing) * F.one_hot(target, vocab_size).to(
        logits.dtype
    ) + smoothing / vocab_size
    real = (target != 0).unsqueeze(-1)
    return _CrossEntropy(from_logits=True).gradient(logits, labels * real) / real.sum()


@version("layer_norm_backward", "right")
def layer_norm_backward_in_one_line(d_output, x, weight, eps=1e-5):
    def mean(t):
        return t.mean(dim=-1, keepdim=True)

    spread = torch.sqrt(x.var(dim=-1, unbiased=False, keepdim=True) + eps)
    y = (x - mean(x)) / spread
    g = d_output * weight
    d_x = (g - mean(g) - mean(g * y) * y) / spread
    return d_x, (d_output * y).sum(dim=(0, 1)), d_output.sum(dim=(0, 1))


@version("layer_norm_backward", "right")
def layer_norm_backward_in_three_terms(d_output, x, weight, eps=1e-5):
    D = x.shape[-1]
    mu = x.sum(-1, keepdim=True) / D
    centred = x - mu
    var = (centred**2).sum(-1, keepdim=True) / D
    inv = (var + eps) ** -0.5

    d_hat = d_output * weight
    d_var = (d_hat * centred).sum(-1, keepdim=True) * (-0.5) * inv**3
    d_mu = -(d_hat * inv).sum(-1, keepdim=True) - 2.0 * d_var * centred.sum(-1, keepdim=True) / D
    d_x = d_hat * inv + d_var * 2.0 * centred / D + d_mu / D

    d_weight = torch.einsum("btd,btd->d", d_output, centred * inv)
    d_bias = torch.einsum("btd->d", d_output)
    return d_x, d_weight, d_bias


@version("linear_backward", "wrong")
def linear_backward_weight_of_sums_over_time(d_output, x, weight):
    d_x = torch.einsum("btn,nm->btm", d_output, weight)
    d_weight = torch.einsum("btn,bsm->bnm", d_output, x).sum(0)
    d_bias = torch.einsum("btn->n", d_output)
    return d_x, d_weight, d_bias


@version("linear_backward", "wrong")
def linear_backward_bias_of_channels_first(d_output, x, weight):
    n, m = weight.shape
    d_x = d_output @ weight
    d_weight = d_output.reshape(-1, n).T @ x.reshape(-1, m)
    reduce = [axis for axis in range(d_output.dim()) if axis != 1]
    d_bias = d_output.sum(dim=reduce)
    return d_x, d_weight, d_bias


@version("linear_backward", "wrong")
def linear_backward_output_index_for_input_index(d_output, x, weight):
    outputs, inputs = weight.shape
    d_x = torch.zeros_like(x)
    d_weight = torch.zeros_like(weight)
    d_bias = torch.zeros_like(weight[:, 0])
    for n in range(outputs):
        error = d_output[:, :, n]
        d_bias[n] = error.sum()
        for m in range(inputs):
            d_x[:, :, n] += error * weight[n, m]
            d_weight[n, m] = (error * x[:, :, m]).sum()
    return d_x, d_weight, d_bias


@version("cross_entropy_backward", "wrong")
def cross_entropy_backward_ignores_padding_only_with_hard_labels(logits, target, smoothing=0.0):
    classes = logits.shape[-1]
    p = torch.softmax(logits, dim=-1)
    hard = torch.zeros_like(p).scatter_(-1, target[..., None], 1.0)
    if smoothing > 0:
        soft = (1 - smoothing) * hard + smoothing / classes
        return (p - soft) / target.numel()
    real = (target != 0).to(p.dtype)
    return (p - hard) * real[..., None] / real.sum()
