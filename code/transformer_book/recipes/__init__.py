"""Recipes: one TOML file for each reproducible training run.

    description = "one line"
    base = "another-recipe"     # optional: start from that one, and change what stands below;
                                # or "another.toml", a file in the same folder
    [task]                      # name, and the options of that task
    [data]                      # how many pairs of each split, and the seed they are drawn with
    [tokens]                    # how text becomes ids
    [model]                     # the fields of TransformerConfig, without the vocabulary sizes; or
                                # architecture = "decoder_only", and those of DecoderOnlyConfig
                                # (a model that names its architecture takes nothing from a base)
    [training]                  # the fields of TrainingConfig
    [decoding]                  # how the trained model searches

Reading a recipe checks every name and every type; the error for a misspelled key suggests the
nearest one. Listing recipes imports neither torch nor any task.
"""

from __future__ import annotations

import difflib
import json
import tomllib
import types
import typing
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from transformer_book.support.arguments import check_choice
from transformer_book.tasks import check_whole

FOLDER = Path(__file__).parent
SECTIONS = ("task", "data", "tokens", "model", "training", "decoding")


@dataclass(frozen=True)
class DataConfig:
    """How many pairs are drawn from each split.

    Attributes:
        train, validation: number of pairs.
        seed: of the order in which a task draws its pairs; a corpus stays in its own order with 0,
            and is shuffled with any other.
        max_length: longest source and target that is trained on, special tokens included; longer
            ones are left out. `None`: as long as the model allows, and a longer one is an error.
        teachers: number of trained models whose translations of the training split are trained on,
            too (`diversification`).

    Raises:
        ValueError: for a value out of range.
    """

    train: int = 20000
    validation: int = 1000
    seed: int = 0
    max_length: int | None = None
    teachers: int = 0

    def __post_init__(self) -> None:
        check_whole(1, **{"data.train": self.train, "data.validation": self.validation})
        check_whole(0, **{"data.teachers": self.teachers})
        check_whole(**{"data.seed": self.seed})
        if self.max_length is not None:
            check_whole(3, **{"data.max_length": self.max_length})


@dataclass(frozen=True)
class TokensConfig:
    """How text becomes ids. The vocabulary is always built from the training split only.

    Attributes:
        kind: `"words"`: the task's own tokens; `"subwords"`: byte-pair encoding, learned from the
            training split.
        min_frequency: of words: one that occurs less often becomes `<unk>`.
        max_size: of words: the largest vocabulary, special tokens included.
        vocab_size: of subwords: the size of each vocabulary, special tokens included.
        joint: one vocabulary for source and target.
        lowercase: of subwords: lower-case the text first.
        source_sos: begin sources with `<sos>`, as the tutorial recipes do.

    Raises:
        ValueError: for a value out of range.
    """

    kind: str = "words"
    min_frequency: int = 1
    max_size: int | None = None
    vocab_size: int = 8000
    joint: bool = False
    lowercase: bool = False
    source_sos: bool = False

    def __post_init__(self) -> None:
        check_choice("tokens.kind", self.kind, ("words", "subwords"))
        sizes = {"min_frequency": 1, "max_size": 5, "vocab_size": 5}
        for name, least in sizes.items():
            if getattr(self, name) is not None:
                check_whole(least, **{f"tokens.{name}": getattr(self, name)})


@dataclass(frozen=True)
class DecodingConfig:
    """How a trained model searches for its translation.

    Attributes:
        beam_size: hypotheses kept at each step; 1 is greedy search.
        length_penalty: α of Wu et al. (2016); 0 compares sums of log-probabilities.
        max_length: longest output in tokens, `<eos>` included; `None`: as `decoding` chooses.

    Raises:
        ValueError: for a value out of range: before the training, not after it.
    """

    beam_size: int = 1
    length_penalty: float = 0.0
    max_length: int | None = None

    def __post_init__(self) -> None:
        for name in ("beam_size", "max_length"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"decoding.{name} is {value}, but it must be at least 1.")
        if not 0 <= self.length_penalty <= 10:
            raise ValueError(
                f"decoding.length_penalty is {self.length_penalty}, but it must be from 0 (none) "
                "to 10."
            )


