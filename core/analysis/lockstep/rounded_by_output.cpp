// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/lockstep/rounded_by_output.h"

#include "core/analysis/bypass/network_run.h"
#include "core/analysis/measure/weight_grid.h"
#include "core/analysis/pairs/folded_constants.h"
#include "core/analysis/pairs/weight_elements.h"
#include "core/match/graph/canonical.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace qs {

namespace {

constexpr double kMovedCodes = 0.001; ///< of the codes: fewer are rounding of scales
constexpr double kLessError = 0.9; ///< power at the output, over that of the nearest codes
constexpr double kHardlyMoreError = 1.05; ///< the same of one layer among others that have less
constexpr double kMostOfSteps = 2; ///< noise of the nearest codes over what steps alone make: else scales cut off
constexpr double kLeastUse = 0.6; ///< of the codes' range, in the mean over scales: else scales are too large
constexpr double kFewMovedSteps = 4, kFarShare = 0.01; ///< nearly all codes are no further from the nearest
constexpr double kOtherFactor = 0.02; ///< of a scale
constexpr double kSureOf = 4 * 0.6; ///< standard deviations of a factor, of codes that are off by so many steps
constexpr double kMostShift = 1 << 16; ///< steps, as far as codes go
constexpr int64_t kLargestWeight = 1 << 25; ///< elements: those of larger ones would take gigabytes
constexpr size_t kMostRowsOfInput = 256, kMostColumns = 64;
constexpr size_t kMostWindows = 64; ///< of a convolution, each as a row
constexpr size_t kFewestOfScale = 16; ///< elements that tell a factor

/// What a convolution reads for each element that it makes; by spatial axis.
struct Windows {
    std::vector<int64_t> kernel, strides, dilations, before, after; ///< the last two: padding
    size_t groups = 1;
};

/// A product of the float model and its weight [depth, columns], or the other way round; or a convolution, whose weight
/// is [columns, channels of a group, kernel ...].
struct ProductWeight {
    const WeightPair* pair = nullptr;
    const Tensor* weight = nullptr; ///< with what is folded into it
    const QuantParams* params = nullptr;
    const Tensor* codes = nullptr;
    ValueId input;
    bool turned = false; ///< [columns, depth]
    std::optional<Windows> windows {};
};

/// Nothing where the sizes tell the padding.
std::optional<Windows> windowsOf(const Node& node, const Shape& weight)
{
    const std::string automatic = node.attributes.text("auto_pad", "NOTSET");
    if (!node.is("Conv") || weight.size() < 3 || (automatic != "NOTSET" && automatic != "VALID"))
        return std::nullopt;
    const size_t axes = weight.size() - 2;
    const auto list = [&](const char* name, size_t size, int64_t value) {
        const auto* given = node.attributes.get<std::vector<int64_t>>(name);
        return given && given->size() == size ? *given : std::vector<int64_t>(size, value);
    };
    const std::vector<int64_t> pads = list("pads", 2 * axes, 0);
    const int64_t groups = node.attributes.integer("group", 1);
    if (groups < 1 || weight[0] % groups != 0)
        return std::nullopt;
    return Windows { { weight.begin() + 2, weight.end() }, list("strides", axes, 1), list("dilations", axes, 1),
        { pads.begin(), pads.begin() + ptrdiff_t(axes) }, { pads.begin() + ptrdiff_t(axes), pads.end() },
        size_t(groups) };
}

std::vector<ProductWeight> productWeights(const ComparePair& pair, const FoldedConstants& folded)
{
    const Plan& plan = *pair.floatPlan;
    std::vector<ProductWeight> found;
    for (const WeightPair& wp : pair.alignment->weights) {
        const Quantizer& q = pair.quantView->quantizers()[wp.quantizer];
        if (!wp.floatNode.valid() || !wp.floatValue.valid() || wp.places || q.role != QuantRole::Weight
            || !isInteger(q.params.dtype) || q.params.scale.empty())
            continue;
        const Node& node = plan.graph().node(wp.floatNode);
        const Tensor* weight = folded.of(wp);
        const bool product = node.is("MatMul") || (node.is("Gemm") && node.attributes.integer("transA", 0) == 0);
        const auto windows = weight ? windowsOf(node, weight->shape()) : std::nullopt;
        if (!weight || !(windows || (product && weight->rank() == 2)) || weight->count() == 0
            || weight->count() > kLargestWeight || !isFloat(weight->dtype()) || !node.hasInput(1)
            || node.inputs[1] != wp.floatValue || plan.constant(node.inputs[0]))
            continue;
        const Tensor* codes = storedCodes(*pair.quantPlan, q);
        if (codes && codes->count() == weight->count())
            found.push_back({ &wp, weight, &q.params, codes, node.inputs[0],
                windows || (node.is("Gemm") && node.attributes.integer("transB", 0) != 0), windows });
    }
    return found;
}

/// Rows of what a product reads, at most kMostRowsOfInput; of a convolution windows, [group, depth] each.
struct InputRows {
    std::vector<float> values;
    size_t count = 0, groups = 1;
};

/// One weight, element by element in the float model's order.
class WeightCodes {
public:
    explicit WeightCodes(const ProductWeight& w)
        : m_weight(floatElements(*w.weight, *w.pair))
        , m_x(m_weight.data<float>().begin(), m_weight.data<float>().end())
        , m_y(storedElements(*w.codes, *w.params, *w.pair))
        , m_grid(w.codes->shape(), *w.params, *w.pair, m_weight.shape())
        , m_params(*w.params)
        , m_turned(w.turned)
        , m_product(!w.windows)
        , m_scaleOf(m_x.size())
    {
        m_grid.eachRun(m_x.size(), [&](size_t scale, size_t begin, size_t n) {
            std::fill_n(m_scaleOf.begin() + ptrdiff_t(begin), n, uint32_t(std::min(scale, m_params.scale.size() - 1)));
        });
    }

