"""The shared package of the executable book *Transformers, Cell by Cell*."""
