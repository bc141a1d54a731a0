// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/tables/link_dialog.h"

#include "widgets/views/base/text/dialog_size.h"
#include "widgets/views/base/text/wrapped_text.h"

#include <QDialogButtonBox>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSortFilterProxyModel>
#include <QStandardItemModel>
#include <QTreeView>
#include <QVBoxLayout>

namespace qs {

LinkDialog::LinkDialog(const Snapshot& snapshot, Side from, ValueId value, const QString& name, QWidget* parent)
    : QDialog(parent)
    , m_filter(new QLineEdit(this))
    , m_shown(new QSortFilterProxyModel(this))
    , m_list(new QTreeView(this))
{
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle(tr("Link"));
    setDialogSize(*this, 640, 420);
    auto* all = new QStandardItemModel(this);
    all->setHorizontalHeaderLabels({ tr("tensor"), tr("op"), tr("shape"), tr("fits") });
    for (const LinkCandidate& candidate : linkCandidates(snapshot, from, value)) {
        const QString fits = !candidate.fits ? tr("other size")
            : candidate.taken                ? tr("has a partner")
            : candidate.sameShape            ? tr("yes")
                                             : tr("other shape");
        QList<QStandardItem*> row;
        for (const QString& text : { candidate.name, candidate.op, candidate.shape, fits }) {
            row << new QStandardItem(text);
            row.back()->setEditable(false);
            row.back()->setEnabled(candidate.fits);
        }
        all->appendRow(row);
    }
    m_shown->setSourceModel(all);
    m_shown->setFilterCaseSensitivity(Qt::CaseInsensitive);
    m_filter->setPlaceholderText(tr("Filter"));
    m_filter->setAccessibleName(tr("Filter by name"));
    m_filter->setClearButtonEnabled(true);
    connect(m_filter, &QLineEdit::textChanged, m_shown, &QSortFilterProxyModel::setFilterFixedString);
    m_list->setModel(m_shown);
    m_list->setRootIsDecorated(false);
    m_list->setUniformRowHeights(true);
    m_list->setAccessibleName(tr("Tensors of the other file"));
    m_list->setTextElideMode(Qt::ElideLeft);
    m_list->header()->setStretchLastSection(false);
    m_list->header()->setSectionResizeMode(0, QHeaderView::Stretch);
    m_list->setCurrentIndex(m_shown->index(0, 0));
    connect(m_list, &QTreeView::doubleClicked, this, &LinkDialog::accept);
    auto* what = new QLabel(from == Side::Float ? tr("Partner of %1 in the quantized file:").arg(name)
                                                : tr("Partner of %1 in the float file:").arg(name),
        this);
    wrapText(*what);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel, this);
    buttons->button(QDialogButtonBox::Ok)->setText(tr("Link"));
    connect(buttons, &QDialogButtonBox::accepted, this, &LinkDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    auto* column = new QVBoxLayout(this);
    column->addWidget(what);
    column->addWidget(m_filter);
    column->addWidget(m_list, 1);
    column->addWidget(buttons);
    m_filter->setFocus();
}

void LinkDialog::accept()
{
    const QModelIndex index = m_list->currentIndex().siblingAtColumn(0);
    if (!index.isValid() || !(index.flags() & Qt::ItemIsEnabled))
        return;
    emit chosen(index.data().toString());
    QDialog::accept();
}

} // namespace qs

#include "moc_link_dialog.cpp"
