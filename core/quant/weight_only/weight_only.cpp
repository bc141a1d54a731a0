// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/weight_only/weight_only.h"

#include "core/graph/domains.h"
#include "core/quant/model/reads.h"
#include "core/quant/params/weights.h"
#include "core/quant/weight_only/block_codes.h"
#include "core/quant/weight_only/block_rules.h"
#include "core/quant/weight_only/restored_rank.h"
#include "core/quant/weight_only/table_codes.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <map>
#include <unordered_set>

namespace qs {

namespace {

constexpr int64_t kMicrosoftVersion = 1;

/// Slots that read the value, those in subgraphs included.
size_t readsOf(const std::vector<DraftNode>& nodes, const std::string& name)
{
    size_t count = 0;
    for (const DraftNode& node : nodes) {
        count += static_cast<size_t>(std::ranges::count(node.inputs, name));
        for (const auto& body : subgraphs(node.attributes))
            count += readsOf(*body, name);
    }
    return count;
}

/// Where the constants of a weight in blocks go, and how they look.
struct BlockStore {
    GraphDraft& draft;
    std::string base; ///< what their names begin with
    bool byRows; ///< the matrix the other way round
};

/// Stores the blocks and writes the nodes that make floats of them to `out`.
void addDequantizer(const DraftNode& node, const BlockTensors& blocks, const BlockProduct& p, const BlockStore& store,
    std::vector<DraftNode>& out)
{
    const std::string codes = store.base + "_DQ_Q4", scales = store.base + "_DQ_scales",
                      zeros = store.base + "_DQ_zero_points";
    store.draft.setConstant(codes, blocks.codes);
    store.draft.setConstant(scales, blocks.scales);
    DraftNode pair { NodeId(), node.name + "_DQ_Q4", "DequantizeLinear", "", { codes, scales }, { codes + "_output" },
        {}, false, node.origin };
    if (blocks.zeroPoints.valid()) {
        store.draft.setConstant(zeros, blocks.zeroPoints);
        pair.inputs.push_back(zeros);
    }
    pair.attributes.set("axis", int64_t(store.byRows ? 1 : 0));
    pair.attributes.set("block_size", p.rules.blockSize);
    out.push_back(std::move(pair));
    if (!store.byRows)
        return;
    DraftNode transpose { NodeId(), "", "Transpose", "", { codes + "_output" }, { codes + "_output_transposed" }, {},
        false, NodeId() };
    transpose.attributes.set("perm", std::vector<int64_t> { 1, 0 });
    out.push_back(std::move(transpose));
}

Issue ofTensor(Issue issue, const std::string& name)
{
    issue.tensor = name;
    return issue;
}

/// Of a chosen node whose weight does not become blocks.
std::string whyNoBlocks(const FloatModel& model, const DraftNode& node)
{
    if (node.is("Gather"))
        return "its table is no constant of floats, or the type has not 4 bits";
    if (!node.is("MatMul"))
        return "weights in blocks are those of MatMul and Gather alone";
    const Tensor* weight = node.hasInput(1) ? model.constant(node.inputs[1]) : nullptr;
    return weight ? "its weight '" + node.inputs[1] + "' is no matrix of floats that this algorithm takes"
                  : "its second factor is no constant";
}

/// Writes one graph; subgraphs have writers of their own, which put constants where the weights are.
class WeightOnlyWriter {
public:
    WeightOnlyWriter(
        FloatModel& model, const Recipe& recipe, const BlockSources& sources, WeightOnlyWriter* outer = nullptr)
        : m_model(model)
        , m_draft(model.draft)
        , m_recipe(recipe)
        , m_sources(sources)
        , m_outer(outer)
        , m_home(this)
    {
        if (!recipe.weightOnly.dequantizeForm)
            m_draft.opsets.emplace(kMicrosoftDomain, kMicrosoftVersion);
    }

    Status write()
    {
        QS_TRY(const std::vector<BlockProduct> products, blockProducts(m_model, m_recipe, m_sources.threads));
        auto next = products.begin();
        for (size_t n = 0; n < m_draft.nodes.size(); ++n) {
            bool written = next != products.end() && next->node == n;
            if (written) {
                QS_CHECK(product(*next++));
            } else if (m_model.chosen[n] && m_draft.nodes[n].is("Gather")) {
                QS_TRY(written, table(m_draft.nodes[n]));
            }
            m_changed |= written;
            if (!written) {
                DraftNode node = m_draft.nodes[n];
                if (m_model.chosen[n])
                    m_model.stays(node, { FloatCause::Rule, whyNoBlocks(m_model, node) });
                if (entersSubgraphs(m_recipe))
                    QS_CHECK(bodies(node));
                m_nodes.push_back(std::move(node));
            }
        }
        m_draft.nodes = std::move(m_nodes);
        m_draft.dropUnusedConstants();
        return {};
    }

private:
    /// Weights that the node's subgraphs multiply with.
    Status bodies(DraftNode& node)
    {
        return replaceSubgraphs(
            node, [&](const std::shared_ptr<const Graph>& body) -> Result<std::shared_ptr<const Graph>> {
                FloatModel inner = FloatModel::ofBody(*body, m_recipe, m_model);
                WeightOnlyWriter writer(inner, m_recipe, m_sources, this);
                QS_CHECK(writer.write());
                m_model.warnings.insert(m_model.warnings.end(), inner.warnings.begin(), inner.warnings.end());
                if (!writer.m_changed)
                    return body;
                m_changed = true;
                QS_TRY(const auto model, inner.draft.build());
                return std::shared_ptr<const Graph>(model, &model->graph);
            });
    }

