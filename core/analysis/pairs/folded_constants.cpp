// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/pairs/folded_constants.h"

#include "core/analysis/pairs/fitted_factors.h"
#include "core/analysis/pairs/weight_elements.h"
#include "core/match/graph/added_products.h"
#include "core/match/graph/canonical.h"
#include "core/match/graph/channel_steps.h"
#include "core/match/graph/input_scales.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

namespace qs {

namespace {

/// A constant counts as the file has it where the stored one is so much nearer to that: what its steps are in the other
/// file could not be seen.
constexpr double kNearer = 0.5;
constexpr double kRoundings = 2; ///< as far as rounding moves a weight, and some more
constexpr size_t kMostRounds = 8; ///< of fitting factors
constexpr size_t kWeight = 1, kBias = 2; ///< slots of a product

/// y = x * factor + shift of one channel.
struct ChannelMap {
    double factor = 1, shift = 0;
    void add(const ChannelStep& step, size_t c)
    {
        factor *= step.scales ? step.values[c] : 1;
        shift = step.scales ? shift * step.values[c] : shift + step.values[c];
    }
};

double squaredDistance(std::span<const float> x, std::span<const float> y)
{
    double sum = 0;
    for (size_t i = 0; i < std::min(x.size(), y.size()); ++i)
        sum += (double(x[i]) - y[i]) * (double(x[i]) - y[i]);
    return sum;
}

/// The weight with the factors of channels that bring it nearest to what is stored.
std::vector<float> timesFactors(
    const Node& product, const Shape& shape, std::vector<float> w, const std::vector<float>& stored)
{
    std::vector<size_t> outs, ins;
    for (size_t i = 0; i < w.size(); ++i) {
        outs.push_back(weightChannel(product, shape, i));
        ins.push_back(weightInput(product, shape, i));
    }
    for (size_t round = 0; round < 2 * kMostRounds; ++round) {
        const std::vector<size_t>& channels = round % 2 == 0 ? outs : ins;
        std::vector<double> xx(1 + std::ranges::max(channels)), xy(xx.size());
        for (size_t i = 0; i < w.size(); ++i) {
            xx[channels[i]] += double(w[i]) * w[i];
            xy[channels[i]] += double(w[i]) * stored[i];
        }
        for (size_t i = 0; i < w.size(); ++i)
            if (const size_t c = channels[i]; xx[c] > 0)
                w[i] = float(w[i] * xy[c] / xx[c]);
    }
    return w;
}

ChannelMap mapOf(const std::vector<ChannelStep>& steps, double bias, size_t end, size_t c)
{
    ChannelMap map { 1, bias };
    for (size_t i = 0; i < end; ++i)
        map.add(steps[i], c);
    return map;
}

/// 0 where there is none; nothing where it depends on data.
std::optional<std::vector<double>> biasOf(const Plan& plan, NodeId product, size_t count)
{
    const ValueId own = takesBias(plan.graph().node(product)) ? ownBias(plan, product) : ValueId();
    if (!own.valid())
        return std::vector<double>(count, 0);
    const Tensor* bias = plan.constant(own);
    if (!bias || !isFloat(bias->dtype()) || (size_t(bias->count()) != count && bias->count() != 1))
        return std::nullopt;
    std::vector<double> values = toDoubles(*bias);
    values.resize(count, values[0]);
    return values;
}

/// What a branch of the float file alone adds to the weight, less what one of the quantized file alone does (LoRA),
/// in the weight's order; empty: nothing.
std::vector<double> addedAlone(const Plan& floatPlan, const Plan& quantPlan, const WeightPair& weight)
{
    const auto ofFloat = addedMatrix(floatPlan, weight.floatNode), ofQuant = addedMatrix(quantPlan, weight.quantNode);
    const Tensor& own = *floatPlan.constant(weight.floatValue);
    const Node& node = floatPlan.graph().node(weight.floatNode);
    if ((!ofFloat && !ofQuant) || own.rank() != 2)
        return {};
    const bool turned = node.is("Gemm") && node.attributes.integer("transB", 0) != 0;
    const int64_t inputs = own.dim(turned ? 1 : 0), columns = own.dim(turned ? 0 : 1);
    std::vector<double> added(size_t(own.count()), 0);
    for (const auto* branch : { &ofFloat, &ofQuant }) {
        if (!*branch)
            continue;
        if ((*branch)->inputs != inputs || (*branch)->columns != columns)
            return {};
        for (int64_t i = 0; i < inputs; ++i)
            for (int64_t c = 0; c < columns; ++c)
                added[size_t(turned ? c * inputs + i : i * columns + c)]
                    += (branch == &ofFloat ? 1 : -1) * (*branch)->values[size_t(i * columns + c)];
    }
    return std::ranges::all_of(added, [](double v) { return v == 0; }) ? std::vector<double>() : added;
}

/// What folding makes of the constants of one product.
class FoldedProduct {
public:
    FoldedProduct(const Plan& floatPlan, const Plan& quantPlan, const QuantView& view, const WeightPair& weight)
        : m_float(floatPlan)
        , m_quant(quantPlan)
        , m_view(view)
        , m_weight(weight)
        , m_node(floatPlan.graph().node(weight.floatNode))
    {
        const auto channels = productChannels(floatPlan, weight.floatNode);
        const bool isWeight = channels && weight.floatValue == m_node.inputs[kWeight] && weight.quantNode.valid();
        if (!isWeight)
            return;
        m_count = size_t(channels->count);
        m_ofFloat = channelSteps(floatPlan, nullptr, weight.floatNode, *channels);
        m_ofQuant = channelSteps(quantPlan, &view, weight.quantNode, *channels);
        m_own = ownSteps(m_ofFloat, m_ofQuant);
        judgeFactorsBefore();
        judgeAdded();
    }

