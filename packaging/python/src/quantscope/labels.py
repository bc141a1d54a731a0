# SPDX-License-Identifier: GPL-3.0-or-later
"""Class numbers of samples: where they are, and what is said where they are not used."""

from __future__ import annotations

import os
import warnings
import zipfile
from typing import Any, Mapping, Optional, Sequence, Union

import numpy as np

from .errors import BadUse, ProgramWarning
from .program import levels_to_user

#: None or False: none but those in the data; True: the data hold them, of a loader behind the inputs of each sample;
#: else one a sample.
Labels = Union[None, bool, Any]

LABELS = "labels"


def are_given(labels: Labels) -> bool:
    """Whether they come beside the data, one a sample."""
    return labels is not None and not isinstance(labels, bool)


def no_labels() -> BadUse:
    """What is said where they were asked for and are not there."""
    return BadUse(
        "labels=True says that the data hold class numbers, but there are none; give them as an array 'labels', or "
        "behind the inputs of each sample"
    )


def one_a_position(arrays: Mapping[str, np.ndarray[Any, Any]], ranks: Mapping[str, Optional[int]]) -> bool:
    """Whether labels are the tokens over again, as data for training language models have them."""
    shape = arrays[LABELS].shape if LABELS in arrays else ()
    tokens = [a for name, a in arrays.items() if name != LABELS and ranks.get(name) == 2 and a.dtype.kind in "iu"]
    return shape[-1:] > (1,) and any(array.shape == shape for array in tokens)


def warn_of_positions() -> None:
    """Said of such labels."""
    text = (
        "labels are not used: there is one a position; of a language model the token that follows is the right one, "
        "and the loss counts all that are no padding"
    )
    warnings.warn(text, ProgramWarning, stacklevel=levels_to_user())


def in_file(path: Optional[str]) -> Optional[np.ndarray[Any, Any]]:
    """The labels of an npz; None where it has none, or is none."""
    try:
        if path is None or not os.path.isfile(path) or not zipfile.is_zipfile(path):
            return None
        with np.load(path, allow_pickle=False) as file:
            return np.asarray(file[LABELS]) if LABELS in file.files else None
    except (OSError, ValueError):  # the program says what is wrong with it
        return None


def tell_of_labels(result: Mapping[str, Any], path: Optional[str], told: Sequence[str]) -> None:
    """Warns where samples have labels and there is no accuracy, unless the program did."""
    outputs = result.get("outputs")
    if result.get("accuracy") or not outputs or any(LABELS in warning for warning in told):
        return
    labels = in_file(path)
    if labels is None or labels.dtype.kind not in "iu" or not (labels >= 0).any():
        return
    name = outputs[0].get("name", "")
    text = f"labels are not used: the first output, '{name}', is not known to hold scores of classes"
    warnings.warn(
        f"{text}; where it does, say so by task={{'{name}': 'classes'}}", ProgramWarning, stacklevel=levels_to_user()
    )
