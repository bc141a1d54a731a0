// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/registry/operator_list.h"

#include "core/engine/registry/registry.h"
#include "core/graph/own_domain.h"
#include "core/ops/left_out.h"

#include <map>

namespace qs {

namespace {

const char* agreement(Tolerance tolerance)
{
    switch (tolerance) {
    case Tolerance::Exact:
        return "exact";
    case Tolerance::OneUlp:
        return "one rounding";
    case Tolerance::Elementary:
        return "last places";
    case Tolerance::Accumulation:
        return "order of sums";
    case Tolerance::OneStep:
        return "one code at ties";
    }
    return "";
}

std::string domainName(const std::string& domain) { return domain.empty() ? "ai.onnx" : domain; }

struct Row {
    Tolerance tolerance = Tolerance::Exact;
    bool macs = false;
};

/// Operators with a meaning and a kernel, by domain and type.
std::map<std::string, std::map<std::string, Row>> supported()
{
    std::map<std::string, std::map<std::string, Row>> all;
    for (const Op& op : opRegistry().all()) {
        const std::pair key { std::string(op.domain), std::string(op.type) };
        if (!loweringRegistry().all().contains(key) || key.first == kOwnDomain)
            continue;
        Row& row = all[key.first][key.second];
        row.tolerance = op.tolerance;
        row.macs |= op.macs != nullptr;
    }
    return all;
}

} // namespace

std::string operatorList()
{
    std::string text = "# Operators\n\nWritten by `quantscope-cli kernels --list`; a test compares this page with the "
                       "program. What the columns say: how closely two correct implementations agree, and whether "
                       "multiply-accumulates are counted. `quantscope-cli kernels` lists kernels and element types.\n";
    for (const auto& [domain, rows] : supported()) {
        text += "\n## " + domainName(domain) + " (" + std::to_string(rows.size())
            + ")\n\n| operator | agreement | MACs |\n|---|---|---|\n";
        for (const auto& [type, row] : rows)
            text += "| " + type + " | " + agreement(row.tolerance) + " | " + (row.macs ? "counted" : "") + " |\n";
    }
    text += "\n## Left out\n\n| operator | why | instead |\n|---|---|---|\n";
    for (const LeftOutOperator& o : leftOutOperators())
        text += "| " + domainName(std::string(o.domain)) + "." + std::string(o.type) + " | " + std::string(o.why)
            + " | " + std::string(o.remedy) + " |\n";
    text += "\n## Left out element types\n\nAll others of the standard run, at every version of the operator.\n\n"
            "| operator | element types | why |\n|---|---|---|\n";
    for (const LeftOutTypes& o : leftOutTypes())
        text += "| " + domainName(std::string(o.domain)) + "." + std::string(o.type) + " | " + std::string(o.elements)
            + " | " + std::string(o.why) + " |\n";
    text += "\n## Other than ONNX Runtime\n\nThe standard is followed where ONNX Runtime computes something else.\n\n"
            "| operator | with | ONNX Runtime |\n|---|---|---|\n";
    for (const RuntimeRule& o : runtimeRules())
        text += "| " + domainName(std::string(o.domain)) + "." + std::string(o.type) + " | " + std::string(o.when)
            + " | " + std::string(o.what) + " |\n";
    return text;
}

} // namespace qs
