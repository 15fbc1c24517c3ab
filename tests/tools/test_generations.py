"""The tool that trained the shipped German model: what it computes is what the book computes."""

from __future__ import annotations

import dataclasses
import json
import math
from collections import Counter

import generations
import many_at_once
import pytest
import torch
from generations import GENERATIONS, Chain
from many_at_once import (
    PARTS,
    ROW,
    Models,
    Search,
    Teams,
    Training,
    check_shape,
    dropout_of,
    losses,
    pack,
    picked,
    put_into,
    search,
    stacked,
    together,
    train,
)
from torch.testing import assert_close

from tests.tools.running import run_tool
from transformer_book.decoding import beam_search, greedy_search
from transformer_book.metrics import bleu
from transformer_book.optimization import label_smoothed_loss, learning_rate
from transformer_book.pretrained import FOLDER, results_by_seed
from transformer_book.recipes import load_recipe, recorded_generations
from transformer_book.runs.experiment import Experiment
from transformer_book.tasks import texts_of
from transformer_book.tokens import EOS, PAD, SOS
from transformer_book.transformer import Transformer
from transformer_book.translator import Translator

SMALL = ["task.name=captions", "data.train=16", "data.validation=8", "tokens.vocab_size=150"]
SMALL += ["model.d_model=16", "model.n_heads=2", "model.d_ff=32"]
SMALL += ["model.n_encoder_layers=2", "model.n_decoder_layers=2"]


@pytest.fixture(scope="module")
def experiment():
    return Experiment(load_recipe("multi30k-generations", SMALL))


@pytest.fixture(scope="module")
def models(experiment):
    """Three, none of whose weights is zero or one; they have opinions."""
    torch.manual_seed(7)
    found = [Transformer(experiment.model_config).eval() for _ in range(3)]
    with torch.no_grad():
        for model in found:
            for parameter in model.parameters():
                parameter.mul_(1.5).add_(0.2 * torch.randn_like(parameter))
    return found


@pytest.fixture(scope="module")
def pairs(experiment):
    data = experiment.dataset("train", 30)
    return [(list(source), list(target[1:])) for source, target in data.examples]


# --- rows -----------------------------------------------------------------------------------------


def unpacked(row: torch.Tensor) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """The pairs of a row, found by their numbers."""
    parts = dict(zip(PARTS, row.long(), strict=True))
    found = []
    for number in range(1, int(parts["source_pair"].max()) + 1):
        of_source, of_target = (parts[f"{side}_pair"] == number for side in ("source", "target"))
        source, answer = parts["source"][of_source], parts["answer"][of_target]
        for side, here in (("source", of_source), ("target", of_target)):
            assert parts[f"{side}_place"][here].tolist() == list(range(int(here.sum())))
        assert parts["target"][of_target].tolist() == [SOS, *answer[:-1].tolist()]
        found.append((tuple(source.tolist()), tuple(answer.tolist())))
    for side in ("source", "target"):
        assert (parts[side][parts[f"{side}_pair"] == 0] == PAD).all()
    return found


def test_every_pair_stands_in_one_row(pairs):
    longer = ([5] * (ROW - 1) + [EOS], [6, EOS])
    too_long = ([5] * ROW + [EOS], [6, EOS])
    rows = pack([*pairs, longer, too_long], seed=3)
    found = Counter(pair for row in rows for pair in unpacked(row))
    assert found == Counter((tuple(s), tuple(t)) for s, t in [*pairs, longer])
    assert len(rows) < len(pairs) / 1.5  # several in a row
    assert not torch.equal(rows, pack([*pairs, longer, too_long], seed=4))


# --- the loss -------------------------------------------------------------------------------------


def test_loss_and_gradients_are_those_of_the_book(experiment, models, pairs):
    batch = torch.stack([pack(pairs[:12], 1), pack(pairs[12:24], 2)[: len(pack(pairs[:12], 1))]])
    weights = {name: tensor.requires_grad_() for name, tensor in stacked(models[:2]).items()}
    loss, nll = losses(Models(weights, experiment.model_config, torch.float32), batch, 0.1)
    loss.sum().backward()
    for k, model in enumerate(models[:2]):
        model.zero_grad()
        total, said, n = 0.0, 0.0, 0
        for row in batch[k]:
            for source, target in unpacked(row):
                logits = model(torch.tensor([source]), torch.tensor([[SOS, *target[:-1]]]))
                one, plain = label_smoothed_loss(logits, torch.tensor([target]), 0.1)
                total, said = total + one * len(target), said + plain * len(target)
                n += len(target)
        assert_close(loss[k], total / n)
        assert_close(nll[k], said / n)
        (total / n).backward()
        for name, parameter in model.named_parameters():
            assert_close(weights[name].grad[k], parameter.grad, rtol=1e-3, atol=1e-4)


