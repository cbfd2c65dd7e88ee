# SPDX-License-Identifier: GPL-3.0-or-later
"""nysbench.serve: what strategies get, what becomes of their results, and what it says of those that go wrong.

Each case is a call of its main() in a process forked from this one, which has imported NumPy already: with a file of
questions as standard input, and files as standard output and error, it does what `python3 -m nysbench.serve` does, in a
few ms. tests/cli/serve.bats starts the real thing, and asks it through pipes."""
import itertools
import json
import os
import signal
import sys
import tempfile
import traceback
import types

import numpy as np

import golden
import nysbench
import tap
from nysbench import serve

N, D, M = 20, 2, 3
RNG = np.random.default_rng(5)
ARRAYS = {name: RNG.standard_normal((N, D)) for name in ("points", "queries", "keys")}

BAD = """import os, signal, sys
import numpy as np
import nysbench

def raises(points, m):
    print("nobody", 3 * m)
    raise ValueError("not\\n this")

def fails_deep(points, m):
    return np.linalg.cholesky(points)

def writes(points, m): points[0] = 0
def writes_keys(queries, keys, m): keys[0] = 0
def writes_queries(queries, keys, m): queries[0] = 0
def long(points, m): raise KeyError("x" * 1000)
def nothing(points, m): pass
def mask(points, m): return np.arange(len(points)) < m
def texts(points, m): return ["a"] * m
def shape(points, m): return np.arange(3 * m).reshape(3, m)
def few(points, m): return range(m - 1)
def wide(points, m): return np.zeros((m, 1))
def ragged(points, m): return [[1], [1, 2]]
def short(points, m): return nysbench.Groups([0, 1])
def real_groups(points, m): return nysbench.Groups(np.zeros(len(points)))
def flat(points, m): return np.zeros(m)
def pair(points, m): return range(m), range(m)
def mixed(queries, keys, m): return nysbench.Groups([0] * len(keys)), np.arange(m)
def point(queries, keys, m): return keys[:m]
def far_apart(queries, keys, m): return range(m), range(m + 1)
def exits(points, m): sys.exit(3)
def gone(points, m): os._exit(0)
def killed(points, m): os.kill(os.getpid(), signal.SIGKILL)
def needs(points, m, power): return range(m)
def named(points, m, *rest): return range(m)
def more(points, m, **rest): return range(m)
def unnamed(points): return range(3)
def two(queries, keys, m): return range(m)
def one(keys, m): return range(m)
def part(points, keys, m): return range(m)
def joint(points, m): return range(m)
def blend(points, queries, m): return range(m)
number = 3

class Mute(Exception):
    def __str__(self):
        raise LookupError

def odd(points, m):
    raise [ValueError("a\\0b"), OSError("cannot read caf\\udce9.npy,\\x1b[1m\\u2028é"), Mute()][m - 1]
"""


def run(words, questions):
    """In a new process: as with `python3 -m nysbench.serve` and these words."""
    try:
        code = serve.main(words)
    except SystemExit as end:
        code = end.code
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


class Served(golden.Case):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder, self.count = folder.name, itertools.count()

    def write(self, text, name="mine.py"):
        path = os.path.join(self.folder, name)
        with open(path, "w") as file:
            file.write(text)
        return path

    def question(self, side="joint", m=M, seed=7, causal=False, arrays=ARRAYS):
        """A question, and a new folder with its arrays, as the program leaves them."""
        folder = os.path.join(self.folder, str(next(self.count)))
        os.mkdir(folder)
        names = ("queries", "keys") if side == "both" else ("points",)
        for name in names:
            np.save(os.path.join(folder, name + ".npy"), arrays[name])
        n, d = arrays[names[0]].shape
        return {"m": m, "side": side, "seed": seed, "n": n, "d": d, "causal": causal, "folder": folder}

    def serve(self, words, *questions):
        """How the process ended, its answers, and what stands in its standard error."""
        with tempfile.TemporaryFile() as asked, tempfile.TemporaryFile() as answered, tempfile.TemporaryFile() as told:
            asked.write("".join(json.dumps(question) + "\n" for question in questions).encode())
            asked.seek(0)
            sys.stdout.flush()
            pid = os.fork()
            if pid == 0:
                for number, file in enumerate((asked, answered, told)):
                    os.dup2(file.fileno(), number)
                run(words, questions)
            end = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            answered.seek(0), told.seek(0)
            answers = [json.loads(line) for line in answered.read().decode().splitlines()]
            return end, answers, told.read().decode()

    def served(self, words, *questions):
        """The answers of a process that was ready and ended with its questions, in silence."""
        end, (ready, *answers), told = self.serve(words, *questions)
        self.assertEqual((end, ready, told), (0, {"ready": 1, "name": ready["name"]}, ""))
        self.assertEqual(len(answers), len(questions))
        return answers

    def left(self, question):
        """What the question's folder has got, by the file's name."""
        given = {"points.npy", "queries.npy", "keys.npy"}
        files = sorted(set(os.listdir(question["folder"])) - given)
        return {file: np.load(os.path.join(question["folder"], file)) for file in files}


