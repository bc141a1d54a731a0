// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/models/arithmetic/element_path.h"

#include <QAbstractTableModel>

#include <vector>

namespace qs {

/// The way from the terms to the number, operator by operator, and the parts of the difference to the float network.
class ElementStepsModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { Value, Name, ColumnCount };
    enum Role {
        HeadingRole = Qt::UserRole + 1, ///< bool: begins a group
        ShareRole, ///< of the largest part of the difference, with its sign; invalid: no bar
        StepRole, ///< number of the step with which the row is reached
    };
    struct Row {
        QString name;
        double value = 0;
        bool heading = false;
        int step = 0; ///< with which it is reached
        bool isStep = false; ///< along the way
        std::optional<double> share;
        bool exact = false; ///< all digits are shown
    };

    using QAbstractTableModel::QAbstractTableModel;
    /// Null: nothing.
    void show(const ExplanationPtr& explanation);
    const std::vector<Row>& rows() const { return m_rows; }
    int steps() const { return m_steps; }
    int rowOfStep(int step) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    void addSteps(const ElementExplanation& explanation);
    void addDifference(const ElementDifference& difference);
    void addHeading(const QString& name);

    std::vector<Row> m_rows;
    int m_steps = 0;
};

} // namespace qs
