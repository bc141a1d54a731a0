// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/rounding/precision_step.h"

#include "core/analysis/rounding/recurrent_partners.h"
#include "core/analysis/rounding/relative_distance.h"
#include "core/analysis/rounding/smoothed_values.h"
#include "core/qdq/qlinear_signature.h"
#include "core/tensor/channel_major.h"
#include "core/tensor/convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <span>
#include <utility>

namespace qs {

namespace {

/// What weights are rounded to, in the order in which it is tried: float16 has the steps of tf32 and fewer values.
constexpr std::array<Precision, 5> kSteps { Precision::Float16, Precision::TensorFloat32, Precision::BFloat16,
    Precision::Float8E4M3, Precision::Float8E5M2 };
constexpr double kStrays = 0.001; ///< share of elements that a converter may treat otherwise (subnormals, clipping)

/// Of the least numbers of float16, converters round some the other way, or keep them from becoming zero.
bool isRoundedTo(float from, float to, Precision precision)
{
    constexpr float kLeastNormal16 = 0x1p-14f, kTwoSteps16 = 0x1p-23f;
    if (rounded(from, precision) == to)
        return true;
    return precision == Precision::Float16 && std::fabs(from) < kLeastNormal16 && std::fabs(to - from) <= kTwoSteps16
        && rounded(to, precision) == to;
}

/// How many elements are not those of the other, rounded; more than the strays: all.
size_t strayCount(const std::vector<float>& from, const std::vector<float>& to, Precision precision)
{
    const auto most = size_t(kStrays * double(from.size()));
    size_t strays = 0;
    for (size_t i = 0; i < from.size() && strays <= most; ++i)
        strays += isRoundedTo(from[i], to[i], precision) ? 0 : 1;
    return strays <= most ? strays : from.size();
}

bool isRounded(const std::vector<float>& from, const std::vector<float>& to, Precision precision)
{
    return strayCount(from, to, precision) < from.size();
}

/// They differ by what sums and products of float32 round, as where normalizations were folded in by two programs.
bool isFloatNoise(const std::vector<float>& from, const std::vector<float>& to)
{
    constexpr double kRoundings = 0x1p-20; // sixteen of them
    std::vector<double> sizes(from.size());
    std::ranges::transform(from, sizes.begin(), [](float v) { return std::fabs(double(v)); });
    const auto middle = sizes.begin() + ptrdiff_t(sizes.size() / 2);
    std::ranges::nth_element(sizes, middle); // one huge element, as of a mask, hides nothing
    const double typical = *middle;
    for (size_t i = 0; i < from.size(); ++i)
        if (!(std::fabs(double(to[i]) - from[i]) <= kRoundings * std::max(std::fabs(double(from[i])), typical)))
            return false;
    return true;
}

/// To which of the steps one of them was rounded to become the other.
std::optional<Precision> stepBetween(const std::vector<float>& a, const std::vector<float>& b)
{
    std::optional<Precision> best;
    size_t fewest = a.size();
    for (const Precision p : kSteps)
        if (const size_t strays = std::min(strayCount(a, b, p), strayCount(b, a, p)); strays < fewest) {
            fewest = strays;
            best = p;
        }
    return best;
}

/// Steps between the outermost codes of a weight that is stored as reals.
constexpr double kMostCodeSteps = 255;
constexpr double kBesideCode = 0.01; ///< of a step: rounding of reals
constexpr double kHalfAStep = 0.51;
constexpr size_t kTelling = 6; ///< values that hardly lie on one of all these grids by chance

/// Whether `to` is `from`, rounded to multiples of one step.
bool isOnGrid(std::span<const float> from, std::span<const float> to)
{
    std::vector<float> values(to.begin(), to.end());
    std::ranges::sort(values);
    values.erase(std::ranges::unique(values).begin(), values.end());
    if (values.size() < 3 || !std::isfinite(values.front()) || !std::isfinite(values.back()))
        return false;
    const double range = double(values.back()) - values.front();
    double least = range;
    for (size_t i = 1; i < values.size(); ++i)
        least = std::min(least, double(values[i]) - values[i - 1]);
    const auto fits = [&](double step) {
        const auto beside = [&](float v) {
            const double code = (double(v) - values.front()) / step;
            return std::fabs(code - std::nearbyint(code)) > kBesideCode;
        };
        if (std::ranges::any_of(values, beside))
            return false;
        size_t strays = 0;
        for (size_t i = 0; i < to.size(); ++i)
            strays += std::fabs(double(to[i]) - from[i]) > kHalfAStep * step;
        return double(strays) <= kStrays * double(to.size());
    };
    if (const double steps = std::nearbyint(range / least); steps <= kMostCodeSteps && fits(range / steps))
        return true;
    if (values.size() < kTelling)
        return false;
    for (auto steps = double(values.size() - 1); steps <= kMostCodeSteps; ++steps) // no two values are one step apart
        if (fits(range / steps))
            return true;
    return false;
}

/// The same with a step for all, or one for each index of an axis (of recurrent weights, the middle one).
bool isOnGrid(const std::vector<float>& from, const std::vector<float>& to, const Shape& shape)
{
    if (isOnGrid(std::span(from), std::span(to)))
        return true;
    for (int64_t axis = 0; axis < int64_t(shape.size()); ++axis) {
        const ChannelMajor x(from, channelsOf(shape, axis)), y(to, channelsOf(shape, axis));
        bool all = shape.size() > 1;
        for (size_t c = 0; all && c < x.channels(); ++c)
            all = isOnGrid(x.channel(c), y.channel(c));
        if (all)
            return true;
    }
    return false;
}

/// Of the first axis; none where more than a few differ.
std::vector<int64_t> differingRows(const std::vector<float>& from, const std::vector<float>& to, const Shape& shape)
{
    constexpr size_t kMostRows = 8;
    constexpr size_t kFewOf = 10; ///< one in so many
    std::vector<int64_t> rows;
    if (shape.size() < 2 || shape[0] < 1)
        return rows;
    const size_t length = from.size() / size_t(shape[0]);
    for (size_t i = 0; i < from.size(); i += length)
        if (!std::equal(from.begin() + ptrdiff_t(i), from.begin() + ptrdiff_t(i + length), to.begin() + ptrdiff_t(i))) {
            rows.push_back(int64_t(i / length));
            if (rows.size() > kMostRows || rows.size() * kFewOf > size_t(shape[0]))
                return {};
        }
    return rows;
}

/// The same numbers, give or take rounding.
bool holdsSame(const std::vector<float>& a, const std::vector<float>& b)
{
    constexpr double kClose = 1e-3;
    for (size_t i = 0; i < a.size(); ++i)
        if (!(std::fabs(double(a[i]) - b[i]) <= kClose * std::max(std::fabs(double(a[i])), std::fabs(double(b[i])))))
            return false;
    return true;
}

bool isUniform(const std::vector<float>& values)
{
    return std::ranges::all_of(values, [&](float v) { return v == values[0]; });
}

/// See WeightRounding::holds: `to` stands in place of `from`, the constant of `plan`.
std::string heldInstead(
    const Plan& plan, const Tensor& constant, const std::vector<float>& from, const std::vector<float>& to)
{
    constexpr size_t kFewest = 8, kMost = 1 << 16; // elements
    if (from.size() < kFewest || from.size() > kMost || isUniform(from))
        return {};
    if (isUniform(to))
        return to[0] == 0 ? std::string() : fmt::format("holds nothing but {:.4g}", to[0]);
    for (size_t v = 0; v < plan.graph().values().size(); ++v) {
        const Tensor* other = plan.constant(ValueId(v));
        if (!other || other == &constant || !isFloat(other->dtype()) || other->shape() != constant.shape())
            continue;
        const std::vector<float> values = toFloats(*other);
        if (holdsSame(values, to) && !holdsSame(values, from))
            return "holds what " + plan.graph().values()[v].name + " does";
    }
    return {};
}

/// Looks for the step in types and in constants.
class StepFinder {
public:
    explicit StepFinder(const ComparePair& pair)
        : m_pair(pair)
        , m_smoothed(smoothedConstants(pair))
    {
    }

