// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/search/recipe_search.h"
#include "core/project/search/sensitivity.h"
#include "widgets/session/recipe/recipe_view.h"

#include <QObject>

#include <memory>
#include <vector>

namespace qs {

/// Looks for better recipes in the background: what excluding nodes would buy, and which calibrator and granularity are
/// best. Applying what it found is one edit.
class Advisor : public QObject {
    Q_OBJECT
public:
    Advisor(Session& session, RecipeView& recipe, QObject* parent = nullptr);

    bool possible() const; ///< a float model, data and a recipe are there
    bool running() const;
    /// Null before measure() has a first answer, and after other models or data were opened. It grows while measure()
    /// works, and stays as far as it came where that is cancelled.
    const Sensitivity* sensitivity() const { return m_sensitivity.get(); }
    const std::vector<FoundRecipe>& found() const { return m_found; }
    /// False while what was measured, or found, is of another recipe than the one at hand.
    bool measuredThis() const;
    bool foundForThis() const;

    void measure(UnitKind by);
    void search(double seconds);
    void exclude(const std::vector<std::string>& units, const QString& text);
    void apply(const FoundRecipe& found);

    static inline const QString kTag = QStringLiteral("advisor");

signals:
    void changed();

private:
    void start(const QString& title, std::function<Result<std::function<void()>>(const JobContext&)> process);
    void forgetOthers(const Snapshot& now, const Snapshot& before);

    Session& m_session;
    RecipeView& m_recipe;
    std::shared_ptr<const Sensitivity> m_sensitivity;
    std::vector<FoundRecipe> m_found;
    Recipe m_sensitivityOf, m_foundOf; ///< the recipes that these started from
};

} // namespace qs
