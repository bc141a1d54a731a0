// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/common/float_work.h"
#include "core/engine/lower/common/movement.h"
#include "core/engine/registry/registry.h"
#include "core/kernels/sequence/fourier.h"
#include "core/kernels/sequence/signal.h"
#include "core/tensor/convert.h"

#include <algorithm>

/// Spectra, windows and mel weights.
namespace qs {

namespace {

using Complex = std::complex<double>;

constexpr int64_t kLongestTransform = int64_t(1) << 30;

/// One transform: `given` numbers are there, the rest of `length` is zero.
class Transform {
public:
    Transform(const StepContext& c, int64_t length, KernelMode mode)
        : m_length(length)
    {
        if (mode == KernelMode::Fast)
            m_fast = std::make_unique<Fourier>(length);
        const auto scratch = m_fast ? int64_t(m_fast->scratchSize()) : length;
        m_values = c.allocate(DType::Float64, { 2 * length });
        m_scratch = c.allocate(DType::Float64, { 2 * scratch });
    }
    Complex* values() { return reinterpret_cast<Complex*>(m_values.fill<double>().data()); }
    void run(bool inverse)
    {
        auto* scratch = reinterpret_cast<Complex*>(m_scratch.fill<double>().data());
        if (m_fast) {
            m_fast->run(values(), inverse, scratch);
            return;
        }
        fourierReference(values(), scratch, m_length, inverse);
        std::copy_n(scratch, m_length, values());
    }

private:
    int64_t m_length;
    std::unique_ptr<Fourier> m_fast;
    Tensor m_values, m_scratch;
};

Result<int64_t> singleInteger(const Tensor& t, const char* what)
{
    if (t.count() != 1 || !isInteger(t.dtype()))
        return badInput(std::string(what) + " must be one integer");
    return elementAsInt(t, 0);
}

Result<int64_t> transformLength(int64_t length)
{
    if (length < 1 || length > kLongestTransform)
        return badInput("a transform of length " + std::to_string(length) + " is not possible");
    return length;
}

/// Real (last axis 1) or complex (last axis 2) numbers as double.
Result<Tensor> signalOf(const StepContext& c, size_t minRank)
{
    const Tensor& x = c.in(0);
    if (!isComputedFloat(x.dtype()))
        return unsupportedType(x.dtype());
    if (x.rank() < minRank || (x.shape().back() != 1 && x.shape().back() != 2))
        return badInput("the input has shape " + shapeText(x.shape()) + ", but its last axis must hold 1 or 2 numbers");
    return asWork<double>(c, x);
}

struct DftStep {
    KernelMode mode;
    bool inverse, onesided;
    int64_t axis; ///< attribute, or its default
    bool axisInput; ///< input 2 may say it

