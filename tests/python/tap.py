# SPDX-License-Identifier: GPL-3.0-or-later
"""unittest with TAP on standard output; what went wrong goes to standard error."""
import sys
import unittest


class Result(unittest.TestResult):
    def say(self, good, test, note=""):
        print(f"{'ok' if good else 'not ok'} {self.testsRun} - {test.id().partition('.')[2]}{note}", flush=True)

    def addSuccess(self, test):
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


def main():
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"])
    result = Result()
    suite.run(result)
    sys.exit(not result.wasSuccessful())
