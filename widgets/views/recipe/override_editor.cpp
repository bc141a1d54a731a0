// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/recipe/override_editor.h"

#include "core/quant/recipe/recipe_edit.h"
#include "widgets/models/base/formatting.h"
#include "widgets/models/recipe/node_tree_model.h"
#include "widgets/views/actions/named_action.h"
#include "widgets/views/base/elided_combo.h"
#include "widgets/views/base/elided_label.h"
#include "widgets/views/base/text/elided_check.h"
#include "widgets/views/base/text/wrapped_text.h"
#include "widgets/views/base/unit_actions.h"
#include "widgets/views/recipe/node_blocks.h"
#include "widgets/views/recipe/typed_values.h"
#include "widgets/views/theme/restyling.h"

#include <QComboBox>
#include <QGridLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <array>
#include <utility>

namespace qs {

namespace {

/// Of weights all of them, of activations but the last two.
constexpr std::array kOverrideTypes { DType::Int8, DType::UInt8, DType::Int16, DType::UInt16, DType::Int4,
    DType::UInt4 };
constexpr int kTypesOfWeightsAlone = 2;
constexpr std::array kOverrideCalibrators { Calibrator::MinMax, Calibrator::Percentile, Calibrator::Entropy,
    Calibrator::Mse };
const QLocale kOverrideLocale = QLocale::c();

QString numberField(const std::optional<double>& value)
{
    return value ? kOverrideLocale.toString(*value, 'g', 8).remove(u',') : QString();
}

/// What is done, with the choice for %2; %1 stays for the tensor.
QString withChoice(const QString& what, const QComboBox& choice)
{
    return what.arg(QStringLiteral("%1"), choice.currentText());
}

std::optional<double> numberIn(const QLineEdit& field) { return typedNumber(field.text(), QLocale()); }

/// What somebody is typing stays, whatever a run brings.
void fillUntyped(QLineEdit& field, const QString& text, bool otherTensor)
{
    if (otherTensor || !field.isModified())
        field.setText(text);
}

/// What a button says, and what it says where there is little room.
struct Words {
    QString whole, brief;
};

Words partsWords() { return { OverrideEditor::tr("Parts"), QStringLiteral("⋯") }; }
Words moreWords() { return { OverrideEditor::tr("Override ▾"), QStringLiteral("▾") }; }

/// Of the list that names calibrators: the first is "as all", the last "given".
int calibratorIndex(const Recipe& recipe, const std::string& tensor)
{
    constexpr int kGiven = int(kOverrideCalibrators.size()) + 1;
    const QuantOverride said = firstPart(recipe, tensor);
    if (said.lowest || said.scale)
        return kGiven;
    const auto override = recipe.tensors.find(tensor);
    if (override == recipe.tensors.end() || !override->second.calibrator)
        return 0;
    const auto chosen = std::ranges::find(kOverrideCalibrators, override->second.calibrator->kind);
    return chosen == kOverrideCalibrators.end() ? kGiven : int(chosen - kOverrideCalibrators.begin()) + 1;
}

} // namespace

OverrideEditor::OverrideEditor(Session& session, RecipeView& recipe, const ShownPlace& place, QWidget* parent)
    : QFrame(parent)
    , m_session(session)
    , m_recipe(recipe)
    , m_place(place)
    , m_quantize(new ElidedCheck(this))
    , m_parts(new QToolButton(this))
    , m_origin(new ElidedLabel(Qt::ElideRight, this))
    , m_type(new ElidedCombo(this))
    , m_symmetric(new ElidedCombo(this))
    , m_calibrator(new ElidedCombo(this))
    , m_reduce(new ElidedCombo(this))
    , m_reset(new QToolButton(this))
    , m_more(new QToolButton(this))
    , m_wrong(new QLabel(this))
    , m_idle(new QLabel(this))
    , m_blocks(new NodeBlocks(session, this))
    , m_fields(new QWidget(this))
{
    setObjectName(QStringLiteral("panelFooter"));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(12, 3, 10, 3);
    column->setSpacing(4);
    column->addWidget(m_wrong); // above the fields, which keep their place when it comes
    column->addLayout(buildFirstRow());
    column->addWidget(m_fields);
    column->addWidget(m_idle);
    column->addWidget(m_blocks);
    m_idle->setObjectName(QStringLiteral("overrideIdle"));
    wrapText(*m_idle);
    m_wrong->setObjectName(QStringLiteral("formWrong"));
    m_wrong->setWordWrap(true);
    buildFields();
    orderTabs();
    connectFields();
    connect(&m_recipe, &RecipeView::changed, this, &OverrideEditor::refresh);
    connect(&session, &Session::snapshotChanged, this, &OverrideEditor::refresh);
    connect(&place, &ShownPlace::changed, this, &OverrideEditor::refresh);
    refresh();
}

QHBoxLayout* OverrideEditor::buildFirstRow()
{
    auto* row = new QHBoxLayout;
    row->setSpacing(4);
    m_origin->setObjectName(QStringLiteral("formLabel"));
    m_reset->setText(QStringLiteral("↺"));
    m_reset->setProperty("reset", true);
    m_reset->setAccessibleName(tr("Reset what is said of this tensor"));
    m_more->setText(moreWords().whole);
    m_more->setAccessibleName(tr("Override"));
    m_more->setCheckable(true);
    m_more->setToolTip(tr("Type, range, scale and zero point of this tensor alone"));
    m_parts->setText(partsWords().whole);
    m_parts->setAccessibleName(tr("Parts"));
    m_parts->setToolTip(tr("Quantize one node of these alone, or leave it alone in float"));
    m_parts->setPopupMode(QToolButton::InstantPopup);
    auto* parts = new QMenu(m_parts);
    m_parts->setMenu(parts);
    connect(parts, &QMenu::aboutToShow, this, [this, parts] {
        parts->clear();
        addPartActions(*parts, m_recipe, m_recipe.membersOf(m_place.current()));
    });
    row->addWidget(m_quantize);
    row->addWidget(m_parts);
    row->addWidget(m_origin, 1);
    row->addWidget(m_reset);
    row->addWidget(m_more);
    connect(m_more, &QToolButton::toggled, this, [this] {
        forgetTyped(); // the fields open as the recipe is
        refresh();
    });
    connect(m_reset, &QToolButton::clicked, this, [this] {
        const RecipeEdits& edits = m_session.recipe();
        forgetTyped(); // it gives way, too
        apply(tr("Reset %1"), withoutOverride(edits.recipe(), edits.base(), tensor()));
    });
    connect(m_quantize, &QCheckBox::clicked, this, [this] {
        m_recipe.toggle(m_place.current());
        refresh();
    });
    return row;
}

QSize OverrideEditor::minimumSizeHint() const { return QFrame::minimumSizeHint().expandedTo({ rowWidth(true), 0 }); }

int OverrideEditor::rowWidth(bool brief) const
{
    const auto width = [&](const QToolButton& button, const Words& words) {
        const QFontMetrics metrics = button.fontMetrics();
        return button.sizeHint().width() - metrics.horizontalAdvance(button.text())
            + metrics.horizontalAdvance(brief ? words.brief : words.whole);
    };
    const QMargins around = layout()->contentsMargins();
    return around.left() + around.right() + 4 * layout()->itemAt(1)->layout()->spacing()
        + m_quantize->minimumSizeHint().width() + width(*m_parts, partsWords()) + m_reset->sizeHint().width()
        + width(*m_more, moreWords());
}

void OverrideEditor::resizeEvent(QResizeEvent* event)
{
    QFrame::resizeEvent(event);
    const bool brief = width() < rowWidth(false);
    m_parts->setText(brief ? partsWords().brief : partsWords().whole);
    m_more->setText(brief ? moreWords().brief : moreWords().whole);
}

void OverrideEditor::buildFields()
{
    auto* grid = new QGridLayout(m_fields);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setHorizontalSpacing(6);
    grid->setVerticalSpacing(4);
    m_lowest = addNumber(grid, 0, 0, tr("lowest"));
    m_highest = addNumber(grid, 0, 2, tr("highest"));
    m_scale = addNumber(grid, 1, 0, tr("scale"));
    m_zeroPoint = addNumber(grid, 1, 2, tr("zero point"));
    addChoice(grid, m_type, 2, 0, tr("type"), { tr("as all") }); // refreshTensor() adds those that there are
    addChoice(grid, m_symmetric, 2, 2, tr("symmetric"), { tr("as all"), tr("off"), tr("on") });
    addChoice(grid, m_calibrator, 3, 0, tr("range by"),
        { tr("as all"), tr("min-max"), tr("percentile"), tr("entropy"), tr("MSE"), tr("given") });
    addChoice(grid, m_reduce, 3, 2, tr("reduce range"), { tr("as all"), tr("off"), tr("on") });
    m_percentile = addNumber(grid, 4, 0, tr("percentile"));
    m_percentileLabel = static_cast<QLabel*>(grid->itemAtPosition(4, 0)->widget());
    m_percentile->setToolTip(tr("Percentile of this tensor's values that its range holds, above 0 and up to 100"));
    m_reduce->setToolTip(tr("Reduce range: one bit less for the codes of this weight, so that no sum of two products "
                            "saturates"));
    grid->setColumnStretch(1, 1);
    grid->setColumnStretch(3, 1);
}

/// The button that opens the fields, and then these as they stand.
void OverrideEditor::orderTabs()
{
    QWidget* before = m_more;
    for (QWidget* field : std::initializer_list<QWidget*> {
             m_lowest, m_highest, m_scale, m_zeroPoint, m_type, m_symmetric, m_calibrator, m_reduce, m_percentile })
        setTabOrder(std::exchange(before, field), field);
}

void OverrideEditor::connectFields()
{
    for (QLineEdit* field : { m_lowest, m_highest, m_scale, m_zeroPoint })
        connect(field, &QLineEdit::textEdited, this, &OverrideEditor::check);
    for (QLineEdit* field : { m_lowest, m_highest })
        connect(field, &QLineEdit::editingFinished, this, &OverrideEditor::applyRange);
    for (QLineEdit* field : { m_scale, m_zeroPoint })
        connect(field, &QLineEdit::editingFinished, this, &OverrideEditor::applyScale);
    connect(m_percentile, &QLineEdit::textEdited, this, &OverrideEditor::check);
    connect(m_percentile, &QLineEdit::editingFinished, this, &OverrideEditor::applyPercentile);
    connect(m_type, &QComboBox::activated, this, [this](int index) {
        const auto type = index == 0 ? std::nullopt : std::optional(kOverrideTypes[size_t(index) - 1]);
        apply(withChoice(tr("Type of %1: %2"), *m_type), withTensorType(begun(), tensor(), type));
    });
    connect(m_symmetric, &QComboBox::activated, this, [this](int index) {
        const auto symmetric = index == 0 ? std::nullopt : std::optional(index == 2);
        apply(withChoice(tr("Symmetry of %1: %2"), *m_symmetric), withSymmetry(begun(), tensor(), symmetric));
    });
    connect(m_reduce, &QComboBox::activated, this, [this](int index) {
        const auto reduce = index == 0 ? std::nullopt : std::optional(index == 2);
        apply(withChoice(tr("Reduce range of %1: %2"), *m_reduce), withReduceRange(begun(), tensor(), reduce));
    });
    connect(m_calibrator, &QComboBox::activated, this, &OverrideEditor::applyCalibrator);
}

void OverrideEditor::addChoice(
    QGridLayout* grid, QComboBox* combo, int row, int column, const QString& name, const QStringList& items)
{
    auto* label = new QLabel(name, m_fields);
    label->setObjectName(QStringLiteral("formLabel"));
    combo->setAccessibleName(name);
    combo->addItems(items);
    grid->addWidget(label, row, column);
    grid->addWidget(combo, row, column + 1);
}

QLineEdit* OverrideEditor::addNumber(QGridLayout* grid, int row, int column, const QString& name)
{
    auto* label = new QLabel(name, m_fields);
    label->setObjectName(QStringLiteral("formLabel"));
    auto* field = new QLineEdit(m_fields);
    field->setAccessibleName(name);
    field->installEventFilter(this);
    grid->addWidget(label, row, column);
    grid->addWidget(field, row, column + 1);
    return field;
}

/// A field that has nothing to undo leaves the keys to the recipe: what was typed is an edit of it by now.
bool OverrideEditor::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() == QEvent::ShortcutOverride)
        if (const auto* field = qobject_cast<QLineEdit*>(watched)) {
            const auto& key = *static_cast<QKeyEvent*>(event);
            const bool undo = key.matches(QKeySequence::Undo) && !field->isUndoAvailable();
            const bool redo = key.matches(QKeySequence::Redo) && !field->isRedoAvailable();
            if (undo || redo) {
                event->ignore();
                return true;
            }
        }
    return QFrame::eventFilter(watched, event);
}

