// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/detail/weight_lab_panel.h"

#include "core/project/snapshot/comparing.h"
#include "widgets/models/base/formatting.h"
#include "widgets/models/words/error_text.h"
#include "widgets/plots/channel_chart.h"
#include "widgets/session/shown/empty_texts.h"
#include "widgets/views/base/text/font_units.h"
#include "widgets/views/base/text/wrapped_text.h"
#include "widgets/views/detail/channel_data.h"
#include "widgets/views/theme/plot_theme.h"

#include <QHeaderView>
#include <QLabel>
#include <QPointer>
#include <QScrollBar>
#include <QSplitter>
#include <QStyledItemDelegate>
#include <QTableView>

#include <algorithm>

namespace qs {

namespace {

/// The way that the file stores the weight is written in bold.
class StoredDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;

protected:
    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override
    {
        QStyledItemDelegate::initStyleOption(option, index);
        option->font.setBold(index.data(WeightLabModel::StoredRole).toBool());
        option->state &= ~QStyle::State_HasFocus;
    }
};

QString labSummary(const WeightLab& lab)
{
    QStringList parts;
    if (lab.rangeRatio)
        parts << WeightLabPanel::tr("range ratio %1").arg(numberText(lab.rangeRatio));
    parts << WeightLabPanel::tr("%1 of the elements lie beyond half the range").arg(percentText(lab.outlierShare))
          << WeightLabPanel::tr("99 % need %1 of it").arg(percentText(lab.bulkRange));
    if (lab.equalized && lab.equalized->rangeRatio)
        parts << WeightLabPanel::tr("equalized: range ratio %1").arg(numberText(lab.equalized->rangeRatio));
    return parts.join(QStringLiteral(" · "));
}

} // namespace

WeightLabPanel::WeightLabPanel(Session& session, QWidget* parent)
    : Panel(QStringLiteral("weight-lab"), tr("Weight lab"), parent)
    , m_session(session)
    , m_place(session)
    , m_chart(new ChannelChart(this))
    , m_table(new QTableView(this))
    , m_summary(new QLabel(this))
    , m_splitter(new QSplitter(Qt::Horizontal, this))
{
    m_summary->setObjectName(QStringLiteral("tableFooter"));
    m_summary->setContentsMargins(8, 2, 8, 3);
    wrapText(*m_summary);
    setShownPlace(&m_place);
    buildTable();
    m_splitter->setChildrenCollapsible(false);
    m_splitter->addWidget(m_table);
    m_splitter->addWidget(m_chart);
    m_splitter->setStretchFactor(0, 0);
    m_splitter->setStretchFactor(1, 1);
    setContent(m_splitter);
    addFooter(m_summary);
    setFocusProxy(m_table);
    connect(&session, &Session::snapshotChanged, this, &WeightLabPanel::request);
    connect(&m_place, &ShownPlace::changed, this, &WeightLabPanel::request);
    connect(this, &Panel::lookedAtChanged, this, [this] {
        showSummary();
        request();
    });
    connect(&session, &Session::themeChanged, this, [this] {
        m_chart->setStyle(plotStyleOf(m_session.theme()));
        m_shown.reset();
        request();
    });
    m_chart->setStyle(plotStyleOf(session.theme()));
    request();
}

void WeightLabPanel::buildTable()
{
    m_table->setModel(&m_model);
    m_table->setItemDelegate(new StoredDelegate(m_table));
    m_table->setAccessibleName(tr("Ways to store the weight"));
    m_table->setObjectName(QStringLiteral("plainTable"));
    m_table->setShowGrid(false);
    m_table->setWordWrap(false);
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->setSelectionMode(QAbstractItemView::SingleSelection);
    m_table->setTabKeyNavigation(false);
    m_table->verticalHeader()->hide();
    m_table->verticalHeader()->setDefaultSectionSize(tableRow(fontMetrics()));
    m_table->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    m_table->horizontalHeader()->setSectionResizeMode(0, QHeaderView::Stretch);
    m_table->horizontalHeader()->setHighlightSections(false);
}

void WeightLabPanel::showHint(const QString& text)
{
    m_model.setLab(nullptr, {});
    ChannelData none;
    none.emptyText = text;
    m_chart->setData(none);
    m_table->hide();
    m_summary->clear();
    showSummary();
}

