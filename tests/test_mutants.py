"""The proofs are proven to bite: each of these damages to the model must turn a proof red.

A mutant is one changed passage of the package's source. The package is imported with it, and the
proofs run until one fails. Run this file alone with `-s` to see which proof catches which mutant.
"""

from __future__ import annotations

import warnings
from typing import Any

import pytest
import torch

from tests.damage import Damage
from tests.fresh import PACKAGE, import_model
from tests.proofs import PROOFS


def mutant(name: str, module: str, old: str, new: str) -> Any:
    return pytest.param(Damage(f"{PACKAGE}.{module}", old, new), id=f"{module}: {name}")


MUTANTS = [
    # attention
    mutant("no root of d", "attention", "1 / math.sqrt(query.size(-1)) if", "1.0 if"),
    mutant("d without its root", "attention", "math.sqrt(query.size(-1)) if", "query.size(-1) if"),
    mutant("scale ignored", "attention", " if scale is None else scale", ""),
    mutant("fused scale ignored", "attention", "dropout, scale=scale)", "dropout)"),
    mutant("softmax over queries", "attention", "scores.softmax(dim=-1)", "scores.softmax(dim=-2)"),
    mutant("mask skipped", "attention", "scores = scores.masked_fill(", "scores.masked_fill("),
    mutant("mask inverted", "attention", "scores.masked_fill(~mask, torch", "scores.masked_fill(mask, torch"),
    mutant("empty rows uniform", "attention", "weights.masked_fill(~mask, 0.0)", "weights * 1.0"),
    mutant("empty rows NaN", "attention", "torch.finfo(scores.dtype).min", 'float("-inf")'),
    mutant("fused mask skipped", "attention", "(query, key, value, mask, dropout, sc", "(query, key, value, None, dropout, sc"),
    mutant("weights dropped twice", "attention", "F.dropout(weights, dropout)", "F.dropout(F.dropout(weights, 0.1), dropout)"),
    mutant("keys and values swapped", "attention", "self.key(key)), self.split_heads(self.value(value))", "self.value(value)), self.split_heads(self.key(key))"),
    mutant("values projected by the key", "attention", "self.split_heads(self.value(value))", "self.split_heads(self.key(value))"),
    mutant("heads viewed, not transposed", "attention", ".unflatten(-1, (self.n_heads, -1)).transpose(1, 2)", ".reshape(x.size(0), self.n_heads, x.size(1), -1)"),
    mutant("heads interleaved", "attention", ".unflatten(-1, (self.n_heads, -1)).transpose(1, 2)", ".unflatten(-1, (-1, self.n_heads)).permute(0, 3, 1, 2)"),
    mutant("heads merged without transposing", "attention", "heads.transpose(1, 2).flatten(-2)", "heads.reshape(heads.size(0), heads.size(2), -1)"),
    mutant("output projection forgotten", "attention", "self.output(self.merge_heads(heads))", "self.merge_heads(heads)"),
    mutant("query not projected", "attention", "self.split_heads(self.query(query))", "self.split_heads(query)"),
    mutant("mask not passed on", "attention", "self.attend(q, k, v, mask)", "self.attend(q, k, v)"),
    mutant("attention dropout in evaluation", "attention", "self.dropout if self.training else 0.0", "self.dropout"),
    mutant("attention dropout never", "attention", "self.dropout if self.training else 0.0", "0.0"),
    mutant("formula's dropout forgotten", "attention", "weights = F.dropout(weights, dropout)", "pass"),
    mutant("recorded weights keep their graph", "attention", "else weights.detach()", "else weights"),
    mutant("recording never ends", "attention", "module.keep_weights = before[name]", "pass"),
    # masks
    mutant("padding mask inverted", "masks", "(tokens != padding)", "(tokens == padding)"),
    mutant("padding hides queries", "masks", "[:, None, None, :]", "[:, None, :, None]"),
    mutant("diagonal hidden", "masks", ".tril()", ".tril(-1)"),
    mutant("next token visible", "masks", ".tril()", ".tril(1)"),
    mutant("past hidden", "masks", ".tril()", ".triu()"),
    mutant("target padding ignored", "masks", "padding_mask(tokens, padding) & causal", "padding_mask(tokens, -1) & causal"),
    mutant("padding id ignored", "masks", "(tokens != padding)", "(tokens != 0)"),
    mutant("causal mask forgotten", "masks", " & causal_mask(", " | causal_mask("),
    # layers
    mutant("Bessel's correction", "layers", "centred.square().mean(dim=-1, keepdim=True)", "x.var(dim=-1, keepdim=True)"),
    mutant("epsilon outside the root", "layers", "torch.sqrt(variance + self.eps)", "(torch.sqrt(variance) + self.eps)"),
    mutant("another epsilon", "layers", "eps: float = 1e-5", "eps: float = 1e-6"),
    mutant("statistics over two axes", "layers", "x.mean(dim=-1, keepdim=True)", "x.mean(dim=(-2, -1), keepdim=True)"),
    mutant("mean not removed", "layers", "self.weight * centred", "self.weight * x"),
    mutant("norm shift forgotten", "layers", "y if self.bias is None else y + self.bias", "y"),
    mutant("activation forgotten", "layers", "self.activation(self.linear1(x))", "self.linear1(x)"),
    mutant("GELU approximated", "layers", '"gelu": F.gelu', '"gelu": lambda x: F.gelu(x, approximate="tanh")'),
    mutant("GroupSort over all", "layers", ".unflatten(-1, (-1, 2)).sort(dim=-1)", ".unflatten(-1, (1, -1)).sort(dim=-1)"),
    mutant("feed-forward dropout never", "layers", "self.dropout(self.activation(self.linear1(x)))", "self.activation(self.linear1(x))"),
    mutant("residual of the norm", "layers", "stream + self.dropout(sublayer(self.norm(x)))", "self.norm(x) + self.dropout(sublayer(self.norm(x)))"),
    mutant("residual forgotten", "layers", "stream = x if self.residual else 0.0", "stream = 0.0"),
    mutant("residual always", "layers", "stream = x if self.residual else 0.0", "stream = x"),
    mutant("pre-norm without norm", "layers", "sublayer(self.norm(x))", "sublayer(x)"),
    mutant("pre and post exchanged", "layers", 'norm == "pre", residual', 'norm == "post", residual'),
    mutant("dropout on the stream", "layers", "self.norm(stream + self.dropout(sublayer(x)))", "self.norm(self.dropout(stream + sublayer(x)))"),
    mutant("residual dropout never", "layers", "stream + self.dropout(sublayer(self.norm(x)))", "stream + sublayer(self.norm(x))"),
    mutant("final norm dropped", "layers", 'if config.norm == "post":', "if True:"),
    mutant("final norm on post-norm", "layers", 'if config.norm == "post":', "if False:"),
    # encoder
    mutant("encoder mask skipped", "encoder", "self.self_attention(y, y, y, mask)", "self.self_attention(y, y, y)"),
    mutant("encoder without final norm", "encoder", "return self.norm(x)", "return x"),
    mutant("encoder feed-forward skipped", "encoder", "return self.feed_forward_residual(x, self.feed_forward)", "return x"),
    mutant("one encoder layer only", "encoder", "in self.layers:", "in self.layers[:1]:"),
    mutant("same layer repeated", "encoder", "for layer in self.layers:", "for layer in [self.layers[0]] * len(self.layers):"),
    mutant("residual switch lost", "layers", '"residual": config.residual}', '"residual": True}'),
    mutant("dropouts exchanged", "layers", '"dropout": config.activation_dropout', '"dropout": config.attention_dropout'),
    # decoder
    mutant("feed-forward switch lost", "layers", "if not config.feed_forward:", "if False:"),
    mutant("no feed-forward adds its input", "layers", "return torch.zeros_like(x)", "return x"),
    mutant("cross-attention dropout lost", "decoder", "self.cross_attention = MultiHeadAttention(config.d_model, config.n_heads, **attention)", "self.cross_attention = MultiHeadAttention(config.d_model, config.n_heads, bias=config.bias)"),
    mutant("target mask skipped", "decoder", "self.self_attention(y, y, y, target_mask)", "self.self_attention(y, y, y)"),
    mutant("memory mask skipped", "decoder", "(y, memory, memory, memory_mask)", "(y, memory, memory)"),
    mutant("decoder query not normalised", "decoder", "self.self_attention(y, y, y, target_mask)", "self.self_attention(x, y, y, target_mask)"),
    mutant("cross-attention to itself", "decoder", "(y, memory, memory, memory_mask)", "(y, y, y, target_mask)"),
    mutant("one residual for two", "decoder", "self.cross_residual = make_residual(config)", "self.cross_residual = self.self_residual = make_residual(config)"),
    mutant("encoder attention dropout lost", "encoder", "dropout=config.attention_dropout", "dropout=0.0"),
    mutant("decoder without final norm", "decoder", "return self.norm(x)", "return x"),
    mutant("decoder feed-forward skipped", "decoder", "return self.feed_forward_residual(x, self.feed_forward)", "return x"),
    # embeddings
    mutant("embedding not scaled", "embeddings", "math.sqrt(d_model) if scale", "1.0 if scale"),
    mutant("embedding always scaled", "embeddings", "math.sqrt(d_model) if scale else 1.0", "math.sqrt(d_model)"),
    mutant("exponent doubled", "embeddings", "torch.arange(0, d_model, 2, dtype=exact, device=cpu) / d_model", "2 * torch.arange(0, d_model, 2, dtype=exact, device=cpu) / d_model"),
    mutant("halves, not interleaved", "embeddings", "dim=-1).flatten(1)", "dim=1).flatten(1)"),
    mutant("sines and cosines exchanged", "embeddings", "[angle.sin(), angle.cos()]", "[angle.cos(), angle.sin()]"),
    mutant("every token at position 0", "embeddings", "self.rows_for(x)[start:end]", "self.rows_for(x)[:1]"),
    mutant("sinusoids in single precision", "embeddings", "exact, cpu = torch.float64", "exact, cpu = torch.float32"),
    mutant("table converted, not recomputed", "embeddings", "self.table = sinusoids(*self.table.shape, dtype=x.dtype).to(x.device)", "self.table = self.table.to(x)"),
    mutant("start ignored", "embeddings", "x + self.weight[start:end]", "x + self.weight[: x.size(1)]"),
    # transformer
    mutant("source padding ignored", "transformer", "memory_mask = padding_mask(source)", "memory_mask = padding_mask(source, -1)"),
    mutant("target mask from training only", "transformer", "if self.config.causal else", "if self.training else"),
    mutant("causal switch ignored", "transformer", "if self.config.causal else padding_mask(target)", ""),
    mutant("source positions forgotten", "transformer", "self.source_positions(self.source_embedding(source))", "self.source_embedding(source)"),
    mutant("target embedded as source", "transformer", "self.target_positions(self.target_embedding(target))", "self.target_positions(self.source_embedding(target))"),
    mutant("decoder reads its own input", "transformer", "self.decoder(y, memory, mask", "self.decoder(y, y, mask"),
    mutant("nothing tied", "transformer", 'if self.config.tie_embeddings in ("decoder", "all"):', "if False:"),
    mutant("source not tied", "transformer", 'if self.config.tie_embeddings == "all":', "if False:"),
    mutant("untied by loading", "transformer", "self.register_load_state_dict_post_hook(Transformer.tie_weights)", "pass"),
    mutant("source dropout forgotten", "transformer", "x = self.dropout(self.source_positions(self.source_embedding(source)))", "x = self.source_positions(self.source_embedding(source))"),
    mutant("target dropout forgotten", "transformer", "y = self.dropout(self.target_positions(self.target_embedding(target)))", "y = self.target_positions(self.target_embedding(target))"),
    mutant("initialization ignored", "transformer", "initialize(self, config.initialization)", 'initialize(self, "xavier")'),
    mutant("activation dropout lost", "layers", '"dropout": config.activation_dropout', '"dropout": 0.0'),
    mutant("logits of softmax", "transformer", "return self.output(vectors) if project", "return self.output(vectors).softmax(-1) if project"),
    mutant("initialization by rows", "transformer", "parameter.size(-1) ** -0.5", "parameter.size(0) ** -0.5"),
]  # fmt: skip


@pytest.fixture(scope="module")
def proofs() -> list[Any]:
    """What noticed the last mutant is moved to the front: it often notices the next one."""
    return list(PROOFS)


def first_failing_proof(damage: Damage | None, proofs: list[Any]) -> str | None:
    book = import_model(damage, fresh=True)
    for seed in range(4):
        for proof in proofs:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # of autograd, where a mutant makes NaN
                    proof(book, seed)
            except Exception as error:
                # Most differ; some crash inside torch, with shapes that do not fit.
                proofs.remove(proof)
                proofs.insert(0, proof)
                return f"{proof.__name__} ({type(error).__name__})"
    return None


def test_the_untouched_model_passes(proofs):
    assert first_failing_proof(None, proofs) is None


@pytest.mark.parametrize("damage", MUTANTS)
def test_mutant_is_killed(damage, proofs, request):
    try:
        killer = first_failing_proof(damage, proofs)
    finally:
        torch.set_default_dtype(torch.float32)
    assert killer, f"No proof notices {damage.old!r} → {damage.new!r}."
    print(f"{request.node.callspec.id:50} killed by {killer}")
