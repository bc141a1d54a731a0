// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/cli.h"
#include "app/cli/comparison_output.h"

#include "core/project/files/used_files.h"
#include "core/project/shards/shards.h"

#include <memory>

namespace qs::cli {

namespace {

struct MergeCommand {
    std::vector<std::string> states;
    ComparisonOutput output;
};

Result<int> merge(const MergeCommand& o, Context& context)
{
    QS_TRY(const Gates gates, gatesOf(o.output.gates));
    QS_TRY(const WorkContext work, workContext(context));
    FileRoles files;
    for (const std::string& state : o.states)
        files.reads(state, "the state of a shard");
    addFilesOf(files, o.output);
    addFilesOf(files, gates);
    addFilesOf(files, context.common);
    QS_CHECK(checkFiles(files));
    QS_TRY(const auto snapshots, mergeShards(o.states, work));
    for (const SnapshotPtr& s : snapshots)
        addFilesOf(files, *s);
    QS_CHECK(files.check());
    clearProgress(context.common);
    for (const SnapshotPtr& s : snapshots)
        printWarnings(s->warnings, context.common);
    return writeComparison(snapshots, o.output, gates, context);
}

} // namespace

Command addMerge(CLI::App& app, Context& context)
{
    auto o = std::make_shared<MergeCommand>();
    app.add_option("STATE", o->states, "state files of all shards of one comparison, in any order")->required();
    addResultOptions(app, context.common);
    addComparisonOutput(app, o->output);
    app.footer("Shards are made by `compare FLOAT QUANT --data D --shard I/N --state F.qstate`, I = 1..N, on any "
               "machines that see the same files. The result equals one run over all samples in every bit.");
    return [o](Context& c) { return merge(*o, c); };
}

} // namespace qs::cli
