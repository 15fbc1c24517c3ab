"""The cheat sheet is read as it stands, and every line of it is run."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.testing import assert_close

from transformer_book import backwards
from transformer_book.attention import MultiHeadAttention, scaled_dot_product_attention
from transformer_book.decoder import Decoder, DecoderLayer
from transformer_book.decoder_only import DecoderOnly, DecoderOnlyConfig
from transformer_book.embeddings import LearnedPositions, SinusoidalPositions, TokenEmbedding
from transformer_book.encoder import Encoder, EncoderLayer
from transformer_book.grouped_attention import GroupedQueryAttention
from transformer_book.layers import FeedForward, LayerConfig, LayerNorm, Residual
from transformer_book.masks import causal_mask, padding_mask, target_mask
from transformer_book.optimization import label_smoothed_loss
from transformer_book.pytorch_twins import to_pytorch
from transformer_book.rms_norm import RMSNorm
from transformer_book.rotary import RotaryPositions
from transformer_book.studies.induction import AttentionOnly
from transformer_book.swiglu import SwiGLU
from transformer_book.transformer import Transformer, TransformerConfig

SMALL = LayerConfig(d_model=8, n_heads=2, d_ff=16)

PAGE = (Path(__file__).parents[1] / "book" / "cheat_sheet.md").read_text(encoding="utf-8")


def tables() -> dict[str, list[tuple[str, ...]]]:
    """Every table of the page, by the first cell of its header: the rows below it."""
    found: dict[str, list[tuple[str, ...]]] = {}
    for block in re.findall(r"(?:^\|.*\n)+", PAGE, re.MULTILINE):
        rows = [
            tuple(cell.strip() for cell in line.strip("|").split("|"))
            for line in block.splitlines()
        ]
        assert rows[0][0] not in found and len({len(row) for row in rows}) == 1
        found[rows[0][0]] = rows[2:]
    return found


TABLES = tables()


def code(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


SIZES = {name: int(size) for name, size in re.findall(r"`(\w+) = (\d+)`", PAGE)}


def shape(text: str) -> tuple[int, ...]:
    """`B 1 T T` as numbers."""
    return tuple(eval(letter, dict(SIZES)) for letter in text.split())


NAMES = {
    "torch": torch,
    "nn": nn,
    "F": F,
    "TokenEmbedding": TokenEmbedding,
    "SinusoidalPositions": SinusoidalPositions,
    "LearnedPositions": LearnedPositions,
    "scaled_dot_product_attention": scaled_dot_product_attention,
    "MultiHeadAttention": MultiHeadAttention,
    "LayerNorm": LayerNorm,
    "RMSNorm": RMSNorm,
    "RotaryPositions": RotaryPositions,
    "GroupedQueryAttention": GroupedQueryAttention,
    "SwiGLU": SwiGLU,
    "FeedForward": FeedForward,
    "Residual": Residual,
    "EncoderLayer": EncoderLayer,
    "LayerConfig": LayerConfig,
    "DecoderLayer": DecoderLayer,
    "AttentionOnly": AttentionOnly,
    "Transformer": Transformer,
    "DecoderOnly": DecoderOnly,
    "DecoderOnlyConfig": DecoderOnlyConfig,
    "TransformerConfig": TransformerConfig,
    "label_smoothed_loss": label_smoothed_loss,
    "padding_mask": padding_mask,
    "causal_mask": causal_mask,
    "target_mask": target_mask,
    "backwards": backwards,
}


def namespace() -> dict:
    """The names that the page uses, with tensors of the shapes that it gives them."""
    torch.manual_seed(0)
    names = {**NAMES, **SIZES}
    for what, given in TABLES["what goes in"]:
        size = shape(code(given)[0])
        ids = "token ids" in what
        names[code(what)[0]] = (
            torch.randint(4, SIZES["V"], size) if ids else torch.randn(size, dtype=torch.float32)
        )
    names["source"][0, -2:] = names["target"][1, -3:] = 0
    return names


def run(expression: str, names: dict) -> object:
    return eval(expression, names)


def test_the_sizes_tell_all_axes_apart() -> None:
    assert list(SIZES) == ["B", "S", "T", "D", "H", "K", "V", "d_ff"]
    assert len({*SIZES.values(), 1}) == 9 and SIZES["D"] == SIZES["H"] * SIZES["K"]


def test_every_table_is_held_by_a_test() -> None:
    assert list(TABLES) == [
        "what goes in",
        "call",
        "the book's mask",
        "argument",
        "from",
        "setting",
        "`MultiHeadAttention`",
        "`DecoderLayer`",
        "backward call",
    ]


CALLS = [*TABLES["call"], *((call, shapes) for call, _, shapes in TABLES["backward call"])]


@pytest.mark.parametrize(("call", "gives"), CALLS)
def test_a_call_gives_what_the_page_says(call: str, gives: str) -> None:
    result = run(code(call)[0], namespace())
    results = result if isinstance(result, tuple) else (result,)
    numbers = {"a number": [()], "two numbers": [(), ()]}
    wanted = numbers.get(gives) or [shape(each) for each in code(gives)]
    assert [tuple(each.shape) for each in results] == wanted


def test_stacks_are_called_like_their_layers() -> None:
    names = namespace()
    x, memory = names["x"], names["memory"]
    assert Encoder(2, SMALL)(memory).shape == memory.shape
    assert Decoder(2, SMALL)(x, memory).shape == x.shape
    theirs = nn.MultiheadAttention(8, 2, batch_first=True)
    apart = theirs(x, memory, memory, average_attn_weights=False)[1]
    assert apart.shape == shape("B H T S")
    assert_close(theirs(x, memory, memory)[1], apart.mean(dim=1))


# --- masks ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("call", "size", "hides"), TABLES["the book's mask"])
def test_a_mask_has_this_shape_and_hides_these_keys(call: str, size: str, hides: str) -> None:
    names = namespace()
    mask = run(code(call)[0], names)
    assert mask.dtype == torch.bool and tuple(mask.shape) == shape(code(size)[0])
    tokens = names["source"] if "source" in call else names["target"]
    future = torch.arange(mask.size(-1)) > torch.arange(mask.size(-2))[:, None]
    hidden = {
        "padding": (tokens == 0)[:, None, None],
        "the future": future,
        "both": (tokens == 0)[:, None, None] | future,
    }[hides]
    assert torch.equal(~mask, hidden)


def attends(argument: str) -> tuple[Callable[[Tensor, Tensor], Tensor], Tensor]:
    """A function of a mask, passed as this argument, and of what the keys are made of; and that."""
    names = namespace()
    x, memory, q = names["x"], names["memory"], names["q"]
    *owner, name = code(argument)
    if not owner:
        ours = MultiHeadAttention(8, 2)
        return lambda mask, keys: ours(x, keys, keys, **{name: mask}), memory
    if owner == ["F.scaled_dot_product_attention"]:

        def fused(mask: Tensor, keys: Tensor) -> Tensor:
            heads = keys.unflatten(-1, (2, 4)).transpose(1, 2)
            output = F.scaled_dot_product_attention(q, heads, heads, **{name: mask})
            return output.transpose(1, 2).flatten(2)

        return fused, memory
    if owner == ["nn.MultiheadAttention"]:
        theirs = nn.MultiheadAttention(8, 2, batch_first=True)
        return lambda mask, keys: theirs(x, keys, keys, **{name: mask})[0], memory
    # nn.Transformer hands its masks to its layers, under the same names.
    assert owner == ["nn.Transformer"]
    if name.startswith("src"):
        encoder = nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True)
        return lambda mask, keys: encoder(keys, **{name: mask}), memory
    decoder = nn.TransformerDecoderLayer(8, 2, 16, 0.0, batch_first=True)
    if name.startswith("tgt"):
        return lambda mask, keys: decoder(keys, memory, **{name: mask}), x
    return lambda mask, keys: decoder(x, keys, **{name: mask}), memory


@pytest.mark.parametrize(("argument", "size", "meaning"), TABLES["argument"])
def test_true_means_what_the_page_says(argument: str, size: str, meaning: str) -> None:
    call, keys = attends(argument)
    hides = {"may attend": False, "may **not** attend": True}[meaning]
    changed = keys.clone()
    changed[:, 0] += torch.linspace(-1, 1, 8)  # another first key, and another value
    for wanted in code(size):
        mask = torch.full(shape(wanted), not hides)
        mask[..., 0] = hides  # the first key is hidden from all
        moved = (call(mask, changed) - call(mask, keys)).abs().amax(dim=-1)
        # In self-attention the first position still sees itself, on the residual path.
        rows = slice(1, None) if re.search("src|tgt", argument) else slice(None)
        assert moved[:, rows].max() == 0
        mask[..., 0] = not hides
        mask[..., -1] = hides
        moved = (call(mask, changed) - call(mask, keys)).abs().amax(dim=-1)
        assert moved[:, rows].min() > 1e-6


def test_the_arguments_are_those_of_pytorch() -> None:
    for argument, _, _ in TABLES["argument"]:
        if len(code(argument)) == 2:
            owner, name = code(argument)
            function = {
                "nn.MultiheadAttention": nn.MultiheadAttention.forward,
                "nn.Transformer": nn.Transformer.forward,
            }.get(owner)
            assert function is None or name in inspect.signature(function).parameters
    masks = {
        name for name in inspect.signature(nn.Transformer.forward).parameters if "mask" in name
    }
    assert masks == {code(row[0])[1] for row in TABLES["argument"] if "nn.Transformer`" in row[0]}


def test_the_three_masks_of_a_transformer_said_to_pytorch() -> None:
    """The page's own lines give what our model gives, real tokens and padding alike."""
    names = namespace()
    ours = Transformer(
        TransformerConfig(
            11,
            11,
            d_model=8,
            n_heads=2,
            n_encoder_layers=2,
            n_decoder_layers=2,
            d_ff=16,
            dropout=0.0,
        )
    ).eval()
    theirs = to_pytorch(ours)
    names |= {
        "theirs": theirs,
        "embedded_source": ours.source_positions(ours.source_embedding(names["source"])),
        "embedded_target": ours.target_positions(ours.target_embedding(names["target"])),
    }
    lines = re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)[1]
    assert_close(
        ours.output(run(lines.strip(), names)),
        ours(names["source"], names["target"]),
        rtol=1e-4,
        atol=1e-5,
    )


