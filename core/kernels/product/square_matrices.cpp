// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/product/square_matrices.h"

#include "core/tensor/eigen_map.h"

#include <Eigen/LU>

namespace qs {

template <class T> void determinants(int64_t count, int64_t n, const T* x, T* y)
{
    for (int64_t i = 0; i < count; ++i, x += n * n)
        y[i] = T(RowMatrix<double>(matrixMap(x, n, n).template cast<double>()).determinant());
}
template void determinants<float>(int64_t, int64_t, const float*, float*);
template void determinants<double>(int64_t, int64_t, const double*, double*);

template <class T> void inverses(int64_t count, int64_t n, const T* x, T* y)
{
    for (int64_t i = 0; i < count && n > 0; ++i, x += n * n, y += n * n)
        matrixMap(y, n, n) = RowMatrix<double>(matrixMap(x, n, n).template cast<double>()).inverse().cast<T>();
}
template void inverses<float>(int64_t, int64_t, const float*, float*);
template void inverses<double>(int64_t, int64_t, const double*, double*);

} // namespace qs
