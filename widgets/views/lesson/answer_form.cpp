// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/lesson/answer_form.h"

#include "widgets/models/base/formatting.h"
#include "widgets/views/base/emptied_layout.h"
#include "widgets/views/base/text/wrapped_text.h"

#include <QButtonGroup>
#include <QGridLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QLocale>
#include <QMouseEvent>
#include <QPushButton>
#include <QRadioButton>

namespace qs {

namespace {

/// A choice's text, over several lines; a click on it chooses.
class ChoiceText : public QLabel {
public:
    ChoiceText(const QString& text, QRadioButton* button, QWidget* parent)
        : QLabel(text, parent)
        , m_button(button)
    {
        setTextFormat(Qt::MarkdownText);
        wrapText(*this);
        setTextInteractionFlags(Qt::NoTextInteraction);
    }

protected:
    void mouseReleaseEvent(QMouseEvent*) override
    {
        if (m_button->isEnabled())
            m_button->click();
    }

private:
    QRadioButton* m_button;
};

QString nameOfNode(const Session& session, const Place& place)
{
    const Snapshot& now = *session.snapshot();
    const auto& model = place.side == Side::Float ? now.floatModel : now.quantModel;
    return place.node.valid() && model ? toQt(model->graph().node(place.node).name) : QString();
}

/// Numbers are typed with the decimal sign of the country, or with a point.
QString withPoint(QString text)
{
    const QString point = QLocale().decimalPoint();
    if (point == QStringLiteral(",") && text.count(u',') == 1 && !text.contains(u'.'))
        text.replace(u',', u'.');
    return text.trimmed();
}

QLineEdit* addLine(QGridLayout* grid, const QString& name, const QString& hint, QWidget* parent)
{
    auto* line = new QLineEdit(parent);
    line->setAccessibleName(name);
    line->setPlaceholderText(hint);
    grid->addWidget(line, grid->rowCount(), 0, 1, 2);
    return line;
}

} // namespace

QString pickedName(const Session& session, const Place& place, const std::string& what)
{
    if (what == "channel")
        return place.channel ? QString::number(*place.channel) : QString();
    if (what == "sample")
        return place.sample ? QString::number(*place.sample) : QString();
    if (what == "weight") {
        const WeightRow* weight = session.weightAt(place);
        return weight ? toQt(weight->name) : QString();
    }
    const ActivationRow* row = session.activationAt(place);
    if (what == "tensor")
        return row ? toQt(row->name) : QString();
    const QString node = nameOfNode(session, place);
    return node.isEmpty() && row ? toQt(row->node) : node;
}

AnswerForm::AnswerForm(Session& session, LessonRun& run, QWidget* parent)
    : QWidget(parent)
    , m_session(session)
    , m_run(run)
    , m_grid(new QGridLayout(this))
{
    m_grid->setContentsMargins(0, 0, 0, 0);
    m_grid->setColumnStretch(1, 1);
    connect(&session.selection(), &Selection::changed, this, &AnswerForm::followSelection);
    connect(&session.recipe(), &RecipeEdits::recipeChanged, this, &AnswerForm::showChanges);
}

void AnswerForm::ask()
{
    emptyLayout(*m_grid);
    m_number = m_pick = nullptr;
    m_take = nullptr;
    m_changes = nullptr;
    delete m_choices;
    m_choices = nullptr;
    if (m_run.active() && m_run.question())
        build();
}

void AnswerForm::build()
{
    const LessonQuestion& question = *m_run.question();
    if (question.kind == QuestionKind::Number || question.kind == QuestionKind::Predict) {
        const QString unit = toQt(question.unit);
        const QString name = question.kind == QuestionKind::Predict ? tr("Your prediction") : tr("Your number");
        m_number = addLine(m_grid, name, unit.isEmpty() ? name : tr("%1 in %2").arg(name, unit), this);
        m_number->setObjectName(QStringLiteral("lessonNumber"));
        connect(m_number, &QLineEdit::returnPressed, this, &AnswerForm::submitted);
        connect(m_number, &QLineEdit::textEdited, this, &AnswerForm::edited);
    }
    if (!question.choices.empty())
        addChoices(m_run.shown().choices);
    if (question.pick) {
        const QString what = toQt(question.pick->what);
        m_pick = addLine(m_grid, tr("Selected %1").arg(what), tr("Select a %1 in any panel").arg(what), this);
        m_pick->setObjectName(QStringLiteral("lessonPick"));
        connect(m_pick, &QLineEdit::returnPressed, this, &AnswerForm::submitted);
        connect(m_pick, &QLineEdit::textEdited, this, &AnswerForm::edited);
        followSelection();
    }
    if (question.pick && question.condition) {
        m_take = new QPushButton(this);
        m_take->setObjectName(QStringLiteral("lessonTake"));
        m_take->setProperty("link", true);
        m_take->setAutoDefault(true); // Return presses it
        m_take->hide();
        connect(m_take, &QPushButton::clicked, this, [this] { m_pick->setText(selectedName()); });
        m_grid->addWidget(m_take, m_grid->rowCount(), 0, 1, 2, Qt::AlignLeft);
    }
    if (question.condition) {
        m_changes = new QLabel(this);
        m_changes->setObjectName(QStringLiteral("lessonChanges"));
        m_changes->setTextFormat(Qt::PlainText);
        wrapText(*m_changes);
        m_grid->addWidget(m_changes, m_grid->rowCount(), 0, 1, 2);
        showChanges();
    }
}

void AnswerForm::addChoices(const QStringList& choices)
{
    m_choices = new QButtonGroup(this);
    for (int i = 0; i < choices.size(); ++i) {
        auto* button = new QRadioButton(QStringLiteral("&%1").arg(i + 1), this);
        button->setObjectName(QStringLiteral("lessonChoice%1").arg(i + 1));
        button->setAccessibleName(choices[i]);
        const int row = m_grid->rowCount();
        m_grid->addWidget(button, row, 0, Qt::AlignTop);
        m_grid->addWidget(new ChoiceText(choices[i], button, this), row, 1);
        m_choices->addButton(button, i + 1);
    }
    connect(m_choices, &QButtonGroup::idToggled, this, &AnswerForm::edited);
}

void AnswerForm::followSelection()
{
    if (!m_run.active() || !m_pick || !m_run.question()
        || !m_pick->isEnabled()) // it is left while the session is given back
        return;
    const QString name = selectedName();
    // Who changes the recipe selects rows for that; the answer that was given before stays.
    const bool repairing = m_take && !m_run.changes().is_null() && !m_pick->text().isEmpty();
    if (!repairing && (!name.isEmpty() || !m_pick->hasFocus()))
        m_pick->setText(name);
    if (m_take) {
        m_take->setText(tr("Take %1, which is selected").arg(name));
        m_take->setVisible(repairing && !name.isEmpty() && name != m_pick->text());
    }
    emit edited();
}

QString AnswerForm::selectedName() const
{
    return pickedName(m_session, m_session.selection().current(), m_run.question()->pick->what);
}

void AnswerForm::showChanges()
{
    if (!m_changes || !m_run.active())
        return;
    const QStringList changes = m_run.changesInWords();
    m_changes->setText(changes.isEmpty() ? tr("Change the recipe in What-if, the Inspector or a histogram.")
                                         : tr("Changed: %1").arg(breakable(changes.join(QStringLiteral("; ")))));
    emit edited();
}

LessonAnswer AnswerForm::answer() const
{
    LessonAnswer answer;
    const bool repair = m_run.question()->kind == QuestionKind::Repair;
    const std::string choice = m_choices && m_choices->checkedId() > 0 ? std::to_string(m_choices->checkedId()) : "";
    const std::string pick = m_pick ? m_pick->text().trimmed().toStdString() : "";
    answer.text = m_number ? withPoint(m_number->text()).toStdString() : m_pick ? pick : choice;
    if (repair) {
        answer.cause = choice;
        answer.place = pick;
    }
    if (m_changes)
        answer.recipe = m_run.changes();
    return answer;
}

bool AnswerForm::complete() const
{
    return !(m_number && m_number->text().trimmed().isEmpty()) && !(m_pick && m_pick->text().trimmed().isEmpty())
        && !(m_choices && m_choices->checkedId() < 0) && !(m_changes && m_run.active() && m_run.changes().is_null());
}

void AnswerForm::setOpen(bool open)
{
    for (QWidget* field : findChildren<QWidget*>(QString(), Qt::FindDirectChildrenOnly))
        if (field != m_changes)
            field->setEnabled(open);
}

QList<QWidget*> AnswerForm::fields() const
{
    QList<QWidget*> list;
    if (m_number)
        list << m_number;
    if (m_choices)
        for (QAbstractButton* button : m_choices->buttons())
            list << button;
    if (m_pick)
        list << m_pick;
    if (m_take)
        list << m_take;
    return list;
}

/// A chosen answer is given with Enter, as a typed one is.
void AnswerForm::keyPressEvent(QKeyEvent* event)
{
    if ((event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) && complete())
        emit submitted();
    else
        QWidget::keyPressEvent(event);
}

/// What was typed before is selected: the next answer takes its place.
void AnswerForm::begin()
{
    if (m_choices) {
        QAbstractButton* const chosen = m_choices->checkedButton();
        return (chosen ? chosen : m_choices->button(1))->setFocus(Qt::OtherFocusReason);
    }
    if (QLineEdit* const line = m_number ? m_number : m_pick) {
        line->setFocus(Qt::OtherFocusReason);
        line->selectAll();
    }
}

} // namespace qs

#include "moc_answer_form.cpp"
