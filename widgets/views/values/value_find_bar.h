// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/values/tensor_values.h"

#include <QWidget>

class QCheckBox;
class QComboBox;
class QLabel;
class QLineEdit;

namespace qs {

/// What to look for among the numbers of a tensor.
class ValueFindBar : public QWidget {
    Q_OBJECT
public:
    explicit ValueFindBar(QWidget* parent = nullptr);
    void open(); ///< shows it and puts the cursor in
    bool wholeTensor() const; ///< not only what the slice shows
    void say(const QString& text); ///< what came of it
    /// As F3 does.
    void search(bool backwards);

signals:
    void asked(const qs::ValueSearch& search);
    void closed();

protected:
    void keyPressEvent(QKeyEvent* event) override;

private:
    FindWhat what() const;
    void refresh();

    QComboBox* m_what;
    QLineEdit* m_value;
    QCheckBox* m_whole;
    QLabel* m_said;
};

} // namespace qs
