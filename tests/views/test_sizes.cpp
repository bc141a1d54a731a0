// SPDX-License-Identifier: GPL-3.0-or-later
// The window and its dialogs at small and large sizes, with small and large fonts, with short and very long names: no
// text is cut that must be whole, nothing lies over anything else, and all fits a screen of 1280×720.
#include "tests/support/fake_snapshot.h"
#include "tests/views/support/example_window.h"
#include "widgets/plots/plot_widget.h"
#include "widgets/views/base/elided_label.h"
#include "widgets/views/base/error_bar.h"
#include "widgets/views/base/panel.h"
#include "widgets/views/base/text/elided_button.h"
#include "widgets/views/base/text/elided_check.h"
#include "widgets/views/base/text/font_units.h"
#include "widgets/views/data/fixed_inputs_dialog.h"
#include "widgets/views/data/prepare_dialog.h"
#include "widgets/views/data/preprocess_dialog.h"
#include "widgets/views/data/random_dialog.h"
#include "widgets/views/detail/inspector_panel.h"
#include "widgets/views/header/header_strip.h"
#include "widgets/views/help/help_pages.h"
#include "widgets/views/help/help_window.h"
#include "widgets/views/tables/link_dialog.h"
#include "widgets/views/theme/style.h"
#include "widgets/views/window/dock_layout.h"
#include "widgets/views/window/docks/sign_button.h"

#include <QApplication>
#include <QCheckBox>
#include <QDockWidget>
#include <QLabel>
#include <QLayout>
#include <QMenuBar>
#include <QRegularExpression>
#include <QScrollArea>
#include <QStackedLayout>
#include <QTableView>
#include <QTest>
#include <QToolButton>

using namespace qs;
using namespace qs::test;

namespace {

const QSize kSmallScreen(1280, 720);
constexpr int kSettles = 2000; ///< milliseconds in which the layout is done

/// Names of exporters grow with the depth of the network; they differ at their ends.
std::string longPrefix()
{
    std::string name;
    while (name.size() < 280)
        name += "model/encoder/blocks.0/attention/query_projection/";
    return name.substr(0, 280);
}

Result<SnapshotPtr> longNames(
    const Inputs& inputs, const SnapshotPtr&, const ProgressFn&, const CancelToken&, const PartialFn&)
{
    if (inputs.floatPath.empty())
        return SnapshotPtr(std::make_shared<Snapshot>());
    fake::Options options;
    options.tensors = 12;
    options.prefix = longPrefix();
    auto snapshot = std::make_shared<Snapshot>(*fake::comparison(options));
    snapshot->inputs = inputs;
    return SnapshotPtr(snapshot);
}

Inputs longFiles()
{
    const std::string stem(200, 'm');
    Inputs inputs;
    inputs.floatPath = "/models/" + stem + "_float.onnx";
    inputs.quantPath = "/models/" + stem + "_qdq.onnx";
    inputs.data.spec = "/models/" + stem + "_samples.npz";
    return inputs;
}

/// The font of the desktop, as long as this exists.
class FontOf {
public:
    explicit FontOf(double points)
        : m_before(QApplication::font())
    {
        QFont font = m_before;
        font.setPointSizeF(points);
        QApplication::setFont(font);
    }
    ~FontOf() { QApplication::setFont(m_before); }

private:
    QFont m_before;
};

/// The bundled example compared, or invented numbers over long names.
struct Shown {
    ExampleWindow example;

