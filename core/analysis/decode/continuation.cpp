// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/decode/continuation.h"

#include "core/analysis/decode/guesses.h"
#include "core/tensor/convert.h"

#include <algorithm>

namespace qs {

Result<Decoder> Decoder::make(std::shared_ptr<const Plan> plan, ValueId scores, const CarryNames& carry)
{
    Decoder decoder;
    decoder.plan = plan;
    decoder.scores = scores;
    QS_TRY(decoder.inputs, decoderInputs(*plan, scores, carry));
    Demand demand { { scores }, {} };
    for (const auto& [output, input] : decoder.inputs.caches)
        demand.values.push_back(output);
    QS_TRY(decoder.schedule, Schedule::make(std::move(plan), std::move(demand)));
    return decoder;
}

Continuation::Continuation(const Decoder& decoder, std::vector<Tensor> prompt, int64_t tokens)
    : m_decoder(decoder)
    , m_inputs(firstTokens(decoder.inputs.prompt, std::move(prompt), tokens))
    , m_rows(m_inputs[decoder.inputs.prompt.ids].dim(0))
{
}

Result<std::vector<std::vector<float>>> Continuation::guess(const SampleWorker& worker, const CancelToken& cancel)
{
    Execution run = worker.execution(m_decoder.schedule);
    QS_CHECK(run.bind(m_inputs));
    QS_CHECK(run.runAll(cancel));
    const Tensor scores = toPlain(run.get(m_decoder.scores));
    if (scores.rank() != 3 || scores.dim(0) != m_rows || scores.count() == 0) {
        Issue issue = badInput("has shape " + shapeText(scores.shape()) + ", no scores by prompt and position",
            m_decoder.plan->model().path, "use --decode forced");
        issue.tensor = m_decoder.plan->graph().value(m_decoder.scores).name;
        return issue;
    }
    std::vector<std::vector<float>> rows;
    for (int64_t row = 0; row < m_rows; ++row)
        rows.push_back(lastScores(scores, row));
    for (const auto& [output, input] : m_decoder.inputs.caches)
        m_inputs[input] = toPlain(run.get(output));
    return rows;
}

void Continuation::append(const std::vector<int64_t>& tokens)
{
    addTokens(m_decoder.inputs.prompt, m_inputs, tokens, m_decoder.inputs.caches.empty());
}

Result<std::vector<std::vector<int64_t>>> goneOn(Continuation text, size_t steps,
    const std::function<bool(const std::vector<int64_t>&)>& last, const SampleWorker& worker, const CancelToken& cancel)
{
    std::vector<std::vector<int64_t>> chosen;
    while (chosen.size() < steps && (chosen.empty() || !last(chosen.back()))) {
        if (cancel.cancelled())
            return cancelled();
        QS_TRY(const auto scores, text.guess(worker, cancel));
        chosen.push_back(bestTokens(scores));
        text.append(chosen.back());
    }
    return chosen;
}

Issue paddedBefore(size_t prompt)
{
    return badInput(
        "prompt " + std::to_string(prompt) + " begins with padding; prompts are continued from their first position on",
        {}, "pad it at its end, or give it alone without padding");
}

Issue shortPrompt(size_t prompt, int64_t tokens, int64_t wanted, std::string remedy)
{
    if (tokens == 0)
        return paddedBefore(prompt);
    return badInput("prompt " + std::to_string(prompt) + " has " + std::to_string(tokens)
            + " tokens before its end or padding, fewer than the " + std::to_string(wanted) + " to be read",
        {}, std::move(remedy));
}

} // namespace qs
