// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/tables/match_model.h"

#include "widgets/models/base/cells.h"
#include "widgets/models/base/metric.h"
#include "widgets/models/base/place.h"
#include "widgets/models/tables/tensor_model.h"

#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace qs {

namespace {

QString nameIn(const Graph& graph, ValueId value) { return value.valid() ? toQt(graph.value(value).name) : QString(); }

QString opIn(const Graph& graph, ValueId value)
{
    if (!value.valid())
        return {};
    const NodeId producer = graph.value(value).producer;
    return producer.valid() ? toQt(graph.node(producer).opType) : MatchModel::tr("input");
}

std::optional<Dims> dimsIn(const LoadedModel& model, ValueId value)
{
    const Fact& fact = model.plan->facts().of(value);
    return fact.dims ? fact.dims : model.graph().value(value).type.dims;
}

bool sameSizes(const Dims& a, const Dims& b)
{
    return std::ranges::equal(
        a, b, [](const Dim& x, const Dim& y) { return !x.known() || !y.known() || x.value == y.value; });
}

/// What a pair made by hand needs to be accepted: the same number of elements, or sizes that agree as far as they are
/// known.
bool fitsBeside(const std::optional<Dims>& a, const std::optional<Dims>& b)
{
    if (!a || !b)
        return true;
    const auto one = toShape(*a), other = toShape(*b);
    if (one && other)
        return elementCount(*one) == elementCount(*other);
    return sameSizes(*a, *b);
}

/// Characters that both names begin with, and that both end with.
int likeness(const QString& a, const QString& b)
{
    const auto shared = std::min(a.size(), b.size());
    qsizetype head = 0, tail = 0;
    while (head < shared && a[head] == b[head])
        ++head;
    while (tail < shared - head && a[a.size() - 1 - tail] == b[b.size() - 1 - tail])
        ++tail;
    return int(head + tail);
}

/// The model that the row's only or first tensor is in, and that tensor.
std::pair<const LoadedModel&, ValueId> leadingOf(const MatchRow& row)
{
    const bool isFloat = row.floatValue.valid();
    return { isFloat ? *row.snapshot->floatModel : *row.snapshot->quantModel,
        isFloat ? row.floatValue : row.quantValue };
}

std::optional<Dims> dimsOf(const MatchRow& row)
{
    const auto [model, value] = leadingOf(row);
    return dimsIn(model, value);
}

QString nodeOf(const MatchRow& row)
{
    const auto [model, value] = leadingOf(row);
    const NodeId producer = model.graph().value(value).producer;
    return producer.valid() ? toQt(model.graph().node(producer).name) : QString();
}

std::optional<WhyAlone> whyOf(const std::map<ValueId, WhyAlone>& reasons, ValueId value)
{
    const auto it = reasons.find(value);
    return it == reasons.end() ? std::nullopt : std::optional(it->second);
}

QString floatOpOf(const MatchRow& row) { return opIn(row.snapshot->floatModel->graph(), row.floatValue); }

QString quantOpOf(const MatchRow& row) { return opIn(row.snapshot->quantModel->graph(), row.quantValue); }

/// How a row was found, or why there is no partner.
struct Found {
    std::optional<std::pair<MatchMethod, double>> pair;
    QString around; ///< name of the node that the tensor is inside
    std::optional<WhyAlone> why;
    bool operator==(const Found&) const = default;
};

Found foundOf(const MatchRow& row)
{
    if (row.pair)
        return { std::pair(row.pair->method, row.pair->confidence), {}, {} };
    const Snapshot& s = *row.snapshot;
    const LoadedModel& other = row.floatValue.valid() ? *s.quantModel : *s.floatModel;
    return { {}, row.around.valid() ? toQt(other.graph().node(row.around).name) : QString(), row.why };
}

QString whyText(WhyAlone why)
{
    switch (why) {
    case WhyAlone::Linked:
        return MatchModel::tr("no partner: alike by its numbers with a value that has one");
    case WhyAlone::Unread:
        return MatchModel::tr("no partner: no output depends on it");
    case WhyAlone::Constant:
        return MatchModel::tr("no partner: a constant in the other file");
    case WhyAlone::Sizes:
        return MatchModel::tr("no partner: it follows from sizes alone");
    case WhyAlone::RemovedActivation:
        return MatchModel::tr("no partner: the other file has no such activation here");
    case WhyAlone::OtherSteps:
        return MatchModel::tr("no partner: the other file computes what follows in other steps");
    }
    return {};
}

QString foundText(const Found& found)
{
    if (found.pair)
        return matchLabel(found.pair->first, found.pair->second);
    if (!found.around.isEmpty())
        return MatchModel::tr("inside %1").arg(found.around);
    return found.why ? whyText(*found.why) : MatchModel::tr("no partner");
}

/// Without a partner first, then the least sure; what is inside a node is known and comes last.
Number sureness(const Found& found)
{
    if (found.pair)
        return found.pair->second;
    return found.around.isEmpty() ? -1. : 2.;
}

Number sqnrOf(const MatchRow& row) { return row.compared ? row.compared->accumulated.sqnrDb : Number(); }

bool exactOf(const MatchRow& row) { return row.compared && row.compared->accumulated.exact; }

} // namespace

