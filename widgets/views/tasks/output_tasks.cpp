// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/tasks/output_tasks.h"

#include "core/analysis/tasks/recognition.h"
#include "widgets/models/base/formatting.h"
#include "widgets/models/tables/task_words.h"
#include "widgets/session/files/open_files.h"
#include "widgets/views/theme/focus_ring.h"

#include <QAction>
#include <QActionGroup>
#include <QDialog>
#include <QDialogButtonBox>
#include <QDoubleSpinBox>
#include <QFormLayout>
#include <QMenu>
#include <QTableView>
#include <QToolButton>

namespace qs {

namespace {

std::vector<ValueId> outputValues(const Comparison& comparison)
{
    std::vector<ValueId> values;
    for (const OutputRow& row : comparison.outputs)
        values.push_back(row.floatValue);
    return values;
}

/// What the output is where nobody says anything of it.
TaskChoice recognizedTask(const Snapshot& snapshot, size_t output)
{
    TaskChoices others = snapshot.inputs.tasks;
    others.told.erase(snapshot.comparison->outputs[output].name);
    return outputTasks(*snapshot.floatModel->plan, outputValues(*snapshot.comparison), others)[output].what;
}

void tell(Session& session, const std::string& output, const std::optional<TaskChoice>& choice)
{
    TaskChoices tasks = session.wantedFiles().tasks;
    if (choice)
        tasks.told[output] = *choice;
    else
        tasks.told.erase(output);
    setTasks(session, tasks);
}

QDoubleSpinBox* shareField(QFormLayout& form, const QString& name, const QString& meaning, double value)
{
    auto* field = new Ringed<QDoubleSpinBox>;
    field->setRange(0, 1);
    field->setSingleStep(0.05);
    field->setDecimals(2);
    field->setValue(value);
    field->setToolTip(meaning);
    field->setAccessibleName(name);
    form.addRow(name, field);
    return field;
}

void editThresholds(Session& session, QWidget* parent)
{
    auto* dialog = new QDialog(parent);
    dialog->setObjectName(QStringLiteral("boxThresholds"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(TablePanel::tr("Thresholds of boxes"));
    auto* form = new QFormLayout(dialog);
    const BoxThresholds now = session.wantedFiles().tasks.boxes;
    auto* score = shareField(*form, TablePanel::tr("Least confidence"),
        TablePanel::tr("Candidates below it are no boxes in either model"), now.score);
    auto* suppression = shareField(*form, TablePanel::tr("Suppression above IoU"),
        TablePanel::tr("A candidate that overlaps a better one of its class by more is dropped, where the model leaves "
                       "that to others"),
        now.suppression);
    auto* match = shareField(*form, TablePanel::tr("Match from IoU"),
        TablePanel::tr("Two boxes of the models are one from this overlap on"), now.match);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel);
    form->addRow(buttons);
    QObject::connect(buttons, &QDialogButtonBox::rejected, dialog, &QDialog::reject);
    QObject::connect(buttons, &QDialogButtonBox::accepted, dialog, [&session, dialog, score, suppression, match] {
        TaskChoices tasks = session.wantedFiles().tasks;
        tasks.boxes = { score->value(), suppression->value(), match->value() };
        dialog->accept();
        setTasks(session, tasks);
    });
    dialog->open();
}

/// The chosen output, or the only one.
std::optional<size_t> chosenOutput(const TablePanel& outputs, const Session& session)
{
    const Comparison* comparison = session.comparison();
    if (!comparison || !session.snapshot()->floatModel)
        return std::nullopt;
    const auto rows = outputs.chosenRows();
    if (rows.size() == 1 && size_t(rows[0]) < comparison->outputs.size())
        return size_t(rows[0]);
    return comparison->outputs.size() == 1 ? std::optional<size_t>(0) : std::nullopt;
}

} // namespace

void fillTaskMenu(QMenu& menu, Session& session, size_t output)
{
    const SnapshotPtr snapshot = session.snapshot();
    const OutputRow& row = snapshot->comparison->outputs[output];
    const TaskChoices& tasks = snapshot->inputs.tasks;
    const auto told = tasks.told.find(row.name);
    auto* group = new QActionGroup(&menu);
    const auto add = [&](const QString& text, const std::optional<TaskChoice>& choice, bool checked) {
        QAction* action = menu.addAction(text);
        action->setCheckable(true);
        action->setChecked(checked);
        group->addAction(action);
        QObject::connect(action, &QAction::triggered, &session,
            [&session, name = row.name, choice] { tell(session, name, choice); });
    };
    add(TablePanel::tr("Automatic (%1)").arg(taskChoiceText(recognizedTask(*snapshot, output))), std::nullopt,
        told == tasks.told.end());
    menu.addSeparator();
    const auto values = outputValues(*snapshot->comparison);
    for (const TaskChoice& choice : allTaskChoices())
        if (canBe(*snapshot->floatModel->plan, values, output, choice))
            add(taskChoiceText(choice), choice, told != tasks.told.end() && told->second == choice);
    if (row.task.what.kind != TaskKind::Boxes)
        return;
    menu.addSeparator();
    QObject::connect(menu.addAction(TablePanel::tr("Thresholds of boxes …")), &QAction::triggered, &session,
        [&session, parent = menu.parentWidget()] { editThresholds(session, parent ? parent->window() : nullptr); });
}

void addTaskMenu(TablePanel& outputs, Session& session)
{
    auto* menu = new QMenu(TablePanel::tr("Task"), &outputs);
    auto* button = new QToolButton(&outputs);
    button->setObjectName(QStringLiteral("outputTask"));
    button->setPopupMode(QToolButton::InstantPopup);
    button->setMenu(menu);
    button->setToolTip(TablePanel::tr("What the chosen output is for: it decides which numbers tell whether the "
                                      "quantized model still does it"));
    outputs.header()->addTool(button);
    outputs.addAction(menu->menuAction());
    const auto refresh = [&outputs, &session, button, menu] {
        const auto output = chosenOutput(outputs, session);
        button->setEnabled(output.has_value());
        menu->menuAction()->setEnabled(output.has_value());
        button->setText(output
                ? TablePanel::tr("Task: %1").arg(taskRowText(session.comparison()->outputs[*output].task))
                : TablePanel::tr("Task"));
    };
    QObject::connect(menu, &QMenu::aboutToShow, &outputs, [&outputs, &session, menu] {
        menu->clear();
        if (const auto output = chosenOutput(outputs, session))
            fillTaskMenu(*menu, session, *output);
    });
    QObject::connect(outputs.table()->selectionModel(), &QItemSelectionModel::selectionChanged, button, refresh);
    QObject::connect(&session, &Session::snapshotChanged, button, refresh);
    refresh();
}

} // namespace qs
