// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/engine/step/step_context.h"
#include "core/ops/op.h"

namespace qs {

/// Equal tensors collected one after another along a new first axis (what the iterations of a loop hand out). The
/// memory comes from the step's pool, so that its limit holds for endless loops too.
class StackedValues {
public:
    /// Issue when type or shape differ from the first one's.
    Status add(const StepContext& step, const Tensor& value);
    int64_t count() const { return m_count; }
    /// count x shape of one. `ifNone` tells type and sizes (unknown ones become 0) when nothing was added.
    Result<Tensor> take(const StepContext& step, const Fact& ifNone);

private:
    Tensor m_rows; ///< one row a value, with room to grow; of unpacked element type
    DType m_type = DType::Undefined; ///< of the values
    Shape m_shape;
    std::vector<std::string> m_strings;
    int64_t m_count = 0;
};

} // namespace qs
