// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/measure/measured.h"
#include "core/base/files/byte_stream.h"

namespace qs {

/// Version of the bytes below: raised with every change of what they hold.
inline constexpr uint32_t kMeasuredVersion = 21;

/// Neighbouring samples: `samples` of `all`, from number `first` on.
struct SampleStretch {
    size_t first = 0, samples = 0, all = 0;
};

/// Everything in `measured` but the pairs, which follow from the files.
void writeMeasured(const Measured& measured, ByteWriter& out);

/// An empty one over these samples, into which parts are merged.
std::shared_ptr<Measured> emptyMeasured(const ComparePair& pair, SampleStretch stretch, bool nodeAlone);

/// Puts what writeMeasured() wrote into its place. Fails the reader when it does not fit: another number of pairs,
/// outputs or samples, samples that are there already, or nodes that `graph` (the quantized one) does not have.
void mergeMeasured(ByteReader& in, const Graph& floatGraph, const Graph& graph, Measured& whole);

} // namespace qs