    /// Takes for the first factor that is stored as codes the one that the stored weight tells of.
    void fitFactors()
    {
        const auto end = m_ofQuant.begin() + ptrdiff_t(m_own.ofQuant);
        const auto rounded = std::find_if(m_ofQuant.begin(), end, [](const auto& s) { return !s.slack.empty(); });
        const Quantizer& q = m_view.quantizers()[m_weight.quantizer];
        const std::vector<float> stored
            = rounded == end || !isInteger(q.params.dtype) ? std::vector<float>() : storedInOrder();
        if (stored.size() != size_t(m_float.constant(m_weight.floatValue)->count()))
            return;
        const std::vector<float> steps = stepsInOrder(q);
        const std::vector<float> wanted = toFloats(weight().value_or(*m_float.constant(m_weight.floatValue)));
        std::vector<size_t> channels;
        for (size_t i = 0; i < stored.size(); ++i)
            channels.push_back(weightChannel(m_node, m_float.constant(m_weight.floatValue)->shape(), i));
        const auto ratios = fittedRatios({ wanted, stored, steps, channels }, *rounded);
        const auto shift = rounded + 1; // of a normalization
        for (size_t c = 0; c < m_count; ++c) {
            rounded->values[c] /= ratios[c];
            if (shift != end && shift->node == rounded->node && !shift->offsets.empty()) {
                const double offset = shift->offsets[c] / ratios[c];
                shift->values[c] += shift->offsets[c] - offset;
                shift->offsets[c] = offset;
            }
        }
    }

    bool changes() const { return m_own.ofFloat > 0 || m_own.ofQuant > 0 || !m_before.empty() || !m_added.empty(); }

    /// Nothing where the weight stays as it is.
    std::optional<Tensor> weight() const
    {
        const std::vector<double> factor = weightFactors(m_ofFloat, m_ofQuant, m_count);
        if (m_before.empty() && m_added.empty() && std::ranges::all_of(factor, [](double f) { return f == 1; }))
            return std::nullopt;
        const Tensor& own = *m_float.constant(m_weight.floatValue);
        std::vector<float> w = toFloats(own);
        const std::vector<float> stored = std::ranges::all_of(factor, [](double f) { return std::isfinite(f); })
            ? std::vector<float> {}
            : storedInOrder();
        for (size_t i = 0; i < w.size(); ++i) {
            double f = factor[weightChannel(m_node, own.shape(), i)];
            if (!m_before.empty())
                f /= m_before[weightInput(m_node, own.shape(), i)];
            const double whole = double(w[i]) + (m_added.empty() ? 0 : m_added[i]);
            w[i] = std::isfinite(f) ? float(whole * f) : i < stored.size() ? stored[i] : 0;
        }
        return Tensor::of<float>(own.shape(), w);
    }

