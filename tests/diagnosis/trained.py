# SPDX-License-Identifier: GPL-3.0-or-later
"""Networks trained for a few seconds on data of their own, so that faults cost accuracy as in real ones."""
import functools

import numpy as np
import onnx
import torch

import exporting
import nets

TRAINED = {"mlp": 6, "cnn": 10, "mobile": 10, "inception": 10, "speech": 8, "lstm": 5, "encoder": 4, "vit": 8}
STEPS = {"mobile": 320, "inception": 260, "encoder": 320, "vit": 320, "lstm": 300}
NOISE = {"encoder": 0, "lstm": 0.9}


def smooth(x):
    for axis in range(2, x.ndim):
        x = x + 0.8 * np.roll(x, 1, axis) + 0.4 * np.roll(x, 2, axis)
    return x


def drawn(name, count, seed):
    """({input: array}, labels): a pattern for each class under noise, moved and scaled from sample to sample."""
    classes, net = TRAINED[name], nets.NETS[name]
    fixed, draw = np.random.default_rng(100), np.random.default_rng(seed)
    labels, out = draw.integers(0, classes, count), {}
    for key, shape, kind in net.inputs:
        if kind == "float":
            pattern = smooth(fixed.normal(size=(classes, *shape)))
            size = draw.uniform(0.7, 1.3, size=(count, *([1] * len(shape))))
            out[key] = (pattern[labels] * size + NOISE.get(name, 1.2) * smooth(draw.normal(size=(count, *shape)))
                        + 0.3).astype(np.float32)
        elif kind == "mask":
            long = draw.integers(shape[0] * 2 // 3, shape[0] + 1, size=(count, 1))
            out[key] = (np.arange(shape[0])[None] < long).astype(np.int64)
        else:
            favourite = fixed.permuted(np.tile(np.arange(kind), (classes, 1)), axis=1)[:, :kind // 4]
            own = favourite[labels[:, None], draw.integers(0, kind // 4, size=(count, *shape))]
            out[key] = np.where(draw.random((count, *shape)) < 0.45, own, draw.integers(0, kind, size=own.shape)).astype(np.int64)
    return out, labels.astype(np.int64)


def train(name):
    torch.manual_seed(1)
    model = nets.NETS[name].make(classes=TRAINED[name]).train()
    steps = STEPS.get(name, 220)
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3, weight_decay=1e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 6e-3, total_steps=steps)
    data, labels = drawn(name, 32 * steps, seed=1)
    for step in range(steps):
        part = slice(32 * step, 32 * (step + 1))
        optimizer.zero_grad()
        logits = model(*[torch.from_numpy(v[part]) for v in data.values()])
        torch.nn.functional.cross_entropy(logits, torch.from_numpy(labels[part])).backward()
        optimizer.step()
        schedule.step()
    return model.eval()


@functools.lru_cache(None)
def trained_file(name, folder):
    """The float file, by the TorchScript exporter, batch of one; kept in `folder`."""
    path = folder / f"{name}-trained.onnx"
    if not path.exists():
        model, (data, _) = train(name), drawn(name, 1, seed=2)
        onnx.save(exporting.export(model, tuple(torch.from_numpy(v) for v in data.values()), list(data), "script"), str(path))
    return onnx.load(str(path))
