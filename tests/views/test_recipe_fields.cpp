// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/quant/recipe/recipe_edit.h"
#include "tests/views/support/example_window.h"
#include "widgets/models/recipe/recipe_fields.h"
#include "widgets/session/details/shown_place.h"
#include "widgets/views/recipe/override_editor.h"
#include "widgets/views/recipe/recipe_form.h"
#include "widgets/views/recipe/typed_values.h"

#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QSignalSpy>
#include <QTest>
#include <QToolButton>
#include <QUndoStack>

#include <algorithm>
#include <cmath>
#include <limits>

using namespace qs;
using namespace qs::test;

namespace {

/// The recipe's form and the fields of one tensor, over the example.
struct Fields {
    Session session { realBuild() };
    RecipeView view { session };
    RecipeForm form { session };
    ShownPlace place { session };
    OverrideEditor editor { session, view, place };

    explicit Fields(const Inputs& inputs = bundledExample(20))
    {
        session.setAutoRun(false);
        session.openInputs(inputs);
        form.show();
        editor.show();
    }
    bool ready()
    {
        return QTest::qWaitFor(
            [this] { return session.recipe().editable() && session.jobs().idle() && session.comparison(); }, kPatience);
    }
    QUndoStack& stack() { return session.recipe().stack(); }
    /// Opens the fields of a tensor with one scale.
    std::string selectTensor()
    {
        for (const ActivationRow& row : session.comparison()->activations)
            if (row.quantizer && !row.node.empty() && row.params.perTensor()) {
                session.selection().selectByName(row.name);
                for (QToolButton* button : editor.findChildren<QToolButton*>())
                    if (button->isCheckable())
                        button->setChecked(true);
                return row.name;
            }
        return {};
    }
    QLineEdit* field(const QString& name)
    {
        for (QLineEdit* edit : editor.findChildren<QLineEdit*>())
            if (edit->accessibleName() == name)
                return edit;
        return nullptr;
    }
    void type(const QString& name, const QString& text)
    {
        QLineEdit* edit = field(name);
        edit->selectAll();
        QTest::keyClicks(edit, text);
    }
    QString wrong()
    {
        auto* label = editor.findChild<QLabel*>(QStringLiteral("formWrong"));
        return label->isVisible() ? label->text() : QString();
    }
    /// The note that is shown with that link; null: none.
    QLabel* noteWith(const QString& action)
    {
        for (QLabel* label : form.findChildren<QLabel*>())
            if (label->isVisible() && label->text().contains(QStringLiteral(">%1</a>").arg(action)))
                return label;
        return nullptr;
    }
};

/// The note's link, by the keyboard.
void follow(Fields& fields, QLabel* note)
{
    const int steps = fields.stack().count();
    note->setFocus();
    QTest::keyClick(note, Qt::Key_Return);
    if (fields.stack().count() > steps) // the focus was on it
        return;
    QTest::keyClick(note, Qt::Key_Tab);
    QTest::keyClick(note, Qt::Key_Return);
}

/// Locale of the program while it lives.
struct InLocale {
    explicit InLocale(const QLocale& locale) { QLocale::setDefault(locale); }
    ~InLocale() { QLocale::setDefault(m_before); }
    const QLocale m_before;
};

} // namespace

class RecipeFieldsTest : public QObject {
    Q_OBJECT

private slots:
    void numbers_data()
    {
        QTest::addColumn<QString>("language");
        QTest::addColumn<QString>("text");
        QTest::addColumn<double>("value"); // NaN: none
        const double none = std::numeric_limits<double>::quiet_NaN();
        QTest::newRow("point") << "en_US"
                               << "0.5" << 0.5;
        QTest::newRow("negative") << "en_US"
                                  << " -0.5" << -0.5;
        QTest::newRow("true minus") << "en_US" << QStringLiteral("−2") << -2.0;
        QTest::newRow("exponent") << "en_US"
                                  << "1e-3" << 1e-3;
        QTest::newRow("group") << "en_US"
                               << "1,000" << none;
        QTest::newRow("comma") << "de_DE"
                               << "0,5" << 0.5;
        QTest::newRow("point in German") << "de_DE"
                                         << "0.5" << 0.5;
        QTest::newRow("both") << "de_DE"
                              << "1.000,5" << none;
        QTest::newRow("groups") << "de_DE"
                                << "1.000.000" << none;
        QTest::newRow("space") << "fr_FR"
                               << "1 000" << none;
        QTest::newRow("words") << "en_US"
                               << "nan" << none;
        QTest::newRow("endless") << "en_US"
                                 << "1e999" << none;
        QTest::newRow("nothing") << "en_US"
                                 << "" << none;
    }
    void numbers()
    {
        QFETCH(QString, language);
        QFETCH(QString, text);
        QFETCH(double, value);
        const auto typed = typedNumber(text, QLocale(language));
        QCOMPARE(typed.has_value(), !std::isnan(value));
        if (typed)
            QCOMPARE(*typed, value);
    }

