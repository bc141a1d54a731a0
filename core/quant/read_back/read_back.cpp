// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/read_back/read_back.h"

#include "core/qdq/name_tails.h"
#include "core/qdq/qlinear_signature.h"
#include "core/quant/read_back/coded_caches.h"
#include "core/quant/read_back/draft_differences.h"
#include "core/quant/read_back/file_codes.h"
#include "core/quant/read_back/node_choice.h"
#include "core/quant/read_back/quantizer_differences.h"
#include "core/quant/read_back/shown_options.h"
#include "core/quant/read_back/shown_placement.h"
#include "core/quant/read_back/smoothed_weights.h"
#include "core/quant/recipe/op_types.h"
#include "core/quant/write/quantizer.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace qs {

namespace {

/// One guess of how the file was made, and what comes of it.
struct Trial {
    Recipe recipe;
    Ranges ranges;
    std::shared_ptr<const Model> made; ///< null: the recipe is not possible
    DraftDifferences differences;
    std::string lacking; ///< tensor for which it is not
    std::vector<std::string> folded; ///< weights that hold factors which the file has beside them, or the other way
    size_t count() const { return made ? differences.count() : std::numeric_limits<size_t>::max(); }
    /// A setting that is right needs nothing of their own for the tensors to come out as in the file; a wrong one with
    /// enough of that has no differences, either.
    size_t cost() const { return made ? differences.count() + recipe.tensors.size() : count(); }
};

/// Guesses and compares: changes of the recipe that bring the float model closer to the file stay.
class Search {
public:
    Search(const QuantizedFile& file, const GraphDraft& floatDraft, const FloatModel& model)
        : m_file(file)
        , m_fileDraft(file.model)
        , m_float(floatDraft)
        , m_model(model)
    {
    }
    /// `sameNames`: the file's names are those that our quantizer gives, so that comparing tells something.
    Trial run(const Recipe& start, bool sameNames);
    /// The same quantizers as the file, where the rules put others.
    Trial runPlaced(const Recipe& start) const;
    /// The same with the codes of the file where rounding gives others.
    Trial withCodes(Trial trial) const;

private:
    using Change = std::function<void(Recipe&)>;
    Trial attempt(Recipe recipe) const;
    void quantize(Trial& trial, const QuantizerHelp& help) const;
    Trial firstAttempt(Recipe recipe) const;
    bool improve(Trial& best, const Change& change) const;
    std::vector<Change> switches(const Recipe& recipe) const;
    void addTypes(Trial& best) const;
    void toggleNodes(Trial& best) const;
    void overrideParameters(Trial& best) const;