class Mistakes(Served):
    def errors(self, function, side="joint", ends=None, printed=""):
        """It answers with an error, twice: the process goes on. Nothing is left. The error is told, but for one whose
        end is given: NumPy's."""
        path, questions = self.write(BAD, "bad.py"), [self.question(side), self.question(side)]
        with self.subTest(function):
            end, (ready, answer, again), told = self.serve([path, function], *questions)
            self.assertEqual((ready, list(answer), again), ({"ready": 1, "name": function}, ["error"], answer))
            self.assertEqual([self.left(question) for question in questions], [{}, {}])
            self.assertEqual((end, told), (0, printed * 2))
            if ends is None:
                self.tell(answer["error"])
            else:
                self.assertTrue(answer["error"].endswith(f" (bad.py, line {ends})"), answer)

    def error(self, words, question):
        """The only answer is an error, which is told."""
        answer, = self.served(words, question)
        self.assertEqual(list(answer), ["error"])
        self.tell(answer["error"])

    def test_results(self):
        for function in "nothing", "mask", "texts", "shape", "few", "wide", "flat", "pair", "short", "real_groups":
            self.errors(function)

    def test_results_of_both_sides(self):
        for function in "mixed", "point":
            self.errors(function, "both")
        self.error([self.write(BAD), "far_apart"], self.question("both"))

    def test_exceptions(self):
        """With the last place in the file, in one line."""
        self.errors("raises", printed="nobody 9\n")
        self.errors("fails_deep", ends="10: return np.linalg.cholesky(points)")
        self.errors("writes", ends="12: def writes(points, m): points[0] = 0")
        self.errors("writes_keys", "both", "13: def writes_keys(queries, keys, m): keys[0] = 0")
        self.errors("writes_queries", "both", "14: def writes_queries(queries, keys, m): queries[0] = 0")
        self.errors("long")

    def test_exceptions_with_odd_texts(self):
        """Without the characters that a reader of JSON refuses; a good letter stays. One has no text at all."""
        for m in 1, 2, 3:
            self.error([self.write(BAD, "bad.py"), "odd"], self.question(m=m))

    def test_ragged_lists(self):
        self.error([self.write(BAD), "ragged"], self.question())

    def test_pairings(self):
        for function, side in (("two", "keys"), ("one", "queries"), ("one", "shared"), ("joint", "both"),
                               ("blend", "both")):
            self.errors(function, side)

    def test_sides_of_pairings(self):
        """With joint points the sides are their halves, with one side's they are the points."""
        path = self.write("def f(keys, m): return keys.sum(1).argsort()[:m]\n"
                          "def g(queries, keys, m): return queries[:, 0].argsort()[:m]\n")
        for function, side, expected in (("f", "joint", ARRAYS["points"][:, 1]), ("f", "keys", ARRAYS["points"].sum(1)),
                                         ("g", "joint", ARRAYS["points"][:, 0])):
            question = self.question(side)
            self.assertEqual(self.served([path, function], question), [{"done": "picks"}])
            self.assertEqual(self.left(question)["picks.npy"].tolist(), expected.argsort()[:M].tolist())

    def test_cores(self):
        """X of F, A and B; a function of these is no strategy, and the other way round."""
        rng = np.random.default_rng(7)
        factors = {"F": rng.random((N, M)), "A": rng.random((M, M)), "B": rng.random((M, N))}
        folder = tempfile.mkdtemp(dir=self.folder)
        for name, x in factors.items():
            np.save(os.path.join(folder, name + ".npy"), x)
        question = {"do": "core", "folder": folder, "m": M, "n": N, "seed": 3, "causal": False}
        path = self.write("import numpy as np\ndef pinv(A): return np.linalg.pinv(A)\ndef wide(F, B): return F\n"
                          "def pick(points, m): return range(m)\n")
        self.assertEqual(self.served([path, "pinv"], question), [{"done": "core"}])
        found = np.load(os.path.join(folder, "X.npy"))
        # a matrix of condition 1e3 at most: the inverse by solving differs by its rounding
        np.testing.assert_allclose(found @ factors["A"], np.eye(M), atol=1e-10)
        self.error([path, "wide"], question)
        self.error([path, "pick"], question)
        self.error([path, "pinv"], self.question())

    def test_ends(self):
        """A function that ends the process ends it so, without an answer; but sys.exit() is an exception."""
        for function, expected in ("gone", 0), ("killed", -signal.SIGKILL):
            with self.subTest(function):
                end, answers, _ = self.serve([self.write(BAD), function], self.question(), self.question())
                self.assertEqual((end, answers), (expected, [{"ready": 1, "name": function}]))
        self.errors("exits")

    def test_values(self):
        """What no check of shapes sees: tokens, groups and points that nysbench would refuse."""
        for text in ("[4, 2, 4]", "[4, 20, 2]", "[4, 2, -1]", "np.array([[0, 0], [0, np.nan], [1, 1]])",
                     "nysbench.Groups([0, 1] * 10)", "nysbench.Groups([0, 1, 2, 3] * 5)"):
            path = self.write(f"import numpy as np, nysbench\ndef f(points, m): return {text}\n")
            self.error([path, "f"], self.question())

    def test_a_file_that_ends_python(self):
        path = self.write("import sys\ndef f(points, m): return range(m)\nsys.exit(4)\n", "ends.py")
        end, answers, told = self.serve([path, "f"])
        self.assertEqual((end, answers, told), (2, [], "nysbench.serve: called sys.exit(4)\n"))


