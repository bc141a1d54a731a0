// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session/session.h"

#include <QWidget>

#include <vector>

class QComboBox;
class QDoubleSpinBox;
class QLabel;
class QPushButton;
class QToolButton;

namespace qs {

class RecipeField;
class SettingOrigins;
struct QuantizedNames;
struct SettingNote;

/// The settings that hold for all nodes, one line each: label, editor, a way back where it was changed, and a note
/// where it does not reach all tensors. A change is one edit; the editors follow the recipe.
class RecipeForm : public QWidget {
    Q_OBJECT
public:
    explicit RecipeForm(Session& session, QWidget* parent = nullptr);
    /// Editor of a setting, by its path ("calibration.method"); null when there is none.
    QWidget* editor(const std::string& path) const;
    void goTo(const std::string& path); ///< gives that editor the focus and brings it into sight

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
        QLabel* note = nullptr; ///< below the editor: what the setting does not reach, and a way out
        QPushButton* hint = nullptr; ///< what is wrong with the setting; a click mends it
        QWidget* widget() const;
    };
    QLabel* makeNote();
    static void showNote(QLabel* label, const SettingNote& note);
    Line makeSection(const RecipeField& field);
    Line makeLine(const RecipeField& field);
    void fit(); ///< the arrangement to the width and the labels that are shown
    void arrange(bool stacked);
    void refresh();
    QPushButton* makeEntropyHint();
    void refreshEntropyHint(QPushButton& hint, bool shown);
    void refreshLine(const Line& line, const SettingOrigins& origins, const QuantizedNames& names);
    void refreshValue(const Line& line, bool unknown);
    void choose(const RecipeField& field, double value);

    Session& m_session;
    QLabel* m_placement; ///< note on where quantizers stand
    std::vector<Line> m_lines;
    bool m_stacked = false; ///< labels stand above their fields
    bool m_filling = false; ///< while the editors follow the recipe
};

} // namespace qs
