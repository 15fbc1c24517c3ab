"""Right versions of attention, as people write them: none of these may be refused."""

import functools
import math

import torch
import torch.nn.functional as F
from torch import nn

from tests.checks.corpus import version

# --- softmax --------------------------------------------------------------------------------------


version("softmax", "right", "nn.Softmax")(nn.Softmax(dim=-1))


version("softmax", "right", "torch.softmax, partial")(functools.partial(torch.softmax, dim=-1))


version("softmax", "right", "nn.Sequential")(nn.Sequential(nn.Softmax(dim=-1)))


version("softmax", "right", "F.softmax")(lambda scores: F.softmax(scores, -1))


version("softmax", "right", "exp of log_softmax")(lambda z: z.log_softmax(-1).exp())


version("softmax", "right", "logsumexp")(
    lambda z: torch.exp(z - torch.logsumexp(z, -1, keepdim=True))
)


@version("softmax", "right", "max, detached")
def softmax_detached_max(scores):
    # The maximum cancels, so nothing is lost by detaching it.
    highest = torch.max(scores, dim=-1, keepdim=True).values.detach()
    numerator = torch.exp(scores - highest)
    return numerator / numerator.sum(-1, keepdim=True)


@version("softmax", "right", "one maximum for all rows of doubles")
def softmax_double(scores):
    scores = scores.double()
    e = (scores - scores.max()).exp()
    return (e / e.sum(dim=-1).unsqueeze(-1)).float()


@version("softmax", "right", "row by row")
def softmax_row_by_row(scores):
    flat = scores.reshape(-1, scores.shape[-1])
    rows = []
    for row in flat:
        top = max(row.tolist())
        exps = [torch.exp(s - top) for s in row]
        total = sum(exps)
        rows.append(torch.stack([e / total for e in exps]))
    return torch.stack(rows).view_as(scores)


@version("softmax", "right", "one over the sum of differences")
def softmax_by_differences(s):
    return 1 / torch.exp(s.unsqueeze(-2) - s.unsqueeze(-1)).sum(-1)


# --- scaled_dot_product_attention -----------------------------------------------------------------


@version("scaled_dot_product_attention", "right", "minus infinity, empty rows opened and closed")
def attention_opened(query, key, value, mask=None):
    d_k = query.shape[-1]
    scores = torch.matmul(query, key.transpose(-1, -2)) / math.sqrt(d_k)
    if mask is not None:
        mask = mask.expand_as(scores)
        empty = ~mask.any(dim=-1, keepdim=True)
        scores = scores.masked_fill(~(mask | empty), float("-inf"))
        return (torch.softmax(scores, dim=-1) @ value).masked_fill(empty, 0.0)
    return torch.softmax(scores, dim=-1) @ value


@version("scaled_dot_product_attention", "right", "F's own")
def attention_ready_made(query, key, value, mask=None):
    return F.scaled_dot_product_attention(query, key, value, attn_mask=mask)


@version("scaled_dot_product_attention", "right", "minus a billion")
def attention_minus_a_billion(query, key, value, mask=None):
    scores = query @ key.mT * query.size(-1) ** -0.5
    if mask is not None:
        scores = scores.masked_fill(mask == False, -1e9)  # noqa: E712
    p = scores.softmax(-1)
    if mask is not None:
        p = p * mask  # rows without any key
    return p @ value


@version("scaled_dot_product_attention", "right", "additive mask")
def attention_additive(query, key, value, mask=None):
    bias = 0.0
    if mask is not None:
        bias = torch.zeros(mask.shape).masked_fill(~mask, -1e30)
    scores = torch.einsum("...td,...sd->...ts", query, key) / query.shape[-1] ** 0.5 + bias
    e = torch.exp(scores - scores.amax(-1, keepdim=True))
    if mask is not None:
        e = torch.where(mask, e, torch.zeros_like(e))
    return torch.einsum("...ts,...sd->...td", e / e.sum(-1, keepdim=True).clamp(min=1e-9), value)


