// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/cli.h"

#include "core/project/about/backend_test.h"
#include "core/report/text/text_table.h"

#include <array>
#include <filesystem>
#include <fmt/format.h>
#include <iostream>
#include <new>
#include <nlohmann/json.hpp>

namespace qs::cli {

namespace {

using Json = nlohmann::ordered_json;
using Kind = BackendOutcome::Kind;

Result<std::vector<BackendTest>> testsBelow(const std::string& folder)
{
    std::error_code none;
    if (!std::filesystem::is_directory(folder, none))
        return badInput("there is no such folder", folder, "name a folder that holds ONNX backend tests");
    auto tests = findBackendTests(folder);
    if (tests.empty())
        return badInput("it holds no backend tests", folder,
            "name a folder with model.onnx and test_data_set_* somewhere below it");
    return tests;
}

BackendOutcome runGuarded(const BackendTest& test, const CancelToken& cancel)
{
    try {
        return runBackendTest(test, KernelMode::Fast, cancel);
    } catch (const std::bad_alloc&) {
        return { Kind::Skipped, "there is not enough memory", true };
    }
}

Result<int> runTests(const std::string& folder, Context& c)
{
    FileRoles files;
    addFilesOf(files, c.common);
    files.readsBelow(folder, "a file of the tests",
        [](std::string_view name) { return name.ends_with(".onnx") || name.ends_with(".pb"); });
    QS_CHECK(checkFiles(files));
    QS_TRY(const auto tests, testsBelow(folder));
    const bool print = c.common.json != "-";
    const ProgressFn progress = progressBar(c.common);
    std::array<size_t, 3> counts {};
    Json list = Json::array();
    for (size_t i = 0; i < tests.size(); ++i) {
        if (progress)
            progress("tests", i, tests.size());
        const BackendOutcome outcome = runGuarded(tests[i], c.cancel);
        if (c.cancel.cancelled())
            return cancelled();
        ++counts[size_t(outcome.kind)];
        const std::string status(outcomeName(outcome.kind));
        list.push_back({ { "name", tests[i].name }, { "status", status }, { "reason", outcome.reason } });
        if (outcome.kind == Kind::Passed || !print)
            continue;
        clearProgress(c.common);
        std::cout << printable(fmt::format("{}: {}: {}", status, tests[i].name, outcome.reason)) << '\n';
    }
    clearProgress(c.common);
    const auto [passed, failed, skipped] = counts;
    if (!c.common.json.empty()) {
        const Json json = { { "schema_version", 1 }, { "passed", passed }, { "failed", failed }, { "skipped", skipped },
            { "tests", list } };
        QS_CHECK(writeOutput(c.common.json, json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"));
    }
    if (print)
        std::cout << fmt::format("{} passed, {} failed, {} skipped\n", passed, failed, skipped);
    return int(kDone);
}

} // namespace

Command addConformance(CLI::App& app, Context& context)
{
    auto folder = std::make_shared<std::string>();
    app.add_option("DIR", *folder, "folder with ONNX backend tests: model.onnx and test_data_set_* in each")
        ->required();
    addCommonOptions(app, context.common);
    return [folder](Context& c) { return runTests(*folder, c); };
}

} // namespace qs::cli
