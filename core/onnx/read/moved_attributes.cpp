// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/onnx/read/moved_attributes.h"

#include <array>
#include <map>
#include <string_view>
#include <utility>

namespace qs {

namespace {

struct Moved {
    std::string_view op, attribute;
    int opset; ///< from here on an input
};
constexpr std::array kMoved {
    Moved { "ReduceMean", "axes", 18 },
    Moved { "ReduceMax", "axes", 18 },
    Moved { "ReduceMin", "axes", 18 },
    Moved { "ReduceProd", "axes", 18 },
    Moved { "ReduceL1", "axes", 18 },
    Moved { "ReduceL2", "axes", 18 },
    Moved { "ReduceLogSum", "axes", 18 },
    Moved { "ReduceLogSumExp", "axes", 18 },
    Moved { "ReduceSumSquare", "axes", 18 },
    Moved { "ReduceSum", "axes", 13 },
    Moved { "Squeeze", "axes", 13 },
    Moved { "Unsqueeze", "axes", 13 },
    Moved { "Split", "split", 13 },
    Moved { "Dropout", "ratio", 12 },
    Moved { "Clip", "min", 11 },
    Moved { "Clip", "max", 11 },
    Moved { "Pad", "pads", 11 },
    Moved { "Pad", "value", 11 },
    Moved { "Slice", "starts", 10 },
    Moved { "Slice", "ends", 10 },
    Moved { "Slice", "axes", 10 },
    Moved { "TopK", "k", 10 },
    Moved { "Upsample", "scales", 9 },
    Moved { "Reshape", "shape", 5 },
};

} // namespace

std::vector<std::string> movedAttributes(const Graph& graph)
{
    std::map<const Moved*, std::pair<const Node*, size_t>> found; // the first node, and how many
    for (const Node& node : graph.nodes())
        for (const Moved& moved : kMoved)
            if (node.opset >= moved.opset && node.is(moved.op) && node.attributes.has(std::string(moved.attribute))) {
                auto& [first, count] = found[&moved];
                first = count++ == 0 ? &node : first;
            }
    std::vector<std::string> lines;
    for (const auto& [moved, of] : found)
        lines.push_back("node '" + of.first->name + "'"
            + (of.second > 1 ? " and " + std::to_string(of.second - 1) + " more" : std::string()) + ": '"
            + std::string(moved->attribute) + "' of " + std::string(moved->op) + " is an input since opset "
            + std::to_string(moved->opset) + ", the file has it as an attribute in opset "
            + std::to_string(of.first->opset) + ": ONNX Runtime does not load it; convert the file to that opset"
            + " before it is quantized");
    return lines;
}

} // namespace qs
