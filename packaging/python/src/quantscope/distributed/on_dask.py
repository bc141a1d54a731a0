# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs on a Dask cluster. Only paths and small values go through its scheduler."""

from __future__ import annotations

import contextlib
import os
import uuid
from dataclasses import dataclass
from typing import Any, Dict, Iterator, List, Optional, Tuple

from ..comparison import Comparison, missed_limits
from ..errors import BadInput, BadUse, Cancelled, Error, InternalError, ThresholdMissed
from ..paths import FilePath
from ..progress import Bar, Progress, ProgressCall
from ..workspace import Workspace
from .calibration import CalibrationJob, options_of_calibration
from .comparing import ComparisonJob
from .job import Job, Stop, check_folder

_SHARDS_A_WORKER = 4
_SECONDS_TO_STOP = 5
_NOT_IN_MEMORY = 1 << 62  # bytes


@dataclass(frozen=True)
class _Outcome:
    """Of one shard: its file, or what the program says against it. Not raised on the worker: trying again would not
    help."""

    path: Optional[str] = None
    error: Optional[Error] = None


def _shard(index: int, job: Job, stop: Stop, step: str) -> _Outcome:
    """On a worker."""
    try:
        return _Outcome(getattr(job, step)(index, stop))
    except (BadUse, BadInput, Cancelled) as error:
        return _Outcome(error=type(error)(f"{job.part} {index} of {job.shards}: {error.message}"))


def _import_distributed() -> Any:
    try:
        import distributed
    except ImportError as error:
        raise ImportError("shards on Dask need it; install it with `pip install quantscope[distributed]`") from error
    return distributed


@contextlib.contextmanager
def _client_of(given: Any, workers: Optional[int]) -> Iterator[Any]:
    """A client that is given, one of a cluster or a scheduler's address, or one of processes on this machine."""
    distributed = _import_distributed()
    with contextlib.ExitStack() as stack:
        if given is None:
            cluster = distributed.LocalCluster(
                n_workers=workers or os.cpu_count(), threads_per_worker=1, processes=True, dashboard_address=None
            )
            given = stack.enter_context(cluster)
        if not isinstance(given, distributed.Client):
            given = stack.enter_context(distributed.Client(given, set_as_default=False))
        stack.enter_context(given.as_current())
        yield given


def _slots(client: Any) -> int:
    """Threads of all workers."""
    return sum(client.nthreads().values()) or 1


def _result(future: Any, index: int, job: Job) -> _Outcome:
    """Raises what ends the whole."""
    distributed = _import_distributed()
    try:
        outcome: _Outcome = future.result()
    except distributed.scheduler.KilledWorker as error:
        raise InternalError(
            f"{job.part} {index} of {job.shards}: each worker that took it was lost; where they lack memory, use more "
            "shards, or fewer at a time on each machine"
        ) from error
    if outcome.error is not None:
        raise outcome.error
    return outcome


def _run(
    client: Any, job: Job, retries: int, tell: Optional[ProgressCall], phase: str, step: str = "run"
) -> List[Optional[str]]:
    """One step of all shards, and the files they wrote. Whatever is raised meanwhile ends all shards first."""
    distributed = _import_distributed()
    stop = Stop(os.path.join(job.folder, f"{job.key}-stop-{uuid.uuid4().hex[:8]}"))
    futures = [client.submit(_shard, i, job, stop, step, pure=False, retries=retries) for i in job]
    index_of = {future.key: index for index, future in zip(job, futures)}
    try:
        for done, future in enumerate(distributed.as_completed(futures), 1):
            _result(future, index_of[future.key], job)
            if tell is not None:
                tell(phase, done, len(futures))
        return [_result(future, index, job).path for index, future in zip(job, futures)]
    except BaseException:
        with open(stop.path, "w"):
            pass
        with contextlib.suppress(Exception):
            distributed.wait(futures, timeout=_SECONDS_TO_STOP)
        raise
    finally:
        client.cancel([future for future in futures if not future.done()])
        with contextlib.suppress(OSError):
            os.remove(stop.path)


def _run_tree(
    client: Any, job: Job, states: List[Optional[str]], retries: int, tell: Optional[ProgressCall]
) -> List[Optional[str]]:
    """Adds up neighbours until they are few enough to be read at once. Other files for the same shards."""
    sums = job.sums(states)
    while sums is not None:
        states = _run(client, sums, retries, tell, "merge")
        sums = job.sums(states)
    return states


def _folder_of(folder: Optional[FilePath], keep: bool) -> Tuple[str, Optional[Workspace]]:
    """Where files of shards go, and what removes it (None: nobody)."""
    if keep and folder is None:
        raise BadUse("keep=True needs a folder for the state files; give folder=")
    if keep:
        assert folder is not None
        return check_folder(folder), None
    own = Workspace(_NOT_IN_MEMORY, None if folder is None else check_folder(folder))
    return own.path, own


