#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records a small map of characters as SentencePiece writes it, and what Hugging Face's tokenizers make with it:
character_map.json. Needs sentencepiece, protobuf and tokenizers."""

import base64
import json
import pathlib
import tempfile

import sentencepiece
from sentencepiece import sentencepiece_model_pb2
from tokenizers import normalizers

RULES = {"A": "a", "\u20ac": "EUR", "e\u0301": "\u00e9", "\u00ad": "", "f": "x"}
TEXTS = ["AbA", "\u20ac 5", "e\u0301e\u0301x", "a\u00adb", "e\u0301\u0302", "fi", "ef", "\u00ad", "e\u0301\u0323",
         "e\u0301\u0302\u0303", "\r\nA", "A\u0301", "\U0001f469\u200d\U0001f469A"]


def codes(text):
    return " ".join(f"{ord(c):X}" for c in text)


def character_map():
    with tempfile.TemporaryDirectory() as folder:
        at = pathlib.Path(folder)
        (at / "rules.tsv").write_text("".join(f"{codes(a)}\t{codes(b)}\n" for a, b in RULES.items()))
        (at / "text.txt").write_text("ab cd efg\n" * 100)
        sentencepiece.SentencePieceTrainer.train(
            input=str(at / "text.txt"), model_prefix=str(at / "m"), vocab_size=12, minloglevel=2,
            normalization_rule_tsv=str(at / "rules.tsv"))
        model = sentencepiece_model_pb2.ModelProto()
        model.ParseFromString((at / "m.model").read_bytes())
        return model.normalizer_spec.precompiled_charsmap


def main():
    made = character_map()
    normalizer = normalizers.Precompiled(made)
    record = {"precompiled_charsmap": base64.b64encode(made).decode(),
              "texts": [[text, normalizer.normalize_str(text)] for text in TEXTS]}
    target = pathlib.Path(__file__).with_name("character_map.json")
    target.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