std::string OverrideEditor::tensor() const
{
    const Comparison* comparison = m_session.comparison();
    const Place& place = m_place.current();
    if (!comparison)
        return {};
    if (place.weight && *place.weight < comparison->weights.size()) {
        const WeightRow& row = comparison->weights[*place.weight];
        return row.bias ? std::string() : row.name;
    }
    if (place.activation && *place.activation < comparison->activations.size())
        return comparison->activations[*place.activation].name;
    return {};
}

bool OverrideEditor::constant() const { return m_place.current().weight.has_value(); }

void OverrideEditor::refresh()
{
    const bool editable = m_session.recipe().editable();
    const auto node = m_recipe.nodeOf(m_place.current());
    const RecipeFormat format = m_session.recipe().recipe().format;
    const std::string name = isStatic(format) ? tensor() : std::string();
    setVisible(editable && (node || !name.empty()));
    m_quantize->setVisible(node.has_value());
    const bool product = node && m_recipe.nodes()[*node].opType == "MatMul" && m_recipe.states()[*node].quantized;
    m_blocks->show(editable && product ? m_recipe.nodes()[*node].name : std::string());
    if (node)
        refreshUnit(m_recipe.units().of(*node));
    m_parts->setVisible(node && m_recipe.units().of(*node).size() > 1);
    m_more->setVisible(!name.empty());
    m_fields->setVisible(!name.empty() && m_more->isChecked());
    if (!name.empty())
        refreshTensor(name);
    else
        m_origin->clear();
    if (name.empty())
        m_wrong->hide();
    refreshIdle(name);
    m_reset->setVisible(!name.empty() && !m_origin->text().isEmpty());
}

