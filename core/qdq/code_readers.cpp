// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/qdq/code_readers.h"

#include "core/qdq/quant_scan.h"

#include <cmath>

namespace qs {

namespace {

/// Relative: scales stored in float16 beside float32 ones are still the same.
constexpr double kSameScale = 1e-3;

/// Where a node says what the codes that it reads mean.
std::vector<CodeOperand> readOperands(const Node& node)
{
    if (isDequantizeLinear(node))
        return { { 0, 1, 2 } };
    const auto signature = qlinearSignature(node);
    return signature ? signature->inputs : std::vector<CodeOperand> {};
}

bool sameNumbers(const QuantParams& a, const QuantParams& b)
{
    return std::fabs(double(a.scale[0]) - double(b.scale[0])) <= kSameScale * std::fabs(double(a.scale[0]))
        && a.zeroPoint == b.zeroPoint;
}

/// An activation whose writer says one constant scale.
bool saysOneScale(const Quantizer& q)
{
    return q.role == QuantRole::Activation && q.quantize.valid() && !q.dynamic && q.params.perTensor();
}

} // namespace

std::vector<OddReader> oddReaders(const Graph& graph, const ConstantLookup& constants, const QuantView& view)
{
    const QuantScan scan(graph, constants);
    std::vector<OddReader> found;
    for (size_t n = 0; n < graph.nodes().size(); ++n) {
        const Node& node = graph.nodes()[n];
        for (const CodeOperand& in : readOperands(node)) {
            const auto q
                = node.hasInput(size_t(in.codes)) ? view.ofQuantized(node.inputs[size_t(in.codes)]) : std::nullopt;
            if (!q || !saysOneScale(view.quantizers()[*q]))
                continue;
            const QuantParams& written = view.quantizers()[*q].params;
            QuantParams read;
            if (readParams(scan, node, in.scale, in.zeroPoint, written.dtype, read) && read.perTensor()
                && !sameNumbers(written, read))
                found.push_back({ NodeId(n), *q, std::move(read) });
        }
    }
    return found;
}

} // namespace qs
