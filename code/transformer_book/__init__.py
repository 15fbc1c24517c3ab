"""The shared package of the executable book *Transformers, Cell by Cell*."""

__version__ = "0.2.0"
