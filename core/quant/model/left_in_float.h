// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/named_values.h"

#include <string>

namespace qs {

/// What keeps a node in float.
enum class FloatCause {
    Excluded, ///< the recipe, or graph preparation
    OpType, ///< the recipe's operator types leave it out
    NoRule, ///< ONNX Runtime's tools quantize no such operator in this form
    Opset, ///< the file's operator set is too old for codes there
    Type, ///< its values are no float32 or float16, or nobody states their type
    Range, ///< no range is known of a value
    Extreme, ///< a constant or value beyond any useful scale, kept in float
    Rule, ///< a rule of ONNX Runtime's quantizer
    Output, ///< seen in the file: all that it reads has codes, and what it makes has none
    Structure, ///< seen in the file: values without a quantizer, for whatever reason
    Unfused, ///< seen in the file: all has codes, and yet ONNX Runtime makes no operator on codes of it
};
inline constexpr NamedValues<FloatCause, 11> kFloatCauses { { { FloatCause::Excluded, "excluded" },
    { FloatCause::OpType, "op_type" }, { FloatCause::NoRule, "no_rule" }, { FloatCause::Opset, "opset" },
    { FloatCause::Type, "type" }, { FloatCause::Range, "range" }, { FloatCause::Extreme, "extreme" },
    { FloatCause::Rule, "rule" }, { FloatCause::Output, "output" }, { FloatCause::Structure, "structure" },
    { FloatCause::Unfused, "unfused" } } };

/// Why a node or a value has no codes, as the quantizer decided it.
struct FloatReason {
    FloatCause cause = FloatCause::Rule;
    std::string text; ///< a clause without a full stop: "the recipe excludes it"
    bool operator==(const FloatReason&) const = default;
};

/// A node of the float model that the quantizer left as it was.
struct LeftInFloat {
    std::string node, opType;
    FloatReason reason;
    bool operator==(const LeftInFloat&) const = default;
};

} // namespace qs
