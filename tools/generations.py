#!/usr/bin/env python3
"""Train the model that is shipped as multi30k-de-en: five generations, each taught by earlier ones.

    python tools/generations.py --output runs/generations
    python tools/ship_model.py runs/generations/multi30k-generations=3 --name multi30k-de-en

It needs a GPU; on a CPU it would take weeks. There is no other text than the 29,000 pairs of
training, and no model reads the validation split. What a generation reads, besides the true pairs:

1. nothing: four models into English, four into German, and two that write captions of no source,
   one for each language. These translate the pairs, alone and together, and write new captions.
2. that, in eight mixtures; and four larger models, in four mixtures.
3. the pairs four times; what the four and the four of generation 1 together made of them; and what
   the twelve of generation 2 together made of their sources and of the captions. Two of the eight
   also read German that generation 1 drew at random for the English sides.
4. the pairs four times; what the eight of generation 3 together made of the sources and captions,
   and generation 2 of the sources; German by the shipped multi30k-en-de, once by beam search and
   three times drawn.
5. the like, by the sixteen of generations 3 and 4, and by those of 3 alone. These four are the
   runs of the recipe multi30k-generations; their numbers are its seeds.

"Together" is the mean of the probabilities. From generation 4 on, translations that repeat three
words are left out. The folder keeps what each step made, and a step that was interrupted is made
again. The shipped weights were made in this way, by a draft of this program, which drew the first
weights from another distribution and kept the learning rate above 0.5 % of its peak, in two
sittings that a clock stopped: the numbers of updates are those it left. The BLEU of the last three
generations on the validation split is measured, too, and written into `recipes/generations.json`;
chapter 19 shows it.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import torch
from many_at_once import (
    Search,
    Teams,
    Training,
    Weights,
    fast_attention,
    pack,
    picked,
    put_into,
    search,
    stacked,
    together,
    train,
)
from safetensors.torch import load_file, save

from transformer_book.metrics import bleu, repetitions
from transformer_book.recipes import FOLDER, load_recipe
from transformer_book.runs.experiment import Experiment
from transformer_book.support.arguments import check_choice
from transformer_book.support.atomic_files import read_json, write_atomically, write_json
from transformer_book.tasks import texts_of
from transformer_book.tokens import EOS
from transformer_book.training import mean_loss
from transformer_book.transformer import Transformer, TransformerConfig
from transformer_book.translator import Translator
from transformer_book.weights.checkpoints import weights_of

Pair = tuple[list[int], list[int]]
RECIPE = "multi30k-generations"
TRUE = "true " * 4  # as often as the true pairs count, from generation 3 on and in one mixture of 2
FEWEST = 5  # ids of a caption that is kept, <eos> included


@dataclass(frozen=True)
class Generation:
    """Models of one shape that are trained at once.

    Attributes:
        name: of its files.
        reads: for each model, what it reads, and its dropout.
        training: of all.
        changes: of the recipe's model, for a larger shape.
    """

    name: str
    reads: tuple[tuple[str, float], ...]
    training: Training
    changes: dict[str, int] = field(default_factory=dict)


ALL = "true own back"  # the pairs, and what each model alone made of either side
GENERATIONS = (
    Generation(
        "1",
        (("true", 0.3),) * 4 + (("turned", 0.3),) * 4 + (("german", 0.3), ("english", 0.3)),
        Training(2468, rows=128, seed=1),
    ),
    Generation(
        "2",
        (
            (ALL, 0.2),
            (f"{ALL} voted voted_back captions", 0.2),
            (f"{ALL} voted voted_back", 0.1),
            (f"{ALL} voted voted_back captions", 0.1),
            (f"{ALL} voted voted_back captions drawn", 0.1),
            (f"{ALL} captions captions_back", 0.1),
            (f"{TRUE} voted voted_back captions", 0.1),
            (f"{ALL} voted voted_back captions", 0.05),
        ),
        Training(3144, seed=2),
    ),
    Generation(
        "2-large",
        (
            (ALL, 0.3),
            (f"{ALL} voted voted_back captions", 0.2),
            (f"{ALL} voted voted_back captions drawn", 0.2),
            (f"{ALL} voted voted_back captions", 0.3),
        ),
        Training(4766, rows=128, peak=2.5e-3, seed=3),
        {"d_model": 256, "d_ff": 512},
    ),
    Generation(
        "3",
        ((f"{TRUE} voted voted_back voted-2 captions-2", 0.1),) * 4
        + ((f"{TRUE} voted voted_back voted-2 captions-2 drawn", 0.1),) * 2
        + ((f"{TRUE} voted voted_back voted-2 captions-2", 0.2),) * 2,
        Training(4059, seed=4),
    ),
    Generation(
        "4",
        tuple(
            (f"{TRUE} voted-3 captions-3 shipped_back shipped_drawn fluent-2", rate)
            for rate in (0.1, 0.1, 0.1, 0.15, 0.15, 0.15, 0.2, 0.2)
        ),
        Training(7779, seed=30),
    ),
    Generation(
        "5",
        ((f"{TRUE} voted-4 captions-4 shipped_back shipped_drawn voted-3", 0.15),) * 4,
        Training(19322, seed=40),
    ),
)


class Chain:
    """All generations, one after the other, in a folder that keeps what is done.

    Args:
        experiment: the recipe's: pairs, vocabulary, shape.
        folder: where the steps are kept.
        device: what computes.
        generations: see `GENERATIONS`.
        captions: how many captions of no source are written for generation 2, and how many of them
            are translated for the generations 3, 4 and 5.
        shipped_back: a trained model of the reverse direction.
        tell: is told what is done.
    """

    def __init__(
        self,
        experiment: Experiment,
        folder: Path,
        device: torch.device,
        generations: Sequence[Generation] = GENERATIONS,
        captions: Sequence[int] = (87_704, 73_444, 73_444, 45_000),
        shipped_back: str | Path = "multi30k-en-de",
        tell: Callable[[str], None] = print,
    ) -> None:
        self.experiment, self.folder, self.device, self.tell = experiment, folder, device, tell
        self.generations = {one.name: one for one in generations}
        self.captions = captions
        self.back = Translator.from_pretrained(shipped_back)
        sides = [vocabulary.tokens for vocabulary in experiment.vocabularies]
        if [self.back.target_vocabulary.tokens, self.back.source_vocabulary.tokens] != sides:
            raise ValueError(
                f"{shipped_back} has another vocabulary than {experiment.recipe.name}."
            )
        folder.mkdir(parents=True, exist_ok=True)
        self._check_folder()
        data = experiment.dataset("train", experiment.recipe.data.train)
        true = [(list(source), list(target[1:])) for source, target in data.examples]  # no <sos>
        self.sources, self.targets = (list(side) for side in zip(*true, strict=True))
        self.pairs: dict[str, list[Pair]] = {
            "true": true,
            "turned": [(target, source) for source, target in true],
            "german": [([EOS], source) for source in self.sources],
            "english": [([EOS], target) for target in self.targets],
        }
        self.weights: dict[str, Weights] = {}
        self.measured: list[dict[str, object]] = []

    def run(self) -> list[Path]:
        """Everything; returns the folders of the last generation's models."""
        with fast_attention():
            self._train("1")
            self._made("1", self._by_the_first)
            self._train("2")
            self._train("2-large")
            self._made("2", self._by_the_second)
            self._train("3")
            self._made("3", self._by_the_third)
            self._train("4")
            self._made("4", self._by_the_fourth)
            self._train("5")
            self.measured = [self._measure(name) for name in ("3", "4", "5")]
        return [self._save(k) for k in range(len(self.generations["5"].reads))]

    def _check_folder(self) -> None:
        """Raise `ValueError` if what the folder keeps was made in another way."""
        weights = save({key: t.contiguous() for key, t in weights_of(self.back.model).items()})
        about = {
            "generations": [dataclasses.asdict(one) for one in self.generations.values()],
            "captions": self.captions,
            "recipe": self.experiment.recipe.to_dict(),
            "back": zlib.crc32(weights),
        }
        about = json.loads(json.dumps(about))  # as it is read: lists for tuples
        path = self.folder / "chain.json"
        if not path.exists():
            write_json(path, about)
        elif read_json(path) != about:
            raise ValueError(
                f"{self.folder} holds generations that were made otherwise: remove it, or choose "
                "another folder."
            )

    # --- what is trained ---

    def _config(self, name: str) -> TransformerConfig:
        changes = self.generations[name].changes
        return dataclasses.replace(self.experiment.model_config, **changes)

    def _train(self, name: str) -> None:
        path = self.folder / f"generation-{name}.safetensors"
        if not path.exists():
            generation = self.generations[name]
            wanted = {part for reads, _ in generation.reads for part in reads.split()}
            tables, rows, begin = [], {}, 0
            for part in sorted(wanted):
                tables.append(pack(self.pairs[part]))
                rows[part] = torch.arange(begin, begin + len(tables[-1]))
                begin += len(tables[-1])
            pools = [
                torch.cat([rows[part] for part in reads.split()]) for reads, _ in generation.reads
            ]
            with torch.random.fork_rng(devices=[]):
                torch.default_generator.manual_seed(generation.training.seed)
                new = stacked([Transformer(self._config(name)) for _ in generation.reads])
            rates = [rate for _, rate in generation.reads]
            history: list[dict] = []

            def note(update: int, nll: list[float]) -> None:
                history.append({"update": update, "nll": nll})
                self.tell(f"generation {name}: update {update}, {[round(x, 2) for x in nll]}")

            weights = train(
                {key: tensor.to(self.device) for key, tensor in new.items()},
                self._config(name),
                torch.cat(tables),
                pools,
                rates,
                generation.training,
                note,
            )
            write_json(path.with_suffix(".json"), history)
            on_cpu = {key: tensor.cpu().contiguous() for key, tensor in weights.items()}
            write_atomically(path, save(on_cpu))
        self.weights[name] = {
            key: tensor.to(self.device) for key, tensor in load_file(path).items()
        }

    # --- what is made ---

    def _made(self, name: str, make: Callable[[], dict[str, list[Pair]]]) -> None:
        path = self.folder / f"made-{name}.json"
        if not path.exists():
            torch.manual_seed(int(name))  # what is drawn does not depend on what came before
            made = make()
            self.tell(f"made by generation {name}: { {k: len(v) for k, v in made.items()} }")
            write_json(path, made)
        loaded = read_json(path)
        self.pairs |= {key: [tuple(pair) for pair in pairs] for key, pairs in loaded.items()}

    def _team(self, name: str, which: Sequence[int], size: int = 1) -> Teams:
        return Teams(picked(self.weights[name], which), self._config(name), size)

    def _by_the_first(self) -> dict[str, list[Pair]]:
        ahead, back = self._team("1", range(4)), self._team("1", range(4, 8))
        own = search([ahead], [self.sources] * 4)
        turned = search([back], [self.targets] * 4)
        four, four_back = self._team("1", range(4), 4), self._team("1", range(4, 8), 4)
        german, english = search(
            [self._team("1", (8, 9))],
            [[[EOS]] * self.captions[0]] * 2,
            Search(sampled=True, longest=50, batch=8192),
        )
        german, english = _new(german, self.sources), _new(english, self.targets)
        return {
            "own": _distinct(pair for part in own for pair in _pairs(self.sources, part)),
            "back": _distinct(pair for part in turned for pair in _pairs(part, self.targets)),
            "voted": _pairs(self.sources, *search([four], [self.sources])),
            "voted_back": _pairs(*search([four_back], [self.targets]), self.targets),
            "captions": _pairs(german, *search([four], [german])),
            "captions_back": _pairs(*search([four_back], [english]), english),
            "drawn": self._drawn([four_back], 2),
        }

    def _by_the_second(self) -> dict[str, list[Pair]]:
        teams = [self._team("2", range(8), 8), self._team("2-large", range(4), 4)]
        made = self._together(teams, "2", self.captions[1])
        return made | {"fluent-2": self._fluent(made["voted-2"])}

    def _by_the_third(self) -> dict[str, list[Pair]]:
        made = self._together([self._team("3", range(8), 8)], "3", self.captions[2])
        back = self.back.model.to(self.device)
        shipped = [Teams(stacked([back]), back.config)]
        return {key: self._fluent(pairs) for key, pairs in made.items()} | {
            "shipped_back": _pairs(*search(shipped, [self.targets]), self.targets),
            "shipped_drawn": self._drawn(shipped, 3),
        }

    def _by_the_fourth(self) -> dict[str, list[Pair]]:
        both = together(self.weights["3"], self.weights["4"])
        team = Teams(both, self._config("4"), len(both["output.bias"]))
        made = self._together([team], "4", self.captions[3])
        return {key: self._fluent(pairs) for key, pairs in made.items()}

    def _together(self, teams: list[Teams], name: str, n_captions: int) -> dict[str, list[Pair]]:
        how = Search(penalty=1.0)
        captions = [source for source, _ in self.pairs["captions"]][:n_captions]
        return {
            f"voted-{name}": _pairs(self.sources, *search(teams, [self.sources], how)),
            f"captions-{name}": _pairs(captions, *search(teams, [captions], how)),
        }

    def _drawn(self, teams: list[Teams], times: int) -> list[Pair]:
        """For each English sentence `times` German ones, drawn at random."""
        targets = self.targets * times
        (drawn,) = search(teams, [targets], Search(sampled=True, longest=60, batch=4096))
        return [pair for pair in _pairs(drawn, targets) if pair[0][-1] == EOS]

    def _fluent(self, pairs: Sequence[Pair]) -> list[Pair]:
        """Those whose target does not repeat three words."""
        return [(s, t) for s, t in pairs if not repetitions([self._text(t)]).value]

    def _text(self, ids: Sequence[int]) -> str:
        vocabulary, tokenizer = self.experiment.vocabularies[1], self.experiment.tokenizers[1]
        return tokenizer.detokenize(vocabulary.decode(ids))

    def _measure(self, name: str) -> dict[str, object]:
        """BLEU on the validation split, of each model and of all together; kept, too."""
        path = self.folder / f"validation-{name}.json"
        if not path.exists():
            task, n = self.experiment.task, self.experiment.recipe.data.validation
            data = self.experiment.dataset("validation")
            sources = [list(source) for source, _ in data.examples]
            right = [texts_of(task, pair)[1] for pair in task.pairs("validation", n=n)]
            K = len(self.generations[name].reads)
            how = Search(penalty=1.4)
            found = []
            for team in (*(self._team(name, [k]) for k in range(K)), self._team(name, range(K), K)):
                (texts,) = search([team], [sources], how)
                found.append(bleu([self._text(text) for text in texts], right).value)
            write_json(path, {"generation": name, "models": found[:-1], "together": found[-1]})
        return read_json(path)

    def _save(self, k: int) -> Path:
        """The folder of a model of the last generation, as `transformer-book train` leaves it."""
        recipe = dataclasses.replace(
            self.experiment.recipe, training=self.experiment.recipe.training | {"seed": k + 1}
        )
        experiment = Experiment(recipe, made=self.experiment.made)
        model = put_into(experiment.new_model(), self.weights["5"], k).eval()
        folder = self.folder / f"{recipe.name}={k + 1}"
        experiment.translator(model).save(folder)
        kept = read_json(self.folder / "generation-5.json")
        rows = [{"update": row["update"], "nll": row["nll"][k]} for row in kept]
        size = {"max_tokens": experiment.training.max_tokens}
        rows[-1]["validation_loss"] = mean_loss(model, experiment.dataset("validation"), **size)
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / "metrics.jsonl").write_text(lines, "utf-8")
        return folder


