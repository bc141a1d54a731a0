# SPDX-License-Identifier: GPL-3.0-or-later
"""A small language model of the Llama kind: how it is trained (PyTorch), and its graph (ONNX).

The graph has the operators and names that onnxruntime-genai's builder gives such models: GroupQueryAttention with the
rotary embedding inside and caches `past_key_values.N.key|value` -> `present.N.key|value`, SkipSimplifiedLayerNormalization,
a gated feed-forward part. Weights of MatMul are stored [inputs, outputs], PyTorch's are [outputs, inputs].
"""
import math

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import nn
from torch.nn.utils import parametrize

VOCABULARY, WIDTH, HEADS, HEAD_SIZE, HIDDEN, LAYERS = 256, 48, 3, 16, 96, 2  # one head of keys and values for all heads
LONGEST = 128  # positions that the rotary tables know
BLOCK = 32  # weights that share a scale in the int4 file
EPSILON = 1e-5


def rotary_tables():
    """cos and sin, [LONGEST, HEAD_SIZE / 2]."""
    frequencies = 10000.0 ** (-torch.arange(0, HEAD_SIZE, 2) / HEAD_SIZE)
    angles = torch.arange(LONGEST)[:, None] * frequencies
    return angles.cos(), angles.sin()


def rotated(x, cos, sin):
    """x [batch, heads, positions, HEAD_SIZE], its halves turned against each other."""
    first, second = x.chunk(2, -1)
    return torch.cat((first * cos - second * sin, second * cos + first * sin), -1)


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.input_norm, self.post_norm = nn.RMSNorm(WIDTH, EPSILON), nn.RMSNorm(WIDTH, EPSILON)
        self.qkv = nn.Linear(WIDTH, (HEADS + 2) * HEAD_SIZE, bias=False)
        self.o = nn.Linear(HEADS * HEAD_SIZE, WIDTH, bias=False)
        self.gate, self.up = nn.Linear(WIDTH, HIDDEN, bias=False), nn.Linear(WIDTH, HIDDEN, bias=False)
        self.down = nn.Linear(HIDDEN, WIDTH, bias=False)

    def forward(self, x, cos, sin):
        batch, positions, _ = x.shape
        heads = self.qkv(self.input_norm(x)).view(batch, positions, HEADS + 2, HEAD_SIZE).transpose(1, 2)
        q, k, v = heads.split((HEADS, 1, 1), 1)
        q, k = rotated(q, cos, sin), rotated(k, cos, sin)
        shape = (batch, HEADS, positions, HEAD_SIZE)
        seen = nn.functional.scaled_dot_product_attention(q, k.expand(shape), v.expand(shape), is_causal=True)
        x = x + self.o(seen.transpose(1, 2).reshape(batch, positions, -1))
        y = self.post_norm(x)
        return x + self.down(nn.functional.silu(self.gate(y)) * self.up(y))


class LanguageModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.norm = nn.RMSNorm(WIDTH, EPSILON)
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)
        self.cos, self.sin = rotary_tables()
        nn.init.normal_(self.embed.weight, std=0.3)

    def forward(self, ids):
        x, positions = self.embed(ids), ids.shape[1]
        for layer in self.layers:
            x = layer(x, self.cos[:positions], self.sin[:positions])
        return self.head(self.norm(x))


class NoiseOfRounding(nn.Module):
    """Adds what rounding to int4 in blocks would, drawn anew each time: a network of 67,000 parameters has nothing to
    spare, and training ends where rounding costs less."""

    def forward(self, weight):
        blocks = nn.functional.pad(weight.detach(), (0, -weight.shape[1] % BLOCK)).unflatten(1, (-1, BLOCK))
        noise = blocks.abs().amax(2, keepdim=True) / 8 * (torch.rand_like(blocks) - 0.5)
        return weight + noise.flatten(1)[:, : weight.shape[1]]


