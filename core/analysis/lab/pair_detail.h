// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/lab/detail_inputs.h"
#include "core/analysis/lab/part_sums.h"
#include "core/analysis/measure/number.h"
#include "core/base/result.h"
#include "core/base/work/work_context.h"

#include <span>
#include <string>
#include <vector>

namespace qs {

/// Root mean squares over the last two axes of a tensor (one axis: one row), all others taken together.
struct ErrorMap {
    size_t rows = 0, columns = 0;
    std::vector<double> error, signal; ///< row-major
    /// Cells of `parts` rows and columns at most, each the root mean square of what it stands for.
    ErrorMap reduced(size_t most) const;
};

/// One pair of activations, element by element.
struct PairDetail {
    Shape shape; ///< of one run of the model
    size_t channelAxis = 0;
    std::vector<PartSums> channels; ///< by index of that axis; one where the tensor has none
    ErrorMap map;
    std::vector<MagnitudeBand> bands; ///< ascending, a factor of two each, up to the largest; the first holds the rest
    size_t samples = 0;
    /// What scales per channel would gain over one, by the ranges of the channels alone, dB; empty with one channel.
    Number perChannelGainDb() const;
    /// Largest over median channel absolute maximum; empty with one channel.
    Number rangeRatio() const;
};

/// The axis along which channels of an activation of the float model are counted.
size_t channelAxisOf(const Graph& graph, ValueId value, size_t rank);

/// One output of both models for one sample, in the order of the file.
struct SampleOutput {
    std::string name;
    Shape shape;
    std::vector<float> x, y;
};

/// Runs what the pair of a comparison's row needs, over these samples (ascending). Models with state run all samples up
/// to the last one.
Result<PairDetail> pairDetail(const DetailInputs& inputs, ValueId floatValue, ValueId quantValue,
    std::span<const size_t> samples, const WorkContext& work = {});

/// All outputs of one sample.
Result<std::vector<SampleOutput>> sampleOutputs(
    const DetailInputs& inputs, size_t sample, const WorkContext& work = {});

} // namespace qs
