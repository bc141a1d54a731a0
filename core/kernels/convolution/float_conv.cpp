// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/kernels/convolution/float_conv.h"

#include "core/kernels/convolution/conv_parts.h"
#include "core/kernels/convolution/row_conv.h"
#include "core/kernels/cpu/onednn_tools.h"

#include <algorithm>
#include <map>
#include <vector>

namespace qs {

namespace {

using dnnl::memory;
using OnednnDims = memory::dims;

/// Everything about a shape that oneDNN asks for.
struct Geometry {
    OnednnDims src, dst, weights, weightStrides, strides, dilations, padBegin, padEnd;
    memory::format_tag tag;
};

/// Weights as oneDNN's logical [group] x out x in x kernel, with the strides that they have in ONNX order.
void describeWeights(Geometry& g, const ConvShape& shape, ConvDirection direction)
{
    const int64_t in = shape.window.channels / shape.groups, out = shape.filters / shape.groups;
    const int64_t kernel = shape.window.kernelSize();
    const bool transposed = direction == ConvDirection::Transposed;
    g.weights = { out, in };
    g.weightStrides = transposed ? OnednnDims { kernel, out * kernel } : OnednnDims { in * kernel, kernel };
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

/// One primitive over a part of the rows (or images); parts of equal geometry share it.
struct PartConv {
    dnnl::primitive primitive;
    memory::desc src, dst, scratch;
    memory weights, bias;

    onednn::ArgumentLists arguments {};

    onednn::ArgumentLists::List newArguments() const
    {
        const dnnl::engine& engine = onednn::engine();
        onednn::ArgumentLists::List list { { DNNL_ARG_SRC, memory(src, engine, nullptr) },
            { DNNL_ARG_WEIGHTS, weights }, { DNNL_ARG_DST, memory(dst, engine, nullptr) },
            { DNNL_ARG_SCRATCHPAD, memory(scratch, engine, nullptr) } };
        if (bias)
            list.insert({ DNNL_ARG_BIAS, bias });
        return list;
    }
    void run(const float* x, float* y, std::byte* scratchMemory) const
    {
        arguments.with([&] { return newArguments(); },
            [&](onednn::ArgumentLists::List& list) {
                list[DNNL_ARG_SRC].set_data_handle(const_cast<float*>(x));
                list[DNNL_ARG_DST].set_data_handle(y);
                list[DNNL_ARG_SCRATCHPAD].set_data_handle(scratchMemory);
                dnnl::stream& stream = onednn::threadStream();
                primitive.execute(stream, list);
                stream.wait();
            });
    }
};

class OneDnnConv final : public PreparedConv {
public:
    size_t scratchBytes() const override { return m_scratchBytes; }
    std::span<const Piece> pieces() const override { return m_pieces; }
    bool run(size_t piece, const float* x, float* y, std::byte* scratch, const SumEpilogue&) const noexcept override
    try {
        m_parts[piece]->run(x + m_inputs[piece], y + m_pieces[piece].begin, scratch);
        return true;
    } catch (...) {
        return false;
    }
    void add(std::shared_ptr<const PartConv> part, const ConvPart& where)
    {
        m_scratchBytes = std::max(m_scratchBytes, part->scratch.get_size());
        m_parts.push_back(std::move(part));
        m_inputs.push_back(where.inputBegin);
        m_pieces.push_back({ where.outputBegin, where.outputEnd });
    }

private:
    std::vector<std::shared_ptr<const PartConv>> m_parts;
    std::vector<size_t> m_inputs; ///< where each piece's input begins, in elements
    std::vector<Piece> m_pieces;
    size_t m_scratchBytes = 0;
};

std::vector<int64_t> shapeKey(const ConvShape& shape)
{
    std::vector<int64_t> key { shape.window.batch };
    for (const SpatialAxis& a : shape.window.axes)
        key.insert(key.end(), { a.in, a.out });
    return key;
}

/// How many input shapes stay prepared.
constexpr size_t kKeptConvolutions = 16;

} // namespace

struct FloatConv::State {
    ConvDirection direction;
    const float* weights;
    const float* bias;
    std::mutex mutex;
    onednn::PackedWeights packed;
    std::shared_ptr<const RowConvWeights> rowWeights;
    std::map<std::vector<int64_t>, std::shared_ptr<const PreparedConv>> prepared;

    template <class Primitive>
    std::shared_ptr<const PartConv> makePart(const ConvShape& shape, dnnl::algorithm algorithm);
    std::shared_ptr<const PreparedConv> make(const ConvShape& shape);
};

/// Null when oneDNN has only plain loops for this shape.
template <class Primitive>
std::shared_ptr<const PartConv> FloatConv::State::makePart(const ConvShape& shape, dnnl::algorithm algorithm)
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
    return std::shared_ptr<const PartConv>(new PartConv { Primitive(chosen), chosen.src_desc(), chosen.dst_desc(),
        chosen.scratchpad_desc(), packed.get(plain, weights, chosen.weights_desc()), biasMemory });
}

std::shared_ptr<const PreparedConv> FloatConv::State::make(const ConvShape& shape)
{
    if (direction == ConvDirection::Forward && suitsRowConv(shape)) {
        if (!rowWeights)
            rowWeights = packRowConv(shape, weights, bias);
        return prepareRowConv(shape, rowWeights);
    }
    auto conv = std::make_shared<OneDnnConv>();
    std::map<std::vector<int64_t>, std::shared_ptr<const PartConv>> made;
    for (const ConvPart& part : convParts(shape, direction)) {
        const SpatialAxis& rows = part.shape.window.axes[size_t(3 - shape.window.spatialRank)];
        auto& one = made[{ part.shape.window.batch, rows.in, rows.out, rows.padBegin }];
        if (!one)
            one = direction == ConvDirection::Forward
                ? makePart<dnnl::convolution_forward>(part.shape, dnnl::algorithm::convolution_direct)
                : makePart<dnnl::deconvolution_forward>(part.shape, dnnl::algorithm::deconvolution_direct);
        if (!one)
            return nullptr;
        conv->add(one, part);
    }
    return conv;
}

FloatConv::FloatConv(ConvDirection direction, const float* weights, const float* bias)
    : m_state(new State { direction, weights, bias, {}, {}, {}, {} })
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
        made = m_state->make(shape);
    } catch (const dnnl::error&) {
        // No kernel for this shape (negative pads ...): the caller has another way.
    }
    if (m_state->prepared.size() >= kKeptConvolutions)
        m_state->prepared.clear();
    m_state->prepared.emplace(key, made);
    return made;
}

} // namespace qs
