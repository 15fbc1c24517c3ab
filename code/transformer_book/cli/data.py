"""`data`: the sentences that models learn from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

import typer

from transformer_book.cli.messages import columns
from transformer_book.cli.options import whole

app = typer.Typer(rich_markup_mode=None)


@app.callback(invoke_without_command=True)
def tasks(context: typer.Context) -> None:
    """Look at the sentences that models learn from."""
    if context.invoked_subcommand is None:
        print(context.get_help())


TaskName = Annotated[str, typer.Argument(metavar="TASK", help="The name of a task.")]
Options = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="An option of the task; may be repeated."),
]


def _made(task: str, options: Iterable[str] | None) -> Any:
    """The task with the options of the command line."""
    from transformer_book.recipes import value_of
    from transformer_book.tasks import make_task

    chosen = {}
    for option in options or ():
        key, equals, value = option.partition("=")
        if not equals or not key.strip():
            raise ValueError(f"{option!r} is not an option of a task: write key=value.")
        chosen[key.strip()] = value_of(value.strip())
    if "name" in chosen:
        raise ValueError("name is no option: the task stands before the options.")
    return make_task(task, **chosen)


@app.command("show")
def show(
    task: TaskName,
    n: Annotated[
        int, typer.Option("-n", parser=whole(1), metavar="N", help="How many pairs.")
    ] = 10,
    split: Annotated[str, typer.Option(metavar="NAME", help="A split of the task.")] = "train",
    seed: Annotated[
        int, typer.Option(parser=whole(0), metavar="N", help="Another order of the pairs.")
    ] = 0,
    options: Options = None,
    alignment: Annotated[
        bool, typer.Option("--alignment", help="Add which words correspond: 0-0 1-2 ...")
    ] = False,
) -> None:
    """Print pairs of a task: source, a tab, target.

    \b
    Examples:
      transformer-book data show copy --set kind=reverse
      transformer-book data show captions --set source=en --set target=it --alignment
    """
    made = _made(task, options)
    for pair in made.pairs(split, n=n, seed=seed):
        if hasattr(pair, "source_text"):  # spaCy, which brings torch along, is not needed
            fields = [pair.source_text, pair.target_text]
        else:
            fields = [
                made.source_tokenizer.detokenize(pair.source),
                made.target_tokenizer.detokenize(pair.target),
            ]
        if alignment:
            if not hasattr(pair, "alignment"):
                raise ValueError(f"The pairs of the task {task!r} have no alignment.")
            fields.append(" ".join(f"{i}-{j}" for i, j in pair.alignment))
        print("\t".join(fields))


@app.command("list")
def list_tasks() -> None:
    """List the tasks.

    \b
    Example:
      transformer-book data list
    """
    from transformer_book.tasks import TASKS

    print(columns((name, entry.description) for name, entry in TASKS.items()))


@app.command("download")
def download(task: TaskName, options: Options = None) -> None:
    """Download what a task needs, check it, and print where it is.

    Files that are there already are checked and not downloaded again. They are kept in the folder
    that TRANSFORMER_BOOK_DATA names, or else in the user's cache.

    \b
    Examples:
      transformer-book data download multi30k
      TRANSFORMER_BOOK_DATA=my-data transformer-book data download europarl
    """
    made = _made(task, options)
    paths = made.download() if hasattr(made, "download") else []
    print("\n".join(map(str, paths)) or f"The task {task!r} needs no download.")


@app.command("count")
def count(task: TaskName, options: Options = None) -> None:
    """Count the pairs of lines of a corpus: how many are kept, how many left out, and why.

    \b
    Example:
      transformer-book data count europarl --set source_file=my.en --set target_file=my.it
    """
    made = _made(task, options)
    if not hasattr(made, "counts"):
        raise ValueError(f"The task {task!r} reads no corpus: there are no lines to count.")
    print(columns((name, f"{n:,}") for name, n in made.counts().items()))
