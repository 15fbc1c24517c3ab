"""Right versions of layers, as people write them: none of these may be refused."""

import functools
import math

import torch
import torch.nn.functional as F
from torch import nn

from tests.checks.corpus import version

# --- layer_norm -----------------------------------------------------------------------------------


version("layer_norm", "right", "the class of PyTorch")(nn.LayerNorm)


version("layer_norm", "right", "a partial of a class")(functools.partial(nn.LayerNorm, eps=1e-5))


@version("layer_norm", "right", "F.layer_norm")
def layer_norm_ready_made(x, weight, bias, eps=1e-5):
    return F.layer_norm(x, (x.size(-1),), weight, bias, eps)


@version("layer_norm", "right", "mean and var")
def layer_norm_var(x, weight, bias, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    var = x.var(-1, correction=0, keepdim=True)
    return (x - mean) * torch.rsqrt(var + eps) * weight + bias


@version("layer_norm", "right", "sums")
def layer_norm_sums(x, weight, bias, eps=1e-5):
    d = x.shape[-1]
    mu = x.sum(dim=-1, keepdim=True) / d
    sigma2 = ((x - mu) ** 2).sum(dim=-1, keepdim=True) / d
    return weight * ((x - mu) / (sigma2 + eps) ** 0.5) + bias


@version("layer_norm", "right", "var_mean")
def layer_norm_var_mean(x, weight, bias, eps=1e-5):
    var, mean = torch.var_mean(x, dim=-1, unbiased=False, keepdim=True)
    return torch.addcmul(bias, weight, (x - mean) / torch.sqrt(var + eps))


@version("layer_norm", "right", "position by position")
def layer_norm_loop(x, weight, bias, eps=1e-5):
    out = torch.zeros_like(x)
    for b in range(x.size(0)):
        for t in range(x.size(1)):
            row = x[b, t]
            centred = row - row.mean()
            out[b, t] = centred / (centred.square().mean() + eps).sqrt() * weight + bias
    return out


@version("layer_norm", "right", "mean of squares minus square of mean, double")
def layer_norm_two_moments(x, weight, bias, eps=1e-5):
    y = x.double()
    mean = y.mean(-1, keepdim=True)
    var = y.pow(2).mean(-1, keepdim=True) - mean.pow(2)
    return weight * (y - mean) / (var + eps).sqrt() + bias


@version("layer_norm", "right", "functional_call of nn.LayerNorm")
def layer_norm_module(x, weight, bias, eps=1e-5):
    norm = nn.LayerNorm(x.size(-1), eps=eps)
    return torch.func.functional_call(norm, {"weight": weight, "bias": bias}, (x,))


# --- layer_norm_parameters ------------------------------------------------------------------------


version("layer_norm_parameters", "right", "ones and zeros")(
    lambda d: (torch.ones(d), torch.zeros(d))
)


version("layer_norm_parameters", "right", "parameters")(
    lambda d: (nn.Parameter(torch.full((d,), 1.0)), nn.Parameter(torch.full((d,), 0.0)))
)


@version("layer_norm_parameters", "right", "nn.LayerNorm's own")
def fresh_norm(d_model):
    norm = nn.LayerNorm(d_model)
    return [norm.weight, norm.bias]


# --- pre_norm -------------------------------------------------------------------------------------


version("pre_norm", "right", "a lambda")(lambda x, sublayer, norm: x + sublayer(norm(x)))


@version("pre_norm", "right", "a residual kept")
def pre_norm_residual(x, sublayer, norm):
    residual = x
    x = norm(x)
    x = sublayer(x)
    return residual + x


@version("pre_norm", "right", "on a copy, in place")
def pre_norm_in_place(x, sublayer, norm):
    out = x.clone()
    out += sublayer(norm(x))
    return out


class PreNorm(nn.Module):
    def forward(self, x, sublayer, norm):
        return torch.add(sublayer(norm(x)), x)


version("pre_norm", "right", "a module")(PreNorm())


# --- post_norm ------------------------------------------------------------------------------------


version("post_norm", "right", "a lambda")(lambda x, f, norm: norm(f(x) + x))


@version("post_norm", "right", "step by step")
def post_norm_steps(x, sublayer, norm):
    change = sublayer(x)
    total = x + change
    return norm(total)


class PostNorm:
    def __call__(self, x, sublayer, norm):
        return norm(torch.stack([x, sublayer(x)]).sum(0))


version("post_norm", "right", "an object")(PostNorm())


@version("post_norm", "right", "nn.Sequential of closures")
def post_norm_closure(x, sublayer, norm):
    def residual(y):
        return y + sublayer(y)

    return norm(residual(x))


# --- dropout --------------------------------------------------------------------------------------


@version("dropout", "right", "where")
def dropout_where(x, p, keep, training):
    if not training:
        return x
    return torch.where(keep, x / (1 - p), 0.0)


@version("dropout", "right", "multiply by a mask of numbers")
def dropout_multiply(x, p, keep, training):
    if training:
        return x * keep.float() / (1.0 - p)
    else:
        return x.clone()


@version("dropout", "right", "masked_fill")
def dropout_masked_fill(x, p, keep, training=True):
    return x.masked_fill(~keep, 0.0).mul(1 / (1 - p)) if training else x


@version("dropout", "right", "assignment into a copy")
def dropout_copy(x, p, keep, training):
    y = x.clone()
    if training:
        y[~keep] = 0
        y = y / (1 - p)
    return y


@version("dropout", "right", "entry by entry")
def dropout_entries(x, p, keep, training):
    if not training:
        return x * 1
    entries = [
        value / (1 - p) if kept else value * 0
        for value, kept in zip(x.flatten(), keep.flatten().tolist())
    ]
    return torch.stack(entries).reshape(x.shape)


# --- sublayer_with_dropout ------------------------------------------------------------------------


@version("sublayer_with_dropout", "right", "one line")
def sub_line(x, sublayer, norm, dropout):
    return dropout(sublayer(norm(x))) + x


@version("sublayer_with_dropout", "right", "step by step")
def sub_steps(x, sublayer, norm, dropout):
    residual = x
    x = norm(x)
    x = sublayer(x)
    x = dropout(x)
    return residual + x


class Sublayer(nn.Module):
    def forward(self, x, sublayer, norm, dropout):
        change = functools.reduce(lambda y, f: f(y), (norm, sublayer, dropout), x)
        return torch.add(x, change)


version("sublayer_with_dropout", "right", "a module")(Sublayer())


# --- feed_forward ---------------------------------------------------------------------------------


@version("feed_forward", "right", "a class with dropout")
class NetworkClass(nn.Module):
    def __init__(self, d_model, d_ff, p=0.3):
        super().__init__()
        self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(p)

    def forward(self, x):
        return self.linear2(self.dropout(self.linear1(x).relu()))


@version("feed_forward", "right", "F.linear")
def feed_forward_linear(x, w1, b1, w2, b2):
    return F.linear(F.relu(F.linear(x, w1, b1)), w2, b2)


@version("feed_forward", "right", "clamp")
def feed_forward_clamp(x, w1, b1, w2, b2):
    hidden = (x @ w1.t() + b1).clamp(min=0)
    return hidden @ w2.t() + b2


@version("feed_forward", "right", "einsum")
def feed_forward_einsum(x, w1, b1, w2, b2):
    h = torch.einsum("btd,fd->btf", x, w1) + b1
    h = h * (h > 0)
    return torch.einsum("btf,df->btd", h, w2) + b2


@version("feed_forward", "right", "position by position")
def feed_forward_loop(x, w1, b1, w2, b2):
    rows = []
    for sentence in x:
        rows.append(torch.stack([w2 @ torch.relu(w1 @ v + b1) + b2 for v in sentence]))
    return torch.stack(rows)


@version("feed_forward", "right", "double, maximum")
def feed_forward_double(x, w1, b1, w2, b2):
    x, w1, b1, w2, b2 = (a.double() for a in (x, w1, b1, w2, b2))
    h = torch.matmul(x, w1.T) + b1
    return torch.matmul(torch.maximum(h, torch.zeros_like(h)), w2.T) + b2


@version("feed_forward", "right", "addmm on flat rows, relu in place")
def feed_forward_addmm(x, w1, b1, w2, b2):
    flat = x.flatten(0, 1)
    h = torch.addmm(b1, flat, w1.T)
    h = F.relu(h, inplace=True)
    return torch.addmm(b2, h, w2.T).view_as(x)


class FeedForward(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = nn.ReLU()

    def forward(self, x, w1, b1, w2, b2):
        return self.act(x @ w1.transpose(0, 1) + b1) @ w2.transpose(0, 1) + b2


version("feed_forward", "right", "a module")(FeedForward())


# --- group_sort -----------------------------------------------------------------------------------


@version("group_sort", "right", "minimum and maximum")
def group_sort_minmax(x):
    a, b = x[..., ::2], x[..., 1::2]
    return torch.stack([torch.minimum(a, b), torch.maximum(a, b)], dim=-1).reshape(x.shape)


@version("group_sort", "right", "view and sort")
def group_sort_view(x):
    pairs = x.view(*x.shape[:-1], x.size(-1) // 2, 2)
    return torch.sort(pairs, dim=-1)[0].view_as(x)


@version("group_sort", "right", "written into an empty tensor")
def group_sort_written(x):
    y = torch.empty_like(x)
    y[..., 0::2] = torch.where(x[..., 0::2] < x[..., 1::2], x[..., 0::2], x[..., 1::2])
    y[..., 1::2] = torch.where(x[..., 0::2] < x[..., 1::2], x[..., 1::2], x[..., 0::2])
    return y


@version("group_sort", "right", "pair by pair")
def group_sort_pairs(x):
    parts = [part.sort(-1).values for part in x.split(2, dim=-1)]
    return torch.cat(parts, dim=-1)


@version("group_sort", "right", "relu of the difference")
def group_sort_relu(x):
    first, second = x.unflatten(-1, (-1, 2)).unbind(-1)
    excess = F.relu(first - second)
    return torch.stack((first - excess, second + excess), -1).flatten(-2)


# --- encoder_layer --------------------------------------------------------------------------------


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


class Wrapped(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.norm = nn.LayerNorm(d_model)

    def forward(self, x, f):
        return x + f(self.norm(x))


@version("encoder_layer", "right", "a class")
class EncoderClass(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.self_attention = HeadsClass(d_model, n_heads)
        self.feed_forward = NetworkClass(d_model, d_ff)
        self.attention_residual = Wrapped(d_model)
        self.feed_forward_residual = Wrapped(d_model)

    def forward(self, x, mask=None):
        x = self.attention_residual(x, lambda y: self.self_attention(y, y, y, mask))
        return self.feed_forward_residual(x, self.feed_forward)


@version("encoder_layer", "right", "step by step")
def encoder_steps(x, mask, attention, feed_forward, norm1, norm2):
    y = norm1(x)
    x = x + attention(y, y, y, mask)
    y = norm2(x)
    x = x + feed_forward(y)
    return x


@version("encoder_layer", "right", "keywords")
def encoder_keywords(x, mask, attention, feed_forward, norm1, norm2):
    normed = norm1(x)
    attended = x + attention(query=normed, key=normed, value=normed, mask=mask)
    return attended + feed_forward(norm2(attended))


@version("encoder_layer", "right", "a helper for the residual")
def encoder_helper(x, mask, attention, feed_forward, norm1, norm2):
    def sublayer(x, norm, f):
        return x + f(norm(x))

    x = sublayer(x, norm1, lambda y: attention(y, y, y, mask))
    return sublayer(x, norm2, feed_forward)


class EncoderLayer(nn.Module):
    def forward(self, x, mask, attention, feed_forward, norm1, norm2):
        residual, x = x, norm1(x)
        x = residual + attention(x, x, x, mask=mask)
        residual, x = x, norm2(x)
        return residual + feed_forward(x)


version("encoder_layer", "right", "a module")(EncoderLayer())


@version("encoder_layer", "right", "without a mask argument if there is none")
def encoder_no_mask(x, mask, attention, feed_forward, norm1, norm2):
    q = k = v = norm1(x)
    z = attention(q, k, v) if mask is None else attention(q, k, v, mask)
    z = z + x
    return z.add(feed_forward(norm2(z)))


# --- decoder_layer --------------------------------------------------------------------------------


@version("decoder_layer", "right", "a class")
class DecoderClass(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.self_attention = HeadsClass(d_model, n_heads)
        self.cross_attention = HeadsClass(d_model, n_heads)
        self.feed_forward = NetworkClass(d_model, d_ff)
        self.self_residual = Wrapped(d_model)
        self.cross_residual = Wrapped(d_model)
        self.feed_forward_residual = Wrapped(d_model)

    def forward(self, x, memory, target_mask=None, memory_mask=None):
        x = self.self_residual(x, lambda y: self.self_attention(y, y, y, target_mask))
        x = self.cross_residual(x, lambda y: self.cross_attention(y, memory, memory, memory_mask))
        return self.feed_forward_residual(x, self.feed_forward)


@version("decoder_layer", "right", "step by step")
def decoder_steps(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    norm1, norm2, norm3 = norms
    y = norm1(x)
    x = x + self_attention(y, y, y, target_mask)
    x = x + cross_attention(norm2(x), memory, memory, memory_mask)
    return x + feed_forward(norm3(x))


@version("decoder_layer", "right", "keywords")
def decoder_keywords(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    a = norms[0](x)
    h1 = self_attention(query=a, key=a, value=a, mask=target_mask) + x
    b = norms[1](h1)
    h2 = cross_attention(query=b, key=memory, value=memory, mask=memory_mask) + h1
    c = norms[2](h2)
    return feed_forward(c) + h2


@version("decoder_layer", "right", "a loop over the sublayers")
def decoder_loop(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    sublayers = [
        lambda y: self_attention(y, y, y, target_mask),
        lambda y: cross_attention(y, memory, memory, memory_mask),
        feed_forward,
    ]
    for norm, sublayer in zip(norms, sublayers):
        x = x + sublayer(norm(x))
    return x


class DecoderLayer:
    def run(self, x, memory, target_mask, memory_mask, self_attn, cross_attn, ff, norms):
        x = self.add(x, norms[0], lambda y: self_attn(y, y, y, mask=target_mask))
        x = self.add(x, norms[1], lambda y: cross_attn(y, memory, memory, mask=memory_mask))
        return self.add(x, norms[-1], ff)

    @staticmethod
    def add(x, norm, sublayer):
        return x + sublayer(norm(x))


version("decoder_layer", "right", "a bound method")(DecoderLayer().run)


# --- causal_self_attention ------------------------------------------------------------------------


@version("causal_self_attention", "right", "is_causal")
def modes_fused(x, training):
    return F.scaled_dot_product_attention(x, x, x, is_causal=True)


@version("causal_self_attention", "right", "triu and -1e9")
def modes_triu(x, training):
    t = x.shape[1]
    future = torch.triu(torch.ones(t, t), 1) == 1
    scores = torch.bmm(x, x.transpose(1, 2)) / math.sqrt(x.shape[2])
    return torch.bmm(F.softmax(scores.masked_fill(future, -1e9), dim=2), x)


@version("causal_self_attention", "right", "position by position")
def modes_loop(x, training):
    out = []
    for t in range(x.size(1)):
        past = x[:, : t + 1]
        w = torch.einsum("bd,bsd->bs", x[:, t], past).div(x.size(-1) ** 0.5).softmax(-1)
        out.append(torch.einsum("bs,bsd->bd", w, past))
    return torch.stack(out, 1)


# --- make_stack -----------------------------------------------------------------------------------


version("make_stack", "right", "ModuleList")(
    lambda make, n: nn.ModuleList([make() for _ in range(n)])
)


version("make_stack", "right", "Sequential")(
    lambda make, n: nn.Sequential(*(make() for _ in range(n)))
)


version("make_stack", "right", "a tuple")(lambda make, n: tuple(make() for _ in range(n)))


@version("make_stack", "right", "append")
def stack_append(make_layer, n_layers):
    layers = nn.ModuleList()
    for _ in range(n_layers):
        layers.append(make_layer())
    return layers


@version("make_stack", "right", "a while loop")
def stack_while(make_layer, n_layers):
    layers = []
    while len(layers) < n_layers:
        layers += [make_layer()]
    return layers


@version("make_stack", "right", "recursion")
def stack_recursive(make_layer, n_layers):
    return [] if n_layers == 0 else [make_layer()] + stack_recursive(make_layer, n_layers - 1)


# --- transformer_forward --------------------------------------------------------------------------


@version("transformer_forward", "right", "as in the book")
def forward_book(source, target, embed_source, embed_target, encoder, decoder, output):
    source_mask = (source != 0)[:, None, None]
    n = target.size(1)
    target_mask = (target != 0)[:, None, None] & torch.ones(n, n, dtype=torch.bool).tril()
    memory = encoder(embed_source(source), source_mask)
    return output(decoder(embed_target(target), memory, target_mask, source_mask))


@version("transformer_forward", "right", "causal mask alone, since padding comes last")
def forward_causal(source, target, embed_source, embed_target, encoder, decoder, output):
    src_mask = source.ne(0).unsqueeze(1).unsqueeze(2)
    causal = torch.tril(torch.ones(target.shape[1], target.shape[1])).bool()
    memory = encoder(embed_source(source), src_mask)
    return output(decoder(embed_target(target), memory, causal, src_mask))


class Model(nn.Module):
    def encode(self, source, embed, encoder):
        return encoder(embed(source), self.pad(source))

    def pad(self, ids):
        return ids.bool()[:, None, None, :]

    def forward(self, source, target, embed_source, embed_target, encoder, decoder, output):
        memory = self.encode(source, embed_source, encoder)
        places = torch.arange(target.size(1))
        mask = self.pad(target) * (places[None] <= places[:, None])
        out = decoder(embed_target(target), memory, target_mask=mask, memory_mask=self.pad(source))
        return output(out)


version("transformer_forward", "right", "a module")(Model())


# --- registered_layers ---------------------------------------------------------------------------


@version("registered_layers", "right", "ModuleList")
def registered_list(layers):
    class Stack(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList(layers)

        def forward(self, x):
            for layer in self.layers:
                x = layer(x)
            return x

    return Stack()


@version("registered_layers", "right", "Sequential")
def registered_in_sequence(layers):
    return nn.Sequential(*layers)


@version("registered_layers", "right", "add_module")
def registered_by_name(layers):
    module = nn.Module()
    for i, layer in enumerate(layers):
        module.add_module(f"layer_{i}", layer)
    module.forward = lambda x: functools.reduce(lambda y, layer: layer(y), module.children(), x)
    return module