class Starts(Served):
    def refused(self, words):
        """With a line, which is told."""
        with self.subTest(words):
            end, answers, told = self.serve(words, self.question())
            self.assertEqual((end, answers, told.count("\n")), (2, [], 1))
            self.tell(told)

    def test_functions_and_options(self):
        bad = self.write(BAD, "bad.py")
        for words in ("", "nope", "number", "needs", "needs power=2 power=3", "needs power=2 scale=3", "two scale=3",
                      "needs power=2 3", "named", "more", "unnamed"):
            self.refused([bad, *words.split()])

    def test_several_strategies(self):
        path = self.write("import nysbench\ndef f(points, m): return range(m)\none = nysbench.strategy(f)\n"
                          "two = nysbench.strategy(f)\nthree = 3\n")
        self.refused([path])
        self.assertEqual(self.served([path, "two"], self.question()), [{"done": "picks"}])

    def test_one_strategy_with_two_names(self):
        path = self.write("import nysbench\n@nysbench.strategy\ndef one(points, m): return range(m)\ntwo = one\n")
        self.assertEqual(self.served([path], self.question()), [{"done": "picks"}])

    def test_files(self):
        self.refused([os.path.join(self.folder, "none.py")])
        end, answers, told = self.serve([self.write("import nysbench, nowhere\n", "import.py")])
        self.assertEqual((end, answers, "'nowhere' (import.py, line 1: " in told), (2, [], True), told)
        text = self.write("def f(:\n", "text.py")
        end, answers, told = self.serve([text])
        self.assertEqual((end, answers, told[:32]), (2, [], "nysbench.serve: SyntaxError: inv"))

    def test_without_serve(self):
        """The program gives the folder of the pick as the last word then."""
        path, folder = self.write(BAD), self.question()["folder"]
        open(os.path.join(folder, "request.json"), "w").close()
        for words in [path, folder], [path, "joint", folder]:
            self.refused(words)

    def test_a_copy_that_cannot_be_read(self):
        with open(os.path.join(self.folder, "old.pkl"), "wb") as file:
            file.write(b"cnysbench._gone\nmine\n.")
        self.refused([file.name])

    def test_help(self):
        for words in ["--help"], ["-h"], []:
            end, answers, told = self.serve(words)
            self.assertEqual((end, answers, told), (2, [], serve.__doc__ + "\n"))


