// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/base/unit_actions.h"

#include "widgets/models/base/translated.h"
#include "widgets/session/recipe/recipe_view.h"
#include "widgets/views/actions/named_action.h"

#include <QMenu>

#include <algorithm>

namespace qs {

namespace {

constexpr size_t kMostParts = 30; ///< a longer menu would not fit on the screen

/// Other models may have been opened since the menu was made: what stands at these numbers has another name then.
bool areStill(const RecipeView& recipe, const std::vector<size_t>& nodes, const QString& title)
{
    return std::ranges::all_of(nodes, [&](size_t node) { return node < recipe.states().size(); })
        && recipe.title(nodes) == title;
}

} // namespace

void addUnitActions(QMenu& menu, RecipeView& recipe, const std::vector<size_t>& members)
{
    if (!recipe.state(members))
        return;
    menu.addAction(withKeys(recipe.toggleText(members), menu.parentWidget(), QStringLiteral("recipe.toggle")), &recipe,
        [&recipe, members, title = recipe.title(members)] {
            if (areStill(recipe, members, title))
                recipe.toggleNodes(members);
        });
    if (members.size() > 1 && members.size() <= kMostParts)
        addPartActions(*menu.addMenu(tr("Quantized parts")), recipe, members);
    menu.addSeparator();
}

void addPartActions(QMenu& menu, RecipeView& recipe, const std::vector<size_t>& members)
{
    for (const size_t member : members) {
        const QString title = recipe.title({ &member, 1 });
        QAction* part = menu.addAction(withoutMnemonics(title));
        part->setCheckable(true);
        part->setChecked(recipe.states()[member].quantized);
        QObject::connect(part, &QAction::triggered, &recipe, [&recipe, member, title] {
            if (areStill(recipe, { member }, title))
                recipe.togglePart(member);
        });
    }
}

} // namespace qs
