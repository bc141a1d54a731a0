// SPDX-License-Identifier: GPL-3.0-or-later
// One program for all targets, since each would link the whole core: QS_FUZZ_TARGET names one of them.
#include "tests/fuzz/targets/input_mutator.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

using namespace qs::test;

namespace {

const FuzzTarget& target()
{
    static const FuzzTarget* const chosen = [] {
        const char* name = std::getenv("QS_FUZZ_TARGET");
        const FuzzTarget* found = fuzzTarget(name ? name : "");
        if (!found) {
            std::fputs("QS_FUZZ_TARGET is one of:", stderr);
            for (const FuzzTarget& one : fuzzTargets())
                std::fprintf(stderr, " %s", one.name);
            std::fputs("\n", stderr);
            std::exit(2);
        }
        return found;
    }();
    return *chosen;
}

} // namespace

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t most);

/// QS_FUZZ_SEEDS: a folder that right files are written to before the first run.
extern "C" int LLVMFuzzerInitialize(int*, char***)
{
    const FuzzFolder folder;
    if (const char* seeds = std::getenv("QS_FUZZ_SEEDS")) {
        size_t number = 0;
        for (const std::string& seed : target().seeds(folder))
            writeBytes(std::string(seeds) + "/seed-" + std::to_string(number++), seed);
    }
    return target().name == nullptr;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static const FuzzFolder folder;
    Trial trial(folder);
    target().run(trial, std::string(reinterpret_cast<const char*>(data), size));
    if (trial.faults().empty())
        return 0;
    std::fprintf(stderr, "%s\n", trial.faults().front().c_str());
    std::abort();
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed)
{
    if (seed % 2 == 0)
        return LLVMFuzzerMutate(data, size, most);
    const std::string changed = changedInput(target(), std::string(reinterpret_cast<const char*>(data), size), seed);
    if (changed.size() > most)
        return size;
    std::copy(changed.begin(), changed.end(), data);
    return changed.size();
}
