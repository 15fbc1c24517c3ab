"""The parity tests bite: a damaged copy of each function of the browser's model is found out.

Each damage replaces one passage, which occurs once, in a copy of the modules. The jobs below are
those of test_parity.py, on fewer inputs; what a damaged copy answers must differ from the package.
"""

from __future__ import annotations

import shutil
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from browser_parity import (
    MODULES,
    conversation,
    pairs_of,
    random_strings,
    tokenized,
    tokenizers,
    translator_of,
    unpacked,
)

from tests.damage import replaced_once
from tests.javascript.conftest import sentences
from tests.javascript.test_series import answer, expressions
from transformer_book import masks, pretrained
from transformer_book.attention import scaled_dot_product_attention
from transformer_book.decoding import greedy_search
from transformer_book.known_words import KnownWords, words
from transformer_book.layers import LayerNorm
from transformer_book.tokens import EOS, PAD, SOS, SpacyTokenizer, uniform

DAMAGES = {
    "the bias forgotten": ("tensors", "return this.bias ? add(y, this.bias) : y;", "return y;"),
    "a sum left out of a dot product": ("tensors", "first + second + (third", "first + (third"),
    "softmax not divided by its sum": ("tensors", "data[i] /= total;", "data[i] /= 1;"),
    "softmax overflows": ("tensors", "Math.exp(data[i] - largest)", "Math.exp(data[i])"),
    "heads merged without permuting": (
        "tensors",
        "((i * c + k) * b + j) * d",
        "((i * b + j) * c + k) * d",
    ),
    "half precision one power of two off": ("safetensors", "(exponent - 25)", "(exponent - 24)"),
    "numbers below the smallest normal one lost": ("safetensors", "fraction * 2 ** -24", "0"),
    "padding mask inverted": ("masks", "token === PAD ? 0 : 1", "token === PAD ? 1 : 0"),
    "the diagonal hidden": ("masks", "i * length + i + 1", "i * length + i"),
    "the next token visible": ("masks", "i * length + i + 1", "i * length + i + 2"),
    "padding visible in the target": ("masks", "key] & real", "key] | real"),
    "scores divided by d_k": ("attention", "1 / Math.sqrt(K)", "1 / K"),
    "scores not scaled": ("attention", "scale ?? 1 / Math.sqrt(K)", "1"),
    "mask inverted": ("attention", "if (!mask.data[", "if (mask.data["),
    "an empty row not zero": ("attention", "if (mask) masked_fill(weights, mask, 0);", ""),
    "a mask not broadcast": ("attention", "size === 1 ? 0 :", "size === 0 ? 0 :"),
    "all heads look at the first": (
        "attention",
        "const keys = Math.floor(row / T) * S",
        "const keys = 0",
    ),
    "keys taken for values": ("attention", "weight * value.data[", "weight * key.data["),
    "keys and values swapped": (
        "attention",
        "const [k, v] = this.keys",
        "const [v, k] = this.keys",
    ),
    "embeddings not scaled": ("embeddings", "Math.sqrt(d_model) : 1", "1 : 1"),
    "doubled exponent": ("embeddings", "10000 ** (i / d_model)", "10000 ** ((2 * i) / d_model)"),
    "sine and cosine exchanged": ("embeddings", "+ 1] = Math.cos", "+ 1] = Math.sin"),
    "every token at position 0": (
        "embeddings",
        "slice(start * D, end * D)",
        "slice(0, x.size(1) * D)",
    ),
    "norm without epsilon": ("layers", "Math.sqrt(variance + this.eps)", "Math.sqrt(variance)"),
    "norm with Bessel's correction": ("layers", "- mean) ** 2 / D", "- mean) ** 2 / (D - 1)"),
    "norm not centred": (
        "layers",
        "(x.data[start + d] - mean)) / root",
        "x.data[start + d]) / root",
    ),
    "no activation": ("layers", "Math.max(0, each)", "each"),
    "the other half of a GELU": ("layers", "(1 + Math.sign(x)", "(1 - Math.sign(x)"),
    "a coefficient of the error function": ("layers", "1.453152027", "1.435152027"),
    "pairs sorted downwards": (
        "layers",
        "Math.max(all[i - 1], each) : Math.min(",
        "Math.min(all[i - 1], each) : Math.max(",
    ),
    "no residual connection": ("layers", "this.residual ? x :", "false ? x :"),
    "post-norm taken for pre-norm": ("layers", 'pre_norm: norm === "pre"', "pre_norm: true"),
    "no final norm": ("layers", 'norm === "pre" ? new LayerNorm', 'norm === "" ? new LayerNorm'),
    "the encoder without its mask": ("encoder", "forward(y, y, y, mask)", "forward(y, y, y, null)"),
    "the decoder sees the future": ("decoder", "forward(y, y, y, target_mask)", "forward(y, y, y)"),
    "padding of the source visible": ("decoder", "memory, memory_mask),", "memory),"),
    "the feed-forward network left out": (
        "decoder",
        "this.feed_forward.forward(y)); // (B, T, D)",
        "y); // (B, T, D)",
    ),
    "ties taken apart": ("transformer", 'tie_embeddings === "all"', 'tie_embeddings === "none"'),
    "causal and not exchanged": ("transformer", "this.config.causal ?", "!this.config.causal ?"),
    "cache off by one": (
        "decoder_cache",
        "const start = cache.length;",
        "const start = cache.length + 1;",
    ),
    "cache not reordered with the beams": (
        "decoder_cache",
        "kept.values = index_select(kept.values, rows);",
        "kept.values = index_select(kept.values, rows.map((_, i) => i % kept.values.shape[0]));",
    ),
    "the newest key forgotten": (
        "decoder_cache",
        "cat([kept.keys, keys], 2)",
        "cat([keys, kept.keys], 2)",
    ),
    "cached although it sees the future": (
        "decoding",
        "cached && model.config.causal ?",
        "cached ?",
    ),
    "<pad> and <sos> may be said": ("decoding", "new Set([PAD, SOS, ...ban])", "new Set(ban)"),
    "of equal tokens the last": (
        "decoding",
        "for (let i = 0; i < values.length; i += 1)",
        "for (let i = values.length - 1; i >= 0; i -= 1)",
    ),
    "another limit": ("decoding", "source.length + 50", "source.length + 40"),
    "another length penalty": ("decoding", "((5 + length) / 6)", "((6 + length) / 6)"),
    "scores not divided by the length": (
        "decoding",
        "const score = total / length_divisor",
        "const score = total // ",
    ),
    "finished hypotheses take a place": (
        "decoding",
        "Math.min(2 * beam_size,",
        "Math.min(beam_size,",
    ),
    "the search stops at the first end": (
        "decoding",
        "found.at(-1).score >= attainable",
        "true",
    ),
    "the first token chosen after all": ("decoding", "forced[length - 1] ??", "null ??"),
    "the limit of the text not checked": ("translator", "if (ids.length > limit)", "if (false)"),
    "known words called unknown": ("translator", "[0] === UNK", "[0] !== UNK"),
    "rare words not told": ("translator", "if (this.known_words) return", "if (false) return"),
    "nothing called rare where nobody knows": ("translator", "? null : unknown", "? [] : unknown"),
    "unknown words not called rare": ("translator", "? null : unknown", "? null : []"),
    "known words called rare": ("known_words", "!this.source.has(", "this.source.has("),
    "capitals count in lower case": ("known_words", "this.lowercase ?", "false ?"),
    "capitals never count": ("known_words", "this.lowercase ?", "true ?"),
    "a rare word named twice": ("known_words", "[...new Set(this.words", "[...(this.words"),
    "an underscore taken for a letter": ("known_words", "[^%W_]", "[^%W]"),
    "words of a text that is not uniform": ("known_words", "this.unicode.uniform(text)", "text"),
    "another longest word": ("tokens", "LONGEST_WORD = 256", "LONGEST_WORD = 255"),
    "the last of equal merges first": ("tokens", "if (rank < first)", "if (rank <= first)"),
    "not lower-cased": ("tokens", "this.lowercase ? this.unicode.lower(text) : text", "text"),
    "a text spelled <eos> taken for the end": ("tokens", "Math.max(UNK, ", "Math.max(0, "),
    "quotes never close": ("tokens", "if (openQuotes.delete(kind))", "if (false)"),
    "two operands in a row": ("tokens", "if (after_operand && (", "if (false && ("),
    "the browser's Unicode": ("unicode", "i % 2 ? run : apply(run)", "apply(run)"),
    "not composed": ("unicode", 'run.normalize("NFC")', "run"),
    "joiners dropped": ("unicode", "/[\\u200c\\u200d]/u.test(one) ? one", "/x/u.test(one) ? one"),
    "exceptions not put together": ("spacy", "if (sequences.has(", "if (false && sequences.has("),
    "of overlapping exceptions the shortest": ("spacy", "f - c - (e - b) ||", "e - b - (f - c) ||"),
    "suffixes in reverse": (
        "spacy",
        "if (after && (both || !before)) {\n        suffixes.unshift",
        "if (after && (both || !before)) {\n        suffixes.push",
    ),
    "a divisor may begin with a sum": ("series", "if (series.rows[0].size > 1) {", "if (false) {"),
    "powers from left to right": (
        "series",
        "right: this.factor() } : base",
        "right: this.atom() } : base",
    ),
    "a tangent without its sign": ("series", 'name === "tan" ? square', 'name !== "tan" ? square'),
    "terms in the order in which they come": ("series", "compare(b, a))", "0)"),
    "addresses taken apart": ("spacy", "if (this.url.test(run)) return [run];", ""),
}
# What the damages of a module show in, what is quick first; those of all others in small models.
TEXT = ("tokens", "unicode", "translator", "known_words")
MODELS = ("parts", "first", "others")
KINDS = {
    "safetensors": ("halves",),
    "series": ("series",),
    **{name: (*MODELS, "search") for name in ("decoder_cache", "decoding")},
    "spacy": ("spacy", "sentences"),
    **{name: ("text", "sentences", "spacy") for name in TEXT},
}


