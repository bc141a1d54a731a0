// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/dynamic/lstm.h"

#include "core/graph/domains.h"
#include "core/qdq/name_tails.h"
#include "core/quant/model/tensor_params.h"
#include "core/quant/params/weights.h"

#include <algorithm>

namespace qs {

namespace {

/// [directions, rows, columns] -> [directions, columns, rows].
Tensor swapped(const Tensor& codes)
{
    const int64_t directions = codes.dim(0), rows = codes.dim(1), columns = codes.dim(2);
    Tensor out = Tensor::allocate(codes.dtype(), { directions, columns, rows });
    const auto from = codes.data<int8_t>();
    const auto to = out.fill<int8_t>();
    for (int64_t d = 0; d < directions; ++d)
        for (int64_t r = 0; r < rows; ++r)
            for (int64_t c = 0; c < columns; ++c)
                to[static_cast<size_t>((d * columns + c) * rows + r)]
                    = from[static_cast<size_t>((d * rows + r) * columns + c)];
    return out;
}

struct LstmWeight {
    std::string codes, scale, zeroPoint;
};

Result<LstmWeight> weight(QOperatorBuilder& b, const std::string& name)
{
    GraphDraft& draft = b.home(name).model.draft;
    const Tensor tensor = *draft.constant(name);
    const bool perChannel = b.recipe.perChannel;
    const Shape& shape = tensor.shape();
    const Tensor rows = perChannel ? tensor.reshaped({ shape[0] * shape[1], shape[2] }) : tensor;
    ConstantRules rules;
    ScaleRules scale;
    scale.type = DType::Int8;
    scale.real = tensor.dtype();
    scale.symmetric = weightSymmetric(DType::Int8, b.recipe.symmetricWeights);
    scale.reduced = b.recipe.reduceRange;
    scale.minimumRange = b.recipe.minimumRange;
    scale.subnormalHalves = b.recipe.ortVersion != OrtVersion::V1_31;
    auto params = weightParams(rows, scale, 0);
    if (!params) {
        Issue issue = std::move(params).issue();
        issue.tensor = name;
        return issue;
    }
    const LstmWeight names { QOperatorBuilder::codesName(name), name + tails::kScale, name + tails::kZeroPoint };
    const Shape stored = perChannel ? Shape { shape[0], shape[1] } : Shape { shape[0] };
    draft.setConstant(names.codes, swapped(weightCodes(rows, *params).reshaped(shape)));
    draft.setConstant(names.scale, realTensor(tensor.dtype(), stored, params->scale));
    draft.setConstant(names.zeroPoint, codeTensor(DType::Int8, stored, params->zeroPoint));
    return names;
}

} // namespace

Status quantizeLstm(QOperatorBuilder& b, const DraftNode& node)
{
    const auto fits = [&](size_t i) {
        const Tensor* t = node.hasInput(i) ? b.model.constant(node.inputs[i]) : nullptr;
        return t && t->rank() == 3 && (t->dtype() == DType::Float32 || t->dtype() == DType::Float16);
    };
    if (!fits(1) || !fits(2))
        return b.leave(node, { FloatCause::Rule, "its weights are no constants of floats" });
    QS_TRY(const LstmWeight w, weight(b, node.inputs[1]));
    QS_TRY(const LstmWeight r, weight(b, node.inputs[2]));
    DraftNode made { NodeId(), "", "DynamicQuantizeLSTM", kMicrosoftDomain, { node.inputs[0], w.codes, r.codes },
        node.outputs, {} };
    for (size_t i = 3; i < 8; ++i)
        made.inputs.push_back(node.hasInput(i) ? node.inputs[i] : std::string());
    made.inputs.insert(made.inputs.end(), { w.scale, w.zeroPoint, r.scale, r.zeroPoint });
    for (const auto& [name, value] : node.attributes.all())
        if (name != "layout")
            made.attributes.set(name, value);
    b.needFloats(node);
    b.replace(node, std::move(made));
    return {};
}

} // namespace qs
