// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/measure/inherited_bins.h"
#include "core/analysis/rows/other_numbers.h"
#include "core/analysis/rows/similarity.h"
#include "core/base/ids.h"
#include "core/match/alignment.h"
#include "core/stats/histogram.h"
#include "core/tensor/quant_params.h"
#include "core/tensor/shape.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace qs {

/// Mean squared error by origin: the parts add up to rmse^2.
struct NoiseSplit {
    Number rounding, clipping, inherited;
    Number weights {}; ///< estimated, see splitWeightNoise(); null: not told from what is inherited
    Number kernel {}; ///< of an integer profile, see fillImplementation(); null: not told from what is inherited
};

/// Means over samples of each one's lowest and highest value, and of the larger magnitude of both; standard errors of
/// these means.
struct MeanEnds {
    double low = 0, high = 0, peak = 0;
    double lowError = 0, highError = 0, peakError = 0;
};

/// Shares of codes that differ between the file as written and an integer profile, each unit from the same codes.
struct ImplementationShares {
    double offByOne = 0, beyond = 0;
    Number noisePower {}; ///< mean squared difference of the values; null where scales differ from channel to channel
};

/// One paired activation.
struct ActivationRow {
    ValueId floatValue, quantValue;
    std::string name; ///< in the float file
    std::string quantizedName; ///< of the value compared in the quantized file
    NodeId floatNode; ///< producer; invalid for graph inputs
    NodeId quantNode;
    std::string node; ///< producer's name in the float file, "" for graph inputs
    std::string opType; ///< producer's type, "" for graph inputs
    MatchMethod method = MatchMethod::Name;
    double confidence = 1;
    std::optional<uint32_t> quantizer; ///< index in the quantized file's QuantView
    /// So many other pairs of QuantizeLinear and DequantizeLinear with parameters of their own stand for the float
    /// value; each has a row.
    size_t siblings = 0;
    std::vector<NodeId> readers {}; ///< of several pairs: nodes of the float model that read this one, where known
    std::vector<std::string> readerNames {}; ///< theirs
    bool behindSibling = false; ///< of several pairs: what this one quantizes has gone through another one
    /// Its channels have factors in the quantized file that the next layers take away again (cross-layer equalization):
    /// all of it is of the float model's values times these.
    bool equalized = false;
    bool repeatsQuantizer = false; ///< an earlier row has the same one: their shapes alone differ
    QuantParams params; ///< no scales when without a quantizer of its own, or dynamic
    bool dynamic = false;
    Shape shape; ///< of the float value for the first sample
    std::string foldedActivation; ///< "Relu", "Clip": activation that the quantizer replaces; "" = none
    NodeId lostActivation; ///< Relu or Clip of the float model beyond whose bounds values pass here; invalid = none
    std::pair<double, double> lostBounds; ///< of that node
    /// Whoever reads the quantized value is a Relu or Clip: what they let pass.
    std::optional<std::pair<double, double>> boundsBehind;
    Number lowestUnmasked; ///< only Softmax reads it and a mask lies far below the rest: where the rest begins
    Similarity accumulated; ///< sqnr_db and the other similarity numbers
    Number localSqnrDb, qdqSqnrDb, nodeSqnrDb, increaseDb, idealSqnrDb;
    bool localExact = false, qdqExact = false, nodeExact = false;
    NoiseSplit noise;
    Number clippedFraction; ///< of a(p)
    Number floatClippedFraction {}; ///< of x
    std::optional<std::pair<double, double>> range; ///< representable range, real values (widest over channels)
    std::optional<std::pair<double, double>> observedRange; ///< of a(p); of y without a quantizer
    std::optional<std::pair<double, double>> floatRange; ///< of x
    Number signalPower; ///< mean x^2
    /// Noise of rounding with one range for all samples over that with a range of each sample's own, dB; and the median
    /// width of these ranges as a share of the one. Null for single samples and tensors without width.
    Number ownRangesGainDb, medianSampleWidth;
    std::optional<MeanEnds> meanEnds; ///< of x; nothing for single samples
    Number usedCodes; ///< share of the codes in use, per-tensor quantizers of 8 bits
    std::optional<ImplementationShares> implementation; ///< integer profiles
    std::vector<Number> sampleSqnrDb; ///< accumulated, one a sample
    Histogram floatHistogram, quantHistogram, errorHistogram, beforeHistogram; ///< x, y, y - x, a(p)
    std::optional<OtherNumbers> other; ///< of the second quantized model
    std::vector<float> cachePeaks {}; ///< of a cache kept as codes: the largest |x| by scale of `params`; else empty
    InheritedBins inherited; ///< a(p) - x by a(p), of some elements; empty without a static per-tensor quantizer
};

} // namespace qs
