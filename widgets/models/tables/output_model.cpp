// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/tables/output_model.h"

#include "widgets/models/base/formatting.h"
#include "widgets/models/base/formulas.h"
#include "widgets/models/base/metric.h"

#include <limits>
#include <tuple>

namespace qs {

namespace {

std::vector<ColumnSpec> outputColumns()
{
    const auto tr = [](const char* text) { return OutputModel::tr(text); };
    const auto number = ColumnKind::Value;
    const auto up = Qt::AscendingOrder, down = Qt::DescendingOrder;
    return {
        { tr("output"), tr("Name in the float file"), QStringLiteral("probabilities"), ColumnKind::Text },
        { tr("SQNR, dB"), metricInfo(Metric::Accumulated).definition, QStringLiteral("SQNR, dB123456"), ColumnKind::Bar,
            up },
        { tr("cosine"), tr("Cosine similarity of both outputs. Higher is better."), QStringLiteral("0.999999"), number,
            up },
        { tr("RMSE"), tr("Root of the mean squared error. Lower is better."), QStringLiteral("0.00123"), number, down },
        { tr("max error"), tr("Largest absolute error. Lower is better."), QStringLiteral("max error"), number, down },
        { tr("top-1"), tr("Share of samples with the same largest class in both models"), QStringLiteral("> 99.9 %"),
            number, up },
        { tr("top-5"), tr("Share of samples whose float class is among the quantized model's five largest"),
            QStringLiteral("> 99.9 %"), number, up },
        { tr("quantized name"), tr("Name in the quantized file"), QStringLiteral("probabilities"), ColumnKind::Text, up,
            false },
    };
}

} // namespace

OutputModel::OutputModel(QObject* parent)
    : ColumnModel(outputColumns(), parent)
{
}

const OutputRow& OutputModel::at(int row) const { return current().comparison->outputs[size_t(row)]; }

int OutputModel::countOf(const Snapshot& snapshot) const
{
    return snapshot.comparison ? int(snapshot.comparison->outputs.size()) : 0;
}

std::string OutputModel::keyOf(const Snapshot& snapshot, int row) const
{
    return snapshot.comparison->outputs[size_t(row)].name;
}

bool OutputModel::sameNumbers(const Snapshot& a, int rowA, const Snapshot& b, int rowB) const
{
    const auto numbers = [](const OutputRow& r) {
        return std::tie(r.quantizedName, r.similarity.sqnrDb, r.similarity.exact, r.similarity.cosine,
            r.similarity.rmse, r.similarity.maxAbsError, r.top1Agreement, r.top5Agreement);
    };
    return numbers(a.comparison->outputs[size_t(rowA)]) == numbers(b.comparison->outputs[size_t(rowB)]);
}

QString OutputModel::text(int row, int column) const
{
    const OutputRow& r = at(row);
    switch (column) {
    case Output:
        return toQt(r.name);
    case Sqnr:
        return decibelNumber(r.similarity.sqnrDb, r.similarity.exact);
    case Cosine:
        return numberText(r.similarity.cosine, 6);
    case Rmse:
        return numberText(r.similarity.rmse);
    case MaxError:
        return numberText(r.similarity.maxAbsError);
    case Top1:
        return percentText(r.top1Agreement);
    case Top5:
        return percentText(r.top5Agreement);
    case QuantizedName:
        return toQt(r.quantizedName);
    default:
        return {};
    }
}

Number OutputModel::number(int row, int column) const
{
    const OutputRow& r = at(row);
    switch (column) {
    case Sqnr:
        return r.similarity.exact ? Number(std::numeric_limits<double>::infinity()) : r.similarity.sqnrDb;
    case Cosine:
        return r.similarity.cosine;
    case Rmse:
        return r.similarity.rmse;
    case MaxError:
        return r.similarity.maxAbsError;
    case Top1:
        return r.top1Agreement;
    case Top5:
        return r.top5Agreement;
    default:
        return {};
    }
}

QString OutputModel::filterText(int row) const { return toQt(at(row).name) + u' ' + toQt(at(row).quantizedName); }

QVariant OutputModel::extra(int row, int column, int role) const
{
    const OutputRow& r = at(row);
    if (role == Qt::ToolTipRole)
        return column == Sqnr ? sqnrFormula(r.similarity, *current().comparison) : this->column(column).toolTip;
    if (role == BadnessRole && column == Sqnr && r.similarity.sqnrDb)
        return metricBadness(Metric::Accumulated, *r.similarity.sqnrDb);
    return {};
}

std::vector<SummaryItem> outcomeSummary(const Comparison& comparison)
{
    std::vector<SummaryItem> items;
    if (!comparison.outputs.empty()) {
        const OutputRow* worst = &comparison.outputs.front();
        for (const OutputRow& row : comparison.outputs) {
            const bool worse = !row.similarity.exact
                && (worst->similarity.exact
                    || row.similarity.sqnrDb.value_or(1e9) < worst->similarity.sqnrDb.value_or(1e9));
            worst = worse ? &row : worst;
        }
        const QString label
            = comparison.outputs.size() == 1 ? OutputModel::tr("Output SQNR") : OutputModel::tr("Worst output SQNR");
        items.push_back({ label, decibelText(worst->similarity.sqnrDb, worst->similarity.exact),
            toQt(worst->name) + u'\n' + sqnrFormula(worst->similarity, comparison) });
    }
    if (comparison.accuracy) {
        const Accuracy& accuracy = *comparison.accuracy;
        QString from = percentText(accuracy.floatAccuracy);
        from.chop(from.endsWith(QStringLiteral(" %")) ? 2 : 0);
        items.push_back({ OutputModel::tr("Accuracy"),
            from + QStringLiteral(" → ") + percentText(accuracy.quantizedAccuracy),
            OutputModel::tr("Share of right classes over %1 labels, float → quantized. %2 samples change their class.")
                .arg(countText(accuracy.labels), countText(comparison.flipped.size())) });
    } else if (!comparison.outputs.empty() && comparison.outputs.front().top1Agreement) {
        items.push_back({ OutputModel::tr("Top-1 agreement"), percentText(comparison.outputs.front().top1Agreement),
            OutputModel::tr("Share of samples with the same largest class in both models, over %1.")
                .arg(provenanceText(comparison)) });
    }
    return items;
}

} // namespace qs
