# ---- what follows is the same in every job (jobs/lib/job.sh) ----
#
# One sitting: runs the program, or goes on from the newest whole checkpoint in the run folder. Before the time limit Slurm
# sends SIGUSR1 to this script; then the program saves a checkpoint, and the script has Slurm queue the job again. What the
# job does is in job-state.json, which `tactus status` reads.

state_file=$folder/job-state.json
log=$folder/slurm-${SLURM_ARRAY_JOB_ID:-${SLURM_JOB_ID:-0}}${SLURM_ARRAY_TASK_ID:+_$SLURM_ARRAY_TASK_ID}.out
job=${SLURM_ARRAY_JOB_ID:-${SLURM_JOB_ID:-0}}${SLURM_ARRAY_TASK_ID:+_$SLURM_ARRAY_TASK_ID}
warned='' ended='' child='' nag='' code=0 words=''

# json_key FILE KEY: the value of a key on a line of its own, without its quotes; nothing if there is none.
json_key() {
    [ -r "$1" ] && sed -n "s/^  \"$2\": \"\{0,1\}\(.*[^,\"]\)\"\{0,1\},\{0,1\}\$/\1/p" "$1" | head -n 1
}

# whole KEY DEFAULT: a whole number that the sitting before has left.
whole() {
    local value
    value=$(json_key "$state_file" "$1")
    case $value in '' | *[!0-9]*) value=$2 ;; esac
    printf '%s' "$value"
}

