# SPDX-License-Identifier: GPL-3.0-or-later
"""Transformers of the corpus: own ones, and tiny ones of the `transformers` library with random weights."""
import torch
from torch import nn
from torch.nn import functional as fn


class Attention(nn.Module):
    """Packed or separate projections, matrix products written out."""

    def __init__(self, d, heads, packed):
        super().__init__()
        self.heads, self.packed = heads, packed
        self.qkv = nn.Linear(d, 3 * d) if packed else nn.ModuleList([nn.Linear(d, d) for _ in range(3)])
        self.out = nn.Linear(d, d)

    def forward(self, x, mask=None):
        b, s, d = x.shape
        q, k, v = self.qkv(x).split(d, -1) if self.packed else [p(x) for p in self.qkv]
        q, k, v = [t.view(b, s, self.heads, d // self.heads).transpose(1, 2) for t in (q, k, v)]
        scores = q @ k.transpose(-1, -2) / (d // self.heads) ** 0.5
        p = torch.softmax(scores if mask is None else scores + mask, -1)
        return self.out((p @ v).transpose(1, 2).reshape(b, s, d))


class Layer(nn.Module):
    def __init__(self, d, heads, packed, first, gelu="none"):
        super().__init__()
        self.attention, self.first, self.gelu = Attention(d, heads, packed), first, gelu
        self.n1, self.n2, self.up, self.down = nn.LayerNorm(d), nn.LayerNorm(d), nn.Linear(d, 2 * d), nn.Linear(2 * d, d)

    def feed(self, x):
        return self.down(fn.gelu(self.up(x), approximate=self.gelu))

    def forward(self, x, mask=None):
        if self.first:
            x = x + self.attention(self.n1(x), mask)
            return x + self.feed(self.n2(x))
        x = self.n1(x + self.attention(x, mask))
        return self.n2(x + self.feed(x))


class Encoder(nn.Module):
    """BERT-like: tokens and positions, norm after the residual, padding mask, class of the first position."""

    def __init__(self, words=40, d=24, classes=4, length=12):
        super().__init__()
        self.embed, self.place, self.norm = nn.Embedding(words, d), nn.Embedding(length, d), nn.LayerNorm(d)
        self.layers = nn.ModuleList([Layer(d, 3, False, False) for _ in range(2)])
        self.pool, self.out = nn.Linear(d, d), nn.Linear(d, classes)

    def forward(self, ids, mask):
        x = self.norm(self.embed(ids) + self.place(torch.arange(ids.shape[1])))
        away = (1.0 - mask[:, None, None, :].float()) * -10000.0
        for layer in self.layers:
            x = layer(x, away)
        return self.out(torch.tanh(self.pool(x[:, 0])))


class Gpt(nn.Module):
    """Causal, packed projections, tanh Gelu, the table of tokens also gives the logits."""

    def __init__(self, words=48, d=24, length=16):
        super().__init__()
        self.embed, self.place, self.norm = nn.Embedding(words, d), nn.Embedding(length, d), nn.LayerNorm(d)
        self.layers = nn.ModuleList([Layer(d, 2, True, True, "tanh") for _ in range(2)])
        self.register_buffer("mask", torch.full((length, length), -1e4).triu(1))

    def forward(self, ids):
        s = ids.shape[1]
        x = self.embed(ids) + self.place(torch.arange(s))
        for layer in self.layers:
            x = layer(x, self.mask[:s, :s])
        return self.norm(x) @ self.embed.weight.t()


class Vit(nn.Module):
    """Patches by a convolution, a class token, norm first."""

    def __init__(self, d=24, classes=8):
        super().__init__()
        self.patch, self.token = nn.Conv2d(3, d, 4, 4), nn.Parameter(torch.randn(1, 1, d) * 0.3)
        self.place = nn.Parameter(torch.randn(1, 17, d) * 0.3)
        self.layers = nn.ModuleList([Layer(d, 3, True, True) for _ in range(2)])
        self.norm, self.out = nn.LayerNorm(d), nn.Linear(d, classes)

    def forward(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], 1) + self.place
        for layer in self.layers:
            x = layer(x)
        return self.out(self.norm(x)[:, 0])


class LibraryModel(nn.Module):
    """A model of the `transformers` library that gives one tensor."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, first, mask=None):
        if first.is_floating_point():
            return self.model(pixel_values=first).last_hidden_state
        return self.model(input_ids=first, attention_mask=mask).last_hidden_state


def library_bert():
    from transformers import BertConfig, BertModel
    config = BertConfig(vocab_size=60, hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64,
                        max_position_embeddings=32, attn_implementation="eager")
    return LibraryModel(BertModel(config, add_pooling_layer=False))


def library_gpt2():
    from transformers import GPT2Config, GPT2Model
    config = GPT2Config(vocab_size=60, n_positions=32, n_embd=32, n_layer=2, n_head=2, use_cache=False,
                        attn_implementation="eager")
    return LibraryModel(GPT2Model(config))


def library_vit():
    from transformers import ViTConfig, ViTModel
    config = ViTConfig(hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64, image_size=16,
                       patch_size=4, attn_implementation="eager")
    return LibraryModel(ViTModel(config, add_pooling_layer=False))