    bool valid() const
    {
        return m_y.size() == m_x.size() && std::ranges::all_of(m_params.scale, [](float s) { return s > 0; });
    }

    /// Their codes are not the nearest ones.
    bool moved() const { return movedOf(m_y, m_params, nearest(m_params)).first.moved > kMovedCodes; }

    std::optional<RoundedByOutput> judged(const InputRows& input) const
    {
        const auto asItIs = judged(m_y, m_params, input);
        if (asItIs && asItIs->error < kHardlyMoreError)
            return asItIs;
        if (!m_product)
            return std::nullopt;
        const std::vector<double> shifts = meanShifts();
        const double largest = *std::ranges::max_element(shifts, {}, [](double s) { return std::fabs(s); });
        if (largest != 0 && std::fabs(largest) <= kMostShift) {
            auto [y, params] = unshifted(shifts);
            if (auto found = judged(y, params, input); found && found->error < kLessError) {
                found->shift = largest;
                found->part = double(std::ranges::count(shifts, largest)) / double(shifts.size());
                return found;
            }
        }
        return withoutFactors(input);
    }

private:
    std::vector<float> nearest(const QuantParams& params) const
    {
        std::vector<float> r(m_x.size());
        for (size_t i = 0; i < r.size(); ++i)
            r[i] = float(nearestOnGrid(params, m_scaleOf[i], m_x[i]));
        return r;
    }

    /// And the share of codes that no rounding moves so far.
    std::pair<RoundedByOutput, double> movedOf(
        const std::vector<float>& y, const QuantParams& params, const std::vector<float>& r) const
    {
        RoundedByOutput found;
        size_t moved = 0, far = 0;
        for (size_t i = 0; i < y.size(); ++i) {
            const double steps = std::fabs(double(y[i]) - r[i]) / params.scale[m_scaleOf[i]];
            moved += steps > 0.5;
            far += steps > kFewMovedSteps + 0.5;
            found.steps = std::max(found.steps, std::nearbyint(steps));
        }
        found.moved = double(moved) / double(y.size());
        return { found, double(far) / double(y.size()) };
    }

