// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/ladder.h"

namespace qs::cli {

namespace {

Result<std::optional<SavedValues>> openSaved(const std::string& path, size_t samples)
{
    if (path.empty())
        return std::optional<SavedValues>();
    QS_TRY(SavedValues saved, SavedValues::open(path, samples));
    return std::optional(std::move(saved));
}

} // namespace

void addLadderOptions(CLI::App& command, LadderOptions& o)
{
    command.add_option("--framework", o.framework,
        "what the framework that the float model came from computed for the same samples: FILE.npz with a leading axis "
        "of samples, keyed by the float file's tensor names, or a folder of ONNX test data with output_K.pb. Shows "
        "step by step, framework -> float -> simulated -> integer -> device, where agreement ends");
    command.add_option("--device", o.device,
        "the same of a device that runs the quantized model: codes or reals, keyed by names of either file");
}

Result<std::optional<Ladder>> ladderOf(const LadderOptions& o, const Snapshot& s, const Context& context)
{
    if (!o.any())
        return std::optional<Ladder>();
    QS_TRY(const auto framework, openSaved(o.framework, s.data->samples()));
    QS_TRY(const auto device, openSaved(o.device, s.data->samples()));
    const bool simulated = s.inputs.profile == ArithmeticProfile::Simulated;
    LadderRequest request;
    request.pair = { s.floatModel->plan, s.quantModel->plan, s.quantModel->quant, s.alignment };
    request.integerPlan = Plan::make(s.quantModel->model,
        { KernelMode::Fast, simulated ? ArithmeticProfile::Integer : s.inputs.profile, s.caches.lowered });
    request.data = s.data.get();
    request.framework = framework ? &*framework : nullptr;
    request.device = device ? &*device : nullptr;
    QS_TRY(Ladder climbed, climbLadder(request, workFor(s.inputs, progressBar(context.common), context.cancel)));
    clearProgress(context.common);
    std::vector<std::string> warnings;
    for (const std::string& name : climbed.unknown)
        warnings.push_back("saved value '" + name + "' is in neither file, so nothing is compared with it");
    printWarnings(warnings, context.common);
    return std::optional(std::move(climbed));
}

} // namespace qs::cli
