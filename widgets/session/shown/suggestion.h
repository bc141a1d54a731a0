// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/models/base/metric.h"
#include "widgets/session/shown/selection.h"

namespace qs {

/// What is selected as long as nobody chose anything: the place of the first finding, else the worst tensor. It follows
/// the partial results of the first comparison of a model, then it stays: what is selected does not move by itself.
class Suggestion {
public:
    explicit Suggestion(Selection& selection);
    Suggestion(const Suggestion&) = delete;

    /// Selection::rebind(); what was suggested stays a suggestion.
    void rebind(const SnapshotPtr& snapshot);
    /// Unless the user chose a place.
    void suggest(const Comparison& comparison, Metric metric);
    /// What is selected was suggested, or is being so now.
    bool shown() const { return m_suggesting || (!m_place.empty() && m_selection.current() == m_place); }

private:
    Selection& m_selection;
    Place m_place; ///< empty once the user chose one
    std::string m_model; ///< path of the float model, else of the quantized one
    bool m_suggesting = false;
    bool m_open = true; ///< no complete comparison of this model was seen yet
};

} // namespace qs
