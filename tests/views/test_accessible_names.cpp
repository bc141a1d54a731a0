// SPDX-License-Identifier: GPL-3.0-or-later
// Everything that can have the focus, or be pressed, has a name for screen readers. Numbers have one kind of minus
// sign.
#include "tests/views/support/example_window.h"
#include "widgets/session/files/open_files.h"
#include "widgets/views/data/fixed_inputs_dialog.h"
#include "widgets/views/data/prepare_dialog.h"
#include "widgets/views/data/preprocess_dialog.h"
#include "widgets/views/data/random_dialog.h"
#include "widgets/views/help/help_pages.h"
#include "widgets/views/help/help_window.h"
#include "widgets/views/tables/link_dialog.h"
#include "widgets/views/theme/style.h"
#include "widgets/views/window/dock_layout.h"
#include "widgets/views/window/docks/layouts_dialog.h"

#include <QAbstractButton>
#include <QAbstractItemView>
#include <QAbstractScrollArea>
#include <QAccessible>
#include <QComboBox>
#include <QDockWidget>
#include <QLabel>
#include <QRegularExpression>
#include <QScrollArea>
#include <QSplitter>
#include <QTabBar>
#include <QtTest>

using namespace qs;
using namespace qs::test;

namespace {

/// What Qt makes within a widget of its own: that speaks for it.
bool isInner(const QWidget& widget)
{
    const QWidget* around = widget.parentWidget();
    return widget.objectName().startsWith(QLatin1String("qt_")) || qobject_cast<const QComboBox*>(around)
        || qobject_cast<const QTabBar*>(around) || widget.inherits("QTableCornerButton")
        || (around && around->inherits("QComboBoxPrivateContainer")) || widget.inherits("QLineEditIconButton");
}

bool needsName(const QWidget& widget)
{
    if (isInner(widget) || qobject_cast<const QScrollArea*>(&widget))
        return false;
    return widget.focusPolicy() != Qt::NoFocus || qobject_cast<const QAbstractButton*>(&widget);
}

QString pathOf(const QWidget& widget)
{
    QStringList names;
    for (const QWidget* at = &widget; at; at = at->parentWidget())
        names.prepend(QLatin1String(at->metaObject()->className()) + u' ' + at->objectName());
    return names.mid(std::max<qsizetype>(0, names.size() - 4)).join(QStringLiteral(" > "));
}

QStringList namelessIn(QWidget& root)
{
    QStringList nameless;
    for (QWidget* widget : root.findChildren<QWidget*>()) {
        if (!needsName(*widget) || !widget->isVisibleTo(&root))
            continue;
        QAccessibleInterface* face = QAccessible::queryAccessibleInterface(widget);
        if (!face || face->text(QAccessible::Name).trimmed().isEmpty())
            nameless << pathOf(*widget);
    }
    nameless.removeDuplicates();
    return nameless;
}

/// What can be read in labels and lists, with its tool tips; what is typed has a hyphen.
QStringList textsIn(const QWidget& root)
{
    QStringList texts;
    for (const QLabel* label : root.findChildren<QLabel*>())
        texts << label->text() << label->toolTip();
    for (const QAbstractItemView* view : root.findChildren<QAbstractItemView*>()) {
        const QAbstractItemModel* model = view->model();
        for (int row = 0; model && row < std::min(200, model->rowCount()); ++row)
            for (int column = 0; column < model->columnCount(); ++column)
                for (const int role : { Qt::DisplayRole, Qt::ToolTipRole })
                    texts << model->index(row, column).data(role).toString();
    }
    return texts;
}

/// Both quantized models, a tensor and a sample are there to be shown.
bool showsEverything(ExampleWindow& e)
{
    if (!e.ready() || !e.movableTensor())
        return false;
    openOther(e.session, { std::string(QS_SOURCE_DIR "/resources/examples/digits_qdq.onnx"), std::nullopt });
    if (!e.ready())
        return false;
    e.session.selection().selectSample(1);
    return true;
}

} // namespace

