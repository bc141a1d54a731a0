// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/tables/sample_model.h"

#include "widgets/models/base/formatting.h"
#include "widgets/models/base/metric.h"

#include <cmath>
#include <limits>
#include <tuple>

namespace qs {

namespace {

std::vector<ColumnSpec> sampleColumns()
{
    const auto tr = [](const char* text) { return SampleModel::tr(text); };
    const auto number = ColumnKind::Value;
    const auto up = Qt::AscendingOrder;
    return {
        { tr("sample"), tr("File name or number of the sample"), QStringLiteral("n01440764_3198.png"),
            ColumnKind::Text },
        { tr("class"),
            tr("Class with the largest value of the first output: of both models, or float → quantized. Sorted: "
               "flipped "
               "ones first."),
            QStringLiteral("888 → 888"), ColumnKind::Word, up },
        { tr("margin"),
            tr("First output: the float model's class over the next best, in the quantized model. Below 0 the class "
               "is another one."),
            QStringLiteral("−88.88"), number, up },
        { tr("float margin"),
            tr("First output: the float model's class over the next best, in the float model. A small margin flips "
               "easily."),
            QStringLiteral("−88.8"), number, up },
        { tr("output SQNR"),
            tr("SQNR of this sample's worst output, dB. Higher is better. ")
                + metricInfo(Metric::Accumulated).definition,
            QStringLiteral("output SQNR88"), ColumnKind::Bar, up },
        { tr("label"), tr("Class that the data say is right"), QStringLiteral("888"), ColumnKind::Word, up, false },
    };
}

Number at(const std::vector<double>& list, size_t i)
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

} // namespace

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

SampleModel::SampleModel(QObject* parent)
    : ColumnModel(sampleColumns(), parent)
{
}

size_t SampleModel::sampleOf(int row) const { return current().comparison->firstSample + size_t(row); }

Number SampleModel::classOf(int row, std::vector<int64_t> Comparison::*of) const
{
    return classAt(current().comparison.value().*of, size_t(row));
}

bool SampleModel::flipped(int row) const
{
    const Number a = classOf(row, &Comparison::floatClass), b = classOf(row, &Comparison::quantClass);
    return a && b && *a != *b;
}

QString SampleModel::classesText(int row, const ClassNames& names) const
{
    const QString first = classText(names, classOf(row, &Comparison::floatClass));
    return flipped(row) ? first + QStringLiteral(" → ") + classText(names, classOf(row, &Comparison::quantClass))
                        : first;
}

int SampleModel::countOf(const Snapshot& snapshot) const
{
    return snapshot.comparison && snapshot.data ? int(snapshot.comparison->samples) : 0;
}

std::string SampleModel::keyOf(const Snapshot& snapshot, int row) const
{
    return snapshot.data->sampleName(snapshot.comparison->firstSample + size_t(row));
}

bool SampleModel::sameNumbers(const Snapshot& a, int rowA, const Snapshot& b, int rowB) const
{
    const auto numbers = [](const Comparison& c, size_t i) {
        return std::tuple(classAt(c.floatClass, i), classAt(c.quantClass, i), at(c.floatMargin, i),
            at(c.quantMargin, i), sampleSqnrDb(c, i));
    };
    return a.classNames == b.classNames && numbers(*a.comparison, size_t(rowA)) == numbers(*b.comparison, size_t(rowB));
}

QString SampleModel::text(int row, int column) const
{
    switch (column) {
    case Sample:
        return toQt(current().data->sampleName(sampleOf(row)));
    case Label:
        return classText(*current().classNames, number(row, column));
    case Class:
        return classesText(row, *current().classNames);
    case FloatMargin:
    case QuantMargin:
        return numberText(number(row, column));
    case Sqnr: {
        const Number db = number(row, Sqnr);
        return decibelNumber(db, db && std::isinf(*db));
    }
    default:
        return {};
    }
}

Number SampleModel::number(int row, int column) const
{
    const Comparison& c = *current().comparison;
    const auto i = size_t(row);
    switch (column) {
    case Label:
        return classAt(current().data->labels(), sampleOf(row));
    case Class:
        return classOf(row, &Comparison::floatClass) ? Number(flipped(row) ? 0 : 1) : std::nullopt;
    case FloatMargin:
        return at(c.floatMargin, i);
    case QuantMargin:
        return at(c.quantMargin, i);
    case Sqnr:
        return sampleSqnrDb(c, i);
    default:
        return {};
    }
}

QString SampleModel::filterText(int row) const
{
    return text(row, Sample) + u' ' + (flipped(row) ? tr("flipped") : QString());
}

QVariant SampleModel::extra(int row, int column, int role) const
{
    if (role == Qt::ToolTipRole && column == Class && !current().classNames->empty())
        return text(row, column) + QStringLiteral(" (") + classesText(row, {}) + u')';
    if (role == Qt::ToolTipRole)
        return this->column(column).toolTip;
    if (role == BadnessRole && column == Sqnr) {
        const Number db = number(row, Sqnr);
        return db && std::isfinite(*db) ? QVariant(metricBadness(Metric::Accumulated, *db)) : QVariant();
    }
    return {};
}

} // namespace qs
