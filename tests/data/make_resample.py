# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes resample.txt: a pattern resized by Pillow (recorded with 13.0). Columns: mode, size in, channels, size out, bytes."""
import pathlib

import numpy as np
from PIL import Image

MODES = {"bilinear": Image.BILINEAR, "bicubic": Image.BICUBIC, "nearest": Image.NEAREST}
SIZES = [(9, 7, 5, 4), (9, 7, 13, 11), (9, 7, 5, 12), (9, 7, 14, 3), (16, 16, 1, 1), (3, 2, 8, 8), (40, 3, 7, 3), (5, 30, 5, 8),
         (10, 20, 8, 6), (20, 10, 18, 4), (20, 10, 18, 7), (12, 12, 11, 10), (12, 12, 11, 9), (50, 4, 45, 3)]

with open(pathlib.Path(__file__).with_name("resample.txt"), "w") as out:
    for mode, filter_ in MODES.items():
        for w, h, ow, oh in SIZES:
            for channels in (1, 3):
                y, x, c = np.mgrid[0:h, 0:w, 0:channels]
                pixels = ((x * 37 + y * 101 + x * y * 3 + c * 59) % 256).astype(np.uint8)
                image = Image.fromarray(pixels[:, :, 0] if channels == 1 else pixels)
                data = np.asarray(image.resize((ow, oh), filter_)).tobytes().hex()
                out.write(f"{mode} {w} {h} {channels} {ow} {oh} {data}\n")
