// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/measure/measured.h"

#include <algorithm>

namespace qs {

void mergePeaks(const std::vector<float>& more, std::vector<float>& peaks)
{
    peaks.resize(std::max(peaks.size(), more.size()), 0.0f);
    for (size_t i = 0; i < more.size(); ++i)
        peaks[i] = std::max(peaks[i], more[i]);
}

void Measured::reserve(size_t outputCount, bool nodeAlone, bool written)
{
    const size_t cells = pairs.size() * samples, outputs = outputCount * samples;
    sums.resize(cells);
    scaleSquares.resize(cells);
    nodeSums.resize(nodeAlone ? cells : 0);
    outputSums.resize(outputs);
    writtenSums.resize(written ? outputs : 0);
    floatClass.assign(outputs, kNoScores);
    quantClass.assign(outputs, kNoScores);
    floatMargin.assign(outputs, 0);
    quantMargin.assign(outputs, 0);
    scores.assign(outputs, {});
    tokens.assign(outputs, {});
    readsAhead.assign(outputCount, 0);
    masks.assign(outputs, {});
    boxes.assign(outputs, {});
    for (size_t i = 0; i < outputCount; ++i)
        parts.push_back(std::make_unique<SharedCounts>());
    done.assign(samples, 0);
    for (size_t i = 0; i < pairs.size(); ++i)
        shared.push_back(std::make_unique<PairShared>());
    knownPairs.assign(pairs.size(), false);
    knownFloats.assign(pairs.size(), false);
    knownOutputs.assign(outputCount, false);
}

} // namespace qs
