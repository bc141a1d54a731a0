// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/arithmetic/element_stepper.h"

#include <algorithm>

namespace qs {

namespace {

constexpr int kInterval = 350; ///< milliseconds from one to the next
constexpr int kMostTicks = 80; ///< that playing all terms takes

} // namespace

ElementStepper::ElementStepper(QObject* parent)
    : QObject(parent)
{
    m_timer.setInterval(kInterval);
    connect(&m_timer, &QTimer::timeout, this, &ElementStepper::advance);
}

void ElementStepper::setLength(int terms, int steps)
{
    m_terms = terms;
    m_steps = steps;
    showAll();
}

void ElementStepper::goTo(int position)
{
    m_position = std::clamp(position, -1, length() - 1);
    m_stepping = length() > 0;
    emit changed();
}

void ElementStepper::toStart() { goTo(-1); }

void ElementStepper::back() { goTo(m_stepping ? m_position - 1 : length() - 2); }

void ElementStepper::forward() { goTo(m_stepping ? m_position + 1 : 0); }

void ElementStepper::showAll()
{
    m_timer.stop();
    m_stepping = false;
    m_position = length() - 1;
    emit changed();
}

void ElementStepper::play(bool on)
{
    if (!on || length() == 0) {
        m_timer.stop();
        emit changed();
        return;
    }
    if (!m_stepping || m_position + 1 >= length())
        toStart();
    m_timer.start();
    emit changed();
}

/// Many terms go by several at a time, steps one by one.
void ElementStepper::advance()
{
    const int stride = std::max(1, m_terms / kMostTicks);
    const int next = isTerm(m_position + 1) ? std::min(m_position + stride, m_terms - 1) : m_position + 1;
    if (next >= length() - 1)
        m_timer.stop();
    goTo(next);
}

} // namespace qs

#include "moc_element_stepper.cpp"
