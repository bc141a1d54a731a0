// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/draft.h"
#include "core/qdq/quant_view.h"

#include <optional>

namespace qs {

/// How an input takes what is given to another file's, or an output puts out what the other's does.
struct FittedInput {
    std::string name;
    std::vector<int64_t> order; ///< of the axes before the Transpose that was added; empty: as they are
    std::optional<QuantParams> codes; ///< that are made of reals for the file
    ValueType declared; ///< as the file says
    /// Of each node that was added: the value as the file names it, and what its readers have instead.
    std::vector<std::pair<std::string, std::string>> added;
    std::vector<std::string> moved; ///< values that hold codes in the file and reals now
    bool isOutput = false;
};

/// The order of axes that makes channels last of channels first, or the other way, where sizes fit that one alone;
/// empty where they fit as they are, or no such order fits.
std::vector<int64_t> channelOrder(const Dims& given, const Dims& taken);

/// Puts a Transpose and QuantizeLinear behind `input` so that it takes a float tensor of `given`; nothing where that
/// is not needed, or where the graph does not tell the codes. `view`: of the draft's source.
std::optional<FittedInput> fitInput(
    GraphDraft& draft, const QuantView& view, const std::string& input, const ValueType& given);
/// What makes codes of an input that fitInput() had take floats: the codes that the file takes; else the input.
ValueId codesTaken(const Graph& graph, ValueId input);
/// Puts a Transpose before an output whose sizes are `own`, so that it has the axes of `wanted`.
std::optional<FittedInput> fitOutput(GraphDraft& draft, const std::string& output, const Dims& own, const Dims& wanted);
/// The draft takes and gives again what the file does.
void restore(GraphDraft& draft, const FittedInput& fitted);

} // namespace qs
