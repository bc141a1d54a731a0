// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/tables/difference_model.h"

#include "widgets/models/base/cells.h"

namespace qs {

namespace {

constexpr double kEqualScales = 1e-6; ///< relative

QString kindText(const ParameterDifference& d)
{
    switch (d.kind) {
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

/// Of the first or the second file.
Cell<ParameterDifference> sqnrCell(std::optional<TensorParameters> ParameterDifference::*file)
{
    return decibels<ParameterDifference>(
        [file](const ParameterDifference& d) { return d.*file ? (d.*file)->sqnrDb : Number(); });
}

QString signedGain(double gainDb) // the title has the unit
{
    return (gainDb >= 0.05 ? QStringLiteral("+") : QString()) + decibelNumber(gainDb);
}

QString ratioText(const Number& ratio) { return ratio ? QStringLiteral("×%1").arg(numberText(ratio)) : absentText(); }

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
        parts << (b.blockSize   ? tr("blocks of %1 in B").arg(b.blockSize)
                : b.perTensor() ? tr("per tensor in B")
                                : tr("per channel in B"));
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

DifferenceModel::DifferenceModel(QObject* parent)
    : SnapshotModel(parent)
{
    const QString typical = QStringLiteral("0.0239 * (q + 128) int8, per tensor");
    const auto first = [](const R& row) { return quantizerOf(row.a); };
    const auto second = [](const R& row) { return quantizerOf(row.b); };
    const auto size = [](double gainDb) { return Number(std::fabs(gainDb)); };
    addColumns({
        { { tr("tensor"), tr("Name in the float file"), QStringLiteral("features/conv_2_output"), Text },
            words<R>(&R::name) },
        { { tr("kind"), tr("Activation, weight or bias"), QStringLiteral("activation"), Text }, words<R>(kindText) },
        { { tr("difference"), tr("What the second file (B) does otherwise than the first (A)"),
              QStringLiteral("per channel, scale ×1.53, zero"), Text },
            words<R>(differenceText) },
        { { tr("B gains, dB"),
              tr("What the quantizer of B gives at this tensor over that of A: the noise that both inherit is taken to "
                 "be that of the better file. Sorted by size: the largest consequence first."),
              QStringLiteral("B gains, dB"), Value, kDown, true, Key::Gain },
            cell<R>(signedGain, size, &R::gainDb) },
        { { tr("A"), tr("Quantizer in the first file"), typical, Text }, words<R>(first), first },
        { { tr("B"), tr("Quantizer in the second file"), typical, Text }, words<R>(second), second },
        { { tr("A SQNR"), tr("SQNR in the first file, dB: accumulated, or of the stored values"),
              QStringLiteral("−88.8"), Value, kUp },
            sqnrCell(&R::a) },
        { { tr("B SQNR"), tr("SQNR in the second file, dB: accumulated, or of the stored values"),
              QStringLiteral("−88.8"), Value, kUp },
            sqnrCell(&R::b) },
        { { tr("scale B/A"), tr("Largest scale of B over largest of A"), QStringLiteral("×12.3"), Value, kDown, false },
            numbers<R>(&R::scaleRatio, ratioText) },
        { { tr("op"), tr("Operator that makes or uses the tensor"), QStringLiteral("MaxPool"), Text, kUp, false },
            words<R>(&R::opType) },
        { { tr("node"), tr("Node that makes or uses the tensor"), QStringLiteral("features/conv_2"), Text, kUp, false },
            words<R>(&R::node) },
    });
}

RowList<ParameterDifference> DifferenceModel::rowsOf(const SnapshotPtr& snapshot) const
{
    return snapshot->other ? RowList<R>(snapshot->other->differences, snapshot) : RowList<R>();
}

bool DifferenceModel::isSame(const ParameterDifference& a, const ParameterDifference& b) const
{
    return a.name == b.name && a.node == b.node;
}

QString DifferenceModel::filterText(const ParameterDifference& row) const
{
    return toQt(row.name) + u' ' + kindText(row) + u' ' + differenceText(row) + u' ' + toQt(row.opType) + u' '
        + toQt(row.node);
}

} // namespace qs

#include "moc_difference_model.cpp"
