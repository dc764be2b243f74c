#!/usr/bin/env python3
"""The rules of docs/style.md that a machine can check. A ctest; prints `file:line: what` and fails.

A line may break a rule when a comment on it, or on the line before, says so and why:
    // tidy: allow RULE: the reason
What concerns a whole file (its length, its columns, a test that is missing) is waived among its
first ten lines. A waiver that waives nothing is itself a fault. RULE is a name in RULES below.
"""
import re
import subprocess
import sys
from functools import cached_property
from pathlib import Path

STAGES = ("base json gguf kernel nn text plan backbone engine readout protocol calibrate family "
          "decide serve app").split()
FUNCTION_LINES_MAX = 70
FILE_LINES_MAX = 600
COLUMNS_MAX = 100
FILE_HEAD_LINES = 10  # where a waiver for the whole file stands
REASON_LETTERS_MIN = 10

LEXEME = re.compile(
    r'''(?P<comment>//[^\n]*|/\*.*?\*/)'''
    r'''|(?P<raw>R"(?P<mark>[^\s()\\]*)\(.*?\)(?P=mark)")'''
    r'''|(?P<text>"(?:\\.|[^"\\\n])*")'''
    r'''|(?P<char>(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])*')''', re.DOTALL)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)[">]', re.MULTILINE)
WAIVER = re.compile(r"(?://|#) tidy: allow ([a-z-]+)(?:: *(.*))?$")


def blank(match):
    return re.sub(r"[^\n]", " ", match[0])


class File:
    """A tracked file, as the rules want to see it. `path` is relative, with slashes."""

    def __init__(self, path, text):
        self.path = path
        self.text = text
        self.lines = text.split("\n")
        self.name = path.rsplit("/", 1)[-1]
        self.stem, _, self.suffix = self.name.partition(".")
        parts = path.split("/")
        self.stage = parts[1] if parts[0] == "src" and len(parts) > 2 else None
        self.is_cxx = self.suffix in ("cc", "h")
        self.is_script = parts[0] in ("scripts", ".ci") or self.suffix in ("py", "sh")
        self.is_test = (parts[0] == "tests" or self.stem.endswith("_test")
                        or self.stem.startswith("test_"))

    def line_of(self, offset):
        return self.text.count("\n", 0, offset) + 1

    def search(self, pattern, text=None):
        """(line, match) of every place, in `text` (same length as the file) or the file itself."""
        for match in re.finditer(pattern, self.text if text is None else text):
            yield self.line_of(match.start()), match

    @cached_property
    def code(self):
        """The C++ without comments and contents of literals; every offset stays where it was."""
        return LEXEME.sub(blank, self.text)

    def comment_words(self, pattern):
        """(line, text) of every match in a comment; in a script, anywhere."""
        if not self.is_cxx:
            yield from ((line, match[0]) for line, match in self.search(pattern))
            return
        for match in LEXEME.finditer(self.text):
            if match["comment"]:
                line = self.line_of(match.start())
                yield from ((line + match[0].count("\n", 0, word.start()), word[0])
                            for word in pattern.finditer(match[0]))

    @cached_property
    def literals(self):
        return [(self.line_of(match.start()), match["text"][1:-1])
                for match in LEXEME.finditer(self.text) if match["text"]]

    @cached_property
    def includes(self):
        """(line, quoted, name)"""
        return [(self.line_of(match.start(2)), match[1] == '"', match[2])
                for match in INCLUDE.finditer(self.text)]

    @cached_property
    def waivers(self):
        """{line: (rule, reason)}"""
        found = {}
        for number, line in enumerate(self.lines, 1):
            if "tidy: allow" in line and (match := WAIVER.search(line)):
                found[number] = (match[1], match[2] or "")
        return found


# ------------------------------------------------------------------------------------------------
# Rules: a function takes the tree and yields (file, line, message).

def include_order(tree):
    for file in tree.cxx:
        if file.stage is None:
            continue
        own = STAGES.index(file.stage)
        for line, quoted, name in file.includes:
            folder = name.split("/")[0]
            if quoted and folder in STAGES and STAGES.index(folder) > own:
                yield file, line, f"{file.stage}/ comes before {folder}/ and may not include it"
    for file in tree.cxx:
        for line, quoted, name in file.includes:
            if file.path.startswith("include/") and quoted and not name.startswith("adjudge/"):
                yield file, line, "a public header shows nothing of the implementation"


def own_header_first(tree):
    for file in tree.cxx:
        header = file.path.removesuffix(".cc") + ".h"
        if file.path.endswith(".cc") and header in tree.paths and file.includes:
            line, _, name = file.includes[0]
            if not header.endswith("/" + name):
                yield file, line, f"the first include is {file.stem}.h"


def opening(tree):
    for file in tree.cxx:
        if file.suffix == "h":
            if not file.text.startswith("//"):
                yield file, 1, "a header opens by saying what it is"
            if not re.search(r"^#pragma once$", file.text, re.MULTILINE):
                yield file, 1, "a header has #pragma once"


def type_names(tree):
    """Two types of one name in one namespace share the symbols of every template made of them."""
    seen = {}
    for file in tree.cxx:
        if file.suffix != "h":
            continue
        spaces = list(file.search(r"(?m)^namespace ([\w:]+) \{", file.code))
        for line, match in file.search(r"(?m)^(?:struct|class|union|enum class) (\w+)\b(?!::)[^;{]*\{",
                                       file.code):
            name = "::".join([space[1] for at, space in spaces if at < line] + [match[1]])
            if name in seen:
                yield file, line, f"{name} is a type of {seen[name]} too"
            seen.setdefault(name, file.path)


def kernel_headers(tree):
    allowed = re.compile(r"(immintrin\.h|arm_neon\.h|cstddef|cstdint|cstring|kernel/.*|gguf/dtype\w*\.h"
                         r"|gguf/half\.h)$")
    for file in tree.cxx:
        if not re.match(r"src/kernel/\w+/", file.path) or file.is_test:
            continue
        if file.path.startswith("src/kernel/scalar/"):  # built without flags of its own
            continue
        for line, _, name in file.includes:
            if not allowed.match(name):
                yield file, line, (f"{name}: code built for one instruction set includes only "
                                   "immintrin.h, cstddef, cstdint, cstring, kernel/ and gguf/dtype*.h")


def posix(tree):
    header = re.compile(r"((sys|netinet|arpa|net)/\w+\.h|(unistd|fcntl|pthread|sched|poll|signal|"
                        r"dlfcn|spawn|dirent|termios|pwd|grp|ftw|glob|strings)\.h)$")
    for file in tree.cxx:
        if file.is_test or file.path.startswith("src/base/os/"):
            continue
        for line, _, name in file.includes:
            if header.match(name):
                yield file, line, f"{name} belongs into base/os/"


def wall_clock(tree):
    """Somebody sets it, and it jumps: whatever waits or measures takes the steady clock."""
    clock = re.compile(r"\b(?:system_clock|high_resolution_clock|utc_clock|CLOCK_REALTIME|gettimeofday)\b"
                       r"|\btime\s*\(\s*(?:nullptr|NULL|0)\s*\)")
    for file in tree.cxx:
        if file.stage is None or file.is_test:
            continue
        for line, match in file.search(clock, file.code):
            yield file, line, f"{match[0]} jumps when somebody sets the clock: take steady_clock"


def silence(tree):
    loud = re.compile(r"\b(?:secure_)?getenv\b|\bsetenv\b|\benviron\b|\bstd::(?:cout|cerr|clog)\b"
                      r"|\b(?:v|f|vf)?printf\b|\bf?puts\b|\bputchar\b|\bperror\b"
                      r"|(?<![\w.>])_?exit\s*\(|\b(?:quick_exit|abort|terminate)\s*\(")
    excepted = {"src/base/check.cc", "src/base/os/child.cc"}  # both are about just that
    for file in tree.cxx:
        if file.stage in (None, "app") or file.is_test or file.path in excepted:
            continue
        for line, match in file.search(loud, file.code):
            what = match[0].strip("( ")
            yield file, line, f"{what}: only app/ reads the environment, prints and exits"


def state_word(tree):
    for file in tree.cxx:
        if file.stage not in ("backbone", "engine"):
            continue
        if re.search(r"recurren|delta[ _]rule", file.text, re.IGNORECASE):
            continue  # the delta rule's own word for what it carries
        for line, _ in file.search(r"(?:\b|_)(?:state|State)s?(?:\b|_)"):
            yield file, line, "state is the caller's; the network has memory (docs/glossary.md)"


def tested(tree):
    for file in tree.cxx:
        if file.stage not in ("family", "readout", "plan", "calibrate") or file.suffix != "cc":
            continue
        test = file.path.removesuffix(".cc") + "_test.cc"
        if not file.is_test and file.stem != "registry" and test not in tree.paths:
            yield file, 1, f"needs {test}"


def family_names(tree):
    families = tree.families
    for file in tree.cxx:
        if file.stage is None or file.is_test:
            continue
        for line, text in file.literals:
            if text in families and file.path != f"src/family/{text}.cc":
                yield file, line, f'"{text}" is named in src/family/{text}.cc and nowhere else'


def family_pages(tree):
    """Whoever adds a family says what it reads, cuts and refuses."""
    for path, named in (("docs/models.md", r"(?mi)^## .*\b{}\b"), ("docs/families.md", r"(?mi)^\| \|.*\b{}\b")):
        page = next((file for file in tree.files if file.path == path), None)
        for family in sorted(tree.families) if page else ():
            if not re.search(named.format(family), page.text):
                yield page, 1, f"says nothing of the family {family}"


def documents(tree):
    quoted = re.compile(r"`([\w./-]+)`|\]\(([\w./-]+)(?:#[\w-]+)?\)")
    suffixes = (".cc", ".h", ".md", ".py", ".cmake", ".json", ".jsonl", ".txt", ".wire")
    for file in tree.files:
        if file.suffix != "md" or not re.match(r"docs/[\w-]+\.md$|[A-Z]+\.md$", file.path):
            continue
        if file.name == "CHANGELOG.md":
            continue
        for line, match in file.search(quoted):
            name = match[1] or match[2]
            in_tree = "/" in name and name.split("/")[0] in tree.top_folders
            if not (in_tree or name.endswith(suffixes)) or is_placeholder(name):
                continue
            if not tree.has(name, file):
                yield file, line, f"{name} does not exist"


def named_tests(tree):
    """A test that a document names, as `Suite.Name` or `test_name`, is there."""
    quoted = re.compile(r"`([A-Z]\w+\.[A-Z]\w+|test_\w+)`")
    for file in tree.files:
        if not re.match(r"docs/[\w-]+\.md$|[A-Z]+\.md$", file.path):
            continue
        for line, match in file.search(quoted):
            name = match[1]
            is_stage = name.startswith("test_") and f"src/{name[5:]}" in tree.folders
            if name not in tree.tests and not is_stage:
                yield file, line, f"no test is called {name}"


def comments(tree):
    named = re.compile(r"(?<![\w./-])[\w./-]+\.(?:md|cc|h|py)\b")
    for file in tree.files:
        if not (file.is_cxx or file.is_script) or file.path in (SELF, SELF_TEST):
            continue
        for line, name in file.comment_words(named):
            ours = name.endswith(".md") or name.split("/")[0] in tree.top_folders and "/" in name
            if ours and not is_placeholder(name) and not tree.has(name, file):
                yield file, line, f"{name} does not exist"


def is_placeholder(name):
    """.cc, x.cc, NAME.adjudge.json: any file of that kind."""
    parts = re.split(r"[/.]|_test", name)
    is_suffix = name.startswith(".") and "/" not in name
    shouts = any(part.isupper() and part not in READABLE for part in parts)
    return is_suffix or "x" in parts or shouts


READABLE = {"README", "CONTRIBUTING", "CHANGELOG", "LICENSE", "NOTICE"}


def todo(tree):
    for file in tree.files:
        if not (file.is_cxx or file.is_script or file.suffix == "cmake"):
            continue
        if file.path in (SELF, SELF_TEST):
            continue
        for line, match in file.search(r"\b(TODO|FIXME|XXX)\b(?!\(#\d+\))"):
            yield file, line, f"{match[1]} without the number of an issue: TODO(#12)"


# Folders of one machine, and what hosts of package registries begin and end with: none is named here.
MACHINE_FOLDERS = ["root", "tmp", "work"]
REGISTRY_HOST = r"(?:pypi|files|deb|registry|static|proxy|repo1?)\.(?:[\w-]+\.)*(?:org|com|io)\b"


def one_machine(tree):
    folders = "|".join(f"/{name}/" for name in MACHINE_FOLDERS)
    own = rf"{folders}|(?<![\w.]){REGISTRY_HOST}|artifactory"
    # Requests in testdata/ may speak of somebody's home; where a recording was made they may not.
    place, recorded = re.compile(rf"{own}|/home/\w"), re.compile(rf'"(?:{folders})')
    for file in tree.files:
        if file.path in (SELF, SELF_TEST):
            continue
        for line, match in file.search(recorded if file.path.startswith("testdata/") else place):
            yield file, line, f"{match[0]} names one machine or registry"


def columns(tree):
    for file in tree.files:  # Python reads well at other widths
        if file.suffix == "py" or not (file.is_cxx or file.is_script):
            continue
        for number, line in enumerate(file.lines, 1):
            if len(line) > COLUMNS_MAX and "tidy: allow" not in line:
                yield file, number, f"{len(line)} columns, at most {COLUMNS_MAX}"


def file_lines(tree):
    for file in tree.files:
        count = len(file.lines) - 1
        if (file.is_cxx or file.is_script) and count > FILE_LINES_MAX:
            yield file, 1, f"{count} lines, at most {FILE_LINES_MAX}"


def function_lines(tree):
    for file in tree.cxx:
        for begin, end in functions(file):
            count = end - begin + 1
            if count > FUNCTION_LINES_MAX:
                yield file, begin, f"a function of {count} lines, at most {FUNCTION_LINES_MAX}"


def functions(file):
    """(first line, last line) of every function body; what is nested in one belongs to it."""
    code = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", blank, file.code, flags=re.MULTILINE)
    open_braces = []  # kinds
    head_begin = 0
    function_begin = 0
    for match in re.finditer(r"[{};]", code):
        place = match.start()
        if match[0] == "{":
            kind = brace_kind(code[head_begin:place]) if "function" not in open_braces else "inner"
            open_braces.append(kind)
            if kind == "function":
                head = code[head_begin:place]
                function_begin = head_begin + len(head) - len(head.lstrip())
            if kind != "initialiser":
                head_begin = place + 1
            continue
        kind = open_braces.pop() if match[0] == "}" and open_braces else None
        if kind == "function":
            yield file.line_of(function_begin), file.line_of(place)
        if kind != "initialiser" and not (match[0] == ";" and "initialiser" in open_braces):
            head_begin = place + 1


def brace_kind(head):
    """What a brace opens, by the text before it. clang-format puts a space before a body only."""
    if re.search(r"[\w>]$", head) and not head.endswith(" "):
        return "initialiser"
    before = re.sub(r"^\s*template\s*<.*?>\s*(?=\w)", "", head, flags=re.DOTALL).split("(")[0]
    if "(" not in head or re.search(r"\b(namespace|class|struct|union|enum|extern)\b", before):
        return "container"
    is_value = re.search(r"(?<![=!<>])=(?!=)", before) and "operator" not in before
    return "container" if is_value else "function"


# ------------------------------------------------------------------------------------------------

SELF = "tools/tidy.py"
SELF_TEST = "tools/tidy_test.py"
RULES = {
    "include-order": include_order,
    "own-header-first": own_header_first,
    "opening": opening,
    "type-names": type_names,
    "kernel-headers": kernel_headers,
    "posix": posix,
    "wall-clock": wall_clock,
    "silence": silence,
    "state-word": state_word,
    "tested": tested,
    "family-names": family_names,
    "family-pages": family_pages,
    "documents": documents,
    "named-tests": named_tests,
    "comments": comments,
    "todo": todo,
    "one-machine": one_machine,
    "columns": columns,
    "file-lines": file_lines,
    "function-lines": function_lines,
}
WHOLE_FILE_RULES = {"columns", "file-lines", "tested"}


class Tree:
    """All files, by path: {path: text}. `folders` are those that hold any."""

    def __init__(self, texts):
        self.files = [File(path, text) for path, text in sorted(texts.items())]
        self.cxx = [file for file in self.files if file.is_cxx]
        self.paths = set(texts)
        self.names = {file.name for file in self.files}
        self.folders = {path.rsplit("/", count)[0] for path in texts
                        for count in range(1, path.count("/") + 1)}
        self.top_folders = {folder for folder in self.folders if "/" not in folder}

    @cached_property
    def families(self):
        return {file.stem for file in self.cxx
                if re.fullmatch(r"src/family/\w+\.cc", file.path) and not file.is_test
                and file.stem not in ("registry", "sidecar")}

    @cached_property
    def tests(self):
        """Of C++ as Suite.Name, of Python by their functions' names."""
        named = {f"{suite}.{name}" for file in self.cxx if file.is_test
                 for suite, name in re.findall(r"TEST(?:_[FP])?\((\w+),\s*(\w+)\)", file.text)}
        return named | {name for file in self.files if file.name.endswith("_test.py")
                        for name in re.findall(r"def (test_\w+)", file.text)}

    def has(self, name, document):
        """Whether a document may call a file or folder so: from the root, from src/, from include/,
        from beside the document, or by its bare name."""
        name = name.rstrip("/")
        beside = document.path.rsplit("/", 1)[0] + "/" if "/" in document.path else ""
        return name in self.names or any(
            root + name in self.paths or root + name in self.folders
            for root in ("", "src/", "include/", beside))


def faults(tree):
    """(path, line, message) of everything that is wrong and not waived."""
    used = set()
    for rule, check in RULES.items():
        for file, line, message in check(tree):
            places = [line, line - 1]
            if rule in WHOLE_FILE_RULES:
                places += range(1, FILE_HEAD_LINES + 1)
            waiver = next((n for n in places if file.waivers.get(n, ("",))[0] == rule), None)
            if waiver is None:
                yield file.path, line, f"{message} [{rule}]"
            used.add((file.path, waiver))
    for file in tree.files:
        for line, (rule, reason) in file.waivers.items():
            if file.path in (SELF, SELF_TEST) or file.suffix == "md":
                continue
            if rule not in RULES:
                yield file.path, line, f"no rule is called {rule}"
            elif len(reason) < REASON_LETTERS_MIN:
                yield file.path, line, "a waiver gives its reason"
            elif (file.path, line) not in used:
                yield file.path, line, f"nothing here breaks {rule}: remove the waiver"


def read_tree(root):
    """Tracked files and those that will be; all but build folders where there is no git."""
    listed = subprocess.run(["git", "-C", str(root), "ls-files", "-co", "--exclude-standard"],
                            capture_output=True, text=True)
    if listed.returncode == 0:
        paths = listed.stdout.split("\n")
    else:
        paths = [path.relative_to(root).as_posix() for path in root.rglob("*")
                 if not path.relative_to(root).parts[0].startswith("build")]
    texts = {}
    for path in filter(None, paths):
        if (root / path).is_file():
            large = path.startswith("testdata/") or path.endswith((".jsonl", ".inc"))
            texts[path] = "" if large else (root / path).read_text(errors="replace")
    return Tree(texts)


def main():
    root = Path(__file__).resolve().parent.parent
    found = sorted(faults(read_tree(root)))
    for path, line, message in found:
        print(f"{path}:{line}: {message}")
    print(f"tidy: {len(found)} faults" if found else "tidy: nothing to say")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
