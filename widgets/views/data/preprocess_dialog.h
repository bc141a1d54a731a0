// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session/session.h"
#include "widgets/views/data/picture_look.h"

#include <QDialog>

class QLabel;
class QLineEdit;
class QPushButton;
class QTableWidget;

namespace qs {

class PreprocessForm;

/// How the pictures of a folder become what the model takes: chosen, seen before and after, held against what is known
/// of the input, and kept in a file. Reads pictures by jobs of the session.
class PreprocessDialog : public QDialog {
    Q_OBJECT
public:
    PreprocessDialog(Session& session, const UndescribedPictures& pictures, QWidget* parent = nullptr);
    ~PreprocessDialog() override;
    PreprocessForm& form() const { return *m_form; }
    QTableWidget* statistics() const { return m_table; }
    QLineEdit* path() const { return m_path; }
    bool looked() const { return m_looked; } ///< what is drawn is what the fields say

signals:
    /// The file is written.
    void described(const qs::UndescribedPictures& pictures);

private:
    QWidget* makePreview();
    QLayout* makeFooter();
    void beginWithFile();
    void readFolder();
    void look();
    void show(const PictureLook& look);
    void fillTable();
    void say(const QString& message, bool wrong);
    void accept() override;

    Session& m_session;
    UndescribedPictures m_pictures;
    std::shared_ptr<const ReadPictures> m_read;
    std::vector<ChannelStatistics> m_statistics;
    std::vector<StatisticsRow> m_known;
    bool m_looked = false;
    PreprocessForm* m_form;
    QLabel *m_folder, *m_message, *m_verdict;
    std::vector<QLabel*> m_before, m_after;
    QTableWidget* m_table;
    QLineEdit* m_path;
    QPushButton* m_open = nullptr;
};

/// Where the description of a folder's pictures is kept if nobody says otherwise: beside the folder, else beside the
/// model, else with the program's own files.
QString descriptionPath(const QString& folder, const QString& model);

/// Shows the dialog, and opens the pictures with what was chosen. Does not block.
PreprocessDialog* askForPreprocess(Session& session, const UndescribedPictures& pictures, QWidget* parent);

} // namespace qs
