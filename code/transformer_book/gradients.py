"""The gradients of a whole encoder–decoder, without autograd.

The model makes its forward pass and keeps what went into its parts and what came out; then
`backwards.py` leads from the loss to the embeddings, part by part, in the opposite order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from transformer_book import backwards
from transformer_book.attention import recorded_attention
from transformer_book.batches import Batch
from transformer_book.transformer import Transformer

Backward = Callable[[Tensor], Tensor]


@contextmanager
def kept_by_name(model: nn.Module) -> Iterator[dict[str, tuple[Tensor, Tensor]]]:
    """While this is open, a call of the model keeps input and output of every part, by name."""
    kept: dict[str, tuple[Tensor, Tensor]] = {}

    def keep(name: str) -> Callable:
        return lambda _, inputs, output: kept.update({name: (inputs[0], output)})

    parts = [(n, m) for n, m in model.named_modules() if n and not isinstance(m, nn.ModuleList)]
    handles = [part.register_forward_hook(keep(name)) for name, part in parts]
    try:
        yield kept
    finally:
        for handle in handles:
            handle.remove()


@dataclass
class Gradients:
    """What `transformer_gradients` finds.

    Attributes:
        parameters: for each parameter its gradient, by the names of `named_parameters`. A tied
            matrix has one name, and the shares of all its places.
        vectors: the gradients of what flows: of the output of each layer, `(B, T, D)`, as
            `"encoder.layers.0"`; of the embeddings with their positions, as `"source_positions"`;
            and of what the heads of an attention found, `(B, H, T, K)`, as
            `"encoder.layers.0.self_attention"`.
    """

    parameters: dict[str, Tensor] = field(default_factory=dict)
    vectors: dict[str, Tensor] = field(default_factory=dict)


def transformer_gradients(model: Transformer, batch: Batch, smoothing: float = 0.0) -> Gradients:
    """The gradients of `label_smoothed_loss` on the targets of a batch, as in evaluation mode.

    Every configuration is allowed; dropout is left out. The same numbers come from `backward` of
    PyTorch's autograd, which is not used: nothing here needs `requires_grad`.

    Args:
        model: the book's encoder–decoder; it is not changed.
        batch: on the device of the model.
        smoothing: of the labels, ε.
    """
    was_training = model.training
    try:
        with torch.no_grad(), recorded_attention(model.eval()), kept_by_name(model) as kept:
            logits = model(batch.source, batch.target_in)
            return _WayBack(model, kept).go(logits, batch, smoothing)
    finally:
        model.train(was_training)


class _WayBack:
    """From the logits back to the embeddings; every method undoes one part of the model."""

    def __init__(self, model: Transformer, kept: dict[str, tuple[Tensor, Tensor]]) -> None:
        self.model, self.config, self.kept = model, model.config, kept
        self.found = Gradients()
        self.names = {parameter: name for name, parameter in model.named_parameters()}

    def add(self, parameter: Tensor | None, gradient: Tensor) -> None:
        """Gradients of a matrix that is used twice add up."""
        if parameter is not None:
            found, name = self.found.parameters, self.names[parameter]
            found[name] = found[name] + gradient if name in found else gradient

    def go(self, logits: Float[Tensor, "B T V"], batch: Batch, smoothing: float) -> Gradients:
        d_logits = backwards.cross_entropy_backward(1.0, logits, batch.target_out, smoothing)
        d_vectors = self.linear("output", d_logits)  # (B, T, D)
        d_target, d_memory = self.decoder(d_vectors)  # (B, T, D), (B, S, D)
        self.embedding("target", batch.target_in, d_target)
        self.embedding("source", batch.source, self.encoder(d_memory))
        return self.found

    def decoder(
        self, d_output: Float[Tensor, "B T D"]
    ) -> tuple[Float[Tensor, "B T D"], Float[Tensor, "B S D"]]:
        d_x = self.final_norm("decoder.norm", d_output)
        shares: list[Tensor] = []  # of the memory: every layer reads it
        for n in reversed(range(self.config.n_decoder_layers)):
            layer = f"decoder.layers.{n}"
            self.found.vectors[layer] = d_x
            d_x = self.residual(f"{layer}.feed_forward_residual", self.feed_forward(layer), d_x)
            cross = self.attention(f"{layer}.cross_attention", shares)
            d_x = self.residual(f"{layer}.cross_residual", cross, d_x)
            itself = self.attention(f"{layer}.self_attention")
            d_x = self.residual(f"{layer}.self_residual", itself, d_x)
        return d_x, torch.stack(shares).sum(dim=0)

    def encoder(self, d_output: Float[Tensor, "B S D"]) -> Float[Tensor, "B S D"]:
        d_x = self.final_norm("encoder.norm", d_output)
        for n in reversed(range(self.config.n_encoder_layers)):
            layer = f"encoder.layers.{n}"
            self.found.vectors[layer] = d_x
            d_x = self.residual(f"{layer}.feed_forward_residual", self.feed_forward(layer), d_x)
            itself = self.attention(f"{layer}.self_attention")
            d_x = self.residual(f"{layer}.attention_residual", itself, d_x)
        return d_x

    def final_norm(self, name: str, d_output: Float[Tensor, "B T D"]) -> Float[Tensor, "B T D"]:
        return d_output if self.config.norm == "post" else self.layer_norm(name, d_output)

    def residual(
        self, name: str, sublayer: Backward, d_output: Float[Tensor, "B T D"]
    ) -> Float[Tensor, "B T D"]:
        if self.config.norm == "post":
            d_output = self.layer_norm(f"{name}.norm", d_output)
        d_branch = sublayer(d_output)
        if self.config.norm == "pre":
            d_branch = self.layer_norm(f"{name}.norm", d_branch)
        if not self.config.residual:
            return d_branch
        return backwards.residual_backward(d_output, d_branch)

    def feed_forward(self, layer: str) -> Backward:
        if not self.config.feed_forward:
            return torch.zeros_like
        first, second = f"{layer}.feed_forward.linear1", f"{layer}.feed_forward.linear2"

        def sublayer(d_output: Tensor) -> Tensor:
            d_hidden = self.linear(second, d_output)  # (B, T, F)
            return self.linear(first, self.activation(d_hidden, self.kept[first][1]))

        return sublayer

    def activation(self, d_output: Tensor, x: Tensor) -> Tensor:
        kind = self.config.activation
        if kind == "relu":
            return backwards.relu_backward(d_output, x)
        if kind == "groupsort":
            return backwards.group_sort_backward(d_output, x)
        return backwards.gelu_backward(d_output, x, "tanh" if kind == "gelu_tanh" else "none")

    def attention(self, name: str, shares: list[Tensor] | None = None) -> Backward:
        """Of self-attention; or, with a list for the gradient of the memory, of cross-attention."""

        def sublayer(d_output: Tensor) -> Tensor:
            module, n_heads = self.model.get_submodule(name), self.config.n_heads
            q, k, v = (
                backwards.merge_heads_backward(self.kept[f"{name}.{part}"][1], n_heads)
                for part in ("query", "key", "value")
            )  # split as in the forward pass: (B, H, T, K), (B, H, S, K)
            d_heads = backwards.merge_heads_backward(
                self.linear(f"{name}.output", d_output), n_heads
            )
            self.found.vectors[name] = d_heads  # (B, H, T, K)
            d_query, d_key, d_value = (
                self.linear(f"{name}.{part}", backwards.split_heads_backward(gradient))
                for part, gradient in zip(
                    ("query", "key", "value"),
                    backwards.attention_backward(d_heads, q, k, v, module.weights, module.scale),
                    strict=True,
                )
            )
            if shares is None:
                return d_query + d_key + d_value  # one input was asked, matched and averaged
            shares.append(d_key + d_value)
            return d_query

        return sublayer

    def linear(self, name: str, d_output: Tensor) -> Tensor:
        module = self.model.get_submodule(name)
        x = self.kept[name][0]
        d_x, d_weight, d_bias = backwards.linear_backward(d_output, x, module.weight)
        self.add(module.weight, d_weight)
        self.add(module.bias, d_bias)
        return d_x

    def layer_norm(self, name: str, d_output: Tensor) -> Tensor:
        module = self.model.get_submodule(name)
        x = self.kept[name][0]
        d_x, d_weight, d_bias = backwards.layer_norm_backward(
            d_output, x, module.weight, module.eps
        )
        self.add(module.weight, d_weight)
        self.add(module.bias, d_bias)
        return d_x

    def embedding(
        self, side: str, tokens: Int[Tensor, "B T"], d_output: Float[Tensor, "B T D"]
    ) -> None:
        self.found.vectors[f"{side}_positions"] = d_output
        positions = self.model.get_submodule(f"{side}_positions")
        if self.config.positions == "learned":
            table = backwards.learned_positions_backward(d_output, self.config.max_length)
            self.add(positions.weight, table)
        module = self.model.get_submodule(f"{side}_embedding")
        size = len(module.weight)
        rows = backwards.embedding_backward(d_output, tokens, size, module.scale)
        self.add(module.weight, rows)
