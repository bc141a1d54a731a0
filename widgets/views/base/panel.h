// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFrame>

class QHBoxLayout;
class QLabel;
class QVBoxLayout;

namespace qs {

class ShownPlace;

/// Title strip of a panel: bold title, tools, muted text on the right. Serves as a dock's title bar (it can be
/// dragged).
class PanelHeader : public QFrame {
    Q_OBJECT
public:
    explicit PanelHeader(const QString& title, QWidget* parent = nullptr);
    QString title() const;
    void setTitle(const QString& title);
    /// Muted text at the right end: counts, what the numbers are over.
    void setInfo(const QString& text) { setInfo(text, {}); }
    /// Where there is little room, only the name is cut.
    void setInfo(const QString& name, const QString& rest);
    /// Adds a tool (chips, combo box, check box) behind the title.
    void addTool(QWidget* tool);
    /// Adds a tool at the right end, after the info text.
    void addEndTool(QWidget* tool);
    void setTitleVisible(bool visible);
    /// For a header that says the same in fewer words where it is narrower than its tools ask for now.
    void setLeastWidth(int pixels);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

private:
    QLabel* m_title;
    QLabel* m_info;
    QLabel* m_rest; ///< of the info, whole where there is room
    QHBoxLayout* m_tools;
    QHBoxLayout* m_endTools;
    int m_leastWidth = 0; ///< 0: as the tools are
};

/// A card of the window: header and content. The main window puts it into a dock (taking the header as the dock's title
/// bar) or shows it whole (showHeaderInside).
class Panel : public QFrame {
    Q_OBJECT
public:
    /// `name` is the panel's name on the command line ("layer-chart") and its object name.
    Panel(const QString& name, const QString& title, QWidget* parent = nullptr);
    PanelHeader* header() const { return m_header; }
    /// The first of its kind has the name that it was made with, a further one ("layer-chart:2") its number behind it.
    void setNumber(int number);
    QString kind() const; ///< the name without the number
    void setContent(QWidget* content);
    void addFooter(QWidget* footer); ///< below the content
    void showHeaderInside();
    /// Of a panel that can be pinned: what it shows. Null for those that show no single place.
    ShownPlace* shownPlace() const { return m_place; }
    /// Visible, and not behind another tab.
    bool lookedAt() const { return m_lookedAt; }

signals:
    void lookedAtChanged(bool lookedAt);

protected:
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;
    void changeEvent(QEvent* event) override;

    void setShownPlace(ShownPlace* place) { m_place = place; }

private:
    void refreshLookedAt();

    PanelHeader* m_header;
    QVBoxLayout* m_layout;
    ShownPlace* m_place = nullptr;
    bool m_lookedAt = false;
};

} // namespace qs
