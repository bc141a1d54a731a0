#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The step of action.yml that compares. What to do stands in the environment: QS_PROGRAM, QS_FLOAT, QS_QUANTIZED, QS_DATA,
# QS_GATE, QS_ARGUMENTS (one a line), QS_RESULTS.
set -uo pipefail

mkdir -p "$QS_RESULTS" || exit 3
arguments=(compare "$QS_FLOAT")
if [ -n "$QS_QUANTIZED" ]; then arguments+=("$QS_QUANTIZED"); fi
arguments+=(--data "$QS_DATA")
if [ -n "$QS_GATE" ]; then arguments+=(--gate "$QS_GATE"); fi
declare -A results=([json]=comparison.json [junit]=junit.xml [sarif]=quantscope.sarif [markdown]=summary.md)
for kind in "${!results[@]}"; do
    rm -f "$QS_RESULTS/${results[$kind]}" # of an earlier step
    arguments+=("--$kind" "$QS_RESULTS/${results[$kind]}")
done
while IFS= read -r line; do
    if [ -n "$line" ]; then arguments+=("$line"); fi
done <<<"$QS_ARGUMENTS"

code=0
"$QS_PROGRAM" "${arguments[@]}" || code=$?
echo "exit-code=$code" >>"$GITHUB_OUTPUT"
if [ "$code" -le 1 ]; then # they are all there, or none
    echo "results=$QS_RESULTS" >>"$GITHUB_OUTPUT"
    for kind in "${!results[@]}"; do
        echo "$kind=$QS_RESULTS/${results[$kind]}" >>"$GITHUB_OUTPUT"
    done
    cat "$QS_RESULTS/${results[markdown]}" >>"$GITHUB_STEP_SUMMARY"
fi
exit "$code"
