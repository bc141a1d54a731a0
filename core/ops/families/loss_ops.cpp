// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/ops/fact_tools.h"

namespace qs {

namespace {

Result<std::vector<Fact>> inferLoss(const InferContext& c)
{
    QS_CHECK(needInputs(c, 2));
    const Fact& x = *c.input(0);
    if (x.dims && x.dims->size() < 2)
        return inferIssue(c.node, "the input needs a class axis");
    const std::string reduction = c.node.attributes.text("reduction", "mean");
    return std::vector<Fact> { reduction == "none" ? fact(x.dtype, c.input(1)->dims) : fact(x.dtype, Dims {}),
        fact(x.dtype, x.dims) };
}

} // namespace

void registerLossOps(OpRegistry& r)
{
    r.add({ "", "NegativeLogLikelihoodLoss", inferLoss, Tolerance::Accumulation });
    r.add({ "", "SoftmaxCrossEntropyLoss", inferLoss, Tolerance::Accumulation });
}

} // namespace qs