# tell STATE [REASON]: what the job does now. Bytes that JSON might not take become '?'.
tell() {
    local LC_ALL=C reason=${2-}
    reason=${reason//[!\ -~]/?}
    reason=${reason//\\/\\\\}
    reason=${reason//\"/\\\"}
    printf '{\n  "format": "tactus-job-state/1",\n  "job": "%s",\n  "state": "%s",\n  "reason": "%s",\n  "tries": %d,\n  "failures": %d,\n  "sittings": %d,\n  "from": "%s",\n  "stopped_at": "%s",\n  "node": "%s",\n  "updated": %d\n}\n' \
        "$job" "$1" "${reason:0:2000}" "$tries" "$failures" "$sittings" "$from" "$stopped_at" "${HOSTNAME-}" "$(date +%s)" \
        >"$state_file.tmp" && mv -f "$state_file.tmp" "$state_file"
    printf 'job %s: %s%s\n' "$job" "$1" "${2:+: $2}"
}

# newest: the name of the newest checkpoint in the folder; nothing if there is none.
newest() {
    local path number most=-1 found=
    for path in "$folder"/checkpoint-*.h5; do
        number=${path##*/checkpoint-}
        number=${number%.h5}
        case $number in '' | *[!0-9]*) continue ;; esac
        [ $((10#$number)) -gt $most ] && most=$((10#$number)) && found=${path##*/}
    done
    printf '%s' "$found"
}

# sentence: the last sentence with which the program ended, of those that it wrote to the log since $log_start bytes.
sentence() {
    tail -c "+$((log_start + 1))" "$log" 2>/dev/null | sed -n '/^tactus: warning: /d; s/^tactus: //p' | tail -n 1
}

# On SIGUSR1, the warning, and on SIGTERM, the end, the program shall save a checkpoint and stop. Whatever starts the ranks
# passes SIGUSR1 on to them. The signal is repeated, because it has no effect while the ranks are being started.
stop_child() {
    [ -n "$child" ] && [ -z "$nag" ] || return 0
    (while kill -s USR1 "$child" 2>/dev/null; do sleep 3; done) &
    nag=$!
}
trap 'warned=yes; stop_child' USR1
trap 'ended=yes; stop_child' TERM

# await PID: waits until the process has ended, also where signals come; its exit code is in $code.
await() {
    local got
    code=127
    while :; do
        wait "$1"
        got=$?
        [ $got = 127 ] && break # it was waited for already
        code=$got
        kill -0 "$1" 2>/dev/null || { # a signal may have ended the wait just before the process ended
            wait "$1"
            got=$?
            [ $got = 127 ] || code=$got
            break
        }
    done
}

# run_once: one run of the program; its exit code is in $code, its last sentence in $words.
run_once() {
    local arguments
    from=$(newest)
    tries=$((tries + 1))
    if [ -n "$from" ]; then
        arguments=(--restart "$folder")
    elif [ -e "$folder/status.json" ]; then # it was ended before its first checkpoint
        arguments=("$scene" -o "$folder" --overwrite "${settings[@]}")
    else
        arguments=("$scene" -o "$folder" "${settings[@]}")
    fi
    tell running "try $tries${from:+, from $from}"
    log_start=$(stat -c %s "$log" 2>/dev/null || echo 0)
    # SIGUSR1 is without effect until the program listens; else it would end the ranks that it reaches too early.
    # shellcheck disable=SC2016 # the shells that are started expand "$@"
    sh -c 'trap "" USR1; exec "$@"' sh "${launch[@]}" sh -c 'trap "" USR1; exec "$@"' sh \
        "$program" run "${arguments[@]}" "${options[@]}" </dev/null &
    child=$!
    [ -z "$warned$ended" ] || stop_child
    await "$child"
    child=
    if [ -n "$nag" ]; then
        kill "$nag" 2>/dev/null
        wait "$nag" 2>/dev/null
        nag=
    fi
    words=$(sentence)
}

# choose_launcher: fills the array launch.
choose_launcher() {
    launch=()
    if [ "$launcher" = auto ]; then
        if [ "$ntasks" = 1 ]; then return; fi # one process needs no launcher
        launcher=mpirun
        if command -v srun >/dev/null && [[ " $(srun --mpi=list 2>&1 | tr '\n' ' ') " == *pmix* ]]; then
            launcher=srun
        fi
    fi
    # If one rank dies, the others wait for it: they are ended after ten seconds. They are not ended at once, because all
    # ranks of a run that is stopped end with a code that is not 0.
    case $launcher in
    srun) launch=(srun --mpi=pmix --kill-on-bad-exit=0 --wait=10 --ntasks="$ntasks") ;;
    *) launch=(mpirun -n "$ntasks") ;;
    esac
    if ! command -v "${launch[0]}" >/dev/null; then
        finish 2 failed "${launch[0]} is not there, so $ntasks processes cannot be started; load your MPI's module with --setup 'module load ...' of jobs/submit"
    fi
}

# finish CODE STATE REASON: the job ends, and is not queued again.
finish() {
    tell "$2" "$3"
    exit "$1"
}

# pause SECONDS: ends early if a signal comes.
pause() {
    sleep "$1" &
    wait $!
    kill $! 2>/dev/null
}

# failed_try WHY: a try failed, but the next may not: back-off, or the end if too many failed without a new checkpoint.
failed_try() {
    local wait_s
    if [ "$(newest)" != "$from" ]; then failures=0; fi
    failures=$((failures + 1))
    if [ "$failures" -ge "$most_tries" ]; then
        finish 1 failed "tried $failures times from ${from:-the start} without a new checkpoint, so it is not tried again; the last try: $1"
    fi
    wait_s=900
    if [ "$failures" -le 10 ] && [ $((retry_wait_s << (failures - 1))) -lt 900 ]; then wait_s=$((retry_wait_s << (failures - 1))); fi
    [ -z "$warned$ended" ] || return 0 # no time is left to wait
    tell waiting "$1; it is tried again in $wait_s s ($failures of $most_tries tries have failed)"
    pause "$wait_s"
}

# queue_again WHY: the next sitting.
queue_again() {
    local said id
    if [ "$sittings" -ge "$most_sittings" ]; then
        finish 1 stopped "it had $sittings sittings, the most that it may have (--sittings); it goes on with: $again"
    fi
    tell requeued "$1"
    trap '' TERM USR1 # Slurm ends this script for the requeue
    if said=$(scontrol requeue "$SLURM_JOB_ID" 2>&1); then
        exit 75
    fi
    # Where a site forbids it, a new job goes on in the folder.
    if id=$(sbatch --parsable ${SLURM_ARRAY_TASK_ID:+--array="$SLURM_ARRAY_TASK_ID"} --chdir="$home" "$home/job.sbatch" 2>&1); then
        job=${id%%;*}${SLURM_ARRAY_TASK_ID:+_$SLURM_ARRAY_TASK_ID}
        tell requeued "$1; as Slurm did not requeue the job ($said), job $job goes on with it"
        exit 75
    fi
    finish 1 stopped "Slurm would not queue it again ($said; $id); it goes on with: $again"
}

# limit_hit: has the time limit come, at which Slurm ends a job with SIGTERM too?
limit_hit() {
    [ -n "$limit_s" ] && [ "$(date +%s)" -ge $((limit_s - 5)) ]
}

# at_stop: the program has stopped with a checkpoint, or was ended, by a signal that this script has heard.
at_stop() {
    local now
    if [ -n "$ended" ] && ! limit_hit; then
        finish 75 stopped "Slurm ended the job, because it was cancelled or preempted; it goes on with: $again"
    fi
    now=$(json_key "$folder/status.json" time)
    # A sitting that is too short for any progress would repeat for ever.
    if [ "$now" = "$stopped_at" ]; then failures=$((failures + 1)); else failures=0; fi
    stopped_at=$now
    if [ "$failures" -ge "$most_tries" ]; then
        finish 1 failed "$failures sittings ended at t = $now s without any progress, so it is not queued again; ask for a longer --time or a shorter --warn"
    fi
    queue_again "the time limit was near${now:+ at t = $now s}"
}

# judge: what the exit code means for the job.
judge() {
    local died="the program ended with code $code${words:+: $words}"
    if [ "$code" = 0 ]; then
        # srun and mpirun may end with code 0 after a node has failed under the ranks; the run itself says how it ended.
        if [ "$(json_key "$folder/status.json" state)" = finished ]; then finish 0 finished ""; fi
        died="the program ended with code 0, but before the run's end (a node that fails?)"
    fi
    case $code in
    75)
        [ -z "$warned$ended" ] || at_stop
        finish 75 stopped "${words:-the program was stopped by a signal}; it goes on with: $again"
        ;;
    2)
        case $words in
        *"is still writing to"*) failed_try "$died" ;;
        *) finish 2 failed "not tried again, because the same would happen again: ${words:-exit code 2}" ;;
        esac
        ;;
    3)
        # Only what lies outside of the program may be otherwise the next time: the trajectory is always the same.
        case $words in
        *"MPI failed"* | *"Input/output error"* | *"Stale file handle"* | *"Remote I/O error"* | *"timed out"* | *"Transport endpoint"* | *"Communication error"* | *"Connection"* | '') failed_try "$died" ;;
        *) finish 3 failed "not tried again, because the same would happen again: $words" ;;
        esac
        ;;
    126 | 127) finish 2 failed "not tried again, because the same would happen again: $program or ${launch[0]-sh} could not be started" ;;
    *)
        if [ -n "$ended" ] && ! limit_hit; then at_stop; fi
        failed_try "$died"
        ;;
    esac
}

