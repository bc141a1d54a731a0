# SPDX-License-Identifier: GPL-3.0-or-later
"""Nets for quantizer.py that PyTorch exports; empty where torch is not installed."""
import io
import warnings

import onnx

try:
    import torch
    from torch import nn
except ImportError:
    torch = None


def exported(module, inputs, names, opset=17, half=False):
    torch.manual_seed(3)
    model = module().eval()
    feeds = [torch.zeros(shape, dtype=dtype) for shape, dtype in inputs]
    if half:
        model = model.half()
        feeds = [f.half() if f.is_floating_point() else f for f in feeds]
    out = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(model, tuple(feeds), out, input_names=names, output_names=["y"], opset_version=opset, dynamo=False)
    return onnx.load_from_string(out.getvalue())


if torch:
    class Vision(nn.Module):
        """Conv, BatchNorm (folded by the exporter), Relu6, Resize, Concat, adaptive pool, Linear."""

        def __init__(self):
            super().__init__()
            self.a = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1, bias=False), nn.BatchNorm2d(8), nn.ReLU6())
            self.b = nn.Sequential(nn.Conv2d(8, 8, 3, 1, 1, groups=8), nn.ReLU(), nn.Conv2d(8, 12, 1))
            self.up = nn.Upsample(scale_factor=2, mode="nearest")
            self.t = nn.ConvTranspose2d(12, 8, 2, 2)
            self.c = nn.Conv2d(20, 6, 1)
            self.head = nn.Linear(6, 5)

        def forward(self, x):
            a = self.a(x)
            b = self.b(a)
            both = torch.cat([self.up(b), self.t(b)], dim=1)
            c = nn.functional.hardswish(self.c(both))
            return self.head(nn.functional.adaptive_avg_pool2d(c, 1).flatten(1))

    class Encoder(nn.Module):
        """Embedding, LayerNorm, attention, Gelu, Linear."""

        def __init__(self):
            super().__init__()
            self.embed = nn.Embedding(30, 16)
            self.norm1, self.norm2 = nn.LayerNorm(16), nn.LayerNorm(16)
            self.qkv, self.out = nn.Linear(16, 48), nn.Linear(16, 16)
            self.up, self.down = nn.Linear(16, 32), nn.Linear(32, 16)

        def forward(self, ids):
            x = self.embed(ids)
            b, s, d = x.shape
            q, k, v = self.qkv(self.norm1(x)).view(b, s, 3, 2, d // 2).permute(2, 0, 3, 1, 4).unbind(0)
            p = torch.softmax(q @ k.transpose(-1, -2) / 8 ** 0.5, dim=-1)
            x = x + self.out((p @ v).transpose(1, 2).reshape(b, s, d))
            return x + self.down(nn.functional.gelu(self.up(self.norm2(x))))

    class Speech(nn.Module):
        """Conv1d, GroupNorm, GLU, depthwise convolution, LeakyRelu, mean."""

        def __init__(self):
            super().__init__()
            self.c1, self.g = nn.Conv1d(4, 16, 5, padding=2), nn.GroupNorm(4, 16)
            self.c2, self.d = nn.Conv1d(8, 8, 3, padding=1, groups=8), nn.Conv1d(8, 6, 1)

        def forward(self, x):
            x = nn.functional.glu(self.g(self.c1(x)), dim=1)
            x = nn.functional.leaky_relu(self.c2(x), 0.1) * torch.sigmoid(x)
            return torch.tanh(self.d(x)).mean(-1)

    F, L = torch.float32, torch.int64
    TORCH_NETS = {
        "torch-vision": lambda: exported(Vision, [((2, 3, 16, 16), F)], ["x"]),
        "torch-encoder": lambda: exported(Encoder, [((2, 7), L)], ["ids"]),
        "torch-encoder-13": lambda: exported(Encoder, [((2, 7), L)], ["ids"], opset=13),
        "torch-speech": lambda: exported(Speech, [((1, 4, 20), F)], ["x"], opset=16),
        "torch-half": lambda: exported(Vision, [((2, 3, 16, 16), F)], ["x"], opset=19, half=True),
    }
else:
    TORCH_NETS = {}
