// SPDX-License-Identifier: GPL-3.0-or-later
// Weights that operators hold in blocks.
#include "core/analysis/pairs/float_elements.h"
#include "core/graph/domains.h"
#include "core/project/mend/file_patch.h"
#include "core/quant/params/weights.h"
#include "core/quant/weight_only/block_codes.h"
#include "core/quant/weight_only/table_codes.h"
#include "core/tensor/convert.h"

#include <algorithm>

namespace qs {

namespace {

constexpr size_t kCodes = 1, kScales = 2, kZeros = 3, kGroups = 4, kBias = 5; ///< inputs of MatMulNBits
constexpr int64_t kUsualBits = 4, kEightBits = 8;

bool isBlockProduct(const DraftNode& node) { return node.is("MatMulNBits", kMicrosoftDomain); }
bool isBlockTable(const DraftNode& node) { return node.is("GatherBlockQuantized", kMicrosoftDomain); }

bool hasInput(const DraftNode& node, size_t slot) { return slot < node.inputs.size() && !node.inputs[slot].empty(); }

/// Rows and columns exchanged, in the type that the operator computes with.
Tensor turned(const Tensor& matrix, DType real)
{
    const Tensor other = exchangedAxes(matrix);
    return realTensor(real, other.shape(), toFloats(other));
}

} // namespace

std::vector<size_t> FilePatch::blockReaders(uint32_t index) const
{
    std::vector<size_t> readers;
    if (!quantizer(index).logicalCodes.valid() && quantizer(index).params.blockSize == 0)
        return readers;
    const std::string& codes = nameOf(quantizer(index).codes);
    for (size_t n = 0; n < m_draft.nodes.size(); ++n) {
        const DraftNode& node = m_draft.nodes[n];
        if ((isBlockProduct(node) && hasInput(node, kCodes) && node.inputs[kCodes] == codes)
            || (isBlockTable(node) && node.inputs[0] == codes))
            readers.push_back(n);
    }
    return readers;
}

Status FilePatch::requantizeBlocks(uint32_t index, bool eightBits)
{
    const std::vector<size_t> readers = blockReaders(index);
    const auto value = partner(index);
    if (readers.empty() || !value)
        return refuse(
            index, readers.empty() ? "no operator holds it in blocks" : "it has no partner in the float file");
    for (const size_t reader : readers)
        QS_CHECK(isBlockTable(m_draft.nodes[reader]) ? setTable(index, reader, *value, eightBits)
                                                     : setProduct(index, reader, *value, eightBits));
    return {};
}

/// All attributes that do not say how its codes are stored stay.
Status FilePatch::setProduct(uint32_t index, size_t reader, const Tensor& value, bool eightBits)
{
    DraftNode& node = m_draft.nodes[reader];
    const Tensor* scales = m_draft.constant(node.inputs[kScales]);
    const Tensor* zeros = hasInput(node, kZeros) ? m_draft.constant(node.inputs[kZeros]) : nullptr;
    if (value.rank() != 2 || !scales || hasInput(node, kGroups) || hasInput(node, kZeros) != (zeros != nullptr))
        return refuse(index, "its blocks are of a form that is not written");
    BlockRules rules;
    rules.bits = int(eightBits ? kEightBits : node.attributes.integer("bits", kUsualBits));
    rules.blockSize = node.attributes.integer("block_size", rules.blockSize);
    rules.symmetric = !zeros;
    if (zeros && isFloat(zeros->dtype()) && !eightBits) // no kernel of ONNX Runtime's has real ones of 8 bits
        rules.algorithm = WeightOnlyAlgorithm::Hqq;
    const auto blocks = quantizeBlocks(turned(value, scales->dtype()), rules);
    if (!blocks.ok())
        return refuse(index, blocks.issue().what);
    const BlockTensors made = operatorTensors(*blocks, rules, scales->dtype());
    const std::string base = nameOf(quantizer(index).codes) + "_mended";
    setBlockInput(node, kCodes, base, made.codes);
    setBlockInput(node, kScales, base + "_scales", made.scales);
    if (made.zeroPoints.valid())
        setBlockInput(node, kZeros, base + "_zero_points", made.zeroPoints);
    node.attributes.set("bits", int64_t(rules.bits));
    node.attributesChanged = true;
    return {};
}

Status FilePatch::setTable(uint32_t index, size_t reader, const Tensor& value, bool eightBits)
{
    constexpr size_t kTableZeros = 3;
    DraftNode& node = m_draft.nodes[reader];
    const Tensor* codes = m_draft.constant(node.inputs[0]);
    const int64_t axis = node.attributes.integer("quantize_axis", 1);
    const Tensor* scales = m_draft.constant(node.inputs[kScales]);
    if (eightBits || !codes || !scales || dtypeBits(codes->dtype()) != kUsualBits || axis < 0)
        return refuse(index, "a table in blocks has 4 bits");
    const bool symmetric = !hasInput(node, kTableZeros);
    auto blocks = quantizeTable(realTensor(scales->dtype(), value.shape(), toFloats(value)), size_t(axis),
        node.attributes.integer("block_size", 128), symmetric, /*threads*/ 1);
    if (!blocks.ok() || blocks->codes.dtype() != codes->dtype() || blocks->codes.shape() != codes->shape())
        return refuse(index, "its blocks are of a form that is not written");
    const std::string base = nameOf(quantizer(index).codes) + "_mended";
    setBlockInput(node, 0, base, blocks->codes);
    setBlockInput(node, kScales, base + "_scales", blocks->scales);
    if (blocks->zeroPoints)
        setBlockInput(node, kTableZeros, base + "_zero_points", *blocks->zeroPoints);
    return {};
}

void FilePatch::setBlockInput(DraftNode& node, size_t slot, const std::string& name, const Tensor& value)
{
    m_draft.setConstant(name, value);
    setInput(node, slot, name);
}

/// The node multiplies with the float weight, or looks rows up in it.
Status FilePatch::bypassBlocks(NodeId id)
{
    DraftNode& node = m_draft.nodes[id.index()];
    const bool table = isBlockTable(node);
    const auto index = m_pair.quantView->ofQuantized(m_plan.graph().node(id).inputs[table ? 0 : kCodes]);
    const auto value = index ? partner(*index) : std::nullopt;
    const Tensor* scales = m_draft.constant(node.inputs[kScales]);
    if (!value || value->rank() != 2 || !scales || (!table && hasInput(node, kBias))) {
        Issue issue = badInput("its float weight is not known", m_plan.model().path, {});
        issue.node = node.name;
        return issue;
    }
    const std::string name = nameOf(quantizer(*index).codes) + "_float";
    const DType real = scales->dtype();
    m_draft.setConstant(name, table ? realTensor(real, value->shape(), toFloats(*value)) : turned(*value, real));
    const int64_t axis = node.attributes.integer("gather_axis", 0);
    node.opType = table ? "Gather" : "MatMul";
    node.domain.clear();
    node.attributes = {};
    node.attributesChanged = true;
    if (table) {
        node.attributes.set("axis", axis);
        node.inputs = { name, node.inputs[1] };
    } else {
        node.inputs = { node.inputs[0], name };
    }
    return {};
}

Status FilePatch::storeFloat(const std::string& name, const std::string& floatName)
{
    const ValueId value = m_pair.floatPlan->graph().findValue(floatName);
    const Tensor* own = value.valid() ? m_pair.floatPlan->constant(value) : nullptr;
    const ValueId stored = m_plan.graph().findValue(name);
    const Tensor* other = stored.valid() ? m_plan.constant(stored) : nullptr;
    if (!own || !other || own->count() != other->count())
        return badInput("the constant '" + name + "' cannot be stored anew", m_plan.model().path, {});
    m_draft.setConstant(name + "_mended", realTensor(other->dtype(), other->shape(), toFloats(*own)));
    for (DraftNode& node : m_draft.nodes)
        std::ranges::replace(node.inputs, name, name + "_mended");
    return {};
}

} // namespace qs
