//! Values of arguments: parsers whose errors say what is wrong with the value, and how to fix it.

use std::ops::RangeInclusive;
use std::str::FromStr;

use tessera_desk::use_cases::Named;
use tessera_engine::domain::{DomainError, Importance, Tag};

/// One argument with a list of tags. Empty entries are ignored.
#[derive(Debug, Clone)]
pub(crate) struct Tags(Vec<Tag>);

impl Tags {
    /// The tags of all arguments.
    pub(crate) fn all(lists: Vec<Self>) -> Vec<Tag> {
        lists.into_iter().flat_map(|list| list.0).collect()
    }
}

impl FromStr for Tags {
    type Err = DomainError;

    fn from_str(text: &str) -> Result<Self, DomainError> {
        if text.trim_end().ends_with(',') {
            // The next word would become a part of the text.
            let fix = "write the list without spaces, for example ops,ports";
            return Err(DomainError::invalid("tags", "ends with a comma", fix));
        }
        Tag::list(text).map(Self)
    }
}

/// One argument with an ID, a list of IDs such as `1,2`, or the path of a file.
#[derive(Debug, Clone)]
pub(crate) struct Ids(Vec<Named>);

impl Ids {
    /// The names in all arguments.
    pub(crate) fn all(lists: Vec<Self>) -> Vec<Named> {
        lists.into_iter().flat_map(|list| list.0).collect()
    }
}

impl FromStr for Ids {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // The name of a file may contain commas.
        if text.contains('/') || !text.contains(',') {
            return named(text).map(|one| Self(vec![one]));
        }
        let each = text.split(',').filter(|one| !one.trim().is_empty());
        let all: Vec<Named> = each.map(named).collect::<Result<_, _>>()?;
        if all.is_empty() { Err("contains no ID; use an ID such as 42".to_owned()) } else { Ok(Self(all)) }
    }
}

/// Parses an ID, a UUID or the path of a file.
pub(crate) fn named(text: &str) -> Result<Named, String> {
    text.parse().map_err(|error: DomainError| match error {
        _ if is_range(text) => "is a range; write each ID, for example 1 2 3".to_owned(),
        DomainError::Invalid { field: "id" | "file", .. } => {
            "is not an ID; use an ID such as 42 (`tessera list` and `tessera recall` show IDs), a UUID, or the path of \
             a file"
                .to_owned()
        }
        other => other.to_string(),
    })
}

fn is_range(text: &str) -> bool {
    let is_id = |text: &str| !text.is_empty() && text.trim_start_matches('#').bytes().all(|byte| byte.is_ascii_digit());
    let ends = text.split_once("..").or_else(|| text.split_once('-'));
    ends.is_some_and(|(first, last)| is_id(first) && is_id(last))
}

/// Parses a whole number in a range.
pub(crate) fn whole(range: RangeInclusive<u32>) -> impl Fn(&str) -> Result<u32, String> + Clone {
    move |text| {
        let (first, last) = (range.start(), range.end());
        let fix = match *last {
            u32::MAX => format!("use a number from {first}"),
            last => format!("use a number from {first} to {last}"),
        };
        match text.trim().parse::<i128>() {
            Ok(number) => u32::try_from(number)
                .ok()
                .filter(|number| range.contains(number))
                .ok_or_else(|| format!("is out of range; {fix}")),
            Err(_) => Err(format!("is not a whole number; {fix}")),
        }
    }
}

/// Parses a number of rows: at least 1.
pub(crate) fn rows(text: &str) -> Result<usize, String> {
    whole(1..=u32::MAX)(text).map(|number| number as usize)
}

/// Parses the number of a change.
pub(crate) fn revision(text: &str) -> Result<u64, String> {
    text.trim().parse().map_err(|_| "is not a revision; use a number that `tessera history ID` shows".to_owned())
}

/// Parses an importance from 0 to 1, or from 1 to 10.
pub(crate) fn importance(text: &str) -> Result<Importance, String> {
    let value: f64 = text.parse().map_err(|_| "is not a number; use 0 to 1, for example 0.8".to_owned())?;
    Importance::on_either_scale(value)
        .map_err(|_| "is out of range; use 0 to 1, for example 0.8, or 1 to 10, for example 8".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_ids_are_read_and_ranges_are_explained() {
        let count = |text: &str| text.parse::<Ids>().map(|ids| ids.0.len());
        assert_eq!(count("1,2"), Ok(2));
        assert_eq!(count("#1, #2,"), Ok(2));
        assert_eq!(count("/memories/a,b.md"), Ok(1));
        for range in ["1-3", "1..3", "#1-#3"] {
            assert!(count(range).is_err_and(|problem| problem.starts_with("is a range")), "{range}");
        }
        for wrong in ["tabs", ",", "-1", ""] {
            assert!(count(wrong).is_err_and(|problem| problem.contains("ID such as 42")), "{wrong}");
        }
    }

    #[test]
    fn whole_numbers_name_their_range() {
        let limit = whole(1..=200);
        assert_eq!(limit("200"), Ok(200));
        assert_eq!(limit("all"), Err("is not a whole number; use a number from 1 to 200".to_owned()));
        for out in ["0", "-1", "201", "99999999999"] {
            assert_eq!(limit(out), Err("is out of range; use a number from 1 to 200".to_owned()), "{out}");
        }
        assert_eq!(whole(0..=u32::MAX)("-1"), Err("is out of range; use a number from 0".to_owned()));
    }
}
