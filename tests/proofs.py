"""Every component of the model proven equal to PyTorch's own, on random tiny configurations.

A proof is a function of the package (a namespace of its modules) and a seed, and raises
`AssertionError` where the two differ. `test_proofs.py` runs all of them on the package as it is;
`test_mutants.py` runs them on damaged models, each of which must fail. Everything is float64, and
wherever a proof compares outputs it compares gradients too: of the inputs and of every parameter.
"""

from __future__ import annotations

import copy
import math
import random
from collections.abc import Callable
from types import SimpleNamespace

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.testing import assert_close

Book = SimpleNamespace
Proof = Callable[[Book, int], None]
PROOFS: list[Proof] = []


def proof(function: Proof) -> Proof:
    PROOFS.append(function)
    return function


class Draw:
    """Random tiny sizes and tensors, a function of the seed alone."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.random = random.Random(seed)
        self.generator = torch.Generator().manual_seed(seed)
        self.batch = self.random.randint(2, 4)
        self.source, self.target = self.random.sample(range(2, 8), 2)  # S differs from T
        self.heads = self.random.choice([h for h in (2, 3, 4) if h != self.batch])
        self.d_head = self.random.choice([2, 3, 4, 5])
        self.d_model = self.heads * self.d_head
        if self.d_model % 2:
            self.d_model *= 2
        self.d_ff = 2 * self.random.randint(3, 9)

    def normal(self, *shape: int) -> Tensor:
        values = torch.randn(*shape, generator=self.generator, dtype=torch.float64)
        return values.requires_grad_()

    def vectors(self, length: int) -> Tensor:
        return self.normal(self.batch, length, self.d_model)

    def mask(self, *shape: int) -> Tensor:
        """A random boolean mask without empty rows."""
        mask = torch.rand(*shape, generator=self.generator) < 0.6
        return mask | (torch.arange(shape[-1]) == self.random.randrange(shape[-1]))

    def padding(self, length: int) -> Tensor:
        """(B, 1, 1, S): the first sentence fills the row, the others end earlier."""
        lengths = [length, *(self.random.randint(1, length) for _ in range(self.batch - 1))]
        return (torch.arange(length) < torch.tensor(lengths)[:, None])[:, None, None]

    def tokens(self, length: int, vocab_size: int) -> Tensor:
        """Ids 1 … V-1, with padding (0) at the end of all rows but the first."""
        ids = torch.randint(1, vocab_size, (self.batch, length), generator=self.generator)
        return ids * self.padding(length)[:, 0, 0]

    def layer_options(self) -> dict:
        return {
            "d_model": self.d_model,
            "n_heads": self.heads,
            "d_ff": self.d_ff,
            "norm": ("pre", "post")[self.seed % 2],
            "activation": self.random.choice(["relu", "gelu", "groupsort"]),
            "bias": self.random.random() < 0.7,
            "dropout": 0.0,
        }


def randomise(module: nn.Module, seed: int) -> nn.Module:
    """Float64, and no parameter left at 0 or 1, where a wrong formula could hide."""
    module = module.double()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in module.parameters():
            noise = torch.randn(parameter.shape, generator=generator, dtype=parameter.dtype)
            parameter.copy_(noise * 0.5 + (0.3 if parameter.dim() == 1 else 0.0))
    return module


def backward(outputs: Tensor, seed: int) -> None:
    """Send one random gradient back, the same for both sides of a proof."""
    generator = torch.Generator().manual_seed(seed)
    outputs.backward(torch.randn(outputs.shape, generator=generator, dtype=outputs.dtype))


def assert_equal(
    book: Book,
    ours: tuple[nn.Module, Tensor, list[Tensor]],
    theirs: tuple[nn.Module, Tensor, list[Tensor]],
    seed: int,
) -> None:
    """Same outputs; after the same backward pass, same gradients of inputs and parameters."""
    our_module, our_output, our_inputs = ours
    their_module, their_output, their_inputs = theirs
    assert_close(our_output, their_output)
    backward(our_output, seed)
    backward(their_output, seed)
    for mine, other in zip(our_inputs, their_inputs, strict=True):
        assert_close(mine.grad, other.grad)
    pairs = list(book.pytorch_twins.paired_parameters(our_module, their_module))
    assert len(pairs) == len(list(our_module.parameters()))
    for name, mine, other, rows in pairs:
        assert_close(mine.grad, other.grad[rows], msg=lambda text, name=name: f"{name}: {text}")


def twins(*tensors: Tensor) -> list[Tensor]:
    """Copies with gradients of their own."""
    return [tensor.detach().clone().requires_grad_() for tensor in tensors]


# --- attention -----------------------------------------------------------------------------------


@proof
def attention_equals_pytorch(book: Book, seed: int) -> None:
    draw = Draw(seed)
    shape = (draw.batch, draw.heads)
    for mask in (
        None,
        draw.mask(draw.batch, draw.heads, draw.target, draw.source),
        draw.mask(draw.target, draw.source),
        draw.padding(draw.source),
    ):
        query = draw.normal(*shape, draw.target, draw.d_head)
        key = draw.normal(*shape, draw.source, draw.d_head)
        value = draw.normal(*shape, draw.source, draw.d_head + 1)
        theirs = twins(query, key, value)
        expected = F.scaled_dot_product_attention(*theirs, attn_mask=mask)
        backward(expected, seed)
        for function in (
            book.attention.scaled_dot_product_attention,
            book.attention.fused_attention,
        ):
            ours = twins(query, key, value)
            output, _ = function(*ours, mask)
            assert_close(output, expected)
            backward(output, seed)
            for mine, other in zip(ours, theirs, strict=True):
                assert_close(mine.grad, other.grad)


@proof
def attention_equals_loops(book: Book, seed: int) -> None:
    """The formula written out number by number: an independent reference for the weights too."""
    draw = Draw(seed)
    query, key = draw.normal(draw.target, draw.d_head), draw.normal(draw.source, draw.d_head)
    value, mask = draw.normal(draw.source, 3), draw.mask(draw.target, draw.source)
    output, weights = book.attention.scaled_dot_product_attention(query, key, value, mask)
    for i in range(draw.target):
        exponentials = [
            math.exp(torch.dot(query[i], k).item() / draw.d_head**0.5) if mask[i, j] else 0.0
            for j, k in enumerate(key)
        ]
        expected = [e / sum(exponentials) for e in exponentials]
        assert_close(weights[i], torch.tensor(expected, dtype=torch.float64))
        mean = sum(w * v for w, v in zip(expected, value, strict=True))
        assert_close(output[i], mean)


@proof
def attention_scale_can_be_set(book: Book, seed: int) -> None:
    draw = Draw(seed)
    query, key, value = (draw.normal(2, 5, 4) for _ in range(3))
    expected = F.scaled_dot_product_attention(query, key, value, scale=0.7)
    for function in (book.attention.scaled_dot_product_attention, book.attention.fused_attention):
        assert_close(function(query, key, value, scale=0.7)[0], expected)


@proof
def empty_rows_give_zeros(book: Book, seed: int) -> None:
    """A query that may attend to nothing: zeros forward, zeros backward, by formula and kernel."""
    draw = Draw(seed)
    shape = (draw.batch, draw.heads)
    mask = draw.mask(draw.batch, draw.heads, draw.target, draw.source)
    mask[0, :, 0] = False
    mask[-1] = False
    for function in (book.attention.scaled_dot_product_attention, book.attention.fused_attention):
        query = draw.normal(*shape, draw.target, draw.d_head)
        key = draw.normal(*shape, draw.source, draw.d_head)
        value = draw.normal(*shape, draw.source, draw.d_head)
        with torch.autograd.set_detect_anomaly(True):
            output, weights = function(query, key, value, mask)
            backward(output, seed)
        empty = ~mask.any(-1)
        assert torch.all(output[empty] == 0)
        assert weights is None or torch.all(weights[empty] == 0)
        assert torch.all(query.grad[empty] == 0)
        for tensor in (query, key, value):
            assert torch.isfinite(tensor.grad).all()
        assert torch.all(key.grad[-1] == 0) and torch.all(value.grad[-1] == 0)


@proof
def multi_head_attention_equals_pytorch(book: Book, seed: int) -> None:
    """Outputs, weights and gradients, by the formula and by the fused kernel."""
    draw = Draw(seed)
    bias = draw.random.random() < 0.5
    ours = book.attention.MultiHeadAttention(draw.d_model, draw.heads, bias=bias)
    randomise(ours, seed)
    for mask in (None, draw.mask(draw.target, draw.source), draw.padding(draw.source)):
        query, key, value = map(draw.vectors, (draw.target, draw.source, draw.source))
        for keep in (True, False):
            ours.zero_grad()
            ours.keep_weights = keep
            theirs = book.pytorch_twins.to_pytorch(ours)
            masks = {}
            if mask is not None and mask.dim() == 2:
                masks["attn_mask"] = ~mask
            elif mask is not None:
                masks["key_padding_mask"] = ~mask[:, 0, 0]
            mine, other = twins(query, key, value), twins(query, key, value)
            output = ours(*mine, mask)
            expected, weights = theirs(*other, **masks, average_attn_weights=False)
            if keep:
                assert_close(ours.weights, weights)
            else:
                assert ours.weights is None
            assert_equal(book, (ours, output, mine), (theirs, expected, other), seed)


@proof
def heads_are_split_and_merged_by_position(book: Book, seed: int) -> None:
    """On a tensor whose entries are their own addresses: (feature of x) ↔ (head, feature)."""
    draw = Draw(seed)
    attention = book.attention.MultiHeadAttention(draw.d_model, draw.heads)
    x = torch.arange(draw.batch * draw.target * draw.d_model, dtype=torch.float64)
    x = x.view(draw.batch, draw.target, draw.d_model)
    heads = attention.split_heads(x)
    width = draw.d_model // draw.heads
    for b in range(draw.batch):
        for h in range(draw.heads):
            for t in range(draw.target):
                for k in range(width):
                    assert heads[b, h, t, k] == x[b, t, h * width + k]
    assert torch.equal(attention.merge_heads(heads), x)


@proof
def recorded_attention_changes_nothing(book: Book, seed: int) -> None:
    """Asking for the weights changes no output, and every row of weights sums to one."""
    draw = Draw(seed)
    model, source, target = small_model(book, draw, seed)
    expected = model(source, target)
    with book.attention.recorded_attention(model) as modules:
        assert_close(model(source, target), expected)
    assert len(modules) == model.config.n_encoder_layers + 2 * model.config.n_decoder_layers
    for name, module in modules.items():
        lengths = [target.size(1) if "decoder" in name else source.size(1)]
        lengths += [
            target.size(1) if "decoder.layers" in name and "self" in name else source.size(1)
        ]
        assert module.weights.shape == (draw.batch, draw.heads, *lengths)
        assert_close(module.weights.sum(-1), torch.ones_like(module.weights.sum(-1)))
    assert not any(module.keep_weights for module in modules.values())


# --- masks ---------------------------------------------------------------------------------------


@proof
def masks_follow_their_definition(book: Book, seed: int) -> None:
    draw = Draw(seed)
    tokens = draw.tokens(draw.target, 9)
    padding, causal = book.masks.padding_mask(tokens), book.masks.causal_mask(draw.target)
    both = book.masks.target_mask(tokens)
    assert padding.shape == (draw.batch, 1, 1, draw.target) and padding.dtype == torch.bool
    assert both.shape == (draw.batch, 1, draw.target, draw.target)
    for b in range(draw.batch):
        for i in range(draw.target):
            for j in range(draw.target):
                real = bool(tokens[b, j] != 0)
                assert padding[b, 0, 0, j] == real
                assert causal[i, j] == (j <= i)
                assert both[b, 0, i, j] == (real and j <= i)
    other = draw.random.randint(1, 8)
    assert torch.equal(book.masks.padding_mask(tokens, other)[:, 0, 0], tokens != other)
    assert torch.equal(book.masks.target_mask(tokens, other)[:, 0, -1], tokens != other)
    theirs = nn.Transformer.generate_square_subsequent_mask(draw.target)
    assert torch.equal(causal, theirs == 0)


# --- layers --------------------------------------------------------------------------------------


def compare_pointwise(book: Book, draw: Draw, ours: nn.Module, seed: int) -> None:
    randomise(ours, seed)
    theirs = book.pytorch_twins.to_pytorch(ours)
    x = draw.vectors(draw.target)
    mine, other = twins(x), twins(x)
    assert_equal(book, (ours, ours(*mine), mine), (theirs, theirs(*other), other), seed)


@proof
def layer_norm_equals_pytorch(book: Book, seed: int) -> None:
    draw = Draw(seed)
    for bias in (True, False):
        for eps in (1e-5, 0.5):  # a large epsilon shows whether it stands inside the root
            norm = book.layers.LayerNorm(draw.d_model, eps=eps, bias=bias)
            compare_pointwise(book, draw, norm, seed)
    assert book.layers.LayerNorm(4).eps == nn.LayerNorm(4).eps


@proof
def feed_forward_equals_pytorch(book: Book, seed: int) -> None:
    draw = Draw(seed)
    for activation in ("relu", "gelu", "groupsort"):
        for bias in (True, False):
            network = book.layers.FeedForward(
                draw.d_model, draw.d_ff, activation=activation, bias=bias
            )
            compare_pointwise(book, draw, network, seed)
    network = randomise(book.layers.FeedForward(draw.d_model, draw.d_ff), seed)
    x = draw.vectors(draw.target)
    hidden = F.relu(F.linear(x, network.linear1.weight, network.linear1.bias))
    assert_close(network(x), F.linear(hidden, network.linear2.weight, network.linear2.bias))
    hidden = F.gelu(F.linear(x, network.linear1.weight, network.linear1.bias))
    gelu = book.layers.FeedForward(draw.d_model, draw.d_ff, activation="gelu").double()
    gelu.load_state_dict(network.state_dict())
    assert_close(gelu(x), F.linear(hidden, network.linear2.weight, network.linear2.bias))


@proof
def group_sort_sorts_each_pair(book: Book, seed: int) -> None:
    draw = Draw(seed)
    x = draw.normal(3, draw.d_ff)
    (y,) = twins(x)
    sorted_pairs = book.layers.group_sort(x)
    low, high = torch.minimum(y[:, 0::2], y[:, 1::2]), torch.maximum(y[:, 0::2], y[:, 1::2])
    expected = torch.stack([low, high], -1).flatten(1)
    assert_close(sorted_pairs, expected)
    assert_close(sorted_pairs.norm(dim=-1), x.norm(dim=-1))
    backward(sorted_pairs, seed)
    backward(expected, seed)
    assert_close(x.grad, y.grad)


@proof
def residual_follows_its_formula(book: Book, seed: int) -> None:
    draw = Draw(seed)
    x, matrix = draw.vectors(draw.target), draw.normal(draw.d_model, draw.d_model)
    for norm in ("pre", "post"):
        for residual in (True, False):
            wrap = book.layers.Residual(draw.d_model, norm=norm, dropout=0.0, residual=residual)
            randomise(wrap, seed)
            weight, bias, stream = wrap.norm.weight, wrap.norm.bias, x if residual else 0

            def normalise(y: Tensor, weight=weight, bias=bias) -> Tensor:
                return F.layer_norm(y, (draw.d_model,), weight, bias)

            expected = (
                stream + normalise(x) @ matrix if norm == "pre" else normalise(stream + x @ matrix)
            )
            assert_close(wrap(x, lambda y: y @ matrix), expected)


# --- encoder and decoder -------------------------------------------------------------------------


@proof
def encoder_equals_pytorch(book: Book, seed: int) -> None:
    draw = Draw(seed)
    config = book.layers.LayerConfig(**draw.layer_options())
    x = draw.vectors(draw.source)
    for ours in (book.encoder.EncoderLayer(config), book.encoder.Encoder(2, config)):
        randomise(ours, seed)
        theirs = book.pytorch_twins.to_pytorch(ours)
        for mask in (None, draw.padding(draw.source)):
            ours.zero_grad()
            theirs.zero_grad()
            mine, other = twins(x), twins(x)
            padding = None if mask is None else ~mask[:, 0, 0]
            expected = theirs(*other, src_key_padding_mask=padding)
            assert_equal(book, (ours, ours(*mine, mask), mine), (theirs, expected, other), seed)


@proof
def decoder_equals_pytorch(book: Book, seed: int) -> None:
    draw = Draw(seed)
    config = book.layers.LayerConfig(**draw.layer_options())
    y, memory = draw.vectors(draw.target), draw.vectors(draw.source)
    causal = book.masks.causal_mask(draw.target)
    padding, memory_padding = draw.padding(draw.target), draw.padding(draw.source)
    for ours in (book.decoder.DecoderLayer(config), book.decoder.Decoder(2, config)):
        randomise(ours, seed)
        theirs = book.pytorch_twins.to_pytorch(ours)
        mine, other = twins(y, memory), twins(y, memory)
        expected = theirs(
            *other,
            tgt_mask=~causal,
            tgt_key_padding_mask=~padding[:, 0, 0],
            memory_key_padding_mask=~memory_padding[:, 0, 0],
        )
        output = ours(*mine, causal & padding, memory_padding)
        assert_equal(book, (ours, output, mine), (theirs, expected, other), seed)


@proof
def dropout_falls_where_pytorch_drops(book: Book, seed: int) -> None:
    """In training, from the same random state, the very same entries are dropped.

    One sentence at a time: with more, PyTorch keeps its vectors in another order in memory, and
    the same random numbers fall on other entries.
    """
    draw = Draw(seed)
    draw.batch = 1
    options = draw.layer_options()
    options |= {"dropout": 0.3, "attention_dropout": 0.2, "activation_dropout": 0.4}
    config = book.layers.LayerConfig(**options)
    x, memory = draw.vectors(draw.target), draw.vectors(draw.source)
    for ours, inputs in (
        (book.encoder.EncoderLayer(config), (x,)),
        (book.decoder.DecoderLayer(config), (x, memory)),
    ):
        randomise(ours, seed).train()
        theirs = book.pytorch_twins.to_pytorch(ours)
        torch.manual_seed(seed)
        output = ours(*inputs)
        torch.manual_seed(seed)
        assert_close(output, theirs(*inputs))
        ours.eval()
        theirs.eval()
        assert_close(ours(*inputs), theirs(*inputs))
        assert not torch.allclose(ours(*inputs), output)


@proof
def dropout_on_the_weights_enlarges_what_it_keeps(book: Book, seed: int) -> None:
    """Each weight becomes 0, or itself divided by 1 - p: by the formula, as by the kernel."""
    draw = Draw(seed)
    query, key, value = (draw.normal(2, 3, 6, 4) for _ in range(3))
    _, weights = book.attention.scaled_dot_product_attention(query, key, value)
    torch.manual_seed(seed)
    output, dropped = book.attention.scaled_dot_product_attention(query, key, value, dropout=0.4)
    kept = dropped != 0
    assert 0 < kept.sum() < kept.numel()
    assert_close(dropped[kept], weights[kept] / 0.6)
    assert_close(output, dropped @ value)


@proof
def settings_reach_every_part(book: Book, seed: int) -> None:
    draw = Draw(seed)
    settings = {"dropout": 0.11, "attention_dropout": 0.22, "activation_dropout": 0.33}
    model, source, target = small_model(book, draw, seed, **settings, score_scale=0.5)
    for layer in (*model.encoder.layers, *model.decoder.layers):
        for part in layer.modules():
            if isinstance(part, book.attention.MultiHeadAttention):
                assert (part.dropout, part.scale) == (0.22, 0.5)
            if isinstance(part, book.layers.FeedForward):
                assert part.dropout.p == 0.33
            if isinstance(part, book.layers.Residual):
                assert part.dropout.p == 0.11 and part.residual
    # The dropout on the embeddings, alone: it acts on both sides.
    for part in model.modules():
        if isinstance(part, nn.Dropout) and part is not model.dropout:
            part.p = 0.0
        if isinstance(part, book.attention.MultiHeadAttention):
            part.dropout = 0.0
    mask = book.masks.padding_mask(source)
    memory = model.encode(source, mask)
    assert_close(memory, model.encode(source, mask))
    model.dropout.p = 0.5
    model.train()
    assert not torch.allclose(model.encode(source, mask), model.encode(source, mask))
    decoded = [model.decode(target, memory, mask) for _ in range(2)]
    assert not torch.allclose(*decoded)

    bare, _, _ = small_model(book, Draw(seed), seed, residual=False)
    residuals = [m for m in bare.modules() if isinstance(m, book.layers.Residual)]
    assert residuals and not any(residual.residual for residual in residuals)

    bare, source, target = small_model(book, Draw(seed), seed, feed_forward=False, norm="pre")
    assert not any(isinstance(m, book.layers.FeedForward) for m in bare.modules())
    layer = bare.encoder.layers[0].eval()
    x = torch.randn(*source.shape, bare.config.d_model, dtype=torch.float64)
    residual, attention = layer.attention_residual, layer.self_attention
    expected = x + residual.dropout(attention(*[residual.norm(x)] * 3))
    assert_close(layer(x), expected)
    layer = bare.decoder.layers[0].eval()
    memory = torch.randn_like(x)
    y = torch.randn(*target.shape, bare.config.d_model, dtype=torch.float64)
    y1 = layer.self_residual(y, lambda z: layer.self_attention(z, z, z))
    y2 = layer.cross_residual(y1, lambda z: layer.cross_attention(z, memory, memory))
    assert_close(layer(y, memory), y2)


# --- embeddings ----------------------------------------------------------------------------------


@proof
def embedding_equals_pytorch(book: Book, seed: int) -> None:
    draw = Draw(seed)
    tokens = draw.tokens(draw.source, 11)
    for scale in (True, False):
        ours = randomise(book.embeddings.TokenEmbedding(11, draw.d_model, scale=scale), seed)
        theirs = nn.Embedding(11, draw.d_model, dtype=torch.float64)
        theirs.load_state_dict(ours.state_dict())
        expected = theirs(tokens) * (draw.d_model**0.5 if scale else 1.0)
        assert_equal(book, (ours, ours(tokens), []), (theirs, expected, []), seed)


def closed_form(length: int, d_model: int) -> Tensor:
    """The sinusoids number by number, in float64."""
    rows = [
        [
            (math.cos if d % 2 else math.sin)(p / 10000 ** ((d - d % 2) / d_model))
            for d in range(d_model)
        ]
        for p in range(length)
    ]
    return torch.tensor(rows, dtype=torch.float64)


@proof
def positions_follow_their_formula(book: Book, seed: int) -> None:
    draw = Draw(seed)
    length = 3000  # in single precision, angles this far out would have lost four digits
    table = closed_form(length, draw.d_model)
    exact = book.embeddings.sinusoids(length, draw.d_model, dtype=torch.float64)
    assert_close(exact, table, atol=1e-9, rtol=0)
    assert_close(book.embeddings.sinusoids(length, draw.d_model), table.float())
    x = draw.vectors(draw.target).detach()
    ours = book.embeddings.SinusoidalPositions(draw.d_model, length).double()
    for start in (0, 3, length - draw.target):
        assert_close(ours(x, start=start), x + table[start : start + draw.target])
    ours.half().float()  # a detour through half precision costs no digits
    assert_close(ours(x.float()), (x + table[: draw.target]).float())
    learned = randomise(book.embeddings.LearnedPositions(draw.d_model, 30), seed)
    positions = torch.arange(2, 2 + draw.target)
    assert_close(learned(x, start=2), x + F.embedding(positions, learned.weight))


# --- the whole model -----------------------------------------------------------------------------

VOCABULARY = 13


def small_model(
    book: Book, draw: Draw, seed: int, **options: object
) -> tuple[nn.Module, Tensor, Tensor]:
    """A model of random shape, in evaluation mode, with a padded batch for it."""
    settings = draw.layer_options()
    settings |= {
        "source_vocab_size": VOCABULARY,
        "target_vocab_size": VOCABULARY,
        "n_encoder_layers": draw.random.randint(1, 3),
        "n_decoder_layers": draw.random.randint(1, 3),
        "max_length": 20,
        "positions": draw.random.choice(["sinusoidal", "learned"]),
        "tie_embeddings": draw.random.choice(["none", "decoder", "all"]),
        "scale_embeddings": draw.random.random() < 0.5,
        **options,
    }
    model = book.transformer.Transformer(book.transformer.TransformerConfig(**settings))
    randomise(model, seed).eval()
    return model, draw.tokens(draw.source, VOCABULARY), draw.tokens(draw.target, VOCABULARY)


@proof
def transformer_equals_pytorch(book: Book, seed: int) -> None:
    draw = Draw(seed)
    model, source, target = small_model(book, draw, seed)
    theirs = book.pytorch_twins.to_pytorch(model)
    twin = book.transformer.Transformer(model.config).double()
    twin.load_state_dict(model.state_dict())

    def embed(tokens: Tensor, side: str) -> Tensor:
        table = getattr(twin, f"{side}_embedding").weight
        scale = model.config.d_model**0.5 if model.config.scale_embeddings else 1.0
        places = getattr(twin, f"{side}_positions")
        learned = model.config.positions == "learned"
        rows = places.weight if learned else closed_form(20, model.config.d_model)
        return F.embedding(tokens, table) * scale + rows[: tokens.size(1)]

    vectors = theirs(
        embed(source, "source"),
        embed(target, "target"),
        tgt_mask=torch.ones(target.size(1), target.size(1)).triu(1).bool(),
        src_key_padding_mask=source == 0,
        tgt_key_padding_mask=target == 0,
        memory_key_padding_mask=source == 0,
    )
    expected = F.linear(vectors, twin.output.weight, twin.output.bias)
    output = model(source, target)
    assert_close(output, expected)
    backward(output, seed)
    backward(expected, seed)
    for name, mine, other, rows in book.pytorch_twins.paired_parameters(model, theirs):
        assert_close(mine.grad, other.grad[rows], msg=lambda text, name=name: f"{name}: {text}")
    outside = ("source_embedding", "target_embedding", "source_pos", "target_pos", "output")
    for name, parameter in model.named_parameters():
        if name.startswith(outside):
            assert_close(parameter.grad, twin.get_parameter(name).grad)


@proof
def the_future_changes_nothing(book: Book, seed: int) -> None:
    """Change the last target token: no earlier output may move, in training mode neither."""
    draw = Draw(seed)
    for training in (False, True):
        model, source, target = small_model(book, draw, seed)
        model.train(training)
        target = target.clamp(min=1)
        changed = target.clone()
        changed[:, -1] = changed[:, -1] % (VOCABULARY - 1) + 1
        before, after = model(source, target), model(source, changed)
        assert_close(before[:, :-1], after[:, :-1], atol=0, rtol=0)
        assert not torch.allclose(before[:, -1], after[:, -1])


@proof
def the_padding_changes_nothing(book: Book, seed: int) -> None:
    """More padding on either side, in a batch or alone: the same outputs for the real tokens."""
    draw = Draw(seed)
    model, source, target = small_model(book, draw, seed)
    together = model(source, target)
    longer = model(F.pad(source, (0, 3)), F.pad(target, (0, 2)))
    real = target != 0
    assert_close(longer[:, : target.size(1)][real], together[real])
    for b in range(draw.batch):
        own_source, own_target = source[b][source[b] != 0], target[b][target[b] != 0]
        alone = model(own_source[None], own_target[None])
        assert_close(alone[0], together[b, : len(own_target)])


@proof
def tied_matrices_are_one(book: Book, seed: int) -> None:
    draw = Draw(seed)
    counts = {}
    for tie in ("none", "decoder", "all"):
        model, _, _ = small_model(book, Draw(seed), seed, tie_embeddings=tie)
        tables = (model.source_embedding.weight, model.target_embedding.weight, model.output.weight)
        counts[tie] = model.n_parameters
        assert len({id(table) for table in tables}) == {"none": 3, "decoder": 2, "all": 1}[tie]
    matrix = VOCABULARY * draw.d_model
    assert counts["none"] - counts["decoder"] == matrix == counts["decoder"] - counts["all"]


@proof
def parameters_follow_the_formula(book: Book, seed: int) -> None:
    """4D² per attention, 2·D·F per feed-forward network, and what biases and norms add."""
    draw = Draw(seed)
    model, _, _ = small_model(book, draw, seed, tie_embeddings="none", positions="sinusoidal")
    config = model.config
    d, f, b = config.d_model, config.d_ff, int(config.bias)
    attention, network, norm = 4 * (d * d + b * d), 2 * d * f + b * (d + f), d + b * d
    encoder = config.n_encoder_layers * (attention + network + 2 * norm)
    decoder = config.n_decoder_layers * (2 * attention + network + 3 * norm)
    ends = (norm * 2 if config.norm == "pre" else 0) + VOCABULARY * (3 * d + b)
    assert model.n_parameters == encoder + decoder + ends


@proof
def a_saved_model_answers_alike(book: Book, seed: int) -> None:
    draw = Draw(seed)
    model, source, target = small_model(book, draw, seed)
    other = book.transformer.Transformer(model.config).double().eval()
    assert not torch.allclose(other(source, target), model(source, target))
    other.load_state_dict(model.state_dict())
    assert torch.equal(other(source, target), model(source, target))
    with torch.device("meta"):  # as large models are loaded: first the shapes, then the numbers
        empty = book.transformer.Transformer(model.config)
    empty.load_state_dict(model.state_dict(), assign=True)
    assert torch.equal(empty.eval()(source, target), model(source, target))
    assert empty.n_parameters == model.n_parameters  # tied matrices are still tied
    with book.attention.recorded_attention(model):
        model(source, target)
    twin = copy.deepcopy(model)  # the recorded weights do not hold on to their graph
    assert torch.equal(twin(source, target), model(source, target))


@proof
def ablations_take_away_what_they_say(book: Book, seed: int) -> None:
    draw = Draw(seed)
    model, source, target = small_model(book, draw, seed, causal=False)
    target = target.clamp(min=1)
    changed = target.clone()
    changed[:, -1] = changed[:, -1] % (VOCABULARY - 1) + 1
    assert not torch.allclose(model(source, target)[:, 0], model(source, changed)[:, 0])

    model, source, target = small_model(book, Draw(seed), seed, positions="none")
    order = torch.randperm(source.size(1), generator=draw.generator)
    assert_close(model(source[:, order], target), model(source, target))

    model, _, _ = small_model(book, Draw(seed), seed, score_scale=1.0)
    attentions = [m for m in model.modules() if isinstance(m, book.attention.MultiHeadAttention)]
    assert all(attention.scale == 1.0 for attention in attentions)


@proof
def initialization_has_the_stated_variance(book: Book, seed: int) -> None:
    sizes = {"d_model": 64, "n_heads": 4, "n_encoder_layers": 1, "n_decoder_layers": 1, "d_ff": 256}
    sizes |= {"max_length": 100, "positions": "learned"}
    for scheme in ("xavier", "scaled_normal", "loud_positions"):
        torch.manual_seed(seed)
        config = book.transformer.TransformerConfig(400, 300, **sizes, initialization=scheme)
        model = book.transformer.Transformer(config)
        for name, parameter in model.named_parameters():
            if parameter.dim() == 1:
                expected = 0.0 if name.endswith("bias") else 1.0
                assert torch.all(parameter == expected), name
                continue
            rows, columns = parameter.shape
            variance = 2 / (rows + columns) if scheme == "xavier" else 1 / columns
            if scheme == "loud_positions" and name.endswith("positions.weight"):
                variance = 1 / 2  # a row is as long as one of sinusoids: the root of columns / 2
            assert abs(parameter.var().item() / variance - 1) < 0.15, name
