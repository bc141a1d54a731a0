// SPDX-License-Identifier: GPL-3.0-or-later
// Files are opened in whatever way and order they are given, and what gave way comes back.
#include "core/data/arrays/npz_writer.h"
#include "tests/views/support/window_with_work.h"
#include "widgets/models/base/formatting.h"
#include "widgets/session/export/exports.h"
#include "widgets/views/base/text/elided_button.h"
#include "widgets/views/window/start_page.h"

#include <QLabel>
#include <QPushButton>
#include <QSignalSpy>
#include <QStatusBar>
#include <QTest>
#include <QUndoStack>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

using namespace qs;
using namespace qs::test;

class TestOpenedFiles : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { setUpProgram(m_settings); }

    void init() { m_folder.emplace(); }

    void otherDataAreAStepBack()
    {
        Work work(m_folder->path());
        QVERIFY(work.open(floatAndData()));
        work.setPercentile(97);
        openData(work.session, otherData());
        QVERIFY(!work.question()); // nothing is lost
        QVERIFY(work.idle());
        QVERIFY(work.session.snapshot()->inputs.data.spec.ends_with("more.npz"));
        QCOMPARE(work.percentile(), 97.0);
        QVERIFY(work.session.recipe().stack().canUndo());
        const RecentFiles recent;
        QVERIFY(std::ranges::any_of(recent.entries(),
            [](const RecentEntry& entry) { return entry.inputs.data.spec == floatAndData().data.spec; }));
        for (const char* spec : { "digits_samples.npz", "more.npz" }) { // there and back
            action(work, QStringLiteral("Ctrl+Shift+T"))->trigger();
            QVERIFY(work.idle());
            QVERIFY(work.session.snapshot()->inputs.data.spec.ends_with(spec));
            QCOMPARE(work.percentile(), 97.0);
        }
    }

    void swappedFilesAreNoticed_data()
    {
        QTest::addColumn<QString>("way");
        for (const char* way : { "given at once", "one by one", "quantized first", "recent", "project" })
            QTest::newRow(way) << QString::fromLatin1(way);
    }

    void swappedFilesAreNoticed()
    {
        QFETCH(QString, way);
        Work work(m_folder->path());
        const bool piecewise = way == QStringLiteral("one by one") || way == QStringLiteral("quantized first");
        if (!piecewise)
            QVERIFY(work.open(floatAndData()));
        const SnapshotPtr before = work.session.snapshot();
        openSwapped(work, way);
        QVERIFY(work.idle());
        if (!piecewise)
            QCOMPARE(work.session.snapshot(), before); // until it is decided
        auto* headline = work.window.errorBar().findChild<QLabel*>(QStringLiteral("errorHeadline"));
        QVERIFY(work.window.errorBar().isVisible());
        QVERIFY2(
            headline->text().contains(QStringLiteral("digits_qdq.onnx, is quantized")), qPrintable(headline->text()));
        QPushButton* swap = work.button(QStringLiteral("Swap"));
        QVERIFY(swap && work.button(QStringLiteral("Open as given")));
        QTest::mouseClick(swap, Qt::LeftButton);
        QVERIFY(work.idle());
        QCOMPARE(work.session.snapshot()->inputs.floatPath, example("digits_float.onnx"));
        QCOMPARE(work.session.snapshot()->inputs.quantPath, example("digits_qdq.onnx"));
        QVERIFY(!work.window.errorBar().isVisible());
        QVERIFY(!work.button(QStringLiteral("Swap")));
    }

    /// Nothing can take the place of the work, so nothing of it is asked.
    void whatIsNoModelIsToldOfWithoutAsking()
    {
        Work work(m_folder->path());
        QVERIFY(work.open(floatAndData()));
        work.setPercentile(97);
        QVERIFY(writeFileOf(file("labels.txt"), "no model"));
        RecentEntry gone;
        gone.inputs.floatPath = file("gone.onnx").toStdString();
        for (const auto& open :
            std::vector<std::function<void()>> { [&] { openFloat(work.session, file("labels.txt")); },
                [&] { openQuantized(work.session, file("labels.txt")); }, [&] { openRecent(work.session, gone); } }) {
            open();
            QVERIFY(work.idle());
            QVERIFY(!work.question());
            QVERIFY(work.window.errorBar().isVisible());
            QCOMPARE(work.percentile(), 97.0);
            QTest::keyClick(&work.window, Qt::Key_Escape);
            QVERIFY(!work.window.errorBar().isVisible());
        }
        openFloat(work.session, toQt(example("digits_qdq.onnx")));
        QTRY_VERIFY(work.question());
        QVERIFY(work.answer(QMessageBox::Cancel));
    }

    /// Whatever else is told: the numbers that are shown are of it.
    void olderFilesStayNamed()
    {
        Work work(m_folder->path());
        Inputs inputs = bothModels();
        inputs.quantPath = file("older.onnx").toStdString();
        QVERIFY(writeFileOf(file("older.onnx"), bytesOf(toQt(example("digits_qdq.onnx")))));
        QVERIFY(work.open(inputs));
        ErrorBar& bar = work.window.olderBar();
        auto* headline = bar.findChild<QLabel*>(QStringLiteral("errorHeadline"));
        QVERIFY(!bar.isVisible());
        QTest::qWait(1100); // clocks of file systems may be coarse
        QVERIFY(writeFileOf(file("older.onnx"), "no model"));
        QTRY_VERIFY(bar.isVisible());
        QVERIFY2(headline->text().contains(QStringLiteral("older.onnx: has been written anew"))
                && headline->text().contains(QStringLiteral("what is shown is of the older file")),
            qPrintable(headline->text()));
        work.session.reload();
        QTRY_VERIFY(work.window.errorBar().isVisible());
        QVERIFY(work.idle());
        QVERIFY(bar.isVisible());
        QVERIFY(QFile::remove(file("older.onnx")));
        work.session.reload();
        QVERIFY(work.idle());
        QTRY_VERIFY2(headline->text().contains(QStringLiteral("is gone")), qPrintable(headline->text()));
        QVERIFY(bar.isVisible());
        QVERIFY(writeFileOf(file("older.onnx"), bytesOf(toQt(example("digits_qdq.onnx")))));
        work.session.reload();
        QVERIFY(work.idle());
        QTRY_VERIFY(!bar.isVisible());
    }

    void dataThatCannotBeReadAreNotRemembered()
    {
        Work work(m_folder->path());
        QVERIFY(writeFileOf(file("cut.npz"), bytesOf(toQt(example("digits_samples.npz"))).left(100)));
        openData(work.session, file("cut.npz"));
        QVERIFY(work.idle());
        QVERIFY(work.window.errorBar().isVisible());
        QVERIFY(work.session.files().data.spec.empty());
        QVERIFY(!work.window.findChild<QWidget*>(QStringLiteral("waitingData"))->isVisible());
    }

    void waitingDataAreShownAndDoNotBlockAModel_data()
    {
        QTest::addColumn<bool>("taken");
        QTest::addColumn<bool>("quantizedFirst");
        QTest::newRow("taken away") << true << false;
        QTest::newRow("left") << false << false;
        QTest::newRow("left, quantized first") << false << true;
    }

    void waitingDataAreShownAndDoNotBlockAModel()
    {
        QFETCH(bool, taken);
        QFETCH(bool, quantizedFirst);
        Work work(m_folder->path());
        const QString wrong = toQt(example("verses_prompts.npz"));
        openData(work.session, wrong);
        QVERIFY(work.idle());
        auto* waiting = work.window.findChild<QWidget*>(QStringLiteral("waitingData"));
        QVERIFY(waiting->isVisible());
        QVERIFY(waiting->findChild<QLabel*>()->text().contains(QStringLiteral("verses_prompts.npz")));
        if (taken) {
            QTest::mouseClick(waiting->findChild<QPushButton*>(), Qt::LeftButton);
            QVERIFY(work.idle());
            QVERIFY(!waiting->isVisible());
        }
        if (quantizedFirst) {
            openQuantized(work.session, toQt(example("digits_qdq.onnx")));
            QVERIFY(work.idle());
            QVERIFY(work.window.findChild<QLabel*>(QStringLiteral("modelFiles"))
                        ->text()
                        .contains(QStringLiteral("verses_prompts.npz")));
        }
        openFloat(work.session, toQt(example("digits_float.onnx")));
        QVERIFY(work.idle());
        QVERIFY(work.session.snapshot()->floatModel);
        QVERIFY(work.session.files().data.spec.empty());
        QCOMPARE(work.window.errorBar().isVisible(), !taken);
        if (!taken)
            QVERIFY(work.window.errorBar()
                        .findChild<QLabel*>(QStringLiteral("errorHeadline"))
                        ->text()
                        .startsWith(QStringLiteral("verses_prompts.npz")));
        openData(work.session, toQt(floatAndData().data.spec)); // and others can be chosen
        QVERIFY(work.idle());
        QVERIFY(work.session.snapshot()->data);
    }

    void errorsNameTheFileThatIsWrong()
    {
        Work work(m_folder->path());
        QVERIFY(work.open(floatAndData()));
        work.setPercentile(97); // a recipe that nobody chose would be left out
        const auto* headline = work.window.errorBar().findChild<QLabel*>(QStringLiteral("errorHeadline"));
        const Graph& graph = work.session.snapshot()->floatModel->graph();
        const auto feed = work.session.snapshot()->data->feed(0);
        QVERIFY(feed.ok());
        const Shape shape = feed->inputs[0].shape();
        const std::vector<float> values(size_t(feed->inputs[0].count()), std::nanf(""));
        auto npz = NpzWriter::create(file("nan.npz").toStdString(), { graph.value(graph.inputs().front()).name }, 1);
        QVERIFY(npz.ok());
        QVERIFY(npz->add(0, { Tensor::of<float>(shape, values) }).ok());
        QVERIFY(npz->finish().ok());
        openData(work.session, file("nan.npz"));
        QVERIFY(work.idle());
        QVERIFY2(headline->text().startsWith(QStringLiteral("nan.npz")), qPrintable(headline->text()));
        Work other(file("other"));
        const auto* remedy = other.window.errorBar().findChild<QLabel*>(QStringLiteral("errorRemedy"));
        openFloat(other.session, file("none.onnx"));
        QVERIFY(other.idle());
        QVERIFY2(remedy->text().contains(file("none.onnx")), qPrintable(remedy->text()));
    }

    void replacedFilesOfAProjectAreTold_data()
    {
        QTest::addColumn<bool>("gone");
        QTest::addColumn<bool>("edited");
        QTest::newRow("replaced") << false << false;
        QTest::newRow("replaced, edited before") << false << true;
        QTest::newRow("gone, edited before") << true << true;
    }

    /// And what was known of the old one is not said of the new one.
    void replacedFilesOfAProjectAreTold()
    {
        QFETCH(bool, gone);
        QFETCH(bool, edited);
        const QString quantized = file("qdq.onnx"), project = file("p.qscope");
        QVERIFY(QFile::copy(toQt(example("digits_qdq.onnx")), quantized));
        Inputs inputs = bothModels();
        inputs.quantPath = quantized.toStdString();
        Recipe before;
        {
            Work work(file("one"));
            QVERIFY(work.open(inputs));
            QVERIFY(QTest::qWaitFor([&] { return work.session.recipe().baseOrigin() == ValueOrigin::Imported; }));
            QVERIFY(QTest::qWaitFor(
                [&] { return work.session.runs().tree().runs().front().numbers->fileBytes.has_value(); }));
            before = work.session.recipe().base();
            if (edited)
                work.setPercentile(97);
            QVERIFY(work.saveTo(project));
        }
        QVERIFY(QFile::remove(quantized));
        if (!gone)
            QVERIFY(QFile::copy(toQt(example("digits_qdq_narrow.onnx")), quantized));
        Work work(file("two"));
        openProject(work.session, project);
        QVERIFY(work.idle());
        const auto* headline = work.window.errorBar().findChild<QLabel*>(QStringLiteral("errorHeadline"));
        QVERIFY(work.window.errorBar().isVisible());
        QVERIFY2(headline->text().startsWith(QStringLiteral("qdq.onnx: ")), qPrintable(headline->text()));
        QVERIFY(headline->text().contains(gone ? QStringLiteral("is gone") : QStringLiteral("has changed")));
        QVERIFY(work.session.snapshot()->floatModel);
        if (gone)
            return locates(work, project, quantized);
        QVERIFY(QTest::qWaitFor(
            [&] { return work.session.recipe().baseOrigin() == ValueOrigin::Imported && work.session.jobs().idle(); }));
        QVERIFY(!(work.session.recipe().base() == before));
        QCOMPARE(work.percentile() == 97.0, edited);
        QVERIFY(work.window.errorBar().isVisible());
        const RecipeRun& imported = work.session.runs().tree().runs().front();
        QVERIFY(QTest::qWaitFor([&] {
            const auto& numbers = work.session.runs().tree().find(imported.id)->numbers;
            return numbers && numbers->fileBytes;
        }));
        QCOMPARE(int64_t(*work.session.runs().tree().find(imported.id)->numbers->fileBytes), QFile(quantized).size());
    }

