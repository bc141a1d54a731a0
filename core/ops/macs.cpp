// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/ops/macs.h"

#include <algorithm>

namespace qs {

std::optional<int64_t> nodeMacs(const Node& node, const InferredFacts& facts)
{
    const Op* op = opRegistry().find(node);
    if (!op || !op->macs)
        return 0;
    std::vector<Fact> inputs, outputs;
    for (const ValueId in : node.inputs)
        inputs.push_back(in.valid() ? facts.of(in) : Fact {});
    for (const ValueId out : node.outputs)
        outputs.push_back(out.valid() ? facts.of(out) : Fact {});
    // Of malformed nodes nothing is known where an input or output is missing.
    constexpr size_t kMostRead = 8;
    inputs.resize(std::max(inputs.size(), kMostRead));
    outputs.resize(std::max<size_t>(outputs.size(), 1));
    return op->macs({ node, inputs }, outputs);
}

} // namespace qs
