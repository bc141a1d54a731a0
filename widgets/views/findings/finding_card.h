// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/findings/finding_groups.h"
#include "widgets/session/session.h"

#include <QFrame>

#include <vector>

class QHBoxLayout;
class QLabel;
class QPushButton;
class QVBoxLayout;

namespace qs {

/// One finding, or a group of them told of by the worst: severity bar and icon, title, summary, remedy; Apply makes the
/// edit that it is (empty: it is none), Show selects its place, Places unfolds those of a group, Explain the rule.
/// It takes the focus: Ctrl+C copies what it says, Return shows its place.
class FindingCard : public QFrame {
    Q_OBJECT
public:
    FindingCard(const std::vector<Finding>& findings, const FindingGroup& group, const QString& edit,
        const Session& session, QWidget* parent);
    void setApplied(const QString& edit);
    void setMeasuring(bool measuring); ///< what the remedy gains
    void setStale(bool stale); ///< its numbers are of the recipe as it was before
    QString text() const; ///< what it says, with whole names

signals:
    void applyRequested();
    void showRequested(int member); ///< of the group
    void copyAllRequested();
    void stepRequested(int step); ///< to the card below (+1) or above (-1)

protected:
    void paintEvent(QPaintEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;
    /// Of its labels: without a marked text they have nothing to copy.
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void copy() const;
    void showMenu(const QPoint& global, const QString& marked);
    void watchLabels();
    void nameGain(const Finding& finding, QVBoxLayout* column);
    void addPlaces(const std::vector<Finding>& findings, const FindingGroup& group, QHBoxLayout* buttons);
    void addExplanation(const Finding& finding, QHBoxLayout* buttons, QVBoxLayout* column);
    void addLesson(const Finding& finding, QPushButton* explain, QVBoxLayout* column);

    Severity m_severity;
    const Session& m_session;
    QLabel* m_summary;
    QPushButton* m_apply;
    QLabel* m_gain;
    QPushButton* m_show = nullptr; ///< null: there is no place
    QLabel* m_places = nullptr; ///< of a group; null: a single finding
    QString m_text; ///< of the finding, or all of a group, without the gain
    QString m_gainText; ///< what is known of it
    bool m_open = false; ///< nobody measured it
};

/// A sentence that wraps, as a card shows it: plain text that can be selected.
QLabel* findingLabel(const QString& text, const char* name, QWidget* parent);

} // namespace qs
