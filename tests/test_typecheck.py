"""The annotations are enforced in the tests: those that name sizes, and all others."""

from __future__ import annotations

import pytest
import torch
from jaxtyping import TypeCheckError

from tests.typecheck import names_sizes, unenforced
from transformer_book.masks import padding_mask
from transformer_book.transformer import Transformer
from transformer_book.weights.checkpoints import list_checkpoints, weights_of


def test_which_functions_name_sizes() -> None:
    assert names_sizes(padding_mask) and names_sizes(Transformer.forward)
    assert not names_sizes(list_checkpoints) and not names_sizes(weights_of)


@pytest.mark.parametrize(
    ("function", "wrong"),
    [
        (padding_mask, torch.zeros(2, 3, 4, dtype=torch.long)),  # not (B, S)
        (padding_mask, torch.zeros(2, 3)),  # not whole numbers
        (list_checkpoints, 3),
        (weights_of, {"weight": torch.zeros(2)}),
    ],
)
def test_an_argument_of_another_kind_is_refused(function, wrong) -> None:
    with pytest.raises(TypeCheckError):
        function(wrong)
    with unenforced():
        try:
            function(wrong)
        except Exception as error:
            assert not isinstance(error, TypeCheckError)


def test_sizes_are_compared_between_arguments() -> None:
    from transformer_book.attention import scaled_dot_product_attention as attend

    q, k, v = torch.zeros(2, 3, 4), torch.zeros(2, 5, 4), torch.zeros(2, 6, 4)
    with pytest.raises(TypeCheckError):
        attend(q, k, v)
