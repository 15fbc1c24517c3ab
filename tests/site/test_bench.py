"""The bench in a real browser: a tiny model learns, is broken, is brought back, and is taken along."""

from __future__ import annotations

import json
import math
import re
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlencode

import psutil
import pytest
import torch
from playwright.sync_api import Browser, Page

from tests.cli.conftest import trained
from tests.javascript.test_bench import ask
from tests.site.accessibility import NARROW, cut_options, until_scrollable, violations, width_of
from tests.site.conftest import Tab, Visit
from tests.site.talk_page import ask as talk
from tests.site.talk_page import said as translation
from transformer_book.batches import Batch
from transformer_book.cli.run_folder import take_up_vocabularies
from transformer_book.recipes import load_recipe
from transformer_book.runs.experiment import Experiment
from transformer_book.translator import Translator

PAGE = "book/bench.html"
TINY = {"min_length": 2, "max_length": 4, "d_model": 16, "d_ff": 32, "batch_size": 16}
LEARNS = TINY | {"warmup": 10, "learning_rate": 0.01, "updates": 200}
BREAKS = LEARNS | {"d_model": 64, "optimizer": "sgd", "learning_rate": 1, "clip_norm": 0}
BREAKS |= {"norm": "none", "warmup": 0, "schedule": "constant", "score_scale": 1}


# Of each worker what it says of every update.
OVERHEARD = """const Own = Worker; window.losses = [];
window.Worker = class extends Own {
  constructor(...all) {
    super(...all);
    this.addEventListener("message", ({data}) => {
      if (data.is === "records") window.losses.push(...data.records.map(r => r.loss));
    });
  }
};"""


@pytest.fixture
def bench(site: Path, serve, browser: Browser) -> Iterator[Callable[..., Visit]]:
    """A function that opens the bench with settings in its address, in a browser that computes."""
    tabs = []

    def opened(*, width: int = 1280, scheme: str = "light", **settings) -> Visit:
        tabs.append(Tab(browser))
        address = f"{serve(site)}/{PAGE}?{urlencode(settings)}"
        seen = tabs[-1].visit(address, width, scheme, [OVERHEARD])
        seen.page.locator(".bench").wait_for()
        return seen

    yield opened
    for tab in tabs:
        tab.context.close()


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def told(page: Page) -> str:
    return page.locator(".bench .told").inner_text()


def until(page: Page, words: str) -> None:
    page.locator(".bench .told", has_text=words).wait_for()


def value_of(page: Page, setting: str) -> str | None:
    return page.locator(f'[data-setting="{setting}"] select option:checked').text_content()


def choose(page: Page, setting: str, words: str) -> None:
    row = page.locator(f'[data-setting="{setting}"]')
    row.evaluate("e => (e.closest('details').open = true)")
    row.locator("select").select_option(label=words)


def right(page: Page) -> int:
    """The share of validation pairs that come out exactly right, in per cent."""
    return int(told(page).split("% exactly right")[0].split()[-1])