    /// The scales are those that the float weight's own elements ask for.
    bool scalesFit(const QuantParams& params, const std::vector<float>& r) const
    {
        std::vector<double> use(params.scale.size());
        double noise = 0, steps = 0;
        for (size_t i = 0; i < r.size(); ++i) {
            const size_t s = m_scaleOf[i];
            const double end = m_x[i] < 0 ? params.low(s) : params.high(s);
            if (end != 0)
                use[s] = std::max(use[s], double(m_x[i]) / end);
            noise += (double(r[i]) - m_x[i]) * (double(r[i]) - m_x[i]);
            steps += double(params.scale[s]) * params.scale[s] / 12;
        }
        double sum = 0;
        for (const double part : use)
            sum += part;
        return noise <= kMostOfSteps * steps && sum >= kLeastUse * double(use.size());
    }

    size_t depth() const
    {
        const Shape& shape = m_weight.shape();
        return m_turned ? m_x.size() / size_t(shape[0]) : size_t(shape[0]);
    }

    /// Power of what the difference makes of the input's rows.
    double outputPower(const std::vector<float>& to, const InputRows& input) const
    {
        const size_t depth = this->depth(), columns = m_x.size() / depth;
        const size_t inGroup = std::max<size_t>(columns / input.groups, 1);
        const size_t every = std::max<size_t>(1, columns / kMostColumns);
        std::vector<float> difference(depth);
        double power = 0;
        for (size_t column = 0; column < columns; column += every) {
            for (size_t k = 0; k < depth; ++k) {
                const size_t at = m_turned ? column * depth + k : k * columns + column;
                difference[k] = to[at] - m_x[at];
            }
            for (size_t row = 0; row < input.count; ++row) {
                const float* values = &input.values[(row * input.groups + column / inGroup) * depth];
                double sum = 0;
                for (size_t k = 0; k < depth; ++k)
                    sum += double(values[k]) * difference[k];
                power += sum * sum;
            }
        }
        return power;
    }

    std::optional<RoundedByOutput> judged(
        const std::vector<float>& y, const QuantParams& params, const InputRows& input) const
    {
        if (input.count == 0 || input.values.size() != input.count * input.groups * depth())
            return std::nullopt;
        const std::vector<float> r = nearest(params);
        auto [found, far] = movedOf(y, params, r);
        if (found.moved <= kMovedCodes || far > kFarShare || !scalesFit(params, r))
            return std::nullopt;
        const double plain = outputPower(r, input), own = outputPower(y, input);
        if (!(plain > 0))
            return std::nullopt;
        found.error = own / plain;
        return found;
    }

    /// By scale, whole steps; of few elements those of all.
    std::vector<double> meanShifts() const
    {
        std::vector<double> shifts(m_params.scale.size());
        std::vector<size_t> counts(shifts.size());
        double all = 0;
        for (size_t i = 0; i < m_x.size(); ++i) {
            const double steps = (double(m_y[i]) - m_x[i]) / m_params.scale[m_scaleOf[i]];
            shifts[m_scaleOf[i]] += steps;
            ++counts[m_scaleOf[i]];
            all += steps;
        }
        for (size_t s = 0; s < shifts.size(); ++s)
            shifts[s]
                = std::nearbyint(counts[s] < kFewestOfScale ? all / double(m_x.size()) : shifts[s] / double(counts[s]));
        return shifts;
    }

    /// As they were if zero points are off by that.
    std::pair<std::vector<float>, QuantParams> unshifted(const std::vector<double>& shifts) const
    {
        std::vector<float> y = m_y;
        for (size_t i = 0; i < y.size(); ++i)
            y[i] -= float(shifts[m_scaleOf[i]] * m_params.scale[m_scaleOf[i]]);
        QuantParams params = m_params;
        params.zeroPoint.resize(params.scale.size(), 0);
        for (size_t s = 0; s < shifts.size(); ++s)
            params.zeroPoint[s] += int32_t(shifts[s]);
        return { std::move(y), std::move(params) };
    }

