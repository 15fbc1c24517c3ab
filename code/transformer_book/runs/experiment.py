"""A recipe with everything that it asks for: pairs, tokenizers, vocabularies, a fresh model."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import torch

from transformer_book.architectures import Config, Model, build, configuration
from transformer_book.batches import PairDataset
from transformer_book.known_words import KnownWords
from transformer_book.recipes import Recipe
from transformer_book.tasks import Task, make_task, texts_of
from transformer_book.tokens import SubwordTokenizer, Tokenizer, Vocabulary
from transformer_book.training import Trainer, TrainingConfig
from transformer_book.translator import Translator


class Experiment:
    """What a recipe describes, made when it is first asked for.

        experiment = Experiment(load_recipe("captions-de-en"))
        trainer = experiment.trainer(folder="out")
        trainer.fit()
        translator = experiment.translator(trainer.model)

    Args:
        recipe: see `transformer_book.recipes`.
        made: texts of pairs that trained models made of the training split (`diversification`),
            to be trained on, too. Tokenizers and vocabularies are those of the true pairs.

    Raises:
        ValueError: when it is to train: the recipe asks for teachers and nothing is made, or the
            other way round.
    """

    def __init__(self, recipe: Recipe, made: Sequence[tuple[str, str]] = ()) -> None:
        self.recipe = recipe
        self.made = made
        self.task: Task = make_task(**recipe.task)
        self.training = TrainingConfig(**recipe.training)

    @cached_property
    def train_pairs(self) -> list:
        """The training split, tokens on both sides."""
        return self.task.pairs("train", n=self.recipe.data.train, seed=self.recipe.data.seed)

    @cached_property
    def tokenizers(self) -> tuple[Tokenizer, Tokenizer]:
        """From source and target text to tokens; subwords are learned from the training split."""
        config, task = self.recipe.tokens, self.task
        if config.kind == "words":
            return task.source_tokenizer, task.target_tokenizer
        sources, targets = zip(*(texts_of(task, pair) for pair in self.train_pairs), strict=True)
        if config.joint:
            both = self._subwords(sources + targets)
            return both, both
        return self._subwords(sources), self._subwords(targets)

    def _subwords(self, texts: Sequence[str]) -> SubwordTokenizer:
        config = self.recipe.tokens
        return SubwordTokenizer.train(texts, config.vocab_size, lowercase=config.lowercase)

    def _tokens(self, pairs: Sequence) -> list[tuple[Sequence[str], Sequence[str]]]:
        """Pairs of tokens as the model reads them: the task's own words, or subwords."""
        if self.recipe.tokens.kind == "words":
            return [(pair.source, pair.target) for pair in pairs]
        return self._tokens_of_texts([texts_of(self.task, pair) for pair in pairs])

    def _tokens_of_texts(
        self, texts: Sequence[tuple[str, str]]
    ) -> list[tuple[Sequence[str], Sequence[str]]]:
        source, target = self.tokenizers
        return [(source(source_text), target(target_text)) for source_text, target_text in texts]

    @cached_property
    def vocabularies(self) -> tuple[Vocabulary, Vocabulary]:
        """Source and target vocabulary, built from the training split only."""
        config = self.recipe.tokens
        if config.kind == "subwords":
            # All pieces, even those that the training split never ends up with: new words do.
            source, target = (Vocabulary(tokenizer.pieces) for tokenizer in self.tokenizers)
            return (source, source) if config.joint else (source, target)
        pairs = self.train_pairs
        sides = [[pair.source for pair in pairs], [pair.target for pair in pairs]]
        limits = {"min_frequency": config.min_frequency, "max_size": config.max_size}
        if config.joint:
            both = Vocabulary.build(sides[0] + sides[1], **limits)
            return both, both
        return Vocabulary.build(sides[0], **limits), Vocabulary.build(sides[1], **limits)

    @cached_property
    def known_words(self) -> KnownWords | None:
        """What a model of subwords meets in the training split, pairs that are too long included.

        `None` for a model of words: its vocabulary says that.
        """
        config = self.recipe.tokens
        if config.kind == "words":
            return None
        sources, targets = zip(
            *(texts_of(self.task, pair) for pair in self.train_pairs), strict=True
        )
        return KnownWords.build(sources, targets, lowercase=config.lowercase)

    def dataset(self, split: str, n: int | None = None) -> PairDataset:
        """A split, encoded; by default as many pairs as the recipe says."""
        data = self.recipe.data
        whole = split == "train" and n is None
        if whole and bool(self.made) != bool(data.teachers):  # before minutes of work
            raise ValueError(
                f"The recipe asks for {data.teachers} teachers (data.teachers), and there are "
                f"{len(self.made)} pairs that teachers made."
            )
        longest = data.max_length or self.model_config.max_length
        if whole:
            tokens = self._tokens(self.train_pairs)
            tokens += [  # a model may write more than another can read
                (source, target)
                for source, target in self._tokens_of_texts(self.made)
                if max(len(source) + self.recipe.tokens.source_sos, len(target) + 1) < longest
            ]
        else:
            n = n if n is not None else data.validation
            tokens = self._tokens(self.task.pairs(split, n=n, seed=data.seed))
        return PairDataset(
            tokens,
            *self.vocabularies,
            max_length=longest,
            too_long="drop" if data.max_length else "raise",
            source_sos=self.recipe.tokens.source_sos,
        )

    @cached_property
    def model_config(self) -> Config:
        source, target = self.vocabularies
        return configuration(self.recipe.model, (len(source), len(target)))

    def new_model(self) -> Model:
        """An untrained model; its weights depend on the recipe's seed and on nothing else."""
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(self.training.seed)  # not those of GPUs
            return build(self.model_config)

    def trainer(
        self, model: Model | None = None, *, kind: type[Trainer] = Trainer, **options: object
    ) -> Trainer:
        """A `Trainer`, or another `kind` of it, for a new model or the one given; its options."""
        return kind(
            model or self.new_model(),
            self.dataset("train"),
            self.dataset("validation"),
            self.training,
            **options,
        )

    def translator(self, model: Model) -> Translator:
        """The model together with the tokenizers and the search of the recipe."""
        return Translator(
            model,
            *self.tokenizers,
            *self.vocabularies,
            source_sos=self.recipe.tokens.source_sos,
            decoding=self.recipe.decoding,
            recipe=self.recipe.to_dict(),
            known_words=self.known_words,
        )