private:
    /// A model that was moved is asked for, and the project then opened with it.
    void locates(Work& work, const QString& project, const QString& quantized)
    {
        const auto buttons = work.window.errorBar().findChildren<QPushButton*>();
        QVERIFY(std::ranges::any_of(
            buttons, [](const QPushButton* b) { return b->isVisible() && b->text() == QStringLiteral("Locate…"); }));
        const QString moved = file("moved.onnx");
        QVERIFY(QFile::copy(toQt(example("digits_qdq.onnx")), moved));
        openProject(work.session, project, {}, { { quantized, moved } });
        QVERIFY(work.idle());
        QVERIFY(work.session.snapshot()->quantModel);
        QCOMPARE(toQt(work.session.files().quantPath), moved);
        QCOMPARE(work.session.recipe().baseOrigin(), ValueOrigin::Imported);
    }

private slots:
    void whatIsSaidOfWritingIsOfTheLast()
    {
        Work work(m_folder->path());
        QVERIFY(work.open(bothModels()));
        const auto* status = work.window.statusBar()->findChild<QLabel*>();
        const QString open = toQt(example("digits_qdq.onnx"));
        exportReport(work.session, file("r.html"));
        QVERIFY(work.idle());
        QVERIFY(status->text().contains(QStringLiteral("r.html")));
        exportReport(work.session, open);
        QVERIFY(work.idle());
        QVERIFY(work.window.errorBar().isVisible());
        QVERIFY2(!status->text().contains(QStringLiteral("r.html")), qPrintable(status->text()));
        exportReport(work.session, file("r2.html"));
        QVERIFY(work.idle());
        QVERIFY(!work.window.errorBar().isVisible());
        openData(work.session, file("none.npz"));
        QVERIFY(work.idle());
        exportReport(work.session, file("r3.html"));
        QVERIFY(work.idle());
        QVERIFY(work.window.errorBar().isVisible()); // of the data, which is news still
    }

    void cancelledDoesNotNameEarlierNumbersAsItsOwn()
    {
        Work work(m_folder->path());
        QVERIFY(work.open(bothModels()));
        work.setPercentile(97);
        work.session.run();
        work.session.cancel();
        QVERIFY(work.idle());
        const QString text = work.window.statusBar()->findChild<QLabel*>()->text();
        if (text.startsWith(QStringLiteral("Cancelled"))) // it may have been done before
            QVERIFY2(text.contains(QStringLiteral("from before: Compared")), qPrintable(text));
    }

    void recentFilesAreWholeWhereThereIsRoom()
    {
        RecentFiles recent;
        recent.clear();
        Inputs inputs = bothModels();
        inputs.quantPath = "/models/micro_kws/" + std::string(60, 'q') + ".onnx";
        recent.add(inputs);
        inputs.quantPath = "/models/micro_kws/q.onnx";
        recent.add(inputs);
        StartPage page(recent);
        page.resize(1260, 700);
        page.show();
        for (const auto* button : page.findChildren<ElidedButton*>())
            QTRY_VERIFY2(button->width() >= button->fontMetrics().horizontalAdvance(button->text()),
                qPrintable(button->text() + QString::number(button->width())));
        page.setLessons({ { QStringLiteral("f"), QStringLiteral("Scale and zero point"),
            QStringLiteral("15 minutes, 1 of 10 steps done") } });
        for (const QLabel* text : page.findChildren<QLabel*>(QStringLiteral("startText")))
            QVERIFY(text->width() <= 700 * text->fontMetrics().height() / 10); // lines stay readable
        const auto* lesson = page.findChildren<ElidedButton*>().back();
        QTRY_VERIFY(lesson->width() >= lesson->fontMetrics().horizontalAdvance(lesson->text()));
        recent.clear();
    }

    /// As they are in their files, when the work is given up.
    void editedModelsOpenAnew()
    {
        std::function<void()> proceed;
        Work work(m_folder->path());
        QVERIFY(work.open(bothModels()));
        QTRY_VERIFY_WITH_TIMEOUT(work.session.recipe().editable() && work.session.jobs().idle(), kPatience);
        const Recipe file = work.session.recipe().recipe();
        Recipe edited = file;
        edited.reduceRange = !edited.reduceRange;
        work.session.recipe().apply(QStringLiteral("Edit"), edited);
        QVERIFY(work.session.unsaved());
        work.session.setGuard([&proceed](const std::function<void()>& go) { proceed = go; });
        openAnew(work.session, bothModels());
        QVERIFY(proceed); // it was asked first
        QVERIFY(work.session.recipe().recipe() == edited);
        proceed();
        QTRY_VERIFY_WITH_TIMEOUT(work.session.jobs().idle() && work.session.recipe().recipe() == file, kPatience);
        QCOMPARE(work.session.recipe().stack().count(), 0);
        QVERIFY(!work.session.unsaved());
        proceed = nullptr;
        openAnew(work.session, bothModels()); // nothing to lose
        QVERIFY(!proceed);
        QVERIFY(work.idle());
        work.session.setGuard({});
    }

    void swappedFilesCanBeMeant()
    {
        Work work(m_folder->path());
        openSwapped(work, QStringLiteral("given at once"));
        QVERIFY(work.idle());
        QVERIFY(!work.session.snapshot()->floatModel);
        QTest::mouseClick(work.button(QStringLiteral("Open as given")), Qt::LeftButton);
        QVERIFY(work.idle());
        QCOMPARE(work.session.snapshot()->inputs.floatPath, example("digits_qdq.onnx"));
    }

    void aBadFileLeavesTheOthers_data()
    {
        QTest::addColumn<QString>("way");
        QTest::addColumn<QString>("bad");
        QTest::addColumn<bool>("comparison");
        QTest::newRow("dropped model") << "drop"
                                       << "bad.onnx" << true;
        QTest::newRow("dropped data") << "drop"
                                      << "bad.npz" << false;
        QTest::newRow("dropped something") << "drop"
                                           << "notes.txt" << true;
        QTest::newRow("dropped project") << "drop"
                                         << "bad.qscope" << true;
        QTest::newRow("given data") << "given"
                                    << "bad.npz" << false;
        QTest::newRow("given model") << "given"
                                     << "bad.onnx" << true;
    }

    void aBadFileLeavesTheOthers()
    {
        QFETCH(QString, way);
        QFETCH(QString, bad);
        QFETCH(bool, comparison);
        const QString path = file(bad);
        QVERIFY(writeFileOf(path, "no such thing"));
        const bool badData = bad.endsWith(QStringLiteral("npz"));
        Work work(m_folder->path());
        if (way == QStringLiteral("drop")) {
            const std::string third = badData ? example("digits_qdq.onnx") : example("digits_samples.npz");
            drop(work.window,
                { QString::fromStdString(example("digits_float.onnx")), path, QString::fromStdString(third) });
        } else {
            Inputs inputs = bothModels();
            (badData ? inputs.data.spec : inputs.quantPath) = path.toStdString();
            work.session.openInputs(inputs);
        }
        QVERIFY(work.idle());
        QCOMPARE(work.session.files().floatPath, example("digits_float.onnx"));
        QVERIFY(work.session.snapshot()->floatModel);
        QCOMPARE(work.session.comparison() != nullptr, comparison);
        auto* headline = work.window.errorBar().findChild<QLabel*>(QStringLiteral("errorHeadline"));
        QVERIFY(work.window.errorBar().isVisible());
        QVERIFY2(headline->text().contains(bad), qPrintable(headline->text()));
        QVERIFY2(headline->text().contains(QStringLiteral("the other files are open")), qPrintable(headline->text()));
        QVERIFY(!work.session.unsaved());
    }

    /// Sizes that random data lack can be given in the window then.
    void modelsOpenWithoutTheSizesOfRandomData()
    {
        Work work(m_folder->path());
        Inputs inputs = bothModels();
        inputs.data.spec = "random:2";
        inputs.data.shapes["image"] = { 7 };
        work.session.openInputs(inputs);
        QVERIFY(work.idle());
        QVERIFY(work.session.snapshot()->floatModel && work.session.snapshot()->quantModel);
        QVERIFY(work.session.files().data.spec.empty());
        QVERIFY(work.window.errorBar().isVisible());
    }

    void aProjectIsDroppedAndRecent()
    {
        const QString project = file("work.qscope");
        {
            Work work(m_folder->path());
            QVERIFY(work.open(floatAndData()));
            work.setPercentile(97);
            QVERIFY(work.saveTo(project));
        }
        Work work(m_folder->path());
        drop(work.window, { project, QString::fromStdString(example("digits_qdq.onnx")) });
        QVERIFY(work.idle());
        QCOMPARE(work.session.project(), project);
        QCOMPARE(work.percentile(), 97.0);
        QVERIFY(work.window.errorBar().isVisible()); // the model has no place beside it
        const RecentFiles recent;
        QCOMPARE(recent.entries().front().project, project);
        QVERIFY(work.open({}));
        QVERIFY(work.session.project().isEmpty());
        openRecent(work.session, recent.entries().front());
        QVERIFY(work.idle());
        QCOMPARE(work.session.project(), project);
        QVERIFY(!work.session.unsaved());
    }