    PrecisionStep find()
    {
        lookAtTypes(*m_pair.floatPlan, nullptr);
        lookAtTypes(*m_pair.quantPlan, m_pair.quantView.get());
        lookAtConstants();
        std::erase_if(m_found, [&](const Seen& s) { return s.precision < m_step.precision; });
        for (const Seen& s : m_found) {
            (s.values ? m_step.values : m_step.weights) = true;
            (s.inFloatFile ? m_step.inFloatFile : m_step.inQuantizedFile) = true;
        }
        return std::move(m_step);
    }

private:
    struct Seen {
        Precision precision;
        bool values, inFloatFile;
    };

    void see(Precision precision, bool values, bool inFloatFile)
    {
        if (precision == Precision::Float32)
            return;
        m_step.precision = std::max(m_step.precision, precision);
        m_found.push_back({ precision, values, inFloatFile });
    }

    void lookAtTypes(const Plan& plan, const QuantView* view)
    {
        const Graph& graph = plan.graph();
        for (size_t v = 0; v < graph.values().size(); ++v) {
            const ValueId id { v };
            const Tensor* constant = plan.constant(id);
            if (constant && constant->count() < 2)
                continue; // a scale, a bound
            const DType type = constant ? constant->dtype() : plan.facts().of(id).dtype;
            if (view && view->ofValue(id) && (constant || dtypeBits(type) < 16))
                continue; // codes, and what they were made from or become
            if (view && constant && servesQuantizers(graph, *view, id))
                continue; // scales and zero points, which go with the quantizers
            const bool weight = constant != nullptr;
            if (const auto precision = precisionOf(type))
                see(*precision, !weight, view == nullptr);
        }
    }

