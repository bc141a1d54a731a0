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
    bool open(const QString& quantized)
    {
        put(QStringLiteral("digits_float.onnx"), QStringLiteral("f.onnx"));
        put(quantized, QStringLiteral("q.onnx"));
        Inputs inputs;
        inputs.floatPath = folder.filePath(QStringLiteral("f.onnx")).toStdString();
        inputs.quantPath = folder.filePath(QStringLiteral("q.onnx")).toStdString();
        inputs.data.spec = (kExamples + QStringLiteral("digits_samples.npz")).toStdString();
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
