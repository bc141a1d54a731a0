// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/json/saturation_lab_json.h"

#include "core/project/arithmetic/saturating_node.h"
#include "core/report/json_number.h"

#include <nlohmann/json.hpp>

namespace qs {

namespace {

using Json = nlohmann::ordered_json;

Json runJson(const RunNumbers& n)
{
    return { { "output_sqnr_db", jsonNumber(n.outputSqnrDb) }, { "exact", n.exact },
        { "accuracy", jsonNumber(n.accuracy) }, { "top1_agreement", jsonNumber(n.top1Agreement) },
        { "int8_mac_share", jsonNumber(n.quantizedMacShare) } };
}

Json arithmeticsJson(const ArithmeticTable& table)
{
    Json list = Json::array();
    for (size_t i = 0; i < kArithmetics.size(); ++i) {
        Json one = { { "arithmetic", profileName(kArithmetics[i]) } };
        one.update(runJson(table.numbers[i]));
        list.push_back(std::move(one));
    }
    return list;
}

Json valuesJson(const ArithmeticTable& table)
{
    Json list = Json::array();
    for (const ArithmeticRow& row : table.rows)
        list.push_back({ { "name", row.name }, { "node", row.node }, { "output", row.output },
            { "simulated_sqnr_db", jsonNumber(row.sqnrDb[0]) }, { "integer_sqnr_db", jsonNumber(row.sqnrDb[1]) },
            { "integer_avx2_sqnr_db", jsonNumber(row.sqnrDb[2]) }, { "lost_db", jsonNumber(row.lostDb()) } });
    return list;
}

Json nodesJson(const ArithmeticTable& table)
{
    Json list = Json::array();
    const Comparison& comparison = *table.snapshots[2]->comparison;
    for (const SaturationRow& row : comparison.saturation) {
        const ActivationRow* made = madeBy(comparison, row.quantNode);
        const ArithmeticRow* value = made ? table.find(made->name) : nullptr;
        list.push_back({ { "node", row.node }, { "float_node", floatNodeOf(comparison, row.quantNode) },
            { "share", row.share() }, { "lost_db", value ? jsonNumber(value->lostDb()) : Json(nullptr) } });
    }
    return list;
}

Json trialsJson(const SaturationTrials& trials)
{
    Json list = Json::array();
    for (const SaturationTrial& trial : trials.trials) {
        Json one = { { "remedy", saturationTrialName(trial.kind) }, { "node", trial.node } };
        if (!trial.problem.empty()) {
            one["problem"] = trial.problem;
        } else {
            const bool known = trial.numbers.outputSqnrDb && trials.before.outputSqnrDb;
            one.update(runJson(trial.numbers));
            one["gain_db"]
                = jsonNumber(known ? Number(*trial.numbers.outputSqnrDb - *trials.before.outputSqnrDb) : Number());
            one["saturating_share"] = trial.share;
        }
        list.push_back(std::move(one));
    }
    return list;
}

} // namespace

Json saturationLabJson(const SaturationLab& lab)
{
    Json before = runJson(lab.trials.before);
    before["saturating_share"] = lab.trials.shareBefore;
    before["as_file"] = lab.trials.asFile;
    return { { "arithmetics", arithmeticsJson(lab.table) }, { "nodes", nodesJson(lab.table) },
        { "values", valuesJson(lab.table) }, { "before", std::move(before) }, { "remedies", trialsJson(lab.trials) } };
}

} // namespace qs
