// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/rows/parameter_difference.h"

#include "core/tensor/largest_scale.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <type_traits>

namespace qs {

namespace {

constexpr double kEqualScales = 1e-6; ///< relative
constexpr double kFloor = 1e-12; ///< noise over signal that nobody hears: 120 dB

double ratioOf(const Number& db) { return db ? std::pow(10.0, -*db / 10) : 0; }

bool hasQuantizer(const ActivationRow& row) { return !row.params.scale.empty() || row.dynamic; }

double noiseOf(const ActivationRow& row) { return ratioOf(row.accumulated.sqnrDb); }

double ownNoiseOf(const ActivationRow& row) { return hasQuantizer(row) ? ratioOf(row.localSqnrDb) : 0; }

std::optional<TensorParameters> parametersOf(const ActivationRow* row)
{
    if (!row || !hasQuantizer(*row))
        return std::nullopt;
    return TensorParameters { row->quantizedName, row->params, row->dynamic, row->accumulated.sqnrDb,
        row->localSqnrDb };
}

std::optional<TensorParameters> parametersOf(const WeightRow* row)
{
    if (!row)
        return std::nullopt;
    return TensorParameters { row->quantizedName, row->params, false, row->similarity.sqnrDb, row->similarity.sqnrDb };
}

/// Zero points of n channels, absent ones being 0.
std::vector<int32_t> zeroPoints(const QuantParams& p)
{
    std::vector<int32_t> zeros = p.zeroPoint;
    zeros.resize(std::max<size_t>(p.scale.size(), 1), zeros.empty() ? 0 : zeros.back());
    return zeros;
}

bool sameParameters(const TensorParameters& a, const TensorParameters& b)
{
    const QuantParams &p = a.params, &q = b.params;
    if (a.dynamic != b.dynamic || p.dtype != q.dtype || p.bits() != q.bits() || p.scale.size() != q.scale.size()
        || p.blockSize != q.blockSize || zeroPoints(p) != zeroPoints(q) || p.zeroRest != q.zeroRest
        || (p.scale.size() > 1 && p.axis != q.axis))
        return false;
    for (size_t i = 0; i < p.scale.size(); ++i)
        if (std::fabs(double(p.scale[i]) - q.scale[i])
            > kEqualScales * std::max(std::fabs(p.scale[i]), std::fabs(q.scale[i])))
            return false;
    return true;
}

class Finder {
public:
    Finder(const Comparison& a, const Comparison& b)
        : m_a(a)
        , m_b(b)
    {
    }

    std::vector<ParameterDifference> run()
    {
        pairRows(m_a.activations, m_b.activations, [&](const auto* a, const auto* b) { addActivation(a, b); });
        pairRows(m_a.weights, m_b.weights, [&](const auto* a, const auto* b) { addWeight(a, b); });
        std::ranges::stable_sort(m_found, [](const auto& x, const auto& y) {
            const double first = std::fabs(x.gainDb), second = std::fabs(y.gainDb);
            return first != second ? first > second : y.same && !x.same;
        });
        return std::move(m_found);
    }

private:
    /// Rows by name; of several weights with one name, the parts of a packed one, each; of activations the first.
    template <class Row>
    static std::map<std::pair<std::string, size_t>, const Row*> byName(const std::vector<Row>& rows)
    {
        std::map<std::string, size_t> counts;
        std::map<std::pair<std::string, size_t>, const Row*> named;
        constexpr bool parts = std::is_same_v<Row, WeightRow>;
        for (const Row& row : rows)
            named.emplace(std::pair(row.name, parts ? counts[row.name]++ : 0), &row);
        return named;
    }

