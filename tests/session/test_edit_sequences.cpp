// SPDX-License-Identifier: GPL-3.0-or-later
// Random edits with undo and redo: what a session shows is, in every bit, what a run from scratch gives.
#include "core/onnx/write/export.h"
#include "core/quant/recipe/recipe_edit.h"
#include "core/report/report.h"
#include "tests/support/helper_call.h"
#include "tests/support/real_build.h"
#include "tests/support/recipe_nodes.h"
#include "tests/support/small_model.h"
#include "widgets/session/session.h"

#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QThread>

#include <algorithm>
#include <array>
#include <atomic>
#include <random>
#include <regex>
#include <set>

using namespace qs;
using qs::test::realBuild;
using qs::test::SmallModel;

namespace {

constexpr int kSteps = 200;

/// Values that look like weights, the same on every run.
Tensor weights(const Shape& shape, uint32_t seed)
{
    std::mt19937 random(seed);
    int64_t count = 1;
    for (int64_t d : shape)
        count *= d;
    std::vector<float> values;
    for (int64_t i = 0; i < count; ++i)
        values.push_back(float(random() % 2001) / 1000.0f - 1.0f);
    return Tensor::of<float>(shape, values);
}

SmallModel residualNet()
{
    SmallModel m({});
    const std::vector<SmallModel::Attribute> same { { "pads", std::vector<int64_t> { 1, 1, 1, 1 } },
        { "kernel_shape", std::vector<int64_t> { 3, 3 } } };
    m.input("x", { 1, 3, 8, 8 });
    m.constant("w1", weights({ 6, 3, 3, 3 }, 1)).constant("b1", weights({ 6 }, 2));
    m.constant("w2", weights({ 6, 6, 3, 3 }, 3)).constant("w3", weights({ 5, 6 }, 4)).constant("b3", weights({ 5 }, 5));
    m.node("Conv", { "x", "w1", "b1" }, { "c1" }, same).node("Relu", { "c1" }, { "r1" });
    m.node("Conv", { "r1", "w2" }, { "c2" }, same).node("Add", { "c2", "r1" }, { "a" });
    m.node("GlobalAveragePool", { "a" }, { "g" }).node("Flatten", { "g" }, { "f" });
    m.node("Gemm", { "f", "w3", "b3" }, { "y" }, { { "transB", int64_t(1) } });
    return m.output("y");
}

SmallModel attentionLikeNet()
{
    SmallModel m({});
    m.input("x", { 1, 6, 8 });
    for (const char* name : { "wq", "wk", "wv", "wo" })
        m.constant(name, weights({ 8, 8 }, uint32_t(name[1])));
    m.constant("bias", weights({ 8 }, 7));
    m.node("MatMul", { "x", "wq" }, { "q" }).node("MatMul", { "x", "wk" }, { "k" });
    m.node("MatMul", { "x", "wv" }, { "v" });
    m.node("Transpose", { "k" }, { "kt" }, { { "perm", std::vector<int64_t> { 0, 2, 1 } } });
    m.node("MatMul", { "q", "kt" }, { "s" }).node("Softmax", { "s" }, { "p" });
    m.node("MatMul", { "p", "v" }, { "o" }).node("Add", { "o", "bias" }, { "ob" });
    m.node("Sigmoid", { "ob" }, { "sg" }).node("Mul", { "ob", "sg" }, { "mu" }).node("MatMul", { "mu", "wo" }, { "y" });
    return m.output("y").output("p");
}

SmallModel branchesNet()
{
    SmallModel m({});
    m.input("x", { 1, 4, 9, 9 });
    m.constant("low", Tensor::scalar(0.0f)).constant("high", Tensor::scalar(6.0f));
    m.constant("wd", weights({ 4, 1, 3, 3 }, 11)).constant("wp", weights({ 6, 4, 1, 1 }, 12));
    m.constant("wl", weights({ 5, 10, 2, 2 }, 13));
    m.node(
        "Conv", { "x", "wd" }, { "d" }, { { "group", int64_t(4) }, { "kernel_shape", std::vector<int64_t> { 3, 3 } } });
    m.node("Clip", { "d", "low", "high" }, { "cd" });
    m.node("Conv", { "cd", "wp" }, { "p" }, { { "kernel_shape", std::vector<int64_t> { 1, 1 } } });
    m.node("LeakyRelu", { "p" }, { "lp" }).node("Concat", { "lp", "cd" }, { "c" }, { { "axis", int64_t(1) } });
    m.node("MaxPool", { "c" }, { "mp" },
        { { "kernel_shape", std::vector<int64_t> { 2, 2 } }, { "strides", std::vector<int64_t> { 2, 2 } } });
    m.node("Conv", { "mp", "wl" }, { "y" }, { { "kernel_shape", std::vector<int64_t> { 2, 2 } } });
    return m.output("y");
}

/// Everything of the report but times and memory.
std::string allNumbers(const Snapshot& snapshot)
{
    Snapshot copy = snapshot;
    copy.timing = {};
    static const std::regex memory("\"peak_memory_bytes\": *[0-9]+");
    return std::regex_replace(compareJson(copy, {}), memory, "") + compareCsv(copy);
}

bool sameHistograms(const Comparison& a, const Comparison& b)
{
    bool same = a.activations.size() == b.activations.size() && a.weights.size() == b.weights.size();
    for (size_t i = 0; same && i < a.activations.size(); ++i) {
        const ActivationRow &x = a.activations[i], &y = b.activations[i];
        same = x.floatHistogram == y.floatHistogram && x.quantHistogram == y.quantHistogram
            && x.errorHistogram == y.errorHistogram && x.beforeHistogram == y.beforeHistogram
            && x.sampleSqnrDb == y.sampleSqnrDb;
    }
    for (size_t i = 0; same && i < a.weights.size(); ++i)
        same = a.weights[i].floatHistogram == b.weights[i].floatHistogram
            && a.weights[i].quantHistogram == b.weights[i].quantHistogram;
    return same;
}

/// One random edit of a recipe.
class Editor {
public:
    Editor(const Snapshot& snapshot, uint32_t seed)
        : m_nodes(recipeNodes(snapshot.quantization->prepared))
        , m_random(seed)
    {
        for (const auto& [name, range] : snapshot.quantization->ranges.tensors)
            m_tensors.push_back(name);
    }
    size_t below(size_t n) { return m_random() % n; }

