"""`recipes` and `models`: what comes with the book."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from transformer_book.cli.evaluate import measured
from transformer_book.cli.messages import columns, task_with_options
from transformer_book.cli.options import AsJson


def recipes(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Print this recipe, complete, as TOML.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the recipes, or print one of them.

    What is printed is complete: what the recipe is based on is in it, and so are all defaults.

    \b
    Examples:
      transformer-book recipes
      transformer-book recipes captions-en-it > my-recipe.toml
      transformer-book train my-recipe.toml
    """
    from transformer_book import recipes as known

    if name is not None:
        recipe = known.load_recipe(name)
        text = json.dumps(recipe.to_dict(), indent=1, ensure_ascii=False) + "\n"
        print(text if as_json else known.to_toml(recipe), end="")
        return
    about = {name: known.description(name) for name in known.names()}
    print(json.dumps(about, indent=1, ensure_ascii=False) if as_json else columns(about.items()))


def models() -> None:
    """List the trained models that come with the book.

    \b
    Example:
      transformer-book models
    """
    from transformer_book import pretrained

    if not pretrained.names():
        print("This version of the book comes without trained models.")
    for name in pretrained.names():
        about = pretrained.describe(pretrained.FOLDER / name)
        size = f"{about['parameters']:,} parameters, {about['bytes'] / 1e6:.1f} MB"
        print(f"{name}: task {task_with_options(about['task'])}, {size}")
        for result in about["results"]:
            values = ", ".join(f"{metric} {value}" for metric, value in measured(result))
            print(f"    {result['split']}, {result['n']:,} pairs: {values}")