def test_a_model_learns_and_python_says_what_it_says(bench, tmp_path: Path, tell) -> None:
    seen = bench(**LEARNS)
    page = seen.page
    assert value_of(page, "d_model") == "16" and value_of(page, "updates") == "200"
    page.locator(".bench .size", has_text="parameters. About").wait_for()
    page.get_by_role("button", name="Train", exact=True).press("Enter")
    until(page, "Finished after 200 updates")
    tell(f"a tiny model in Chromium: {told(page)}")
    assert right(page) > 40
    assert "Finished after 200 updates" in page.locator(".bench > .status").inner_text()
    drawn = page.locator(".bench .curves").first.get_attribute("aria-label")
    assert drawn.startswith("Curves of the loss. Validation: A: 0.")
    assert page.locator(".bench .curves .dot.lane-0").count() == 2 * 9
    assert page.locator(".bench .norms tbody tr").count() == 6
    assert page.locator(".bench .attention svg .weight").count() > 3
    assert page.locator(".bench .lying text").all_text_contents() == list("abcdefg")
    assert page.locator(".bench .lying path").count() == 7
    rows = page.locator(".bench .answers tbody tr")
    sources, said = (
        [row.locator("th, td").nth(i).inner_text() for row in rows.all()] for i in (0, 2)
    )
    with page.expect_download() as download:
        press(page, "Save the model")
    saved = Path(download.value.path()).read_bytes()
    with page.context.expect_page() as tab:
        press(page, "Talk to the model")
    handed = tab.value
    title = handed.locator(".talk option:checked", has_text="yours: bench-model.zip")
    title.wait_for(state="attached")
    talk(handed, sources[0])
    assert translation(handed) == said[0]
    handed.reload()  # the browser keeps it, until the reader deletes all that it keeps
    title.wait_for(state="attached")
    talk(handed, sources[0])
    assert translation(handed) == said[0]
    handed.goto(handed.url.split("talk.html")[0] + "progress.html")
    press(handed, "Delete everything")
    press(handed, "Yes, delete it")
    handed.get_by_text("Everything is deleted.").wait_for()
    handed.goto(handed.url.split("progress.html")[0] + "talk.html#bench")
    gone = handed.locator(".talk .notice", has_text="The browser has no model of the bench")
    gone.wait_for()
    handed.close()
    with zipfile.ZipFile(download.value.path()) as packed:
        packed.extractall(tmp_path)
    translator = Translator.from_pretrained(tmp_path)
    assert [translator.translate(source, beam_size=1) for source in sources] == said
    before = told(page).split("On pairs")[1]
    page.locator(".bench .file").set_input_files(tmp_path / "model.safetensors")
    until(page, "Paused after update 0 of 200. On pairs")  # the weights alone: a new run
    assert told(page).split("On pairs")[1] == before
    choose(page, "d_model", "32")
    page.locator(".bench .file").set_input_files(tmp_path / "model.safetensors")
    notice = page.locator(".bench > .notice", has_text="choose the sizes of that run first")
    notice.wait_for()

    # The page on which one talks to a model opens the file, too.
    page.goto(page.url.split("bench.html")[0] + "talk.html")
    page.locator(".talk > .status", has_text="Translation: ").wait_for()  # by its own model
    press(page, "A model of the bench")
    file = page.get_by_label("a model of the bench:")
    file.set_input_files(tmp_path / "model.safetensors")
    page.locator(".talk .notice", has_text="There is no config.json among the files").wait_for()
    file.set_input_files({"name": "run.zip", "mimeType": "", "buffer": saved})
    page.locator(".talk option:checked", has_text="yours: run.zip").wait_for(state="attached")
    page.locator(".talk > .status", has_text="Translation: ").wait_for()
    for source, own in zip(sources, said, strict=True):
        talk(page, source)
        assert translation(page) == own
    assert "model=" not in page.url
    assert seen.problems == []


def losses(page: Page) -> list[float]:
    return page.evaluate("window.losses")


def test_reverse_is_learned_and_without_the_causal_mask_only_seems_to_be(bench, tell) -> None:
    """The loss of a decoder that sees the future says nothing of what it can write.

    A model that reads no source cannot get below the entropy of the targets: log 4 for the length
    and log 7 for each symbol, over 3.5 symbols and <eos> on average.
    """
    asked = {"task": "reverse", "min_length": 2, "max_length": 5, "updates": 400}
    seen = bench(**asked, beside=1, **{"b.causal": "false"}, go=1)
    for name in "AB":
        until(seen.page, f"Setting {name}: finished after 400 updates")
    shown = [line.inner_text() for line in seen.page.locator(".bench .told p").all()]
    tell(f"reverse in Chromium, and without the causal mask: {' '.join(shown)}")
    (_, right), (loss, wrong) = (
        [float(n) for n in re.search(r"Training loss ([\d.]+)\..* (\d+) % exactly", line).groups()]
        for line in shown
    )
    assert right >= 90
    floor = (math.log(4) + 3.5 * math.log(7)) / 4.5
    assert loss < 0.1 * floor and wrong < 10
    assert seen.problems == []


