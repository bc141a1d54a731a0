// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QCheckBox>

namespace qs {

/// A check box that names something: as wide as its words where there is room; where there is not, the beginning of the
/// name is cut, since names differ at their ends.
class ElidedCheck : public QCheckBox {
public:
    explicit ElidedCheck(QWidget* parent = nullptr);
    /// `words` with `name` for its %1.
    void setWords(const QString& words, const QString& name);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QString m_words, m_name;
};

} // namespace qs
