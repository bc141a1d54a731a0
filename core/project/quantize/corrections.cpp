// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/project/quantize/corrections.h"

#include "core/base/work/stopwatch.h"
#include "core/quant/correct/adaround.h"
#include "core/quant/correct/bias_correction.h"
#include "core/quant/correct/equalize.h"
#include "core/quant/correct/output_error.h"
#include "core/quant/correct/smooth.h"

#include <algorithm>

namespace qs {

namespace {

std::string counted(size_t n, const std::string& what) { return std::to_string(n) + " " + what + (n == 1 ? "" : "s"); }

Status checkPossible(const QuantizeInputs& inputs)
{
    const Recipe& recipe = inputs.recipe;
    const bool changesGraph = recipe.corrections.equalize || recipe.smoothQuant;
    if (changesGraph && (!inputs.rangesPath.empty() || inputs.ranges))
        return badUse("equalization and SmoothQuant change the ranges, so they cannot be read from a file",
            "give --data in place of --ranges, or leave these corrections out");
    if (!inputs.data && (recipe.smoothQuant || recipe.corrections.adaround || recipe.corrections.biasCorrection))
        return badUse(
            "SmoothQuant, weight rounding and bias correction look at what the model computes", "give --data");
    if (recipe.corrections.adaround && recipe.format == RecipeFormat::WeightOnly)
        return badUse("weight rounding does not know weights in blocks", "leave it out for the weight-only format");
    return {};
}

class Corrector {
public:
    Corrector(FloatState& state, const QuantizeInputs& inputs, const CorrectionHooks& hooks, const WorkContext& work)
        : m_state(state)
        , m_inputs(inputs)
        , m_hooks(hooks)
        , m_work(work)
    {
    }

    Result<std::vector<CorrectionReport>> run()
    {
        const Recipe& asked = m_inputs.recipe;
        QS_CHECK(checkPossible(m_inputs));
        if (m_inputs.data) {
            QS_TRY(const CalibrationRun run, calibrationRun());
            QS_TRY(m_outputs, OutputError::make(run));
            QS_CHECK(m_hooks.findRanges(m_state));
            QS_TRY(m_last, measured());
        }
        if (asked.corrections.equalize)
            QS_CHECK(step(&Corrector::equalize, true));
        if (asked.smoothQuant)
            QS_CHECK(step(&Corrector::smooth, true));
        if (!m_inputs.data)
            QS_CHECK(m_hooks.findRanges(m_state));
        if (asked.corrections.adaround)
            QS_CHECK(step(&Corrector::round, false));
        if (asked.corrections.biasCorrection)
            QS_CHECK(step(&Corrector::correctBias, false));
        return std::move(m_reports);
    }

private:
    /// Of the float model, or of the draft before rounding, which computes the same.
    Result<CalibrationRun> calibrationRun() const
    {
        QS_TRY(const auto model, (m_unrounded ? *m_unrounded : m_state.draft).build());
        CalibrationRun run;
        run.plan = Plan::make(model);
        run.data = m_inputs.data;
        run.carry = m_inputs.carry;
        run.work = m_work;
        return run;
    }

    Result<std::optional<double>> measured() const
    {
        QS_TRY(const QuantizedDraft quantized, m_hooks.quantize(m_state, m_state.recipe));
        return m_outputs->sqnr(quantized.draft);
    }

    Result<std::vector<bool>> chosen() const
    {
        QS_TRY(const FloatModel model, FloatModel::make(m_state.draft, m_state.recipe, {}));
        return model.chosen;
    }

    Status step(Status (Corrector::*correct)(CorrectionReport&), bool changesRanges)
    {
        if (m_work.cancel.cancelled())
            return cancelled();
        CorrectionReport report;
        const Stopwatch watch;
        QS_CHECK((this->*correct)(report));
        report.ms = watch.ms();
        if (m_outputs) {
            if (changesRanges)
                QS_CHECK(m_hooks.findRanges(m_state));
            report.before = m_last;
            QS_TRY(m_last, measured());
            report.after = m_last;
            if (report.before && report.after && *report.after < *report.before)
                report.notes.push_back("it lowers the SQNR of the output on these samples; better leave it out");
        }
        m_reports.push_back(std::move(report));
        return {};
    }

    Status equalize(CorrectionReport& report)
    {
        QS_TRY(const std::vector<bool> nodes, chosen());
        const EqualizeReport made = equalizeLayers(m_state.draft, nodes, m_inputs.recipe.corrections.equalizeClips);
        m_state.applied.corrections.equalize = true;
        m_state.applied.corrections.equalizeClips = m_inputs.recipe.corrections.equalizeClips;
        report.name = "equalization";
        report.movesFactors = true;
        report.changes = counted(made.pairs, "pair") + " of layers brought to equal ranges";
        if (!made.clips.empty())
            report.notes.push_back(counted(made.clips.size(), "Clip") + " between layers (" + made.clips.front()
                + (made.clips.size() > 1 ? " ...)" : ")")
                + ": their weights stay as they are, since one bound for all channels cannot be scaled by channel"
                + (m_inputs.recipe.corrections.equalizeClips ? ""
                                                             : "; --equalize-clips makes Relu of those from 0 on"));
        if (!made.replaced.empty())
            report.notes.push_back(counted(made.replaced.size(), "Clip") + " became Relu (" + made.replaced.front()
                + (made.replaced.size() > 1 ? " ...)" : ")") + ": what lies above their bounds is no longer cut");
        return {};
    }