@dataclass
class Proof:
    """Jobs, and what the package answers."""

    jobs: list[dict[str, Any]] = field(default_factory=list)
    right: list[Any] = field(default_factory=list)

    def add(self, job: dict[str, Any], right: Any) -> None:
        self.jobs.append(job)
        self.right.append(right)

    def holds(self, ask: Callable[[list[dict[str, Any]]], list[Any]]) -> bool:
        """Whether all answers are the package's: after the first that is not, nothing is asked."""
        return all(
            agrees(right, *ask([job])) for job, right in zip(self.jobs, self.right, strict=True)
        )


def agrees(right: Any, found: Any) -> bool:
    """Whether two answers are the same, numbers but for rounding."""
    match right:
        case np.ndarray():
            return isinstance(found, str) and np.allclose(
                unpacked(found, -1), right.flatten(), atol=1e-4, rtol=1e-4
            )
        case (np.ndarray() as exact,):
            return isinstance(found, str) and np.array_equal(
                unpacked(found, -1), exact, equal_nan=True
            )
        case dict():
            return isinstance(found, dict) and all(
                name in found and agrees(value, found[name]) for name, value in right.items()
            )
        case list():
            return (
                isinstance(found, list)
                and len(found) == len(right)
                and all(map(agrees, right, found))
            )
        case float():
            return isinstance(found, (int, float)) and abs(found - right) < 1e-4
    return found == right


