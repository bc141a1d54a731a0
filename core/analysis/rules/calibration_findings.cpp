// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/rows/range_use.h"
#include "core/analysis/rules/findings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

/// What is wrong with the samples that ranges were found with.
namespace qs {

namespace {

/// 256 to 1,024 samples are usual: Hailo's and RKNN's guides, NNCF's default of 300, TensorRT's advice of 500.
constexpr size_t kUsual = 256;
constexpr double kStillGrowing = 0.98; ///< of their width that ranges had after half of the samples
constexpr double kManyEqual = 0.1; ///< of the samples are equal to an earlier one
constexpr double kOneSided = 0.8; ///< of the labels are of one class
constexpr size_t kFewestLabels = 8; ///< that tell anything about classes

/// One thing that is wrong.
struct Complaint {
    std::string title, sentence, remedy;
};

/// Classes that the first output tells apart; 0 where it tells none.
size_t classCount(const Comparison& c)
{
    if (c.outputs.empty() || c.floatClass.empty() || c.outputs.front().choices)
        return 0;
    const auto row = std::ranges::find(c.activations, c.outputs.front().floatValue, &ActivationRow::floatValue);
    if (row == c.activations.end() || row->shape.empty() || row->shape.size() > 2)
        return 0;
    return size_t(std::max<int64_t>(row->shape.back(), 0));
}

/// The learning curve, in numbers; empty where it was not measured.
std::string learningCurve(const CalibrationSummary& s)
{
    if (!s.extremes || s.settledAfter == 0 || s.samples < 2)
        return {};
    const std::string width = s.settledAfter == s.samples / 2
        ? percentText(s.halfShare) + " of their width"
        : fmt::format("99 % of their width, after half of them {}", percentText(s.halfShare));
    return fmt::format(
        " After {} of {} samples ranges have {}; 256 to 1,024 samples are usual.", s.settledAfter, s.samples, width);
}

std::optional<Complaint> tooFew(const CalibrationSummary& s)
{
    if (!s.extremes || s.settledAfter == 0 || s.samples >= kUsual || s.halfShare >= kStillGrowing)
        return std::nullopt;
    if (s.samples == 1)
        return Complaint { "a single sample",
            "Ranges are those of one sample, and others will go beyond them. 256 to 1,024 samples are usual.",
            "Calibrate with more samples." };
    const std::string settled = s.settledAfter == s.samples
        ? fmt::format("Only the last of the {} samples brought ranges to 99 % of their width", s.samples)
        : fmt::format("Ranges have 99 % of their width after {} of the {} samples", s.settledAfter, s.samples);
    return Complaint { "too few samples",
        fmt::format("{}, and the first half had {} of it: more would widen them further. 256 to 1,024 are usual.",
            settled, percentText(s.halfShare)),
        "Calibrate with more samples." };
}

std::optional<Complaint> oneSided(const CalibrationSummary& s, size_t classes)
{
    if (s.labels < kFewestLabels || classes < 2)
        return std::nullopt;
    if (s.classes < classes && (s.labels >= classes || s.classes == 1))
        return Complaint { "classes missing",
            fmt::format(
                "{} of {} classes do not occur among the {} labelled samples.", classes - s.classes, classes, s.labels),
            "Take samples of every class." };
    if (classes > 2 && s.largestClass >= kOneSided)
        return Complaint { "one class rules",
            fmt::format("{} of the samples are of one class.", percentText(s.largestClass)),
            "Take about as many samples of each class." };
    return std::nullopt;
}

std::optional<Complaint> repeated(const CalibrationSummary& s)
{
    if (s.samples == 0 || double(s.repeated) < kManyEqual * double(s.samples))
        return std::nullopt;
    return Complaint { "equal samples",
        fmt::format("{} of {} samples are equal to an earlier one and tell nothing new.", s.repeated, s.samples),
        "Take each sample once." };
}

/// What was judged by the samples that chose the ranges looks better than it is.
std::optional<Complaint> judgedByItself(const CalibrationSummary& s, const Comparison& c)
{
    if (s.judged == 0 || !c.accuracy)
        return std::nullopt;
    const std::string who = s.judged == c.samples
        ? std::string("The samples that judge the result are those that chose its ranges")
        : fmt::format(
            "{} of the {} samples that judge the result are among those that chose its ranges", s.judged, c.samples);
    return Complaint { "judged by itself", who + ", so the accuracy on them says little of others.",
        "Judge with samples that were not calibrated with." };
}

/// Of any quantized file: the data were scaled otherwise than those that it was calibrated with, and no error says so.
std::optional<Complaint> normalizedOtherwise(const Comparison& c, const std::vector<Finding>& found)
{
    for (const InputRow& input : c.inputs)
        if (input.otherScale && std::ranges::none_of(found, [&](const Finding& f) {
                return f.rule == Rule::InputMismatch && f.tensor == input.name;
            }))
            return Complaint { "another normalization", fmt::format("Input {}: {}.", input.name, input.note),
                "Check the preprocessing of the data given here and of those for calibration." };
    return std::nullopt;
}

std::string joined(const std::vector<Complaint>& complaints, std::string Complaint::*part, std::string_view between)
{
    std::vector<std::string> parts;
    for (const Complaint& complaint : complaints)
        parts.push_back(complaint.*part);
    return fmt::format("{}", fmt::join(parts, between));
}

void addEvidence(const CalibrationSummary& s, size_t classes, Finding& f)
{
    f.evidence = { evidence("samples", double(s.samples)), evidence("judged_samples", double(s.judged)),
        evidence("repeated_samples", double(s.repeated)) };
    if (s.settledAfter > 0) {
        f.evidence.push_back(evidence("settled_after", double(s.settledAfter)));
        f.evidence.push_back(evidence("half_range_share", s.halfShare));
    }
    if (s.labels > 0) {
        f.evidence.push_back(evidence("classes", double(s.classes)));
        if (classes > 0)
            f.evidence.push_back(evidence("all_classes", double(classes)));
    }
}

} // namespace

std::string foreignText(const ActivationRow& row, AveragedRanges averaged)
{
    constexpr double kCutByCalibrators = 0.05; // of the values
    const std::string other = " Calibration data or preprocessing differ from the data given here";
    if (averaged == AveragedRanges::Perhaps)
        return other + ", or ranges are means over samples of each one's lowest and highest value.";
    if (averaged == AveragedRanges::Yes && isAveraged(row))
        return {};
    return other
        + (row.floatClippedFraction.value_or(1) <= kCutByCalibrators ? ", or the calibrator cuts off extremes." : ".");
}

void findAveragedRanges(const Comparison& c, std::vector<Finding>& found)
{
    if (averagedRanges(c.activations) != AveragedRanges::Yes)
        return;
    for (Finding& f : found) {
        const bool ofRange = f.rule == Rule::InputMismatch || f.rule == Rule::RangeTooSmall;
        if (!ofRange || !f.cause.empty() || !f.activation || !isAveraged(c.activations[*f.activation]))
            continue;
        const ActivationRow& row = c.activations[*f.activation];
        f.rule = Rule::RangeTooSmall;
        f.cause = kAveraged;
        f.title = fmt::format("The range at {} is averaged over samples", placeName(row));
        f.summary += " It ends at the means over samples of each one's lowest and highest value, as averaging "
                     "calibrators take them (NNCF by default): what single samples have beyond is cut.";
        f.evidence.push_back(evidence("mean_low", row.meanEnds->low));
        f.evidence.push_back(evidence("mean_high", row.meanEnds->high));
        f.remedy = "Recalibrate all activations by the lowest and highest values of all samples, or by a percentile.";
        f.change = { RemedyKind::Recalibrate, {}, {}, 0, 0, 0 };
    }
}

void findCalibrationSet(const Comparison& c, std::vector<Finding>& found)
{
    std::vector<Complaint> complaints;
    const auto add = [&](std::optional<Complaint> complaint) {
        if (complaint)
            complaints.push_back(std::move(*complaint));
    };
    const size_t classes = classCount(c);
    if (c.calibration) {
        add(tooFew(*c.calibration));
        add(oneSided(*c.calibration, classes));
        add(repeated(*c.calibration));
        add(judgedByItself(*c.calibration, c));
    }
    add(normalizedOtherwise(c, found));
    if (complaints.empty() || c.inputs.empty())
        return;
    Finding f = makeFinding(Rule::CalibrationSet);
    f.tensor = c.inputs.front().name;
    f.title = "The calibration data: " + joined(complaints, &Complaint::title, ", ");
    f.summary = joined(complaints, &Complaint::sentence, " ");
    if (c.calibration && f.summary.find("1,024") == std::string::npos)
        f.summary += learningCurve(*c.calibration);
    f.remedy = joined(complaints, &Complaint::remedy, " ");
    if (c.calibration)
        addEvidence(*c.calibration, classes, f);
    else
        f.evidence = { { "input", std::nullopt, complaints.front().sentence, {} } };
    f.confidence = 0.8;
    found.push_back(std::move(f));
}

} // namespace qs
