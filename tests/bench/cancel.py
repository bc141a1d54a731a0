#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""How long `compare` takes to end after it was interrupted, at moments spread over its run.

    tests/bench/cancel.py MODEL.onnx [QUANTIZED.onnx] [--shape NAME=1x3x224x224] [--data random:8] [--moments 20]
                          [--rounds 2] [--cli build/release/bin/quantscope-cli] [-- FURTHER OPTIONS]

Without QUANTIZED the default recipe quantizes the model, calibration included. Prints for each moment what the command
said it was doing, how long it took to end (wall time and its own processor time after the signal: on a machine with
other work the first says little), and at last the most of each.
"""
import argparse
import os
import pathlib
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
TICK = os.sysconf("SC_CLK_TCK")


def processor_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def command_of(o):
    models = [o.model] + ([o.quantized] if o.quantized else ["--method", "percentile"])
    command = [o.cli, "compare", *models, "--data", o.data]
    for shape in o.shape:
        command += ["--shape", shape]
    return command + o.further


def interrupted(command, after):
    """Seconds of wall and processor time from the signal to the end; None when it had ended before."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    time.sleep(after)
    if process.poll() is not None:
        return None
    used, begin = processor_seconds(process.pid), time.perf_counter()
    process.send_signal(signal.SIGINT)
    said = process.stderr.read()
    _, _, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - begin
    process.returncode = 0
    phase = said.replace(b"\r", b"\n").decode(errors="replace").split("\n")
    return wall, usage.ru_utime + usage.ru_stime - used, next((p for p in reversed(phase) if p.strip()), "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("quantized", nargs="?")
    parser.add_argument("--shape", action="append", default=[])
    parser.add_argument("--data", default="random:8")
    parser.add_argument("--moments", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--cli", default=str(ROOT / "build/release/bin/quantscope-cli"))
    parser.add_argument("further", nargs="*")
    o = parser.parse_args()
    command = command_of(o)
    begin = time.perf_counter()
    if subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode not in (0, 3):
        sys.exit("fails without being interrupted: " + " ".join(command))
    whole = time.perf_counter() - begin
    most = [0.0, 0.0]
    for _ in range(o.rounds):
        for i in range(o.moments):
            after = whole * (i + 0.5) / o.moments
            found = interrupted(command, after)
            if not found:
                continue
            wall, processor, phase = found
            most = [max(most[0], wall), max(most[1], processor)]
            print(f"after {after:6.2f} s: {wall * 1e3:5.0f} ms, processor {processor * 1e3:5.0f} ms  {phase[:70]}",
                  flush=True)
    print(f"whole run {whole:.2f} s; most {most[0] * 1e3:.0f} ms, processor {most[1] * 1e3:.0f} ms")


if __name__ == "__main__":
    main()
