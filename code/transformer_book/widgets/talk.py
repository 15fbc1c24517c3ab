"""“Talk to the model” in a notebook: the front end of the website's page, answered by Python.

The page asks for translations, the steps of one token, the tree of a search. On the website a
worker answers (`book/assets/model/answers.js`), here `answers` does: the same answers to the same
questions.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import anywidget
import numpy as np
import torch
import traitlets
from torch import Tensor, nn

from transformer_book.attention import MultiHeadAttention, recorded_attention
from transformer_book.layers import FeedForward, LayerNorm, Residual
from transformer_book.masks import padding_mask
from transformer_book.studies.inspection import attentions, recorded_vectors
from transformer_book.studies.interventions import changed, parts_of
from transformer_book.tokens import EOS, PAD, SOS, uniform
from transformer_book.transformer import Transformer
from transformer_book.translator import Translator
from transformer_book.verified import checked, verified_search
from transformer_book.widgets.beam import BEAMS, LONGEST, record_steps
from transformer_book.widgets.explorer import bundled, styles

CANDIDATES = 6  # the token that is said, and five runners-up
CHECKED = 16  # candidates of a search that checks them

Answer: TypeAlias = dict[str, Any]

# --- what is said of a model ----------------------------------------------------------------------

NAMES = {"de": "German", "en": "English", "it": "Italian"}
# Of the book's own making; no sentence of a corpus.
EXAMPLES = {
    "captions-de-en": [
        "Der kleine Junge spielt im Garten.",
        "Eine alte Frau liest auf der Bank eine Zeitung.",
        "Der Drache schläft.",
    ],
    "captions-en-it": [
        "The young woman is sleeping on the sofa.",
        "A small dog is running in the park.",
        "The raccoon is sleeping.",
    ],
    "multi30k-de-en": [
        "Zwei junge Männer spielen vor einem großen Haus Fußball.",
        "Eine Frau mit rotem Hut liest im Park ein Buch.",
        "Ein Astronaut isst Käsespätzle.",
    ],
    "multi30k-en-de": [
        "Two young men are playing football in front of a big house.",
        "A woman with a red hat is reading a book in the park.",
        "An astronaut is eating spaghetti.",
    ],
    # The model answers the first two rightly, the third wrongly: but it has a right candidate.
    "series": ["sin(a*x)/cos(b*x)", "cos(a*x)**3", "sin(a*x)**2*exp(b*x)"],
}
TRAINED = {
    "captions": (
        "It learned from {pairs:,} captions that the grammar of this book made, and knows the "
        "{words:,} words of these captions and no other. Whatever else you type, it makes a "
        "caption of it."
    ),
    "multi30k": (
        "It learned from {pairs:,} captions of photographs (Multi30k) and from nothing else: it "
        "knows people, dogs and balls, and no politics. For research and education, not for "
        "commercial use: so are its data."
    ),
    "series": (
        "It learned from {pairs:,} expressions of one or two factors, such as sin(a*x)**2, and "
        "their series to O(x**6). It computes nothing: it writes what looks right, and may be "
        "wrong."
    ),
}


def described(config: Mapping[str, Any], name: str = "") -> dict[str, Any]:
    """What the page says of a model whose config.json this is: title, examples, and so on.

    A model that is not one of the book's has no examples, and its title is `name`.
    """
    recipe = config.get("recipe") or {}
    task = recipe.get("task") or {}
    pair = [task.get(side, "") for side in ("source", "target")]
    languages = [NAMES.get(language, "") for language in pair]
    words = config["model"]["source_vocab_size"] - 4
    about = {
        "title": name or "a model",
        "about": "",
        "asks": "Your text",
        "source": pair[0],
        "target": pair[1],
        "subwords": config["source_tokenizer"]["type"] == "subword",
        "examples": EXAMPLES.get(name, []),
        "config": config["model"],
        "decoding": config["decoding"],
    }
    if name not in EXAMPLES:
        return about
    kind = {"captions": "captions of this book", "multi30k": "captions of photographs"}
    series = task["name"] == "series"
    title = f"{' → '.join(languages)}, {kind.get(task['name'])}"
    return about | {
        "title": "formula → its Taylor series" if series else title,
        "about": TRAINED[task["name"]].format(pairs=recipe["data"]["train"], words=words),
        "asks": "Your expression" if series else f"Your {languages[0]} sentence",
        "source": pair[0] or "en",
        "target": pair[1] or "en",
    }


# --- answers --------------------------------------------------------------------------------------


@torch.no_grad()
def answers(translator: Translator, question: Mapping[str, Any]) -> Iterator[Answer]:
    """The answers to one question: steps on the way, then one of the state "done" or "failed".

    Tables of numbers are arrays of `float32`.

    Args:
        translator: with the model in evaluation mode.
        question: `task`, a name in `TASKS`, and what it needs, by name.
    """
    asked = {name: value for name, value in question.items() if name not in ("id", "task")}
    try:
        task = TASKS.get(question.get("task"))
        if task is None:
            raise ValueError(f"Nothing answers to the task {question.get('task')!r}.")
        changes = asked.pop("changes", ())
        given = task(translator, **asked)
        while True:
            # Between two answers, which may be long, others find the model as it was.
            with changed(translator.model, changes):
                answer = next(given, None)
            if answer is None:
                return
            yield {"state": "step", **answer}
    except ValueError as error:
        yield {"state": "failed", "message": str(error)}
    except Exception as error:  # the page waits for an answer, whatever has gone wrong
        logging.getLogger(__name__).exception("no answer to %r", question.get("task"))
        message = f"The model has failed ({type(error).__name__}): the log says where; ask again."
        yield {"state": "failed", "message": message}


def _log_probabilities(
    model: Transformer, source: Tensor, memory: Tensor, said: list[int]
) -> Tensor:
    """How probable each token is after those that were said, `(V,)`: natural logarithms."""
    vectors = model.decode(torch.tensor([[SOS, *said]]), memory, padding_mask(source))  # (1, T, D)
    logits = model.output(vectors[:, -1])[0].double()  # (V,)
    logits[[PAD, SOS]] = -math.inf
    return logits.log_softmax(dim=-1)


def _longest(translator: Translator, n_source: int) -> int:
    limit = min(n_source + 50, translator.model.config.max_length - 1)
    return translator.decoding.max_length or limit


def _translate(translator: Translator, text: str, forced: Sequence[int] = ()) -> Iterator[Answer]:
    """Greedily, token by token, and then as the model is shipped to search."""
    model, names = translator.model, translator.target_vocabulary.tokens
    encoded = translator.encode(text)
    ids = encoded.ids
    read = {
        "source_tokens": [translator.source_vocabulary.tokens[i] for i in ids],
        "pieces": ["<sos>"] * translator.source_sos + translator.source_tokenizer(uniform(text)),
        "unknown": list(encoded.unknown),
        "rare": _listed(encoded.rare),
        "respelled": translator.respelled(text),
    }
    _check_forced(forced, model)
    began = time.perf_counter()
    first = None
    source = torch.tensor([ids])  # (1, S)
    memory = model.encode(source, padding_mask(source))  # (1, S, D)
    said: list[int] = []
    log_p: list[float] = []
    candidates: list[list[dict[str, Any]]] = []

    def translation() -> Answer:
        return {
            **read,
            "text": translator.target_tokenizer.detokenize(
                translator.target_vocabulary.decode(said)
            ),
            "tokens": [names[i] for i in said],
            "ids": list(said),
            "probabilities": [math.exp(each) for each in log_p],
            "score": math.fsum(log_p),
            "finished": said[-1] == EOS,
            "candidates": list(candidates),
        }

    while not said or (said[-1] != EOS and len(said) < _longest(translator, len(ids))):
        if said:
            first = first or 1000 * (time.perf_counter() - began)
            yield {"translation": translation()}
        following = _log_probabilities(model, source, memory, said)  # (V,)
        best = following.topk(min(CANDIDATES, len(following) - 2))
        said.append(forced[len(said)] if len(said) < len(forced) else int(best.indices[0]))
        log_p.append(following[said[-1]].item())
        found = zip(best.indices.tolist(), best.values.exp().tolist(), strict=True)
        candidates.append([{"id": i, "token": names[i], "p": p} for i, p in found])
    seconds = time.perf_counter() - began
    attention = _attention(model, ids, said)
    yield {"translation": translation(), "attention": attention}
    shipped = None
    if not forced and translator.decoding.beam_size > 1:
        (one,) = translator.search([encoded])
        shipped = {
            **read,
            "text": one.text,
            "tokens": list(one.tokens),
            "ids": [names.index(token) for token in one.tokens],
            "probabilities": list(one.probabilities),
            "score": one.score,
            "finished": one.finished,
            "candidates": [[] for _ in one.tokens],
        }
    written = shipped or translation()
    yield {
        "state": "done",
        "translation": translation(),
        "attention": attention,
        "shipped": shipped,
        "right": encoded.right,
        "checked": encoded.right and checked(uniform(text), written["text"]),
        "first": first or 1000 * seconds,
        "rate": len(said) / seconds,
    }


def _check_forced(forced: Sequence[int], model: Transformer) -> None:
    """Raise `ValueError` for tokens that this model cannot say."""
    longest, n_tokens = model.config.max_length - 1, model.config.target_vocab_size
    if len(forced) > longest:
        raise ValueError(
            f"{len(forced)} tokens are forced, but the model writes at most {longest}: force fewer."
        )
    for token in forced:
        if not isinstance(token, int) or not SOS < token < n_tokens:
            raise ValueError(
                f"The model cannot say the token {token}: force one from {SOS + 1} to "
                f"{n_tokens - 1}."
            )


def _listed(words: tuple[str, ...] | None) -> list[str] | None:
    return None if words is None else list(words)


def _array(x: Tensor) -> np.ndarray:
    return x.detach().float().contiguous().numpy().ravel()


def _attention(model: Transformer, source: list[int], said: list[int]) -> dict[str, list[Answer]]:
    """Weights and scores of all heads when the model reads `source` and has said `said`."""
    modules = attentions(model)
    with ExitStack() as stack:
        vectors = {}
        for attention in (each for of_kind in modules.values() for each in of_kind):
            vectors[attention] = stack.enter_context(recorded_vectors(attention))
        stack.enter_context(recorded_attention(model))
        model(torch.tensor([source]), torch.tensor([[SOS, *said[:-1]]]))
    found = {}
    for kind, of_kind in modules.items():
        found[kind] = []
        for attention in of_kind:
            weights = attention.weights[0]  # (H, T, S)
            H, T, S = weights.shape
            scores = _scores(attention, vectors[attention])
            found[kind].append(
                {"H": H, "T": T, "S": S, "weights": _array(weights), "scores": _array(scores)}
            )
    return found


def _scores(attention: MultiHeadAttention, vectors: Mapping[str, Tensor]) -> Tensor:
    """Query · key, times the scale, before the mask: `(H, T, S)`."""
    q, k = vectors["query"][0], vectors["key"][0]  # (H, T, K), (H, S, K)
    scale = q.size(-1) ** -0.5 if attention.scale is None else attention.scale
    return scale * q @ k.transpose(-2, -1)


def _beam(translator: Translator, text: str) -> Iterator[Answer]:
    """A recorded search, as `BeamExplorer` takes it."""
    model, vocabulary = translator.model, translator.target_vocabulary
    encoded = translator.encode(text)
    ids = encoded.ids
    source = torch.tensor([ids])  # (1, S)
    memory = model.encode(source, padding_mask(source))  # (1, S, D)
    beams = max(BEAMS, translator.decoding.beam_size)

    def follow(words: tuple[str, ...]) -> dict[str, float]:
        log_p = _log_probabilities(model, source, memory, vocabulary.encode(words))
        best = log_p.topk(min(2 * beams, len(log_p) - 2))
        found = zip(best.indices.tolist(), best.values.exp().tolist(), strict=True)
        return {vocabulary.tokens[i]: p for i, p in found}

    longest = min(_longest(translator, len(ids)), LONGEST)
    beginnings = 0
    for search in record_steps(text, follow, longest, beams):
        before, beginnings = beginnings, len({parent for parent, _, _ in search["nodes"]})
        if beginnings > before:
            yield {"beginnings": beginnings}
    yield {"state": "done", "search": search, "rare": _listed(encoded.rare)}


def _verified(translator: Translator, text: str) -> Iterator[Answer]:
    """Of the candidates of a beam the first that passes the check, `None` if none does."""
    if translator.encode(text).right is None:
        raise ValueError("Only the answers of a model of series can be checked.")
    one = verified_search(translator, uniform(text), CHECKED)
    found = one.translation.text if one.passed else None
    costs = {"candidates": one.candidates, "tokens": one.tokens, "checks": one.checks}
    yield {"state": "done", "found": found, **costs}


def _steps(
    translator: Translator, text: str, tokens: list[int], stack: str, layer: int, position: int
) -> Iterator[Answer]:
    """What goes in and out of each step of one layer for one token.

    `tokens` are the ids that were said; `position` counts what the stack reads.
    """
    model = translator.model
    ids = translator.encode(text).ids
    target = [SOS, *tokens[:-1]]
    layers = getattr(model, stack).layers
    if layer not in range(len(layers)) or position not in range(
        len(ids if stack == "encoder" else target)
    ):
        raise ValueError(f"There is no position {position} in layer {layer} of the {stack}.")
    with _recorded_steps(model, stack, layer, position) as found:
        model(torch.tensor([ids]), torch.tensor([target]))
    yield {"state": "done", "steps": found}


@contextmanager
def _recorded_steps(
    model: Transformer, stack: str, layer: int, position: int
) -> Iterator[list[Answer]]:
    """While this is open, a call of the model notes the steps of one layer, in their order."""
    found: list[Answer] = []
    own = getattr(model, stack).layers[layer]
    names = {module: name for name, module in model.named_modules()}

    def note(module: nn.Module, stage: str, x: Tensor) -> None:
        shape = list(x.shape)
        found.append({"module": names[module], "stage": stage, "shape": shape, "data": _array(x)})

    with ExitStack() as hooks:

        def after(module: nn.Module, act: Callable[[Any, Tensor], None]) -> None:
            hook = module.register_forward_hook(lambda _, inputs, made: act(inputs, made))
            hooks.callback(hook.remove)

        def before(module: nn.Module, act: Callable[[Tensor], None]) -> None:
            hook = module.register_forward_pre_hook(lambda _, inputs: act(inputs[0]))
            hooks.callback(hook.remove)

        side = "source" if stack == "encoder" else "target"
        embedding, positions = (
            getattr(model, f"{side}_{part}") for part in ("embedding", "positions")
        )
        after(embedding, lambda _, x: note(embedding, "output", x[0, position]))
        after(positions, lambda inputs, x: note(positions, "rows", (x - inputs[0])[0, position]))
        hooks.enter_context(recorded_attention(own))
        for module in own.modules():
            if isinstance(module, MultiHeadAttention):
                vectors = hooks.enter_context(recorded_vectors(module))
                before(module.output, partial(_note_attention, note, module, vectors, position))
            elif isinstance(module, Residual):
                notes = partial(note, module), partial(note, module.norm)
                _note_residual(*notes, module, position, before, after)
            elif isinstance(module, FeedForward):
                before(
                    module.linear2,
                    lambda x, module=module: note(module, "hidden", x[0, position]),
                )
        if layer == len(getattr(model, stack).layers) - 1:
            norm = getattr(model, stack).norm
            if isinstance(norm, LayerNorm):  # a post-norm stack has none
                after(norm, lambda _, x: note(norm, "output", x[0, position]))
        yield found


def _note_attention(
    note: Callable[..., None],
    attention: MultiHeadAttention,
    vectors: Mapping[str, Tensor],
    position: int,
    merged: Tensor,
) -> None:
    """Everything in an attention, once its heads stand side by side in `merged`, `(1, T, D)`."""
    note(attention, "query", vectors["query"][0, :, position])  # (H, K)
    note(attention, "key", vectors["key"][0])  # (H, S, K)
    note(attention, "value", vectors["value"][0])  # (H, S, K)
    note(attention, "scores", _scores(attention, vectors)[:, position])  # (H, S)
    note(attention, "weights", attention.weights[0, :, position])  # (H, S)
    note(attention, "heads", merged[0, position].view(attention.n_heads, -1))  # (H, K)


def _note_residual(
    note: Callable[..., None],
    note_norm: Callable[..., None],
    residual: Residual,
    position: int,
    before: Callable[..., None],
    after: Callable[..., None],
) -> None:
    """What goes into a residual connection, what is added to it, and their sum."""
    stream: list[Tensor] = []

    def begins(x: Tensor) -> None:
        stream[:] = [x[0, position] if residual.residual else torch.zeros_like(x[0, position])]
        note("stream", stream[0])

    def ends(total: Tensor) -> None:
        note("change", total[0, position] - stream[0])
        note("sum", total[0, position])

    before(residual, begins)
    after(residual.norm, lambda _, x: note_norm("output", x[0, position]))
    if residual.pre_norm:
        after(residual, lambda _, x: ends(x))
    else:
        before(residual.norm, ends)


TASKS = {"translate": _translate, "beam": _beam, "verified": _verified, "steps": _steps}
QUICK = ("steps",)  # answered in between: a longer task goes on afterwards


# --- the widget -----------------------------------------------------------------------------------


def packed(answer: Any, buffers: list[bytes]) -> Any:
    """An answer without its tables of numbers: they go into `buffers`, their places stay."""
    if isinstance(answer, np.ndarray):
        buffers.append(answer.astype("<f4").tobytes())
        return {"buffer": len(buffers) - 1}
    if isinstance(answer, dict):
        return {name: packed(value, buffers) for name, value in answer.items()}
    if isinstance(answer, list):
        return [packed(value, buffers) for value in answer]
    return answer


class Talk(anywidget.AnyWidget):
    """The page “Talk to the model” in a notebook, with any model of the book or of yours.

    Type a sentence and watch it translate; force a token, look at all heads and at each step of a
    token, change the model, draw the tree of its search. Python computes, so it needs a kernel: one
    step, then the page asks for the next, or no more once *Stop* is pressed.

        Talk("captions-de-en", text="Ein Hund schläft.", changes=["head:cross.1.2"])

    Args:
        model: a `Translator`, or the name of a model of the book, or the folder of another.
        text: what to translate first.
        changes: changes to begin with, as in `interventions`.

    Raises:
        ValueError: there is no such model, it has no such change, or an attention of your own that
            is no `MultiHeadAttention`.
    """

    _esm = bundled("talk.js")
    _css = styles("shared.css", "beam.css", "talk.css")

    about = traitlets.Dict().tag(sync=True)

    def __init__(
        self,
        model: Translator | str | Path = "captions-de-en",
        text: str | None = None,
        changes: Sequence[str] = (),
    ) -> None:
        named = not isinstance(model, Translator)
        self.translator = Translator.from_pretrained(model) if named else model
        for change in changes:
            parts_of(change, self.translator.model.config)
        for kind, modules in attentions(self.translator.model).items():
            if other := [each for each in modules if not isinstance(each, MultiHeadAttention)]:
                raise ValueError(
                    f"An attention of the kind {kind!r} has the class {type(other[0]).__name__}, "
                    "but only the book's MultiHeadAttention shows its queries, keys and weights."
                )
        self.translator.model.eval()
        config = {
            "model": asdict(self.translator.model.config),
            "source_tokenizer": self.translator.source_tokenizer.to_dict(),
            "recipe": self.translator.recipe,
            "decoding": asdict(self.translator.decoding),
        }
        name = str(model) if named else ""
        about = described(config, name)
        first = about["examples"][0] if about["examples"] else ""
        super().__init__(
            about={
                "models": [{"name": name, **about}],
                "state": {"text": first if text is None else text, "changes": list(changes)},
                "loaded": True,
            }
        )
        # The question that is being answered: its id, and the answers still to come.
        self._running: tuple[object, Iterator[Answer]] = (None, iter(()))
        self.on_msg(self._answer)

    def _answer(self, _: object, message: Mapping[str, Any], buffers: object) -> None:
        """Take one step for a question, or for "next", and send what it gives.

        A kernel hears nothing while it computes. So the page asks for each step, and whoever stops
        asks no more.
        """
        asked, task = message.get("id"), message.get("task")
        if task == "next":
            running, given = self._running
            if asked != running:
                return  # something else has been asked since
        else:
            given = answers(self.translator, message)
            if task not in QUICK:
                self._running = asked, given
        answer = next(given, None)
        if answer is not None:
            numbers: list[bytes] = []
            content = packed(answer, numbers)
            self.send({"id": asked, **content}, numbers)
