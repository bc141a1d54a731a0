// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/header/header_strip.h"

#include "core/project/about/file_facts.h"
#include "widgets/models/base/formatting.h"
#include "widgets/models/tables/output_model.h"
#include "widgets/session/recipe/recipe_view.h"
#include "widgets/session/shown/empty_texts.h"
#include "widgets/views/actions/named_action.h"
#include "widgets/views/base/elided_label.h"
#include "widgets/views/base/emptied_layout.h"
#include "widgets/views/base/open_dialogs.h"
#include "widgets/views/base/text/elided_button.h"
#include "widgets/views/base/text/font_units.h"
#include "widgets/views/header/other_chip.h"

#include <QDir>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QUndoStack>

#include <algorithm>
#include <set>

namespace qs {

namespace {

constexpr int kSearchWidth = 250, kLeastSearch = 110; ///< font units, as all widths
constexpr int kUndoWidth = 190, kRunWidth = 90, kCalibrationWidth = 270, kPairNoteWidth = 360;
constexpr int kLeastName = 60; ///< of names and sentences that may be cut
constexpr int kGap = 10;

} // namespace

QString projectName(const Inputs& inputs)
{
    static const std::set<QString> kNamesOfNothing { QStringLiteral("float"), QStringLiteral("model"),
        QStringLiteral("fp32"), QStringLiteral("qdq"), QStringLiteral("quantized"), QStringLiteral("qoperator"),
        QStringLiteral("int8") };
    const QFileInfo file(toQt(inputs.floatPath.empty() ? inputs.quantPath : inputs.floatPath));
    const QString stem = file.completeBaseName();
    const QString folder = file.absoluteDir().dirName();
    return kNamesOfNothing.count(stem.toLower()) && !folder.isEmpty() ? folder : stem;
}

namespace {

/// "samples.npz (200)"
QString dataText(const std::string& path, const DataSource& data)
{
    QString spec = toQt(path);
    while (spec.endsWith(u'/'))
        spec.chop(1);
    return spec.mid(spec.lastIndexOf(u'/') + 1) + QStringLiteral(" (%1)").arg(countText(data.samples()));
}

} // namespace

QString calibrationLine(const Snapshot& snapshot)
{
    if (!calibratedHere(snapshot))
        return {};
    if (snapshot.calibrationData)
        return HeaderStrip::tr("calibrated on %1")
            .arg(dataText(snapshot.inputs.calibration.spec, *snapshot.calibrationData));
    return HeaderStrip::tr("the same data calibrate and judge");
}

QString projectLine(const Snapshot& snapshot)
{
    const auto [floatName, quantName] = fileNames(snapshot.inputs.floatPath, snapshot.inputs.quantPath);
    QStringList files;
    if (snapshot.floatModel)
        files << (snapshot.inputs.recipe ? fileName(snapshot.inputs.floatPath) : floatName);
    if (snapshot.quantModel)
        files << (snapshot.inputs.recipe ? HeaderStrip::tr("the recipe") : quantName);
    QStringList parts { files.join(QStringLiteral(" ⇄ ")) };
    if (snapshot.data)
        parts << dataText(snapshot.inputs.data.spec, *snapshot.data);
    else if (!snapshot.inputs.data.spec.empty() && !snapshot.floatModel)
        parts << HeaderStrip::tr("%1, read with the float model").arg(fileName(snapshot.inputs.data.spec));
    if (snapshot.comparison)
        parts << toQt(profileName(snapshot.comparison->profile));
    if (snapshot.comparison && snapshot.comparison->partial)
        parts << HeaderStrip::tr("partial: %1").arg(samplesText(snapshot.comparison->samples));
    return parts.join(QStringLiteral(" · "));
}

HeaderStrip::HeaderStrip(Session& session, RecipeView& recipe, QWidget* parent)
    : QFrame(parent)
    , m_session(session)
    , m_recipe(recipe)
    , m_note(new ElidedLabel(Qt::ElideRight, this))
    , m_changes(new ElidedLabel(Qt::ElideRight, this))
    , m_run(new QPushButton(this))
    , m_undo(new ElidedButton(Qt::ElideMiddle, this))
    , m_calibration(new ElidedButton(Qt::ElideMiddle, this))
    , m_other(new OtherChip(session, this))
    , m_name(new ElidedLabel(Qt::ElideMiddle, this))
    , m_files(new ElidedLabel(Qt::ElideRight, this))
    , m_summary(new QHBoxLayout)
    , m_search(new ElidedButton(Qt::ElideRight, this))
{
    setObjectName(QStringLiteral("headerStrip"));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    m_name->setObjectName(QStringLiteral("modelName"));
    m_files->setObjectName(QStringLiteral("modelFiles"));
    m_search->setObjectName(QStringLiteral("searchButton"));
    setKeyText(*m_search, QStringLiteral("edit.palette"), tr("Go to anything…"));
    m_search->setAccessibleName(tr("Go to an action, node, tensor, setting or sample"));
    m_search->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    m_search->setMaximumWidth(units(kSearchWidth));
    m_search->setMinimumWidth(units(kLeastSearch));
    connect(m_search, &QPushButton::clicked, this, &HeaderStrip::searchAsked);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(14, 6, 12, 6);
    row->setSpacing(kGap);
    row->addWidget(m_name);
    row->addWidget(m_files, 1);
    row->addWidget(m_other);
    row->addWidget(m_calibration);
    row->addWidget(m_note);
    row->addWidget(m_changes);
    row->addWidget(m_run);
    row->addWidget(m_undo);
    row->addLayout(m_summary);
    row->addSpacing(kGap);
    row->addWidget(m_search, 1000); // up to its greatest width before the names of the files
    m_summary->setSpacing(6);
    m_changes->setObjectName(QStringLiteral("changesChip"));
    m_note->setObjectName(QStringLiteral("pairNote"));
    m_note->setMaximumWidth(units(kPairNoteWidth));
    for (QLabel* label : { m_note, m_changes, m_name }) {
        label->setMinimumWidth(units(kLeastName));
        label->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Preferred);
    }
    m_undo->setMostWidth(kUndoWidth);
    m_calibration->setMostWidth(kCalibrationWidth);
    m_run->setProperty("primary", true);
    setKeyText(*m_run, QStringLiteral("recipe.run"), tr("Run"));
    m_run->setAccessibleName(tr("Run the recipe"));
    m_undo->setProperty("link", true);
    m_calibration->setProperty("link", true);
    m_calibration->setObjectName(QStringLiteral("calibrationNote"));
    connect(m_calibration, &QPushButton::clicked, this, [this] { askForCalibration(m_session, this); });
    connect(m_run, &QPushButton::clicked, &session, &Session::run);
    connect(m_undo, &QPushButton::clicked, &session.recipe().stack(), &QUndoStack::undo);
    connect(&recipe, &RecipeView::changed, this, &HeaderStrip::refreshRecipe);
    connect(&session, &Session::needsRunChanged, this, &HeaderStrip::refreshRecipe);
    connect(&session.numbers(), &NumbersAge::changed, this, &HeaderStrip::refreshRecipe);
    connect(&session.recipe().stack(), &QUndoStack::indexChanged, this, &HeaderStrip::refreshRecipe);
    connect(&session, &Session::snapshotChanged, this, &HeaderStrip::refresh);
    refresh();
}

