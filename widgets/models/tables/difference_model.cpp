// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/tables/difference_model.h"

#include "widgets/models/base/formatting.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace qs {

namespace {

constexpr double kEqualScales = 1e-6; ///< relative

std::vector<ColumnSpec> differenceColumns()
{
    const auto tr = [](const char* text) { return DifferenceModel::tr(text); };
    const auto text = ColumnKind::Text;
    const auto number = ColumnKind::Value;
    const auto up = Qt::AscendingOrder, down = Qt::DescendingOrder;
    return {
        { tr("tensor"), tr("Name in the float file"), QStringLiteral("features/conv_2_output"), text },
        { tr("kind"), tr("Activation, weight or bias"), QStringLiteral("activation"), text },
        { tr("difference"), tr("What the second file (B) does otherwise than the first (A)"),
            QStringLiteral("per channel, scale ×1.53, zero"), text },
        { tr("B gains, dB"),
            tr("What the quantizer of B gives at this tensor over that of A: the noise that both inherit is taken to "
               "be "
               "that of the better file. Sorted by size: the largest consequence first."),
            QStringLiteral("B gains, dB"), number, down },
        { tr("A"), tr("Quantizer in the first file"), QStringLiteral("0.0239 * (q - -128) int8, per tensor"), text },
        { tr("B"), tr("Quantizer in the second file"), QStringLiteral("0.0239 * (q - -128) int8, per tensor"), text },
        { tr("A SQNR"), tr("SQNR in the first file, dB: accumulated, or of the stored values"), QStringLiteral("−88.8"),
            number, up },
        { tr("B SQNR"), tr("SQNR in the second file, dB: accumulated, or of the stored values"),
            QStringLiteral("−88.8"), number, up },
        { tr("scale B/A"), tr("Largest scale of B over largest of A"), QStringLiteral("×12.3"), number, down, false },
        { tr("op"), tr("Operator that makes or uses the tensor"), QStringLiteral("MaxPool"), text, up, false },
        { tr("node"), tr("Node that makes or uses the tensor"), QStringLiteral("features/conv_2"), text, up, false },
    };
}

QString kindText(ParameterDifference::Kind kind)
{
    switch (kind) {
    case ParameterDifference::Kind::Weight:
        return DifferenceModel::tr("weight");
    case ParameterDifference::Kind::Bias:
        return DifferenceModel::tr("bias");
    case ParameterDifference::Kind::Activation:
        break;
    }
    return DifferenceModel::tr("activation");
}

QString quantizerOf(const std::optional<TensorParameters>& side)
{
    return !side ? absentText() : side->dynamic ? DifferenceModel::tr("dynamic") : quantizerText(side->params);
}

bool symmetric(const QuantParams& params)
{
    const CodeRange codes = params.codes();
    const auto middle = static_cast<int32_t>(std::lround((double(codes.low) + double(codes.high)) / 2));
    return std::ranges::all_of(
        params.zeroPoint, [&](int32_t zero) { return zero == middle || (codes.low < 0 && zero == 0); });
}

} // namespace

QString differenceText(const ParameterDifference& d)
{
    const auto tr = [](const char* text) { return DifferenceModel::tr(text); };
    if (d.same)
        return tr("the same");
    if (!d.a || !d.b)
        return d.a ? tr("only A quantizes it") : tr("only B quantizes it");
    if (d.a->dynamic != d.b->dynamic)
        return d.b->dynamic ? tr("dynamic in B") : tr("dynamic in A");
    const QuantParams &a = d.a->params, &b = d.b->params;
    QStringList parts;
    if (a.dtype != b.dtype)
        parts << toQt(dtypeName(a.dtype)) + QStringLiteral(" → ") + toQt(dtypeName(b.dtype));
    if (a.perTensor() != b.perTensor() || a.blockSize != b.blockSize)
        parts << (b.blockSize ? tr("blocks in B") : b.perTensor() ? tr("per tensor in B") : tr("per channel in B"));
    else if (!a.perTensor() && a.axis != b.axis)
        parts << tr("another axis");
    if (symmetric(a) != symmetric(b))
        parts << (symmetric(b) ? tr("symmetric in B") : tr("asymmetric in B"));
    else if (a.zeroPoint != b.zeroPoint && a.dtype == b.dtype && a.zeroPoint.size() == b.zeroPoint.size())
        parts << tr("zero point");
    if (d.scaleRatio && std::fabs(*d.scaleRatio - 1) > kEqualScales)
        parts << tr("scale ×%1").arg(numberText(*d.scaleRatio));
    else if (parts.isEmpty())
        parts << tr("scales of channels");
    return parts.join(QStringLiteral(", "));
}

