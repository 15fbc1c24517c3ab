"""The heads of a model on one sentence: lines between tokens, for any layer, head and attention."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import traitlets
from torch import Tensor

from transformer_book.studies.inspection import attention_maps
from transformer_book.support.arguments import check_choice
from transformer_book.transformer import Transformer
from transformer_book.widgets.explorer import Explorer, check_share, check_whole

SIDES = ("query", "key")
DIGITS = 3  # of the weights that the page holds
TIE = 1e-9  # what two sums of the same weights may differ by


class HeadExplorer(Explorer):
    r"""What each head looks at: lines from the queries to the keys, as thick as the weights.

    It takes the attention weights of one sentence, whoever computed them. `encoder` is of the shape
    `(layers, heads, S, S)`, `decoder` `(layers, heads, T, T)`, `cross` `(layers, heads, T, S)`, as
    one tensor, array or nested list, or as a sequence of layers, each `(heads, T, S)` or
    `(1, heads, T, S)`; leave out what there is none of. So the outputs of Hugging Face's models fit
    as they are: `encoder=outputs.encoder_attentions`, and so on, with
    `tokenizer.convert_ids_to_tokens(ids)` for the names of the tokens. Weights are kept to three
    digits after the point. `from_model` takes a model of the book instead.

        HeadExplorer(labels, encoder=maps, layer=1, head=3)

    Layers, heads and tokens are counted from 0, as in the tensors; the page counts from 1.

    Args:
        source: names of the $S$ source tokens.
        target: names of the $T$ target tokens, as the decoder reads them.
        encoder, decoder, cross: the weights.
        kind: which of them to show: "encoder", "decoder" or "cross"; by default the first given.
        layer: which layer.
        head: which head; −1 is the average of the layer's heads.
        side: the chosen token is a "query", or a "key".
        token: the chosen token; −1 is all queries.
        threshold: lines of smaller weight are not drawn; above 0, at most 1.

    Raises:
        ValueError: if no weights are given, there is not one name for each token, layers differ in
            heads, the weights are of several sentences or not between 0 and 1, or what is chosen
            does not exist.
    """

    javascript = "heads.js"
    label = "Head explorer"

    source = traitlets.List(traitlets.Unicode()).tag(sync=True)
    target = traitlets.List(traitlets.Unicode()).tag(sync=True)
    encoder = traitlets.List().tag(sync=True)
    decoder = traitlets.List().tag(sync=True)
    cross = traitlets.List().tag(sync=True)
    kind = traitlets.Unicode().tag(sync=True, moved=True)
    layer = traitlets.Int(0).tag(sync=True, moved=True)
    head = traitlets.Int(0).tag(sync=True, moved=True)
    side = traitlets.Unicode("query").tag(sync=True, moved=True)
    token = traitlets.Int(-1).tag(sync=True, moved=True)
    threshold = traitlets.Float(0.05).tag(sync=True, moved=True)

    def __init__(
        self,
        source: Sequence[str] = (),
        target: Sequence[str] = (),
        encoder: object = None,
        decoder: object = None,
        cross: object = None,
        kind: str | None = None,
        layer: int = 0,
        head: int = 0,
        side: str = "query",
        token: int = -1,
        threshold: float = 0.05,
    ) -> None:
        names = {"source": list(source), "target": list(target)}
        given = {"encoder": encoder, "decoder": decoder, "cross": cross}
        maps = {
            kind_: weights_of_layers(kind_, layers, *sides_of(kind_, names))
            for kind_, layers in given.items()
        }
        maps = {kind_: weights for kind_, weights in maps.items() if weights}
        if not maps:
            raise ValueError(
                "There are no attention weights to show: give encoder, decoder or cross."
            )
        if kind is None:
            kind = next(iter(maps))
        check_choice("kind", kind, maps)
        check_choice("side", side, SIDES)
        weights = maps[kind]
        n_tokens = len(weights[0][0]) if side == "query" else len(weights[0][0][0])
        n_layers, n_heads = len(weights), len(weights[0])
        check_whole("layer", layer, 0, n_layers - 1, f"{kind} has {n_layers} layers")
        check_whole("head", head, -1, n_heads - 1, f"{kind} has {n_heads} heads")
        check_whole("token", token, -1, n_tokens - 1, f"there are {n_tokens} tokens on that side")
        if side == "key" and token == -1:
            raise ValueError("token is -1, all queries, but side is 'key': choose one key.")
        check_share("threshold", threshold)
        super().__init__(
            **names,
            **{kind_: maps.get(kind_, []) for kind_ in given},
            kind=kind,
            layer=layer,
            head=head,
            side=side,
            token=token,
            threshold=float(threshold),
        )

    @classmethod
    def from_model(
        cls,
        model: Transformer,
        source_ids: Tensor,
        source: Sequence[str],
        target_ids: Tensor | None = None,
        target: Sequence[str] = (),
        **chosen: object,
    ) -> HeadExplorer:
        """The heads of a model of the book, or of one with your own attention in it.

        Args:
            model: in evaluation mode, or dropout shows.
            source_ids: `(1, S)`.
            source: their names.
            target_ids: `(1, T)`, what the decoder reads, `<sos>` first; without it, only the
                encoder is shown.
            target: their names.
            chosen: kind, layer, head, side, token, threshold.

        Raises:
            ValueError: as the constructor.
        """
        found = attention_maps(model, source_ids, target_ids)  # (layers, 1, H, T, S) each
        maps = {kind: list(layers) for kind, layers in found.items()}
        return cls(source, target, **maps, **chosen)

    def numbers(self) -> dict[str, object]:
        """The weights of the chosen token, those of the average head, and what all heads are like.

        `weights` lead from the chosen query to each key, or from each query to the chosen key; for
        all queries they are the mean. `average` is the same of the average of the layer's heads.
        `breadths` holds, for each layer and head, and last for the average, the mean over the
        queries of the exponential of the entropy. `lines` is how many lines are drawn, `carried`
        how much of the weight of the `possible` ones they carry. `strongest` names the token with
        the largest weight.
        """
        maps = torch.tensor(getattr(self, self.kind), dtype=torch.float64)  # (layers, H, T, S)
        maps = torch.cat([maps, maps.mean(dim=1, keepdim=True)], dim=1)  # (layers, H + 1, T, S)
        layer, n_heads = min(self.layer, len(maps) - 1), maps.size(1) - 1
        head = min(self.head, n_heads - 1) if self.head >= 0 else n_heads
        breadths = torch.special.entr(maps).sum(dim=-1).exp().mean(dim=-1)  # (layers, H + 1)
        chosen = self._of_token(maps[layer])  # (H + 1, a row for each token concerned, …)
        possible = chosen[head]
        drawn = possible >= self.threshold - TIE
        weights, average = chosen[head].mean(dim=0), chosen[-1].mean(dim=0)
        queries, keys = sides_of(self.kind, {"source": self.source, "target": self.target})
        others = keys if self.side == "query" else queries
        place = (weights >= weights.max() - TIE).nonzero()[0].item()  # the first
        return {
            "chosen": self._name_of_token(queries, keys),
            "shown": f"layer {layer + 1}, "
            + (f"head {head + 1}" if head < n_heads else f"average of {n_heads} heads"),
            "weights": weights.tolist(),
            "sum": weights.sum().item(),
            "average": average.tolist(),
            "average_sum": average.sum().item(),
            "strongest": others[place],
            "largest": weights[place].item(),
            "breadths": breadths.tolist(),
            "lines": int(drawn.sum()),
            "possible": possible.numel(),
            "carried": ((possible * drawn).sum() / possible.sum().clamp(min=TIE)).item(),
        }

    def _of_token(self, maps: Tensor) -> Tensor:
        """The weights `(H + 1, T, S)` at the chosen token `(H + 1, 1, …)`, or all of them."""
        if self.token < 0:
            return maps
        along = 1 if self.side == "query" else 2
        place = min(self.token, maps.size(along) - 1)
        return maps.select(along, place).unsqueeze(1)

    def _name_of_token(self, queries: list[str], keys: list[str]) -> str:
        if self.token < 0:
            return "all queries, on average"
        names = queries if self.side == "query" else keys
        return f"{self.side} {names[min(self.token, len(names) - 1)]}"


def sides_of(kind: str, names: dict[str, list[str]]) -> tuple[list[str], list[str]]:
    """The names of the queries and of the keys of one kind of attention."""
    queries = names["source"] if kind == "encoder" else names["target"]
    keys = names["target"] if kind == "decoder" else names["source"]
    return queries, keys


def weights_of_layers(
    what: str, layers: object, queries: Sequence[str], keys: Sequence[str]
) -> list:
    """Attention weights in any of the usual forms, as nested lists `(layers, heads, T, S)`.

    None has no layers.

    Raises:
        ValueError: as `HeadExplorer`.
    """
    if layers is None:
        return []
    if not isinstance(layers, Sequence) and not hasattr(layers, "__array__"):
        raise ValueError(
            f"{what} is a {type(layers).__name__}, but it must be a tensor, an array or a "
            "sequence of layers."
        )
    found = []
    for number, layer in enumerate(layers):
        weights = _one_layer(what, number, layer)  # (H, T, S)
        if weights.shape[1:] != (len(queries), len(keys)):
            raise ValueError(
                f"{what} has maps of {weights.size(1)} × {weights.size(2)} tokens, but there are "
                f"names for {len(queries)} queries and {len(keys)} keys; special tokens need "
                "names, too."
            )
        if found and len(found[0]) != len(weights):
            raise ValueError(
                f"{what} has {len(found[0])} heads in layer 0 and {len(weights)} in layer "
                f"{number}, but all layers must have the same number."
            )
        if not ((weights >= 0) & (weights <= 1.001)).all():  # a half-precision 1 may be above it
            wrong = weights[~((weights >= 0) & (weights <= 1.001))][0].item()
            raise ValueError(
                f"{what} holds {wrong:.4g}, but weights lie between 0 and 1; give the weights "
                "after the softmax."
            )
        found.append([[[round(w, DIGITS) for w in row] for row in m] for m in weights.tolist()])
    return found


def _one_layer(what: str, number: int, layer: object) -> Tensor:
    """The weights of one layer, `(H, T, S)`."""
    if layer is None:
        raise ValueError(
            f"{what} holds None for layer {number}: the model kept no weights; a Hugging Face "
            "model keeps them with attn_implementation='eager' and output_attentions=True."
        )
    try:
        weights = torch.as_tensor(layer).detach().cpu().double()
    except (TypeError, ValueError, RuntimeError) as error:
        raise ValueError(
            f"{what} holds a {type(layer).__name__} for layer {number} that is no table of "
            "numbers; give each layer as (heads, queries, keys)."
        ) from error
    if weights.dim() == 4 and weights.size(0) != 1:
        raise ValueError(
            f"{what} holds {weights.size(0)} sentences in layer {number}, but one can be shown; "
            "take one of them: weights[i : i + 1]."
        )
    if weights.dim() == 4:
        weights = weights[0]
    if weights.dim() != 3 or 0 in weights.shape:
        raise ValueError(
            f"{what} has the shape {tuple(weights.shape)} in layer {number}, but each layer must "
            "be (heads, queries, keys) or (1, heads, queries, keys), and none of them empty."
        )
    return weights