def test_numbers_as_masks() -> None:
    names = namespace()
    q, k, v = names["q"], names["k"], names["v"]
    allowed = torch.rand(6, 5) < 0.7
    numbers = torch.zeros(6, 5).masked_fill(~allowed, -torch.inf)
    assert_close(
        F.scaled_dot_product_attention(q, k, v, numbers),
        F.scaled_dot_product_attention(q, k, v, allowed),
    )
    with pytest.raises(Exception, match=r"boolean|Bool"):  # the annotations' hook may come first
        scaled_dot_product_attention(q, k, v, numbers)


@pytest.mark.parametrize(("source", "gets"), TABLES["from"])
def test_a_query_that_may_attend_to_nothing(source: str, gets: str) -> None:
    names = namespace()
    x, memory = names["x"], names["memory"]
    if "F." in source:
        nothing = torch.zeros(6, 5, dtype=torch.bool)
        output = F.scaled_dot_product_attention(names["q"], names["k"], names["v"], nothing)
    elif "nn." in source:
        module = run(code(source)[0], names)
        output = module(x, memory, memory, key_padding_mask=torch.ones(3, 5, dtype=torch.bool))[0]
    else:
        module = run(code(source)[0], names)
        output = module(x, memory, memory, torch.zeros(6, 5, dtype=torch.bool))
        assert gets == "zeros before the output projection"
        assert torch.equal(output, module.output.bias.expand_as(output))
        return
    assert {"zeros": (output == 0).all(), "NaN": output.isnan().all()}[gets]


