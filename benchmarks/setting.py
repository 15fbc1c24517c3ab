"""What all contestants share: the sizes, the sentences, the weights."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import cached_property
from hashlib import blake2b
from pathlib import Path

import torch
from torch import Tensor

from transformer_book.batches import Batch, BucketedBatches, PairDataset, collate
from transformer_book.decoding import beam_search, greedy_search
from transformer_book.support.atomic_files import read_json, write_json
from transformer_book.tasks import make_task
from transformer_book.tokens import Vocabulary
from transformer_book.training import Trainer, TrainingConfig
from transformer_book.transformer import Transformer, TransformerConfig
from transformer_book.weights.checkpoints import load_tensors, save_tensors, weights_of

KEPT = Path(__file__).resolve().parents[1] / "_build" / "benchmarks"


@dataclass(frozen=True)
class Sizes:
    """How large everything is, and how often it is measured.

    Attributes:
        vocab_size: entries of the joint vocabulary. The captions have fewer words: the other
            entries are never used, but scored at every position as in a real vocabulary.
        captions: sentences to translate; `decode_batch` at a time, sorted by length.
        pool: they are chosen from as many times more.
        spare: a translation is cut off when it has so many tokens more than its source.
        slow_captions: as many of them, evenly spread, for what decodes one sentence at a time.
        max_tokens: ids in a batch of training, padding included, on the longer side.
        train_updates: updates in one turn.
        *_rounds: how often each contestant has its turn, for each kind of measurement.
        growth_*: the sizes at which growth is measured.
        seed, learning_updates, learning_pairs: of the training that makes the weights.
    """

    d_model: int = 256
    n_heads: int = 8
    n_layers: int = 3
    d_ff: int = 512
    vocab_size: int = 6000
    max_length: int = 128
    dropout: float = 0.1
    captions: int = 1000
    pool: int = 2
    spare: int = 10
    slow_captions: int = 40
    decode_batch: int = 100
    beam_size: int = 5
    max_tokens: int = 4000
    train_updates: int = 2
    train_rounds: int = 10
    decode_rounds: int = 5
    beam_rounds: int = 3
    latency_rounds: int = 30
    growth_rounds: int = 3
    improvement_rounds: int = 4
    growth_tokens: tuple[int, ...] = (500, 1000, 2000, 4000, 8000)
    growth_lengths: tuple[int, ...] = (5, 10, 20, 40, 80)
    growth_beams: tuple[int, ...] = (1, 2, 4, 8, 16)
    seed: int = 1
    learning_updates: int = 600
    learning_pairs: int = 10_000


QUICK = Sizes(
    d_model=16,
    n_heads=2,
    n_layers=1,
    d_ff=32,
    vocab_size=2000,
    max_length=40,
    captions=8,
    slow_captions=2,
    decode_batch=4,
    beam_size=2,
    max_tokens=200,
    train_updates=1,
    train_rounds=2,
    decode_rounds=1,
    beam_rounds=1,
    latency_rounds=2,
    growth_rounds=2,
    improvement_rounds=1,
    growth_tokens=(100, 200),
    growth_lengths=(3, 6),
    growth_beams=(1, 2),
    learning_updates=3,
    learning_pairs=200,
)


# What the weights depend on.
DECIDING = {"d_model", "n_heads", "n_layers", "d_ff", "vocab_size", "max_length", "dropout"}
DECIDING |= {"max_tokens", "seed", "learning_updates", "learning_pairs"}


class Setting:
    """The made captions of the book, German into English, and a model that has learned some of it.

    The weights are trained here, in a few minutes, and kept in `_build/`: sentences must end
    where sentences end, or decoding would be measured on something that never happens.
    """

    def __init__(self, sizes: Sizes, folder: Path = KEPT) -> None:
        self.sizes, self.folder = sizes, folder

    @cached_property
    def _learning_pairs(self) -> list:
        return make_task("captions", source="de", target="en").pairs(
            "train", n=self.sizes.learning_pairs, seed=0
        )

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The words of both languages together."""
        pairs = self._learning_pairs
        return Vocabulary.build([p.source for p in pairs] + [p.target for p in pairs])

    def _dataset(self, pairs: list) -> PairDataset:
        words = self.vocabulary
        pairs = [(pair.source, pair.target) for pair in pairs]
        return PairDataset(pairs, words, words, max_length=self.sizes.max_length)

    @cached_property
    def train(self) -> PairDataset:
        """Pairs to train with."""
        return self._dataset(self._learning_pairs)

    @cached_property
    def test(self) -> PairDataset:
        """The captions to translate: such as the model ends by itself, as far as there are some.

        What a half-trained model repeats until it is cut off would be a test of cutting off, and
        libraries differ in that: whether a beam that is cut off may win over one that has ended.
        """
        s = self.sizes
        n = s.captions * s.pool
        pairs = make_task("captions", source="de", target="en").pairs("test", n=n, seed=0)
        path = self.folder / f"ended-{self._key}-{s.beam_size}-{s.captions}.json"
        if not path.exists():
            ended = self._ended(self._dataset(pairs))
            others = [i for i in range(n) if i not in ended]
            write_json(path, sorted((sorted(ended) + others)[: s.captions]))
        return self._dataset([pairs[i] for i in read_json(path)])

    def _ended(self, dataset: PairDataset) -> set[int]:
        """Which sources the model translates up to an `<eos>`, greedily and with beams."""
        model, ended, beams = self.model(), set(), self.sizes.beam_size
        for indices in BucketedBatches(dataset, batch_size=100, shuffle=False):
            source = collate([dataset[i] for i in indices]).source
            limit = {"max_length": self.limit(source)}
            greedy = greedy_search(model, source, **limit)
            best = beam_search(model, source, beams, length_penalty=0.0, **limit)
            found = zip(indices, greedy, best, strict=True)
            ended |= {i for i, one, (other,) in found if one.finished and other.finished}
        return ended

    def limit(self, source: Tensor) -> int:
        """The longest translation of a batch: `spare` tokens more than its longest source."""
        return min(source.size(1) + self.sizes.spare, self.sizes.max_length - 1)

    def train_batches(self, n: int, *, bucket: bool = True) -> list[Batch]:
        """`n` batches of training of about `max_tokens`, the same in every run."""
        size = {"max_tokens": self.sizes.max_tokens, "bucket": bucket}
        batches = list(BucketedBatches(self.train, **size))
        # The fullest: the last of a pool may be a remainder.
        batches.sort(key=lambda b: -sum(max(self.train.lengths[i]) for i in b))
        return [collate([self.train[i] for i in indices]) for indices in batches[:n]]

    @cached_property
    def sources(self) -> list[Tensor]:
        """The captions in batches `(B, S)`, sorted by length, so that there is little padding."""
        size = self.sizes.decode_batch
        batches = BucketedBatches(self.test, batch_size=size, shuffle=False)
        return [collate([self.test[i] for i in indices]).source for indices in batches]

    @cached_property
    def single_sources(self) -> list[Tensor]:
        """A few captions alone `(1, S)`: of every length, as often as it occurs."""
        rows = [row[row != 0][None] for batch in self.sources for row in batch]
        step = max(1, len(rows) // self.sizes.slow_captions)
        return rows[step // 2 :: step][: self.sizes.slow_captions]

    def config(self, *, bias: bool = True, dropout: float = 0.0) -> TransformerConfig:
        """Post-norm as in the 2017 paper, because Marian has nothing else."""
        s = self.sizes
        return TransformerConfig(
            s.vocab_size,
            s.vocab_size,
            d_model=s.d_model,
            n_heads=s.n_heads,
            n_encoder_layers=s.n_layers,
            n_decoder_layers=s.n_layers,
            d_ff=s.d_ff,
            max_length=s.max_length,
            dropout=dropout,
            norm="post",
            bias=bias,
            tie_embeddings="all",
            initialization="scaled_normal",
        )

    def model(self, dropout: float = 0.0) -> Transformer:
        """A model with the learned weights, in evaluation mode.

        They are learned without biases, which x-transformers does not have in its attentions and
        norms; here all biases are there, and zero: they cost what they cost, and all agree.
        """
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.sizes.seed)
            model = Transformer(self.config(dropout=dropout))
        model.load_state_dict(self._weights, strict=False)
        return model.eval()

    @cached_property
    def _weights(self) -> dict[str, Tensor]:
        path = self.folder / f"weights-{self._key}.safetensors"
        if not path.exists():
            save_tensors(path, self._learn(self.folder / f"learning-{self._key}"), {})
        return load_tensors(path)[0]

    @cached_property
    def _key(self) -> str:
        deciding = {k: v for k, v in asdict(self.sizes).items() if k in DECIDING}
        return blake2b(repr(deciding).encode(), digest_size=6).hexdigest()

    def _learn(self, run: Path) -> dict[str, Tensor]:
        s = self.sizes
        n_words = len(self.vocabulary)
        if n_words > s.vocab_size:
            raise ValueError(
                f"The captions have {n_words} words, but vocab_size is {s.vocab_size}; raise it."
            )
        # Trained with the words alone, which is faster; then the rows of the other entries follow.
        config = replace(
            self.config(bias=False, dropout=s.dropout),
            source_vocab_size=n_words,
            target_vocab_size=n_words,
        )
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(s.seed)
            model = Transformer(config)
            others = 0.01 * torch.randn(s.vocab_size - n_words, s.d_model)
        course = TrainingConfig(
            updates=s.learning_updates,
            max_tokens=min(1000, s.max_tokens),
            learning_rate=2e-3,
            schedule="linear",
            warmup=min(100, s.learning_updates),
            seed=s.seed,
        )
        few = PairDataset.__new__(PairDataset)
        few.examples, few.lengths = self.train.examples[:100], self.train.lengths[:100]
        trainer = Trainer(model, self.train, few, course, folder=run)
        trainer.resume()  # if it was interrupted
        trainer.fit()
        weights = {name: tensor.clone() for name, tensor in weights_of(model).items()}
        for name, tensor in weights.items():
            if tensor.size(0) == n_words:
                weights[name] = torch.cat([tensor, others])
        return weights
