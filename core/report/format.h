// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/lab/ladder.h"
#include "core/analysis/rows/comparison.h"
#include "core/project/snapshot/loaded_model.h"

#include <string>
#include <string_view>

/// The one place where reports turn numbers into text. ASCII; what does not exist is "-".
namespace qs::text {

/// `digits` significant digits; an exponent only below 1e-4 and from 1e6 on: "0.0239", "19.7", "3.10e-07".
std::string number(const Number& value, int digits = 3);
/// One decimal: "-5.4"; "exact" for equal tensors.
std::string decibel(const Number& value, bool exact = false);
std::string decibelUnit(const Number& value, bool exact = false); ///< "-5.4 dB"
/// Of a fraction: "11.8 %", "<0.1 %", "0 %".
std::string percent(const Number& fraction);
std::string count(uint64_t n); ///< "1,234,567"
std::string milliseconds(double ms); ///< "350 ms", "1.2 s"
std::string bytes(uint64_t n); ///< "61.2 MB"
std::string range(const std::optional<std::pair<double, double>>& range); ///< "[0, 6.10]"
/// "0.0239 * (q + 128) int8", "int8, 64 scales 0.0031..0.0120, axis 0", "uint8, dynamic"; "-" without a quantizer.
std::string quantizer(const QuantParams& params, bool dynamic);
std::string match(MatchMethod method, double confidence); ///< "suffix 0.99"
/// "conv_2_output"; of a tensor with several pairs of quantizers "conv_2_output for add_3", which reads this one.
std::string tensorFor(const ActivationRow& row);
/// "1 sample", "3 samples".
std::string counted(uint64_t n, std::string_view noun);
std::string ladderAccuracy(const LadderRow& row); ///< "97.5 % to 96 %"; "-" where it is not known
/// Where agreement ends: "agreement ends at simulated -> integer, value 'logits' ..." or that it does not.
std::string ladderVerdict(const Ladder& ladder);
/// ", weights rounded to float16", to go on with in a sentence; empty for files in float32.
std::string roundingText(const PrecisionStep& step);
/// "without quantizers both files compute the same (3.1e-07 of the size of y apart)", that they do not, or why it
/// is not known.
std::string networkVerdict(const NetworkVerdict& verdict);
/// One sentence for each input of the quantized file that takes what the float model's does in another form.
std::vector<std::string> fittedInputs(const LoadedModel& quantized);
std::string fileName(const std::string& path);
/// What is known of a remedy's gain: "At this tensor about 5.4 dB; at the output not measured.", or, where it was
/// tried, "Measured at the output: +5.4 dB, 3 more samples right."; empty where nothing is.
std::string gainSentence(const Finding& finding, const std::optional<Accuracy>& accuracy);
/// "12 remedies were tried in the quantized file"
std::string trialsText(const RemedyTrialNote& trials);

/// The channel with the lowest SQNR and its number; empty without channels.
struct WorstChannel {
    size_t channel;
    double sqnrDb;
};
std::optional<WorstChannel> worstChannel(const WeightRow& row);
std::string worstChannelText(const WeightRow& row); ///< "39.6 (16)"

/// Shares of the mean squared error; empty where there is no split or no error.
struct NoiseShares {
    Number rounding, clipping, weights, inherited, kernel;
};
NoiseShares noiseShares(const ActivationRow& row);
/// A share is below 0 or above 100 %, as it is written: other parts take back what it adds.
bool cancels(const NoiseShares& noise);

/// Indices of the rows, lowest accumulated SQNR first, then exact ones, then those without a number.
std::vector<size_t> worstFirst(const std::vector<ActivationRow>& rows);
std::vector<size_t> worstFirst(const std::vector<WeightRow>& rows);

} // namespace qs::text