    Recipe next(Recipe r, QString* mergeKey)
    {
        const std::string& tensor = m_tensors[below(m_tensors.size())];
        const double span = 0.25 + double(below(16)) / 4;
        switch (below(11)) {
        case 0:
        case 1:
            return test::withNode(std::move(r), m_nodes, below(m_nodes.size()), below(2) == 0);
        case 2:
            return withType(std::move(r), m_nodes, m_nodes[below(m_nodes.size())].opType, below(2) == 0);
        case 3:
            *mergeKey = QStringLiteral("drag ") + QString::fromStdString(tensor);
            return withRange(std::move(r), tensor, -span / 2, span);
        case 4:
            return withScale(std::move(r), tensor, span / 100, 0);
        case 5:
            return withoutOverride(std::move(r), quantscopeRecipe(), tensor);
        case 6:
            r.perChannel = !r.perChannel;
            return r;
        case 7:
            r.reduceRange = !r.reduceRange;
            return r;
        case 8:
            r.activationType = r.activationType == DType::Int8 ? DType::UInt8 : DType::Int8;
            r.tensors.clear(); // their zero points belong to the other type
            return r;
        case 9:
            r.calibration.kind = std::array { Calibrator::MinMax, Calibrator::Percentile, Calibrator::Entropy,
                Calibrator::Mse }[below(4)];
            return r;
        default:
            r.symmetricActivations = !r.symmetricActivations;
            return r;
        }
    }

private:
    std::vector<RecipeNode> m_nodes;
    std::vector<std::string> m_tensors;
    std::mt19937 m_random;
};

} // namespace

class TestEditSequences : public QObject {
    Q_OBJECT
private slots:
    void initTestCase()
    {
        QVERIFY(m_folder.isValid());
        QS_HELPER(write("residual", residualNet()));
        QS_HELPER(write("attention", attentionLikeNet()));
        QS_HELPER(write("branches", branchesNet()));
    }

    void incrementalEqualsFromScratch_data()
    {
        QTest::addColumn<QString>("net");
        QTest::addColumn<uint>("seed");
        QTest::newRow("residual") << "residual" << 20u;
        QTest::newRow("attention") << "attention" << 21u;
        QTest::newRow("branches") << "branches" << 22u;
    }
    void incrementalEqualsFromScratch()
    {
        QFETCH(const QString, net);
        QFETCH(const uint, seed);
        Session session(realBuild());
        open(session, net);
        QVERIFY(session.comparison());
        const Recipe first = session.recipe().recipe();
        const std::string firstNumbers = allNumbers(*session.snapshot());
        watchForStale(session);
        Editor editor(*session.snapshot(), seed);
        RecipeHistory& history = session.recipe();
        for (int step = 0; step < kSteps; ++step) {
            const size_t choice = editor.below(10);
            if (choice < 2) {
                history.stack().undo();
            } else if (choice < 3) {
                history.stack().redo();
            } else {
                QString mergeKey;
                const Recipe next = editor.next(history.recipe(), &mergeKey);
                history.apply(QStringLiteral("Step %1").arg(step), next, mergeKey);
            }
            if (editor.below(4) == 0)
                continue; // the next edit comes while this one runs
            QS_HELPER(check(session, step));
            if (QTest::currentTestFailed())
                return;
        }
        while (history.stack().canUndo())
            history.stack().undo();
        QVERIFY(history.recipe() == first);
        QS_HELPER(wait(session));
        QCOMPARE(QByteArray::fromStdString(allNumbers(*session.snapshot())), QByteArray::fromStdString(firstNumbers));
        QCOMPARE(m_stale, 0);
    }

