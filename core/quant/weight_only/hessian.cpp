// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/weight_only/hessian.h"

#include "core/base/work/worker_team.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

constexpr size_t kRows = 4; ///< taken away at a time
constexpr size_t kSmall = 128; ///< rows below which threads do not pay

/// y -= sum of f[k] * x[k] over kRows rows.
void takeAway(const double* const* x, const double* f, double* y, size_t from, size_t to)
{
    for (size_t j = from; j < to; ++j)
        y[j] -= (f[0] * x[0][j] + f[1] * x[1][j]) + (f[2] * x[2][j] + f[3] * x[3][j]);
}

/// h = UT U, U in the upper half.
bool factorize(double* h, size_t n, WorkerTeam& team)
{
    for (size_t k0 = 0; k0 < n; k0 += kRows) {
        const size_t count = std::min(kRows, n - k0);
        for (size_t k = k0; k < k0 + count; ++k) {
            double* row = h + k * n;
            for (size_t p = k0; p < k; ++p)
                for (size_t j = k; j < n; ++j)
                    row[j] -= h[p * n + k] * h[p * n + j];
            if (!(row[k] > 0) || !std::isfinite(row[k]))
                return false;
            const double root = std::sqrt(row[k]);
            for (size_t j = k; j < n; ++j)
                row[j] /= root;
        }
        const size_t next = k0 + count;
        if (count < kRows || next >= n)
            break;
        const double* rows[kRows] = { h + k0 * n, h + (k0 + 1) * n, h + (k0 + 2) * n, h + (k0 + 3) * n };
        const auto update = [&](size_t i) {
            const double factors[kRows] = { rows[0][i], rows[1][i], rows[2][i], rows[3][i] };
            takeAway(rows, factors, h + i * n, i, n);
        };
        const size_t parts = n - next < kSmall ? 1 : team.threads() * 4;
        team.run(parts, [&](size_t part, size_t) { // rows in turn, since later ones are shorter
            for (size_t i = next + part; i < n; i += parts)
                update(i);
        });
    }
    return true;
}

} // namespace

bool inverseRoot(std::vector<double>& h, size_t n, size_t threads)
{
    WorkerTeam team(n < kSmall ? 1 : threads);
    // With rows and columns counted from the end, the lower triangular factor's inverse is the upper one wanted.
    std::reverse(h.begin(), h.begin() + static_cast<std::ptrdiff_t>(n * n));
    if (!factorize(h.data(), n, team))
        return false;
    std::vector<double> inverse(n * n, 0.0); // of the lower triangular UT
    constexpr size_t kColumns = 64; // independent of each other
    team.run((n + kColumns - 1) / kColumns, [&](size_t part, size_t) {
        const size_t from = part * kColumns, to = std::min(from + kColumns, n);
        for (size_t i = from; i < n; ++i) {
            double* row = inverse.data() + i * n;
            if (i < to)
                row[i] = 1;
            const size_t end = std::min(to, i);
            size_t k = from;
            for (; k + kRows <= i; k += kRows) {
                const double* rows[kRows];
                double factors[kRows];
                for (size_t p = 0; p < kRows; ++p) {
                    rows[p] = inverse.data() + (k + p) * n;
                    factors[p] = h[(k + p) * n + i];
                }
                takeAway(rows, factors, row, from, end);
            }
            for (; k < i; ++k)
                for (size_t j = from; j < end; ++j)
                    row[j] -= h[k * n + i] * inverse[k * n + j];
            const double diagonal = h[i * n + i];
            for (size_t j = from; j < std::min(to, i + 1); ++j)
                row[j] /= diagonal;
        }
    });
    std::reverse(inverse.begin(), inverse.end());
    h = std::move(inverse);
    return true;
}

} // namespace qs
