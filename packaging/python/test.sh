#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Installs the wheel in a fresh environment and runs the tests of the package there, the window's with Qt from PyPI.
#
#   packaging/python/test.sh [PYTHON]       PYTHON: the interpreter (default: python3)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
wheels=(build/wheel/quantscope-*.whl)
[ -e "${wheels[0]}" ] || { echo "error: there is no wheel; run packaging/python/build.sh first" >&2; exit 3; }
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
"${1:-python3}" -m venv "$place/env"
"$place/env/bin/pip" install --quiet --disable-pip-version-check "${wheels[0]}[gui,distributed]" pytest onnx onnxruntime pandas tqdm nbclient ipykernel ||
    { echo "error: what the tests need cannot be had from PyPI; look at the network" >&2; exit 3; }
# Without the sources of the package, so that nothing but the wheel is found.
mkdir -p "$place/packaging/python"
cp -r packaging/python/{tests,README.md} "$place/packaging/python" && cp -r docs "$place"
cd "$place/packaging/python"
env -u QUANTSCOPE_CLI -u QUANTSCOPE_WINDOW -u PYTHONPATH QT_QPA_PLATFORM=offscreen \
    "$place/env/bin/python" -m pytest -q -p no:cacheprovider tests
