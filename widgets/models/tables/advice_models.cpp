// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/tables/advice_models.h"

#include "widgets/models/base/cells.h"

namespace qs {

namespace {

QString unitName(const UnitAdvice& row) { return toQt(row.unit.name); }

QString gainText(const UnitAdvice& row)
{
    const Number gain = row.gainDb();
    return gain ? signedDecibelText(*gain) : row.unit.without.exact() ? SensitivityModel::tr("exact") : absentText();
}

Cell<UnitAdvice> scoreCell(OutputScore UnitSensitivity::*score)
{
    return words<UnitAdvice>(
        [score](const UnitAdvice& row) { return decibelText((row.unit.*score).sqnrDb(), (row.unit.*score).exact()); },
        [score](const UnitAdvice& row) { return (row.unit.*score).sqnrDb(); });
}

QString recipeSqnr(const FoundRecipe& row) { return decibelText(row.numbers.outputSqnrDb, row.numbers.exact); }

QString recipeAccuracy(const FoundRecipe& row) { return percentText(row.numbers.accuracy); }

} // namespace

Number UnitAdvice::gainDb() const
{
    const Number without = unit.without.sqnrDb(), with = all.sqnrDb();
    return without && with ? Number(*without - *with) : Number();
}

SensitivityModel::SensitivityModel(QObject* parent)
    : RowModel(parent)
{
    addColumns({
        { { tr("unit"), tr("What would be left in float"), {}, Text }, words<R>(unitName), unitName },
        { { tr("op"), tr("Its operator type"), {}, Text, kUp, true, Key::Op },
            words<R>(in(&R::unit, &UnitSensitivity::opType)) },
        { { tr("gain"), tr("What the outputs gain when this is left in float, in dB"), {}, Value, kDown, true,
              Key::Gain },
            words<R>(gainText, &R::gainDb) },
        { { tr("without it"), tr("SQNR of the outputs with all but this quantized, in dB"), {}, Value, kDown, true,
              Key::Without },
            scoreCell(&UnitSensitivity::without) },
        { { tr("it alone"), tr("SQNR of the outputs with nothing but this quantized, in dB"), {}, Value, kUp, true,
              Key::Alone },
            scoreCell(&UnitSensitivity::alone) },
        { { tr("MACs"), tr("Its share of the Conv, Gemm and MatMul work"), {}, Value, kDown, true, Key::Macs },
            percents<R>(in(&R::unit, &UnitSensitivity::macShare)) },
    });
}

void SensitivityModel::setSensitivity(const Sensitivity* sensitivity)
{
    std::vector<UnitAdvice> rows;
    if (sensitivity)
        for (const UnitSensitivity& unit : sensitivity->units)
            rows.push_back({ unit, sensitivity->quantized });
    setRows(std::move(rows));
}

FoundRecipeModel::FoundRecipeModel(QObject* parent)
    : RowModel(parent)
{
    addColumns({
        { { tr("recipe"), tr("Calibrator, granularity and range of weights; the rest as it is now"), {}, Text },
            words<R>(&R::name), [](const R& row) { return toQt(row.name); } },
        { { tr("output"),
              tr("SQNR of the worst output in dB, higher is better. The recipes are sorted by accuracy where there is "
                 "one, then by this."),
              {}, Value, kUp, true, Key::Sqnr },
            words<R>(recipeSqnr, in(&R::numbers, &RunNumbers::outputSqnrDb)), recipeSqnr },
        { { tr("accuracy"),
              tr("Share of samples with the right class; needs labels. The recipes are sorted by it, the best first."),
              {}, Value, kUp, true, Key::Accuracy },
            percents<R>(in(&R::numbers, &RunNumbers::accuracy)), recipeAccuracy },
    });
}

} // namespace qs

#include "moc_advice_models.cpp"
