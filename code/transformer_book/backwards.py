"""Backwards: the gradient of every part of the model, by hand.

Each function stands beside the forward function of the same name. It takes the gradient of the
loss with respect to the output, then what the forward pass kept, and returns the gradients with
respect to the inputs, in their order. `d_x` is short for the derivative of the loss with respect
to `x`, and has the shape of `x`. No autograd is used, and nothing of the model is imported.
`gradients.py` puts the parts together.
"""

from __future__ import annotations

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor


def linear_backward(
    d_output: Float[Tensor, "*batch N"], x: Float[Tensor, "*batch M"], weight: Float[Tensor, "N M"]
) -> tuple[Float[Tensor, "*batch M"], Float[Tensor, "N M"], Float[Tensor, "N"]]:
    r"""Of $y = x W^\top + b$: $dx = dy\, W$, and sums over all rows: $dW = dy^\top x$, $db = dy$.

    Returns:
        The gradients of x, of the weight, and of the bias.
    """
    rows, d_rows = x.reshape(-1, x.size(-1)), d_output.reshape(-1, d_output.size(-1))
    return d_output @ weight, d_rows.T @ rows, d_rows.sum(dim=0)  # (…, M), (N, M), (N,)


def relu_backward(
    d_output: Float[Tensor, "*any"], x: Float[Tensor, "*any"]
) -> Float[Tensor, "*any"]:
    r"""Of $y = \max(x, 0)$: $dx = dy \cdot [x > 0]$; zero at $x = 0$, as in PyTorch."""
    return d_output * (x > 0)


def gelu_backward(
    d_output: Float[Tensor, "*any"], x: Float[Tensor, "*any"], approximate: str = "none"
) -> Float[Tensor, "*any"]:
    r"""Of $y = x\,\Phi(x)$: $dx = dy\,(\Phi(x) + x\,\Phi'(x))$; Φ may be approximated by `"tanh"`.

    Source: Hendrycks & Gimpel (2016).
    """
    if approximate == "tanh":
        bend = (math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)).tanh()
        slope = math.sqrt(2 / math.pi) * (1 + 3 * 0.044715 * x**2)
        share, density = (1 + bend) / 2, (1 - bend**2) * slope / 2  # Φ and Φ′
    else:
        share = (1 + (x / math.sqrt(2)).erf()) / 2
        density = (-(x**2) / 2).exp() / math.sqrt(2 * math.pi)
    return d_output * (share + x * density)


def group_sort_backward(
    d_output: Float[Tensor, "*batch F"], x: Float[Tensor, "*batch F"]
) -> Float[Tensor, "*batch F"]:
    """Of pairs that were sorted: each gradient goes back to the place its number came from."""
    came_from = x.unflatten(-1, (-1, 2)).argsort(dim=-1)  # (…, F/2, 2)
    pairs = d_output.unflatten(-1, (-1, 2))  # (…, F/2, 2)
    return torch.zeros_like(pairs).scatter(-1, came_from, pairs).flatten(-2)  # (…, F)


def dropout_backward(
    d_output: Float[Tensor, "*any"], kept: Float[Tensor, "*any"]
) -> Float[Tensor, "*any"]:
    r"""Of $y = m \cdot x$: $dx = m \cdot dy$, with the same factors m (0, or $1/(1-p)$)."""
    return d_output * kept


def softmax_backward(
    d_output: Float[Tensor, "*batch S"], output: Float[Tensor, "*batch S"]
) -> Float[Tensor, "*batch S"]:
    r"""Of $p = \mathrm{softmax}(x)$: $dx_i = p_i\,(dp_i - \sum_j p_j\, dp_j)$.

    The Jacobian $\partial p_i / \partial x_j = p_i ([i = j] - p_j)$ is never written down: one dot
    product for each row takes its place. A row of zeros (nothing to attend to) sends back zeros.
    """
    dot = (output * d_output).sum(dim=-1, keepdim=True)  # (…, 1)
    return output * (d_output - dot)  # (…, S)


