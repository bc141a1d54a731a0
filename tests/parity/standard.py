#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the tests of the ONNX standard that the onnx 1.22.0 package carries, by `quantscope-cli conformance`.

    tests/parity/standard.py [--cli build/release/bin/quantscope-cli] [--reasons] [FOLDER ...]

FOLDER is one of node, simple, pytorch-converted, pytorch-operator, light; all without one. The models in `light` come
with outputs only: their inputs are made as ONNX's own runner makes them. Prints the counts of each folder, failures, and
with --reasons the reason of each skip; exits with 1 when a result is wrong or fewer pass than LEAST says. On its first
use it makes a virtual environment in build/standard-venv.
"""
import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import environment

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = "onnx==1.22.0"
LEAST = {"node": 1640, "simple": 21, "pytorch-converted": 82, "pytorch-operator": 35, "light": 9}


def test_data():
    """Folder of the package's test data."""
    python = environment.python_with([PACKAGE], "standard-venv")
    where = "import onnx, pathlib; print(pathlib.Path(onnx.__file__).parent / 'backend' / 'test' / 'data')"
    said = subprocess.run([python, "-c", where], check=True, capture_output=True, text=True)
    return python, pathlib.Path(said.stdout.strip())


MAKE_INPUT = """
import sys
import onnx
from onnx.backend.test.runner import Runner
model = onnx.load(sys.argv[1])
constant = {i.name for i in model.graph.initializer}
inputs = [i for i in model.graph.input if i.name not in constant]
for k, value in enumerate(inputs):
    array = Runner.generate_dummy_data(value, seed=0, name=sys.argv[2], random=False)
    with open(f"{sys.argv[3]}/input_{k}.pb", "wb") as f:
        f.write(onnx.numpy_helper.from_array(array).SerializeToString())
"""


def light_tests(python, data, target):
    """Backend tests of the models without weights of their own."""
    for model in sorted((data / "light").glob("*.onnx")):
        sets = target / model.stem / "test_data_set_0"
        sets.mkdir(parents=True)
        shutil.copy(model, sets.parent / "model.onnx")
        shutil.copy(model.with_name(model.stem + "_output_0.pb"), sets / "output_0.pb")
        subprocess.run([python, "-c", MAKE_INPUT, model, model.stem.replace("light_", "test_"), sets], check=True)
    return target


def conformance(cli, folder):
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        subprocess.run([cli, "conformance", folder, "--quiet", "--json", out.name], check=True,
                       stdout=subprocess.DEVNULL)
        return json.load(open(out.name))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cli", default=ROOT / "build/release/bin/quantscope-cli")
    parser.add_argument("--reasons", action="store_true", help="say why tests were skipped")
    parser.add_argument("folders", nargs="*", metavar="FOLDER")
    args = parser.parse_args()
    if unknown := set(args.folders) - set(LEAST):
        parser.error("no such folder: " + ", ".join(sorted(unknown)))
    python, data = test_data()
    good = True
    with tempfile.TemporaryDirectory() as scratch:
        for name in args.folders or LEAST:
            folder = light_tests(python, data, pathlib.Path(scratch)) if name == "light" else data / name
            found = conformance(args.cli, folder)
            print(f"{name}: {found['passed']} passed, {found['failed']} failed, {found['skipped']} skipped")
            for test in found["tests"]:
                if test["status"] == "failed" or (args.reasons and test["status"] == "skipped"):
                    print(f"  {test['status']}: {test['name']}: {test['reason']}")
            good = good and found["failed"] == 0 and found["passed"] >= LEAST[name]
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
