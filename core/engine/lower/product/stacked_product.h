// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/engine/lower/common/at_first_run.h"
#include "core/engine/lower/common/codes.h"
#include "core/engine/lower/common/movement.h"
#include "core/engine/step/lower_context.h"
#include "core/kernels/codes/code_product.h"
#include "core/tensor/shape.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

/// Products of stacks of matrices of codes.
namespace qs {

/// One operand of a batched product: a stack of matrices.
struct MatrixStack {
    Shape batch;
    int64_t rows = 0, columns = 0;
};

/// Sizes of numpy's matmul of two tensors.
struct StackedProduct {
    MatrixStack a, b;
    Shape batch; ///< broadcast
    Shape out; ///< as ONNX names it (vectors drop their axis)
};

Result<StackedProduct> stackedProduct(const Shape& a, const Shape& b);
/// Which matrix of `own` belongs to matrix `index` of the broadcast batch.
int64_t batchIndex(const Shape& batch, const Shape& own, int64_t index);

/// Entries of a scale or zero point for matrix `index` of an operand: one for all, one for each row (of a) or column
/// (of b), or such a list for each matrix.
template <class T> std::span<const T> entriesOf(const std::vector<T>& list, int64_t perMatrix, int64_t index)
{
    if (list.size() <= 1 || static_cast<int64_t>(list.size()) == perMatrix)
        return list;
    return std::span(list).subspan(static_cast<size_t>(index * perMatrix), static_cast<size_t>(perMatrix));
}

template <class T>
Status checkEntries(const std::vector<T>& list, const MatrixStack& stack, int64_t perMatrix, const char* what)
{
    const auto n = static_cast<int64_t>(list.size());
    if (n <= 1 || n == perMatrix || n == perMatrix * product(stack.batch, 0, stack.batch.size()))
        return {};
    return badInput(std::string(what) + " has " + std::to_string(n) + " entries, 1 or " + std::to_string(perMatrix)
        + " are needed");
}

/// Packed matrices of a constant right operand, made once.
using PackedStack = std::vector<CodeProduct>;

constexpr int64_t kRowsTogether = 16; ///< a multiple of the rows that the kernels take at a time

/// What could be prepared of a right operand before running, and how to multiply with it.
struct RightCodes {
    KernelMode mode = KernelMode::Fast;
    PairSaturation saturation = PairSaturation::None;
    AtFirstRun<PackedStack> packed; ///< empty where it is computed
    AtFirstRun<std::vector<SaturationTable>> tables;
};
using RightCodesPtr = std::shared_ptr<const RightCodes>;

/// Will pack b when it and its zero point are constants (an absent zero point is one).
RightCodesPtr prepareRight(const LowerContext& c, size_t bSlot, size_t zeroSlot);

/// Operands of one product as the nodes give them.
struct CodeOperands {
    const Tensor *a, *b;
    std::vector<int32_t> aZero, bZero;
};

/// Sums of a batched product, row after row of the output.
Status sumProduct(
    const CodeOperands& o, const StackedProduct& p, const RightCodes& right, const StepContext& s, int32_t* sums);

} // namespace qs