def test_a_shape_that_is_not_computed_is_refused(experiment):
    check_shape(experiment.model_config)
    other = dataclasses.replace(experiment.model_config, norm="post")
    with pytest.raises(ValueError, match="norm is 'post': models are trained at once with 'pre'"):
        check_shape(other)


def test_each_model_has_its_own_dropout():
    torch.manual_seed(0)
    x = torch.ones(3, 400, 5)
    for rates in ((0.1, 0.5, 0.0), (0.3, 0.3, 0.3)):
        shares = (dropout_of(rates)(x) == 0).float().mean(dim=(1, 2))
        assert_close(shares, torch.tensor(rates), rtol=0, atol=0.05)


# --- training -------------------------------------------------------------------------------------


def test_models_are_trained_as_the_book_would(experiment, models, pairs):
    """Each by itself, on its own rows, with its own norm, to its own average."""
    config = experiment.model_config
    table = pack(pairs)
    pools = [torch.arange(0, 4), torch.arange(2, len(table))]
    training = Training(5, rows=2, peak=0.01, warmup=2, average=0.6, seed=9)
    told = []
    found = train(
        stacked(models[:2]), config, table, pools, [0.0, 0.0], training, lambda *a: told.append(a)
    )
    assert [update for update, _ in told] == [5] and len(told[0][1]) == 2

    generator = torch.Generator().manual_seed(9)
    for k, pool in enumerate(pools):
        n_epochs = math.ceil(10 / len(pool))
        epochs = [pool[torch.randperm(len(pool), generator=generator)] for _ in range(n_epochs)]
        numbers = torch.cat(epochs)[:10].view(5, 2)
        model = put_into(Transformer(config), stacked(models), k).eval()
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01, betas=(0.9, 0.98), eps=1e-9)
        average = [p.detach().clone() for p in model.parameters()]
        for update, chosen in enumerate(numbers, 1):
            texts = [pair for row in table[chosen] for pair in unpacked(row)]
            total = 0.0
            for source, target in texts:
                logits = model(torch.tensor([source]), torch.tensor([[SOS, *target[:-1]]]))
                one, _ = label_smoothed_loss(logits, torch.tensor([target]), 0.1)
                total = total + one * len(target)
            optimizer.zero_grad()
            (total / sum(len(target) for _, target in texts)).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            how = {"peak": 0.01, "schedule": "cosine", "warmup": 2, "updates": 5}
            optimizer.param_groups[0]["lr"] = learning_rate(update, **how)
            optimizer.step()
            for mean, parameter in zip(average, model.parameters(), strict=True):
                mean.lerp_(parameter.detach(), 0.4)
        for (name, _), mean in zip(model.named_parameters(), average, strict=True):
            if "key.bias" not in name:  # no gradient but that of rounding, which Adam makes large
                assert_close(found[name][k], mean, rtol=1e-3, atol=2e-4, msg=name)


def test_nothing_is_brought_to_the_device_during_an_update(experiment, models, pairs, monkeypatch):
    """A GPU that records an update refuses copies; the table of positions would be one."""
    made = []
    real = many_at_once.sinusoids
    monkeypatch.setattr(many_at_once, "sinusoids", lambda *a: made.append(a) or real(*a))
    table = pack(pairs)
    training = Training(3, rows=2, warmup=1)
    train(stacked(models[:1]), experiment.model_config, table, [torch.arange(3)], [0.1], training)
    assert len(made) == 1


# --- search ---------------------------------------------------------------------------------------


def test_searches_are_those_of_the_book(experiment, models, pairs):
    sources = [source for source, _ in pairs[:12]]
    width = max(map(len, sources))
    padded = torch.tensor([[*source, *[PAD] * (width - len(source))] for source in sources])
    team = Teams(stacked(models), experiment.model_config)
    for beam, penalty in ((1, 0.0), (3, 0.6), (4, 1.4)):
        found = search([team], [sources] * 3, Search(beam, penalty, longest=10, batch=7))
        for model, texts in zip(models, found, strict=True):
            if beam == 1:
                best = greedy_search(model, padded, max_length=10)
            else:
                how = {"beam_size": beam, "length_penalty": penalty, "max_length": 10}
                best = [beams[0] for beams in beam_search(model, padded, **how)]
            for ids, hypothesis in zip(texts, best, strict=True):
                cut_off = [] if hypothesis.finished else [EOS]  # the limit's
                assert ids == [*hypothesis.tokens, *cut_off]


