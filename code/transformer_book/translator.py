"""A trained model that takes text and gives text (chapters 1 and 17)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from transformer_book import __version__, pretrained
from transformer_book.architectures import Model, build, configuration, settings_of
from transformer_book.batches import collate
from transformer_book.decoding import Hypothesis, beam_search, greedy_search, sample
from transformer_book.known_words import FILE as KNOWN_WORDS
from transformer_book.known_words import WORD, KnownWords
from transformer_book.recipes import DecodingConfig
from transformer_book.sampling import Drawing
from transformer_book.support.arguments import check_choice, check_positive
from transformer_book.support.atomic_files import read_json, write_json
from transformer_book.tasks import answer_to
from transformer_book.tokens import (
    EOS,
    SOS,
    TOKENIZERS,
    UNK,
    Tokenizer,
    Vocabulary,
    tokenizer_from_dict,
    uniform,
)
from transformer_book.weights.checkpoints import (
    load_tensors,
    load_weights,
    own_parts,
    save_tensors,
    weights_of,
)

FORMAT = 1
FILES = ("config.json", "source_vocabulary.json", "target_vocabulary.json", "model.safetensors")


@dataclass(frozen=True)
class Encoded:
    """A source text as a model reads it.

    Attributes:
        ids: of its tokens, special tokens included.
        unknown: its words that the vocabulary lacks; the model reads `<unk>`.
        rare: its words that training seldom or never met, see `Translator.rare_words`.
        right: its right translation, where the task can compute that.
    """

    ids: list[int]
    unknown: tuple[str, ...]
    rare: tuple[str, ...] | None
    right: str | None


@dataclass(frozen=True)
class Translation:
    """One translation, and how it came about.

    Attributes:
        text: the translation.
        source_tokens: what the model read, `<eos>` (and perhaps `<sos>`) included.
        tokens: what it wrote, `<eos>` included unless it was cut off.
        unknown: the words of the source that the vocabulary lacks; the model read `<unk>`.
        log_probability: natural logarithm of the probability of `tokens`.
        probabilities: of each token, given those before it.
        score: what the search ranks by.
        finished: whether the model ended it by itself.
        attention: on request, `(layers, H, T, S)`: cross-attention of the step that wrote row t,
            over `source_tokens`.
        candidates: on request, for each step the likeliest tokens and their probabilities.
        alternatives: on request, further translations, the best first.
        rare: the words of the source that training seldom or never met, see
            `Translator.rare_words`; `None` where that is not known.
    """

    text: str
    source_tokens: tuple[str, ...]
    tokens: tuple[str, ...]
    unknown: tuple[str, ...]
    log_probability: float
    probabilities: tuple[float, ...]
    score: float
    finished: bool
    attention: Tensor | None = None
    candidates: tuple[tuple[tuple[str, float], ...], ...] | None = None
    alternatives: tuple[Translation, ...] = ()
    rare: tuple[str, ...] | None = ()


NOTHING = Translation("", (), (), (), 0.0, (), 0.0, True)  # of an empty text


class Translator:
    """Model, tokenizers, vocabularies and search as one object.

        translator = Translator.from_pretrained("captions-de-en")
        translator.translate("Ein Hund schläft auf dem Sofa.")

    Args:
        model: trained with these vocabularies.
        source_tokenizer, target_tokenizer: from text to tokens, and back.
        source_vocabulary, target_vocabulary: from tokens to ids, and back.
        source_sos: whether sources begin with `<sos>`.
        decoding: how to search where `translate` is not told otherwise.
        recipe: what the model was trained by; kept with it.
        known_words: what it met in training, if it reads subwords and that is known.

    Raises:
        ValueError: if a vocabulary and the model differ in size.
    """

    def __init__(
        self,
        model: Model,
        source_tokenizer: Tokenizer,
        target_tokenizer: Tokenizer,
        source_vocabulary: Vocabulary,
        target_vocabulary: Vocabulary,
        *,
        source_sos: bool = False,
        decoding: DecodingConfig | None = None,
        recipe: Mapping[str, Any] | None = None,
        known_words: KnownWords | None = None,
    ) -> None:
        for side, vocabulary in (("source", source_vocabulary), ("target", target_vocabulary)):
            size = getattr(model.config, f"{side}_vocab_size")
            if size != len(vocabulary):
                raise ValueError(
                    f"The {side} vocabulary has {len(vocabulary)} tokens, but the model was built "
                    f"for {size}: they do not belong together."
                )
        self.model = model
        self.source_tokenizer, self.target_tokenizer = source_tokenizer, target_tokenizer
        self.source_vocabulary, self.target_vocabulary = source_vocabulary, target_vocabulary
        self.source_sos = source_sos
        self.decoding = decoding or DecodingConfig()
        self.recipe = dict(recipe or {})
        self.known_words = known_words

    # --- from and to disk -------------------------------------------------------------------------

    @classmethod
    def from_pretrained(cls, name: str | Path, device: torch.device | str = "cpu") -> Translator:
        """Load a model of the book by its name, or any by the folder that holds it.

        Raises:
            ValueError: there is no such model, a file is missing or damaged, the weights belong
                to another configuration, or the model had parts of your own and is loaded without
                them (see `notebook.using`).
        """
        folder = pretrained.find(name)
        for file in FILES:
            if not (folder / file).is_file():
                raise ValueError(f"{folder} holds no trained model: {file} is missing.")
        config = read_json(folder / "config.json")
        if not isinstance(config, dict) or config.get("format") != FORMAT:
            raise ValueError(f"{folder / 'config.json'} does not describe a model of this book.")
        try:
            with torch.random.fork_rng(devices=[]):  # loading draws no random numbers
                model = build(configuration(config["model"]))
            _check_parts(config.get("own_parts", []), model, folder)
            weights, _ = load_tensors(folder / "model.safetensors")
            load_weights(model, weights, folder / "model.safetensors")
            translator = cls(
                model.to(device).eval(),
                LazyTokenizer(config["source_tokenizer"]),
                LazyTokenizer(config["target_tokenizer"]),
                Vocabulary.load(folder / "source_vocabulary.json"),
                Vocabulary.load(folder / "target_vocabulary.json"),
                source_sos=config["source_sos"],
                decoding=DecodingConfig(**config["decoding"]),
                recipe=config["recipe"],
            )
            if (folder / KNOWN_WORDS).is_file():
                translator.known_words = KnownWords.load(folder / KNOWN_WORDS)
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(
                f"{folder / 'config.json'} does not describe a model of this book: {error}."
            ) from error
        return translator

    def save_description(self, folder: str | Path) -> None:
        """Write everything but the weights, so that weights saved there make a model."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        self.source_vocabulary.save(folder / "source_vocabulary.json")
        self.target_vocabulary.save(folder / "target_vocabulary.json")
        if self.known_words is not None:
            self.known_words.save(folder / KNOWN_WORDS)
        else:  # those of another model that was here before
            (folder / KNOWN_WORDS).unlink(missing_ok=True)
        description = {
            "format": FORMAT,
            "transformer_book": __version__,
            "model": settings_of(self.model.config),
            "source_tokenizer": self.source_tokenizer.to_dict(),
            "target_tokenizer": self.target_tokenizer.to_dict(),
            "source_sos": self.source_sos,
            "decoding": asdict(self.decoding),
            "recipe": self.recipe,
        }
        if own := own_parts(self.model):  # their code is not saved
            description["own_parts"] = own
        write_json(folder / "config.json", description, indent=1)

    def save(self, folder: str | Path, dtype: torch.dtype | None = None) -> None:
        """Write the model where `from_pretrained` finds it; `dtype` shortens the numbers."""
        self.save_description(folder)
        weights = weights_of(self.model)
        if dtype is not None:
            weights = {n: t.to(dtype) if t.is_floating_point() else t for n, t in weights.items()}
        save_tensors(Path(folder) / "model.safetensors", weights)

    # --- translating ------------------------------------------------------------------------------

    def encode(self, text: str) -> Encoded:
        """A source text, made `uniform`, as the model reads it.

        Raises:
            ValueError: there is no token in the text, or more than the model can read; what a model
                of `series` is asked is outside its grammar.
        """
        text = uniform(text)
        task = self.recipe.get("task")
        name = task.get("name") if isinstance(task, dict) else None
        right = answer_to(name, text) if text else None
        tokens = self.source_tokenizer(text)
        if not tokens:
            raise ValueError("There is nothing to translate: the text is empty.")
        ids = self.source_vocabulary.encode_source(tokens, sos=self.source_sos)
        limit = self.model.config.max_length
        if len(ids) > limit:
            raise ValueError(
                f"The text has {len(ids)} tokens, special tokens included, but this model reads at "
                f"most {limit}; translate it sentence by sentence."
            )
        unknown = self._unknown(tokens)
        rare = unknown if self._of_whole_words() else self.rare_words(text)
        return Encoded(ids, unknown, rare, right)

    def rare_words(self, text: str) -> tuple[str, ...] | None:
        """The words of a source text that training seldom or never met, as written, each once.

        For a model of subwords those that `known_words` lacks, and `None` if it has no such list:
        it cannot say. Another model knows exactly what its vocabulary has.
        """
        if self.known_words is not None:
            return self.known_words.rare(text)
        if not self._of_whole_words():
            return None
        return self._unknown(self.source_tokenizer(uniform(text)))

    def _of_whole_words(self) -> bool:
        """Whether the vocabulary alone says which words are known."""
        subwords = self.source_tokenizer.to_dict().get("type") == "subword"
        return self.known_words is None and not subwords

    def respelled(self, text: str) -> str | None:
        """The text with those of its rare words that the model knows in other capitals written so.

        `None` if there are none. The first word begins with a capital if the model knows it so.
        """
        written = uniform(text)
        spellings = {}
        for word in self.rare_words(text) or ():
            low = word.lower()
            both = [low, low[:1].upper() + low[1:]]
            if written.startswith(word):
                both.reverse()
            known = (each for each in both if each != word and self.rare_words(each) == ())
            if spelling := next(known, None):
                spellings[word] = spelling
        if not spellings:
            return None
        return WORD.sub(lambda found: spellings.get(found[0], found[0]), written)

    def _unknown(self, tokens: Sequence[str]) -> tuple[str, ...]:
        ids = self.source_vocabulary.encode(tokens)
        return tuple(dict.fromkeys(t for t, i in zip(tokens, ids, strict=True) if i == UNK))

    def translate(self, text: str | Sequence[str], **options: Any) -> str | list[str]:
        """Translate a text, or several; an empty one stays empty.

        Args:
            text: one text, or several.
            **options: see `search`.

        Raises:
            ValueError: as for `search`.
        """
        found = self.search([text] if isinstance(text, str) else text, **options)
        return found[0].text if isinstance(text, str) else [one.text for one in found]

    def search(
        self,
        texts: Sequence[str | Encoded],
        *,
        beam_size: int | None = None,
        length_penalty: float | None = None,
        max_length: int | None = None,
        n_best: int = 1,
        drawing: Drawing | None = None,
        seed: int = 0,
        keep_attention: bool = False,
        n_candidates: int = 0,
        batch_size: int = 64,
    ) -> list[Translation]:
        """Translate several texts and tell how each translation came about.

        Args:
            texts: what to translate, as text or `Encoded`; an empty one has an empty translation.
            beam_size, length_penalty, max_length: instead of those of `decoding`.
            n_best: how many translations of each text; needs a beam of that size. At random: the
                number of draws.
            drawing: draw at random instead of searching, see `sampling.Drawing`.
            seed: of these draws.
            keep_attention: also return the attention.
            n_candidates: also return so many of the likeliest tokens at each step.
            batch_size: texts that are searched together; has no influence on the result.

        Returns:
            The best translation of each text, or the first draw, the others in its `alternatives`.

        Raises:
            ValueError: a text that is longer than the model can read, or, for a model of `series`,
                no expression (which text, counted from 0); an option out of range.
        """
        if isinstance(texts, str):
            raise ValueError("texts is a string: pass a list of texts, or call translate.")
        check_positive(n_best=n_best, batch_size=batch_size)
        given = {"beam_size": beam_size, "length_penalty": length_penalty, "max_length": max_length}
        chosen = replace(self.decoding, **{k: v for k, v in given.items() if v is not None})
        encoded = self._encoded(texts)
        order = sorted(encoded, key=lambda i: len(encoded[i].ids))
        generator = torch.Generator(self.model.output.weight.device).manual_seed(seed)
        found: dict[int, Translation] = {}
        for start in range(0, len(order), batch_size):
            rows = order[start : start + batch_size]
            source = collate([(encoded[i].ids, [SOS, EOS]) for i in rows]).source
            source = source.to(self.model.output.weight.device)
            asked = {"keep_attention": keep_attention, "n_candidates": n_candidates}
            asked["max_length"] = chosen.max_length
            if drawing is not None:
                drawn = sample(
                    self.model,
                    source.repeat_interleave(n_best, dim=0),  # (B n_best, S)
                    drawing,
                    generator=generator,
                    **asked,
                )
                many = [drawn[i : i + n_best] for i in range(0, len(drawn), n_best)]
            elif chosen.beam_size == 1 and n_best == 1:
                many = [[hypothesis] for hypothesis in greedy_search(self.model, source, **asked)]
            else:
                many = beam_search(
                    self.model,
                    source,
                    chosen.beam_size,
                    length_penalty=chosen.length_penalty,
                    n_best=n_best,
                    **asked,
                )
            for i, hypotheses in zip(rows, many, strict=True):
                best, *rest = (self._translation(h, encoded[i]) for h in hypotheses)
                found[i] = replace(best, alternatives=tuple(rest))
        return [found.get(i, NOTHING) for i in range(len(texts))]

    def _encoded(self, texts: Sequence[str | Encoded]) -> dict[int, Encoded]:
        """The texts that are not empty, by their number."""
        encoded = {}
        for i, text in enumerate(texts):
            try:
                if isinstance(text, Encoded):
                    encoded[i] = text
                elif uniform(text):
                    encoded[i] = self.encode(text)
            except ValueError as error:
                which = f"Text {i}: " if len(texts) > 1 else ""
                raise ValueError(f"{which}{error}") from error
        return encoded

    def _translation(self, hypothesis: Hypothesis, source: Encoded) -> Translation:
        vocabulary = self.target_vocabulary
        names = vocabulary.tokens
        candidates = hypothesis.candidates
        return Translation(
            text=self.target_tokenizer.detokenize(vocabulary.decode(hypothesis.tokens)),
            source_tokens=tuple(self.source_vocabulary.decode(source.ids, keep_specials=True)),
            tokens=tuple(names[i] for i in hypothesis.tokens),
            unknown=source.unknown,
            log_probability=math.fsum(hypothesis.log_probabilities),
            probabilities=tuple(map(math.exp, hypothesis.log_probabilities)),
            score=hypothesis.score,
            finished=hypothesis.finished,
            attention=hypothesis.attention,
            candidates=None
            if candidates is None
            else tuple(tuple((names[i], p) for i, p in step) for step in candidates),
            rare=source.rare,
        )


def _check_parts(saved: list[str], model: Model, folder: Path) -> None:
    """Raise `ValueError` if the package's parts would compute with weights of other parts."""
    lacking = sorted(set(saved) - set(own_parts(model)))
    if lacking:
        raise ValueError(
            f"{folder} was saved with a part of your own, the class {lacking[0]}, whose code is "
            f"not in it; load it inside `with using(…={lacking[0]}):`, in the place it had."
        )


class LazyTokenizer:
    """A tokenizer that is made when it is first used: spaCy takes a second to import."""

    def __init__(self, description: Mapping[str, Any]) -> None:
        check_choice("tokenizer type", description["type"], TOKENIZERS)
        self._description = dict(description)
        self._tokenizer: Tokenizer | None = None

    def _made(self) -> Tokenizer:
        if self._tokenizer is None:
            self._tokenizer = tokenizer_from_dict(self._description)
        return self._tokenizer

    def __call__(self, text: str) -> list[str]:
        return self._made()(text)

    def detokenize(self, tokens: Sequence[str]) -> str:
        return self._made().detokenize(tokens)

    def to_dict(self) -> dict[str, Any]:
        return dict(self._description)
