# SPDX-License-Identifier: GPL-3.0-or-later
"""The networks of the corpus by name: how each is made and what it is fed with."""
import dataclasses

import numpy as np
import torch

import nets_attention
import nets_sequence
import nets_vision


@dataclasses.dataclass(frozen=True)
class Net:
    make: object
    inputs: tuple            # (name, shape without batch, "float" or the number of tokens or "mask")
    transformer: str = ""    # how onnxruntime.transformers calls it
    heads: int = 0
    width: int = 0


IMAGE = (("image", (3, 16, 16), "float"),)
NETS = {
    "mlp": Net(nets_sequence.Mlp, (("x", (20,), "float"),)),
    "cnn": Net(nets_vision.Cnn, IMAGE),
    "mobile": Net(nets_vision.Mobile, IMAGE),
    "resnet": Net(nets_vision.Resnet, IMAGE),
    "preact": Net(nets_vision.PreAct, IMAGE),
    "unet": Net(nets_vision.Unet, IMAGE),
    "senet": Net(nets_vision.Senet, IMAGE),
    "inception": Net(nets_vision.Inception, IMAGE),
    "detector": Net(nets_vision.Detector, IMAGE),
    "decoder": Net(nets_vision.Decoder, IMAGE),
    "speech": Net(nets_sequence.Speech, (("x", (10, 32), "float"),)),
    "wave": Net(nets_sequence.Wave, (("x", (4, 24), "float"),)),
    "lstm": Net(nets_sequence.Lstm, (("x", (12, 8), "float"),)),
    "gru": Net(nets_sequence.Gru, (("x", (6, 14), "float"),)),
    "encoder": Net(nets_attention.Encoder, (("ids", (12,), 40), ("mask", (12,), "mask")), "bert", 3, 24),
    "gpt": Net(nets_attention.Gpt, (("ids", (16,), 48),), "gpt2", 2, 24),
    "vit": Net(nets_attention.Vit, IMAGE, "vit", 3, 24),
    "hf_bert": Net(nets_attention.library_bert, (("ids", (10,), 60), ("mask", (10,), "mask")), "bert", 2, 32),
    "hf_gpt2": Net(nets_attention.library_gpt2, (("ids", (10,), 60), ("mask", (10,), "mask")), "gpt2", 2, 32),
    "hf_vit": Net(nets_attention.library_vit, IMAGE, "vit", 2, 32),
}


def lively(model, seed):
    """Random weights leave values too alike: biases, norms and running statistics get values as after training."""
    make = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for module in model.modules():
            if hasattr(module, "running_mean") and module.running_mean is not None:
                module.running_mean.copy_(torch.randn(module.running_mean.shape, generator=make) * 0.4)
                module.running_var.copy_(torch.rand(module.running_var.shape, generator=make) + 0.4)
            for name, p in module.named_parameters(recurse=False):
                if "bias" in name:
                    p.add_(torch.randn(p.shape, generator=make) * 0.15)
                elif p.dim() == 1 and "weight" in name:
                    p.copy_(torch.rand(p.shape, generator=make) * 0.8 + 0.7)
                elif p.dim() >= 2:
                    p.mul_(1.4)
    return model.eval()


def network(name, seed=7):
    torch.manual_seed(seed)
    return lively(NETS[name].make(), seed)


def samples(name, count, seed):
    """{input: array with a leading axis of samples}, smooth and with unlike channels, as real data are."""
    draw = np.random.default_rng(seed)
    out = {}
    for key, shape, kind in NETS[name].inputs:
        if kind == "float":
            x = draw.normal(size=(count, *shape))
            for axis in range(2 if len(shape) > 1 else 1, len(shape) + 1):
                x = x + 0.7 * np.roll(x, 1, axis)
            level = draw.normal(size=(count, *([1] * len(shape)))) * 0.3
            out[key] = (x + level).astype(np.float32)
        elif kind == "mask":
            long = draw.integers(shape[0] // 2, shape[0] + 1, size=(count, 1))
            out[key] = (np.arange(shape[0])[None] < long).astype(np.int64)
        else:
            out[key] = draw.integers(0, kind, size=(count, *shape)).astype(np.int64)
    return out
