// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/about/climbed_ladder.h"

namespace qs {

namespace {

Result<std::optional<SavedValues>> openSaved(const std::string& path, size_t samples)
{
    if (path.empty())
        return std::optional<SavedValues>();
    QS_TRY(SavedValues saved, SavedValues::open(path, samples));
    return std::optional(std::move(saved));
}

} // namespace

Result<Ladder> climbedLadder(const Snapshot& s, const SavedFiles& files, const WorkContext& work)
{
    QS_TRY(const auto framework, openSaved(files.framework, s.data->samples()));
    QS_TRY(const auto device, openSaved(files.device, s.data->samples()));
    const bool simulated = s.inputs.profile == ArithmeticProfile::Simulated;
    LadderRequest request;
    request.pair = { s.floatModel->plan, s.quantModel->plan, s.quantModel->quant, s.alignment };
    request.integerPlan = Plan::make(s.quantModel->model,
        { KernelMode::Fast, simulated ? ArithmeticProfile::Integer : s.inputs.profile, s.caches.lowered });
    request.data = s.data.get();
    request.framework = framework ? &*framework : nullptr;
    request.device = device ? &*device : nullptr;
    return climbLadder(request, work);
}

std::vector<std::string> unknownValues(const Ladder& ladder)
{
    std::vector<std::string> sentences;
    for (const std::string& name : ladder.unknown)
        sentences.push_back("saved value '" + name + "' is in neither file, so nothing is compared with it");
    return sentences;
}

} // namespace qs