/// Where no quantizer stands nothing that is said of a tensor changes anything.
void OverrideEditor::refreshIdle(const std::string& name)
{
    const Comparison* comparison = m_session.comparison();
    const auto& row = m_place.current().activation;
    const bool idle = !name.empty() && !constant() && row && !m_session.numbers().stale()
        && !comparison->activations[*row].quantizer;
    m_idle->setText(m_session.recipe().recipe().placement.nodes.empty()
            ? tr("No effect: no quantizer stands here.")
            : tr("No effect: the file has no quantizer here, and they stand where the file has them."));
    m_idle->setVisible(idle && m_fields->isVisibleTo(this));
}

void OverrideEditor::refreshUnit(const std::vector<size_t>& members)
{
    const QString title = m_recipe.title(members);
    const bool stays
        = std::ranges::any_of(members, [this](size_t member) { return m_recipe.states()[member].staysFloat; });
    // The whole sentence leaves a small window no room for the name.
    m_quantize->setWords(stays ? tr("%1: stays in float") : tr("quantize %1"), title);
    QStringList tips;
    for (const size_t member : members) {
        const NodeState& state = m_recipe.states()[member];
        tips << tr("%1: %2").arg(m_recipe.title({ &member, 1 }), originText(state.origin, state.by));
    }
    setKeyTip(*m_quantize, QStringLiteral("recipe.toggle"), tips.join(u'\n') + u'\n' + m_recipe.toggleText(members));
    m_quantize->setAccessibleName((stays ? tr("quantize %1: stays in float") : tr("quantize %1")).arg(title));
    const TriState state = triState(m_recipe.states(), members);
    m_quantize->setTristate(state == TriState::Some);
    m_quantize->setCheckState(state == TriState::All ? Qt::Checked
            : state == TriState::None                ? Qt::Unchecked
                                                     : Qt::PartiallyChecked);
}

