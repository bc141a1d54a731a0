// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session/session.h"

#include <QWidget>

#include <string>

class QComboBox;

namespace qs {

/// What a recipe for weights in blocks says of one node's weight in particular: type and block size, or as for all.
class NodeBlocks : public QWidget {
    Q_OBJECT
public:
    explicit NodeBlocks(Session& session, QWidget* parent = nullptr);
    /// A node of the recipe; "" hides it, as another format does.
    void show(const std::string& node);

private:
    void apply();

    Session& m_session;
    std::string m_node;
    QComboBox *m_type, *m_size;
};

} // namespace qs
