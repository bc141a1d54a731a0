// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session/details/pair_details.h"
#include "widgets/session/details/shown_place.h"

#include <memory>

namespace qs {

/// The pair of tensors that a view is about, element by element: while it follows the selection, those that views
/// share; while it is pinned, its own.
class PlaceDetails : public QObject {
    Q_OBJECT
public:
    PlaceDetails(Session& session, PairDetails& shared, ShownPlace& place, QObject* parent = nullptr);
    void watch(bool watches); ///< whether somebody looks
    const PairDetails& now() const { return m_own ? *m_own : m_shared; }

signals:
    void changed();

private:
    void choose();

    Session& m_session;
    PairDetails& m_shared;
    ShownPlace& m_place;
    std::unique_ptr<PairDetails> m_own;
    bool m_watches = false;
};

} // namespace qs
