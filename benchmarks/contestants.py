"""The book and its peers, each on its own documented fast path, with the same weights.

A contestant is made from a `Setting`. It has some of these methods; what a library does not offer,
its contestant does not have, and `cannot` says why.

* `update(batch)`: one update of training: loss, gradients, clipping, AdamW; returns the loss.
* `greedy(source)`, `beam(source)`: a batch `(B, S)` → the ids of each translation, with `<eos>`.
"""

from __future__ import annotations

import logging
import tempfile
import warnings
from contextlib import AbstractContextManager
from importlib.metadata import version
from importlib.util import find_spec
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from benchmarks.setting import Setting
from transformer_book.batches import Batch
from transformer_book.decoding import beam_search, greedy_search
from transformer_book.fused import fused_kernels
from transformer_book.masks import causal_mask
from transformer_book.pytorch_twins import to_pytorch
from transformer_book.tokens import EOS, PAD, SOS
from transformer_book.training import batch_loss


class Contestant:
    """One library at one task.

    Attributes:
        name: as the page shows it.
        package: what must be installed.
        batched: False for what decodes one sentence at a time.
        cannot: task → why this contestant does not take part.
    """

    name: ClassVar[str]
    package: ClassVar[str] = "torch"
    batched: ClassVar[bool] = True
    cannot: ClassVar[dict[str, str]] = {}

    def __init__(self, setting: Setting, dropout: float = 0.0) -> None:
        self.sizes, self.limit = setting.sizes, setting.limit

    @classmethod
    def missing(cls) -> str | None:
        """Why it cannot run here, if it cannot."""
        if find_spec(cls.package) is None:
            return f"{cls.package} is not installed; make benchmarks installs it"
        return None

    @classmethod
    def version(cls) -> str:
        return version(cls.package).split("+")[0]

    def can(self, task: str) -> bool:
        return hasattr(self, task)


class Trained(Contestant):
    """What can be trained: one optimizer for all, PyTorch's fused AdamW."""

    model: nn.Module

    def prepare(self) -> None:
        self.optimizer = torch.optim.AdamW(
            self.model.parameters(), lr=1e-4, betas=(0.9, 0.98), weight_decay=0.0, fused=True
        )

    def loss(self, batch: Batch) -> Tensor:
        raise NotImplementedError

    def update(self, batch: Batch) -> float:
        """One update, as `Trainer` makes it."""
        self.model.train()
        loss = self.loss(batch)
        self.optimizer.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        assert norm.isfinite()
        return loss.item()


class Book(Trained):
    """The book's own model, loss and searches."""

    name, package = "the book", "transformer_book"

    def __init__(self, setting: Setting, dropout: float = 0.0) -> None:
        super().__init__(setting)
        self.model = setting.model(dropout)

    @classmethod
    def version(cls) -> str:
        from transformer_book import __version__

        return __version__

    def loss(self, batch: Batch) -> Tensor:
        return batch_loss(self.model, batch, fused=True)[0]

    def kernels(self) -> AbstractContextManager[None]:
        """What `transformer-book train` puts in the place of formulas."""
        return fused_kernels(self.model)

    def update(self, batch: Batch) -> float:
        with self.kernels():
            return super().update(batch)

    def greedy(self, source: Tensor) -> list[list[int]]:
        found = greedy_search(self.model, source, max_length=self.limit(source))
        return [hypothesis.tokens for hypothesis in found]

    def beam(self, source: Tensor) -> list[list[int]]:
        options = {"length_penalty": 0.0, "max_length": self.limit(source)}
        found = beam_search(self.model, source, self.sizes.beam_size, **options)
        return [best[0].tokens for best in found]


class TorchModel(nn.Module):
    """`nn.Transformer` between the book's embeddings and output, as in PyTorch's tutorial."""

    def __init__(self, setting: Setting, dropout: float) -> None:
        super().__init__()
        self.book = setting.model(dropout)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.transformer = to_pytorch(self.book)
        del self.book.encoder, self.book.decoder

    def source(self, tokens: Tensor) -> Tensor:
        book = self.book
        return book.dropout(book.source_positions(book.source_embedding(tokens)))  # (B, S, D)

    def target(self, tokens: Tensor) -> Tensor:
        book = self.book
        return book.dropout(book.target_positions(book.target_embedding(tokens)))  # (B, T, D)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        padding = source == PAD  # (B, S), True = may not be attended to
        vectors = self.transformer(
            self.source(source),
            self.target(target),
            tgt_mask=~causal_mask(target.size(1)),
            tgt_is_causal=True,
            src_key_padding_mask=padding,
            memory_key_padding_mask=padding,
        )  # (B, T, D)
        return self.book.output(vectors)  # (B, T, V)