    /// As they were if each scale had a factor, or all had one.
    std::optional<RoundedByOutput> withoutFactors(const InputRows& input) const
    {
        std::vector<double> xx(m_params.scale.size()), xy(xx.size());
        std::vector<size_t> counts(xx.size());
        double allXx = 0, allXy = 0;
        for (size_t i = 0; i < m_x.size(); ++i) {
            const size_t s = m_scaleOf[i];
            ++counts[s];
            xx[s] += double(m_x[i]) * m_x[i];
            xy[s] += double(m_x[i]) * m_y[i];
        }
        for (size_t s = 0; s < xx.size(); ++s) {
            allXx += xx[s];
            allXy += xy[s];
        }
        const double common = allXx > 0 ? allXy / allXx : 1;
        if (std::fabs(common - 1) > kOtherFactor)
            if (auto found = dividedBy(std::vector<double>(xx.size(), common), input)) {
                found->factor = common;
                return found;
            }
        std::vector<double> own(xx.size(), 1);
        for (size_t s = 0; s < xx.size(); ++s) {
            if (counts[s] > 0 && counts[s] < kFewestOfScale)
                return std::nullopt;
            const double factor = xx[s] > 0 ? xy[s] / xx[s] : 1;
            const double unsure = xx[s] > 0 ? kSureOf * m_params.scale[s] / std::sqrt(xx[s]) : 0;
            if (std::fabs(factor - 1) > std::max(kOtherFactor, unsure))
                own[s] = factor;
        }
        const auto off = [](double f) { return std::fabs(f - 1); };
        const auto others = double(std::ranges::count_if(own, [&](double f) { return f != 1; }));
        auto found = others > 0 ? dividedBy(own, input) : std::nullopt;
        if (found) {
            found->factor = *std::ranges::max_element(own, {}, off);
            found->part = others / double(own.size());
        }
        return found;
    }

    std::optional<RoundedByOutput> dividedBy(const std::vector<double>& factors, const InputRows& input) const
    {
        if (std::ranges::any_of(factors, [](double f) { return !(f > 0); }))
            return std::nullopt;
        std::vector<float> y = m_y;
        QuantParams params = m_params;
        for (size_t i = 0; i < y.size(); ++i)
            y[i] = float(y[i] / factors[m_scaleOf[i]]);
        for (size_t s = 0; s < params.scale.size(); ++s)
            params.scale[s] = float(params.scale[s] / factors[s]);
        const auto found = judged(y, params, input);
        return found && found->error < kLessError ? found : std::nullopt;
    }

