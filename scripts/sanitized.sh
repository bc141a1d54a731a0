#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Tests what has no window with AddressSanitizer and UndefinedBehaviorSanitizer, then damages files for a while.
#
#   scripts/sanitized.sh [MINUTES OF FUZZING, 10]
#
# The past crashes (tests/fuzz/corpus) are among the tests. Needs what ./check installs. Exit code 4: fuzzing
# found something; 5: it could not be built; others: a test fails.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
minutes=${1:-10}
mkdir -p build
cmake --preset asan -DQS_UNITY=ON -DQS_PRECOMPILE=ON >build/configure-asan.log 2>&1 || {
    cat build/configure-asan.log >&2
    exit 5
}
cmake --build build/asan --target core_tests quantscope-cli || exit 5
ctest --test-dir build/asan --label-regex core --output-on-failure --parallel "$(nproc)"

# Other files every day, the same ones within a day.
seed=$(date +%Y%m%d)
until=$((SECONDS + minutes * 60))
echo "Fuzzing for $minutes minutes from seed $seed on"
for (( ; SECONDS < until; ++seed)); do
    for program in test_fuzz_commands test_fuzz_corpus test_fuzz_engine; do
        QT_QPA_PLATFORM=offscreen QS_FUZZ_SEED=$seed QS_FUZZ_ROUNDS=40 build/asan/tests/$program >build/fuzz.log 2>&1 || {
            cat build/fuzz.log >&2
            echo "error: QS_FUZZ_SEED=$seed QS_FUZZ_ROUNDS=40 $program failed" >&2
            exit 4
        }
    done
done
