// SPDX-License-Identifier: GPL-3.0-or-later
// What is exported is the model whose numbers are shown.
#include "core/onnx/import.h"
#include "core/onnx/write/export.h"
#include "core/project/snapshot/build_snapshot.h"
#include "core/tensor/convert.h"
#include "tests/support/real_build.h"
#include "widgets/session/export/hand_over.h"
#include "widgets/session/recipe/recipe_view.h"
#include "widgets/session/session.h"

#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>

using namespace qs;
using namespace qs::test;

namespace {

constexpr int kPatience = 60'000;

Inputs exampleOf(const char* model, const char* data)
{
    const std::string folder = QS_SOURCE_DIR "/resources/examples/";
    Inputs inputs;
    inputs.floatPath = folder + model;
    inputs.data.spec = folder + data;
    inputs.data.limit = 2;
    return inputs;
}

std::map<std::string, size_t> operatorsOf(const Graph& graph)
{
    std::map<std::string, size_t> counts;
    for (const Node& node : graph.nodes())
        ++counts[node.opType];
    return counts;
}

} // namespace

class TestHandOver : public QObject {
    Q_OBJECT
private slots:
    void theModelIsTheOneShown_data()
    {
        QTest::addColumn<Inputs>("inputs");
        QTest::addColumn<RecipeFormat>("format");
        QTest::addColumn<std::string>("type"); ///< of an operator that only this format has
        const Inputs digits = exampleOf("digits_float.onnx", "digits_samples.npz");
        const Inputs verses = exampleOf("verses_float.onnx", "verses_prompts.npz");
        QTest::newRow("Q/DQ pairs") << digits << RecipeFormat::Qdq << std::string("DequantizeLinear");
        QTest::newRow("QOperators") << digits << RecipeFormat::QOperator << std::string("QLinearConv");
        QTest::newRow("dynamic") << digits << RecipeFormat::Dynamic << std::string("DynamicQuantizeLinear");
        QTest::newRow("weight-only") << verses << RecipeFormat::WeightOnly << std::string("MatMulNBits");
    }

    void theModelIsTheOneShown()
    {
        QFETCH(Inputs, inputs);
        QFETCH(RecipeFormat, format);
        QFETCH(std::string, type);
        Session session(realBuild());
        RecipeView view(session);
        session.openInputs(inputs);
        const auto ready = [&] {
            return session.jobs().idle() && session.recipe().editable() && session.comparison() && !session.needsRun();
        };
        QTRY_VERIFY_WITH_TIMEOUT(ready(), kPatience);
        Recipe recipe = session.recipe().recipe();
        recipe.format = format;
        if (format == RecipeFormat::WeightOnly)
            recipe.weightType = DType::Int8;
        session.recipe().apply(QStringLiteral("Format"), recipe);
        session.run();
        QTRY_VERIFY_WITH_TIMEOUT(ready() && session.snapshot()->inputs.recipe == recipe, kPatience);
        QTemporaryDir folder;
        const QString path = folder.filePath(QStringLiteral("out.onnx"));
        QSignalSpy written(&session, &Session::written);
        handOver(session, view, HandOver::Model, path);
        QTRY_COMPARE_WITH_TIMEOUT(written.count(), 1, kPatience);
        inputs.quantPath = path.toStdString();
        const auto read = buildSnapshot(inputs, nullptr, {}, {});
        QVERIFY2(read.ok(), read.ok() ? "" : read.issue().what.c_str());
        const Snapshot& shown = *session.snapshot();
        QVERIFY(operatorsOf((*read)->quantFile->graph()).contains(type));
        QCOMPARE(operatorsOf((*read)->quantFile->graph()), operatorsOf(shown.quantFile->graph()));
        const auto& before = shown.comparison->outputs;
        const auto& after = (*read)->comparison->outputs;
        QCOMPARE(after.size(), before.size());
        for (size_t i = 0; i < before.size(); ++i) {
            QVERIFY(before[i].similarity.rmse && after[i].similarity.rmse);
            QCOMPARE(*after[i].similarity.rmse, *before[i].similarity.rmse);
            QCOMPARE(*after[i].similarity.sqnrDb, *before[i].similarity.sqnrDb);
        }
    }

