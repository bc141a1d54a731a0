// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/values/model_value.h"

#include <map>
#include <vector>

namespace qs {

/// Values of one model for the feed that holds one sample, plain, in full.
class SampleValues {
public:
    /// What follows from the file alone needs no data (`runs.data` may be null then). Values that the plan does not
    /// make are left out.
    static Result<SampleValues> read(std::shared_ptr<const Plan> plan, const std::vector<ValueId>& values,
        const SampleRuns& runs, size_t sample, const WorkContext& work);
    /// Invalid where there is none.
    const Tensor& of(ValueId id) const;
    /// Where the sample's part of a tensor begins on its first axis; 0 where the tensor does not fall into parts.
    int64_t firstRow(const Tensor& tensor) const;
    /// Rows of that part.
    int64_t rows(const Tensor& tensor) const;
    /// How many samples were run together, and the first of them.
    size_t samples() const { return m_samples; }
    size_t firstSample() const { return m_firstSample; }

private:
    int64_t parts(const Tensor& tensor) const;
    size_t m_samples = 1, m_firstSample = 0; ///< of the feed
    size_t m_position = 0; ///< of the sample in it
    std::map<ValueId, Tensor> m_values;
};

/// Constant, or made by some task of the plan.
bool canBeRead(const Plan& plan, ValueId id);

} // namespace qs
