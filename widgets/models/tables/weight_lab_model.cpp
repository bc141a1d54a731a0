// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/tables/weight_lab_model.h"

#include "widgets/models/base/cells.h"

namespace qs {

namespace {

std::string wayOf(const LabRow& row) { return weightTrialName(row.trial); }

QString storedTip(const LabRow& row) { return row.stored ? WeightLabModel::tr("As the file stores it") : QString(); }

} // namespace

WeightLabModel::WeightLabModel(QObject* parent)
    : RowModel(parent)
{
    const auto equalizedDb = [](const R& row) { return row.equalized ? row.equalized->sqnrDb : Number(); };
    const auto equalizedExact = [](const R& row) { return row.equalized && row.equalized->exact; };
    const auto never = [](const R&) { return false; };
    addColumns({
        { { tr("stored as"), tr("Type, symmetry and granularity, with the scales that the quantizer chooses"), {},
              Text },
            words<R>(wayOf, &R::stored), storedTip },
        { { tr("SQNR"), tr("Of the whole weight. Higher is better."), {}, Value, kUp, true, Key::Sqnr },
            decibelsWithUnit<R>(in(&R::trial, &WeightTrial::sqnrDb), in(&R::trial, &WeightTrial::exact)), storedTip },
        { { tr("worst channel"), tr("SQNR of the worst output channel. Higher is better.") },
            decibelsWithUnit<R>(in(&R::trial, &WeightTrial::worstChannelDb), never), storedTip },
        { { tr("equalized"),
              tr("SQNR after cross-layer equalization with the neighbouring layers. Higher is better.") },
            decibelsWithUnit<R>(equalizedDb, equalizedExact), storedTip },
    });
}

bool WeightLabModel::isSame(const LabRow& a, const LabRow& b) const { return wayOf(a) == wayOf(b); }

QVariant WeightLabModel::own(const LabRow& row, int role) const
{
    return role == StoredRole ? QVariant(row.stored) : QVariant();
}

void WeightLabModel::setLab(const WeightLab* lab, const QuantParams& stored)
{
    std::vector<LabRow> rows;
    for (size_t i = 0; lab && i < lab->trials.size(); ++i) {
        const WeightTrial& trial = lab->trials[i];
        const bool equalized = lab->equalized && i < lab->equalized->trials.size();
        rows.push_back({ trial, equalized ? std::optional(lab->equalized->trials[i]) : std::nullopt,
            trial.reduced == lab->reduced && storesLike(trial, stored) });
    }
    setRows(std::move(rows));
}

} // namespace qs

#include "moc_weight_lab_model.cpp"