# --- defaults -------------------------------------------------------------------------------------

DEFAULTS = {
    "first axis": (None, nn.TransformerEncoderLayer),
    "place of the norm": (LayerConfig, nn.TransformerEncoderLayer),
    "final norm of a stack": (None, nn.TransformerEncoder),
    "dropout on sublayers": (LayerConfig, nn.TransformerEncoderLayer),
    "… on attention weights of a layer": (LayerConfig, nn.TransformerEncoderLayer),
    "… inside the feed-forward network": (LayerConfig, nn.TransformerEncoderLayer),
    "weights of attention": (None, nn.MultiheadAttention.forward),
    "factor on scores": (MultiHeadAttention, None),
    "id without a loss": (label_smoothed_loss, F.cross_entropy),
    "embedding, factor": (None, None),
    "embedding, variance at the start": (None, None),
    "layers of a stack at the start": (None, None),
}


def test_every_default_is_held() -> None:
    assert {row[0] for row in TABLES["setting"]} == DEFAULTS.keys()


@pytest.mark.parametrize(("setting", "book", "pytorch"), TABLES["setting"])
def test_defaults(setting: str, book: str, pytorch: str) -> None:
    for cell, owner in zip((book, pytorch), DEFAULTS[setting], strict=True):
        written = [text for text in code(cell) if "=" in text]
        assert owner is None or len(written) == 1
        for text in written if owner is not None else ():
            name, value = text.split("=")
            assert inspect.signature(owner).parameters[name].default == eval(value), text