    /// What a new Mul makes gets a quantizer where one stands at what it reads or at the weight behind it: the file
    /// that places them does not name it.
    void placeBehind(const std::vector<std::string>& added)
    {
        std::vector<std::string>& placed = m_state.recipe.placement.tensors;
        const auto isPlaced = [&](const std::string& name) { return std::ranges::find(placed, name) != placed.end(); };
        for (const DraftNode& mul : m_state.draft.nodes) {
            if (placed.empty() || std::ranges::find(added, mul.name) == added.end())
                continue;
            const std::string& output = mul.outputs.front();
            const bool near = std::ranges::any_of(m_state.draft.nodes, [&](const DraftNode& reader) {
                return reader.hasInput(1) && reader.inputs[0] == output
                    && (isPlaced(mul.inputs[0]) || isPlaced(reader.inputs[1]));
            });
            if (near && !isPlaced(output))
                placed.push_back(output);
        }
    }

    Status smooth(CorrectionReport& report)
    {
        QS_TRY(const std::vector<bool> nodes, chosen());
        QS_TRY(const CalibrationRun run, calibrationRun());
        const Recipe& asked = m_inputs.recipe;
        QS_TRY(const SmoothReport made,
            smoothInputs(m_state.draft, nodes, asked.smoothQuantAlpha, asked.smoothQuantFolding, run));
        m_state.applied.smoothQuant = true;
        m_state.recipe.exclude.insert(m_state.recipe.exclude.end(), made.added.begin(), made.added.end());
        placeBehind(made.added);
        report.name = "SmoothQuant";
        report.movesFactors = true;
        report.changes = counted(made.inputs, "input") + " smoothed, " + std::to_string(made.folded)
            + " of them without a new node";
        if (!made.nowhere.empty())
            report.notes.push_back("the inputs of " + counted(made.nowhere.size(), "Conv") + " (" + made.nowhere.front()
                + (made.nowhere.size() > 1 ? " ...)" : ")")
                + " stay as they are: nothing before them takes the factors");
        return {};
    }

    Status round(CorrectionReport& report)
    {
        QS_TRY(const QuantizedDraft quantized, m_hooks.quantize(m_state, m_state.recipe));
        QS_TRY(CalibrationRun run, calibrationRun());
        m_unrounded = m_state.draft;
        QS_TRY(const AdaRoundReport made, adaRound(m_state.draft, quantized.draft, {}, run));
        report.name = "weight rounding";
        report.changes = std::to_string(made.changed) + " of " + counted(made.weights, "weight") + " in "
            + counted(made.layers, "layer") + " rounded the other way";
        for (const std::string& skipped : made.skipped)
            report.notes.push_back("the weight " + skipped + "; it stays rounded to nearest");
        return {};
    }

    Status correctBias(CorrectionReport& report)
    {
        Recipe recipe = m_state.recipe;
        if (recipe.format == RecipeFormat::QOperator) // the same numbers with float values between the operators
            recipe.format = RecipeFormat::Qdq;
        QS_TRY(const QuantizedDraft quantized, m_hooks.quantize(m_state, recipe));
        QS_TRY(const CalibrationRun run, calibrationRun());
        QS_TRY(const std::vector<bool> nodes, chosen());
        BiasCorrectionOptions options;
        options.bytes = std::min(options.bytes, m_work.memoryBytes() / 2);
        QS_TRY(const BiasCorrectionReport made, correctBiases(m_state.draft, quantized.draft, nodes, options, run));
        report.name = "bias correction";
        report.changes = counted(made.changed, "bias value") + " changed in " + counted(made.layers, "layer")
            + ", from " + counted(made.feeds, "run");
        return {};
    }

    FloatState& m_state;
    const QuantizeInputs& m_inputs;
    const CorrectionHooks& m_hooks;
    const WorkContext& m_work;
    std::optional<GraphDraft> m_unrounded;
    std::optional<OutputError> m_outputs;
    std::optional<double> m_last;
    std::vector<CorrectionReport> m_reports;
};

} // namespace

FloatState uncorrected(GraphDraft draft, const Recipe& recipe)
{
    FloatState state { std::move(draft), recipe, recipe, {}, {} };
    state.recipe.corrections = {};
    state.recipe.smoothQuant = false;
    state.applied.corrections = {};
    state.applied.smoothQuant = false;
    return state;
}

bool asksForCorrections(const Recipe& recipe)
{
    return recipe.smoothQuant || recipe.corrections != CorrectionOptions {};
}

Result<std::vector<CorrectionReport>> correctModel(
    FloatState& state, const QuantizeInputs& inputs, const CorrectionHooks& hooks, const WorkContext& work)
{
    return Corrector(state, inputs, hooks, work).run();
}

} // namespace qs