void HeaderStrip::refresh()
{
    const Snapshot& snapshot = *m_session.snapshot();
    const bool open = snapshot.floatModel || snapshot.quantModel;
    m_name->setText(open ? projectName(snapshot.inputs) : QStringLiteral("Quantscope"));
    m_name->setToolTip(m_name->text());
    m_files->setText(open ? projectLine(snapshot) : QString());
    m_files->setToolTip(open ? toQt(snapshot.inputs.floatPath) + u'\n' + toQt(snapshot.inputs.quantPath) + u'\n'
                + toQt(snapshot.inputs.data.spec)
                             : QString());
    refreshSummary();
    refreshNote();
    refreshRecipe();
}

void HeaderStrip::refreshCalibration()
{
    const Snapshot& snapshot = *m_session.snapshot();
    const QString text = calibrationLine(snapshot);
    m_calibration->setText(text);
    m_calibration->setAccessibleName(text);
    m_calibration->setToolTip(snapshot.calibrationData
            ? tr("Ranges were found with %1, the result is judged with %2. Click to choose other calibration data.")
                  .arg(toQt(snapshot.inputs.calibration.spec), toQt(snapshot.inputs.data.spec))
            : tr("Ranges fit these samples better than new ones, so the numbers flatter the recipe. Click to choose "
                 "calibration data of their own; the data that are open then judge alone."));
}

void HeaderStrip::refreshRecipe()
{
    refreshChanges();
    m_run->setVisible(m_session.needsRun());
    const QUndoStack& stack = m_session.recipe().stack();
    const QString text = tr("↶ Undo “%1”").arg(stack.undoText());
    m_undo->setText(text);
    m_undo->setToolTip(text);
    m_undo->setAccessibleName(tr("Undo %1").arg(stack.undoText()));
    fit();
}