    /// The recipe's edit goes, as after any other, also while the field has the focus.
    void typedRangesAreUndone()
    {
        Fields fields;
        QVERIFY(fields.ready());
        fields.selectTensor();
        const Recipe before = fields.session.recipe().recipe();
        const QKeyEvent undo(QEvent::ShortcutOverride, Qt::Key_Z, Qt::ControlModifier);
        const auto wants = [&](QLineEdit* field) { // else the window gets the keys
            QKeyEvent asked(undo.type(), undo.key(), undo.modifiers());
            asked.ignore();
            QApplication::sendEvent(field, &asked);
            return asked.isAccepted();
        };
        fields.type(QStringLiteral("lowest"), QStringLiteral("-3"));
        QVERIFY(wants(fields.field(QStringLiteral("lowest"))));
        fields.type(QStringLiteral("highest"), QStringLiteral("4"));
        QTest::keyClick(fields.field(QStringLiteral("highest")), Qt::Key_Return);
        QVERIFY(!(fields.session.recipe().recipe() == before));
        QVERIFY(!wants(fields.field(QStringLiteral("highest"))));
        QVERIFY(!wants(fields.field(QStringLiteral("lowest"))));
    }

    /// A tensor whose range is found by percentile has one of its own.
    void percentileOfOneTensor()
    {
        const InLocale locale(QLocale(QStringLiteral("en_US")));
        Fields fields;
        QVERIFY(fields.ready());
        const std::string tensor = fields.selectTensor();
        QVERIFY(!fields.field(QStringLiteral("percentile"))->isVisible());
        CalibratorOptions options;
        options.kind = Calibrator::Percentile;
        RecipeEdits& edits = fields.session.recipe();
        edits.apply(QStringLiteral("percentile"), withCalibrator(edits.recipe(), tensor, options));
        QVERIFY(fields.field(QStringLiteral("percentile"))->isVisible());
        QCOMPARE(fields.field(QStringLiteral("percentile"))->text(), QStringLiteral("99.999"));
        fields.type(QStringLiteral("percentile"), QStringLiteral("101"));
        QCOMPARE(fields.wrong(), QStringLiteral("percentile must lie above 0 and at most at 100."));
        QTest::keyClick(fields.field(QStringLiteral("percentile")), Qt::Key_Return);
        QCOMPARE(edits.recipe().tensors.at(tensor).calibrator->percentile, 99.999);
        fields.type(QStringLiteral("percentile"), QStringLiteral("99.9"));
        QTest::keyClick(fields.field(QStringLiteral("percentile")), Qt::Key_Return);
        QCOMPARE(edits.recipe().tensors.at(tensor).calibrator->percentile, 99.9);
        QCOMPARE(edits.recipe().calibration.percentile, CalibratorOptions().percentile);
        fields.stack().undo();
        QCOMPARE(fields.field(QStringLiteral("percentile"))->text(), QStringLiteral("99.999"));
    }

