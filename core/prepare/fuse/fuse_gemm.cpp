// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/ops/infer.h"
#include "core/prepare/body_copy.h"
#include "core/prepare/fuse/pattern_graph.h"

#include <numeric>

namespace qs {

namespace {

using Known = std::optional<Shape>; ///< a shape of which every size is known

/// What a product and the sum behind it need to become a Gemm.
struct Product {
    size_t product = 0, sum = 0; ///< nodes
    std::string bias;
    Known left; ///< shape of the first factor where it has to be made a matrix; nothing where it is one
    int64_t columns = 0;
};

class GemmFinder {
public:
    GemmFinder(const GraphDraft& draft, const Model& model)
        : m_draft(draft)
        , m_links(draft)
        , m_graph(model.graph)
        , m_facts(inferFacts(model.graph))
    {
    }

    /// As ONNX Runtime 1.31's MatMulAddFusion: matrices with a bias of a row, one row or as many as the product has;
    /// a factor of more (or fewer) axes whose sizes are all known, with a bias of a row.
    std::optional<Product> at(size_t node) const
    {
        const DraftNode& product = m_draft.nodes[node];
        if (!product.is("MatMul") || product.inputs.size() != 2 || !m_links.readOnce(product.outputs[0]))
            return std::nullopt;
        const size_t sum = m_links.readers(product.outputs[0]).front();
        const DraftNode& add = m_draft.nodes[sum];
        const std::string bias = add.is("Add") ? otherInput(add, product.outputs[0]) : std::string();
        const auto left = dims(product.inputs[0]), right = dims(product.inputs[1]), row = dims(bias);
        if (bias.empty() || bias == product.outputs[0] || !left || !right || !row || right->size() != 2
            || !(*right)[1].known() || !isReal(product.inputs[0]))
            return std::nullopt;
        const int64_t columns = (*right)[1].value;
        const bool vector = row->size() == 1 && (*row)[0].known() && (*row)[0].value == columns;
        if (left->size() == 2)
            return vector || isRows(*row, (*left)[0], columns) ? std::optional(Product { node, sum, bias, {}, columns })
                                                               : std::nullopt;
        const Known whole = toShape(*left);
        return vector && whole && !whole->empty() ? std::optional(Product { node, sum, bias, whole, columns })
                                                  : std::nullopt;
    }

private:
    std::optional<Dims> dims(const std::string& name) const
    {
        const ValueId id = name.empty() ? ValueId() : m_graph.findValue(name);
        return id.valid() ? m_facts.of(id).dims : std::nullopt;
    }
    bool isReal(const std::string& name) const
    {
        const DType type = m_facts.of(m_graph.findValue(name)).dtype;
        return type == DType::Float32 || type == DType::Float16 || type == DType::Float64;
    }
    static bool isRows(const Dims& bias, const Dim& rows, int64_t columns)
    {
        if (bias.size() != 2 || !bias[0].known() || !bias[1].known() || bias[1].value != columns)
            return false;
        return bias[0].value == 1 || (rows.known() && rows.value == bias[0].value);
    }

    const GraphDraft& m_draft;
    const DraftLinks m_links;
    const Graph& m_graph;
    const InferredFacts m_facts;
};

/// A Reshape of `from` to `shape`.
DraftNode reshape(GraphDraft& draft, FreeNames& names, const std::string& name, const std::string& from,
    const std::string& to, const Shape& shape)
{
    const std::string constant = names.value(name + "_shape");
    draft.setConstant(
        constant, Tensor::of<int64_t>({ int64_t(shape.size()) }, std::vector<int64_t>(shape.begin(), shape.end())));
    return { NodeId(), name, "Reshape", "", { from, constant }, { to }, {} };
}

/// The nodes that take the place of the sum.
std::vector<DraftNode> madeOf(GraphDraft& draft, FreeNames& names, const Product& found)
{
    const DraftNode& product = draft.nodes[found.product];
    const DraftNode& sum = draft.nodes[found.sum];
    DraftNode gemm { NodeId(), product.name.empty() ? std::string() : product.name + "/MatMulAddFusion", "Gemm", "",
        { product.inputs[0], product.inputs[1], found.bias }, sum.outputs, {} };
    gemm.namedAfter = sum.origin;
    gemm.cameFrom = fusedOrigin({ originOf(product), originOf(sum) }, 0);
    if (!found.left)
        return { std::move(gemm) };
    const Shape& left = *found.left;
    const int64_t rows = std::accumulate(left.begin(), left.end() - 1, int64_t(1), std::multiplies<>());
    Shape wide(left.begin(), left.end() - 1);
    wide.push_back(found.columns);
    const std::string matrix = names.value(sum.outputs[0] + "_gemm_input"),
                      result = names.value(sum.outputs[0] + "_gemm_output");
    DraftNode before = reshape(draft, names, matrix, product.inputs[0], matrix, { rows, left.back() });
    DraftNode behind = reshape(draft, names, result, result, sum.outputs[0], wide);
    gemm.inputs[0] = matrix;
    gemm.outputs = { result };
    return { std::move(before), std::move(gemm), std::move(behind) };
}

} // namespace

Result<PassReport> fuseGemm(GraphDraft& draft)
{
    PassReport report { "fuse_gemm", 0, {} };
    QS_TRY(const auto model, draft.build());
    std::unordered_map<size_t, std::vector<DraftNode>> replacements; // of sums
    std::set<size_t> gone;
    {
        const GemmFinder finder(draft, *model);
        std::vector<Product> all;
        for (size_t n = 0; n < draft.nodes.size(); ++n)
            if (const auto found = finder.at(n); found && !draft.isCaptured(draft.nodes[n].outputs[0]))
                all.push_back(*found);
        FreeNames names(draft);
        for (const Product& found : all) {
            if (!gone.insert(found.product).second || replacements.contains(found.sum))
                continue;
            replacements.emplace(found.sum, madeOf(draft, names, found));
        }
    }
    if (replacements.empty())
        return report;
    std::vector<DraftNode> kept;
    for (size_t n = 0; n < draft.nodes.size(); ++n) {
        if (const auto it = replacements.find(n); it != replacements.end())
            std::ranges::move(it->second, std::back_inserter(kept));
        else if (!gone.contains(n))
            kept.push_back(std::move(draft.nodes[n]));
    }
    draft.nodes = std::move(kept);
    report.changes = replacements.size();
    return report;
}

std::set<std::string> productsOfGemm(GraphDraft draft)
{
    std::set<std::string> products;
    for (const DraftNode& node : draft.nodes)
        if (node.is("MatMul"))
            products.insert(node.outputs[0]);
    if (!fuseGemm(draft).ok())
        return {};
    for (const DraftNode& node : draft.nodes)
        if (node.is("MatMul"))
            products.erase(node.outputs[0]);
    return products;
}

} // namespace qs
