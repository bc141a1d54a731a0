// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/tensor/dtype.h"

#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// The kernels that the registry gives one operator, by the element type of its first input.
struct OperatorKernels {
    std::string domain, type;
    struct Choice {
        std::string kernel; ///< as `LoweredNode::kernel` names it
        std::vector<DType> types;
    };
    std::vector<Choice> choices;
    std::string refusal; ///< why no type could be tried without a model; empty when there are choices
};

/// Asks the lowering of every operator (or of those of one type) what it takes for a plain node whose inputs are all
/// computed. Sizes, attributes and constants of a model may lead to another kernel; its plan knows.
std::vector<OperatorKernels> surveyKernels(std::string_view opType = {});

/// What a kernel's name says about its speed: one sentence.
std::string kernelMeaning(std::string_view kernel);

} // namespace qs