def test_a_run_goes_to_python_and_comes_back(bench, tmp_path: Path, tell) -> None:
    """Paused in the page, trained on by `train --resume`, opened in the page again, and continued.

    Neither on the way there nor back do the losses jump, and those after the way back are the
    ones that PyTorch would have had on the same pairs.
    """
    seen = bench(**LEARNS | {"schedule": "constant", "updates": 8000})
    page = seen.page
    press(page, "Train")
    page.wait_for_function("window.losses.length >= 50")
    press(page, "Pause")
    until(page, "Paused after update")
    in_page = losses(page)
    with page.expect_download() as download:
        press(page, "Save the model")
    run = tmp_path / "bench-model"
    with zipfile.ZipFile(download.value.path()) as packed:
        packed.extractall(run)

    more = next(n for n in (100, 200, 300, 400, 1000, 2000) if n > len(in_page) + 30)
    made = f"training.updates={more}"
    trained(run, "train", str(run / "recipe.toml"), "--resume", "--set", made)
    lines = (run / "metrics.jsonl").read_text("utf-8").splitlines()
    in_python = [json.loads(line) for line in lines]
    assert [record["update"] for record in in_python] == [*range(len(in_page) + 1, more + 1)]
    in_python = [record["loss"] for record in in_python]

    folder = run / "checkpoints" / f"{more:08d}"
    three = [folder / name for name in ("model.safetensors", "optimizer.safetensors", "state.json")]
    page.locator(".bench .file").set_input_files(three)
    until(page, f"Finished after {more} updates")
    assert value_of(page, "updates") == str(more)
    choose(page, "updates", "8000")
    for n in range(1, 6):
        press(page, "One update")
        page.wait_for_function(f"window.losses.length === {len(in_page) + n}")
    back = losses(page)[len(in_page) :]

    job = {"paths": [str(path) for path in three], "n": 5, "begin": TINY}
    found = ask("next_batches", **job)
    assert found["update"] == more
    experiment = Experiment(load_recipe(run / "recipe.toml", [made]))
    take_up_vocabularies(experiment, run)
    trainer = experiment.trainer(folder=run)
    assert trainer.resume()
    right = []
    for batch in found["batches"]:
        source, given, out = (torch.tensor(batch[k]) for k in ("source", "target_in", "target_out"))
        right.append(trainer._step(Batch(source, torch.cat([given[:, :1], out], dim=1)))["loss"])
    worst = max(abs(a - b) / b for a, b in zip(back, right, strict=True))
    tell(
        f"{len(in_page)} updates in Chromium, to {more} in Python, and back: the losses after the "
        f"way back differ from PyTorch's by at most {worst:.1e}"
    )
    assert worst < 1e-3

    def mean(some: list[float]) -> float:
        return sum(some) / len(some)

    for before, after in ((in_page[-20:], in_python[:20]), (in_python[-20:], back)):
        assert mean(after) < mean(before) + 0.25 * in_page[0], (mean(before), mean(after))
    assert mean(in_page[-20:]) < 0.6 * in_page[0]
    assert seen.problems == []


def test_a_run_goes_on_after_the_lid_was_closed(bench) -> None:
    """All of the browser stops, as when a machine sleeps. Then the same updates follow, none lost."""
    whole, asleep = (bench(**LEARNS | {"updates": 2000}) for _ in range(2))
    page = asleep.page
    press(page, "Train")
    page.wait_for_function("window.losses.length >= 20")

    def is_tab(process: psutil.Process) -> bool:
        try:
            return "--type=renderer" in process.cmdline()
        except psutil.Error:  # it has just ended
            return False

    tabs = list(filter(is_tab, psutil.Process().children(recursive=True)))
    for each in tabs:
        each.suspend()
    assert tabs
    while {each.status() for each in tabs} != {psutil.STATUS_STOPPED}:  # once each has its turn
        time.sleep(0.1)
    time.sleep(1)
    for each in tabs:
        each.resume()
    page.wait_for_function(f"window.losses.length >= {len(losses(page)) + 50}")
    press(page, "Pause")
    until(page, "Paused after update")
    found = losses(page)
    assert f"Paused after update {len(found)} of 2000" in told(page)
    press(whole.page, "Train")
    whole.page.wait_for_function(f"window.losses.length >= {len(found)}")
    assert losses(whole.page)[: len(found)] == found
    assert asleep.problems == whole.problems == []


