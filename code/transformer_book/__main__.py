"""`python -m transformer_book`: the same as `transformer-book`."""

import sys

from transformer_book.cli import run

if __name__ == "__main__":
    sys.exit(run())
