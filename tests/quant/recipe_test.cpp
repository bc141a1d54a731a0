// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/prepare/prepare.h"
#include "core/quant/recipe/recipe_diff.h"
#include "core/quant/recipe/recipe_json.h"
#include "core/quant/recipe/recipe_options.h"
#include "tests/quant/runners.h"

#include <QtTest>

#include <set>
#include <tuple>

using namespace qs;

namespace {

Recipe everything()
{
    Recipe r = quantscopeRecipe();
    r.format = RecipeFormat::QOperator;
    r.activationType = DType::UInt8;
    r.weightType = DType::UInt8;
    r.perChannel = r.reduceRange = r.symmetricActivations = r.dedicatedPairs = true;
    r.opTypes = { "Conv", "Gemm" };
    r.exclude = { "re:^a", "b" };
    r.calibration.kind = Calibrator::Percentile;
    r.calibration.percentile = 99.9;
    r.calibration.bins = 512;
    r.symmetricWeights = false;
    r.minimumRange = 1e-4;
    r.quantizeBias = false;
    r.perChannelAxis = { { "MatMul", -1 } };
    TensorOverride channels;
    channels.axis = 0;
    channels.parts.resize(2);
    channels.parts[0].scale = 0.5;
    channels.parts[0].zeroPoint = 3;
    channels.parts[1].symmetric = true;
    r.tensors["w"] = channels;
    TensorOverride mixed;
    mixed.parts.front().type = DType::UInt16;
    mixed.convert = QuantConversion { {}, { "n1", "n2" } };
    mixed.convert->to.type = DType::UInt8;
    r.tensors["x.y"] = mixed;
    r.corrections = { true, true, true };
    r.smoothQuant = true;
    r.smoothQuantAlpha = 0.75;
    r.smoothQuantFolding = false;
    r.weightOnly.algorithm = WeightOnlyAlgorithm::RoundToNearest;
    return r;
}

// These do not compile once a part of a recipe has another member: it needs an entry in the table of options, and a
// value in nothingAsByDefault().
auto membersOf(const Recipe& r)
{
    const auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22,
        m23, m24, m25, m26, m27, m28, m29, m30, m31, m32, m33, m34, m35, m36, m37, m38, m39]
        = r;
    return std::tie(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22,
        m23, m24, m25, m26, m27, m28, m29, m30, m31, m32, m33, m34, m35, m36, m37, m38, m39);
}
auto membersOf(const CalibratorOptions& r)
{
    const auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10] = r;
    return std::tie(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10);
}
auto membersOf(const CorrectionOptions& r)
{
    const auto& [m1, m2, m3, m4] = r;
    return std::tie(m1, m2, m3, m4);
}
auto membersOf(const WeightOnlyOptions& r)
{
    const auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9] = r;
    return std::tie(m1, m2, m3, m4, m5, m6, m7, m8, m9);
}
auto membersOf(const GptqOptions& r)
{
    const auto& [m1, m2, m3, m4, m5] = r;
    return std::tie(m1, m2, m3, m4, m5);
}
auto membersOf(const GraphPreparation& r)
{
    const auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14] = r;
    return std::tie(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14);
}

auto membersOf(const FilePlacement& r)
{
    const auto& [m1, m2] = r;
    return std::tie(m1, m2);
}

auto membersOf(const FileCodes& r)
{
    const auto& [m1, m2] = r;
    return std::tie(m1, m2);
}

template <class Part> bool allDiffer(const Part& a, const Part& b = {})
{
    const auto differ = [&]<size_t... I>(std::index_sequence<I...>)
    {
        return ((std::get<I>(membersOf(a)) != std::get<I>(membersOf(b))) && ...);
    };
    return differ(std::make_index_sequence<std::tuple_size_v<decltype(membersOf(a))>>());
}

/// A recipe that agrees with the defaults in no member of any part.
Recipe nothingAsByDefault()
{
    Recipe r = everything();
    r.include = { "c" };
    r.calibration = { Calibrator::Mse, true, 90, 64, 32, 0.5, 2, 3, true, 100 };
    r.restrictedAsymmetric = r.quantizeUnquantizedInputs = r.pairsForWeights = r.keepRemovable = true;
    r.contribOperators = r.subgraphs = r.sigmoidNnapi = r.completeOverrides = r.keepExtremeConstants = true;
    r.exactActivations = true;
    r.ortVersion = OrtVersion::V1_32;
    r.matmulConstantOnly = true;
    r.adjustWeightsForBias = false;
    r.blockSize = 16;
    r.noOutputTypes = { "Conv" };
    r.placement = { { "n" }, { "x" } };
    r.codes = { "quantized.onnx", { { "w", { "w_q", "1f" } } } };
    r.corrections = { true, true, true, true };
    r.weightOnly = { 32, WeightOnlyAlgorithm::Gptq, true, true, 4, 0, { { "w", 0.5 } },
        { 0.02, true, true, false, true }, { { "n", {} } } };
    r.preparation
        = { true, { "rate=1" }, { "x=1x2" }, false, false, false, false, false, false, true, true, true, false, false };
    return r;
}

} // namespace

