// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/rows/parameter_difference.h"

#include "core/tensor/largest_scale.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

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
        pairActivations();
        pairRows(m_a.weights, m_b.weights, [&](const auto* a, const auto* b) { addWeight(a, b); });
        std::ranges::stable_sort(m_found, [](const auto& x, const auto& y) {
            const double first = std::fabs(x.gainDb), second = std::fabs(y.gainDb);
            return first != second ? first > second : y.same && !x.same;
        });
        return std::move(m_found);
    }

private:
    /// The rows of one float value: several where it has pairs of quantizers with parameters of their own.
    using Rows = std::vector<const ActivationRow*>;

    static void group(const std::vector<ActivationRow>& rows, std::map<std::string, Rows>& groups,
        std::vector<std::string>& order, const std::map<std::string, Rows>& known)
    {
        for (const ActivationRow& row : rows) {
            if (!groups.contains(row.name) && !known.contains(row.name))
                order.push_back(row.name);
            groups[row.name].push_back(&row);
        }
    }

    /// What a node reads of the value.
    static const ActivationRow* asRead(const Rows& rows, NodeId reader)
    {
        for (const ActivationRow* row : rows)
            if (std::ranges::find(row->readers, reader) != row->readers.end())
                return row;
        return rows.empty() ? nullptr : rows.front();
    }

    /// Each pair that one node of the float model reads in both files, or that stands where it has no reader.
    static std::vector<std::pair<const ActivationRow*, const ActivationRow*>> partnersOf(const Rows& as, const Rows& bs)
    {
        std::vector<std::pair<const ActivationRow*, const ActivationRow*>> found;
        const auto add = [&](const ActivationRow* a, const ActivationRow* b) {
            if (std::ranges::find(found, std::pair(a, b)) == found.end())
                found.emplace_back(a, b);
        };
        const auto first = [](const Rows& rows) { return rows.empty() ? nullptr : rows.front(); };
        const auto hasReaders = [&](const Rows& rows) { return first(rows) && !first(rows)->readers.empty(); };
        if (!hasReaders(as) && !hasReaders(bs))
            add(first(as), first(bs));
        for (const Rows* rows : { &as, &bs })
            for (const ActivationRow* row : *rows)
                for (const NodeId reader : row->readers)
                    add(asRead(as, reader), asRead(bs, reader));
        for (const ActivationRow* a : as)
            if (std::ranges::none_of(found, [&](const auto& pair) { return pair.first == a; }))
                add(a, first(bs));
        for (const ActivationRow* b : bs)
            if (std::ranges::none_of(found, [&](const auto& pair) { return pair.second == b; }))
                add(first(as), b);
        return found;
    }

    void pairActivations()
    {
        std::map<std::string, Rows> as, bs;
        std::vector<std::string> order;
        group(m_a.activations, as, order, {});
        group(m_b.activations, bs, order, as);
        for (const std::string& name : order)
            for (const auto& [a, b] : partnersOf(as[name], bs[name]))
                addActivation(a, b);
    }

    /// Rows by name; of several weights with one name, the parts of a packed one, each.
    static std::map<std::pair<std::string, size_t>, const WeightRow*> byName(const std::vector<WeightRow>& rows)
    {
        std::map<std::string, size_t> counts;
        std::map<std::pair<std::string, size_t>, const WeightRow*> named;
        for (const WeightRow& row : rows)
            named.emplace(std::pair(row.name, counts[row.name]++), &row);
        return named;
    }

    /// Calls use() for each weight, in the order of `as`, then of what only `bs` have.
    template <class Use>
    static void pairRows(const std::vector<WeightRow>& as, const std::vector<WeightRow>& bs, const Use& use)
    {
        using Row = WeightRow;
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
        const ActivationRow& row = a ? *a : *b;
        d.gainDb = a && b ? gainOfBoth(*a, *b)
            : a           ? gain(inheritedBy(*a), ownNoiseOf(*a), 0)
                          : gain(inheritedBy(*b), 0, ownNoiseOf(*b));
        add(std::move(d), row.name, row.node, row.opType);
    }

    static double inheritedBy(const ActivationRow& row) { return std::max(noiseOf(row) - ownNoiseOf(row), 0.0); }

    /// What the quantizers make is known of the float model's values, and need not add up with what came in: where part
    /// of it cancels, it is less. No file gets more than it has noise.
    static double gainOfBoth(const ActivationRow& a, const ActivationRow& b)
    {
        const bool firstIsBetter = noiseOf(a) < noiseOf(b);
        const ActivationRow &better = firstIsBetter ? a : b, &worse = firstIsBetter ? b : a;
        const double all = noiseOf(better), own = ownNoiseOf(better), inherited = inheritedBy(better);
        const double left = own > all ? all / own : 1; // of what a quantizer makes
        const double most = std::max(noiseOf(worse) - inherited, left * own); // equal rows differ by nothing
        const double ofWorse = std::min(left * ownNoiseOf(worse), most);
        return firstIsBetter ? gain(inherited, left * own, ofWorse) : gain(inherited, ofWorse, left * own);
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
        d.gainDb = row.untaken.empty() ? gain(inherited, own(a), own(b)) : 0.0;
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
