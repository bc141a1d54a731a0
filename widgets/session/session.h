// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/project/snapshot/build_snapshot.h"
#include "widgets/models/base/metric.h"
#include "widgets/session/history/kept_snapshots.h"
#include "widgets/session/history/recipe_history.h"
#include "widgets/session/history/run_estimate.h"
#include "widgets/session/history/run_list.h"
#include "widgets/session/jobs/job_list.h"
#include "widgets/session/kept_session.h"
#include "widgets/session/opening.h"
#include "widgets/session/shown/numbers_age.h"
#include "widgets/session/shown/selection.h"
#include "widgets/session/shown/suggestion.h"
#include "widgets/session/shown/theme.h"
#include "widgets/session/undescribed_pictures.h"
#include "widgets/session/work_content.h"

#include <QObject>
#include <QTimer>

#include <functional>
#include <optional>

namespace qs {

/// buildSnapshot, or a test's substitute. Only ever called on a worker thread.
using BuildFn = std::function<Result<SnapshotPtr>(const Inputs& inputs, const SnapshotPtr& previous,
    const ProgressFn& progress, const CancelToken& cancel, const PartialFn& partial)>;

/// What one window works on: the current snapshot, the recipe, the selection, the jobs. Opening anything, and an edit
/// of the recipe, starts a job with the tag "compare"; what was shown stays until its result is there, and stays when
/// it fails. A result whose recipe is not the current one any more is never shown.
/// What opens and saves files lies in files/, what exports in export/, what works on the recipe in recipe/.
class Session : public QObject {
    Q_OBJECT
public:
    explicit Session(BuildFn build, QObject* parent = nullptr);
    ~Session() override;

    /// Never null; an empty Snapshot at the start.
    SnapshotPtr snapshot() const { return m_snapshot; }
    const Comparison* comparison() const;
    Selection& selection() { return m_selection; }
    bool placeSuggested() const { return m_suggestion.shown(); } ///< nobody chose what is selected
    /// The compared tensor that is selected; null: none is, or a weight.
    const ActivationRow* selectedActivation() const { return activationAt(m_selection.current()); }
    /// The same of another place of the snapshot.
    const ActivationRow* activationAt(const Place& place) const;
    const WeightRow* weightAt(const Place& place) const;
    JobList& jobs() { return m_jobs; }
    RecipeHistory& recipe() { return m_history; } ///< how it is changed, with the undo stack
    RunList& runs() { return m_runs; }
    const RunList& runs() const { return m_runs; }
    const NumbersAge& numbers() const { return m_numbers; } ///< whether those that are shown are of the recipe as it is

    Metric metric() const { return m_metric; }
    void setMetric(Metric metric);
    const Theme& theme() const { return m_theme; }
    void setTheme(const Theme& theme);

    /// With a recipe that is the one to go on from. Without a quantized file the default recipe makes the quantized
    /// model as soon as there are data.
    void openInputs(const Inputs& inputs) { open(openingOf(inputs)); }
    Opening openingOf(const Inputs& inputs) const;
    void open(const Opening& opening);
    /// What is to be opened is found out by a job first.
    void lookAt(const QString& title, std::function<Result<std::function<void()>>(const JobContext&)> process);
    void reload(); ///< reads everything again
    /// That the recipe which was read from the quantized file makes another model than the file is; nothing where it
    /// does not. `what`: the words for that model.
    std::optional<Issue> otherModelThanFile(const QString& what) const;
    const std::vector<std::string>& otherwise() const { return m_open.otherwise; } ///< the sentences of that
    const Inputs& files() const { return m_open.inputs; } ///< that are open, whatever the recipe makes of them
    /// On: pictures are left out where nobody said how they are prepared, and picturesUndescribed() asks. Off: opening
    /// them fails.
    void setAsksForPictures(bool on) { m_asksForPictures = on; }
    /// That are being opened, else those that are open.
    const Inputs& wantedFiles() const { return m_opening ? m_opening->files : m_open.inputs; }
    const std::map<std::string, FileMark>& fileMarks() const { return m_open.marks; } ///< as far as they were read