void OverrideEditor::refreshTensor(const std::string& name)
{
    const RecipeEdits& edits = m_session.recipe();
    const QuantOverride said = firstPart(edits.recipe(), name);
    const TensorOrigins origins = tensorOrigins(edits.recipe(), edits.recipeBase(), name);
    const bool other = name != std::exchange(m_shown, name);
    fillUntyped(*m_lowest, numberField(said.lowest), other);
    fillUntyped(*m_highest, numberField(said.highest), other);
    fillUntyped(*m_scale, numberField(said.scale), other);
    fillUntyped(*m_zeroPoint, said.zeroPoint ? QString::number(*said.zeroPoint) : QString(), other);
    refreshPercentile(name, other);
    check();
    const Comparison& comparison = *m_session.comparison();
    const Place& place = m_place.current();
    const auto hint = [](QLineEdit* field, const QString& now) { field->setPlaceholderText(now); };
    const QuantParams& params
        = constant() ? comparison.weights[*place.weight].params : comparison.activations[*place.activation].params;
    const bool one = params.perTensor() && isInteger(params.dtype);
    hint(m_lowest, one ? numberText(params.low()) : QString());
    hint(m_highest, one ? numberText(params.high()) : QString());
    hint(m_scale, extentText(params.scale));
    hint(m_zeroPoint, extentText(params.zeroPoint));
    const auto type = said.type ? std::ranges::find(kOverrideTypes, *said.type) : kOverrideTypes.end();
    const int at = type == kOverrideTypes.end() ? 0 : int(type - kOverrideTypes.begin()) + 1;
    const int usual = int(kOverrideTypes.size()) + 1 - (constant() ? 0 : kTypesOfWeightsAlone);
    const int offered = std::max(usual, at + 1); // a recipe may say more than is offered
    while (m_type->count() > offered)
        m_type->removeItem(m_type->count() - 1);
    while (m_type->count() < offered)
        m_type->addItem(toQt(dtypeName(kOverrideTypes[size_t(m_type->count()) - 1])));
    m_type->setCurrentIndex(at);
    m_symmetric->setCurrentIndex(!said.symmetric ? 0 : *said.symmetric ? 2 : 1);
    m_calibrator->setCurrentIndex(calibratorIndex(edits.recipe(), name));
    m_calibrator->setEnabled(!constant());
    m_reduce->setCurrentIndex(!said.reduceRange ? 0 : *said.reduceRange ? 2 : 1);
    m_reduce->setEnabled(constant());
    const std::array all { origins.range, origins.scale, origins.calibrator, origins.type, origins.symmetric,
        origins.reduceRange };
    auto origin = std::ranges::find(all, std::optional(ValueOrigin::Override));
    m_reset->setEnabled(origin != all.end());
    if (origin == all.end())
        origin = std::ranges::find_if(all, [](const auto& o) { return o.has_value(); });
    m_origin->setText(origin == all.end() ? QString() : originText(**origin));
    m_reset->setToolTip(tr("Forget what is set here for %1").arg(toQt(name)));
}

