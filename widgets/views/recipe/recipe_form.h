// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session/session.h"

#include <QWidget>

#include <vector>

class QComboBox;
class QDoubleSpinBox;
class QLabel;
class QToolButton;

namespace qs {

class RecipeField;
class SettingOrigins;

/// The settings that hold for all nodes, one line each: label, editor, and a way back where it was changed. A change is
/// one edit; the editors follow the recipe.
class RecipeForm : public QWidget {
    Q_OBJECT
public:
    explicit RecipeForm(Session& session, QWidget* parent = nullptr);
    /// Editor of a setting, by its path ("calibration.method"); null when there is none.
    QWidget* editor(const std::string& path) const;

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    /// A setting, or the title above one: without an editor.
    struct Line {
        const RecipeField* field;
        QLabel* label;
        QComboBox* combo = nullptr;
        QDoubleSpinBox* number = nullptr;
        QToolButton* reset = nullptr;
        QWidget* widget() const;
    };
    Line makeSection(const RecipeField& field);
    Line makeLine(const RecipeField& field);
    void fit(); ///< the arrangement to the width and the labels that are shown
    void arrange(bool stacked);
    void refresh();
    void refreshLine(const Line& line, const SettingOrigins& origins);
    void choose(const RecipeField& field, double value);
    void reset(const RecipeField& field);

    Session& m_session;
    std::vector<Line> m_lines;
    bool m_stacked = false; ///< labels stand above their fields
    bool m_filling = false; ///< while the editors follow the recipe
};

} // namespace qs
