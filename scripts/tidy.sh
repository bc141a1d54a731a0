#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs the checks of .clang-tidy (Debian's clang-tidy) over all sources, or over those named: scripts/tidy.sh [FILE ...]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
command -v clang-tidy >/dev/null || {
    echo "error: clang-tidy is missing; install it: apt-get install clang-tidy" >&2
    exit 1
}
build=build/tidy
mkdir -p build
# Each source by itself: tidy knows nothing of sources that are compiled together.
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DQS_UNITY=OFF >build/tidy.log 2>&1 || {
    cat build/tidy.log >&2
    exit 1
}
if [ $# -eq 0 ]; then
    mapfile -t files < <(git ls-files 'core/*.cpp' 'widgets/*.cpp' 'app/*.cpp')
    set -- "${files[@]}"
fi
printf '%s\0' "$@" | xargs -0 -n 4 -P "$(nproc)" clang-tidy -p "$build" --quiet