    Shown(bool longOnes, const QSize& size)
        : example(longOnes ? BuildFn(longNames) : realBuild(), longOnes ? longFiles() : bundledExample())
    {
        example.window.resize(size);
    }
    bool ready()
    {
        const bool there = QTest::qWaitFor(
            [this] { return example.session.comparison() && example.session.jobs().idle(); }, kPatience);
        if (there && example.session.comparison()->activations.size() > 3)
            example.session.selection().selectActivation(3);
        QTest::qWait(1);
        return there;
    }
    DockLayout& layout() { return *example.window.findChild<DockLayout*>(); }
    void arrange(LayoutName name)
    {
        layout().apply(name);
        QTest::qWait(1);
    }
};

bool seen(const QWidget& widget) { return widget.isVisible() && !widget.visibleRegion().isEmpty(); }

QString nameOf(const QWidget& widget, const QString& text)
{
    QString path;
    for (const QWidget* at = &widget; at; at = at->parentWidget())
        if (!at->objectName().isEmpty())
            path.prepend(at->objectName() + u'/');
    return path + QString::fromLatin1(widget.metaObject()->className()) + QStringLiteral(" “%1”").arg(text.left(40));
}

/// Labels and buttons that are narrower or lower than their text.
QStringList clippedTexts(const QWidget& window)
{
    QStringList clipped;
    for (const QLabel* label : window.findChildren<QLabel*>()) {
        const bool mayBeCut = dynamic_cast<const ElidedLabel*>(label) || label->wordWrap();
        if (!seen(*label) || label->text().isEmpty())
            continue;
        if (!mayBeCut && label->width() < label->minimumSizeHint().width())
            clipped << nameOf(*label, label->text());
        if (label->height() < label->fontMetrics().ascent())
            clipped << nameOf(*label, label->text()) + QStringLiteral(" height");
    }
    for (const QAbstractButton* button : window.findChildren<QAbstractButton*>()) {
        if (!seen(*button) || button->text().isEmpty() || dynamic_cast<const SignButton*>(button)) // a sign, no text
            continue;
        const int text = button->fontMetrics().size(Qt::TextShowMnemonic, button->text()).width();
        const bool mayBeCut = dynamic_cast<const ElidedButton*>(button) || dynamic_cast<const ElidedCheck*>(button);
        if (!mayBeCut && button->width() < text && button->objectName() != QStringLiteral("sampleChip"))
            clipped << nameOf(*button, button->text());
        if (button->height() < button->fontMetrics().ascent())
            clipped << nameOf(*button, button->text()) + QStringLiteral(" height");
    }
    return clipped;
}

void addItems(const QLayout& layout, QList<QWidget*>* widgets)
{
    for (int i = 0; i < layout.count(); ++i) {
        if (QWidget* widget = layout.itemAt(i)->widget(); widget && seen(*widget))
            *widgets << widget;
        else if (const QLayout* inner = layout.itemAt(i)->layout())
            addItems(*inner, widgets);
    }
}

/// Neighbours in a layout that lie over each other, or beyond what they stand in.
QStringList overlaps(const QWidget& window)
{
    QStringList found;
    for (QWidget* parent : window.findChildren<QWidget*>()) {
        if (!parent->layout() || !seen(*parent) || qobject_cast<QMainWindow*>(parent)
            || qobject_cast<QDockWidget*>(parent) || qobject_cast<QStackedLayout*>(parent->layout()))
            continue;
        QList<QWidget*> items;
        addItems(*parent->layout(), &items);
        for (int i = 0; i < items.size(); ++i) {
            if (!parent->rect().contains(items[i]->geometry()))
                found << QStringLiteral("beyond its parent: ") + nameOf(*items[i], {});
            for (int k = 0; k < i; ++k)
                if (items[i]->geometry().intersects(items[k]->geometry()))
                    found << nameOf(*items[i], {}) + QStringLiteral(" over ") + nameOf(*items[k], {});
        }
    }
    return found;
}

int wholeRows(const QTableView& table)
{
    int rows = 0;
    const QRect room = table.viewport()->rect();
    for (int row = 0; row < table.model()->rowCount(); ++row)
        rows += room.contains(QRect(0, table.rowViewportPosition(row), 1, table.rowHeight(row)));
    return rows;
}

bool fits(const QSize& least)
{
    return least.width() <= kSmallScreen.width() && least.height() <= kSmallScreen.height();
}

QByteArray text(const QSize& size)
{
    return QByteArray::number(size.width()) + "x" + QByteArray::number(size.height());
}

/// The panels that are seen, where they lie, and the least size that each asks for.
struct Borders {
    QHash<QString, QRect> places;
    QHash<QString, QSize> least;

    explicit Borders(const QWidget& window)
    {
        for (const QDockWidget* dock : window.findChildren<QDockWidget*>())
            if (seen(*dock)) {
                places[dock->objectName()] = dock->geometry();
                least[dock->objectName()] = dock->minimumSizeHint();
            }
    }
    /// Empty where all lie as they did `before`.
    QString movedSince(const Borders& before) const
    {
        QString moved;
        const auto words = [](const QRect& place) {
            return QStringLiteral("%1,%2 %3x%4").arg(place.x()).arg(place.y()).arg(place.width()).arg(place.height());
        };
        for (auto at = places.begin(); at != places.end(); ++at)
            if (at.value() != before.places.value(at.key()))
                moved += QStringLiteral("\n%1 from %2 to %3, least %4 to %5")
                             .arg(at.key(), words(before.places.value(at.key())), words(at.value()),
                                 QString::fromLatin1(text(before.least.value(at.key()))),
                                 QString::fromLatin1(text(least.value(at.key()))));
        return moved;
    }
};

} // namespace

