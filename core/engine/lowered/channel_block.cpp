// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lowered/channel_block.h"

#include "core/graph/domains.h"
#include "core/kernels/convolution/blocked_filter.h"
#include "core/tensor/convert.h"

#include <cmath>

namespace qs {

namespace {

constexpr int64_t kSmall = 8, kLarge = 16;

const Tensor* filterOf(const Graph& graph, const Node& node)
{
    if (!node.is("Conv", kNchwcDomain) || !node.hasInput(1))
        return nullptr;
    const auto& filter = graph.value(node.inputs[1]).initializer;
    return filter && filter->rank() >= 3 && filter->dtype() == DType::Float32 ? &*filter : nullptr;
}

/// What the sizes of one node leave possible; 0: both.
int64_t blockBySizes(const Graph& graph, const Node& node)
{
    if (const Tensor* filter = filterOf(graph, node)) {
        const bool inGroups = node.attributes.integer("group", 1) != 1;
        const int64_t channels = filter->dim(1);
        // Up to a block, input channels are taken as they are; more of them come in blocks.
        return filter->dim(0) % kLarge != 0 || (!inGroups && channels > kLarge && channels % kLarge != 0) ? kSmall : 0;
    }
    if (!node.is("ReorderOutput", kNchwcDomain) || !node.hasInput(0))
        return 0;
    const NodeId producer = graph.value(node.inputs[0]).producer;
    const Tensor* filter = producer.valid() ? filterOf(graph, graph.node(producer)) : nullptr;
    const int64_t channels = node.attributes.integer("channels", 0);
    return filter && channels > 0 && filledUp(channels, kSmall) != filter->dim(0) ? kLarge : 0;
}

/// 0 when the elements of the filters do not tell.
int64_t blockByElements(const Graph& graph)
{
    double favoursLarge = 0, count = 0;
    for (const Node& node : graph.nodes()) {
        const Tensor* filter = filterOf(graph, node);
        if (!filter || filter->count() == 0)
            continue;
        const int64_t perFilter = filter->count() / filter->dim(0);
        const float* elements = filter->data<float>().data();
        favoursLarge += blockSpread(filter->dim(0), perFilter, kSmall, elements)
            - blockSpread(filter->dim(0), perFilter, kLarge, elements);
        count += double(filter->count());
    }
    constexpr double kCertain = 10; // times what numbers without order show
    if (std::abs(favoursLarge) <= kCertain * std::sqrt(2 * count))
        return 0;
    return favoursLarge > 0 ? kLarge : kSmall;
}

} // namespace

int64_t channelBlockOf(const Graph& graph)
{
    bool any = false;
    for (const Node& node : graph.nodes()) {
        if (node.domain != kNchwcDomain)
            continue;
        any = true;
        if (const int64_t block = blockBySizes(graph, node))
            return block;
    }
    if (!any)
        return 0;
    const int64_t block = blockByElements(graph);
    return block ? block : nativeChannelBlock();
}

std::optional<Tensor> plainFilter(const Tensor& stored, int64_t groups, int64_t block)
{
    if (stored.dtype() != DType::Float32 || stored.rank() < 3)
        return std::nullopt;
    BlockedFilter f { stored.dim(0), stored.dim(1), 0, block };
    f.taps = stored.count() > 0 ? stored.count() / (f.filters * f.channels) : 0;
    // Each channel apart, or fewer of them than a block has: the image is read channel by channel.
    f.blockedInput = groups == 1 ? f.channels >= f.block : f.channels > 1;
    if (f.block < 1 || f.filters % f.block != 0 || (f.blockedInput && f.channels % f.block != 0))
        return std::nullopt;
    Tensor plain = Tensor::allocate(DType::Float32, stored.shape());
    unblockFilter(f, toPlain(stored).data<float>().data(), plain.fill<float>().data());
    return plain;
}

} // namespace qs
