// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/tables/judging_panels.h"

#include "widgets/models/base/formatting.h"
#include "widgets/models/tables/judging_models.h"
#include "widgets/views/base/text/font_units.h"

#include <QDoubleValidator>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>

namespace qs {

namespace {

constexpr int kToleranceWidth = 76; ///< font units
constexpr double kUsualRelative = 1e-3, kUsualAbsolute = 1e-3;

QString nothingYet(const Snapshot& snapshot)
{
    return snapshot.comparison ? QString() : TablePanel::tr("Open a float and a quantized model and data first.");
}

QString elementsHint(const ShownElements& elements, const Snapshot& snapshot)
{
    if (const QString text = nothingYet(snapshot); !text.isEmpty())
        return text;
    if (!snapshot.inputs.carry.empty())
        return TablePanel::tr("Elements are compared of samples that do not go on from one another.");
    if (!elements.tolerance())
        return TablePanel::tr(
            "“Compare” tells which elements differ by more than atol + rtol · |a|, and where the first "
            "of them lies: of two quantized models, else of the float and the quantized one.");
    return elements.problem().isEmpty() ? TablePanel::tr("Comparing…") : elements.problem();
}

TablePanel::Setup elementsSetup(const ShownElements& elements)
{
    auto* model = new ElementModel;
    TablePanel::Setup setup;
    setup.name = QStringLiteral("elements");
    setup.title = TablePanel::tr("Elements");
    setup.model = model;
    setup.worstColumn = model->columnOf(ElementModel::Key::Share);
    setup.select = [model](Selection& selection, int row) { selection.selectByName(model->at(row).name); };
    setup.info = [](const Snapshot& snapshot) {
        if (!snapshot.comparison)
            return QString();
        return snapshot.other ? TablePanel::tr("A against B") : TablePanel::tr("float (A) against quantized (B)");
    };
    setup.footer = [&elements](const Theme&) {
        const ElementDifferences* found = elements.found();
        return found ? elementsText(*found).toHtmlEscaped()
                     : TablePanel::tr("An element is beyond the tolerance where |b − a| > atol + rtol · |a|");
    };
    setup.emptyText = [&elements](const Snapshot& snapshot) { return elementsHint(elements, snapshot); };
    return setup;
}

TablePanel::Setup filesSetup(const ShownFiles& files)
{
    TablePanel::Setup setup;
    setup.name = QStringLiteral("files");
    setup.title = TablePanel::tr("Models");
    setup.model = new FileModel;
    setup.footer = [](const Theme&) {
        return TablePanel::tr("SQNR in dB, of the worst output · time of one run in this program's engine, all models "
                              "turn by turn");
    };
    setup.emptyText = [&files](const Snapshot& snapshot) {
        const QString text = nothingYet(snapshot);
        return !text.isEmpty() ? text : files.problem().isEmpty() ? TablePanel::tr("Looking…") : files.problem();
    };
    return setup;
}

} // namespace

ElementsPanel::ElementsPanel(Session& session, ShownElements& elements, QWidget* parent)
    : TablePanel(session, elementsSetup(elements), parent)
    , m_session(session)
    , m_elements(elements)
    , m_relative(
          addNumber(tr("rtol"), tr("The part of the tolerance that grows with the element of A"), kUsualRelative))
    , m_absolute(addNumber(tr("atol"), tr("The part that does not, in the value's own unit"), kUsualAbsolute))
    , m_compare(new QPushButton(tr("Compare"), this))
{
    m_compare->setToolTip(tr("Runs both models again and compares each element of the values that both have"));
    header()->addTool(m_compare);
    connect(m_compare, &QPushButton::clicked, this, &ElementsPanel::compare);
    connect(this, &Panel::lookedAtChanged, &elements, &ShownCheck::watch);
    connect(&elements, &ShownCheck::changed, this, &ElementsPanel::refresh);
    refresh();
}

QLineEdit* ElementsPanel::addNumber(const QString& name, const QString& toolTip, double value)
{
    auto* label = new QLabel(name, this);
    auto* edit = new QLineEdit(QString::number(value), this);
    auto* validator = new QDoubleValidator(0, 1e30, 12, edit);
    validator->setLocale(QLocale::c());
    edit->setValidator(validator);
    edit->setFixedWidth(fontUnits(fontMetrics(), kToleranceWidth));
    edit->setAccessibleName(name);
    edit->setToolTip(toolTip);
    label->setBuddy(edit);
    connect(edit, &QLineEdit::returnPressed, this, &ElementsPanel::compare);
    header()->addTool(label);
    header()->addTool(edit);
    return edit;
}

void ElementsPanel::compare()
{
    if (m_relative->hasAcceptableInput() && m_absolute->hasAcceptableInput())
        m_elements.setTolerance({ m_relative->text().toDouble(), m_absolute->text().toDouble() });
}

void ElementsPanel::refresh()
{
    if (const auto& tolerance = m_elements.tolerance();
        tolerance && !m_relative->isModified() && !m_absolute->isModified()) {
        m_relative->setText(QString::number(tolerance->relative));
        m_absolute->setText(QString::number(tolerance->absolute));
    }
    const ElementDifferences* found = m_elements.found();
    static_cast<ElementModel*>(model())->setElements(found ? found->rows : std::vector<ElementRow>());
    m_compare->setEnabled(m_session.comparison() && m_session.files().carry.empty());
    refreshTexts();
}

FilesPanel::FilesPanel(Session& session, ShownFiles& files, QWidget* parent)
    : TablePanel(session, filesSetup(files), parent)
    , m_session(session)
    , m_files(files)
    , m_measure(new QPushButton(tr("Measure time"), this))
{
    m_measure->setToolTip(tr("Runs each model some times, turn by turn; other work on this machine disturbs it"));
    header()->addTool(m_measure);
    connect(m_measure, &QPushButton::clicked, &files, &ShownFiles::measureTime);
    connect(this, &Panel::lookedAtChanged, &files, &ShownCheck::watch);
    connect(&files, &ShownCheck::changed, this, &FilesPanel::refresh);
    refresh();
}

void FilesPanel::refresh()
{
    static_cast<FileModel*>(model())->setFiles(m_files.files());
    m_measure->setEnabled(m_session.comparison() && !m_files.running());
    refreshTexts();
}

} // namespace qs

#include "moc_judging_panels.cpp"