def test_what_else_the_defaults_say() -> None:
    names = namespace()
    rows = {row[0]: row[1:] for row in TABLES["setting"]}
    assert rows["first axis"][0] == "batch"
    # dropout: PyTorch's layer has one rate for three places
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.3)
    assert {layer.self_attn.dropout, layer.dropout.p, layer.dropout1.p} == {0.3}
    # final norms
    assert rows["final norm of a stack"] == ("if pre-norm", "`norm=None`; `nn.Transformer`: always")
    for norm, kind in (("pre", LayerNorm), ("post", nn.Identity)):
        assert type(Encoder(1, replace(SMALL, norm=norm)).norm) is kind
    for first in (True, False):
        assert isinstance(
            nn.Transformer(8, 2, 1, 1, 16, norm_first=first, batch_first=True).encoder.norm,
            nn.LayerNorm,
        )
    # attention
    assert rows["weights of attention"][0] == "not returned"
    assert isinstance(MultiHeadAttention(8, 2)(names["x"], names["x"], names["x"]), Tensor)
    assert "scale" not in inspect.signature(nn.MultiheadAttention).parameters
    assert_close(
        F.scaled_dot_product_attention(names["q"], names["k"], names["v"]),
        F.scaled_dot_product_attention(names["q"], names["k"], names["v"], scale=4**-0.5),
    )
    # embeddings
    assert (rows["embedding, factor"], rows["embedding, variance at the start"]) == (
        ("$\\sqrt D$", "1"),
        ("$1/D$", "1"),
    )
    ours, theirs = TokenEmbedding(2000, 64), nn.Embedding(2000, 64)
    assert_close(ours(torch.tensor([[5]]))[0, 0], 8 * ours.weight[5])
    assert ours.weight.var().item() * 64 == pytest.approx(1, abs=0.05)
    assert theirs.weight.var().item() == pytest.approx(1, abs=0.05)
    # stacks
    assert rows["layers of a stack at the start"] == ("all different", "copies of one")
    for stack, same in (
        (Encoder(2, SMALL), False),
        (nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), True),
    ):
        one, two = (next(p for p in each.parameters() if p.dim() > 1) for each in stack.layers)
        assert torch.equal(one, two) is same
    # the same in both
    for name, here in (("activation", "relu"), ("bias", True)):
        default = inspect.signature(nn.TransformerEncoderLayer).parameters[name].default
        assert default in (here, F.relu)
        assert inspect.signature(LayerConfig).parameters[name].default == here
    assert LayerNorm(8).eps == nn.LayerNorm(8).eps == layer.norm1.eps == 1e-5


# --- weights --------------------------------------------------------------------------------------


