"""What the command line says: each error in one sentence, lists in columns, commands to type."""

from __future__ import annotations

import difflib
import os
import shlex
import sys
from collections.abc import Iterable, Mapping
from typing import Any

import typer

PROGRAM = "transformer-book"
UsageError = typer.BadParameter.__base__


def speak_utf8() -> None:
    """Write UTF-8 into files and pipes; on a terminal, what it cannot show becomes a `?`."""
    if sys.stderr is None:  # closed: then there is nobody to tell
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            if stream.isatty():
                stream.reconfigure(errors="replace")
            else:
                stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def warn(sentence: str) -> None:
    """Say a sentence on stderr, in one line."""
    print(f"{PROGRAM}: {one_line(sentence)}", file=sys.stderr)


def refuse(sentence: str) -> int:
    """Say what could not be done, and return the exit status for it."""
    if _speaks():
        warn(sentence)
    return 2


def _speaks() -> bool:
    """Whether this process is to say what is wrong: always, but for torchrun's second and later."""
    if os.environ.get("TORCHELASTIC_RUN_ID") is None:
        return True
    from transformer_book.runs.distributed import first_to_speak

    return first_to_speak()


def of_usage(error: Any) -> str:
    """What is wrong with the command line, with the nearest command or option that is right."""
    context = getattr(error, "ctx", None)
    path = context.command_path if context else PROGRAM
    help_ = f"see {path} --help."
    option = getattr(error, "option_name", None)
    if option and type(error).__name__ == "NoSuchOption":
        near = sorted(error.possibilities or ())
        hint = f"did you mean {' or '.join(near)}?" if near else help_
        return f"{path} has no option {option}; {hint}"
    message = error.format_message()
    if message.startswith("No such command"):
        commands = list(getattr(context.command, "commands", {}))
        wrong = message.split("'")[1]
        near = difflib.get_close_matches(wrong, commands, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(commands)}."
        return f"{path} has no command {wrong!r}; {hint}"
    return f"{message.rstrip('.')}; {help_}"


def of_the_system(error: OSError) -> str:
    """`[Errno 28] No space left on device: 'a/b'` as a sentence."""
    if error.strerror is None:
        return str(error)
    return f"{error.filename}: {error.strerror}." if error.filename else f"{error.strerror}."


def is_out_of_memory(error: BaseException) -> bool:
    """Whether memory ran out: Python's, the processor's or the GPU's."""
    return (
        isinstance(error, MemoryError)
        or type(error).__name__ == "OutOfMemoryError"
        or "can't allocate memory" in str(error)
    )


def command_line(*arguments: str, processes: int = 1) -> str:
    """A command of this program, to be typed as it stands."""
    if processes == 1:
        return shlex.join([PROGRAM, *arguments])
    start = f"torchrun --standalone --nproc-per-node {processes} -m transformer_book"
    return f"{start} {shlex.join(arguments)}"


def one_line(text: str) -> str:
    """A text without its line breaks."""
    return " ".join(text.splitlines())


def counted(n: int, what: str) -> str:
    """`1 thread`, `2,000 updates`."""
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"


def task_with_options(task: Mapping[str, Any]) -> str:
    """A task with its options: `captions (source=de, target=en)`."""
    options = [
        f"{key}={value}" for key, value in task.items() if key != "name" and value is not None
    ]
    return f"{task['name']} ({', '.join(options)})" if options else task["name"]


def columns(rows: Iterable[tuple[str, str]]) -> str:
    """Names and what belongs to them, one below the other."""
    rows = list(rows)
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"{name:{width}}  {text}" for name, text in rows)
