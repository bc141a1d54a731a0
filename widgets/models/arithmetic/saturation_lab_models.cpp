// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/arithmetic/saturation_lab_models.h"

#include "widgets/models/base/other_columns.h"

namespace qs {

namespace {

using Trial = SaturationTrialRow;

QString arithmeticName(const ArithmeticRow& row)
{
    return row.output ? ArithmeticModel::tr("%1 (output)").arg(toQt(row.name)) : toQt(row.name);
}

/// The SQNR by one of kArithmetics.
Cell<ArithmeticRow> sqnrBy(size_t arithmetic)
{
    return decibels<ArithmeticRow>([arithmetic](const ArithmeticRow& row) { return row.sqnrDb[arithmetic]; },
        [arithmetic](const ArithmeticRow& row) { return row.exact[arithmetic]; });
}

/// As short as a narrow column needs it; the tool tip says it whole.
QString trialName(const Trial& row)
{
    const QString node = toQt(row.trial.node);
    using Kind = SaturationTrial::Kind;
    switch (row.trial.kind) {
    case Kind::ReduceHere:
        return SaturationTrialModel::tr("7 bits: %1").arg(node);
    case Kind::Exclude:
        return SaturationTrialModel::tr("float: %1").arg(node);
    case Kind::ReduceEverywhere:
        return SaturationTrialModel::tr("all in 7 bits");
    case Kind::UnsignedWeights:
        return QStringLiteral("U8U8");
    case Kind::SignedActivations:
        break;
    }
    return QStringLiteral("S8S8");
}

QString trialTip(const Trial& row)
{
    return saturationTrialText(row.trial) + u'\n'
        + (row.trial.problem.empty()
                ? SaturationTrialModel::tr("Double click or “Apply” makes it one step of the recipe")
                : toQt(row.trial.problem));
}

Number accuracyOf(const Trial& row)
{
    const RunNumbers& n = row.trial.numbers;
    return n.accuracy ? n.accuracy : n.top1Agreement;
}

Number macShareOf(const Trial& row) { return row.trial.numbers.quantizedMacShare; }

Number shareLeft(const Trial& row) { return row.trial.problem.empty() ? Number(row.trial.share) : Number(); }

} // namespace

Number SaturationTrialRow::gainDb() const
{
    return trial.numbers.outputSqnrDb && before.outputSqnrDb
        ? Number(*trial.numbers.outputSqnrDb - *before.outputSqnrDb)
        : Number();
}

ArithmeticModel::ArithmeticModel(QObject* parent)
    : RowModel(parent)
{
    const QString typical = QStringLiteral("simulated");
    addColumns({
        { { tr("value"), tr("Name in the float file"), QStringLiteral("features/conv_2"), Text },
            words<R>(arithmeticName, &R::output) },
        { { tr("simulated"), tr("SQNR in dB as the file says: floats between the codes"), typical, Value, kUp },
            sqnrBy(0) },
        { { tr("integer"), tr("SQNR in dB with codes throughout and exact sums"), typical, Value, kUp }, sqnrBy(1) },
        { { tr("16 bits"), tr("SQNR in dB with 16-bit sums: on CPUs with AVX2 and without VNNI"), typical, Value, kUp },
            sqnrBy(2) },
        { { tr("lost"), tr("dB that saturating sums cost here, inherited or not"), QStringLiteral("−88.8"), Value,
              kDown, true, Key::Lost },
            decibels<R>(&R::lostDb) },
    });
}

QString ArithmeticModel::filterText(const ArithmeticRow& row) const { return toQt(row.name) + u' ' + toQt(row.node); }

ChannelLossModel::ChannelLossModel(QObject* parent)
    : RowModel(parent)
{
    addColumns({
        { { tr("channel"), tr("Output channel"), QStringLiteral("channel"), Value, kUp },
            counts<R>([](const R& row) { return quint64(row.channel); }) },
        { { tr("saturated"), tr("Share of this channel's pairs whose sum does not fit into 16 bits"),
              QStringLiteral("saturated"), Value, kDown, true, Key::Share },
            percents<R>([](const R& row) { return Number(row.share); }) },
        { { tr("exact sums"), tr("SQNR of the channel in dB with exact sums"), QStringLiteral("exact sums"), Value,
              kUp },
            decibels<R>(&R::exactSumsDb) },
        { { tr("16-bit sums"), tr("SQNR of the channel in dB with sums in 16 bits"), QStringLiteral("16-bit sums"),
              Value, kUp },
            decibels<R>(&R::saturatingDb) },
        { { tr("lost"), tr("dB that saturation costs the channel, with what came before"), QStringLiteral("−88.8"),
              Value, kDown },
            decibels<R>(&R::lostDb) },
    });
}

SaturationTrialModel::SaturationTrialModel(QObject* parent)
    : RowModel(parent)
{
    addColumns({
        { { tr("remedy"), tr("What is changed about the recipe"), QStringLiteral("7 bits: features/conv"), Text },
            words<R>(trialName), trialTip },
        { { tr("dB"), tr("SQNR of the worst output with it, under 16-bit sums"), QStringLiteral("−88.8"), Value, kUp },
            decibels<R>([](const R& row) { return row.trial.numbers.outputSqnrDb; },
                [](const R& row) { return row.trial.numbers.exact; }),
            trialTip },
        { { tr("gain"), tr("Against the recipe without it, dB. Higher is better."), QStringLiteral("+88.8"), Value,
              kUp },
            numbers<R>([](const R& row) { return row.gainDb(); }, gainNumber), trialTip },
        { { tr("acc."), tr("Share of right classes, or of the float model's where there are no labels"),
              QStringLiteral("99.9 %"), Value, kUp },
            percents<R>(accuracyOf), trialTip },
        { { tr("int8"), tr("Share of the multiplications that stay in codes: the price"), QStringLiteral("99.9 %"),
              Value, kUp },
            percents<R>(macShareOf), trialTip },
        { { tr("sat."), tr("Share of the pairs that saturate still"), QStringLiteral("< 0.1 %"), Value, kDown },
            percents<R>(shareLeft), trialTip },
    });
}

void SaturationTrialModel::setTrials(const SaturationTrials* trials)
{
    std::vector<SaturationTrialRow> rows;
    if (trials)
        for (const SaturationTrial& trial : trials->trials)
            rows.push_back({ trial, trials->before, trials->shareBefore });
    setRows(std::move(rows));
}

bool SaturationTrialModel::isSame(const SaturationTrialRow& a, const SaturationTrialRow& b) const
{
    return a.trial.kind == b.trial.kind && a.trial.node == b.trial.node;
}

QString saturationTrialText(const SaturationTrial& trial)
{
    const QString node = toQt(trial.node);
    using Kind = SaturationTrial::Kind;
    switch (trial.kind) {
    case Kind::ReduceHere:
        return SaturationTrialModel::tr("Weight of %1 in 7 bits").arg(node);
    case Kind::Exclude:
        return SaturationTrialModel::tr("%1 in float").arg(node);
    case Kind::ReduceEverywhere:
        return SaturationTrialModel::tr("All weights in 7 bits");
    case Kind::UnsignedWeights:
        return SaturationTrialModel::tr("uint8 activations and weights (U8U8)");
    case Kind::SignedActivations:
        break;
    }
    return SaturationTrialModel::tr("int8 activations and weights (S8S8)");
}

} // namespace qs

#include "moc_saturation_lab_models.cpp"