main() {
    local before
    mkdir -p "$folder" && cd "$folder" || exit 2
    if [ "$own_log" = yes ]; then exec >>"$log" 2>&1; fi
    tries=$(whole tries 0)
    failures=$(whole failures 0)
    sittings=$(($(whole sittings 0) + 1))
    from=$(json_key "$state_file" from)
    stopped_at=$(json_key "$state_file" stopped_at)
    before=$(json_key "$state_file" state)
    limit_s=$(squeue -h -j "${SLURM_JOB_ID:-0}" -o %e 2>/dev/null | head -n 1)
    case $limit_s in
    [0-9]*T*) limit_s=$(date -d "$limit_s" +%s 2>/dev/null) || limit_s='' ;;
    *) limit_s='' ;; # of an empty text, date would make midnight
    esac
    # The sitting before ended without a word: its node failed, say, and Slurm has queued the job again.
    case $before in running | waiting)
        if [ "$(newest)" != "$from" ]; then failures=0; fi
        failures=$((failures + 1))
        if [ "$failures" -ge "$most_tries" ]; then
            finish 1 failed "$failures tries from ${from:-the start} ended without a new checkpoint, the last one without a word (a node that fails?), so it is not tried again"
        fi
        ;;
    esac
    choose_launcher
    while :; do
        if [ -n "$warned$ended" ]; then at_stop; fi
        run_once
        judge
    done
}

setup
set -u
main
