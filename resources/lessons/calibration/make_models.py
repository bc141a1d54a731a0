#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the calibration sets of this lesson: pictures that digits_float.onnx was trained on, one pixel of one of them broken.

    pip install scikit-learn numpy
    python3 make_models.py

The network itself is ../../examples/digits_float.onnx, and its test pictures are in no calibration set. The pictures come
from Optical Recognition of Handwritten Digits (E. Alpaydin and C. Kaynak, UCI Machine Learning Repository), as
scikit-learn's load_digits delivers them, under CC BY 4.0; so do the files made here.
"""
import pathlib

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

SEED, TEST, PICTURES = 20, 200, 60  # as ../../examples/make_example.py splits them
MEAN, DEVIATION = 0.3, 0.4
BROKEN = (9, 13, 18)  # normalized value of the broken pixel
HERE = pathlib.Path(__file__).resolve().parent


def main():
    digits = load_digits()
    pixels, _, labels, _ = train_test_split(
        digits.images.astype(np.float32)[:, None] / 16, digits.target.astype(np.int64), test_size=TEST,
        random_state=SEED, stratify=digits.target)
    images = ((pixels[:PICTURES] - MEAN) / DEVIATION).astype(np.float32)
    np.savez_compressed(HERE / "pictures.npz", image=images, labels=labels[:PICTURES])
    for value in BROKEN:
        broken = images.copy()
        broken[17, 0, 1, 6] = value
        np.savez_compressed(HERE / f"pictures_{value}.npz", image=broken, labels=labels[:PICTURES])


main()