@dataclass(frozen=True)
class Recipe:
    """One training run, complete.

    Attributes:
        name, description: what it is called, and one line on what it is.
        task: the name of the task, and all its options.
        data, tokens, decoding: see the classes.
        model: all fields of `TransformerConfig`, or its `architecture` and all fields of
            `DecoderOnlyConfig`, but the vocabulary sizes, which the data decide.
        training: all fields of `TrainingConfig`.
    """

    name: str
    description: str
    task: dict[str, Any]
    data: DataConfig
    tokens: TokensConfig
    model: dict[str, Any]
    training: dict[str, Any]
    decoding: DecodingConfig

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values; `recipe_from_dict` makes the recipe again."""
        return asdict(self)


def names() -> list[str]:
    """The names of the recipes that come with the book."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def description(name: str) -> str:
    """The one line that a recipe says about itself."""
    return _read(name).get("description", "")


def recorded_ablations() -> dict[str, list[dict[str, Any]]]:
    """The recorded runs of the `ablation-*` recipes, by recipe, in the order of their seeds.

    Each run has its `recipe`, `seed`, `settings` (the whole recipe, as `Recipe.to_dict` gives it),
    `updates` made, `parameters`, `train_nll` (mean of the last 50 updates, nats per token),
    `validation` (pairs of update and loss), `diverged` (`None`, or why the run stopped), and, where
    it did not diverge, `exact_match` and `bleu` on `n` validation pairs.

    They are recorded by `tools/record_ablations.py`, never by hand.
    """
    return _recorded(FOLDER / "ablations.json")


def recorded_runs() -> dict[str, list[dict[str, Any]]]:
    """The recorded runs of recipes, by recipe, whose models are not shipped.

    Each run has its `recipe`, `seed`, `settings`, `updates` made, `parameters`, `validation` (pairs
    of update and loss), and its `results`, as `evaluate` gives them: validation, then test. Another
    seed of a shipped model also has its `steps` on the validation split: last weights, averaged
    ones, searches.

    They are recorded by `tools/record_runs.py`, never by hand.
    """
    path = FOLDER / "runs.json"
    return _recorded(path) if path.exists() else {}


def recorded_generations() -> list[dict[str, Any]]:
    """What the last three generations of `multi30k-generations` reached on the validation split.

    Of each its number, `generation`, and the cased BLEU, 0 to 100, of its `models` and of all of
    them `together`, by beam search with a beam of 5 and a length penalty of 1.4.

    They are recorded by `tools/generations.py`.
    """
    return json.loads((FOLDER / "generations.json").read_text(encoding="utf-8"))


def recorded_today() -> dict[str, list[dict[str, Any]]]:
    """The recorded runs of the recipes in `recipes/today`, by recipe: chapters 5, 15, 18, 24, 25.

    Each run has what those of `recorded_ablations` have. The whole models have `results`, too, as
    `evaluate` gives them, on `test` and `compositional`; the `length-*` recipes have `by_length`:
    for each `length` of the longer side in tokens, how many of `n` captions came out `right`.

    They are recorded by `tools/record_today.py`, never by hand.
    """
    return _recorded(FOLDER / "today" / "recorded.json")


def recorded_induction() -> dict[str, list[dict[str, Any]]]:
    """The recorded runs of chapter 26, by name, in the order of their seeds.

    Each has its `settings`; by `updates`, the loss in nats on tokens that come for the `first` time
    and `again` (`again_one`: with the period 20 alone), and for each layer and head the scores
    `induction` and `previous`; and, for the last update, `offsets`: the mean weight at the places
    from one before to three behind the last place of the row's token.

    They are recorded by `tools/record_induction.py`, never by hand.
    """
    return _recorded(FOLDER / "today" / "induction.json")


def recorded_adapting() -> dict[str, list[dict[str, Any]]]:
    """The recorded runs of chapter 27: `pretrained`, and the ways to adapt that model, by name.

    Each has its `recipe`, `seed`, `settings`, how many numbers are `trainable`, the
    `validation_loss` of translations (nats per token), `exact_match` on `n` of them,
    `old_perplexity` of plain German and English text (`de`, `en`), and, but for the first,
    `train_nll`.

    They are recorded by `tools/record_adapting.py`, never by hand.
    """
    return _recorded(FOLDER / "adapting" / "recorded.json")


def _recorded(path: Path) -> dict[str, list[dict[str, Any]]]:
    runs: dict[str, list[dict[str, Any]]] = {}
    for run in json.loads(path.read_text(encoding="utf-8")):
        runs.setdefault(run["recipe"], []).append(run)
    return {name: sorted(runs[name], key=lambda run: run["seed"]) for name in runs}


