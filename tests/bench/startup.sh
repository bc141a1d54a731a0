#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Median wall time in ms, from process start to end, of a command run five times: startup.sh COMMAND ARGUMENTS...
set -euo pipefail
times=()
for _ in 1 2 3 4 5; do
    begin=${EPOCHREALTIME/./}
    "$@" >/dev/null
    end=${EPOCHREALTIME/./}
    times+=($(((end - begin) / 1000)))
done
echo "all: ${times[*]} ms, median: $(printf '%s\n' "${times[@]}" | sort -n | sed -n 3p) ms"