class TorchTransformer(Trained):
    """PyTorch's `nn.Transformer`."""

    name = "nn.Transformer"
    cannot: ClassVar = {
        "greedy": "has no search: see the tutorial loop",
        "beam": "has no search",
    }

    def __init__(self, setting: Setting, dropout: float = 0.0) -> None:
        super().__init__(setting)
        self.model = TorchModel(setting, dropout).eval()

    def loss(self, batch: Batch) -> Tensor:
        logits = self.model(batch.source, batch.target_in)  # (B, T, V)
        return F.cross_entropy(logits.flatten(0, 1), batch.target_out.flatten(), ignore_index=PAD)


class Tutorial(Contestant):
    """The loop of tutorials: one sentence, the whole target anew for each token, `nn.Transformer`.

    Its beam search is the book's, on one sentence and without a cache.
    """

    name, batched = "tutorial loop", False
    cannot: ClassVar = {"update": "is a loop for decoding"}

    def __init__(self, setting: Setting, dropout: float = 0.0) -> None:
        super().__init__(setting)
        self.model = TorchModel(setting, 0.0).eval()
        self.book = setting.model()

    @torch.no_grad()
    def greedy(self, source: Tensor) -> list[list[int]]:
        model = self.model
        memory = model.transformer.encoder(model.source(source))  # (1, S, D)
        target = torch.tensor([[SOS]])  # (1, T)
        limit = self.limit(source)
        while target.size(1) <= limit and target[0, -1] != EOS:
            future = ~causal_mask(target.size(1))  # (T, T)
            y = model.transformer.decoder(model.target(target), memory, tgt_mask=future)
            token = model.book.output(y[:, -1]).argmax(dim=-1)  # (1,)
            target = torch.cat([target, token[:, None]], dim=1)
        return [target[0, 1:].tolist()]

    def beam(self, source: Tensor) -> list[list[int]]:
        options = {"length_penalty": 0.0, "max_length": self.limit(source), "cached": False}
        found = beam_search(self.book, source, self.sizes.beam_size, **options)
        return [best[0].tokens for best in found]


def _until_end(rows: Tensor) -> list[list[int]]:
    """Rows `(B, T)` up to and including `<eos>`."""
    found = []
    for row in rows.tolist():
        found.append(row[: row.index(EOS) + 1] if EOS in row else row)
    return found


class Marian(Trained):
    """Hugging Face's `MarianMTModel`: fused attention; `generate` with a cache, on batches."""

    name, package = "Hugging Face Marian", "transformers"

    def __init__(self, setting: Setting, dropout: float = 0.0) -> None:
        super().__init__(setting)
        import transformers

        transformers.logging.set_verbosity_error()
        s, book = setting.sizes, setting.model()
        config = transformers.MarianConfig(
            vocab_size=s.vocab_size,
            max_position_embeddings=s.max_length,
            encoder_layers=s.n_layers,
            decoder_layers=s.n_layers,
            encoder_attention_heads=s.n_heads,
            decoder_attention_heads=s.n_heads,
            encoder_ffn_dim=s.d_ff,
            decoder_ffn_dim=s.d_ff,
            d_model=s.d_model,
            activation_function="relu",
            dropout=dropout,
            attention_dropout=0.0,
            activation_dropout=0.0,
            scale_embedding=True,
            pad_token_id=PAD,
            eos_token_id=EOS,
            bos_token_id=SOS,
            decoder_start_token_id=SOS,
            forced_eos_token_id=None,
            attn_implementation="sdpa",
        )
        with torch.random.fork_rng(devices=[]):
            self.model = transformers.MarianMTModel(config).eval()
        with torch.no_grad():
            self._copy(book)
        self._options = transformers.GenerationConfig(
            pad_token_id=PAD,
            eos_token_id=EOS,
            decoder_start_token_id=SOS,
            forced_eos_token_id=None,
            do_sample=False,
            use_cache=True,
            length_penalty=0.0,
            max_length=None,
        )

    def _copy(self, book: nn.Module) -> None:
        inner = self.model.model
        inner.shared.weight.copy_(book.source_embedding.weight)
        self.model.final_logits_bias.copy_(book.output.bias[None])
        for stack in (inner.encoder, inner.decoder):
            stack.embed_positions.weight.copy_(book.source_positions.table)
        attentions = {"self_attn": "self_attention", "encoder_attn": "cross_attention"}
        for stack, ours in ((inner.encoder, book.encoder), (inner.decoder, book.decoder)):
            for layer, own in zip(stack.layers, ours.layers, strict=True):
                for theirs, name in attentions.items():
                    if hasattr(own, name):
                        _copy_attention(getattr(layer, theirs), getattr(own, name))
                norms = ["self_attn_layer_norm", "encoder_attn_layer_norm", "final_layer_norm"]
                norms = [getattr(layer, name) for name in norms if hasattr(layer, name)]
                for norm, own_norm in zip(norms, _norms(own), strict=True):
                    norm.load_state_dict(own_norm.state_dict())
                layer.fc1.load_state_dict(own.feed_forward.linear1.state_dict())
                layer.fc2.load_state_dict(own.feed_forward.linear2.state_dict())

    def loss(self, batch: Batch) -> Tensor:
        labels = batch.target_out.masked_fill(batch.target_out == PAD, -100)
        return self.model(
            input_ids=batch.source,
            attention_mask=(batch.source != PAD).long(),
            decoder_input_ids=batch.target_in,
            labels=labels,
        ).loss

    def _generate(self, source: Tensor, beams: int) -> list[list[int]]:
        found = self.model.generate(
            input_ids=source,
            attention_mask=(source != PAD).long(),
            generation_config=self._options,
            num_beams=beams,
            max_new_tokens=self.limit(source),
        )
        return _until_end(found[:, 1:])

    def greedy(self, source: Tensor) -> list[list[int]]:
        return self._generate(source, 1)

    def beam(self, source: Tensor) -> list[list[int]]:
        return self._generate(source, self.sizes.beam_size)


