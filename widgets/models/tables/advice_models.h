// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/sensitivity/sensitivity.h"
#include "core/project/search/recipe_search.h"
#include "widgets/models/base/row_model.h"

namespace qs {

/// What a unit costs at the outputs.
struct UnitAdvice {
    UnitSensitivity unit;
    OutputScore all; ///< of all units
    Number gainDb() const; ///< of the outputs when the unit is left in float
};

/// What each unit costs at the outputs, what buys most first.
class SensitivityModel : public RowModel<UnitAdvice> {
    Q_OBJECT
public:
    enum class Key { Op, Gain, Without, Alone, Macs };
    explicit SensitivityModel(QObject* parent = nullptr);
    /// Null: no rows.
    void setSensitivity(const Sensitivity* sensitivity);

protected:
    bool isSame(const UnitAdvice& a, const UnitAdvice& b) const override { return a.unit.name == b.unit.name; }
};

/// Recipes that a search found, best first: by accuracy where there is one, then by SQNR.
class FoundRecipeModel : public RowModel<FoundRecipe> {
    Q_OBJECT
public:
    enum class Key { Sqnr, Accuracy };
    explicit FoundRecipeModel(QObject* parent = nullptr);
    void setFound(const std::vector<FoundRecipe>& found) { setRows(found); }

protected:
    bool isSame(const FoundRecipe& a, const FoundRecipe& b) const override { return a.name == b.name; }
};

} // namespace qs
