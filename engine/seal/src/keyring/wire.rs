//! Messages of D-Bus: those few forms of them that a keyring needs. Numbers are little-endian, and each value begins at a
//! multiple of its own size.

use zeroize::Zeroizing;

/// The longest message that is read.
pub(super) const MOST_BYTES: usize = 1 << 20;

/// How long the part of a message is that says how long the rest is.
pub(super) const HEAD: usize = 16;

const CALL: u8 = 1;
const RETURN: u8 = 2;
const ERROR: u8 = 3;

const PATH: u8 = 1;
const INTERFACE: u8 = 2;
const MEMBER: u8 = 3;
const ERROR_NAME: u8 = 4;
const REPLY_TO: u8 = 5;
const DESTINATION: u8 = 6;
const SIGNATURE: u8 = 8;

/// Which object of a service is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Path(String);

impl Path {
    pub(super) fn of(text: &str) -> Self {
        Self(text.to_owned())
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

/// Bytes that values are put behind. They may hold a key, so no copy is left behind when they grow.
#[derive(Default)]
struct Writer(Zeroizing<Vec<u8>>);

impl Writer {
    fn put(&mut self, bytes: &[u8]) {
        if self.0.capacity() - self.0.len() < bytes.len() {
            let mut larger = Zeroizing::new(Vec::with_capacity(2 * (self.0.len() + bytes.len()) + 256));
            larger.extend_from_slice(&self.0);
            self.0 = larger;
        }
        self.0.extend_from_slice(bytes);
    }

    fn align(&mut self, to: usize) {
        while !self.0.len().is_multiple_of(to) {
            self.put(&[0]);
        }
    }

    fn number(&mut self, number: usize) {
        self.align(4);
        // What is sent is ours, and never near this long.
        self.put(&u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.number(text.len());
        self.put(text.as_bytes());
        self.put(&[0]);
    }

    fn signature(&mut self, signature: &str) {
        self.put(&[u8::try_from(signature.len()).unwrap_or(u8::MAX)]);
        self.put(signature.as_bytes());
        self.put(&[0]);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len());
        self.put(bytes);
    }

    /// Values of which each begins at a multiple of 8, with their length before them.
    fn array(&mut self, of: impl FnOnce(&mut Self)) {
        self.number(0);
        let at = self.0.len();
        self.align(8);
        let begin = self.0.len();
        of(self);
        let length = u32::try_from(self.0.len() - begin).unwrap_or(u32::MAX).to_le_bytes();
        if let Some(place) = self.0.get_mut(at - 4..at) {
            place.copy_from_slice(&length);
        }
    }

    fn texts(&mut self, texts: &[(&str, &str)]) {
        self.array(|within| {
            for (name, text) in texts {
                within.align(8);
                within.text(name);
                within.text(text);
            }
        });
    }
}

/// A call of a method, with its arguments.
pub(super) struct Call {
    fields: [(u8, &'static str, String); 4],
    signature: String,
    body: Writer,
}

impl Call {
    pub(super) fn of(service: &str, path: &Path, interface: &str, method: &str) -> Self {
        let fields = [
            (PATH, "o", path.0.clone()),
            (INTERFACE, "s", interface.to_owned()),
            (MEMBER, "s", method.to_owned()),
            (DESTINATION, "s", service.to_owned()),
        ];
        Self { fields, signature: String::new(), body: Writer::default() }
    }

    fn with(mut self, signature: &str, put: impl FnOnce(&mut Writer)) -> Self {
        self.signature.push_str(signature);
        put(&mut self.body);
        self
    }

    pub(super) fn text(self, text: &str) -> Self {
        self.with("s", |body| body.text(text))
    }

    pub(super) fn path(self, path: &Path) -> Self {
        self.with("o", |body| body.text(&path.0))
    }

    #[cfg(test)]
    pub(super) fn paths(self, paths: &[&Path]) -> Self {
        // A length, then texts of which each begins at a multiple of 4.
        self.with("ao", |body| {
            let mut within = Writer::default();
            paths.iter().for_each(|path| within.text(&path.0));
            body.bytes(&within.0);
        })
    }

    pub(super) fn truth(self, truth: bool) -> Self {
        self.with("b", |body| body.number(usize::from(truth)))
    }

    pub(super) fn text_variant(self, text: &str) -> Self {
        self.with("v", |body| {
            body.signature("s");
            body.text(text);
        })
    }

    pub(super) fn texts(self, texts: &[(&str, &str)]) -> Self {
        self.with("a{ss}", |body| body.texts(texts))
    }

    /// What an item is called and found by.
    pub(super) fn described_as(self, label: &str, attributes: &[(&str, &str)]) -> Self {
        self.with("a{sv}", |body| {
            body.array(|within| {
                within.align(8);
                within.text("org.freedesktop.Secret.Item.Label");
                within.signature("s");
                within.text(label);
                within.align(8);
                within.text("org.freedesktop.Secret.Item.Attributes");
                within.signature("a{ss}");
                within.texts(attributes);
            });
        })
    }

    /// A secret as a keyring takes it: of a session, with no parameters.
    pub(super) fn secret(self, session: &Path, secret: &[u8]) -> Self {
        self.with("(oayays)", |body| {
            body.align(8);
            body.text(&session.0);
            body.bytes(&[]);
            body.bytes(secret);
            body.text("text/plain");
        })
    }

    /// The bytes that are sent.
    pub(super) fn message(self, serial: u32) -> Zeroizing<Vec<u8>> {
        let mut whole = Writer::default();
        whole.put(&[b'l', CALL, 0, 1]);
        whole.number(self.body.0.len());
        whole.put(&serial.to_le_bytes());
        whole.array(|within| {
            for (code, signature, text) in &self.fields {
                within.align(8);
                within.put(&[*code]);
                within.signature(signature);
                within.text(text);
            }
            if !self.signature.is_empty() {
                within.align(8);
                within.put(&[SIGNATURE]);
                within.signature("g");
                within.signature(&self.signature);
            }
        });
        whole.align(8);
        whole.put(&self.body.0);
        whole.0
    }
}

/// How long a message is, by its head; `None` where it is none, or one too long.
pub(super) fn length(head: &[u8]) -> Option<usize> {
    let mut reader = Reader::of(head)?;
    reader.take(3)?;
    let (body, _serial, fields) = (reader.number()?, reader.number()?, reader.number()?);
    let whole = HEAD.checked_add(fields)?.checked_next_multiple_of(8)?.checked_add(body)?;
    (whole <= MOST_BYTES).then_some(whole)
}

/// What a message answers.
pub(super) struct Answer<'a> {
    /// The call that it answers; none for a signal, which comes unasked.
    pub(super) to: Option<u32>,
    /// The values, or the name of the error.
    pub(super) outcome: Result<Reader<'a>, String>,
}

impl<'a> Answer<'a> {
    /// A whole message; `None` where it is none.
    pub(super) fn read(message: &'a [u8]) -> Option<Self> {
        let mut reader = Reader::of(message)?;
        let kind = *reader.take(1)?.first()?;
        reader.take(2)?;
        let (_body, _serial, fields) = (reader.number()?, reader.number()?, reader.number()?);
        let end = reader.at.checked_add(fields)?;
        let (mut to, mut error) = (None, None);
        while reader.at < end {
            reader.align(8)?;
            let code = *reader.take(1)?.first()?;
            match (code, reader.signature()?) {
                (REPLY_TO, "u") => to = Some(reader.number()?),
                (ERROR_NAME, "s") => error = Some(reader.text()?.to_owned()),
                (_, "s" | "o") => drop(reader.text()?),
                (_, "g") => drop(reader.signature()?),
                (_, "u") => drop(reader.number()?),
                _ => return None,
            }
        }
        reader.align(8)?;
        let to = to.and_then(|to| u32::try_from(to).ok()).filter(|_| matches!(kind, RETURN | ERROR));
        let outcome = if kind == RETURN { Ok(reader) } else { Err(error.unwrap_or_default()) };
        Some(Self { to, outcome })
    }
}

/// The values of a message, one after the other; `None` where there is another or none.
#[derive(Clone)]
pub(super) struct Reader<'a> {
    message: &'a [u8],
    at: usize,
    is_little: bool,
}

impl<'a> Reader<'a> {
    fn of(message: &'a [u8]) -> Option<Self> {
        let is_little = match message.first()? {
            b'l' => true,
            b'B' => false,
            _ => return None,
        };
        Some(Self { message, at: 1, is_little })
    }

    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let end = self.at.checked_add(count)?;
        let taken = self.message.get(self.at..end)?;
        self.at = end;
        Some(taken)
    }

    pub(super) fn align(&mut self, to: usize) -> Option<()> {
        self.take(self.at.next_multiple_of(to) - self.at).map(drop)
    }

    fn number(&mut self) -> Option<usize> {
        self.align(4)?;
        let bytes = self.take(4)?.try_into().ok()?;
        let number = if self.is_little { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) };
        usize::try_from(number).ok()
    }

