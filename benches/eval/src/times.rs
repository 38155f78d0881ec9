//! Measures how well times are understood: the values of options, and the times in questions.

use std::path::Path;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use tessera_calendar::{Toward, Window, option};
use tessera_engine::domain::Timestamp;
use tessera_engine::recall::{TimeOrder, Timing};

use crate::{EvalError, read};

/// One entry of a set, and what Tessera understood.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct TimeAnswer {
    /// `option`, `reject`, or the kind of the question.
    pub group: String,
    /// The language.
    pub lang: String,
    /// The text.
    pub text: String,
    /// The understood window and order, or the error.
    pub got: String,
    /// The expected window and order; for a rejected option, the reason.
    pub expected: String,
    /// True if both agree.
    pub is_right: bool,
    /// True if reasonable people disagree about the entry.
    pub is_soft: bool,
}

#[derive(Deserialize)]
struct TimeFile {
    now: DateTime,
    zone: String,
    option: Vec<OptionEntry>,
    reject: Vec<Reject>,
    question: Vec<Question>,
}

#[derive(Deserialize)]
struct Bounds {
    from: Option<DateTime>,
    to: Option<DateTime>,
}

#[derive(Deserialize)]
struct OptionEntry {
    text: String,
    lang: String,
    #[serde(flatten)]
    window: Bounds,
    opt: String,
    #[serde(default)]
    soft: bool,
    #[serde(default)]
    alt: Vec<Bounds>,
}

#[derive(Deserialize)]
struct Reject {
    text: String,
    lang: String,
    why: String,
}

#[derive(Deserialize)]
struct Question {
    q: String,
    lang: String,
    #[serde(flatten)]
    window: Bounds,
    order: Option<String>,
    kind: String,
    #[serde(default)]
    soft: bool,
    #[serde(default)]
    alt: Vec<Bounds>,
}

impl From<&Bounds> for Window {
    fn from(bounds: &Bounds) -> Self {
        Self { from: bounds.from, to: bounds.to }
    }
}

/// Checks every entry of a file in the format of `fixtures/times`.
///
/// # Errors
/// Returns an error if the file cannot be read, has another format, or names an unknown time zone.
pub fn evaluate(path: &Path) -> Result<Vec<TimeAnswer>, EvalError> {
    let bad = |problem: String| EvalError::Format { path: path.to_path_buf(), problem };
    let file: TimeFile = serde_json::from_str(&read(path)?).map_err(|error| bad(error.to_string()))?;
    let zone = TimeZone::get(&file.zone).map_err(|error| bad(error.to_string()))?;
    let now = file.now.to_zoned(zone.clone()).map_err(|error| bad(error.to_string()))?;
    let mut answers = Vec::new();
    for entry in &file.option {
        let toward = if entry.opt == "expires" { Toward::Future } else { Toward::Past };
        let got = option(&entry.text, &now, toward);
        let expected: Vec<Window> = [&entry.window].into_iter().chain(&entry.alt).map(Window::from).collect();
        answers.push(TimeAnswer {
            group: "option".to_owned(),
            lang: entry.lang.clone(),
            text: entry.text.clone(),
            got: got.map_or_else(|problem| problem.to_string(), shown),
            expected: shown(Window::from(&entry.window)),
            is_right: got.is_ok_and(|got| expected.contains(&got)),
            is_soft: entry.soft,
        });
    }
    for entry in &file.reject {
        let got = option(&entry.text, &now, Toward::Past);
        answers.push(TimeAnswer {
            group: "reject".to_owned(),
            lang: entry.lang.clone(),
            text: entry.text.clone(),
            got: got.map_or_else(|problem| problem.to_string(), shown),
            expected: entry.why.clone(),
            is_right: got.is_err(),
            is_soft: false,
        });
    }
    let instant = Timestamp::from_micros(now.timestamp().as_microsecond());
    answers.extend(file.question.iter().map(|entry| question(entry, instant, &zone)));
    Ok(answers)
}

fn question(entry: &Question, now: Timestamp, zone: &TimeZone) -> TimeAnswer {
    let timing = Timing::read(&entry.q, now, zone);
    let local =
        |time: Timestamp| jiff::Timestamp::from_microsecond(time.as_micros()).ok().map(|time| zone.to_datetime(time));
    let got = timing.as_ref().map_or_else(Window::default, |timing| Window {
        from: timing.from.and_then(local),
        to: timing.to.and_then(local),
    });
    let order = timing.as_ref().and_then(|timing| timing.order).map(|order| match order {
        TimeOrder::Newest => "newest",
        TimeOrder::Oldest => "oldest",
    });
    let ordered = |window: Window, order: Option<&str>| format!("{} {}", shown(window), order.unwrap_or("-"));
    let is_window = [&entry.window].into_iter().chain(&entry.alt).any(|window| Window::from(window) == got);
    let is_order = order == entry.order.as_deref();
    TimeAnswer {
        group: entry.kind.clone(),
        lang: entry.lang.clone(),
        text: entry.q.clone(),
        got: ordered(got, order),
        expected: ordered(Window::from(&entry.window), entry.order.as_deref()),
        is_right: is_window && is_order,
        is_soft: entry.soft,
    }
}

/// A window as text. An open end is shown as `..`.
fn shown(window: Window) -> String {
    let bound = |time: Option<DateTime>| time.map_or_else(|| "..".to_owned(), |time| time.to_string());
    format!("{} {}", bound(window.from), bound(window.to))
}