    /// What a node of the other file, the product or one of its steps, has to add: what is left by all others.
    std::optional<Tensor> bias(NodeId quantNode) const
    {
        const std::optional<size_t> place = placeOf(quantNode);
        const std::optional<std::vector<double>> first = biasOf(m_float, m_weight.floatNode, m_count);
        const auto firstQuant
            = place == size_t(0) ? std::vector<double>(m_count, 0) : biasOf(m_quant, m_weight.quantNode, m_count);
        if (!place || *place > m_own.ofQuant || !first || !firstQuant)
            return std::nullopt;
        std::vector<float> terms;
        for (size_t c = 0; c < m_count; ++c) {
            const ChannelMap whole = mapOf(m_ofFloat, (*first)[c], m_own.ofFloat, c);
            ChannelMap before { 1, (*firstQuant)[c] }, behind;
            for (size_t i = 0; i < m_own.ofQuant; ++i)
                if (i + 1 != *place)
                    (i < *place ? before : behind).add(m_ofQuant[i], c);
            if (behind.factor == 0)
                return std::nullopt;
            const bool offset = *place > 0 && !m_ofQuant[*place - 1].offsets.empty();
            terms.push_back(float((whole.shift - behind.shift) / behind.factor - before.shift
                + (offset ? m_ofQuant[*place - 1].offsets[c] : 0)));
        }
        return Tensor::of<float>({ int64_t(m_count) }, terms);
    }

    /// The pair is of a bias of this product.
    bool owns(const WeightPair& pair) const
    {
        if (pair.floatNode == m_weight.floatNode)
            return m_node.hasInput(kBias) && m_node.inputs[kBias] == pair.floatValue;
        return std::ranges::any_of(m_ofFloat, [&](const ChannelStep& step) {
            return !step.scales && step.node == pair.floatNode
                && m_float.graph().node(step.node).inputs[step.slot] == pair.floatValue;
        });
    }

    /// What is stored is this constant rather than that of the float file.
    bool isStored(const WeightPair& pair, const Tensor& folded) const
    {
        const Tensor& own = *m_float.constant(pair.floatValue);
        const auto far = squaredDistances(pair, own, folded);
        return !far || far->first >= kNearer * kNearer * far->second;
    }

    /// What is stored is neither this nor the float file's constant, rounded, but this with a factor for each output
    /// and each input channel: layers were equalized after folding. The float file's would have other such factors, but
    /// what is behind the product is nowhere else in the other file.
    bool isEqualized(const Tensor& folded) const
    {
        const Quantizer& q = m_view.quantizers()[m_weight.quantizer];
        const Tensor& own = *m_float.constant(m_weight.floatValue);
        if (m_own.ofFloat == 0 || m_own.ofQuant > 0 || !m_before.empty() || own.rank() < 2
            || !isInteger(q.params.dtype))
            return false;
        const std::vector<float> stored = storedInOrder();
        if (stored.size() != size_t(own.count()))
            return false;
        double rounding = 0; // as much as it makes of so many elements
        for (const float step : stepsInOrder(q))
            rounding += double(step) * step / 12;
        rounding *= kRoundings;
        const std::vector<float> w = toFloats(folded);
        return squaredDistance(toFloats(own), stored) > rounding && squaredDistance(w, stored) > rounding
            && squaredDistance(timesFactors(m_node, own.shape(), w, stored), stored) <= rounding;
    }

