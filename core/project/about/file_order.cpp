// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/about/file_order.h"

#include "core/onnx/import.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace qs {

namespace {

bool isQuantizationOperator(const Node& node)
{
    static constexpr std::array<std::string_view, 7> kTypes { "QuantizeLinear", "DequantizeLinear",
        "DynamicQuantizeLinear", "ConvInteger", "MatMulInteger", "MatMulNBits", "QGemm" };
    return node.opType.starts_with("QLinear") || std::ranges::find(kTypes, node.opType) != kTypes.end();
}

/// nullopt: it cannot be read.
std::optional<bool> isQuantizedFile(const std::string& path)
{
    const auto model = importModel(path);
    return model.ok() ? std::optional(isQuantized((*model)->graph)) : std::nullopt;
}

} // namespace

bool isQuantized(const Graph& graph)
{
    const auto nodes = graph.nodes();
    return std::any_of(nodes.begin(), nodes.end(), isQuantizationOperator);
}

bool swappedFiles(const std::string& floatPath, const std::string& quantPath)
{
    return isQuantizedFile(floatPath).value_or(false) && !isQuantizedFile(quantPath).value_or(true);
}

} // namespace qs