def _calibrate(client: Any, job: CalibrationJob, retries: int, tell: Optional[ProgressCall]) -> List[Optional[str]]:
    """All rounds of all shards, and the files they wrote."""
    states = _run_tree(client, job, _run(client, job, retries, tell, "calibrate"), retries, tell)
    if not job.has_second_round():
        return states
    job = job.with_sums([path for path in states if path])
    return states + _run_tree(client, job, _run(client, job, retries, tell, "histograms", "count"), retries, tell)


def _with_calibration(
    client: Any,
    float_model: FilePath,
    data: Optional[FilePath],
    shards: int,
    folder: str,
    options: Dict[str, Any],
    retries: int,
    tell: Optional[ProgressCall],
) -> Dict[str, Any]:
    """Options of a comparison by recipe with the calibration that its shards share. As they are where the recipe is not
    calibrated, or changes the model first, so that each shard does so with all samples."""
    of_calibration = options_of_calibration(options)
    if of_calibration is None:
        return options
    job = CalibrationJob.of(float_model, data, shards=shards, folder=folder, **of_calibration)
    cache = os.path.join(job.folder, f"{job.key}-all.qscalib")
    if not os.path.exists(cache):
        try:
            job.merge_cache(_calibrate(client, job, retries, tell), cache)
        except BadUse:  # not for this recipe or model; what is wrong with more than that, a comparison says again
            return options
    return {**options, "calibration_cache": cache}


@contextlib.contextmanager
def _told(progress: Progress) -> Iterator[Optional[ProgressCall]]:
    call = Bar() if progress is True else progress if callable(progress) else None
    try:
        yield call
    finally:
        if isinstance(call, Bar):
            call.close()


def compare(
    float_model: FilePath,
    quantized_model: Optional[FilePath] = None,
    data: Optional[FilePath] = None,
    *,
    client: Any = None,
    workers: Optional[int] = None,
    shards: Optional[int] = None,
    folder: Optional[FilePath] = None,
    keep: bool = False,
    retries: int = 2,
    progress: Progress = None,
    raise_on_threshold: bool = False,
    **options: Any,
) -> Comparison:
    """quantscope.compare over shards of the data; its numbers equal those of one run in every bit, on machines whose
    CPUs have the same vector instructions.

    `data`: a path that all workers see; each reads its own part. `client`: of Dask, its cluster, or the address of a
    scheduler (None: `workers` processes on this machine). `shards`: parts of the data (None: four for each thread of a
    worker).
    `folder`: for state files, seen by all workers and by this process; they are removed when the result is closed.
    With `keep` they stay in it, and a later call with the same files and options goes on with those that are there.
    `retries`: of a shard whose program broke down; shards of lost workers are run again by others. `threads` are those
    of each shard (1). Other options are those of quantscope.compare; reports and limits are of the whole. A recipe in
    place of `quantized_model` is calibrated in shards first, and once.
    """
    with _client_of(client, workers) as cluster:
        place, own = _folder_of(folder, keep)
        try:
            count = shards or _SHARDS_A_WORKER * _slots(cluster)
            job = ComparisonJob.of(float_model, quantized_model, data, shards=count, folder=place, **options)
            with _told(progress) as tell:
                if quantized_model is None:
                    options = _with_calibration(cluster, float_model, data, count, place, options, retries, tell)
                job = ComparisonJob.of(float_model, quantized_model, data, shards=count, folder=place, **options)
                states = _run_tree(cluster, job, _run(cluster, job, retries, tell, "compare"), retries, tell)
            result = job.merge(states, own)
        except BaseException:
            if own is not None:
                own.close()
            raise
    if result.threshold_missed and raise_on_threshold:
        result.close()
        raise ThresholdMissed(missed_limits(result.text))
    return result


def calibrate(
    float_model: FilePath,
    data: Optional[FilePath],
    out: FilePath,
    *,
    client: Any = None,
    workers: Optional[int] = None,
    shards: Optional[int] = None,
    folder: Optional[FilePath] = None,
    keep: bool = False,
    retries: int = 2,
    progress: Progress = None,
    **options: Any,
) -> str:
    """Writes the ranges over all samples, in every bit those of `quantscope-cli quantize --save-ranges`, for
    `quantscope.quantize(float_model, quantized_model, ranges=out, ...)`. Returns the path.

    `data`: a path that all workers see; each reads its own part. Methods with histograms take a second round over it.
    Options are those of quantscope.quantize, the same as are given to it afterwards; the others are as of compare().
    """
    with _client_of(client, workers) as cluster:
        place, own = _folder_of(folder, keep)
        try:
            count = shards or _SHARDS_A_WORKER * _slots(cluster)
            job = CalibrationJob.of(float_model, data, shards=count, folder=place, **options)
            with _told(progress) as tell:
                return job.merge(_calibrate(cluster, job, retries, tell), out)
        finally:
            if own is not None:
                own.close()