@torch.no_grad()
def of_models(odd: dict[str, Path], *names: str) -> Proof:
    """Logits and searches of small models."""
    proof = Proof()
    texts = ["a b c", "g g", "d e f a b"]
    padding = [([4, 5, 6, 2, 0, 0], [1, 5, 0, 6, 7]), ([5, 2], [1, 4, 4])]
    for name in names:
        folder = odd[name]
        translator = translator_of(folder)
        pairs = [*pairs_of(translator, texts), *padding]
        logits = [translator.model(*(torch.tensor([ids]) for ids in p))[0].numpy() for p in pairs]
        proof.add({"operation": "logits", "folder": str(folder), "pairs": pairs}, logits)
        if translator.model.config.causal:
            job = {"operation": "stepwise", "folder": str(folder), "pairs": pairs[:-2]}
            proof.add(job, logits[:-2])
        for options in ({"beam_size": 1, "n_candidates": 3}, {"beam_size": 2}):
            if name == "cut" and options["beam_size"] > 1:
                continue  # it has ties, of which PyTorch's topk takes any
            search(proof, folder, texts, {**options, "max_length": 8})
    return proof


@torch.no_grad()
def of_parts() -> Proof:
    """Attention, masks and norms."""
    proof = Proof()
    generator = torch.Generator().manual_seed(0)
    tensors = {
        n: 40 * torch.randn(2, 2, 3, 5, generator=generator) for n in ("query", "key", "value")
    }
    mask = torch.tensor([[[[True, False, True]]], [[[False, False, False]]]])  # (B, 1, 1, S)
    listed = {n: {"data": t.flatten().tolist(), "shape": t.shape} for n, t in tensors.items()}
    listed["mask"] = {"data": mask.flatten().int().tolist(), "shape": mask.shape}
    right = [t.numpy() for t in scaled_dot_product_attention(**tensors, mask=mask)]
    proof.add({"operation": "attention", **listed}, right)
    tokens = [[1, 5, 7, 0, 0], [1, 5, 7, 8, 9]]
    expected = masks.target_mask(torch.tensor(tokens))
    right = [expected.int().flatten().tolist(), list(expected.shape)]
    proof.add({"operation": "masks", "tokens": tokens}, right)
    rows = [[1.0, 2.0, 4.0], [2.5, 2.5, 2.5]]
    job = {"operation": "norm", "rows": rows, "weight": [1.0] * 3, "bias": [0.5] * 3}
    proof.add(job, (LayerNorm(3)(torch.tensor(rows)) + 0.5).numpy())
    return proof