    void wrongFieldsSayWhy()
    {
        const InLocale locale(QLocale(QStringLiteral("en_US")));
        Fields fields;
        QVERIFY(fields.ready());
        const std::string tensor = fields.selectTensor();
        QVERIFY(!tensor.empty());
        fields.type(QStringLiteral("lowest"), QStringLiteral("1,000"));
        QVERIFY2(fields.wrong().contains(QStringLiteral("“1,000” is no number")), qPrintable(fields.wrong()));
        QTest::keyClick(fields.field(QStringLiteral("lowest")), Qt::Key_Return);
        QCOMPARE(fields.stack().count(), 0);
        QVERIFY(fields.field(QStringLiteral("lowest"))->property("wrong").toBool());
        fields.type(QStringLiteral("lowest"), QStringLiteral("3"));
        fields.type(QStringLiteral("highest"), QStringLiteral("2"));
        QCOMPARE(fields.wrong(), QStringLiteral("highest must be above lowest."));
        // A run that ends does not take what is being typed.
        emit fields.session.snapshotChanged(fields.session.snapshot(), fields.session.snapshot());
        QCOMPARE(fields.field(QStringLiteral("highest"))->text(), QStringLiteral("2"));
        fields.type(QStringLiteral("highest"), QStringLiteral("4"));
        QVERIFY(fields.wrong().isEmpty());
        QTest::keyClick(fields.field(QStringLiteral("highest")), Qt::Key_Return);
        QCOMPARE(fields.stack().count(), 1);
        QCOMPARE(fields.session.recipe().recipe().tensors.at(tensor).parts.front().highest, std::optional(4.0));
        QVERIFY(!fields.field(QStringLiteral("lowest"))->property("wrong").toBool());
        fields.type(QStringLiteral("scale"), QStringLiteral("0.1"));
        QCOMPARE(fields.wrong(), QStringLiteral("Give zero point, too: a grey number only shows what holds now."));
        QVERIFY(fields.field(QStringLiteral("zero point"))->property("wrong").toBool());
        QVERIFY(!fields.field(QStringLiteral("scale"))->property("wrong").toBool()); // only what is wrong
        fields.type(QStringLiteral("zero point"), QStringLiteral("3.5"));
        QVERIFY(fields.wrong().contains(QStringLiteral("must be a whole number from")));
        fields.type(QStringLiteral("zero point"), QStringLiteral("3"));
        fields.type(QStringLiteral("scale"), QStringLiteral("0"));
        QCOMPARE(fields.wrong(), QStringLiteral("scale must be above 0."));
        fields.type(QStringLiteral("lowest"), QStringLiteral("9"));
        QCOMPARE(fields.wrong(), QStringLiteral("highest must be above lowest.")); // one at a time
        QVERIFY(!fields.field(QStringLiteral("zero point"))->property("wrong").toBool());
        for (const bool open : { false, true })
            for (QToolButton* button : fields.editor.findChildren<QToolButton*>())
                if (button->isCheckable())
                    button->setChecked(open);
        QVERIFY(fields.wrong().isEmpty()); // opened again, they say what the recipe says
        QCOMPARE(fields.field(QStringLiteral("lowest"))->text(), QStringLiteral("3"));
    }

    /// What is said of a wrong text moves no field under the mouse, and reset takes such texts, too.
    void wrongFieldsStayAndAreReset()
    {
        Fields fields;
        QVERIFY(fields.ready());
        QVERIFY(!fields.selectTensor().empty());
        auto* type = [&] {
            for (QComboBox* combo : fields.editor.findChildren<QComboBox*>())
                if (combo->accessibleName() == QStringLiteral("type"))
                    return combo;
            return static_cast<QComboBox*>(nullptr);
        }();
        QVERIFY(type);
        type->setCurrentIndex(1);
        emit type->activated(1);
        const auto fromBelow = [&](QWidget* widget) { // the editor stands at the lower end of its panel
            return fields.editor.height() - widget->mapTo(&fields.editor, QPoint()).y();
        };
        fields.editor.adjustSize();
        const int before = fromBelow(fields.field(QStringLiteral("highest")));
        fields.type(QStringLiteral("lowest"), QStringLiteral("abc"));
        QVERIFY(!fields.wrong().isEmpty());
        fields.editor.adjustSize();
        QCOMPARE(fromBelow(fields.field(QStringLiteral("highest"))), before);
        for (QToolButton* button : fields.editor.findChildren<QToolButton*>())
            if (button->text() == QStringLiteral("↺"))
                QTest::mouseClick(button, Qt::LeftButton);
        QCOMPARE(type->currentIndex(), 0);
        QVERIFY(fields.wrong().isEmpty());
        QVERIFY(fields.field(QStringLiteral("lowest"))->text() != QStringLiteral("abc"));
    }

