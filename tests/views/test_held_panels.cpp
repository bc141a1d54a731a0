// SPDX-License-Identifier: GPL-3.0-or-later
// Panels and parts of panels that go while somebody holds them: dragged, with an open menu, being shown;
// and what they keep while the window changes its size.
#include "tests/views/support/example_window.h"
#include "tests/views/support/program_set_up.h"
#include "widgets/views/base/emptied_layout.h"
#include "widgets/views/window/dock_layout.h"

#include <QDockWidget>
#include <QLabel>
#include <QMenu>
#include <QPointer>
#include <QTemporaryDir>
#include <QTest>
#include <QVBoxLayout>

using namespace qs;
using namespace qs::test;

namespace {

QDockWidget& dockOf(ExampleWindow& example, const char* name)
{
    return *example.window.findChild<QDockWidget*>(QStringLiteral("dock-") + QLatin1String(name));
}

/// As long as the button is down; nobody lets go of it.
void beginDrag(QDockWidget& dock)
{
    QWidget* title = dock.titleBarWidget();
    const QPoint from = title->rect().center();
    QTest::mousePress(title, Qt::LeftButton, {}, from);
    for (int step = 1; step <= 6; ++step) {
        const QPoint at = from + QPoint(-30 * step, 20 * step);
        QMouseEvent move(QEvent::MouseMove, at, title->mapToGlobal(at), Qt::NoButton, Qt::LeftButton, {});
        QCoreApplication::sendEvent(title, &move);
    }
}

} // namespace

