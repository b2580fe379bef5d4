# bash completion of tactus, written by packaging/generate
_tactus() {
    local now=${COMP_WORDS[COMP_CWORD]} words=
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W "run check repair mesh info diff audit status export pack --help --version" -- "$now")
        return
    fi
    case ${COMP_WORDS[1]} in
    run) words="--branch --discover --help --overwrite --quiet --record --restart --set --until --wall-limit -h -o" ;;
    check) words="--details --help --json --pilot --restart --set -h -o" ;;
    repair) words="--help --json -h -o" ;;
    mesh) words="--base --cells --closed --count --curve --edge --edges --fill --from --height --help --lattice --length --level --path --radii --radius --sides --size --tetrahedra --to --triangles --up --vertices --weld --width -h -o" ;;
    info) words="--digest --help --json -h" ;;
    diff) words="--all-frames --help --json --tol -h" ;;
    audit) words="--frames --from --help --json --memory --query-all --until -h" ;;
    status) words="--help --json --watch -h" ;;
    export) words="--format --frames --help --overwrite -h -o" ;;
    pack) words="--help --overwrite -h -o" ;;
    esac
    if [[ $now == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$now")
    else
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$now")
    fi
}
complete -F _tactus tactus
