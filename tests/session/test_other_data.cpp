// SPDX-License-Identifier: GPL-3.0-or-later
// Data that were written anew, moved, or cannot be used; projects that two windows have open.
#include "core/data/arrays/npz_writer.h"
#include "core/quant/recipe/recipe_edit.h"
#include "tests/support/real_build.h"
#include "widgets/session/files/changed_files.h"
#include "widgets/session/files/projects.h"
#include "widgets/session/recipe/recipe_view.h"

#include <QDir>
#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include <cmath>

using namespace qs;
using namespace qs::test;

namespace {

constexpr int kPatience = 60'000;
constexpr size_t kSamples = 6;
const QString kExamples = QStringLiteral(QS_SOURCE_DIR "/resources/examples/");

/// A session over files of a folder of its own.
struct Work {
    QString folder;
    Session session { realBuild() };

    std::string file(const char* name) const { return QDir(folder).filePath(QString::fromLatin1(name)).toStdString(); }
    void put(const char* example, const char* name) const
    {
        QFile::remove(QString::fromStdString(file(name)));
        QFile::copy(kExamples + QString::fromLatin1(example), QString::fromStdString(file(name)));
    }
    Inputs inputs(bool quantized) const
    {
        Inputs in;
        in.floatPath = file("f.onnx");
        in.quantPath = quantized ? file("q.onnx") : std::string();
        in.data.spec = file("d.npz");
        in.data.limit = kSamples;
        return in;
    }
    bool open(bool quantized)
    {
        put("digits_float.onnx", "f.onnx");
        put("digits_qdq.onnx", "q.onnx");
        put("digits_samples.npz", "d.npz");
        session.openInputs(inputs(quantized));
        return settled();
    }
    bool settled()
    {
        return QTest::qWaitFor(
            [this] {
                if (session.jobs().idle() && session.needsRun())
                    session.run();
                return session.jobs().idle() && session.recipe().editable() && session.comparison();
            },
            kPatience);
    }
    /// The samples that are open, each number times `factor`.
    bool write(const char* name, float factor) const
    {
        const Snapshot& now = *session.snapshot();
        const Graph& graph = now.floatModel->graph();
        auto npz = NpzWriter::create(file(name), { graph.value(graph.inputs().front()).name }, kSamples);
        for (size_t i = 0; npz && i < kSamples; ++i) {
            const auto feed = now.data->feed(i);
            const Tensor& x = feed->inputs.front();
            std::vector<float> values(x.data<float>().begin(), x.data<float>().end());
            for (float& v : values)
                v *= factor;
            if (!npz->add(i, { Tensor::of<float>(Shape(x.shape().begin() + 1, x.shape().end()), values) }))
                return false;
        }
        return npz && npz->finish();
    }
    bool exclude(const char* node)
    {
        RecipeView view(session);
        for (size_t i = 0; i < view.nodes().size(); ++i)
            if (view.nodes()[i].name == node)
                session.recipe().apply(QStringLiteral("Exclude"),
                    withNodes(session.recipe().recipe(), view.nodes(), std::array<size_t, 1> { i }, false));
        return settled();
    }
    bool reload()
    {
        session.reload();
        return settled();
    }
    const RunNumbers& numbers(size_t run) const { return *session.runs().tree().runs()[run].numbers; }
    bool save(const char* name)
    {
        QSignalSpy saved(&session, &Session::projectSaved), refused(&session, &Session::notWritten);
        saveProject(session, QString::fromStdString(file(name)), {});
        return QTest::qWaitFor([&] { return saved.size() + refused.size() > 0; }, kPatience) && saved.size() == 1;
    }
    bool openAgain(const char* name)
    {
        openProject(session, QString::fromStdString(file(name)));
        return QTest::qWaitFor([this] { return !session.project().isEmpty(); }, kPatience) && settled();
    }
};

} // namespace

class TestOtherData : public QObject {
    Q_OBJECT
private slots:
    /// What was measured on the older content of a file is not compared with what is measured on the new one.
    void whatIsInTheFileTellsDataApart()
    {
        QTemporaryDir folder;
        Work work { folder.path() };
        QVERIFY(work.open(true));
        QVERIFY(work.exclude("/pointwise/conv/Conv"));
        QVERIFY(work.exclude("/stem/conv/Conv"));
        QCOMPARE(work.session.runs().tree().runs().size(), size_t(3));
        QVERIFY(measurementOf(work.numbers(1), work.numbers(2)) == Measurement::Same);
        QVERIFY(QFile::copy(QString::fromStdString(work.file("d.npz")), QString::fromStdString(work.file("kept.npz"))));
        QVERIFY(work.write("d.npz", 0.25F));
        QVERIFY(work.reload());
        QCOMPARE(work.session.runs().tree().current(), RunId(3));
        QVERIFY(measurementOf(work.numbers(1), work.numbers(2)) == Measurement::OtherData);
        QVERIFY(measurementOf(work.numbers(0), work.numbers(2)) == Measurement::Same); // both were measured again
        QVERIFY(QFile::remove(QString::fromStdString(work.file("d.npz"))));
        QVERIFY(
            QFile::rename(QString::fromStdString(work.file("kept.npz")), QString::fromStdString(work.file("d.npz"))));
        QVERIFY(work.reload());
        QVERIFY(measurementOf(work.numbers(1), work.numbers(2)) == Measurement::Same);
    }