class Picks(Served):
    def test_what_is_saved(self):
        """Whatever it was, integers become int64, floats float64."""
        path = self.write("import numpy as np\nfrom nysbench import Groups\ndef pick(points, m, what):\n"
                          "    return eval(what)\n")
        for what, kind, expected in (
                ("range(m)", "picks", np.arange(3)),
                ("[4, 0, 17]", "picks", np.array([4, 0, 17])),
                ("np.arange(m, dtype=np.uint8)[::-1]", "picks", np.array([2, 1, 0])),
                ("points[:m]", "picks", ARRAYS["points"][:3]),
                ("points.T[:, :m].T", "picks", ARRAYS["points"][:3]),
                ("points[:m].astype(np.float32)", "picks", ARRAYS["points"][:3].astype(np.float32).astype(float)),
                ("Groups(np.arange(len(points)) % m)", "groups", np.arange(20) % 3)):
            with self.subTest(what):
                question = self.question()
                self.assertEqual(self.served([path, "pick", "what=" + what], question), [{"done": kind}])
                left = self.left(question)
                self.assertEqual(list(left), ["picks.npy"])
                self.assertEqual(left["picks.npy"].dtype, np.float64 if expected.dtype.kind == "f" else np.int64)
                np.testing.assert_array_equal(left["picks.npy"], expected)

    def test_both_sides(self):
        """One answer for both, two, points and groups."""
        path = self.write("""import numpy as np
from nysbench import Groups
def scores(queries, keys): return np.argsort((queries * keys).sum(axis=1)), np.argsort((keys * keys).sum(axis=1))
def one(queries, keys, m): return scores(queries, keys)[0][:m]
def two(queries, keys, m): return tuple(side[:m] for side in scores(queries, keys))
def points(queries, keys, m): return tuple(x[side[:m]] for x, side in zip((queries, keys), scores(queries, keys)))
def parts(queries, keys, m): return Groups(np.arange(len(keys)) * m // len(keys))
def other(queries, keys, m): return parts(queries, keys, m), Groups(np.arange(len(keys)) % m)
def listed(queries, keys, m): return [0, 1]
def key(keys, m): return scores(keys, keys)[1][:m]
def query(queries, m): return scores(queries, queries)[1][:m]
def every(points, queries, keys, m): return one(queries, keys, m) if points is None else "none"
""")
        q, k = ARRAYS["queries"], ARRAYS["keys"]
        first, second = np.argsort((q * k).sum(axis=1))[:3], np.argsort((k * k).sum(axis=1))[:3]
        parts = np.arange(20) * 3 // 20
        for function, kind, expected in (
                ("one", "picks", {"picks": first}),
                ("two", "picks", {"key_picks": second, "query_picks": first}),
                ("points", "picks", {"key_picks": k[second], "query_picks": q[first]}),
                ("parts", "groups", {"picks": parts}),
                ("other", "groups", {"key_picks": np.arange(20) % 3, "query_picks": parts}),
                ("key", "picks", {"picks": second}),
                ("query", "picks", {"picks": np.argsort((q * q).sum(axis=1))[:3]}),
                ("every", "picks", {"picks": first})):
            with self.subTest(function):
                question = self.question("both")
                self.assertEqual(self.served([path, function], question), [{"done": kind}])
                left = self.left(question)
                self.assertEqual(list(left), [name + ".npy" for name in expected])
                for name, array in expected.items():
                    np.testing.assert_array_equal(left[name + ".npy"], array)
        question = self.question("both", m=2)
        self.assertEqual(self.served([path, "listed"], question), [{"done": "picks"}])
        np.testing.assert_array_equal(self.left(question)["picks.npy"], [0, 1]) # a list of two is one answer

    def test_what_a_function_is_given(self):
        path = self.write("""import json
import numpy as np
def told(points, queries, keys, m, rng, seed, side, causal):
    drawn = rng.permutation(50).tolist()
    arrays = [None if x is None else [str(x.dtype), x.tolist(), x.flags.writeable] for x in (points, queries, keys)]
    print(json.dumps([arrays, m, seed, side, causal, drawn]))
    return range(m)
""")
        questions = [self.question(side, m, seed, causal) for side, m, seed, causal in
                     (("joint", 3, 7, False), ("queries", 3, 2**32 - 1, True), ("keys", 1, 0, False),
                      ("shared", N, 7, False), ("both", 2, 8, True))]
        end, answers, told = self.serve([path, "told"], *questions)
        self.assertEqual((end, answers[0]["ready"], answers[1:]), (0, 1, [{"done": "picks"}] * 5), told)
        for question, line in zip(questions, told.splitlines(), strict=True):
            points = ARRAYS["points"]
            there = {"both": {"queries": ARRAYS["queries"], "keys": ARRAYS["keys"]},
                     "joint": {"points": points, "queries": points[:, :1], "keys": points[:, 1:]},
                     "shared": {"points": points}}
            there = there.get(question["side"], {"points": points, question["side"]: points})
            arrays = [["float64", there[name].tolist(), False] if name in there else None
                      for name in ("points", "queries", "keys")]
            drawn = np.random.default_rng(question["seed"]).permutation(50).tolist()
            self.assertEqual(json.loads(line),
                             [arrays, *(question[key] for key in ("m", "seed", "side", "causal")), drawn])
            np.testing.assert_array_equal(self.left(question)["picks.npy"], np.arange(question["m"]))

    def test_sizes(self):
        """One process, and heads as nysbench check has them: one token, one dimension, as many landmarks as tokens."""
        path = self.write("def drawn(points, queries, keys, m, rng):\n"
                          "    one, two = (rng.permutation(len(keys if points is None else points))[:m] for _ in "
                          "range(2))\n"
                          "    return (one, two) if points is None else one\n")
        questions = []
        for (n, d), side in itertools.product(((1, 1), (2, 3), (7, 4), (130, 5)), ("joint", "keys", "both")):
            arrays = {name: np.zeros((n, d)) for name in ARRAYS}
            questions += [self.question(side, m, m + n, arrays=arrays) for m in sorted({1, (n + 1) // 2, n})]
        self.assertEqual(self.served([path, "drawn"], *questions), [{"done": "picks"}] * len(questions))
        for question in questions:
            left = self.left(question)
            self.assertEqual(len(left), 2 if question["side"] == "both" else 1)
            for tokens in left.values():
                self.assertEqual(len(set(tokens.tolist())), question["m"])

    def test_options(self):
        path = self.write("""import nysbench
@nysbench.strategy
def shown(points, m, first=0, note="", flag=False, *, scale=1.5, none=None):
    \"\"\"Some, at random.\"\"\"
    print(repr([first, note, flag, scale, none]))
    return range(m)
""")
        for words, expected in (
                ("", "[0, '', False, 1.5, None]"),
                ("first=3 note=a=b flag=true", "[3, 'a=b', True, 1.5, None]"),
                ("note= flag=false scale=-2 none=x", "[0, '', False, -2, 'x']"),
                ("first=1.0 scale=inf none=1e3", "[1.0, '', False, inf, 1000.0]"),
                ("first=-7 scale=nan none=True", "[-7, '', False, nan, 'True']")):
            for named in [], ["shown"]:
                with self.subTest(words, named=named):
                    end, answers, told = self.serve([path, *named, *words.split()], self.question())
                    self.assertEqual((end, answers[1:], told), (0, [{"done": "picks"}], expected + "\n"))

    def test_standard_streams(self):
        """What a function reads is empty; what it prints, writes and starts does not get between the answers."""
        path = self.write("""import os, subprocess, sys
print('{"done": "picks"}')
def loud(points, m):
    print("a word")
    os.write(1, b"b\\n")
    subprocess.run("echo c; cat", shell=True, check=True)
    assert sys.stdin.read() == "" and os.read(0, 1) == b""
    return range(m)
def quarrels(points, m):
    loud(points, m)
    raise KeyError(m)
""")
        end, answers, told = self.serve([path, "loud"], self.question(), self.question())
        self.assertEqual((end, answers[0]["ready"], answers[1:]), (0, 1, [{"done": "picks"}] * 2), told)
        self.assertEqual(sorted(told.splitlines()), sorted(['{"done": "picks"}'] + ["a word", "b", "c"] * 2))
        end, answers, told = self.serve([path, "quarrels"], self.question())
        self.assertEqual((end, answers[1:]),
                         (0, [{"error": "KeyError: 3 (mine.py, line 11: raise KeyError(m))"}]))

    def test_the_file_as_it_is_now(self):
        """Files beside it are found, and a change of the same size within a second counts."""
        self.write("three = 3\n", "beside.py")
        for first in 1, 2:
            path = self.write(f"import beside\ndef pick(points, m): return range({first}, {first} + beside.three)\n")
            question = self.question()
            self.served([path, "pick"], question)
            self.assertEqual(self.left(question)["picks.npy"].tolist(), [first, first + 1, first + 2])

    def test_the_function_in_the_manual(self):
        """It picks; without NAME=VALUE its option has its default; it stays a function."""
        with open("docs/plugins.md") as page:
            section = page.read().partition("\n## A strategy in Python\n")[2].partition("\nand in the config")[0]
        text = "".join(line[4:] if line.startswith("    ") else "\n" for line in section.splitlines(True))
        self.assertIn("nysbench.strategy", text)
        path = self.write(text)
        for words in ["norms", "power=1"], ["norms"], []:
            question = self.question(m=5)
            self.assertEqual(self.served([path, *words], question), [{"done": "picks"}])
            self.assertEqual(len(set(self.left(question)["picks.npy"].tolist())), 5)
        mine = types.ModuleType("mine")
        exec(text, vars(mine))
        points = np.ones((6, 2)) * np.arange(6)[:, None]
        self.assertNotIn(0, mine.norms(points, 5, np.random.default_rng(0))) # the token of norm 0 is the last
        self.assertEqual((mine.norms.__name__, mine.norms.options), ("norms", {"power": 2.0}))
        self.assertIsInstance(nysbench.Groups([0, 1]).labels, np.ndarray)


if __name__ == "__main__":
    tap.main()