    /// Something that a project holds is in no file: it would be lost with the session.
    bool unsaved() const { return m_unsaved; }
    /// File that the work was opened from or saved to; empty: none.
    const QString& project() const { return m_open.project; }
    /// Of that file as it was opened or saved here; another one means that somebody else saved it since.
    const std::string& projectHash() const { return m_open.projectHash; }
    void noteProject(const std::string& hash) { m_open.projectHash = hash; }
    WorkContent content() const; ///< as it is now
    /// This content is what the project file holds.
    void setSaved(const QString& project, const WorkContent& content, const std::map<std::string, FileMark>& marks);
    void forgetUnsaved(); ///< nobody wants what is not saved
    /// Asked before unsaved work gives way to other models; calls `proceed` now, later or never. None: nobody is asked.
    using Guard = std::function<void(std::function<void()> proceed)>;
    void setGuard(Guard guard) { m_guard = std::move(guard); }
    /// What was open before, the latest first: each opening of other models or data adds one.
    size_t formers() const { return m_formers.size(); }
    const Inputs& former(size_t i) const { return m_formers[i].files; }
    /// With recipe, runs and steps of undo as they were; what is open now is the latest former then.
    void openFormer(size_t i = 0);
    /// Lends the session to a guest, such as a lesson: what is open is set aside, and nothing that the guest does is
    /// work that could be unsaved, is kept or is asked about.
    void beginGuest();
    /// Gives back exactly what was open before, at once, whatever has become of the files meanwhile.
    void endGuest();
    bool guest() const { return m_setAside.has_value(); }
    const KeptSession* setAside() const { return m_setAside ? &*m_setAside : nullptr; } ///< null: there is no guest
    /// What was shown before the guest came; what is shown where there is none.
    SnapshotPtr ownSnapshot() const { return m_setAside ? m_setAside->complete : m_snapshot; }
    /// After filesSwapped(): each in the other's place, or as they were given.
    void openSwapped();
    void openAsGiven();

    enum class Work {
        Settled, ///< what is shown is what the recipe gives
        Opening,
        Running, ///< the recipe on the files that are open
        Waiting, ///< for run(): an edit whose numbers are not there and that was not run by itself
    };
    Work work() const;
    bool busy() const { return m_jobs.running(kCompareTag); }
    bool needsRun() const { return work() == Work::Waiting; }
    /// Off: edits wait for run(). On: those that are expected to take less than kAutoRunMs run by themselves.
    void setAutoRun(bool on);
    bool autoRun() const { return m_autoRun; }
    /// Milliseconds that the recipe as it is now would take; nothing while that is not known.
    std::optional<double> expectedMs() const;
    void run(); ///< the recipe as it is now
    void cancel(); ///< the running comparison
    /// Makes the recipe of a run the current one, as one step of undo; the next run is its child.
    void restoreRun(RunId id);
    /// Measures at the outputs what the remedies of the findings gain, each alone; the findings hold it then. failed()
    /// where no recipe stands for the quantized file.
    void tryRemedies();
    bool canTryRemedies() const; ///< there are some, and nobody tried them
    /// On: that happens by itself for the first few findings, with half of the threads, while nothing else is asked
    /// for.
    void setAutoTry(bool on);
    bool autoTry() const { return m_autoTry; }

