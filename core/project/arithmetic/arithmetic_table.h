// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/files/runs.h"
#include "core/project/snapshot/build_snapshot.h"

#include <array>

namespace qs {

inline constexpr std::array kArithmetics { ArithmeticProfile::Simulated, ArithmeticProfile::Integer,
    ArithmeticProfile::IntegerAvx2 };

/// One value of the quantized model against the float one, by each arithmetic (the order of kArithmetics).
struct ArithmeticRow {
    std::string name, node; ///< of the float file
    bool output = false; ///< of the graph
    std::array<Number, 3> sqnrDb; ///< accumulated; null when exact, or where that arithmetic has no such value
    std::array<bool, 3> exact {};
    /// What saturating sums cost here, inherited or not, dB: exact sums over those in 16 bits.
    Number lostDb() const { return sqnrDb[1] && sqnrDb[2] ? Number(*sqnrDb[1] - *sqnrDb[2]) : Number(); }
    bool operator==(const ArithmeticRow&) const = default;
};

/// The same two models and samples by each arithmetic.
struct ArithmeticTable {
    std::array<SnapshotPtr, 3> snapshots; ///< each with a comparison
    std::array<RunNumbers, 3> numbers;
    std::vector<ArithmeticRow> rows; ///< outputs first, then in the float graph's order
    const ArithmeticRow* find(const std::string& name, bool output = false) const; ///< null: unknown
};

/// Runs what the snapshot's own arithmetic did not. The snapshot must hold a comparison.
Result<ArithmeticTable> arithmeticTable(
    const SnapshotPtr& snapshot, const ProgressFn& progress, const CancelToken& cancel);

/// One output channel of a node whose sums saturate.
struct ChannelLoss {
    size_t channel = 0;
    uint64_t saturated = 0; ///< pairs
    double share = 0; ///< of this channel's pairs
    Number exactSumsDb, saturatingDb; ///< SQNR of the channel with exact sums and with those in 16 bits
    Number lostDb() const { return exactSumsDb && saturatingDb ? Number(*exactSumsDb - *saturatingDb) : Number(); }
    bool operator==(const ChannelLoss&) const = default;
};

/// The channels of a row of Comparison::saturation, over these samples (ascending); empty where the value that the node
/// makes has no partner or its channels are others.
Result<std::vector<ChannelLoss>> channelLosses(
    const ArithmeticTable& table, const SaturationRow& row, std::span<const size_t> samples, const WorkContext& work);

} // namespace qs
