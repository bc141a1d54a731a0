// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session/session.h"

#include <QFrame>

class QHBoxLayout;
class QLabel;
class QPushButton;

namespace qs {

class ElidedButton;
class OtherChip;
class RecipeView;

/// Top strip: what is open, what of the recipe was not run, how good the outputs are, and where to go.
class HeaderStrip : public QFrame {
    Q_OBJECT
public:
    HeaderStrip(Session& session, RecipeView& recipe, QWidget* parent = nullptr);
    QSize minimumSizeHint() const override;

signals:
    void searchAsked(); ///< for anything of the window

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void refresh();
    void refreshSummary();
    void refreshRecipe();
    void refreshChanges();
    void refreshNote();
    void refreshCalibration();
    void fit();
    void letUndoGrow();
    int units(int wanted) const; ///< pixels

    Session& m_session;
    RecipeView& m_recipe;
    QLabel* m_note; ///< what is unusual about the two models
    QLabel* m_changes;
    QPushButton* m_run;
    ElidedButton *m_undo, *m_calibration;
    OtherChip* m_other;
    QLabel* m_name;
    QLabel* m_files;
    QHBoxLayout* m_summary;
    ElidedButton* m_search;
    QString m_briefChanges, m_allChanges; ///< what m_changes says where there is little and much room
};

/// "micro_kws": the float file's name, or its folder's where the file's says nothing ("float.onnx").
QString projectName(const Inputs& inputs);
/// "float.onnx ⇄ qdq.onnx · samples.npz (2) · simulated"
QString projectLine(const Snapshot& snapshot);
/// What the ranges of the recipe were found with: "calibrated on calib.npz (64)", or that the data judge what they
/// calibrated; "" where nothing was calibrated here.
QString calibrationLine(const Snapshot& snapshot);

} // namespace qs
