// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace qs {

/// One product of matrices: C (rows x columns) = A (rows x inner) B (inner x columns), each row-major; a transposed
/// operand is stored the other way round.
struct ProductShape {
    int64_t rows = 0;
    int64_t inner = 0;
    int64_t columns = 0;
    bool transposeA = false;
    bool transposeB = false;
    auto operator<=>(const ProductShape&) const = default;
};

/// Product by Eigen, on one thread; the same bits on every machine. Acc: double for float types, the type's 64-bit
/// counterpart for integers (sums wrap).
template <class Acc> void matmulReference(const ProductShape& s, const Acc* a, const Acc* b, Acc* c);

/// A matrix added to a product; a stride of 0 repeats a row or column. Null data: nothing is added.
template <class T> struct MatrixAddend {
    const T* data = nullptr;
    int64_t rowStride = 0;
    int64_t columnStride = 0;
};
/// c = alpha * c + beta * addend, element by element. T: float, double, uint64_t (integers; factors are truncated).
template <class T>
void scaleAndAdd(int64_t rows, int64_t columns, float alpha, float beta, const MatrixAddend<T>& addend, T* c) noexcept;

/// A float32 product prepared for one shape. Thread-safe.
class PreparedProduct {
public:
    virtual ~PreparedProduct() = default;
    /// Bytes of 64-byte aligned scratch memory that each concurrent run needs.
    virtual size_t scratchBytes() const = 0;
    /// `b` is ignored when the matrix is constant. False only when memory ran out.
    virtual bool run(const float* a, const float* b, float* c, std::byte* scratch) const noexcept = 0;
};

/// Float32 products by oneDNN; a constant B is packed once for each layout wanted. Thread-safe; results depend on the
/// shape and the data alone.
class FloatMatmul {
public:
    /// `constantB` may be null; otherwise it must outlive this object.
    explicit FloatMatmul(const float* constantB);
    ~FloatMatmul();
    FloatMatmul(const FloatMatmul&) = delete;
    FloatMatmul& operator=(const FloatMatmul&) = delete;
    /// Null when there is no fast kernel for this shape.
    std::shared_ptr<const PreparedProduct> prepare(const ProductShape& shape);
    /// The product at once, by Eigen where there is no fast kernel. `b` as in PreparedProduct.
    void multiply(const ProductShape& shape, const float* a, const float* b, float* c);

private:
    struct State;
    std::unique_ptr<State> m_state;
};

} // namespace qs
