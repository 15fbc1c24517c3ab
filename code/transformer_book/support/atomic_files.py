"""Files that are written whole or not at all (chapter 16). Imports nothing heavy."""

from __future__ import annotations

import json
import os
import secrets
from pathlib import Path
from typing import Any


def write_atomically(path: str | Path, data: bytes) -> None:
    """Write `data` to `path`: whoever reads it sees the old file or the new one, never a part.

    The bytes go to a temporary file in the same folder, are flushed to the disk, and then take the
    name in one step. If anything fails before that step, the old file is untouched.

    Raises:
        OSError: the disk is full, or the folder cannot be written to.
    """
    path = Path(path).resolve()  # through a link, its target is replaced, and the link stays
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def write_json(path: str | Path, data: object, indent: int = 0) -> None:
    """Write `data` as JSON, whole or not at all."""
    # surrogatepass: a token may be any string, even half of a surrogate pair.
    text = json.dumps(data, ensure_ascii=False, indent=indent) + "\n"
    write_atomically(path, text.encode("utf-8", "surrogatepass"))


def read_json(path: str | Path) -> Any:
    """Read a JSON file.

    Raises:
        ValueError: the file is not JSON.
        FileNotFoundError: there is no such file.
    """
    try:
        return json.loads(Path(path).read_bytes())
    except (ValueError, RecursionError) as error:  # not JSON, not UTF-8, or nested too deeply
        raise ValueError(f"{path} is not a JSON file: {error}") from error
