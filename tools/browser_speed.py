#!/usr/bin/env python3
"""How fast the model in the browser is, beside PyTorch: printed as JSON.

For each model, once it is loaded, for one sentence, in Chromium with the built site, medians of
several rounds:

* first_token_ms: from the question to the first token, messages to and from the worker included;
* greedy_tokens_per_s: of the worker's greedy search, as the page runs it;
* beam_5_s: beam search with five beams, the modules run by themselves.

With --bench, of training instead:

* gflops: of `matmul_transposed`, the product of two matrices, in one worker;
* copy, captions: the seconds until 95 % of the bench's validation pairs are copied exactly, from
  where the bench begins, or 80 % of its captions translated exactly, and the updates until then;
  of captions also what the model then says.

Beside each the same of the package in PyTorch, on one thread. Measure on a quiet machine. Where it
is not quiet, processor_s tells what the clock cannot: the processor time of the browser's pages and
workers, or of PyTorch; and loop_s, the processor time that a loop of ten million additions takes,
how fast a processor is at that moment.

  make site && python tools/browser_speed.py
  make site && python tools/browser_speed.py --bench
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import psutil
from common import ALONE, ROOT, installed_chromium, served
from playwright.sync_api import Page, sync_playwright
from record_bench import OF_CAPTIONS, measured

from transformer_book import pretrained

# Of the book's own making; those of Multi30k's models have twelve words.
SENTENCES = {
    "captions-de-en": "Der kleine Junge spielt mit einem Hund im Garten.",
    "captions-en-it": "The small boy is playing with a dog in the garden.",
    "multi30k-de-en": "Zwei junge Männer spielen vor einem großen Haus mit einem Hund Fußball.",
    "multi30k-en-de": "Two young men are playing with a dog in front of houses.",
    "series": "exp(a*x)*sin(b*x)",
}
BEAMS = 5

MEASURE = """async ([name, text, rounds, beams]) => {
    const base = new URL("../_static/model/", location.href);
    const {models, rules} = JSON.parse(document.querySelector("script.talk-models").textContent);
    const model = models.find(each => each.name === name);
    const {WorkerClient} = await import(new URL("client.js", base).href);
    const client = new WorkerClient();
    const loaded = await client.ask("load", {model, rules});
    if (loaded.state !== "done") throw new Error(loaded.message);
    const found = {first: [], rate: [], beam: []};
    for (let round = 0; round < rounds; round += 1) {
        const began = performance.now();
        let first = null;
        const step = () => (first ??= performance.now() - began);
        const answer = await client.ask("translate", {text}, step);
        if (answer.state !== "done") throw new Error(answer.message);
        found.first.push(first);
        found.rate.push(answer.rate);
        found.text = answer.translation.text;
        found.tokens = answer.translation.ids.length;
    }
    client.worker.terminate();
    const get = async (path, kind = "json") => (await fetch(new URL(path, base)))[kind]();
    const file = (path, kind) => get(`pretrained/${name}/${path}`, kind);
    const {Translator, languages_of} = await import(new URL("translator.js", base).href);
    const {finished} = await import(new URL("decoding.js", base).href);
    const config = await file("config.json");
    const spacy = {};
    for (const each of languages_of(config)) spacy[each] = await get(`rules/spacy-${each}.json`);
    const files = {
        config,
        source_vocabulary: await file("source_vocabulary.json"),
        target_vocabulary: await file("target_vocabulary.json"),
        weights: await file("model.safetensors", "arrayBuffer"),
    };
    const translator = new Translator(files, {unicode: await get("rules/unicode.json"), spacy});
    for (let round = 0; round < rounds; round += 1) {
        const began = performance.now();
        finished(translator.search(translator.encode(text), {beam_size: beams}));
        found.beam.push((performance.now() - began) / 1000);
    }
    return found;
}"""


SIZES = (320, 128, 128)  # rows, outputs, inputs: a batch's positions, and a layer
# What is learned, from where the bench begins but for these settings, and the share that is enough.
RUNS = [("copy", {}, 0.95), ("captions", OF_CAPTIONS, 0.8)]
ANSWER = """
    const base = new URL("../_static/", location.href);
    const worker = (source) => new Worker(source, {type: "module"});
    const answer = (from, wanted) => new Promise((resolve, reject) => {
        from.onerror = () => reject(new Error("the worker could not be started"));
        from.onmessage = ({data}) => {
            if (data.is === "failed") reject(new Error(data.message));
            else if (wanted(data)) resolve(data);
        };
    });"""
PRODUCT = f"""async (sizes) => {{{ANSWER}
    const program = `
        const {{matmul_transposed}} = await import("${{new URL("model/backwards.js", base)}}");
        const [N, M, K] = ${{JSON.stringify(sizes)}};
        const random = (n) => Float32Array.from({{length: n}}, () => Math.random() - 0.5);
        const [a, b] = [random(N * K), random(M * K)];
        const work = () => {{
            for (let turn = 0; turn < 400; turn += 1) matmul_transposed(a, b, N, M, K);
        }};
        work();
        self.postMessage({{is: "warm"}});
        self.onmessage = () => {{
            work();
            self.postMessage({{is: "done"}});
        }};`;
    const product = worker(URL.createObjectURL(new Blob([program], {{type: "text/javascript"}})));
    await answer(product, () => true);
    window.product = async () => {{
        const began = performance.now();
        product.postMessage(null);
        await answer(product, () => true);
        return (performance.now() - began) / 1000;
    }};
}}"""
TRAIN = f"""async ([settings, enough]) => {{{ANSWER}
    const {{START}} = await import(new URL("bench/settings.js", base));
    const bench = worker(new URL("bench/worker.js", base));
    const began = performance.now();
    bench.postMessage({{act: "new", settings: {{...START, ...settings}}}});
    bench.postMessage({{act: "go"}});
    let [right, sentences] = [0, []];
    const last = await answer(bench, ({{is, ...told}}) => {{
        if (is === "seen") ({{exact_match: right, sentences}} = told);
        return right >= enough || is === "stopped";
    }});
    bench.terminate();
    const says = sentences.map(({{source, said}}) => [source.join(" "), said.join(" ")]);
    return {{right, updates: last.update, seconds: (performance.now() - began) / 1000, says}};
}}"""


def processor_time() -> float:
    """Of the browser's pages and workers, in seconds."""
    kinds = [
        p for p in psutil.Process().children(recursive=True) if "--type=renderer" in p.cmdline()
    ]
    return sum(sum(each.cpu_times()[:2]) for each in kinds)


