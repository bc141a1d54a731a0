// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/help/tour.h"

#include "widgets/views/base/text/font_units.h"

#include <QApplication>
#include <QDockWidget>
#include <QEvent>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QMainWindow>
#include <QMenu>
#include <QMenuBar>
#include <QPainter>
#include <QPainterPath>
#include <QPushButton>
#include <QSettings>
#include <QTimer>
#include <QVBoxLayout>

#include <algorithm>
#include <array>

namespace qs {

namespace {

const QString kSeenKey = QStringLiteral("tourSeen");
constexpr int kWidth = 330; ///< font units
constexpr int kBesideBubble = 18, kArrow = 9, kSpotFrame = 3;

/// Draws on top of the window, and lets the mouse through.
class Pointer : public QWidget {
public:
    using QWidget::QWidget;
    void point(const QRect& target, const QRect& from, const QColor& colour)
    {
        m_target = target;
        m_from = from;
        m_colour = colour;
        update();
    }

private:
    void paintEvent(QPaintEvent*) override
    {
        QPainter painter(this);
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(QPen(m_colour, kSpotFrame));
        painter.drawRoundedRect(m_target.adjusted(1, 1, -2, -2), 5, 5);
        const QPointF tip(std::clamp(m_from.center().x(), m_target.left(), m_target.right()),
            std::clamp(m_from.center().y(), m_target.top(), m_target.bottom()));
        const QPointF base(std::clamp<double>(tip.x(), m_from.left(), m_from.right()),
            std::clamp<double>(tip.y(), m_from.top(), m_from.bottom()));
        const QPointF along = tip - base, across(along.y() == 0 ? 0 : kArrow, along.x() == 0 ? 0 : kArrow);
        if (along.isNull())
            return; // the call-out lies on what it is about
        QPainterPath arrow(base + across);
        arrow.lineTo(tip);
        arrow.lineTo(base - across);
        painter.fillPath(arrow, m_colour);
    }
    QRect m_target, m_from;
    QColor m_colour;
};

/// Beside the target where there is room, else on it.
QRect besides(const QRect& target, const QSize& size, const QRect& room)
{
    const int x = std::clamp(target.center().x() - size.width() / 2, room.left(), room.right() - size.width());
    const int y = std::clamp(target.center().y() - size.height() / 2, room.top(), room.bottom() - size.height());
    const std::array<QPoint, 4> places { QPoint(target.right() + kBesideBubble, y),
        QPoint(target.left() - kBesideBubble - size.width(), y),
        QPoint(x, target.top() - kBesideBubble - size.height()), QPoint(x, target.bottom() + kBesideBubble) };
    for (const QPoint& place : places)
        if (room.contains(QRect(place, size)))
            return { place, size };
    return { QPoint(x, y), size };
}

} // namespace

std::vector<TourStep> tourSteps()
{
    return {
        { QStringLiteral("headerStrip"), Tour::tr("What is open"),
            Tour::tr(
                "The float model, the quantized one and the samples that both ran over. On the right, what came of it: "
                "in the example, few of the samples are still right.") },
        { QStringLiteral("findings"), Tour::tr("Why"),
            Tour::tr("Findings says what is wrong, the worst first, with a remedy. In the example the ranges do not "
                     "hold the "
                     "data: whoever calibrated it forgot to normalize the pictures.") },
        { QStringLiteral("graph"), Tour::tr("Where"),
            Tour::tr("Both networks as one, with quantizers folded into the edges. Colours are the number chosen "
                     "above. Click "
                     "a box: every other view follows.") },
        { QStringLiteral("inspector"), Tour::tr("All about one tensor"),
            Tour::tr("Scale, zero point, the range that can be represented and the one that was seen, and each number. "
                     "Tool tips say what they mean.") },
        { QStringLiteral("distribution"), Tour::tr("Its values"),
            Tour::tr(
                "Float and quantized, one over the other. What lies outside of the range is clipped. Drag an end of "
                "the range and see what it does.") },
        { QStringLiteral("tensors"), Tour::tr("The worst first"),
            Tour::tr("All pairs of tensors. “accumulated” is how far the network has drifted there, “added” what this "
                     "quantizer costs by itself. The keys ] and [ walk along the list.") },
        { QStringLiteral("findings"), Tour::tr("Mend it"),
            Tour::tr(
                "“Try all” measures what each remedy gains at the output. “Apply” changes the recipe, and the model is "
                "quantized and run again. Undo takes it back.") },
        { QStringLiteral("what-if"), Tour::tr("Try your own"),
            Tour::tr(
                "The recipe: what is quantized, and how. Change a line, leave nodes in float, run it. When it is good "
                "enough, File ▸ Export hands it over. F1 explains the panel that you are in.") },
    };
}

CallOut::CallOut(QWidget* window)
    : QFrame(window)
    , next(new QPushButton(this))
    , back(new QPushButton(tr("&Back"), this))
    , skip(new QPushButton(tr("E&nd the tour"), this))
    , m_number(new QLabel(this))
    , m_title(new QLabel(this))
    , m_text(new QLabel(this))
{
    setObjectName(QStringLiteral("callOut"));
    m_title->setObjectName(QStringLiteral("findingTitle"));
    m_number->setObjectName(QStringLiteral("findingMuted"));
    m_text->setWordWrap(true);
    next->setProperty("primary", true);
    for (QPushButton* button : { back, skip })
        button->setProperty("link", true);
    auto* head = new QHBoxLayout;
    head->addWidget(m_title, 1);
    head->addWidget(m_number);
    auto* foot = new QHBoxLayout;
    foot->addWidget(skip);
    foot->addStretch(1);
    foot->addWidget(back);
    foot->addWidget(next);
    auto* column = new QVBoxLayout(this);
    column->addLayout(head);
    column->addWidget(m_text);
    column->addLayout(foot);
    for (QPushButton* button : { next, back, skip })
        button->installEventFilter(this);
    connect(next, &QPushButton::clicked, this, &CallOut::nextAsked);
    connect(back, &QPushButton::clicked, this, &CallOut::backAsked);
    connect(skip, &QPushButton::clicked, this, &CallOut::endAsked);
}

void CallOut::show(const TourStep& step, int number, int count)
{
    m_title->setText(step.title);
    m_text->setText(step.text);
    m_number->setText(tr("%1 of %2").arg(number).arg(count));
    next->setText(number == count ? tr("&Done") : tr("&Next"));
    back->setEnabled(number > 1);
    skip->setVisible(number < count);
    setAccessibleName(tr("Tour, step %1 of %2: %3").arg(number).arg(count).arg(step.title));
    setAccessibleDescription(step.text);
    const int wide = fontUnits(fontMetrics(), kWidth);
    setFixedWidth(wide);
    layout()->activate();
    setFixedHeight(layout()->totalHeightForWidth(wide));
    QFrame::show();
    raise();
    next->setFocus(Qt::OtherFocusReason);
}

/// The keys are its own, also where the menus have them.
bool CallOut::event(QEvent* event)
{
    if (event->type() == QEvent::ShortcutOverride && static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape) {
        event->accept();
        return true;
    }
    return QFrame::event(event);
}

/// A button would hand the focus to another one by these.
bool CallOut::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() == QEvent::KeyPress) {
        auto* press = static_cast<QKeyEvent*>(event);
        if (press->key() == Qt::Key_Right || press->key() == Qt::Key_Left) {
            keyPressEvent(press);
            return true;
        }
    }
    return QFrame::eventFilter(watched, event);
}

