"""Inside one score: the products of query and key, feature by feature, and what becomes of them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
import traitlets
from torch import Tensor

from transformer_book.attention import scaled_dot_product_attention
from transformer_book.masks import padding_mask, target_mask
from transformer_book.studies.inspection import queries_and_keys
from transformer_book.support.arguments import check_choice, check_scale, check_switch
from transformer_book.transformer import Transformer
from transformer_book.widgets.explorer import Explorer, check_whole

ORDERS = ("feature", "contribution", "advantage")
DIGITS = 4  # of the queries and keys that the page holds
TIE = 1e9  # contributions are compared to nine digits, or rounding would decide their order


class NeuronView(Explorer):
    r"""Why one query scores a key as it does: $q \odot k_j$, its sum, the score, the weight.

    The dot product of a query with a key is the sum of $d_k$ products, one for each feature $f$:
    $q \cdot k_j = \sum_f q_f k_{jf}$. The page shows them as bars, for every key. The score is
    $q \cdot k_j$ times `scale`, the weight the softmax of the scores over the keys that may be
    seen. The first `kept` features, in the chosen order, are said to be *shown*, and the page
    computes what the weights would be if these features alone counted.

    A feature means nothing by itself: with an orthogonal matrix $C$, $(qC) \cdot (k_jC)$ is
    $q \cdot k_j$, whatever the $C$. `turned` shows the same queries and keys in such another basis,
    that of the cosine transform: all bars change, and no score does.

    It takes queries and keys from any model, one layer `(H, T, K)` and `(H, S, K)`, or several: as
    `(layers, H, T, K)`, or a sequence of layers, each `(H, T, K)` or `(1, H, T, K)`. They are the
    *projected* ones, cut into heads. They are kept to four digits after the point.
    `inspection.queries_and_keys` reads them from a model of the book, `from_model` makes the whole
    view.

        NeuronView(q=q, k=k, query_tokens=target, key_tokens=source, head=3, query=2)

    Layers, heads, tokens and features are counted from 0, as in the tensors; the page counts
    from 1.

    Args:
        q: the queries.
        k: the keys.
        query_tokens: names of the $T$ tokens that ask.
        key_tokens: names of the $S$ tokens that are asked.
        mask: `(T, S)`, `True` = may attend; left out: every query sees every key.
        scale: factor on the dot products; `None` means 1/√K.
        layer, head, query, key: which layer, head, query and key are chosen.
        order: of the features: as they stand ("feature"); by $q_f k_{jf}$, the largest size first
            ("contribution"); or by how far this lies from its mean over the keys, the largest
            distance first ("advantage"): what all keys get alike, the softmax takes off again.
        kept: how many features are shown; the default is 8, or all if there are fewer.
        turned: show the features of another basis.

    Raises:
        ValueError: if there is not one name for each token, shapes do not fit each other, a number
            is not finite, a query may attend to nothing, or what is chosen does not exist.
    """

    javascript = "neuron.js"
    label = "Neuron view"

    q = traitlets.List().tag(sync=True)
    k = traitlets.List().tag(sync=True)
    query_tokens = traitlets.List(traitlets.Unicode()).tag(sync=True)
    key_tokens = traitlets.List(traitlets.Unicode()).tag(sync=True)
    mask = traitlets.List().tag(sync=True)
    scale = traitlets.Float().tag(sync=True)
    layer = traitlets.Int(0).tag(sync=True, moved=True)
    head = traitlets.Int(0).tag(sync=True, moved=True)
    query = traitlets.Int(0).tag(sync=True, moved=True)
    key = traitlets.Int(0).tag(sync=True, moved=True)
    order = traitlets.Unicode("contribution").tag(sync=True, moved=True)
    kept = traitlets.Int(8).tag(sync=True, moved=True)
    turned = traitlets.Bool(False).tag(sync=True, moved=True)

    def __init__(
        self,
        q: object,
        k: object,
        query_tokens: Sequence[str],
        key_tokens: Sequence[str],
        mask: object = None,
        scale: float | None = None,
        layer: int = 0,
        head: int = 0,
        query: int = 0,
        key: int = 0,
        order: str = "contribution",
        kept: int | None = None,
        turned: bool = False,
    ) -> None:
        query_tokens, key_tokens = list(query_tokens), list(key_tokens)
        queries = _layers("q", q, "query_tokens", len(query_tokens))  # (layers, H, T, K)
        keys = _layers("k", k, "key_tokens", len(key_tokens))  # (layers, H, S, K)
        n_layers, n_heads, _, width = queries.shape
        if (n_layers, n_heads, width) != (len(keys), keys.size(1), keys.size(3)):
            raise ValueError(
                f"q has the shape {tuple(queries.shape)} and k {tuple(keys.shape)}, as (layers, "
                "heads, tokens, features), but they may differ only in their tokens."
            )
        seen = _mask(mask, len(query_tokens), len(key_tokens))
        check_scale(scale=scale)
        kept = min(8, width) if kept is None else kept
        for what, value, low, n in (
            ("layer", layer, 0, n_layers),
            ("head", head, 0, n_heads),
            ("query", query, 0, len(query_tokens)),
            ("key", key, 0, len(key_tokens)),
            ("kept", kept, 1, width + 1),
        ):
            check_whole(what, value, low, n - 1)
        check_choice("order", order, ORDERS)
        check_switch(turned=turned)
        super().__init__(
            q=_rounded(queries),
            k=_rounded(keys),
            query_tokens=query_tokens,
            key_tokens=key_tokens,
            mask=seen,
            scale=1 / math.sqrt(width) if scale is None else float(scale),
            layer=layer,
            head=head,
            query=query,
            key=key,
            order=order,
            kept=kept,
            turned=turned,
        )

    @classmethod
    def from_model(
        cls,
        model: Transformer,
        source_ids: Tensor,
        source: Sequence[str],
        target_ids: Tensor | None = None,
        target: Sequence[str] = (),
        kind: str = "encoder",
        **chosen: object,
    ) -> NeuronView:
        """The view of one attention of a model of the book, with its mask and its scale.

        Args:
            model: in evaluation mode, or dropout shows.
            source_ids: `(1, S)`.
            source: their names.
            target_ids: `(1, T)`, what the decoder reads, `<sos>` first; the encoder needs none.
            target: their names.
            kind: "encoder", "decoder" (self-attention each) or "cross".
            chosen: layer, head, query, key, order, kept, turned.

        Raises:
            ValueError: more than one sentence; as the constructor; as `queries_and_keys`.
        """
        if len(source_ids) != 1:
            raise ValueError(
                f"source_ids holds {len(source_ids)} sentences, but one can be shown; take one of "
                "them: source_ids[i : i + 1]."
            )
        q, k = (each[:, 0] for each in queries_and_keys(model, source_ids, target_ids, kind))
        mask = None
        if kind == "decoder" and model.config.causal:
            mask = target_mask(target_ids)[0, 0]  # (T, T)
        elif kind == "decoder":
            mask = padding_mask(target_ids)[0, 0].expand(q.size(2), -1)  # (T, T)
        else:
            mask = padding_mask(source_ids)[0, 0].expand(q.size(2), -1)  # (T, S)
        names = {"query_tokens": source, "key_tokens": source}
        if kind != "encoder":
            names["query_tokens"] = target
        if kind == "decoder":
            names["key_tokens"] = target
        return cls(q, k, **names, mask=mask, scale=model.config.score_scale, **chosen)

    def numbers(self) -> dict[str, object]:
        r"""Each key's sum, score and weight, and the chosen key's features in the chosen order.

        `dots` are $q \cdot k_j$, `scores` and `weights` what becomes of them; a key that may not be
        seen has the weight 0 and no score (not a number). `kept_dots` and `kept_weights` are the
        same of the shown features alone. `features` counts from 1; `q_values`, `k_values`,
        `products` and `advantages` stand in its order, and `running` is the sum up to there. `part`
        is the sum over the shown features, `others` that over the rest. `strongest` names the key
        with the largest weight, `kept_strongest` that of the shown features alone.
        """
        at = self.layer, self.head
        q = torch.tensor(self.q[at[0]][at[1]][self.query], dtype=torch.float64)  # (K,)
        K = torch.tensor(self.k[at[0]][at[1]], dtype=torch.float64)  # (S, K)
        if self.turned:
            C = cosine_basis(len(q))  # (K, K)
            q, K = q @ C, K @ C
        seen = torch.tensor(self.mask[self.query]) if self.mask else torch.ones(len(K)).bool()
        products = q * K  # (S, K)
        advantages = products[self.key] - products[seen].mean(dim=0)  # (K,)
        ranked = {
            "feature": torch.zeros(len(q)),
            "contribution": -products[self.key].abs(),
            "advantage": -advantages.abs(),
        }[self.order]
        features = (ranked * TIE).round().argsort(stable=True)  # (K,), equal ones as they stand
        running = products[self.key][features].cumsum(dim=0)  # (K,)
        kept = features[: self.kept]
        weights = self._weights(q, K, seen)
        kept_weights = self._weights(q[kept], K[:, kept], seen)
        dots, kept_dots = products.sum(dim=-1), products[:, kept].sum(dim=-1)  # (S,) each
        return {
            "place": f"layer {self.layer + 1}, head {self.head + 1}",
            "asking": self.query_tokens[self.query],
            "asked": self.key_tokens[self.key],
            "dots": dots.tolist(),
            "scores": (dots * self.scale).masked_fill(~seen, math.nan).tolist(),
            "weights": weights.tolist(),
            "kept_dots": kept_dots.tolist(),
            "kept_weights": kept_weights.tolist(),
            "features": (features + 1).tolist(),
            "q_values": q[features].tolist(),
            "k_values": K[self.key][features].tolist(),
            "products": products[self.key][features].tolist(),
            "advantages": advantages[features].tolist(),
            "running": running.tolist(),
            "part": kept_dots[self.key].item(),
            "others": (dots - kept_dots)[self.key].item(),
            "strongest": self.key_tokens[_first_largest(weights)],
            "kept_strongest": self.key_tokens[_first_largest(kept_weights)],
        }

    def _weights(self, q: Tensor, K: Tensor, seen: Tensor) -> Tensor:
        """The weights `(S,)` of the query `(K,)` for the keys `(S, K)` that are seen, `(S,)`."""
        nothing = torch.zeros(len(K), 1, dtype=K.dtype)  # the values do not matter here
        scale = self.scale
        return scaled_dot_product_attention(q[None], K, nothing, seen[None], scale=scale)[1][0]


def cosine_basis(width: int) -> Tensor:
    r"""The orthogonal matrix of the cosine transform (DCT-II), `(K, K)`, one basis vector a column.

    $$C_{gf} = \sqrt{(2 - [f = 0]) / K} \; \cos(\pi (g + \tfrac12) f / K)$$
    """
    place = torch.arange(width, dtype=torch.float64)
    cosines = (math.pi * (place[:, None] + 0.5) * place / width).cos()
    return cosines * torch.where(place == 0, 1 / width, 2 / width).sqrt()


def _layers(what: str, given: object, names: str, n_tokens: int) -> Tensor:
    """Queries or keys in any of the usual forms, as `(layers, H, tokens, features)`."""
    try:
        if isinstance(given, Sequence) and all(isinstance(each, Tensor) for each in given):
            given = torch.stack([each.detach().cpu() for each in given])
        x = torch.as_tensor(given).detach().cpu().double()
    except (TypeError, ValueError, RuntimeError) as error:
        raise ValueError(
            f"{what} is a {type(given).__name__} that is no table of numbers; give it as (heads, "
            "tokens, features)."
        ) from error
    if x.dim() == 5 and x.size(1) == 1:  # a list of layers, each with a batch of one
        x = x[:, 0]
    if x.dim() == 3:
        x = x[None]
    if x.dim() != 4 or 0 in x.shape:
        raise ValueError(
            f"{what} has the shape {tuple(x.shape)}, but it must be (heads, tokens, features) or "
            "(layers, heads, tokens, features), and none of them empty."
        )
    if x.size(2) != n_tokens:
        raise ValueError(
            f"{what} holds {x.size(2)} tokens, but {names} names {n_tokens}; special tokens need "
            "names, too."
        )
    if not x.isfinite().all():
        raise ValueError(f"{what} holds {x[~x.isfinite()][0].item()}, but it must be finite.")
    return x


def _mask(mask: object, n_queries: int, n_keys: int) -> list:
    """The mask as lists of `True` and `False`, `(T, S)`; empty if nothing is hidden."""
    if mask is None or (isinstance(mask, Sequence) and not mask):
        return []
    seen = torch.as_tensor(mask)
    if seen.dtype != torch.bool or seen.shape != (n_queries, n_keys):
        raise ValueError(
            f"mask has the shape {tuple(seen.shape)} and the type {seen.dtype}, but it must be "
            f"boolean, of the shape {(n_queries, n_keys)}: True where a query may attend."
        )
    blind = (~seen.any(dim=1)).nonzero().flatten().tolist()
    if blind:
        raise ValueError(
            f"mask lets query {blind[0]} attend to nothing, so that there are no weights to show; "
            "leave this query out."
        )
    return [] if seen.all() else seen.tolist()


def _rounded(x: Tensor) -> list:
    """Nested lists, each number with the digits that the page holds."""
    return [_rounded(part) if part.dim() else round(part.item(), DIGITS) for part in x]


def _first_largest(weights: Tensor) -> int:
    """The place of the largest weight; of equal ones the first."""
    return (weights >= weights.max() - 1 / TIE).nonzero()[0].item()
