"""The gym: its record is whole, what is right is measured, only the evidence tells it."""

from __future__ import annotations

import gzip
import json
import math
import re
import statistics
import subprocess
from itertools import combinations

import gym
import pytest
import torch
import torch.nn.functional as F
from browser_parity import node
from common import CHAPTERS, ROOT
from notebook_runner import read
from record_gym import DATA, PATCHES, TRAINERS, USES
from torch.nn.utils.rnn import pad_sequence
from transformer_book_site import slug_of

from transformer_book import pretrained
from transformer_book.checks.in_whole_models import find
from transformer_book.studies.interventions import parts_of
from transformer_book.support.atomic_files import read_json
from transformer_book.transformer import TransformerConfig

DATA_OF_PAGE = gym.page_data()
CASES = gym.recorded()
MARGIN = 0.05  # by which a cue may be better than chance
DRAWS = 5  # of the order of options
BOOK = ROOT / "book" / "assets"


def of_node(script: str, given: object) -> object:
    """What a module's script prints as JSON; `given` is in `data`."""
    head = f'import * as cases from "{(BOOK / "gym" / "cases.js").as_uri()}";\n'
    head += f'import * as settings from "{(BOOK / "bench" / "settings.js").as_uri()}";\n'
    head += 'import { readFileSync } from "node:fs";\n'
    head += "const data = JSON.parse(readFileSync(0, 'utf8'));\n"
    # Source: the minimal standard generator of Park and Miller (1988).
    head += "let state = 2017;\n"
    head += "const random = () => (state = (state * 48271) % 2147483647) / 2147483647;\n"
    command = [node(), "--no-warnings", "--input-type=module", "-e", head + script]
    done = subprocess.run(command, input=json.dumps(given), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_every_fault_is_described_and_can_be_made() -> None:
    faults = list(gym.FAULTS.values())
    assert len({fault.says for fault in faults}) == len(faults)
    for fault in faults:
        assert re.fullmatch("[a-z0-9-]+", fault.id)
        assert 2 <= len(re.findall(r"\. |\.$", fault.why)) <= 3, fault.id
        assert fault.test.endswith(".") and not fault.says.endswith(".")
        assert not fault.damage or fault.damage in {**PATCHES, **DATA, **TRAINERS}
        assert not fault.use or fault.use in USES
        if fault.mistake:
            find(*fault.mistake)
    made = [json.dumps(fault.asked(), sort_keys=True) for fault in faults]
    assert len(set(made)) == len(made)  # variations of seed are no further faults


def test_every_case_is_recorded_with_all_that_is_shown() -> None:
    assert {name for _, name in CASES} == set(gym.FAULTS)
    assert len(CASES) == sum(len(fault.tasks) for fault in gym.FAULTS.values()) >= 60
    for (task, name), runs in CASES.items():
        assert len({run["seed"] for run in runs}) == len(runs) >= 2
        shown = DATA_OF_PAGE["runs"][f"{name}-{task}"]
        assert set(gym.EVIDENCE) <= set(shown), name
        assert len(shown["train"]) == 40 and len(shown["validation"]) == 8, name
        assert [len(said) for said in shown["answers"].values()] == [3] * 4
        assert set(shown["norms"]) == {"1", *map(str, gym.MOMENTS)}
        S, T = len(shown["maps"]["source"]), len(shown["maps"]["target"])
        for kind, shape in {"encoder": (S, S), "decoder": (T, T), "cross": (T, S)}.items():
            assert all((len(head), len(head[0])) == shape for head in shown["maps"][kind])
    different = {json.dumps({**run, "seed": 0}) for run in DATA_OF_PAGE["runs"].values()}
    assert len(different) == len(CASES)


def test_a_new_fault_changes_no_seed_that_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    seeds = {case: gym.shown_seed(gym.FAULTS[case[1]], case[0]) for case in CASES}
    assert set(seeds.values()) == set(gym.SEEDS[:2])
    monkeypatch.setattr(gym, "FAULTS", dict(reversed(gym.FAULTS.items())))
    for (task, name), seed in seeds.items():
        assert gym.shown_seed(gym.FAULTS[name], task) == seed


def test_what_the_page_loads_is_small() -> None:
    text = json.dumps(DATA_OF_PAGE, ensure_ascii=False, separators=(",", ":"))
    assert len(gzip.compress(text.encode())) < 250_000


@pytest.mark.parametrize("task", gym.TASKS)
def test_what_is_right_is_among_the_options_and_is_measured(task: str) -> None:
    here = {name for each, name in CASES if each == task}
    asked = set()
    for level in gym.LEVELS:
        found = gym.groups(task, level)
        members = [name for group in found for name in group]
        assert len(members) == len(set(members))  # so each is as often right as it is offered
        asked |= set(members)
        for group in found:
            assert gym.OPTIONS <= len(group) <= gym.OPTIONS + 1
            for pair in combinations(group, 2):
                assert gym.told_apart(task, *pair)
    assert asked == here
    far, _, close = (
        statistics.mean(
            min(gym.clearest(task, *pair) for pair in combinations(group, 2))
            for group in gym.groups(task, level)
        )
        for level in gym.LEVELS
    )
    assert close < far


@pytest.mark.parametrize("task", gym.TASKS)
def test_seeds_without_a_fault_look_alike_in_whatever_pairs(task: str) -> None:
    """The measure does not tell a model from itself, though it tells it from most others."""
    runs = json.loads(gym.RECORD.read_text(encoding="utf-8"))
    healthy = [run for run in runs if (run["fault"], run["task"]) == ("healthy", task)]
    assert len(healthy) == 4
    for look in gym.LOOKS:
        first, *others = (gym.in_units(look, run) for run in healthy)
        for n, partner in enumerate(others):
            rest = [other for i, other in enumerate(others) if i != n]
            assert gym.gap_of([first, partner], rest) <= 1, look
    assert len(gym.alike(task, "healthy")) < len(CASES) / 2


def test_every_link_leads_somewhere() -> None:
    config = read_json(pretrained.find("captions-de-en") / "config.json")["model"]
    addresses = {}
    for name, fault in gym.FAULTS.items():
        file, _, anchor = fault.chapter.partition("#")
        cells = read(CHAPTERS / f"{file}.ipynb").cells
        text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
        headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
        assert anchor in {slug_of(heading) for heading in headings}, fault.chapter
        if fault.talk:
            parts_of(fault.talk, TransformerConfig(**config))
        for task in fault.tasks:
            if address := gym.address(fault, task):
                addresses[f"{name}-{task}"] = address
    script = """
    const read = Object.entries(data).map(([name, text]) => [name, settings.read_address(text)]);
    console.log(JSON.stringify(Object.fromEntries(read)));
    """
    for name, read_there in of_node(script, addresses).items():
        fault, _, task = name.rpartition("-")
        assert read_there["problems"] == []
        wanted = {"task": task, **gym.FAULTS[fault].settings, **gym.FAULTS[fault].bench}
        assert wanted.items() <= read_there["settings"][0].items()
    assert len(addresses) > 20


# --- only the evidence tells ----------------------------------------------------------------------

DRAWN = """
const texts = data.faults;
const found = [];
for (const question of cases.questions(data)) for (let n = 0; n < data.draws; n += 1) {
  const options = cases.options_of(question, random);
  found.push({
    right: options.findIndex(({ fault }) => fault === question.fault),
    ids: options.map(({ shown }) => `${shown}-${question.task}`),
    cues: options.map(({ shown }, i) => [
      i, texts[shown].says.length, JSON.stringify(data.runs[`${shown}-${question.task}`]).length,
      Object.keys(texts).indexOf(shown), shown.length, texts[shown].why.length,
      question.group.first.length,
    ]),
  });
}
console.log(JSON.stringify(found));
"""


def test_what_is_right_cannot_be_known_without_the_evidence() -> None:
    """Single cues, how often an id was right elsewhere, and all cues in a trained classifier."""
    drawn = of_node(DRAWN, {**DATA_OF_PAGE, "draws": DRAWS})
    right = [each["right"] for each in drawn]
    most = statistics.mean(1 / len(each["ids"]) for each in drawn) + MARGIN

    def share(picked: list[int]) -> float:
        return statistics.mean(a == b for a, b in zip(picked, right, strict=True))

    for cue in range(len(drawn[0]["cues"][0])):
        columns = [[option[cue] for option in each["cues"]] for each in drawn]
        for choose in (max, min):
            assert share([column.index(choose(column)) for column in columns]) < most, cue
    by_id, by_all = [0] * len(drawn), [0] * len(drawn)
    for fold in range(5):  # trained on four fifths of the questions, asked on the last
        inside = [n // DRAWS % 5 == fold for n in range(len(drawn))]
        known = [each for each, is_asked in zip(drawn, inside, strict=True) if not is_asked]
        rates: dict[str, list[bool]] = {}
        for each in known:
            for i, name in enumerate(each["ids"]):
                rates.setdefault(name, []).append(i == each["right"])
        weights = trained(known)
        for n, each in enumerate(drawn):
            if inside[n]:
                often = [statistics.mean(rates.get(name, [0.0])) for name in each["ids"]]
                by_id[n] = often.index(max(often))
                by_all[n] = int((features(each) @ weights).argmax())
    assert share(by_id) < most
    assert share(by_all) < most


def features(each: dict) -> torch.Tensor:
    """Each cue of the options beside the others, and the place as one number of five: (O, F)."""
    cues = torch.tensor(each["cues"], dtype=torch.float64)
    places = torch.eye(gym.OPTIONS + 1, dtype=torch.float64)[: len(cues)]
    return torch.cat([(cues - cues.mean(dim=0)) / (cues.std(dim=0) + 1e-9), places], dim=1)


def trained(known: list[dict]) -> torch.Tensor:
    """Logistic regression over the options: the weights of the features, (F,)."""
    rows = [features(each) for each in known]
    x = pad_sequence(rows, batch_first=True)  # (N, O, F)
    there = pad_sequence([torch.ones(len(row)) for row in rows], batch_first=True) > 0  # (N, O)
    right = torch.tensor([each["right"] for each in known])
    weights = torch.zeros(x.size(-1), dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([weights], max_iter=50)

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        scores = (x @ weights).masked_fill(~there, -math.inf)  # (N, O)
        loss = F.cross_entropy(scores, right) + 1e-4 * weights.square().sum()
        loss.backward()
        return loss

    optimizer.step(closure)
    return weights.detach()


def test_a_cue_that_tells_would_be_found() -> None:
    """The classifier is no sham: it finds what is right where the text of the right is longest."""
    told = []
    for n in range(200):
        cues = [[i, 30 + 7 * ((n + i) % 4)] for i in range(4)]
        told.append({"cues": cues, "right": max(range(4), key=lambda i: cues[i][1]), "ids": []})
    weights = trained(told[:150])
    found = [int((features(each) @ weights).argmax()) == each["right"] for each in told[150:]]
    assert statistics.mean(found) > 0.95


def test_it_becomes_harder_with_success_and_easier_with_misses() -> None:
    def level(grades: list[int]) -> int:
        answers = {f"gym/case-{n}/1": [[n + 1, grade, None]] for n, grade in enumerate(grades)}
        return of_node("console.log(JSON.stringify(cases.level_of(data)))", answers)

    assert [level(g) for g in ([], [3, 3], [3, 3, 3], [3] * 6, [3] * 20)] == [1, 1, 2, 3, 3]
    assert [level(g) for g in ([3, 3, 3, 1], [3, 3, 3, 1, 1], [3, 3, 1, 3])] == [2, 1, 1]


def test_new_cases_come_first_and_missed_ones_again() -> None:
    script = """
    const all = cases.questions(data.page).filter(({ level }) => level === 1);
    const known = Object.fromEntries(all.map(({ id }) => [id, [[1, 3, null]]]));
    const [first, second] = all;
    const one = { ...known }; delete one[first.id]; one[second.id] = [[1, 1, null], [2, 2, null]];
    const miss = { ...known, [second.id]: [[1, 1, null], [2, 2, null]] };
    const hard = { ...miss, [second.id]: [[1, 1, null], [2, 1, null]] };
    for (const each of Object.values(miss)) each[0] = [1, 2, null];
    const ask = (answers) => cases.next_question(all, answers, "", random).id;
    console.log(JSON.stringify([ask(one) === first.id, all.length, cases.solved(miss).solved]));
    """
    is_new, n, n_solved = of_node(script, {"page": DATA_OF_PAGE})
    assert is_new and n == n_solved
