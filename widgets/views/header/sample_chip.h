// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPushButton>

namespace qs {

class Session;

/// Says that what stands below is of one sample alone, or the opposite, and leads back to all of them. Hidden while no
/// sample is chosen.
class SampleChip : public QPushButton {
    Q_OBJECT
public:
    enum class Shows {
        OneSample, ///< the numbers below are of the chosen sample
        AllSamples, ///< they are of all samples, although the graph is coloured for one
    };
    SampleChip(Session& session, Shows shows, QWidget* parent = nullptr);
    QSize minimumSizeHint() const override; ///< a narrow header cuts it

private:
    void refresh();

    Session& m_session;
    const Shows m_shows;
};

/// The name of the chosen sample; "" where none is chosen or nothing is compared.
QString chosenSample(Session& session);

} // namespace qs