QString MatchRow::floatName() const { return nameIn(snapshot->floatModel->graph(), floatValue); }

QString MatchRow::quantName() const { return nameIn(snapshot->quantModel->graph(), quantValue); }

MatchModel::MatchModel(QObject* parent)
    : SnapshotModel(parent)
{
    addColumns({
        { { tr("float tensor"), tr("Name in the float file; empty where the quantized tensor has no partner"),
              QStringLiteral("features/conv_2_output"), Text },
            words<R>(&R::floatName), &R::floatName },
        { { tr("quantized tensor"), tr("Name in the quantized file; empty where the float tensor has no partner"),
              QStringLiteral("features/conv_2_output_Dequ"), Text },
            words<R>(&R::quantName), &R::quantName },
        { { tr("match"),
              tr("How the pair was found, and how sure that is (1.0 = certain); or inside which operator of the other "
                 "file the tensor is computed. Sorted: without a partner first, then the least sure."),
              QStringLiteral("topology 0.97"), Value, kUp, true, Key::Match },
            cell<R>(foundText, sureness, foundOf) },
        { { tr("SQNR, dB"), metricInfo(Metric::Accumulated).definition, QStringLiteral("SQNR, dB8888"), Bar, kUp },
            decibels<R>(sqnrOf, exactOf) },
        { { tr("float op"), tr("Operator that makes the tensor in the float file"), QStringLiteral("MaxPool"), Text },
            words<R>(floatOpOf) },
        { { tr("quantized op"), tr("Operator that makes the tensor in the quantized file"),
              QStringLiteral("DequantizeLinear"), Text },
            words<R>(quantOpOf) },
        { { tr("shape"), tr("Declared or inferred shape"), QStringLiteral("1×32×25×20"), Text, kUp, false },
            cell<R>([](const auto& dims) { return dims ? dimsLabel(dims) : QString(); }, kNoNumber, dimsOf) },
        { { tr("node"), tr("Node that makes the tensor"), QStringLiteral("features/conv_2"), Text, kUp, false },
            words<R>(nodeOf) },
    });
}

