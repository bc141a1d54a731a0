// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/help/help_window.h"

#include "widgets/views/actions/action_registry.h"
#include "widgets/views/base/panel.h"
#include "widgets/views/base/text/dialog_size.h"
#include "widgets/views/base/text/font_units.h"

#include <QApplication>
#include <QKeyEvent>
#include <QLineEdit>
#include <QListWidget>
#include <QScrollBar>
#include <QSplitter>
#include <QTextBlock>
#include <QTextBrowser>
#include <QVBoxLayout>

#include <algorithm>

namespace qs {

namespace {

constexpr int kListWidth = 220; ///< font units

} // namespace

HelpWindow::HelpWindow(std::vector<HelpPage> pages, QWidget* parent)
    : QDialog(parent)
    , m_pages(std::move(pages))
    , m_search(new QLineEdit(this))
    , m_list(new QListWidget(this))
    , m_text(new QTextBrowser(this))
{
    setObjectName(QStringLiteral("helpWindow"));
    setWindowTitle(tr("Quantscope help"));
    setDialogSize(*this, 860, 600);
    m_search->setPlaceholderText(tr("Search the help"));
    m_search->setAccessibleName(tr("Search the help"));
    m_search->setClearButtonEnabled(true);
    m_search->installEventFilter(this);
    m_list->setAccessibleName(tr("Pages"));
    m_text->setAccessibleName(tr("Page"));
    auto* side = new QWidget(this);
    auto* column = new QVBoxLayout(side);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(m_search);
    column->addWidget(m_list, 1);
    auto* splitter = new QSplitter(this);
    splitter->addWidget(side);
    splitter->addWidget(m_text);
    splitter->setStretchFactor(1, 1);
    const int list = fontUnits(fontMetrics(), kListWidth);
    splitter->setSizes({ list, width() - list });
    auto* all = new QVBoxLayout(this);
    all->addWidget(splitter);
    connect(m_search, &QLineEdit::textChanged, this, &HelpWindow::fillList);
    connect(m_list, &QListWidget::currentRowChanged, this, [this](int row) {
        if (row >= 0 && row < int(m_places.size()))
            show(m_places[size_t(row)]);
    });
    fillList();
    show(HelpPlace { QStringLiteral("start"), {} });
}

/// The arrow keys choose in the list while something is typed.
bool HelpWindow::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == m_search && event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        if (key == Qt::Key_Down || key == Qt::Key_Up) {
            QApplication::sendEvent(m_list, event);
            return true;
        }
        if (key == Qt::Key_Return || key == Qt::Key_Enter) { // would close a dialog
            m_list->setCurrentRow(std::max(0, m_list->currentRow()));
            return true;
        }
    }
    return QDialog::eventFilter(watched, event);
}

void HelpWindow::fillList()
{
    const QString query = m_search->text().trimmed();
    m_places = searchHelp(m_pages, query);
    if (query.isEmpty())
        for (const HelpPage& page : m_pages)
            m_places.push_back({ page.name, {} });
    const QSignalBlocker quiet(m_list);
    m_list->clear();
    for (const HelpPlace& place : m_places) {
        const auto page = std::ranges::find_if(m_pages, [&](const HelpPage& p) { return p.name == place.page; });
        m_list->addItem(place.section.isEmpty() ? page->title : page->title + QStringLiteral(" ▸ ") + place.section);
    }
    if (m_places.empty()) {
        m_list->addItem(tr("Nothing was found"));
        m_list->item(0)->setFlags(Qt::NoItemFlags);
    }
}

void HelpWindow::setPages(std::vector<HelpPage> pages)
{
    m_pages = std::move(pages);
    m_text->clear();
    show(HelpPlace(m_place));
}

void HelpWindow::show(const HelpPlace& place)
{
    const auto page = std::ranges::find_if(m_pages, [&](const HelpPage& p) { return p.name == place.page; });
    if (page == m_pages.end())
        return;
    if (m_place.page != place.page || m_text->document()->isEmpty())
        m_text->setMarkdown(page->markdown);
    m_place = place;
    goTo(place.section);
}

/// Puts the title of the section at the top; the beginning for none.
void HelpWindow::goTo(const QString& section)
{
    m_text->verticalScrollBar()->setValue(0);
    if (section.isEmpty())
        return;
    for (QTextBlock block = m_text->document()->begin(); block.isValid(); block = block.next()) {
        if (block.blockFormat().headingLevel() != 2 || block.text() != section)
            continue;
        m_text->setTextCursor(QTextCursor(block));
        m_text->verticalScrollBar()->setValue(m_text->verticalScrollBar()->value() + m_text->cursorRect().top());
        return;
    }
}

HelpWindow* showHelp(QWidget* window, const HelpPlace& place)
{
    auto* help = window->findChild<HelpWindow*>(QString(), Qt::FindDirectChildrenOnly);
    std::vector<HelpPage> pages = helpPages(window->findChild<ActionRegistry*>());
    if (help)
        help->setPages(std::move(pages)); // keys may be others by now
    else
        help = new HelpWindow(std::move(pages), window);
    static_cast<QDialog*>(help)->show();
    help->raise();
    help->activateWindow();
    help->show(place); // once it has its size
    return help;
}

HelpPlace helpOfFocus()
{
    for (QWidget* widget = QApplication::focusWidget(); widget; widget = widget->parentWidget())
        if (const auto* panel = qobject_cast<Panel*>(widget))
            return helpOfPanel(panel->kind());
    return { QStringLiteral("start"), {} };
}

} // namespace qs

#include "moc_help_window.cpp"
