#!/usr/bin/env python3
"""Say in one sentence if this Python is too old for the book, and exit with status 1."""

# Written so that an old Python can still run it.
# ruff: noqa: UP031, UP036
import sys

if len(sys.argv) > 1:
    print(__doc__)
elif sys.version_info < (3, 11):
    sys.exit(
        "The book needs Python 3.11 or newer, and this is %d.%d: name another one, "
        "for example `make PYTHON=python3.12 book`." % sys.version_info[:2]
    )
