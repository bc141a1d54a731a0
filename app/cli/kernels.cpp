// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/cli.h"

#include "core/engine/registry/kernel_survey.h"
#include "core/engine/registry/operator_list.h"
#include "core/kernels/instruction_sets.h"
#include "core/report/text/text_table.h"

#include <fmt/format.h>
#include <iostream>
#include <nlohmann/json.hpp>

namespace qs::cli {

namespace {

using Json = nlohmann::ordered_json;

std::string operatorName(const OperatorKernels& k) { return k.domain.empty() ? k.type : k.domain + "." + k.type; }

std::string groupsText(const std::vector<KernelGroup>& groups)
{
    std::string text = "Instruction sets\n";
    for (const KernelGroup& group : groups) {
        text += fmt::format("  {}  {}\n", group.name, group.purpose);
        for (const InstructionSet& set : group.sets)
            text += fmt::format("    {:<24}{}\n", set.name,
                set.chosen     ? "chosen: the best that this CPU runs"
                    : set.runs ? "runs here"
                               : "not on this CPU");
    }
    return text;
}

std::string typesText(const std::vector<DType>& types)
{
    std::string text;
    for (DType t : types)
        text += (text.empty() ? "" : " ") + std::string(dtypeName(t));
    return text;
}

/// One line an operator and kernel; with `detailed` the meaning too.
std::string operatorsText(const std::vector<OperatorKernels>& operators, bool detailed)
{
    using Align = TextTable::Align;
    std::vector<TextTable::Column> columns { { "operator", Align::Left }, { "kernel", Align::Left },
        { "for inputs of", Align::Left } };
    if (detailed)
        columns.push_back({ "what it is", Align::Left });
    TextTable table(columns);
    for (const OperatorKernels& k : operators) {
        for (const auto& choice : k.choices) {
            std::vector<std::string> row { operatorName(k), choice.kernel, typesText(choice.types) };
            if (detailed)
                row.push_back(kernelMeaning(choice.kernel));
            table.add(std::move(row));
        }
        if (k.choices.empty()) {
            std::vector<std::string> row { operatorName(k), "by the model", printable(k.refusal) };
            if (detailed)
                row.emplace_back("depends on attributes or constants that only a model has");
            table.add(std::move(row));
        }
    }
    return "Kernels chosen when all inputs are computed\n" + table.text("  ")
        + "A node's sizes, attributes and constants may lead to another kernel: `quantscope-cli run MODEL --data D "
          "--per-node` names the one that each node took.\n";
}

Json surveyJson(const std::vector<KernelGroup>& groups, const std::vector<OperatorKernels>& operators)
{
    Json json = { { "schema_version", 1 }, { "instruction_sets", Json::array() }, { "operators", Json::array() } };
    for (const KernelGroup& group : groups)
        for (const InstructionSet& set : group.sets)
            json["instruction_sets"].push_back(
                { { "kernels", group.name }, { "name", set.name }, { "runs", set.runs }, { "chosen", set.chosen } });
    for (const OperatorKernels& k : operators) {
        Json choices = Json::array();
        for (const auto& choice : k.choices) {
            Json types = Json::array();
            for (DType t : choice.types)
                types.push_back(dtypeName(t));
            choices.push_back(
                { { "kernel", choice.kernel }, { "dtypes", types }, { "meaning", kernelMeaning(choice.kernel) } });
        }
        json["operators"].push_back(
            { { "op_type", k.type }, { "domain", k.domain }, { "kernels", choices }, { "reason", k.refusal } });
    }
    return json;
}

Result<int> listKernels(const std::string& type, Context& c)
{
    FileRoles files;
    addFilesOf(files, c.common);
    QS_CHECK(checkFiles(files));
    const auto operators = surveyKernels(type);
    if (operators.empty())
        return badUse("no operator is called '" + type + "'", "see `quantscope-cli kernels` for all of them");
    const auto groups = kernelGroups();
    if (!c.common.json.empty())
        QS_CHECK(writeOutput(c.common.json, surveyJson(groups, operators).dump(2) + "\n"));
    if (c.common.json != "-")
        std::cout << groupsText(groups) << operatorsText(operators, !type.empty());
    return int(kDone);
}

} // namespace

Command addKernels(CLI::App& app, Context& context)
{
    auto type = std::make_shared<std::string>();
    auto list = std::make_shared<bool>(false);
    auto* op = app.add_option("--op", *type, "only the operator of this type");
    app.add_flag("--list", *list, "all operators as a page in Markdown, and what is left out and why")->excludes(op);
    addCommonOptions(app, context.common);
    return [type, list](Context& c) -> Result<int> {
        if (!*list)
            return listKernels(*type, c);
        std::cout << operatorList();
        return int(kDone);
    };
}

} // namespace qs::cli
