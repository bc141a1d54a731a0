// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/views/help/help_pages.h"

#include <QDialog>

class QLineEdit;
class QListWidget;
class QTextBrowser;

namespace qs {

/// The help pages beside a list of them, which a search narrows to sections. It does not block the window.
class HelpWindow : public QDialog {
    Q_OBJECT
public:
    explicit HelpWindow(std::vector<HelpPage> pages, QWidget* parent = nullptr);
    void setPages(std::vector<HelpPage> pages); ///< the same ones, with other texts
    void show(const HelpPlace& place);
    HelpPlace place() const { return m_place; }
    QLineEdit* search() const { return m_search; }
    QListWidget* list() const { return m_list; }
    QTextBrowser* text() const { return m_text; }

private:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void fillList();
    void goTo(const QString& section);

    std::vector<HelpPage> m_pages;
    std::vector<HelpPlace> m_places; ///< one a line of the list
    HelpPlace m_place;
    QLineEdit* m_search;
    QListWidget* m_list;
    QTextBrowser* m_text;
};

/// Shows the place in the window's help, which is made when it is first asked for.
HelpWindow* showHelp(QWidget* window, const HelpPlace& place);
/// The place that explains the panel with the focus; else the first steps.
HelpPlace helpOfFocus();

} // namespace qs