    Status run(StepContext& c) const;
};

Status DftStep::run(StepContext& c) const
{
    QS_TRY(const Tensor x, signalOf(c, 2));
    int64_t given = axis;
    if (axisInput && c.input(2)) {
        QS_TRY(given, singleInteger(c.in(2), "the axis"));
    }
    QS_TRY(const size_t a, axisOf(given, x.rank()));
    if (a + 1 == x.rank())
        return badInput("the last axis holds the parts of complex numbers and cannot be transformed");
    const bool toReal = inverse && onesided;
    int64_t length = toReal ? 2 * (x.dim(a) - 1) : x.dim(a);
    if (c.input(1)) {
        QS_TRY(length, singleInteger(c.in(1), "the length"));
    }
    QS_TRY(length, transformLength(length));
    const int64_t parts = x.shape().back(), outParts = toReal ? 1 : 2;
    const int64_t kept = onesided && !inverse ? length / 2 + 1 : length;
    Shape shape = x.shape();
    shape[a] = kept;
    shape.back() = outParts;
    QS_TRY(Tensor y, allocateChecked(c, DType::Float64, shape));
    const int64_t inner = product(x.shape(), a + 1, x.rank() - 1), outer = product(x.shape(), 0, a);
    const double* from = x.data<double>().data();
    double* to = y.fill<double>().data();
    Transform t(c, length, mode);
    for (int64_t o = 0; o < outer; ++o)
        for (int64_t i = 0; i < inner; ++i) {
            if (c.isCancelled())
                return cancelled();
            const SignalView view { from + (o * x.dim(a) * inner + i) * parts, x.dim(a), inner * parts, parts == 2 };
            toReal ? loadHalfSpectrum(view, t.values(), length) : loadSignal(view, nullptr, t.values(), length);
            t.run(inverse);
            storeSignal(t.values(), kept, outParts == 2, to + (o * kept * inner + i) * outParts, inner * outParts);
        }
    c.setOutput(0, fromWork<double>(c, std::move(y), c.in(0).dtype()));
    return {};
}

Result<LoweredNode> lowerDft(const LowerContext& c)
{
    QS_CHECK(needFloat(c.inputType(0)));
    const Attributes& a = c.node.attributes;
    const bool newer = c.node.opset >= 20;
    const DftStep step { c.mode, a.integer("inverse", 0) != 0, a.integer("onesided", 0) != 0,
        newer ? -2 : a.integer("axis", 1), newer };
    return LoweredNode { [step](StepContext& s) { return step.run(s); },
        c.mode == KernelMode::Reference ? "reference" : "fft" };
}

/// Batch x length x parts; the parts may be left out where they are one.
Result<Tensor> stftSignal(const StepContext& c)
{
    const Tensor& x = c.in(0);
    if (x.rank() == 2 && isComputedFloat(x.dtype()))
        return asWork<double>(c, x).reshaped({ x.dim(0), x.dim(1), 1 });
    if (x.rank() != 3)
        return badInput("the signal has rank " + std::to_string(x.rank()) + ", but needs rank 2 or 3");
    return signalOf(c, 3);
}

Status runStft(const Node& node, KernelMode mode, StepContext& c)
{
    QS_CHECK(needInputs(c, 2));
    QS_TRY(const Tensor x, stftSignal(c));
    QS_TRY(const int64_t hop, singleInteger(c.in(1), "the frame step"));
    Tensor window;
    int64_t length = x.dim(1);
    if (c.input(2)) {
        if (!isComputedFloat(c.in(2).dtype()) || c.in(2).rank() != 1)
            return badInput("the window must be a list of floats");
        window = asWork<double>(c, c.in(2));
        length = window.dim(0);
    }
    if (c.input(3)) {
        QS_TRY(length, singleInteger(c.in(3), "the frame length"));
    }
    QS_TRY(length, transformLength(length));
    if (window.valid() && window.dim(0) != length)
        return badInput(
            "the window has " + std::to_string(window.dim(0)) + " numbers, but a frame " + std::to_string(length));
    if (hop < 1 || length > x.dim(1))
        return badInput("frames of " + std::to_string(length) + " every " + std::to_string(hop)
            + " do not fit a signal of length " + std::to_string(x.dim(1)));
    const int64_t parts = x.dim(2), frames = 1 + (x.dim(1) - length) / hop;
    const bool onesided = node.attributes.integer("onesided", 1) != 0;
    if (onesided && parts == 2)
        return badInput("a one-sided spectrum needs a real signal", {}, "set onesided to 0");
    const int64_t kept = onesided ? length / 2 + 1 : length;
    QS_TRY(Tensor y, allocateChecked(c, DType::Float64, { x.dim(0), frames, kept, 2 }));
    Transform t(c, length, mode);
    for (int64_t b = 0; b < x.dim(0); ++b)
        for (int64_t f = 0; f < frames; ++f) {
            if (c.isCancelled())
                return cancelled();
            const double* from = x.data<double>().data() + (b * x.dim(1) + f * hop) * parts;
            loadSignal({ from, length, parts, parts == 2 }, dataOrNull<double>(window), t.values(), length);
            t.run(false);
            storeSignal(t.values(), kept, true, y.fill<double>().data() + (b * frames + f) * kept * 2, 2);
        }
    c.setOutput(0, fromWork<double>(c, std::move(y), c.in(0).dtype()));
    return {};
}

/// Element type of a made tensor: an attribute with the number of the type, float32 by default.
Result<DType> outputType(const Node& node)
{
    const auto type = static_cast<DType>(node.attributes.integer("output_datatype", 1));
    if (!isNumeric(type) || type == DType::Bool)
        return unsupportedType(type);
    return type;
}

/// Doubles as `type`; integers lose their fraction.
Status setNumbers(StepContext& c, Tensor values, DType type)
{
    if (isFloat(type)) {
        c.setOutput(0, fromWork<double>(c, std::move(values), type));
        return {};
    }
    Tensor whole = c.allocate(DType::Int64, values.shape());
    std::ranges::transform(values.data<double>(), whole.fill<int64_t>().begin(), [](double v) { return int64_t(v); });
    c.setOutput(0, fromWork<int64_t>(c, std::move(whole), type));
    return {};
}

template <CosineWindow kWindow> Status runWindow(const Node& node, KernelMode, StepContext& c)
{
    QS_CHECK(needInputs(c, 1));
    QS_TRY(const int64_t size, singleInteger(c.in(0), "the size"));
    QS_TRY(const DType type, outputType(node));
    QS_TRY(Tensor values, allocateChecked(c, DType::Float64, { size }));
    fillWindow(kWindow, size, node.attributes.integer("periodic", 1) != 0, values.fill<double>().data());
    return setNumbers(c, std::move(values), type);
}

Status runMelWeightMatrix(const Node& node, KernelMode, StepContext& c)
{
    QS_CHECK(needInputs(c, 5));
    QS_TRY(const DType type, outputType(node));
    MelWeights mel;
    QS_TRY(mel.bands, singleInteger(c.in(0), "the number of bands"));
    QS_TRY(mel.dftLength, singleInteger(c.in(1), "the length"));
    QS_TRY(mel.sampleRate, singleInteger(c.in(2), "the sample rate"));
    for (size_t i : { 3u, 4u })
        if (c.in(i).count() != 1 || !isNumeric(c.in(i).dtype()))
            return badInput("the band's edges must be single numbers");
    mel.lowest = elementAsDouble(c.in(3), 0);
    mel.highest = elementAsDouble(c.in(4), 0);
    QS_TRY(const int64_t length, transformLength(mel.dftLength));
    if (mel.bands < 1 || mel.sampleRate < 1 || !(mel.lowest >= 0 && mel.lowest <= mel.highest))
        return badInput("the bands are impossible: " + std::to_string(mel.bands) + " from " + std::to_string(mel.lowest)
            + " to " + std::to_string(mel.highest) + " Hz at a sample rate of " + std::to_string(mel.sampleRate));
    QS_TRY(Tensor values, allocateChecked(c, DType::Float64, { length / 2 + 1, mel.bands }));
    if (!fillMelWeights(mel, values.fill<double>().data()))
        return badInput("the highest band lies above half the sample rate");
    return setNumbers(c, std::move(values), type);
}

} // namespace

void lowerAudio(LoweringRegistry& r)
{
    r.add("", "DFT", lowerDft);
    r.add("", "STFT", copying<runStft>);
    r.add("", "HannWindow", copying<runWindow<CosineWindow::Hann>>);
    r.add("", "HammingWindow", copying<runWindow<CosineWindow::Hamming>>);
    r.add("", "BlackmanWindow", copying<runWindow<CosineWindow::Blackman>>);
    r.add("", "MelWeightMatrix", copying<runMelWeightMatrix>);
}

} // namespace qs