    /// What the quantized file multiplies inputs by counts where the stored weight takes it away again.
    void judgeFactorsBefore()
    {
        m_before = factorsBefore();
        if (m_before.empty())
            return;
        const Tensor with = *weight();
        const std::vector<double> before = std::exchange(m_before, {});
        const auto far = squaredDistances(m_weight, weight().value_or(*m_float.constant(m_weight.floatValue)), with);
        if (far && far->second < kNearer * kNearer * far->first)
            m_before = before;
    }
    /// A branch beside the product that one of the files adds alone counts where it makes the weight the stored one.
    void judgeAdded()
    {
        std::vector<double> added = addedAlone(m_float, m_quant, m_weight);
        if (added.empty())
            return;
        const Tensor without = weight().value_or(*m_float.constant(m_weight.floatValue));
        m_added = std::move(added);
        const auto far = squaredDistances(m_weight, without, *weight());
        if (!far || far->second >= far->first)
            m_added.clear();
    }
    /// And nothing behind the product does.
    bool scalesInputsAlone() const { return m_own.ofFloat == 0 && m_own.ofQuant == 0; }

private:
    /// Of what is stored from two constants; nothing where that cannot be said.
    std::optional<std::pair<double, double>> squaredDistances(
        const WeightPair& pair, const Tensor& a, const Tensor& b) const
    {
        const Quantizer& q = m_view.quantizers()[pair.quantizer];
        const Tensor* codes = storedCodes(m_quant, q);
        if (!codes || q.params.scale.empty() || a.count() != b.count())
            return std::nullopt;
        const std::vector<float> stored = storedElements(*codes, q.params, pair);
        const auto distance = [&](const Tensor& t) {
            const Tensor elements = floatElements(t, pair);
            return squaredDistance(elements.data<float>(), stored);
        };
        return std::pair(distance(a), distance(b));
    }

    /// What the quantized file multiplies the product's input by that the float one does not, by channel (SmoothQuant);
    /// empty: nothing.
    std::vector<double> factorsBefore() const
    {
        const InputChannels channels = inputChannels(m_float, m_weight.floatNode);
        const Node& quant = m_quant.graph().node(m_weight.quantNode);
        if (!m_node.hasInput(0) || !quant.hasInput(0))
            return {};
        return ownInputFactors(
            inputScales(m_float, m_node.inputs[0], channels), inputScales(m_quant, quant.inputs[0], channels));
    }

    /// The stored weight, for channels that the other file multiplies by zero: the float one says nothing of them.
    std::vector<float> storedInOrder() const
    {
        const Quantizer& q = m_view.quantizers()[m_weight.quantizer];
        const Tensor* codes = storedCodes(m_quant, q);
        return codes && !q.params.scale.empty() && !m_weight.places ? storedElements(*codes, q.params, m_weight)
                                                                    : std::vector<float> {};
    }

    /// Of its codes.
    std::vector<float> stepsInOrder(const Quantizer& q) const
    {
        const Shape& shape = storedCodes(m_quant, q)->shape();
        QuantParams params = q.params;
        params.dtype = DType::Int8;
        params.zeroPoint.assign(params.scale.size(), 0);
        params.zeroRest.clear();
        const std::vector<int8_t> ones(size_t(elementCount(shape).value_or(0)), 1);
        return storedElements(Tensor::of<int8_t>(shape, ones), params, m_weight);
    }

    /// 0: the product, else the step, counted from 1.
    std::optional<size_t> placeOf(NodeId quantNode) const
    {
        if (quantNode == m_weight.quantNode)
            return 0;
        for (size_t i = 0; i < m_ofQuant.size(); ++i)
            if (m_ofQuant[i].node == quantNode && !m_ofQuant[i].scales)
                return i + 1;
        return std::nullopt;
    }