class TestAccessibleNames : public QObject {
    Q_OBJECT
private slots:
    void initTestCase()
    {
        QCoreApplication::setApplicationName(QStringLiteral("quantscope-test"));
        setUpApplication(*qApp);
    }

    void startPage()
    {
        Session session { realBuild() };
        MainWindow window { session, ThemeChoice::Light, WindowMemory::Fresh };
        window.show();
        const QStringList nameless = namelessIn(window);
        QVERIFY2(nameless.isEmpty(), qPrintable(nameless.join(u'\n')));
    }

    void everyLayout()
    {
        ExampleWindow e;
        QVERIFY(showsEverything(e));
        QStringList nameless;
        for (const LayoutName name : kLayoutNames) {
            e.window.layoutOfPanels().apply(name);
            QCoreApplication::processEvents();
            nameless << namelessIn(e.window);
        }
        for (const QString& name : MainWindow::viewNames()) {
            e.window.showView(name);
            QCoreApplication::processEvents();
            nameless << namelessIn(e.window);
        }
        nameless.removeDuplicates();
        QVERIFY2(nameless.isEmpty(), qPrintable(nameless.join(u'\n')));
    }

    void numbersHaveTrueMinusSigns()
    {
        ExampleWindow e;
        QVERIFY(showsEverything(e));
        e.session.selection().selectElement(ChosenElement { 1, 3 });
        QStringList wrong;
        bool any = false;
        const QRegularExpression hyphen(QStringLiteral("(?<![\\w.:/)-])-[\\d.∞]"));
        for (const QString& name : MainWindow::viewNames()) {
            e.window.showView(name);
            QTRY_VERIFY_WITH_TIMEOUT(e.session.jobs().idle(), kPatience);
            for (const QString& text : textsIn(e.window)) {
                any |= text.contains(QStringLiteral("−5"));
                if (text.contains(hyphen))
                    wrong << name + QStringLiteral(": ") + text;
            }
        }
        QVERIFY(any);
        wrong.removeDuplicates();
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join(u'\n')));
    }

    void everyDialog_data()
    {
        QTest::addColumn<QString>("dialog");
        for (const char* name : { "layouts", "random", "prepare", "fixed inputs", "link", "help" })
            QTest::newRow(name) << QString::fromLatin1(name);
    }
    void everyDialog()
    {
        QFETCH(QString, dialog);
        ExampleWindow e;
        QVERIFY(e.ready());
        const Snapshot& snapshot = *e.session.snapshot();
        const std::map<QString, std::function<QDialog*()>> makers {
            { QStringLiteral("layouts"),
                [] {
                    return new LayoutsDialog({ { "One", "1" } }, nullptr);
                } },
            { QStringLiteral("random"), [&] { return new RandomDialog(e.session); } },
            { QStringLiteral("prepare"), [&] { return new PrepareDialog(e.session); } },
            { QStringLiteral("fixed inputs"), [&] { return new FixedInputsDialog(e.session); } },
            { QStringLiteral("link"),
                [&] {
                    const ActivationRow& row = snapshot.comparison->activations.front();
                    return new LinkDialog(snapshot, Side::Float, row.floatValue, QStringLiteral("x"));
                } },
            { QStringLiteral("help"), [&] { return showHelp(&e.window, {}); } },
        };
        const std::unique_ptr<QDialog> made(makers.at(dialog)());
        made->show();
        const QStringList nameless = namelessIn(*made);
        QVERIFY2(nameless.isEmpty(), qPrintable(nameless.join(u'\n')));
        QVERIFY(!made->windowTitle().isEmpty());
        QTRY_VERIFY_WITH_TIMEOUT(e.session.jobs().idle(), kPatience);
    }
};

QTEST_MAIN(TestAccessibleNames)
#include "test_accessible_names.moc"