def test_what_never_ends_comes_out_as_in_the_book(experiment, models, pairs):
    source = pairs[0][0]
    endless = put_into(Transformer(experiment.model_config), stacked(models), 0).eval()
    with torch.no_grad():
        endless.output.bias[EOS] = -1e4
    how = {"beam_size": 3, "length_penalty": 1.4, "max_length": 30}
    best = beam_search(endless, torch.tensor([source]), **how)[0][0]
    team = Teams(stacked([endless]), experiment.model_config)
    ((ids,),) = search([team], [[source]], Search(3, 1.4, longest=30))
    assert not best.finished and ids == [*best.tokens, EOS]


def test_a_team_goes_by_the_mean_of_its_probabilities(experiment, models, pairs):
    sources = [source for source, _ in pairs[:6]]
    weights, config = stacked(models), experiment.model_config
    teams = [Teams(picked(weights, (0, 1)), config, 2), Teams(picked(weights, (2,)), config)]
    (found,) = search(teams, [sources], Search(1, 0.0, longest=8))
    for source, ids in zip(sources, found, strict=True):
        for place in range(min(len(ids), 8)):  # at the limit comes <eos>
            given = torch.tensor([[SOS, *ids[:place]]])
            mean = sum(m(torch.tensor([source]), given)[0, -1].softmax(-1) for m in models) / 3
            mean[[PAD, SOS]] = 0
            assert ids[place] == int(mean.argmax())
    assert together(picked(weights, (0,)), picked(weights, (1, 2))).keys() == weights.keys()
    for name, tensor in together(picked(weights, (0,)), picked(weights, (1, 2))).items():
        assert torch.equal(tensor, weights[name])


def test_what_is_drawn_is_drawn_by_its_probability(experiment, models, pairs):
    torch.manual_seed(1)
    source, n = pairs[0][0], 6000
    team = Teams(stacked(models[:1]), experiment.model_config)
    (texts,) = search([team], [[source] * n], Search(sampled=True, longest=3, batch=n))
    p = models[0](torch.tensor([source]), torch.tensor([[SOS]]))[0, -1]
    p[[PAD, SOS]] = -math.inf
    shares = torch.bincount(torch.tensor([text[0] for text in texts]), minlength=len(p)) / n
    assert_close(shares, p.softmax(-1).detach(), rtol=0, atol=0.03)
    assert all(EOS not in text[:-1] and len(text) <= 3 for text in texts)


# --- the chain ------------------------------------------------------------------------------------


def test_the_recipe_says_what_the_last_generation_does():
    recipe, last = load_recipe("multi30k-generations"), GENERATIONS[-1]
    training = recipe.training
    assert (training["updates"], training["warmup"]) == (last.training.updates, 1000)
    assert training["learning_rate"] == last.training.peak and training["schedule"] == "cosine"
    assert training["max_tokens"] == last.training.rows * ROW
    assert training["label_smoothing"] == last.training.smoothing
    assert (training["beta1"], training["beta2"], training["epsilon"]) == (0.9, 0.98, 1e-9)
    assert (training["clip_norm"], training["weight_decay"]) == (1.0, 0.0)
    assert {rate for _, rate in last.reads} == {recipe.model["dropout"]}
    teachers = [len(one.reads) for one in GENERATIONS if one.name in ("3", "4")]
    assert recipe.data.teachers == sum(teachers) + 1  # and multi30k-en-de
    check_shape(Experiment(load_recipe("multi30k-generations", SMALL)).model_config)


@pytest.fixture(scope="module")
def chain(experiment, tmp_path_factory):
    """All generations with all that they read, two updates each."""
    torch.manual_seed(3)
    folder = tmp_path_factory.mktemp("chain")
    back = folder / "shipped-back"
    experiment.translator(Transformer(experiment.model_config)).save(back)
    short = [
        dataclasses.replace(
            one,
            training=dataclasses.replace(one.training, updates=2, rows=2),
            changes={"d_model": 32, "d_ff": 64} if one.changes else {},
        )
        for one in GENERATIONS
    ]
    told: list[str] = []
    made = Chain(
        experiment,
        folder / "run",
        torch.device("cpu"),
        short,
        captions=(20, 6, 5, 4),
        shipped_back=back,
        tell=told.append,
    )
    return made, made.run(), told


def test_the_last_generation_is_what_train_leaves(chain, experiment):
    made, folders, told = chain
    assert [folder.name for folder in folders] == [
        f"{experiment.recipe.name}={k}" for k in (1, 2, 3, 4)
    ]
    translators = [Translator.from_pretrained(folder) for folder in folders]
    for k, (folder, translator) in enumerate(zip(folders, translators, strict=True)):
        assert translator.recipe["training"]["seed"] == k + 1
        rows = [
            json.loads(row) for row in (folder / "metrics.jsonl").read_text("utf-8").splitlines()
        ]
        assert rows[-1]["update"] == 2 and 2 < rows[-1]["validation_loss"] < 8
        for name, parameter in translator.model.named_parameters():
            assert torch.equal(parameter, made.weights["5"][name][k])
    assert [line.split(":")[0] for line in told if line.startswith("generation")] == [
        f"generation {one.name}" for one in GENERATIONS
    ]


