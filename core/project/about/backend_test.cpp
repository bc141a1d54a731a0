// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/about/backend_test.h"

#include "core/base/issue_text.h"
#include "core/engine/plan/plan.h"
#include "core/engine/run/execution.h"
#include "core/onnx/import.h"
#include "core/project/about/contested_tests.h"
#include "core/tensor/container.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>

namespace fs = std::filesystem;

namespace qs {

namespace {

using Outcome = BackendOutcome::Kind;

bool hasRandomNode(const Graph& graph)
{
    return std::ranges::any_of(graph.nodes(), [](const Node& node) {
        return node.opType.starts_with("Random") || node.opType == "Multinomial" || node.opType == "Bernoulli";
    });
}

/// First difference of type or shape, or empty.
std::string kindDifference(const Tensor& got, const Tensor& wanted)
{
    if (isContainer(got.dtype()) && got.dtype() == wanted.dtype() && itemsOf(got).size() != itemsOf(wanted).size())
        return "has " + std::to_string(itemsOf(got).size()) + " elements, not "
            + std::to_string(itemsOf(wanted).size());
    if (got.dtype() != wanted.dtype())
        return "is " + std::string(dtypeName(got.dtype())) + ", not " + std::string(dtypeName(wanted.dtype()));
    if (got.shape() != wanted.shape())
        return "has shape " + shapeText(got.shape()) + ", not " + shapeText(wanted.shape());
    return {};
}

/// First difference, or empty.
std::string difference(const Tensor& got, const Tensor& wanted)
{
    if (std::string text = kindDifference(got, wanted); !text.empty())
        return text;
    if (isContainer(got.dtype())) {
        std::string text;
        for (size_t i = 0; i < itemsOf(got).size() && text.empty(); ++i)
            if (text = difference(itemsOf(got)[i], itemsOf(wanted)[i]); !text.empty())
                text = "element " + std::to_string(i) + " " + text;
        return text;
    }
    if (got.dtype() == DType::String)
        return got.stringData() == wanted.stringData() ? "" : "has other strings";
    const auto complain = [](size_t i, const std::string& a, const std::string& b) {
        return "element " + std::to_string(i) + " is " + a + ", not " + b;
    };
    if (!isFloat(got.dtype())) {
        const std::vector<int64_t> a = toInts(got);
        const std::vector<int64_t> b = toInts(wanted);
        const size_t i = static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin()).first - a.begin());
        return i == a.size() ? "" : complain(i, std::to_string(a[i]), std::to_string(b[i]));
    }
    const std::vector<double> a = toDoubles(got);
    const std::vector<double> b = toDoubles(wanted);
    for (size_t i = 0; i < a.size(); ++i) {
        const bool same = a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]));
        if (!same && !(std::abs(a[i] - b[i]) <= 1e-7 + 1e-3 * std::abs(b[i])))
            return complain(i, std::to_string(a[i]), std::to_string(b[i]));
    }
    return {};
}

/// Data files of one kind: input_0.pb, input_1.pb ... for these inputs or outputs.
Result<std::vector<Tensor>> readAll(
    const fs::path& folder, const std::string& kind, const Graph& graph, std::span<const ValueId> ports)
{
    std::vector<Tensor> values;
    for (size_t k = 0;; ++k) {
        const fs::path file = folder / (kind + "_" + std::to_string(k) + ".pb");
        if (std::error_code error; !fs::exists(file, error) && !error)
            return values; // else the issue says what is wrong
        const ValueType type = k < ports.size() ? graph.value(ports[k]).type : ValueType {};
        QS_TRY(Tensor value, importValue(file.string(), type));
        values.push_back(std::move(value));
    }
}

/// numpy has no bfloat16: older test data hold such tensors as uint16 bits.
void restoreBFloat16(Tensor& data, DType wanted)
{
    if (wanted == DType::BFloat16 && data.dtype() == DType::UInt16)
        data = data.reinterpreted(DType::BFloat16);
}

BackendOutcome runDataSet(
    const std::shared_ptr<const Schedule>& schedule, const fs::path& folder, const CancelToken& cancel)
{
    const Graph& graph = schedule->plan().graph();
    const auto outputs = graph.outputs();
    auto inputs = readAll(folder, "input", graph, graph.inputs());
    auto wanted = readAll(folder, "output", graph, outputs);
    if (!inputs || !wanted)
        return { Outcome::Skipped, issueText((inputs ? wanted : inputs).issue()), false };
    if (wanted->size() > outputs.size())
        return { Outcome::Failed, "the imported graph has fewer outputs than the data set", false };

    for (size_t i = 0; i < std::min(inputs->size(), graph.inputs().size()); ++i)
        restoreBFloat16((*inputs)[i], graph.value(graph.inputs()[i]).type.dtype);

    BufferPool pool;
    Execution execution(schedule, pool);
    if (const auto bound = execution.bind(*inputs); !bound)
        return { Outcome::Skipped, issueText(bound.issue()), true };
    if (const auto done = execution.runAll(cancel); !done)
        return { Outcome::Skipped, issueText(done.issue()), true };
    const bool random = hasRandomNode(graph);
    for (size_t i = 0; i < wanted->size(); ++i) {
        if (!execution.has(outputs[i]))
            return { Outcome::Failed, "output " + graph.value(outputs[i]).name + " was not computed", false };
        restoreBFloat16((*wanted)[i], execution.get(outputs[i]).dtype());
        const Tensor got = toPlain(execution.get(outputs[i]));
        const std::string text = random ? kindDifference(got, (*wanted)[i]) : difference(got, (*wanted)[i]);
        if (!text.empty())
            return { Outcome::Failed, "output " + graph.value(outputs[i]).name + " " + text, false };
    }
    if (random)
        return { Outcome::Skipped, "its values are random; type and shape of the outputs are right", false };
    return {};
}

} // namespace

std::vector<BackendTest> findBackendTests(const fs::path& top)
{
    std::vector<BackendTest> tests;
    std::error_code none;
    for (const auto& entry : fs::recursive_directory_iterator(top, none)) {
        if (entry.path().filename() == "model.onnx")
            tests.push_back({ fs::relative(entry.path().parent_path(), top).string(), entry.path().parent_path() });
    }
    std::sort(tests.begin(), tests.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    return tests;
}

std::string_view outcomeName(Outcome kind)
{
    return kind == Outcome::Passed ? "passed" : kind == Outcome::Failed ? "failed" : "skipped";
}

BackendOutcome runBackendTest(const BackendTest& test, KernelMode mode, const CancelToken& cancel)
{
    const auto model = importModel((test.folder / "model.onnx").string());
    if (!model)
        return { Outcome::Skipped, issueText(model.issue()), true };
    Demand demand;
    demand.values.assign((*model)->graph.outputs().begin(), (*model)->graph.outputs().end());
    const auto schedule = Schedule::make(Plan::make(*model, { mode }), std::move(demand));
    if (!schedule)
        return { Outcome::Skipped, issueText(schedule.issue()), false };
    for (const auto& entry : fs::directory_iterator(test.folder)) {
        if (!entry.is_directory())
            continue;
        BackendOutcome outcome = runDataSet(*schedule, entry.path(), cancel);
        if (const std::string_view why = contestedReason(test.folder.filename().string());
            outcome.kind == Outcome::Failed && !why.empty())
            return { Outcome::Skipped,
                "its recorded result is contested: " + std::string(why) + " (" + outcome.reason + ")", false };
        if (outcome.kind != Outcome::Passed)
            return outcome;
    }
    return {};
}

} // namespace qs
