// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session/details/shown_place.h"
#include "widgets/session/recipe/recipe_view.h"

#include <QFrame>

class QComboBox;
class QGridLayout;
class QHBoxLayout;
class QLabel;
class QLineEdit;
class QToolButton;

namespace qs {

class ElidedCheck;
class NodeBlocks;

/// What the recipe says of the node and tensor at a place in particular: quantized or not, type, range, scale and zero
/// point, symmetry, calibrator. Empty fields follow the recipe's defaults; what cannot be is said above them and
/// changes nothing. Hidden where nothing can be said.
class OverrideEditor : public QFrame {
    Q_OBJECT
public:
    OverrideEditor(Session& session, RecipeView& recipe, const ShownPlace& place, QWidget* parent = nullptr);
    /// Has the width that it needs with all of the first row shown, so that what is selected asks for no other.
    QSize minimumSizeHint() const override;
    void startOver(); ///< closes the fields; what is typed and not applied goes

protected:
    void resizeEvent(QResizeEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    QHBoxLayout* buildFirstRow();
    int rowWidth(bool brief) const; ///< of the first row, all of it shown, with short words or whole ones
    void buildFields();
    void orderTabs();
    void connectFields();
    void addChoice(
        QGridLayout* grid, QComboBox* combo, int row, int column, const QString& name, const QStringList& items);
    QLineEdit* addNumber(QGridLayout* grid, int row, int column, const QString& name);
    void refresh();
    void refreshIdle(const std::string& tensor);
    void refreshUnit(const std::vector<size_t>& members);
    void refreshTensor(const std::string& tensor);
    std::string tensor() const; ///< of the float model; "" = none that can be quantized
    bool constant() const;
    /// The recipe with what is said of the tensor so far: a constant that has a scale for each channel keeps them.
    Recipe begun() const;
    DType codes() const; ///< type of the tensor's codes
    void check();
    void applyRange();
    void applyScale();
    void applyCalibrator(int index);
    void applyPercentile();
    void refreshPercentile(const std::string& tensor, bool other);
    void apply(const QString& what, const Recipe& next);
    static void taken(QLineEdit* first, QLineEdit* second);
    void forgetTyped();

    Session& m_session;
    RecipeView& m_recipe;
    const ShownPlace& m_place;
    ElidedCheck* m_quantize;
    QToolButton* m_parts; ///< of a unit of several nodes
    QLabel* m_origin;
    QComboBox *m_type, *m_symmetric, *m_calibrator, *m_reduce;
    QLineEdit *m_lowest, *m_highest, *m_scale, *m_zeroPoint, *m_percentile;
    QLabel* m_percentileLabel = nullptr; ///< both of them for a tensor whose range is found by percentile
    QToolButton *m_reset, *m_more;
    QLabel *m_wrong, *m_idle;
    NodeBlocks* m_blocks; ///< of a recipe for weights in blocks
    std::string m_shown; ///< tensor that the fields are about
    QWidget* m_fields;
};

} // namespace qs
