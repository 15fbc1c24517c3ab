"""What the inputs of several ideas are made of: the same numbers in every process."""

from __future__ import annotations

import torch
from torch import Tensor

# Words, or parts of them, as texts have them: what treats one of them apart is found out.
SIGNS = (
    *".!?,;:…-–'’\"„()[]{}<>/\\@#&%$€*+=_|~^`07AÉßİΩ中😀",
    *("##", "3.5", "1,000", "don't", "U.S.", "non-stop", "</w>", "<s>", "[UNK]", "None", "nan"),
)

# Ids that other models give to padding, ends and the like; here they are words.
OTHERS_IDS = (100, 101, 102, 103, 30522, 32000, 50256, 50257, 65000, 100257, 128001, 151643)


def normal(*shape: int, seed: int) -> Tensor:
    """Random numbers that are the same in every process."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def addresses(*shape: int) -> Tensor:
    """Entries that say where they stand: [1, 2, 3] holds 123 (sizes up to ten)."""
    result = torch.zeros(shape)
    for axis, size in enumerate(shape):
        places = torch.arange(size, dtype=torch.float32) * 10 ** (len(shape) - 1 - axis)
        result = result + places.reshape([-1 if i == axis else 1 for i in range(len(shape))])
    return result


def sentences(*lengths: int, seed: int = 0) -> Tensor:
    """A batch of token ids, padded with zeros behind."""
    generator = torch.Generator().manual_seed(seed)
    batch = torch.zeros(len(lengths), max(lengths), dtype=torch.long)
    for row, length in enumerate(lengths):
        batch[row, :length] = torch.randint(4, 20, (length,), generator=generator)
    return batch
