// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/tables/ladder_panel.h"

#include "widgets/models/base/formatting.h"
#include "widgets/models/tables/judging_models.h"
#include "widgets/views/base/open_dialogs.h"

#include <QMenu>
#include <QToolButton>

namespace qs {

namespace {

QString ladderFooter(const ShownLadder& ladder)
{
    if (const Ladder* now = ladder.ladder()) {
        QString text = ladderText(*now).toHtmlEscaped();
        if (now->firstApart)
            text = QStringLiteral("<b>%1</b>").arg(text);
        if (!now->unknown.empty())
            text += TablePanel::tr(" · %1 saved value(s) are in neither file").arg(now->unknown.size());
        return text;
    }
    return TablePanel::tr("float: relative error up to 1e-5 · quantizing: 20 dB, with labels accuracy within 1 point · "
                          "codes: at most 1 % further than one step");
}

QString ladderHint(const ShownLadder& ladder, const Snapshot& snapshot)
{
    if (!snapshot.comparison)
        return TablePanel::tr("Open a float and a quantized model and data first.");
    if (!snapshot.inputs.carry.empty())
        return TablePanel::tr("The ladder follows samples that do not go on from one another.");
    if (!ladder.files().any())
        return TablePanel::tr("Name what a framework or a device computed for these samples: an npz file keyed by "
                              "tensor names, or a folder of ONNX test data with outputs.");
    return ladder.problem().isEmpty() ? TablePanel::tr("Climbing…") : ladder.problem();
}

TablePanel::Setup ladderSetup(const ShownLadder& ladder)
{
    auto* model = new LadderModel;
    TablePanel::Setup setup;
    setup.name = QStringLiteral("ladder");
    setup.title = TablePanel::tr("Ladder");
    setup.model = model;
    setup.select = [model](Selection& selection, int row) { selection.selectByName(model->at(row).name); };
    setup.info = [&ladder](const Snapshot&) {
        QStringList files;
        for (const std::string* file : { &ladder.files().framework, &ladder.files().device })
            if (!file->empty())
                files << fileName(*file);
        return files.join(QStringLiteral(" · "));
    };
    setup.footer = [&ladder](const Theme&) { return ladderFooter(ladder); };
    setup.emptyText = [&ladder](const Snapshot& snapshot) { return ladderHint(ladder, snapshot); };
    return setup;
}

} // namespace

LadderPanel::LadderPanel(Session& session, ShownLadder& ladder, QWidget* parent)
    : TablePanel(session, ladderSetup(ladder), parent)
    , m_ladder(ladder)
{
    addSource(tr("Framework"), tr("What the framework that the float model came from computed for these samples"),
        &SavedFiles::framework);
    addSource(
        tr("Device"), tr("What a device that runs the quantized model computed: codes or reals"), &SavedFiles::device);
    connect(this, &Panel::lookedAtChanged, &ladder, &ShownCheck::watch);
    connect(&ladder, &ShownCheck::changed, this, &LadderPanel::refresh);
    refresh();
}

void LadderPanel::addSource(const QString& text, const QString& toolTip, std::string SavedFiles::*file)
{
    auto* button = new QToolButton(this);
    button->setText(text);
    button->setToolTip(toolTip);
    button->setProperty("outlined", true);
    button->setPopupMode(QToolButton::InstantPopup);
    auto* menu = new QMenu(button);
    const auto take = [this, file](const QString& path) {
        SavedFiles files = m_ladder.files();
        files.*file = path.toStdString();
        m_ladder.setFiles(files);
    };
    menu->addAction(tr("Values in an npz file…"), this, [this, take] { askForSavedValues(this, take); });
    menu->addAction(tr("Folder of ONNX test data…"), this, [this, take] { askForSavedFolder(this, take); });
    menu->addSeparator();
    QAction* none = menu->addAction(tr("None"), this, [take] { take({}); });
    connect(
        menu, &QMenu::aboutToShow, none, [this, none, file] { none->setEnabled(!(m_ladder.files().*file).empty()); });
    button->setMenu(menu);
    header()->addTool(button);
    m_sources.push_back(button);
}

void LadderPanel::refresh()
{
    const Ladder* ladder = m_ladder.ladder();
    static_cast<LadderModel*>(model())->setLadder(ladder ? ladder->rows : std::vector<LadderRow>());
    refreshTexts();
}

} // namespace qs

#include "moc_ladder_panel.cpp"