RowList<MatchRow> MatchModel::rowsOf(const SnapshotPtr& snapshot) const
{
    std::vector<MatchRow> rows;
    if (!snapshot->alignment || !snapshot->floatModel || !snapshot->quantModel)
        return rows;
    std::unordered_map<ValueId, std::vector<const ActivationRow*>> compared; // several of several quantizers
    if (snapshot->comparison)
        for (const ActivationRow& row : snapshot->comparison->activations)
            compared[row.floatValue].push_back(&row);
    const Alignment& alignment = *snapshot->alignment;
    for (const ValuePair& pair : alignment.values) {
        const auto it = compared.find(pair.floatValue);
        const ActivationRow* row = it == compared.end() ? nullptr : it->second.front();
        if (row)
            for (const ActivationRow* other : it->second)
                if (other->quantizer == pair.quantizer && row->quantizer != pair.quantizer)
                    row = other;
        rows.push_back({ snapshot.get(), pair.floatValue, pair.quantValue, &pair, {}, {}, row });
    }
    for (const InsideValue& inside : alignment.insideFloat)
        rows.push_back({ snapshot.get(), inside.value, {}, nullptr, inside.node, {}, nullptr });
    for (const InsideValue& inside : alignment.insideQuant)
        rows.push_back({ snapshot.get(), {}, inside.value, nullptr, inside.node, {}, nullptr });
    for (const ValueId value : alignment.unmatchedFloat)
        rows.push_back({ snapshot.get(), value, {}, nullptr, {}, whyOf(alignment.whyFloat, value), nullptr });
    for (const ValueId value : alignment.unmatchedQuant)
        rows.push_back({ snapshot.get(), {}, value, nullptr, {}, whyOf(alignment.whyQuant, value), nullptr });
    return rows;
}

bool MatchModel::isSame(const MatchRow& a, const MatchRow& b) const
{
    const auto sameName = [](const std::optional<LoadedModel>& modelA, ValueId valueA,
                              const std::optional<LoadedModel>& modelB, ValueId valueB) {
        return valueA.valid() == valueB.valid()
            && (!valueA.valid() || modelA->graph().value(valueA).name == modelB->graph().value(valueB).name);
    };
    return sameName(a.snapshot->floatModel, a.floatValue, b.snapshot->floatModel, b.floatValue)
        && sameName(a.snapshot->quantModel, a.quantValue, b.snapshot->quantModel, b.quantValue);
}

QString MatchModel::filterText(const MatchRow& row) const
{
    return row.floatName() + u' ' + row.quantName() + u' ' + foundText(foundOf(row)) + u' ' + floatOpOf(row) + u' '
        + quantOpOf(row);
}

std::vector<LinkCandidate> linkCandidates(const Snapshot& snapshot, Side from, ValueId value)
{
    const LoadedModel& here = from == Side::Float ? *snapshot.floatModel : *snapshot.quantModel;
    const LoadedModel& there = from == Side::Float ? *snapshot.quantModel : *snapshot.floatModel;
    std::unordered_set<ValueId> taken;
    for (const ValuePair& pair : snapshot.alignment->values)
        taken.insert(from == Side::Float ? pair.quantValue : pair.floatValue);
    const QString name = nameIn(here.graph(), value), op = opIn(here.graph(), value);
    const auto dims = dimsIn(here, value);
    std::vector<LinkCandidate> list;
    std::vector<std::tuple<bool, bool, bool, bool, int>> worth; ///< by candidate, larger is better
    for (size_t i = 0; i < there.graph().values().size(); ++i) {
        const ValueId id(static_cast<uint32_t>(i));
        const Value& other = there.graph().value(id);
        const bool isInput = std::ranges::find(there.graph().inputs(), id) != there.graph().inputs().end();
        if ((!other.producer.valid() && !isInput) || there.plan->constant(id))
            continue;
        const auto otherDims = dimsIn(there, id);
        LinkCandidate candidate { id, toQt(other.name), opIn(there.graph(), id), {}, fitsBeside(dims, otherDims),
            taken.contains(id), !dims || !otherDims || sameSizes(*dims, *otherDims) };
        if (otherDims)
            candidate.shape = dimsLabel(otherDims);
        worth.emplace_back(
            candidate.fits, !candidate.taken, candidate.sameShape, candidate.op == op, likeness(candidate.name, name));
        list.push_back(std::move(candidate));
    }
    std::vector<size_t> order(list.size());
    for (size_t i = 0; i < order.size(); ++i)
        order[i] = i;
    std::ranges::stable_sort(order, [&](size_t a, size_t b) { return worth[a] > worth[b]; });
    std::vector<LinkCandidate> sorted;
    for (const size_t i : order)
        sorted.push_back(std::move(list[i]));
    return sorted;
}

} // namespace qs

#include "moc_match_model.cpp"
