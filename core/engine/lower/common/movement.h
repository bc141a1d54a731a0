// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/lower/common/element_types.h"
#include "core/engine/step/lower_context.h"

#include <optional>

/// What the lowerings of data-moving operators share.
namespace qs {

/// A step made of a plain function; the node lives as long as the plan that holds the step.
using RunFn = Status (*)(const Node& node, KernelMode mode, StepContext& step);
template <RunFn run> Result<LoweredNode> copying(const LowerContext& c)
{
    const char* kernel = c.mode == KernelMode::Reference ? "reference" : "copy";
    return LoweredNode { [node = &c.node, mode = c.mode](StepContext& s) { return run(*node, mode, s); }, kernel };
}
template <RunFn run> Result<LoweredNode> plainView(const LowerContext& c)
{
    return LoweredNode { [node = &c.node, mode = c.mode](StepContext& s) { return run(*node, mode, s); }, "view" };
}
/// For steps that take channels-last tensors too.
template <RunFn run> Result<LoweredNode> anyView(const LowerContext& c)
{
    QS_TRY(LoweredNode lowered, plainView<run>(c));
    lowered.layouts = LayoutRule::Any;
    return lowered;
}
template <RunFn run> Result<LoweredNode> anyCopy(const LowerContext& c)
{
    QS_TRY(LoweredNode lowered, copying<run>(c));
    lowered.layouts = LayoutRule::Any;
    return lowered;
}

/// Storage for `shape`, or an issue when no tensor can have it.
Result<Tensor> allocateChecked(const StepContext& step, DType type, const Shape& shape, Layout layout = Layout::Plain);

/// Room for as many texts, so that the limit of memory holds for what lies beside the pool: to be kept until they are
/// made. An issue when no tensor can have the shape.
Result<Tensor> allocateTexts(const StepContext& step, const Shape& shape);

/// Makes any element type movable as whole bytes: packed codes are unpacked, strings become numbers. The tensors are
/// plain; all of one type.
class Movable {
public:
    explicit Movable(std::vector<const Tensor*> sources);
    const Tensor& operator[](size_t i) const { return m_tensors[i]; }
    DType dtype() const { return m_moved; }
    size_t elementBytes() const;
    /// What the kernel wrote, in the original type again.
    Tensor back(const Tensor& moved) const;
    /// Bytes of a number (or of zero or an empty string) as the moved type holds it.
    std::vector<std::byte> fillElement(const Tensor* scalar) const;

private:
    DType m_type = DType::Undefined;
    DType m_moved = DType::Undefined;
    std::vector<Tensor> m_tensors;
    std::vector<std::string> m_pool; ///< strings of all sources, one after another, and an empty one
};

/// Integers of attribute `name` or, when the node lacks it, of input `slot`; nullopt when neither is there.
std::optional<std::vector<int64_t>> listOf(
    const Node& node, const StepContext& step, const std::string& name, size_t slot);
/// Issue unless the first `count` inputs are there.
Status needInputs(const StepContext& step, size_t count);
Result<size_t> axisOf(int64_t axis, size_t rank);
Result<std::vector<size_t>> axesOf(const std::vector<int64_t>& axes, size_t rank);
/// 0, 1, ... rank-1.
std::vector<size_t> allAxes(size_t rank);

inline int64_t product(const Shape& s, size_t from, size_t to)
{
    int64_t n = 1;
    for (size_t i = from; i < to; ++i)
        n *= s[i];
    return n;
}

struct StridedCopy;
/// The kernel of the plan's mode.
void copyStrided(
    KernelMode mode, const Tensor& from, int64_t fromOffset, Tensor& to, int64_t toOffset, const StridedCopy& copy);

} // namespace qs