    /// The writer of the graph that holds the weight.
    WeightOnlyWriter& homeOf(const std::string& weight)
    {
        WeightOnlyWriter* home = this;
        while (!home->m_draft.constant(weight) && home->m_outer)
            home = home->m_outer;
        return *home;
    }

    Status product(const BlockProduct& p)
    {
        const DraftNode node = m_draft.nodes[p.node];
        m_home = &homeOf(p.weight);
        m_base = baseName(p.weight,
            std::to_string(p.rules.bits) + (p.rules.symmetric ? "s" : "u") + std::to_string(p.rules.blockSize));
        std::optional<BlockTensors> blocks; // where no other node made the same constants
        if (m_home->m_written.insert(m_base).second) {
            QS_TRY(blocks, tensorsOf(p));
        }
        const Shape shape = m_model.constant(p.weight)->shape();
        const bool reshapes = needsRank(m_draft, node.inputs[0], shape);
        DraftNode target = node;
        if (reshapes)
            target.outputs.front() += "_pre_reshape";
        if (p.rules.dequantizeForm)
            dequantize(target, blocks, p);
        else
            operatorForm(target, blocks, p);
        if (reshapes) {
            const bool named = node.name != node.outputs.front();
            const std::string form = p.rules.dequantizeForm ? "_DQ_Q" : "_Q";
            restoreRank(m_draft,
                { node.inputs[0], target.outputs.front(), node.outputs.front(), shape,
                    (named ? node.name : p.weight) + form + std::to_string(p.rules.bits) },
                m_nodes);
        }
        return {};
    }

    /// Whether the node's table is one that became blocks.
    Result<bool> table(const DraftNode& node)
    {
        const Tensor* table = node.hasInput(0) ? m_model.constant(node.inputs[0]) : nullptr;
        const bool real = table && (table->dtype() == DType::Float32 || table->dtype() == DType::Float16);
        if (!real || table->count() == 0 || table->rank() == 0)
            return false;
        if (dtypeBits(m_recipe.weightType) != 4) {
            m_model.warnings.push_back("'" + node.name + "' stays float: tables of Gather have 4 bits only");
            return false;
        }
        const WeightOnlyOptions& o = m_recipe.weightOnly;
        const auto rank = static_cast<int64_t>(table->rank());
        const int64_t axis = o.tableAxis + (o.tableAxis < 0 ? rank : 0);
        if (axis < 0 || axis >= rank)
            return Issue { IssueKind::BadInput,
                "reads a table of shape " + shapeText(table->shape()) + ", which has no axis "
                    + std::to_string(o.tableAxis),
                {}, node.name, node.inputs[0], "give another --quantize-axis, or exclude the node" };
        const bool symmetric = isSigned(m_recipe.weightType);
        m_home = &homeOf(node.inputs[0]);
        m_base = baseName(node.inputs[0], "table");
        const std::string codes = m_base + "_Q4", scales = m_base + "_scales", zeros = m_base + "_zero_points";
        DraftNode made { NodeId(), node.name + "_Q4", "GatherBlockQuantized", kMicrosoftDomain,
            { codes, node.inputs[1], scales }, node.outputs, {}, false, node.origin };
        if (m_home->m_written.insert(m_base).second) {
            auto blocks = quantizeTable(*table, static_cast<size_t>(axis), o.blockSize, symmetric, m_sources.threads);
            if (!blocks)
                return ofTensor(std::move(blocks).issue(), node.inputs[0]);
            m_home->m_draft.setConstant(codes, std::move(blocks->codes));
            m_home->m_draft.setConstant(scales, std::move(blocks->scales));
            if (blocks->zeroPoints)
                m_home->m_draft.setConstant(zeros, std::move(*blocks->zeroPoints));
        }
        if (!symmetric)
            made.inputs.push_back(zeros);
        made.attributes.set("gather_axis", node.attributes.integer("axis", 0));
        made.attributes.set("quantize_axis", axis);
        made.attributes.set("block_size", o.blockSize);
        m_nodes.push_back(std::move(made));
        return true;
    }

    /// What the names of a weight's new constants begin with: its own name but where that is taken by other blocks of
    /// it.
    std::string baseName(const std::string& weight, const std::string& kind)
    {
        std::string name = weight;
        for (int i = 2; m_home->m_bases.emplace(name, kind).first->second != kind; ++i)
            name = weight + "_" + std::to_string(i);
        return name;
    }

