// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/about/file_facts.h"

#include "core/analysis/rows/output_row.h"
#include "core/onnx/files/stored_bytes.h"
#include "core/onnx/import.h"
#include "core/project/about/model_info.h"
#include "core/project/files/mac_count.h"
#include "core/project/files/runs.h"
#include "core/project/quantize/provenance.h"
#include "core/project/snapshot/comparing.h"

#include <algorithm>

namespace qs {

namespace {

/// `file`: the model as it is stored, with branches that are not taken.
FileFacts factsOf(const LoadedModel& file, const LoadedModel& model, const Comparison& comparison, std::string role)
{
    FileFacts facts;
    facts.role = std::move(role);
    facts.parameters = modelInfo(file).parameters;
    const MacCount macs = macCount(model, &comparison);
    facts.macs = macs.all;
    facts.codeShare = macs.codeShare;
    return facts;
}

void addOutputs(const Comparison& c, FileFacts& facts)
{
    facts.exact = !c.outputs.empty();
    if (const OutputRow* worst = worstOutput(c.outputs))
        facts.outputSqnrDb = worst->similarity.sqnrDb;
    for (const OutputRow& out : c.outputs) {
        facts.exact = facts.exact && out.similarity.exact;
        if (const Number& share = out.top1Agreement)
            facts.top1Agreement = std::min(*share, facts.top1Agreement.value_or(*share));
    }
}

/// On the disk; where that cannot be read any more, as it was opened.
std::optional<uint64_t> bytesOf(const Model& model)
{
    if (const auto bytes = storedBytes(model.path))
        return bytes;
    const OpenedFiles files = filesOf(model);
    uint64_t total = 0;
    for (const auto& file : files)
        total += file->size();
    return files.empty() ? std::nullopt : std::optional(total);
}

} // namespace

std::vector<FileFacts> fileFacts(std::span<const Snapshot* const> snapshots)
{
    const Snapshot& last = *snapshots.back();
    std::vector<FileFacts> list { factsOf(*last.floatFile, *last.floatModel, *last.comparison, "float") };
    list[0].path = last.floatModel->model->path;
    list[0].bytes = bytesOf(*last.floatModel->model);
    if (last.comparison->accuracy)
        list[0].accuracy = last.comparison->accuracy->floatAccuracy;
    for (const Snapshot* s : snapshots) {
        const char* role = snapshots.size() == 1 ? "quantized" : s == snapshots.front() ? "a" : "b";
        FileFacts facts = factsOf(*s->quantFile, *s->quantModel, *s->comparison, role);
        if (!s->quantization)
            facts.path = s->quantModel->model->path;
        facts.bytes = s->quantization ? quantizedFileBytes(*s) : bytesOf(*s->quantModel->model);
        facts.profile = s->comparison->profile;
        addOutputs(*s->comparison, facts);
        if (s->comparison->accuracy)
            facts.accuracy = s->comparison->accuracy->quantizedAccuracy;
        list.push_back(std::move(facts));
    }
    return list;
}

bool calibratedHere(const Snapshot& snapshot)
{
    const Quantization* made = snapshot.quantization.get();
    if (!made || !snapshot.data)
        return false;
    return made->blocks || !made->corrections.empty()
        || (snapshot.inputs.rangesPath.empty() && !rangesFromSamples(*made).empty());
}

Status measureTimes(
    std::vector<FileFacts>& facts, std::span<const Snapshot* const> snapshots, size_t runs, const WorkContext& work)
{
    const Snapshot& last = *snapshots.back();
    std::vector<std::shared_ptr<const Plan>> plans { last.floatModel->plan };
    for (const Snapshot* s : snapshots)
        plans.push_back(comparePairOf(*s).quantPlan);
    QS_TRY(const auto times, runTimes(plans, *last.data, last.inputs.carry, runs, work));
    for (size_t i = 0; i < facts.size(); ++i)
        facts[i].time = times[i];
    return {};
}

} // namespace qs
