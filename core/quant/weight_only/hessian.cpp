// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/weight_only/hessian.h"

#include "core/base/work/parallel.h"
#include "core/tensor/eigen_map.h"

#include <Eigen/Cholesky>

#include <algorithm>

namespace qs {

bool inverseRoot(std::vector<double>& h, size_t size, size_t threads)
{
    const auto n = static_cast<Eigen::Index>(size);
    // With rows and columns counted from the end, the lower triangular factor's inverse is the upper one wanted.
    std::ranges::reverse(h);
    auto matrix = matrixMap(h.data(), n, n);
    const Eigen::LLT<Eigen::Ref<RowMatrix<double>>> factor(matrix); // in its place
    if (factor.info() != Eigen::Success || !matrix.diagonal().allFinite())
        return false;
    std::vector<double> inverse(size * size, 0.0);
    constexpr size_t kColumns = 64; // independent of each other
    parallelFor((size + kColumns - 1) / kColumns, threads, [&](size_t part, size_t) {
        const auto from = static_cast<Eigen::Index>(part * kColumns), left = n - from;
        auto columns = matrixMap(inverse.data(), n, n).block(from, from, left, std::min<Eigen::Index>(kColumns, left));
        columns.setIdentity();
        matrix.bottomRightCorner(left, left).triangularView<Eigen::Lower>().solveInPlace(columns);
    });
    std::ranges::reverse(inverse);
    h = std::move(inverse);
    return true;
}

} // namespace qs
