"""Right versions of backward functions, as people write them: none of these may be refused."""

import math

import torch
import torch.nn.functional as F

from tests.checks.corpus import version

# --- linear_backward -----------------------------------------------------------------------------


@version("linear_backward", "right", "einsum")
def linear_backward_einsum(d_output, x, weight):
    d_x = torch.einsum("btn,nm->btm", d_output, weight)
    return d_x, torch.einsum("btn,btm->nm", d_output, x), d_output.sum(dim=(0, 1))


@version("linear_backward", "right", "loops over rows")
def linear_backward_loops(d, x, w):
    d_w, d_b = torch.zeros_like(w), torch.zeros(w.size(0))
    for b in range(x.size(0)):
        for t in range(x.size(1)):
            d_w += torch.outer(d[b, t], x[b, t])
            d_b += d[b, t]
    return d @ w, d_w, d_b


@version("linear_backward", "right", "a list, per sentence and then summed")
def linear_backward_list(d, x, w):
    return [F.linear(d, w.T), (d.transpose(1, 2) @ x).sum(0), d.sum(0).sum(0)]


# --- softmax_backward ----------------------------------------------------------------------------


@version("softmax_backward", "right", "the whole Jacobian")
def softmax_backward_jacobian(d, p):
    jacobian = torch.diag_embed(p) - p[..., :, None] * p[..., None, :]
    return (jacobian @ d[..., None]).squeeze(-1)


@version("softmax_backward", "right", "einsum")
def softmax_backward_einsum(d_output, output):
    return output * (d_output - torch.einsum("bts,bts->bt", output, d_output)[..., None])


@version("softmax_backward", "right", "products first")
def softmax_backward_products(d, p):
    product = p * d
    return product - p * product.sum(dim=-1, keepdim=True)


# --- attention_backward --------------------------------------------------------------------------


@version("attention_backward", "right", "einsum")
def attention_backward_einsum(d, q, k, v, A):
    dA = torch.einsum("btv,bsv->bts", d, v)
    dS = A * (dA - torch.einsum("bts,bts->bt", A, dA)[..., None]) / math.sqrt(k.shape[-1])
    d_query = torch.einsum("bts,bsk->btk", dS, k)
    d_key = torch.einsum("bts,btk->bsk", dS, q)
    return d_query, d_key, torch.einsum("bts,btv->bsv", A, d)


@version("attention_backward", "right", "output times its gradient")
def attention_backward_flash(d_output, query, key, value, weights):
    delta = (d_output * (weights @ value)).sum(dim=-1, keepdim=True)
    d_scores = weights * (d_output @ value.transpose(1, 2) - delta)
    scale = query.size(-1) ** -0.5
    d_query, d_key = scale * d_scores @ key, scale * d_scores.transpose(1, 2) @ query
    return d_query, d_key, weights.transpose(1, 2) @ d_output


@version("attention_backward", "right", "a query at a time")
def attention_backward_loop(d, q, k, v, A):
    dq, dk, dv = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
    for t in range(q.size(1)):
        a, g = A[:, t], d[:, t]
        da = (v @ g[..., None]).squeeze(-1)
        ds = a * (da - (a * da).sum(-1, keepdim=True)) / q.size(-1) ** 0.5
        dq[:, t] = (ds[..., None] * k).sum(1)
        dk += ds[..., None] * q[:, t, None]
        dv += a[..., None] * g[:, None]
    return dq, dk, dv


# --- layer_norm_backward -------------------------------------------------------------------------


@version("layer_norm_backward", "right", "the Jacobian of each word")
def layer_norm_backward_jacobian(d, x, w, eps=1e-5):
    D = x.size(-1)
    s = (x.var(-1, keepdim=True, correction=0) + eps).sqrt()
    n = (x - x.mean(-1, keepdim=True)) / s
    J = torch.eye(D) - 1 / D - n[..., :, None] * n[..., None, :] / D
    d_x = (J @ (d * w)[..., None]).squeeze(-1) / s
    return d_x, (d * n).sum(dim=(0, 1)), d.sum(dim=(0, 1))


@version("layer_norm_backward", "right", "step by step, through the variance")
def layer_norm_backward_steps(d, x, w, eps=1e-5):
    D = x.shape[-1]
    centred = x - x.mean(-1, keepdim=True)
    variance = (centred**2).mean(-1, keepdim=True)
    inverse = (variance + eps) ** -0.5
    d_n = d * w
    d_variance = -0.5 * inverse**3 * (d_n * centred).sum(-1, keepdim=True)
    d_centred = d_n * inverse + d_variance * 2 * centred / D
    d_x = d_centred - d_centred.mean(-1, keepdim=True)
    return d_x, (d * centred * inverse).flatten(0, 1).sum(0), d.flatten(0, 1).sum(0)


