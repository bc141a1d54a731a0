// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/inner_place.h"

#include <QMetaType>

#include <optional>

namespace qs {

/// Which of the two graphs a node or value belongs to.
enum class Side { Float, Quantized };

/// One number of a tensor.
struct ChosenElement {
    size_t sample = 0; ///< that it is of; of constants any
    int64_t index = 0; ///< within the sample, row by row
    bool operator==(const ChosenElement&) const = default;
};

/// What is selected. Things with a partner are named by the float graph; `side` is Quantized only for values and nodes
/// of the quantized graph that have none, or when there is no float model.
struct Place {
    Side side = Side::Float;
    NodeId node;
    ValueId value;
    std::optional<size_t> activation; ///< row of Comparison::activations, if the value is paired
    std::optional<size_t> weight; ///< row of Comparison::weights, if a weight is selected
    std::optional<size_t> channel;
    std::optional<size_t> sample;
    std::optional<ChosenElement> element; ///< of `value`, where one of its numbers is meant
    InnerPlace inner; ///< a node in a body of `node`; such a place has no value
    bool empty() const { return !node.valid() && !value.valid(); }
    bool operator==(const Place&) const = default;
};

} // namespace qs

Q_DECLARE_METATYPE(qs::Place)
