// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/ops/infer.h"

/// Small helpers for infer functions that work with shapes and with integers computed from shapes.
namespace qs {

inline Dim knownDim(int64_t value) { return { value, {} }; }
inline Dim unknownDim() { return {}; }
/// Unknown where one of them is, or where nothing could be so long.
Dim sumOf(const Dim& a, const Dim& b);
Dim productOf(const Dim& a, int64_t factor);
/// Dimension `axis` of a fact; unknown when the fact, its dims or that dimension are.
Dim dimOf(const Fact* f, size_t axis);
/// Known to be equal: the same number, or the same name.
bool sameDim(const Dim& a, const Dim& b);
/// The facts of a single output.
inline Result<std::vector<Fact>> one(Fact f) { return std::vector<Fact> { std::move(f) }; }
/// Product of known dims; nullopt when one is unknown or the product overflows.
std::optional<int64_t> dimProduct(std::span<const Dim> dims);

/// Integers of a constant fact of modest size, in row-major order.
std::optional<std::vector<int64_t>> knownInts(const Fact* f);
/// Integer fact of rank 1 (or 0 when `scalar`) with a known value.
Fact intsFact(const std::vector<int64_t>& values, DType type, bool scalar = false);
/// Elements of a scalar or list of integers, each as far as it is known; nullopt where nothing is.
std::optional<std::vector<KnownInt>> partlyKnownInts(const Fact* f);
/// Integer fact of rank 1 (or 0 when `scalar`): with a value where all elements are numbers, with single ones in lists
/// no longer than a shape.
Fact partlyKnownFact(std::vector<KnownInt> elements, DType type, bool scalar = false);
KnownInt toKnownInt(const Dim& dim);
/// The size that an element says; a negative number stays one.
Dim toDim(const KnownInt& element);
/// The same integers with other dims (a copy of the value under the shape that `dims` gives).
Fact withDims(const Fact& f, Dims dims);

/// What holds of a value that may be this or that.
Fact commonFact(const Fact& a, const Fact& b);
/// Of a sequence whose elements are all like that.
Fact sequenceFact(Fact element);
/// Of the elements of input i; unknown when it is not known to be a sequence.
Fact elementFact(const Fact* sequence);
/// What stays known of a value that each iteration makes anew: kinds and types, no sizes.
Fact typeOnly(const Fact& f);
/// What holds of input i of a subgraph that gets `given`: nothing where the input is an optional, which may be
/// anything.
Fact subgraphInputFact(const Graph& graph, size_t i, const Fact& given);

/// Of the iteration's number (0) and condition (1) that a Loop's body gets: scalars, or lists of one where it says so.
Dims loopInputDims(const Graph& body, size_t input);

/// A list of integers that old opsets give as attribute `name` and new ones as input `slot`.
struct ListArgument {
    bool given = false;
    std::optional<std::vector<int64_t>> values; ///< empty while given: known only at run time
};
ListArgument listArgument(const InferContext& c, const std::string& name, size_t slot);

/// Axis in 0..rank-1, or an issue that names the axis and the rank.
Result<size_t> axisArgument(const Node& node, int64_t axis, size_t rank);
/// Axes in 0..rank-1, each at most once.
Result<std::vector<size_t>> axesArgument(const Node& node, const std::vector<int64_t>& axes, size_t rank);
/// Issue unless the node has at least `count` inputs present.
Status needInputs(const InferContext& c, size_t count);

/// One output with the type and dims of the first input.
Result<std::vector<Fact>> inferSame(const InferContext& c);

/// Value of a Constant node, whichever attribute holds it; nullopt when it holds none we can read.
std::optional<Tensor> constantNodeValue(const Node& node);

} // namespace qs
