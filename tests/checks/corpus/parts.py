"""Right parts of which versions of whole layers are made."""

from __future__ import annotations

import torch.nn.functional as F
from torch import nn


class Heads(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.h = n_heads
        self.query = nn.Linear(d_model, d_model, bias=False)
        self.key = nn.Linear(d_model, d_model, bias=False)
        self.value = nn.Linear(d_model, d_model, bias=False)
        self.output = nn.Linear(d_model, d_model, bias=False)

    def forward(self, query, key, value, mask=None):
        q, k, v = self.query(query), self.key(key), self.value(value)
        q, k, v = (x.unflatten(2, (self.h, -1)).transpose(1, 2) for x in (q, k, v))
        out = F.scaled_dot_product_attention(q, k, v, mask)
        return self.output(out.transpose(1, 2).flatten(2))


class Network(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.linear2(F.relu(self.linear1(x)))


class Norm(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.norm = nn.LayerNorm(d_model)

    def forward(self, x):
        return self.norm(x)


class EncoderParts(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.self_attention = Heads(d_model, n_heads)
        self.feed_forward = Network(d_model, d_ff)
        self.attention_residual, self.feed_forward_residual = Norm(d_model), Norm(d_model)
        self.dropout = nn.Dropout(0.1)


class DecoderParts(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.self_attention = Heads(d_model, n_heads)
        self.cross_attention = Heads(d_model, n_heads)
        self.feed_forward = Network(d_model, d_ff)
        self.self_residual, self.cross_residual = Norm(d_model), Norm(d_model)
        self.feed_forward_residual = Norm(d_model)
