"""The modules that hold the components, in the order of the book.

Each has a file of its name in `mistakes/`, its known mistakes, and one among the correct versions
of the tests.
"""

FAMILIES = (
    "inputs",
    "attention",
    "layers",
    "learning",
    "search",
    "one_stack",
    "todays_parts",
    "induction",
    "others_weights",
    "adapting",
)