    void numbersOfAnOlderFloatModelGo()
    {
        QTemporaryDir folder;
        Work work { folder.path() };
        QVERIFY(work.open(true));
        QVERIFY(work.exclude("/pointwise/conv/Conv"));
        QVERIFY(work.exclude("/stem/conv/Conv"));
        QVERIFY(work.reload());
        QVERIFY(work.session.runs().tree().runs()[1].numbers); // nothing has changed
        QTest::qWait(1100); // clocks of file systems may be coarse
        work.put("digits_float.onnx", "f.onnx");
        QVERIFY(work.reload());
        QVERIFY(!work.session.runs().tree().runs()[1].numbers);
        QVERIFY(work.session.runs().tree().runs()[2].numbers);
    }

    void sizesAreOfTheFileAsItIs()
    {
        QTemporaryDir folder;
        Work work { folder.path() };
        QVERIFY(work.open(true));
        const auto bytes = [&] { return work.numbers(0).fileBytes; };
        QTRY_VERIFY_WITH_TIMEOUT(bytes().has_value(), kPatience);
        work.put("digits_qdq_narrow.onnx", "q.onnx");
        QVERIFY(work.reload());
        QTRY_VERIFY_WITH_TIMEOUT(bytes().has_value(), kPatience);
        QCOMPARE(int64_t(*bytes()), QFile(QString::fromStdString(work.file("q.onnx"))).size());
    }

    void dataOfAFolderThatWasMovedAreTheSame()
    {
        QTemporaryDir folder;
        {
            Work work { folder.path() };
            QVERIFY(work.open(true));
            QVERIFY(work.exclude("/pointwise/conv/Conv"));
            QVERIFY(work.save("p.qscope"));
        }
        const QString moved = folder.path() + QStringLiteral("/moved");
        QVERIFY(QDir(folder.path()).mkdir(QStringLiteral("moved")));
        for (const char* name : { "f.onnx", "q.onnx", "d.npz", "p.qscope" })
            QVERIFY(QFile::rename(
                folder.filePath(QString::fromLatin1(name)), QDir(moved).filePath(QString::fromLatin1(name))));
        Work work { moved };
        QVERIFY(work.openAgain("p.qscope"));
        QVERIFY(measurementOf(work.numbers(0), work.numbers(1)) == Measurement::Same);
        QCOMPARE(work.numbers(0).measuredOn, work.numbers(1).measuredOn);
    }

    /// Data that the recipe cannot be calibrated with take nobody's numbers away, and somebody says so.
    void dataThatCannotBeUsedLeaveWhatWasOpen()
    {
        QTemporaryDir folder;
        Work work { folder.path() };
        QVERIFY(work.open(false));
        const SnapshotPtr before = work.session.snapshot();
        QVERIFY(work.write("nan.npz", std::nanf("")));
        QSignalSpy failures(&work.session, &Session::failed);
        Inputs other = work.inputs(false);
        other.data.spec = work.file("nan.npz");
        work.session.openInputs(other);
        QTRY_COMPARE_WITH_TIMEOUT(failures.size(), 1, kPatience);
        QVERIFY(work.session.snapshot() == before);
        QVERIFY(work.session.comparison());
        QCOMPARE(work.session.files().data.spec, work.file("d.npz"));
    }

    void filesWithoutTheDefaultRecipeSayWhy()
    {
        QTemporaryDir folder;
        Work first { folder.path() };
        QVERIFY(first.open(false));
        QVERIFY(first.write("nan.npz", std::nanf("")));
        Work work { folder.path() };
        QSignalSpy failures(&work.session, &Session::failed);
        Inputs inputs = work.inputs(false);
        inputs.data.spec = work.file("nan.npz");
        work.session.openInputs(inputs);
        QTRY_COMPARE_WITH_TIMEOUT(failures.size(), 1, kPatience);
        QVERIFY(work.session.snapshot()->floatModel);
        const auto issue = failures.front().front().value<Issue>();
        QVERIFY2(issue.what.find("without the default recipe") != std::string::npos, issue.what.c_str());
    }

    void whatAnotherWindowSavedStays()
    {
        QTemporaryDir folder;
        Work first { folder.path() };
        QVERIFY(first.open(true));
        QVERIFY(first.save("p.qscope"));
        Work second { folder.path() };
        QVERIFY(second.openAgain("p.qscope"));
        ChangedFiles files(second.session);
        QSignalSpy told(&files, &ChangedFiles::projectChanged);
        QVERIFY(first.exclude("/pointwise/conv/Conv"));
        QVERIFY(first.save("p.qscope"));
        QVERIFY(first.save("p.qscope")); // its own work is no other's
        QTRY_COMPARE_WITH_TIMEOUT(told.size(), 1, kPatience);
        QVERIFY(second.exclude("/stem/conv/Conv"));
        QSignalSpy failures(&second.session, &Session::failed);
        QVERIFY(!second.save("p.qscope"));
        QCOMPARE(failures.size(), 1);
        QVERIFY(second.session.unsaved());
        const auto kept = readProject(second.file("p.qscope"));
        QVERIFY(kept && kept->inputs.recipe == first.session.recipe().recipe());
        QVERIFY(second.save("other.qscope"));
        QVERIFY(first.exclude("/stem/conv/Conv"));
        QVERIFY(first.save("p.qscope"));
    }

    void whoSavesAgainReplaces()
    {
        QTemporaryDir folder;
        Work first { folder.path() }, second { folder.path() };
        QVERIFY(first.open(true));
        QVERIFY(first.save("p.qscope"));
        QVERIFY(second.openAgain("p.qscope"));
        QVERIFY(first.exclude("/pointwise/conv/Conv"));
        QVERIFY(first.save("p.qscope"));
        QVERIFY(second.exclude("/stem/conv/Conv"));
        QVERIFY(!second.save("p.qscope"));
        QVERIFY(second.save("p.qscope"));
        QVERIFY(!first.save("p.qscope"));
    }
};

QTEST_GUILESS_MAIN(TestOtherData)
#include "test_other_data.moc"
