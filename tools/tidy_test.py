#!/usr/bin/env python3
"""Each rule of tidy.py against a tree that breaks it and one that does not. A ctest."""
import unittest

from tidy import File, Tree, faults, functions

LONG_FUNCTION = "void f() {\n" + "  g();\n" * 70 + "}\n"
HEADER = "// What it is.\n#pragma once\n"


def rules_broken_by(texts):
    """The names of the rules that a tree breaks; a fault of a waiver as it is said."""
    return sorted({message.rsplit("[", 1)[1].rstrip("]") if message.endswith("]") else message
                   for _, _, message in faults(Tree(texts))})


class Rules(unittest.TestCase):
    def expect(self, expected, texts):
        self.assertEqual(rules_broken_by(texts), expected)

    def test_a_stage_includes_itself_and_those_before_it(self):
        self.expect([], {"src/plan/a.h": HEADER + '#include "base/size.h"\n#include "plan/b.h"\n'})
        self.expect(["include-order"], {"src/plan/a.h": HEADER + '#include "engine/e.h"\n'})

    def test_a_public_header_shows_no_implementation(self):
        self.expect(["include-order"], {"include/adjudge/a.h": HEADER + '#include "base/size.h"\n'})

    def test_the_own_header_comes_first(self):
        header = {"src/nn/a.h": HEADER}
        self.expect([], header | {"src/nn/a.cc": '#include "nn/a.h"\n#include <vector>\n'})
        self.expect(["own-header-first"],
                    header | {"src/nn/a.cc": '#include <vector>\n#include "nn/a.h"\n'})

    def test_a_header_says_what_it_is_and_is_included_once(self):
        self.expect(["opening"], {"src/nn/a.h": "#pragma once\n"})
        self.expect(["opening"], {"src/nn/a.h": "// What it is.\n"})

    def test_a_type_has_its_name_for_itself(self):
        named = HEADER + "namespace adjudge {\nstruct Segment {\n  int a;\n};\n}\n"
        inner = HEADER + "namespace adjudge {\nclass Pass {\n  struct Segment {};\n};\n}\n"
        other = named.replace("adjudge", "adjudge::text")
        ahead = HEADER + "namespace adjudge {\nstruct Segment;\n}\n"
        self.expect([], {"src/plan/a.h": named, "src/nn/b.h": inner, "src/text/c.h": other,
                         "src/nn/d.h": ahead})
        self.expect(["type-names"], {"src/plan/a.h": named, "src/nn/b.h": named})

    def test_instruction_set_code_includes_next_to_nothing(self):
        good = '#include <cstddef>\n#include "kernel/table.h"\n#include "gguf/dtype_q4_k.h"\n'
        self.expect([], {"src/kernel/avx2/kernels.cc": good})
        self.expect(["kernel-headers"], {"src/kernel/avx2/kernels.cc": "#include <vector>\n"})

    def test_posix_stays_in_one_folder(self):
        self.expect([], {"src/base/os/a.cc": "#include <unistd.h>\n"})
        self.expect(["posix"], {"src/engine/a.cc": "#include <sys/mman.h>\n"})

    def test_times_are_measured_with_a_clock_that_does_not_jump(self):
        for line in ("std::chrono::system_clock::now();", "time(nullptr);", "f(CLOCK_REALTIME);"):
            self.expect(["wall-clock"], {"src/serve/a.cc": line + "\n"})
        self.expect([], {"src/serve/a.cc": "std::chrono::steady_clock::now(); response_time(0);\n"})

    def test_only_the_program_talks(self):
        for line in ('std::cout << 1;', 'std::printf("x");', 'const char* v = std::getenv("X");',
                     'std::exit(1);', 'std::abort();', 'fprintf(stderr, "x");'):
            self.expect(["silence"], {"src/nn/a.cc": line + "\n"})
            self.expect([], {"src/app/a.cc": line + "\n"})
        self.expect([], {"src/nn/a.cc": '// printf\nstd::snprintf(t, 8, "x");\nm.exit();\n'})

    def test_state_is_the_callers(self):
        self.expect(["state-word"], {"src/engine/a.cc": "int state_count;\n"})
        self.expect(["state-word"], {"src/backbone/b/a.cc": "// Keeps its state.\n"})
        self.expect([], {"src/engine/a.cc": "// A statement about static things.\n"})
        self.expect([], {"src/backbone/b/a.cc": "// The recurrent state.\nfloat* state;\n"})

    def test_stages_of_meaning_have_tests(self):
        self.expect(["tested"], {"src/plan/a.cc": "\n"})
        self.expect([], {"src/plan/a.cc": "\n", "src/plan/a_test.cc": "\n"})
        self.expect([], {"src/family/registry.cc": "\n"})

    def test_a_family_is_named_in_its_own_file(self):
        family = {"src/family/kev.cc": 'auto n = "kev";\n', "src/family/kev_test.cc": "\n"}
        self.expect([], family | {"src/decide/a.cc": '// a comment on "kev"\n'})
        self.expect(["family-names"], family | {"src/decide/a.cc": 'auto n = "kev";\n'})

    def test_every_family_has_its_page(self):
        tree = {"src/family/kev.cc": "", "src/family/kev_test.cc": "", "src/family/sidecar.cc": "",
                "src/family/sidecar_test.cc": "", "docs/models.md": "## Kev\n",
                "docs/families.md": "| | lev | kev |\n"}
        self.expect([], tree)
        self.expect(["family-pages"], tree | {"docs/models.md": "## Lev\nlike kev\n"})
        self.expect(["family-pages"], tree | {"docs/families.md": "| | lev |\n"})

    def test_documents_name_tests_that_exist(self):
        tree = {"src/nn/a_test.cc": "TEST_F(Nn,\n       Adds) {}\n", "tests/a_test.py": "def test_adds(): pass\n"}
        named = "`Nn.Adds`, `test_adds`, `test_nn`\n"
        self.expect([], tree | {"docs/a.md": named})
        self.expect(["named-tests"], tree | {"docs/a.md": "`Nn.Subtracts`"})
        self.expect(["named-tests"], tree | {"README.md": "`test_subtracts`"})

    def test_documents_name_what_exists(self):
        good = "`src/nn/a.h`, `nn/a.h`, `nn/`, `x.cc`, [b](b.md)"
        tree = {"src/nn/a.h": HEADER, "docs/b.md": good}
        self.expect([], tree)
        self.expect(["documents"], tree | {"docs/c.md": "`nn/gone.h`"})
        self.expect(["documents"], tree | {"docs/c.md": "[gone](gone.md)"})
        self.expect(["documents"], tree | {"README.md": "`src/gone/`"})

    def test_comments_name_what_exists(self):
        tree = {"docs/b.md": "", "src/nn/a.h": HEADER}
        self.expect([], tree | {"src/nn/c.cc": "// docs/b.md, src/nn/a.h, conversion/theirs.py\n"})
        self.expect(["comments"], tree | {"src/nn/c.cc": "// docs/gone.md\n"})
        self.expect(["comments"], tree | {"src/nn/c.cc": "/* src/nn/gone.h */\n"})
        self.expect([], tree | {"src/nn/c.cc": 'auto a = "docs/gone.md";\n'})
        self.expect(["comments"], tree | {"tools/c.py": "# rule 3 of gone.md\n"})

    def test_unfinished_work_has_a_number(self):
        self.expect([], {"src/nn/a.cc": "// TODO(#12): faster\n"})
        self.expect(["todo"], {"src/nn/a.cc": "// TODO: faster\n"})

    def test_nothing_names_one_machine(self):
        self.expect(["one-machine"], {"scripts/a": "cd /" + "root/adjudge\n"})
        self.expect(["one-machine"], {"docs/a.md": "from https://pypi" + ".org/simple\n"})
        self.expect(["one-machine"], {"testdata/a.jsonl": '{"model": "/' + 'tmp/a.gguf"}\n'})
        self.expect([], {"testdata/a.jsonl": '{"cwd": "/home/ana"}\n'})

    def test_sizes(self):
        self.expect(["columns"], {"src/nn/a.cc": "// " + "x" * 98 + "\n"})
        self.expect(["file-lines"], {"src/nn/a.cc": "\n" * 601})
        self.expect(["function-lines"], {"src/nn/a.cc": LONG_FUNCTION})

    def test_a_waiver_gives_a_reason_and_waives_something(self):
        waiver = "// tidy: allow function-lines: one straight list\n"
        self.expect([], {"src/nn/a.cc": waiver + LONG_FUNCTION})
        self.expect(["a waiver gives its reason"],
                    {"src/nn/a.cc": "// tidy: allow function-lines\n" + LONG_FUNCTION})
        self.expect(["nothing here breaks function-lines: remove the waiver"],
                    {"src/nn/a.cc": waiver})
        self.expect(["no rule is called beauty"],
                    {"src/nn/a.cc": "// tidy: allow beauty: it is in the eye\n"})


class Functions(unittest.TestCase):
    def lengths(self, text):
        return [end - begin + 1 for begin, end in functions(File("src/nn/a.cc", text))]

    def test_are_found_wherever_they_stand(self):
        self.assertEqual(self.lengths("int f() {\n  if (x) {\n  }\n}\n"), [4])
        self.assertEqual(self.lengths("class A {\n  int f() const { return 1; }\n};\n"), [1])
        self.assertEqual(self.lengths("A::A(int a) : a_(a), b_{1} {\n  f();\n}\n"), [3])
        self.assertEqual(self.lengths("template <class T>\nT f(T t) {\n  return t;\n}\n"), [4])
        self.assertEqual(self.lengths("TEST(A, B) {\n  f();\n}\n"), [3])

    def test_are_not_tables_or_text(self):
        self.assertEqual(self.lengths('constexpr A kList[] = {\n  {f(1), "{"},\n};\n'), [])
        self.assertEqual(self.lengths("namespace a {\nstruct B {\n  int c;\n};\n}\n"), [])
        self.assertEqual(self.lengths("#define F(x) \\\n  if (x) {\n// {\nint g() {\n}\n"), [2])


if __name__ == "__main__":
    unittest.main()