void CallOut::keyPressEvent(QKeyEvent* event)
{
    switch (event->key()) {
    case Qt::Key_Escape:
        return emit endAsked();
    case Qt::Key_Return:
    case Qt::Key_Enter:
    case Qt::Key_Right:
        return emit nextAsked();
    case Qt::Key_Left:
        return emit backAsked();
    default:
        QFrame::keyPressEvent(event);
    }
}

Tour::Tour(QWidget& window, Session& session, Reveal reveal)
    : QObject(&window)
    , m_window(window)
    , m_session(session)
    , m_reveal(std::move(reveal))
    , m_steps(tourSteps())
{
}

bool Tour::seen() { return QSettings().value(kSeenKey, false).toBool(); }

void Tour::offerFor(const std::string& floatPath)
{
    if (floatPath.empty() || seen())
        return;
    connect(&m_session, &Session::settled, this, [this, floatPath] {
        const SnapshotPtr now = m_session.snapshot();
        if (now->inputs.floatPath == floatPath && now->comparison && !running() && !seen())
            QTimer::singleShot(0, this, [this] { // once the panels are there
                if (m_window.isVisible() && !running() && !m_session.guest()) // a lesson explains itself
                    start();
            });
    });
}

void Tour::start()
{
    if (!m_callOut) {
        m_pointer = new Pointer(&m_window);
        m_pointer->setAttribute(Qt::WA_TransparentForMouseEvents);
        m_pointer->setFocusPolicy(Qt::NoFocus);
        m_callOut = new CallOut(&m_window);
        connect(m_callOut, &CallOut::nextAsked, this, [this] { go(m_step + 1); });
        connect(m_callOut, &CallOut::backAsked, this, [this] { go(m_step - 1); });
        connect(m_callOut, &CallOut::endAsked, this, &Tour::end);
        m_window.installEventFilter(this);
        watch();
    }
    go(0);
}