    void whatChangesNothingSaysSo()
    {
        Fields fields;
        QVERIFY(fields.ready());
        const auto* idle = fields.editor.findChild<QLabel*>(QStringLiteral("overrideIdle"));
        QVERIFY(!fields.selectTensor().empty());
        QVERIFY(!idle->isVisible());
        const auto& rows = fields.session.comparison()->activations;
        const auto without
            = std::ranges::find_if(rows, [](const ActivationRow& row) { return !row.quantizer && !row.node.empty(); });
        QVERIFY(without != rows.end());
        fields.session.selection().selectByName(without->name);
        QVERIFY(idle->isVisible());
        QCOMPARE(idle->text(), QStringLiteral("No effect: no quantizer stands here."));
    }

    void decimalMarkOfTheLocale()
    {
        const InLocale locale(QLocale(QStringLiteral("de_DE")));
        Fields fields;
        QVERIFY(fields.ready());
        const std::string tensor = fields.selectTensor();
        fields.type(QStringLiteral("lowest"), QStringLiteral("-0,5"));
        fields.type(QStringLiteral("highest"), QStringLiteral("1,5"));
        QVERIFY2(fields.wrong().isEmpty(), qPrintable(fields.wrong()));
        QTest::keyClick(fields.field(QStringLiteral("highest")), Qt::Key_Return);
        const QuantOverride said = firstPart(fields.session.recipe().recipe(), tensor);
        QCOMPARE(said.lowest, std::optional(-0.5));
        QCOMPARE(said.highest, std::optional(1.5));
        QCOMPARE(fields.stack().count(), 1);
    }

    /// Another type of a weight that has a scale for each channel leaves it so.
    void aTypeKeepsTheChannels()
    {
        Fields fields;
        QVERIFY(fields.ready());
        Recipe next = fields.session.recipe().recipe();
        next.perChannel = true;
        fields.session.recipe().apply(QStringLiteral("Per channel"), next);
        fields.session.run();
        QVERIFY(QTest::qWaitFor([&] { return fields.session.jobs().idle() && !fields.session.needsRun(); }, kPatience));
        const auto& weights = fields.session.comparison()->weights;
        const auto row = std::ranges::find_if(weights, [](const WeightRow& w) { return !w.bias && w.params.axis; });
        QVERIFY(row != weights.end());
        fields.session.selection().selectByName(row->name);
        for (QComboBox* combo : fields.editor.findChildren<QComboBox*>())
            if (combo->accessibleName() == QStringLiteral("type"))
                emit combo->activated(3); // int16
        const TensorOverride& said = fields.session.recipe().recipe().tensors.at(row->name);
        QCOMPARE(said.parts.front().type, std::optional(DType::Int16));
        QCOMPARE(said.axis, row->params.axis);
    }

    /// All ranges are the file's: the calibrator says so, and Recalibrate is one step of undo.
    void theCalibratorSaysThatItIsIdle()
    {
        Fields fields;
        QVERIFY(fields.ready());
        auto* calibrator = qobject_cast<QComboBox*>(fields.form.editor("calibration.method"));
        QVERIFY(calibrator);
        QCOMPARE(calibrator->currentIndex(), -1);
        QCOMPARE(calibrator->placeholderText(), QStringLiteral("unknown"));
        QLabel* note = fields.noteWith(QStringLiteral("Recalibrate"));
        QVERIFY(note && note->text().startsWith(QStringLiteral("No effect: the ranges of all ")));
        const Recipe before = fields.session.recipe().recipe();
        follow(fields, note);
        QCOMPARE(fields.stack().count(), 1);
        QCOMPARE(fields.stack().undoText(), QStringLiteral("Recalibrate"));
        QVERIFY(!fields.noteWith(QStringLiteral("Recalibrate")));
        QCOMPARE(calibrator->currentText(), QStringLiteral("min-max"));
        fields.stack().undo();
        QVERIFY(fields.session.recipe().recipe() == before);
        QVERIFY(fields.noteWith(QStringLiteral("Recalibrate")));
        QCOMPARE(calibrator->currentIndex(), -1);
    }

    /// Also before there are data.
    void theCalibratorOfAFileIsUnknown()
    {
        Inputs models = bundledExample();
        models.data = {};
        Fields fields(models);
        QVERIFY(QTest::qWaitFor(
            [&] { return fields.session.recipe().editable() && fields.session.jobs().idle(); }, kPatience));
        QVERIFY(!fields.session.comparison());
        const auto* calibrator = qobject_cast<QComboBox*>(fields.form.editor("calibration.method"));
        QVERIFY(calibrator);
        QCOMPARE(calibrator->currentIndex(), -1);
        QCOMPARE(calibrator->placeholderText(), QStringLiteral("unknown"));
    }

