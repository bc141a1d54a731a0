# SPDX-License-Identifier: GPL-3.0-or-later
"""Comparisons and calibration over sets that are larger than one machine, in shards; the results equal those of
one run in every bit.

    from quantscope import distributed
    result = distributed.compare("float.onnx", "quantized.onnx", "samples.npz", client=client, folder="/shared")
    distributed.calibrate("float.onnx", "samples.npz", "ranges.json", client=client, folder="/shared")

Both run on Dask (`pip install quantscope[distributed]`). For other schedulers there are the jobs behind them:
ComparisonJob and CalibrationJob, whose `run(index)` does one shard wherever it is called, and CalibrationJob's
`count(index)` the second round of methods with histograms.
"""

from .calibration import CalibrationJob
from .comparing import ComparisonJob
from .on_dask import calibrate, compare

__all__ = ["CalibrationJob", "ComparisonJob", "calibrate", "compare"]