    static bool servesQuantizers(const Graph& graph, const QuantView& view, ValueId id)
    {
        const auto& uses = graph.value(id).uses;
        return !uses.empty() && std::ranges::all_of(uses, [&](const Use& use) { return view.isPlumbing(use.node); });
    }

    void lookAtConstants()
    {
        const Graph &f = m_pair.floatPlan->graph(), &q = m_pair.quantPlan->graph();
        const NodePartners partners(m_pair);
        std::vector<std::pair<NodeId, NodeId>> nodes;
        for (const auto& [quantNode, floatNode] : partners.all())
            nodes.emplace_back(floatNode, quantNode);
        for (const auto& both : recurrentPartners(m_pair))
            nodes.push_back(both);
        std::ranges::sort(nodes);
        for (const auto& [floatNode, quantNode] : nodes)
            for (size_t slot = 0; slot < std::min(f.node(floatNode).inputs.size(), q.node(quantNode).inputs.size());
                 ++slot)
                compare(f.node(floatNode).inputs[slot], q.node(quantNode).inputs[slot], f.node(floatNode).name);
        for (size_t v = 0; v < f.values().size(); ++v)
            if (!f.values()[v].uses.empty())
                compare(ValueId(v), q.findValue(f.values()[v].name), f.node(f.values()[v].uses[0].node).name);
        compareUnpaired(partners);
        dropConsequences();
    }

    /// Of an elementwise node that has no partner by what it makes, as that is another value by its constant: the
    /// constant that the only such node has which reads the same.
    void compareUnpaired(const NodePartners& partners)
    {
        const Graph& f = m_pair.floatPlan->graph();
        std::set<NodeId> paired;
        for (const auto& [quantNode, floatNode] : partners.all())
            paired.insert(floatNode);
        for (const ValuePair& value : m_pair.alignment->values) {
            const auto own = addersOf(*m_pair.floatPlan, value.floatValue);
            if (own.size() != 1 || paired.contains(own[0].node))
                continue;
            auto theirs = addersOf(*m_pair.quantPlan, value.quantValue);
            std::erase_if(theirs, [&](const Use& use) {
                return m_pair.quantPlan->graph().node(use.node).opType != f.node(own[0].node).opType
                    || partners.all().contains(use.node);
            });
            if (theirs.size() == 1)
                compare(constantBeside(*m_pair.floatPlan, own[0]), constantBeside(*m_pair.quantPlan, theirs[0]),
                    f.node(own[0].node).name);
        }
    }

    /// The other input of a node of two; invalid where it is no constant.
    static ValueId constantBeside(const Plan& plan, const Use& use)
    {
        const ValueId other = plan.graph().node(use.node).inputs[1 - use.slot];
        return plan.constant(other) ? other : ValueId();
    }

