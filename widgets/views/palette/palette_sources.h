// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/models/search/palette_model.h"
#include "widgets/session/shown/search_names.h"

#include <QObject>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace qs {

class ActionRegistry;
class Palette;
class RecipeView;
class Session;

/// What the palette reaches of the window.
struct PaletteParts {
    ActionRegistry& actions;
    Session& session;
    RecipeView& recipe;
    std::vector<std::pair<QString, QString>> panels; ///< name and title
    std::function<void(const QString& panel)> showPanel; ///< and gives it the focus
    std::function<void(size_t finding)> showFinding; ///< of those that are shown: gives its card the focus
    std::function<void(const std::string& path)> showSetting; ///< of the recipe: gives its field the focus
};

/// Fills the palette: names of large models come from a worker. Those of the models that are open stay while others of
/// the same models are listed: snapshots come faster than that during a run.
class PaletteSources : public QObject {
    Q_OBJECT
public:
    PaletteSources(Palette& palette, PaletteParts parts);

private:
    void fill();
    void wantNames();
    void takeNames(const SnapshotPtr& snapshot, const std::vector<PaletteGroupPtr>& names);
    PaletteGroupPtr actions(PaletteKind kind) const;
    PaletteGroupPtr panels() const;
    PaletteGroupPtr settings() const;
    PaletteGroupPtr findings() const;
    PaletteGroupPtr samples() const;
    std::vector<PaletteGroupPtr> groups() const;

    Palette& m_palette;
    PaletteParts m_parts;
    SnapshotPtr m_namesOf; ///< whose names are known
    SnapshotPtr m_wanted; ///< whose names are being listed
    std::vector<PaletteGroupPtr> m_names;
};

} // namespace qs
