"""What in a `config.json` does not change the function that the model computes (chapter 28)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

# By kind: private notes of the program that wrote the file; special tokens; types and versions;
# labels and heads of other tasks; what a call returns; how the weights were drawn; how much memory
# or how many machines are used.
HARMLESS = re.compile(
    r"_\w+"
    r"|\w+_token_id|tokenizer_\w+"
    r"|(torch_)?dtype|\w+_version"
    r"|architectures|auto_map|is_llama_config|id2label|label2id|num_labels|problem_type"
    r"|classifier_dropout|finetuning_task|task_specific_params|summary_\w+"
    r"|output_\w+|return_dict|use_cache"
    r"|initializer_range"
    r"|chunk_size_feed_forward|gradient_checkpointing|pretraining_tp|reorder_and_upcast_attn"
    # Means something where true, and is refused before the families' settings are read.
    r"|rope_interleaved"
)


def without_harmless(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that may change the function: all but those of a kind that never does."""
    return {name: value for name, value in settings.items() if not HARMLESS.fullmatch(name)}


def refuse_others(settings: Mapping[str, Any], family: str) -> None:
    """Raise `ValueError` for a setting that nothing has read, unless it is `None` or `False`."""
    for name, value in settings.items():
        if value not in (None, False):
            raise ValueError(
                f"The {family} model has a setting {name!r} = {value!r}, which the book's model "
                "does not know."
            )