    static inline const QString kCompareTag = QStringLiteral("compare");
    static inline const QString kRemediesTag = QStringLiteral("remedies");
    static inline const QString kSizeTag = QStringLiteral("size");
    static constexpr double kAutoRunMs = 2000;

signals:
    /// For selections of their own, before anybody is told of the new snapshot; nobody else is to be told anything.
    void placesToFollow(const qs::SnapshotPtr& now);
    void snapshotChanged(const qs::SnapshotPtr& now, const qs::SnapshotPtr& before);
    void metricChanged(qs::Metric metric);
    void themeChanged();
    void failed(const qs::Issue& issue);
    void told(const qs::Issue& issue); ///< nothing failed: what is to be known of what was done
    void cancelled(); ///< a comparison was stopped by the user; the snapshot is the last complete one, if there is any
    void settled(); ///< after success, failure or cancellation of the newest comparison
    void needsRunChanged(bool needs);
    void projectSaved(const QString& path);
    void layoutFound(const QString& layout); ///< of a project that was opened
    void projectOpened(const QString& path);
    /// Of a project that is being opened; an issue follows. `located`: files that were found elsewhere.
    void modelMissing(const QString& project, const QString& model, const std::map<QString, QString>& located);
    void filesChanged(const qs::Issue& issue); ///< of a project that was opened, since it was saved
    void recovered(const QString& path); ///< work that was kept is open again; it is unsaved still
    void workChanged(); ///< content(), or whether it is saved
    /// The float model that was to be opened is quantized and the quantized one is not: what was open stays.
    void filesSwapped(const qs::Issue& issue);
    void written(const QString& path); ///< what was exported
    void notWritten(); ///< an export or a project; failed() said why
    /// With setAsksForPictures(): all else of what was to be opened is open now.
    void picturesUndescribed(const qs::UndescribedPictures& pictures);
    void autoRunChanged(bool on);
    void autoTryChanged(bool on);

private:
    void begin(const Opening& opening, const SnapshotPtr& previous);
    Opening formerOpening() const;
    void noteFormer(const Opening& next);
    void holdSwapped();
    void noteWork();
    Inputs inputsNow() const;
    void start(const Inputs& inputs, const SnapshotPtr& previous);
    void succeed(const SnapshotPtr& snapshot, const RunNumbers& numbers);
    void tellOpened(const Opening& opening, bool untouched);
    void fail(const Issue& issue);
    void stop(); ///< the user cancelled
    void drop(); ///< the running comparison, whose result nobody wants any more
    void recipeEdited();
    void catchUp(const std::optional<Opening>& ended); ///< with edits of what stays open
    void adopt(const Opening& opening, const Snapshot& snapshot);
    void forgetChanged(const Opening& opening);
    void show(const SnapshotPtr& complete, const std::optional<RunNumbers>& numbers);
    void readRecipe(); ///< of the quantized file that is open
    void editAgain(const Reread& before); ///< what was done to the recipe of the file before it was read again
    void findFileBytes();
    void tellOtherwise();
    void tryLater();
    void tryFirst(size_t most, size_t threads, bool asked);
    void updateEditable(bool otherModels);
    void publish(const SnapshotPtr& snapshot);
    void tellWork();
    void tellNumbers();

    BuildFn m_build;
    SnapshotPtr m_snapshot;
    SnapshotPtr m_complete; ///< last one that is not partial; what the next job starts from
    SnapshotPtr m_tried; ///< the last one whose remedies were tried
    OpenFiles m_open; ///< that the recipe belongs to
    std::optional<Opening> m_opening; ///< what the running job opens
    std::optional<Opening> m_swapped; ///< what was held for openSwapped()
    std::vector<Opening> m_formers;
    std::optional<WorkContent> m_saved; ///< what is in a file, or was there when untitled work began; none: recovered
    bool m_unsaved = false;
    std::optional<KeptSession> m_setAside; ///< while a guest has the session
    Guard m_guard;
    std::optional<UndescribedPictures> m_undescribed; ///< left out of it
    std::optional<Reread> m_reread; ///< until the recipe of the quantized file is there
    RecipeHistory m_history;
    RunList m_runs;
    KeptSnapshots m_kept;
    RunEstimate m_estimate;
    quint64 m_newest = 0; ///< number of the newest job; what older ones bring is dropped
    QTimer m_sizeTimer; ///< until what is shown stays for a moment
    Work m_told = Work::Settled; ///< when needsRunChanged() was last considered
    bool m_asksForPictures = false;
    bool m_autoRun = true;
    bool m_autoTry = false;
    QTimer m_tryTimer; ///< until what was asked for before is under way
    Metric m_metric = Metric::Accumulated;
    Theme m_theme = Theme::light();
    NumbersAge m_numbers;
    Selection m_selection;
    Suggestion m_suggestion { m_selection };
    JobList m_jobs;
};

} // namespace qs

Q_DECLARE_METATYPE(qs::SnapshotPtr)
Q_DECLARE_METATYPE(qs::Issue)
Q_DECLARE_METATYPE(qs::Metric)
Q_DECLARE_METATYPE(qs::UndescribedPictures)