private:
    QString file(const QString& name) const { return m_folder->filePath(name); }
    QString file(const char* name) const { return file(QString::fromLatin1(name)); }

    QString otherData() const
    {
        const QString path = file("more.npz");
        QFile::copy(QString::fromStdString(example("digits_samples.npz")), path);
        return path;
    }

    void openSwapped(Work& work, const QString& way) const
    {
        Inputs inputs = bothModels();
        const QString first = QString::fromStdString(inputs.floatPath),
                      second = QString::fromStdString(inputs.quantPath);
        std::swap(inputs.floatPath, inputs.quantPath);
        if (way == QStringLiteral("given at once"))
            return work.session.openInputs(inputs);
        if (way == QStringLiteral("recent"))
            return openRecent(work.session, { {}, inputs });
        if (way == QStringLiteral("project")) {
            Project project;
            project.inputs = inputs;
            QVERIFY(writeProject(project, file("swapped.qscope").toStdString()).ok());
            return openProject(work.session, file("swapped.qscope"));
        }
        const bool quantizedFirst = way == QStringLiteral("quantized first");
        quantizedFirst ? openQuantized(work.session, first) : openFloat(work.session, second);
        QVERIFY(work.idle());
        quantizedFirst ? openFloat(work.session, second) : openQuantized(work.session, first);
    }

    QTemporaryDir m_settings;
    std::optional<QTemporaryDir> m_folder;
};

QTEST_MAIN(TestOpenedFiles)
#include "test_opened_files.moc"