QString WeightLabPanel::labTag() const { return QStringLiteral("weight-lab-") + objectName(); }

void WeightLabPanel::request()
{
    const SnapshotPtr snapshot = m_session.snapshot();
    if (m_shown && m_shown->snapshot != snapshot.get())
        m_shown.reset(); // its address may come again
    if (!lookedAt())
        return;
    const bool ready = snapshot->comparison && !snapshot->comparison->partial;
    const Shown wanted { snapshot.get(), ready ? m_place.weight() : nullptr };
    if (m_shown == wanted)
        return;
    m_shown = wanted;
    m_session.jobs().cancelTag(labTag());
    header()->setInfo({});
    if (!wanted.row)
        return showHint(ready          ? tr("Choose a weight, or a node that has one.")
                : snapshot->comparison ? tr("Other ways are tried when the run is done.")
                                       : whyNothingCompared(*snapshot));
    header()->setInfo(toQt(wanted.row->name));
    JobRequest job;
    job.tag = labTag();
    job.title = tr("Try other ways to store the weight");
    job.visibility = Visibility::Hidden;
    job.process
        = [self = QPointer(this), snapshot, wanted, known = m_previewOf.lock() == snapshot ? m_preview : nullptr](
              const JobContext&) -> Result<std::function<void()>> {
        auto preview = known;
        if (!preview) { // what cannot be equalized has no such column
            auto made = previewEqualization(snapshot->floatModel->model, snapshot->comparison->weights);
            preview = std::make_shared<const EqualizationPreview>(made ? std::move(*made) : EqualizationPreview {});
        }
        auto lab = weightLab(foldedConstantsOf(*snapshot), *wanted.row, preview.get());
        return std::function<void()>([self, snapshot, wanted, preview, lab = std::move(lab)] {
            if (!self)
                return;
            self->m_preview = preview;
            self->m_previewOf = snapshot;
            if (self->m_shown == wanted)
                self->show(lab);
        });
    };
    job.failed = [self = QPointer(this), wanted](const Issue& issue) {
        if (self && self->m_shown == wanted)
            self->showHint(issueHeadline(issue));
    };
    m_session.jobs().start(std::move(job));
}

void WeightLabPanel::show(const std::optional<WeightLab>& lab)
{
    if (!lab)
        return showHint(tr("Nothing can be tried with this weight: it is a bias, a vector, or not finite."));
    const WeightRow& row = *m_shown->row;
    m_model.setLab(&*lab, row.params);
    ChannelView view = channelsOfWeight(row, nullptr, m_session.theme());
    for (size_t c = 0; c < std::min(view.data.channels.size(), lab->channels.size()); ++c) {
        view.data.channels[c].low = lab->channels[c].lowest;
        view.data.channels[c].high = lab->channels[c].highest;
    }
    view.data.xLabel = tr("channel"); // beside the table there may be room for no more
    view.data.yLabel = tr("float range");
    m_chart->setData(view.data);
    m_summary->setText(labSummary(*lab));
    showSummary();
    m_table->show();
    showWholeTable();
    for (int way = 0; way < m_model.rowCount(); ++way)
        if (m_model.index(way, 0).data(WeightLabModel::StoredRole).toBool())
            m_table->scrollTo(m_model.index(way, 0), QAbstractItemView::PositionAtCenter);
}

/// The table gets the room that its texts need, and the chart the rest.
void WeightLabPanel::showWholeTable()
{
    const QAbstractItemView* cells = m_table;
    int needed = m_table->verticalScrollBar()->sizeHint().width() + 2 * m_table->frameWidth();
    for (int column = 0; column < m_model.columnCount(); ++column)
        needed += std::max(m_table->horizontalHeader()->sectionSizeHint(column), cells->sizeHintForColumn(column)) + 1;
    m_splitter->setSizes({ needed, std::max(0, m_splitter->width() - needed) });
}

/// Behind another tab it would take the lines of the width that it had last from all the panels there.
void WeightLabPanel::showSummary() { m_summary->setVisible(lookedAt() && !m_summary->text().isEmpty()); }

QString WeightLabPanel::summary() const { return m_summary->text(); }

} // namespace qs

#include "moc_weight_lab_panel.cpp"
