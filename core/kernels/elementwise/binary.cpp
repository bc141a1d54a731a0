// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/elementwise/binary.h"

#include <cmath>
#include <type_traits>

namespace qs {

namespace {

template <class W, class O, class F> void each(Run<W> a, Run<W> b, O* out, size_t n, F f)
{
    for (size_t i = 0; i < n; ++i)
        out[i] = f(a.data[i * a.stride], b.data[i * b.stride]);
}

template <class W> W floorMod(W a, W b)
{
    if constexpr (std::is_floating_point_v<W>) {
        const W r = std::fmod(a, b);
        return r != 0 && (r < 0) != (b < 0) ? r + b : r;
    } else {
        if (b == 0 || (std::is_signed_v<W> && b == W(-1)))
            return 0;
        const W r = a % b;
        return r != 0 && (r < W(0)) != (b < W(0)) ? static_cast<W>(r + b) : r;
    }
}

template <class W> W integerDivide(W a, W b)
{
    if (b == 0)
        return 0;
    if (std::is_signed_v<W> && b == W(-1))
        return static_cast<W>(0 - static_cast<uint64_t>(a));
    return a / b;
}

template <class W> W integerPower(W base, W exponent)
{
    if (exponent < W(0))
        return base == W(1) ? W(1) : base == W(-1) ? (exponent % 2 ? W(-1) : W(1)) : W(0);
    uint64_t result = 1, factor = static_cast<uint64_t>(base);
    for (auto e = static_cast<uint64_t>(exponent); e; e >>= 1) {
        if (e & 1)
            result *= factor;
        factor *= factor;
    }
    return static_cast<W>(result);
}

/// NaN of either operand comes out.
template <class W> W larger(W a, W b) { return a > b || a != a ? a : b; }
template <class W> W smaller(W a, W b) { return a < b || a != a ? a : b; }

template <class W> void floatFunction(BinaryOp op, Run<W> a, Run<W> b, W* out, size_t n)
{
    switch (op) {
    case BinaryOp::Add:
        return each(a, b, out, n, [](W x, W y) { return x + y; });
    case BinaryOp::Sub:
        return each(a, b, out, n, [](W x, W y) { return x - y; });
    case BinaryOp::Mul:
        return each(a, b, out, n, [](W x, W y) { return x * y; });
    case BinaryOp::Div:
        return each(a, b, out, n, [](W x, W y) { return x / y; });
    case BinaryOp::Pow:
        return each(a, b, out, n, [](W x, W y) { return std::pow(x, y); });
    case BinaryOp::Max:
        return each(a, b, out, n, larger<W>);
    case BinaryOp::Min:
        return each(a, b, out, n, smaller<W>);
    case BinaryOp::ModFloor:
        return each(a, b, out, n, floorMod<W>);
    case BinaryOp::ModTruncate:
        return each(a, b, out, n, [](W x, W y) { return std::fmod(x, y); });
    default: // PRelu
        return each(a, b, out, n, [](W x, W y) { return x < 0 ? x * y : x; });
    }
}

template <class W> void integerFunction(BinaryOp op, Run<W> a, Run<W> b, W* out, size_t n)
{
    using U = uint64_t; // wraps without undefined behaviour
    switch (op) {
    case BinaryOp::Add:
        return each(a, b, out, n, [](W x, W y) { return W(U(x) + U(y)); });
    case BinaryOp::Sub:
        return each(a, b, out, n, [](W x, W y) { return W(U(x) - U(y)); });
    case BinaryOp::Mul:
        return each(a, b, out, n, [](W x, W y) { return W(U(x) * U(y)); });
    case BinaryOp::Div:
        return each(a, b, out, n, integerDivide<W>);
    case BinaryOp::Pow:
        return each(a, b, out, n, integerPower<W>);
    case BinaryOp::Max:
        return each(a, b, out, n, larger<W>);
    case BinaryOp::Min:
        return each(a, b, out, n, smaller<W>);
    case BinaryOp::ModFloor:
        return each(a, b, out, n, floorMod<W>);
    case BinaryOp::ModTruncate:
        return each(a, b, out, n, [](W x, W y) { return W(U(x) - U(integerDivide(x, y)) * U(y)); });
    case BinaryOp::PRelu:
        return each(a, b, out, n, [](W x, W y) { return x < W(0) ? W(U(x) * U(y)) : x; });
    case BinaryOp::And:
        return each(a, b, out, n, [](W x, W y) { return W(x && y); });
    case BinaryOp::Or:
        return each(a, b, out, n, [](W x, W y) { return W(x || y); });
    case BinaryOp::Xor:
        return each(a, b, out, n, [](W x, W y) { return W((x != 0) != (y != 0)); });
    case BinaryOp::BitwiseAnd:
        return each(a, b, out, n, [](W x, W y) { return W(x & y); });
    case BinaryOp::BitwiseOr:
        return each(a, b, out, n, [](W x, W y) { return W(x | y); });
    case BinaryOp::BitwiseXor:
        return each(a, b, out, n, [](W x, W y) { return W(x ^ y); });
    case BinaryOp::ShiftLeft:
        return each(a, b, out, n, [](W x, W y) { return U(y) < 64 ? W(U(x) << U(y)) : W(0); });
    default: // ShiftRight
        return each(a, b, out, n, [](W x, W y) { return U(y) < 64 ? W(x >> U(y)) : x < W(0) ? W(-1) : W(0); });
    }
}

} // namespace

bool binaryTakesFloats(BinaryOp op) { return op < BinaryOp::And; }

template <class W> void binaryReference(BinaryOp op, Run<W> a, Run<W> b, W* out, size_t n)
{
    if constexpr (std::is_floating_point_v<W>)
        floatFunction(op, a, b, out, n);
    else
        integerFunction(op, a, b, out, n);
}

template <class W> void compareElements(CompareOp op, Run<W> a, Run<W> b, uint8_t* out, size_t n)
{
    switch (op) {
    case CompareOp::Equal:
        return each(a, b, out, n, [](W x, W y) { return uint8_t(x == y); });
    case CompareOp::Greater:
        return each(a, b, out, n, [](W x, W y) { return uint8_t(x > y); });
    case CompareOp::Less:
        return each(a, b, out, n, [](W x, W y) { return uint8_t(x < y); });
    case CompareOp::GreaterOrEqual:
        return each(a, b, out, n, [](W x, W y) { return uint8_t(x >= y); });
    case CompareOp::LessOrEqual:
        return each(a, b, out, n, [](W x, W y) { return uint8_t(x <= y); });
    }
}

template void binaryReference(BinaryOp, Run<float>, Run<float>, float*, size_t);
template void binaryReference(BinaryOp, Run<double>, Run<double>, double*, size_t);
template void binaryReference(BinaryOp, Run<int64_t>, Run<int64_t>, int64_t*, size_t);
template void binaryReference(BinaryOp, Run<uint64_t>, Run<uint64_t>, uint64_t*, size_t);
template void compareElements(CompareOp, Run<float>, Run<float>, uint8_t*, size_t);
template void compareElements(CompareOp, Run<double>, Run<double>, uint8_t*, size_t);
template void compareElements(CompareOp, Run<int64_t>, Run<int64_t>, uint8_t*, size_t);
template void compareElements(CompareOp, Run<uint64_t>, Run<uint64_t>, uint8_t*, size_t);

} // namespace qs
