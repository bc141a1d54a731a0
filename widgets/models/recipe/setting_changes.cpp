// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/models/recipe/setting_changes.h"

#include "core/quant/recipe/recipe_options.h"
#include "widgets/models/base/formatting.h"
#include "widgets/models/base/translated.h"
#include "widgets/models/base/true_minus.h"
#include "widgets/models/findings/finding_model.h"
#include "widgets/models/recipe/recipe_fields.h"

#include <algorithm>
#include <type_traits>

namespace qs {

namespace {

using Names = std::vector<std::string>;

constexpr size_t kShownNames = 3;

/// "Excluded 14 nodes: a, b, c …"; `what` has %1 for the number.
SettingChange named(const QString& what, const Names& names)
{
    QStringList all;
    for (const std::string& name : names)
        all << toQt(name);
    const QString begin = what.arg(countText(names.size())) + QStringLiteral(": ");
    const QString some = all.mid(0, kShownNames).join(QStringLiteral(", "));
    return { begin + withShortNames(some) + (names.size() > kShownNames ? QStringLiteral(" …") : QString()),
        begin + all.join(QStringLiteral(", ")) };
}

/// How a list is told of: what came to it, what left it.
struct ListWords {
    std::string_view path;
    const char *added, *removed;
};
constexpr ListWords kLists[] {
    { "exclude", "Excluded %1", "No longer excluded %1" },
    { "include", "Included %1", "No longer included %1" },
    { "op_types", "Operator types added (%1)", "Operator types left out (%1)" },
    { "placement.nodes", "Nodes placed as in the file (%1)", "Nodes placed by rules (%1)" },
    { "placement.tensors", "Quantizers as in the file (%1)", "Quantizers no longer as in the file (%1)" },
};

Names without(Names all, const Names& some)
{
    std::erase_if(all, [&](const std::string& name) { return std::ranges::find(some, name) != some.end(); });
    return all;
}

void addList(const RecipeOption& option, const Names& from, const Names& to, std::vector<SettingChange>& changes)
{
    const auto* words = std::ranges::find(kLists, option.path, &ListWords::path);
    const bool known = words != std::end(kLists);
    const QString path = toQt(std::string(option.path));
    if (const Names added = without(to, from); !added.empty())
        changes.push_back(
            named(known ? tr(words->added) : tr("%1: added (%2)").arg(path, QStringLiteral("%1")), added));
    if (const Names removed = without(from, to); !removed.empty())
        changes.push_back(
            named(known ? tr(words->removed) : tr("%1: removed (%2)").arg(path, QStringLiteral("%1")), removed));
}

QString plainText(const RecipeValue& value)
{
    return std::visit(
        []<class T>(const T& v) -> QString {
            if constexpr (std::is_same_v<T, bool>)
                return v ? tr("on") : tr("off");
            else if constexpr (std::is_same_v<T, std::string>)
                return v.empty() ? tr("none") : toQt(v);
            else if constexpr (std::is_same_v<T, int64_t> || std::is_same_v<T, double>)
                return withTrueMinus(QString::number(v));
            else if constexpr (std::is_same_v<T, std::monostate>)
                return tr("default");
            else { // lists are told of elsewhere; numbers by name
                QStringList parts;
                if constexpr (!std::is_same_v<T, std::vector<std::string>>)
                    for (const auto& [name, number] : v)
                        parts << toQt(name) + u' ' + withTrueMinus(QString::number(number));
                return parts.isEmpty() ? tr("none") : parts.join(QStringLiteral(", "));
            }
        },
        value);
}

/// In the words of the window's form, where it has the setting.
SettingChange single(const RecipeOption& option, const Recipe& before, const Recipe& after)
{
    const auto& fields = recipeFields();
    const auto field = std::ranges::find(fields, std::string(option.path), &RecipeField::path);
    const bool known = field != fields.end();
    const QString title = known ? field->title : toQt(std::string(option.path));
    const auto text = [&](const Recipe& r) { return known ? field->text(r) : plainText(option.value.get(r)); };
    const QString line = QStringLiteral("%1: %2 → %3").arg(title, text(before), text(after));
    return { line, line };
}

/// Entries by name that came, went, and became others.
template <class T>
void addByName(const std::map<std::string, T>& from, const std::map<std::string, T>& to, const QString& came,
    const QString& went, const QString& other, std::vector<SettingChange>& changes)
{
    Names added, removed, changed;
    for (const auto& [name, value] : to)
        if (const auto it = from.find(name); it == from.end())
            added.push_back(name);
        else if (!(it->second == value))
            changed.push_back(name);
    for (const auto& [name, value] : from)
        if (!to.contains(name))
            removed.push_back(name);
    for (const auto& [what, names] : { std::pair(came, added), std::pair(went, removed), std::pair(other, changed) })
        if (!names.empty())
            changes.push_back(named(what, names));
}

void addParts(
    const RecipeOption& option, const Recipe& before, const Recipe& after, std::vector<SettingChange>& changes)
{
    if (option.path == "tensors")
        addByName(before.tensors, after.tensors, tr("Own settings (%1)"), tr("Own settings gone (%1)"),
            tr("Other own settings (%1)"), changes);
    else if (option.path == "codes.constants")
        addByName(before.codes.constants, after.codes.constants, tr("Codes of the file (%1)"),
            tr("Codes computed anew (%1)"), tr("Other codes of the file (%1)"), changes);
    else
        addByName(before.weightOnly.nodes, after.weightOnly.nodes, tr("Own blocks (%1)"), tr("Own blocks gone (%1)"),
            tr("Other own blocks (%1)"), changes);
}

} // namespace

std::vector<SettingChange> settingChanges(const Recipe& before, const Recipe& after)
{
    std::vector<SettingChange> changes;
    for (const RecipeOption& option : recipeOptions()) {
        if (!option.value.get) {
            addParts(option, before, after, changes);
            continue;
        }
        const RecipeValue from = option.value.get(before), to = option.value.get(after);
        if (from == to)
            continue;
        if (option.value.type.kind == SettingKind::Texts && std::holds_alternative<Names>(from))
            addList(option, std::get<Names>(from), std::get<Names>(to), changes);
        else
            changes.push_back(single(option, before, after));
    }
    return changes;
}

} // namespace qs
