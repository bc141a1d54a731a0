// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/tasks/box_forms.h"
#include "core/analysis/tasks/score_kind.h"

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// What a file says of one output before it is run.
struct OutputFacts {
    std::string name; ///< in lower case
    DType dtype = DType::Float32;
    std::optional<Dims> dims; ///< nothing: not even the rank is known
    std::string computedBy; ///< operator; empty: none
    ScoreKind scores = ScoreKind::None;
    ChoiceKind choice = ChoiceKind::None;
    bool centres = false; ///< indices of NonMaxSuppression whose boxes are centre and size
    bool real() const { return isFloat(dtype); }
    bool whole() const { return isInteger(dtype); }
    size_t rank() const { return dims ? dims->size() : 0; }
    /// Size of an axis; -1 where it is open, also with an unknown rank.
    int64_t size(size_t axis) const { return axis < rank() ? (*dims)[axis].value : -1; }
    bool named(std::string_view part) const { return name.find(part) != std::string::npos; }
};

/// Of all outputs of a model, and of what feeds it.
class ModelFacts {
public:
    ModelFacts(const Plan& plan, std::span<const ValueId> outputs);
    const std::vector<OutputFacts>& outputs() const { return m_outputs; }
    const OutputFacts& at(size_t index) const { return m_outputs[index]; }
    bool seesPictures() const { return m_pictures; }
    const PictureSize& picture() const { return m_picture; } ///< 0 where it is open
    bool hasNode(std::initializer_list<std::string_view> types) const;

private:
    const Graph& m_graph;
    std::vector<OutputFacts> m_outputs;
    bool m_pictures = false;
    PictureSize m_picture;
};

} // namespace qs
