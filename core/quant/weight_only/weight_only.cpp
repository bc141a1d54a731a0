// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/weight_only/weight_only.h"

#include "core/quant/weight_only/block_codes.h"
#include "core/quant/weights.h"
#include "core/tensor/convert.h"

#include <algorithm>

namespace qs {

namespace {

constexpr int64_t kMicrosoftVersion = 1;

Result<BlockRules> rulesOf(const Recipe& recipe)
{
    const size_t bits = dtypeBits(recipe.weightType);
    if (bits != 4 && bits != 8)
        return badUse("weights in blocks cannot be " + std::string(dtypeName(recipe.weightType)),
            "use int4, uint4, int8 or uint8");
    const WeightOnlyOptions& o = recipe.weightOnly;
    if (o.dequantizeForm && (bits != 4 || o.algorithm != WeightOnlyAlgorithm::Default))
        return badUse("the form with DequantizeLinear has 4 bits and the default algorithm only", "use int4 or uint4");
    return BlockRules { static_cast<int>(bits), o.blockSize, isSigned(recipe.weightType), o.algorithm,
        o.dequantizeForm };
}

/// Codes and zero points of DequantizeLinear lie along the rows of [K, N] and of [blocks, N].
Tensor alongRows(const std::vector<uint8_t>& byColumn, int64_t rows, int64_t columns, DType type)
{
    Tensor wide = Tensor::allocate(isSigned(type) ? DType::Int8 : DType::UInt8, { rows, columns });
    auto* out = reinterpret_cast<uint8_t*>(
        isSigned(type) ? static_cast<void*>(wide.fill<int8_t>().data()) : wide.fill<uint8_t>().data());
    for (int64_t r = 0; r < rows; ++r)
        for (int64_t c = 0; c < columns; ++c) {
            const uint8_t code = byColumn[static_cast<size_t>(c * rows + r)];
            const bool negative = isSigned(type) && code >= 8;
            out[r * columns + c] = negative ? static_cast<uint8_t>(code | 0xf0) : code;
        }
    return packedAs(wide, type);
}

class WeightOnlyWriter {
public:
    WeightOnlyWriter(FloatModel& model, const BlockRules& rules)
        : m_draft(model.draft)
        , m_rules(rules)
    {
        if (!rules.dequantizeForm)
            m_draft.opsets.emplace("com.microsoft", kMicrosoftVersion);
    }
    Status write(const DraftNode& node, std::vector<DraftNode>& out)
    {
        const std::string& name = node.inputs[1];
        auto found = m_matrices.find(name);
        if (found == m_matrices.end()) {
            auto made = quantizeBlocks(*m_draft.constant(name), m_rules);
            if (!made) {
                Issue issue = std::move(made).issue();
                issue.tensor = name;
                return issue;
            }
            found = m_matrices.emplace(name, std::move(*made)).first;
        }
        if (m_rules.dequantizeForm)
            dequantize(node, found->second, out);
        else
            operatorForm(node, found->second, out);
        return {};
    }

private:
    void operatorForm(const DraftNode& node, const BlockMatrix& m, std::vector<DraftNode>& out)
    {
        const std::string& name = node.inputs[1];
        const bool nearest = m_rules.algorithm == WeightOnlyAlgorithm::RoundToNearest;
        const std::string bits = std::to_string(m_rules.bits);
        const std::string codes = name + "_Q" + bits + (nearest ? "G" + std::to_string(m_rules.blockSize) : "");
        const std::string scales = name + (nearest ? "_scale" : "_scales");
        const std::string zeros = name + (nearest ? "_zp" : "_zero_points");
        const DType real = m_draft.constant(name)->dtype();
        m_draft.setConstant(codes, packedColumns(m, m_rules));
        m_draft.setConstant(scales, realTensor(real, { m.columns, m.blocks }, m.scales));
        DraftNode made { NodeId(), node.name + "_Q" + bits, "MatMulNBits", "com.microsoft",
            { node.inputs[0], codes, scales }, node.outputs, {}, false, node.origin };
        if (!m_rules.symmetric) {
            m_draft.setConstant(zeros, packedZeroPoints(m, m_rules));
            made.inputs.push_back(zeros);
        }
        made.attributes.set("K", m.rows);
        made.attributes.set("N", m.columns);
        made.attributes.set("bits", int64_t(m_rules.bits));
        made.attributes.set("block_size", m_rules.blockSize);
        out.push_back(std::move(made));
    }

    void dequantize(const DraftNode& node, const BlockMatrix& m, std::vector<DraftNode>& out)
    {
        const std::string& name = node.inputs[1];
        const std::string codes = name + "_DQ_Q4", scales = name + "_DQ_scales", zeros = name + "_DQ_zero_points";
        const DType type = m_rules.symmetric ? DType::Int4 : DType::UInt4;
        std::vector<float> byBlock(m.scales.size());
        for (int64_t b = 0; b < m.blocks; ++b)
            for (int64_t c = 0; c < m.columns; ++c)
                byBlock[static_cast<size_t>(b * m.columns + c)] = m.scales[static_cast<size_t>(c * m.blocks + b)];
        m_draft.setConstant(codes, alongRows(m.codes, m.rows, m.columns, type));
        m_draft.setConstant(scales, realTensor(m_draft.constant(name)->dtype(), { m.blocks, m.columns }, byBlock));
        DraftNode pair { NodeId(), node.name + "_DQ_Q4", "DequantizeLinear", "", { codes, scales },
            { codes + "_output" }, {}, false, node.origin };
        if (!m_rules.symmetric) {
            m_draft.setConstant(zeros, alongRows(m.zeroPoints, m.blocks, m.columns, type));
            pair.inputs.push_back(zeros);
        }
        pair.attributes.set("axis", int64_t(0));
        pair.attributes.set("block_size", m_rules.blockSize);
        const bool shared = std::ranges::any_of(
            out, [&](const DraftNode& n) { return !n.outputs.empty() && n.outputs.front() == codes + "_output"; });
        if (!shared)
            out.push_back(std::move(pair));
        DraftNode product = node;
        product.name = node.name + "_matmul_Q4";
        product.inputs[1] = codes + "_output";
        out.push_back(std::move(product));
    }

    GraphDraft& m_draft;
    const BlockRules& m_rules;
    std::unordered_map<std::string, BlockMatrix> m_matrices;
};

} // namespace

Status quantizeWeightsOnly(FloatModel& model, const Recipe& recipe)
{
    QS_TRY(const BlockRules rules, rulesOf(recipe));
    WeightOnlyWriter writer(model, rules);
    std::vector<DraftNode> nodes;
    for (size_t n = 0; n < model.draft.nodes.size(); ++n) {
        const DraftNode& node = model.draft.nodes[n];
        const Tensor* weight = node.hasInput(1) ? model.draft.constant(node.inputs[1]) : nullptr;
        const bool fits = weight && weight->rank() == 2 && weight->count() > 0
            && (weight->dtype() == DType::Float32 || weight->dtype() == DType::Float16);
        if (model.chosen[n] && node.is("MatMul") && fits)
            QS_CHECK(writer.write(node, nodes));
        else
            nodes.push_back(node);
    }
    model.draft.nodes = std::move(nodes);
    model.draft.dropUnusedConstants();
    return {};
}

} // namespace qs