void OverrideEditor::refreshPercentile(const std::string& name, bool other)
{
    const auto& tensors = m_session.recipe().recipe().tensors;
    const auto said = tensors.find(name);
    const bool shown = !constant() && said != tensors.end() && said->second.calibrator
        && said->second.calibrator->kind == Calibrator::Percentile;
    m_percentile->setVisible(shown);
    m_percentileLabel->setVisible(shown);
    fillUntyped(*m_percentile, shown ? numberField(said->second.calibrator->percentile) : QString(), other || !shown);
}

void OverrideEditor::apply(const QString& what, const Recipe& next)
{
    m_session.recipe().apply(what.arg(toQt(tensor())), next);
    refresh();
}

Recipe OverrideEditor::begun() const
{
    const Recipe& recipe = m_session.recipe().recipe();
    if (!constant() || recipe.tensors.contains(tensor()))
        return recipe;
    return withChannelAxis(recipe, tensor(), m_session.comparison()->weights[*m_place.current().weight].params.axis);
}

DType OverrideEditor::codes() const
{
    const Recipe& recipe = m_session.recipe().recipe();
    return firstPart(recipe, tensor()).type.value_or(constant() ? recipe.weightType : recipe.activationType);
}

void OverrideEditor::check()
{
    const WrongPair range = wrongRange(m_lowest->text(), m_highest->text(), QLocale());
    const WrongPair scale = wrongScale(m_scale->text(), m_zeroPoint->text(), codes(), QLocale());
    setStyled(*m_lowest, "wrong", range.first);
    setStyled(*m_highest, "wrong", range.second);
    const QString percentile
        = m_percentile->isVisibleTo(this) ? wrongPercentile(m_percentile->text(), QLocale()) : QString();
    setStyled(*m_percentile, "wrong", !percentile.isEmpty());
    setStyled(*m_scale, "wrong", scale.first);
    setStyled(*m_zeroPoint, "wrong", scale.second);
    // One sentence at a time, that of the pair that is typed in: a low window has no room for two beside the fields.
    const bool atScale = m_scale->hasFocus() || m_zeroPoint->hasFocus() || range.why.isEmpty();
    m_wrong->setText(!percentile.isEmpty() ? percentile : atScale && !scale.why.isEmpty() ? scale.why : range.why);
    m_wrong->setVisible(m_fields->isVisibleTo(this) && !m_wrong->text().isEmpty());
}

