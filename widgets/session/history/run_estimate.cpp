// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/session/history/run_estimate.h"

namespace qs {

namespace {

/// Only some nodes or tensors are quantized otherwise.
bool isLocal(const Recipe& before, const Recipe& after)
{
    Recipe same = before;
    same.include = after.include;
    same.exclude = after.exclude;
    same.tensors = after.tensors;
    return same == after;
}

} // namespace

std::optional<double> RunEstimate::expect(const Recipe& before, const Recipe& after) const
{
    return isLocal(before, after) && m_local ? m_local : m_whole;
}

void RunEstimate::measured(const std::optional<Recipe>& before, const std::optional<Recipe>& after, double ms)
{
    (before && after && isLocal(*before, *after) ? m_local : m_whole) = ms;
}

} // namespace qs
