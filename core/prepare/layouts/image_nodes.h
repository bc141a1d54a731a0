// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/engine/plan/plan.h"
#include "core/graph/draft.h"

namespace qs {

/// What a draft's source knows of the images that its nodes work on.
class ImageFacts {
public:
    ImageFacts(const GraphDraft& draft, const Plan& plan)
        : m_draft(draft)
        , m_plan(plan)
    {
    }
    size_t rank(const std::string& name) const; ///< 0: not known
    int64_t size(const std::string& name, size_t axis) const; ///< -1: not known
    DType dtype(const std::string& name) const;
    /// The inputs of such a node whose axes count; empty where some input is neither one number nor an image that is
    /// computed.
    std::vector<size_t> images(const DraftNode& node) const;

private:
    bool isNumber(const std::string& name) const;
    const GraphDraft& m_draft;
    const Plan& m_plan;
};

/// The order of axes of a Transpose that moves the channels there.
std::vector<int64_t> toChannelsLast(size_t rank);
std::vector<int64_t> toChannelsSecond(size_t rank);

/// It does the same to each element, or puts images beside each other: any order of the axes is as good.
bool takesAnyOrder(const DraftNode& node);

} // namespace qs
