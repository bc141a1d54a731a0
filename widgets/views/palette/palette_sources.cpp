// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/palette/palette_sources.h"

#include "widgets/models/base/formatting.h"
#include "widgets/models/findings/finding_model.h"
#include "widgets/models/recipe/recipe_fields.h"
#include "widgets/session/recipe/recipe_view.h"
#include "widgets/session/session.h"
#include "widgets/session/shown/finding_place.h"
#include "widgets/views/actions/action_registry.h"
#include "widgets/views/actions/named_action.h"
#include "widgets/views/palette/palette.h"

#include <QDockWidget>
#include <QPointer>

namespace qs {

namespace {

const QString kRecentIds = QStringLiteral("file.recent."); ///< actions that open files which were open before

void go(Session& session, const NamedPlace& to)
{
    Selection& selection = session.selection();
    if (to.place.weight)
        selection.selectWeight(*to.place.weight);
    else if (to.place.activation)
        selection.selectActivation(*to.place.activation);
    else if (to.place.node.valid())
        selection.selectNode(to.place.side, to.place.node);
    else
        selection.selectValue(to.place.side, to.place.value);
}

/// "Theme: Dark" of what stands in a menu of its own.
QString actionName(const ActionEntry& entry)
{
    const QStringList menus = entry.path.split(QStringLiteral(" ▸ "));
    return menus.size() < 2 ? entry.text() : menus.back() + QStringLiteral(": ") + entry.text();
}

PaletteGroupPtr namesGroup(PaletteKind kind, const SnapshotPtr& snapshot, const std::vector<NamedPlace>& names,
    const QPointer<Session>& session)
{
    auto group = std::make_shared<PaletteGroup>();
    auto places = std::make_shared<std::vector<NamedPlace>>();
    group->kind = kind;
    for (const NamedPlace& name : names) {
        if (name.node != (kind == PaletteKind::Node))
            continue;
        group->entries.push_back({ FuzzyName(name.name), name.note, {}, {}, {} });
        places->push_back(name);
    }
    group->choose = [places, snapshot, target = session](size_t entry) {
        const NamedPlace& place = (*places)[entry];
        if (!target)
            return;
        if (target->snapshot() == snapshot)
            go(*target, place);
        else // another one meanwhile: places in it are others
            target->selection().selectByName(place.name.section(QStringLiteral(" + "), 0, 0).toStdString());
    };
    return group;
}

bool sameModels(const SnapshotPtr& a, const SnapshotPtr& b)
{
    return a && b && a->floatFile == b->floatFile && a->quantFile == b->quantFile;
}

} // namespace

PaletteSources::PaletteSources(Palette& palette, PaletteParts parts)
    : QObject(&palette)
    , m_palette(palette)
    , m_parts(std::move(parts))
{
    palette.setFill([this] { fill(); });
    connect(&m_parts.session, &Session::snapshotChanged, this, [this] {
        const SnapshotPtr snapshot = m_parts.session.snapshot();
        const bool partial = snapshot->comparison && snapshot->comparison->partial;
        if (m_palette.isVisible() && !(partial && sameModels(snapshot, m_namesOf)))
            fill();
    });
}

void PaletteSources::fill()
{
    m_parts.actions.collect();
    wantNames();
    m_palette.setGroups(groups());
}

std::vector<PaletteGroupPtr> PaletteSources::groups() const
{
    std::vector<PaletteGroupPtr> all { actions(PaletteKind::Action), panels(), settings(), actions(PaletteKind::Recent),
        findings() };
    all.insert(all.end(), m_names.begin(), m_names.end());
    all.push_back(samples());
    return all;
}

void PaletteSources::wantNames()
{
    const SnapshotPtr snapshot = m_parts.session.snapshot();
    if (snapshot == m_namesOf || sameModels(snapshot, m_wanted))
        return;
    if (!sameModels(snapshot, m_namesOf)) {
        m_namesOf = nullptr;
        m_names.clear();
    }
    m_wanted = snapshot->floatModel || snapshot->quantModel ? snapshot : nullptr;
    m_palette.setComing(m_wanted && m_names.empty());
    if (!m_wanted)
        return;
    NamedUnits units;
    const RecipeView& recipe = m_parts.recipe;
    for (size_t node = 0; node < recipe.nodes().size(); ++node) {
        const std::vector<size_t>& members = recipe.units().of(node);
        if (members.size() < 2 || members.front() != node)
            continue;
        units.emplace_back();
        for (const size_t member : members)
            units.back().push_back(recipe.nodes()[member].name);
    }
    JobRequest job;
    job.tag = QStringLiteral("palette-names");
    job.title = tr("List nodes and tensors");
    job.visibility = Visibility::Hidden;
    job.process = [self = QPointer(this), session = QPointer(&m_parts.session), snapshot, units = std::move(units)](
                      const JobContext&) -> Result<std::function<void()>> {
        const std::vector<NamedPlace> names = searchNames(*snapshot, units);
        const std::vector<PaletteGroupPtr> found { namesGroup(PaletteKind::Node, snapshot, names, session),
            namesGroup(PaletteKind::Tensor, snapshot, names, session) };
        return std::function<void()>([self, snapshot, found] {
            if (self)
                self->takeNames(snapshot, found);
        });
    };
    m_parts.session.jobs().start(std::move(job));
}

void PaletteSources::takeNames(const SnapshotPtr& snapshot, const std::vector<PaletteGroupPtr>& names)
{
    if (snapshot != m_wanted)
        return;
    m_wanted = nullptr;
    m_namesOf = snapshot;
    m_names = names;
    m_palette.setComing(false);
    if (m_palette.isVisible())
        m_palette.setGroups(groups());
}

PaletteGroupPtr PaletteSources::actions(PaletteKind kind) const
{
    auto group = std::make_shared<PaletteGroup>();
    std::vector<QPointer<QAction>> targets;
    group->kind = kind;
    for (const ActionEntry& entry : m_parts.actions.entries()) {
        QAction* action = entry.action();
        const bool recent = entry.id.startsWith(kRecentIds);
        if (!action || !action->isVisible() || recent != (kind == PaletteKind::Recent))
            continue;
        QString reason = whyNot(*action);
        if (!action->isEnabled() && reason.isEmpty())
            reason = tr("not now");
        group->entries.push_back(
            { FuzzyName(recent ? entry.text() : actionName(entry)), recent ? QString() : entry.path,
                keysText(entry.keys()), action->isEnabled() ? QString() : reason, entry.id });
        targets.emplace_back(action);
    }
    group->choose = [targets, show = m_parts.showPanel](size_t entry) {
        if (!targets[entry])
            return;
        if (const auto* dock = qobject_cast<QDockWidget*>(targets[entry]->parent())) // the menu's entry may close it
            show(dock->widget()->objectName());
        else
            targets[entry]->trigger();
    };
    return group;
}

PaletteGroupPtr PaletteSources::panels() const
{
    auto group = std::make_shared<PaletteGroup>();
    group->kind = PaletteKind::Panel;
    const bool open = m_parts.session.snapshot()->floatModel || m_parts.session.snapshot()->quantModel;
    for (const auto& [name, title] : m_parts.panels)
        group->entries.push_back({ FuzzyName(title), tr("Go to the panel"), {},
            open ? QString() : tr("No model is open"), QStringLiteral("go.") + name });
    group->choose = [panels = m_parts.panels, show = m_parts.showPanel](size_t entry) { show(panels[entry].first); };
    return group;
}

/// Each setting, then each value that it can be given: "Calibrator: percentile".
PaletteGroupPtr PaletteSources::settings() const
{
    auto group = std::make_shared<PaletteGroup>();
    group->kind = PaletteKind::Setting;
    const RecipeEdits& edits = m_parts.session.recipe();
    struct Target {
        size_t field = 0;
        std::optional<int> choice;
    };
    std::vector<Target> targets, choices;
    std::vector<PaletteEntry> values;
    for (size_t f = 0; f < recipeFields().size(); ++f) {
        const RecipeField& field = recipeFields()[f];
        const QString reason = !edits.editable() ? tr("There is no recipe to edit: open a float model and data")
            : !field.applies(edits.recipe())     ? tr("Has no meaning with the recipe as it is")
                                                 : QString();
        group->entries.push_back({ FuzzyName(field.title), reason.isEmpty() ? field.text(edits.recipe()) : QString(),
            {}, reason, toQt(field.path()) });
        targets.push_back({ f, std::nullopt });
        for (int choice = 0; choice < int(field.choices.size()); ++choice) {
            const bool now = reason.isEmpty() && field.get(edits.recipe()) == choice;
            values.push_back({ FuzzyName(field.title + QStringLiteral(": ") + field.choices[choice]),
                now ? tr("as it is now") : tr("Change the recipe"), {}, reason, {} });
            choices.push_back({ f, choice });
        }
    }
    group->entries.insert(group->entries.end(), values.begin(), values.end());
    targets.insert(targets.end(), choices.begin(), choices.end());
    group->choose = [targets, show = m_parts.showSetting, session = QPointer(&m_parts.session)](size_t entry) {
        const RecipeField& field = recipeFields()[targets[entry].field];
        if (const auto choice = targets[entry].choice; choice && session)
            applyField(session->recipe(), field, *choice);
        show(field.path());
    };
    return group;
}

PaletteGroupPtr PaletteSources::findings() const
{
    auto group = std::make_shared<PaletteGroup>();
    group->kind = PaletteKind::Finding;
    const SnapshotPtr snapshot = m_parts.session.snapshot();
    if (!snapshot->comparison)
        return group;
    for (const Finding& finding : snapshot->comparison->findings)
        group->entries.push_back(
            { FuzzyName(findingText(finding.title)), toQt(finding.tensor.empty() ? finding.node : finding.tensor) });
    group->choose
        = [snapshot, &session = m_parts.session, show = m_parts.showPanel, card = m_parts.showFinding](size_t entry) {
              show(QStringLiteral("findings"));
              if (session.snapshot() != snapshot)
                  return;
              card(entry);
              selectFinding(session.selection(), snapshot->comparison->findings[entry]);
          };
    return group;
}

PaletteGroupPtr PaletteSources::samples() const
{
    auto group = std::make_shared<PaletteGroup>();
    group->kind = PaletteKind::Sample;
    const SnapshotPtr snapshot = m_parts.session.snapshot();
    const size_t count = snapshot->data && snapshot->comparison ? snapshot->data->samples() : 0;
    for (size_t sample = 0; sample < count; ++sample)
        group->entries.push_back(
            { FuzzyName(toQt(snapshot->data->sampleName(sample))), tr("sample %1").arg(sample + 1) });
    group->choose = [&session = m_parts.session](size_t entry) { session.selection().selectSample(entry); };
    return group;
}

} // namespace qs

#include "moc_palette_sources.cpp"