def attention_backward(
    d_output: Float[Tensor, "*batch T K_v"],
    query: Float[Tensor, "*batch T K"],
    key: Float[Tensor, "*batch S K"],
    value: Float[Tensor, "*batch S K_v"],
    weights: Float[Tensor, "*batch T S"],
    scale: float | None = None,
) -> tuple[Float[Tensor, "*batch T K"], Float[Tensor, "*batch S K"], Float[Tensor, "*batch S K_v"]]:
    r"""Of $O = A V$ with $A = \mathrm{softmax}(c\, Q K^\top)$, dS by `softmax_backward`:

    $$dV = A^\top dO, \quad dA = dO\, V^\top, \quad dQ = c\; dS\, K, \quad dK = c\; dS^\top Q .$$

    The mask is in the weights: where they are zero, so is dS.

    Args:
        d_output: of the outputs.
        query, key, value: as in the forward pass.
        weights: A, as the forward pass returned it, without dropout.
        scale: c; `None` means 1/√K.

    Returns:
        The gradients of query, key and value.
    """
    scale = 1 / math.sqrt(query.size(-1)) if scale is None else scale
    d_weights = d_output @ value.transpose(-2, -1)  # (…, T, S)
    d_scores = softmax_backward(d_weights, weights)  # (…, T, S)
    d_query = scale * (d_scores @ key)  # (…, T, K)
    d_key = scale * (d_scores.transpose(-2, -1) @ query)  # (…, S, K)
    return d_query, d_key, weights.transpose(-2, -1) @ d_output  # (…, S, K_v)


def split_heads_backward(d_heads: Float[Tensor, "B H T K"]) -> Float[Tensor, "B T D"]:
    """Of a rearrangement: the gradients take the way back, which is that of merging."""
    return d_heads.transpose(1, 2).flatten(-2)  # (B, T, H, K) → (B, T, D)


def merge_heads_backward(
    d_output: Float[Tensor, "B T D"], n_heads: int
) -> Float[Tensor, "B H T K"]:
    """The way back of merging is that of splitting into `n_heads`."""
    return d_output.unflatten(-1, (n_heads, -1)).transpose(1, 2)  # (B, T, H, K) → (B, H, T, K)


def layer_norm_backward(
    d_output: Float[Tensor, "*batch D"],
    x: Float[Tensor, "*batch D"],
    weight: Float[Tensor, "D"],
    eps: float = 1e-5,
) -> tuple[Float[Tensor, "*batch D"], Float[Tensor, "D"], Float[Tensor, "D"]]:
    r"""Of $y = \gamma\, n + \beta$ with $n = (x - \mu) / s$, $s = \sqrt{\sigma^2 + \varepsilon}$.

    $$dx = \tfrac1s \left(dn - \overline{dn} - n\,\overline{n\, dn}\right), \quad dn = \gamma\, dy$$

    The two means are over the features: every feature moves μ and σ, which move all others.

    Returns:
        The gradients of x, of the scale γ (`weight`) and of the shift β, summed over all rows.

    Source: Ba et al. (2016).
    """
    centred = x - x.mean(dim=-1, keepdim=True)  # (…, D)
    deviation = torch.sqrt(centred.square().mean(dim=-1, keepdim=True) + eps)  # (…, 1)
    normal = centred / deviation  # (…, D)
    d_normal = d_output * weight  # (…, D)
    of_mean = d_normal.mean(dim=-1, keepdim=True)  # (…, 1)
    of_deviation = (normal * d_normal).mean(dim=-1, keepdim=True)  # (…, 1)
    d_x = (d_normal - of_mean - normal * of_deviation) / deviation  # (…, D)
    width = x.size(-1)
    d_weight = (d_output * normal).reshape(-1, width).sum(dim=0)  # (D,)
    return d_x, d_weight, d_output.reshape(-1, width).sum(dim=0)  # (D,)


