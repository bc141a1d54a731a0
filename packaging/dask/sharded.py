#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs quantscope-cli over a large set on a Dask cluster: comparisons in shards, and min-max calibration in parts.

A task that fails, or whose worker is lost, is run again (elsewhere). All workers must see the same files.

    sharded.py compare  --shards 16 --folder states -- FLOAT.onnx QUANT.onnx --data samples.npz
    sharded.py calibrate --parts 16 --folder parts --ranges ranges.json -- FLOAT.onnx --data samples.npz
    quantscope-cli quantize FLOAT.onnx -o QUANT.onnx --ranges ranges.json

What stands behind `--` is given to quantscope-cli. Results equal those of one run in every bit.
Needs: pip install "dask[distributed]" numpy
"""
import argparse
import json
import os
import subprocess
import sys


def run(command):
    """One process; its error as an exception, so that the scheduler tries again."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip() or f"exit code {done.returncode}")
    return done.stdout


def shard(cli, arguments, index, count, folder, threads):
    state = os.path.join(folder, f"{index}.qstate")
    run([cli, "compare", *arguments, "--shard", f"{index}/{count}", "--state", state, "--threads", str(threads),
         "--quiet"])
    return state


def part(cli, arguments, data, index, count, folder, threads):
    """Ranges of one stretch of the samples: written as a file of its own, since a calibration reads all it is given."""
    import numpy as np

    arrays = np.load(data)
    names = [n for n in arrays.files if n != "labels"]
    samples = len(arrays[names[0]])
    first, last = samples * (index - 1) // count, samples * index // count
    if first == last:
        return None
    stem = os.path.join(folder, str(index))
    np.savez(stem + ".npz", **{n: arrays[n][first:last] if len(arrays[n]) == samples else arrays[n] for n in names})
    run([cli, "quantize", *arguments, "-o", stem + ".onnx", "--data", stem + ".npz", "--method", "minmax",
         "--save-ranges", stem + ".json", "--threads", str(threads), "--quiet"])
    return stem + ".json"


def merged_ranges(paths):
    """Smallest and largest value over all parts."""
    whole = None
    for path in filter(None, paths):
        with open(path) as file:
            ranges = json.load(file)
        if whole is None:
            whole = ranges
            continue
        for name, entry in ranges["data"].items():
            kept = whole["data"].setdefault(name, entry)
            for end, choose in ("lowest", min), ("highest", max):
                kept[end]["data"] = [choose(kept[end]["data"][0], entry[end]["data"][0])]
    return whole


def parsed():
    own, theirs = sys.argv[1:], []
    if "--" in own:
        at = own.index("--")
        own, theirs = own[:at], own[at + 1:]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["compare", "calibrate"])
    parser.add_argument("--scheduler", help="address of a running cluster; without it one is started here")
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="processes of the cluster started here")
    parser.add_argument("--shards", "--parts", type=int, default=16, dest="count")
    parser.add_argument("--folder", default="shards", help="for state files, seen by all workers")
    parser.add_argument("--cli", default="quantscope-cli")
    parser.add_argument("--threads", type=int, default=1, help="of each process")
    parser.add_argument("--retries", type=int, default=3)
    parser.add_argument("--json", default="-", help="compare: the merged document")
    parser.add_argument("--html", help="compare: the merged report")
    parser.add_argument("--ranges", default="ranges.json", help="calibrate: where the ranges go")
    return parser.parse_args(own), theirs


def main():
    from dask.distributed import Client, LocalCluster

    options, arguments = parsed()
    if not arguments:
        sys.exit("error: give quantscope-cli's arguments behind --")
    folder = os.path.abspath(options.folder)
    os.makedirs(folder, exist_ok=True)
    cluster = None if options.scheduler else LocalCluster(n_workers=options.workers, threads_per_worker=1)
    client = Client(options.scheduler or cluster)
    numbers = range(1, options.count + 1)
    if options.what == "compare":
        tasks = [client.submit(shard, options.cli, arguments, i, options.count, folder, options.threads, pure=False,
                               retries=options.retries) for i in numbers]
        states = client.gather(tasks)
        merge = [options.cli, "merge", *states, "--json", options.json]
        done = subprocess.run(merge + (["--html", options.html] if options.html else []))
        client.close()
        return done.returncode
    data = arguments[arguments.index("--data") + 1]
    rest = [a for i, a in enumerate(arguments) if a != "--data" and (i == 0 or arguments[i - 1] != "--data")]
    tasks = [client.submit(part, options.cli, rest, data, i, options.count, folder, options.threads, pure=False,
                           retries=options.retries) for i in numbers]
    ranges = merged_ranges(client.gather(tasks))
    with open(options.ranges + ".part", "w") as file:
        json.dump(ranges, file, indent=1)
    os.replace(options.ranges + ".part", options.ranges)
    client.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