    const QuantizedFile& m_file;
    GraphDraft m_fileDraft;
    const GraphDraft& m_float;
    const FloatModel& m_model;
    NodeChoice m_choice;
};

Trial Search::attempt(Recipe recipe) const
{
    Trial trial;
    if (isStatic(recipe.format)) {
        const auto kept = recipe.tensors;
        trial.ranges = shownRanges(m_file, recipe, &m_model.draft);
        for (const auto& [name, override] : kept)
            recipe.tensors[name] = override;
        std::erase_if(recipe.tensors, [&](const auto& entry) {
            return !m_model.draft.constant(entry.first) && !m_model.types.contains(entry.first);
        });
    }
    trial.recipe = std::move(recipe);
    quantize(trial, {});
    return trial;
}

void Search::quantize(Trial& trial, const QuantizerHelp& help) const
{
    const auto quantized = quantizeDraft(m_float, trial.recipe, trial.ranges, help);
    if (!quantized) {
        trial.lacking = quantized.issue().tensor;
    } else if (auto built = quantized->draft.build()) {
        trial.made = std::move(*built);
        trial.differences = draftDifferences(m_fileDraft, quantized->draft);
    }
}

Trial Search::withCodes(Trial trial) const
{
    if (!trial.made || !isStatic(trial.recipe.format))
        return trial;
    trial.recipe.codes = fileCodes(m_file, QuantizedFile::read(trial.made, {}), m_model.draft);
    if (trial.recipe.codes.constants.empty())
        return trial;
    trial.folded = foldedFactors(m_file, m_model.draft);
    std::erase_if(trial.folded, [&](const std::string& name) { return !trial.recipe.codes.constants.contains(name); });
    forgetWeights(trial.folded, trial.recipe);
    if (auto kept = readCodes(m_file.model, trial.recipe.codes))
        quantize(trial, { .kept = std::make_shared<const KeptCodes>(*std::move(kept)) });
    return trial;
}

/// Nodes around a tensor that has no range in the file are excluded.
Trial Search::firstAttempt(Recipe recipe) const
{
    constexpr int kMost = 64; // tensors
    for (int i = 0; i < kMost; ++i) {
        Trial trial = attempt(recipe);
        const std::string lacking = trial.lacking;
        if (trial.made || lacking.empty() || m_file.find(lacking))
            return trial;
        const size_t before = recipe.exclude.size();
        for (const DraftNode& node : m_model.draft.nodes) {
            const bool near = std::ranges::find(node.inputs, lacking) != node.inputs.end()
                || std::ranges::find(node.outputs, lacking) != node.outputs.end();
            if (near && std::ranges::find(recipe.exclude, node.name) == recipe.exclude.end())
                recipe.exclude.push_back(node.name);
        }
        if (recipe.exclude.size() == before)
            return trial;
    }
    return attempt(std::move(recipe));
}

bool Search::improve(Trial& best, const Change& change) const
{
    if (best.made && best.count() == 0)
        return false;
    Recipe recipe = best.recipe;
    change(recipe);
    if (recipe == best.recipe)
        return false;
    Trial trial = attempt(std::move(recipe));
    if (trial.cost() >= best.cost())
        return false;
    best = std::move(trial);
    return true;
}

/// One change each.
std::vector<Search::Change> Search::switches(const Recipe& recipe) const
{
    std::vector<Change> changes;
    const auto flip = [&](bool Recipe::*field) { changes.push_back([field](Recipe& r) { r.*field = !(r.*field); }); };
    if (recipe.format == RecipeFormat::WeightOnly) {
        for (auto algorithm : { WeightOnlyAlgorithm::Default, WeightOnlyAlgorithm::RoundToNearest,
                 WeightOnlyAlgorithm::Hqq, WeightOnlyAlgorithm::KQuant }) // without data
            changes.push_back([algorithm](Recipe& r) { r.weightOnly.algorithm = algorithm; });
        return changes;
    }
    changes.push_back(
        [](Recipe& r) { r.ortVersion = r.ortVersion == OrtVersion::V1_31 ? OrtVersion::V1_32 : OrtVersion::V1_31; });
    flip(&Recipe::perChannel);
    flip(&Recipe::reduceRange);
    for (std::optional<bool> symmetric : { std::optional<bool>(), std::optional(true), std::optional(false) })
        changes.push_back([symmetric](Recipe& r) { r.symmetricWeights = symmetric; });
    for (bool constantOnly : { true, false })
        changes.push_back([constantOnly](Recipe& r) { r.matmulConstantOnly = constantOnly; });
    if (recipe.format == RecipeFormat::Dynamic) {
        for (const std::string& type : defaultOpTypes(recipe.format))
            changes.push_back([type](Recipe& r) {
                r.opTypes = opTypesOf(r);
                std::erase(r.opTypes, type);
            });
        return changes;
    }
    flip(&Recipe::quantizeUnquantizedInputs);
    flip(&Recipe::symmetricActivations);
    flip(&Recipe::keepExtremeConstants);
    changes.push_back([](Recipe& r) { r.noOutputTypes.clear(); });
    if (recipe.format == RecipeFormat::QOperator) {
        flip(&Recipe::sigmoidNnapi);
        // Convolutions have int8 weights per channel whatever the recipe says.
        changes.push_back([](Recipe& r) { r.weightType = DType::UInt8; });
        return changes;
    }
    flip(&Recipe::keepRemovable);
    flip(&Recipe::adjustWeightsForBias);
    flip(&Recipe::quantizeBias);
    flip(&Recipe::contribOperators);
    flip(&Recipe::pairsForWeights);
    return changes;
}

/// Operators beyond the defaults, where the file quantizes what nobody else does.
void Search::addTypes(Trial& best) const
{
    std::set<std::string> candidates;
    const auto& known = defaultOpTypes(best.recipe.format);
    for (size_t n = 0; n < m_model.draft.nodes.size(); ++n) {
        const std::string& type = m_model.draft.nodes[n].opType;
        if (m_choice.nodes[n] == NodeChoice::Verdict::Quantized && std::ranges::find(known, type) == known.end())
            candidates.insert(type);
    }
    for (const std::string& type : candidates)
        improve(best, [&](Recipe& recipe) {
            recipe.opTypes = opTypesOf(recipe);
            recipe.opTypes.push_back(type);
            chooseNodes(recipe, m_model, m_choice);
        });
}

/// A node between quantized neighbours, or with a weight that another one shares, may have been chosen or not.
void Search::toggleNodes(Trial& best) const
{
    constexpr int kMost = 32; // attempts; each quantizes the model
    int left = kMost;
    const std::vector<std::string> candidates = best.differences.nodes;
    for (const DraftNode& node : m_model.draft.nodes) {
        if (left == 0 || !best.made || best.count() == 0)
            return;
        const std::string& name = node.name;
        const bool near = std::ranges::any_of(candidates, [&](const std::string& c) { return c.starts_with(name); })
            || (!node.outputs.empty() && std::ranges::find(candidates, node.outputs.front()) != candidates.end());
        if (!near)
            continue;
        --left;
        improve(best, [&](Recipe& recipe) {
            if (std::erase(recipe.exclude, name) == 0)
                recipe.exclude.push_back(name);
        });
    }
}

/// What still differs tensor by tensor was asked for tensor by tensor.
void Search::overrideParameters(Trial& best) const
{
    if (!best.made || best.count() == 0)
        return;
    const QuantizedFile made = QuantizedFile::read(best.made, {});
    Recipe recipe = best.recipe;
    for (const auto& [name, tensor] : m_file.tensors) {
        const FileTensor* ours = made.find(name);
        const bool possible = tensor.provider.empty() && !tensor.params.scale.empty() && tensor.role != QuantRole::Bias
            && tensor.params.blockSize == 0;
        if (!possible || !ours || sameParameters(ours->params, tensor.params))
            continue;
        auto convert = recipe.tensors.contains(name) ? recipe.tensors[name].convert : std::nullopt;
        recipe.tensors[name] = exactOverride(tensor.params);
        recipe.tensors[name].convert = std::move(convert);
    }
    Trial trial = attempt(std::move(recipe));
    if (trial.count() < best.count())
        best = std::move(trial);
}

Trial Search::run(const Recipe& start, bool sameNames)
{
    m_choice = nodeChoice(m_model, m_file, start.format);
    Recipe recipe = start;
    chooseNodes(recipe, m_model, m_choice);
    // Constants of another type than most, and biases that are quantized like weights.
    std::set<std::string> biases;
    for (const DraftNode& node : m_model.draft.nodes)
        if ((node.is("Conv") || node.is("ConvTranspose") || node.is("Gemm")) && node.hasInput(2))
            biases.insert(node.inputs[2]);
    for (const auto& [name, tensor] : m_file.tensors) {
        const DType usual = tensor.weight ? recipe.weightType : recipe.activationType;
        const bool odd = tensor.constant && m_model.draft.constant(name) && tensor.role != QuantRole::Bias
            && (tensor.params.dtype != usual || (biases.contains(name) && tensor.params.dtype != DType::Int32))
            && tensor.params.blockSize == 0;
        if (!odd || !isStatic(recipe.format))
            continue;
        recipe.tensors[name].parts.front().type = tensor.params.dtype;
        recipe.tensors[name].axis = tensor.params.axis;
    }
    Trial best = firstAttempt(std::move(recipe));
    if (!sameNames)
        return best;
    addTypes(best);
    constexpr int kRounds = 2; // a switch may only help together with an earlier one
    for (int round = 0; round < kRounds; ++round) {
        bool better = false;
        for (const Change& change : switches(best.recipe))
            better = improve(best, change) || better;
        if (!better)
            break;
    }
    toggleNodes(best);
    overrideParameters(best);
    return best;
}

QuantizerDifferences quantizersOf(const QuantizedFile& file, const Trial& trial)
{
    return quantizerDifferences(file, QuantizedFile::read(trial.made, {}));
}

Trial Search::runPlaced(const Recipe& start) const
{
    Recipe recipe = start;
    placeAsShown(recipe, m_model, m_file);
    Trial trial = attempt(recipe);
    if (!trial.made)
        return trial;
    // Scales that no range or rule gives were made elsewhere.
    recipe = trial.recipe;
    for (const std::string& name : quantizersOf(m_file, trial).parameters) {
        const FileTensor& tensor = *m_file.find(name);
        if (tensor.role == QuantRole::Bias || tensor.params.blockSize > 0)
            continue;
        auto convert = recipe.tensors.contains(name) ? recipe.tensors[name].convert : std::nullopt;
        recipe.tensors[name] = exactOverride(tensor.params);
        recipe.tensors[name].convert = std::move(convert);
    }
    trial = attempt(recipe);
    if (trial.made && !quantizersOf(m_file, trial).parameters.empty()) {
        recipe.adjustWeightsForBias = false;
        Trial plain = attempt(std::move(recipe));
        if (plain.made && quantizersOf(m_file, plain).count() < quantizersOf(m_file, trial).count())
            trial = std::move(plain);
    }
    return trial;
}

std::string listed(const std::vector<std::string>& names)
{
    constexpr size_t kShown = 3;
    std::string text;
    for (size_t i = 0; i < std::min(names.size(), kShown); ++i)
        text += (i > 0 ? ", '" : "'") + names[i] + "'";
    return names.size() > kShown ? text + " and " + std::to_string(names.size() - kShown) + " more" : text;
}

/// Keys and values that the file remembers as codes. Returns what belongs to that in the file.
std::set<std::string> tellCaches(const QuantizedFile& file, std::vector<std::string>& sentences)
{
    const CodedCaches caches = codedCaches(file.model->graph);
    if (caches.nodes > 0)
        sentences.push_back("how to make the caches of codes of the float model: keys and values that "
            + std::to_string(caches.nodes) + (caches.nodes == 1 ? " attention remembers" : " attentions remember")
            + " are " + caches.types + " in the file and floats here");
    return caches.names;
}

/// `told`: names of which another sentence speaks.
void tellDifferences(const QuantizedFile& file, const Trial& best, const std::set<std::string>& told,
    std::vector<std::string>& sentences)
{
    if (!best.made) {
        sentences.push_back("no recipe was found that makes a quantized model of the float model");
        return;
    }
    std::vector<std::string> codes, others;
    for (const std::string& name : best.differences.changedConstants) {
        const bool weight = std::ranges::any_of(file.tensors, [&](const auto& entry) {
            return entry.second.constant
                && (entry.first == name || name.starts_with(entry.first + "_Q") || name == entry.first + tails::kCodes);
        });
        (weight ? codes : others).push_back(name);
    }
    others.insert(others.end(), best.differences.nodes.begin(), best.differences.nodes.end());
    others.insert(others.end(), best.differences.lackingConstants.begin(), best.differences.lackingConstants.end());
    std::erase_if(others, [&](const std::string& name) { return told.contains(name); });
    if (!codes.empty())
        sentences.push_back("the codes of " + listed(codes)
            + " are not the float model's weights rounded to the nearest code: they were found otherwise, or from "
              "other weights");
    if (!others.empty())
        sentences.push_back("nodes or constants come out otherwise than in the file: " + listed(others));
}

/// Opset versions that differ though nothing else does: raised for an option that found no tensor.
void tellOpsets(const QuantizedFile& file, const Trial& best, std::vector<std::string>& sentences)
{
    const auto version = [](const Model& model) {
        const auto it = model.opsetImports.find("");
        return it == model.opsetImports.end() ? int64_t(0) : int64_t(it->second);
    };
    if (best.made && version(*file.model) != version(*best.made))
        sentences.push_back("why its opset is " + std::to_string(version(*file.model)) + ", which this recipe makes "
            + std::to_string(version(*best.made)));
}

bool hasUsualNames(const QuantizedFile& file, const ValueNames& names)
{
    const bool anyNamed = std::ranges::any_of(file.tensors, [](const auto& entry) {
        return entry.second.scaleName == entry.first + tails::kScale || entry.second.scaleName.empty();
    });
    return names.empty() && (anyNamed || shownFormat(file) != RecipeFormat::Qdq);
}

void tellGenerally(const Recipe& recipe, bool hasFloat, std::vector<std::string>& sentences)
{
    if (isStatic(recipe.format))
        sentences.push_back("how the ranges were found (calibration method and data): only scales are in the file");
    if (!hasFloat)
        sentences.push_back("which nodes and operators were left out by name: without the float model only those that "
                            "read floats show");
}

/// Without a float model: what reads floats was not chosen.
void chooseShownNodes(const QuantizedFile& file, Recipe& recipe)
{
    const auto& defaults = defaultOpTypes(recipe.format);
    const Graph& graph = file.model->graph;
    for (const Node& node : graph.nodes()) {
        if (std::ranges::find(defaults, node.opType) == defaults.end() || !node.domain.empty() || !node.hasInput(0))
            continue;
        const NodeId by = graph.value(node.inputs[0]).producer;
        const bool reads = by.valid() && isDequantizeLinear(graph.node(by));
        const bool codes = graph.value(node.inputs[0]).name.ends_with("quantized");
        const bool weights = node.opType == "MatMul" || node.opType == "Conv" || node.opType == "Gemm";
        const NodeId second = node.hasInput(1) ? graph.value(node.inputs[1]).producer : NodeId();
        const bool stored = second.valid() && isDequantizeLinear(graph.node(second));
        if (weights && !reads && !codes && !stored)
            recipe.exclude.push_back(node.name);
    }
}

/// By the rules of ONNX Runtime's quantizer where they make the file's quantizers, else as they stand in the file.
Trial closestTrial(Search& search, const QuantizedFile& file, const Recipe& shown, bool sameNames)
{
    Trial ruled = search.run(shown, sameNames);
    if (shown.format != RecipeFormat::Qdq || (sameNames && ruled.made && ruled.count() == 0))
        return ruled;
    const auto others = ruled.made ? std::optional(quantizersOf(file, ruled)) : std::nullopt;
    if (others && others->count() == 0)
        return ruled;
    Trial placed = search.runPlaced(shown);
    if (placed.made && (!others || quantizersOf(file, placed).count() < others->count()))
        return placed;
    return ruled;
}

void tellCodes(const Recipe& recipe, std::vector<std::string>& sentences)
{
    std::vector<std::string> names;
    for (const auto& [name, constant] : recipe.codes.constants)
        names.push_back(name);
    if (!names.empty())
        sentences.push_back("how the codes of " + listed(names)
            + " were found: they are not the float model's weights rounded to the nearest code, and are taken from the "
              "file");
}

void tellFolded(const Trial& best, std::vector<std::string>& sentences)
{
    if (!best.folded.empty())
        sentences.push_back(
            "the factors that stand behind products in one of the files and in the weights of the other "
            "(a BatchNormalization that is not folded, say): "
            + listed(best.folded) + " are quantized as the float model has them");
}

/// How many nodes compute on codes in themselves, by operator.
std::map<std::string, size_t> nodesOnCodes(const Graph& graph)
{
    std::map<std::string, size_t> found;
    for (const Node& node : graph.nodes())
        found[node.opType] += !isQuantizeLinear(node) && !isDequantizeLinear(node) && qlinearSignature(node);
    return found;
}

/// Of a file in the QOperator form: what has no such node where the recipe makes it.
void tellLeftInFloat(const QuantizedFile& file, const Trial& best, std::vector<std::string>& sentences)
{
    if (best.recipe.format != RecipeFormat::QOperator || !best.made)
        return;
    const auto made = nodesOnCodes(best.made->graph);
    std::string left;
    for (const auto& [type, count] : nodesOnCodes(file.model->graph)) {
        const auto at = made.find(type);
        if (const size_t ours = at == made.end() ? 0 : at->second; ours < count)
            left += (left.empty() ? "" : ", ") + std::to_string(count - ours) + " of " + std::to_string(count) + " "
                + type;
    }
    if (!left.empty())
        sentences.push_back("how to make " + left + " of the float model: they are left in float here");
}

/// What the file has and no recipe can say.
void tellQuantizers(const QuantizedFile& file, const Recipe& recipe, const QuantizerDifferences& others,
    std::vector<std::string>& sentences)
{
    const auto tell = [&](const std::vector<std::string>& names, const std::string& what) {
        if (!names.empty())
            sentences.push_back(what + listed(names));
    };
    if (file.ownNames) // else they are among the constants that differ
        tell(others.codes,
            "codes that are not the float model's weights rounded to the nearest code (found otherwise, or from other "
            "weights): ");
    if (!recipe.placement.nodes.empty() || file.ownNames) {
        tell(others.lacking, "quantizers that belong to no value of the float model, or that no recipe can ask for: ");
        tell(others.added, "why it has no quantizers where this recipe makes some: ");
        tell(others.parameters, "scales or zero points that this recipe makes otherwise: ");
    }
    if (recipe.placement.nodes.empty())
        return;
    std::vector<std::string> ambiguous, read, clipped;
    for (const auto& [name, tensor] : file.tensors) {
        if (tensor.ambiguous)
            ambiguous.push_back(name);
        if (!tensor.floatReaders.empty())
            read.push_back(name);
        if (tensor.clipped)
            clipped.push_back(name);
    }
    tell(clipped, "codes that a Clip keeps from parts of their type, where this recipe uses all: ");
    tell(ambiguous, "further quantizers with other parameters of the same values, for some of their readers: ");
    tell(read, "nodes that read values in float beside their quantizers, which read codes here: ");
}

Status checkNames(const FloatModel& model, const ValueNames& names)
{
    for (const auto& [quantized, name] : names)
        if (!model.draft.constant(name) && !model.types.contains(name))
            return Issue { IssueKind::BadInput, "is named for '" + quantized + "', but not in the model", {}, {}, name,
                "correct the name" };
    return {};
}

} // namespace

