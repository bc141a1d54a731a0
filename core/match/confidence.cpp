// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/match/confidence.h"

#include <algorithm>
#include <array>

namespace qs {

namespace {

/// By method, as MatchMethod; by proof, as Proof.
constexpr std::array<std::array<double, 4>, 6> kShares { {
    { 1, 1, 1, 1 }, // by hand
    { 0.95, 0.95, 0.99, 0.999 }, // name
    { 0.95, 0.95, 0.99, 0.999 }, // suffix
    { 0.9, 0.95, 0.99, 0.999 }, // unit
    { 0.9, 0.95, 0.99, 0.999 }, // topology
    { 0.9, 0.9, 0.99, 0.999 }, // numeric
} };

} // namespace

double confidenceOf(MatchMethod method, Proof proof, double found)
{
    const double share = kShares[size_t(method)][size_t(proof)];
    return proof == Proof::None ? std::min(share, found) : share;
}

} // namespace qs
