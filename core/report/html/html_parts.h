// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/blame/token_blame.h"
#include "core/analysis/lab/ladder.h"
#include "core/analysis/lab/weight_lab.h"
#include "core/data/tokens/token_words.h"
#include "core/project/snapshot/snapshot.h"

#include <string>
#include <string_view>

/// Pieces of the HTML report. All of them are well-formed XML, so that the page can be checked by a parser, and refer
/// to nothing outside the page.
namespace qs::html {

/// Text as it may stand in an element or an attribute; characters that XML forbids become U+FFFD.
std::string escaped(std::string_view text);
/// A number with a true minus sign; text::number and its family, escaped.
std::string shown(std::string text);
/// Coordinate with at most two decimals.
std::string coordinate(double v);

/// 0..8, dark blue to yellow: the colour class of an SQNR from 40 dB down to 0 dB.
int colourStep(double db);
/// "c4", or "none" where there is no number; exact tensors have "c0".
std::string colourClass(const Similarity& similarity);

std::string style();
std::string script();

/// The network from top to bottom, boxes coloured by accumulated SQNR, with a legend.
std::string graphDrawing(const Snapshot& snapshot);
/// Accumulated, added and ideal SQNR of the matched tensors in the network's order.
std::string layerChart(const Comparison& comparison);
/// Float values and the quantized model's values before the quantizer, the range marked.
std::string histogram(const ActivationRow& row);

std::string activationTable(const Comparison& comparison);
std::string weightTable(const Comparison& comparison);
std::string laboratoryTable(const Comparison& comparison, const WeightLaboratory& laboratory);
/// Two quantized files of one float model: what they do otherwise.
std::string differenceTable(const Comparison& a, const Comparison& b);
std::string outputTable(const Comparison& comparison);
/// Inputs, calibrated ranges, and what became of each sample.
std::string samplesSection(const Snapshot& snapshot);
std::string ladderTable(const Ladder& ladder);
/// `words`: how tokens are written; null: unknown.
std::string blameTable(const TokenBlame& blame, const TokenWords* words);
/// What both models made of each prompt.
std::string continuationTable(const FreeRun& run, const TokenWords* words);
std::string unmatchedTable(const Snapshot& snapshot);
/// What each number means, with its unit.
std::string definitions();

} // namespace qs::html
