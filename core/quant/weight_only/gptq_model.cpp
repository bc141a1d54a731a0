// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/weight_only/gptq_model.h"

#include "core/base/work/parallel.h"
#include "core/kernels/product/matmul.h"
#include "core/quant/calibrate/activation_pass.h"
#include "core/quant/weight_only/block_rules.h"
#include "core/quant/weight_only/gptq.h"
#include "core/tensor/convert.h"
#include "core/tensor/eigen_map.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

constexpr size_t kRowsAtOnce = 2048; ///< of an input: sums in float32 no longer than that
constexpr size_t kTile = 128; ///< rows of the Hessian that are worked on together

/// The value that some weights are multiplied with, and what is gathered of it.
struct Input {
    std::string name;
    std::vector<const BlockProduct*> products;
    InputProducts sums;
    double samples = 0;

    uint64_t bytes(bool full) const { return full ? uint64_t(sums.size) * sums.size * 24 : uint64_t(sums.size) * 8; }
};

class Gatherer {
public:
    Gatherer(bool full, size_t threads)
        : m_full(full)
        , m_threads(threads)
        , m_matmul(nullptr)
    {
    }

    void start(Input& input) const
    {
        input.sums.diagonal.assign(input.sums.size, 0.0);
        if (m_full)
            input.sums.full.assign(input.sums.size * input.sums.size, 0.0);
    }

    Status add(Input& input, const Tensor& value)
    {
        const size_t k = input.sums.size;
        if (value.rank() == 0 || static_cast<size_t>(value.shape().back()) != k)
            return Issue { IssueKind::BadInput, "does not fit the weight it is multiplied with", {}, {}, input.name,
                "repair the model" };
        input.samples += value.rank() == 1 ? 1 : static_cast<double>(value.dim(0));
        const std::vector<float> rows = toFloats(value);
        const size_t count = rows.size() / k;
        for (size_t r = 0; r < count; r += kRowsAtOnce)
            addRows(input.sums, rows.data() + r * k, std::min(kRowsAtOnce, count - r));
        if (!std::ranges::all_of(input.sums.diagonal, [](double v) { return std::isfinite(v); }))
            return Issue { IssueKind::BadInput, "holds NaN or infinity, so GPTQ cannot use it", {}, {}, input.name,
                "check the data" };
        return {};
    }

    void finish(Input& input) const
    {
        const double factor = 2 / std::max(input.samples, 1.0);
        for (double& v : input.sums.diagonal)
            v *= factor;
        for (double& v : input.sums.full)
            v *= factor;
    }

private:
    void addRows(InputProducts& sums, const float* values, size_t count)
    {
        const size_t k = sums.size;
        const auto rows = matrixMap(values, count, k);
        for (size_t r = 0; r < count; ++r)
            rowMap(std::span(sums.diagonal)) += rows.row(r).cast<double>().cwiseAbs2();
        if (!m_full)
            return;
        parallelFor((k + kTile - 1) / kTile, m_threads, [&](size_t tile, size_t) {
            const size_t first = tile * kTile, width = std::min(kTile, k - first);
            const RowMatrix<float> left = rows.middleCols(first, width);
            RowMatrix<float> product(width, k);
            m_matmul.multiply(
                { static_cast<int64_t>(width), static_cast<int64_t>(count), static_cast<int64_t>(k), true, false },
                left.data(), values, product.data());
            matrixMap(sums.full.data(), k, k).middleRows(first, width) += product.cast<double>();
        });
    }

    bool m_full;
    size_t m_threads;
    FloatMatmul m_matmul;
};

/// One run over the data for the inputs [first, last), and the blocks of their weights.
Status gptqInputs(std::span<Input> inputs, const Recipe& recipe, CalibrationRun run, ReadyBlocks& made)
{
    run.tensors.clear();
    Gatherer gatherer(recipe.weightOnly.gptq.spreadErrors, run.work.threadCount());
    for (Input& input : inputs) {
        run.tensors.push_back(input.name);
        gatherer.start(input);
    }
    QS_TRY(ActivationPass pass, ActivationPass::make(run));
    for (size_t i = 0; i < inputs.size(); ++i)
        if (const Tensor* constant = pass.constant(i))
            QS_CHECK(gatherer.add(inputs[i], *constant));
    const auto see
        = [&](size_t watched, const Tensor& value, size_t, size_t) { return gatherer.add(inputs[watched], value); };
    QS_CHECK(pass.run("calibrate", see));
    for (Input& input : inputs) {
        if (run.work.cancel.cancelled())
            return cancelled();
        gatherer.finish(input);
        for (const BlockProduct* p : input.products) {
            if (made.contains({ p->weight, p->rules.bits }))
                continue;
            auto blocks = gptqBlocks(p->matrix, input.sums, p->rules, recipe.weightOnly.gptq);
            if (!blocks) {
                Issue issue = std::move(blocks).issue();
                issue.tensor = p->weight;
                return issue;
            }
            made.emplace(std::pair(p->weight, p->rules.bits), std::move(*blocks));
        }
        input.sums = { input.sums.size, {}, {} };
    }
    return {};
}

std::vector<Input> inputsOf(const GraphDraft& draft, const std::vector<BlockProduct>& products)
{
    std::vector<Input> inputs;
    for (const BlockProduct& p : products) {
        const std::string& name = draft.nodes[p.node].inputs[0];
        const auto size = static_cast<size_t>(p.matrix.dim(0));
        auto found = std::ranges::find_if(inputs, [&](const Input& i) { return i.name == name; });
        if (found == inputs.end())
            found = inputs.insert(inputs.end(), Input { name, {}, { size, {}, {} }, 0 });
        found->products.push_back(&p);
    }
    return inputs;
}

} // namespace

Result<ReadyBlocks> gptqModel(const GraphDraft& draft, const Recipe& recipe, CalibrationRun run)
{
    QS_TRY(const FloatModel model, FloatModel::make(draft, recipe, {}));
    QS_TRY(const auto products, blockProducts(model, recipe, run.work.threadCount()));
    ReadyBlocks made;
    std::vector<Input> inputs = inputsOf(draft, products);
    if (inputs.empty())
        return made;
    QS_TRY(const auto built, draft.build());
    run.plan = Plan::make(built);
    run.inOrder = true;
    for (const Input& input : inputs)
        run.tensors.push_back(input.name);
    QS_TRY(const ActivationPass all, ActivationPass::make(run));
    const bool full = recipe.weightOnly.gptq.spreadErrors;
    for (size_t first = 0, last = 0; first < inputs.size(); first = last) {
        uint64_t bytes = inputs[first].bytes(full);
        if (bytes > all.spareBytes())
            return Issue { IssueKind::BadInput,
                "needs " + std::to_string(bytes >> 20) + " MB for the products of its "
                    + std::to_string(inputs[first].sums.size) + " inputs, more than the memory limit leaves",
                {}, {}, inputs[first].products.front()->weight, "raise --memory-limit, or exclude its node" };
        for (last = first + 1; last < inputs.size(); ++last) {
            bytes += inputs[last].bytes(full);
            if (bytes > all.spareBytes())
                break;
        }
        QS_CHECK(gptqInputs(std::span(inputs).subspan(first, last - first), recipe, run, made));
    }
    return made;
}

} // namespace qs
