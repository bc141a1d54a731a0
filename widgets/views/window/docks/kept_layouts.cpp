// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/window/docks/kept_layouts.h"

#include "widgets/models/base/translated.h"

#include <QSettings>

#include <algorithm>

namespace qs {

namespace {

const QString kLayoutsKey = QStringLiteral("window/layouts");
const QString kChoiceKey = QStringLiteral("window/layout"), kOwnChoiceKey = QStringLiteral("window/ownLayout");
const QString kLayoutNameKey = QStringLiteral("name");
const QString kLayoutDocksKey = QStringLiteral("docks");
constexpr int kLongestLayoutName = 60; ///< characters: a menu shows it
constexpr int kMostLayouts = 200;

} // namespace

KeptLayouts readKeptLayouts()
{
    QSettings settings;
    KeptLayouts layouts;
    const int count = std::min(settings.beginReadArray(kLayoutsKey), kMostLayouts);
    for (int i = 0; i < count; ++i) {
        settings.setArrayIndex(i);
        KeptLayout layout { settings.value(kLayoutNameKey).toString(), settings.value(kLayoutDocksKey).toByteArray() };
        if (layoutNameProblem(layout.name).isEmpty() && !layout.docks.isEmpty() && !layoutNamed(layouts, layout.name))
            layouts.push_back(std::move(layout));
    }
    settings.endArray();
    return layouts;
}

void writeKeptLayouts(const KeptLayouts& layouts)
{
    QSettings settings;
    settings.remove(kLayoutsKey);
    settings.beginWriteArray(kLayoutsKey, int(layouts.size()));
    for (size_t i = 0; i < layouts.size(); ++i) {
        settings.setArrayIndex(int(i));
        settings.setValue(kLayoutNameKey, layouts[i].name);
        settings.setValue(kLayoutDocksKey, layouts[i].docks);
    }
    settings.endArray();
}

LayoutChoice readLayoutChoice()
{
    const QSettings settings;
    if (const QString own = settings.value(kOwnChoiceKey).toString(); !own.isEmpty())
        return own;
    const int chosen = settings.value(kChoiceKey).toInt();
    for (const LayoutName name : kLayoutNames)
        if (int(name) == chosen)
            return name;
    return LayoutName::Inspect;
}

void writeLayoutChoice(const LayoutChoice& choice)
{
    QSettings settings;
    const auto* own = std::get_if<QString>(&choice);
    settings.setValue(kOwnChoiceKey, own ? *own : QString());
    if (!own)
        settings.setValue(kChoiceKey, int(std::get<LayoutName>(choice)));
}

std::optional<size_t> layoutNamed(const KeptLayouts& layouts, const QString& name)
{
    const auto found = std::ranges::find_if(layouts,
        [&](const KeptLayout& layout) { return layout.name.compare(name.trimmed(), Qt::CaseInsensitive) == 0; });
    return found == layouts.end() ? std::nullopt : std::optional(size_t(found - layouts.begin()));
}

QString layoutNameProblem(const QString& name)
{
    const QString given = name.trimmed();
    if (given.isEmpty())
        return tr("A layout needs a name.");
    if (given.size() > kLongestLayoutName)
        return tr("A name has at most %1 characters.").arg(kLongestLayoutName);
    for (const LayoutName own : kLayoutNames)
        if (layoutTitle(own).compare(given, Qt::CaseInsensitive) == 0)
            return tr("The program has a layout called “%1” already.").arg(layoutTitle(own));
    return {};
}

} // namespace qs
