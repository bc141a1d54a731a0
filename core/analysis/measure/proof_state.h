// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/bypass/network_proof.h"
#include "core/base/files/byte_stream.h"
#include "core/graph/graph.h"

#include <optional>

namespace qs {

void writeProof(const std::optional<NetworkProof>& proof, ByteWriter& out);
/// Takes what was written for `proof`, where it was any. Fails the reader where a value is none of the float graph's.
void mergeProof(ByteReader& in, const Graph& floatGraph, std::optional<NetworkProof>& proof);

} // namespace qs