    void whatTheRecipeDoesNotMakeIsTold_data()
    {
        QTest::addColumn<bool>("other"); ///< a constant of the quantized file is none of the float model
        QTest::addColumn<bool>("edited"); ///< before the model is written
        QTest::newRow("as the recipe makes it") << false << false;
        QTest::newRow("the same, edited") << false << true;
        QTest::newRow("another constant") << true << false;
        QTest::newRow("the same, edited then") << true << true;
    }
    /// With the first numbers of the recipe, and with each model that is written of it; before both, nothing is.
    void whatTheRecipeDoesNotMakeIsTold()
    {
        QFETCH(bool, other);
        QFETCH(bool, edited);
        QTemporaryDir folder;
        Inputs inputs = exampleOf("verses_float.onnx", "verses_prompts.npz");
        const auto quantized = importModel(exampleOf("verses_int4.onnx", "").floatPath);
        QVERIFY(quantized.ok());
        GraphDraft draft(*quantized);
        const auto norm = std::ranges::find(draft.nodes, "SkipSimplifiedLayerNormalization", &DraftNode::opType);
        QVERIFY(norm != draft.nodes.end() && draft.constant(norm->inputs[2]));
        const std::string factors = norm->inputs[2];
        if (other) {
            std::vector<float> values = toFloats(*draft.constant(factors));
            for (float& value : values)
                value *= 1.5f;
            draft.setConstant(factors, Tensor::of<float>(draft.constant(factors)->shape(), values));
        }
        inputs.quantPath = folder.filePath(QStringLiteral("q.onnx")).toStdString();
        QVERIFY(exportModel(draft, inputs.quantPath).ok());
        Session session(realBuild());
        RecipeView view(session);
        QSignalSpy told(&session, &Session::told), written(&session, &Session::written);
        session.openInputs(inputs);
        const auto ready = [&] {
            return session.jobs().idle() && session.recipe().editable() && session.comparison() && !session.needsRun();
        };
        QTRY_VERIFY_WITH_TIMEOUT(ready(), kPatience);
        QCOMPARE(told.count(), 0);
        if (edited) {
            for (const auto type : { DType::Int8, DType::UInt8 }) {
                Recipe next = session.recipe().recipe();
                next.weightType = type;
                session.recipe().apply(QStringLiteral("Type"), next);
                session.run();
                QTRY_VERIFY_WITH_TIMEOUT(ready() && session.snapshot()->inputs.recipe == next, kPatience);
            }
            QCOMPARE(told.count(), int(other));
        }
        const int before = int(told.count());
        handOver(session, view, HandOver::Model, folder.filePath(QStringLiteral("made.onnx")));
        QTRY_COMPARE_WITH_TIMEOUT(written.count(), 1, kPatience);
        QCOMPARE(told.count() - before, int(other));
        handOver(session, view, HandOver::RecipeJson, folder.filePath(QStringLiteral("r.json")));
        QTRY_COMPARE_WITH_TIMEOUT(written.count(), 2, kPatience);
        QCOMPARE(told.count() - before, int(other));
        if (other) {
            const auto issue = told.back().front().value<Issue>();
            QCOMPARE(issue.file, inputs.quantPath);
            QVERIFY2(issue.what.find(factors) != std::string::npos, issue.what.c_str());
        }
    }

    void scriptsTellWhatTheyMakeOtherwise_data()
    {
        QTest::addColumn<bool>("placed"); ///< quantizers stand where no rule puts them
        QTest::newRow("by the rules") << false;
        QTest::newRow("placed as in a file") << true;
    }
    void scriptsTellWhatTheyMakeOtherwise()
    {
        QFETCH(bool, placed);
        Inputs inputs = exampleOf("digits_float.onnx", "digits_samples.npz");
        Session session(realBuild());
        RecipeView view(session);
        QSignalSpy told(&session, &Session::told), written(&session, &Session::written);
        session.openInputs(inputs);
        const auto ready = [&] {
            return session.jobs().idle() && session.recipe().editable() && session.comparison() && !session.needsRun();
        };
        QTRY_VERIFY_WITH_TIMEOUT(ready(), kPatience);
        if (placed) {
            Recipe next = session.recipe().recipe();
            QVERIFY(!session.snapshot()->quantization->prepared.nodes.empty());
            for (const DraftNode& node : session.snapshot()->quantization->prepared.nodes)
                if (node.opType == "Conv")
                    next.placement.nodes.push_back(node.name);
            session.recipe().apply(QStringLiteral("Placement"), next);
            session.run();
            QTRY_VERIFY_WITH_TIMEOUT(ready(), kPatience);
        }
        QTemporaryDir folder;
        const QString path = folder.filePath(QStringLiteral("s.py"));
        handOver(session, view, HandOver::Script, path);
        QTRY_COMPARE_WITH_TIMEOUT(written.count(), 1, kPatience);
        QCOMPARE(told.count(), int(placed));
        if (placed) {
            const auto issue = told.back().front().value<Issue>();
            QCOMPARE(issue.file, path.toStdString());
            QVERIFY2(issue.what.find("placement in the recipe") != std::string::npos, issue.what.c_str());
        }
    }

    void anotherFormatIsAnotherModel_data()
    {
        QTest::addColumn<RecipeFormat>("format");
        QTest::addColumn<bool>("pairs");
        QTest::newRow("Q/DQ pairs") << RecipeFormat::Qdq << false;
        QTest::newRow("QOperators") << RecipeFormat::QOperator << false;
        QTest::newRow("dynamic") << RecipeFormat::Dynamic << true;
        QTest::newRow("weight-only") << RecipeFormat::WeightOnly << true;
    }

    void anotherFormatIsAnotherModel()
    {
        QFETCH(RecipeFormat, format);
        QFETCH(bool, pairs);
        Recipe recipe;
        recipe.format = format;
        QCOMPARE(isAnotherModel(HandOver::Qdq, recipe), pairs);
        QCOMPARE(isAnotherModel(HandOver::QOperator, recipe), pairs);
        for (const HandOver what : { HandOver::Model, HandOver::Script, HandOver::RecipeJson })
            QVERIFY(!isAnotherModel(what, recipe));
    }
};

QTEST_GUILESS_MAIN(TestHandOver)
#include "test_hand_over.moc"