def residual_backward(
    d_output: Float[Tensor, "*any"], d_branch: Float[Tensor, "*any"]
) -> Float[Tensor, "*any"]:
    r"""Of $y = x + f(x)$: x was used twice, so two gradients add up: $dx = dy + dx_f$.

    Args:
        d_output: dy; also what f's own backward function begins with.
        d_branch: what that function returned for x.
    """
    return d_output + d_branch


def embedding_backward(
    d_output: Float[Tensor, "*batch D"],
    tokens: Int[Tensor, "*batch"],
    vocab_size: int,
    scale: float = 1.0,
) -> Float[Tensor, "V D"]:
    r"""Of $y = c\, W_t$: row t collects $c\, dy$ from every place where token t stands."""
    d_weight = d_output.new_zeros(vocab_size, d_output.size(-1))  # (V, D)
    rows = scale * d_output.reshape(-1, d_output.size(-1))
    return d_weight.index_add(0, tokens.reshape(-1), rows)


def learned_positions_backward(
    d_output: Float[Tensor, "B T D"], max_length: int
) -> Float[Tensor, "max_length D"]:
    """Of the table that is added: each row collects from all sentences; unused rows get zeros."""
    d_table = d_output.new_zeros(max_length, d_output.size(-1))
    d_table[: d_output.size(1)] = d_output.sum(dim=0)
    return d_table


def cross_entropy_backward(
    d_loss: float | Float[Tensor, ""],
    logits: Float[Tensor, "*batch V"],
    target: Int[Tensor, "*batch"],
    smoothing: float = 0.0,
    padding: int = 0,
) -> Float[Tensor, "*batch V"]:
    r"""Of the mean of $-\sum_v q_v \log p_v$ over the N real tokens: $dx = (p - q)\, dL / N$.

    p is the softmax of the logits x; q holds $1 - \varepsilon + \varepsilon/V$ at the right token,
    $\varepsilon/V$ elsewhere. Rows of padding get zeros and are not counted.

    Args:
        d_loss: of the loss itself; 1 where the loss is what is minimised.
        logits: as in the forward pass.
        target: the right tokens.
        smoothing: ε.
        padding: the id that is not counted.
    """
    real = target != padding  # (…)
    right = target.masked_fill(~real, 0)  # (…): padding may be any number, such as -100
    wanted = torch.full_like(logits, smoothing / logits.size(-1))  # (…, V)
    wanted.scatter_add_(-1, right[..., None], torch.full_like(logits[..., :1], 1 - smoothing))
    d_logits = (logits.softmax(dim=-1) - wanted) * real[..., None]  # (…, V)
    return d_logits * d_loss / real.sum()


def adam_step(
    parameter: Float[Tensor, "*any"],
    gradient: Float[Tensor, "*any"],
    mean: Float[Tensor, "*any"],
    square: Float[Tensor, "*any"],
    update: int,
    *,
    learning_rate: float = 1e-3,
    beta1: float = 0.9,
    beta2: float = 0.98,
    epsilon: float = 1e-9,
) -> tuple[Float[Tensor, "*any"], Float[Tensor, "*any"], Float[Tensor, "*any"]]:
    r"""What a gradient is for: one update of Adam, number `update`, counted from 1.

    $$m \leftarrow \beta_1 m + (1 - \beta_1) g, \quad v \leftarrow \beta_2 v + (1 - \beta_2) g^2,
      \quad
      w \leftarrow w - \eta\, \frac{m / (1 - \beta_1^n)}{\sqrt{v / (1 - \beta_2^n)} + \epsilon}$$

    Returns:
        The new parameter w, and the new running means m of the gradient and v of its square. Both
        begin at zero.

    Source: Kingma & Ba (2015), algorithm 1.
    """
    mean = beta1 * mean + (1 - beta1) * gradient
    square = beta2 * square + (1 - beta2) * gradient**2
    direction = mean / (1 - beta1**update)
    length = (square / (1 - beta2**update)).sqrt() + epsilon
    return parameter - learning_rate * direction / length, mean, square
