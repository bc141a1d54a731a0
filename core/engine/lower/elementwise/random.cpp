// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/lower/common/float_work.h"
#include "core/engine/lower/common/movement.h"

#include "core/base/hash.h"
#include "core/engine/registry/registry.h"
#include "core/kernels/cpu/random.h"
#include "core/tensor/convert.h"

#include <bit>
#include <cmath>

namespace qs {

namespace {

/// What a node draws its numbers from. The same in every run, so that two files can be compared; without a seed of its
/// own a node has one by its name.
struct RandomStep {
    RandomNumbers numbers;
    DType type; ///< Undefined: as the input
};

RandomStep randomStep(const LowerContext& context, DType fallback)
{
    const Attributes& a = context.node.attributes;
    const auto* given = a.get<float>("seed");
    const uint64_t seed = given ? std::bit_cast<uint32_t>(*given) : hashText(context.node.name).low;
    const auto type = static_cast<DType>(a.integer("dtype", 0));
    return { RandomNumbers(seed), type == DType::Undefined ? fallback : type };
}

/// Fills a tensor with value(i), in pieces.
template <class Fn> Status fill(StepContext& c, DType type, const Shape& shape, Fn value)
{
    if (!isNumeric(type) || dtypeBits(type) < 8)
        return unsupportedType(type);
    QS_TRY(Tensor y, allocateChecked(c, type, shape));
    std::array<double, kChunk> piece;
    for (size_t i = 0, count = static_cast<size_t>(y.count()); i < count; i += kChunk) {
        const size_t n = std::min(kChunk, count - i);
        for (size_t k = 0; k < n; ++k)
            piece[k] = value(static_cast<int64_t>(i + k));
        storeElements(type, writable(y), i, piece.data(), n);
    }
    c.setOutput(0, std::move(y));
    return {};
}

LoweredNode randomNode(StepFn run)
{
    LoweredNode lowered { std::move(run), "random" };
    lowered.foldable = false;
    return lowered;
}

/// RandomNormal, RandomUniform and their Like forms.
Result<LoweredNode> lowerNumbers(const LowerContext& context)
{
    const Attributes& a = context.node.attributes;
    const bool like = context.node.opType.ends_with("Like");
    const bool normal = context.node.opType.starts_with("RandomNormal");
    const RandomStep step = randomStep(context, like ? DType::Undefined : DType::Float32);
    const double base = normal ? a.real("mean", 0) : a.real("low", 0);
    const double range = normal ? a.real("scale", 1) : double(a.real("high", 1)) - base;
    const Shape shape = a.integers("shape");
    return randomNode([=](StepContext& c) {
        const DType type = step.type == DType::Undefined ? c.in(0).dtype() : step.type;
        return fill(c, type, like ? c.in(0).shape() : shape, [&](int64_t i) {
            const auto index = static_cast<uint64_t>(i);
            return base + range * (normal ? step.numbers.normal(index) : step.numbers.uniform(index));
        });
    });
}

Result<LoweredNode> lowerBernoulli(const LowerContext& context)
{
    QS_CHECK(needFloat(context.inputType(0)));
    const RandomStep step = randomStep(context, DType::Undefined);
    return randomNode([step](StepContext& c) -> Status {
        const Tensor& x = c.in(0);
        if (!isComputedFloat(x.dtype()))
            return unsupportedType(x.dtype());
        return fill(c, step.type == DType::Undefined ? x.dtype() : step.type, x.shape(), [&](int64_t i) {
            return step.numbers.uniform(static_cast<uint64_t>(i)) < elementAsDouble(x, i) ? 1.0 : 0.0;
        });
    });
}

/// Class of a number in [0, 1) when the classes have these logarithms of probabilities.
int64_t drawn(std::span<const double> logarithms, double number)
{
    double total = 0, sum = 0;
    for (double l : logarithms)
        total += std::exp(l);
    for (size_t k = 0; k < logarithms.size(); ++k) {
        sum += std::exp(logarithms[k]);
        if (number * total < sum)
            return static_cast<int64_t>(k);
    }
    return static_cast<int64_t>(logarithms.size()) - 1;
}

Result<LoweredNode> lowerMultinomial(const LowerContext& context)
{
    QS_CHECK(needFloat(context.inputType(0)));
    const RandomStep step = randomStep(context, DType::Int32);
    const int64_t count = context.node.attributes.integer("sample_size", 1);
    if (count < 0)
        return badInput("the sample size is negative");
    return randomNode([step, count](StepContext& c) -> Status {
        const Tensor& x = c.in(0);
        if (!isComputedFloat(x.dtype()))
            return unsupportedType(x.dtype());
        if (x.rank() != 2 || x.dim(1) == 0)
            return badInput("the input needs rank 2 and at least one class");
        const std::vector<double> logarithms = toDoubles(x);
        const auto classes = static_cast<size_t>(x.dim(1));
        return fill(c, step.type, { x.dim(0), count }, [&](int64_t i) {
            const auto line = std::span(logarithms).subspan(static_cast<size_t>(i / count) * classes, classes);
            return static_cast<double>(drawn(line, step.numbers.uniform(static_cast<uint64_t>(i))));
        });
    });
}

} // namespace

void lowerRandom(LoweringRegistry& r)
{
    for (const char* type : { "RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike" })
        r.add("", type, lowerNumbers);
    r.add("", "Bernoulli", lowerBernoulli);
    r.add("", "Multinomial", lowerMultinomial);
}

} // namespace qs
