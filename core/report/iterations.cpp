// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/iterations.h"

#include <cmath>
#include <map>

namespace qs {

namespace {

struct Sums {
    double signal = 0, noise = 0;
};

void add(IterationRow& row, Sums& sums, const IterationValue& value, const ActivationRow& measured)
{
    const auto place = static_cast<size_t>(value.iteration);
    row.byIteration.resize(std::max(row.byIteration.size(), place + 1));
    row.names.resize(row.byIteration.size());
    row.exact.resize(row.byIteration.size());
    row.exact[place] = measured.accumulated.exact;
    row.byIteration[place] = measured.accumulated.sqnrDb;
    row.names[place] = measured.name;
    const double rmse = measured.accumulated.rmse.value_or(0);
    sums.signal += measured.signalPower.value_or(0); // every iteration has as many elements
    sums.noise += rmse * rmse;
}

void finish(IterationRow& row, const Sums& sums)
{
    if (sums.noise > 0 && sums.signal > 0)
        row.sqnrDb = 10 * std::log10(sums.signal / sums.noise);
    if (row.byIteration.size() > 1 && row.byIteration.front() && row.byIteration.back())
        row.changeDb = *row.byIteration.back() - *row.byIteration.front();
}

} // namespace

std::vector<IterationRow> iterationRows(const Snapshot& snapshot)
{
    std::vector<IterationRow> rows;
    if (!snapshot.floatModel || !snapshot.floatModel->bodies || !snapshot.comparison)
        return rows;
    std::map<std::string_view, const ActivationRow*> measured;
    for (const ActivationRow& row : snapshot.comparison->activations)
        measured.emplace(row.name, &row);
    std::map<std::pair<std::string, std::string>, size_t> places;
    std::vector<Sums> sums;
    for (const IterationValue& value : snapshot.floatModel->bodies->values) {
        const auto row = measured.find(value.name);
        if (row == measured.end())
            continue;
        const auto [place, fresh] = places.try_emplace({ value.loop, value.inner }, rows.size());
        if (fresh) {
            rows.push_back({ value.loop, value.loopType, value.inner, {}, {}, {}, {}, {} });
            sums.emplace_back();
        }
        add(rows[place->second], sums[place->second], value, *row->second);
    }
    for (size_t r = 0; r < rows.size(); ++r)
        finish(rows[r], sums[r]);
    return rows;
}

} // namespace qs
