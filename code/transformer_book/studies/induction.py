"""Sequences that repeat, a model of attention alone, and how to find its induction heads.

Chapter 26. The task has one thing to learn: what came after this token the last time comes again.
"""

from __future__ import annotations

from pathlib import Path

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from transformer_book.attention import MultiHeadAttention, recorded_attention
from transformer_book.embeddings import POSITIONS, TokenEmbedding
from transformer_book.layers import LayerNorm, Residual
from transformer_book.masks import causal_mask
from transformer_book.support.arguments import check_choice, check_positive
from transformer_book.weights.checkpoints import load_tensors, load_weights

CHECKPOINTS = Path(__file__).parents[1] / "recipes" / "today" / "induction.safetensors"

# --- the task -------------------------------------------------------------------------------------


def repeated_sequences(
    periods: Int[Tensor, " B"], length: int, vocab_size: int, generator: torch.Generator
) -> Int[Tensor, "B T"]:
    r"""Random tokens that repeat: $x_t = x_{t - P}$ from position $P$ on.

    The first $P$ tokens of a sequence are all different, and drawn anew for each sequence. So the
    last place where a token stood is one place, and nothing is to be learned about single tokens.

    Args:
        periods: P of each sequence.
        length: T, tokens in a sequence.
        vocab_size: V, tokens to draw from.
        generator: what draws.

    Raises:
        ValueError: for a period below 1 or above the vocabulary.
    """
    check_positive(length=length, vocab_size=vocab_size)
    low, high = int(periods.min()), int(periods.max())
    if low < 1 or high > vocab_size:
        raise ValueError(
            f"The periods go from {low} to {high}, but a period has from 1 to {vocab_size} tokens, "
            "all different."
        )
    order = torch.rand(len(periods), vocab_size, generator=generator).argsort(dim=1)  # (B, V)
    place = torch.arange(length) % periods[:, None]  # (B, T)
    return order.gather(1, place)  # (B, T)


def can_copy(periods: Int[Tensor, " B"], length: int) -> Bool[Tensor, "B T"]:
    """Which positions have seen their token before: those from the period on.

    The token after such a position is the one that came after the same token the last time. All
    other tokens cannot be known from what stands before them.
    """
    return torch.arange(length) >= periods[:, None]  # (B, T)


def losses(
    model: nn.Module, tokens: Int[Tensor, "B T"], periods: Int[Tensor, " B"]
) -> tuple[Float[Tensor, ""], Float[Tensor, ""]]:
    """The mean loss of predicting each next token, in nats, the first time and when it repeats.

    Returns:
        The mean over the positions that cannot copy, and over those that can (`can_copy`). The last
        position has no next token.
    """
    logits = model(tokens)[:, :-1]  # (B, T - 1, V)
    each = F.cross_entropy(logits.transpose(1, 2), tokens[:, 1:], reduction="none")  # (B, T - 1)
    again = can_copy(periods, tokens.size(1))[:, :-1]  # (B, T - 1)
    return each[~again].mean(), each[again].mean()


# --- the model ------------------------------------------------------------------------------------


class AttentionOnly(nn.Module):
    r"""A decoder-only model without feed-forward networks: residual connections around attention.

    $$x \leftarrow x + \mathrm{MultiHead}(\mathrm{LayerNorm}(x)) \text{ in each layer, then }
      \mathrm{logits} = \mathrm{LayerNorm}(x)\, W$$

    Nothing has a bias.

    Args:
        vocab_size: number of token ids, `V`.
        d_model: width of the vectors, `D`.
        n_heads: heads per layer, `H`.
        n_layers: depth.
        max_length: longest sequence.
        positions: `"learned"`, `"sinusoidal"` or `"none"`.

    Shapes: tokens `(B, T)` → logits `(B, T, V)` of the token that comes next.

    Raises:
        ValueError: for sizes below 1, heads that do not divide `d_model`, unknown positions, a
            token outside the vocabulary, or a sequence that is too long.

    Source: Elhage et al. (2021), with layer norms, which their account leaves out.
    """

    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        n_heads: int,
        n_layers: int,
        max_length: int,
        positions: str = "learned",
    ) -> None:
        super().__init__()
        check_positive(n_layers=n_layers)
        check_choice("positions", positions, POSITIONS)
        self.embedding = TokenEmbedding(vocab_size, d_model)
        self.positions = POSITIONS[positions](d_model, max_length)
        self.attentions = nn.ModuleList(
            MultiHeadAttention(d_model, n_heads, bias=False) for _ in range(n_layers)
        )
        self.residuals = nn.ModuleList(
            Residual(d_model, dropout=0.0, bias=False) for _ in range(n_layers)
        )
        self.norm = LayerNorm(d_model, bias=False)
        self.output = nn.Linear(d_model, vocab_size, bias=False)

    def forward(self, tokens: Int[Tensor, "B T"]) -> Float[Tensor, "B T V"]:
        x = self.positions(self.embedding(tokens))  # (B, T, D)
        mask = causal_mask(tokens.size(1)).to(tokens.device)  # (T, T)
        for attention, residual in zip(self.attentions, self.residuals, strict=True):
            x = residual(x, lambda y, attend=attention: attend(y, y, y, mask))  # (B, T, D)
        return self.output(self.norm(x))  # (B, T, V)


