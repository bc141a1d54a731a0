#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A comparison and a calibration in shards on Ray (`pip install ray`); shards of lost workers are run again.

    ray_shards.py FLOAT QUANTIZED DATA FOLDER [SHARDS [METHOD]]      FOLDER: seen by all nodes
"""
import sys

import ray

from quantscope.distributed import CalibrationJob, ComparisonJob


@ray.remote(num_cpus=1, max_retries=3)
def shard(job, index):
    return job.run(index)


@ray.remote(num_cpus=1, max_retries=3)
def second_round(job, index):
    return job.count(index)


def summed(job, states):
    """Sums of neighbours where there are many shards."""
    sums = job.sums(states)
    while sums is not None:
        states = ray.get([shard.remote(sums, index) for index in sums])
        sums = job.sums(states)
    return states


def main(float_model, quantized_model, data, folder, shards=16, method="entropy"):
    ray.init()  # address="auto": a cluster that runs
    comparison = ComparisonJob.of(float_model, quantized_model, data, shards=int(shards), folder=folder)
    states = summed(comparison, ray.get([shard.remote(comparison, index) for index in comparison]))
    with comparison.merge(states) as result:
        print(result)
    comparison.remove_files()

    calibration = CalibrationJob.of(float_model, data, shards=int(shards), folder=folder, method=method)
    states = summed(calibration, ray.get([shard.remote(calibration, index) for index in calibration]))
    if calibration.has_second_round():
        calibration = calibration.with_sums(states)
        counts = ray.get([second_round.remote(calibration, index) for index in calibration])
        states += summed(calibration, counts)
    print(calibration.merge(states, "ranges.json"))
    calibration.remove_files()


main(*sys.argv[1:])
