# SPDX-License-Identifier: GPL-3.0-or-later
"""unittest with TAP on standard output; what went wrong goes to standard error. What tests tell is golden."""
import sys
import unittest

import golden


class Result(unittest.TestResult):
    def say(self, good, test, note=""):
        print(f"{'ok' if good else 'not ok'} {self.testsRun} - {name_of(test)}{note}", flush=True)

    def addSuccess(self, test):
        changed = golden.difference(name_of(test), test)
        if changed:
            self.failures.append((test, changed))
            self.fail(test, self.failures)
        else:
            self.say(True, test)

    def addSkip(self, test, reason):
        self.say(True, test, f" # SKIP {reason}")

    def addError(self, test, problem):
        super().addError(test, problem)
        self.fail(test, self.errors)

    def addFailure(self, test, problem):
        super().addFailure(test, problem)
        self.fail(test, self.failures)

    def addSubTest(self, test, subtest, problem):
        super().addSubTest(test, subtest, problem)
        if problem:
            self.fail(subtest, self.failures if issubclass(problem[0], test.failureException) else self.errors)

    def addUnexpectedSuccess(self, test):
        self.say(False, test)

    def fail(self, test, texts):
        self.say(False, test)
        print(texts[-1][1], file=sys.stderr)


def name_of(test):
    return test.id().partition(".")[2]


def names_in(suite):
    for one in suite:
        yield from names_in(one) if isinstance(one, unittest.TestSuite) else [name_of(one)]


def main():
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"])
    result, names = Result(), list(names_in(suite))
    suite.run(result)
    good = result.wasSuccessful()
    left = golden.left(names) if good else []
    if left:
        print(f"{golden.STORED} has sections of no test: {left}; tests/golden.sh --renew drops them", file=sys.stderr)
    sys.exit(not good or bool(left))