/// With a panel that comes to the front of its tabs, the one that was there stands out of sight, and the window raises
/// its middle over the call-out. A menu keeps the focus when it closes.
void Tour::watch()
{
    for (QDockWidget* dock : m_window.findChildren<QDockWidget*>(Qt::FindDirectChildrenOnly))
        dock->installEventFilter(this);
    if (const auto* window = qobject_cast<QMainWindow*>(&m_window); window && window->centralWidget())
        window->centralWidget()->installEventFilter(this);
    for (const QMenuBar* bar : m_window.findChildren<QMenuBar*>(Qt::FindDirectChildrenOnly))
        for (const QAction* action : bar->actions())
            if (const QMenu* menu = action->menu())
                connect(menu, &QMenu::aboutToHide, this, [this] { QTimer::singleShot(0, this, &Tour::takeFocus); });
}

void Tour::takeFocus()
{
    const QWidget* has = QApplication::focusWidget();
    if (running() && m_window.isActiveWindow() && !QApplication::activePopupWidget()
        && (!has || qobject_cast<const QMenuBar*>(has)))
        m_callOut->next->setFocus(Qt::OtherFocusReason);
}

void Tour::end()
{
    m_step = -1;
    QSettings().setValue(kSeenKey, true);
    if (m_target)
        m_target->removeEventFilter(this);
    m_target = nullptr;
    if (m_callOut)
        m_callOut->hide();
    if (m_pointer)
        m_pointer->hide();
}

void Tour::go(int step)
{
    if (step >= int(m_steps.size()))
        return end();
    if (m_target)
        m_target->removeEventFilter(this);
    m_step = std::max(0, step);
    const TourStep& now = m_steps[size_t(m_step)];
    m_target = m_reveal(now.panel);
    if (m_target)
        m_target->installEventFilter(this);
    m_callOut->show(now, m_step + 1, int(m_steps.size()));
    place();
}

void Tour::place()
{
    if (!running() || !m_callOut)
        return;
    const QRect room = m_window.rect().adjusted(kBesideBubble, kBesideBubble, -kBesideBubble, -kBesideBubble);
    const bool there = m_target && m_target->isVisible() && m_target->window() == &m_window
        && m_window.rect().intersects(QRect(m_target->mapTo(&m_window, QPoint()), m_target->size()));
    const QRect target = there ? QRect(m_target->mapTo(&m_window, QPoint()), m_target->size()) : m_window.rect();
    m_callOut->setGeometry(besides(target, m_callOut->size(), room));
    m_pointer->setGeometry(m_window.rect());
    static_cast<Pointer*>(m_pointer.data())->point(target, m_callOut->geometry(), m_session.theme().accent);
    m_pointer->setVisible(there);
    m_pointer->raise();
    m_callOut->raise();
}

bool Tour::eventFilter(QObject* watched, QEvent* event)
{
    const auto type = event->type();
    if (running() && watched == &m_window && type == QEvent::WindowActivate)
        m_callOut->next->setFocus(Qt::ActiveWindowFocusReason);
    if (running()
        && (type == QEvent::Resize || type == QEvent::Move || type == QEvent::Show || type == QEvent::Hide
            || type == QEvent::ParentChange || type == QEvent::ZOrderChange))
        QTimer::singleShot(0, this, &Tour::place); // the layout is done then
    return QObject::eventFilter(watched, event);
}

} // namespace qs

#include "moc_tour.cpp"
