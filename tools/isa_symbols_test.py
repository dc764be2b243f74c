#!/usr/bin/env python3
"""The rules of isa_symbols.py, each with a listing that breaks it."""
import unittest

from isa_symbols import faults_of


class FaultsOf(unittest.TestCase):
    def test_a_level_may_export_probe_and_improve(self):
        self.assertEqual(faults_of("""
0000 T adjudge::kernel::avx2::probe()
0010 T adjudge::kernel::avx2::improve(adjudge::kernel::Table&)
0020 t adjudge::kernel::(anonymous namespace)::dot(float const*)
0030 r adjudge::kernel::(anonymous namespace)::kTable
"""), [])

    def test_a_weak_function_is_refused(self):
        self.assertEqual(faults_of("0000 W std::vector<double>::~vector()\n"),
                         ["weak symbol std::vector<double>::~vector()"])

    def test_a_weak_object_and_a_unique_one_are_refused(self):
        self.assertEqual(len(faults_of("0000 V kTable\n0000 u kOther\n")), 2)

    def test_another_exported_function_is_refused(self):
        self.assertEqual(faults_of("0000 T adjudge::kernel::avx2::dot(float const*)\n"),
                         ["exported symbol adjudge::kernel::avx2::dot(float const*)"])


if __name__ == "__main__":
    unittest.main()