/// Of which run the numbers are, as long as they are not of the recipe as it is.
void HeaderStrip::refreshChanges()
{
    const int changes = m_recipe.changesNotRun();
    const bool stale = m_session.numbers().stale();
    m_changes->setVisible(changes > 0 || stale);
    const QString count = changes == 1 ? tr("1 change") : tr("%1 changes").arg(changes);
    const QString state = m_session.busy() ? tr("%1, running").arg(count) : tr("%1, not run").arg(count);
    const QString& run = m_session.numbers().run();
    const QString brief = fontMetrics().elidedText(run, Qt::ElideMiddle, units(kRunWidth));
    m_briefChanges = state;
    m_allChanges = stale && !run.isEmpty() ? tr("Numbers of “%1”; %2").arg(brief, state) : state;
    m_changes->setToolTip(stale ? tr("The numbers that are shown are of “%1”, without %2. They are dimmed until the "
                                     "recipe is run.")
                                      .arg(run, count)
                                : tr("The numbers that are shown are of the recipe without these changes"));
    for (QLabel* value : findChildren<QLabel*>(QStringLiteral("summaryValue")))
        value->setEnabled(!stale);
    refreshCalibration();
}

int HeaderStrip::units(int wanted) const { return fontUnits(fontMetrics(), wanted); }

QSize HeaderStrip::minimumSizeHint() const
{
    return { units(kLeastSearch), QFrame::minimumSizeHint().height() }; // what has no room is left out
}

void HeaderStrip::resizeEvent(QResizeEvent* event)
{
    fit();
    QFrame::resizeEvent(event);
}

/// The numbers are always whole; the rest gets what they leave, in the order of what it is worth.
void HeaderStrip::fit()
{
    const QMargins around = layout()->contentsMargins();
    int room = width() - around.left() - around.right() - m_summary->sizeHint().width() - kGap;
    const auto has = [&room](int wanted) { return room >= wanted + kGap; };
    const auto take = [&](int wanted) {
        const bool fits = has(wanted);
        room -= fits ? wanted + kGap : 0;
        return fits;
    };
    const auto textWidth = [](QLabel& label, const QString& text) {
        label.setText(text);
        return label.sizeHint().width();
    };
    const int least = units(kLeastName);
    if (m_session.needsRun())
        take(m_run->sizeHint().width());
    if (m_session.snapshot()->inputs.other.given()) {
        m_other->setNameWidth(units(OtherChip::kNameWidth));
        if (!has(m_other->sizeHint().width() + least))
            m_other->setNameWidth(least);
        take(m_other->sizeHint().width());
    }
    const bool changed = m_changes->isVisibleTo(this);
    if (changed)
        take(std::min(room - kGap, textWidth(*m_changes, m_briefChanges)));
    m_name->setVisible(take(least));
    m_search->setVisible(take(units(kLeastSearch)));
    if (changed) {
        const int more = textWidth(*m_changes, m_allChanges) - textWidth(*m_changes, m_briefChanges);
        if (more <= room) {
            m_changes->setText(m_allChanges);
            room -= more;
        }
    }
    m_note->setVisible(!m_note->text().isEmpty() && take(least));
    const bool fresh = !m_session.numbers().stale(); // there is room for one of both
    m_calibration->setVisible(!m_calibration->text().isEmpty() && fresh && take(least));
    const bool canUndo = m_session.recipe().stack().canUndo();
    m_undo->setVisible(canUndo && take(fresh ? least : m_undo->sizeHint().width()));
    letUndoGrow();
}

/// Where all the rest is whole, too, what would be undone is.
void HeaderStrip::letUndoGrow()
{
    const auto letHave = [this](int most) {
        m_undo->setMostWidth(most);
        m_undo->updateGeometry(); // the layout remembers how wide it wanted to be
        layout()->invalidate();
    };
    letHave(0);
    const int search = units(kSearchWidth) - m_search->sizeHint().width(); // up to its greatest width
    const int whole = layout()->sizeHint().width() + m_files->sizeHint().width() + std::max(search, 0);
    if (whole > width())
        letHave(kUndoWidth);
}

void HeaderStrip::refreshNote()
{
    const QString note = pairNote(*m_session.snapshot());
    m_note->setText(note);
    m_note->setToolTip(note);
    m_note->setAccessibleName(note);
}

void HeaderStrip::refreshSummary()
{
    emptyLayout(*m_summary);
    for (const SummaryItem& item : outcomeSummary(*m_session.snapshot())) {
        auto* label = new QLabel(item.label, this);
        label->setObjectName(QStringLiteral("summaryLabel"));
        auto* value = new QLabel(item.value, this);
        value->setObjectName(QStringLiteral("summaryValue"));
        label->setToolTip(item.toolTip);
        value->setToolTip(item.toolTip);
        value->setAccessibleName(item.label + u' ' + item.value);
        m_summary->addWidget(label);
        m_summary->addWidget(value);
        label->show(); // now, not when the event loop comes round: what is hidden takes no room in fit()
        value->show();
        m_summary->addSpacing(8);
    }
}

} // namespace qs

#include "moc_header_strip.cpp"
