"""Ready-made functions that a task may forbid (`allow_builtin=False`), and how their use is seen.

What PyTorch hands to `__torch_function__` (`F.softmax`, `Tensor.softmax`, …) is seen by a
`TorchFunctionMode`; functions written in Python, those of this package among them, are seen by
their code being run. NumPy and other libraries are not watched.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

PACKAGE = Path(__file__).parents[1]
TORCH = Path(torch.__file__).parent

SOFTMAX: dict[str, Callable[..., Any]] = {
    "F.softmax": F.softmax,
    "F.log_softmax": F.log_softmax,
    "F.softmin": F.softmin,
    "torch.softmax": torch.softmax,
    "torch.log_softmax": torch.log_softmax,
    "torch.special.softmax": torch.special.softmax,
    "torch.special.log_softmax": torch.special.log_softmax,
    "Tensor.softmax": Tensor.softmax,
    "Tensor.log_softmax": Tensor.log_softmax,
    "F.scaled_dot_product_attention": F.scaled_dot_product_attention,
}
MULTI_HEAD: dict[str, Callable[..., Any]] = {
    "F.multi_head_attention_forward": F.multi_head_attention_forward,
    "torch._native_multi_head_attention": torch._native_multi_head_attention,
}
ENTROPY: dict[str, Any] = {
    "F.cross_entropy": F.cross_entropy,
    "F.nll_loss": F.nll_loss,
    "torch.nll_loss": torch._C._nn.nll_loss,
    "optimization.label_smoothed_loss": "optimization.label_smoothed_loss",
}
LAYER: dict[str, Callable[..., Any]] = {
    "nn.TransformerEncoderLayer": nn.TransformerEncoderLayer.forward,
    "nn.TransformerDecoderLayer": nn.TransformerDecoderLayer.forward,
}

# Component → what a task on it may forbid. A text names code of this package: module.function.
READY_MADE: dict[str, dict[str, Any]] = {
    "build_vocabulary": {"Vocabulary.build": "tokens.Vocabulary.build"},
    "encode": {
        "Vocabulary.encode": "tokens.Vocabulary.encode",
        "Vocabulary.encode_source": "tokens.Vocabulary.encode_source",
    },
    "collate": {
        "nn.utils.rnn.pad_sequence": nn.utils.rnn.pad_sequence,
        "batches.collate": "batches.collate",
    },
    "embedding": {"TokenEmbedding": "embeddings.TokenEmbedding.forward"},
    "sinusoids": {"embeddings.sinusoids": "embeddings.sinusoids"},
    "add_positions": {
        "SinusoidalPositions": "embeddings.SinusoidalPositions.forward",
        "LearnedPositions": "embeddings.LearnedPositions.forward",
    },
    "softmax": SOFTMAX,
    "scaled_dot_product_attention": {
        "F.scaled_dot_product_attention": F.scaled_dot_product_attention,
        **MULTI_HEAD,
        "attention.scaled_dot_product_attention": "attention.scaled_dot_product_attention",
        "attention.fused_attention": "attention.fused_attention",
    },
    "padding_mask": {"masks.padding_mask": "masks.padding_mask"},
    "causal_mask": {
        "nn.Transformer.generate_square_subsequent_mask": (
            nn.modules.transformer._generate_square_subsequent_mask
        ),
        "masks.causal_mask": "masks.causal_mask",
    },
    "target_mask": {
        "nn.Transformer.generate_square_subsequent_mask": (
            nn.modules.transformer._generate_square_subsequent_mask
        ),
        "masks.target_mask": "masks.target_mask",
        "masks.padding_mask": "masks.padding_mask",
        "masks.causal_mask": "masks.causal_mask",
    },
    "split_heads": {
        "MultiHeadAttention.split_heads": "attention.MultiHeadAttention.split_heads",
    },
    "merge_heads": {
        "MultiHeadAttention.merge_heads": "attention.MultiHeadAttention.merge_heads",
    },
    "multi_head_attention": {
        **MULTI_HEAD,
        "MultiHeadAttention": "attention.MultiHeadAttention.forward",
    },
    "layer_norm": {
        "F.layer_norm": F.layer_norm,
        "torch.layer_norm": torch.layer_norm,
        "torch.native_layer_norm": torch.native_layer_norm,
        "F.rms_norm": F.rms_norm,
        "F.group_norm": F.group_norm,
        "F.instance_norm": F.instance_norm,
        "F.batch_norm": F.batch_norm,
        "LayerNorm": "layers.LayerNorm.forward",
    },
    "pre_norm": {"Residual": "layers.Residual.forward"},
    "post_norm": {"Residual": "layers.Residual.forward"},
    "dropout": {"F.dropout": F.dropout, "torch.dropout": torch.dropout},
    "feed_forward": {"FeedForward": "layers.FeedForward.forward"},
    "group_sort": {"layers.group_sort": "layers.group_sort"},
    "encoder_layer": {**LAYER, "EncoderLayer": "encoder.EncoderLayer.forward"},
    "decoder_layer": {**LAYER, "DecoderLayer": "decoder.DecoderLayer.forward"},
    "cross_entropy": ENTROPY,
    "label_smoothed_loss": ENTROPY,
    "perplexity": {"metrics.perplexity": "metrics.perplexity"},
    "inverse_sqrt_schedule": {"optimization.learning_rate": "optimization.learning_rate"},
    "clip_gradients": {
        "nn.utils.clip_grad_norm_": nn.utils.clip_grad_norm_,
        "nn.utils.clip_grads_with_norm_": nn.utils.clip_grads_with_norm_,
        "nn.utils.get_total_norm": nn.utils.get_total_norm,
    },
    "average_checkpoints": {"checkpoints.average": "checkpoints.average"},
    "greedy_search": {"decoding.greedy_search": "decoding.greedy_search"},
    "beam_search": {"decoding.beam_search": "decoding.beam_search"},
    "length_normalised": {"decoding.length_divisor": "decoding.length_divisor"},
}


def published(component: str) -> str:
    """The list of a check's docstring."""
    names = READY_MADE.get(component)
    if not names:
        return "With allow_builtin=False nothing more is forbidden: no ready-made function does it."
    return "With allow_builtin=False these may not be called: " + ", ".join(names) + "."