def _norms(layer: nn.Module) -> list[nn.Module]:
    """The norms of a layer of the book's, in the order of its sublayers."""
    names = ("attention_residual", "self_residual", "cross_residual", "feed_forward_residual")
    return [getattr(layer, name).norm for name in names if hasattr(layer, name)]


def _copy_attention(theirs: nn.Module, ours: nn.Module) -> None:
    names = {"q_proj": "query", "k_proj": "key", "v_proj": "value", "out_proj": "output"}
    for name, own in names.items():
        getattr(theirs, name).load_state_dict(getattr(ours, own).state_dict())


class XTransformers(Trained):
    """x-transformers' `XTransformer` with flash attention; `generate` with a cache, on batches.

    No biases but in the feed-forward networks, and an output matrix of its own: `XTransformer`
    cannot tie it to the embedding.
    """

    name, package = "x-transformers", "x_transformers"
    cannot: ClassVar = {"beam": "its beam search knows no end of a sentence"}

    @classmethod
    def version(cls) -> str:
        return version("x-transformers")

    def __init__(self, setting: Setting, dropout: float = 0.0) -> None:
        super().__init__(setting)
        from x_transformers import XTransformer

        s, book = setting.sizes, setting.model()
        stack = {
            "num_tokens": s.vocab_size,
            "max_seq_len": s.max_length,
            "depth": s.n_layers,
            "heads": s.n_heads,
            "pre_norm": False,
            "attn_dim_head": s.d_model // s.n_heads,
            "attn_flash": True,
            "attn_sublayer_dropout": dropout,
            "emb_dropout": dropout,
            "ff_mult": s.d_ff / s.d_model,
            "ff_custom_activation": nn.ReLU(),
            "ff_sublayer_dropout": dropout,
        }
        options = {
            f"{side}_{key}": value for side in ("enc", "dec") for key, value in stack.items()
        }
        with torch.random.fork_rng(devices=[]):
            self.model = XTransformer(
                dim=s.d_model, tie_token_emb=True, ignore_index=PAD, pad_value=PAD, **options
            ).eval()
        with torch.no_grad():
            self._copy(book, self.model.encoder, self.model.decoder.net)

    @staticmethod
    def _copy(book: nn.Module, encoder: nn.Module, decoder: nn.Module) -> None:
        scale = book.source_embedding.scale
        encoder.token_emb.emb.weight.copy_(book.source_embedding.weight * scale)
        decoder.to_logits.weight.copy_(book.output.weight)
        for theirs, ours in ((encoder, book.encoder), (decoder, book.decoder)):
            positions = theirs.pos_emb
            positions.emb.weight.copy_(book.source_positions.table / positions.scale)
            sublayers = iter(theirs.attn_layers.layers)
            for layer in ours.layers:
                names = ("self_attention", "cross_attention", "feed_forward")
                parts = [getattr(layer, name) for name in names if hasattr(layer, name)]
                for own, own_norm in zip(parts, _norms(layer), strict=True):
                    norms, block, _ = next(sublayers)
                    norms[-1].gamma.copy_(own_norm.weight - float(norms[-1].unit_offset))
                    if hasattr(own, "linear1"):
                        block.ff[0][0].load_state_dict(own.linear1.state_dict())
                        linears = [m for m in block.ff if isinstance(m, nn.Linear)]
                        linears[-1].load_state_dict(own.linear2.state_dict())
                    else:
                        block.to_q.weight.copy_(own.query.weight)
                        block.to_k.weight.copy_(own.key.weight)
                        block.to_v.weight.copy_(own.value.weight)
                        block.to_out.weight.copy_(own.output.weight)

    def loss(self, batch: Batch) -> Tensor:
        return self.model(batch.source, batch.target, mask=batch.source != PAD)

    def greedy(self, source: Tensor) -> list[list[int]]:
        found = self.model.generate(
            source,
            torch.full((len(source), 1), SOS),
            self.limit(source),
            mask=source != PAD,
            eos_token=EOS,
            temperature=0.0,
            cache_kv=True,
        )
        return _until_end(found)


