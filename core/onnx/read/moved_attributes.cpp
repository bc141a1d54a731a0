// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/onnx/read/moved_attributes.h"

#include "core/graph/draft.h"

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

/// Attributes that went without anything in their place.
constexpr std::array kDropped {
    Moved { "DFT", "axis", 20 },
    Moved { "BatchNormalization", "spatial", 9 },
    Moved { "Add", "broadcast", 7 },
    Moved { "Sub", "broadcast", 7 },
    Moved { "Mul", "broadcast", 7 },
    Moved { "Div", "broadcast", 7 },
    Moved { "Pow", "broadcast", 7 },
    Moved { "Gemm", "broadcast", 7 },
    Moved { "Dropout", "is_test", 7 },
    Moved { "LSTM", "output_sequence", 7 },
    Moved { "GRU", "output_sequence", 7 },
    Moved { "RNN", "output_sequence", 7 },
};

/// Other ways in which nodes are of an opset before that.
struct Old {
    std::string_view op;
    int opset;
    std::string_view what; ///< that is so since then
    bool (*is)(const Node& node);
};

bool always(const Node&) { return true; }
bool lacksNumber(const Node& node) { return !node.hasInput(1) && !node.attributes.has("num_outputs"); }
bool lacksRoi(const Node& node) { return node.inputs.size() == 2; }
bool hasSavedOutputs(const Node& node) { return node.outputs.size() > 3; }
bool isBilinear(const Node& node)
{
    const std::string mode = node.attributes.text("mode", "linear");
    return mode == "bilinear" || mode == "bicubic";
}

constexpr std::array kOld {
    Old { "Split", 18, "Split needs 'num_outputs' or the sizes of its parts", lacksNumber },
    Old { "Resize", 11, "the second input of Resize is 'roi' and no longer 'scales'", lacksRoi },
    Old { "BatchNormalization", 14, "BatchNormalization has three outputs at most", hasSavedOutputs },
    Old { "GridSample", 20, "the modes of GridSample are called linear and cubic", isBilinear },
    Old { "Upsample", 10, "there is no Upsample, but Resize", always },
    Old { "Scatter", 11, "there is no Scatter, but ScatterElements", always },
};

/// The first node of a kind, and how many there are.
struct Nodes {
    const Node* first = nullptr;
    size_t count = 0;
    void add(const Node& node)
    {
        first = first ? first : &node;
        ++count;
    }
    std::string text() const
    {
        return "node '" + first->name + "'" + (count > 1 ? " and " + std::to_string(count - 1) + " more" : "");
    }
};

using Found = std::map<std::pair<size_t, size_t>, Nodes>; ///< by table and place in it

void collect(const Graph& graph, Found& found)
{
    for (const Node& node : graph.nodes()) {
        const auto addAttributes = [&](const auto& table, size_t number) {
            for (size_t i = 0; i < table.size(); ++i)
                if (node.opset >= table[i].opset && node.is(table[i].op)
                    && node.attributes.has(std::string(table[i].attribute)))
                    found[{ number, i }].add(node);
        };
        addAttributes(kMoved, 0);
        addAttributes(kDropped, 1);
        for (size_t i = 0; i < kOld.size(); ++i)
            if (node.opset >= kOld[i].opset && node.is(kOld[i].op) && kOld[i].is(node))
                found[{ 2, i }].add(node);
        for (const auto& body : subgraphs(node.attributes))
            collect(*body, found);
    }
}

std::string attributeText(const Moved& of, const char* now, int64_t opset)
{
    return "'" + std::string(of.attribute) + "' of " + std::string(of.op) + now + std::to_string(of.opset)
        + ", the file has it as an attribute in opset " + std::to_string(opset);
}

} // namespace

std::vector<std::string> movedAttributes(const Graph& graph)
{
    Found found;
    collect(graph, found);
    std::vector<std::string> lines;
    for (const auto& [key, nodes] : found) {
        const auto [table, i] = key;
        const int64_t opset = nodes.first->opset;
        const std::string what = table == 0 ? attributeText(kMoved[i], " is an input since opset ", opset)
            : table == 1                    ? attributeText(kDropped[i], " is none since opset ", opset)
                         : std::string(kOld[i].what) + " since opset " + std::to_string(kOld[i].opset)
                + ", and the file has opset " + std::to_string(opset);
        lines.push_back(nodes.text() + ": " + what
            + ": ONNX Runtime does not load it; convert the file to that opset before it is quantized");
    }
    return lines;
}

} // namespace qs
