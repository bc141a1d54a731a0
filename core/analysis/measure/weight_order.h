// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/measure/weight_grid.h"
#include "core/tensor/tensor.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

/// Whose elements a stored weight has, where they are not those that belong there.
namespace qs {

/// A stored weight whose elements are the float model's, rounded, in other places.
struct WeightOrder {
    enum class Kind {
        Transposed, ///< the last two axes, of one length, are exchanged
        Pairs, ///< neighbouring codes of 4 bits are: the halves of each byte
        Sign, ///< its codes are those of `type`, which has the other sign
        UpperBit, ///< the upper bit of each code is turned over: signed codes stand for unsigned ones
        Lines, ///< whole rows (axis 0) or columns (axis 1) are in another order
        Another, ///< it is another weight of the float model
    };
    Kind kind;
    double sqnrDb = 0; ///< Transposed: with the axes put right
    size_t axis = 0;
    std::vector<int64_t> from = {}; ///< Lines: whose elements each has
    std::string node = {}, name = {}; ///< Another: where that one is read, and what it is called
    DType type = DType::Undefined; ///< Sign
};

/// What is stored, in the order of a row of this shape, and the grid that it lies on.
class RoundedWeight {
public:
    RoundedWeight(
        std::span<const float> y, const Shape& shape, const QuantParams& params, const WeightGrid& grid, double room);

    /// It is x, rounded and clipped, but for one element in a thousand.
    bool holds(std::span<const float> x) const;
    /// Or rounding that looks at more than the nearest codes: it is close to x, and much closer than `instead` is.
    bool holds(std::span<const float> x, std::span<const float> instead) const;
    /// The order that explains it. Nothing where the weight is much the float model's.
    std::optional<WeightOrder> orderOf(std::span<const float> x) const;
    /// Of some rows or columns: whose elements they have. Nothing for one that has no other's.
    std::vector<std::optional<int64_t>> linesOf(
        std::span<const float> x, size_t axis, std::span<const int64_t> lines) const;

private:
    bool isWhole(std::span<const float> x) const;
    std::optional<WeightOrder> transposed(std::span<const float> x) const;
    std::optional<WeightOrder> otherLines(std::span<const float> x, size_t axis) const;

    std::span<const float> m_y;
    const Shape& m_shape;
    const QuantParams& m_params;
    const WeightGrid& m_grid;
    double m_room;
    bool m_balanced;
};

/// The same codes of 4 bits with the halves of each byte exchanged; nothing where rows do not fill their bytes, or
/// codes have another width.
std::optional<Tensor> withExchangedHalves(const Tensor& codes, const QuantParams& params);

/// Codes with their parameters.
struct ReadCodes {
    Tensor codes;
    QuantParams params;
};
/// The same bits, read as the type of the other sign, zero points, too. Nothing for more than 8 bits and no integers.
std::optional<ReadCodes> withOtherSign(const Tensor& codes, const QuantParams& params);
/// With the upper bit of each code turned over, and the zero points as they are.
std::optional<ReadCodes> withOtherUpperBit(const Tensor& codes, const QuantParams& params);

} // namespace qs