def loop_time() -> float:
    """The processor time of ten million additions, in seconds."""
    began, total = time.process_time(), 0
    for n in range(10_000_000):
        total += n
    return time.process_time() - began


def training_in_browser(page: Page) -> dict[str, object]:
    """What Chromium needs to train, in a worker as the page does."""
    page.evaluate(PRODUCT, SIZES)
    rates = []
    for _ in range(5):
        before = processor_time()
        page.evaluate("product()")
        rates.append(400 * 2 * math.prod(SIZES) / (processor_time() - before) / 1e9)
    found: dict[str, object] = {"gflops": round(statistics.median(rates), 2)}
    for name, settings, enough in RUNS:
        before, loop = processor_time(), loop_time()
        run = page.evaluate(TRAIN, [settings, enough])
        if name != "captions":
            del run["says"]
        took = {"seconds": run["seconds"], "processor_s": processor_time() - before}
        took["loop_s"] = (loop + loop_time()) / 2
        found[name] = run | {each: round(n, 2) for each, n in took.items()}
    return found


def training_in_pytorch() -> dict[str, object]:
    """The same with the package: the recipe that the page saves, measured as often."""
    import torch

    n_rows, n_outputs, n_inputs = SIZES
    a, b = torch.randn(n_rows, n_inputs), torch.randn(n_outputs, n_inputs)
    seconds = median_seconds(lambda: [torch.mm(a, b.T) for _ in range(40)], 5) / 40
    found: dict[str, object] = {"gflops": round(2 * math.prod(SIZES) / seconds / 1e9, 2)}
    for name, settings, enough in RUNS:
        began, before = time.perf_counter(), time.process_time()
        for update, _, right in measured(settings, every=25):  # noqa: B007 (the last one)
            if right >= enough:
                break
        found[name] = {
            "right": right,
            "updates": update,
            "seconds": round(time.perf_counter() - began, 1),
            "processor_s": round(time.process_time() - before, 1),
        }
    return found


def in_browser(page: Page, name: str, rounds: int) -> dict[str, object]:
    """What Chromium needs, medians over the rounds; the first one warms up."""
    found = page.evaluate(MEASURE, [name, SENTENCES[name], rounds + 1, BEAMS])
    first, rate, beam = (statistics.median(found[each][1:]) for each in ("first", "rate", "beam"))
    return {
        "translation": found["text"],
        "tokens": found["tokens"],
        "first_token_ms": round(first, 1),
        "greedy_tokens_per_s": round(rate, 1),
        f"beam_{BEAMS}_s": round(beam, 3),
    }


def median_seconds(act: Callable[[], object], rounds: int) -> float:
    act()
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        act()
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def in_pytorch(name: str, rounds: int) -> dict[str, object]:
    """The same with the package, on one thread."""
    from transformer_book.translator import Translator

    translator = Translator.from_pretrained(name)
    search = partial(translator.search, [SENTENCES[name]])
    (one,) = search(beam_size=1)
    seconds = {
        "first": median_seconds(partial(search, beam_size=1, max_length=1), rounds),
        "greedy": median_seconds(partial(search, beam_size=1), rounds),
        "beam": median_seconds(partial(search, beam_size=BEAMS), rounds),
    }
    return {
        "translation": one.text,
        "tokens": len(one.tokens),
        "first_token_ms": round(1000 * seconds["first"], 1),
        "greedy_tokens_per_s": round(len(one.tokens) / seconds["greedy"], 1),
        f"beam_{BEAMS}_s": round(seconds["beam"], 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", nargs="*", default=pretrained.names(), help="default: all")
    parser.add_argument("--rounds", type=int, default=5, help="of which the median is taken")
    parser.add_argument("--bench", action="store_true", help="measure training instead")
    parser.add_argument("--site", type=Path, default=ROOT / "_build" / "html")
    options = parser.parse_args()
    unknown = sorted(set(options.models) - set(SENTENCES))
    if unknown or options.rounds < 1:
        wrong = f"There is no model {unknown[0]!r}" if unknown else "--rounds must be at least 1"
        sys.exit(f"{wrong}; the models are {', '.join(SENTENCES)}.")
    if not (options.site / "book" / "talk.html").is_file():
        sys.exit(f"{options.site} holds no built site: run `make site`, or give --site.")
    import torch

    torch.set_num_threads(1)
    found = {}
    with served(options.site) as base, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=installed_chromium(), args=ALONE)
        page = browser.new_page()
        page.goto(f"{base}book/talk.html")
        if options.bench:
            found = {"browser": training_in_browser(page), "pytorch": training_in_pytorch()}
        for name in [] if options.bench else options.models:
            found[name] = {
                "sentence": SENTENCES[name],
                "browser": in_browser(page, name, options.rounds),
                "pytorch": in_pytorch(name, options.rounds),
            }
        version = browser.version
        browser.close()
    kind = "bench" if options.bench else "models"
    about = {"chromium": version, "torch": torch.__version__, kind: found}
    print(json.dumps(about, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main()
