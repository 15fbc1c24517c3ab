"""What moves under the reader's hands: explorers that compute in the browser.

`from transformer_book.widgets import GeometryExplorer` imports that one widget, and nothing of the
others; `import transformer_book` imports none.

An explorer is a Python class and a plain ES module of the same name. The module computes whatever
the reader changes, so the explorer works on the website, where no Python runs. The class holds the
start and computes the same numbers in Python: a test holds the two together.
"""

from __future__ import annotations

import importlib

_MODULES = {
    "EmbeddingMap": "embeddings",
    "BeamExplorer": "beam",
    "Explorer": "explorer",
    "GeometryExplorer": "geometry",
    "HeadExplorer": "heads",
    "InductionExplorer": "induction",
    "MaskExplorer": "masks",
    "NeuronView": "neuron",
    "NormalisationExplorer": "normalisation",
    "PositionExplorer": "positions",
    "RotaryExplorer": "rotary",
    "ScheduleExplorer": "schedule",
    "ShapeStepper": "shapes",
    "Talk": "talk",
    "WritingExplorer": "writing",
}

__all__ = sorted(_MODULES)


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return [*globals(), *_MODULES]
