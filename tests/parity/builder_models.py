# SPDX-License-Identifier: GPL-3.0-or-later
"""Small language models of many architectures with random weights, and what onnxruntime-genai's builder writes of them."""
import contextlib
import copy
import io
import json
import logging
import pathlib

import safetensors.torch
import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

VOCABULARY = 1024
SIZES = dict(vocab_size=VOCABULARY, hidden_size=128, intermediate_size=192, num_hidden_layers=3, num_attention_heads=4,
             num_key_value_heads=2, max_position_embeddings=256, bos_token_id=0, eos_token_id=1, pad_token_id=1,
             tie_word_embeddings=False, initializer_range=0.1)
ROPE = {"rope_type": "default", "rope_theta": 10000.0}
YARN = {"rope_type": "yarn", "rope_theta": 150000.0, "factor": 32.0, "beta_fast": 32.0, "beta_slow": 1.0, "truncate": False,
        "original_max_position_embeddings": 4096}
LONG = {"rope_type": "longrope", "type": "longrope", "rope_theta": 10000.0, "short_factor": [1.0 + 0.01 * k for k in range(16)],
        "long_factor": [1.0 + 0.2 * k for k in range(16)], "original_max_position_embeddings": 64}
# Places of pictures: by time, height and width.
SECTIONS = {**ROPE, "mrope_section": [4, 6, 6]}
MIXED = {"head_dim": 32, "layer_types": ["linear_attention", "full_attention", "linear_attention"], "linear_num_key_heads": 2,
         "linear_num_value_heads": 4, "linear_key_head_dim": 16, "linear_value_head_dim": 16, "linear_conv_kernel_dim": 4,
         "rope_parameters": {**ROPE, "partial_rotary_factor": 0.5, "mrope_section": [4, 2, 2], "mrope_interleaved": True}}
EYES = {"depth": 1, "hidden_size": 32, "num_heads": 2, "intermediate_size": 32, "out_hidden_size": 128}

