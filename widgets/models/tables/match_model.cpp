// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/tables/match_model.h"

#include "widgets/models/base/formatting.h"
#include "widgets/models/base/metric.h"
#include "widgets/models/tables/tensor_model.h"

#include <algorithm>
#include <tuple>
#include <unordered_set>

namespace qs {

namespace {

std::vector<ColumnSpec> matchColumns()
{
    const auto tr = [](const char* text) { return MatchModel::tr(text); };
    const auto text = ColumnKind::Text;
    const auto up = Qt::AscendingOrder;
    return {
        { tr("float tensor"), tr("Name in the float file; empty where the quantized tensor has no partner"),
            QStringLiteral("features/conv_2_output"), text },
        { tr("quantized tensor"), tr("Name in the quantized file; empty where the float tensor has no partner"),
            QStringLiteral("features/conv_2_output_Dequ"), text },
        { tr("match"),
            tr("How the pair was found, and how sure that is (1.0 = certain). Sorted: without a partner first, then "
               "the "
               "least sure."),
            QStringLiteral("topology 0.97"), ColumnKind::Value, up },
        { tr("SQNR, dB"), metricInfo(Metric::Accumulated).definition, QStringLiteral("SQNR, dB8888"), ColumnKind::Bar,
            up },
        { tr("float op"), tr("Operator that makes the tensor in the float file"), QStringLiteral("MaxPool"), text },
        { tr("quantized op"), tr("Operator that makes the tensor in the quantized file"),
            QStringLiteral("DequantizeLinear"), text },
        { tr("shape"), tr("Declared or inferred shape"), QStringLiteral("1×32×25×20"), text, up, false },
        { tr("node"), tr("Node that makes the tensor"), QStringLiteral("features/conv_2"), text, up, false },
    };
}

MatchModel::Entry entryOf(const Snapshot& snapshot, int row)
{
    const Alignment& alignment = *snapshot.alignment;
    auto index = size_t(row);
    if (index < alignment.values.size()) {
        const ValuePair& pair = alignment.values[index];
        return { pair.floatValue, pair.quantValue, &pair };
    }
    index -= alignment.values.size();
    if (index < alignment.unmatchedFloat.size())
        return { alignment.unmatchedFloat[index], {}, nullptr };
    return { {}, alignment.unmatchedQuant[index - alignment.unmatchedFloat.size()], nullptr };
}

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

/// Elements, where all sizes are known.
std::optional<int64_t> countIn(const LoadedModel& model, ValueId value)
{
    const auto dims = dimsIn(model, value);
    const auto shape = dims ? toShape(*dims) : std::nullopt;
    return shape ? std::optional(elementCount(*shape)) : std::nullopt;
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

} // namespace

MatchModel::MatchModel(QObject* parent)
    : ColumnModel(matchColumns(), parent)
{
}

MatchModel::Entry MatchModel::entry(int row) const { return entryOf(current(), row); }

QString MatchModel::floatName(int row) const { return nameIn(current().floatModel->graph(), entry(row).floatValue); }

QString MatchModel::quantName(int row) const { return nameIn(current().quantModel->graph(), entry(row).quantValue); }

Place MatchModel::place(int row) const
{
    const Entry at = entry(row);
    Place place;
    place.side = at.floatValue.valid() ? Side::Float : Side::Quantized;
    place.value = at.floatValue.valid() ? at.floatValue : at.quantValue;
    return place;
}

int MatchModel::countOf(const Snapshot& snapshot) const
{
    if (!snapshot.alignment || !snapshot.floatModel || !snapshot.quantModel)
        return 0;
    const Alignment& a = *snapshot.alignment;
    return int(a.values.size() + a.unmatchedFloat.size() + a.unmatchedQuant.size());
}

std::string MatchModel::keyOf(const Snapshot& snapshot, int row) const
{
    const Entry at = entryOf(snapshot, row);
    const auto name = [](const Graph& graph, ValueId id) { return id.valid() ? graph.value(id).name : std::string(); };
    return name(snapshot.floatModel->graph(), at.floatValue) + '\n' + name(snapshot.quantModel->graph(), at.quantValue);
}

bool MatchModel::sameNumbers(const Snapshot& a, int rowA, const Snapshot& b, int rowB) const
{
    const Entry x = entryOf(a, rowA), y = entryOf(b, rowB);
    const auto found = [](const Entry& e) {
        return e.pair ? std::tuple(e.pair->method, e.pair->confidence) : std::tuple(MatchMethod::Name, 0.0);
    };
    return x.floatValue == y.floatValue && x.quantValue == y.quantValue && found(x) == found(y)
        && a.comparison.has_value() == b.comparison.has_value() && !a.comparison;
}

const ActivationRow* MatchModel::compared(int row) const
{
    const Entry at = entry(row);
    if (!at.pair || !current().comparison)
        return nullptr;
    const auto& rows = current().comparison->activations;
    // Both lists follow the float graph, and few pairs cannot be compared: the row is near.
    for (size_t i = std::min(size_t(row) + 1, rows.size()); i-- > 0;)
        if (rows[i].floatValue == at.floatValue)
            return &rows[i];
    const auto it = std::ranges::find(rows, at.floatValue, &ActivationRow::floatValue);
    return it == rows.end() ? nullptr : &*it;
}

QString MatchModel::text(int row, int column) const
{
    const Graph& f = current().floatModel->graph();
    const Graph& q = current().quantModel->graph();
    const Entry at = entry(row);
    const bool isFloat = at.floatValue.valid();
    switch (column) {
    case FloatTensor:
        return nameIn(f, at.floatValue);
    case QuantTensor:
        return nameIn(q, at.quantValue);
    case Match:
        return at.pair ? matchLabel(at.pair->method, at.pair->confidence) : tr("no partner");
    case Similarity: {
        const ActivationRow* there = compared(row);
        return there ? decibelNumber(there->accumulated.sqnrDb, there->accumulated.exact) : absentText();
    }
    case FloatOp:
        return opIn(f, at.floatValue);
    case QuantOp:
        return opIn(q, at.quantValue);
    case ShapeColumn: {
        const auto dims
            = isFloat ? dimsIn(*current().floatModel, at.floatValue) : dimsIn(*current().quantModel, at.quantValue);
        return dims ? dimsLabel(dims) : QString();
    }
    case Node: {
        const NodeId producer = isFloat ? f.value(at.floatValue).producer : q.value(at.quantValue).producer;
        return producer.valid() ? toQt((isFloat ? f : q).node(producer).name) : QString();
    }
    default:
        return {};
    }
}

Number MatchModel::number(int row, int column) const
{
    if (column == Match) {
        const ValuePair* pair = entry(row).pair;
        return pair ? pair->confidence : -1;
    }
    if (column != Similarity)
        return {};
    const ActivationRow* there = compared(row);
    if (!there)
        return {};
    return there->accumulated.exact ? Number(std::numeric_limits<double>::infinity()) : there->accumulated.sqnrDb;
}

QString MatchModel::filterText(int row) const
{
    return text(row, FloatTensor) + u' ' + text(row, QuantTensor) + u' ' + text(row, Match) + u' ' + text(row, FloatOp)
        + u' ' + text(row, QuantOp);
}

QVariant MatchModel::extra(int row, int column, int role) const
{
    if (role == Qt::ToolTipRole && (column == FloatTensor || column == QuantTensor))
        return text(row, column);
    if (role == Qt::ToolTipRole)
        return this->column(column).toolTip;
    if (role == Qt::TextAlignmentRole && column == Match)
        return int(Qt::AlignLeft | Qt::AlignVCenter);
    const Number db = role == BadnessRole && column == Similarity ? number(row, Similarity) : Number();
    return db && std::isfinite(*db) ? QVariant(metricBadness(Metric::Accumulated, *db)) : QVariant();
}

std::vector<LinkCandidate> linkCandidates(const Snapshot& snapshot, Side from, ValueId value)
{
    const LoadedModel& here = from == Side::Float ? *snapshot.floatModel : *snapshot.quantModel;
    const LoadedModel& there = from == Side::Float ? *snapshot.quantModel : *snapshot.floatModel;
    std::unordered_set<ValueId> taken;
    for (const ValuePair& pair : snapshot.alignment->values)
        taken.insert(from == Side::Float ? pair.quantValue : pair.floatValue);
    const QString name = nameIn(here.graph(), value), op = opIn(here.graph(), value);
    const auto count = countIn(here, value);
    std::vector<LinkCandidate> list;
    std::vector<std::tuple<bool, bool, bool, int>> worth; ///< by candidate, larger is better
    for (size_t i = 0; i < there.graph().values().size(); ++i) {
        const ValueId id(static_cast<uint32_t>(i));
        const Value& other = there.graph().value(id);
        const bool isInput = std::ranges::find(there.graph().inputs(), id) != there.graph().inputs().end();
        if ((!other.producer.valid() && !isInput) || there.plan->constant(id))
            continue;
        const auto otherCount = countIn(there, id);
        LinkCandidate candidate { id, toQt(other.name), opIn(there.graph(), id), {},
            !count || !otherCount || *count == *otherCount, taken.contains(id) };
        if (const auto dims = dimsIn(there, id))
            candidate.shape = dimsLabel(dims);
        worth.emplace_back(candidate.fits, !candidate.taken, candidate.op == op, likeness(candidate.name, name));
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
