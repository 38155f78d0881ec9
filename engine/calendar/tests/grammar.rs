//! The grammar of times: options, questions, errors, and arbitrary text.

use jiff::Zoned;
use jiff::tz::TimeZone;
use proptest::prelude::*;
use tessera_calendar::{Problem, Toward, Window, mention, option};

/// Wednesday.
fn now() -> Zoned {
    jiff::civil::date(2026, 11, 18)
        .at(15, 30, 0, 0)
        .to_zoned(TimeZone::fixed(jiff::tz::offset(2)))
        .expect("a valid time")
}

/// A window in short form: whole days without their time.
fn shown(window: Window) -> String {
    let bound = |time: Option<jiff::civil::DateTime>| {
        time.map_or_else(String::new, |time| time.to_string().trim_end_matches("T00:00:00").to_owned())
    };
    format!("{}..{}", bound(window.from), bound(window.to))
}

#[test]
fn options_are_understood_in_seven_languages() {
    for (text, expected) in [
        ("today", "2026-11-18..2026-11-19"),
        ("Yesterday", "2026-11-17..2026-11-18"),
        ("yesterday evening", "2026-11-17T18:00:00..2026-11-18"),
        ("1h", "2026-11-18T14:30:00..2026-11-18T14:31:00"),
        ("90 min", "2026-11-18T14:00:00..2026-11-18T14:01:00"),
        ("2w", "2026-11-04..2026-11-05"),
        ("an hour and a half ago", "2026-11-18T14:00:00..2026-11-18T14:01:00"),
        ("the week before last", "2026-11-02..2026-11-09"),
        ("in the last 2 hours", "2026-11-18T13:30:00.."),
        ("older than 3 months", "..2026-08-18"),
        ("from 28 September to 2 October", "2026-09-28..2026-10-03"),
        ("from Friday to Monday", "2026-11-13..2026-11-17"),
        ("between 9:00 and 11:30", "2026-11-18T09:00:00..2026-11-18T11:30:00"),
        ("December", "2025-12-01..2026-01-01"),
        ("Feb 29, 2024", "2024-02-29..2024-03-01"),
        ("2026-W45", "2026-11-02..2026-11-09"),
        ("last weekend", "2026-11-14..2026-11-16"),
        ("2026-11-17T23:30:00Z", "2026-11-18T01:30:00..2026-11-18T01:30:01"),
        ("letzten Dienstag", "2026-11-17..2026-11-18"),
        ("vor zwei Wochen", "2026-11-04..2026-11-05"),
        ("vom 3. bis 10. Oktober", "2026-10-03..2026-10-11"),
        ("Montagabend", "2026-11-16T18:00:00..2026-11-17"),
        ("le mois dernier", "2026-10-01..2026-11-01"),
        ("avant l'été", "..2026-06-01"),
        ("hace dos semanas", "2026-11-04..2026-11-05"),
        ("desde principios de mes", "2026-11-01.."),
        ("na semana passada", "2026-11-09..2026-11-16"),
        ("até sexta-feira", "..2026-11-14"),
        ("去年3月", "2025-03-01..2025-04-01"),
        ("昨天下午3点", "2026-11-17T15:00:00..2026-11-17T15:01:00"),
        ("先月5日", "2026-10-05..2026-10-06"),
        ("月曜日以降", "2026-11-16.."),
    ] {
        let got = option(text, &now(), Toward::Past).map(shown);
        assert_eq!(got.as_deref(), Ok(expected), "{text}");
    }
}

#[test]
fn an_expiry_is_in_the_future() {
    for (text, expected) in [
        ("Friday", "2026-11-20..2026-11-21"),
        ("next week", "2026-11-23..2026-11-30"),
        ("end of the year", "2026-12-31..2027-01-01"),
        ("5d", "2026-11-23..2026-11-24"),
        ("March 2", "2027-03-02..2027-03-03"),
        ("dans deux semaines", "2026-12-02..2026-12-03"),
        ("übermorgen um 9 Uhr", "2026-11-20T09:00:00..2026-11-20T09:01:00"),
        ("Quartalsende", "2026-12-31..2027-01-01"),
    ] {
        let got = option(text, &now(), Toward::Future).map(shown);
        assert_eq!(got.as_deref(), Ok(expected), "{text}");
    }
}