# Architecture of transformers: name of its classes, what its configuration says beside SIZES.
ARCHITECTURES = {
    "llama": ("Llama", {}),
    "llama_tied": ("Llama", {"tie_word_embeddings": True}),
    "llama_rope3": ("Llama", {"rope_parameters": {"rope_type": "llama3", "rope_theta": 5e5, "factor": 8.0,
                                                  "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                                                  "original_max_position_embeddings": 32}}),
    "llama_bias": ("Llama", {"attention_bias": True, "mlp_bias": True, "hidden_act": "gelu"}),
    "qwen2": ("Qwen2", {}),
    "qwen3": ("Qwen3", {"head_dim": 32}),
    "phi": ("Phi", {"partial_rotary_factor": 0.5, "num_key_value_heads": 4}),
    "phi3": ("Phi3", {"original_max_position_embeddings": 256, "sliding_window": 20}),
    "phi3_long": ("Phi3", {"original_max_position_embeddings": 64, "sliding_window": None, "rope_parameters": LONG}),
    "gemma": ("Gemma", {"head_dim": 32, "tie_word_embeddings": True}),
    "gemma2": ("Gemma2", {"head_dim": 32, "tie_word_embeddings": True, "sliding_window": 16,
                          "query_pre_attn_scalar": 32, "num_hidden_layers": 4}),
    "gemma3": ("Gemma3", {"head_dim": 32, "tie_word_embeddings": True, "sliding_window": 16,
                          "query_pre_attn_scalar": 32, "num_hidden_layers": 6}),
    "mistral": ("Mistral", {"head_dim": 32, "sliding_window": 16}),
    "smollm3": ("SmolLM3", {"num_hidden_layers": 4, "no_rope_layers": [1, 1, 1, 1]}),
    "olmo": ("Olmo", {}),
    "granite": ("Granite", {"embedding_multiplier": 3.0, "residual_multiplier": 0.5, "logits_scaling": 2.0,
                            "attention_multiplier": 0.2}),
    "nemotron": ("Nemotron", {"partial_rotary_factor": 0.5}),
    "ernie": ("Ernie4_5", {"head_dim": 32}),
    "hunyuan": ("HunYuanDenseV1", {"head_dim": 32}),
    "gpt_oss": ("GptOss", {"head_dim": 32, "num_local_experts": 4, "num_experts_per_tok": 2, "sliding_window": 16,
                           "rope_parameters": YARN}),
    "lfm2": ("Lfm2", {"num_hidden_layers": 3, "layer_types": ["conv", "full_attention", "conv"],
                      "block_ff_dim": 192, "block_auto_adjust_ff_dim": False}),
    "lfm2_moe": ("Lfm2Moe", {"num_hidden_layers": 3, "layer_types": ["conv", "full_attention", "conv"],
                             "num_dense_layers": 1, "num_experts": 4, "num_experts_per_tok": 2,
                             "moe_intermediate_size": 64}),
    "granite_hybrid": ("GraniteMoeHybrid", {"layer_types": ["attention"] * 3, "num_local_experts": 0,
                                            "shared_intermediate_size": 192, "position_embedding_type": "rope"}),
    "qwen3_5": ("Qwen3_5", MIXED),
    "qwen3_5_moe": ("Qwen3_5Moe", {**MIXED, "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 64,
                                   "shared_expert_intermediate_size": 64}),
    "qwen3_vl": ("Qwen3VL", {"head_dim": 32, "rope_parameters": {**SECTIONS, "mrope_interleaved": True}}),
    "qwen2_5_vl": ("Qwen2_5_VL", {"rope_parameters": SECTIONS}),
    "mistral3": ("Mistral3", {"head_dim": 32, "model_type": "mistral"}),
}
# Of those that see, whose language models alone are written: what sees.
SEEING = {
    "Qwen3_5": {**EYES, "num_position_embeddings": 16},
    "Qwen3_5Moe": {**EYES, "num_position_embeddings": 16},
    "Qwen3VL": {**EYES, "num_position_embeddings": 16, "deepstack_visual_indexes": [0]},
    "Qwen2_5_VL": EYES,
    "Mistral3": {"model_type": "pixtral", "hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 1,
                 "num_attention_heads": 2, "image_size": 28, "patch_size": 14},
}

# How the builder is called: precision, extra options.
FORMS = {
    "fp32": ("fp32", {}),
    "int4": ("int4", {}),
    "acc0": ("int4", {"accuracy_level": "0"}),
    "acc1_b16": ("int4", {"accuracy_level": "1", "block_size": "16"}),
    "acc4_b16": ("int4", {"block_size": "16"}),
    "acc0_b64": ("int4", {"accuracy_level": "0", "block_size": "64"}),
    "acc4_b64": ("int4", {"block_size": "64"}),
    "acc4_b128": ("int4", {"block_size": "128"}),
    "acc0_b128_u": ("int4", {"accuracy_level": "0", "block_size": "128", "is_symmetric": "false"}),
    "acc4_u": ("int4", {"is_symmetric": "false"}),
    "rtn": ("int4", {"algo_config": "rtn", "accuracy_level": "0"}),
    "rtn_last": ("int4", {"algo_config": "rtn_last"}),
    "k_quant": ("int4", {"algo_config": "k_quant", "is_symmetric": "false"}),
    "k_quant_mixed": ("int4", {"algo_config": "k_quant_mixed", "is_symmetric": "false"}),
    "k_quant_mixed_0": ("int4", {"algo_config": "k_quant_mixed", "is_symmetric": "false", "accuracy_level": "0"}),
    "last8": ("int4", {"matmul_mixed_precision": "last_matmul:int8"}),
    "mixed8": ("int4", {"matmul_mixed_precision": "last_matmul:int8,mixed_layers:int8", "accuracy_level": "0"}),
    "int8": ("int8", {}),
    "int8_acc0": ("int8", {"accuracy_level": "0", "is_symmetric": "false"}),
    "qdq": ("int4", {"use_qdq": "true", "accuracy_level": "0"}),
    "qdq_u": ("int4", {"use_qdq": "true", "is_symmetric": "false"}),
    "gather": ("int4", {"op_types_to_quantize": "MatMul/Gather"}),
    "shared": ("int4", {"shared_embeddings": "true"}),
    "no_head": ("int4", {"exclude_lm_head": "true", "accuracy_level": "0"}),
    "pruned_head": ("int4", {"prune_lm_head": "true", "accuracy_level": "0"}),
    "no_embeds": ("int4", {"exclude_embeds": "true", "accuracy_level": "0"}),
    "hidden": ("int4", {"include_hidden_states": "true", "accuracy_level": "0"}),
    "aux": ("fp32", {"aux_hidden_state_layers": "1,2"}),
    "split_qkv": ("int4", {"fuse_qkv": "false", "accuracy_level": "0"}),
    "gate_up": ("int4", {"fuse_mlp_gate_up": "true", "accuracy_level": "0"}),
    "kv8_tensor": ("int4", {"kv_cache_quant_scheme": "int8_per_tensor"}),
    "kv8_channel": ("int4", {"kv_cache_quant_scheme": "int8_per_channel"}),
    "kv4_tensor": ("int4", {"kv_cache_quant_scheme": "int4_per_tensor", "accuracy_level": "0"}),
    "kv4_channel": ("int4", {"kv_cache_quant_scheme": "int4_per_channel", "accuracy_level": "0"}),
    "fp16": ("fp16", {}),
}


def tokenizer():
    """Bytes alone, and names for the rest of the vocabulary."""
    bytes_ = sorted(pre_tokenizers.ByteLevel.alphabet())
    words = ["<s>", "</s>", *bytes_, *(f"<{k}>" for k in range(2 + len(bytes_), VOCABULARY))]
    made = Tokenizer(models.BPE(vocab={w: k for k, w in enumerate(words)}, merges=[]))
    made.pre_tokenizer, made.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    return transformers.PreTrainedTokenizerFast(tokenizer_object=made, bos_token="<s>", eos_token="</s>")


MAGNITUDES = torch.tensor((0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0))


def floats_of_mxfp4(blocks, scales):
    """Rows x depth: blocks of 16 bytes hold 32 numbers of 4 bits (a sign, a magnitude) and share a power of two."""
    codes = torch.stack((blocks & 15, blocks >> 4), -1).flatten(-2).long()
    values = MAGNITUDES[codes & 7] * torch.where(codes > 7, -1.0, 1.0)
    return (values * torch.pow(2.0, scales.float() - 127)[..., None]).flatten(-2)


def experts_of_mxfp4(model):
    """Random experts of GPT-OSS as its checkpoints have them, by name; the model gets them as floats."""
    tensors = {}
    for layer, block in enumerate(model.model.layers):
        for part in ("gate_up_proj", "down_proj"):
            weight = getattr(block.mlp.experts, part)
            count, depth, rows = weight.shape
            blocks = torch.randint(0, 256, (count, rows, depth // 32, 16), dtype=torch.uint8)
            scales = torch.randint(121, 124, blocks.shape[:-1], dtype=torch.uint8)
            weight.data = floats_of_mxfp4(blocks, scales).transpose(-1, -2).contiguous()
            name = f"model.layers.{layer}.mlp.experts.{part}"
            tensors |= {f"{name}_blocks": blocks, f"{name}_scales": scales}
    return tensors


def save_random(architecture, folder):
    """A model of transformers with random weights, saved as people have it."""
    name, more = ARCHITECTURES[architecture]
    torch.manual_seed(0)
    said = copy.deepcopy({**SIZES, "rope_parameters": ROPE, **more})
    if name in SEEING:
        config = getattr(transformers, name + "Config")(text_config=said, vision_config=copy.deepcopy(SEEING[name]),
                                                        tie_word_embeddings=False)
        model = getattr(transformers, name + "ForConditionalGeneration")(config)
    else:
        config = getattr(transformers, name + ("TextConfig" if name == "Gemma3" else "Config"))(**said)
        model = getattr(transformers, name + "ForCausalLM")(config)
    with torch.no_grad():  # norms and biases begin with ones and zeros
        for label, p in model.named_parameters():
            if p.dim() == 1:
                p += 0.1 * torch.randn_like(p)
    more = experts_of_mxfp4(model) if name == "GptOss" else {}
    model.float().save_pretrained(folder)
    if more:
        path = folder / "model.safetensors"
        safetensors.torch.save_file(safetensors.torch.load_file(path) | more, path, metadata={"format": "pt"})
    tokenizer().save_pretrained(folder)


def write_scales(path, folder):
    """Scales of a cache as the builder reads them; wide enough for all values of these models, for 8 bits."""
    config = json.loads((folder / "config.json").read_text())
    config = config.get("text_config", config)
    heads = config.get("num_key_value_heads", config["num_attention_heads"])
    size = config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"]
    layers = config["num_hidden_layers"]
    generator = torch.Generator().manual_seed(7)
    channels = lambda: (0.05 + 0.05 * torch.rand(heads * size, generator=generator)).tolist()
    return lambda per_tensor: path.write_text(json.dumps({"qmax": 128, "scales": {
        key: [0.1 if per_tensor else channels() for _ in range(layers)] for key in ("k_scales", "v_scales")}}))


def build(source, form, folder):
    """Runs the builder; returns the path of the model. Its chatter is dropped."""
    from onnxruntime_genai.models import builder
    # The builder reads what transformers 5 calls otherwise.
    transformers.Gemma3TextConfig.rope_local_base_freq = property(lambda c: c.rope_parameters["sliding_attention"]["rope_theta"])
    logging.disable(logging.INFO)
    precision, more = FORMS[form]
    options = dict(more)
    if "kv_cache_quant_scheme" in options:
        scales = pathlib.Path(f"{folder}.scales.json")
        write_scales(scales, source)("per_tensor" in options["kv_cache_quant_scheme"])
        options["kv_cache_scale_file"] = str(scales)
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        parsed = builder.parse_extra_options(None, str(source), str(folder), precision, "cpu", str(folder / "cache"),
                                             [f"{k}={v}" for k, v in options.items()])
        builder.create_model(None, str(source), str(folder), precision, "cpu", str(folder / "cache"), **parsed)
    return folder / "model.onnx"
