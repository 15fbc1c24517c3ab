"""What all tests of the checks share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests import small


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """The tensors are tiny: a second thread would only wait for the first."""
    with small.one_thread():
        yield
