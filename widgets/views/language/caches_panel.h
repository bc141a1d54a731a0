// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session/details/shown_caches.h"
#include "widgets/views/base/table_panel.h"

class QComboBox;

namespace qs {

class CacheModel;
class HeatMap;

/// Keys or values that the float model remembers, layer by layer and head by head: what they are like, what int8 and
/// int4 lose of them, and the magnitudes of the chosen row by channel and position.
class CachesPanel : public TablePanel {
    Q_OBJECT
public:
    explicit CachesPanel(Session& session, QWidget* parent = nullptr);
    HeatMap& map() const { return *m_map; }
    QComboBox& kinds() const { return *m_kinds; }
    const ShownCaches& shown() const { return m_shown; }
    const ShownCacheMap& shownMap() const { return m_shownMap; }

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    CachesPanel(Session& session, ShownCaches* shown, std::shared_ptr<std::optional<int>> chosen, QWidget* parent);
    CacheModel& rows() const;
    void refresh();
    void refreshMap();
    void chooseRow();

    Session& m_session;
    std::shared_ptr<std::optional<int>> m_chosen; ///< row of the model
    ShownCaches& m_shown; ///< child of the panel
    ShownCacheMap m_shownMap;
    QComboBox* m_kinds;
    QString m_rowName; ///< of the map
    HeatMap* m_map;
};

} // namespace qs