def test_what_a_generation_is_worth_is_measured(chain, experiment):
    made, folders, _ = chain
    assert [(one["generation"], len(one["models"])) for one in made.measured] == [
        ("3", 8),
        ("4", 8),
        ("5", 4),
    ]
    task = experiment.task
    validation = [texts_of(task, pair) for pair in task.pairs("validation", n=8)]
    right = [target for _, target in validation]
    for folder, value in zip(folders, made.measured[-1]["models"], strict=True):
        translator = Translator.from_pretrained(folder)
        how = {"beam_size": 5, "length_penalty": 1.4}
        texts = translator.translate([source for source, _ in validation], **how)
        assert bleu(texts, right).value == pytest.approx(value)


def test_the_recorded_generations_are_those_of_the_shipped_model():
    recorded = recorded_generations()
    numbers = {one.name: len(one.reads) for one in GENERATIONS}
    assert [one["generation"] for one in recorded] == ["3", "4", "5"]
    for one in recorded:
        assert len(one["models"]) == numbers[one["generation"]]
        assert all(0 < value < 100 for value in (*one["models"], one["together"]))
    by_seed = results_by_seed(FOLDER / "multi30k-de-en")
    for seed, value in enumerate(recorded[-1]["models"], 1):
        (result,) = (r for r in by_seed[seed] if r["split"] == "validation")
        assert result["bleu"]["value"] == pytest.approx(value, abs=0.05)


def test_what_is_made_has_a_true_side(chain, experiment, pairs):
    made, _, _ = chain
    true = made.pairs["true"]
    sources, targets = ({tuple(side) for side in part} for part in zip(*true, strict=True))
    assert len(true) == 16
    for name in ("own", "voted", "voted-2", "voted-3", "voted-4", "fluent-2"):
        assert {tuple(source) for source, _ in made.pairs[name]} <= sources, name
    for name in ("back", "voted_back", "drawn", "shipped_back", "shipped_drawn"):
        assert {tuple(target) for _, target in made.pairs[name]} <= targets, name
    for name in ("captions", "captions-2", "captions-3", "captions-4"):
        assert not {tuple(source) for source, _ in made.pairs[name]} & sources, name
    assert not {tuple(target) for _, target in made.pairs["captions_back"]} & targets


def test_a_step_that_is_done_is_not_done_again(chain, monkeypatch, experiment):
    made, folders, _ = chain
    monkeypatch.setattr(generations, "train", None)
    monkeypatch.setattr(generations, "search", None)
    again = Chain(
        experiment,
        made.folder,
        made.device,
        list(made.generations.values()),
        made.captions,
        made.folder.parent / "shipped-back",
    )
    assert again.run() == folders
    for name, tensor in made.weights["5"].items():
        assert torch.equal(again.weights["5"][name], tensor)
    (made.folder / "made-4.json").rename(made.folder / "away")
    with pytest.raises(TypeError):  # this one would have to search
        again.run()
    (made.folder / "away").rename(made.folder / "made-4.json")


def test_a_folder_of_another_chain_is_refused(chain, experiment):
    made, _, _ = chain
    back = made.folder.parent / "shipped-back"
    same = list(made.generations.values())
    with pytest.raises(ValueError, match="holds generations that were made otherwise: remove it"):
        Chain(experiment, made.folder, made.device, same, (1, 1, 1, 1), back)
    with pytest.raises(ValueError, match="captions-de-en has another vocabulary than multi30k-gen"):
        Chain(experiment, made.folder, made.device, same, made.captions, "captions-de-en")


def test_who_repeats_himself_is_left_out(chain):
    made, _, _ = chain
    tokenizer, vocabulary = made.experiment.tokenizers[1], made.experiment.vocabularies[1]
    ids = [
        [*vocabulary.encode(tokenizer(text)), EOS]
        for text in ("a dog a dog a dog runs", "a dog runs in a garden")
    ]
    kept = made._fluent([([5, EOS], ids[0]), ([6, EOS], ids[1])])
    assert kept == [([6, EOS], ids[1])]


def test_without_a_gpu_it_says_so():
    for arguments, sentence in (
        (["--device", "cuda"], "There is no GPU here, and on a CPU this takes weeks"),
        (["--device", "tpu"], "device is 'tpu', but it must be one of cuda, cpu"),
    ):
        if arguments[1] == "cuda" and torch.cuda.is_available():
            continue
        result = run_tool("generations.py", *arguments)
        assert result.returncode == 1 and sentence in result.stderr
        assert "Traceback" not in result.stderr