class RecipeTest : public QObject {
    Q_OBJECT

private slots:
    void emptyIsTheDefault()
    {
        const auto recipe = recipeFromJson("{}");
        QVERIFY(recipe.ok());
        QCOMPARE(*recipe == Recipe {}, true);
        QCOMPARE(recipe->activationType, DType::Int8);
        QCOMPARE(recipe->calibration.percentile, 99.999);
        QVERIFY(!recipe->preparation.enabled && !recipe->keepExtremeConstants && !recipe->exactActivations);
    }

    void hostileTexts()
    {
        for (const std::string& text : { std::string(400'000, '['), "{\"tensors\": " + std::string(400'000, '[') })
            QVERIFY(!recipeFromJson(text).ok());
        for (const char* text : { R"({"calibration": {"bins": 1000000000}})", R"({"calibration": {"bins": 1e9}})",
                 R"({"calibration": {"mse_levels": 1099511627776}})", R"({"block_size": 4611686018427387904})",
                 R"({"weight_only": {"block_size": 4611686018427387904}})",
                 R"({"tensors": {"t": {"zero_point": 18446744073709551615}}})",
                 R"({"per_channel": true, "per_channel": false})" }) {
            const auto recipe = recipeFromJson(text);
            QVERIFY2(!recipe.ok(), text);
            QCOMPARE(recipe.issue().kind, IssueKind::BadInput);
        }
    }

    void comesBack()
    {
        Recipe blocks; // of another type than a file of blocks has by itself
        blocks.format = RecipeFormat::WeightOnly;
        for (const Recipe& recipe : { Recipe {}, quantscopeRecipe(), everything(), blocks }) {
            const auto again = recipeFromJson(recipeToJson(recipe));
            QVERIFY2(again.ok(), again.ok() ? "" : again.issue().what.c_str());
            QVERIFY(recipeDiff(recipe, *again).empty());
            QVERIFY(*again == recipe);
        }
    }

    void presets()
    {
        const auto recipe = recipeFromJson(R"({"preset": "quantscope", "per_channel": true})");
        QVERIFY(recipe.ok());
        QVERIFY(recipe->preparation.enabled && recipe->perChannel);
        QVERIFY(!recipeFromJson(R"({"preset": "other"})").ok());
    }

    void refusals_data()
    {
        QTest::addColumn<QString>("json");
        QTest::addColumn<QString>("named");
        QTest::newRow("no json") << "{"
                                 << "no recipe";
        QTest::newRow("list") << "[]"
                              << "no recipe";
        QTest::newRow("unknown key") << R"({"per_chanel": true})"
                                     << "'per_chanel'";
        QTest::newRow("unknown inner key") << R"({"calibration": {"bin": 3}})"
                                           << "'calibration.bin'";
        QTest::newRow("wrong kind") << R"({"per_channel": 1})"
                                    << "'per_channel'";
        QTest::newRow("wrong type") << R"({"weight_type": "int9"})"
                                    << "'weight_type'";
        QTest::newRow("wrong format") << R"({"format": "qqq"})"
                                      << "'format'";
        QTest::newRow("tensor") << R"({"tensors": {"w": {"scale": "x"}}})"
                                << "'tensors.w.scale'";
        QTest::newRow("percentile") << R"({"calibration": {"percentile": 101}})"
                                    << "percentile";
        QTest::newRow("percentile 0") << R"({"calibration": {"percentile": 0}})"
                                      << "calibration.percentile must be above 0 and at most 100";
        QTest::newRow("percentile 0 of a tensor") << R"({"tensors": {"t": {"calibrator": {"percentile": 0}}}})"
                                                  << "tensors.t.calibrator.percentile must be above 0";
        QTest::newRow("range upside down") << R"({"tensors": {"t": {"lowest": 5, "highest": 1}}})"
                                           << "tensors.t.lowest must be below tensors.t.highest";
        QTest::newRow("empty range") << R"({"tensors": {"t": {"lowest": 1, "highest": 1}}})"
                                     << "tensors.t.lowest must be below tensors.t.highest";
        QTest::newRow("range beyond float32") << R"({"tensors": {"t": {"lowest": -1, "highest": 1e39}}})"
                                              << "tensors.t.highest must be a number of float32";
        QTest::newRow("one end beyond float32") << R"({"tensors": {"t": {"lowest": -1e39}}})"
                                                << "tensors.t.lowest must be a number of float32";
        QTest::newRow("range of a channel")
            << R"({"tensors": {"w": {"axis": 0, "channels": [{"lowest": 0, "highest": 1}, {"lowest": 2, "highest": 1}]}}})"
            << "tensors.w.channels.1.lowest must be below";
        QTest::newRow("second range") << R"({"tensors": {"t": {"convert": {"lowest": 5, "highest": 1}}}})"
                                      << "tensors.t.convert.lowest must be below";
        QTest::newRow("smooth alpha") << R"({"smooth_quant_alpha": 1.5})"
                                      << "smooth_quant_alpha";
        QTest::newRow("correction") << R"({"corrections": {"biases": true}})"
                                    << "'corrections.biases'";
        QTest::newRow("negative bins") << R"({"calibration": {"bins": -1}})"
                                       << "'calibration.bins'";
        QTest::newRow("block") << R"({"weight_only": {"block_size": 24}})"
                               << "block_size";
        QTest::newRow("version") << R"({"schema_version": 99})"
                                 << "schema_version";
    }
    void refusals()
    {
        QFETCH(QString, json);
        QFETCH(QString, named);
        const auto recipe = recipeFromJson(json.toStdString());
        QVERIFY(!recipe.ok());
        QVERIFY2(recipe.issue().what.find(named.toStdString()) != std::string::npos, recipe.issue().what.c_str());
        QVERIFY(!recipe.issue().remedy.empty());
    }

    void differences()
    {
        const Recipe before;
        Recipe after;
        QVERIFY(recipeDiff(before, after).empty());
        after.exclude = { "n" };
        after.calibration.percentile = 99;
        after.tensors["x"].parts.front().scale = 0.5;
        const auto changes = recipeDiff(before, after);
        QCOMPARE(changes.size(), size_t(3));
        QCOMPARE(changes[0].field, std::string("calibration.percentile"));
        QCOMPARE(changes[0].before, std::string("99.999"));
        QCOMPARE(changes[1].field, std::string("exclude"));
        QCOMPARE(changes[1].after, std::string("[\"n\"]"));
        QCOMPARE(changes[2].field, std::string("tensors.x"));
        QCOMPARE(recipeDiff(after, before)[1].before, changes[1].after);
    }

    void keysTellWhatMustRunAgain()
    {
        const Recipe base;
        const RecipeKeys keys = recipeKeys(base);
        QCOMPARE(recipeKeys(base) == keys, true);

        Recipe excluded = base;
        excluded.exclude = { "n" };
        QCOMPARE(recipeKeys(excluded).calibration, keys.calibration);
        QCOMPARE(recipeKeys(excluded).ranges, keys.ranges);
        QVERIFY(recipeKeys(excluded).graph != keys.graph);

        Recipe calibrator = base;
        calibrator.calibration.kind = Calibrator::Entropy;
        QCOMPARE(recipeKeys(calibrator).calibration, keys.calibration);
        QVERIFY(recipeKeys(calibrator).ranges != keys.ranges);
        QCOMPARE(recipeKeys(calibrator).graph, keys.graph);

        Recipe corrected = base;
        corrected.corrections.adaround = corrected.corrections.biasCorrection = true;
        QCOMPARE(recipeKeys(corrected).calibration, keys.calibration);
        QVERIFY(recipeKeys(corrected).graph != keys.graph);
        corrected.corrections.equalize = true; // another graph is calibrated
        const RecipeKeys equalized = recipeKeys(corrected);
        QVERIFY(equalized.calibration != keys.calibration);
        corrected.corrections.equalizeClips = true; // and yet another one
        QVERIFY(recipeKeys(corrected).calibration != equalized.calibration);

        Recipe types = base;
        types.opTypes = { "Conv" };
        QVERIFY(recipeKeys(types).calibration != keys.calibration);

        Recipe linked = base; // a tensor with a calibrator of its own: another range, and another graph
        linked.tensors["x"].calibrator.emplace();
        QCOMPARE(recipeKeys(linked).calibration, keys.calibration);
        QVERIFY(recipeKeys(linked).ranges != keys.ranges && recipeKeys(linked).graph != keys.graph);
    }

    void optionsReadWhatTheyWrite()
    {
        const Recipe from = everything();
        std::set<std::string_view> paths;
        for (const RecipeOption& option : recipeOptions()) {
            QVERIFY2(paths.insert(option.path).second, option.path.data());
            if (!option.value.get)
                continue;
            Recipe recipe;
            option.value.set(recipe, option.value.get(from));
            QVERIFY2(option.value.get(recipe) == option.value.get(from), option.path.data());
            option.value.set(recipe, option.value.get(Recipe {}));
            QVERIFY2(recipe == Recipe {}, option.path.data());
            for (const RecipeChoice& choice : option.line.choices) {
                option.value.set(recipe, valueOf(choice));
                QVERIFY2(option.value.get(recipe) == valueOf(choice), option.path.data());
            }
        }
        QVERIFY(wrongNumbers({}).empty());
    }

    void optionsCopyWhatNobodyCanAskFor()
    {
        Recipe from; // as it was read out of a file
        from.weightType = DType::Float8E5M2;
        Recipe to;
        to.weightType = DType::UInt8;
        for (const RecipeOption& option : recipeOptions())
            if (option.value.copy)
                option.value.copy(to, from);
        QVERIFY(to == from);
    }

    /// Recipes in files name them so: a path that changes makes files unreadable.
    void pathsStay()
    {
        const std::vector<std::string_view> paths { "format", "activation_type", "weight_type", "per_channel",
            "reduce_range", "op_types", "include", "exclude", "calibration.method", "calibration.symmetric",
            "calibration.percentile", "calibration.bins", "calibration.quantized_bins",
            "calibration.averaging_constant", "calibration.stride", "calibration.max_intermediate_outputs",
            "calibration.cube_root", "calibration.mse_levels", "symmetric_activations", "restricted_asymmetric",
            "symmetric_weights", "minimum_range", "quantize_unquantized_inputs", "matmul_constant_only",
            "pairs_for_weights", "dedicated_pairs", "quantize_bias", "keep_removable", "adjust_weights_for_bias",
            "contrib_operators", "subgraphs", "sigmoid_nnapi", "block_size", "no_output_types", "per_channel_axis",
            "tensors", "placement.nodes", "placement.tensors", "codes.file", "codes.constants", "complete_overrides",
            "smooth_quant", "smooth_quant_alpha", "smooth_quant_folding", "corrections.equalize",
            "corrections.equalize_clips", "corrections.adaround", "corrections.bias", "weight_only.block_size",
            "weight_only.algorithm", "weight_only.dequantize_form", "weight_only.channel_wise",
            "weight_only.accuracy_level", "weight_only.table_axis", "weight_only.clip_ratios",
            "weight_only.gptq.damping", "weight_only.gptq.reorder", "weight_only.gptq.search_scale",
            "weight_only.gptq.per_channel", "weight_only.gptq.spread_errors", "weight_only.nodes", "fixed_inputs",
            "fixed_shapes", "preparation.enabled", "preparation.fold_branches", "preparation.fold_constants",
            "preparation.remove_unused", "preparation.fold_batch_norm", "preparation.fuse_layer_norm",
            "preparation.fuse_gelu", "preparation.fuse_attention", "preparation.fuse_skip_layer_norm",
            "preparation.fuse_gemm", "preparation.keep_attention", "preparation.infer_shapes", "keep_extreme_constants",
            "exact_activations", "ort_version" };
        std::vector<std::string_view> found;
        for (const RecipeOption& option : recipeOptions())
            found.push_back(option.path);
        QCOMPARE(found, paths);
    }

    /// What the table does not name is neither saved nor compared.
    void everyMemberHasAnOption()
    {
        const Recipe from = nothingAsByDefault();
        QVERIFY(allDiffer(from) && allDiffer(from.calibration) && allDiffer(from.corrections));
        QVERIFY(allDiffer(from.placement) && allDiffer(from.codes));
        QVERIFY(allDiffer(from.weightOnly) && allDiffer(from.weightOnly.gptq) && allDiffer(from.preparation));
        Recipe recipe;
        for (const RecipeOption& option : recipeOptions())
            if (option.value.get)
                option.value.set(recipe, option.value.get(from));
        recipe.tensors = from.tensors; // of single tensors and nodes
        recipe.codes.constants = from.codes.constants;
        recipe.weightOnly.nodes = from.weightOnly.nodes;
        QVERIFY(recipe == from);
    }

    /// A place that two options share would leave their order to chance.
    void optionsHaveTheirPlaces()
    {
        std::set<std::pair<bool, int>> flags;
        std::set<int> lines;
        std::set<std::string_view> names;
        for (const RecipeOption* option : recipeFlags()) {
            QVERIFY2(names.insert(option->flag.name).second, option->path.data());
            const bool list = option->value.type.kind == SettingKind::Texts;
            QVERIFY2(option->flag.place == 0 || flags.emplace(list, option->flag.place).second, option->path.data());
        }
        for (const RecipeOption* option : recipeLines())
            QVERIFY2(option->line.place == 0 || lines.insert(option->line.place).second, option->path.data());
    }

    void everyPassHasASwitch()
    {
        std::vector<std::string> passes;
        Recipe recipe;
        for (const RecipeOption& pass : passOptions()) {
            passes.emplace_back(pass.key());
            pass.value.set(recipe, false);
        }
        QCOMPARE(passes, preparationPasses());
        QCOMPARE(skippedPasses(recipe), passes);
    }
};

int runRecipeTests(int argc, char** argv)
{
    RecipeTest test;
    return QTest::qExec(&test, argc, argv);
}

#include "recipe_test.moc"