def _pairs(sources: Sequence[list[int]], targets: Sequence[list[int]]) -> list[Pair]:
    """The pairs that have a text on both sides."""
    both = zip(sources, targets, strict=True)
    return [(source, target) for source, target in both if min(len(source), len(target)) > 1]


def _distinct(pairs: Iterable[Pair]) -> list[Pair]:
    found = dict.fromkeys((tuple(source), tuple(target)) for source, target in pairs)
    return [(list(source), list(target)) for source, target in found]


def _new(texts: Sequence[list[int]], known: Sequence[list[int]]) -> list[list[int]]:
    """The texts that came to an end, are not too short, and neither known nor there twice."""
    seen, found = {tuple(text) for text in known}, []
    for text in texts:
        if text[-1] == EOS and len(text) >= FEWEST and tuple(text) not in seen:
            seen.add(tuple(text))
            found.append(text)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--output", type=Path, default=Path("runs/generations"), metavar="DIR")
    parser.add_argument("--device", default="cuda", help="cuda, or cpu if you have weeks")
    arguments = parser.parse_args()
    try:
        check_choice("device", arguments.device, ("cuda", "cpu"))
        if arguments.device == "cuda" and not torch.cuda.is_available():
            raise ValueError("There is no GPU here, and on a CPU this takes weeks: --device cpu.")
        experiment = Experiment(load_recipe(RECIPE))
        chain = Chain(experiment, arguments.output, torch.device(arguments.device))
        for folder in chain.run():
            print(folder)
        write_json(FOLDER / "generations.json", chain.measured, indent=1)
    except (ValueError, OSError) as error:
        raise SystemExit(str(error)) from None


if __name__ == "__main__":
    main()
