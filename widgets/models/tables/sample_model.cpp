// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/tables/sample_model.h"

#include "widgets/models/base/cells.h"
#include "widgets/models/base/metric.h"

namespace qs {

namespace {

Number finiteAt(const std::vector<double>& list, size_t i)
{
    return i < list.size() && std::isfinite(list[i]) ? Number(list[i]) : std::nullopt;
}

Number classAt(const std::vector<int64_t>& list, size_t i)
{
    return i < list.size() && list[i] >= 0 ? Number(double(list[i])) : std::nullopt;
}

QString classText(const ClassNames& names, const Number& number)
{
    return number ? toQt(className(names, int64_t(*number))) : absentText();
}

/// Of the float model, and of both where they differ.
QString classesText(const SampleRow& row, const ClassNames& names)
{
    const QString first = classText(names, row.floatClass);
    return row.flipped() ? first + QStringLiteral(" → ") + classText(names, row.quantClass) : first;
}

QString namedClasses(const SampleRow& row) { return classesText(row, *row.classNames); }

Number flippedFirst(const SampleRow& row) { return row.floatClass ? Number(row.flipped() ? 0 : 1) : std::nullopt; }

/// The classes with names and numbers; what the column means where they have no names.
std::function<QString(const SampleRow&)> classesTip(const QString& meaning)
{
    return [meaning](const SampleRow& row) {
        return row.classNames->empty() ? meaning
                                       : namedClasses(row) + QStringLiteral(" (") + classesText(row, {}) + u')';
    };
}

/// SQNR of the worst output for one sample (an index of the comparison's own); infinite when all are exact.
Number sampleSqnrDb(const Comparison& comparison, size_t index)
{
    Number worst;
    for (const OutputRow& row : comparison.outputs) {
        if (index >= row.sampleSqnrDb.size())
            continue;
        const bool exact = !row.sampleSqnrDb[index] && index < row.sampleNoise.size() && row.sampleNoise[index] == 0;
        const Number db = exact ? Number(std::numeric_limits<double>::infinity()) : row.sampleSqnrDb[index];
        if (db && (!worst || *db < *worst))
            worst = db;
    }
    return worst;
}

} // namespace

SampleModel::SampleModel(QObject* parent)
    : SnapshotModel(parent)
{
    const QString classes = tr("Class with the largest value of the first output: of both models, or float → "
                               "quantized. Sorted: flipped ones first.");
    addColumns({
        { { tr("sample"), tr("File name or number of the sample"), QStringLiteral("n01440764_3198.png"), Text },
            words<R>(&R::name) },
        { { tr("class"), classes, QStringLiteral("888 → 888"), Word, kUp, true, Key::Class },
            words<R>(namedClasses, flippedFirst), classesTip(classes) },
        { { tr("margin"),
              tr("First output: the float model's class over the next best, in the quantized model. Below 0 the class "
                 "is another one."),
              QStringLiteral("−88.88"), Value, kUp, true, Key::QuantMargin },
            numbers<R>(&R::quantMargin) },
        { { tr("float margin"),
              tr("First output: the float model's class over the next best, in the float model. A small margin flips "
                 "easily."),
              QStringLiteral("−88.8"), Value, kUp },
            numbers<R>(&R::floatMargin) },
        { { tr("output SQNR"),
              tr("SQNR of this sample's worst output, dB. Higher is better. ")
                  + metricInfo(Metric::Accumulated).definition,
              QStringLiteral("output SQNR88"), Bar, kUp },
            numbers<R>(&R::sqnrDb,
                [](const Number& sqnrDb) { return decibelNumber(sqnrDb, sqnrDb && std::isinf(*sqnrDb)); }) },
        { { tr("label"), tr("Class that the data say is right"), QStringLiteral("888"), Word, kUp, false, Key::Label },
            words<R>([](const R& row) { return classText(*row.classNames, row.label); }, &R::label) },
    });
}

RowList<SampleRow> SampleModel::rowsOf(const SnapshotPtr& snapshot) const
{
    std::vector<SampleRow> rows;
    if (!snapshot->comparison || !snapshot->data)
        return rows;
    const Comparison& c = *snapshot->comparison;
    for (size_t i = 0; i < c.samples; ++i) {
        const size_t sample = c.firstSample + i;
        rows.push_back({ snapshot->data->sampleName(sample), snapshot->classNames.get(),
            classAt(snapshot->data->labels(), sample), classAt(c.floatClass, i), classAt(c.quantClass, i),
            finiteAt(c.floatMargin, i), finiteAt(c.quantMargin, i), sampleSqnrDb(c, i) });
    }
    return rows;
}

QString SampleModel::filterText(const SampleRow& row) const
{
    return toQt(row.name) + u' ' + (row.flipped() ? tr("flipped") : QString());
}

} // namespace qs
