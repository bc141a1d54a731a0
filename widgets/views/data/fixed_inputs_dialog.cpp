// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/data/fixed_inputs_dialog.h"

#include "core/project/quantize/fixed_inputs.h"
#include "widgets/models/base/formatting.h"
#include "widgets/models/words/error_text.h"
#include "widgets/views/base/text/dialog_size.h"
#include "widgets/views/base/text/font_units.h"
#include "widgets/views/base/text/wrapped_text.h"

#include <QDialogButtonBox>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QTableWidget>
#include <QVBoxLayout>

#include <algorithm>

namespace qs {

namespace {

enum FixedColumn { FixedName, FixedKind, FixedValue, FixedSizes };
constexpr int kMostName = 180; ///< font units

/// Of the entry NAME=…; empty without one.
QString entryOf(const std::vector<std::string>& entries, const std::string& name)
{
    for (const std::string& entry : entries)
        if (entry.starts_with(name + "="))
            return toQt(entry.substr(name.size() + 1));
    return {};
}

} // namespace

FixedInputsDialog::FixedInputsDialog(Session& session, QWidget* parent)
    : QDialog(parent)
    , m_session(session)
    , m_table(new QTableWidget(this))
    , m_message(new QLabel(this))
{
    setAttribute(Qt::WA_DeleteOnClose);
    setObjectName(QStringLiteral("fixedInputsDialog"));
    setWindowTitle(tr("Inputs that are always the same"));
    setDialogSize(*this, 640, 360);
    auto* text
        = new QLabel(tr("A value or sizes that an input has in all data. What depends on them is computed once: an If "
                        "is replaced by the branch that is taken, and its nodes can be quantized. The quantized model "
                        "computes as with these inputs then, whatever it is given."),
            this);
    text->setWordWrap(true);
    wrapText(*m_message);
    m_message->setObjectName(QStringLiteral("errorHeadline"));
    m_message->hide();
    fill();
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Apply | QDialogButtonBox::Cancel, this);
    QPushButton* apply = buttons->button(QDialogButtonBox::Apply);
    apply->setProperty("primary", true);
    apply->setDefault(true);
    connect(apply, &QPushButton::clicked, this, &FixedInputsDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    auto* column = new QVBoxLayout(this);
    column->addWidget(text);
    column->addWidget(m_table, 1);
    column->addWidget(m_message);
    column->addWidget(buttons);
}

void FixedInputsDialog::fill()
{
    m_table->setColumnCount(4);
    m_table->setHorizontalHeaderLabels(
        { tr("Input"), tr("Type and shape"), tr("Always (number, true, false)"), tr("Sizes (2x3x4)") });
    m_table->verticalHeader()->hide();
    m_table->horizontalHeader()->setStretchLastSection(true);
    m_table->setAccessibleName(tr("Inputs"));
    const Snapshot& snapshot = *m_session.snapshot();
    const auto& file = snapshot.floatFile ? snapshot.floatFile : snapshot.floatModel;
    if (!file)
        return;
    const GraphPreparation& now = m_session.recipe().recipe().preparation;
    for (const ValueId id : file->graph().inputs()) {
        const Value& input = file->graph().value(id);
        const int row = m_table->rowCount();
        m_table->insertRow(row);
        const QStringList texts { toQt(input.name),
            toQt(dtypeName(input.type.dtype)) + u' ' + dimsLabel(input.type.dims), entryOf(now.fixedInputs, input.name),
            entryOf(now.fixedShapes, input.name) };
        for (int c = 0; c < texts.size(); ++c) {
            auto* item = new QTableWidgetItem(texts[c]);
            item->setToolTip(texts[c]);
            if (c < FixedValue)
                item->setFlags(Qt::ItemIsEnabled | Qt::ItemIsSelectable);
            m_table->setItem(row, c, item);
        }
    }
    m_table->setTextElideMode(Qt::ElideMiddle);
    m_table->resizeColumnsToContents();
    const int most = fontUnits(fontMetrics(), kMostName);
    m_table->setColumnWidth(FixedName, std::min(m_table->columnWidth(FixedName), most)); // the rest is in sight
}

void FixedInputsDialog::accept()
{
    m_table->setCurrentItem(nullptr); // what is being typed is taken, too
    Recipe next = m_session.recipe().recipe();
    next.preparation.fixedInputs.clear();
    next.preparation.fixedShapes.clear();
    for (int row = 0; row < m_table->rowCount(); ++row) {
        const std::string name = m_table->item(row, FixedName)->text().toStdString();
        const QString value = m_table->item(row, FixedValue)->text().trimmed();
        const QString sizes = m_table->item(row, FixedSizes)->text().trimmed().replace(u'×', u'x');
        if (!value.isEmpty())
            next.preparation.fixedInputs.push_back(name + "=" + value.toStdString());
        if (!sizes.isEmpty())
            next.preparation.fixedShapes.push_back(name + "=" + sizes.toStdString());
    }
    const Snapshot& snapshot = *m_session.snapshot();
    const auto& file = snapshot.floatFile ? snapshot.floatFile : snapshot.floatModel;
    const auto known = file ? fixedInputs(next.preparation, file->graph()) : Result<KnownInputs>(KnownInputs {});
    if (!known.ok()) {
        m_message->setText(issueHeadline(known.issue()) + u' ' + issueRemedy(known.issue()));
        m_message->show();
        return;
    }
    m_session.recipe().apply(tr("Fix inputs"), next);
    QDialog::accept();
}

} // namespace qs

#include "moc_fixed_inputs_dialog.cpp"