    fn text(&mut self) -> Option<&'a str> {
        let length = self.number()?;
        let text = str::from_utf8(self.take(length)?).ok()?;
        self.take(1)?;
        Some(text)
    }

    fn signature(&mut self) -> Option<&'a str> {
        let length = usize::from(*self.take(1)?.first()?);
        let text = str::from_utf8(self.take(length)?).ok()?;
        self.take(1)?;
        Some(text)
    }

    pub(super) fn path(&mut self) -> Option<Path> {
        self.text().map(Path::of)
    }

    pub(super) fn paths(&mut self) -> Option<Vec<Path>> {
        let length = self.number()?;
        let end = self.at.checked_add(length)?;
        let mut paths = Vec::new();
        while self.at < end {
            paths.push(self.path()?);
        }
        Some(paths)
    }

    pub(super) fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.number()?;
        self.take(length)
    }

    pub(super) fn text_variant(&mut self) -> Option<&'a str> {
        (self.signature()? == "s").then(|| self.text())?
    }
}

/// A path, where it is all that is answered.
pub(super) fn path(answer: &mut Reader<'_>) -> Option<Path> {
    answer.path()
}

/// A yes or no, where it is all that is answered.
pub(super) fn truth_variant(answer: &mut Reader<'_>) -> Option<bool> {
    (answer.signature()? == "b").then(|| answer.number().map(|number| number != 0))?
}
