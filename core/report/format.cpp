// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/format.h"

#include "core/base/text/grouped_digits.h"
#include "core/base/text/share_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numeric>

namespace qs::text {

namespace {

constexpr const char* kAbsent = "-";

/// Worst first: numbers ascending, then exact, then absent.
std::pair<int, double> rank(const Similarity& s)
{
    if (s.exact)
        return { 1, 0 };
    return s.sqnrDb && !std::isnan(*s.sqnrDb) ? std::pair { 0, *s.sqnrDb } : std::pair { 2, 0.0 };
}

template <class Rows, class Of> std::vector<size_t> sortedBy(const Rows& rows, Of similarity)
{
    std::vector<size_t> order(rows.size());
    std::iota(order.begin(), order.end(), size_t(0));
    std::stable_sort(order.begin(), order.end(),
        [&](size_t a, size_t b) { return rank(similarity(rows[a])) < rank(similarity(rows[b])); });
    return order;
}

} // namespace

std::string number(const Number& value, int digits)
{
    if (!value)
        return kAbsent;
    const double v = *value;
    if (std::isnan(v))
        return "NaN";
    if (std::isinf(v))
        return v < 0 ? "-inf" : "inf";
    const double magnitude = std::fabs(v);
    if (v == 0)
        return "0";
    if (magnitude < 1e-4 || magnitude >= 1e6)
        return fmt::format("{:.{}e}", v, digits - 1);
    if (v == std::round(v))
        return fmt::format("{:.0f}", v);
    const int exponent = static_cast<int>(std::floor(std::log10(magnitude)));
    return fmt::format("{:.{}f}", v, std::clamp(digits - 1 - exponent, 0, 8));
}

std::string decibel(const Number& value, bool exact)
{
    if (exact)
        return "exact";
    if (!value || !std::isfinite(*value))
        return number(value);
    const double rounded = std::round(*value * 10) / 10;
    return fmt::format("{:.1f}", rounded == 0 ? 0.0 : rounded);
}

std::string decibelUnit(const Number& value, bool exact)
{
    return decibel(value, exact) + (value && !exact ? " dB" : "");
}

std::string percent(const Number& fraction)
{
    if (!fraction || !std::isfinite(*fraction))
        return kAbsent;
    return shareText(*fraction);
}

std::string count(uint64_t n) { return groupedDigits(n); }

std::string milliseconds(double ms)
{
    if (ms < 999.5)
        return fmt::format("{:.{}f} ms", ms, ms < 9.95 ? 1 : 0);
    return fmt::format("{:.1f} s", ms / 1000);
}

std::string bytes(uint64_t n)
{
    const auto v = static_cast<double>(n);
    if (v >= 1e9)
        return fmt::format("{:.2f} GB", v / 1e9);
    return v >= 1e6 ? fmt::format("{:.1f} MB", v / 1e6) : fmt::format("{:.1f} kB", v / 1e3);
}

std::string range(const std::optional<std::pair<double, double>>& r)
{
    return r ? "[" + number(r->first) + ", " + number(r->second) + "]" : kAbsent;
}

std::string quantizer(const QuantParams& params, bool dynamic)
{
    const std::string type(dtypeName(params.dtype));
    if (dynamic)
        return type + ", dynamic";
    if (params.scale.empty())
        return kAbsent;
    if (params.perTensor()) {
        const int64_t zero = params.zeroPoint.empty() ? 0 : params.zeroPoint[0];
        return fmt::format(
            "{} * (q {} {}) {}", number(double(params.scale[0])), zero < 0 ? '+' : '-', std::abs(zero), type);
    }
    const auto [low, high] = std::minmax_element(params.scale.begin(), params.scale.end());
    std::string text = fmt::format(
        "{}, {} scales {}..{}", type, count(params.scale.size()), number(double(*low)), number(double(*high)));
    if (params.axis)
        text += fmt::format(", axis {}", *params.axis);
    return params.blockSize > 0 ? text + fmt::format(", blocks of {}", params.blockSize) : text;
}

std::string match(MatchMethod method, double confidence)
{
    return fmt::format("{} {:.2f}", matchMethodName(method), confidence);
}

std::string tensorFor(const ActivationRow& row)
{
    return row.readerNames.empty() ? row.name : row.name + " for " + row.readerNames.front();
}

std::string counted(uint64_t n, std::string_view noun)
{
    return count(n) + " " + std::string(noun) + (n == 1 ? "" : "s");
}

std::string ladderAccuracy(const LadderRow& row)
{
    return row.accuracyAfter ? percent(row.accuracyBefore) + " to " + percent(row.accuracyAfter) : "-";
}

std::string ladderVerdict(const Ladder& ladder)
{
    if (!ladder.firstApart)
        return "every step agrees with the one before it";
    const LadderRow& row = ladder.rows[*ladder.firstApart];
    return "agreement ends at " + std::string(ladderStepName(row.step)) + ", value '" + row.name + "': asked for "
        + row.rule + ", found "
        + (row.accuracyAfter && row.step == LadderStep::Simulated ? ladderAccuracy(row)
                : row.beyondStep                                  ? percent(row.beyondStep) + " further"
                : row.step == LadderStep::Float                   ? number(row.relative)
                                                : decibelUnit(row.similarity.sqnrDb, row.similarity.exact));
}

std::string roundingText(const PrecisionStep& step)
{
    if (step.precision == Precision::Float32)
        return "";
    const std::string what = step.weights && step.values ? "weights and values" : step.weights ? "weights" : "values";
    const std::string where = step.inFloatFile && step.inQuantizedFile ? " in both"
        : step.inFloatFile                                             ? " in the float file"
                                                                       : "";
    return ", " + what + " rounded to " + std::string(precisionName(step.precision)) + where;
}

std::string networkVerdict(const NetworkVerdict& v)
{
    if (!v.known())
        return "whether the files compute the same without quantizers could not be tested: " + v.reason;
    const std::string given = v.storedWeights || v.givenWeights ? " given the same weights"
        : v.same() && (v.otherConstants || v.roundedConstants)  ? " given the same constants"
        : v.restoredActivations                                 ? " with lost activations put back"
        : v.rearranged                                          ? " within what rounding their weights explains"
                                                                : "";
    const double distance = v.distance.worstOutput.distance;
    std::string apart = distance == 0 ? " (no difference"
        : std::isfinite(distance)     ? " (" + number(distance, 2) + " of the size of " + v.output + " apart"
        : v.distance.zeroInFloat      ? " (" + v.output + " is zero everywhere in the float model alone"
        : v.distance.noNumbers + v.distance.numbersAlone > 0 ? fmt::format(" ({} of {} infinite or NaN in the {} alone",
              counted(v.distance.noNumbers > 0 ? v.distance.noNumbers : v.distance.numbersAlone, "element"), v.output,
              v.distance.noNumbers > 0 ? "quantized file" : "float model")
                                                             : " (" + v.output + " cannot be compared";
    if (v.distance.explained && (distance > 0 || v.step.precision != Precision::Float32))
        apart += ", rounding "
            + (v.rearranged ? std::string("the weights") : "to " + std::string(precisionName(v.step.precision)))
            + " explains " + number(*v.distance.explained, 2);
    apart += ")";
    if (v.same() && !v.distance.silent.empty())
        apart += fmt::format("; not shown on sample{} {}, where rounding alone may do as much",
            v.distance.silent.size() == 1 ? "" : "s", fmt::join(v.distance.silent, ", "));
    if (v.same() && !v.unreached.empty())
        apart += "; " + counted(v.unreached.size(), "difference")
            + (v.unreached.size() == 1 ? " between them moves" : " between them move") + " nothing there";
    if (v.same() && v.past == PastProof::Untested)
        apart += "; all caches were empty, so what they do with a past was not tested";
    const bool partly = !v.distance.silent.empty() || !v.unreached.empty();
    const std::string onThese = partly ? " on these data" : "";
    return (v.same() ? "without quantizers both files compute the same" + onThese + given + roundingText(v.step)
                     : "without quantizers the files do not compute the same" + given)
        + apart;
}

namespace {

/// Of a vocabulary that was padded.
std::string columnsText(const LoadedModel& quantized, const FittedInput& fitted)
{
    const ValueId shown = quantized.graph().findValue(fitted.name);
    const auto dims = shown.valid() ? quantized.plan->facts().of(shown).dims : std::nullopt;
    const std::string both = dims && !dims->empty() ? dimsText({ dims->back() }) : "?";
    return fmt::format("{} columns, the float model's {}: the first {} are compared",
        dimsText({ fitted.declared.dims->back() }), both, both);
}

} // namespace

std::vector<std::string> fittedInputs(const LoadedModel& quantized)
{
    std::vector<std::string> texts;
    if (!quantized.fitted)
        return texts;
    for (const FittedInput& fitted : *quantized.fitted) {
        std::string text = fitted.isOutput ? "output '" : "input '";
        text += fitted.name + "' of the quantized file " + (fitted.isOutput ? "has " : "takes ");
        if (fitted.codes)
            text += "codes, which are made of the data as the file reads them: " + quantizer(*fitted.codes, false);
        if (!fitted.order.empty())
            text += (fitted.codes ? ", and " : "") + dimsText(*fitted.declared.dims)
                + (fitted.isOutput ? ", whose axes are turned to compare them"
                                   : ", for which the data's axes are turned");
        else if (fitted.isOutput)
            text += columnsText(quantized, fitted);
        texts.push_back(std::move(text));
    }
    return texts;
}

std::string fileName(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::optional<WorstChannel> worstChannel(const WeightRow& row)
{
    std::optional<WorstChannel> worst;
    for (size_t i = 0; i < row.channelSqnrDb.size(); ++i)
        if (const Number& db = row.channelSqnrDb[i]; db && (!worst || *db < worst->sqnrDb))
            worst = WorstChannel { i, *db };
    return worst;
}

std::string worstChannelText(const WeightRow& row)
{
    const auto worst = worstChannel(row);
    return worst ? decibel(worst->sqnrDb) + " (" + std::to_string(worst->channel) + ")" : kAbsent;
}

NoiseShares noiseShares(const ActivationRow& row)
{
    const Number& rmse = row.accumulated.rmse;
    if (!rmse || *rmse == 0 || !std::isfinite(*rmse))
        return {};
    const auto share = [&](const Number& part) { return part ? Number(*part / (*rmse * *rmse)) : Number(); };
    return { share(row.noise.rounding), share(row.noise.clipping), share(row.noise.weights), share(row.noise.inherited),
        share(row.noise.kernel) };
}

bool cancels(const NoiseShares& noise)
{
    constexpr double kShown = 0.0005;
    return std::ranges::any_of(
        std::array { noise.rounding, noise.clipping, noise.weights, noise.inherited, noise.kernel },
        [](const Number& share) { return share && (*share <= -kShown || *share >= 1 + kShown); });
}

std::vector<size_t> worstFirst(const std::vector<ActivationRow>& rows)
{
    return sortedBy(rows, [](const ActivationRow& r) -> const Similarity& { return r.accumulated; });
}

std::vector<size_t> worstFirst(const std::vector<WeightRow>& rows)
{
    return sortedBy(rows, [](const WeightRow& r) -> const Similarity& { return r.similarity; });
}

namespace {

std::string samplesRight(const Finding& f, const std::optional<Accuracy>& accuracy)
{
    if (f.measuredAccuracyGain && accuracy) {
        const double samples = std::round(*f.measuredAccuracyGain / 100 * double(accuracy->labels));
        return samples == 0
            ? ", as many samples right"
            : ", " + counted(uint64_t(std::abs(samples)), samples > 0 ? "more sample" : "fewer sample") + " right";
    }
    if (f.measuredTop1Gain && std::abs(*f.measuredTop1Gain) >= 0.05)
        return fmt::format(", {:+.1f} points of samples in the float model's class", *f.measuredTop1Gain);
    if (f.measuredAgreementGain && std::abs(*f.measuredAgreementGain) >= 0.05)
        return fmt::format(", {:+.1f} points of {}", *f.measuredAgreementGain,
            f.agreementOf == TaskKind::Boxes      ? "boxes"
                : f.agreementOf == TaskKind::Mask ? "mean IoU"
                                                  : "positions");
    return {};
}

} // namespace

std::string gainSentence(const Finding& f, const std::optional<Accuracy>& accuracy)
{
    if (f.measuredGainDb)
        return fmt::format("Measured at the output: {:+.1f} dB{}.", *f.measuredGainDb, samplesRight(f, accuracy));
    if (f.expectedGainDb && f.change.kind != RemedyKind::None)
        return "At this tensor about " + decibelUnit(f.expectedGainDb) + "; at the output not measured.";
    return {};
}

std::string trialsText(const RemedyTrialNote& trials)
{
    return counted(trials.tried, "choice") + " of remedies tried "
        + (trials.inFile ? "in the quantized file" : "by the recipe");
}

} // namespace qs::text