    /// Nodes that compute something of this value and a constant, element by element.
    static std::vector<Use> addersOf(const Plan& plan, ValueId value)
    {
        std::vector<Use> found;
        for (const Use& use : plan.graph().value(value).uses) {
            const Node* node = use.node.valid() && use.slot < 2 ? &plan.graph().node(use.node) : nullptr;
            const bool elementwise = node && (node->is("Add") || node->is("Sub") || node->is("Mul") || node->is("Div"));
            if (elementwise && node->hasInput(0) && node->hasInput(1) && constantBeside(plan, use).valid())
                found.push_back(use);
        }
        return found;
    }

    /// What the quantized file computes of constants that are told of is another value by these.
    void dropConsequences()
    {
        const Graph& q = m_pair.quantPlan->graph();
        std::set<ValueId> told;
        for (const WeightRounding& r : m_step.roundings)
            told.insert(q.findValue(r.quantizedName));
        std::erase_if(m_step.roundings, [&](const WeightRounding& r) {
            std::vector<ValueId> left { q.findValue(r.quantizedName) };
            std::set<ValueId> seen;
            for (size_t i = 0; i < left.size(); ++i) {
                const NodeId maker = left[i].valid() ? q.value(left[i]).producer : NodeId();
                for (const ValueId in : maker.valid() ? q.node(maker).inputs : std::vector<ValueId> {})
                    if (in.valid() && told.contains(in))
                        return true;
                    else if (in.valid() && seen.insert(in).second)
                        left.push_back(in);
            }
            return false;
        });
    }

    /// Codes, what they were made from or become, and a paired weight's with its elements moved.
    bool isMadeOfCodes(ValueId value) const
    {
        constexpr size_t kMost = 16; // nodes
        const Graph& graph = m_pair.quantPlan->graph();
        const auto& weights = m_pair.alignment->weights;
        for (size_t i = 0; i < kMost; ++i) {
            if (const auto quantizer = m_pair.quantView->ofValue(value))
                return i == 0 || std::ranges::find(weights, *quantizer, &WeightPair::quantizer) != weights.end();
            const NodeId producer = graph.value(value).producer;
            if (!producer.valid() || !movesElements(graph.node(producer)))
                return false;
            value = graph.node(producer).inputs[0];
        }
        return false;
    }

    void compare(ValueId x, ValueId y, const std::string& node)
    {
        const Tensor* a = x.valid() ? m_pair.floatPlan->constant(x) : nullptr;
        const Tensor* b = y.valid() ? m_pair.quantPlan->constant(y) : nullptr;
        if (!a || !b || !isFloat(a->dtype()) || !isFloat(b->dtype()) || a->count() < 2 || a->shape() != b->shape()
            || isMadeOfCodes(y) || m_smoothed.contains(x) || !m_compared.insert(x).second)
            return;
        if (a->dtype() == b->dtype() && std::ranges::equal(a->bytes(), b->bytes()))
            return;
        const std::vector<float> from = toFloats(*a), to = toFloats(*b);
        if (from == to)
            return;
        auto precision = stepBetween(from, to);
        // Factors near one are ones in so few bits, but nothing is rounded to these alone.
        if (precision && *precision >= Precision::Float8E4M3 && isUniform(to) && !isUniform(from))
            precision.reset();
        if (!precision && isFloatNoise(from, to))
            precision = Precision::Float32;
        if (precision)
            see(*precision, false, isRounded(to, from, *precision));
        m_step.roundings.push_back({ m_pair.floatPlan->graph().value(x).name, m_pair.quantPlan->graph().value(y).name,
            node, precision, relativeDistance(from, to), std::ranges::all_of(to, [](float v) { return v == 0; }),
            !precision && isOnGrid(from, to, a->shape()), differingRows(from, to, a->shape()),
            precision || m_asked++ >= kMostAsked ? std::string() : heldInstead(*m_pair.floatPlan, *a, from, to) });
    }

    /// Constants that are held against all others: of more, as after training, it would take the square of their
    /// number.
    static constexpr size_t kMostAsked = 256;
    const ComparePair& m_pair;
    size_t m_asked = 0;
    PrecisionStep m_step;
    std::vector<Seen> m_found;
    std::set<ValueId> m_compared; ///< of the float file
    const std::set<ValueId> m_smoothed; ///< they are other ones, and weights make up for it
};

} // namespace

PrecisionStep precisionStep(const ComparePair& pair) { return StepFinder(pair).find(); }

} // namespace qs
