// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/recipe/recipe_form.h"

#include "core/quant/calibrate/entropy_search.h"
#include "core/quant/recipe/setting_origins.h"
#include "widgets/models/base/formatting.h"
#include "widgets/models/recipe/node_tree_model.h"
#include "widgets/models/recipe/recipe_fields.h"
#include "widgets/views/base/elided_combo.h"
#include "widgets/views/base/text/font_units.h"
#include "widgets/views/recipe/setting_notes.h"
#include "widgets/views/theme/focus_ring.h"
#include "widgets/views/theme/restyling.h"

#include <QDoubleSpinBox>
#include <QGridLayout>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QToolButton>
#include <QWheelEvent>

#include <algorithm>

namespace qs {

namespace {

constexpr int kResetWidth = 20; ///< font units
constexpr size_t kSearchBins = 2048, kEntropyBins = 128; ///< histograms that are searched; where none is said
constexpr int kSpacing = 6;
constexpr int kLeastField = 66; ///< font units
constexpr int kRows = 4; ///< of a line: label, editor, note, hint
constexpr int kFieldBeside = 104; ///< font units: a field that stands beside its label shows the usual choices whole

/// Scrolling over a form must not change what is in it.
template <class Editor> class Calm : public Editor {
public:
    using Editor::Editor;

protected:
    void wheelEvent(QWheelEvent* event) override { event->ignore(); }
};

} // namespace

QWidget* RecipeForm::Line::widget() const { return combo ? static_cast<QWidget*>(combo) : number; }

RecipeForm::RecipeForm(Session& session, QWidget* parent)
    : QWidget(parent)
    , m_session(session)
    , m_placement(makeNote())
{
    setObjectName(QStringLiteral("recipeForm"));
    setAttribute(Qt::WA_StyledBackground);
    auto* grid = new QGridLayout(this);
    grid->setContentsMargins(12, 8, 8, 8);
    grid->setHorizontalSpacing(kSpacing);
    grid->setVerticalSpacing(4);
    grid->setColumnStretch(1, 1);
    grid->setColumnMinimumWidth(2, fontUnits(fontMetrics(), kResetWidth));
    grid->addWidget(m_placement, 0, 0, 1, 3);
    for (const RecipeField& field : recipeFields()) {
        if (!field.section.isEmpty())
            m_lines.push_back(makeSection(field));
        m_lines.push_back(makeLine(field));
    }
    arrange(false);
    grid->setRowStretch(kRows * int(m_lines.size()) + 1, 1);
    connect(&session.recipe(), &RecipeEdits::recipeChanged, this, &RecipeForm::refresh);
    connect(&session, &Session::snapshotChanged, this, &RecipeForm::refresh);
    refresh();
}

QLabel* RecipeForm::makeNote()
{
    auto* note = new QLabel(this);
    note->setObjectName(QStringLiteral("formNote"));
    note->setWordWrap(true);
    note->setTextFormat(Qt::RichText);
    note->setTextInteractionFlags(Qt::LinksAccessibleByMouse | Qt::LinksAccessibleByKeyboard);
    note->hide();
    connect(
        note, &QLabel::linkActivated, this, [this](const QString& link) { take(m_session, SettingWay(link.toInt())); });
    return note;
}

RecipeForm::Line RecipeForm::makeSection(const RecipeField& field)
{
    Line line { &field, new QLabel(field.section, this) };
    line.label->setObjectName(QStringLiteral("formSection"));
    return line;
}

RecipeForm::Line RecipeForm::makeLine(const RecipeField& field)
{
    Line line { &field, new QLabel(field.label, this) };
    line.label->setToolTip(field.toolTip);
    line.label->setObjectName(QStringLiteral("formLabel"));
    if (field.choices.isEmpty()) {
        line.number = new Calm<Ringed<QDoubleSpinBox>>(this);
        line.number->setLocale(QLocale::c());
        line.number->setRange(field.line().limits.least, field.line().limits.most);
        line.number->setDecimals(field.line().decimals);
        line.number->setStepType(QAbstractSpinBox::AdaptiveDecimalStepType);
        line.number->setKeyboardTracking(false);
        connect(line.number, &QDoubleSpinBox::valueChanged, this, [this, &field](double value) {
            if (!m_filling)
                choose(field, value);
        });
    } else {
        line.combo = new Calm<ElidedCombo>(this);
        line.combo->setPlaceholderText(tr("other"));
        line.combo->addItems(field.choices);
        connect(line.combo, &QComboBox::activated, this, [this, &field](int index) { choose(field, index); });
    }
    line.widget()->setMinimumWidth(
        fontUnits(fontMetrics(), kLeastField)); // the widest choice must not decide how wide the panel is
    line.widget()->setFocusPolicy(Qt::StrongFocus);
    line.widget()->setAccessibleName(field.title);
    line.label->setBuddy(line.widget());
    line.reset = new QToolButton(this);
    line.reset->setText(QStringLiteral("↺"));
    line.reset->setProperty("reset", true);
    line.reset->setAccessibleName(tr("Reset %1").arg(field.title));
    connect(line.reset, &QToolButton::clicked, this, [this, &field] { resetField(m_session.recipe(), field); });
    line.note = makeNote();
    if (field.path() == "calibration.quantized_bins")
        line.hint = makeEntropyHint();
    return line;
}

/// For a search that has one range to choose from, as with ONNX Runtime's numbers.
QPushButton* RecipeForm::makeEntropyHint()
{
    auto* hint = new QPushButton(tr("Use %1 bins").arg(kSearchBins), this);
    hint->setProperty("link", true);
    hint->setObjectName(QStringLiteral("entropyHint"));
    hint->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    connect(hint, &QPushButton::clicked, this, [this] {
        RecipeEdits& edits = m_session.recipe();
        Recipe next = edits.recipe();
        next.calibration.bins = kSearchBins;
        edits.apply(tr("Search among %1 bins").arg(kSearchBins), next);
    });
    return hint;
}

/// Each label beside its field, or above it where there is not room for both. Every line has rows for both
/// arrangements, below that of the placement.
void RecipeForm::arrange(bool stacked)
{
    auto* grid = static_cast<QGridLayout*>(layout());
    int row = 1;
    for (const Line& line : m_lines) {
        const int beside = stacked ? row + 1 : row;
        if (!line.widget() || stacked)
            grid->addWidget(line.label, row, 0, 1, 3);
        else
            grid->addWidget(line.label, row, 0);
        if (QWidget* editor = line.widget()) {
            grid->addWidget(editor, beside, stacked ? 0 : 1, 1, stacked ? 2 : 1);
            grid->addWidget(line.reset, beside, 2);
            grid->addWidget(line.note, row + 2, 0, 1, 3);
        }
        if (line.hint)
            grid->addWidget(line.hint, row + 3, 0, 1, 3);
        row += kRows;
    }
    m_stacked = stacked;
}

void RecipeForm::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    fit();
}