Result<ReadBack> readBack(
    const std::shared_ptr<const Model>& quantized, const GraphDraft* floatModel, const ValueNames& names)
{
    const QuantizedFile file = QuantizedFile::read(quantized, names);
    if (file.fault)
        return *file.fault;
    if (file.form == QuantForm::Float)
        return Issue { IssueKind::BadInput, "is not quantized, so no recipe can be read from it", quantized->path, {},
            {}, "give a quantized model" };
    ReadBack back;
    const Recipe shown = shownOptions(file);
    if (!floatModel) {
        back.recipe = shown;
        if (isStatic(shown.format))
            back.ranges = shownRanges(file, back.recipe);
        chooseShownNodes(file, back.recipe);
    } else {
        QS_CHECK(checkIsFloat(*floatModel));
        QS_TRY(const FloatModel model, FloatModel::make(*floatModel, Recipe {}, {}));
        QS_CHECK(checkNames(model, names));
        const bool sameNames = hasUsualNames(file, names);
        Search search(file, *floatModel, model);
        const Trial best = search.withCodes(closestTrial(search, file, shown, sameNames));
        const std::set<std::string> told = tellCaches(file, back.otherwise);
        tellFolded(best, back.otherwise);
        back.possible = best.made != nullptr;
        std::optional<QuantizerDifferences> others;
        if (best.made && best.recipe.format == RecipeFormat::Qdq)
            others = quantizersOf(file, best);
        if (others)
            back.otherQuantizers = others->count();
        if (sameNames || !best.made) // nodes that compute in float do not make another quantization
            tellDifferences(file, best, told, back.otherQuantizers == 0 ? back.undetermined : back.otherwise);
        tellLeftInFloat(file, best, back.otherwise);
        if (others)
            tellQuantizers(file, best.recipe, *others, back.otherwise);
        back.recipe = best.recipe;
        back.ranges = best.ranges;
        if (const auto smoothed = smoothedWeights(file, *floatModel); !smoothed.empty()) {
            forgetWeights(smoothed, back.recipe);
            back.otherwise.push_back("the factors that it multiplies inputs of products by (SmoothQuant), which "
                                     "their weights take away: "
                + listed(smoothed)
                + " are quantized as the float model has them (--smooth-quant in place of --like finds factors anew)");
        }
        back.undetermined.insert(back.undetermined.begin(), back.otherwise.begin(), back.otherwise.end());
        tellCodes(best.recipe, back.undetermined);
        if (sameNames || !best.made)
            tellOpsets(file, best, back.undetermined);
        if (!sameNames && back.otherQuantizers.value_or(1) > 0)
            back.undetermined.push_back(
                "options that only show in names: this file's are not those that ONNX Runtime's quantizer gives");
        if (sameNames && best.made)
            back.differences = best.count();
    }
    tellGenerally(back.recipe, floatModel != nullptr, back.undetermined);
    return back;
}

} // namespace qs