    const Plan& m_float;
    const Plan& m_quant;
    const QuantView& m_view;
    const WeightPair& m_weight;
    const Node& m_node;
    size_t m_count = 0;
    std::vector<ChannelStep> m_ofFloat, m_ofQuant;
    OwnSteps m_own;
    std::vector<double> m_before; ///< see factorsBefore()
    std::vector<double> m_added; ///< see addedAlone
};

/// The pairs, and those of a weight that other products read, too.
std::vector<WeightPair> everyUse(const Graph& floats, const QuantView& view, const Alignment& alignment)
{
    std::unordered_map<NodeId, const QuantUnit*> units;
    for (const QuantUnit& unit : view.units())
        units.emplace(unit.node, &unit);
    std::unordered_map<ValueId, std::vector<const WeightPair*>> pairs;
    for (const WeightPair& pair : alignment.weights)
        pairs[pair.floatValue].push_back(&pair);
    std::vector<WeightPair> uses = alignment.weights;
    for (const auto& [f, q] : alignment.products) {
        const auto unit = units.find(q);
        if (unit == units.end() || !floats.node(f).hasInput(kWeight))
            continue;
        const auto& own = pairs[floats.node(f).inputs[kWeight]];
        const auto pair = std::ranges::find_if(own, [&](const WeightPair* w) {
            return std::ranges::find(unit->second->inputs, w->quantizer) != unit->second->inputs.end();
        });
        if (pair == own.end() || ((*pair)->floatNode == f && (*pair)->quantNode == q))
            continue;
        uses.push_back(**pair);
        uses.back().floatNode = f;
        uses.back().quantNode = q;
    }
    return uses;
}

} // namespace

FoldedConstants::FoldedConstants(std::shared_ptr<const Plan> floatPlan)
    : m_plan(std::move(floatPlan))
{
}

FoldedConstants::FoldedConstants(const ComparePair& pair, Factors factors)
    : FoldedConstants(pair.floatPlan, *pair.quantPlan, *pair.quantView, *pair.alignment, factors)
{
}

FoldedConstants::FoldedConstants(std::shared_ptr<const Plan> floatPlan, const Plan& quantPlan, const QuantView& view,
    const Alignment& alignment, Factors factors)
    : m_plan(std::move(floatPlan))
{
    const auto slotOf = [&](const WeightPair& pair) {
        const auto& inputs = m_plan->graph().node(pair.floatNode).inputs;
        return size_t(std::ranges::find(inputs, pair.floatValue) - inputs.begin());
    };
    for (const WeightPair& weight : everyUse(m_plan->graph(), view, alignment)) {
        FoldedProduct product(*m_plan, quantPlan, view, weight);
        if (!product.changes())
            continue;
        if (factors == Factors::Fitted)
            product.fitFactors();
        bool equalized = false;
        if (auto folded = product.weight()) {
            equalized = product.isEqualized(*folded);
            if (!equalized && !product.isStored(weight, *folded))
                continue;
            m_changed.emplace(std::pair(weight.floatNode, kWeight), std::move(*folded));
        }
        if (product.scalesInputsAlone())
            continue;
        const auto fits = [&](NodeId node, size_t slot, const Tensor& folded) {
            const auto& inputs = m_plan->graph().node(node).inputs;
            const Tensor* own = slot < inputs.size() && inputs[slot].valid() ? m_plan->constant(inputs[slot]) : nullptr;
            return !own || own->count() == folded.count(); // else a zero in place of a bias
        };
        for (const WeightPair& pair : alignment.weights)
            if (product.owns(pair))
                if (auto folded = product.bias(pair.quantNode); folded && (equalized || product.isStored(pair, *folded))
                    && fits(pair.floatNode, slotOf(pair), *folded))
                    m_changed.emplace(std::pair(pair.floatNode, slotOf(pair)), std::move(*folded));
        if (auto folded = product.bias(weight.quantNode); // which may be stored as it is
            folded && fits(weight.floatNode, kBias, *folded))
            m_changed.emplace(std::pair(weight.floatNode, kBias), std::move(*folded));
    }
}

const Tensor* FoldedConstants::at(NodeId floatNode, size_t slot) const
{
    const auto it = m_changed.find({ floatNode, slot });
    return it == m_changed.end() ? nullptr : &it->second;
}

const Tensor* FoldedConstants::of(NodeId floatNode, ValueId constant) const
{
    const Tensor* folded = nullptr;
    if (!m_changed.empty() && floatNode.valid()) {
        const auto& inputs = m_plan->graph().node(floatNode).inputs;
        folded = at(floatNode, size_t(std::ranges::find(inputs, constant) - inputs.begin()));
    }
    return folded ? folded : m_plan->constant(constant);
}

} // namespace qs
