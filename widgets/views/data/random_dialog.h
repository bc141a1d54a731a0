// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session/session.h"

#include <QDialog>

class QLabel;
class QLineEdit;
class QSpinBox;

namespace qs {

/// Random samples: how many, from which seed, and a number for each size that the model's inputs leave open. Sizes of
/// one name are asked for once. Remembers what was chosen for a name of a size.
class RandomDialog : public QDialog {
    Q_OBJECT
public:
    RandomDialog(const Session& session, QWidget* parent = nullptr);
    DataRequest request() const;
    /// The fields of open sizes, by the name that stands beside them.
    const std::map<QString, QSpinBox*>& sizes() const { return m_sizes; }
    QSpinBox* samples() const { return m_samples; }
    QSpinBox* seed() const { return m_seed; }

signals:
    void chosen(const qs::DataRequest& request);

private:
    void addSizes();
    void refresh();
    void accept() override;

    std::vector<InputSpec> m_inputs;
    std::map<QString, QSpinBox*> m_sizes;
    QSpinBox *m_samples, *m_seed;
    QLabel* m_shapes;
};

/// Shows the dialog, and opens the samples to judge by. Does not block.
RandomDialog* askForRandom(Session& session, QWidget* parent);

} // namespace qs
