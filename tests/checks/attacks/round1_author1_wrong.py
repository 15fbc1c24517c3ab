"""Round 1, author 1: what is wrong, as it was written from the docstrings alone."""

from kit import wrong, right
import copy, functools, inspect, itertools, math
from collections import Counter
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


def _loss(compute_loss, model):
    """The sheet does not say whether training_update's compute_loss takes the model."""
    return compute_loss(model) if inspect.signature(compute_loss).parameters else compute_loss()


# ---------------------------------------------------------------- number_of_targets
@wrong(
    "number_of_targets",
    "Base and exponent are exchanged: it counts length to the power of vocab_size.",
)
def number_of_targets_a(vocab_size, length):
    return length**vocab_size


@wrong(
    "number_of_targets",
    "NumPy's int64 overflows: for long sequences (say 30000 to the 10th) the number wraps round.",
)
def number_of_targets_b(vocab_size, length):
    return int(np.prod(np.full(length, vocab_size, dtype=np.int64)))


@wrong(
    "number_of_targets",
    "Counts sequences in which no token comes twice; a token may be used again.",
)
def number_of_targets_c(vocab_size, length):
    n = 1
    for i in range(length):
        n = n * (vocab_size - i)
    return n


@wrong(
    "number_of_targets",
    "math.pow gives a float: for large numbers the last digits are wrong, even after int().",
)
def number_of_targets_d(vocab_size, length):
    return int(math.pow(vocab_size, length))


@wrong(
    "number_of_targets", "Adds up all shorter sequences too, not only those of exactly this length."
)
def number_of_targets_e(vocab_size, length):
    total = 0
    for l in range(1, length + 1):
        total += vocab_size**l
    return total


# ---------------------------------------------------------------- build_vocabulary
@wrong(
    "build_vocabulary",
    "Strictly more than min_frequency is asked for; 'at least' includes equality.",
)
def build_vocabulary_a(sentences, min_frequency):
    counts = Counter(w for s in sentences for w in s)
    vocab = {"<pad>": 0, "<sos>": 1, "<eos>": 2, "<unk>": 3}
    for w, c in counts.items():
        if c > min_frequency:
            vocab[w] = len(vocab)
    return vocab


@wrong(
    "build_vocabulary",
    "Each word counts once per sentence: a word that comes twice in one sentence is counted once.",
)
def build_vocabulary_b(sentences, min_frequency):
    counts = {}
    for s in sentences:
        for w in set(s):
            counts[w] = counts.get(w, 0) + 1
    vocab = {"<pad>": 0, "<sos>": 1, "<eos>": 2, "<unk>": 3}
    for w in counts:
        if counts[w] >= min_frequency:
            vocab[w] = len(vocab)
    return vocab


@wrong("build_vocabulary", "The rare words use up ids: the ids have gaps when a word is left out.")
def build_vocabulary_c(sentences, min_frequency):
    counts = Counter(w for s in sentences for w in s)
    vocab = {"<pad>": 0, "<sos>": 1, "<eos>": 2, "<unk>": 3}
    for i, (w, c) in enumerate(counts.items()):
        if c >= min_frequency:
            vocab[w] = i + 4
    return vocab


@wrong("build_vocabulary", "The words begin at id 3, so that the first one has the id of <unk>.")
def build_vocabulary_d(sentences, min_frequency):
    counts = Counter(w for s in sentences for w in s)
    vocab = {"<pad>": 0, "<sos>": 1, "<eos>": 2, "<unk>": 3}
    words = [w for w, c in counts.items() if c >= min_frequency]
    for i, w in enumerate(words, start=len(vocab) - 1):
        vocab[w] = i
    return vocab


@wrong(
    "build_vocabulary",
    "A word <unk> (or another special token) that stands in the text itself takes a new id, and the special one loses its own.",
)
def build_vocabulary_e(sentences, min_frequency):
    counts = Counter(w for s in sentences for w in s)
    vocab = {"<pad>": 0, "<sos>": 1, "<eos>": 2, "<unk>": 3}
    i = 4
    for w, c in counts.items():
        if c >= min_frequency:
            vocab[w] = i
            i += 1
    return vocab


@wrong("build_vocabulary", "Returns the dictionary the wrong way round, from id to token.")
def build_vocabulary_f(sentences, min_frequency):
    counts = Counter(w for s in sentences for w in s)
    words = ["<pad>", "<sos>", "<eos>", "<unk>"] + [w for w in counts if counts[w] >= min_frequency]
    return dict(enumerate(words))


# ---------------------------------------------------------------- encode
@wrong("encode", "<eos> is forgotten at the end.")
def encode_a(tokens, vocabulary):
    return [vocabulary.get(t, vocabulary["<unk>"]) for t in tokens]


@wrong("encode", "`or` takes id 0 for 'not found': the token <pad>, whose id is 0, becomes <unk>.")
def encode_b(tokens, vocabulary):
    return [vocabulary.get(t) or 3 for t in tokens] + [2]


@wrong("encode", "Unknown tokens are left out in place of becoming <unk>.")
def encode_c(tokens, vocabulary):
    ids = []
    for t in tokens:
        if t in vocabulary:
            ids.append(vocabulary[t])
    ids.append(vocabulary["<eos>"])
    return ids


@wrong(
    "encode", "<eos> is only added if the sentence is not empty; an empty sentence is [<eos>], too."
)
def encode_d(tokens, vocabulary):
    ids = []
    for t in tokens:
        ids.append(vocabulary.get(t, 3))
    if len(ids) > 0:
        ids.append(2)
    return ids


@wrong("encode", "An unknown token becomes <pad> (0), which is hidden everywhere later.")
def encode_e(tokens, vocabulary):
    return [vocabulary.get(t, 0) for t in tokens] + [vocabulary["<eos>"]]


@wrong("encode", "<sos> is put in front, too.")
def encode_f(tokens, vocabulary):
    return [1] + [vocabulary.get(t, 3) for t in tokens] + [2]


@wrong("encode", "<eos> stands behind every token: the append has slipped into the loop.")
def encode_g(tokens, vocabulary):
    ids = []
    for t in tokens:
        ids.append(vocabulary.get(t, vocabulary["<unk>"]))
        ids.append(vocabulary["<eos>"])
    return ids


# ---------------------------------------------------------------- text_to_ids
@wrong("text_to_ids", "Splits at blanks in place of the tokenizer that the model was trained with.")
def text_to_ids_a(text, tokenize, vocabulary):
    return [vocabulary.get(t, 3) for t in text.split()] + [2]


@wrong(
    "text_to_ids",
    "Makes a vocabulary of its own from the text, so that the ids mean something else than in training.",
)
def text_to_ids_b(text, tokenize, vocabulary):
    tokens = tokenize(text)
    own = {"<pad>": 0, "<sos>": 1, "<eos>": 2, "<unk>": 3}
    for t in tokens:
        if t not in own:
            own[t] = len(own)
    return [own[t] for t in tokens] + [2]


@wrong("text_to_ids", "Lower-cases first, though the tokenizer of the training may keep capitals.")
def text_to_ids_c(text, tokenize, vocabulary):
    return [vocabulary.get(t, 3) for t in tokenize(text.lower())] + [2]


@wrong(
    "text_to_ids",
    "An unknown token is cut off together with everything behind it (a break where a 3 should be).",
)
def text_to_ids_d(text, tokenize, vocabulary):
    ids = []
    for t in tokenize(text):
        if t not in vocabulary:
            break
        ids.append(vocabulary[t])
    ids.append(2)
    return ids


@wrong("text_to_ids", "Goes over set(tokens): order and repetitions are lost.")
def text_to_ids_e(text, tokenize, vocabulary):
    return sorted(vocabulary.get(t, 3) for t in set(tokenize(text))) + [2]


# ---------------------------------------------------------------- training_words
@wrong(
    "training_words",
    "Counts validation and test sentences, too: the vocabulary has seen the test set.",
)
def training_words_a(splits, min_frequency):
    counts = Counter(w for part in splits for s in splits[part] for w in s)
    return {w for w in counts if counts[w] >= min_frequency}


@wrong("training_words", "Counts the validation sentences along with the training sentences.")
def training_words_b(splits, min_frequency):
    counts = Counter()
    for s in list(splits["train"]) + list(splits["validation"]):
        counts.update(s)
    return [w for w, c in counts.items() if c >= min_frequency]


@wrong("training_words", "Strictly greater in place of at least.")
def training_words_c(splits, min_frequency):
    counts = Counter(w for s in splits["train"] for w in s)
    return {w for w, c in counts.items() if not c <= min_frequency}


@wrong(
    "training_words",
    "Words that also come in the test set are taken out; a word may well be in both.",
)
def training_words_d(splits, min_frequency):
    counts = Counter(w for s in splits["train"] for w in s)
    test = {w for s in splits["test"] for w in s}
    return {w for w, c in counts.items() if c >= min_frequency and w not in test}


@wrong("training_words", "Takes the min_frequency most frequent words: a rank, not a frequency.")
def training_words_e(splits, min_frequency):
    counts = Counter(w for s in splits["train"] for w in s)
    return [w for w, c in counts.most_common(min_frequency)]


# ---------------------------------------------------------------- collate
@wrong(
    "collate",
    "The width is that of the example (6), not of the longest row: shorter batches are padded too much, longer ones break.",
)
def collate_a(rows):
    out = torch.zeros(len(rows), 6, dtype=torch.long)
    for i, r in enumerate(rows):
        out[i, : len(r)] = torch.as_tensor(r)
    return out


@wrong("collate", "np.zeros makes floats; ids must be whole numbers.")
def collate_b(rows):
    n = max(len(r) for r in rows)
    out = np.zeros((len(rows), n))
    for i in range(len(rows)):
        for j in range(len(rows[i])):
            out[i, j] = int(rows[i][j])
    return torch.tensor(out)


@wrong("collate", "Pads in front in place of behind.")
def collate_c(rows):
    n = max(len(r) for r in rows)
    return torch.tensor([[0] * (n - len(r)) + [int(t) for t in r] for r in rows])


@wrong("collate", "One column too many: the widest row gets a padding, too.")
def collate_d(rows):
    n = max(len(r) for r in rows) + 1
    return torch.tensor([[int(t) for t in r] + [0] * (n - len(r)) for r in rows])


@wrong("collate", "Pads by repeating the last token; right only if all are of one length.")
def collate_e(rows):
    n = max(len(r) for r in rows)
    return torch.tensor([[int(t) for t in r] + [int(r[-1])] * (n - len(r)) for r in rows])


@wrong("collate", "Cuts all rows at the shortest (zip stops early).")
def collate_f(rows):
    cols = list(zip(*rows))
    return torch.tensor([[int(t) for t in c] for c in cols]).T


@wrong("collate", "The rows come back sorted by length; the partner sentences would no longer fit.")
def collate_g(rows):
    rows = sorted(rows, key=len, reverse=True)
    n = len(rows[0])
    out = torch.zeros(len(rows), n, dtype=torch.long)
    for i, r in enumerate(rows):
        out[i, : len(r)] = torch.as_tensor(r)
    return out


@wrong("collate", "zip_longest gives columns: the transpose is forgotten, the result is (S, B).")
def collate_h(rows):
    return torch.tensor([[int(t) for t in c] for c in itertools.zip_longest(*rows, fillvalue=0)])


# ---------------------------------------------------------------- shift
@wrong("shift", "The two results are exchanged.")
def shift_a(target):
    return target[:, 1:], target[:, :-1]


@wrong("shift", "Cuts sentences off instead of positions: the slice is on the batch axis.")
def shift_b(target):
    return target[:-1], target[1:]


@wrong("shift", "torch.roll keeps the length T, and <sos> comes round to the end.")
def shift_c(target):
    return target, torch.roll(target, -1, dims=1)


@wrong(
    "shift",
    "Drops <eos> from what the decoder reads wherever it stands; in padded rows the inputs then are changed.",
)
def shift_d(target):
    read = target[:, :-1].clone()
    read[read == 2] = 0
    return read, target[:, 1:]


@wrong("shift", "Reads and says the same: the second is not shifted.")
def shift_e(target):
    return target[:, :-1], target[:, :-1]


@wrong("shift", "The second result starts two further on: one token is lost at the front.")
def shift_f(target):
    return target[:, :-1], F.pad(target[:, 2:], (0, 1))


# ---------------------------------------------------------------- embedding
@wrong("embedding", "The factor root of D is forgotten.")
def embedding_a(tokens, weight):
    return weight[tokens]


@wrong("embedding", "D ** 1/2 is (D ** 1) / 2: right only for D = 4.")
def embedding_b(tokens, weight):
    D = weight.shape[1]
    return weight[tokens] * D**1 / 2


@wrong("embedding", "The root is that of V, the number of rows, not of D.")
def embedding_c(tokens, weight):
    return weight[tokens] * math.sqrt(weight.shape[0])


@wrong("embedding", "The root is rounded to a whole number: right only if D is a square.")
def embedding_d(tokens, weight):
    return weight[tokens] * int(math.sqrt(weight.shape[1]))


@wrong("embedding", "Divides by the root of D in place of multiplying.")
def embedding_e(tokens, weight):
    out = torch.stack([torch.stack([weight[t] for t in row]) for row in tokens])
    return out / np.sqrt(out.shape[-1])


@wrong("embedding", "The factor is that of the example's D = 64.")
def embedding_f(tokens, weight):
    return F.embedding(tokens, weight) * 8.0


@wrong("embedding", "Token 0 gets a vector of zeros; the sheet asks for its row like any other.")
def embedding_g(tokens, weight):
    out = weight[tokens] * weight.shape[1] ** 0.5
    return out * (tokens != 0)[..., None]


class MyEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(vocab_size, d_model))

    def forward(self, tokens):
        return self.weight[tokens] * math.sqrt(tokens.shape[1])


wrong("embedding", "The class takes the root of T, the number of tokens, not of D.")(MyEmbedding)


# ---------------------------------------------------------------- tied_logits
@wrong(
    "tied_logits",
    "Multiplies with `weight` without transposing: runs only if V = D, and then it is the wrong product.",
)
def tied_logits_a(x, weight):
    return x @ weight


@wrong("tied_logits", "Softmax is taken as well; logits are asked for.")
def tied_logits_b(x, weight):
    return torch.softmax(x @ weight.T, dim=-1)


@wrong("tied_logits", "Vectors are normalised: these are cosines, not dot products.")
def tied_logits_c(x, weight):
    return F.normalize(x, dim=-1) @ F.normalize(weight, dim=-1).T


@wrong("tied_logits", "Divides by the root of D, as attention does; here nothing is scaled.")
def tied_logits_d(x, weight):
    return x @ weight.T / math.sqrt(x.shape[-1])


@wrong(
    "tied_logits", "Only the first sentence is worked on and then repeated: right only for B = 1."
)
def tied_logits_e(x, weight):
    B, T, D = x.shape
    out = torch.zeros(B, T, weight.shape[0])
    for t in range(T):
        for v in range(weight.shape[0]):
            out[:, t, v] = (x[0, t] * weight[v]).sum()
    return out


# ---------------------------------------------------------------- sinusoids
@wrong("sinusoids", "Sines stand in the first half and cosines in the second, not in turn.")
def sinusoids_a(length, d_model):
    pos = torch.arange(length)[:, None]
    freq = 10000 ** (-torch.arange(0, d_model, 2) / d_model)
    return torch.cat([torch.sin(pos * freq), torch.cos(pos * freq)], dim=1)


@wrong(
    "sinusoids", "Every column has its own exponent j/D; a sine and its cosine should share one."
)
def sinusoids_b(length, d_model):
    out = np.zeros((length, d_model))
    for p in range(length):
        for j in range(d_model):
            angle = p / 10000 ** (j / d_model)
            out[p, j] = np.sin(angle) if j % 2 == 0 else np.cos(angle)
    return torch.tensor(out, dtype=torch.float32)


@wrong("sinusoids", "Positions count from 1, not from 0.")
def sinusoids_c(length, d_model):
    pos = torch.arange(1, length + 1).float()[:, None]
    freq = torch.exp(-math.log(10000.0) * torch.arange(0, d_model, 2) / d_model)
    out = torch.zeros(length, d_model)
    out[:, 0::2] = torch.sin(pos * freq)
    out[:, 1::2] = torch.cos(pos * freq)
    return out