    const Tensor m_weight;
    const std::vector<float> m_x, m_y;
    const WeightGrid m_grid;
    const QuantParams m_params;
    const bool m_turned, m_product;
    std::vector<uint32_t> m_scaleOf; ///< by element
};

/// Adds some rows of a value [..., depth], spread over it.
void addRows(const Tensor& value, size_t most, InputRows& rows)
{
    if (!value.valid() || value.rank() == 0 || value.count() == 0)
        return;
    const std::vector<float> all = toFloats(value);
    const auto depth = size_t(value.shape().back()), count = all.size() / depth;
    const size_t every = std::max<size_t>(1, count / std::max<size_t>(most, 1));
    for (size_t row = 0, taken = 0; row < count && taken < most; row += every, ++taken) {
        rows.values.insert(
            rows.values.end(), all.begin() + ptrdiff_t(row * depth), all.begin() + ptrdiff_t((row + 1) * depth));
        ++rows.count;
    }
}

/// A row of one window: the kernel's elements of each channel, zeros where it lies in the padding.
void addWindow(const std::vector<float>& all, const Shape& shape, const Windows& w, size_t image,
    const std::vector<int64_t>& at, std::vector<float>& row)
{
    const size_t axes = w.kernel.size();
    const int64_t kernel = *elementCount(w.kernel);
    for (int64_t channel = 0; channel < shape[1]; ++channel)
        for (int64_t k = 0; k < kernel; ++k) {
            int64_t rest = k, index = 0, inner = 1;
            bool inside = true;
            for (size_t a = axes; a-- > 0; rest /= w.kernel[a]) {
                const int64_t place = at[a] * w.strides[a] - w.before[a] + rest % w.kernel[a] * w.dilations[a];
                inside = inside && place >= 0 && place < shape[a + 2];
                index += place * inner;
                inner *= shape[a + 2];
            }
            row.push_back(inside ? all[size_t((int64_t(image) * shape[1] + channel) * inner + index)] : 0);
        }
}

/// Adds some windows over a value [images, channels, ...], spread over it.
void addWindows(const Tensor& value, const Windows& w, size_t most, InputRows& rows)
{
    const size_t axes = w.kernel.size();
    if (!value.valid() || value.rank() != axes + 2 || value.count() == 0)
        return;
    const Shape& shape = value.shape();
    std::vector<int64_t> sizes;
    for (size_t a = 0; a < axes; ++a) {
        const int64_t room = shape[a + 2] + w.before[a] + w.after[a] - (w.kernel[a] - 1) * w.dilations[a] - 1;
        sizes.push_back(room < 0 || w.strides[a] < 1 ? 0 : room / w.strides[a] + 1);
    }
    const auto places = size_t(elementCount(sizes).value_or(0)), count = places * size_t(shape[0]);
    const size_t every = std::max<size_t>(1, count / std::max<size_t>(most, 1));
    const std::vector<float> all = toFloats(value);
    rows.groups = w.groups;
    for (size_t p = 0, taken = 0; p < count && taken < most; p += every, ++taken) {
        std::vector<int64_t> at(axes);
        size_t rest = p % places;
        for (size_t a = axes; a-- > 0; rest /= size_t(sizes[a]))
            at[a] = int64_t(rest % size_t(sizes[a]));
        addWindow(all, shape, w, p / places, at, rows.values);
        ++rows.count;
    }
}

/// Where such rounding is, most weights have it: a few tell.
bool someAreMoved(const std::vector<ProductWeight>& weights)
{
    const std::set<size_t> looked { 0, weights.size() / 2, weights.size() - 1 };
    return std::ranges::any_of(looked, [&](size_t i) {
        const WeightCodes codes(weights[i]);
        return codes.valid() && codes.moved();
    });
}

} // namespace

void measureRoundedByOutput(
    const ComparePair& pair, const std::vector<ProofSample>& samples, const WorkContext& work, NetworkProof& proof)
{
    const FoldedConstants folded(pair);
    const std::vector<ProductWeight> weights = productWeights(pair, folded);
    if (weights.empty() || !someAreMoved(weights))
        return;
    std::vector<ValueId> inputs;
    for (const ProductWeight& w : weights)
        if (std::ranges::find(inputs, w.input) == inputs.end() && !pair.floatPlan->blocked(w.input))
            inputs.push_back(w.input);
    std::vector<InputRows> rows(weights.size());
    for (const ProofSample& sample : samples) {
        const auto values = runNetwork(pair.floatPlan, pair.floatPlan, inputs, sample.inputs, work);
        if (!values.ok())
            return;
        for (size_t i = 0; i < weights.size(); ++i) {
            const auto at = std::ranges::find(inputs, weights[i].input);
            if (at == inputs.end())
                continue;
            const Tensor& value = (*values)[size_t(at - inputs.begin())];
            if (weights[i].windows)
                addWindows(value, *weights[i].windows, std::max<size_t>(kMostWindows / samples.size(), 1), rows[i]);
            else
                addRows(value, kMostRowsOfInput / samples.size(), rows[i]);
        }
    }
    for (size_t i = 0; i < weights.size(); ++i) {
        const WeightCodes codes(weights[i]);
        if (!codes.valid() || !codes.moved())
            continue;
        if (auto found = codes.judged(rows[i])) {
            found->name = pair.floatPlan->graph().value(weights[i].pair->floatValue).name;
            proof.byOutput.push_back(std::move(*found));
        }
    }
    const auto less = std::ranges::count_if(
        proof.byOutput, [](const RoundedByOutput& r) { return r.right() && r.error < kLessError; });
    const auto right = std::ranges::count_if(proof.byOutput, &RoundedByOutput::right);
    const bool most = 2 * less > right; // then the others are of one making with them
    std::erase_if(
        proof.byOutput, [&](const RoundedByOutput& r) { return r.right() && !most && r.error >= kLessError; });
}

} // namespace qs
