// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <Eigen/Core>

#include <span>
#include <type_traits>

/// Rows of numbers as Eigen sees them, without a copy. T may be const.
namespace qs {

template <class T> using RowMatrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T> using RowVector = Eigen::Matrix<T, 1, Eigen::Dynamic>;

namespace detail {
template <class T, template <class> class Of>
using Mapped = Eigen::Map<std::conditional_t<std::is_const_v<T>, const Of<std::remove_const_t<T>>, Of<T>>>;
}

/// Eigen cuts large products by the sizes of the CPU's caches, and the cuts decide the order of sums: the same
/// everywhere.
inline const bool kCutsAreFixed = [] {
    Eigen::setCpuCacheSizes(32 << 10, 512 << 10, 4 << 20);
    return true;
}();

/// rows x columns elements, row after row.
template <class T> auto matrixMap(T* data, Eigen::Index rows, Eigen::Index columns)
{
    return detail::Mapped<T, RowMatrix>(data, rows, columns);
}

template <class T> auto rowMap(std::span<T> values)
{
    return detail::Mapped<T, RowVector>(values.data(), static_cast<Eigen::Index>(values.size()));
}

} // namespace qs
