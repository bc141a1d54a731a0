// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFrame>

#include <cstddef>

class QLabel;
class QLineEdit;

namespace qs {

/// Small bar over the graph: text, how many boxes match, next and previous. Escape closes it.
class GraphSearchBar : public QFrame {
    Q_OBJECT
public:
    explicit GraphSearchBar(QWidget* parent);
    void open();
    QString text() const;
    /// `current` counts from 0.
    void showCount(size_t current, size_t found);

signals:
    void edited(const QString& text);
    void stepped(int step);
    void closed();

protected:
    void keyPressEvent(QKeyEvent* event) override;

private:
    QLineEdit* m_text;
    QLabel* m_count;
};

} // namespace qs
