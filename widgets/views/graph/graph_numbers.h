// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/layout/folded_graph.h"
#include "core/project/snapshot/snapshot.h"
#include "widgets/models/base/metric.h"
#include "widgets/models/base/side_model.h"

#include <QString>

#include <optional>
#include <vector>

namespace qs {

/// Number of one box for the chosen metric.
struct BoxNumber {
    std::optional<size_t> row; ///< of Comparison::activations
    Number value;
    bool exact = false;
    QString text; ///< "−5.4 dB", empty without a number
    bool blocked = false; ///< cannot run
};

/// Of one sample, where the metric is known for single ones, else of all.
std::vector<BoxNumber> boxNumbers(
    const Snapshot& snapshot, Side side, const FoldedGraph& graph, Metric metric, std::optional<size_t> sample = {});

/// The number of the selected row, where it is of another tensor of this box than its own number: one selection has one
/// number everywhere.
std::optional<BoxNumber> numberOfSelected(const Snapshot& snapshot, Side side, const DisplayBox& box,
    const BoxNumber& own, std::optional<size_t> selected, Metric metric, std::optional<size_t> sample = {});

/// Names, shapes, all numbers and, where it cannot run, the reason (rich text).
QString boxToolTip(const Snapshot& snapshot, Side side, const FoldedGraph& graph, uint32_t box);
QString edgeToolTip(const Snapshot& snapshot, Side side, const FoldedGraph& graph, uint32_t edge);

/// The box that shows a place, in the drawing of `side`; partners of the other side are followed.
std::optional<uint32_t> boxOfPlace(const Snapshot& snapshot, Side side, const FoldedGraph& graph, const Place& place);

/// Metrics that have a number somewhere, of those that colour the graph.
std::vector<Metric> availableMetrics(const Snapshot& snapshot);

} // namespace qs
