// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/language/cache_names_dialog.h"

#include "widgets/models/base/formatting.h"
#include "widgets/views/base/text/dialog_size.h"

#include <QDialogButtonBox>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QTableWidget>
#include <QVBoxLayout>

#include <algorithm>

namespace qs {

CacheNamesDialog::CacheNamesDialog(const Names& names, std::function<void(const CarryNames&)> chosen, QWidget* parent)
    : QDialog(parent)
    , m_inputs(names.inputs)
    , m_chosen(std::move(chosen))
    , m_table(new QTableWidget(this))
{
    setAttribute(Qt::WA_DeleteOnClose);
    setObjectName(QStringLiteral("cacheNamesDialog"));
    setWindowTitle(tr("Caches"));
    setDialogSize(*this, 560, 320);
    auto* text = new QLabel(tr("When a model goes on, its caches are carried from token to token: an output becomes an "
                               "input. Both models are continued by these names."),
        this);
    text->setWordWrap(true);
    fill(names);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Apply | QDialogButtonBox::Cancel, this);
    QPushButton* apply = buttons->button(QDialogButtonBox::Apply);
    apply->setProperty("primary", true);
    apply->setDefault(true);
    connect(apply, &QPushButton::clicked, this, &CacheNamesDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    auto* column = new QVBoxLayout(this);
    column->addWidget(text);
    column->addWidget(m_table, 1);
    column->addWidget(buttons);
}

void CacheNamesDialog::fill(const Names& names)
{
    m_table->setColumnCount(2);
    m_table->setHorizontalHeaderLabels({ tr("Input"), tr("Output that becomes it") });
    m_table->setAccessibleName(tr("Caches"));
    m_table->verticalHeader()->hide();
    m_table->horizontalHeader()->setSectionResizeMode(QHeaderView::Stretch);
    m_table->setRowCount(int(m_inputs.size()));
    m_table->setTabKeyNavigation(false);
    for (size_t i = 0; i < m_inputs.size(); ++i) {
        auto* name = new QTableWidgetItem(toQt(m_inputs[i]));
        name->setFlags(name->flags() & ~Qt::ItemIsEditable);
        name->setToolTip(name->text());
        m_table->setItem(int(i), 0, name);
        auto* output = new QComboBox(m_table);
        output->setAccessibleName(tr("Output that becomes %1").arg(name->text()));
        output->addItem(tr("(none: the data give it)"));
        for (const std::string& choice : names.outputs)
            output->addItem(toQt(choice));
        const auto known = std::ranges::find(names.known, m_inputs[i], &CarryNames::value_type::second);
        output->setCurrentText(known == names.known.end() ? output->itemText(0) : toQt(known->first));
        m_table->setCellWidget(int(i), 1, output);
        m_outputs.push_back(output);
    }
}

void CacheNamesDialog::accept()
{
    CarryNames names;
    for (size_t i = 0; i < m_inputs.size(); ++i)
        if (m_outputs[i]->currentIndex() > 0)
            names.emplace_back(m_outputs[i]->currentText().toStdString(), m_inputs[i]);
    m_chosen(names);
    QDialog::accept();
}

} // namespace qs

#include "moc_cache_names_dialog.cpp"
