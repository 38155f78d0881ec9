//! Links that give access to anyone who has them: calendars, invitations, magic links, signed addresses, webhooks.

use std::ops::Range;

use tessera_tables::{field, section, words};

use super::super::stand_in;
use super::LINK;
use super::line::Line;
use crate::LISTS;
use crate::place::Finding;

/// Parameters whose value gives access.
const PARAMETERS: &str = "sig signature secret token access_token auth key pwd passcode password code invite hash x-amz-signature \
    x-goog-signature se_sig sv_token ticket magic auth_token authkey share_token";
/// Parts of a path, and words of a sentence, that make a link private.
const PRIVATE: &[&str] = words!(field(section(LISTS, "private links"), "parts"));
const SAID: &[&str] = words!(field(section(LISTS, "private links"), "said"));
/// Minimum length of a random part of a path.
const SHORTEST: usize = 6;

/// Adds the secret parts of private links.
pub(super) fn find(line: &Line<'_>, found: &mut Vec<Finding>) {
    let text = line.head(line.span.end);
    if !text.contains("://") {
        return;
    }
    let lower = text.to_lowercase();
    let is_said = SAID.iter().any(|said| lower.contains(said));
    for (at, _) in text.match_indices("://") {
        let rest = text.get(at + 3..).unwrap_or_default();
        let length =
            rest.find(|letter: char| letter.is_whitespace() || "\"'`<>)»”".contains(letter)).unwrap_or(rest.len());
        let url = rest.get(..length).unwrap_or_default().trim_end_matches(['.', ',', ';']);
        let start = line.span.start + at + 3;
        let spans = parameters(url).chain(parts(url, is_said));
        found.extend(spans.map(|span| Finding { span: start + span.start..start + span.end, kind: LINK }));
    }
}

/// The values of URL parameters that are credentials.
fn parameters(url: &str) -> impl Iterator<Item = Range<usize>> {
    let (path, query) = url.split_once(['?', '#']).unwrap_or((url, ""));
    let mut from = path.len() + 1;
    query.split('&').filter_map(move |pair| {
        let start = from;
        from += pair.len() + 1;
        let (name, value) = pair.split_once('=')?;
        let is_secret = PARAMETERS.split_ascii_whitespace().any(|known| known.eq_ignore_ascii_case(name));
        let is_given =
            value.len() >= SHORTEST && !stand_in::is_template_or_row(value) && !value.starts_with(['$', '{', '<']);
        (is_secret && is_given).then(|| start + name.len() + 1..start + pair.len())
    })
}

/// Random parts of the path, if a word in the path or in the sentence makes the link private.
fn parts(url: &str, is_said: bool) -> impl Iterator<Item = Range<usize>> {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let lower = path.to_lowercase();
    let is_private = is_said || PRIVATE.iter().any(|part| lower.contains(part));
    let mut from = 0;
    path.split('/').enumerate().filter_map(move |(depth, part)| {
        let start = from;
        from += part.len() + 1;
        // The host is not a secret.
        let is_drawn = depth > 0 && is_private && part.len() >= SHORTEST && is_drawn(part);
        is_drawn.then(|| start..start + part.len())
    })
}

/// True if a path component looks random: digits among letters, or capital letters among small letters.
fn is_drawn(part: &str) -> bool {
    let digits = part.bytes().filter(u8::is_ascii_digit).count();
    let letters = part.bytes().filter(u8::is_ascii_alphabetic).count();
    let has_both =
        part.bytes().any(|byte| byte.is_ascii_uppercase()) && part.bytes().any(|byte| byte.is_ascii_lowercase());
    let is_file = part.contains('.');
    !is_file && letters > 0 && (digits > 0 || has_both && part.len() >= 12) && !stand_in::is_template_or_row(part)
}
