"""The command line: train, evaluate, translate and grade; look at recipes, models and data.

Nothing heavy is imported before a command needs it: `--help` and the lists answer at once.

Exit status: 0, all went well; 2, something could not be done, and one sentence on stderr says
what; 130 and 143, stopped by Ctrl-C or SIGTERM; 141, the reader of the output has gone.
"""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from collections.abc import Sequence
from typing import Annotated

import typer

from transformer_book import __version__
from transformer_book.cli import (
    class_report,
    continue_text,
    data,
    evaluate,
    grade,
    messages,
    progress,
    shipped,
    train,
    translate,
)

COMMANDS = {  # in the order of the help
    "train": train.train,
    "evaluate": evaluate.evaluate,
    "grade": grade.grade,
    "continue": continue_text.continue_text,
    "translate": translate.translate,
    "recipes": shipped.recipes,
    "models": shipped.models,
    "progress": progress.progress,
    "class-report": class_report.class_report,
}
app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for name, command in COMMANDS.items():
    app.command(name)(command)
app.add_typer(data.app, name="data")


@app.callback(invoke_without_command=True)
def main(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Train Transformers, translate with them, and look at what they learn from.

    \b
    Examples:
      transformer-book recipes
      transformer-book train captions-small
      transformer-book evaluate runs/captions-small
      transformer-book translate runs/captions-small "Ein Hund schläft auf dem Sofa."

    Each command explains itself: transformer-book train --help
    """
    if version:
        print(f"{messages.PROGRAM} {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        print(context.get_help())


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status; whatever is wrong becomes one sentence.

    Args:
        arguments: those of the command line, without the program's name; `None`: this process's.
    """
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    messages.speak_utf8()
    # Read when torch is loaded: a thread that waits lets other programs work.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    try:
        with warnings.catch_warnings():
            if not sys.warnoptions:
                warnings.simplefilter("ignore")  # torch's are about torch, not about the model
            try:
                # Not app(): it would exit by itself, and word its errors in three lines.
                command = typer.main.get_command(app)
                with command.make_context(messages.PROGRAM, arguments) as context:
                    command.invoke(context)
            finally:
                if sys.stdout is not None:
                    sys.stdout.flush()  # here a reader that has gone can still be answered
        return 0
    except typer.Exit as end:
        return end.exit_code
    except messages.UsageError as error:
        return messages.refuse(messages.of_usage(error))
    except (KeyboardInterrupt, typer.Abort):
        return 130
    except BrokenPipeError:
        # Python flushes once more at its end, and would complain then.
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except OSError as error:
        return messages.refuse(messages.of_the_system(error))
    except ValueError as error:
        return messages.refuse(str(error))
    except (MemoryError, RuntimeError) as error:
        if not messages.is_out_of_memory(error):
            raise
        return messages.refuse(
            "The memory does not suffice: choose a smaller model or smaller batches."
        )
