// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/ids.h"
#include "core/base/profile.h"
#include "core/kernels/codes/saturated_pair.h"
#include "core/tensor/dtype.h"
#include "core/tensor/shape.h"

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// Where one element of one value comes from: every term, every rounding, and the difference to the float network split
/// by operand. Plain values that outlive the run; whoever shows them needs nothing else.
namespace qs {

/// A tensor that the element is made of.
struct OperandSource {
    std::string name; ///< in the file's graph: what the operator reads, or under an integer profile the codes
    ValueId value; ///< the same; invalid where a unit made it of a constant when the model was opened
    size_t operand = 0; ///< of the float operator: 0 and 1 what it computes with, 2 a bias
    Shape shape; ///< of that value; elements are counted in it, row by row
    bool constant = false; ///< it follows from the file alone: a weight or a bias
    std::string twin; ///< the float network's tensor that stands for it; empty: none is known
};

/// One element of a source.
struct Operand {
    size_t source = 0; ///< index in ElementExplanation::sources
    int64_t element = 0;
    double real = 0; ///< as a real number: scale * (code - zero point) where there are codes
    std::optional<int64_t> code; ///< nothing: floats that no codes stand behind
    int64_t zeroPoint = 0; ///< with a code
    std::optional<double> scale; ///< with a code, where it is known here
    std::optional<double> twin; ///< the float network's number
};

/// How the terms make the element.
enum class Relation {
    Products, ///< factor * sum of a * b, and the bias
    Sum, ///< sum of sign * a
    Mean, ///< their sum over ElementExplanation::divisor
    Largest, ///< of a
    Copy, ///< the element of a
    Clamp, ///< a, kept within bounds: Relu, Clip
    Quantize, ///< the code of a
    Dequantize, ///< what code a stands for
    Function, ///< a function of the terms that has no simpler form
    None, ///< no terms: a graph input, a constant, or an operator of which inputs and output are named alone
};

struct ElementTerm {
    Operand a;
    std::optional<Operand> b; ///< with Relation::Products
    double sign = 1; ///< with Relation::Sum
    std::optional<int64_t> product; ///< of the codes less their zero points
    std::optional<int32_t> sum; ///< of the products up to this one, without the bias, with what saturated taken off
    std::optional<size_t> pair; ///< in ElementExplanation::saturated
    bool chosen = false; ///< with Relation::Largest: it is the one
    std::optional<double> fromA, fromB; ///< what it adds to the difference by each operand; see ElementDifference
};

/// Two neighbouring products whose 16-bit sum saturated. A product of padding is no term.
struct SaturatedTerms {
    std::array<std::optional<size_t>, 2> terms; ///< nothing: padding
    SaturatedPair codes; ///< as the instruction multiplies them
    int32_t lost = 0; ///< what the sum has less, with its sign
};

/// One line of the way from the terms to the element.
struct ExplanationStep {
    std::string name; ///< "accumulator", "times multiplier", "rounded half to even" ...
    double value = 0;
};

/// The element less what the float network has, in real numbers. The parts add up to `total`. Each follows the straight
/// line from the float network's operands to the quantized ones: of a product half of what both operands change
/// together belongs to each, and behind an activation all parts keep the same share.
struct ElementDifference {
    std::string floatTensor; ///< whose number that is: of another name, or with the activation that was taken in
    double reference = 0; ///< the float network's number
    double total = 0;
    double input = 0; ///< carried in by operands that depend on data
    double weight = 0; ///< constants that are multiplied
    double bias = 0;
    double rounding = 0; ///< to a code of the output
    double clipping = 0; ///< to the range of the output's codes
    double saturation = 0; ///< of 16-bit pair sums
    double summation = 0; ///< the remainder: both networks' float sums, which round in an order of their own
    std::string reservation; ///< why a part is not what its name says; empty: each is
};

struct ElementExplanation {
    enum class Kind { Float, Integer, Quantize, Dequantize, Other };

    std::string tensor;
    ValueId value;
    Shape shape, at; ///< of the tensor as it is run, a batch of several samples included
    DType dtype = DType::Undefined;
    ArithmeticProfile profile = ArithmeticProfile::Simulated;

    NodeId nodeId; ///< that makes it; invalid: a graph input or a stored constant
    std::string node, opType, domain; ///< its names
    std::string unitOperator; ///< the operator on codes that a fused unit runs: "QLinearConv"; empty: no unit
    std::vector<std::string> unitNodes; ///< all nodes of that unit
    Kind kind = Kind::Other;
    Relation relation = Relation::None;

    std::vector<OperandSource> sources;
    std::vector<ElementTerm> terms; ///< in the order of the depth; padding left out
    std::optional<Operand> bias;
    double factor = 1; ///< of the sum of products (Gemm's alpha)
    double biasFactor = 1; ///< Gemm's beta
    double divisor = 1; ///< with Relation::Mean
    double low = -std::numeric_limits<double>::infinity(); ///< with Relation::Clamp
    double high = std::numeric_limits<double>::infinity();

    std::optional<int32_t> accumulator; ///< of integer products, with the bias
    std::vector<SaturatedTerms> saturated;
    std::optional<uint64_t> pairs; ///< sums of 16 bits that were made; nothing where none are
    std::optional<double> multiplier; ///< from accumulator to codes of the output
    std::optional<double> beforeRounding; ///< in codes, before the zero point is added
    std::vector<ExplanationStep> steps;

    double stored = 0; ///< what stands in the tensor: the code itself where it holds codes
    std::optional<int64_t> whole; ///< `stored` of a 64-bit integer, to the last place; the bits of a uint64
    double real = 0; ///< the real number that it stands for
    std::optional<int64_t> code, zeroPoint;
    std::optional<double> scale;
    bool clipped = false; ///< the code is the first or last of its range, and rounding alone would go beyond it
    /// The steps were done again here: true, they gave the engine's bits (floats: the engine's number as close as sums
    /// in another order come). Nothing where the operator has no steps here.
    std::optional<bool> confirmed;

    std::optional<ElementDifference> difference; ///< with a float network that has a partner
    std::string note; ///< what is not shown, and why; empty: nothing
    std::shared_ptr<const ElementExplanation> behind; ///< of the operand that says how the number was made, if one does

    bool hasCodes() const { return code.has_value(); }
    void addNote(const std::string& text) { note += (note.empty() ? "" : "; ") + text; }
};

/// Index of the element at a place, counted row by row; the reverse.
int64_t elementOf(const Shape& shape, const Shape& at);
Shape placeOf(const Shape& shape, int64_t element);
/// Element of an operand that is broadcast to `shape`.
int64_t broadcastElement(const Shape& shape, int64_t element, const Shape& operand);

} // namespace qs