def _codes(wanted: dict[str, Any]) -> dict[tuple[str, str], str]:
    """Where the code of the functions written in Python stands: its file and name → our name."""
    codes = {}
    for name, function in wanted.items():
        if isinstance(function, str):
            module, _, place = function.partition(".")
            codes[str(PACKAGE / f"{module}.py"), place] = name
            continue
        # A decorator such as no_grad stands around what we look for.
        code = getattr(getattr(function, "__wrapped__", function), "__code__", None)
        if code is not None:
            codes[code.co_filename, code.co_qualname] = name
    return codes


class _Watched(TorchFunctionMode):
    """Notes the first of these functions that PyTorch hands over, and runs all of them."""

    def __init__(
        self, wanted: dict[Any, str], note: Callable[[str, FrameType | None], None]
    ) -> None:
        super().__init__()
        self.wanted, self.note = wanted, note

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func in self.wanted:
            self.note(self.wanted[func], sys._getframe(1))
        return func(*args, **(kwargs or {}))


def _module_around(frame: FrameType | None) -> str | None:
    """The PyTorch module whose `forward` made the call, as a learner knows it: `nn.Softmax`."""
    while frame is not None and str(TORCH) in frame.f_code.co_filename:
        owner = frame.f_locals.get("self")
        if frame.f_code.co_name == "forward" and isinstance(owner, nn.Module):
            return f"nn.{type(owner).__name__}"
        frame = frame.f_back
    return None


@contextlib.contextmanager
def watch(component: str, learner: CodeType | None) -> Iterator[list[tuple[str, int | None]]]:
    """Inside, the calls that a task on this component may forbid are noted.

    Yields the list of them: name, and the learner's line.
    """
    wanted = READY_MADE.get(component, {})
    # The check's own answer is no learner's answer in any task.
    codes = {
        **_codes(wanted),
        (str(PACKAGE / "checks" / "components.py"), "Component.reference"): "the check's reference",
    }
    noted: list[tuple[str, int | None]] = []

    def note(name: str, frame: FrameType | None) -> None:
        name = _module_around(frame) or name
        while frame is not None and learner and frame.f_code.co_filename != learner.co_filename:
            frame = frame.f_back
        noted.append((name, frame.f_lineno if frame else None))

    def profile(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            code = frame.f_code
            name = codes.get((code.co_filename, code.co_qualname))
            if name is not None:
                note(name, frame.f_back)

    functions = {f: name for name, f in wanted.items() if not isinstance(f, str)}
    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        with _Watched(functions, note):
            yield noted
    finally:
        sys.setprofile(before)