    void cancellingLeavesACompleteSnapshot()
    {
        Session session(realBuild());
        open(session, QStringLiteral("residual"));
        Editor editor(*session.snapshot(), 5);
        for (int i = 0; i < 60; ++i) {
            QString mergeKey;
            session.recipe().apply(QStringLiteral("Edit"), editor.next(session.recipe().recipe(), &mergeKey));
            QThread::usleep(static_cast<unsigned long>(editor.below(20) * 200));
            session.cancel();
            QS_HELPER(wait(session));
            QVERIFY(session.comparison());
            QVERIFY(!session.comparison()->partial);
            if (!session.needsRun())
                QVERIFY(*session.snapshot()->inputs.recipe == session.recipe().recipe());
        }
        session.run();
        QS_HELPER(check(session, 60));
    }

    void goingBackRunsNothing()
    {
        std::atomic<int> builds { 0 };
        Session session([&](const Inputs& inputs, const SnapshotPtr& previous, const ProgressFn& progress,
                            const CancelToken& cancel, const PartialFn& partial) {
            ++builds;
            return buildSnapshot(inputs, previous, progress, cancel, partial);
        });
        open(session, QStringLiteral("branches"));
        const SnapshotPtr start = session.snapshot();
        Recipe next = session.recipe().recipe();
        next.perChannel = true;
        session.recipe().apply(QStringLiteral("Per channel"), next);
        QS_HELPER(wait(session));
        const SnapshotPtr after = session.snapshot();
        QCOMPARE(builds.load(), 2);
        session.recipe().stack().undo();
        QCOMPARE(session.snapshot(), start); // at once
        session.recipe().stack().redo();
        QCOMPARE(session.snapshot(), after);
        QCOMPARE(builds.load(), 2);
        QCOMPARE(session.runs().tree().runs().size(), size_t(2));
        QCOMPARE(session.runs().tree().runs()[1].name, std::string("Per channel"));
        QCOMPARE(session.runs().tree().runs()[1].parent, session.runs().tree().runs()[0].id);
    }

private:
    void write(const std::string& name, SmallModel model)
    {
        const auto prepared = model.finish();
        const std::shared_ptr<const Model> shared(prepared.plan, &prepared.plan->model());
        const Status written = exportModel(GraphDraft(shared), pathOf(name));
        QVERIFY2(written.ok(), written.ok() ? "" : written.issue().what.c_str());
    }
    std::string pathOf(const std::string& name) const
    {
        return m_folder.filePath(QString::fromStdString(name + ".onnx")).toStdString();
    }

    void open(Session& session, const QString& net)
    {
        Inputs inputs;
        inputs.floatPath = pathOf(net.toStdString());
        inputs.data.spec = "random:5:3";
        session.openInputs(inputs);
        QS_HELPER(wait(session));
    }

    static void wait(Session& session) { QTRY_VERIFY_WITH_TIMEOUT(!session.busy(), 60000); }

    /// A snapshot that was not shown before must be of the recipe as it is now.
    void watchForStale(Session& session)
    {
        m_stale = 0;
        connect(&session, &Session::snapshotChanged, this, [this, &session](const SnapshotPtr& now) {
            const bool known = !m_shown.insert(now.get()).second;
            m_kept.push_back(now); // so that addresses are not used again
            m_stale += !known && now->inputs.recipe && !(*now->inputs.recipe == session.recipe().recipe());
        });
    }

    static void check(Session& session, int step)
    {
        QS_HELPER(wait(session));
        Inputs inputs = session.snapshot()->inputs;
        inputs.recipe = session.recipe().recipe();
        inputs.activationCache = 0;
        const auto scratch = buildSnapshot(inputs, nullptr, {}, {});
        const std::string where = "step " + std::to_string(step);
        if (!scratch.ok()) { // the recipe is not possible: the session says so, too, and shows what it had
            QVERIFY2(session.needsRun(), where.c_str());
            return;
        }
        QVERIFY2(!session.needsRun(), where.c_str());
        const std::string shown = allNumbers(*session.snapshot()), right = allNumbers(**scratch);
        const auto differs = std::ranges::mismatch(shown, right).in1 - shown.begin();
        const size_t from = size_t(std::max<ptrdiff_t>(differs - 200, 0));
        QVERIFY2(shown == right,
            (where + ": " + shown.substr(from, 300) + "\nfrom scratch: " + right.substr(from, 300)).c_str());
        QVERIFY2(sameHistograms(*session.comparison(), *(*scratch)->comparison), where.c_str());
    }

    QTemporaryDir m_folder;
    int m_stale = 0;
    std::set<const Snapshot*> m_shown;
    std::vector<SnapshotPtr> m_kept;
};

QTEST_GUILESS_MAIN(TestEditSequences)
#include "test_edit_sequences.moc"
