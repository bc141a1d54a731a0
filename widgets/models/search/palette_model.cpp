// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/search/palette_model.h"

#include "widgets/models/base/translated.h"

#include <QElapsedTimer>

#include <algorithm>
#include <array>
#include <utility>

namespace qs {

namespace {

constexpr int kStepMs = 4; ///< less than a frame, with what showing takes
constexpr int kLooks = 64; ///< entries between two looks at the clock

struct Sign {
    char16_t sign;
    std::array<PaletteKind, 3> kinds;
};
constexpr Sign kSigns[] { { u'>', { PaletteKind::Action, PaletteKind::Panel, PaletteKind::Recent } },
    { u'@', { PaletteKind::Node, PaletteKind::Node, PaletteKind::Node } },
    { u'#', { PaletteKind::Tensor, PaletteKind::Tensor, PaletteKind::Tensor } },
    { u'=', { PaletteKind::Setting, PaletteKind::Setting, PaletteKind::Setting } },
    { u'!', { PaletteKind::Finding, PaletteKind::Finding, PaletteKind::Finding } },
    { u'%', { PaletteKind::Sample, PaletteKind::Sample, PaletteKind::Sample } } };

} // namespace

QString paletteKindText(PaletteKind kind)
{
    switch (kind) {
    case PaletteKind::Action:
        return tr("action");
    case PaletteKind::Panel:
        return tr("panel");
    case PaletteKind::Recent:
        return tr("recent files");
    case PaletteKind::Setting:
        return tr("setting");
    case PaletteKind::Finding:
        return tr("finding");
    case PaletteKind::Node:
        return tr("node");
    case PaletteKind::Tensor:
        return tr("tensor");
    case PaletteKind::Sample:
        return tr("sample");
    }
    return {};
}

PaletteModel::PaletteModel(QObject* parent)
    : QAbstractListModel(parent)
{
    m_timer.setInterval(0);
    connect(&m_timer, &QTimer::timeout, this, &PaletteModel::step);
}

void PaletteModel::setGroups(std::vector<PaletteGroupPtr> groups)
{
    m_timer.stop();
    beginResetModel(); // rows point into the groups
    m_rows.clear();
    m_found.clear();
    m_before.clear();
    m_groups = std::move(groups);
    endResetModel();
    restart(false);
}

void PaletteModel::setQuery(const QString& typed)
{
    if (typed == m_typed && !m_groups.empty())
        return;
    m_typed = typed;
    QString rest = typed.trimmed();
    std::vector<PaletteKind> kinds;
    for (const Sign& sign : kSigns)
        if (rest.startsWith(QChar(sign.sign))) {
            kinds.assign(sign.kinds.begin(), sign.kinds.end());
            rest = rest.mid(1);
            break;
        }
    FuzzyQuery query(rest);
    const bool narrower = !m_timer.isActive() && kinds == m_kinds && query.narrows(m_query);
    m_query = std::move(query);
    m_kinds = std::move(kinds);
    restart(narrower);
}

void PaletteModel::restart(bool narrower)
{
    m_narrowed = narrower;
    m_before = narrower ? std::move(m_found) : std::vector<Found>();
    m_found.clear();
    m_group = m_entry = 0;
    m_timer.start();
    step();
}

void PaletteModel::setUsed(const QStringList& ids)
{
    m_used.clear();
    for (const QString& id : ids)
        m_used.insert(id, int(m_used.size()));
    if (m_query.empty())
        restart(false);
}

/// Takes an entry that matches. Without a query all do, those that were used last before the others.
void PaletteModel::look(uint32_t group, uint32_t entry)
{
    const PaletteEntry& its = m_groups[group]->entries[entry];
    if (!m_query.empty()) {
        if (const auto score = fuzzyScore(m_query, its.name))
            m_found.push_back({ *score, group, entry });
        return;
    }
    const auto used = m_used.isEmpty() ? m_used.cend() : m_used.constFind(idOf(its));
    m_found.push_back({ used == m_used.cend() ? 0 : int(m_used.size()) - used.value(), group, entry });
}

void PaletteModel::step()
{
    QElapsedTimer clock;
    clock.start();
    int looks = 0;
    const auto late = [&] { return ++looks % kLooks == 0 && clock.elapsed() >= kStepMs; };
    bool more = false;
    if (m_narrowed) {
        while (m_entry < m_before.size() && !(more = late())) {
            const Found& before = m_before[m_entry++];
            look(before.group, before.entry);
        }
    }
    while (!m_narrowed && !more && m_group < m_groups.size()) {
        const PaletteGroup& group = *m_groups[m_group];
        const bool wanted = m_kinds.empty() || std::ranges::find(m_kinds, group.kind) != m_kinds.end();
        while (wanted && m_entry < group.entries.size() && !(more = late()))
            look(m_group, m_entry++);
        if (!more) {
            ++m_group;
            m_entry = 0;
        }
    }
    if (!more)
        m_timer.stop();
    show();
    if (!more)
        emit searched();
}

bool PaletteModel::better(const Found& a, const Found& b) const
{
    if (a.score != b.score)
        return a.score > b.score;
    return std::pair(a.group, a.entry) < std::pair(b.group, b.entry);
}

void PaletteModel::show()
{
    std::vector<Found> rows(std::min(m_found.size(), kShown));
    std::ranges::partial_sort_copy(m_found, rows, [this](const Found& a, const Found& b) { return better(a, b); });
    beginResetModel();
    m_rows = std::move(rows);
    endResetModel();
}

bool PaletteModel::choose(const QModelIndex& index) const
{
    if (!index.isValid() || !entryOf(m_rows[size_t(index.row())]).whyNot.isEmpty())
        return false;
    const Found found = m_rows[size_t(index.row())];
    const PaletteGroupPtr group = m_groups[found.group]; // choosing may bring others
    if (group->choose)
        group->choose(found.entry);
    return true;
}

int PaletteModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : int(m_rows.size()); }

QVariant PaletteModel::data(const QModelIndex& index, int role) const
{
    if (!index.isValid() || index.row() >= rowCount())
        return {};
    const Found& found = m_rows[size_t(index.row())];
    const PaletteEntry& entry = entryOf(found);
    const PaletteKind kind = m_groups[found.group]->kind;
    switch (role) {
    case Qt::DisplayRole:
        return entry.name.text;
    case Qt::ToolTipRole:
        return entry.name.text + (entry.note.isEmpty() ? QString() : u'\n' + entry.note)
            + (entry.whyNot.isEmpty() ? QString() : u'\n' + entry.whyNot);
    case Qt::AccessibleTextRole: {
        QStringList parts { entry.name.text, paletteKindText(kind) };
        for (const QString& more : { entry.note, entry.keys, entry.whyNot })
            if (!more.isEmpty())
                parts << more;
        return parts.join(QStringLiteral(", "));
    }
    case NoteRole:
        return entry.note;
    case KeysRole:
        return entry.keys;
    case KindRole:
        return paletteKindText(kind);
    case WhyNotRole:
        return entry.whyNot;
    case PlacesRole: {
        QVariantList places;
        if (!m_query.empty())
            for (const qsizetype place : fuzzyPlaces(m_query, entry.name))
                places << place;
        return places;
    }
    case IdRole:
        return idOf(entry);
    default:
        return {};
    }
}

Qt::ItemFlags PaletteModel::flags(const QModelIndex& index) const
{
    return index.isValid() ? Qt::ItemIsSelectable | Qt::ItemIsEnabled | Qt::ItemNeverHasChildren : Qt::NoItemFlags;
}

} // namespace qs

#include "moc_palette_model.cpp"