def of_series() -> Proof:
    """Expressions, and what is no expression."""
    proof = Proof()
    texts = expressions(60)
    proof.add({"operation": "series", "texts": texts}, [answer(text) for text in texts])
    return proof


def of_halves() -> Proof:
    """Every number in half precision."""
    proof = Proof()
    halves = np.arange(65536, dtype=np.uint16).view(np.float16).astype(np.float32)
    proof.add({"operation": "widened"}, (halves,))
    return proof


def search(proof: Proof, folder: Path, texts: list[str], options: dict[str, Any]) -> None:
    """Add a search, and what the package finds."""
    job = {"operation": "search", "folder": str(folder), "texts": texts, "options": options}
    right = [
        [
            {
                "text": one.text,
                "tokens": list(one.tokens),
                "unknown": list(one.unknown),
                "rare": None if one.rare is None else list(one.rare),
                "probabilities": list(map(float, one.probabilities)),
                "score": float(one.score),
            }
            for one in (found, *found.alternatives)
        ]
        for found in translator_of(folder).search(texts, **options)
    ]
    proof.add(job, right)


@torch.no_grad()
def of_the_search() -> Proof:
    """Searches with a trained model, which knows where to end."""
    proof = Proof()
    folder = pretrained.find("captions-de-en")
    search(proof, folder, sentences("captions-de-en", 2), {"beam_size": 4})
    many = {"beam_size": 4, "n_best": 4, "length_penalty": 1.5}
    search(proof, folder, sentences("captions-de-en", 2), many)
    text = "Ein Hund schläft."
    translator = translator_of(folder)
    model, source = translator.model, torch.tensor([translator.encode(text).ids])
    endless = greedy_search(model, source, ban=(PAD, SOS, EOS))[0].tokens
    said = [SOS, 7, 4]  # forced, then greedy
    while said[-1] != EOS:
        said.append(int(model(source, torch.tensor([said]))[0, -1].argmax()))
    job = {"operation": "search", "folder": str(folder), "texts": [text]}
    for more, ids in (({"ban": [EOS]}, endless), ({"forced": [7, 4]}, said[1:])):
        proof.add({**job, "options": {"beam_size": 1, **more}}, [[{"ids": ids}]])
    return proof