def test_what_is_not_a_number_is_said_and_the_last_good_state_is_there(bench) -> None:
    seen = bench(**BREAKS)
    # A trial of a few updates has measured the time, and must not have diverged.
    seen.page.locator(".bench .size", has_text="parameters. About").wait_for()
    press(seen.page, "Train")
    until(seen.page, "is not a number. The last good state is kept")
    assert "not a number" in seen.page.locator(".bench > .status").inner_text()
    assert not re.search(r"\d{6}", told(seen.page))  # however large the loss was
    press(seen.page, "Back")
    until(seen.page, "Paused after update 0 of 200")
    choose(seen.page, "learning_rate", "0.0003")
    choose(seen.page, "score_scale", "1/√d_k")
    press(seen.page, "One update")
    until(seen.page, "Paused after update 1 of 200")
    assert seen.problems == []


def test_a_switch_in_a_run_asks_first_and_can_be_taken_back(bench) -> None:
    seen = bench(**LEARNS | {"updates": 8000})
    page = seen.page
    press(page, "Train")
    until(page, "On pairs that it never sees")
    choose(page, "causal", "off")
    assert "causal=false" in page.url
    page.get_by_role("radio", name="It falls, and the answers stay wrong all the same.").check()
    until(page, "You said of “causal mask: off”")
    assert page.locator(".bench .curves .switched").count() == 2
    page.wait_for_function(f"window.losses.length > {len(losses(page))}")  # something came of it
    press(page, "Pause")
    until(page, "Paused after update")
    until(page, "What came: after update")
    states = page.get_by_role("combobox", name="a kept state")
    (kept,) = states.locator("option", has_text="before “causal mask: off”").all()
    update = int(kept.get_attribute("value"))
    states.select_option(str(update))
    press(page, "Back")
    until(page, f"Paused after update {update} of 8000")
    page.wait_for_function("!location.search.includes('causal')")
    assert value_of(page, "causal") == "hides the future"
    assert page.locator(".bench .legend li").count() == 2  # what came after it is kept as a curve
    assert seen.problems == []

    # At another visit.
    page.reload()
    page.locator(".bench .legend li", has_text="A to update").wait_for()
    assert page.locator(".bench .curves .kept-0.dot").count() >= 2
    choose(page, "causal", "off")
    question = page.locator(".bench .question").inner_text()
    said = "Last time you said: It falls, and the answers stay wrong all the same. What came: after"
    assert said in question
    page.goto(page.url.split("bench.html")[0] + "progress.html")
    done = page.locator(".progress-place li", has_text="You said:")
    assert "causal mask: off You said: It falls, and the answers stay wrong" in done.inner_text()
    assert "causal=false" in done.locator("a").get_attribute("href")
    saved = page.evaluate("window.bookMemory.exported()")
    page.evaluate("window.bookMemory.forget()")
    assert page.locator(".progress-place li").count() == 0
    assert page.evaluate("text => window.bookMemory.imported(text)", saved) == ""
    assert page.evaluate("window.bookMemory.exported()") == saved
    assert page.locator(".progress-place li", has_text="You kept the curve").count() == 1
    broken = json.loads(saved)
    broken["bench"]["guesses"] = {"1": {"guess": "<b>"}}
    told_of = page.evaluate("text => window.bookMemory.imported(text)", json.dumps(broken))
    assert "is no file of your progress" in told_of

    page.go_back()
    page.locator(".bench .legend li", has_text="A to update").get_by_role("button").click()
    page.reload()
    page.locator(".bench").wait_for()
    assert page.locator(".bench .legend li", has_text="A to update").count() == 0