void RecipeForm::fit()
{
    int labels = 0;
    for (const Line& line : m_lines)
        if (line.widget() && !line.label->isHidden())
            labels = std::max(labels, line.label->sizeHint().width());
    const QMargins margins = layout()->contentsMargins();
    const int room
        = width() - margins.left() - margins.right() - labels - fontUnits(fontMetrics(), kResetWidth) - 2 * kSpacing;
    if (const bool stacked = room < fontUnits(fontMetrics(), kFieldBeside); stacked != m_stacked)
        arrange(stacked);
}

QWidget* RecipeForm::editor(const std::string& path) const
{
    for (const Line& line : m_lines)
        if (line.widget() && line.field->path() == path)
            return line.widget();
    return nullptr;
}

void RecipeForm::goTo(const std::string& path)
{
    QWidget* editor = this->editor(path);
    if (!editor)
        return;
    for (QWidget* around = parentWidget(); around; around = around->parentWidget())
        if (auto* scroll = qobject_cast<QScrollArea*>(around))
            scroll->ensureWidgetVisible(editor);
    editor->setFocus(Qt::ShortcutFocusReason);
}

void RecipeForm::refresh()
{
    m_filling = true;
    const SettingOrigins origins(m_session.recipe().recipe(), m_session.recipe().recipeBase());
    const QuantizedNames names = quantizedNames(m_session);
    for (const Line& line : m_lines)
        refreshLine(line, origins, names);
    showNote(m_placement, placementNote(m_session));
    m_filling = false;
    setEnabled(m_session.recipe().editable());
    fit(); // another setting may bring a longer label
}

void RecipeForm::refreshLine(const Line& line, const SettingOrigins& origins, const QuantizedNames& names)
{
    const RecipeEdits& edits = m_session.recipe();
    if (!line.widget())
        return line.label->setVisible(line.field->sectionApplies(edits.recipe()));
    const bool shown = line.field->applies(edits.recipe());
    line.label->setVisible(shown);
    line.widget()->setVisible(shown);
    const SettingNote note = shown ? settingNote(m_session, names, line.field->path()) : SettingNote {};
    showNote(line.note, note);
    refreshValue(line, note.unknown);
    if (line.hint)
        refreshEntropyHint(*line.hint, shown);
    const bool changed = line.field->get(edits.recipe()) != line.field->get(edits.base());
    line.reset->setVisible(shown && changed);
    line.reset->setToolTip(tr("Back to %1").arg(line.field->text(edits.base())));
    setStyled(*line.label, "changed", changed);
    const ValueOrigin origin = origins.of(line.field->path());
    line.widget()->setToolTip(line.field->toolTip + QStringLiteral("\n")
        + (note.unknown ? tr("unknown: the file does not say what it was made with")
                        : tr("%1: %2").arg(line.field->text(edits.recipe()), originText(origin))));
}

void RecipeForm::refreshValue(const Line& line, bool unknown)
{
    const double value = line.field->get(m_session.recipe().recipe());
    if (line.number)
        return line.number->setValue(value);
    line.combo->setPlaceholderText(unknown ? tr("unknown") : tr("other"));
    line.combo->setCurrentIndex(unknown ? -1 : int(value));
}

void RecipeForm::showNote(QLabel* label, const SettingNote& note)
{
    label->setVisible(!note.text.isEmpty());
    QString text = note.text.toHtmlEscaped();
    if (note.way != SettingWay::None)
        text += QStringLiteral(" <a href=\"%1\">%2</a>").arg(int(note.way)).arg(wayText(note.way).toHtmlEscaped());
    label->setText(text);
}

void RecipeForm::refreshEntropyHint(QPushButton& hint, bool shown)
{
    const CalibratorOptions& options = m_session.recipe().recipe().calibration;
    const size_t bins = options.bins.value_or(kEntropyBins);
    hint.setVisible(shown && options.kind == Calibrator::Entropy && oneCandidate(options));
    hint.setToolTip(tr("A histogram of %1 bins for %2 levels leaves the entropy search one range to choose from, the "
                       "whole one, as min-max does. Click to give it %3 bins.")
                        .arg(bins)
                        .arg(options.quantizedBins)
                        .arg(kSearchBins));
}

void RecipeForm::choose(const RecipeField& field, double value)
{
    applyField(m_session.recipe(), field, value);
    refresh(); // what is no change is not told
}

} // namespace qs

#include "moc_recipe_form.cpp"
