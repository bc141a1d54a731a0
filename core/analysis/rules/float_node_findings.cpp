// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/rules/findings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

/// Work that stays in float, and why.
namespace qs {

namespace {

constexpr double kHeavyShare = 0.001; ///< of all multiplications
constexpr size_t kTold = 3; ///< nodes in the sentence; all are places

bool isMatrixProduct(const std::string& type)
{
    return type == "Conv" || type == "ConvTranspose" || type == "Gemm" || type == "MatMul";
}

/// Nodes that multiply, and single ones that keep codes from passing through.
bool worthTelling(const FloatNodeRow& row)
{
    if (row.macShare ? *row.macShare >= kHeavyShare : isMatrixProduct(row.opType))
        return true;
    const FloatCause cause = row.reason.cause;
    return row.between && (cause == FloatCause::Opset || cause == FloatCause::Type || cause == FloatCause::Range);
}

std::string remedyFor(FloatCause cause)
{
    switch (cause) {
    case FloatCause::Excluded:
        return "Leave them so where they were excluded on purpose; what each is worth the sensitivity analysis tells.";
    case FloatCause::OpType:
        return "Add their type to the recipe's operator types.";
    case FloatCause::NoRule:
        return "Nothing to do with ONNX Runtime's tools, unless another format quantizes them.";
    case FloatCause::Opset:
        return "Export the float model with a newer opset, and quantize it again.";
    case FloatCause::Type:
        return "Where the type is not stated, let graph preparation infer shapes; what takes no codes of a type stays "
               "in "
               "float, or needs another type.";
    case FloatCause::Range:
        return "Calibrate with data that reach these values.";
    case FloatCause::Extreme:
        return "Nothing to do: no scale serves such values and the others, too.";
    case FloatCause::Rule:
        return "Nothing to do with this format; quantize the nodes before them, or choose another format.";
    case FloatCause::Output:
        return "Quantize what they make, too, if the runtime is to multiply codes: ONNX Runtime convolves codes into "
               "codes alone, and without a quantizer there it turns input and weight into floats again.";
    case FloatCause::Structure:
        return "Quantize the float model anew if this was not meant: each needs quantizers on its inputs, its weight "
               "and its output.";
    case FloatCause::Unfused:
        return "Nothing is wrong with the numbers. To be faster in ONNX Runtime a product needs one scale for each of "
               "its activations, an int32 bias, and a range behind it that begins where a Relu does.";
    }
    return {};
}

FindingPlace placeOf(const FloatNodeRow& row)
{
    FindingPlace place;
    place.node = row.node;
    place.evidence = { { "reason", std::nullopt, row.reason.text, {} },
        { "cause", std::nullopt, std::string(nameIn(kFloatCauses, row.reason.cause)), {} } };
    if (row.macShare)
        place.evidence.push_back(evidence("mac_share", *row.macShare));
    return place;
}

std::string sentence(const std::vector<const FloatNodeRow*>& rows)
{
    std::vector<std::string> told;
    for (size_t i = 0; i < std::min(rows.size(), kTold); ++i)
        told.push_back(fmt::format("{}{}: {}", rows[i]->node,
            rows[i]->macShare.value_or(0) > 0 ? " (" + percentText(*rows[i]->macShare) + ")" : "",
            rows[i]->reason.text));
    std::string text = fmt::format("{}", fmt::join(told, "; "));
    if (rows.size() > kTold)
        text += fmt::format("; and {} more", rows.size() - kTold);
    return text + ".";
}

/// "excluded 3, opset 1"
std::string causesText(const std::vector<const FloatNodeRow*>& rows)
{
    std::map<FloatCause, size_t> counts;
    for (const FloatNodeRow* row : rows)
        ++counts[row->reason.cause];
    std::vector<std::string> parts;
    for (const auto& [cause, count] : counts)
        parts.push_back(fmt::format("{} {}", nameIn(kFloatCauses, cause), count));
    return fmt::format("{}", fmt::join(parts, ", "));
}

std::string titleOf(const std::vector<const FloatNodeRow*>& rows)
{
    const bool outputsAlone
        = std::ranges::all_of(rows, [](const FloatNodeRow* row) { return row->reason.cause == FloatCause::Output; });
    const bool unfusedAlone
        = std::ranges::all_of(rows, [](const FloatNodeRow* row) { return row->reason.cause == FloatCause::Unfused; });
    const std::string& type = rows.front()->opType;
    if (unfusedAlone)
        return rows.size() == 1 ? fmt::format("{} has codes and computes in float in ONNX Runtime", type)
                                : fmt::format("{} nodes have codes and compute in float in ONNX Runtime", rows.size());
    if (outputsAlone)
        return rows.size() == 1
            ? fmt::format("{} computes in float, its output has no quantizer", type)
            : fmt::format("{} nodes compute in float, their outputs have no quantizers", rows.size());
    return rows.size() == 1 ? fmt::format("{} is left in float", type)
                            : fmt::format("{} nodes are left in float", rows.size());
}

} // namespace

void findLeftInFloat(const Comparison& c, std::vector<Finding>& found)
{
    std::vector<const FloatNodeRow*> rows;
    double share = 0;
    bool known = true;
    for (const FloatNodeRow& row : c.floatNodes)
        if (worthTelling(row)) {
            rows.push_back(&row);
            share += row.macShare.value_or(0);
            known = known && row.macShare;
        }
    if (rows.empty())
        return;
    std::ranges::stable_sort(rows,
        [](const FloatNodeRow* a, const FloatNodeRow* b) { return a->macShare.value_or(0) > b->macShare.value_or(0); });
    Finding f = makeFinding(Rule::LeftInFloat);
    f.node = rows.front()->node;
    f.title = titleOf(rows);
    if (known && share >= kHeavyShare)
        f.title += fmt::format(": {} of the multiplications", percentText(share));
    f.summary = sentence(rows);
    f.evidence = { evidence("nodes", double(rows.size())), { "causes", std::nullopt, causesText(rows), {} } };
    if (known)
        f.evidence.push_back(evidence("mac_share", share));
    const auto isUnfused = [](const FloatNodeRow* row) { return row->reason.cause == FloatCause::Unfused; };
    const auto first = std::ranges::find_if_not(rows, isUnfused); // of these the numbers are right
    f.remedy = remedyFor((first == rows.end() ? rows.front() : *first)->reason.cause);
    for (const FloatNodeRow* row : rows)
        f.places.push_back(placeOf(*row));
    found.push_back(std::move(f));
}

namespace {

/// Some constant holds codes, though nothing that reads them is known as a quantizer.
bool storesCodes(const Plan& plan)
{
    constexpr int64_t kFewest = 16; // elements: fewer are zero points and sizes
    for (size_t v = 0; v < plan.graph().values().size(); ++v)
        if (const Tensor* t = plan.constant(ValueId(v)); t && t->count() >= kFewest && dtypeBits(t->dtype()) <= 8
            && t->dtype() != DType::Bool && t->dtype() != DType::String)
            return true;
    return false;
}

/// Nodes that multiply with a constant as it is stored, by operator.
std::map<std::string, size_t> constantProducts(const Plan& plan)
{
    std::map<std::string, size_t> counts;
    for (const Node& node : plan.graph().nodes())
        if (isMatrixProduct(node.opType) && std::ranges::any_of(node.inputs, [&](ValueId in) {
                return in.valid() && !plan.graph().value(in).producer.valid() && plan.constant(in);
            }))
            ++counts[node.opType];
    return counts;
}

} // namespace

bool isAnythingQuantized(const ComparePair& pair)
{
    return !pair.quantView->quantizers().empty() || storesCodes(*pair.quantPlan);
}

void findNothingQuantized(const ComparePair& pair, const Comparison& c, std::vector<Finding>& found)
{
    const auto counts = constantProducts(*pair.quantPlan);
    const bool lower = !c.network || !c.network->same() || c.network->step.precision != Precision::Float32;
    if (counts.empty() || lower || pair.quantizedReference || storesCodes(*pair.quantPlan))
        return;
    std::vector<std::string> products;
    for (const auto& [type, count] : counts)
        products.push_back(fmt::format("{} {}", count, type));
    Finding f = makeFinding(Rule::LeftInFloat);
    f.cause = "nothing";
    f.title = "Nothing is quantized in this file";
    f.summary = fmt::format(
        "No value and no weight of it has codes. Its products with constants are {}.", fmt::join(products, ", "));
    if (!counts.contains("MatMul"))
        f.summary
            += " Tools that store weights in blocks (MatMulNBits) take MatMul alone, and leave these as they are.";
    f.evidence = { { "products", std::nullopt, fmt::format("{}", fmt::join(products, ", ")), {} } };
    f.remedy = counts.contains("MatMul")
        ? "Take care that this is the file that was meant, and that the recipe's operator types and exclusions let "
          "something be quantized."
        : "Make MatMul and Add of them before quantizing, or take a format that quantizes these operators.";
    found.push_back(std::move(f));
}

} // namespace qs
