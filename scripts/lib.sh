# What the scripts share: steps that say what they do and what to do when they fail. Sourced with
# `set -euo pipefail` already on and the repository's root as the working directory.

passed_count=0
failed_count=0
failed_names=() # of tests, each with the folder it ran in
current_step="starting"
step_begin=$SECONDS

# step TEXT: names what comes next, for people who wait and for the message when it fails.
step() {
  current_step=$1
  step_begin=$SECONDS
  printf '\n==> %s\n' "$1"
}

step_done() { printf '    done in %d s\n' $((SECONDS - step_begin)); }

# fail MESSAGE HINT: the end, with a way on.
fail() {
  printf '\nFAILED: %s\n  %s\n' "$1" "$2" >&2
  trap - EXIT
  exit 1
}

# Any other way to end early is named too.
say_where_it_ended() {
  local status=$?
  [ "$status" -eq 0 ] && return
  printf '\nFAILED while %s (status %d); see above.\n' "$current_step" "$status" >&2
}
trap say_where_it_ended EXIT

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    fail "installing packages needs root, and there is no sudo here" "as root, run: $*"
  fi
}

# is_installed NAME[:ARCHITECTURE]: for this machine unless told.
is_installed() {
  local name=${1%:*} architecture
  architecture=$(dpkg --print-architecture)
  [[ $1 == *:* ]] && architecture=${1#*:}
  dpkg-query -W -f='${Architecture} ${db:Status-Status}\n' "$name" 2>/dev/null |
    grep -xE "(all|$architecture) installed" >/dev/null
}

# install_packages NEED...: installs those packages of scripts/packages that are missing.
install_packages() {
  local name need missing=()
  if ! command -v dpkg-query >/dev/null; then
    echo "not a Debian system: what scripts/packages lists must be there already"
    return
  fi
  while read -r name need; do
    [[ " $* " == *" $need "* ]] || continue
    is_installed "$name" || missing+=("$name")
  done < <(sed 's/#.*//' scripts/packages)
  if [ ${#missing[@]} -eq 0 ]; then
    return
  fi
  step "installing ${#missing[@]} Debian packages: ${missing[*]}"
  as_root apt-get update -qq ||
    fail "apt-get update did not succeed" "check the network and apt's sources; then run this again"
  as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends -o DPkg::Lock::Timeout=120 "${missing[@]}" ||
    fail "apt-get install did not succeed" "its message is above; run this again when it is solved"
  step_done
}

# configure FOLDER [CMAKE OPTION...]
configure() {
  local folder=$1 log=$1.log
  shift
  cmake -S . -B "$folder" -G Ninja "$@" >"$log" 2>&1 ||
    { cat "$log" >&2; fail "cmake could not configure" "its message is above"; }
  rm -f "$log"
}

# compile FOLDER [TARGET...]: all of it unless told. Nothing to do costs a second.
compile() {
  local folder=$1
  shift
  step "building into $folder/"
  NINJA_STATUS='[%f/%t, %e s] ' cmake --build "$folder" --target "${@:-all}" ||
    fail "the build did not succeed" "the compiler's message is above"
  step_done
}

# make_venv FOLDER REQUIREMENTS: a private Python with those packages, unless it is there.
make_venv() {
  local folder=$1 requirements=$2 python=python3
  [ -x /usr/bin/python3 ] && python=/usr/bin/python3 # the one that python3-venv belongs to
  if [ -e "$folder/ready" ] && [ "$folder/ready" -nt "$requirements" ]; then
    return
  fi
  step "making a Python environment in $folder/"
  "$python" -m venv "$folder"
  "$folder/bin/python" -m pip install -q --disable-pip-version-check -r "$requirements" ||
    fail "pip could not install what $requirements lists" "its message is above"
  touch "$folder/ready"
  step_done
}

# make_python: a private Python in build/venv that can write the tiny models.
make_python() { make_venv build/venv tests/tiny/requirements.txt; }

# run_tests FOLDER [CTEST OPTION...]: adds to passed_count and failed_count; no test is a failure.
run_tests() {
  local folder=$1 report=$1/ctest.xml total failed
  shift
  rm -f "$report"
  ctest --test-dir "$folder" -j 2 --output-on-failure --no-tests=error \
    --output-junit "$PWD/$report" "$@" || true
  total=$(count_in "$report" tests)
  failed=$(count_in "$report" failures)
  if [ "$total" -eq 0 ]; then
    echo "no test ran in $folder" >&2
    failed=1 total=1
  fi
  passed_count=$((passed_count + total - failed))
  failed_count=$((failed_count + failed))
  local where="$folder${ADJ_ISA:+ with ADJ_ISA=$ADJ_ISA}"
  [ ! -e "$report" ] || mapfile -t -O ${#failed_names[@]} failed_names < <(
    sed -n "s|.*<testcase name=\"\([^\"]*\)\".* status=\"fail\".*|$where: \1|p" "$report"
  )
}

# count_in REPORT NAME: a number of a JUnit report's first element; 0 when there is no report.
count_in() {
  local count
  [ -e "$1" ] && count=$(head -n 20 "$1" | tr '\n\t' '  ' |
    sed -n "s/.*<testsuite[^>]* $2=\"\([0-9]*\)\".*/\1/p")
  echo "${count:-0}"
}

# The last lines of every run of tests, and its status.
print_counts() {
  trap - EXIT
  [ ${#failed_names[@]} -eq 0 ] || printf 'failed in %s\n' "${failed_names[@]}"
  echo "$passed_count passed, $failed_count failed"
  [ "$failed_count" -eq 0 ] && [ "$passed_count" -gt 0 ]
}
