# SPDX-License-Identifier: GPL-3.0-or-later
"""Prompts for language models in the forms that tokenizers and collators of Hugging Face give them."""

import numpy as np
import onnx
import pytest
from conftest import constant
from onnx import TensorProto, helper

import quantscope as q

VOCABULARY = 16
pytestmark = pytest.mark.filterwarnings("ignore:data. not given")


@pytest.fixture(scope="module")
def language_model(tmp_path_factory):
    """Tokens, a mask and a past; the next token depends on the last one alone."""
    rng = np.random.default_rng(4)
    constants = [
        constant("E", rng.normal(size=(VOCABULARY, 8)).astype(np.float32)),
        constant("W", rng.normal(size=(8, VOCABULARY)).astype(np.float32)),
        constant("last", np.array([2], np.int64)),
        constant("second", np.array([1], np.int64)),
    ]
    nodes = [
        helper.make_node("Gather", ["E", "input_ids"], ["embedded"], name="embedding"),
        helper.make_node("Cast", ["attention_mask"], ["float_mask"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["float_mask", "last"], ["mask"]),
        helper.make_node("Mul", ["embedded", "mask"], ["hidden"], name="mul"),
        helper.make_node("MatMul", ["hidden", "W"], ["logits"], name="head"),
        helper.make_node("Unsqueeze", ["hidden", "second"], ["key"]),
        helper.make_node("Concat", ["past_key_values.0.key", "key"], ["present.0.key"], axis=2),
    ]
    whole = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["N", "T"]) for name in ("input_ids", "attention_mask")
    ]
    past, present = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", 1, length, 8])
        for name, length in (("past_key_values.0.key", "P"), ("present.0.key", "S"))
    )
    logits = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["N", "T", VOCABULARY])
    graph = helper.make_graph(nodes, "language", [*whole, past], [logits, present], constants)
    path = tmp_path_factory.mktemp("language") / "model.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
    return path


def prompts(*lengths):
    rng = np.random.default_rng(3)
    return [rng.integers(0, VOCABULARY, length) for length in lengths]


def language(model, data, **options):
    with q.compare(model, data=data, recipe={}, **options) as result:
        return result.json["language"]


def padded(ids):
    """What a collator makes of prompts."""
    longest = max(map(len, ids))
    return {
        "input_ids": np.stack([np.pad(i, (0, longest - len(i))) for i in ids]),
        "attention_mask": np.stack([np.pad(np.ones_like(i), (0, longest - len(i))) for i in ids]),
    }


@pytest.mark.parametrize(
    "form",
    [
        lambda ids: [{"input_ids": i[None]} for i in ids],
        lambda ids: [{"input_ids": i} for i in ids],
        lambda ids: ({"input_ids": i, "attention_mask": np.ones_like(i)} for i in ids),
        lambda ids: list(ids),
        lambda ids: [i.tolist() for i in ids],
        lambda ids: {"input_ids": [i.tolist() for i in ids]},
        lambda ids: [{"input_ids": i, "labels": i, "text": "…"} for i in ids],
        lambda ids: [padded(ids[:2]), padded(ids[2:])],
    ],
    ids=[
        "inputs",
        "samples",
        "with masks",
        "arrays",
        "lists",
        "a tokenizer's dict",
        "with labels",
        "a collator's batches",
    ],
)
def test_unequal_lengths_are_padded(language_model, form):
    ids = prompts(5, 5, 9, 3)
    expected = language(language_model, padded(ids))
    found = language(language_model, form(ids))
    assert found["prompts"] == 4 and found["positions"] == sum(map(len, ids))
    assert (found["loss_float"], found["loss_quantized"]) == (expected["loss_float"], expected["loss_quantized"])


@pytest.mark.parametrize(
    "form",
    [
        lambda ids: [{"input_ids": i[None], "labels": i[None]} for i in ids],
        lambda ids: [{"input_ids": i, "labels": i} for i in ids],
        lambda ids: [{"input_ids": np.stack(ids), "labels": np.stack(ids)}],
        lambda ids: {"input_ids": np.stack(ids), "labels": np.stack(ids)},
    ],
)
def test_labels_of_positions(language_model, form):
    ids = prompts(6, 6, 6)
    expected = language(language_model, {"input_ids": np.stack(ids)})
    with pytest.warns(q.ProgramWarning, match="labels are not used: there is one a position") as told:
        found = language(language_model, form(ids))
    assert len([w for w in told if "labels" in str(w.message)]) == 1
    assert found["loss_float"] == expected["loss_float"] and found["prompts"] == 3


def test_what_is_missing_is_named(language_model):
    with pytest.raises(q.BadInput, match="nothing for the model's input 'input_ids', 'attention_mask'"):
        language(language_model, [{"past_key_values.0.key": np.zeros((1, 1, n, 8), np.float32)} for n in (1, 2)])
    with pytest.raises(q.BadUse, match="sample 2 has no array 'input_ids'"):
        q.run(language_model, [*({"input_ids": i} for i in prompts(2, 3)), {"attention_mask": np.ones(3, np.int64)}])
    with pytest.raises(q.BadInput, match="different counts of samples: 2 of 'input_ids', 1 of 'attention_mask'"):
        q.run(language_model, {"input_ids": [[1], [2, 3]], "attention_mask": [[1]]})