@pytest.mark.parametrize("header", ["`MultiHeadAttention`", "`DecoderLayer`"])
def test_weights_lie_where_the_page_says(header: str) -> None:
    ours = {
        "`MultiHeadAttention`": lambda: MultiHeadAttention(8, 2),
        "`DecoderLayer`": lambda: DecoderLayer(SMALL),
    }[header]()
    for parameter in ours.parameters():
        nn.init.normal_(parameter)  # norms start at one, biases at zero: all would look alike
    theirs = to_pytorch(ours)
    for here, there in TABLES[header]:
        one = eval(f"ours.{code(here)[0]}", {"ours": ours})
        two = eval(f"theirs.{code(there)[0]}", {"theirs": theirs, **SIZES})
        assert torch.equal(one, two), here


def test_heads_are_rows() -> None:
    """Silence the rows of head 1 in the value matrix, and head 1 hands over nothing."""
    ours = MultiHeadAttention(8, 2, bias=False)
    with torch.no_grad():
        ours.value.weight[4:8] = 0
    x = torch.randn(3, 6, 8)
    _, v = ours.keys_and_values(x, x)
    assert (v[:, 1] == 0).all() and (v[:, 0] != 0).all()
    assert tuple(nn.MultiheadAttention(8, 2).in_proj_weight.shape) == shape("3*D D")


def test_names_in_an_encoder_layer() -> None:
    ours = EncoderLayer(SMALL)
    for parameter in ours.parameters():
        nn.init.normal_(parameter)
    theirs = to_pytorch(ours)
    assert not hasattr(ours, "cross_attention")
    assert torch.equal(ours.attention_residual.norm.weight, theirs.norm1.weight)
    assert torch.equal(ours.feed_forward_residual.norm.weight, theirs.norm2.weight)


# --- wrong shapes ---------------------------------------------------------------------------------

WRONG = [
    (call, " ".join(said.split("*")[0].split()) if said else None)
    for call, said in re.findall(
        r"^\* `([^`]+)` says(?:: ((?:.|\n(?!\*))*)| nothing\.)", PAGE, re.MULTILINE
    )
]


def test_every_wrong_shape_is_found() -> None:
    assert len(WRONG) == len(re.findall(r"^\* `", PAGE, re.MULTILINE)) == 9


@pytest.mark.parametrize(("call", "said"), WRONG)
def test_a_wrong_shape_says_this(call: str, said: str | None, unhooked) -> None:
    names = namespace()
    for module, *kinds in (
        ("attention", "MultiHeadAttention"),
        ("transformer", "Transformer", "TransformerConfig"),
    ):  # as users have it: without the annotations' hook
        names |= {kind: getattr(unhooked(f"transformer_book.{module}"), kind) for kind in kinds}
    if said is None:
        run(call, names)
        return
    with pytest.raises((ValueError, RuntimeError, AssertionError)) as raised:
        run(call, names)
    assert str(raised.value).rstrip(".") == said.rstrip(".")


def test_what_says_nothing_does_harm() -> None:
    torch.manual_seed(0)
    x = torch.randn(3, 6, 8)
    other = x.clone()
    other[2] += 1  # another third sentence
    moved = {}
    for first in (False, True):
        theirs = nn.MultiheadAttention(8, 2, batch_first=first)
        moved[first] = (theirs(x, x, x)[0] - theirs(other, other, other)[0])[0].abs().max().item()
    assert moved[False] > 1e-3 and moved[True] == 0
    theirs = nn.MultiheadAttention(8, 2, batch_first=True)
    weights = theirs(x, x, x, attn_mask=causal_mask(6))[1]  # the last row has nothing left
    assert (weights[:, :-1].tril() == 0).all() and (weights[:, 0, 1:] > 0).all()
    # a (B, T, S) mask with B = H: taken for (H, T, S)
    q = torch.randn(2, 2, 6, 4)
    mask = torch.ones(2, 6, 6, dtype=torch.bool)
    mask[1, :, 0] = False
    wrong = F.scaled_dot_product_attention(q, q, q, mask)
    right = F.scaled_dot_product_attention(q, q, q, mask.unsqueeze(1))
    free = F.scaled_dot_product_attention(q, q, q)
    assert_close(right[0], free[0])
    assert not torch.allclose(wrong[0], free[0])
