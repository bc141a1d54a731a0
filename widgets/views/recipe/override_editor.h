// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session/recipe/recipe_view.h"

#include <QFrame>

class QCheckBox;
class QComboBox;
class QGridLayout;
class QHBoxLayout;
class QLabel;
class QLineEdit;
class QToolButton;

namespace qs {

/// What the recipe says of the selected node and tensor in particular: quantized or not, type, range, scale and zero
/// point, symmetry, calibrator. Empty fields follow the recipe's defaults. Hidden where nothing can be said.
class OverrideEditor : public QFrame {
    Q_OBJECT
public:
    OverrideEditor(Session& session, RecipeView& recipe, QWidget* parent = nullptr);

private:
    QHBoxLayout* buildFirstRow();
    void buildFields();
    void connectFields();
    void addChoice(
        QGridLayout* grid, QComboBox* combo, int row, int column, const QString& name, const QStringList& items);
    QLineEdit* addNumber(QGridLayout* grid, int row, int column, const QString& name);
    void refresh();
    void refreshTensor(const std::string& tensor);
    std::string tensor() const; ///< of the float model; "" = none that can be quantized
    bool constant() const;
    void applyRange();
    void applyScale();
    void applyCalibrator(int index);
    void apply(const QString& what, const Recipe& next);

    Session& m_session;
    RecipeView& m_recipe;
    QCheckBox* m_quantize;
    QLabel* m_origin;
    QComboBox *m_type, *m_symmetric, *m_calibrator;
    QLineEdit *m_lowest, *m_highest, *m_scale, *m_zeroPoint;
    QToolButton *m_reset, *m_more;
    QWidget* m_fields;
};

} // namespace qs
