// SPDX-License-Identifier: GPL-3.0-or-later
// Time from an edit of the recipe to new numbers: each node that is quantized is excluded once, starting from the same
// snapshot, as the window does it. Beside it: the same from scratch, and going back.
//   bench_edit_loop FLOAT DATA [--calibration DATA] [--every N] [--threads N]
#include "core/base/issue_text.h"
#include "core/base/work/memory.h"
#include "core/project/snapshot/build_snapshot.h"
#include "core/quant/recipe/recipe_edit.h"
#include "tests/support/recipe_nodes.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

using namespace qs;

namespace {

struct Options {
    Inputs inputs;
    size_t every = 1;
};

[[noreturn]] void giveUp(const std::string& text)
{
    std::fprintf(stderr, "error: %s\n", text.c_str());
    std::exit(1);
}

/// Processor time: with one thread it is what an idle core would take, whatever else the machine does.
double processorSeconds()
{
    timespec now {};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return double(now.tv_sec) + double(now.tv_nsec) * 1e-9;
}

double secondsOf(auto&& work)
{
    const double begin = processorSeconds();
    work();
    return processorSeconds() - begin;
}

SnapshotPtr build(const Inputs& inputs, const SnapshotPtr& previous)
{
    auto built = buildSnapshot(inputs, previous, {}, {});
    if (!built)
        giveUp(issueText(built.issue()));
    return *built;
}

Options parse(int argc, char** argv)
{
    if (argc < 3)
        giveUp("give FLOAT DATA [--calibration DATA] [--every N] [--threads N]");
    Options options;
    options.inputs.floatPath = argv[1];
    options.inputs.data.spec = argv[2];
    options.inputs.threads = 1;
    options.inputs.recipe = quantscopeRecipe();
    options.inputs.activationCache = defaultActivationCache();
    for (int i = 3; i + 1 < argc; i += 2) {
        const std::string name = argv[i];
        if (name == "--every")
            options.every = std::max<size_t>(std::stoul(argv[i + 1]), 1);
        else if (name == "--threads")
            options.inputs.threads = std::stoul(argv[i + 1]);
        else if (name == "--calibration")
            options.inputs.calibration.spec = argv[i + 1];
        else
            giveUp("unknown option " + name);
    }
    return options;
}

void print(const char* what, std::vector<double> seconds)
{
    std::ranges::sort(seconds);
    const auto at = [&](double share) { return 1000 * seconds[size_t(share * double(seconds.size() - 1))]; };
    std::printf("%-28s median %7.1f ms   least %7.1f   p90 %7.1f   most %7.1f   (%zu)\n", what, at(0.5), at(0), at(0.9),
        at(1), seconds.size());
}

} // namespace

int main(int argc, char** argv)
{
    const Options options = parse(argc, argv);
    std::vector<double> scratch, edits, undos;
    SnapshotPtr base;
    for (int i = 0; i < 3; ++i)
        scratch.push_back(secondsOf([&] { base = build(options.inputs, nullptr); }));
    const Recipe& recipe = *options.inputs.recipe;
    const auto nodes = recipeNodes(base->quantization->prepared);
    const auto states = nodeStates(recipe, { recipe, ValueOrigin::Preset }, nodes);
    for (size_t n = 0; n < nodes.size(); n += options.every) {
        if (!states[n].quantized)
            continue;
        Inputs edited = options.inputs;
        edited.recipe = test::withNode(recipe, nodes, n, false);
        SnapshotPtr next;
        edits.push_back(secondsOf([&] { next = build(edited, base); }));
        if (std::getenv("QS_BENCH_EACH"))
            std::printf("%-30s %7.1f ms (wall: load %.1f, match %.1f, run %.1f)\n", nodes[n].name.c_str(),
                edits.back() * 1000, next->timing.loadMs, next->timing.matchMs, next->timing.runMs);
        undos.push_back(secondsOf([&] { next = build(options.inputs, next); }));
    }
    print("from scratch", scratch);
    print("one node excluded", edits);
    print("back, without the snapshot", undos);
    std::ranges::sort(scratch);
    std::ranges::sort(edits);
    std::printf("from scratch (least) / edit (median) = %.2f\n", scratch.front() / edits[edits.size() / 2]);
}