@wrong(
    "sinusoids", "Exponent i/D in place of 2i/D: the wavelengths reach only to the root of 10000."
)
def sinusoids_d(length, d_model):
    out = torch.zeros(length, d_model)
    for p in range(length):
        for i in range(d_model // 2):
            out[p, 2 * i] = math.sin(p / 10000 ** (i / d_model))
            out[p, 2 * i + 1] = math.cos(p / 10000 ** (i / d_model))
    return out


@wrong("sinusoids", "Cosines in the even columns, sines in the odd ones.")
def sinusoids_e(length, d_model):
    pos = np.arange(length)[:, None]
    ang = pos / np.power(10000, np.arange(0, d_model, 2) / d_model)
    out = np.empty((length, d_model), dtype=np.float32)
    out[:, ::2], out[:, 1::2] = np.cos(ang), np.sin(ang)
    return torch.from_numpy(out)


@wrong("sinusoids", "The buffer has 100 rows: longer inputs get too few.")
def sinusoids_f(length, d_model):
    pos = torch.arange(100).float()[:, None]
    ang = pos / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    return torch.stack([ang.sin(), ang.cos()], dim=-1).flatten(1)[:length]


@wrong("sinusoids", "The exponent's denominator is D − 2: the last wavelength is 10000 itself.")
def sinusoids_g(length, d_model):
    pos = np.arange(length)[:, None]
    freq = np.power(10000.0, -np.linspace(0, 1, d_model // 2))
    out = np.zeros((length, d_model), dtype=np.float32)
    out[:, 0::2] = np.sin(pos * freq)
    out[:, 1::2] = np.cos(pos * freq)
    return torch.tensor(out)


# ---------------------------------------------------------------- add_positions
@wrong("add_positions", "Takes the row for the number of the sentence, not of the position.")
def add_positions_a(x, table):
    return x + table[: x.shape[0]][:, None, :]


@wrong("add_positions", "Starts at row 1 of the table; position 0 needs row 0.")
def add_positions_b(x, table):
    T = x.shape[1]
    rows = torch.arange(T) + 1
    rows = rows.clamp(max=table.shape[0] - 1)
    return x + table[rows]


@wrong(
    "add_positions", "Changes x itself (+= in place): whoever goes on using x has other numbers."
)
def add_positions_c(x, table):
    for t in range(x.shape[1]):
        x[:, t] += table[t]
    return x


@wrong(
    "add_positions",
    "Takes the last T rows: right only if the table is exactly as long as the input.",
)
def add_positions_d(x, table):
    return x + table[-x.shape[1] :]


@wrong("add_positions", "Adds only to the first sentence; right for B = 1.")
def add_positions_e(x, table):
    out = x.clone()
    for t in range(x.size(1)):
        out[0, t] = x[0, t] + table[t]
    return out


@wrong("add_positions", "The vectors are multiplied by the root of D once more.")
def add_positions_f(x, table):
    return x * math.sqrt(x.shape[-1]) + table[: x.shape[1]].unsqueeze(0)


# ---------------------------------------------------------------- softmax
@wrong(
    "softmax",
    "Large scores overflow: exp(1000) is inf, and inf / inf is nan. The maximum must be subtracted first.",
)
def softmax_a(scores):
    e = torch.exp(scores)
    return e / e.sum(dim=-1, keepdim=True)


@wrong("softmax", "Sums over the first axis.")
def softmax_b(scores):
    e = torch.exp(scores - scores.max())
    return e / e.sum(dim=0, keepdim=True)


@wrong(
    "softmax",
    "keepdim is forgotten: the sums are broadcast along the wrong axis; it runs only where it happens to fit (square).",
)
def softmax_c(scores):
    e = torch.exp(scores - scores.max(dim=-1, keepdim=True).values)
    return e / e.sum(dim=-1)


@wrong("softmax", "Divides by the sum of everything, not of each row: right only for a vector.")
def softmax_d(scores):
    e = torch.exp(scores - scores.max())
    return e / e.sum()


@wrong("softmax", "The maximum of all rows is subtracted: a row far below it underflows to 0 / 0.")
def softmax_e(scores):
    e = torch.exp(scores - scores.max())
    return e / e.sum(dim=-1, keepdim=True)


@wrong("softmax", "Axis 1 is hard-coded: right for matrices only, where axis 1 is the last.")
def softmax_f(scores):
    if scores.dim() == 1:
        scores = scores[None]
        e = torch.exp(scores - scores.max(1, keepdim=True)[0])
        return (e / e.sum(1, keepdim=True))[0]
    e = torch.exp(scores - scores.max(1, keepdim=True)[0])
    return e / e.sum(1, keepdim=True)


@wrong(
    "softmax",
    "An ε in the denominator plus no shift: the sums are not one, above all for very negative scores.",
)
def softmax_g(scores):
    e = torch.exp(scores.clamp(max=50))
    return e / (e.sum(-1, keepdim=True) + 1e-6)


@wrong(
    "softmax",
    "The absolute value is subtracted in place of the maximum: negative largest scores are pushed the wrong way and underflow.",
)
def softmax_h(scores):
    m = scores.abs().max(-1, keepdim=True)[0]
    e = torch.exp(scores - m)
    return e / e.sum(-1, keepdim=True)


@wrong("softmax", "Goes through NumPy: no gradient flows back.")
def softmax_i(scores):
    a = scores.detach().numpy()
    e = np.exp(a - a.max(axis=-1, keepdims=True))
    return torch.from_numpy(e / e.sum(axis=-1, keepdims=True))


# ---------------------------------------------------------------- scaled_dot_product_attention
@wrong("scaled_dot_product_attention", "The scores are not divided by the root of K.")
def sdpa_a(query, key, value, mask=None):
    s = query @ key.transpose(-2, -1)
    if mask is not None:
        s = s.masked_fill(~mask, float("-inf"))
    return torch.nan_to_num(torch.softmax(s, -1)) @ value


@wrong(
    "scaled_dot_product_attention",
    "Filling with −1e9 spreads a query that may attend to nothing evenly over everything; it should get zeros.",
)
def sdpa_b(query, key, value, mask=None):
    s = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    if mask is not None:
        s = s.masked_fill(mask == 0, -1e9)
    return torch.softmax(s, dim=-1) @ value


@wrong(
    "scaled_dot_product_attention", "The mask is the wrong way round: what may be seen is hidden."
)
def sdpa_c(query, key, value, mask=None):
    s = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    if mask is not None:
        s = s.masked_fill(mask, float("-inf"))
    return torch.nan_to_num(torch.softmax(s, dim=-1), nan=0.0) @ value


@wrong(
    "scaled_dot_product_attention",
    "Hidden scores are set to 0, not to −inf: e^0 = 1 still takes part.",
)
def sdpa_d(query, key, value, mask=None):
    s = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    if mask is not None:
        s = s * mask
    w = torch.softmax(s, dim=-1)
    if mask is not None:
        w = w * mask.any(-1, keepdim=True)
    return w @ value


@wrong(
    "scaled_dot_product_attention",
    "The weights are masked after the softmax and not normalised again: they sum to less than one.",
)
def sdpa_e(query, key, value, mask=None):
    w = torch.softmax(query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1]), dim=-1)
    if mask is not None:
        w = w * mask
    return w @ value


@wrong("scaled_dot_product_attention", "Softmax over the queries (axis −2), not over the keys.")
def sdpa_f(query, key, value, mask=None):
    s = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    if mask is not None:
        s = s.masked_fill(~mask, float("-inf"))
    return torch.nan_to_num(torch.softmax(s, dim=-2)) @ value


@wrong(
    "scaled_dot_product_attention",
    "The root is that of the value's width; right only where keys and values are equally wide.",
)
def sdpa_g(query, key, value, mask=None):
    s = torch.matmul(query, key.transpose(-1, -2)) / math.sqrt(value.shape[-1])
    if mask is not None:
        s = s.masked_fill(~mask, float("-inf"))
    return torch.nan_to_num(torch.softmax(s, -1)) @ value


@wrong("scaled_dot_product_attention", "Divides by K, not by its root.")
def sdpa_h(query, key, value, mask=None):
    s = query @ key.transpose(-2, -1) / key.shape[-1]
    if mask is not None:
        s = s.masked_fill(~mask, float("-inf"))
    return torch.nan_to_num(torch.softmax(s, -1)) @ value


@wrong(
    "scaled_dot_product_attention",
    "A query that may attend to nothing gives nan: softmax over −inf only.",
)
def sdpa_i(query, key, value, mask=None):
    s = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    if mask is not None:
        s = s.masked_fill(~mask, -np.inf)
    return torch.softmax(s, dim=-1) @ value


@wrong(
    "scaled_dot_product_attention",
    "−20 is not low enough: with large scores, hidden keys shine through.",
)
def sdpa_j(query, key, value, mask=None):
    s = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    if mask is None:
        return torch.softmax(s, dim=-1) @ value
    s = torch.where(mask, s, torch.tensor(-20.0))
    return (torch.softmax(s, dim=-1) * mask.any(-1, keepdim=True)) @ value


@wrong(
    "scaled_dot_product_attention",
    "Zeros only if the whole mask is empty; one query alone without a key still gives nan.",
)
def sdpa_k(query, key, value, mask=None):
    s = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    if mask is not None:
        if not mask.any():
            return torch.zeros(*s.shape[:-1], value.shape[-1])
        s = s.masked_fill(~mask, float("-inf"))
    return torch.softmax(s, dim=-1) @ value


@wrong("scaled_dot_product_attention", "Returns the weights as well; only the output is asked for.")
def sdpa_l(query, key, value, mask=None):
    s = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    if mask is not None:
        s = s.masked_fill(~mask, float("-inf"))
    w = torch.nan_to_num(torch.softmax(s, -1))
    return w @ value, w


@wrong(
    "scaled_dot_product_attention",
    "The empty rows are looked for along the query axis: keys that nobody may see, not queries that see nothing, get the treatment (right only for a symmetric mask).",
)
def sdpa_m(query, key, value, mask=None):
    s = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    if mask is not None:
        s = s.masked_fill(~mask, -1e9)
    w = torch.softmax(s, dim=-1)
    if mask is not None:
        w = w * mask.any(-2, keepdim=True)
    return w @ value


@wrong(
    "scaled_dot_product_attention", "The mask is added as 0 and 1 to the scores; it hides nothing."
)
def sdpa_n(query, key, value, mask=None):
    s = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    if mask is not None:
        s = s + mask.float()
    w = torch.softmax(s, dim=-1)
    if mask is not None:
        w = w.masked_fill(~mask.any(-1, keepdim=True), 0)
    return w @ value


# ---------------------------------------------------------------- padding_mask
@wrong("padding_mask", "The wrong way round: True stands at the padding.")
def padding_mask_a(tokens):
    return (tokens == 0)[:, None, None, :]


@wrong("padding_mask", "The two axes of length one are forgotten: (B, S).")
def padding_mask_b(tokens):
    return tokens != 0


@wrong("padding_mask", "The axis of the tokens is where the queries belong: (B, 1, S, 1).")
def padding_mask_c(tokens):
    return (tokens != 0)[:, None, :, None]


@wrong("padding_mask", "All special tokens are hidden, <eos> and <unk> too, not only padding.")
def padding_mask_d(tokens):
    return (tokens > 3).unsqueeze(1).unsqueeze(1)


@wrong(
    "padding_mask",
    "Takes the first sentence's last token for the padding; wrong when that sentence is not padded.",
)
def padding_mask_e(tokens):
    pad = tokens[0, -1]
    return (tokens != pad)[:, None, None]


@wrong("padding_mask", "Zeros and ones as floats, not a boolean mask.")
def padding_mask_f(tokens):
    return (tokens != 0).float()[:, None, None, :]


@wrong(
    "padding_mask", "<eos> is taken for the padding's start: sentences are hidden from <eos> on."
)
def padding_mask_g(tokens):
    B, S = tokens.shape
    m = torch.ones(B, 1, 1, S, dtype=torch.bool)
    for b in range(B):
        for s in range(S):
            if tokens[b, s] == 2:
                m[b, 0, 0, s:] = False
                break
            if tokens[b, s] == 0:
                m[b, 0, 0, s] = False
    return m


@wrong("padding_mask", "The batch axis is 1: the mask of the first sentence is used for all.")
def padding_mask_h(tokens):
    return (tokens[0] != 0)[None, None, None, :].expand(tokens.shape[0], 1, 1, -1)


@wrong(
    "padding_mask",
    "squeeze() drops an axis of length one: for one sentence or one token the shape is wrong.",
)
def padding_mask_i(tokens):
    m = tokens.squeeze() != 0
    return m[..., None, None, :] if m.dim() else m[None]


# ---------------------------------------------------------------- causal_mask
@wrong("causal_mask", "The diagonal is hidden, too: a token cannot see itself.")
def causal_mask_a(length):
    return torch.tril(torch.ones(length, length), diagonal=-1).bool()


@wrong("causal_mask", "The upper triangle: each token sees what comes after it.")
def causal_mask_b(length):
    return torch.triu(torch.ones(length, length, dtype=torch.bool))


@wrong("causal_mask", "The convention of PyTorch's own layers: True = hidden.")
def causal_mask_c(length):
    return torch.triu(torch.ones(length, length, dtype=torch.bool), diagonal=1)


@wrong("causal_mask", "Returns a NumPy array, not a tensor.")
def causal_mask_e(length):
    return np.tril(np.ones((length, length), dtype=bool))


@wrong("causal_mask", "The additive mask of −inf and 0, not booleans.")
def causal_mask_f(length):
    return torch.triu(torch.full((length, length), float("-inf")), diagonal=1)


@wrong(
    "causal_mask",
    "Rows that begin with a fixed buffer of 16: longer inputs get a mask that is too small.",
)
def causal_mask_g(length):
    big = torch.tril(torch.ones(16, 16)).bool()
    return big[:length, :length]


@wrong("causal_mask", "squeeze() takes both axes away when the length is one.")
def causal_mask_h(length):
    i = torch.arange(length)
    return (i.view(1, length, 1) >= i.view(1, 1, length)).squeeze()


@wrong(
    "causal_mask",
    "The loop begins at 1: the first row stays empty, and the first token sees nothing.",
)
def causal_mask_i(length):
    m = torch.zeros(length, length).bool()
    for i in range(1, length):
        m[i, : i + 1] = True
    return m


# ---------------------------------------------------------------- target_mask
@wrong("target_mask", "Only causal; the padding is not hidden.")
def target_mask_a(tokens):
    B, T = tokens.shape
    return torch.tril(torch.ones(T, T)).bool().expand(B, 1, T, T)


@wrong(
    "target_mask",
    "'Or' in place of 'and': a key is visible if it is either no padding or not in the future.",
)
def target_mask_b(tokens):
    B, T = tokens.shape
    return (tokens != 0)[:, None, None, :] | torch.tril(torch.ones(T, T)).bool()


@wrong("target_mask", "The padding is hidden as a query (rows), not as a key (columns).")
def target_mask_c(tokens):
    T = tokens.shape[1]
    return (tokens != 0)[:, None, :, None] & torch.tril(torch.ones(T, T)).bool()


@wrong("target_mask", "The head axis is missing: (B, T, T).")
def target_mask_d(tokens):
    T = tokens.shape[1]
    return (tokens != 0)[:, None, :] & torch.tril(torch.ones(T, T)).bool()


@wrong("target_mask", "The triangle is built with B rows: it fits only when B = T.")
def target_mask_e(tokens):
    B, T = tokens.shape
    tri = torch.zeros(T, T).bool()
    tri[:B, :B] = torch.tril(torch.ones(B, B)).bool()[:T, :T]
    return (tokens != 0)[:, None, None, :] & tri


@wrong("target_mask", "Padding rows are emptied as well: both as query and as key.")
def target_mask_f(tokens):
    real = tokens != 0
    T = tokens.shape[1]
    both = real[:, :, None] & real[:, None, :]
    return (both & torch.tril(torch.ones(T, T)).bool()).unsqueeze(1)


@wrong("target_mask", "The diagonal is always open, also where the token is padding.")
def target_mask_h(tokens):
    B, T = tokens.shape
    m = (tokens != 0)[:, None, None, :] & torch.ones(T, T).tril().bool()
    return m | torch.eye(T).bool()


@wrong("target_mask", "<eos> is hidden along with the padding.")
def target_mask_i(tokens):
    T = tokens.shape[1]
    ok = (tokens != 0) & (tokens != 2)
    return ok[:, None, None, :] & torch.ones(T, T).tril().bool()


@wrong("target_mask", "The triangle is strict, so that <sos> sees nothing at all.")
def target_mask_j(tokens):
    T = tokens.shape[1]
    i = np.arange(T)
    tri = torch.from_numpy(i[:, None] > i[None, :])
    return (tokens != 0)[:, None, None, :] & tri


# ---------------------------------------------------------------- split_heads
@wrong(
    "split_heads",
    "Reshapes straight to (B, H, T, K): features of different positions end up in one head.",
)
def split_heads_a(x, n_heads):
    B, T, D = x.shape
    return x.reshape(B, n_heads, T, D // n_heads)


@wrong("split_heads", "The transpose is forgotten: (B, T, H, K).")
def split_heads_b(x, n_heads):
    B, T, D = x.shape
    return x.view(B, T, n_heads, D // n_heads)


@wrong("split_heads", "Head h takes every H-th feature (h, h + H, …), not a block of neighbours.")
def split_heads_c(x, n_heads):
    B, T, D = x.shape
    return x.reshape(B, T, D // n_heads, n_heads).permute(0, 3, 1, 2)


@wrong("split_heads", "The head size of the example, 4, is hard-coded.")
def split_heads_d(x, n_heads):
    B, T, D = x.shape
    return x.reshape(B, T, -1, 4).transpose(1, 2)


@wrong("split_heads", "The last two axes are exchanged, too: (B, H, K, T).")
def split_heads_e(x, n_heads):
    B, T, D = x.shape
    return x.view(B, T, n_heads, D // n_heads).permute(0, 2, 3, 1)


@wrong("split_heads", "n_heads is taken for the head size.")
def split_heads_f(x, n_heads):
    B, T, D = x.shape
    return torch.stack(x.split(n_heads, dim=-1), dim=1)


@wrong(
    "split_heads",
    "The batch axis and the head axis are exchanged: (H, B, T, K); not noticed if B = H = 1.",
)
def split_heads_g(x, n_heads):
    return torch.stack(x.chunk(n_heads, dim=-1))


# ---------------------------------------------------------------- merge_heads
@wrong("merge_heads", "The heads are not brought next to the features before reshaping.")
def merge_heads_a(heads):
    B, H, T, K = heads.shape
    return heads.reshape(B, T, H * K)


@wrong("merge_heads", "Averages over the heads in place of laying them side by side.")
def merge_heads_b(heads):
    return heads.mean(dim=1).repeat(1, 1, heads.shape[1])


@wrong("merge_heads", "The features of the heads are interleaved (K before H).")
def merge_heads_c(heads):
    B, H, T, K = heads.shape
    return heads.permute(0, 2, 3, 1).reshape(B, T, H * K)


@wrong("merge_heads", "The heads come in reverse order.")
def merge_heads_d(heads):
    out = heads[:, 0]
    for h in range(1, heads.shape[1]):
        out = torch.cat([heads[:, h], out], dim=-1)
    return out


@wrong(
    "merge_heads", "Joined along the positions, then cut to shape: (B, H·T, K) seen as (B, T, D)."
)
def merge_heads_e(heads):
    B, H, T, K = heads.shape
    return torch.cat([heads[:, h] for h in range(H)], dim=1).reshape(B, T, H * K)


@wrong("merge_heads", "Only the first two heads are joined, as in the example with H = 2.")
def merge_heads_f(heads):
    return torch.cat([heads[:, 0], heads[:, -1]], dim=-1)


# ---------------------------------------------------------------- multi_head_attention
def _heads(x, H):
    B, T, D = x.shape
    return x.view(B, T, H, D // H).transpose(1, 2)


def _attend(q, k, v, mask, scale):
    s = q @ k.transpose(-2, -1) / scale
    if mask is not None:
        s = s.masked_fill(~mask, float("-inf"))
    return torch.nan_to_num(torch.softmax(s, dim=-1)) @ v


def _join(o):
    B, H, T, K = o.shape
    return o.transpose(1, 2).reshape(B, T, H * K)


@wrong(
    "multi_head_attention", "Scales with the root of D; within a head it is the root of K = D / H."
)
def mha_a(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    q, k, v = (
        _heads(query @ w_query.T, n_heads),
        _heads(key @ w_key.T, n_heads),
        _heads(value @ w_value.T, n_heads),
    )
    return _join(_attend(q, k, v, mask, math.sqrt(query.shape[-1]))) @ w_output.T


@wrong("multi_head_attention", "The output weight is forgotten.")
def mha_b(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    q, k, v = (
        _heads(query @ w_query.T, n_heads),
        _heads(key @ w_key.T, n_heads),
        _heads(value @ w_value.T, n_heads),
    )
    return _join(_attend(q, k, v, mask, math.sqrt(q.shape[-1])))


@wrong(
    "multi_head_attention",
    "The weights are used without .T; with square weights nothing complains.",
)
def mha_c(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    q, k, v = (
        _heads(query @ w_query, n_heads),
        _heads(key @ w_key, n_heads),
        _heads(value @ w_value, n_heads),
    )
    return _join(_attend(q, k, v, mask, math.sqrt(q.shape[-1]))) @ w_output


@wrong("multi_head_attention", "Only the output weight lacks its .T.")
def mha_d(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    q, k, v = (
        _heads(query @ w_query.T, n_heads),
        _heads(key @ w_key.T, n_heads),
        _heads(value @ w_value.T, n_heads),
    )
    return _join(_attend(q, k, v, mask, math.sqrt(q.shape[-1]))) @ w_output


@wrong("multi_head_attention", "The heads are never split: it is one large head.")
def mha_e(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    q, k, v = (_heads(a @ w.T, 1) for a, w in ((query, w_query), (key, w_key), (value, w_value)))
    return _join(_attend(q, k, v, mask, math.sqrt(q.shape[-1] / n_heads))) @ w_output.T


@wrong(
    "multi_head_attention",
    "Values are made from `key`: right for self-attention, wrong if key and value differ.",
)
def mha_f(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    q, k, v = (
        _heads(query @ w_query.T, n_heads),
        _heads(key @ w_key.T, n_heads),
        _heads(key @ w_value.T, n_heads),
    )
    return _join(_attend(q, k, v, mask, math.sqrt(q.shape[-1]))) @ w_output.T


@wrong(
    "multi_head_attention",
    "The heads are reshaped without the transpose (features and positions get mixed up).",
)
def mha_h(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    B, T, D = query.shape
    S = key.shape[1]
    K = D // n_heads
    q = (query @ w_query.T).reshape(B, n_heads, T, K)
    k = (key @ w_key.T).reshape(B, n_heads, S, K)
    v = (value @ w_value.T).reshape(B, n_heads, S, K)
    return _attend(q, k, v, mask, math.sqrt(K)).reshape(B, T, D) @ w_output.T


@wrong("multi_head_attention", "After attending, the heads are merged without the transpose.")
def mha_i(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    q, k, v = (
        _heads(query @ w_query.T, n_heads),
        _heads(key @ w_key.T, n_heads),
        _heads(value @ w_value.T, n_heads),
    )
    o = _attend(q, k, v, mask, math.sqrt(q.shape[-1]))
    return o.reshape(query.shape) @ w_output.T


@wrong("multi_head_attention", "The mask is not handed on to the heads.")
def mha_j(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    q, k, v = (
        _heads(query @ w_query.T, n_heads),
        _heads(key @ w_key.T, n_heads),
        _heads(value @ w_value.T, n_heads),
    )
    return _join(_attend(q, k, v, None, math.sqrt(q.shape[-1]))) @ w_output.T


@wrong("multi_head_attention", "Only the first sentence's mask is used, for all sentences.")
def mha_k(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    q, k, v = (
        _heads(query @ w_query.T, n_heads),
        _heads(key @ w_key.T, n_heads),
        _heads(value @ w_value.T, n_heads),
    )
    if mask is not None and mask.dim() == 4:
        mask = mask[:1]
    return _join(_attend(q, k, v, mask, math.sqrt(q.shape[-1]))) @ w_output.T


@wrong(
    "multi_head_attention",
    "A query that may attend to nothing gets the mean of all values (filled with −1e9), not zeros.",
)
def mha_l(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    q, k, v = (
        _heads(query @ w_query.T, n_heads),
        _heads(key @ w_key.T, n_heads),
        _heads(value @ w_value.T, n_heads),
    )
    s = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is not None:
        s = s.masked_fill(~mask, -1e9)
    return _join(torch.softmax(s, -1) @ v) @ w_output.T


@wrong(
    "multi_head_attention",
    "The head size is rounded from the example with two heads: H is ignored.",
)
def mha_m(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    q, k, v = _heads(query @ w_query.T, 2), _heads(key @ w_key.T, 2), _heads(value @ w_value.T, 2)
    return _join(_attend(q, k, v, mask, math.sqrt(q.shape[-1]))) @ w_output.T


class MyMultiHead(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.h, self.k = n_heads, d_model // n_heads
        self.query = nn.Linear(d_model, d_model)
        self.key = nn.Linear(d_model, d_model)
        self.value = nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, d_model)

    def forward(self, query, key, value, mask=None):
        outs = []
        for h in range(self.h):
            part = slice(h * self.k, (h + 1) * self.k)
            q, k, v = (
                self.query(query)[..., part],
                self.key(key)[..., part],
                self.value(value)[..., part],
            )
            s = q @ k.transpose(-2, -1) / self.k**0.5
            if mask is not None:
                m = mask.reshape(-1, *mask.shape[-2:])
                s = s.masked_fill(m, float("-inf"))
            outs.append(torch.nan_to_num(torch.softmax(s, -1)) @ v)
        return self.output(torch.cat(outs, dim=-1))


wrong("multi_head_attention", "The class has the mask the wrong way round: True is hidden.")(
    MyMultiHead
)


# ---------------------------------------------------------------- layer_norm
@wrong("layer_norm", "The variance is divided by D − 1 (PyTorch's default), not by D.")
def layer_norm_a(x, weight, bias, eps=1e-5):
    m = x.mean(-1, keepdim=True)
    v = x.var(-1, keepdim=True)
    return (x - m) / torch.sqrt(v + eps) * weight + bias


@wrong(
    "layer_norm",
    "ε is added to the standard deviation, outside the root: seen only where the features hardly differ.",
)
def layer_norm_b(x, weight, bias, eps=1e-5):
    m = x.mean(-1, keepdim=True)
    s = x.std(-1, keepdim=True, unbiased=False)
    return weight * (x - m) / (s + eps) + bias


@wrong("layer_norm", "Mean and variance over the positions (axis 1), not the features.")
def layer_norm_c(x, weight, bias, eps=1e-5):
    m = x.mean(1, keepdim=True)
    v = ((x - m) ** 2).mean(1, keepdim=True)
    return (x - m) / torch.sqrt(v + eps) * weight + bias


@wrong("layer_norm", "Mean and variance over the whole sentence (positions and features together).")
def layer_norm_d(x, weight, bias, eps=1e-5):
    m = x.mean((1, 2), keepdim=True)
    v = x.var((1, 2), keepdim=True, unbiased=False)
    return (x - m) / torch.sqrt(v + eps) * weight + bias


@wrong("layer_norm", "eps as it was passed is ignored; 1e-5 is always used.")
def layer_norm_e(x, weight, bias, eps=1e-5):
    m = x.mean(-1, keepdim=True)
    v = x.var(-1, keepdim=True, unbiased=False)
    return (x - m) / torch.sqrt(v + 1e-5) * weight + bias


@wrong("layer_norm", "No ε at all: equal features give 0 / 0 = nan.")
def layer_norm_f(x, weight, bias, eps=1e-5):
    m = x.mean(-1, keepdim=True)
    s = ((x - m) ** 2).mean(-1, keepdim=True).sqrt()
    return (x - m) / s * weight + bias


@wrong("layer_norm", "The mean is not subtracted in the numerator.")
def layer_norm_g(x, weight, bias, eps=1e-5):
    m = x.mean(-1, keepdim=True)
    v = ((x - m) ** 2).mean(-1, keepdim=True)
    return x / torch.sqrt(v + eps) * weight + bias


@wrong("layer_norm", "Divides by the variance; the root is forgotten.")
def layer_norm_h(x, weight, bias, eps=1e-5):
    m = x.mean(-1, keepdim=True)
    v = ((x - m) ** 2).mean(-1, keepdim=True)
    return (x - m) / (v + eps) * weight + bias


@wrong(
    "layer_norm",
    "The bias is scaled, too: weight · (x̂ + bias); right only where bias is 0 or weight 1.",
)
def layer_norm_i(x, weight, bias, eps=1e-5):
    m = x.mean(-1, keepdim=True)
    v = x.var(-1, keepdim=True, unbiased=False)
    return weight * ((x - m) / torch.sqrt(v + eps) + bias)


@wrong(
    "layer_norm",
    "Variance as mean of squares minus square of the mean in float32: with a large mean the digits cancel, and the result is wrong or nan.",
)
def layer_norm_j(x, weight, bias, eps=1e-5):
    m = x.mean(-1, keepdim=True)
    v = (x**2).mean(-1, keepdim=True) - m**2
    return (x - m) / torch.sqrt(v + eps) * weight + bias


@wrong(
    "layer_norm",
    "The statistics are cut off from the gradient (no_grad): the forward numbers are right, the gradient is not.",
)
def layer_norm_k(x, weight, bias, eps=1e-5):
    with torch.no_grad():
        m = x.mean(-1, keepdim=True)
        v = x.var(-1, keepdim=True, unbiased=False)
    return (x - m) / torch.sqrt(v + eps) * weight + bias


class MyLayerNorm(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        m = x.mean(-1, keepdim=True)
        v = x.var(-1, keepdim=True, unbiased=False)
        return (x - m) / torch.sqrt(v + 1e-5) + self.bias


wrong("layer_norm", "The class has a weight but never uses it.")(MyLayerNorm)


class MyLayerNorm2(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        m = x.mean(-1, keepdim=True)
        v = x.var(-1, keepdim=True, unbiased=False)
        return (x - m) / torch.sqrt(v + 1e-2) * self.weight + self.bias


wrong("layer_norm", "The class uses ε = 1e-2 in place of 1e-5.")(MyLayerNorm2)


# ---------------------------------------------------------------- layer_norm_parameters
@wrong("layer_norm_parameters", "Both are zeros: the layer gives zero everywhere at the start.")
def layer_norm_parameters_a(d_model):
    return torch.zeros(d_model), torch.zeros(d_model)


@wrong("layer_norm_parameters", "Drawn at random, as for a linear layer.")
def layer_norm_parameters_b(d_model):
    return torch.randn(d_model), torch.randn(d_model)


@wrong("layer_norm_parameters", "Exchanged: β comes first.")
def layer_norm_parameters_c(d_model):
    return torch.zeros(d_model), torch.ones(d_model)


@wrong("layer_norm_parameters", "Single numbers in place of one per feature.")
def layer_norm_parameters_d(d_model):
    return torch.ones(1), torch.zeros(1)


@wrong("layer_norm_parameters", "The weight is the one hot of the axis: torch.eye, (D, D).")
def layer_norm_parameters_e(d_model):
    return torch.eye(d_model), torch.zeros(d_model)


# ---------------------------------------------------------------- pre_norm / post_norm
@wrong("pre_norm", "The residual is the normalised x, not x.")
def pre_norm_a(x, sublayer, norm):
    x = norm(x)
    return x + sublayer(x)


@wrong("pre_norm", "This is post-norm.")
def pre_norm_b(x, sublayer, norm):
    return norm(x + sublayer(x))


@wrong("pre_norm", "The norm stands behind the sublayer.")
def pre_norm_c(x, sublayer, norm):
    return x + norm(sublayer(x))


@wrong("pre_norm", "The residual connection is missing.")
def pre_norm_d(x, sublayer, norm):
    return sublayer(norm(x))


@wrong("pre_norm", "x is changed in place with +=.")
def pre_norm_e(x, sublayer, norm):
    out = sublayer(norm(x))
    with torch.no_grad():
        x += out
    return x


@wrong("post_norm", "This is pre-norm.")
def post_norm_a(x, sublayer, norm):
    return x + sublayer(norm(x))


@wrong("post_norm", "Only the sublayer's output is normalised, not the sum.")
def post_norm_b(x, sublayer, norm):
    return x + norm(sublayer(x))


@wrong("post_norm", "Normalised twice: in front and behind.")
def post_norm_c(x, sublayer, norm):
    return norm(x + sublayer(norm(x)))


@wrong("post_norm", "x is left out of the sum.")
def post_norm_d(x, sublayer, norm):
    y = sublayer(x)
    return norm(y)


# ---------------------------------------------------------------- dropout
@wrong("dropout", "The kept entries are not enlarged.")
def dropout_a(x, p, keep, training):
    if not training:
        return x
    return x * keep


@wrong("dropout", "Divides by p in place of 1 − p; right only for p = 0.5.")
def dropout_b(x, p, keep, training):
    if training and p > 0:
        return torch.where(keep, x / p, 0.0)
    return x


@wrong("dropout", "In evaluation, x is multiplied by 1 − p though training has enlarged already.")
def dropout_c(x, p, keep, training):
    if training:
        return x * keep / (1 - p)
    return x * (1 - p)


@wrong("dropout", "keep the wrong way round: what should stay is set to zero.")
def dropout_d(x, p, keep, training):
    if training:
        return x * (~keep) / (1 - p)
    return x


@wrong("dropout", "`training` is not asked: entries are dropped in evaluation, too.")
def dropout_e(x, p, keep, training):
    return x.masked_fill(~keep, 0) / (1 - p)


@wrong(
    "dropout",
    "Enlarged by the share really kept, not by 1 − p: the factor differs from draw to draw.",
)
def dropout_f(x, p, keep, training):
    if not training:
        return x
    return x * keep / keep.float().mean()


@wrong("dropout", "x itself is changed: x[~keep] = 0 works in place.")
def dropout_g(x, p, keep, training):
    if training:
        x[~keep] = 0.0
        return x / (1 - p)
    return x


@wrong("dropout", "Multiplied by 1 + p in place of divided by 1 − p: nearly the same for small p.")
def dropout_h(x, p, keep, training):
    if training:
        return torch.where(keep, x * (1 + p), torch.zeros_like(x))
    return x


# ---------------------------------------------------------------- sublayer_with_dropout
@wrong("sublayer_with_dropout", "Dropout on the sum: x is dropped, too.")
def sublayer_with_dropout_a(x, sublayer, norm, dropout):
    return dropout(x + sublayer(norm(x)))


@wrong("sublayer_with_dropout", "Dropout on the sublayer's input.")
def sublayer_with_dropout_b(x, sublayer, norm, dropout):
    return x + sublayer(dropout(norm(x)))


@wrong("sublayer_with_dropout", "Dropout twice: on the output and on the sum.")
def sublayer_with_dropout_c(x, sublayer, norm, dropout):
    y = dropout(sublayer(norm(x)))
    return dropout(x + y)


@wrong("sublayer_with_dropout", "The norm is forgotten.")
def sublayer_with_dropout_d(x, sublayer, norm, dropout):
    return x + dropout(sublayer(x))


@wrong("sublayer_with_dropout", "The residual is the normalised x.")
def sublayer_with_dropout_e(x, sublayer, norm, dropout):
    n = norm(x)
    return n + dropout(sublayer(n))


# ---------------------------------------------------------------- feed_forward
@wrong("feed_forward", "ReLU is forgotten.")
def feed_forward_a(x, w1, b1, w2, b2):
    return (x @ w1.T + b1) @ w2.T + b2


@wrong("feed_forward", "b1 is added after the ReLU.")
def feed_forward_b(x, w1, b1, w2, b2):
    return (torch.relu(x @ w1.T) + b1) @ w2.T + b2


@wrong("feed_forward", "GELU in place of ReLU.")
def feed_forward_c(x, w1, b1, w2, b2):
    return F.gelu(x @ w1.T + b1) @ w2.T + b2


@wrong("feed_forward", "ReLU on the output, too: nothing negative can come out.")
def feed_forward_d(x, w1, b1, w2, b2):
    h = torch.clamp(x @ w1.T + b1, min=0)
    return torch.clamp(h @ w2.T + b2, min=0)


@wrong("feed_forward", "The second bias is missing; right only where b2 is zero.")
def feed_forward_e(x, w1, b1, w2, b2):
    h = torch.maximum(x @ w1.T + b1, torch.tensor(0.0))
    return h @ w2.T


@wrong("feed_forward", "The residual is added here, though the layer around it does that.")
def feed_forward_f(x, w1, b1, w2, b2):
    return x + torch.relu(x @ w1.T + b1) @ w2.T + b2


class MyFeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.linear2(F.leaky_relu(self.linear1(x)))


wrong("feed_forward", "The class uses a leaky ReLU.")(MyFeedForward)


# ---------------------------------------------------------------- group_sort
@wrong("group_sort", "The larger comes first.")
def group_sort_a(x):
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([torch.maximum(a, b), torch.minimum(a, b)], -1).flatten(-2)


@wrong("group_sort", "All features are sorted, not each pair.")
def group_sort_b(x):
    return torch.sort(x, dim=-1).values


@wrong(
    "group_sort",
    "The minima stand in the first half and the maxima in the second, not next to each other.",
)
def group_sort_c(x):
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.cat([torch.minimum(a, b), torch.maximum(a, b)], dim=-1)


@wrong("group_sort", "Pairs feature i with i + D/2, not with its neighbour.")
def group_sort_d(x):
    a, b = x.chunk(2, dim=-1)
    return torch.cat([torch.minimum(a, b), torch.maximum(a, b)], dim=-1)


@wrong("group_sort", "The pairs are taken along the positions: sort(dim=1).")
def group_sort_e(x):
    T = x.shape[-2]
    out = x.clone()
    for t in range(0, T - 1, 2):
        out[..., t, :] = torch.minimum(x[..., t, :], x[..., t + 1, :])
        out[..., t + 1, :] = torch.maximum(x[..., t, :], x[..., t + 1, :])
    return out


@wrong("group_sort", "One pass of bubble sort: the pairs overlap, (0, 1), (1, 2), …")
def group_sort_f(x):
    cols = list(x.unbind(-1))
    for i in range(len(cols) - 1):
        cols[i], cols[i + 1] = (
            torch.minimum(cols[i], cols[i + 1]),
            torch.maximum(cols[i], cols[i + 1]),
        )
    return torch.stack(cols, -1)


@wrong(
    "group_sort",
    "The minimum is written over x before the maximum is taken: both become the minimum.",
)
def group_sort_g(x):
    x = x.clone()
    x[..., 0::2] = torch.minimum(x[..., 0::2], x[..., 1::2])
    x[..., 1::2] = torch.minimum(x[..., 0::2], x[..., 1::2])
    return x


# ---------------------------------------------------------------- encoder_layer
@wrong("encoder_layer", "The residual begins at the normalised x.")
def encoder_layer_a(x, mask, attention, feed_forward, norm1, norm2):
    n = norm1(x)
    x = n + attention(n, n, n, mask)
    n = norm2(x)
    return n + feed_forward(n)


@wrong("encoder_layer", "Only the queries are normalised; keys and values are the raw x.")
def encoder_layer_b(x, mask, attention, feed_forward, norm1, norm2):
    x = x + attention(norm1(x), x, x, mask)
    return x + feed_forward(norm2(x))


@wrong("encoder_layer", "Post-norm.")
def encoder_layer_c(x, mask, attention, feed_forward, norm1, norm2):
    x = norm1(x + attention(x, x, x, mask))
    return norm2(x + feed_forward(x))


@wrong("encoder_layer", "The mask is not handed on.")
def encoder_layer_d(x, mask, attention, feed_forward, norm1, norm2):
    n = norm1(x)
    x = x + attention(n, n, n, None)
    return x + feed_forward(norm2(x))


@wrong("encoder_layer", "The first norm is used twice; the second never.")
def encoder_layer_e(x, mask, attention, feed_forward, norm1, norm2):
    n = norm1(x)
    x = x + attention(n, n, n, mask)
    return x + feed_forward(norm1(x))


@wrong(
    "encoder_layer",
    "Both sublayers read the same x: the feed-forward does not see what attention has said.",
)
def encoder_layer_f(x, mask, attention, feed_forward, norm1, norm2):
    n = norm1(x)
    return x + attention(n, n, n, mask) + feed_forward(norm2(x))


@wrong("encoder_layer", "The residual of the feed-forward network is missing.")
def encoder_layer_g(x, mask, attention, feed_forward, norm1, norm2):
    n = norm1(x)
    x = x + attention(n, n, n, mask)
    return feed_forward(norm2(x))


@wrong("encoder_layer", "Feed-forward first, attention second.")
def encoder_layer_h(x, mask, attention, feed_forward, norm1, norm2):
    x = x + feed_forward(norm1(x))
    n = norm2(x)
    return x + attention(n, n, n, mask)


@wrong(
    "encoder_layer",
    "The second residual goes back to the layer's input: what attention has added is lost.",
)
def encoder_layer_i(x, mask, attention, feed_forward, norm1, norm2):
    n = norm1(x)
    y = x + attention(n, n, n, mask)
    return x + feed_forward(norm2(y))


class _MHA(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.query = nn.Linear(d_model, d_model, bias=False)
        self.key = nn.Linear(d_model, d_model, bias=False)
        self.value = nn.Linear(d_model, d_model, bias=False)
        self.output = nn.Linear(d_model, d_model, bias=False)

    def forward(self, q, k, v, mask=None):
        q, k, v = (
            _heads(self.query(q), self.n_heads),
            _heads(self.key(k), self.n_heads),
            _heads(self.value(v), self.n_heads),
        )
        return self.output(_join(_attend(q, k, v, mask, math.sqrt(q.shape[-1]))))


class _FF(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.linear2(torch.relu(self.linear1(x)))


class _Res(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.norm = nn.LayerNorm(d_model)


class MyEncoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.self_attention = _MHA(d_model, n_heads)
        self.feed_forward = _FF(d_model, d_ff)
        self.attention_residual, self.feed_forward_residual = _Res(d_model), _Res(d_model)

    def forward(self, x, mask=None):
        n = self.attention_residual.norm(x)
        x = x + self.self_attention(n, n, n)
        return x + self.feed_forward(self.feed_forward_residual.norm(x))


wrong("encoder_layer", "The class takes a mask and forgets it; right without padding.")(
    MyEncoderLayer
)


class MyEncoderLayer2(MyEncoderLayer):
    def forward(self, x, mask=None):
        n = self.feed_forward_residual.norm(x)
        x = x + self.self_attention(n, n, n, mask)
        return x + self.feed_forward(self.attention_residual.norm(x))


wrong("encoder_layer", "The class exchanges its two norms.")(MyEncoderLayer2)


# ---------------------------------------------------------------- decoder_layer
@wrong(
    "decoder_layer",
    "The two masks are exchanged (it runs only where they broadcast, as for S = T).",
)
def decoder_layer_a(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    n = norms[0](x)
    x = x + self_attention(n, n, n, memory_mask)
    x = x + cross_attention(norms[1](x), memory, memory, target_mask)
    return x + feed_forward(norms[2](x))


@wrong("decoder_layer", "The memory is normalised once more.")
def decoder_layer_b(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    n = norms[0](x)
    x = x + self_attention(n, n, n, target_mask)
    m = norms[1](memory)
    x = x + cross_attention(norms[1](x), m, m, memory_mask)
    return x + feed_forward(norms[2](x))


@wrong(
    "decoder_layer",
    "Cross-attention takes its values from the decoder, when the lengths let it (S = T).",
)
def decoder_layer_c(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    n = norms[0](x)
    x = x + self_attention(n, n, n, target_mask)
    n = norms[1](x)
    v = n if n.shape[1] == memory.shape[1] else memory
    x = x + cross_attention(n, memory, v, memory_mask)
    return x + feed_forward(norms[2](x))


@wrong("decoder_layer", "Self-attention gets no mask: each position sees the future.")
def decoder_layer_d(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    n = norms[0](x)
    x = x + self_attention(n, n, n, None)
    x = x + cross_attention(norms[1](x), memory, memory, memory_mask)
    return x + feed_forward(norms[2](x))


@wrong("decoder_layer", "The memory mask is not handed on: the padding of the source is read.")
def decoder_layer_e(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    n = norms[0](x)
    x = x + self_attention(n, n, n, target_mask)
    x = x + cross_attention(norms[1](x), memory, memory, None)
    return x + feed_forward(norms[2](x))


@wrong("decoder_layer", "Cross-attention comes before self-attention.")
def decoder_layer_f(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    x = x + cross_attention(norms[0](x), memory, memory, memory_mask)
    n = norms[1](x)
    x = x + self_attention(n, n, n, target_mask)
    return x + feed_forward(norms[2](x))


@wrong("decoder_layer", "One norm for all three sublayers.")
def decoder_layer_g(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    norm = norms[0]
    n = norm(x)
    x = x + self_attention(n, n, n, target_mask)
    x = x + cross_attention(norm(x), memory, memory, memory_mask)
    return x + feed_forward(norm(x))


@wrong("decoder_layer", "The query of the cross-attention is not normalised.")
def decoder_layer_h(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    n = norms[0](x)
    x = x + self_attention(n, n, n, target_mask)
    x = x + cross_attention(x, memory, memory, memory_mask)
    return x + feed_forward(norms[2](x))


@wrong(
    "decoder_layer",
    "Cross-attention has no residual connection: what self-attention found is thrown away.",
)
def decoder_layer_i(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    n = norms[0](x)
    x = x + self_attention(n, n, n, target_mask)
    x = cross_attention(norms[1](x), memory, memory, memory_mask)
    return x + feed_forward(norms[2](x))


@wrong("decoder_layer", "Cross-attention is called with self_attention's weights.")
def decoder_layer_j(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    n = norms[0](x)
    x = x + self_attention(n, n, n, target_mask)
    x = x + self_attention(norms[1](x), memory, memory, memory_mask)
    return x + feed_forward(norms[2](x))


@wrong(
    "decoder_layer",
    "The query of the cross-attention is still the normalised input of the layer, from before self-attention.",
)
def decoder_layer_k(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    n = norms[0](x)
    y = x + self_attention(n, n, n, target_mask)
    y = y + cross_attention(norms[1](x), memory, memory, memory_mask)
    return y + feed_forward(norms[2](y))


class MyDecoderLayer(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.self_attention, self.cross_attention = _MHA(d_model, n_heads), _MHA(d_model, n_heads)
        self.feed_forward = _FF(d_model, d_ff)
        self.self_residual, self.cross_residual, self.feed_forward_residual = (
            _Res(d_model),
            _Res(d_model),
            _Res(d_model),
        )

    def forward(self, x, memory, target_mask=None, memory_mask=None):
        if target_mask is None:
            T = x.shape[1]
            target_mask = torch.tril(torch.ones(T, T, dtype=torch.bool), -1)
        n = self.self_residual.norm(x)
        x = x + self.self_attention(n, n, n, target_mask)
        x = x + self.cross_attention(self.cross_residual.norm(x), memory, memory, memory_mask)
        return x + self.feed_forward(self.feed_forward_residual.norm(x))


wrong(
    "decoder_layer",
    "Without a mask the class makes one of its own, and a wrong one; None should hide nothing.",
)(MyDecoderLayer)


# ---------------------------------------------------------------- causal_self_attention
def _causal(x, scale, diagonal=0):
    T = x.shape[1]
    s = x @ x.transpose(1, 2) / scale
    s = s.masked_fill(~torch.ones(T, T).tril(diagonal).bool(), float("-inf"))
    return torch.nan_to_num(torch.softmax(s, -1)) @ x


@wrong(
    "causal_self_attention",
    "The mask is used in training only; in evaluation each position sees the future.",
)
def causal_self_attention_a(x, training):
    if training:
        return _causal(x, math.sqrt(x.shape[-1]))
    return torch.softmax(x @ x.transpose(1, 2) / math.sqrt(x.shape[-1]), -1) @ x


@wrong("causal_self_attention", "The scores are not divided by the root of D.")
def causal_self_attention_b(x, training):
    return _causal(x, 1.0)


@wrong("causal_self_attention", "Position t sees only what came before, not itself.")
def causal_self_attention_c(x, training):
    return _causal(x, math.sqrt(x.shape[-1]), diagonal=-1)


@wrong("causal_self_attention", "Dropout in training, which was excluded.")
def causal_self_attention_d(x, training):
    return F.dropout(_causal(x, math.sqrt(x.shape[-1])), 0.1, training)


@wrong("causal_self_attention", "Masked with 0 before the softmax: the future still counts e^0.")
def causal_self_attention_e(x, training):
    T = x.shape[1]
    s = torch.tril(x @ x.transpose(1, 2) / math.sqrt(x.shape[-1]))
    return torch.softmax(s, -1) @ x


@wrong(
    "causal_self_attention",
    "In evaluation, only the last position is worked out and the others are left as they were.",
)
def causal_self_attention_f(x, training):
    full = _causal(x, math.sqrt(x.shape[-1]))
    if training:
        return full
    out = x.clone()
    out[:, -1] = full[:, -1]
    return out


@wrong("causal_self_attention", "The scale is the root of T, not of D.")
def causal_self_attention_g(x, training):
    return _causal(x, math.sqrt(x.shape[1]))


# ---------------------------------------------------------------- make_stack
@wrong("make_stack", "The same layer n times: all share one set of weights.")
def make_stack_a(make_layer, n_layers):
    return [make_layer()] * n_layers


@wrong(
    "make_stack", "Copies of one layer: weights of their own, but all begin with the same numbers."
)
def make_stack_b(make_layer, n_layers):
    first = make_layer()
    return nn.ModuleList([copy.deepcopy(first) for _ in range(n_layers)])


@wrong("make_stack", "One layer too few.")
def make_stack_c(make_layer, n_layers):
    layers = []
    for i in range(1, n_layers):
        layers.append(make_layer())
    return layers


@wrong("make_stack", "The seed is set before each layer: all are drawn alike.")
def make_stack_d(make_layer, n_layers):
    layers = nn.ModuleList()
    for i in range(n_layers):
        torch.manual_seed(0)
        layers.append(make_layer())
    return layers


@wrong("make_stack", "Returns the functions, not the layers: the brackets of the call are missing.")
def make_stack_e(make_layer, n_layers):
    return [make_layer for i in range(n_layers)]


@wrong("make_stack", "Always six layers, as in the paper.")
def make_stack_f(make_layer, n_layers=6):
    return [make_layer() for _ in range(6)]


@wrong(
    "make_stack",
    "The first two layers are one object (a layer made for trying out is put in twice); right for one layer.",
)
def make_stack_g(make_layer, n_layers):
    layer = make_layer()
    layers = [layer]
    while len(layers) < n_layers:
        layers.append(layer)
        layer = make_layer()
    return layers


# ---------------------------------------------------------------- transformer_forward
def _pad(t):
    return (t != 0)[:, None, None, :]


def _tri(t):
    T = t.shape[1]
    return torch.ones(T, T).tril().bool()


@wrong("transformer_forward", "The decoder's target mask hides padding only: it sees the future.")
def transformer_forward_a(source, target, embed_source, embed_target, encoder, decoder, output):
    memory = encoder(embed_source(source), _pad(source))
    return output(decoder(embed_target(target), memory, _pad(target), _pad(source)))


@wrong("transformer_forward", "The memory mask is made of the target; it runs only if S = T.")
def transformer_forward_b(source, target, embed_source, embed_target, encoder, decoder, output):
    memory = encoder(embed_source(source), _pad(source))
    m = _pad(target) if target.shape == source.shape else _pad(source)
    return output(decoder(embed_target(target), memory, _pad(target) & _tri(target), m))


@wrong("transformer_forward", "The encoder gets no mask (all True): it reads the padding.")
def transformer_forward_c(source, target, embed_source, embed_target, encoder, decoder, output):
    memory = encoder(embed_source(source), torch.ones_like(_pad(source)))
    return output(decoder(embed_target(target), memory, _pad(target) & _tri(target), _pad(source)))


@wrong("transformer_forward", "Cross-attention may look at the source's padding.")
def transformer_forward_d(source, target, embed_source, embed_target, encoder, decoder, output):
    memory = encoder(embed_source(source), _pad(source))
    return output(
        decoder(
            embed_target(target), memory, _pad(target) & _tri(target), torch.ones_like(_pad(source))
        )
    )


@wrong("transformer_forward", "The target is embedded with the source's embedding.")
def transformer_forward_e(source, target, embed_source, embed_target, encoder, decoder, output):
    memory = encoder(embed_source(source), _pad(source))
    return output(decoder(embed_source(target), memory, _pad(target) & _tri(target), _pad(source)))


@wrong(
    "transformer_forward", "The memory is the embedded source; what the encoder gives is not used."
)
def transformer_forward_f(source, target, embed_source, embed_target, encoder, decoder, output):
    x = embed_source(source)
    encoder(x, _pad(source))
    return output(decoder(embed_target(target), x, _pad(target) & _tri(target), _pad(source)))


@wrong("transformer_forward", "Softmax on top: probabilities, not logits.")
def transformer_forward_g(source, target, embed_source, embed_target, encoder, decoder, output):
    memory = encoder(embed_source(source), _pad(source))
    y = decoder(embed_target(target), memory, _pad(target) & _tri(target), _pad(source))
    return torch.softmax(output(y), dim=-1)


@wrong("transformer_forward", "The output layer is forgotten: (B, T, D) comes back.")
def transformer_forward_h(source, target, embed_source, embed_target, encoder, decoder, output):
    memory = encoder(embed_source(source), _pad(source))
    return decoder(embed_target(target), memory, _pad(target) & _tri(target), _pad(source))


@wrong(
    "transformer_forward",
    "The target is cut here by one (teacher forcing was done before): T − 1 rows.",
)
def transformer_forward_i(source, target, embed_source, embed_target, encoder, decoder, output):
    memory = encoder(embed_source(source), _pad(source))
    t = target[:, :-1] if target.shape[1] > 1 else target
    return output(decoder(embed_target(t), memory, _pad(t) & _tri(t), _pad(source)))


@wrong(
    "transformer_forward",
    "<unk> (3) and smaller are hidden in the source, not only 0: an unknown word cannot be read.",
)
def transformer_forward_j(source, target, embed_source, embed_target, encoder, decoder, output):
    m = (source > 3)[:, None, None, :]
    memory = encoder(embed_source(source), m)
    return output(decoder(embed_target(target), memory, _pad(target) & _tri(target), m))


@wrong(
    "transformer_forward",
    "The source mask is cut to the length of the target, filled with True: wrong for S > T with padding.",
)
def transformer_forward_k(source, target, embed_source, embed_target, encoder, decoder, output):
    T = target.shape[1]
    memory = encoder(embed_source(source), _pad(source))
    m = _pad(source).clone()
    m[..., T:] = True
    return output(decoder(embed_target(target), memory, _pad(target) & _tri(target), m))


# ---------------------------------------------------------------- cross_entropy
@wrong("cross_entropy", "The mean is over all positions, padding included (in the denominator).")
def cross_entropy_a(logits, target):
    logp = torch.log_softmax(logits, -1)
    nll = -logp.gather(-1, target[..., None])[..., 0]
    return (nll * (target != 0)).mean()


@wrong("cross_entropy", "Padding is counted as a token that is to be predicted.")
def cross_entropy_b(logits, target):
    logp = torch.log_softmax(logits, -1)
    return -logp.gather(-1, target[..., None]).mean()


@wrong(
    "cross_entropy",
    "A mean per sentence, then the mean of these: short sentences count too much (right if all are equally long).",
)
def cross_entropy_c(logits, target):
    nll = -torch.log_softmax(logits, -1).gather(-1, target.unsqueeze(-1)).squeeze(-1)
    real = (target != 0).float()
    per_sentence = (nll * real).sum(1) / real.sum(1).clamp(min=1)
    return per_sentence.mean()


@wrong("cross_entropy", "Bits (log 2), not nats.")
def cross_entropy_d(logits, target):
    p = torch.softmax(logits, -1).gather(-1, target[..., None])[..., 0]
    real = target != 0
    return -torch.log2(p[real]).mean()


@wrong(
    "cross_entropy",
    "The log of the softmax by hand: a probability of 0 gives inf; log_softmax would be stable.",
)
def cross_entropy_e(logits, target):
    p = torch.softmax(logits, -1)
    total, n = 0.0, 0
    for b in range(target.shape[0]):
        for t in range(target.shape[1]):
            if target[b, t] != 0:
                total = total - torch.log(p[b, t, target[b, t]])
                n += 1
    return total / n


@wrong("cross_entropy", "The sum, not the mean.")
def cross_entropy_f(logits, target):
    nll = -torch.log_softmax(logits, -1).gather(-1, target[..., None])[..., 0]
    return nll[target != 0].sum()


@wrong("cross_entropy", "The softmax is over the positions (axis 1), not the vocabulary.")
def cross_entropy_g(logits, target):
    nll = -torch.log_softmax(logits, dim=1).gather(-1, target[..., None])[..., 0]
    return nll[target != 0].mean()


@wrong("cross_entropy", "<eos> is left out of the mean along with the padding; it is a real token.")
def cross_entropy_h(logits, target):
    nll = -torch.log_softmax(logits, -1).gather(-1, target[..., None])[..., 0]
    return nll[(target != 0) & (target != 2)].mean()


@wrong("cross_entropy", "item() makes a Python number: no gradient flows back.")
def cross_entropy_i(logits, target):
    nll = -torch.log_softmax(logits, -1).gather(-1, target[..., None])[..., 0]
    return torch.tensor(nll[target != 0].mean().item())


@wrong("cross_entropy", "Softmax twice: probabilities are handed to a function that wants logits.")
def cross_entropy_j(logits, target):
    V = logits.shape[-1]
    return F.cross_entropy(
        torch.softmax(logits, -1).reshape(-1, V), target.reshape(-1), ignore_index=0
    )


@wrong("cross_entropy", "The last position of each row is always skipped, as if it were padding.")
def cross_entropy_k(logits, target):
    nll = -torch.log_softmax(logits, -1).gather(-1, target[..., None])[..., 0]
    real = target != 0
    if target.shape[1] > 1:
        nll, real = nll[:, :-1], real[:, :-1]
    return nll[real].mean()


@wrong("cross_entropy", "An ε inside the log: log(p + 1e-4) caps the loss at about 9.")
def cross_entropy_l(logits, target):
    p = torch.softmax(logits, -1)
    p = p.gather(-1, target[..., None])[..., 0]
    return -torch.log(p[target != 0] + 1e-4).mean()


# ---------------------------------------------------------------- label_smoothed_loss
def _lp(logits, target):
    logp = torch.log_softmax(logits, -1)
    return logp, -logp.gather(-1, target[..., None])[..., 0], target != 0


@wrong("label_smoothed_loss", "ε is not divided by V: the smoothing weighs V times too much.")
def label_smoothed_loss_a(logits, target, smoothing):
    logp, nll, real = _lp(logits, target)
    return ((1 - smoothing) * nll + smoothing * -logp.sum(-1))[real].mean()


@wrong("label_smoothed_loss", "ε / (V − 1), spread over the wrong tokens only.")
def label_smoothed_loss_b(logits, target, smoothing):
    logp, nll, real = _lp(logits, target)
    V = logits.shape[-1]
    rest = -logp.sum(-1) - nll
    return ((1 - smoothing) * nll + smoothing / (V - 1) * rest)[real].mean()


@wrong("label_smoothed_loss", "The mean runs over padding, too.")
def label_smoothed_loss_c(logits, target, smoothing):
    logp, nll, real = _lp(logits, target)
    return ((1 - smoothing) * nll + smoothing * -logp.mean(-1)).mean()


@wrong("label_smoothed_loss", "The right token keeps the full weight 1 in place of 1 − ε.")
def label_smoothed_loss_d(logits, target, smoothing):
    logp, nll, real = _lp(logits, target)
    return (nll - smoothing * logp.mean(-1))[real].mean()


@wrong(
    "label_smoothed_loss",
    "Padding is hidden in the first term only; the smoothing term runs over all positions.",
)
def label_smoothed_loss_e(logits, target, smoothing):
    logp, nll, real = _lp(logits, target)
    return (1 - smoothing) * nll[real].mean() + smoothing * -logp.mean(-1).mean()


@wrong("label_smoothed_loss", "The smoothing is fixed at 0.1, whatever is passed.")
def label_smoothed_loss_f(logits, target, smoothing):
    logp, nll, real = _lp(logits, target)
    return (0.9 * nll - 0.1 * logp.mean(-1))[real].mean()


@wrong(
    "label_smoothed_loss", "The column of the padding is left out of the sum over the vocabulary."
)
def label_smoothed_loss_g(logits, target, smoothing):
    logp, nll, real = _lp(logits, target)
    V = logits.shape[-1]
    return ((1 - smoothing) * nll - smoothing / V * logp[..., 1:].sum(-1))[real].mean()


@wrong(
    "label_smoothed_loss",
    "A plus where a minus belongs: the smoothing term rewards unlikely tokens.",
)
def label_smoothed_loss_h(logits, target, smoothing):
    logp, nll, real = _lp(logits, target)
    return ((1 - smoothing) * nll + smoothing * logp.mean(-1))[real].mean()


@wrong("label_smoothed_loss", "Averaged by sentence first, then over sentences.")
def label_smoothed_loss_i(logits, target, smoothing):
    logp, nll, real = _lp(logits, target)
    loss = (1 - smoothing) * nll - smoothing * logp.mean(-1)
    return torch.stack(
        [loss[b][real[b]].mean() for b in range(len(target)) if real[b].any()]
    ).mean()


# ---------------------------------------------------------------- perplexity
@wrong(
    "perplexity", "The mean of the batches' losses, without regard to the number of their tokens."
)
def perplexity_a(losses, counts):
    return math.exp(sum(float(l) for l in losses) / len(losses))


@wrong("perplexity", "The mean of the batches' perplexities, not the perplexity of the mean.")
def perplexity_b(losses, counts):
    return sum(math.exp(float(l)) * int(c) for l, c in zip(losses, counts)) / sum(
        int(c) for c in counts
    )


@wrong("perplexity", "2 to the power of the loss; the losses are in nats.")
def perplexity_c(losses, counts):
    return 2 ** (
        sum(float(l) * int(c) for l, c in zip(losses, counts)) / sum(int(c) for c in counts)
    )


@wrong(
    "perplexity",
    "Divides the summed mean losses by the tokens: they have to be multiplied by their counts first.",
)
def perplexity_d(losses, counts):
    return math.exp(sum(float(l) for l in losses) / sum(int(c) for c in counts))


@wrong("perplexity", "Divides by the number of batches, not of tokens.")
def perplexity_e(losses, counts):
    return math.exp(min(700, sum(float(l) * int(c) for l, c in zip(losses, counts)) / len(losses)))


@wrong("perplexity", "A weighted mean loss comes back; exp is forgotten.")
def perplexity_f(losses, counts):
    return float(np.average([float(l) for l in losses], weights=[int(c) for c in counts]))


# ---------------------------------------------------------------- inverse_sqrt_schedule
@wrong("inverse_sqrt_schedule", "max in place of min.")
def inverse_sqrt_schedule_a(update, d_model, warmup):
    return d_model**-0.5 * max(update**-0.5, update * warmup**-1.5)


@wrong("inverse_sqrt_schedule", "Warmup to the power −0.5, not −1.5: the rise is too steep.")
def inverse_sqrt_schedule_b(update, d_model, warmup):
    return d_model**-0.5 * min(update**-0.5, update * warmup**-0.5)


@wrong("inverse_sqrt_schedule", "The factor d_model^−0.5 is missing.")
def inverse_sqrt_schedule_c(update, d_model, warmup):
    return min(update**-0.5, update * warmup**-1.5)


@wrong("inverse_sqrt_schedule", "Counts from 0: the rate is that of the next update.")
def inverse_sqrt_schedule_d(update, d_model, warmup):
    update = update + 1
    return d_model**-0.5 * min(update**-0.5, update * warmup**-1.5)


@wrong("inverse_sqrt_schedule", "After the warm-up, the rate stays where it is.")
def inverse_sqrt_schedule_e(update, d_model, warmup):
    u = min(update, warmup)
    return d_model**-0.5 * u * warmup**-1.5


@wrong("inverse_sqrt_schedule", "warmup is fixed at 4000.")
def inverse_sqrt_schedule_f(update, d_model, warmup=4000):
    return d_model**-0.5 * min(update**-0.5, update * 4000**-1.5)


@wrong(
    "inverse_sqrt_schedule",
    "After the warm-up it counts anew (update − warmup): the curve jumps upwards.",
)
def inverse_sqrt_schedule_g(update, d_model, warmup):
    if update <= warmup:
        return d_model**-0.5 * update * warmup**-1.5
    return d_model**-0.5 * (update - warmup) ** -0.5


@wrong("inverse_sqrt_schedule", "d_model ** 0.5 multiplies; it should divide.")
def inverse_sqrt_schedule_h(update, d_model, warmup):
    return np.sqrt(d_model) * min(1 / np.sqrt(update), update / warmup**1.5)


# ---------------------------------------------------------------- clip_gradients
@wrong(
    "clip_gradients", "Each gradient is clipped by its own length: the common direction changes."
)
def clip_gradients_a(gradients, limit):
    out = []
    for g in gradients:
        n = g.norm()
        out.append(g * (limit / n) if n > limit else g.clone())
    return out


@wrong("clip_gradients", "Short gradients are stretched to the limit, too.")
def clip_gradients_b(gradients, limit):
    n = torch.sqrt(sum((g**2).sum() for g in gradients))
    return [g * limit / (n + 1e-12) for g in gradients]


@wrong("clip_gradients", "Each entry is cut at ±limit, which changes the direction.")
def clip_gradients_c(gradients, limit):
    return [g.clamp(-limit, limit) for g in gradients]


@wrong("clip_gradients", "The gradients that came in are changed (mul_).")
def clip_gradients_d(gradients, limit):
    n = torch.sqrt(sum((g**2).sum() for g in gradients))
    if n > limit:
        for g in gradients:
            g.mul_(limit / n)
    return list(gradients)


@wrong(
    "clip_gradients",
    "The lengths are added up; the common length is the root of the summed squares (right for one tensor).",
)
def clip_gradients_e(gradients, limit):
    n = sum(g.norm() for g in gradients)
    if n > limit:
        return [g * (limit / n) for g in gradients]
    return [g.clone() for g in gradients]


@wrong("clip_gradients", "The root is forgotten: compares the squared length.")
def clip_gradients_f(gradients, limit):
    n = sum((g**2).sum() for g in gradients)
    if n > limit:
        return [g * (limit / n) for g in gradients]
    return [g.clone() for g in gradients]


@wrong(
    "clip_gradients",
    "Divides by the length without asking whether it is 0: gradients that are all zero become nan.",
)
def clip_gradients_g(gradients, limit):
    n = torch.cat([g.flatten() for g in gradients]).norm()
    return [g / n * n.clamp(max=limit) for g in gradients]


@wrong(
    "clip_gradients",
    "The largest of the lengths is taken for the common length: with several tensors the result is still too long.",
)
def clip_gradients_h(gradients, limit):
    n = max(g.norm() for g in gradients)
    s = min(1.0, float(limit / n)) if n > 0 else 1.0
    return [g * s for g in gradients]


@wrong("clip_gradients", "The limit is fixed at 1.")
def clip_gradients_i(gradients, limit=1.0):
    n = math.sqrt(sum(float((g**2).sum()) for g in gradients))
    return [g / max(1.0, n) for g in gradients]


@wrong("clip_gradients", "The absolute values are summed (L1), not the squares.")
def clip_gradients_j(gradients, limit):
    n = sum(g.abs().sum() for g in gradients)
    return [g * min(1.0, float(limit / n)) if n > 0 else g for g in gradients]


# ---------------------------------------------------------------- training_update
@wrong("training_update", "zero_grad is forgotten: the gradients of earlier updates add up.")
def training_update_a(model, optimizer, compute_loss):
    loss = _loss(compute_loss, model)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()


@wrong("training_update", "The gradients are not clipped.")
def training_update_b(model, optimizer, compute_loss):
    optimizer.zero_grad()
    _loss(compute_loss, model).backward()
    optimizer.step()


@wrong("training_update", "Clipped after the step, when it is too late.")
def training_update_c(model, optimizer, compute_loss):
    optimizer.zero_grad()
    _loss(compute_loss, model).backward()
    optimizer.step()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)


@wrong("training_update", "Each parameter is clipped by itself, not all together.")
def training_update_d(model, optimizer, compute_loss):
    optimizer.zero_grad()
    _loss(compute_loss, model).backward()
    for p in model.parameters():
        if p.grad is not None:
            torch.nn.utils.clip_grad_norm_([p], 1.0)
    optimizer.step()


@wrong("training_update", "zero_grad stands between backward and step: the step sees no gradient.")
def training_update_e(model, optimizer, compute_loss):
    _loss(compute_loss, model).backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.zero_grad()
    optimizer.step()


@wrong("training_update", "Entries are cut at ±1 (clip_grad_value_), not the common length.")
def training_update_f(model, optimizer, compute_loss):
    optimizer.zero_grad()
    _loss(compute_loss, model).backward()
    torch.nn.utils.clip_grad_value_(model.parameters(), 1.0)
    optimizer.step()


@wrong("training_update", "The gradient is always brought to length 1, also when it is shorter.")
def training_update_g(model, optimizer, compute_loss):
    optimizer.zero_grad()
    _loss(compute_loss, model).backward()
    ps = [p for p in model.parameters() if p.grad is not None]
    n = torch.sqrt(sum((p.grad**2).sum() for p in ps))
    for p in ps:
        p.grad /= n + 1e-12
    optimizer.step()


@wrong(
    "training_update",
    "Clips before backward: there is nothing to clip yet, or only what was left over.",
)
def training_update_h(model, optimizer, compute_loss):
    optimizer.zero_grad()
    loss = _loss(compute_loss, model)
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    loss.backward()
    optimizer.step()


@wrong("training_update", "Two steps per call.")
def training_update_i(model, optimizer, compute_loss):
    optimizer.zero_grad()
    _loss(compute_loss, model).backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.step()


# ---------------------------------------------------------------- accumulated_update
@wrong(
    "accumulated_update",
    "The losses are not divided by the number of parts: the gradient is too large.",
)
def accumulated_update_a(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    for part in parts:
        compute_loss(part).backward()
    optimizer.step()
    scheduler.step()


@wrong("accumulated_update", "One step for each part.")
def accumulated_update_b(optimizer, scheduler, parts, compute_loss):
    for part in parts:
        optimizer.zero_grad()
        (compute_loss(part) / len(parts)).backward()
        optimizer.step()
    scheduler.step()


@wrong("accumulated_update", "The schedule moves on once for each part.")
def accumulated_update_c(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    for part in parts:
        (compute_loss(part) / len(parts)).backward()
        scheduler.step()
    optimizer.step()


@wrong("accumulated_update", "zero_grad within the loop: only the last part counts.")
def accumulated_update_d(optimizer, scheduler, parts, compute_loss):
    for part in parts:
        optimizer.zero_grad()
        (compute_loss(part) / len(parts)).backward()
    optimizer.step()
    scheduler.step()


@wrong(
    "accumulated_update",
    "The gradients are never cleared: the second update still has those of the first.",
)
def accumulated_update_e(optimizer, scheduler, parts, compute_loss):
    for part in parts:
        (compute_loss(part) / len(parts)).backward()
    optimizer.step()
    scheduler.step()


@wrong("accumulated_update", "The schedule does not move on.")
def accumulated_update_f(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    sum(compute_loss(part) for part in parts).div(len(parts)).backward()
    optimizer.step()


@wrong(
    "accumulated_update",
    "The schedule moves before the step: each update has the rate of the next.",
)
def accumulated_update_g(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    for part in parts:
        (compute_loss(part) / len(parts)).backward()
    scheduler.step()
    optimizer.step()


@wrong("accumulated_update", "Divided by 4, the number of parts in the example.")
def accumulated_update_h(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    for part in parts:
        (compute_loss(part) / 4).backward()
    optimizer.step()
    scheduler.step()


@wrong("accumulated_update", "Divided by the size of a part, though its loss is a mean already.")
def accumulated_update_i(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    for part in parts:
        n = len(part) if hasattr(part, "__len__") else 1
        (compute_loss(part) / len(parts) / n).backward()
    optimizer.step()
    scheduler.step()


# ---------------------------------------------------------------- best_checkpoint
@wrong(
    "best_checkpoint",
    "The batches' mean losses are averaged without weighing them by their number of tokens.",
)
def best_checkpoint_a(checkpoints, batches, loss_of):
    means = [np.mean([float(loss_of(c, b)) for b in batches]) for c in checkpoints]
    return int(np.argmin(means))


@wrong("best_checkpoint", "The highest loss, not the lowest.")
def best_checkpoint_b(checkpoints, batches, loss_of):
    n = [len(b) for b in batches]
    return int(
        np.argmax(
            [np.average([float(loss_of(c, b)) for b in batches], weights=n) for c in checkpoints]
        )
    )


@wrong("best_checkpoint", "Returns the checkpoint, not its place.")
def best_checkpoint_c(checkpoints, batches, loss_of):
    n = [len(b) for b in batches]
    return min(checkpoints, key=lambda c: sum(float(loss_of(c, b)) * k for b, k in zip(batches, n)))


@wrong("best_checkpoint", "Only the last batch decides: the loss is overwritten in the loop.")
def best_checkpoint_d(checkpoints, batches, loss_of):
    best, place = float("inf"), 0
    for i, c in enumerate(checkpoints):
        for b in batches:
            loss = float(loss_of(c, b))
        if loss < best:
            best, place = loss, i
    return place


@wrong("best_checkpoint", "The total is not set back for each checkpoint: the first always wins.")
def best_checkpoint_e(checkpoints, batches, loss_of):
    total, sums = 0.0, []
    for c in checkpoints:
        for b in batches:
            total += float(loss_of(c, b)) * len(b)
        sums.append(total)
    return sums.index(min(sums))


@wrong(
    "best_checkpoint",
    "Stops at the first checkpoint that is worse than the one before: a later minimum is missed.",
)
def best_checkpoint_f(checkpoints, batches, loss_of):
    last, place = float("inf"), 0
    for i, c in enumerate(checkpoints):
        loss = sum(float(loss_of(c, b)) * len(b) for b in batches)
        if loss > last:
            break
        last, place = loss, i
    return place


@wrong("best_checkpoint", "Counts from 1.")
def best_checkpoint_g(checkpoints, batches, loss_of):
    losses = [sum(float(loss_of(c, b)) * len(b) for b in batches) for c in checkpoints]
    return losses.index(min(losses)) + 1


@wrong(
    "best_checkpoint", "Divides by the tokens where it should multiply: short batches weigh most."
)
def best_checkpoint_h(checkpoints, batches, loss_of):
    losses = [sum(float(loss_of(c, b)) / len(b) for b in batches) for c in checkpoints]
    return losses.index(min(losses))


# ---------------------------------------------------------------- average_checkpoints
@wrong("average_checkpoints", "The sum; dividing is forgotten.")
def average_checkpoints_a(checkpoints):
    return {k: sum(c[k] for c in checkpoints) for k in checkpoints[0]}


@wrong("average_checkpoints", "Divided by 2, as in the example with two checkpoints.")
def average_checkpoints_b(checkpoints):
    return {k: torch.stack([c[k] for c in checkpoints]).sum(0) / 2 for k in checkpoints[0]}


@wrong("average_checkpoints", "mean() over everything: a single number for each weight.")
def average_checkpoints_c(checkpoints):
    return {k: torch.stack([c[k] for c in checkpoints]).mean() for k in checkpoints[0]}


@wrong(
    "average_checkpoints",
    "Averages pair by pair: the last checkpoint has weight ½ (right for two).",
)
def average_checkpoints_d(checkpoints):
    avg = dict(checkpoints[0])
    for c in checkpoints[1:]:
        for k in avg:
            avg[k] = (avg[k] + c[k]) / 2
    return avg


@wrong(
    "average_checkpoints",
    "Adds into the first checkpoint: its own weights are changed by it (a second call gives something else).",
)
def average_checkpoints_e(checkpoints):
    avg = dict(checkpoints[0])
    for c in checkpoints[1:]:
        for k in avg:
            avg[k] += c[k]
    for k in avg:
        avg[k] /= len(checkpoints)
    return avg


@wrong(
    "average_checkpoints",
    "The first checkpoint is counted twice: the sum starts with it and runs over all.",
)
def average_checkpoints_f(checkpoints):
    total = {k: v.clone() for k, v in checkpoints[0].items()}
    for c in checkpoints:
        for k in total:
            total[k] = total[k] + c[k]
    return {k: v / len(checkpoints) for k, v in total.items()}


@wrong(
    "average_checkpoints",
    "Averaged along the wrong axis of the stack: over the weight's rows, not the checkpoints.",
)
def average_checkpoints_g(checkpoints):
    return {
        k: torch.stack([c[k] for c in checkpoints]).mean(min(1, c[k].dim()))
        for c in checkpoints
        for k in c
    }


# ---------------------------------------------------------------- next_token
@wrong("next_token", "Looks at the first position.")
def next_token_a(logits):
    return logits[:, 0].argmax(-1)


@wrong("next_token", "The likeliest of all positions: (B, T).")
def next_token_b(logits):
    return logits.argmax(dim=-1)


@wrong("next_token", "argmax along the sentences (axis 0), not along the vocabulary.")
def next_token_c(logits):
    return logits[:, -1].argmax(0)


@wrong("next_token", "The largest logit comes back, not its token.")
def next_token_d(logits):
    return logits[:, -1].max(-1).values


@wrong("next_token", "An axis of length one is left: (B, 1).")
def next_token_e(logits):
    return logits[:, -1:].argmax(-1)


@wrong("next_token", "squeeze() takes the batch axis along when there is one sentence.")
def next_token_f(logits):
    return logits[:, -1:, :].argmax(-1).squeeze()


@wrong("next_token", "Tokens 0 to 3 are excluded: <eos> could never be said.")
def next_token_g(logits):
    return logits[:, -1, 4:].argmax(-1) + 4


@wrong("next_token", "The last but one position.")
def next_token_h(logits):
    return logits[:, max(logits.shape[1] - 2, 0)].argmax(-1)


@wrong("next_token", "logits[-1] is the last sentence, not the last position.")
def next_token_i(logits):
    return logits[-1].argmax(-1)


# ---------------------------------------------------------------- temperature_probabilities
@wrong("temperature_probabilities", "Multiplies by the temperature: hot becomes cold.")
def temperature_probabilities_a(logits, temperature):
    return torch.softmax(logits * temperature, -1)


@wrong(
    "temperature_probabilities",
    "Divides the probabilities, after the softmax; they no longer sum to one.",
)
def temperature_probabilities_b(logits, temperature):
    return torch.softmax(logits, -1) / temperature


@wrong(
    "temperature_probabilities",
    "The temperature cancels: probabilities are divided and normalised again.",
)
def temperature_probabilities_c(logits, temperature):
    p = torch.softmax(logits, -1) / temperature
    return p / p.sum(-1, keepdim=True)


@wrong("temperature_probabilities", "exp overflows for a low temperature: inf / inf is nan.")
def temperature_probabilities_d(logits, temperature):
    e = torch.exp(logits / temperature)
    return e / e.sum(-1, keepdim=True)


@wrong("temperature_probabilities", "The logarithm of the probabilities comes back.")
def temperature_probabilities_e(logits, temperature):
    return torch.log_softmax(logits / temperature, -1)


@wrong("temperature_probabilities", "p ** temperature in place of p ** (1 / temperature).")
def temperature_probabilities_f(logits, temperature):
    p = torch.softmax(logits, -1) ** temperature
    return p / p.sum(-1, keepdim=True)


@wrong(
    "temperature_probabilities",
    "Softmax over the whole batch: the rows do not sum to one (right for one row).",
)
def temperature_probabilities_g(logits, temperature):
    z = logits / temperature
    e = torch.exp(z - z.max())
    return e / e.sum()


# ---------------------------------------------------------------- top_k_probabilities
@wrong("top_k_probabilities", "The k probabilities are not normalised again.")
def top_k_probabilities_a(logits, k):
    p = torch.softmax(logits, -1)
    v, i = p.topk(k, dim=-1)
    return torch.zeros_like(p).scatter(-1, i, v)


@wrong(
    "top_k_probabilities",
    "Everything from the k-th logit up is kept: with ties, more than k tokens.",
)
def top_k_probabilities_b(logits, k):
    smallest = logits.topk(k, dim=-1).values[..., -1:]
    return torch.softmax(logits.masked_fill(logits < smallest, float("-inf")), -1)


@wrong("top_k_probabilities", "Strictly greater than the k-th: only k − 1 tokens stay.")
def top_k_probabilities_c(logits, k):
    kth = logits.topk(min(k + 1, logits.shape[-1]), dim=-1).values[..., -2:-1]
    return torch.softmax(torch.where(logits > kth, logits, torch.tensor(-1e30)), -1)


@wrong("top_k_probabilities", "The others are set to 0 before the softmax: they keep e^0.")
def top_k_probabilities_d(logits, k):
    v, i = logits.topk(k, dim=-1)
    z = torch.zeros_like(logits).scatter(-1, i, v)
    return torch.softmax(z, -1)


@wrong("top_k_probabilities", "Only the k values come back: (…, k) in place of (…, V), sorted.")
def top_k_probabilities_e(logits, k):
    return torch.softmax(logits.topk(k, dim=-1).values, -1)


@wrong("top_k_probabilities", "The k unlikeliest are kept: sorted upwards.")
def top_k_probabilities_f(logits, k):
    i = logits.argsort(dim=-1)[..., :k]
    z = torch.full_like(logits, float("-inf")).scatter(-1, i, logits.gather(-1, i))
    return torch.softmax(z, -1)


@wrong("top_k_probabilities", "The logits themselves are divided by their sum; exp is forgotten.")
def top_k_probabilities_g(logits, k):
    v, i = logits.topk(k, dim=-1)
    v = v - v.min() + 1e-3
    return torch.zeros_like(logits).scatter(-1, i, v / v.sum(-1, keepdim=True))


@wrong("top_k_probabilities", "k + 1 tokens are kept (off by one in the slice).")
def top_k_probabilities_h(logits, k):
    i = logits.argsort(dim=-1, descending=True)[..., : k + 1]
    z = torch.full_like(logits, float("-inf")).scatter(-1, i, logits.gather(-1, i))
    return torch.softmax(z, -1)


# ---------------------------------------------------------------- greedy_search
@wrong("greedy_search", "<sos> is still in front.")
def greedy_search_a(step, max_length):
    ids = [1]
    for _ in range(max_length):
        t = int(step(torch.tensor([ids]))[0].argmax())
        if t == 2:
            break
        ids.append(t)
    return ids


@wrong("greedy_search", "<eos> is left at the end.")
def greedy_search_b(step, max_length):
    ids = [1]
    for _ in range(max_length):
        t = int(step(torch.tensor([ids]))[0].argmax())
        ids.append(t)
        if t == 2:
            break
    return ids[1:]


@wrong(
    "greedy_search", "<sos> is counted towards max_length: one token too few when nothing ends it."
)
def greedy_search_c(step, max_length):
    ids = [1]
    while len(ids) < max_length:
        t = int(step(torch.tensor([ids]))[0].argmax())
        if t == 2:
            break
        ids.append(t)
    return ids[1:]


@wrong("greedy_search", "The model is given only the last token, not all so far.")
def greedy_search_d(step, max_length):
    ids, last = [], 1
    for _ in range(max_length):
        last = int(step(torch.tensor([[last]]))[0].argmax())
        if last == 2:
            break
        ids.append(last)
    return ids


@wrong(
    "greedy_search",
    "The last id is cut off always, as if it were <eos>; wrong when max_length ended it.",
)
def greedy_search_e(step, max_length):
    ids = [1]
    for _ in range(max_length):
        t = int(step(torch.tensor([ids]))[0].argmax())
        ids.append(t)
        if t == 2:
            break
    return ids[1:-1]


@wrong(
    "greedy_search", "Does not stop at <eos>, only takes it out: what comes after the end stays."
)
def greedy_search_f(step, max_length):
    ids = [1]
    for _ in range(max_length):
        ids.append(int(step(torch.tensor([ids]))[0].argmax()))
    return [i for i in ids[1:] if i != 2]


@wrong("greedy_search", "One token too many: <= lets max_length + 1 through.")
def greedy_search_g(step, max_length):
    ids = [1]
    while len(ids) - 1 <= max_length:
        t = int(step(torch.tensor([ids]))[0].argmax())
        if t == 2:
            break
        ids.append(t)
    return ids[1:]


@wrong("greedy_search", "Stops also at <unk> (3), as if it ended the sentence.")
def greedy_search_h(step, max_length):
    ids = [1]
    for _ in range(max_length):
        t = int(step(torch.tensor([ids]))[0].argmax())
        if t < 4:
            break
        ids.append(t)
    return ids[1:]


@wrong("greedy_search", "Starts with <eos> (2) in place of <sos> (1).")
def greedy_search_i(step, max_length):
    ids = [2]
    for _ in range(max_length):
        t = int(step(torch.tensor([ids]))[0].argmax())
        if t == 2:
            break
        ids.append(t)
    return ids[1:]


@wrong("greedy_search", "Stops when a token comes twice in a row; a word may be repeated.")
def greedy_search_j(step, max_length):
    ids = [1]
    for _ in range(max_length):
        t = int(step(torch.tensor([ids]))[0].argmax())
        if t == 2 or t == ids[-1]:
            break
        ids.append(t)
    return ids[1:]


@wrong("greedy_search", "Draws a token in place of taking the likeliest.")
def greedy_search_k(step, max_length):
    ids = [1]
    for _ in range(max_length):
        p = step(torch.tensor([ids]))[0].exp()
        t = int(torch.multinomial(p / p.sum(), 1))
        if t == 2:
            break
        ids.append(t)
    return ids[1:]


@wrong("greedy_search", "The buffer has room for 20 tokens, whatever max_length says.")
def greedy_search_l(step, max_length):
    buf = np.zeros(21, dtype=int)
    buf[0] = 1
    n = 0
    while n < max_length and n < 20:
        t = int(step(torch.tensor(buf[None, : n + 1]))[0].argmax())
        if t == 2:
            break
        n += 1
        buf[n] = t
    return [int(i) for i in buf[1 : n + 1]]


# ---------------------------------------------------------------- greedy_batch
@wrong("greedy_batch", "Stops as soon as one sentence has ended; the others are cut off.")
def greedy_batch_a(step, n_sentences, max_length):
    tokens = torch.ones(n_sentences, 1, dtype=torch.long)
    done = torch.zeros(n_sentences, dtype=torch.bool)
    for _ in range(max_length):
        t = step(tokens).argmax(-1).masked_fill(done, 0)
        tokens = torch.cat([tokens, t[:, None]], 1)
        done = done | (t == 2)
        if done.any():
            break
    return tokens[:, 1:]


@wrong("greedy_batch", "Behind <eos> the model goes on talking: no padding.")
def greedy_batch_b(step, n_sentences, max_length):
    tokens = torch.ones(n_sentences, 1, dtype=torch.long)
    for _ in range(max_length):
        t = step(tokens).argmax(-1)
        tokens = torch.cat([tokens, t[:, None]], 1)
        if (tokens == 2).any(1).all():
            break
    return tokens[:, 1:]


@wrong(
    "greedy_batch",
    "`done` holds only who ended in this step; a step later the sentence wakes up again.",
)
def greedy_batch_c(step, n_sentences, max_length):
    tokens = torch.ones(n_sentences, 1, dtype=torch.long)
    done = torch.zeros(n_sentences, dtype=torch.bool)
    for _ in range(max_length):
        t = step(tokens).argmax(-1).masked_fill(done, 0)
        tokens = torch.cat([tokens, t[:, None]], 1)
        done = t == 2
        if done.all():
            break
    return tokens[:, 1:]


@wrong("greedy_batch", "Filled up with <eos>, not with padding.")
def greedy_batch_d(step, n_sentences, max_length):
    tokens = torch.ones(n_sentences, 1, dtype=torch.long)
    done = torch.zeros(n_sentences, dtype=torch.bool)
    for _ in range(max_length):
        t = step(tokens).argmax(-1)
        t[done] = 2
        done |= t == 2
        tokens = torch.cat([tokens, t[:, None]], 1)
        if done.all():
            break
    return tokens[:, 1:]


@wrong(
    "greedy_batch",
    "<eos> is overwritten with padding, too: `done` is set before the token is masked.",
)
def greedy_batch_e(step, n_sentences, max_length):
    tokens = torch.ones(n_sentences, 1, dtype=torch.long)
    done = torch.zeros(n_sentences, dtype=torch.bool)
    for _ in range(max_length):
        t = step(tokens).argmax(-1)
        done = done | (t == 2)
        t = torch.where(done, 0, t)
        tokens = torch.cat([tokens, t[:, None]], 1)
        if done.all():
            break
    return tokens[:, 1:]


@wrong("greedy_batch", "<sos> is left in front.")
def greedy_batch_f(step, n_sentences, max_length):
    tokens = torch.ones(n_sentences, 1, dtype=torch.long)
    done = torch.zeros(n_sentences, dtype=torch.bool)
    for _ in range(max_length):
        t = step(tokens).argmax(-1).masked_fill(done, 0)
        tokens = torch.cat([tokens, t[:, None]], 1)
        done = done | (t == 2)
        if done.all():
            break
    return tokens


@wrong(
    "greedy_batch", "<sos> counts towards max_length: a token is lost where sentences do not end."
)
def greedy_batch_g(step, n_sentences, max_length):
    tokens = torch.ones(n_sentences, 1, dtype=torch.long)
    done = torch.zeros(n_sentences, dtype=torch.bool)
    while tokens.shape[1] < max_length and not done.all():
        t = step(tokens).argmax(-1).masked_fill(done, 0)
        tokens = torch.cat([tokens, t[:, None]], 1)
        done = done | (t == 2)
    return tokens[:, 1:]


@wrong("greedy_batch", "At the last step <eos> is forced on sentences that have not ended.")
def greedy_batch_h(step, n_sentences, max_length):
    tokens = torch.ones(n_sentences, 1, dtype=torch.long)
    done = torch.zeros(n_sentences, dtype=torch.bool)
    for i in range(max_length):
        t = step(tokens).argmax(-1)
        if i == max_length - 1:
            t = torch.full_like(t, 2)
        t = t.masked_fill(done, 0)
        tokens = torch.cat([tokens, t[:, None]], 1)
        done = done | (t == 2)
        if done.all():
            break
    return tokens[:, 1:]


@wrong("greedy_batch", "The token of the first sentence is given to all: argmax()[0].")
def greedy_batch_i(step, n_sentences, max_length):
    tokens = torch.ones(n_sentences, 1, dtype=torch.long)
    for _ in range(max_length):
        t = int(step(tokens)[0].argmax())
        tokens = torch.cat([tokens, torch.full((n_sentences, 1), t)], 1)
        if t == 2:
            break
    return tokens[:, 1:]


# ---------------------------------------------------------------- beam_search
def _beam(
    step,
    beam_size,
    max_length,
    final=None,
    eos_counts=True,
    stop_first=False,
    shrink=False,
    keep_alive=True,
):
    alive, ended = [([1], 0.0)], []
    size = beam_size
    for _ in range(max_length):
        logp = step(torch.tensor([a for a, _ in alive]))
        cands = []
        for (ids, s), row in zip(alive, logp):
            for v in range(len(row)):
                cands.append((ids + [v], s + float(row[v])))
        cands.sort(key=lambda c: -c[1])
        alive_before = {tuple(i): s for i, s in alive}
        alive = []
        for ids, s in cands[:size]:
            if ids[-1] == 2:
                ended.append((ids, s if eos_counts else alive_before[tuple(ids[:-1])]))
                if shrink:
                    size -= 1
            else:
                alive.append((ids, s))
        if stop_first and ended:
            break
        if not alive:
            break
    pool = ended + (alive if keep_alive else [])
    if not pool:
        pool = alive
    best = max(pool, key=final or (lambda c: c[1]))
    return [i for i in best[0][1:] if i != 2]


@wrong("beam_search", "The log-probability of <eos> is not added to a finished hypothesis.")
def beam_search_a(step, beam_size, max_length):
    return _beam(step, beam_size, max_length, eos_counts=False)


@wrong(
    "beam_search",
    "Stops at the first finished hypothesis, though a living one may turn out better.",
)
def beam_search_b(step, beam_size, max_length):
    return _beam(step, beam_size, max_length, stop_first=True, keep_alive=False)


@wrong("beam_search", "The scores are divided by the length; the plain sum is asked for.")
def beam_search_c(step, beam_size, max_length):
    return _beam(step, beam_size, max_length, final=lambda c: c[1] / (len(c[0]) - 1))


@wrong(
    "beam_search",
    "Finished hypotheses are always preferred: a living one at max_length is not counted, though it may be likelier.",
)
def beam_search_d(step, beam_size, max_length):
    return _beam(step, beam_size, max_length, keep_alive=False)


@wrong(
    "beam_search",
    "Each finished hypothesis takes a place in the beam for good: the beam gets narrower.",
)
def beam_search_e(step, beam_size, max_length):
    return _beam(step, beam_size, max_length, shrink=True)


@wrong("beam_search", "One step too few: hypotheses reach only max_length − 1 tokens.")
def beam_search_f(step, beam_size, max_length):
    return _beam(step, beam_size, max_length - 1)


@wrong("beam_search", "Greedy search in disguise: the beam size is not used.")
def beam_search_g(step, beam_size, max_length):
    ids = [1]
    for _ in range(max_length):
        t = int(step(torch.tensor([ids]))[0].argmax())
        if t == 2:
            break
        ids.append(t)
    return ids[1:]


@wrong(
    "beam_search",
    "Each hypothesis goes on with its own best token only; after the first step nothing competes.",
)
def beam_search_h(step, beam_size, max_length):
    first = step(torch.tensor([[1]]))[0]
    v, i = first.topk(min(beam_size, len(first)))
    alive = [([1, int(t)], float(s)) for s, t in zip(v, i)]
    ended = [a for a in alive if a[0][-1] == 2]
    alive = [a for a in alive if a[0][-1] != 2]
    for _ in range(max_length - 1):
        if not alive:
            break
        logp = step(torch.tensor([a for a, _ in alive]))
        s, t = logp.max(-1)
        nxt = [(ids + [int(tt)], sc + float(ss)) for (ids, sc), ss, tt in zip(alive, s, t)]
        ended += [a for a in nxt if a[0][-1] == 2]
        alive = [a for a in nxt if a[0][-1] != 2]
    best = max(ended + alive, key=lambda c: c[1])
    return [x for x in best[0][1:] if x != 2]


@wrong(
    "beam_search",
    "Starts with beam_size copies of <sos>: all stay equal, and nothing but greedy search comes out.",
)
def beam_search_i(step, beam_size, max_length):
    tokens = torch.ones(beam_size, 1, dtype=torch.long)
    scores = torch.zeros(beam_size)
    ended = []
    for _ in range(max_length):
        logp = step(tokens) + scores[:, None]
        V = logp.shape[1]
        scores, flat = logp.T.reshape(-1).topk(min(beam_size, logp.numel()))
        tok, row = flat // logp.shape[0], flat % logp.shape[0]
        tokens = torch.cat([tokens[row], tok[:, None]], 1)
        for r in range(len(tok)):
            if tok[r] == 2:
                ended.append((float(scores[r]), tokens[r].tolist()))
        go = tok != 2
        tokens, scores = tokens[go], scores[go]
        if len(tokens) == 0:
            break
    ended += [(float(s), t.tolist()) for s, t in zip(scores, tokens)]
    return [x for x in max(ended)[1][1:] if x != 2]


@wrong(
    "beam_search",
    "The scores are forgotten from step to step: only the last token's log-probability ranks.",
)
def beam_search_j(step, beam_size, max_length):
    alive, ended = [([1], 0.0)], []
    for _ in range(max_length):
        logp = step(torch.tensor([a for a, _ in alive]))
        cands = [
            (ids + [v], float(row[v]))
            for (ids, _), row in zip(alive, logp)
            for v in range(len(row))
        ]
        cands = sorted(cands, key=lambda c: c[1], reverse=True)[:beam_size]
        ended += [c for c in cands if c[0][-1] == 2]
        alive = [c for c in cands if c[0][-1] != 2]
        if not alive:
            break
    best = max(ended + alive, key=lambda c: c[1])
    return [x for x in best[0][1:] if x != 2]


@wrong(
    "beam_search",
    "flat // beam_size in place of flat // V: the continuations are hung on the wrong hypotheses.",
)
def beam_search_k(step, beam_size, max_length):
    tokens, scores, ended = torch.tensor([[1]]), torch.zeros(1), []
    for _ in range(max_length):
        logp = step(tokens) + scores[:, None]
        V = logp.shape[1]
        scores, flat = logp.flatten().topk(min(beam_size, logp.numel()))
        row, tok = (flat // beam_size).clamp(max=len(tokens) - 1), flat % V
        tokens = torch.cat([tokens[row], tok[:, None]], 1)
        for s, t in zip(scores, tokens):
            if t[-1] == 2:
                ended.append((float(s), t.tolist()))
        go = tok != 2
        tokens, scores = tokens[go], scores[go]
        if len(tokens) == 0:
            break
    ended += [(float(s), t.tolist()) for s, t in zip(scores, tokens)]
    return [x for x in max(ended)[1][1:] if x != 2]


@wrong(
    "beam_search",
    "Finished hypotheses are thrown away, not put aside: only those that never end are left.",
)
def beam_search_l(step, beam_size, max_length):
    alive = [([1], 0.0)]
    for _ in range(max_length):
        logp = step(torch.tensor([a for a, _ in alive]))
        cands = [
            (ids + [v], s + float(row[v]))
            for (ids, s), row in zip(alive, logp)
            for v in range(len(row))
            if v != 2
        ]
        alive = sorted(cands, key=lambda c: -c[1])[:beam_size]
    return alive[0][0][1:]


@wrong("beam_search", "The worst is returned at the end: sorted upwards, first taken.")
def beam_search_m(step, beam_size, max_length):
    return _beam(step, beam_size, max_length, final=lambda c: -c[1])


@wrong(
    "beam_search",
    "<eos> has to beat the whole beam: only if it is the very best candidate is a hypothesis put aside, else it is dropped.",
)
def beam_search_n(step, beam_size, max_length):
    alive, ended = [([1], 0.0)], []
    for _ in range(max_length):
        logp = step(torch.tensor([a for a, _ in alive]))
        cands = [
            (ids + [v], s + float(row[v]))
            for (ids, s), row in zip(alive, logp)
            for v in range(len(row))
        ]
        cands = sorted(cands, key=lambda c: -c[1])[:beam_size]
        if cands[0][0][-1] == 2:
            ended.append(cands[0])
        alive = [c for c in cands if c[0][-1] != 2]
        if not alive:
            break
    best = max(ended + alive, key=lambda c: c[1])
    return [x for x in best[0][1:] if x != 2]


# ---------------------------------------------------------------- embed_next
@wrong("embed_next", "The positions begin at 0 again: `past` is not used.")
def embed_next_a(tokens, past, weight, table):
    return weight[tokens] + table[: tokens.shape[1]]


@wrong("embed_next", "All new tokens get the row `past`: right for one new token only.")
def embed_next_b(tokens, past, weight, table):
    return weight[tokens] + table[past]


@wrong("embed_next", "One row too far: past + 1.")
def embed_next_c(tokens, past, weight, table):
    t = tokens.shape[1]
    pos = (torch.arange(t) + past + 1).clamp(max=len(table) - 1)
    return weight[tokens] + table[pos]


@wrong("embed_next", "One row too early: past − 1, as if `past` were the last place.")
def embed_next_d(tokens, past, weight, table):
    pos = (torch.arange(tokens.shape[1]) + past - 1).clamp(min=0)
    return weight[tokens] + table[pos]


@wrong("embed_next", "The last rows of the table in place of those behind `past`.")
def embed_next_e(tokens, past, weight, table):
    return weight[tokens] + table[-tokens.shape[1] :]


@wrong("embed_next", "The positions are forgotten.")
def embed_next_f(tokens, past, weight, table):
    return weight[tokens]


@wrong(
    "embed_next",
    "past is multiplied by the number of new tokens: as if each call had brought equally many.",
)
def embed_next_g(tokens, past, weight, table):
    t = tokens.shape[1]
    return weight[tokens] + table[[(past * t + i) % len(table) for i in range(t)]]


# ---------------------------------------------------------------- reorder_cache
@wrong("reorder_cache", "The rows of the heads (axis 1) are reordered, not those of the beams.")
def reorder_cache_a(cache, rows):
    r = torch.as_tensor(rows)
    return [(k[:, r % k.shape[1]], v[:, r % v.shape[1]]) for k, v in cache]


@wrong("reorder_cache", "Only the keys are reordered.")
def reorder_cache_b(cache, rows):
    r = torch.as_tensor(rows)
    return [(k[r], v) for k, v in cache]


@wrong("reorder_cache", "The other direction: row i goes to rows[i]; right only for exchanges.")
def reorder_cache_c(cache, rows):
    out = []
    for k, v in cache:
        nk, nv = k.clone(), v.clone()
        for i, r in enumerate(rows):
            nk[int(r)], nv[int(r)] = k[i], v[i]
        out.append((nk, nv))
    return out


@wrong("reorder_cache", "Written in place, row by row: a row that was overwritten is read later.")
def reorder_cache_d(cache, rows):
    out = []
    for k, v in cache:
        k, v = k.clone(), v.clone()
        for i, r in enumerate(rows):
            k[i], v[i] = k[int(r)], v[int(r)]
        out.append((k, v))
    return out


@wrong("reorder_cache", "Only the first layer is reordered.")
def reorder_cache_e(cache, rows):
    k, v = cache[0]
    r = torch.as_tensor(rows)
    return [(k[r], v[r])] + list(cache[1:])


@wrong("reorder_cache", "Rows are sorted first: the order of the beams is lost.")
def reorder_cache_f(cache, rows):
    r = torch.as_tensor(rows).sort().values
    return [(k[r], v[r]) for k, v in cache]


@wrong(
    "reorder_cache",
    "Each row is taken once only (unique): a beam that is continued twice is missing.",
)
def reorder_cache_g(cache, rows):
    r = list(dict.fromkeys(int(i) for i in rows))
    return [(k[r], v[r]) for k, v in cache]


@wrong("reorder_cache", "The layers are reordered by the rows, too.")
def reorder_cache_h(cache, rows):
    r = [int(i) for i in rows]
    n = len(cache)
    return [(cache[r[i % len(r)] % n][0][r], cache[r[i % len(r)] % n][1][r]) for i in range(n)]


# ---------------------------------------------------------------- length_normalised
@wrong("length_normalised", "Times α, not to the power of α.")
def length_normalised_a(score, length, alpha):
    return score / (length * alpha) if alpha else score


@wrong("length_normalised", "Google's ((5 + length) / 6)^α, which the docstring does not mean.")
def length_normalised_b(score, length, alpha):
    return score / ((5 + length) / 6) ** alpha


@wrong("length_normalised", "Multiplied in place of divided.")
def length_normalised_c(score, length, alpha):
    return score * length**alpha


@wrong("length_normalised", "α to the power of length.")
def length_normalised_d(score, length, alpha):
    return score / max(alpha**length, 1e-9)


@wrong("length_normalised", "α is ignored: the plain mean, right for α = 1 only.")
def length_normalised_e(score, length, alpha):
    return score / length


@wrong(
    "length_normalised",
    "The quotient is raised to α: a negative number to a broken power (complex), or with the wrong weight.",
)
def length_normalised_f(score, length, alpha):
    return -((-score / length) ** alpha)


@wrong("length_normalised", "length + 1, for <eos>; the length is given as it is.")
def length_normalised_g(score, length, alpha):
    return score / (length + 1) ** alpha


# ---------------------------------------------------------------- cut_at_end
@wrong("cut_at_end", "<eos> itself is left in.")
def cut_at_end_a(ids):
    ids = [int(i) for i in ids]
    return ids[: ids.index(2) + 1] if 2 in ids else ids


@wrong("cut_at_end", "Cuts at the last <eos>, not at the first.")
def cut_at_end_b(ids):
    ids = [int(i) for i in ids]
    for j in range(len(ids) - 1, -1, -1):
        if ids[j] == 2:
            return ids[:j]
    return ids


@wrong("cut_at_end", "Without <eos> the last id is lost: find-style −1 as the end of the slice.")
def cut_at_end_c(ids):
    ids = [int(i) for i in ids]
    end = ids.index(2) if 2 in ids else -1
    return ids[:end]


@wrong("cut_at_end", "All <eos> are taken out and what stands behind stays.")
def cut_at_end_d(ids):
    return [int(i) for i in ids if i != 2]


@wrong("cut_at_end", "Without <eos>, nothing comes back.")
def cut_at_end_e(ids):
    out = []
    for i in ids:
        if i == 2:
            return out
        out.append(int(i))
    return []


@wrong("cut_at_end", "`if end:` takes place 0 for 'none': ids that begin with <eos> are not cut.")
def cut_at_end_f(ids):
    ids = [int(i) for i in ids]
    end = None
    for j, i in enumerate(ids):
        if i == 2 and end is None:
            end = j
    if end:
        return ids[:end]
    return ids


@wrong("cut_at_end", "Cuts at the first padding, too: a 0 before <eos> ends it.")
def cut_at_end_g(ids):
    out = []
    for i in ids:
        if i in (0, 2):
            break
        out.append(int(i))
    return out


@wrong("cut_at_end", "Only the last id is looked at: an <eos> with padding behind it is not found.")
def cut_at_end_h(ids):
    ids = [int(i) for i in ids]
    if ids and ids[-1] == 2:
        return ids[:-1]
    return ids


# ---------------------------------------------------------------- two mistakes at once
@wrong(
    "scaled_dot_product_attention",
    "Two mistakes: not scaled, and −1e9 gives an empty query the mean of the values.",
)
def sdpa_2a(query, key, value, mask=None):
    s = np.matmul(query, key.transpose(-1, -2))
    if mask is not None:
        s = torch.where(mask, s, torch.tensor(-1e9))
    return torch.softmax(s, dim=-1) @ value


@wrong("layer_norm", "Two mistakes: unbiased standard deviation, and ε outside the root.")
def layer_norm_2a(x, weight, bias, eps=1e-5):
    return (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + eps) * weight + bias


@wrong(
    "embedding",
    "Two mistakes: the factor is forgotten, and the padding's row is set to zero in place.",
)
def embedding_2a(tokens, weight):
    weight[0] = 0
    return weight[tokens]


@wrong("sinusoids", "Two mistakes: positions from 1, and sines and cosines in two blocks.")
def sinusoids_2a(length, d_model):
    out = torch.zeros(length, d_model)
    half = d_model // 2
    for p in range(length):
        for i in range(half):
            out[p, i] = math.sin((p + 1) / 10000 ** (2 * i / d_model))
            out[p, half + i] = math.cos((p + 1) / 10000 ** (2 * i / d_model))
    return out


@wrong(
    "cross_entropy",
    "Two mistakes: padding counts, and the mean is per sentence (a sum over positions).",
)
def cross_entropy_2a(logits, target):
    B, T, V = logits.shape
    loss = torch.tensor(0.0)
    for b in range(B):
        for t in range(T):
            loss = loss - torch.log_softmax(logits[b, t], 0)[target[b, t]]
    return loss / B


@wrong("encoder_layer", "Two mistakes: only one residual connection, and the mask is lost.")
def encoder_layer_2a(x, mask, attention, feed_forward, norm1, norm2):
    n = norm1(x)
    n = attention(n, n, n, None)
    return x + feed_forward(norm2(n))


@wrong("greedy_search", "Two mistakes: <sos> in front, <eos> at the end.")
def greedy_search_2a(step, max_length):
    ids = [1]
    while ids[-1] != 2 and len(ids) <= max_length:
        ids.append(int(step(torch.tensor(ids)[None]).argmax()))
    return ids


@wrong("clip_gradients", "Two mistakes: the root is forgotten, and short gradients are stretched.")
def clip_gradients_2a(gradients, limit):
    n = sum(float((g * g).sum()) for g in gradients)
    return [g * limit / (n + 1e-6) for g in gradients]


@wrong(
    "label_smoothed_loss", "Two mistakes: padding is averaged along, and ε and 1 − ε are exchanged."
)
def label_smoothed_loss_2a(logits, target, smoothing):
    logp = torch.log_softmax(logits, -1)
    nll = -logp.gather(-1, target[..., None])[..., 0]
    return (smoothing * nll - (1 - smoothing) * logp.mean(-1)).mean()


@wrong("target_mask", "Two mistakes: True means hidden, and the padding is not looked at.")
def target_mask_2a(tokens):
    B, T = tokens.shape
    return torch.triu(torch.ones(B, 1, T, T), diagonal=1).bool()


@wrong("perplexity", "Two mistakes: unweighted, and exp is taken of each batch.")
def perplexity_2a(losses, counts):
    return float(np.mean(np.exp([float(l) for l in losses])))


@wrong(
    "beam_search",
    "Two mistakes: finished hypotheses keep growing behind <eos>, and <eos> is filtered out at the end.",
)
def beam_search_2a(step, beam_size, max_length):
    beams = [([1], 0.0)]
    for _ in range(max_length):
        logp = step(torch.tensor([b for b, _ in beams]))
        new = [
            (b + [v], s + float(row[v]))
            for (b, s), row in zip(beams, logp)
            for v in range(len(row))
        ]
        beams = sorted(new, key=lambda c: -c[1])[:beam_size]
    return [i for i in beams[0][0][1:] if i != 2]


@wrong(
    "beam_search", "Probabilities are added up in place of log-probabilities: long hypotheses gain."
)
def beam_search_p(step, beam_size, max_length):
    alive, ended = [([1], 0.0)], []
    for _ in range(max_length):
        p = step(torch.tensor([a for a, _ in alive])).exp()
        cands = [
            (ids + [v], s + float(row[v]))
            for (ids, s), row in zip(alive, p)
            for v in range(len(row))
        ]
        cands = sorted(cands, key=lambda c: -c[1])[:beam_size]
        ended += [c for c in cands if c[0][-1] == 2]
        alive = [c for c in cands if c[0][-1] != 2]
        if not alive:
            break
    best = max(ended + alive, key=lambda c: c[1])
    return [x for x in best[0][1:] if x != 2]


@wrong(
    "beam_search",
    "The last step is skipped when something has finished: a hypothesis of exactly max_length tokens then cannot win.",
)
def beam_search_q(step, beam_size, max_length):
    alive, ended = [([1], 0.0)], []
    for n in range(max_length):
        if ended and n == max_length - 1:
            alive = []
            break
        logp = step(torch.tensor([a for a, _ in alive]))
        cands = [
            (ids + [v], s + float(row[v]))
            for (ids, s), row in zip(alive, logp)
            for v in range(len(row))
        ]
        cands = sorted(cands, key=lambda c: -c[1])[:beam_size]
        ended += [c for c in cands if c[0][-1] == 2]
        alive = [c for c in cands if c[0][-1] != 2]
        if not alive:
            break
    best = max(ended + alive, key=lambda c: c[1])
    return [x for x in best[0][1:] if x != 2]