    Result<BlockMatrix> blocksOf(const BlockProduct& p)
    {
        if (m_sources.ready)
            if (const auto found = m_sources.ready->find({ p.weight, p.rules.bits }); found != m_sources.ready->end())
                return found->second;
        auto made = quantizeBlocks(p.matrix, p.rules);
        if (!made)
            return ofTensor(std::move(made).issue(), p.weight);
        return made;
    }

    /// For accelerators that want one scale a row, ONNX Runtime stores the matrix the other way round.
    bool byRows(const BlockProduct& p) const { return m_recipe.weightOnly.channelWise && p.rules.symmetric; }

    /// The constants that hold the weight, perhaps of an earlier quantization.
    Result<BlockTensors> tensorsOf(const BlockProduct& p)
    {
        const auto make = [&]() -> Result<std::vector<Tensor>> {
            QS_TRY(const BlockMatrix m, blocksOf(p));
            const DType real = p.matrix.dtype();
            BlockTensors made = p.rules.dequantizeForm ? dequantizerTensors(m, p.rules, real, byRows(p))
                                                       : operatorTensors(m, p.rules, real);
            return std::vector<Tensor> { std::move(made.codes), std::move(made.scales), std::move(made.zeroPoints) };
        };
        std::string how = p.rules.text();
        how += byRows(p) ? " by rows" : "";
        QS_TRY(const auto made, m_sources.made ? m_sources.made->of(*m_model.constant(p.weight), how, make) : make());
        return BlockTensors { made[0], made[1], made[2] };
    }

    void operatorForm(const DraftNode& node, const std::optional<BlockTensors>& blocks, const BlockProduct& p)
    {
        const BlockRules& rules = p.rules;
        const bool grouped
            = rules.algorithm != WeightOnlyAlgorithm::Hqq && rules.algorithm != WeightOnlyAlgorithm::Default;
        const std::string bits = std::to_string(rules.bits);
        const std::string codes = m_base + "_Q" + bits + (grouped ? "G" + std::to_string(rules.blockSize) : "");
        const std::string scales = m_base + (grouped ? "_scale" : "_scales");
        const std::string zeros = m_base + (grouped ? "_zp" : "_zero_points");
        if (blocks) {
            m_home->m_draft.setConstant(codes, blocks->codes);
            m_home->m_draft.setConstant(scales, blocks->scales);
            if (blocks->zeroPoints.valid())
                m_home->m_draft.setConstant(zeros, blocks->zeroPoints);
        }
        DraftNode made { NodeId(), node.name + "_Q" + bits, "MatMulNBits", kMicrosoftDomain,
            { node.inputs[0], codes, scales }, node.outputs, {}, false, node.origin };
        if (!rules.symmetric)
            made.inputs.push_back(zeros);
        made.attributes.set("K", p.matrix.dim(0));
        made.attributes.set("N", p.matrix.dim(1));
        made.attributes.set("bits", int64_t(rules.bits));
        made.attributes.set("block_size", rules.blockSize);
        if (m_recipe.weightOnly.accuracyLevel != 0)
            made.attributes.set("accuracy_level", m_recipe.weightOnly.accuracyLevel);
        m_nodes.push_back(std::move(made));
    }

    void dequantize(const DraftNode& node, const std::optional<BlockTensors>& blocks, const BlockProduct& p)
    {
        const std::string codes = m_base + "_DQ_Q4", output = codes + "_output";
        if (blocks) {
            WeightOnlyWriter& readers = readsOf(m_home->m_draft.nodes, p.weight) > 1 ? *m_home : *this;
            addDequantizer(node, *blocks, p, { m_home->m_draft, m_base, byRows(p) }, readers.m_nodes);
        }
        DraftNode product = node;
        product.name = node.name + "_matmul_Q4";
        product.inputs[1] = byRows(p) ? output + "_transposed" : output;
        m_nodes.push_back(std::move(product));
    }

    FloatModel& m_model;
    GraphDraft& m_draft;
    const Recipe& m_recipe;
    const BlockSources& m_sources;
    WeightOnlyWriter* m_outer; ///< of the graph around; null: this is the main graph
    WeightOnlyWriter* m_home; ///< that of the weight at hand
    std::vector<DraftNode> m_nodes;
    bool m_changed = false;
    std::string m_base; ///< of the weight at hand
    std::map<std::string, std::string> m_bases; ///< what each base name stands for
    std::unordered_set<std::string> m_written; ///< base names whose constants exist
};

} // namespace

Status quantizeWeightsOnly(FloatModel& model, const Recipe& recipe, const BlockSources& sources)
{
    if (recipe.weightOnly.algorithm == WeightOnlyAlgorithm::Gptq && !sources.ready)
        return badUse("GPTQ needs samples of what the weights are multiplied with", "give --data");
    return WeightOnlyWriter(model, recipe, sources).write();
}

} // namespace qs
