"""nbgrader's configuration of the course; what it holds stands in one place, in the package."""

from transformer_book.course.release import configure

configure(get_config())
