// SPDX-License-Identifier: GPL-3.0-or-later
// Files that were written anew while they are open, and are read again.
#include "core/onnx/import.h"
#include "core/onnx/write/export.h"
#include "core/project/files/recipe_rebase.h"
#include "core/quant/recipe/recipe_edit.h"
#include "tests/support/real_build.h"
#include "widgets/session/files/changed_files.h"
#include "widgets/session/recipe/recipe_view.h"
#include "widgets/session/session.h"

#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QUndoStack>

using namespace qs;
using namespace qs::test;

namespace {

constexpr int kPatience = 60'000;
const QString kExamples = QStringLiteral(QS_SOURCE_DIR "/resources/examples/");

struct Opened {
    QTemporaryDir folder;
    Session session { realBuild() };

    void put(const QString& example, const QString& name)
    {
        const QString to = folder.filePath(name);
        QFile::remove(to);
        QFile::copy(kExamples + example, to);
    }
    /// `data`: their name in the folder; empty: as they lie beside the example.
    bool open(const QString& quantized, const QString& data = {})
    {
        put(QStringLiteral("digits_float.onnx"), QStringLiteral("f.onnx"));
        put(quantized, QStringLiteral("q.onnx"));
        Inputs inputs;
        inputs.floatPath = folder.filePath(QStringLiteral("f.onnx")).toStdString();
        inputs.quantPath = folder.filePath(QStringLiteral("q.onnx")).toStdString();
        inputs.data.spec = (kExamples + QStringLiteral("digits_samples.npz")).toStdString();
        if (!data.isEmpty()) {
            put(QStringLiteral("digits_samples.npz"), data);
            inputs.data.spec = folder.filePath(data).toStdString();
        }
        inputs.data.limit = 6;
        session.openInputs(inputs);
        return settled();
    }
    bool settled()
    {
        return QTest::qWaitFor(
            [this] {
                return session.jobs().idle() && session.recipe().editable() && session.comparison()
                    && !session.needsRun();
            },
            kPatience);
    }
    void exclude(const char* node)
    {
        RecipeView view(session);
        for (size_t i = 0; i < view.nodes().size(); ++i)
            if (view.nodes()[i].name == node)
                session.recipe().apply(QStringLiteral("Exclude"),
                    withNodes(session.recipe().recipe(), view.nodes(), std::array<size_t, 1> { i }, false));
    }
    double outputDb() { return *session.comparison()->outputs.front().similarity.sqnrDb; }
};

} // namespace

class TestReload : public QObject {
    Q_OBJECT
private slots:
    void theRecipeIsReadAgain()
    {
        Opened changed, fresh;
        QVERIFY(changed.open(QStringLiteral("digits_qdq_narrow.onnx")));
        QVERIFY(fresh.open(QStringLiteral("digits_qdq.onnx")));
        QVERIFY(!(changed.session.recipe().recipe() == fresh.session.recipe().recipe()));
        changed.put(QStringLiteral("digits_qdq.onnx"), QStringLiteral("q.onnx"));
        changed.session.reload();
        QVERIFY(changed.settled());
        QVERIFY(changed.session.recipe().recipe() == fresh.session.recipe().recipe());
        QVERIFY(!changed.session.unsaved());
        for (Opened* opened : { &changed, &fresh }) {
            opened->exclude("/pointwise/conv/Conv");
            QVERIFY(opened->settled());
        }
        QVERIFY(changed.session.recipe().recipe() == fresh.session.recipe().recipe());
        QCOMPARE(changed.outputDb(), fresh.outputDb());
    }

    void editsAreDoneToTheNewRecipe()
    {
        Opened changed, fresh;
        QVERIFY(changed.open(QStringLiteral("digits_qdq_narrow.onnx")));
        changed.exclude("/pointwise/conv/Conv");
        QVERIFY(changed.settled());
        changed.put(QStringLiteral("digits_qdq.onnx"), QStringLiteral("q.onnx"));
        changed.session.reload();
        QVERIFY(changed.settled());
        QVERIFY(fresh.open(QStringLiteral("digits_qdq.onnx")));
        fresh.exclude("/pointwise/conv/Conv");
        QVERIFY(fresh.settled());
        QVERIFY(changed.session.recipe().recipe() == fresh.session.recipe().recipe());
        QCOMPARE(changed.outputDb(), fresh.outputDb());
        QCOMPARE(changed.session.recipe().stack().count(), 1);
        QVERIFY(changed.session.unsaved());
        changed.session.recipe().stack().undo();
        QVERIFY(changed.settled());
        QVERIFY(changed.session.recipe().recipe() == fresh.session.recipe().base());
    }

