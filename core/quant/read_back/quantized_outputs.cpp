// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/read_back/quantized_outputs.h"

#include <algorithm>

namespace qs {

bool isProduct(const DraftNode& node)
{
    return node.is("Conv") || node.is("ConvTranspose") || node.is("Gemm") || node.is("MatMul");
}

bool isClip(const DraftNode& node) { return node.is("Relu") || node.is("Clip"); }

bool hasQuantizedOutputs(const FloatModel& model, const QuantizedFile& file, const DraftNode& node,
    const std::function<bool(const DraftNode&)>& passes)
{
    return std::ranges::all_of(node.outputs, [&](const std::string& out) {
        if (out.empty() || model.realType(out) == DType::Undefined || file.find(out))
            return true;
        const auto& readers = model.readersOf(out);
        if (readers.size() != 1)
            return false;
        const DraftNode& reader = model.draft.nodes[readers.front()];
        return passes(reader) && file.find(reader.outputs.front());
    });
}

} // namespace qs
