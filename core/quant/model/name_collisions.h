// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/draft.h"
#include "core/quant/params/kept_codes.h"

#include <string>
#include <vector>

namespace qs {

/// Tensors of the float model whose names the quantizer gave to tensors of its own (a constant `x_scale` beside the
/// tensor `x`): `after` means something else by them than `before`. In the order of their names.
/// `kept`: constants that were to get these values; null: none.
std::vector<std::string> takenNames(const GraphDraft& before, const GraphDraft& after, const KeptCodes* kept);

/// Calls nodes of the float model otherwise whose names new nodes of `after` have; returns how many.
size_t renameDoubleNodes(GraphDraft& draft, const GraphDraft& after);

/// Calls a tensor otherwise, everywhere. Issue: it is an input or output of the model, or a subgraph reads it.
Status renameTensor(GraphDraft& draft, const std::string& from, const std::string& to);

/// `name` with a number behind it that no tensor of the draft has.
std::string freeName(const GraphDraft& draft, const std::string& name);

} // namespace qs