class TestHeldPanels : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { setUpProgram(m_settings); }

    /// What a small window takes, a large one gives back, also in the next start.
    void smallWindowsMakeNothingSmallForGood()
    {
        constexpr QSize kLarge(1800, 1000), kSmall(640, 480), kOther(1260, 700);
        const QStringList names { "dock-findings", "dock-inspector", "dock-layer-chart" };
        QByteArray kept;
        QList<QSize> before;
        const auto sizes = [&](ExampleWindow& d) {
            QList<QSize> all;
            for (const QString& name : names)
                all << d.window.findChild<QDockWidget*>(name)->size();
            return all;
        };
        {
            ExampleWindow d;
            QVERIFY(d.ready());
            d.window.resize(kLarge);
            d.window.layoutOfPanels().apply(LayoutName::Inspect);
            QTest::qWait(50);
            d.window.resizeDocks({ &dockOf(d, "findings") }, { 400 }, Qt::Horizontal); // somebody's own width
            QTRY_COMPARE(dockOf(d, "findings").width(), 400);
            before = sizes(d);
            d.window.resize(kSmall);
            QTRY_VERIFY(sizes(d)[0].width() < 250);
            QTest::qWait(50);
            kept = d.window.layoutOfPanels().state();
            d.window.resize(kLarge);
            QTRY_COMPARE(sizes(d), before);
            d.window.resize(kOther);
            QTest::qWait(50);
            QVERIFY(std::abs(dockOf(d, "findings").width() - 400 * kOther.width() / kLarge.width()) < 3);
            d.window.resize(kLarge);
            QTRY_COMPARE(sizes(d), before);
        }
        ExampleWindow d;
        QVERIFY(d.ready());
        d.window.resize(kLarge);
        d.window.layoutOfPanels().showState(kept);
        QTRY_COMPARE(sizes(d), before);
        d.window.layoutOfPanels().showState(kept.chopped(9)); // sizes that are cut off are not wanted
        QVERIFY(!dockOf(d, "findings").isHidden());
    }

    void keptFromALargeWindow_data()
    {
        QTest::addColumn<QSize>("size"); ///< of the window that it comes back to
        QTest::addColumn<bool>("anew");
        QTest::newRow("of the same size") << QSize(1920, 1050) << false;
        QTest::newRow("a little smaller") << QSize(1800, 1000) << false;
        QTest::newRow("too narrow for both groups below") << QSize(1024, 700) << true;
    }
    /// What has no room is arranged anew, by the layout that it is of: nothing overlaps or lies outside of the window.
    void keptFromALargeWindow()
    {
        QFETCH(const QSize, size);
        QFETCH(const bool, anew);
        ExampleWindow d;
        QVERIFY(d.ready());
        d.window.resize(1920, 1050);
        d.window.layoutOfPanels().apply(LayoutName::Compare);
        d.window.layoutOfPanels().front(QStringLiteral("tokens"));
        d.window.layoutOfPanels().front(QStringLiteral("elements"));
        const auto together
            = [&] { return d.window.tabifiedDockWidgets(&dockOf(d, "tokens")).contains(&dockOf(d, "tensors")); };
        QVERIFY(!together());
        const QByteArray kept = d.window.layoutOfPanels().state();
        d.window.layoutOfPanels().apply(LayoutName::Inspect);
        d.window.resize(size);
        d.window.layoutOfPanels().apply(LayoutName::Compare);
        d.window.layoutOfPanels().showState(kept);
        QTest::qWait(20);
        QCOMPARE(d.window.size(), size);
        QCOMPARE(together(), anew);
        QList<QDockWidget*> seen;
        for (QDockWidget* dock : d.window.findChildren<QDockWidget*>(Qt::FindDirectChildrenOnly))
            if (dock->isVisible() && !dock->isFloating() && dock->geometry().right() >= 0) {
                QVERIFY2(d.window.rect().contains(dock->geometry()), qPrintable(dock->objectName()));
                for (const QDockWidget* other : seen)
                    QVERIFY2(!dock->geometry().intersects(other->geometry()), qPrintable(dock->objectName()));
                seen << dock;
            }
        QVERIFY(seen.size() >= 3); // left, right, below
    }

    /// The panel was deleted below its menu, which ran an event loop of its own.
    void aMenuGoesWithItsPanel()
    {
        ExampleWindow example;
        QVERIFY(example.ready());
        DockLayout& layout = example.window.layoutOfPanels();
        const QPointer<QDockWidget> other = layout.openAnother(QStringLiteral("inspector"));
        QVERIFY(other);
        emit other->titleBarWidget()->customContextMenuRequested({ 4, 4 });
        const QPointer<QMenu> menu = other->findChild<QMenu*>();
        QVERIFY(menu && menu->isVisible());
        layout.apply(LayoutName::Compare);
        QTRY_VERIFY(!other && !menu);
    }

    void draggedPanelsAreLetGo_data()
    {
        QTest::addColumn<int>("then");
        QTest::newRow("another layout") << 0;
        QTest::newRow("all hidden and shown") << 1;
        QTest::newRow("an arrangement restored") << 2;
        QTest::newRow("a second model chosen") << 3;
        QTest::newRow("another one opened") << 4;
        QTest::newRow("the button pressed again") << 5;
    }

    /// The dragged panel kept a place in the layout that was gone when it was dropped.
    void draggedPanelsAreLetGo()
    {
        QFETCH(int, then);
        ExampleWindow example;
        QVERIFY(example.ready());
        DockLayout& layout = example.window.layoutOfPanels();
        const QByteArray before = layout.state();
        for (const char* name : { "inspector", "tensors", "findings" }) {
            QDockWidget& dock = dockOf(example, name);
            layout.raise(QLatin1String(name));
            beginDrag(dock);
            if (then == 0)
                layout.apply(LayoutName::WhatIf);
            else if (then == 1)
                layout.hideAll();
            else if (then == 2)
                layout.showState(before);
            else if (then == 3)
                layout.showBeside(QStringLiteral("graph-2"), QStringLiteral("difference"));
            else if (then == 4)
                layout.openAnother(QStringLiteral("values"));
            else { // the release was lost
                QTest::mousePress(&example.window, Qt::LeftButton, {}, QPoint(2, 2));
                QTest::mouseRelease(&example.window, Qt::LeftButton, {}, QPoint(2, 2));
                layout.showBeside(QStringLiteral("graph-2"), QStringLiteral("difference"));
            }
            QTest::mouseRelease(dock.titleBarWidget(), Qt::LeftButton);
            QCoreApplication::processEvents();
            if (then == 1)
                layout.showAgain();
            layout.apply(LayoutName::Inspect);
            QVERIFY(!dock.isFloating());
            QVERIFY(!dock.isHidden());
        }
    }

    /// They hid themselves when what they show was gone already.
    void floatingPanelsGoWithTheirWindow()
    {
        ExampleWindow example;
        QVERIFY(example.ready());
        for (const char* name : { "error-map", "channels", "values", "arithmetic", "inspector" }) {
            example.window.showView(QLatin1String(name));
            dockOf(example, name).setFloating(true);
        }
        QTRY_VERIFY(example.session.jobs().idle());
    }

    /// Labels were deleted while Qt was showing them.
    void emptiedLayoutsKeepTheirWidgetsUntilTheLoop()
    {
        QWidget page;
        auto* column = new QVBoxLayout(&page);
        QList<QPointer<QLabel>> labels;
        for (int i = 0; i < 3; ++i) {
            labels << new QLabel(QString::number(i), &page);
            column->addWidget(labels.back());
        }
        page.show();
        emptyLayout(*column);
        QCOMPARE(column->count(), 0);
        for (const auto& label : labels)
            QVERIFY(label && label->isHidden());
        QTRY_VERIFY(std::ranges::none_of(labels, [](const auto& label) { return bool(label); }));
    }

private:
    QTemporaryDir m_settings;
};

QTEST_MAIN(TestHeldPanels)
#include "test_held_panels.moc"
