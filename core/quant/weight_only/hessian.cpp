// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/weight_only/hessian.h"

#include "core/base/work/parallel.h"
#include "core/tensor/eigen_map.h"

#include <Eigen/Cholesky>

#include <algorithm>

namespace qs {

namespace {

using Matrix = decltype(matrixMap(static_cast<double*>(nullptr), 0, 0));

/// The lower triangular factor of a symmetric matrix, in its place, block column by block column; false where there is
/// none. What is left of each block column is spread over the threads in rows of a fixed number, so the result does not
/// depend on them.
bool factorize(Matrix h, size_t threads)
{
    constexpr Eigen::Index kBlock = 256, kRows = 64;
    for (Eigen::Index k = 0; k < h.rows(); k += kBlock) {
        const Eigen::Index size = std::min(kBlock, h.rows() - k), next = k + size, left = h.rows() - next;
        auto corner = h.block(k, k, size, size);
        const Eigen::LLT<Eigen::Ref<RowMatrix<double>>> factor(corner); // in its place
        if (factor.info() != Eigen::Success || !corner.diagonal().allFinite())
            return false;
        const auto eachRows = [&](const auto& work) {
            parallelFor(static_cast<size_t>((left + kRows - 1) / kRows), threads, [&](size_t part, size_t) {
                const Eigen::Index from = static_cast<Eigen::Index>(part) * kRows;
                work(from, std::min(kRows, left - from));
            });
        };
        auto below = h.block(next, k, left, size);
        eachRows([&](Eigen::Index from, Eigen::Index count) {
            auto rows = below.middleRows(from, count);
            corner.triangularView<Eigen::Lower>().transpose().solveInPlace<Eigen::OnTheRight>(rows);
        });
        eachRows([&](Eigen::Index from, Eigen::Index count) {
            h.block(next + from, next, count, from + count).noalias()
                -= below.middleRows(from, count) * below.topRows(from + count).transpose();
        });
    }
    return true;
}

} // namespace

bool inverseRoot(std::vector<double>& h, size_t size, size_t threads)
{
    const auto n = static_cast<Eigen::Index>(size);
    // With rows and columns counted from the end, the lower triangular factor's inverse is the upper one wanted.
    std::ranges::reverse(h);
    auto matrix = matrixMap(h.data(), n, n);
    if (!factorize(matrix, threads))
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