@version("scaled_dot_product_attention", "right", "one query at a time")
def attention_one_query_at_a_time(query, key, value, mask=None):
    if mask is not None:
        mask = mask.expand(*query.shape[:-1], key.shape[-2])
    outputs = []
    for t in range(query.shape[-2]):
        q = query[..., t, :].unsqueeze(-1)
        score = (key @ q).squeeze(-1) / math.sqrt(key.shape[-1])
        if mask is None:
            share = F.softmax(score, dim=-1)
        else:
            score = torch.where(mask[..., t, :], score, torch.tensor(-3e38))
            share = torch.where(mask[..., t, :], F.softmax(score, dim=-1), torch.tensor(0.0))
        outputs.append((share.unsqueeze(-1) * value).sum(-2))
    return torch.stack(outputs, dim=-2)


@version("scaled_dot_product_attention", "right", "double precision")
def attention_double(query, key, value, mask=None):
    q, k, v = query.double(), key.double(), value.double()
    scores = q.matmul(k.transpose(-2, -1)).div(math.sqrt(q.size(-1)))
    if mask is not None:
        scores = scores.where(mask, torch.full_like(scores, -1e20))
    attn = scores.softmax(dim=-1)
    attn = attn if mask is None else attn.where(mask, torch.zeros_like(attn))
    return (attn @ v).to(query.dtype)


@version("scaled_dot_product_attention", "right", "the fourth root on both sides")
def attention_fourth_root(query, key, value, mask=None):
    root = query.size(-1) ** 0.25
    scores = (query / root) @ (key / root).transpose(-2, -1)
    if mask is not None:
        scores = scores.masked_fill(mask.logical_not(), torch.finfo(scores.dtype).min)
    log_weights = scores.log_softmax(-1)
    weights = log_weights.exp()
    if mask is not None:
        weights = weights.masked_fill(mask.logical_not(), 0)
    return weights @ value


@version("scaled_dot_product_attention", "right", "the query scaled first")
def attention_scaled_query(query, key, value, mask=None):
    query = query * (1.0 / math.sqrt(query.size(-1)))
    scores = (query.unsqueeze(-2) * key.unsqueeze(-3)).sum(-1)
    if mask is not None:
        scores = scores + torch.where(mask, 0.0, -1e9)
    weights = nn.functional.softmax(scores, dim=-1)
    if mask is not None:
        weights = weights * mask.any(-1, keepdim=True)
    return torch.matmul(weights, value)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.softmax = nn.Softmax(dim=-1)

    def forward(self, query, key, value, mask=None):
        score = query @ key.transpose(-2, -1) / query.size(-1) ** 0.5
        if mask is None:
            return self.softmax(score) @ value
        score = score.masked_fill(~mask, torch.finfo(torch.float32).min)
        return self.softmax(score).masked_fill(~mask, 0) @ value


version("scaled_dot_product_attention", "right", "a module")(Attention())


# --- padding_mask ---------------------------------------------------------------------------------


version("padding_mask", "right", "unsqueeze")(
    lambda tokens: (tokens != 0).unsqueeze(1).unsqueeze(2)
)


version("padding_mask", "right", "bool and view")(
    lambda t: t.bool().view(t.size(0), 1, 1, t.size(1))
)


version("padding_mask", "right", "ne and None")(lambda tokens: torch.ne(tokens, 0)[:, None, None])


@version("padding_mask", "right", "a loop")
def padding_mask_loop(tokens):
    b, s = tokens.shape
    mask = torch.ones(b, 1, 1, s, dtype=torch.bool)
    for i in range(b):
        for j in range(s):
            if tokens[i, j] == 0:
                mask[i, 0, 0, j] = False
    return mask


@version("padding_mask", "right", "not equal to padding")
def padding_mask_not_equal(tokens, pad_id=0):
    return ~(tokens == pad_id)[:, None, None, :]


