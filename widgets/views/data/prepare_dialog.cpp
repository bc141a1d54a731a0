// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/data/prepare_dialog.h"

#include "widgets/models/base/formatting.h"
#include "widgets/models/base/translated.h"
#include "widgets/models/words/error_text.h"
#include "widgets/plots/save_dialog.h"
#include "widgets/views/base/text/dialog_size.h"
#include "widgets/views/base/text/wrapped_text.h"

#include <QDialogButtonBox>
#include <QDir>
#include <QFileInfo>
#include <QHeaderView>
#include <QLabel>
#include <QPointer>
#include <QPushButton>
#include <QSignalBlocker>
#include <QTableWidget>
#include <QVBoxLayout>

#include <algorithm>
#include <map>

namespace qs {

namespace {

enum PassColumn { PassName, PassPurposeColumn, PassResult };

struct PassPurpose {
    const char *name, *title, *purpose;
};

constexpr PassPurpose kPurposes[] {
    { "fold_branches", "Fold branches", "The branch that is always taken comes in the place of an If" },
    { "fold_constants", "Fold constants", "What does not depend on data is computed once" },
    { "remove_unused", "Remove unused", "Identity, Dropout, and what no output depends on, go" },
    { "fold_batch_norm", "Fold BatchNormalization", "Its factors go into the weights before it" },
    { "fuse_layer_norm", "Fuse LayerNormalization", "Single operators become one, from opset 17 on" },
    { "fuse_gelu", "Fuse Gelu", "Single operators become one, from opset 20 on" },
    { "fuse_attention", "Fuse attention", "Becomes ONNX Runtime's Attention or MultiHeadAttention" },
    { "fuse_skip_layer_norm", "Fuse SkipLayerNormalization", "A sum and the LayerNormalization behind it become one" },
    { "fuse_gemm", "Fuse Gemm", "A product and the sum behind it become one" },
    { "keep_attention", "Find attention", "Names what had better stay float; changes nothing in the file" },
    { "infer_shapes", "Infer shapes", "Types and sizes of values are written into the file" },
};

const PassPurpose* purposeOf(const std::string& name)
{
    const auto* found = std::ranges::find_if(kPurposes, [&](const PassPurpose& p) { return name == p.name; });
    return found == std::end(kPurposes) ? nullptr : found;
}

/// "Conv 4, Relu 2"
QString typesText(const std::vector<NamedNode>& nodes)
{
    std::map<std::string, size_t> counts;
    for (const NamedNode& node : nodes)
        ++counts[node.opType];
    QStringList texts;
    for (const auto& [type, count] : counts)
        texts << toQt(type) + u' ' + countText(count);
    return texts.isEmpty() ? tr("nothing") : texts.join(QStringLiteral(", "));
}

} // namespace

QString passText(const ProvedPass& pass)
{
    if (pass.report.changes == 0)
        return pass.report.keepFloat.empty()
            ? tr("nothing to do")
            : tr("%1 nodes had better stay float").arg(countText(pass.report.keepFloat.size()));
    if (pass.undone)
        return tr("taken back: %1").arg(toQt(pass.reason));
    const QString proof = pass.distance.value_or(0) == 0 ? tr("outputs equal")
                                                         : tr("outputs within %1").arg(numberText(*pass.distance, 2));
    if (pass.removed.empty() && pass.added.empty())
        return tr("%1 changes, %2").arg(countText(pass.report.changes), proof);
    return tr("%1 → %2 (%3 → %4 nodes), %5")
        .arg(typesText(pass.removed), typesText(pass.added), countText(pass.nodesBefore), countText(pass.nodesAfter),
            proof);
}

PrepareDialog::PrepareDialog(Session& session, QWidget* parent)
    : QDialog(parent)
    , m_session(session)
    , m_table(new QTableWidget(this))
    , m_message(new QLabel(this))
    , m_run(new QPushButton(tr("&Run the passes"), this))
    , m_save(new QPushButton(tr("&Save and open…"), this))
{
    setAttribute(Qt::WA_DeleteOnClose);
    setObjectName(QStringLiteral("prepareDialog"));
    setWindowTitle(tr("Prepare the float model"));
    setDialogSize(*this, 860, 470);
    auto* text
        = new QLabel(tr("Each pass changes the graph and not its results. It is run on samples before and after, and "
                        "taken back where an output moves. The result becomes a float model of its own."),
            this);
    text->setWordWrap(true);
    wrapText(*m_message);
    m_message->setTextFormat(Qt::PlainText);
    m_message->hide(); // until there is something to say
    fillPasses();
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    buttons->addButton(m_run, QDialogButtonBox::ActionRole);
    buttons->addButton(m_save, QDialogButtonBox::ActionRole);
    m_run->setProperty("primary", true);
    m_save->setEnabled(false);
    connect(m_run, &QPushButton::clicked, this, &PrepareDialog::run);
    connect(m_save, &QPushButton::clicked, this, &PrepareDialog::askWhere);
    connect(m_table, &QTableWidget::itemChanged, this, &PrepareDialog::forget);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    auto* column = new QVBoxLayout(this);
    column->addWidget(text);
    column->addWidget(m_table, 1);
    column->addWidget(m_message);
    column->addWidget(buttons);
}

PrepareDialog::~PrepareDialog() { m_session.jobs().cancelTag(kPrepareTag); }

void PrepareDialog::fillPasses()
{
    const std::vector<std::string>& names = preparationPasses();
    const std::vector<std::string> usual = usualPreparation();
    m_table->setColumnCount(3);
    m_table->setRowCount(int(names.size()));
    m_table->setHorizontalHeaderLabels({ tr("Pass"), tr("What it is for"), tr("What it did") });
    m_table->verticalHeader()->hide();
    m_table->setShowGrid(false);
    m_table->setAccessibleName(tr("Passes"));
    for (int row = 0; row < int(names.size()); ++row) {
        const std::string& name = names[size_t(row)];
        const PassPurpose* purpose = purposeOf(name);
        auto* pass = new QTableWidgetItem(purpose ? tr(purpose->title) : toQt(name));
        pass->setFlags(Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemIsUserCheckable);
        pass->setCheckState(std::ranges::find(usual, name) == usual.end() ? Qt::Unchecked : Qt::Checked);
        pass->setData(Qt::UserRole, toQt(name));
        m_table->setItem(row, PassName, pass);
        for (const PassColumn column : { PassPurposeColumn, PassResult }) {
            auto* item
                = new QTableWidgetItem(column == PassPurposeColumn && purpose ? tr(purpose->purpose) : QString());
            item->setFlags(Qt::ItemIsEnabled | Qt::ItemIsSelectable);
            m_table->setItem(row, column, item);
        }
    }
    m_table->horizontalHeader()->setStretchLastSection(true);
    m_table->resizeColumnsToContents();
}

std::vector<std::string> PrepareDialog::chosen() const
{
    std::vector<std::string> names;
    for (int row = 0; row < m_table->rowCount(); ++row)
        if (m_table->item(row, PassName)->checkState() == Qt::Checked)
            names.push_back(m_table->item(row, PassName)->data(Qt::UserRole).toString().toStdString());
    return names;
}

void PrepareDialog::forget()
{
    m_prepared.reset();
    m_save->setEnabled(false);
    m_run->setEnabled(!chosen().empty());
}

void PrepareDialog::run()
{
    forget();
    m_run->setEnabled(false);
    m_message->setText(tr("Running…"));
    m_message->show();
    const QPointer<PrepareDialog> self(this);
    prepareModel(
        m_session, chosen(),
        [self](const PreparedModel& made) {
            if (self)
                self->show(made);
        },
        [self](const Issue& issue) {
            if (!self)
                return;
            self->m_run->setEnabled(true);
            self->m_message->setText(issueHeadline(issue) + u' ' + issueRemedy(issue));
        });
}

void PrepareDialog::show(const PreparedModel& prepared)
{
    m_prepared = prepared;
    const QSignalBlocker quiet(m_table); // what is written here changes no choice
    size_t changes = 0;
    for (int row = 0; row < m_table->rowCount(); ++row) {
        const std::string name = m_table->item(row, PassName)->data(Qt::UserRole).toString().toStdString();
        const auto pass
            = std::ranges::find_if(prepared->passes, [&](const ProvedPass& p) { return p.report.pass == name; });
        const QString text = pass == prepared->passes.end() ? QString() : passText(*pass);
        m_table->item(row, PassResult)->setText(text);
        m_table->item(row, PassResult)->setToolTip(text);
        changes += pass != prepared->passes.end() && !pass->undone ? pass->report.changes : 0;
    }
    m_message->setText(
        tr("%1 nodes, proved on %2.").arg(countText(prepared->draft.nodes.size()), samplesText(prepared->samples))
        + (changes == 0 ? u' ' + tr("Nothing was changed.") : QString()));
    m_run->setEnabled(true);
    m_save->setEnabled(changes > 0);
    m_table->viewport()->update();
}

void PrepareDialog::askWhere()
{
    const QFileInfo file(toQt(m_session.snapshot()->inputs.floatPath));
    const QString proposed = file.dir().filePath(file.completeBaseName() + QStringLiteral("_prepared.onnx"));
    askWhereToWrite(this, tr("Save the prepared float model"), proposed, tr("ONNX models (*.onnx)"),
        QStringLiteral("onnx"), [this, prepared = m_prepared](const QString& path) {
            saveAndOpen(m_session, prepared, path);
            accept();
        });
}

} // namespace qs

#include "moc_prepare_dialog.cpp"
