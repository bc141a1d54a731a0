// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/data/images/presets.h"

#include <QWidget>

class QCheckBox;
class QComboBox;
class QDoubleSpinBox;
class QFormLayout;
class QLabel;
class QLineEdit;
class QSpinBox;

namespace qs {

/// The fields of a preprocessing: a preset on top, and all that it stands for below.
class PreprocessForm : public QWidget {
    Q_OBJECT
public:
    /// `form`: what the model's input says, where it says something.
    explicit PreprocessForm(const std::optional<PictureForm>& form, QWidget* parent = nullptr);
    /// What the fields say; nothing while one of them cannot be understood, which is marked and told by problem().
    std::optional<Preprocess> value() const;
    QString problem() const; ///< one sentence; empty while all fields are right
    void setValue(const Preprocess& how);
    void choosePreset(const QString& name);

signals:
    void changed();

private:
    void buildShape(QFormLayout* rows);
    void buildNumbers(QFormLayout* rows);
    void fill(const Preprocess& how);
    void read(); ///< the fields, as one of them was edited
    void recolour();
    void refreshPreset();
    bool readList(QLineEdit* edit, std::vector<double>* to);

    std::optional<PictureForm> m_form;
    Preprocess m_value;
    QString m_problem;
    bool m_filling = false;
    QComboBox* m_preset;
    QCheckBox* m_exif;
    QLabel* m_explanation;
    QSpinBox *m_width, *m_height;
    QComboBox *m_resize, *m_interpolation, *m_crop, *m_color, *m_layout, *m_rounding;
    QDoubleSpinBox* m_share;
    QSpinBox* m_pad;
    QComboBox* m_scale;
    QLineEdit *m_mean, *m_deviation;
};

} // namespace qs