def awkward_texts() -> list[str]:
    return [
        *random_strings(250, seed=3),
        *("ab" * 300, "a" * 300, "aaaaa eee", "'em 'tis", "he said 'yes' \"no\"", "x😀$", "2x"),
        *("www.a.example/b-c", "-a-b", "can't've :-)) z.B.", "a\u200db\u00ad \u0378\u0345"),
        "\u1c89\ua7dc\ua7ce\ua7d2",  # capitals that newer versions of Unicode have
    ]


def of_pieces(texts: list[str], *, spacys: bool) -> Proof:
    """Tokenizers: spaCy's, whose rules take node long to compile, or all others."""
    proof = Proof()
    for tokenizer in tokenizers().values():
        if isinstance(tokenizer, SpacyTokenizer) == spacys:
            job = {"operation": "tokenize", "description": tokenizer.to_dict(), "texts": texts}
            proof.add(job, [tokenized(tokenizer, text) for text in texts])
    return proof


def of_texts(texts: list[str]) -> Proof:
    """Tokenizers but spaCy's, and what happens to a text before them."""
    proof = of_pieces(texts, spacys=False)
    for lowercase in (False, True):
        known = KnownWords(frozenset(words(" ".join(texts[::2]))), frozenset(), lowercase)
        listed = {"source": sorted(known.source), "lowercase": lowercase}
        job = {"operation": "rare_words", "words": listed, "texts": texts}
        proof.add(job, [list(known.rare(text)) for text in texts])
    right = [[uniform(t), t.lower(), unicodedata.normalize("NFC", t), repr(t)] for t in texts]
    proof.add({"operation": "text", "texts": texts}, right)
    return proof


def of_sentences(odd: dict[str, Path]) -> Proof:
    """Whole translations, and the sentence for a text that is too long."""
    proof = Proof()
    folder = pretrained.find("captions-de-en")
    search(proof, folder, ["Der Drache schläft."], {})
    search(proof, odd["tied"], ["a <eos> b", "a b"], {"beam_size": 1, "max_length": 5})
    for name in ("subwords", "silent"):
        search(proof, odd[name], ["Bad fee bad bad"], {"beam_size": 1, "max_length": 5})
    text = "Hund " * 100
    job = {"operation": "search", "folder": str(folder), "texts": [text], "options": {}}
    with pytest.raises(ValueError) as error:
        translator_of(folder).encode(text)
    proof.add(job, [{"error": str(error.value)}])
    return proof


def damaged(name: str, folder: Path) -> Path:
    """A copy of the modules with this damage; for no name the modules themselves."""
    if not name:
        return MODULES
    module, old, new = DAMAGES[name]
    shutil.copytree(MODULES, folder, dirs_exist_ok=True)
    path = folder / f"{module}.js"
    source = path.read_text(encoding="utf-8")
    path.write_text(replaced_once(source, old, new), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def proofs(odd: dict[str, Path], rules: Path, tmp_path_factory) -> dict[str, bool]:
    """For the untouched modules ("") and for each damage: whether the package agrees."""
    parts = {
        "parts": of_parts(),
        "halves": of_halves(),
        "series": of_series(),
        "first": of_models(odd, "post"),
        "others": of_models(odd, *(name for name in odd if name != "post")),
        "search": of_the_search(),
        "text": of_texts(awkward_texts()),
        "spacy": of_pieces(awkward_texts(), spacys=True),
        "sentences": of_sentences(odd),
    }
    folders = {
        name: damaged(name, tmp_path_factory.mktemp("damage", numbered=True))
        for name in ("", *DAMAGES)
    }
    asked = {
        name: KINDS.get(DAMAGES[name][0], MODELS) if name else tuple(parts) for name in folders
    }
    with conversation(rules) as ask:
        return {
            name: all(parts[part].holds(partial(ask, folders[name])) for part in asked[name])
            for name in folders
        }


def test_the_untouched_modules_agree_with_the_package(proofs) -> None:
    assert proofs[""]


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damage_is_found_out(name, proofs) -> None:
    assert not proofs[name]
