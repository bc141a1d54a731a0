// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/float_conv.h"

#include "core/kernels/onednn_tools.h"

#include <map>
#include <vector>

namespace qs {

namespace {

using dnnl::memory;
using Dims = memory::dims;

/// Everything about a shape that oneDNN asks for.
struct Geometry {
    Dims src, dst, weights, weightStrides, strides, dilations, padBegin, padEnd;
    memory::format_tag tag;
};

/// Weights as oneDNN's logical [group] x out x in x kernel, with the strides that they have in ONNX order.
void describeWeights(Geometry& g, const ConvShape& shape, ConvDirection direction)
{
    const int64_t in = shape.window.channels / shape.groups, out = shape.filters / shape.groups;
    const int64_t kernel = shape.window.kernelSize();
    const bool transposed = direction == ConvDirection::Transposed;
    g.weights = { out, in };
    g.weightStrides = transposed ? Dims { kernel, out * kernel } : Dims { in * kernel, kernel };
    if (shape.groups > 1) {
        g.weights.insert(g.weights.begin(), shape.groups);
        g.weightStrides.insert(g.weightStrides.begin(), in * out * kernel);
    }
    int64_t stride = kernel;
    for (int i = 3 - shape.window.spatialRank; i < 3; ++i) {
        const int64_t size = shape.window.axes[size_t(i)].kernel;
        stride /= size;
        g.weights.push_back(size);
        g.weightStrides.push_back(stride);
    }
}

Geometry describe(const ConvShape& shape, ConvDirection direction)
{
    const WindowShape& s = shape.window;
    Geometry g;
    g.src = { s.batch, s.channels };
    g.dst = { s.batch, shape.filters };
    for (int i = 3 - s.spatialRank; i < 3; ++i) {
        const SpatialAxis& a = s.axes[size_t(i)];
        g.src.push_back(a.in);
        g.dst.push_back(a.out);
        g.strides.push_back(a.stride);
        g.dilations.push_back(a.dilation - 1);
        g.padBegin.push_back(a.padBegin);
        // The end padding that exactly explains the output size, whatever the attributes left over.
        const int64_t extent = (a.kernel - 1) * a.dilation + 1;
        const int64_t end = direction == ConvDirection::Forward ? (a.out - 1) * a.stride + extent - a.in - a.padBegin
                                                                : (a.in - 1) * a.stride + extent - a.out - a.padBegin;
        g.padEnd.push_back(end);
    }
    describeWeights(g, shape, direction);
    constexpr memory::format_tag kTags[] { memory::format_tag::nwc, memory::format_tag::nhwc,
        memory::format_tag::ndhwc };
    g.tag = kTags[s.spatialRank - 1];
    return g;
}

class OneDnnConv final : public PreparedConv {
public:
    OneDnnConv(dnnl::primitive primitive, memory::desc src, memory::desc dst, memory::desc scratch, memory weights,
        memory bias)
        : m_primitive(std::move(primitive))
        , m_src(std::move(src))
        , m_dst(std::move(dst))
        , m_scratch(std::move(scratch))
        , m_weights(std::move(weights))
        , m_bias(std::move(bias))
    {
    }
    size_t scratchBytes() const override { return m_scratch.get_size(); }
    bool run(const float* x, float* y, std::byte* scratch) const noexcept override
    try {
        dnnl::stream& stream = onednn::threadStream();
        const dnnl::engine& engine = onednn::engine();
        std::unordered_map<int, memory> arguments {
            { DNNL_ARG_SRC, memory(m_src, engine, const_cast<float*>(x)) },
            { DNNL_ARG_WEIGHTS, m_weights },
            { DNNL_ARG_DST, memory(m_dst, engine, y) },
            { DNNL_ARG_SCRATCHPAD, memory(m_scratch, engine, scratch) },
        };
        if (m_bias)
            arguments.insert({ DNNL_ARG_BIAS, m_bias });
        m_primitive.execute(stream, arguments);
        stream.wait();
        return true;
    } catch (...) {
        return false;
    }

private:
    dnnl::primitive m_primitive;
    memory::desc m_src, m_dst, m_scratch;
    memory m_weights, m_bias;
};

std::vector<int64_t> shapeKey(const ConvShape& shape)
{
    std::vector<int64_t> key { shape.window.batch };
    for (const SpatialAxis& a : shape.window.axes)
        key.insert(key.end(), { a.in, a.out });
    return key;
}

/// How many input shapes stay prepared.
constexpr size_t kKeptShapes = 16;

} // namespace

struct FloatConv::State {
    ConvDirection direction;
    const float* weights;
    const float* bias;
    std::mutex mutex;
    onednn::PackedWeights packed;
    std::map<std::vector<int64_t>, std::shared_ptr<const PreparedConv>> prepared;

    template <class Primitive>
    std::shared_ptr<const PreparedConv> make(const ConvShape& shape, dnnl::algorithm algorithm);
};

template <class Primitive>
std::shared_ptr<const PreparedConv> FloatConv::State::make(const ConvShape& shape, dnnl::algorithm algorithm)
{
    onednn::threadStream();
    const Geometry g = describe(shape, direction);
    constexpr auto f32 = memory::data_type::f32;
    const memory::desc src(g.src, f32, g.tag), dst(g.dst, f32, g.tag);
    const memory::desc anyWeights(g.weights, f32, memory::format_tag::any);
    const memory::desc biasDesc = bias ? memory::desc({ shape.filters }, f32, memory::format_tag::a) : memory::desc();
    const typename Primitive::desc desc(dnnl::prop_kind::forward_inference, algorithm, src, anyWeights, biasDesc, dst,
        g.strides, g.dilations, g.padBegin, g.padEnd);
    const typename Primitive::primitive_desc chosen(desc, onednn::userScratchpad(), onednn::engine());
    if (onednn::isSlow(chosen.impl_info_str()))
        return nullptr;
    const memory::desc plain(g.weights, f32, g.weightStrides);
    memory biasMemory;
    if (bias)
        biasMemory = memory(biasDesc, onednn::engine(), const_cast<float*>(bias));
    return std::make_shared<OneDnnConv>(Primitive(chosen), chosen.src_desc(), chosen.dst_desc(),
        chosen.scratchpad_desc(), packed.get(plain, weights, chosen.weights_desc()), biasMemory);
}

FloatConv::FloatConv(ConvDirection direction, const float* weights, const float* bias)
    : m_state(new State { direction, weights, bias, {}, {}, {} })
{
}

FloatConv::~FloatConv() = default;

std::shared_ptr<const PreparedConv> FloatConv::prepare(const ConvShape& shape)
{
    const std::vector<int64_t> key = shapeKey(shape);
    std::lock_guard lock(m_state->mutex);
    if (const auto it = m_state->prepared.find(key); it != m_state->prepared.end())
        return it->second;
    std::shared_ptr<const PreparedConv> made;
    try {
        made = m_state->direction == ConvDirection::Forward
            ? m_state->make<dnnl::convolution_forward>(shape, dnnl::algorithm::convolution_direct)
            : m_state->make<dnnl::deconvolution_forward>(shape, dnnl::algorithm::deconvolution_direct);
    } catch (const dnnl::error&) {
        // No kernel for this shape (negative pads ...): the caller has another way.
    }
    if (m_state->prepared.size() >= kKeptShapes)
        m_state->prepared.clear();
    m_state->prepared.emplace(key, made);
    return made;
}

} // namespace qs