    void newFilesAreNoticed()
    {
        Opened opened;
        QVERIFY(opened.open(QStringLiteral("digits_qdq_narrow.onnx")));
        ChangedFiles files(opened.session);
        QSignalSpy told(&files, &ChangedFiles::changed);
        QTest::qWait(1100); // clocks of file systems may be coarse
        opened.put(QStringLiteral("digits_qdq.onnx"), QStringLiteral("q.onnx"));
        QTRY_COMPARE_WITH_TIMEOUT(told.count(), 1, kPatience);
        QVERIFY(told.front().front().toString().endsWith(QStringLiteral("q.onnx")));
        opened.session.reload();
        QVERIFY(opened.settled());
        QTest::qWait(2 * ChangedFiles::kDelayMs);
        QCOMPARE(told.count(), 1);
        opened.put(QStringLiteral("digits_qdq_narrow.onnx"), QStringLiteral("other.onnx"));
        QTest::qWait(2 * ChangedFiles::kDelayMs);
        QCOMPARE(told.count(), 1); // another file of the folder
        const QString path = opened.folder.filePath(QStringLiteral("q.onnx"));
        QVERIFY(QFile::remove(path));
        QVERIFY(QFile::rename(opened.folder.filePath(QStringLiteral("other.onnx")), path));
        QTRY_COMPARE_WITH_TIMEOUT(told.count(), 2, kPatience); // renamed into its place
    }

    /// The recipe that is edited was read from the file: its ranges are those of the older one.
    void newFilesAreNoticedWhileAnEditStands()
    {
        Opened opened;
        QVERIFY(opened.open(QStringLiteral("digits_qdq_narrow.onnx")));
        ChangedFiles files(opened.session);
        QSignalSpy told(&files, &ChangedFiles::changed);
        opened.exclude("/pointwise/conv/Conv");
        QVERIFY(opened.settled());
        QTest::qWait(1100); // clocks of file systems may be coarse
        opened.put(QStringLiteral("digits_qdq.onnx"), QStringLiteral("q.onnx"));
        QTRY_COMPARE_WITH_TIMEOUT(told.count(), 1, kPatience);
        const QStringList older { opened.folder.filePath(QStringLiteral("q.onnx")) };
        QCOMPARE(files.older(), older);
        opened.exclude("/stem/conv/Conv");
        QVERIFY(opened.settled());
        QCOMPARE(files.older(), older);
        opened.session.reload(); // with both edits
        QVERIFY(opened.settled());
        const auto excludes
            = [&](const char* node) { return std::ranges::count(opened.session.recipe().recipe().exclude, node) == 1; };
        QVERIFY(QTest::qWaitFor(
            [&] { return excludes("/pointwise/conv/Conv") && excludes("/stem/conv/Conv"); }, kPatience));
        QVERIFY(opened.settled());
        QVERIFY(files.older().empty());
        QTest::qWait(1100);
        opened.put(QStringLiteral("digits_qdq_narrow.onnx"), QStringLiteral("q.onnx"));
        QTRY_COMPARE_WITH_TIMEOUT(files.older(), older, kPatience);
        Inputs alone = opened.session.files();
        alone.quantPath.clear();
        opened.session.openInputs(alone); // nothing of it is shown any more
        QVERIFY(opened.settled());
        QTRY_VERIFY_WITH_TIMEOUT(files.older().empty(), kPatience);
    }

    void newExternalWeightsAreNoticed()
    {
        QTemporaryDir folder;
        const QString path = folder.filePath(QStringLiteral("f.onnx"));
        const auto model = importModel((kExamples + QStringLiteral("digits_float.onnx")).toStdString());
        QVERIFY(model && exportModel(GraphDraft(*model), path.toStdString(), { .inlineLimit = 0 }));
        Session session { realBuild() };
        Inputs inputs;
        inputs.floatPath = path.toStdString();
        session.openInputs(inputs);
        QTRY_VERIFY_WITH_TIMEOUT(session.snapshot()->floatModel && session.jobs().idle(), kPatience);
        ChangedFiles files(session);
        QSignalSpy told(&files, &ChangedFiles::changed);
        QFile weights(path + QStringLiteral(".data"));
        QVERIFY(weights.open(QIODevice::ReadWrite));
        const QByteArray bytes = weights.readAll();
        QVERIFY(weights.seek(0) && weights.write(bytes) == bytes.size());
        weights.close();
        QTRY_COMPARE_WITH_TIMEOUT(told.count(), 1, kPatience);
        QVERIFY(told.front().front().toString().endsWith(QStringLiteral(".data")));
    }

