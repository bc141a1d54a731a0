// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/product/matmul.h"

#include "core/kernels/cpu/onednn_tools.h"
#include "core/tensor/eigen_map.h"
#include "core/tensor/tensor.h"

#include <map>
#include <type_traits>

namespace qs {

namespace {

using dnnl::memory;

class OneDnnProduct final : public PreparedProduct {
public:
    OneDnnProduct(const dnnl::matmul::primitive_desc& desc, memory constantB)
        : m_desc(desc)
        , m_primitive(desc)
        , m_constantB(std::move(constantB))
    {
    }
    size_t scratchBytes() const override { return m_desc.scratchpad_desc().get_size(); }
    bool run(const float* a, const float* b, float* c, std::byte* scratch) const noexcept override
    try {
        m_arguments.with([&] { return newArguments(); },
            [&](onednn::ArgumentLists::List& list) {
                list[DNNL_ARG_SRC].set_data_handle(const_cast<float*>(a));
                if (!m_constantB)
                    list[DNNL_ARG_WEIGHTS].set_data_handle(const_cast<float*>(b));
                list[DNNL_ARG_DST].set_data_handle(c);
                list[DNNL_ARG_SCRATCHPAD].set_data_handle(scratch);
                dnnl::stream& stream = onednn::threadStream();
                m_primitive.execute(stream, list);
                stream.wait();
            });
        return true;
    } catch (...) {
        return false;
    }

private:
    onednn::ArgumentLists::List newArguments() const
    {
        const dnnl::engine& engine = onednn::engine();
        return { { DNNL_ARG_SRC, memory(m_desc.src_desc(), engine, nullptr) },
            { DNNL_ARG_WEIGHTS, m_constantB ? m_constantB : memory(m_desc.weights_desc(), engine, nullptr) },
            { DNNL_ARG_DST, memory(m_desc.dst_desc(), engine, nullptr) },
            { DNNL_ARG_SCRATCHPAD, memory(m_desc.scratchpad_desc(), engine, nullptr) } };
    }
    dnnl::matmul::primitive_desc m_desc;
    dnnl::matmul m_primitive;
    memory m_constantB;
    onednn::ArgumentLists m_arguments;
};

memory::desc matrix(int64_t rows, int64_t columns, bool transposed)
{
    return { { rows, columns }, memory::data_type::f32, transposed ? memory::format_tag::ba : memory::format_tag::ab };
}

/// How many shapes stay prepared.
constexpr size_t kKeptProducts = 64;

} // namespace

template <class Acc> void matmulReference(const ProductShape& s, const Acc* a, const Acc* b, Acc* c)
{
    const auto left = s.transposeA ? matrixMap(a, s.inner, s.rows) : matrixMap(a, s.rows, s.inner);
    const auto right = s.transposeB ? matrixMap(b, s.columns, s.inner) : matrixMap(b, s.inner, s.columns);
    auto product = matrixMap(c, s.rows, s.columns);
    if (s.transposeA && s.transposeB)
        product.noalias() = left.transpose() * right.transpose();
    else if (s.transposeA)
        product.noalias() = left.transpose() * right;
    else if (s.transposeB)
        product.noalias() = left * right.transpose();
    else
        product.noalias() = left * right;
}

template void matmulReference<double>(const ProductShape&, const double*, const double*, double*);
template void matmulReference<uint64_t>(const ProductShape&, const uint64_t*, const uint64_t*, uint64_t*);

template <class T>
void scaleAndAdd(int64_t rows, int64_t columns, float alpha, float beta, const MatrixAddend<T>& addend, T* c) noexcept
{
    const T factor = T(std::is_integral_v<T> ? T(int64_t(alpha)) : T(alpha));
    const T share = T(std::is_integral_v<T> ? T(int64_t(beta)) : T(beta));
    for (int64_t i = 0; i < rows; ++i, c += columns) {
        if (alpha != 1)
            for (int64_t j = 0; j < columns; ++j)
                c[j] *= factor;
        if (!addend.data)
            continue;
        const T* row = addend.data + i * addend.rowStride;
        for (int64_t j = 0; j < columns; ++j)
            c[j] += share * row[j * addend.columnStride];
    }
}

template void scaleAndAdd<float>(int64_t, int64_t, float, float, const MatrixAddend<float>&, float*) noexcept;
template void scaleAndAdd<double>(int64_t, int64_t, float, float, const MatrixAddend<double>&, double*) noexcept;
template void scaleAndAdd<uint64_t>(int64_t, int64_t, float, float, const MatrixAddend<uint64_t>&, uint64_t*) noexcept;

struct FloatMatmul::State {
    const float* constantB;
    std::mutex mutex;
    onednn::PackedWeights packed;
    std::map<ProductShape, std::shared_ptr<const PreparedProduct>> prepared;
};

FloatMatmul::FloatMatmul(const float* constantB)
    : m_state(new State { constantB, {}, {}, {} })
{
}

FloatMatmul::~FloatMatmul() = default;

std::shared_ptr<const PreparedProduct> FloatMatmul::prepare(const ProductShape& shape)
{
    std::lock_guard lock(m_state->mutex);
    if (const auto it = m_state->prepared.find(shape); it != m_state->prepared.end())
        return it->second;
    std::shared_ptr<const PreparedProduct> made;
    try {
        onednn::threadStream();
        const memory::desc plainB = matrix(shape.inner, shape.columns, shape.transposeB);
        const memory::desc anyB({ shape.inner, shape.columns }, memory::data_type::f32, memory::format_tag::any);
        const dnnl::matmul::desc desc(matrix(shape.rows, shape.inner, shape.transposeA),
            m_state->constantB ? anyB : plainB, matrix(shape.rows, shape.columns, false));
        const dnnl::matmul::primitive_desc chosen(desc, onednn::userScratchpad(), onednn::engine());
        if (!onednn::isSlow(chosen.impl_info_str()))
            made = std::make_shared<OneDnnProduct>(chosen,
                m_state->constantB ? m_state->packed.get(plainB, m_state->constantB, chosen.weights_desc()) : memory());
    } catch (const dnnl::error&) {
        // No kernel for this shape: the caller has another way.
    }
    if (m_state->prepared.size() >= kKeptProducts)
        m_state->prepared.clear();
    m_state->prepared.emplace(shape, made);
    return made;
}

void FloatMatmul::multiply(const ProductShape& shape, const float* a, const float* b, float* c)
{
    if (const auto prepared = prepare(shape)) {
        Tensor scratch = Tensor::allocate(DType::UInt8, { static_cast<int64_t>(prepared->scratchBytes()) });
        if (prepared->run(a, b, c, reinterpret_cast<std::byte*>(scratch.fill<uint8_t>().data())))
            return;
    }
    matmulReference<float>(shape, a, b ? b : m_state->constantB, c);
}

} // namespace qs