/// Both fields of a pair say what the recipe says from now on.
void OverrideEditor::taken(QLineEdit* first, QLineEdit* second)
{
    first->setModified(false);
    second->setModified(false);
}

void OverrideEditor::forgetTyped()
{
    taken(m_lowest, m_highest);
    taken(m_scale, m_zeroPoint);
    m_percentile->setModified(false);
}

void OverrideEditor::startOver()
{
    forgetTyped();
    m_more->setChecked(false);
    refresh();
}

void OverrideEditor::applyRange()
{
    const bool typed = m_lowest->isModified() || m_highest->isModified();
    if (tensor().empty() || !typed || m_lowest->text().isEmpty()
        || !wrongRange(m_lowest->text(), m_highest->text(), QLocale()).why.isEmpty())
        return;
    const double lowest = *numberIn(*m_lowest), highest = *numberIn(*m_highest);
    taken(m_lowest, m_highest);
    taken(m_scale, m_zeroPoint);
    apply(tr("Range of %1"), withRange(m_session.recipe().recipe(), tensor(), lowest, highest));
}

void OverrideEditor::applyScale()
{
    const bool typed = m_scale->isModified() || m_zeroPoint->isModified();
    if (tensor().empty() || !typed || m_scale->text().isEmpty()
        || !wrongScale(m_scale->text(), m_zeroPoint->text(), codes(), QLocale()).why.isEmpty())
        return;
    const double scale = *numberIn(*m_scale), zero = *numberIn(*m_zeroPoint);
    taken(m_lowest, m_highest);
    taken(m_scale, m_zeroPoint);
    apply(tr("Scale of %1"), withScale(m_session.recipe().recipe(), tensor(), scale, int64_t(zero)));
}

void OverrideEditor::applyPercentile()
{
    const Recipe& recipe = m_session.recipe().recipe();
    const auto said = recipe.tensors.find(tensor());
    if (said == recipe.tensors.end() || !said->second.calibrator || !m_percentile->isModified()
        || !wrongPercentile(m_percentile->text(), QLocale()).isEmpty())
        return;
    CalibratorOptions calibrator = *said->second.calibrator;
    calibrator.percentile = *numberIn(*m_percentile);
    m_percentile->setModified(false);
    apply(tr("Percentile of %1: %2").arg(QStringLiteral("%1"), m_percentile->text()),
        withCalibrator(recipe, tensor(), calibrator));
}

/// "as all" takes back what was given; "given" is only ever shown.
void OverrideEditor::applyCalibrator(int index)
{
    const RecipeEdits& edits = m_session.recipe();
    if (index == 0)
        return apply(tr("Calibrate %1 as all"), withCalibrator(edits.recipe(), tensor(), std::nullopt));
    if (size_t(index) > kOverrideCalibrators.size())
        return refresh();
    CalibratorOptions calibrator = edits.recipe().calibration;
    calibrator.kind = kOverrideCalibrators[size_t(index) - 1];
    apply(withChoice(tr("Calibrator of %1: %2"), *m_calibrator), withCalibrator(edits.recipe(), tensor(), calibrator));
}

} // namespace qs

#include "moc_override_editor.cpp"
