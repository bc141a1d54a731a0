// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/issue_text.h"
#include "core/project/mend/mended_file.h"
#include "core/project/search/tried_remedies.h"
#include "core/project/snapshot/comparing.h"
#include "tests/analysis/planted/planted.h"

#include <algorithm>

/// Planted pairs as snapshots whose remedies are tried.
namespace qs::test {

inline constexpr double kExactDb = 144.5;

inline SnapshotPtr snapshotOf(const PlantedPair& files, ArithmeticProfile profile = ArithmeticProfile::Simulated)
{
    auto s = std::make_shared<Snapshot>();
    s->inputs.floatPath = "float.onnx";
    s->inputs.quantPath = "quantized.onnx";
    s->caches.lowered = std::make_shared<LoweringCache>();
    const PlanOptions options { KernelMode::Fast, ArithmeticProfile::Simulated, s->caches.lowered };
    s->floatModel = loadedModel(files.floatModel, options);
    s->floatModel->draft = std::make_shared<const GraphDraft>(files.floatModel);
    s->quantModel = loadedModel(files.quantModel, { KernelMode::Fast, profile, s->caches.lowered });
    s->inputs.profile = profile;
    s->data = files.data;
    auto alignment = align(*s->floatModel->plan, *s->quantModel->plan, *s->quantModel->quant, {});
    if (!alignment.ok())
        qFatal("%s", issueText(alignment.issue()).c_str());
    s->alignment = std::make_shared<const Alignment>(std::move(alignment).value());
    CompareOptions compare;
    compare.prove = true;
    compare.profile = profile;
    auto made = compareModels(comparePairOf(*s), *files.data, compare);
    if (!made.ok())
        qFatal("%s", issueText(made.issue()).c_str());
    s->comparison = std::move(made).value();
    return s;
}

inline double outputDb(const Snapshot& s) { return s.comparison->outputs.front().similarity.sqnrDb.value_or(kExactDb); }

inline SnapshotPtr tried(const SnapshotPtr& s, size_t most = 8)
{
    auto made = withTriedRemedies(s, most, {}, {});
    if (!made.ok())
        qFatal("%s", issueText(made.issue()).c_str());
    return std::move(made).value();
}

/// With the remedies made in the file.
inline double mendedDb(const PlantedPair& files, const SnapshotPtr& s, const std::vector<Remedy>& changes)
{
    const auto draft = mendedFile(*s, changes);
    if (!draft.ok())
        qFatal("%s", issueText(draft.issue()).c_str());
    const auto model = draft->build();
    if (!model.ok())
        qFatal("%s", issueText(model.issue()).c_str());
    return outputDb(*snapshotOf({ files.floatModel, *model, files.data }));
}

inline const Finding* firstOffered(const Snapshot& s)
{
    const auto& all = s.comparison->findings;
    const auto it = std::ranges::find_if(all, [](const Finding& f) { return f.change.kind != RemedyKind::None; });
    return it == all.end() ? nullptr : &*it;
}

} // namespace qs::test
