// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/real_build.h"
#include "widgets/session/session.h"
#include "widgets/views/detail/inspector_panel.h"
#include "widgets/views/detail/origin_actions.h"
#include "widgets/views/graph/graph_numbers.h"
#include "widgets/views/theme/style.h"
#include "widgets/views/window/main_window.h"

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QDir>
#include <QFileDialog>
#include <QLineEdit>
#include <QMessageBox>
#include <QPushButton>
#include <QSettings>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>

using namespace qs;

namespace {

constexpr int kPatience = 60'000;

/// A window with a file of PyTorch's exporter.
struct ExportedFile {
    Session session { test::realBuild() };
    MainWindow window { session, ThemeChoice::Light, WindowMemory::Fresh };
    QStringList opened;

    ExportedFile()
    {
        window.resize(1400, 900);
        window.show();
        Inputs inputs;
        inputs.floatPath = QS_SOURCE_DIR "/tests/data/origin/dynamo.onnx";
        session.openInputs(inputs);
        actions().setOpener([this](const QString& file) { opened << file; });
    }
    bool ready()
    {
        return QTest::qWaitFor(
            [this] { return session.jobs().idle() && session.snapshot()->floatModel.has_value(); }, kPatience);
    }
    InspectorPanel& inspector() { return *window.findChild<InspectorPanel*>(); }
    OriginActions& actions() { return *inspector().findChild<OriginActions*>(); }
    QAction* action(const char* text)
    {
        for (QAction* action : inspector().table()->actions())
            if (action->text() == QLatin1String(text))
                return action;
        return nullptr;
    }
    QString value(const char* key)
    {
        const auto* model = inspector().table()->model();
        for (int row = 0; row < model->rowCount(); ++row)
            if (model->index(row, 0).data().toString() == QLatin1String(key))
                return model->index(row, 1).data().toString();
        return {};
    }
};

/// Answers the question for the place of a missing file; false when it is not asked.
bool answerWith(QWidget& window, const QString& file)
{
    const auto box = [&] { return window.findChild<QMessageBox*>(); };
    if (!QTest::qWaitFor([&] { return box() && box()->isVisible(); }) || !box()->text().contains(u"tiny_model.py"))
        return false;
    box()->defaultButton()->click();
    const auto dialog = [&] { return window.findChild<QFileDialog*>(); };
    if (!QTest::qWaitFor([&] { return dialog() && dialog()->isVisible(); }))
        return false;
    dialog()->setDirectory(QFileInfo(file).path());
    dialog()->findChild<QLineEdit*>()->setText(QFileInfo(file).fileName());
    QMetaObject::invokeMethod(dialog(), "accept");
    return true;
}

} // namespace

class TestOriginActions : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;

private slots:
    void initTestCase()
    {
        QCoreApplication::setOrganizationName(QStringLiteral("Quantscope"));
        QCoreApplication::setApplicationName(QStringLiteral("quantscope-test-origin"));
        QCoreApplication::setAttribute(Qt::AA_DontUseNativeDialogs);
        QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, m_folder.filePath("settings"));
        setUpApplication(*qApp);
        QVERIFY(QDir(m_folder.path()).mkdir(QStringLiteral("program")));
        QVERIFY(QFile::copy(QStringLiteral(QS_SOURCE_DIR "/tests/data/origin/tiny_model.py"), here()));
    }
    void init() { QSettings().clear(); }

    void linesAreCopied()
    {
        ExportedFile file;
        QVERIFY(file.ready());
        QVERIFY(!file.action("Copy source line")->isVisible()); // nothing is selected
        QVERIFY(file.session.selection().selectByName("node_relu"));
        QCOMPARE(file.value("module"), QStringLiteral("blocks.0"));
        QCOMPARE(file.value("class"), QStringLiteral("tiny_model.Block"));
        QCOMPARE(file.value("source"), QStringLiteral("tiny_model.py:16 in forward — return torch.relu(y) + x"));
        QVERIFY(file.action("Copy source line")->isVisible());
        file.action("Copy source line")->trigger();
        QCOMPARE(QGuiApplication::clipboard()->text(), QStringLiteral("/project/tiny_model.py:16"));
        file.action("Copy stack trace")->trigger();
        const QString trace = QGuiApplication::clipboard()->text();
        QVERIFY(trace.startsWith(QStringLiteral("  File \"/project/tiny_model.py\", line 28, in forward\n")));
        QVERIFY(trace.endsWith(QStringLiteral("return torch.relu(y) + x\n")));
        QVERIFY(file.value("rewritten by").isEmpty());
        QVERIFY(file.session.selection().selectByName("node_Conv_17"));
        QCOMPARE(file.value("rewritten by"), QStringLiteral("FuseBatchNormIntoConv"));
        file.session.selection().clear();
        QVERIFY(!file.action("Open source")->isVisible());
    }

    /// The file is asked for once; the next one is found by what was answered.
    void missingFilesAreLocatedOnce()
    {
        ExportedFile file;
        QVERIFY(file.ready());
        QVERIFY(file.session.selection().selectByName("node_relu"));
        file.action("Open source")->trigger();
        QVERIFY(answerWith(file.window, here()));
        QTRY_COMPARE(file.opened, QStringList { here() });
        QTRY_VERIFY(!file.window.findChild<QMessageBox*>());
        QVERIFY(file.session.selection().selectByName("node_conv2d"));
        file.action("Open source")->trigger();
        QTRY_COMPARE(file.opened, (QStringList { here(), here() }));
        QVERIFY(!file.window.findChild<QMessageBox*>());
    }

    void refusedQuestionsOpenNothing()
    {
        ExportedFile file;
        QVERIFY(file.ready());
        QVERIFY(file.session.selection().selectByName("node_relu"));
        file.action("Open source")->trigger();
        auto* box = file.window.findChild<QMessageBox*>();
        QVERIFY(box && box->isVisible());
        box->button(QMessageBox::Cancel)->click();
        QTRY_VERIFY(!file.window.findChild<QMessageBox*>());
        QVERIFY(file.opened.isEmpty());
    }

    void toolTipOfABox()
    {
        ExportedFile file;
        QVERIFY(file.ready());
        const Snapshot& snapshot = *file.session.snapshot();
        const FoldedGraph folded = foldGraph(
            snapshot.floatModel->graph(), *snapshot.floatModel->quant, [](ValueId) -> const Tensor* { return nullptr; },
            {}, FoldMode::Folded);
        const auto box = folded.box(snapshot.floatModel->graph().findNode("node_relu"));
        QVERIFY(box);
        const QString tip = boxToolTip(snapshot, Side::Float, folded, *box);
        QVERIFY2(tip.contains(QStringLiteral("blocks.0 (Block) · tiny_model.py:16")), qPrintable(tip));
    }

private:
    QString here() const { return m_folder.filePath(QStringLiteral("program/tiny_model.py")); }
};

QTEST_MAIN(TestOriginActions)

#include "test_origin_actions.moc"