def load_recipe(name: str | Path, changes: Iterable[str] = ()) -> Recipe:
    """Read a recipe of the book by its name, or any recipe by the path of its TOML file.

    Args:
        name: `"captions-de-en"`, or `"my/recipe.toml"`.
        changes: `"training.updates=200"`, in TOML's notation; a bare word is a string.

    Raises:
        ValueError: an unknown recipe, section or key (with the nearest that is known), a value of
            the wrong type or out of range, or a file that is not TOML.
    """
    return recipe_from_dict(changed({**_read(name), "name": Path(name).stem}, changes))


def changed(data: Mapping[str, Any], changes: Iterable[str]) -> dict[str, Any]:
    """The recipe `data`, as plain values, with `changes`; `data` itself stays as it is.

    Args:
        data: as `Recipe.to_dict` gives it.
        changes: `"section.key=value"`, in TOML's notation; a bare word is a string, and nothing
            behind the equals sign leaves the key out, as if the recipe did not say it.

    Raises:
        ValueError: a change that is not written so, or an unknown section.
    """
    data = {key: dict(part) if isinstance(part, Mapping) else part for key, part in data.items()}
    for change in changes:
        key, equals, text = change.partition("=")
        section, dot, field = key.strip().partition(".")
        if not equals or not dot or not field:
            raise ValueError(
                f"{change!r} is not a change of a recipe: write section.key=value, "
                "as in training.updates=200."
            )
        check_choice("section", section, SECTIONS)
        part = data.setdefault(section, {})
        if not isinstance(part, dict):
            break  # recipe_from_dict says that it must be a section
        if text.strip():
            part[field] = value_of(text.strip())
        else:
            part.pop(field, None)
    return data


def value_of(text: str) -> Any:
    """The value that `text` is in TOML's notation; what is none, such as a bare word, is a string.

    >>> value_of("3e-4"), value_of("[1, 2]"), value_of("post")
    (0.0003, [1, 2], 'post')
    """
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
    except RecursionError as error:
        raise ValueError(f"{text[:40]}… is nested too deeply for a value.") from error


def to_toml(recipe: Recipe) -> str:
    """The whole recipe as TOML: in a file, `load_recipe` reads it back.

    What is `None` is left out; TOML has no word for it.
    """
    lines = [f"description = {_toml(recipe.description)}"]
    for section, content in recipe.to_dict().items():
        if section in SECTIONS:
            lines += ["", f"[{section}]"]
            lines += [f"{k} = {_toml(v)}" for k, v in content.items() if v is not None]
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    # A string of JSON is one of TOML; numbers are written alike, true and false too.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def recipe_from_dict(data: Mapping[str, Any]) -> Recipe:
    """The recipe that `to_dict`, or a TOML file, describes, checked, its defaults filled in.

    Raises:
        ValueError: as for `load_recipe`.
    """
    from transformer_book.architectures import SIZES, configuration, kind_of, settings_of
    from transformer_book.tasks import make_task
    from transformer_book.training import TrainingConfig

    data = dict(data)
    name, about = data.pop("name", "unnamed"), data.pop("description", "")
    for key, text in (("name", name), ("description", about)):
        if not isinstance(text, str):
            raise ValueError(f"recipe {name!r}: {key} is {text!r}, but it must be a string.")
    for section, content in data.items():
        _check_key(section, SECTIONS, f"recipe {name!r}: section")
        if not isinstance(content, Mapping):
            raise ValueError(f"recipe {name!r}: {section} is {content!r}, but it is a section.")
    for section in ("task", "training"):
        if section not in data:
            raise ValueError(f"recipe {name!r} lacks the section [{section}].")
    task = dict(data["task"])
    if "name" not in task:
        raise ValueError(f"recipe {name!r} does not say task.name.")
    model = dict(data.get("model", {}))
    try:
        model_kind = kind_of(model)
    except ValueError as error:
        raise ValueError(f"recipe {name!r}: model.{error}") from error
    architecture = {key: model.pop(key) for key in ("architecture",) if key in model}
    model = architecture | _check_section(
        name, "model", model, model_kind, without=SIZES[model_kind]
    )
    training = dict(data["training"])
    _check_section(name, "training", training, TrainingConfig)
    if "updates" not in training:
        raise ValueError(f"recipe {name!r} does not say training.updates.")
    parts = {}
    for section, kind in (("data", DataConfig), ("tokens", TokensConfig)):
        parts[section] = _check_section(name, section, dict(data.get(section, {})), kind)
    decoding = _check_section(name, "decoding", dict(data.get("decoding", {})), DecodingConfig)
    try:
        config = settings_of(configuration(model, (8, 8)))
        recipe = Recipe(
            name=name,
            description=about,
            task=make_task(**task).to_dict(),
            data=DataConfig(**parts["data"]),
            tokens=TokensConfig(**parts["tokens"]),
            model={key: value for key, value in config.items() if key not in SIZES[model_kind]},
            training=asdict(TrainingConfig(**training)),
            decoding=DecodingConfig(**decoding),
        )
        _check_together(recipe)
    except ValueError as error:
        raise ValueError(f"recipe {name!r}: {error}") from error
    return recipe


