// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/real_build.h"
#include "widgets/models/base/formatting.h"
#include "widgets/session/files/open_files.h"
#include "widgets/views/base/open_dialogs.h"
#include "widgets/views/data/fixed_inputs_dialog.h"
#include "widgets/views/data/picture_look.h"
#include "widgets/views/data/prepare_dialog.h"
#include "widgets/views/data/preprocess_dialog.h"
#include "widgets/views/data/preprocess_form.h"
#include "widgets/views/data/random_dialog.h"
#include "widgets/views/header/header_strip.h"
#include "widgets/views/help/help_window.h"
#include "widgets/views/help/tour.h"
#include "widgets/views/window/main_window.h"

#include <QBuffer>
#include <QCheckBox>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QDir>
#include <QDockWidget>
#include <QDropEvent>
#include <QImage>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QMenuBar>
#include <QMimeData>
#include <QPushButton>
#include <QSettings>
#include <QSpinBox>
#include <QTableWidget>
#include <QTemporaryDir>
#include <QTextBlock>
#include <QTextBrowser>
#include <QtTest>

using namespace qs;

namespace {

constexpr int kPatience = 60'000;
const std::string kFolder = QS_SOURCE_DIR "/resources/examples/";

Inputs example(const char* quantized = "digits_qdq.onnx")
{
    Inputs inputs;
    inputs.floatPath = kFolder + "digits_float.onnx";
    inputs.quantPath = kFolder + quantized;
    inputs.data.spec = kFolder + "digits_samples.npz";
    inputs.data.limit = 24;
    return inputs;
}

struct Shown {
    Session session { test::realBuild() };
    MainWindow window { session, ThemeChoice::Light, WindowMemory::Fresh };

    explicit Shown(const Inputs& inputs)
    {
        session.setAsksForPictures(true);
        window.resize(1280, 800);
        window.show();
        session.openInputs(inputs);
    }
    bool settled(const std::function<bool()>& there)
    {
        return QTest::qWaitFor([&] { return session.jobs().idle() && there(); }, kPatience);
    }
    bool compared()
    {
        return settled([this] { return session.comparison() != nullptr; });
    }
    template <class Dialog> Dialog* dialog() { return window.findChild<Dialog*>(); }
};

void press(QDialog* dialog, QDialogButtonBox::StandardButton which)
{
    QTest::mouseClick(dialog->findChild<QDialogButtonBox*>()->button(which), Qt::LeftButton);
}

QAction* actionOf(QWidget& window, const QString& text)
{
    for (QAction* action : window.findChildren<QAction*>())
        if (action->text().remove(u'&') == text)
            return action;
    return nullptr;
}

} // namespace

class TestDataViews : public QObject {
    Q_OBJECT
    QTemporaryDir m_folder;

