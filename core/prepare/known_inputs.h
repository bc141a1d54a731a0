// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/draft.h"

#include <set>

namespace qs {

/// What is known of a model's inputs beside what the file says.
struct KnownInputs {
    std::map<std::string, Tensor> values;
    std::map<std::string, Shape> shapes;
};

/// The draft with these values as constants in place of inputs, and with inputs of these sizes.
/// Issues: no input has such a name, or its type or rank is another.
Result<GraphDraft> withKnownInputs(GraphDraft draft, const KnownInputs& known);

/// The draft computes as with these values whatever its inputs hold, which stay, so that the file takes the same data;
/// sizes go into the inputs' types. Issues: as above.
Status fixInputs(GraphDraft& draft, const KnownInputs& known);

/// Inputs of the model that a value follows from: from what they hold, or from their sizes alone.
struct InputsBehind {
    std::set<std::string> values, shapes;
};
/// `sizeAlone`: what the size of the value follows from.
InputsBehind inputsBehind(const GraphDraft& draft, const std::string& value, bool sizeAlone = false);

} // namespace qs