@version("padding_mask", "right", "from a list")
def padding_mask_list(tokens):
    return torch.tensor([[[[token != 0 for token in row]]] for row in tokens.tolist()])


# --- causal_mask ----------------------------------------------------------------------------------


@version("causal_mask", "right", "tril of bools")
def causal_tril(length):
    return torch.tril(torch.ones((length, length), dtype=torch.bool))


@version("causal_mask", "right", "not triu")
def causal_triu(length):
    return ~torch.ones(length, length).triu(diagonal=1).bool()


@version("causal_mask", "right", "annotated style")
def causal_annotated(size):
    future = torch.triu(torch.ones(size, size), diagonal=1).type(torch.uint8)
    return future == 0


@version("causal_mask", "right", "compare places")
def causal_compare(length):
    place = torch.arange(length)
    return place.unsqueeze(1) >= place.unsqueeze(0)


version("causal_mask", "right", "lists")(
    lambda n: torch.tensor([[key <= query for key in range(n)] for query in range(n)])
)


version("causal_mask", "right", "PyTorch's own")(
    lambda n: nn.Transformer.generate_square_subsequent_mask(n) == 0
)


# --- target_mask ----------------------------------------------------------------------------------


@version("target_mask", "right", "two masks, multiplied")
def target_mask_multiplied(tokens):
    t = tokens.size(-1)
    causal = torch.ones(t, t).tril()[None, None]
    padding = (tokens != 0).float()[:, None, None, :]
    return (causal * padding).bool()


@version("target_mask", "right", "logical_and")
def target_mask_logical_and(tokens):
    b, t = tokens.shape
    real = tokens.ne(0).view(b, 1, 1, t).expand(b, 1, t, t)
    return torch.logical_and(real, causal_compare(t))


@version("target_mask", "right", "tril of the expanded padding mask")
def target_mask_tril(tokens):
    return padding_mask_not_equal(tokens).repeat(1, 1, tokens.size(1), 1).tril()


@version("target_mask", "right", "three loops")
def target_mask_loops(tokens):
    b, t = tokens.shape
    mask = torch.zeros((b, 1, t, t), dtype=torch.bool)
    for i in range(b):
        for query in range(t):
            for key in range(query + 1):
                mask[i, 0, query, key] = bool(tokens[i, key] != 0)
    return mask


@version("target_mask", "right", "not forbidden")
def target_mask_not_forbidden(tokens):
    future = torch.ones(tokens.shape[1], tokens.shape[1], dtype=torch.bool).triu(1)
    return ~((tokens == 0)[:, None, None, :] | future)


# --- split_heads ----------------------------------------------------------------------------------


