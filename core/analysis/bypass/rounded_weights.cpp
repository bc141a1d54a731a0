// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/bypass/rounded_weights.h"

#include "core/analysis/pairs/float_elements.h"
#include "core/analysis/pairs/weight_elements.h"
#include "core/graph/draft.h"
#include "core/tensor/channel_major.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace qs {

namespace {

/// Which elements of a weight share a scale.
struct Sharing {
    Channels channels {};
    int64_t block = 0; ///< of a matrix: so many elements of a channel; 0: all of it

    size_t scaleOf(size_t i) const
    {
        const auto inner = size_t(channels.inner), count = size_t(channels.count);
        const size_t channel = i / inner % count;
        return block > 0 ? (i / (inner * count) * inner + i % inner) / size_t(block) * count + channel : channel;
    }
};

Sharing sharingOf(const ComparePair& pair, const WeightPair& weight, const Shape& shape)
{
    const QuantParams& params = pair.quantView->quantizers()[weight.quantizer].params;
    if (params.scale.size() <= 1)
        return { { 1, std::max<int64_t>(elementCount(shape).value_or(1), 1) } };
    const Node& reader = pair.floatPlan->graph().node(weight.floatNode);
    const int64_t axis = outputAxis(reader, weight.floatValue, shape, false);
    return { channelsOf(shape, axis), shape.size() == 2 ? params.blockSize : 0 };
}

void roundWeight(std::vector<float>& weight, const Sharing& sharing, int bits)
{
    const double most = std::exp2(bits - 1) - 1;
    std::vector<double> largest;
    for (size_t i = 0; i < weight.size(); ++i) {
        const size_t scale = sharing.scaleOf(i);
        if (scale >= largest.size())
            largest.resize(scale + 1, 0);
        largest[scale] = std::max(largest[scale], std::fabs(double(weight[i])));
    }
    for (size_t i = 0; i < weight.size(); ++i)
        if (const double step = largest[sharing.scaleOf(i)] / most; step > 0)
            weight[i] = float(std::nearbyint(double(weight[i]) / step) * step);
}

} // namespace

Result<std::shared_ptr<const Plan>> withRoundedWeights(const ComparePair& pair)
{
    GraphDraft draft(std::make_shared<const Model>(pair.floatPlan->model()));
    for (const WeightPair& weight : pair.alignment->weights) {
        const Quantizer& q = pair.quantView->quantizers()[weight.quantizer];
        const std::string& name = pair.floatPlan->graph().value(weight.floatValue).name;
        const Tensor* old = pair.floatPlan->constant(weight.floatValue); // which a node may make
        if (!old || q.role != QuantRole::Weight || !isFloat(old->dtype()) || old->rank() < 2 || old->count() == 0
            || !isInteger(q.params.dtype) || weight.places)
            continue;
        std::vector<float> values = toFloats(*old);
        roundWeight(values, sharingOf(pair, weight, old->shape()), int(q.params.bits()));
        std::erase_if(draft.nodes, [&](const DraftNode& node) { return node.outputs == std::vector { name }; });
        draft.setConstant(name, convertedTo(Tensor::of<float>(old->shape(), values), old->dtype()));
    }
    QS_TRY(const auto model, draft.build());
    return Plan::make(model);
}

} // namespace qs
