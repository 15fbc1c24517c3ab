"""The book's model beside its peers, in one run: `python -m benchmarks --help`.

`setting` makes what all share: sizes, sentences, weights. `contestants` has the book and its
peers, `proofs` shows that they compute the same, `clock` and `memory` measure them side by side,
`growth` counts and times how costs grow, `improvements` takes one improvement away at a time, and
`shares` says where the time goes. `tools/benchmarks_page.py` makes `book/benchmarks.md` of
the result.
"""