@version("split_heads", "right", "view and transpose")
def split_view(x, n_heads):
    b, t, d = x.shape
    return x.view(b, t, n_heads, d // n_heads).transpose(1, 2)


@version("split_heads", "right", "chunk and stack")
def split_chunk(x, n_heads):
    return torch.stack(x.chunk(n_heads, dim=-1), dim=1)


@version("split_heads", "right", "reshape and permute, contiguous")
def split_permute(x, n_heads):
    return x.reshape(*x.shape[:2], n_heads, -1).permute(0, 2, 1, 3).contiguous()


@version("split_heads", "right", "slices")
def split_slices(x, n_heads):
    k = x.size(-1) // n_heads
    return torch.cat([x[:, None, :, h * k : (h + 1) * k] for h in range(n_heads)], dim=1)


@version("split_heads", "right", "einsum")
def split_einsum(x, n_heads):
    return torch.einsum("bthk->bhtk", x.unflatten(2, (n_heads, x.size(2) // n_heads)))


@version("split_heads", "right", "copied into an empty tensor")
def split_copied(x, n_heads):
    b, t, d = x.shape
    k = d // n_heads
    heads = torch.empty(b, n_heads, t, k)
    for h in range(n_heads):
        heads[:, h] = x[..., h * k : (h + 1) * k]
    return heads


@version("split_heads", "right", "unfold")
def split_unfold(x, n_heads):
    k = x.size(-1) // n_heads
    return x.unfold(-1, k, k).swapaxes(1, 2)


# --- merge_heads ----------------------------------------------------------------------------------


@version("merge_heads", "right", "transpose, contiguous, view")
def merge_view(heads):
    b, h, t, k = heads.size()
    return heads.transpose(1, 2).contiguous().view(b, t, h * k)


@version("merge_heads", "right", "cat of the heads")
def merge_cat(heads):
    return torch.cat([heads[:, h] for h in range(heads.size(1))], dim=-1)


@version("merge_heads", "right", "cat of unbind")
def merge_unbind(heads):
    return torch.cat(heads.unbind(1), -1)


@version("merge_heads", "right", "permute and reshape")
def merge_permute(heads):
    moved = torch.permute(heads, (0, 2, 1, 3))
    return moved.reshape(moved.shape[0], moved.shape[1], -1)


@version("merge_heads", "right", "einsum and flatten")
def merge_einsum(heads):
    return torch.einsum("bhtk->bthk", heads).flatten(start_dim=2)


class Merge(nn.Module):
    def forward(self, heads):
        b, _, t, _ = heads.shape
        return torch.hstack([head.reshape(b * t, -1) for head in heads.unbind(1)]).view(b, t, -1)


version("merge_heads", "right", "a module")(Merge())


# --- multi_head_attention -------------------------------------------------------------------------


@version("multi_head_attention", "right", "view and transpose")
def multi_head_view(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    b, t, d = query.shape
    d_k = d // n_heads
    q = (query @ w_query.T).view(b, -1, n_heads, d_k).transpose(1, 2)
    k = (key @ w_key.T).view(b, -1, n_heads, d_k).transpose(1, 2)
    v = (value @ w_value.T).view(b, -1, n_heads, d_k).transpose(1, 2)
    scores = q @ k.transpose(-2, -1) / math.sqrt(d_k)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    x = scores.softmax(dim=-1) @ v
    return x.transpose(1, 2).contiguous().view(b, t, d) @ w_output.T


@version("multi_head_attention", "right", "a loop over heads")
def multi_head_loop(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    d_k = w_query.size(0) // n_heads
    if mask is not None and mask.dim() == 4:
        mask = mask.squeeze(1)
    heads = []
    for h in range(n_heads):
        rows = slice(h * d_k, (h + 1) * d_k)
        q = F.linear(query, w_query[rows])
        k = F.linear(key, w_key[rows])
        v = F.linear(value, w_value[rows])
        score = torch.bmm(q, k.transpose(1, 2)) / d_k**0.5
        if mask is not None:
            score = score.masked_fill(~mask, float("-inf"))
        heads.append(torch.bmm(F.softmax(score, dim=-1), v))
    return F.linear(torch.cat(heads, dim=-1), w_output)


@version("multi_head_attention", "right", "einsum, weights by head")
def multi_head_einsum(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    wq, wk, wv = (w.unflatten(0, (n_heads, -1)) for w in (w_query, w_key, w_value))
    q = torch.einsum("btd,hkd->bhtk", query, wq)
    k = torch.einsum("bsd,hkd->bhsk", key, wk)
    v = torch.einsum("bsd,hkd->bhsk", value, wv)
    scores = torch.einsum("bhtk,bhsk->bhts", q, k) * q.size(-1) ** -0.5
    if mask is not None:
        scores = torch.where(mask, scores, -torch.inf)
    out = torch.einsum("bhts,bhsk->bhtk", scores.softmax(-1), v)
    return torch.einsum("bhtk,dhk->btd", out, w_output.unflatten(1, (n_heads, -1)))


@version("multi_head_attention", "right", "the sum of the heads' outputs")
def multi_head_sum(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    d_k = w_query.size(0) // n_heads
    total = 0
    for h in range(n_heads):
        s = slice(h * d_k, (h + 1) * d_k)
        head = F.scaled_dot_product_attention(
            (query @ w_query[s].T)[:, None],
            (key @ w_key[s].T)[:, None],
            (value @ w_value[s].T)[:, None],
            attn_mask=mask,
        )
        total = total + head[:, 0] @ w_output[:, s].T
    return total


@version("multi_head_attention", "right", "F.multi_head_attention_forward")
def multi_head_forward(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    b, t, d = query.shape
    attn_mask = None
    if mask is not None:
        full = mask.expand(b, n_heads, t, key.size(1))
        attn_mask = ~full.reshape(b * n_heads, t, key.size(1))  # True = hidden, there
    output, _ = F.multi_head_attention_forward(
        query.transpose(0, 1),
        key.transpose(0, 1),
        value.transpose(0, 1),
        d,
        n_heads,
        torch.cat([w_query, w_key, w_value]),
        None,
        None,
        None,
        False,
        0.0,
        w_output,
        None,
        attn_mask=attn_mask,
        need_weights=False,
    )
    return output.transpose(0, 1)


class MultiHeadAttention(nn.Module):
    """Heads as further rows of the batch, as in fairseq."""

    def heads(self, x, n_heads):
        b, t = x.shape[:2]
        return x.reshape(b, t, n_heads, -1).permute(0, 2, 1, 3).reshape(b * n_heads, t, -1)

    def forward(self, query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
        b, t, d = query.shape
        q = self.heads(F.linear(query, w_query), n_heads)
        k = self.heads(F.linear(key, w_key), n_heads)
        v = self.heads(F.linear(value, w_value), n_heads)
        scores = torch.baddbmm(torch.zeros(1), q, k.mT, alpha=(d // n_heads) ** -0.5)
        if mask is not None:
            scores = scores.view(b, n_heads, t, -1).masked_fill(~mask, -1e9).flatten(0, 1)
        out = torch.bmm(scores.softmax(-1), v)
        out = out.view(b, n_heads, t, -1).transpose(1, 2).reshape(b, t, d)
        return F.linear(out, w_output)


version("multi_head_attention", "right", "a module")(MultiHeadAttention())


@version("multi_head_attention", "right", "a class")
class HeadsClass(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.h, self.k = n_heads, d_model // n_heads
        for name in ("query", "key", "value", "output"):
            setattr(self, name, nn.Linear(d_model, d_model))

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            layer(x).view(len(x), -1, self.h, self.k).transpose(1, 2)
            for layer, x in ((self.query, query), (self.key, key), (self.value, value))
        )
        heads = F.scaled_dot_product_attention(q, k, v, mask)
        return self.output(heads.transpose(1, 2).reshape(query.shape))


# --- masks_of_two --------------------------------------------------------------------------------


@version("masks_of_two", "right", "tril")
def two_masks(source, target, source_pad, target_pad):
    length = target.shape[1]
    causal = torch.tril(torch.ones((length, length), dtype=torch.bool))
    return (source != source_pad)[:, None, None, :], (target != target_pad)[:, None, None] & causal


@version("masks_of_two", "right", "by comparing places")
def two_masks_by_place(source, target, source_pad, target_pad):
    place = torch.arange(target.size(1))
    hidden = target.eq(target_pad)[:, None, None, :] | (place > place[:, None])
    return ~source.eq(source_pad)[:, None, None, :], ~hidden


@version("masks_of_two", "right", "in a loop")
def two_masks_loop(source, target, source_pad, target_pad):
    batch, length = target.shape
    mask = torch.zeros(batch, 1, length, length, dtype=torch.bool)
    for i in range(length):
        mask[:, 0, i, : i + 1] = target[:, : i + 1] != target_pad
    return source.ne(source_pad).reshape(len(source), 1, 1, -1), mask
