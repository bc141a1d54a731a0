// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/ladder.h"

namespace qs::cli {

void addLadderOptions(CLI::App& command, SavedFiles& o)
{
    command.add_option("--framework", o.framework,
        "what the framework that the float model came from computed for the same samples: FILE.npz with a leading axis "
        "of samples, keyed by the float file's tensor names, or a folder of ONNX test data with output_K.pb. Shows "
        "step by step, framework -> float -> simulated -> integer -> device, where agreement ends");
    command.add_option("--device", o.device,
        "the same of a device that runs the quantized model: codes or reals, keyed by names of either file");
}

Result<std::optional<Ladder>> ladderOf(const SavedFiles& o, const Snapshot& s, const Context& context)
{
    if (!o.any())
        return std::optional<Ladder>();
    QS_TRY(Ladder climbed, climbedLadder(s, o, workFor(s.inputs, progressBar(context.common), context.cancel)));
    clearProgress(context.common);
    printWarnings(unknownValues(climbed), context.common);
    return std::optional(std::move(climbed));
}

} // namespace qs::cli
