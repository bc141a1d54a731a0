// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/window/docks/layouts_dialog.h"

#include <QAction>
#include <QDialogButtonBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QListWidget>
#include <QPushButton>
#include <QSignalBlocker>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace qs {

LayoutsDialog::LayoutsDialog(KeptLayouts layouts, QWidget* parent)
    : QDialog(parent)
    , m_layouts(std::move(layouts))
    , m_list(new QListWidget(this))
    , m_up(new QPushButton(tr("Move &up"), this))
    , m_down(new QPushButton(tr("Move &down"), this))
    , m_rename(new QPushButton(tr("&Rename"), this))
    , m_delete(new QPushButton(tr("D&elete"), this))
    , m_problem(new QLabel(this))
{
    setObjectName(QStringLiteral("layoutsDialog"));
    setWindowTitle(tr("Layouts"));
    buildList();
    auto* buttons = new QVBoxLayout;
    for (QPushButton* button : { m_up, m_down, m_rename, m_delete }) {
        button->setAutoDefault(false);
        buttons->addWidget(button);
    }
    buttons->addStretch(1);
    auto* row = new QHBoxLayout;
    row->addWidget(m_list, 1);
    row->addLayout(buttons);
    m_problem->setObjectName(QStringLiteral("formWrong"));
    m_problem->setWordWrap(true);
    auto* box = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel, this);
    connect(box, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(box, &QDialogButtonBox::rejected, this, &QDialog::reject);
    auto* column = new QVBoxLayout(this);
    column->addLayout(row, 1);
    column->addWidget(m_problem);
    column->addWidget(box);
    connect(m_up, &QPushButton::clicked, this, [this] { move(-1); });
    connect(m_down, &QPushButton::clicked, this, [this] { move(1); });
    connect(m_rename, &QPushButton::clicked, this, [this] { m_list->editItem(m_list->currentItem()); });
    connect(m_delete, &QPushButton::clicked, this, &LayoutsDialog::remove);
    m_problem->hide();
    m_list->setCurrentRow(0);
    refresh();
}

void LayoutsDialog::buildList()
{
    m_list->setAccessibleName(tr("Layouts"));
    m_list->setEditTriggers(QAbstractItemView::EditKeyPressed | QAbstractItemView::DoubleClicked);
    for (const KeptLayout& layout : m_layouts) {
        m_before.push_back(layout.name);
        auto* item = new QListWidgetItem(layout.name, m_list);
        item->setFlags(item->flags() | Qt::ItemIsEditable);
    }
    auto* remove = new QAction(m_list);
    remove->setShortcut(QKeySequence::Delete);
    remove->setShortcutContext(Qt::WidgetShortcut);
    m_list->addAction(remove);
    connect(remove, &QAction::triggered, this, &LayoutsDialog::remove);
    connect(m_list, &QListWidget::itemChanged, this, &LayoutsDialog::takeName);
    connect(m_list, &QListWidget::currentRowChanged, this, &LayoutsDialog::refresh);
}

/// What cannot be a name is said, and the name stays as it was.
void LayoutsDialog::takeName(QListWidgetItem* item)
{
    const auto row = size_t(m_list->row(item));
    const QString name = item->text().trimmed();
    const auto same = layoutNamed(m_layouts, name);
    QString problem = layoutNameProblem(name);
    if (same && *same != row)
        problem = tr("There is a layout called “%1” already.").arg(m_layouts[*same].name);
    m_problem->setText(problem);
    m_problem->setVisible(!problem.isEmpty());
    if (problem.isEmpty())
        m_layouts[row].name = name;
    const QSignalBlocker quiet(m_list);
    item->setText(m_layouts[row].name);
}

void LayoutsDialog::move(int step)
{
    const int from = m_list->currentRow(), to = from + step;
    if (from < 0 || to < 0 || to >= m_list->count())
        return;
    std::swap(m_layouts[size_t(from)], m_layouts[size_t(to)]);
    std::swap(m_before[size_t(from)], m_before[size_t(to)]);
    m_list->insertItem(to, m_list->takeItem(from));
    m_list->setCurrentRow(to);
}

void LayoutsDialog::remove()
{
    const int row = m_list->currentRow();
    if (row < 0)
        return;
    m_layouts.erase(m_layouts.begin() + row);
    m_before.erase(m_before.begin() + row);
    delete m_list->takeItem(row);
    refresh();
}

QString LayoutsDialog::nameNow(const QString& before) const
{
    const auto found = std::ranges::find(m_before, before);
    return found == m_before.end() ? QString() : m_layouts[size_t(found - m_before.begin())].name;
}

void LayoutsDialog::refresh()
{
    const int row = m_list->currentRow();
    m_up->setEnabled(row > 0);
    m_down->setEnabled(row >= 0 && row + 1 < m_list->count());
    m_rename->setEnabled(row >= 0);
    m_delete->setEnabled(row >= 0);
}

} // namespace qs

#include "moc_layouts_dialog.cpp"