    /// Pictures of 20 x 20 in two class folders.
    QString pictures(const QString& name)
    {
        const QString folder = m_folder.filePath(name);
        for (int i = 0; i < 6; ++i) {
            const QString inner = folder + (i % 2 ? QStringLiteral("/cat") : QStringLiteral("/dog"));
            QDir().mkpath(inner);
            QImage image(20, 20, QImage::Format_RGB888);
            image.fill(QColor(40 * i, 200, 255 - 40 * i));
            image.setPixelColor(3, 3, Qt::black);
            image.save(inner + QStringLiteral("/%1.png").arg(i));
        }
        return folder;
    }

private slots:
    void initTestCase()
    {
        QCoreApplication::setOrganizationName(QStringLiteral("Quantscope"));
        QCoreApplication::setApplicationName(QStringLiteral("quantscope-test"));
        QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, m_folder.path());
    }

    /// What is proposed is never a file that is there.
    void proposedNamesAreFree()
    {
        const QTemporaryDir folder;
        const QString pictures = folder.filePath(QStringLiteral("dig"));
        const auto touch = [](const QString& path) { return QFile(path).open(QIODevice::WriteOnly); };
        for (const char* name : { "dig.preprocess.json", "dig-2.preprocess.json", "dig-3.preprocess.json" }) {
            const QString proposed = descriptionPath(pictures, {});
            QCOMPARE(proposed, folder.filePath(QLatin1String(name)));
            QVERIFY(touch(proposed));
        }
    }

    void picturesAreAskedFor()
    {
        Shown shown(example());
        QVERIFY(shown.compared());
        const auto before = shown.session.snapshot()->data;
        const QString folder = pictures(QStringLiteral("photos"));
        openFiles(shown.session, { folder });
        QVERIFY(shown.settled([&] {
            auto* d = shown.dialog<PreprocessDialog>();
            return d && d->looked();
        }));
        auto* dialog = shown.dialog<PreprocessDialog>();
        QCOMPARE(shown.session.snapshot()->data, before); // stays until it is decided
        // the model's input says size and channels
        const auto how = dialog->form().value();
        QVERIFY(how && how->width == 8 && how->height == 8 && how->color == ColorOrder::Gray && how->channelsFirst);
        QStringList texts;
        for (const QLabel* label : dialog->findChildren<QLabel*>())
            texts << label->text();
        QVERIFY2(texts.join(u'\n').contains(QStringLiteral("6 pictures in 2 class folders (cat, dog)")),
            qPrintable(texts.join(u'\n')));
        QCOMPARE(dialog->statistics()->rowCount(), 4); // these, photographs, the quantized file, the open data
        dialog->form().choosePreset(QStringLiteral("unit"));
        QVERIFY(shown.settled([&] { return dialog->looked(); }));
        QCOMPARE(dialog->statistics()->item(1, 3)->text(), QStringLiteral("0.00"));
        QCOMPARE(dialog->statistics()->item(1, 4)->text(), QStringLiteral("1.00"));
        press(dialog, QDialogButtonBox::Ok);
        QVERIFY(
            shown.settled([&] { return shown.session.snapshot()->data && shown.session.snapshot()->data != before; }));
        const Snapshot& now = *shown.session.snapshot();
        QCOMPARE(now.data->samples(), size_t(6));
        QCOMPARE(now.data->labels().size(), size_t(6));
        QCOMPARE(
            now.inputs.data.preprocess, (m_folder.path() + QStringLiteral("/photos.preprocess.json")).toStdString());
        const auto kept = readPreprocess(now.inputs.data.preprocess);
        QVERIFY(kept.ok() && presetOf(*kept) == "unit");
    }

    /// A picture that a camera took upright and stored lying: as it lies by default, upright with the box checked.
    void picturesAreTurnedUpright()
    {
        const QString folder = m_folder.filePath(QStringLiteral("turned"));
        QDir().mkpath(folder);
        QImage image(32, 32, QImage::Format_RGB888);
        image.fill(Qt::black);
        for (int i = 0; i < 32 * 16; ++i)
            image.setPixelColor(16 + i % 16, i / 16, Qt::white); // the right half
        QByteArray bytes;
        QBuffer buffer(&bytes);
        QVERIFY(image.save(&buffer, "jpg", 95));
        const QByteArray exif = QByteArray::fromHex("ffe10022457869660000" // a quarter to the right
                                                    "4d4d002a000000080001011200030000000100060000"
                                                    "00000000");
        bytes.insert(2, exif);
        QFile file(folder + QStringLiteral("/0.jpg"));
        QVERIFY(file.open(QIODevice::WriteOnly) && file.write(bytes) == bytes.size());
        file.close();

        Shown shown(example());
        QVERIFY(shown.compared());
        openData(shown.session, folder);
        QVERIFY(shown.settled([&] {
            auto* d = shown.dialog<PreprocessDialog>();
            return d && d->looked();
        }));
        auto* dialog = shown.dialog<PreprocessDialog>();
        QStringList texts;
        for (const QLabel* label : dialog->findChildren<QLabel*>())
            texts << label->text();
        QVERIFY2(texts.join(u'\n').contains(QStringLiteral("1 of the 1 read here")), qPrintable(texts.join(u'\n')));
        const auto brightness = [&](int x, int y) {
            for (const QLabel* label : dialog->findChildren<QLabel*>())
                if (label->accessibleName() == QStringLiteral("Picture 1 as the network gets it"))
                    return label->pixmap().toImage().pixelColor(x, y).lightness();
            return -1;
        };
        QVERIFY(brightness(90, 20) > 200 && brightness(20, 90) < 60); // white at the right
        auto* turn = dialog->form().findChild<QCheckBox*>();
        QVERIFY(turn && !turn->isChecked());
        QTest::mouseClick(turn, Qt::LeftButton, {}, QPoint(8, turn->height() / 2));
        QVERIFY(turn->isChecked());
        QVERIFY(shown.settled([&] { return dialog->looked(); }));
        QVERIFY(brightness(90, 20) < 60 && brightness(20, 90) > 200); // white below
        dialog->form().choosePreset(QStringLiteral("unit"));
        QVERIFY(turn->isChecked()); // presets say nothing of it
        press(dialog, QDialogButtonBox::Ok);
        QVERIFY(shown.settled([&] { return shown.session.snapshot()->data->samples() == 1; }));
        QVERIFY(readPreprocess(shown.session.snapshot()->inputs.data.preprocess)->exif);
    }

    void refusedPicturesLeaveWhatIsOpen()
    {
        Shown shown(example());
        QVERIFY(shown.compared());
        const SnapshotPtr before = shown.session.snapshot();
        openData(shown.session, pictures(QStringLiteral("again")));
        QVERIFY(shown.settled([&] { return shown.dialog<PreprocessDialog>() != nullptr; }));
        press(shown.dialog<PreprocessDialog>(), QDialogButtonBox::Cancel);
        QVERIFY(shown.settled([&] { return shown.dialog<PreprocessDialog>() == nullptr; }));
        QCOMPARE(shown.session.snapshot()->data, before->data);
        QVERIFY(!QFile::exists(m_folder.filePath(QStringLiteral("again.preprocess.json"))));
    }

    /// Given together with new models, the models open first and say what they take.
    void modelsOpenBeforeTheirPictures()
    {
        Inputs inputs = example();
        inputs.data = {};
        inputs.data.spec = pictures(QStringLiteral("with models")).toStdString();
        Shown shown(inputs);
        QVERIFY(shown.settled([&] {
            auto* d = shown.dialog<PreprocessDialog>();
            return d && d->looked();
        }));
        QVERIFY(shown.session.snapshot()->floatModel && shown.session.snapshot()->quantModel);
        QCOMPARE(shown.dialog<PreprocessDialog>()->form().value()->width, 8);
    }

    void wrongFieldsAreTold_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("text");
        QTest::addColumn<bool>("good");
        const QString mean = QStringLiteral("Less the mean, one number a channel");
        const QString deviation = QStringLiteral("Divided by the deviation, one number a channel");
        QTest::newRow("one for all") << mean << "0.5" << true;
        QTest::newRow("three") << mean << "0.5; 1/4; -3" << true;
        QTest::newRow("commas") << mean << "0.485, 0.456, 0.406" << true;
        QTest::newRow("two") << mean << "0.5; 0.5" << false;
        QTest::newRow("text") << mean << "a" << false;
        QTest::newRow("nothing") << mean << "" << false;
        QTest::newRow("by zero") << deviation << "1; 0; 1" << false;
    }

    void wrongFieldsAreTold()
    {
        QFETCH(QString, name);
        QFETCH(QString, text);
        QFETCH(bool, good);
        PreprocessForm form({});
        for (QLineEdit* edit : form.findChildren<QLineEdit*>())
            if (edit->accessibleName() == name) {
                edit->clear();
                QTest::keyClicks(edit, QStringLiteral(" ") + text);
                QCOMPARE(edit->property("wrong").toBool(), !good);
            }
        QCOMPARE(form.value().has_value(), good);
        QCOMPARE(form.problem().isEmpty(), good);
    }

    void aPresetIsSeenAgain()
    {
        PreprocessForm form({});
        auto* preset = form.findChild<QComboBox*>();
        for (const PicturePreset& known : picturePresets()) {
            form.choosePreset(toQt(known.name));
            QCOMPARE(preset->currentData().toString(), toQt(known.name));
        }
        for (QComboBox* combo : form.findChildren<QComboBox*>())
            if (combo->accessibleName() == QStringLiteral("Channels")) {
                combo->setCurrentIndex(1);
                emit combo->activated(1);
            }
        QCOMPARE(preset->currentData().toString(), QString()); // own numbers
        QVERIFY(form.value()->color == ColorOrder::Bgr);
    }

    void openSizesAreAskedForOnce()
    {
        Shown shown(example());
        QVERIFY(shown.compared());
        QAction* random = actionOf(shown.window, QStringLiteral("Random data…"));
        QVERIFY(random && random->isEnabled());
        random->trigger();
        auto* dialog = shown.dialog<RandomDialog>();
        QVERIFY(dialog);
        QCOMPARE(dialog->sizes().size(), size_t(1)); // N
        dialog->sizes().at(QStringLiteral("N"))->setValue(1);
        dialog->samples()->setValue(5);
        dialog->seed()->setValue(7);
        press(dialog, QDialogButtonBox::Ok);
        QVERIFY(shown.settled([&] { return shown.session.snapshot()->data->samples() == 5; }));
        QCOMPARE(shown.session.snapshot()->inputs.data.spec, std::string("random:5:7"));
        QCOMPARE(shown.session.snapshot()->inputs.data.shapes.at("image"), (Shape { 1, 1, 8, 8 }));
        random->trigger(); // what was chosen is there again
        QTRY_VERIFY(shown.dialog<RandomDialog>() && shown.dialog<RandomDialog>()->samples()->value() == 5);
    }

    void droppedDataHaveTwoUses()
    {
        Shown shown(example());
        QVERIFY(shown.compared());
        const QString other = m_folder.filePath(QStringLiteral("other.npz"));
        QVERIFY(QFile::copy(QString::fromStdString(kFolder + "digits_samples.npz"), other));
        QMimeData mime;
        mime.setUrls({ QUrl::fromLocalFile(other) });
        QDragEnterEvent enter({ 600, 300 }, Qt::CopyAction, &mime, Qt::LeftButton, Qt::NoModifier);
        QCoreApplication::sendEvent(&shown.window, &enter);
        QDropEvent drop({ 600, 300 }, Qt::CopyAction, &mime, Qt::LeftButton, Qt::NoModifier);
        QCoreApplication::sendEvent(&shown.window, &drop);
        auto* menu = shown.window.findChild<QMenu*>(QStringLiteral("dataUse"));
        QVERIFY(menu && menu->isVisible());
        QCOMPARE(menu->actions()[0]->text(), QStringLiteral("&Judge by other.npz"));
        menu->actions()[1]->trigger();
        menu->close();
        QVERIFY(
            shown.settled([&] { return shown.session.snapshot()->inputs.calibration.spec == other.toStdString(); }));
        QVERIFY(shown.session.snapshot()->inputs.data.spec != other.toStdString());
    }

    void preparingIsProvedAndSaved()
    {
        Shown shown(example());
        QVERIFY(shown.compared());
        actionOf(shown.window, QStringLiteral("Prepare float model…"))->trigger();
        auto* dialog = shown.dialog<PrepareDialog>();
        QVERIFY(dialog && !dialog->saveButton()->isEnabled());
        QTest::mouseClick(dialog->runButton(), Qt::LeftButton);
        QVERIFY(shown.settled([&] { return dialog->prepared() != nullptr; }));
        QStringList told;
        for (int row = 0; row < dialog->table()->rowCount(); ++row)
            told << dialog->table()->item(row, 2)->text();
        QVERIFY2(told.contains(QStringLiteral("nothing to do")), qPrintable(told.join(u'\n')));
        const QString path = m_folder.filePath(QStringLiteral("prepared.onnx"));
        saveAndOpen(shown.session, dialog->prepared(), path);
        QVERIFY(shown.settled([&] { return shown.session.snapshot()->inputs.floatPath == path.toStdString(); }));
        QVERIFY(shown.session.comparison() && shown.session.snapshot()->quantModel);
        dialog->table()->item(0, 0)->setCheckState(Qt::Unchecked); // other passes: what was made is no longer that
        QVERIFY(!dialog->prepared() && !dialog->saveButton()->isEnabled());
    }

    void inputsAreFixedAsOneStep()
    {
        Inputs inputs = example();
        inputs.quantPath.clear();
        Shown shown(inputs);
        QVERIFY(shown.compared());
        actionOf(shown.window, QStringLiteral("Fix inputs…"))->trigger();
        auto* dialog = shown.dialog<FixedInputsDialog>();
        QVERIFY(dialog && dialog->table()->rowCount() == 1);
        dialog->table()->item(0, 3)->setText(QStringLiteral("two"));
        press(dialog, QDialogButtonBox::Apply);
        QVERIFY(dialog->isVisible() && !dialog->message()->text().contains(QStringLiteral("--")));
        const Recipe before = shown.session.recipe().recipe();
        dialog->table()->item(0, 3)->setText(QStringLiteral("1×1×8×8"));
        press(dialog, QDialogButtonBox::Apply);
        QCOMPARE(
            shown.session.recipe().recipe().preparation.fixedShapes, (std::vector<std::string> { "image=1x1x8x8" }));
        QVERIFY(shown.compared());
        shown.session.recipe().stack().undo();
        QVERIFY(shown.session.recipe().recipe() == before);
    }

    void everyPanelIsExplained()
    {
        const auto pages = helpPages(nullptr);
        for (const HelpPage& page : pages)
            QVERIFY2(page.markdown.startsWith(QStringLiteral("# ")) && !page.markdown.contains(QStringLiteral(" --")),
                qPrintable(page.name));
        for (const QString& view : MainWindow::viewNames()) {
            const HelpPlace place = helpOfPanel(view);
            const auto found = searchHelp(pages, place.section);
            QVERIFY2(std::ranges::any_of(
                         found, [&](const HelpPlace& p) { return p.section == place.section && p.page == place.page; }),
                qPrintable(view));
        }
        QVERIFY(searchHelp(pages, QStringLiteral("letterbox grey")).front().page == QStringLiteral("data"));
        QVERIFY(searchHelp(pages, QStringLiteral("qwertzu")).empty() && searchHelp(pages, {}).empty());
    }

    void theHelpIsSearched()
    {
        Shown shown(example());
        QVERIFY(shown.compared());
        HelpWindow* help = showHelp(&shown.window, helpOfPanel(QStringLiteral("matching")));
        QVERIFY(QTest::qWaitForWindowExposed(help));
        QCOMPARE(help->text()->textCursor().block().text(), QStringLiteral("Matching"));
        QCOMPARE(help->list()->count(), 7);
        QTest::keyClicks(help->search(), QStringLiteral("letterbox"));
        QVERIFY(help->list()->count() >= 1);
        QTest::keyClick(help->search(), Qt::Key_Return);
        QVERIFY(help->isVisible());
        QCOMPARE(help->place().page, QStringLiteral("data"));
        QTest::keyClicks(help->search(), QStringLiteral("zzz"));
        QCOMPARE(help->list()->item(0)->text(), QStringLiteral("Nothing was found"));
        QCOMPARE(showHelp(&shown.window, { QStringLiteral("shortcuts"), {} }), help); // one window
        QVERIFY(help->text()->toPlainText().contains(QStringLiteral("Ctrl+Shift+O")));
    }

    void theTourPointsAtWidgets()
    {
        QSettings().remove(QStringLiteral("tourSeen"));
        Shown shown(example("digits_qdq_narrow.onnx"));
        QVERIFY(shown.compared());
        QVERIFY(!Tour::seen());
        Tour& tour = shown.window.tour();
        actionOf(shown.window, QStringLiteral("Tour"))->trigger();
        const auto steps = int(tourSteps().size());
        QVERIFY(steps >= 6 && steps <= 8);
        for (int step = 0; step < steps; ++step) {
            QCOMPARE(tour.step(), step);
            QVERIFY2(tour.target() && tour.target()->isVisible(), qPrintable(tourSteps()[size_t(step)].panel));
            QVERIFY(shown.window.rect().contains(tour.callOut()->geometry()));
            QTRY_COMPARE(tour.callOut()->isVisible(), true);
            QTest::keyClick(tour.callOut(), Qt::Key_Return);
        }
        QVERIFY(!tour.running() && !tour.callOut()->isVisible());
        QVERIFY(Tour::seen());
        tour.start(); // asked for again it comes again
        QTest::keyClick(tour.callOut()->next, Qt::Key_Right);
        QCOMPARE(tour.step(), 1);
        QTest::keyClick(tour.callOut()->next, Qt::Key_Left);
        QCOMPARE(tour.step(), 0);
        QTest::keyClick(tour.callOut()->next, Qt::Key_Escape);
        QVERIFY(!tour.running());
    }

    /// Behind another tab the target has no frame, and the call-out stays in sight.
    void theTourFollowsTheTabs()
    {
        Shown shown(example("digits_qdq_narrow.onnx"));
        QVERIFY(shown.compared());
        Tour& tour = shown.window.tour();
        tour.start();
        QDockWidget *dock = nullptr, *other = nullptr;
        for (size_t step = 0; step < tourSteps().size() && !other; ++step) {
            dock = nullptr;
            for (QWidget* at = tour.target(); at && !dock; at = at->parentWidget())
                dock = qobject_cast<QDockWidget*>(at);
            if (dock)
                for (QDockWidget* beside : shown.window.tabifiedDockWidgets(dock))
                    other = beside->isHidden() ? other : beside;
            if (!other)
                QTest::keyClick(tour.callOut()->next, Qt::Key_Right);
        }
        QVERIFY(other && tour.running());
        QTRY_VERIFY(tour.pointing());
        other->raise();
        QTRY_VERIFY(!tour.pointing());
        const auto onTop = [&] {
            const QWidget* at = shown.window.childAt(tour.callOut()->geometry().center());
            return at && (at == tour.callOut() || tour.callOut()->isAncestorOf(at));
        };
        QTRY_VERIFY(tour.callOut()->isVisible() && onTop());
        dock->raise();
        QTRY_VERIFY(tour.pointing() && onTop());
        tour.end();
    }

    void theTourHasTheFocusAfterAMenu()
    {
        Shown shown(example("digits_qdq_narrow.onnx"));
        QVERIFY(shown.compared());
        shown.window.activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(&shown.window));
        Tour& tour = shown.window.tour();
        tour.start();
        QTRY_VERIFY(tour.callOut()->next->hasFocus());
        QMenu* menu = shown.window.menuBar()->actions().front()->menu();
        QVERIFY(menu);
        tour.callOut()->next->clearFocus();
        menu->popup(shown.window.mapToGlobal(QPoint()));
        QTRY_VERIFY(menu->isVisible());
        QTest::keyClick(menu, Qt::Key_Escape);
        QTRY_VERIFY(!menu->isVisible());
        shown.window.activateWindow(); // which this platform does not do by itself
        QTRY_VERIFY(!menu->isVisible() && tour.callOut()->next->hasFocus());
        QTest::keyClick(tour.callOut()->next, Qt::Key_Return);
        QCOMPARE(tour.step(), 1);
        tour.end();
    }

    /// What a recipe made says nothing of other pictures.
    void onlyAQuantizedFileHoldsARange()
    {
        Shown shown(example("digits_qdq_narrow.onnx"));
        QVERIFY(shown.compared());
        Snapshot now = *shown.session.snapshot();
        QVERIFY(!now.inputs.quantPath.empty());
        const auto held = [&now] {
            return std::ranges::any_of(knownOfInput(now, "elsewhere", true),
                [](const StatisticsRow& row) { return row.title == QStringLiteral("Quantized file holds"); });
        };
        QVERIFY(held());
        now.inputs.quantPath.clear();
        QVERIFY(!held());
    }

    void filesAreProposedWhereTheyCanBeWritten()
    {
        const QTemporaryDir folder;
        QCOMPARE(folderToWriteTo(folder.path()), folder.path());
        const QString none = folder.filePath(QStringLiteral("none"));
        const QString proposed = folderToWriteTo(none);
        QVERIFY2(proposed != none && QFileInfo(proposed).isWritable(), qPrintable(proposed));
    }

    void theTourIsOfferedOnce()
    {
        QSettings().remove(QStringLiteral("tourSeen"));
        for (const bool first : { true, false }) {
            Session session(test::realBuild());
            MainWindow window(session, ThemeChoice::Light, WindowMemory::Fresh);
            window.resize(1280, 800);
            window.show();
            window.tour().offerFor(example().floatPath);
            session.openInputs(example());
            QVERIFY(QTest::qWaitFor([&] { return session.jobs().idle() && session.comparison(); }, kPatience));
            QTest::qWait(50);
            QCOMPARE(window.tour().running(), first);
            if (first)
                QTest::mouseClick(window.tour().callOut()->skip, Qt::LeftButton);
        }
    }
};

QTEST_MAIN(TestDataViews)
#include "test_data_views.moc"