class CTranslate2(Contestant):
    """CTranslate2, an engine for decoding in C++: float32, on the same batches."""

    name, package = "CTranslate2", "ctranslate2"
    cannot: ClassVar = {"update": "does not train"}

    def __init__(self, setting: Setting, dropout: float = 0.0) -> None:
        super().__init__(setting)
        import ctranslate2

        ctranslate2.set_log_level(logging.ERROR)
        special = ["<pad>", "<s>", "</s>", "<unk>"]
        self.words = special + [f"w{i}" for i in range(4, setting.sizes.vocab_size)]
        self.ids = {word: i for i, word in enumerate(self.words)}
        spec = _ctranslate2_spec(setting)
        for side in ("source", "target"):
            getattr(spec, f"register_{side}_vocabulary")(self.words)
        spec.config.add_source_eos = False
        spec.config.layer_norm_epsilon = (
            setting.model().encoder.layers[0].attention_residual.norm.eps
        )
        spec.validate()
        spec.optimize()
        with tempfile.TemporaryDirectory() as folder:
            spec.save(folder)
            self.engine = ctranslate2.Translator(
                folder,
                device="cpu",
                compute_type="float32",
                inter_threads=1,
                intra_threads=torch.get_num_threads(),
            )

    def _translate(self, source: Tensor, beams: int) -> list[list[int]]:
        words = [[self.words[i] for i in row if i != PAD] for row in source.tolist()]
        results = self.engine.translate_batch(
            words,
            beam_size=beams,
            length_penalty=0.0,
            max_batch_size=len(words),
            min_decoding_length=0,
            max_decoding_length=self.limit(source),
            return_end_token=True,
        )
        return [[self.ids[word] for word in result.hypotheses[0]] for result in results]

    def greedy(self, source: Tensor) -> list[list[int]]:
        return self._translate(source, 1)

    def beam(self, source: Tensor) -> list[list[int]]:
        return self._translate(source, self.sizes.beam_size)


def _ctranslate2_spec(setting: Setting) -> object:
    """The model as CTranslate2 describes models (`ctranslate2.specs`)."""
    from ctranslate2.specs import TransformerSpec
    from ctranslate2.specs.common_spec import Activation

    s, book = setting.sizes, setting.model()

    def array(*tensors: Tensor) -> object:
        return torch.cat([tensor.detach() for tensor in tensors]).numpy()

    def linear(spec: object, *layers: nn.Linear) -> None:
        spec.weight = array(*(layer.weight for layer in layers))
        spec.bias = array(*(layer.bias for layer in layers))

    def norm(spec: object, own: nn.Module) -> None:
        spec.gamma, spec.beta = array(own.weight), array(own.bias)

    def attention(spec: object, own: nn.Module, own_norm: nn.Module, together: bool) -> None:
        if together:
            linear(spec.linear[0], own.query, own.key, own.value)
        else:
            linear(spec.linear[0], own.query)
            linear(spec.linear[1], own.key, own.value)
        linear(spec.linear[-1], own.output)
        norm(spec.layer_norm, own_norm)

    spec = TransformerSpec.from_config(
        s.n_layers, s.n_heads, pre_norm=False, activation=Activation.RELU
    )
    spec.encoder.embeddings[0].weight = array(book.source_embedding.weight)
    spec.decoder.embeddings.weight = array(book.target_embedding.weight)
    linear(spec.decoder.projection, book.output)
    for side, ours in ((spec.encoder, book.encoder), (spec.decoder, book.decoder)):
        side.position_encodings.encodings = array(book.source_positions.table)
        for layer, own in zip(side.layer, ours.layers, strict=True):
            own_norms = _norms(own)
            attention(layer.self_attention, own.self_attention, own_norms[0], True)
            if hasattr(own, "cross_attention"):
                attention(layer.attention, own.cross_attention, own_norms[1], False)
            norm(layer.ffn.layer_norm, own_norms[-1])
            linear(layer.ffn.linear_0, own.feed_forward.linear1)
            linear(layer.ffn.linear_1, own.feed_forward.linear2)
    return spec


EVERY: tuple[type[Contestant], ...] = (
    Book,
    TorchTransformer,
    Marian,
    XTransformers,
    CTranslate2,
    Tutorial,
)
