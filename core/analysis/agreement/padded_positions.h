// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/bypass/network_proof.h"
#include "core/analysis/pairs/pair_plan.h"
#include "core/data/data_source.h"

#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace qs {

/// The text whose positions a language model scores, and what of the float model holds a position of it at a time.
struct TextPositions {
    TokenInputs tokens;
    Dims idsDims;
    std::set<ValueId> values; ///< made of the text's positions, place by place
    std::set<ValueId> caches; ///< outputs that remember all positions, those of a past included
};
/// Nothing where no output scores a vocabulary by position, or no mask tells of padding.
std::optional<TextPositions> textPositions(const Plan& floatPlan, const std::vector<OutputPair>& outputs);

/// Which positions of one feed are padding: they count in no number. Of tensors whose axis of positions is not certain
/// all elements count. Of scores of attention neither rows nor columns of padding count.
class PaddedPositions {
public:
    /// Nothing where no position is padding.
    static std::optional<PaddedPositions> of(const Plan& floatPlan, const TextPositions& text, const Feed& feed);

    /// The elements of sample `sample` that count, from the sample's first one; nothing where all do. `value` is the
    /// float model's, of this shape, in plain order. `wholeRows`: of scores all of a row that counts, where a mask that
    /// is added tells what does not.
    std::optional<ElementRuns> counted(ValueId value, const Shape& shape, size_t sample, bool wholeRows = false) const;
    /// The same of all samples, from the tensor's first element.
    std::optional<ElementRuns> countedOfAll(ValueId value, const Shape& shape) const;

private:
    struct Place {
        size_t outer = 1, positions = 1, inner = 1; ///< of one sample
        size_t first = 0; ///< of the mask's row: the first of these positions
        bool scores = false; ///< the elements of each position belong to positions, too
    };
    PaddedPositions(const Plan& floatPlan, const TextPositions& text, size_t samples)
        : m_plan(&floatPlan)
        , m_text(&text)
        , m_samples(samples)
    {
    }
    std::optional<Place> placeOf(ValueId value, const Shape& shape) const;
    std::optional<std::pair<size_t, bool>> axisOf(
        ValueId value, const Shape& shape, size_t positions, bool cache) const;
    void addRuns(const Place& place, size_t row, size_t begin, ElementRuns& runs) const;

    const Plan* m_plan;
    const TextPositions* m_text;
    size_t m_samples = 1, m_positions = 0, m_width = 0; ///< of the tokens, of the mask
    std::vector<uint8_t> m_counts; ///< [sample * width + position]
};

/// Which elements of the float model's values count where these inputs are read; empty where no position is padding.
CountedElements countedElements(
    std::shared_ptr<const Plan> floatPlan, std::shared_ptr<const TextPositions> text, const Feed& feed);

} // namespace qs
