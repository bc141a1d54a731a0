// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/engine/plan/plan.h"
#include "core/qdq/quant_view.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace qs {

class ValueEvidence;

enum class MatchMethod { Manual, Name, Suffix, Unit, Topology, Numeric };
std::string_view matchMethodName(MatchMethod method);

/// A float value and the quantized model's value that stands for the same tensor.
struct ValuePair {
    ValueId floatValue;
    ValueId
        quantValue; ///< what the next node sees: DequantizeLinear's output, the integer tensor, or a plain float value
    MatchMethod method = MatchMethod::Name;
    double confidence = 1; ///< 0..1
    std::optional<uint32_t> quantizer; ///< index in the quantized file's QuantView, if it has one of its own
    NodeId unrounded; ///< QLinear* node: the value compared is the one before its rounding, not the codes
};

/// Where the elements of a weight stand in two files that keep it in other orders or parts.
struct WeightPlaces {
    Shape shape; ///< of the weight as the float node reads it, or of the part that one pair is about
    std::vector<uint32_t> floats, codes; ///< by element of `shape`: places in the float constant, in the stored codes
};

/// A constant of the float model and its quantized counterpart.
struct WeightPair {
    ValueId floatValue;
    uint32_t quantizer = 0; ///< index in the quantized file's QuantView (role Weight or Bias)
    NodeId floatNode; ///< the node that uses it
    NodeId quantNode;
    MatchMethod method = MatchMethod::Name;
    double confidence = 1;
    bool transposed = false; ///< the quantized file stores the matrix with rows and columns exchanged
    std::shared_ptr<const WeightPlaces> places; ///< null: all elements, in one order but for `transposed`
};

/// Two values that are the same by their numbers and are not compared with each other: one of several places of a
/// value, or with its axes in another order.
struct NumericLink {
    ValueId floatValue, quantValue;
    double confidence = 0;
    bool permuted = false;
};

/// A value without a partner that the other file computes inside one node and does not give out.
struct InsideValue {
    ValueId value;
    NodeId node; ///< of the other file
};

/// Why a value has no partner and is inside no node of the other file.
enum class WhyAlone {
    Linked, ///< equal to a paired value of the other file, in another place or order: see NumericLink
    Unread, ///< no graph output depends on it
    Constant, ///< a constant in the other file
    Sizes, ///< it follows from sizes alone
    RemovedActivation, ///< a Relu or Clip that the other file does not have here
    OtherSteps, ///< both files compute what follows, each in steps of its own
};
std::string_view whyAloneName(WhyAlone why); ///< "linked", "unread", "constant", "sizes" ...
std::string_view whyAloneText(WhyAlone why); ///< for people, without a capital and a full stop

/// How two graphs correspond.
struct Alignment {
    std::vector<ValuePair> values; ///< in the float graph's topological order
    std::vector<WeightPair> weights; ///< in the order of the nodes that use them
    /// Products of the float file and of the quantized one that are the same. A weight that several of them read has
    /// one pair, what stands behind each of them may have others.
    std::vector<std::pair<NodeId, NodeId>> products;
    std::vector<NumericLink> links; ///< by float value
    std::vector<ValueId> unmatchedFloat; ///< activations without a partner, topological order
    std::vector<ValueId> unmatchedQuant; ///< the same of the quantized file, inner values of Q/DQ pairs left out
    std::vector<InsideValue> insideFloat; ///< float values in nodes of the quantized file; not among the unmatched
    std::vector<InsideValue> insideQuant; ///< values of the quantized file in nodes of the float one
    std::map<ValueId, WhyAlone> whyFloat, whyQuant; ///< of unmatched values, where it is known
    std::vector<std::pair<ValueId, ValueId>> disputed; ///< pairs made by hand whose values are known to differ
    bool strangers = false; ///< hardly any weight has something in common with its partner
    std::vector<std::pair<ValueId, ValueId>> apart; ///< float and quantized value that the user keeps apart
};

/// The node of the other file that a value is inside; invalid where there is none.
NodeId nodeAround(const std::vector<InsideValue>& inside, ValueId value);

/// Names that the user linked by hand: float tensor, quantized tensor.
using ManualPairs = std::vector<std::pair<std::string, std::string>>;

/// What the user said of pairs.
struct ManualLinks {
    ManualPairs pairs; ///< made by hand
    ManualPairs apart; ///< found by us, but not two forms of one tensor
    bool empty() const { return pairs.empty() && apart.empty(); }
    bool operator==(const ManualLinks&) const = default;
};

/// Pairs the values of both graphs: by hand, by name, by ONNX Runtime's suffixes, through Q/DQ units, then by topology
/// from what is paired, with similar weights as anchors. An Issue when a manual name does not exist or the files are
/// not two forms of one network, unless `oneNetwork` says that they are.
/// With `evidence` of what both compute, names and structure that disagree with it are passed over, and what they leave
/// is paired by it.
Result<Alignment> align(const Plan& floatPlan, const Plan& quantPlan, const QuantView& quantView,
    const ManualLinks& manual, bool oneNetwork = false, const ValueEvidence* evidence = nullptr);

/// Reads {"pairs":[{"float":"","quantized":""}]}, and "apart" in the same form where it is there.
Result<ManualLinks> readManualLinks(const std::string& path);
/// With this pair made by hand, in place of others of the float tensor.
ManualLinks withLink(ManualLinks links, const std::string& floatName, const std::string& quantName);
/// Without this pair: one that was made by hand is forgotten, another is kept apart.
ManualLinks withoutLink(ManualLinks links, const std::string& floatName, const std::string& quantName);
std::string manualLinksJson(const ManualLinks& links); ///< what readManualLinks() reads

} // namespace qs
