"""Transformer forward (chapter 14): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from transformer_book.checks.boundaries import on, token_conditions
from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import normal, sentences
from transformer_book.checks.ideas.layers.encoder_layer import toy_attention


def attend_in_heads(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
) -> Tensor:
    """`toy_attention` for masks `(B, 1, T, S)`: one head."""
    return toy_attention(query[:, None], key[:, None], value[:, None], mask)[:, 0]


def toy_encoder(x: Tensor, mask: Tensor | None = None) -> Tensor:
    return x + 2 * attend_in_heads(x, x, x, mask)


def toy_decoder(
    y: Tensor,
    memory: Tensor,
    target_mask: Tensor | None = None,
    memory_mask: Tensor | None = None,
) -> Tensor:
    y = y + attend_in_heads(y, y, y, target_mask)
    return y + 2 * attend_in_heads(y, memory, memory, memory_mask)


def embedding_of(seed: int) -> Callable[[Tensor], Tensor]:
    table = normal(20, 4, seed=seed)
    return lambda tokens: table[tokens] + 0.1 * torch.arange(tokens.size(1))[:, None]


def output_of(seed: int) -> Callable[[Tensor], Tensor]:
    weight = normal(4, 7, seed=seed)
    return lambda y: y @ weight


def forward_cases() -> Sequence[Case]:
    parts = embedding_of(1), embedding_of(2), toy_encoder, toy_decoder, output_of(3)
    lengths = (
        ("no padding", (3, 3), (4, 4)),
        ("padding in the source", (5, 2), (4, 4)),
        ("padding in the target", (4, 4), (2, 5)),
        ("padding in both, source and target of one length", (2, 4), (4, 3)),
        ("the same with three sentences", (5, 2, 3), (3, 5, 4)),
        ("the same with other lengths", (1, 6), (6, 2)),
        ("a longer source", (6, 3), (2, 3)),
        ("one sentence", (4,), (3,)),
        ("one token", (1,), (1,)),
    )
    ids = (
        # Every token that is not padding is read, <sos>, <eos> and <unk>, too.
        ("special tokens", [[5, 3, 2], [3, 2, 0]], [[1, 3, 7, 2], [1, 4, 2, 0]]),
        ("other special tokens", [[3, 6, 3, 2], [1, 9, 2, 0]], [[1, 2, 3], [1, 3, 2]]),
        ("one sentence with padding", [[1, 8, 2, 0, 0]], [[1, 3, 2, 0]]),
        (
            "more sentences than tokens",
            [[3, 2], [2, 0], [7, 3], [5, 2]],
            [[1, 2], [1, 3], [1, 2], [1, 4]],
        ),
    )
    later = (
        (
            "every sentence padded, to a fixed length",
            [[5, 6, 2, 0, 0], [7, 2, 0, 0, 0]],
            [[1, 4, 8, 0], [1, 3, 0, 0]],
        ),
        ("the first step of decoding", [[5], [7], [8]], [[1], [1], [1]]),
    )
    return (
        *(
            Case(name, (sentences(*source, seed=i), sentences(*target, seed=i + 50), *parts))
            for i, (name, source, target) in enumerate(lengths)
        ),
        *(
            Case(name, (torch.tensor(source), torch.tensor(target), *parts))
            for name, source, target in ids
        ),
        Case(
            "longer than most buffers",
            (sentences(66, 3, seed=60), sentences(5, 70, seed=61), *parts),
        ),
        *(
            Case(name, (torch.tensor(source), torch.tensor(target), *parts))
            for name, source, target in later
        ),
        Case(
            "more than 1024 tokens",
            (sentences(2100, seed=62), sentences(1100, seed=63), *parts),
        ),
    )


def forward_pipeline(s, source, target, embed_source, embed_target, encoder, decoder, output):
    source_mask = s.real(source)[:, None, None]  # (B, 1, 1, S)
    x = s.embedded(source, embed_source, embed_target)  # (B, S, D)
    memory = s.encode(x, source_mask, encoder)  # (B, S, D)
    masks = s.target_mask(target, source), s.memory_mask(source_mask, target)
    y = s.embedded_target(target, embed_source, embed_target)  # (B, T, D)
    y = decoder(y, memory, *masks)  # (B, T, D)
    return s.finish(y, output)


def causal_and_real(tokens: Tensor) -> Tensor:
    causal = torch.ones(tokens.size(1), tokens.size(1)).tril().bool()  # (T, T)
    return tokens.bool()[:, None, None] & causal  # (B, 1, T, T)


def observe_forward(function: Callable[..., Any]) -> Callable[..., Any]:
    """The rows of real target tokens: no loss ever reads those of padding."""

    def observed(source: Tensor, target: Tensor, *parts: Any) -> Any:
        answer = function(source, target, *parts)
        if not isinstance(answer, Tensor) or answer.shape[:2] != target.shape:
            return answer
        real = target != 0
        return answer.masked_fill(~(real[..., None] if answer.dim() == 3 else real), 0)

    return observed


FORWARD = Component(
    name="transformer_forward",
    chapter=14,
    order=2,
    section="The wiring",
    signature="source, target, embed_source, embed_target, encoder, decoder, output",
    pipeline=forward_pipeline,
    steps={
        "real": lambda source: source != 0,
        "embedded": lambda source, embed_source, embed_target: embed_source(source),
        "embedded_target": lambda target, embed_source, embed_target: embed_target(target),
        "encode": lambda x, mask, encoder: encoder(x, mask),
        "target_mask": lambda target, source: causal_and_real(target),
        "memory_mask": lambda mask, target: mask,
        "finish": lambda y, output: output(y),
    },
    cases=forward_cases,
    returns="the logits `(B, T, V)`, of which the rows at the target's padding are not looked at; "
    "padding is token 0 and stands behind, masks are boolean, True = may attend, and the parts "
    "are called as `embed_source(source)`, `encoder(x, mask)`, `decoder(y, memory, target_mask, "
    "memory_mask)` and `output(y)`",
    observe=observe_forward,
    differentiable=False,
    done_by="Transformer",
    met="worse",
    boundaries={
        **{
            name: where
            for name, where in on("source", token_conditions(buffers=())).items()
            if not name.endswith(("<sos> in the middle", "<sos> last", "<eos> first"))
        },
        **{
            name: where
            for name, where in on("target", token_conditions(buffers=())).items()
            if not name.endswith(("<sos> in the middle", "<sos> last", "<eos> first"))
            and not name.endswith("<unk> first")
        },
        "source longer than target": lambda source, target: source.size(1) > target.size(1),
        "target longer than source": lambda source, target: source.size(1) < target.size(1),
        "of one length": lambda source, target: source.size(1) == target.size(1),
        "every source padded": lambda source: (source[:, -1] == 0).all(),
        "every target padded": lambda target: (target[:, -1] == 0).all(),
        "one token in each of several targets": lambda target: len(target) > 1 == target.size(1),
        "a source longer than 1024": lambda source: source.size(1) > 1024,
        "a target longer than 1024": lambda target: target.size(1) > 1024,
        "a source longer than 64": lambda source: source.size(1) > 64,
        "a target longer than 64": lambda target: target.size(1) > 64,
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(FORWARD)


@mistake(
    "finish",
    "forward returns argmax",
    met=("nonsense", 17),
    symptom="The answer is token ids, and no loss can be computed from them.",
    cause="Return the logits; decoding takes the argmax.",
)
def ids_returned(y: Tensor, output: Callable[[Tensor], Tensor]) -> Tensor:
    return output(y).argmax(dim=-1)


@mistake(
    "finish",
    "forward returns probabilities",
    met=("flat", 5),
    symptom="The rows sum to one: a softmax has been taken.",
    cause="Return the logits: cross-entropy takes the softmax of them itself.",
    seen="Softmax applied before CrossEntropyLoss, "
    "https://github.com/lansinuote/Huggingface_Toturials/issues/6",
)
def probabilities_returned(y: Tensor, output: Callable[[Tensor], Tensor]) -> Tensor:
    return output(y).softmax(dim=-1)


@mistake(
    "finish",
    "forward returns log-probabilities",
    symptom="The rows are logarithms of probabilities: a log-softmax has been taken.",
    cause="A consistent choice: a second log-softmax changes nothing. The book returns logits.",
    kind="convention",
)
def logarithms_returned(y: Tensor, output: Callable[[Tensor], Tensor]) -> Tensor:
    return output(y).log_softmax(dim=-1)


@mistake(
    "finish",
    "output projection of the model forgotten",
    symptom="The rows are the decoder's vectors, as wide as the model, and no logits.",
    cause="Return output(y).",
)
def vectors_returned(y: Tensor, output: Callable[[Tensor], Tensor]) -> Tensor:
    return y


def _causal(length: int) -> Tensor:
    return torch.ones(length, length).tril().bool()


@mistake(
    "target_mask",
    "padding mask of the source used for the target",
    met=("sizes", 4),
    symptom="Words of the target are hidden where the source is padded; where the source has "
    "several words, but not as many as the target, it stops.",
    cause="Make the mask of the target from the target's ids.",
)
def source_padding_in_target(target: Tensor, source: Tensor) -> Tensor:
    return (source != 0)[:, None, None] & _causal(target.size(1))


@mistake(
    "target_mask",
    "future of the target visible",
    met=("too-good", 5),
    symptom="Positions of the target see the words that they are to predict.",
    cause="A word may be seen only where both masks allow it: the target's padding mask & the "
    "causal mask.",
)
def future_visible(target: Tensor, source: Tensor) -> Tensor:
    return (target != 0)[:, None, None] & torch.ones_like(_causal(target.size(1)))


@mistake(
    "memory_mask",
    "source padding read by the decoder",
    met=("batch", 3),
    symptom="A sentence's logits change with the padding of its source.",
    cause="Hand the source's mask to the decoder, too, as memory_mask.",
)
def memory_unmasked(mask: Tensor, target: Tensor) -> None:
    return None


@mistake(
    "memory_mask",
    "mask of the target handed to cross-attention",
    met=("sizes", 5),
    symptom="With as many words in both, word i of the target sees only the first i words of "
    "the source; with several in both, but not equally many, it stops.",
    cause="Hand the source's mask to the decoder, as memory_mask.",
)
def memory_mask_of_target(mask: Tensor, target: Tensor) -> Tensor:
    return (target != 0)[:, None, None] & _causal(target.size(1))


@mistake(
    "encode",
    "source padding read by the encoder",
    met=("batch", 2),
    symptom="A sentence's logits change with the padding of its source.",
    cause="Hand the source's mask to the encoder: (source != 0)[:, None, None], the words on the "
    "last axis, that of the keys.",
)
def encoder_unmasked(x: Tensor, mask: Tensor, encoder: Callable[..., Tensor]) -> Tensor:
    return encoder(x, None)


@mistake(
    "encode",
    "source padding read by the encoder and the decoder",
    symptom="A sentence's logits change with the padding of its source.",
    cause="Hand the source's mask, (source != 0)[:, None, None], to both: to the encoder, and to "
    "the decoder as memory_mask.",
    steps={"memory_mask": memory_unmasked},
)
def source_unmasked(x: Tensor, mask: Tensor, encoder: Callable[..., Tensor]) -> Tensor:
    return encoder(x, None)


@mistake(
    "encode",
    "encoder left out",
    met=("frequencies", 2),
    symptom="The decoder reads the embedded source, not the memory.",
    cause="memory = encoder(x, mask), and the memory goes to the decoder.",
)
def not_encoded(x: Tensor, mask: Tensor, encoder: Callable[..., Tensor]) -> Tensor:
    return x


@mistake(
    "embedded",
    "source embedded with the table of the target",
    symptom="The source's embedding does not matter.",
    cause="Embed the source with embed_source.",
)
def wrong_table(source: Tensor, embed_source: object, embed_target: Any) -> Tensor:
    return embed_target(source)


@mistake(
    "embedded_target",
    "target embedded with the table of the source",
    symptom="The target's embedding does not matter.",
    cause="Embed the target with embed_target.",
)
def wrong_table_of_target(target: Tensor, embed_source: Any, embed_target: object) -> Tensor:
    return embed_source(target)


@mistake(
    "embedded",
    "tables of source and target exchanged",
    symptom="Each side is embedded with the other one's table.",
    cause="Embed the source with embed_source, and the target with embed_target.",
    steps={"embedded_target": lambda target, embed_source, embed_target: embed_source(target)},
)
def tables_exchanged(source: Tensor, embed_source: object, embed_target: Any) -> Tensor:
    return embed_target(source)


@mistake(
    "real",
    "special tokens of the source hidden",
    symptom="<sos>, <eos> and <unk> of the source are hidden with the padding.",
    cause="Hide the padding, token 0, and nothing else: source != 0.",
    section="The three masks of one batch",
    chapter=8,
)
def source_specials_hidden(source: Tensor) -> Tensor:
    return source > 3


@mistake(
    "real",
    "source mask of the model inverted",
    symptom="Only the padding of the source is read.",
    cause="True means 'may attend': source != 0. (nn.Transformer means the opposite.)",
    section="PyTorch's modules mean the opposite",
    chapter=8,
)
def source_mask_inverted(source: Tensor) -> Tensor:
    return source == 0


@mistake(
    "real",
    "source mask of numbers",
    symptom="The source's mask is one of numbers: where attention adds them to the scores, no "
    "padding is hidden.",
    cause="Masks are boolean here, True = may attend: hand over source != 0 as it is.",
    section="The three masks of one batch",
    chapter=8,
)
def source_mask_of_numbers(source: Tensor) -> Tensor:
    return (source != 0).float()


@mistake(
    "finish",
    "last row of the model's logits cut off",
    symptom="There are T − 1 rows of logits.",
    cause="Return one row for each token of the target that came in.",
    section="One place to the right",
    chapter=3,
)
def last_row_cut(y: Tensor, output: Callable[[Tensor], Tensor]) -> Tensor:
    return output(y)[:, :-1]


@mistake(
    "finish",
    "logits of the last position only",
    symptom="There is one row of logits for each sentence.",
    cause="Training needs the logits of all positions; decoding takes the last.",
)
def last_row_only(y: Tensor, output: Callable[[Tensor], Tensor]) -> Tensor:
    return output(y)[:, -1]


@mistake(
    "target_mask",
    "padding of the target left to the causal mask",
    symptom="No real position changes: padding comes last, and the future is hidden anyway.",
    cause="Only what stands at the padding itself changes, and no loss reads that. (With padding "
    "in front it would matter.)",
    kind="harmless",
)
def target_padding_visible(target: Tensor, source: Tensor) -> Tensor:
    return _causal(target.size(1))
