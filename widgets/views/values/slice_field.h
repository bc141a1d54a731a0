// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/tensor/tensor_slice.h"

#include <QLineEdit>

namespace qs {

/// A slice of a tensor as text, read while it is typed. What cannot be read is marked, and the tool tip says why.
class SliceField : public QLineEdit {
    Q_OBJECT
public:
    explicit SliceField(QWidget* parent = nullptr);
    void show(const TensorSlice& slice, const Shape& shape);
    void setHint(const QString& hint); ///< the tool tip where nothing is wrong
    bool wrong() const;
    QString problem() const { return m_problem; } ///< empty: none

signals:
    void chosen(const qs::TensorSlice& slice);
    void problemChanged();

private:
    void read();
    void mark(const QString& problem);

    Shape m_shape;
    QString m_problem, m_hint;
};

/// What is shown of a tensor at first: its last axes, as many as make a table worth reading; index 0 of the others, and
/// of axes with one index.
TensorSlice firstSlice(const Shape& shape);

} // namespace qs