#[test]
fn a_wrong_time_is_refused_with_its_problem() {
    for (text, problem) in [
        (" ", Problem::Empty),
        ("soon", Problem::Unknown),
        ("7", Problem::NoUnit),
        ("since last", Problem::Incomplete),
        ("letzte semaine", Problem::Mixed),
        ("30 February", Problem::NoSuchDay),
        ("2026-13-01", Problem::NoSuchMonth),
        ("KW 54", Problem::NoSuchWeek),
        ("Q7", Problem::NoSuchQuarter),
        ("25:10", Problem::NoSuchTime),
        ("13pm", Problem::TwoClocks),
        ("03/04/2026", Problem::Ambiguous),
        ("Sunday, 18 November 2026", Problem::OtherWeekday),
        ("2026-11-23T10:00+99:00", Problem::NoSuchZone),
        ("2026-11-23T", Problem::CutOff),
        ("999999 years ago", Problem::OutOfRange),
        ("yesterday\0", Problem::Unknown),
        ("🙂", Problem::Unknown),
    ] {
        assert_eq!(option(text, &now(), Toward::Past), Err(problem), "{text}");
    }
    assert_eq!(option(&"today ".repeat(1000), &now(), Toward::Past), Err(Problem::Unknown));
}

#[test]
fn a_question_names_a_time_only_in_an_unmistakable_form() {
    let window = |question: &str| mention(question, &now()).map(|found| shown(found.window));
    for (question, expected) in [
        ("what did we decide last week?", "2026-11-09..2026-11-16"),
        ("notes from Tuesday", "2026-11-17..2026-11-18"),
        ("what broke yesterday before 10:00?", "2026-11-17..2026-11-17T10:00:00"),
        ("Was haben wir am Montag notiert?", "2026-11-16..2026-11-17"),
        ("¿Qué anotamos el lunes?", "2026-11-16..2026-11-17"),
        ("先週決めたことは?", "2026-11-09..2026-11-16"),
    ] {
        assert_eq!(window(question).as_deref(), Some(expected), "{question}");
    }
    for question in [
        "May I use tabs?",
        "who maintains the Friday service?",
        "what is due tomorrow?",
        "do we deploy every Monday?",
        "why is port 2026 open?",
        "how does the \"last week\" filter work?",
        "where is march.rs?",
        "¿Dónde está la segunda réplica?",
        "三月さんは誰ですか?",
    ] {
        assert_eq!(window(question), None, "{question}");
    }
    let question = "what changed in the parser since Monday, and why?";
    let found = mention(question, &now()).unwrap();
    assert_eq!(&question[found.range], "since Monday");
}

proptest! {
    #[test]
    fn any_text_has_an_answer(text in any::<String>(), words in prop::collection::vec(0..PIECES.len(), 0..12)) {
        let pieces: Vec<&str> = words.into_iter().filter_map(|at| PIECES.get(at).copied()).collect();
        for text in [text, pieces.join(" "), pieces.concat()] {
            for toward in [Toward::Past, Toward::Future] {
                if let Ok(Window { from: Some(from), to: Some(to) }) = option(&text, &now(), toward) {
                    prop_assert!(from < to, "{text}");
                }
            }
            if let Some(found) = mention(&text, &now()) {
                prop_assert!(text.get(found.range).is_some(), "{text}");
            }
        }
    }
}

/// Words whose combinations the grammar must survive.
const PIECES: [&str; 40] = [
    "last",
    "since",
    "Monday",
    "of",
    "the",
    "week",
    "3",
    "31",
    "ago",
    "2026-02-28",
    "14:30",
    "until",
    "from",
    "to",
    "in",
    "March",
    "9999",
    "99999999",
    "days",
    "before",
    "vor",
    "il y a",
    "三",
    "月",
    "日",
    "前",
    "周",
    "上",
    "から",
    "12月",
    "end of",
    "quarter",
    "Q4",
    "am",
    "pm",
    "and",
    "half",
    "..",
    "year",
    "'s",
];
