#!/bin/sh
# Written by `memhook install`, removed by `memhook uninstall`.
# launch EVENT PART --client NAME: hand the event on stdin to memhook; always exits 0.
# launch mcp: the MCP server.

# A signal ends it with exit code 0. Ignored signals stay ignored after exec: Python cannot catch one while it starts.
trap 'exit 0' HUP INT TERM

case ${XDG_STATE_HOME:-} in /*) state=$XDG_STATE_HOME/memhook ;; *) state=${HOME:-/nonexistent}/.local/state/memhook ;; esac

# The daemon has marked that no answer needs the second part: end without Python. Claude Code's pipe is read to its
# end; a session with settings of its own in the environment may need more.
if [ "${2:-}" = 2 ] && [ -n "${CLAUDECODE:-}" ] && [ -e "$state/one-part" ]; then
  case $(export -p) in *MEMHOOK_*) ;; *) trap '' HUP INT TERM && exec cat >/dev/null ;; esac
fi

run() { # PYTHON FOLDER ARGUMENT...
  python=$1
  folder=$2
  shift 2
  [ -x "$python" ] && [ -f "$folder/hook_client.py" ] || return 0
  [ "$1" = mcp ] && exec "$python" -P -E -m memhook.cli "$@"
  trap '' HUP INT TERM
  # Imported, not run by its path: so Python uses the compiled file instead of compiling it for every prompt. And left
  # at once: to take the interpreter apart would take a tenth of the time.
  set -- "$python" -I -S -c 'import sys; sys.path.insert(0, sys.argv[1]); import hook_client; hook_client.main(sys.argv[2:]); hook_client.os._exit(0)' \
    "$folder" "$@"
  # Perl starts in a fifth of Python's time, and is part of macOS and of most Linux systems.
  if [ -x /usr/bin/perl ] && [ -f "$folder/hook_client.pl" ]; then
    unset PERL5OPT PERL5LIB PERL5DB PERL_UNICODE PERLIO
    PERL_BADLANG=0 exec /usr/bin/perl -f "$folder/hook_client.pl" "$@"
  fi
  exec "$@"
}

run @PYTHON@ @FOLDER@ "$@"

# Deleted, perhaps by an upgrade. Try the interpreter that the daemon last ran with, then `memhook` on PATH.
if { read -r recorded && read -r client; } 2>/dev/null <"$state/interpreter"; then
  run "$recorded" "${client%/*}" "$@"
fi
if command -v memhook >/dev/null 2>&1; then
  if [ "$1" = mcp ]; then
    exec memhook "$@"
  fi
  (trap '' HUP INT TERM && exec memhook hook "$@") 2>/dev/null
  case $? in 126 | 127) ;; *) exit 0 ;; esac
fi

if [ "$1" = mcp ]; then
  echo "memhook: its Python was deleted. Install memhook again and run: memhook install" >&2
  exit 1
fi
# Reported once: the mark stays until memhook runs again.
if mkdir -p "$state" 2>/dev/null && mkdir "$state/interpreter.gone" 2>/dev/null; then
  printf '%s\n' @GONE@
fi
exit 0
