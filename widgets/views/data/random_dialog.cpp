// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/data/random_dialog.h"

#include "core/project/snapshot/samples.h"
#include "widgets/models/base/formatting.h"
#include "widgets/session/files/open_files.h"
#include "widgets/views/base/text/dialog_size.h"
#include "widgets/views/base/text/font_units.h"
#include "widgets/views/base/text/wrapped_text.h"
#include "widgets/views/theme/focus_ring.h"

#include <QDialogButtonBox>
#include <QFormLayout>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QSettings>
#include <QSpinBox>
#include <QVBoxLayout>

namespace qs {

namespace {

constexpr int kMostSamples = 1'000'000, kMostSize = 1 << 20, kUsualSamples = 16;
constexpr int kLongestName = 200; ///< font units of the name of a size
constexpr int kRandomSide = 224, kRandomLength = 128;

/// Of a size that is not fixed: its name in the file, else where it stands.
QString sizeName(const InputSpec& input, size_t axis)
{
    const Dim& dim = (*input.dims)[axis];
    return dim.symbol.empty() ? RandomDialog::tr("%1, axis %2").arg(toQt(input.name)).arg(axis) : toQt(dim.symbol);
}

int usual(const InputSpec& input, size_t axis)
{
    if (axis == 0)
        return 1;
    return input.dims->size() == 4 ? kRandomSide : kRandomLength;
}

QString settingsKey(const QString& size) { return QStringLiteral("randomSizes/") + QString(size).replace(u'/', u'_'); }

/// The number of samples and the seed of "random:N:SEED".
std::pair<int, int> partsOf(const DataRequest& data)
{
    const QStringList parts = toQt(data.spec).split(u':');
    if (parts.value(0) != QLatin1String("random"))
        return { kUsualSamples, 0 };
    return { parts.value(1).toInt(), parts.value(2).toInt() };
}

} // namespace

RandomDialog::RandomDialog(const Session& session, QWidget* parent)
    : QDialog(parent)
    , m_samples(new Ringed<QSpinBox>(this))
    , m_seed(new Ringed<QSpinBox>(this))
    , m_shapes(new QLabel(this))
{
    setAttribute(Qt::WA_DeleteOnClose);
    setObjectName(QStringLiteral("randomDialog"));
    setWindowTitle(tr("Random data"));
    const Snapshot& snapshot = *session.snapshot();
    if (snapshot.floatModel)
        m_inputs = dataInputs(snapshot.floatModel->graph(), snapshot.inputs.carry);
    auto* text
        = new QLabel(tr("Uniform numbers from 0 to 1, whole numbers from 0 to 127. They show whether a model runs and "
                        "how its weights are quantized; how good its ranges are, only real data show."),
            this);
    text->setWordWrap(true);
    auto* rows = new QFormLayout;
    const auto [samples, seed] = partsOf(snapshot.inputs.data);
    m_samples->setRange(1, kMostSamples);
    m_samples->setValue(samples);
    m_seed->setRange(0, std::numeric_limits<int>::max());
    m_seed->setValue(seed);
    rows->addRow(tr("&Samples"), m_samples);
    rows->addRow(tr("S&eed"), m_seed);
    addSizes();
    const int most = fontUnits(fontMetrics(), kLongestName);
    for (const auto& [name, box] : m_sizes) {
        auto* label = new QLabel(fontMetrics().elidedText(name, Qt::ElideMiddle, most), this);
        label->setToolTip(name);
        rows->addRow(label, box);
    }
    m_shapes->setObjectName(QStringLiteral("emptyHint"));
    wrapText(*m_shapes);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel, this);
    buttons->button(QDialogButtonBox::Ok)->setText(tr("&Use"));
    connect(buttons, &QDialogButtonBox::accepted, this, &RandomDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    auto* column = new QVBoxLayout(this);
    column->addWidget(text);
    auto* sizes = new QWidget(this);
    sizes->setLayout(rows);
    rows->setContentsMargins(0, 0, 0, 0);
    auto* scroll = new QScrollArea(this); // a model may have many inputs
    scroll->setWidget(sizes);
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setMinimumWidth(sizes->minimumSizeHint().width() + scroll->verticalScrollBar()->sizeHint().width());
    column->addWidget(scroll, 1);
    column->addWidget(m_shapes);
    column->addWidget(buttons);
    const auto& shapes = snapshot.inputs.data.shapes;
    for (const InputSpec& input : m_inputs)
        if (const auto given = shapes.find(input.name); given != shapes.end() && input.dims)
            for (size_t axis = 0; axis < std::min(input.dims->size(), given->second.size()); ++axis)
                if (!(*input.dims)[axis].known())
                    m_sizes.at(sizeName(input, axis))->setValue(int(given->second[axis]));
    refresh();
    setDialogSize(*this, 440, 0);
}

void RandomDialog::addSizes()
{
    const QSettings settings;
    for (const InputSpec& input : m_inputs)
        for (size_t axis = 0; input.dims && axis < input.dims->size(); ++axis) {
            const QString name = sizeName(input, axis);
            if ((*input.dims)[axis].known() || m_sizes.count(name))
                continue;
            auto* box = new Ringed<QSpinBox>(this);
            box->setRange(1, kMostSize);
            box->setAccessibleName(tr("Size %1").arg(name));
            box->setValue(settings.value(settingsKey(name), usual(input, axis)).toInt());
            connect(box, &QSpinBox::valueChanged, this, &RandomDialog::refresh);
            m_sizes[name] = box;
        }
}

DataRequest RandomDialog::request() const
{
    DataRequest request;
    request.spec = QStringLiteral("random:%1:%2").arg(m_samples->value()).arg(m_seed->value()).toStdString();
    for (const InputSpec& input : m_inputs) {
        if (!input.dims || toShape(*input.dims))
            continue;
        Shape shape;
        for (size_t axis = 0; axis < input.dims->size(); ++axis) {
            const Dim& dim = (*input.dims)[axis];
            shape.push_back(dim.known() ? dim.value : m_sizes.at(sizeName(input, axis))->value());
        }
        request.shapes[input.name] = shape;
    }
    return request;
}

void RandomDialog::refresh()
{
    const DataRequest now = request();
    QStringList lines;
    for (const InputSpec& input : m_inputs) {
        const auto given = now.shapes.find(input.name);
        lines << toQt(input.name) + QStringLiteral(": ")
                + (given != now.shapes.end() ? shapeLabel(given->second) : dimsLabel(input.dims));
    }
    m_shapes->setText(lines.join(u'\n'));
}

void RandomDialog::accept()
{
    QSettings settings;
    for (const auto& [name, box] : m_sizes)
        settings.setValue(settingsKey(name), box->value());
    emit chosen(request());
    QDialog::accept();
}

RandomDialog* askForRandom(Session& session, QWidget* parent)
{
    auto* dialog = new RandomDialog(session, parent);
    QObject::connect(dialog, &RandomDialog::chosen, &session,
        [&session](const DataRequest& request) { openDataRequest(session, request); });
    dialog->open();
    return dialog;
}

} // namespace qs

#include "moc_random_dialog.cpp"
