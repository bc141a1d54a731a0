// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/agreement/reads_ahead.h"

#include "core/analysis/pairs/cache_pairs.h"
#include "core/engine/run/sample_loop.h"
#include "core/graph/domains.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <vector>

namespace qs {

namespace {

constexpr size_t kFeedsAsked = 4;
/// Of a row's largest score: more than rounding moves, less than any token does that is read.
constexpr double kMoved = 1e-4;

/// The graph itself says that nothing reads ahead: what is remembered of a text has only what came before.
bool isCausal(const Graph& graph)
{
    return !cachePairs(graph).empty() || std::ranges::any_of(graph.nodes(), [](const Node& node) {
        return node.is("GroupQueryAttention", kMicrosoftDomain)
            || (node.is("Attention", kMicrosoftDomain) && node.attributes.integer("unidirectional", 0) != 0);
    });
}

/// Quantizers whose scale follows from all positions hand on a little from each to each.
bool hasDynamicScales(const Graph& graph)
{
    return std::ranges::any_of(graph.nodes(), [](const Node& node) { return node.is("DynamicQuantizeLinear"); });
}

/// A token that something stands before, in a batch.
struct LaterToken {
    size_t row = 0, position = 0;
    int64_t other = 0; ///< to put in its place
    std::vector<size_t> before {}; ///< positions of the tokens before it, no padding
};

/// The last one that is no padding, of the first prompt that has two.
std::optional<LaterToken> laterToken(const Tensor& ids, const Tensor& mask)
{
    if (!ids.valid() || ids.rank() != 2)
        return std::nullopt;
    const std::vector<int64_t> all = toInts(ids);
    const auto positions = size_t(ids.dim(1));
    const bool masked = mask.valid() && mask.rank() == 2 && mask.dim(0) == ids.dim(0) && mask.dim(1) >= ids.dim(1);
    const std::vector<int64_t> counts = masked ? toInts(mask) : std::vector<int64_t>();
    const size_t width = masked ? size_t(mask.dim(1)) : 0;
    for (size_t row = 0; row < size_t(ids.dim(0)); ++row) {
        std::vector<size_t> read;
        for (size_t i = 0; i < positions; ++i)
            if (!masked || counts[(row + 1) * width - positions + i] != 0)
                read.push_back(i);
        if (read.size() < 2)
            continue;
        const auto at = [&](size_t i) { return all[row * positions + i]; };
        const int64_t last = at(read.back());
        const auto unlike = std::ranges::find_if(read, [&](size_t i) { return at(i) != last; });
        const int64_t other = unlike != read.end() ? at(*unlike) : last > 0 ? last - 1 : last + 1;
        return LaterToken { row, read.back(), other, { read.begin(), read.end() - 1 } };
    }
    return std::nullopt;
}

Tensor withToken(const Tensor& ids, const LaterToken& token)
{
    std::vector<int64_t> all = toInts(ids);
    all[token.row * size_t(ids.dim(1)) + token.position] = token.other;
    return ids.dtype() == DType::Int32 ? Tensor::of<int32_t>(ids.shape(), { all.begin(), all.end() })
                                       : Tensor::of<int64_t>(ids.shape(), all);
}

/// What the model scores before the token, a row of the vocabulary for each position; empty where it does not run.
std::vector<float> scoresBefore(const std::shared_ptr<const Schedule>& schedule, ValueId output,
    const std::vector<Tensor>& inputs, const LaterToken& token, const WorkContext& work)
{
    const std::vector<std::shared_ptr<const Schedule>> beside { schedule };
    auto loop = SampleLoop::make(beside, 1, work);
    std::vector<float> found;
    if (!loop.ok())
        return found;
    const Status done = loop->run({ 1 }, [&](size_t, const SampleWorker& worker) -> Status {
        Execution run = worker.execution(schedule);
        QS_CHECK(run.bind(inputs));
        QS_CHECK(run.runAll(work.cancel));
        const Tensor all = toPlain(run.get(output));
        if (all.rank() != 3 || size_t(all.dim(0)) <= token.row || size_t(all.dim(1)) <= token.position)
            return {};
        const std::vector<float> scores = toFloats(all);
        const auto row = size_t(all.dim(1) * all.dim(2));
        const auto first = scores.begin() + ptrdiff_t(token.row * row);
        found.assign(first, first + ptrdiff_t(token.position * size_t(all.dim(2))));
        return {};
    });
    return done.ok() ? found : std::vector<float>();
}

/// Scores of padding may be of all tokens alike: nobody reads them.
bool scoresMove(const std::vector<float>& a, const std::vector<float>& b, const LaterToken& token)
{
    if (a.empty() || a.size() != b.size())
        return false;
    const size_t words = a.size() / token.position;
    for (const size_t i : token.before) {
        double largest = 0, moved = 0;
        for (size_t k = i * words; k < (i + 1) * words; ++k)
            if (std::isfinite(a[k]) && std::isfinite(b[k])) {
                largest = std::max(largest, std::fabs(double(a[k])));
                moved = std::max(moved, std::fabs(double(a[k]) - double(b[k])));
            }
        if (moved > kMoved * largest)
            return true;
    }
    return false;
}

} // namespace

Result<bool> readsAhead(const std::shared_ptr<const Plan>& plan, const OutputPair& output, const CarriedState& before,
    size_t feeds, const std::function<Result<Feed>(size_t)>& feed, const WorkContext& work)
{
    const auto& text = output.task.tokens;
    if (!text || isCausal(plan->graph()) || hasDynamicScales(plan->graph()))
        return false;
    const auto schedule = Schedule::make(plan, Demand { { output.x }, {} });
    if (!schedule.ok())
        return false;
    for (size_t i = 0; i < std::min(feeds, kFeedsAsked); ++i) {
        QS_TRY(const Feed next, feed(i));
        std::vector<Tensor> inputs = before.inputs(next.inputs);
        const auto token = laterToken(inputs[text->ids], text->mask ? inputs[*text->mask] : Tensor());
        if (!token)
            continue;
        const std::vector<float> as = scoresBefore(*schedule, output.x, inputs, *token, work);
        inputs[text->ids] = withToken(inputs[text->ids], *token);
        const std::vector<float> other = scoresBefore(*schedule, output.x, inputs, *token, work);
        if (work.cancel.cancelled())
            return cancelled();
        return scoresMove(as, other, *token);
    }
    return false;
}

} // namespace qs