def train(ids, steps, seed, batch=32, positions=96, rate=6e-3):
    """ids: the tokens of a text, a tensor of int64. Warms up, then the rate falls along a cosine."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    model = LanguageModel()
    products = [module for module in model.modules() if isinstance(module, nn.Linear)]
    for linear in products:
        parametrize.register_parametrization(linear, "weight", NoiseOfRounding())
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, betas=(0.9, 0.95), weight_decay=0.02)
    for step in range(steps):
        falling = 0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * step / steps))
        for group in optimizer.param_groups:
            group["lr"] = rate * min(1, (step + 1) / 100) * falling
        starts = torch.randint(0, len(ids) - positions - 1, (batch,))
        rows = torch.stack([ids[start : start + positions + 1] for start in starts])
        loss = nn.functional.cross_entropy(model(rows[:, :-1]).flatten(0, 1), rows[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % 500 == 499:
            print(f"step {step + 1}: loss {loss.item():.3f}", flush=True)
    for linear in products:
        parametrize.remove_parametrizations(linear, "weight", leave_parametrized=False)
    return model.eval()


class GraphWriter:
    """Nodes and weights under the builder's names; a node's output is called `NODE/output_0`."""

    def __init__(self):
        self.nodes, self.weights = [], []

    def weight(self, name, values):
        array = values.detach().numpy() if isinstance(values, torch.Tensor) else np.asarray(values)
        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def node(self, op, name, inputs, outputs=None, domain="", **attributes):
        outputs = outputs or [name + "/output_0"]
        self.nodes.append(helper.make_node(op, inputs, outputs, name=name, domain=domain, **attributes))
        return outputs[0]

    def product(self, name, x, linear, output=None):
        weight = self.weight(name.strip("/").replace("/", ".") + ".weight", linear.weight.T)
        return self.node("MatMul", name, [x, weight], output and [output])

    def skip_norm(self, name, x, y, norm, last=False):
        """(normalized x + y, x + y)"""
        weight = self.weight(name.strip("/").replace("/", ".") + ".weight", norm.weight)
        outputs = [name + "/output_0"] + ([] if last else ["", "", name + "/output_3"])
        self.node("SkipSimplifiedLayerNormalization", name, [x, y, weight], outputs, "com.microsoft", epsilon=EPSILON)
        return outputs[0], outputs[-1]


def write_lengths(g):
    """From the mask: positions of each row less one, and the length of the longest, as GroupQueryAttention wants them."""
    one, axis = g.weight("one", np.array([1], np.int64)), g.weight("length_axis", np.array(1, np.int64))
    scope = "/model/attn_mask_reformat"
    total = g.node("ReduceSum", scope + "/ReduceSum", ["attention_mask", one], keepdims=0)
    last = g.node("Sub", scope + "/Sub", [total, one])
    longest = g.node("Gather", scope + "/Gather", [g.node("Shape", scope + "/Shape", ["attention_mask"]), axis], axis=0)
    return [g.node("Cast", f"{scope}/{name}/Cast", [value], to=TensorProto.INT32)
            for name, value in (("Sub", last), ("Gather", longest))]


def write_attention(g, scope, number, layer, x, lengths):
    qkv = g.product(scope + "/qkv_proj/MatMul", x, layer.qkv)
    name = scope + "/GroupQueryAttention"
    past = [f"past_key_values.{number}.{part}" for part in ("key", "value")]
    present = [f"present.{number}.{part}" for part in ("key", "value")]
    seen = g.node(
        "GroupQueryAttention", name, [qkv, "", "", *past, *lengths, "cos_cache", "sin_cache"],
        [name + "/output_0", *present], "com.microsoft", num_heads=HEADS, kv_num_heads=1, do_rotary=1,
        rotary_interleaved=0, scale=HEAD_SIZE**-0.5)
    return g.product(scope + "/o_proj/MatMul", seen, layer.o)


def write_gated(g, scope, layer, x):
    gate = g.product(scope + "/gate_proj/MatMul", x, layer.gate)
    up = g.product(scope + "/up_proj/MatMul", x, layer.up)
    sigmoid = g.node("Sigmoid", scope + "/act_fn/Sigmoid", [gate])
    act = g.node("Mul", scope + "/act_fn/Mul", [gate, sigmoid])
    return g.product(scope + "/down_proj/MatMul", g.node("Mul", scope + "/Mul", [act, up]), layer.down)


def signature():
    """Inputs and outputs of the graph."""
    def tensor(name, kind, *shape):
        return helper.make_tensor_value_info(name, kind, shape)

    ids = [tensor("input_ids", TensorProto.INT64, "batch", "positions"),
           tensor("attention_mask", TensorProto.INT64, "batch", "all_positions")]
    caches = [f"{number}.{part}" for number in range(LAYERS) for part in ("key", "value")]
    past = [tensor("past_key_values." + c, TensorProto.FLOAT, "batch", 1, "past_positions", HEAD_SIZE) for c in caches]
    present = [tensor("present." + c, TensorProto.FLOAT, "batch", 1, "all_positions", HEAD_SIZE) for c in caches]
    return ids + past, [tensor("logits", TensorProto.FLOAT, "batch", "positions", VOCABULARY)] + present


def to_onnx(model):
    g = GraphWriter()
    lengths = write_lengths(g)
    g.weight("cos_cache", model.cos), g.weight("sin_cache", model.sin)
    embedding = g.weight("model.embed_tokens.weight", model.embed.weight)
    residual = g.node("Gather", "/model/embed_tokens/Gather", [embedding, "input_ids"])
    first = g.weight("model.layers.0.input_layernorm.weight", model.layers[0].input_norm.weight)
    x = g.node("SimplifiedLayerNormalization", "/model/layers.0/input_layernorm/LayerNorm", [residual, first],
               epsilon=EPSILON, axis=-1, stash_type=1)
    for number, layer in enumerate(model.layers):
        scope, last = f"/model/layers.{number}", number + 1 == LAYERS
        seen = write_attention(g, scope + "/attn", number, layer, x, lengths)
        x, residual = g.skip_norm(scope + "/post_attention_layernorm/SkipLayerNorm", residual, seen, layer.post_norm)
        y = write_gated(g, scope + "/mlp", layer, x)
        norm = "/model/final_norm/SkipLayerNorm" if last else f"/model/layers.{number + 1}/input_layernorm/SkipLayerNorm"
        weight = model.norm if last else model.layers[number + 1].input_norm
        x, residual = g.skip_norm(norm, residual, y, weight, last)
    g.product("/lm_head/MatMul", x, model.head, "logits")
    graph = helper.make_graph(g.nodes, "verses", *signature(), g.weights)
    opsets = [helper.make_opsetid("", 22), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10, producer_name="quantscope-example")