    void whatIsShownStaysOfOlderFiles_data()
    {
        QTest::addColumn<QString>("file"); ///< that is replaced; empty: none is
        QTest::addColumn<QStringList>("removed");
        QTest::addColumn<bool>("reload"); ///< which fails
        QTest::addColumn<bool>("edit"); ///< which runs
        const QString f = QStringLiteral("f.onnx"), q = QStringLiteral("q.onnx"), d = QStringLiteral("d.npz");
        QTest::newRow("a broken file, read again") << q << QStringList() << true << false;
        QTest::newRow("a float file that is gone, an edit") << QString() << QStringList { f } << false << true;
        QTest::newRow("the same, read again first") << QString() << QStringList { f } << true << true;
        QTest::newRow("data that are gone, read again") << QString() << QStringList { d } << true << false;
        QTest::newRow("data that are gone, an edit") << QString() << QStringList { d } << false << true;
        QTest::newRow("all are, read again, an edit") << QString() << QStringList { d, f } << true << true;
    }

    /// Numbers that are made of the older files in memory are of them, too.
    void whatIsShownStaysOfOlderFiles()
    {
        QFETCH(QString, file);
        QFETCH(QStringList, removed);
        QFETCH(bool, reload);
        QFETCH(bool, edit);
        Opened opened;
        QVERIFY(opened.open(QStringLiteral("digits_qdq_narrow.onnx"), QStringLiteral("d.npz")));
        ChangedFiles files(opened.session);
        QVERIFY(files.older().empty());
        QTest::qWait(1100); // clocks of file systems may be coarse
        QStringList wanted;
        if (!file.isEmpty()) {
            QFile broken(opened.folder.filePath(file));
            QVERIFY(broken.remove() && broken.open(QIODevice::WriteOnly) && broken.write("no model") > 0);
            wanted << broken.fileName();
        }
        for (const QString& name : removed) {
            QVERIFY(QFile::remove(opened.folder.filePath(name)));
            wanted << opened.folder.filePath(name);
        }
        wanted.sort();
        const double before = opened.outputDb();
        if (reload) {
            QSignalSpy failed(&opened.session, &Session::failed);
            opened.session.reload();
            QTRY_VERIFY_WITH_TIMEOUT(failed.count() > 0 && opened.settled(), kPatience);
            QCOMPARE(opened.outputDb(), before);
        }
        if (edit) {
            opened.exclude("/pointwise/conv/Conv");
            QVERIFY(opened.settled() && opened.outputDb() != before);
        }
        QTRY_COMPARE_WITH_TIMEOUT(files.older(), wanted, kPatience);
        if (edit) {
            opened.session.recipe().stack().undo();
            QVERIFY(opened.settled());
            QCOMPARE(files.older(), wanted);
        }
        opened.put(QStringLiteral("digits_float.onnx"), QStringLiteral("f.onnx"));
        opened.put(QStringLiteral("digits_qdq.onnx"), QStringLiteral("q.onnx"));
        opened.put(QStringLiteral("digits_samples.npz"), QStringLiteral("d.npz"));
        opened.session.reload();
        QVERIFY(opened.settled());
        QVERIFY(files.older().empty());
    }

    void changesAreCarriedOver()
    {
        Recipe before, edited, onto;
        before.exclude = { "a", "b" };
        before.tensors["x"].parts.front().lowest = -1;
        edited = before;
        edited.exclude = { "b", "mine" };
        edited.perChannel = true;
        edited.tensors["y"].parts.front().symmetric = true;
        onto.exclude = { "a", "b", "new" };
        onto.tensors["x"].parts.front().lowest = -2;
        onto.reduceRange = true;
        Recipe wanted = onto;
        wanted.exclude = { "b", "new", "mine" };
        wanted.perChannel = true;
        wanted.tensors["y"].parts.front().symmetric = true;
        const auto found = rebased(edited, before, onto);
        QVERIFY(found);
        QVERIFY(*found == wanted);
        QVERIFY(*rebased(before, before, onto) == onto);
    }

    void whatTheModelHasNotIsLeftOut()
    {
        Recipe onto, added;
        onto.exclude = { "of the file" };
        added = onto;
        added.exclude = { "of the file", "gone", "re:^any", "/block/*" };
        added.tensors["nowhere"].parts.front().symmetric = true;
        const auto gone = withoutVanished(added, onto, Graph());
        QCOMPARE(gone.size(), size_t(2));
        QVERIFY(added.tensors.empty());
        QCOMPARE(added.exclude.size(), size_t(3));
    }
};

QTEST_GUILESS_MAIN(TestReload)
#include "test_reload.moc"
