"""Writes testdata/json/prints.jsonl: JSON texts and what Python's own json module prints of them.

Usage: python3 tests/json/make_prints.py > testdata/json/prints.jsonl
"""

import json
import random
import struct

FLAVOURS = {
    "py": {"ensure_ascii": False},
    "py_sorted": {"ensure_ascii": False, "sort_keys": True},
    "compact": {"ensure_ascii": False, "separators": (",", ":")},
    "canon": {"ensure_ascii": False, "separators": (",", ":"), "sort_keys": True},
    "indent2": {"ensure_ascii": False, "indent": 2},
}

NUMBERS = """
0 -0 1 -1 0.0 -0.0 -0e0 0e5 1.0 1e0 1E2 1e+2 100e-2 0.1 0.10 -0.5 1.5e1 3.141592653589793 1e15
1e16 1e17 -1e16 123456789012345.6 1234567890123456.7 12345678901234567.0 9999999999999998.0
9999999999999999.0 999999999999999900.0 1e-4 1e-5 0.00012345 0.000012345 0.0001 0.00001
0.00009999999999999999 5e-324 4.9e-324 2.4703282292062328e-324 1e-400 2.2250738585072014e-308
2.225073858507201e-308 1.7976931348623157e308 -1.7976931348623157e+308 1.797693134862315807e308
9007199254740992.0 9007199254740993.0 9007199254740993 0.30000000000000004
0.1000000000000000055511151231257827 1e22 1e23 1e21 8.5e22 9.5367431640625e-07 4.35 2.675 1.005
123456.5 1000000.0 1e5 1e6 1e100 1e-100 1.2e-7 7e-10 33e-9 9223372036854775807
-9223372036854775808 9223372036854775808 -9223372036854775809 18446744073709551615
18446744073709551616 123456789012345678901234567890
-99999999999999999999999999999999999999999999
""".split() + [
    "1" + "0" * 308,
    "-" + "7" * 300,
    "0." + "0" * 400 + "1",
    "3" * 40 + ".5",
    "1." + "0" * 60,
]

TEXTS = [
    "", " ", "plain", "\"quoted\"", "back\\slash", "a/b", "\b\f\n\r\t", "\x00", "a\x00b", "\x7f",
    "\u0080", "\u00e9", "\u2028\u2029", "\ufeff", "\ufffd", "\uffff", "\ue000", "\U00010000",
    "\U0001f600", "\U0010ffff", "e\u0301", "\u05d0\u0627", "<|im_start|>", "</script>",
    "\u001f\u0020", "\ud7ff\ue000", "\u6f22\u5b57\U0001d11e!", "".join(map(chr, range(0x20))),
    "".join(map(chr, range(0x20, 0x80))), "line\nend\n",
]

SHAPES = [
    "null", "true", "false", "[]", "{}", "[[]]", "[{}]", '{"a":{}}', '{"a":[]}', "[[],[],{}]",
    " [ 1 , 2 ] ", '\n{\t"a" :\r1 }\n', '{"b":1,"a":2}', '{"a":1,"b":2,"a":3}',
    '{"a":1,"a":{"a":1,"a":2},"b":[{"c":1,"c":2}]}', '{"":0}', '{"x":null,"":{"":[]}}',
    '{"Z":1,"a":2,"A":3,"_":4,"\\u00e9":5,"\\ud83d\\ude00":6,"\\uffff":7,"\\ue000":8,"aa":9,"":10}',
    '{"10":1,"9":2,"1":3,"01":4}', '{"a\\u0000b":1,"a":2,"a\\u0000":3}',
    '[1,[2,[3,[4,[5,{"six":[7]}]]]]]',
    '{"list":[1,{"x":[true,false,null]},"s"],"o":{"k":{"k":{"k":[]}}}}', '"\\/"',
    '"\\u0041\\u00e9\\ud834\\udd1e"', '"\\u001F"',
    '[{"role":"user","content":"hi"},{"role":"tool","content":[{"type":"text","text":"\\u00e9"}]}]',
    '{"b":{"d":1,"c":[{"z":1,"y":2}]},"a":[{"q":1,"p":2}]}',
]


def random_double(generator):
    while True:
        value = struct.unpack("<d", struct.pack("<Q", generator.getrandbits(64)))[0]
        if value == value and abs(value) != float("inf"):
            return value


def random_text(generator):
    ranges = [(0x20, 0x7E), (0, 0x1F), (0x80, 0x7FF), (0x800, 0xD7FF), (0xE000, 0xFFFF),
              (0x10000, 0x10FFFF)]
    length = generator.randint(0, 6)
    return "".join(chr(generator.randint(*generator.choice(ranges))) for _ in range(length))


def random_value(generator, depth):
    kind = generator.randint(0, 7 if depth else 5)
    if kind == 0:
        return generator.choice([None, True, False])
    if kind == 1:
        return generator.randint(-(10 ** generator.randint(1, 30)), 10 ** generator.randint(1, 30))
    if kind == 2:
        return random_double(generator)
    if kind == 3:
        return round(generator.uniform(-1000, 1000), generator.randint(0, 6))
    if kind <= 5:
        return random_text(generator)
    if kind == 6:
        return [random_value(generator, depth - 1) for _ in range(generator.randint(0, 4))]
    keys = [random_text(generator) for _ in range(generator.randint(0, 4))]
    return {key: random_value(generator, depth - 1) for key in keys}


def texts():
    generator = random.Random(13)
    yield from SHAPES
    yield from NUMBERS
    for text in TEXTS:
        yield json.dumps(text)
        yield json.dumps({text: [text]}, ensure_ascii=False)
    for power in range(-24, 25, 2):
        yield json.dumps([digits * 10.0**power for digits in (1, 9.5, 1.2345678)])
    for _ in range(40):
        yield json.dumps([random_double(generator) for _ in range(4)])
    for index in range(60):
        yield json.dumps(random_value(generator, 3), ensure_ascii=index % 2 == 0)


def main():
    for text in texts():
        value = json.loads(text)
        prints = {name: json.dumps(value, **arguments) for name, arguments in FLAVOURS.items()}
        print(json.dumps({"text": text, **prints}))


if __name__ == "__main__":
    main()
