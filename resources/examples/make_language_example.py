#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the bundled language model: a float file, the same with int4 weights in blocks, a tokenizer, prompts and a text.

    pip install torch onnx onnx-ir onnxruntime tokenizers numpy
    python3 make_language_example.py [FOLDER]      # some six minutes on one core

Needs apt-get and dpkg-deb (Debian): the text is the King James Bible of the packages bible-kjv and bible-kjv-text, which
are fetched into a folder that goes away; nothing is installed. The model trains on the first 97 % of the verses; prompts
and text are of the rest.

The fault is planted, by a rescaling that changes no result: a few inputs of one matrix (FAULTY) are made FACTOR times
larger and what computes these inputs FACTOR times smaller, as passes that move outliers between activations and weights
leave it behind. FACTOR is a power of two, so the float file gives the same bits. But 32 weights share a scale in the int4
file: beside one large weight the other 31 are rounded coarsely.
"""
import logging
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime as ort
import torch
from onnxruntime.quantization.matmul_nbits_quantizer import DefaultWeightOnlyQuantConfig, MatMulNBitsQuantizer
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from language_model import BLOCK, HEAD_SIZE, LAYERS, VOCABULARY, to_onnx, train

SEED, STEPS = 20, 8000
LAYER, INPUTS, FACTOR = 0, (5, 40, 70), 8.0
FAULTY = f"/model/layers.{LAYER}/mlp/down_proj/MatMul"
PROMPTS, POSITIONS = 8, 48


def verses():
    with tempfile.TemporaryDirectory() as folder:
        download = ["apt-get", "download", "-qq", "-o", "APT::Sandbox::User=root", "bible-kjv", "bible-kjv-text"]
        subprocess.run(download, cwd=folder, check=True)
        for package in pathlib.Path(folder).glob("*.deb"):
            subprocess.run(["dpkg-deb", "-x", package, folder], check=True)
        said = subprocess.run([folder + "/usr/bin/bible", "-f", "gen1:1-rev22:21"], cwd=folder + "/usr/lib",
                              capture_output=True, check=True, encoding="latin-1").stdout
    return [line.split(" ", 1)[1].strip() for line in said.splitlines() if " " in line]


def byte_level_tokenizer(lines):
    """Knows printable ASCII and line ends: all that the text is made of, and what people may type."""
    cut = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = [cut.pre_tokenize_str("a" + chr(code))[-1][0][-1] for code in (10, *range(32, 127))]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer, tokenizer.decoder = cut, decoders.ByteLevel()
    tokenizer.train_from_iterator(lines, trainers.BpeTrainer(
        vocab_size=VOCABULARY, initial_alphabet=alphabet, show_progress=False))
    return tokenizer


def plant(model):
    """Exact: the gated product is linear in `up`, and powers of two only change exponents."""
    layer, inputs = model.layers[LAYER], list(INPUTS)
    with torch.no_grad():
        layer.down.weight[:, inputs] *= FACTOR
        layer.up.weight[inputs] /= FACTOR


def quantize(path, quantized_path, left_out=(), block=BLOCK, bits=4):
    """Symmetric, every MatMul with a constant weight, lm_head as well."""
    config = DefaultWeightOnlyQuantConfig(block_size=block, is_symmetric=True, bits=bits)
    quantizer = MatMulNBitsQuantizer(onnx.load(path), nodes_to_exclude=list(left_out), algo_config=config)
    quantizer.process()
    onnx.save(quantizer.model.model, quantized_path)


def session(path):
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def empty_caches(rows):
    return {f"past_key_values.{number}.{part}": np.zeros((rows, 1, 0, HEAD_SIZE), np.float32)
            for number in range(LAYERS) for part in ("key", "value")}


def scores(run, ids):
    """logits [prompts, positions, vocabulary], all positions in one go."""
    feeds = {"input_ids": ids, "attention_mask": np.ones_like(ids), **empty_caches(len(ids))}
    return run.run(["logits"], feeds)[0].astype(np.float64)


def log_softmax(x):
    x = x - x.max(-1, keepdims=True)
    return x - np.log(np.exp(x).sum(-1, keepdims=True))


def perplexity(run, ids):
    log_p = log_softmax(scores(run, ids))[:, :-1]
    return float(np.exp(-np.take_along_axis(log_p, ids[:, 1:, None], -1).mean()))


def continued(run, prompt, count):
    """Greedily, token by token, with caches."""
    names = [output.name for output in run.get_outputs()]
    step, caches, tokens = np.array([prompt], np.int64), empty_caches(1), []
    while len(tokens) < count:
        mask = np.ones((1, len(prompt) + len(tokens)), np.int64)
        found = dict(zip(names, run.run(None, {"input_ids": step, "attention_mask": mask, **caches})))
        tokens.append(int(found["logits"][0, -1].argmax()))
        step = np.array([[tokens[-1]]], np.int64)
        caches = {name: found[name.replace("past_key_values", "present")] for name in caches}
    return tokens


def tell(name, run, float_run, ids, tokenizer, read=16, count=32):
    agreement = (scores(run, ids).argmax(-1) == scores(float_run, ids).argmax(-1)).mean()
    print(f"{name}: perplexity {perplexity(run, ids):.2f}, same best token {100 * agreement:.1f} %")
    for number, prompt in enumerate(ids[:, :read]):
        reference, tokens = continued(float_run, prompt, count), continued(run, prompt, count)
        parts = [k for k in range(count) if tokens[k] != reference[k]]
        print(f"  {number}: parts at {parts[0] if parts else 'no token'}: {tokenizer.decode(list(prompt))!r}"
              f" -> {tokenizer.decode(tokens)!r}")


def write_texts(folder, tokenizer, held):
    """Prompts begin with a verse each and go on into the next ones."""
    rows, text = [], held[: len(held) // 2]
    for first in range(0, len(text), len(text) // PROMPTS)[:PROMPTS]:
        rows.append(tokenizer.encode("\n".join(text[first : first + 6])).ids[:POSITIONS])
    ids = np.array(rows, np.int64)
    np.savez_compressed(folder / "verses_prompts.npz", input_ids=ids)
    (folder / "verses.txt").write_text("\n".join(held[len(held) // 2 :][:20]) + "\n")
    return ids


def main():
    logging.disable(logging.INFO)  # the quantizer tells each node
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__)))
    lines = verses()
    seen = len(lines) * 97 // 100
    tokenizer = byte_level_tokenizer(lines[:seen])
    tokenizer.save(str(folder / "tokenizer.json"))
    ids = write_texts(folder, tokenizer, lines[seen:])
    model = train(torch.tensor(tokenizer.encode("\n".join(lines[:seen])).ids), STEPS, SEED)

    float_path, int4_path = folder / "verses_float.onnx", folder / "verses_int4.onnx"
    with tempfile.TemporaryDirectory() as scratch:
        onnx.save(to_onnx(model), scratch + "/before.onnx")
        before = scores(session(scratch + "/before.onnx"), ids)
        print("without the fault, int4: perplexity", end=" ")
        quantize(scratch + "/before.onnx", scratch + "/int4.onnx")
        print(f"{perplexity(session(scratch + '/int4.onnx'), ids):.2f}")
    plant(model)
    onnx.save(to_onnx(model), float_path)
    float_run = session(float_path)
    print("largest change of a score by the rescaling:", np.abs(scores(float_run, ids) - before).max())
    quantize(float_path, int4_path)
    for name, run in (("float", float_run), ("int4", session(int4_path))):
        tell(name, run, float_run, ids, tokenizer)
    remedies(float_path, float_run, ids, tokenizer)


def remedies(float_path, float_run, ids, tokenizer):
    """What the fault costs, seen by what helps; these files are not kept."""
    with tempfile.TemporaryDirectory() as scratch:
        path = scratch + "/mended.onnx"
        for name, options in ((f"{FAULTY} in float", {"left_out": [FAULTY]}), ("blocks of 16", {"block": 16}),
                              ("8 bits everywhere", {"bits": 8})):
            quantize(float_path, path, **options)
            print(f"int4, {name}: perplexity {perplexity(session(path), ids):.2f}, {os.path.getsize(path)} bytes")


if __name__ == "__main__":
    main()