def _check_together(recipe: Recipe) -> None:
    """Raise `ValueError` where one section does not fit another."""
    longest = recipe.model["max_length"]
    for what, length, limit in (
        ("data.max_length", recipe.data.max_length, longest),
        ("decoding.max_length", recipe.decoding.max_length, longest - 1),  # after <sos>
    ):
        if length is not None and length > limit:
            raise ValueError(
                f"{what} is {length}, but with model.max_length = {longest} it must be at most "
                f"{limit}."
            )
    one = "architecture = 'decoder_only'" if "architecture" in recipe.model else None
    if recipe.model["tie_embeddings"] == "all":
        one = "tie_embeddings = 'all'"
    if one is not None and not recipe.tokens.joint:
        raise ValueError(f"model.{one} needs one vocabulary: set tokens.joint.")


def _read(name: str | Path, above: tuple[Path, ...] = ()) -> dict[str, Any]:
    """The TOML of a recipe, on top of the one it is based on."""
    path = Path(name)
    if path.suffix != ".toml":
        check_choice("recipe", str(name), names())
        path = FOLDER / f"{name}.toml"
    above = (*above, path.resolve())
    if path.resolve() in above[:-1]:
        way = " → ".join(one.stem for one in above)
        raise ValueError(f"recipe {path.stem!r} is based on itself: {way}.")
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ValueError(f"There is no recipe {path}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"{path} is not TOML: {error}") from error
    for key in data:
        known = (*SECTIONS, "base", "description")
        _check_key(key, known, f"recipe {path.stem!r}: section")
    base = data.pop("base", None)
    if base is None:
        return data
    if not isinstance(base, str):
        raise ValueError(f"recipe {path.stem!r}: base is {base!r}, but it must be a string.")
    below = _read(path.parent / base if base.endswith(".toml") else base, above)
    for key, content in data.items():
        anew = key == "model" and isinstance(content, Mapping) and "architecture" in content
        if isinstance(content, Mapping) and isinstance(below.get(key), Mapping) and not anew:
            below[key] = {**below[key], **content}
        else:
            below[key] = content
    return below


def _check_key(key: str, known: Iterable[str], what: str) -> None:
    known = tuple(known)
    if key not in known:
        near = difflib.get_close_matches(key, known, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(known)}."
        raise ValueError(f"{what} {key!r} is not known; {hint}")


def _check_section(
    recipe: str, section: str, content: dict[str, Any], kind: type, without: Iterable[str] = ()
) -> dict[str, Any]:
    """The content of a section, if its keys are fields of `kind` and its values of their types."""
    types_of = typing.get_type_hints(kind)
    known = [field.name for field in fields(kind) if field.name not in set(without)]
    for key, value in content.items():
        _check_key(key, known, f"recipe {recipe!r}: {section} key")
        wanted = types_of[key]
        if float in _members(wanted) and type(value) is int:
            content[key] = value = float(value)
        if type(value) not in _members(wanted):
            name = " or ".join(_NAMES[member] for member in _members(wanted))
            raise ValueError(
                f"recipe {recipe!r}: {section}.{key} is {value!r}, but it must be {name}."
            )
    return content


_NAMES = {
    int: "a whole number",
    float: "a number",
    str: "a string",
    bool: "true or false",
    type(None): "left out",
}


def _members(annotation: Any) -> tuple[type, ...]:
    if isinstance(annotation, types.UnionType) or typing.get_origin(annotation) is typing.Union:
        return typing.get_args(annotation)
    return (annotation,)