QString otherName(const Snapshot& snapshot)
{
    const OtherQuantized& other = snapshot.inputs.other;
    return !other.path.empty() ? fileName(other.path) : other.recipe ? DifferenceModel::tr("another run") : QString();
}

DifferenceModel::DifferenceModel(QObject* parent)
    : ColumnModel(differenceColumns(), parent)
{
}

int DifferenceModel::countOf(const Snapshot& snapshot) const
{
    return snapshot.other ? int(snapshot.other->differences.size()) : 0;
}

std::string DifferenceModel::keyOf(const Snapshot& snapshot, int row) const
{
    const ParameterDifference& d = of(snapshot, row);
    return d.name + '\n' + d.node;
}

bool DifferenceModel::sameNumbers(const Snapshot& a, int rowA, const Snapshot& b, int rowB) const
{
    const ParameterDifference &x = of(a, rowA), &y = of(b, rowB);
    const auto side = [](const std::optional<TensorParameters>& s) {
        return s ? std::tuple(s->dynamic, s->params.dtype, s->params.scale, s->params.zeroPoint, s->sqnrDb)
                 : std::tuple(false, DType::Undefined, std::vector<float>(), std::vector<int32_t>(), Number());
    };
    return x.kind == y.kind && x.same == y.same && x.gainDb == y.gainDb && side(x.a) == side(y.a)
        && side(x.b) == side(y.b);
}

QString DifferenceModel::text(int row, int column) const
{
    const ParameterDifference& d = difference(row);
    switch (column) {
    case Tensor:
        return toQt(d.name);
    case Kind:
        return kindText(d.kind);
    case What:
        return differenceText(d);
    case Gain:
        return (d.gainDb >= 0.05 ? QStringLiteral("+") : QString()) + decibelNumber(d.gainDb); // the title has the unit
    case First:
        return quantizerOf(d.a);
    case Second:
        return quantizerOf(d.b);
    case FirstSqnr:
        return d.a ? decibelNumber(d.a->sqnrDb) : absentText();
    case SecondSqnr:
        return d.b ? decibelNumber(d.b->sqnrDb) : absentText();
    case Ratio:
        return d.scaleRatio ? QStringLiteral("×%1").arg(numberText(*d.scaleRatio)) : absentText();
    case Op:
        return toQt(d.opType);
    case Node:
        return toQt(d.node);
    default:
        return {};
    }
}

Number DifferenceModel::number(int row, int column) const
{
    const ParameterDifference& d = difference(row);
    switch (column) {
    case Gain:
        return std::fabs(d.gainDb);
    case FirstSqnr:
        return d.a ? d.a->sqnrDb : Number();
    case SecondSqnr:
        return d.b ? d.b->sqnrDb : Number();
    case Ratio:
        return d.scaleRatio;
    default:
        return {};
    }
}

QString DifferenceModel::filterText(int row) const
{
    return text(row, Tensor) + u' ' + text(row, Kind) + u' ' + text(row, What) + u' ' + text(row, Op) + u' '
        + text(row, Node);
}

QVariant DifferenceModel::extra(int row, int column, int role) const
{
    if (role != Qt::ToolTipRole)
        return {};
    if (column == First || column == Second)
        return text(row, column);
    return this->column(column).toolTip;
}

} // namespace qs
