"""The embedding map: neighbours in the whole rows and on the plane, and bad input."""

from __future__ import annotations

import pytest
import torch

from transformer_book.widgets import EmbeddingMap

# Four words in three dimensions; the map leaves out the third, in which "cat" is far from "dog".
VECTORS = torch.tensor([[1.0, 0, 0], [1, 0.1, 2], [0, 1, 0], [0.2, 1, 0]])
BY_HAND = {
    "words": ["dog", "cat", "red", "sleeps"],
    "vectors": {"ours": VECTORS},
    "places": {"ours": VECTORS[:, :2]},
    "shares": {"ours": 0.25},
    "groups": {"class": ["noun", "noun", "adjective", ""], "letter": ["a", "b", "a", "b"]},
}


def test_the_nearest_by_cosine_and_on_the_map_by_hand():
    numbers = EmbeddingMap.from_vectors(**BY_HAND, near=2).numbers()
    assert (numbers["chosen"], numbers["group"], numbers["share"]) == ("dog", "noun", 25)
    # 1/√5.01; 0.2/√1.04; 0: on the map cat lies next to dog.
    assert numbers["neighbours"] == ["cat", "sleeps"]
    assert numbers["neighbour_cosines"] == [round(5.01**-0.5, 4), round(0.2 / 1.04**0.5, 4)]
    assert numbers["neighbour_groups"] == ["noun", "—"]
    assert numbers["on_map"] == ["cat", "sleeps"] and numbers["common"] == 2
    cat = EmbeddingMap.from_vectors(**BY_HAND, near=3, word="cat").numbers()
    assert cat["neighbours"] == ["dog", "sleeps", "red"] and cat["on_map"][0] == "dog"
    assert cat["neighbour_places"] == [1, 2, 3] and cat["agreement"] == 100


def test_the_map_can_put_together_what_is_far_apart():
    far = torch.tensor([[1.0, 0, 5], [1, 0.1, -5], [0, 1, 4], [0.2, 1, -4]])
    numbers = EmbeddingMap.from_vectors(
        **{**BY_HAND, "vectors": {"ours": far}}, grouping="letter", near=1
    ).numbers()
    assert (numbers["neighbours"], numbers["on_map"]) == (["red"], ["cat"])
    assert numbers["neighbour_places"] == [3] and numbers["common"] == numbers["agreement"] == 0
    assert numbers["map_cosines"][0] < -0.9
    assert (numbers["same_by_cosine"], numbers["same_on_map"]) == (100, 0)


def test_words_in_no_group_are_not_counted():
    numbers = EmbeddingMap.from_vectors(**BY_HAND).numbers()
    # Of three words in a group, dog and cat have each other; red has no other adjective.
    assert numbers["same_by_cosine"] == numbers["same_on_map"] == pytest.approx(200 / 3)
    assert numbers["count"] == 4


def test_cosines_do_not_depend_on_lengths():
    longer = {"ours": VECTORS * torch.tensor([[1.0], [7], [2], [3]])}
    one, other = (
        EmbeddingMap.from_vectors(**{**BY_HAND, "vectors": v}) for v in (BY_HAND["vectors"], longer)
    )
    assert one.state() == other.state()
    assert EmbeddingMap(**one.state()).numbers() == one.numbers()


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"words": ["a", "b"]}, r"words holds 2 words, but a map of neighbours needs 3"),
        ({"words": ["a", "b", "a"]}, r"words holds 'a' twice"),
        ({"places": {}}, r"places is of the tables \[\], but cosines of \['t'\]"),
        ({"places": {"t": [[0, 0]]}}, r"places is .* must have the shape \(3, 2\)"),
        ({"shares": {"u": 1.0}}, r"shares is of the tables \['u'\]"),
        ({"shares": {"t": 8.0}}, r"shares has 8.0 for 't', but a share lies in 0 to 1"),
        ({"cosines": {"t": [[], [1.0]]}}, r"cosines of 't' must be 3 rows"),
        ({"groups": {"g": ["x"]}}, r"groups has 1 entries for 'g', but there are 3 words"),
        ({"groups": {"g": [""] * 3}}, r"groups has 0 groups for 'g', but marks tell 1 to 4"),
        ({"width": 0}, r"width is 0, but it must be a whole number"),
        ({"table": "u"}, r"table is 'u', but it must be"),
        ({"grouping": "h"}, r"grouping is 'h', but it must be"),
        ({"word": 3}, r"word is 3, but it must be a whole number from 0 to 2"),
        ({"near": 3}, r"near is 3, but it must be a whole number from 1 to 2"),
    ],
)
def test_embedding_map_refuses_what_it_cannot_show(unhooked, wrong, sentence):
    right = {
        "words": ["a", "b", "c"],
        "cosines": {"t": [[], [0.5], [0.1, -0.2]]},
        "places": {"t": [[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]]},
        "shares": {"t": 0.5},
        "groups": {"g": ["x", "y", ""]},
        "width": 8,
        "near": 2,
    }
    explorer = unhooked("transformer_book.widgets.embeddings").EmbeddingMap
    explorer(**right)
    with pytest.raises(ValueError, match=sentence):
        explorer(**{**right, **wrong})


def test_vectors_that_do_not_fit_are_refused(unhooked):
    explorer = unhooked("transformer_book.widgets.embeddings").EmbeddingMap
    with pytest.raises(ValueError, match=r"vectors has the shape \(3, 3\) for 'ours', but there"):
        explorer.from_vectors(**{**BY_HAND, "vectors": {"ours": VECTORS[:3]}})
    with pytest.raises(ValueError, match="word is 'fish', but it must be"):
        explorer.from_vectors(**BY_HAND, word="fish")