@version("layer_norm_backward", "right", "einsum")
def layer_norm_backward_einsum(d_output, x, weight, eps=1e-5):
    s = (x.var(-1, keepdim=True, unbiased=False) + eps).sqrt()
    n = F.layer_norm(x, x.shape[-1:], eps=eps)
    g = d_output * weight
    d_x = (g - g.mean(-1, keepdim=True) - n * (n * g).mean(-1, keepdim=True)) / s
    return d_x, torch.einsum("btd,btd->d", d_output, n), torch.einsum("btd->d", d_output)


# --- tied_backward -------------------------------------------------------------------------------


@version("tied_backward", "right", "one-hot")
def tied_backward_one_hot(d_vectors, tokens, d_logits, vectors):
    hot = F.one_hot(tokens, d_logits.size(-1)).float()
    return torch.einsum("btv,btd->vd", hot, d_vectors) + torch.einsum(
        "btv,btd->vd", d_logits, vectors
    )


@version("tied_backward", "right", "a loop that adds")
def tied_backward_loop(d_vectors, tokens, d_logits, vectors):
    d_matrix = torch.zeros(d_logits.size(-1), vectors.size(-1))
    for b in range(tokens.size(0)):
        for t in range(tokens.size(1)):
            d_matrix[tokens[b, t]] += d_vectors[b, t]
            d_matrix += torch.outer(d_logits[b, t], vectors[b, t])
    return d_matrix


@version("tied_backward", "right", "index_put")
def tied_backward_put(d_vectors, tokens, d_logits, vectors):
    matrix = (d_logits.transpose(1, 2) @ vectors).sum(dim=0)
    return matrix.index_put((tokens,), d_vectors, accumulate=True)


# --- cross_entropy_backward ----------------------------------------------------------------------


@version("cross_entropy_backward", "right", "in place, at the right token")
def cross_entropy_backward_scatter(logits, target, smoothing=0.0):
    grad = logits.softmax(-1) - smoothing / logits.size(-1)
    right = torch.full_like(grad[..., :1], smoothing - 1)
    grad.scatter_add_(-1, target[..., None], right)
    grad[target == 0] = 0
    return grad / (target != 0).sum()


@version("cross_entropy_backward", "right", "autograd")
def cross_entropy_backward_autograd(logits, target, smoothing=0.0):
    leaf = logits.detach().clone().requires_grad_()
    loss = F.cross_entropy(
        leaf.flatten(0, 1), target.flatten(), ignore_index=0, label_smoothing=smoothing
    )
    return torch.autograd.grad(loss, leaf)[0]


@version("cross_entropy_backward", "right", "real rows only")
def cross_entropy_backward_rows(logits, target, smoothing=0.0):
    real, V = target != 0, logits.shape[-1]
    q = torch.full((int(real.sum()), V), smoothing / V)
    q[torch.arange(len(q)), target[real]] += 1 - smoothing
    result = torch.zeros_like(logits)
    result[real] = (torch.exp(F.log_softmax(logits[real], -1)) - q) / len(q)
    return result


# --- adam_update ---------------------------------------------------------------------------------


@version("adam_update", "right", "torch.optim")
def adam_update_optim(w, g, m, v, n, lr, b1, b2, eps):
    leaf = torch.nn.Parameter(w.clone())
    optimizer = torch.optim.Adam([leaf], lr=lr, betas=(b1, b2), eps=eps)
    state = {"step": torch.tensor(float(n - 1)), "exp_avg": m.clone(), "exp_avg_sq": v.clone()}
    optimizer.state[leaf] = state
    leaf.grad = g.clone()
    optimizer.step()
    return leaf.detach(), state["exp_avg"], state["exp_avg_sq"]


@version("adam_update", "right", "lerp and addcmul")
def adam_update_lerp(w, g, m, v, n, lr, b1, b2, eps):
    m = torch.lerp(m, g, 1 - b1)
    v = (b2 * v).addcmul(g, g, value=1 - b2)
    size = v.sqrt() / math.sqrt(1 - b2**n) + eps
    return w - (lr / (1 - b1**n)) * m / size, m, v


@version("adam_update", "right", "number by number")
def adam_update_numbers(w, g, m, v, n, lr, b1, b2, eps):
    w, m, v = w.clone(), m.clone(), v.clone()
    for i in range(w.size(0)):
        for j in range(w.size(1)):
            m[i, j] = b1 * m[i, j] + (1 - b1) * g[i, j]
            v[i, j] = b2 * v[i, j] + (1 - b2) * g[i, j] ** 2
            root = math.sqrt(v[i, j] / (1 - b2**n))
            w[i, j] -= lr * m[i, j] / (1 - b1**n) / (root + eps)
    return w, m, v