    /// Weights with scales of their own: the settings for all of them say that they do nothing, with a way out.
    void weightsOfTheirOwn()
    {
        Fields fields;
        QVERIFY(fields.ready());
        Recipe next = fields.session.recipe().recipe();
        for (const WeightRow& row : fields.session.comparison()->weights)
            if (!row.bias) {
                TensorOverride& own = next.tensors[row.name];
                own.parts.front().type = DType::Int8;
                own.parts.front().scale = 0.01;
                own.parts.front().zeroPoint = 0;
            }
        fields.session.recipe().reset({ next, ValueOrigin::Imported });
        QLabel* note = fields.noteWith(QStringLiteral("Recompute"));
        QVERIFY(note && note->text().startsWith(QStringLiteral("No effect: all ")));
        follow(fields, note);
        QCOMPARE(fields.stack().undoText(), QStringLiteral("Recompute weights"));
        QVERIFY(!fields.noteWith(QStringLiteral("Recompute")));
    }

    /// It was refused for want of deviations, which no field offered.
    void float8IsCalibratedAsItNeeds()
    {
        Fields fields;
        QVERIFY(fields.ready());
        QSignalSpy failures(&fields.session, &Session::failed);
        const auto& all = recipeFields();
        const auto field = std::ranges::find(all, std::string("activation_type"), &RecipeField::path);
        const auto choice = field->choices.indexOf(QStringLiteral("float8e4m3fn"));
        QVERIFY(choice >= 0);
        applyField(fields.session.recipe(), *field, double(choice));
        QVERIFY(fields.session.recipe().recipe().calibration.kind == Calibrator::Distribution);
        fields.session.run();
        QTRY_VERIFY_WITH_TIMEOUT(!fields.session.busy() && fields.session.jobs().idle(), kPatience);
        QCOMPARE(failures.count(), 0);
        QVERIFY(fields.session.comparison() && !fields.session.needsRun());
        applyField(fields.session.recipe(), *field, double(field->choices.indexOf(QStringLiteral("uint8"))));
        QVERIFY(fields.session.recipe().recipe().calibration.kind != Calibrator::Distribution);
    }

    /// Float8 for activations or for weights alone could not be run.
    void float8IsResetTogether()
    {
        Fields fields;
        QVERIFY(fields.ready());
        RecipeEdits& edits = fields.session.recipe();
        const Recipe before = edits.recipe();
        for (const char* path : { "activation_type", "weight_type" }) {
            Recipe next = before;
            next.activationType = next.weightType = DType::Float8E4M3FN;
            edits.apply(QStringLiteral("float8"), next);
            const auto& all = recipeFields();
            const auto field = std::ranges::find(all, std::string(path), &RecipeField::path);
            QVERIFY(field != all.end());
            resetField(edits, *field);
            QVERIFY(edits.recipe().activationType == before.activationType);
            QVERIFY(edits.recipe().weightType == before.weightType);
        }
    }

    void quantizersStandAsInTheFile()
    {
        Fields fields;
        QVERIFY(fields.ready());
        QVERIFY(!fields.noteWith(QStringLiteral("Place by rules")));
        Recipe next = fields.session.recipe().recipe();
        for (const RecipeNode& node : fields.view.nodes())
            next.placement.nodes.push_back(node.name);
        next.placement.tensors = { fields.selectTensor() };
        for (const WeightRow& weight : fields.session.comparison()->weights)
            next.placement.tensors.push_back(weight.name);
        const size_t constants = next.placement.tensors.size() - 1;
        fields.session.recipe().reset({ next, ValueOrigin::Imported });
        QLabel* note = fields.noteWith(QStringLiteral("Place by rules"));
        QVERIFY(note);
        QVERIFY2(note->text().contains(QStringLiteral("1 activation")), qPrintable(note->text()));
        QVERIFY2(note->text().contains(QStringLiteral(", %1 constants").arg(constants)), qPrintable(note->text()));
        follow(fields, note);
        QVERIFY(fields.session.recipe().recipe().placement.nodes.empty());
        QCOMPARE(fields.stack().count(), 1);
    }
};

QTEST_MAIN(RecipeFieldsTest)
#include "test_recipe_fields.moc"