def recorded_models() -> dict[int, AttentionOnly]:
    """One recorded run, by its updates: the two-layer model of seed 1 as it was after so many.

    The weights are kept in float16 and computed with in float32.
    """
    tensors, about = load_tensors(CHECKPOINTS)
    settings = about["settings"]
    names = ("vocab_size", "d_model", "n_heads", "n_layers", "length", "positions")
    models = {}
    for update in sorted({int(name.split("/")[0]) for name in tensors}):
        model = AttentionOnly(*(settings[name] for name in names)).eval()
        own = {
            name.split("/", 1)[1]: weight.float()
            for name, weight in tensors.items()
            if int(name.split("/")[0]) == update
        }
        load_weights(model, own, CHECKPOINTS)
        models[update] = model
    return models


def attention_of(
    model: AttentionOnly, tokens: Int[Tensor, "B T"]
) -> Float[Tensor, "layers B H T T"]:
    """The weights of all heads when the model reads these tokens, layer by layer."""
    with torch.no_grad(), recorded_attention(model):
        model(tokens)
    return torch.stack([attention.weights for attention in model.attentions])


# --- finding heads --------------------------------------------------------------------------------


def induction_score(weights: Float[Tensor, "B H T T"], period: int) -> Float[Tensor, " H"]:
    r"""How much a head looks at what came after this token the last time.

    $$\text{score}_h = \text{mean over sequences and rows } t \ge P \text{ of } a_{h,\,t,\,t-P+1}$$

    Args:
        weights: attention weights `(B, H, T, T)`, rows are queries, on sequences that repeat.
        period: P, the same in all of them.

    Returns:
        `(H,)`, between 0 and 1.

    Raises:
        ValueError: if no row has seen its token before.

    Source: Olsson et al. (2022), "prefix matching".
    """
    length = weights.size(-1)
    if not 1 <= period < length:
        raise ValueError(
            f"period is {period}, but the maps have {length} tokens: in a sequence that repeats, "
            f"it is from 1 to {length - 1}."
        )
    rows = torch.arange(period, length)  # those that have seen their token before
    return weights[:, :, rows, rows - period + 1].mean(dim=(0, 2))  # (B, H, R) → (H,)


def previous_token_score(weights: Float[Tensor, "B H T T"]) -> Float[Tensor, " H"]:
    r"""How much a head looks one place back: the mean of $a_{h,t,t-1}$ over all rows $t \ge 1$.

    Raises:
        ValueError: if there is no place before the last one.
    """
    if weights.size(-1) < 2:
        raise ValueError("The maps have one token: none stands before it.")
    return weights.diagonal(-1, dim1=-2, dim2=-1).mean(dim=(0, 2))  # (B, H, T - 1) → (H,)


def ablate_head(
    heads: Float[Tensor, "B H T K"],
    weight: Float[Tensor, "merged D"],
    bias: Float[Tensor, " D"] | None,
    head: int,
) -> Float[Tensor, "B T D"]:
    r"""What multi-head attention gives if one head adds nothing: zero ablation.

    $$\sum_{g \ne h} \mathrm{head}_g\, W_g + b, \qquad
      W_g = \text{rows } gK \text{ to } (g + 1)K - 1 \text{ of } W$$

    Args:
        heads: what each head has found.
        weight: of the output projection, `(H·K, D)`: `merged @ weight + bias` (nn.Linear keeps
            the transpose).
        bias: of the output projection; it belongs to no head, and stays.
        head: which one, counted from 0.

    Raises:
        ValueError: there is no such head, or the weight does not fit the heads.
    """
    n_heads, d_head = heads.size(1), heads.size(3)
    if not 0 <= head < n_heads:
        raise ValueError(f"head is {head}, but there are {n_heads} heads, counted from 0.")
    if len(weight) != n_heads * d_head:
        raise ValueError(
            f"The weight has {len(weight)} rows, but {n_heads} heads of {d_head} features have "
            f"{n_heads * d_head}."
        )
    kept = torch.arange(n_heads, device=heads.device) != head  # (H,)
    silent = heads * kept[:, None, None]  # (B, H, T, K)
    output = silent.transpose(1, 2).flatten(2) @ weight  # (B, T, H·K) → (B, T, D)
    return output if bias is None else output + bias