def test_first_weights_take_a_new_run_and_are_guessed_before_it(bench) -> None:
    page = bench(**LEARNS | {"updates": 50}).page
    press(page, "One update")
    until(page, "Paused after update 1 of 50")
    choose(page, "initialization", "uniform (Xavier)")
    page.locator(".bench .size", has_text="takes a new run: press New run").wait_for()
    page.get_by_role("radio", name="It falls more slowly.").check()
    until(page, "Let it train, and see.")
    press(page, "New run")
    until(page, "Paused after update 0 of 50")
    press(page, "Train")
    until(page, "What came: after update 50")


def test_two_settings_train_side_by_side(bench) -> None:
    seen = bench(**LEARNS | {"updates": 50, "beside": 1, "b.positions": "none", "go": 1})
    page = seen.page
    until(page, "Setting B: finished after 50 updates")
    until(page, "Setting A: finished after 50 updates")
    assert "B differs: positions: none." in page.locator(".bench .whose").inner_text()
    assert page.locator(".bench .answers thead th").all_inner_texts()[-2:] == ["A says", "B says"]
    assert page.locator(".bench .curves .dot.lane-1").count() == 2 * 3
    page.locator(".bench .size", has_text="for 50 updates").wait_for()  # of another run
    press(page, "Keep this curve")  # it is named by what differs, as far as that has room
    named = page.locator(".bench .legend li", has=page.get_by_role("button")).inner_text()
    first = "shortest source: 2; longest source: 4; d_model: 16; d_ff: 32; batch size: 16"
    assert named.split("Remove")[0].strip() == first
    press(page, "Take the second setting away")
    assert "beside" not in page.url
    assert seen.problems == []


@pytest.mark.parametrize("width", [NARROW, 1280, 1440])
def test_the_run_stands_near_its_settings(width: int, bench) -> None:
    page = bench(width=width).page
    train = page.get_by_role("button", name="Train", exact=True).bounding_box()
    assert train["y"] - page.locator(".bench").bounding_box()["y"] < 700


def test_what_an_address_has_wrong_is_said(bench) -> None:
    seen = bench(norm="sideways", go=0)
    assert "“sideways” is no value of norm" in seen.page.locator(".bench > .notice").inner_text()
    press(seen.page, "Save as a recipe")
    choose(seen.page, "norm", "none")
    press(seen.page, "Save as a recipe")
    notice = seen.page.locator(".bench > .notice").inner_text()
    assert (
        notice == "The package has no models without layer norm: there is no recipe for this run."
    )


def test_each_switch_leads_to_the_section_that_breaks_it(bench, site: Path) -> None:
    links = bench().page.locator(".bench .settings small a")
    places = links.evaluate_all("all => all.map(e => [new URL(e.href).pathname, e.hash.slice(1)])")
    assert len(places) >= 20
    for path, anchor in places:
        assert f'id="{anchor}"' in (site / path.lstrip("/")).read_text("utf-8"), (path, anchor)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_run_can_be_read_by_everybody(scheme: str, bench) -> None:
    """On a telephone, with all groups unfolded, two settings, a question and a kept curve."""
    asked = LEARNS | {"updates": 5, "beside": 1, "b.norm": "post", "go": 1}
    seen = bench(width=NARROW, scheme=scheme, **asked)
    page = seen.page
    until(page, "Setting B: finished after 5 updates")
    until(page, "Setting A: finished after 5 updates")
    press(page, "Keep this curve")
    choose(page, "causal", "off")
    page.locator(".bench details").evaluate_all("all => all.forEach(e => (e.open = true))")
    until_scrollable(page)
    assert width_of(page) == NARROW
    assert cut_options(page) == []
    assert violations(page) == []
    assert seen.problems == []