class TestSizes : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { setUpApplication(*qApp); }

    void styleFollowsTheFont()
    {
        const QString usual = qApp->styleSheet();
        {
            const FontOf large(16);
            QVERIFY(qApp->styleSheet() != usual);
            QVERIFY(!qApp->styleSheet().contains(QRegularExpression(QStringLiteral("\\d+u\\b"))));
        }
        QCOMPARE(qApp->styleSheet(), usual);
    }

    void allTextsHaveRoom_data()
    {
        QTest::addColumn<int>("layout");
        QTest::addColumn<QSize>("size");
        QTest::addColumn<double>("points");
        QTest::addColumn<bool>("longNames");
        struct Case {
            QSize size;
            double points;
            bool longNames;
        };
        for (const auto& [size, points, longOnes] : { Case { { 1280, 720 }, 9.75, false }, { { 1280, 720 }, 8.0, true },
                 { { 1280, 800 }, 12.0, true }, { { 1280, 800 }, 16.0, false }, { { 3840, 2160 }, 12.0, true } })
            for (const LayoutName layout :
                { LayoutName::Inspect, LayoutName::Compare, LayoutName::WhatIf, LayoutName::Teach })
                QTest::addRow("layout %d, %s, %g pt%s", int(layout), text(size).constData(), points,
                    longOnes ? ", long names" : "")
                    << int(layout) << size << points << longOnes;
    }

    void allTextsHaveRoom()
    {
        QFETCH(const int, layout);
        QFETCH(const QSize, size);
        QFETCH(const double, points);
        QFETCH(const bool, longNames);
        const FontOf font(points);
        Shown shown(longNames, size);
        QVERIFY(shown.ready());
        shown.arrange(LayoutName(layout));
        QCOMPARE(shown.example.window.size(), size);
        QStringList clipped; // headers find their words once they are laid out
        const bool whole = QTest::qWaitFor(
            [&] {
                clipped = clippedTexts(shown.example.window);
                return clipped.isEmpty();
            },
            kSettles);
        QVERIFY2(whole, qPrintable(clipped.join(u'\n')));
        const QStringList over = overlaps(shown.example.window);
        QVERIFY2(over.isEmpty(), qPrintable(over.join(u'\n')));
        for (const PlotWidget* plot : shown.example.window.findChildren<PlotWidget*>()) {
            if (!seen(*plot))
                continue;
            const_cast<PlotWidget*>(plot)->grab(); // lays it out
            QVERIFY2(
                plot->rect().contains(plot->axesArea()) && plot->axesArea().height() >= plot->fontMetrics().height(),
                qPrintable(nameOf(*plot, {})));
        }
    }

    void headerNumbersAreWhole_data()
    {
        QTest::addColumn<double>("points");
        QTest::addColumn<bool>("longNames");
        QTest::addColumn<bool>("edited");
        for (const double points : { 8.0, 9.75, 12.0, 16.0 })
            for (const bool edited : { false, true }) {
                const bool longOnes = edited;
                QTest::addRow("%g pt%s%s", points, longOnes ? ", long names" : "", edited ? ", edited" : "")
                    << points << longOnes << edited;
            }
    }

    void headerNumbersAreWhole()
    {
        QFETCH(const double, points);
        QFETCH(const bool, longNames);
        QFETCH(const bool, edited);
        const FontOf font(points);
        Shown shown(longNames, kSmallScreen);
        QVERIFY(shown.ready());
        shown.example.session.setAutoRun(false);
        if (edited) {
            Recipe next = shown.example.session.recipe().recipe();
            next.calibration.percentile = 99.5;
            shown.example.session.recipe().apply(QStringLiteral("Percentile of a name that is long"), next);
            QTest::qWait(1);
        }
        auto* strip = shown.example.window.findChild<HeaderStrip*>();
        const auto values = strip->findChildren<QLabel*>(QStringLiteral("summaryValue"));
        QVERIFY(!values.isEmpty());
        for (const QLabel* value : values) {
            QVERIFY2(value->isVisible() && value->width() >= value->sizeHint().width(), qPrintable(value->text()));
            QVERIFY(strip->rect().contains(value->geometry()));
        }
        const QStringList over = overlaps(*strip->parentWidget());
        QVERIFY2(over.isEmpty(), qPrintable(over.join(u'\n')));
    }

    /// What is fitted again after a run counts the numbers that are new.
    void undoLeavesRoomForNames()
    {
        Shown shown(true, kSmallScreen);
        QVERIFY(shown.ready());
        Session& session = shown.example.session;
        Recipe next = session.recipe().recipe();
        next.reduceRange = !next.reduceRange;
        session.recipe().apply(QStringLiteral("Exclude ") + QString(120, u'x'), next);
        if (session.needsRun())
            session.run();
        QVERIFY(QTest::qWaitFor([&] { return !session.busy() && !session.needsRun(); }, 60000));
        QTest::qWait(20);
        const auto* strip = shown.example.window.findChild<HeaderStrip*>();
        const auto* name = strip->findChild<QLabel*>(QStringLiteral("modelName"));
        QVERIFY(name->isVisible() && name->width() >= std::min(60, name->sizeHint().width()));
        for (const auto* button : strip->findChildren<ElidedButton*>())
            if (button->text().startsWith(u'↶') && button->isVisible())
                QVERIFY2(button->width() <= 200, qPrintable(QString::number(button->width())));
    }

    void inspectorShowsEightRows_data()
    {
        QTest::addColumn<int>("layout");
        QTest::addColumn<QSize>("size");
        QTest::addColumn<double>("points");
        QTest::addColumn<bool>("longNames");
        for (const LayoutName layout :
            { LayoutName::Inspect, LayoutName::Compare, LayoutName::WhatIf, LayoutName::Teach })
            for (const bool longOnes : { false, true })
                for (const auto& [size, points] : { std::pair { QSize(1280, 800), 9.75 }, { { 1280, 700 }, 9.75 },
                         { { 1280, 700 }, 12.0 }, { { 1280, 700 }, 16.0 } })
                    QTest::addRow("layout %d, %s, %g pt%s", int(layout), text(size).constData(), points,
                        longOnes ? ", long names" : "")
                        << int(layout) << size << points << longOnes;
    }

    void inspectorShowsEightRows()
    {
        QFETCH(const int, layout);
        QFETCH(const QSize, size);
        QFETCH(const double, points);
        QFETCH(const bool, longNames);
        const FontOf font(points);
        Shown shown(longNames, size);
        QVERIFY(shown.ready());
        shown.arrange(LayoutName(layout));
        const auto* inspector = shown.example.window.findChild<InspectorPanel*>();
        QVERIFY(seen(*inspector));
        const int least = points > 14 ? 7 : 8;
        QVERIFY2(
            wholeRows(*inspector->table()) >= least, QByteArray::number(wholeRows(*inspector->table())).constData());
    }

    void selectingMovesNoBorder_data()
    {
        QTest::addColumn<int>("layout");
        QTest::addColumn<QSize>("size");
        QTest::addColumn<bool>("longNames");
        for (const LayoutName layout :
            { LayoutName::Inspect, LayoutName::Compare, LayoutName::WhatIf, LayoutName::Teach })
            for (const auto& [size, longOnes] :
                { std::pair { QSize(1280, 800), false }, { { 1280, 720 }, true }, { { 1920, 1080 }, false } })
                QTest::addRow("layout %d, %s%s", int(layout), text(size).constData(), longOnes ? ", long names" : "")
                    << int(layout) << size << longOnes;
    }

    /// What a selection writes into a panel asks for no more room than the panel has.
    void selectingMovesNoBorder()
    {
        QFETCH(const int, layout);
        QFETCH(const QSize, size);
        QFETCH(const bool, longNames);
        Shown shown(longNames, size);
        QVERIFY(shown.ready());
        shown.arrange(LayoutName(layout));
        QTest::qWait(50);
        Selection& selection = shown.example.session.selection();
        const Comparison& comparison = *shown.example.session.comparison();
        Borders before(shown.example.window);
        const auto moved = [&] {
            QTest::qWait(5);
            return Borders(shown.example.window).movedSince(before);
        };
        for (size_t i = 0; i < comparison.activations.size(); ++i) {
            selection.selectActivation(int(i));
            const QString what = moved();
            QVERIFY2(what.isEmpty(), qPrintable(QString::fromStdString(comparison.activations[i].name) + what));
        }
        for (size_t i = 0; i < comparison.weights.size(); ++i) {
            selection.selectWeight(int(i));
            const QString what = moved();
            QVERIFY2(what.isEmpty(), qPrintable(QString::fromStdString(comparison.weights[i].name) + what));
        }
        selection.clear();
        QVERIFY2(moved().isEmpty(), qPrintable(moved()));
    }

    /// Other texts end with an ellipsis before the names do, and numbers never.
    void namesKeepTheirRoom()
    {
        Shown shown(true, kSmallScreen);
        QVERIFY(shown.ready());
        shown.arrange(LayoutName::Inspect);
        const auto* table = shown.example.window.findChild<Panel*>(QStringLiteral("tensors"))->findChild<QTableView*>();
        QTRY_VERIFY(table->columnWidth(0) >= fontUnits(table->fontMetrics(), 150));
    }

    /// A value that is cut is shown whole when its row is chosen.
    void inspectorOpensTheCurrentRow()
    {
        Shown shown(true, QSize(1280, 800));
        QVERIFY(shown.ready());
        QTableView* table = shown.example.window.findChild<InspectorPanel*>()->table();
        const int row = 1; // the value's name, below the section
        QVERIFY(table->model()->index(row, 1).data().toString().size() > 250);
        const int before = table->rowHeight(row);
        table->setCurrentIndex(table->model()->index(row, 1));
        QVERIFY(table->rowHeight(row) > 3 * before);
        table->setCurrentIndex(table->model()->index(row + 1, 1));
        QCOMPARE(table->rowHeight(row), before);
    }

    void everythingFitsASmallScreen_data()
    {
        QTest::addColumn<double>("points");
        for (const double points : { 8.0, 9.75, 16.0 })
            QTest::addRow("%g pt", points) << points;
    }

    void everythingFitsASmallScreen()
    {
        QFETCH(const double, points);
        const FontOf font(points);
        Shown shown(true, kSmallScreen);
        QVERIFY(shown.ready());
        MainWindow& window = shown.example.window;
        window.errorBar().showIssue(
            badInput("the file is truncated", "/models/" + std::string(300, 'f') + ".onnx", "copy it again"));
        for (const LayoutName layout :
            { LayoutName::Inspect, LayoutName::Compare, LayoutName::WhatIf, LayoutName::Teach }) {
            shown.arrange(layout);
            QCOMPARE(window.size(), kSmallScreen);
            const QSize least = window.layout()->minimumSize();
            QVERIFY2(fits(least), QByteArray::number(int(layout)) + ": " + text(least));
        }
    }

    void dialogsFitASmallScreen_data() { everythingFitsASmallScreen_data(); }

    void dialogsFitASmallScreen()
    {
        QFETCH(const double, points);
        const FontOf font(points);
        Shown shown(true, kSmallScreen);
        QVERIFY(shown.ready());
        Session& session = shown.example.session;
        MainWindow& window = shown.example.window;
        UndescribedPictures pictures;
        pictures.request.spec = "/pictures/" + std::string(300, 'p');
        const SnapshotPtr snapshot = session.snapshot();
        const ActivationRow& row = snapshot->comparison->activations[3];
        const std::vector<QDialog*> dialogs { new RandomDialog(session, &window),
            new FixedInputsDialog(session, &window), new PrepareDialog(session, &window),
            new PreprocessDialog(session, pictures, &window),
            new LinkDialog(*snapshot, Side::Float, row.floatValue, QString::fromStdString(row.name), &window),
            new HelpWindow(helpPages(nullptr), &window) };
        for (QDialog* dialog : dialogs) {
            dialog->show();
            QTest::qWait(1);
            const QSize least = dialog->minimumSizeHint();
            QVERIFY2(fits(least), qPrintable(dialog->windowTitle() + u' ' + QString::fromLatin1(text(least))));
            const QStringList clipped = clippedTexts(*dialog);
            QVERIFY2(clipped.isEmpty(), qPrintable(dialog->windowTitle() + u'\n' + clipped.join(u'\n')));
            const QStringList over = overlaps(*dialog);
            QVERIFY2(over.isEmpty(), qPrintable(dialog->windowTitle() + u'\n' + over.join(u'\n')));
            dialog->close();
        }
    }
};

QTEST_MAIN(TestSizes)
#include "test_sizes.moc"