    /// Calls use() for each float value, in the order of `as`, then of what only `bs` have.
    template <class Row, class Use>
    static void pairRows(const std::vector<Row>& as, const std::vector<Row>& bs, const Use& use)
    {
        const auto here = byName(as), there = byName(bs);
        std::map<const Row*, const Row*> partners; // null: none
        std::set<const Row*> single;
        for (const auto& [name, a] : here)
            partners.emplace(a, there.contains(name) ? there.at(name) : nullptr);
        for (const auto& [name, b] : there)
            if (!here.contains(name))
                single.insert(b);
        for (const Row& a : as)
            if (const auto found = partners.find(&a); found != partners.end())
                use(&a, found->second);
        for (const Row& b : bs)
            if (single.contains(&b))
                use(static_cast<const Row*>(nullptr), &b);
    }

    void addActivation(const ActivationRow* a, const ActivationRow* b)
    {
        ParameterDifference d;
        d.a = parametersOf(a);
        d.b = parametersOf(b);
        double inherited = INFINITY;
        for (const ActivationRow* row : { a, b })
            if (row)
                inherited = std::min(inherited, std::max(noiseOf(*row) - ownNoiseOf(*row), 0.0));
        const ActivationRow& row = a ? *a : *b;
        d.gainDb = gain(inherited, a ? ownNoiseOf(*a) : 0, b ? ownNoiseOf(*b) : 0);
        add(std::move(d), row.name, row.node, row.opType);
    }

    void addWeight(const WeightRow* a, const WeightRow* b)
    {
        const WeightRow& row = a ? *a : *b;
        ParameterDifference d;
        d.kind = row.bias ? ParameterDifference::Kind::Bias : ParameterDifference::Kind::Weight;
        d.a = parametersOf(a);
        d.b = parametersOf(b);
        const auto [signal, inherited] = atOutputOf(row.floatNode);
        auto own = [&, power = signal](const WeightRow* w) {
            if (!w)
                return 0.0;
            // A bias is added to the output as it is; a weight's relative error is that of the products.
            return w->bias && power > 0 ? std::pow(w->similarity.rmse.value_or(0), 2) / power
                                        : ratioOf(w->similarity.sqnrDb);
        };
        d.gainDb = gain(inherited, own(a), own(b));
        add(std::move(d), row.name, row.node, row.opType);
    }

    /// Signal power behind a node and the noise there of the better file.
    std::pair<double, double> atOutputOf(NodeId node) const
    {
        double signal = 0, noise = INFINITY;
        for (const Comparison* c : { &m_a, &m_b })
            for (const ActivationRow& row : c->activations)
                if (row.floatNode == node && node.valid()) {
                    signal = row.signalPower.value_or(0);
                    noise = std::min(noise, noiseOf(row));
                }
        return { signal, std::isfinite(noise) ? noise : 0 };
    }

    static double gain(double inherited, double a, double b)
    {
        return 10 * std::log10((inherited + a + kFloor) / (inherited + b + kFloor));
    }

    void add(ParameterDifference d, const std::string& name, const std::string& node, const std::string& opType)
    {
        if (!d.a && !d.b)
            return;
        d.name = name;
        d.node = node;
        d.opType = opType;
        d.same = d.a && d.b && sameParameters(*d.a, *d.b);
        if (d.a && d.b && !d.b->params.scale.empty())
            if (const double largest = largestScale(d.a->params); largest > 0)
                d.scaleRatio = largestScale(d.b->params) / largest;
        m_found.push_back(std::move(d));
    }

    const Comparison& m_a;
    const Comparison& m_b;
    std::vector<ParameterDifference> m_found;
};

} // namespace

std::string_view parameterKindName(ParameterDifference::Kind kind)
{
    switch (kind) {
    case ParameterDifference::Kind::Activation:
        return "activation";
    case ParameterDifference::Kind::Weight:
        return "weight";
    case ParameterDifference::Kind::Bias:
        return "bias";
    }
    return "activation";
}

std::vector<ParameterDifference> parameterDifferences(const Comparison& a, const Comparison& b)
{
    return Finder(a, b).run();
}

} // namespace qs
