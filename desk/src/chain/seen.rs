//! Shows a request to the steps of the chain, and applies their changes.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Instant;

use serde_json::{Value, json};
use tessera_engine::Store;
use tessera_engine::domain::{Alteration, Category, Importance, Memory, MemoryRef, Patch, RecallRequest, Tag};
use tessera_engine::screen::findings;
use tessera_engine::store::{Erase, StoreError};
use tessera_plugins::{Event, Failure, Field};

use super::plugin::view;
use crate::caller::Caller;
use crate::use_cases::{Forget, Question, Remember, Update, Which};

/// The maximum number of memories shown with a request.
const MOST_SHOWN: usize = 100;

/// The request.
#[derive(Debug)]
pub enum Asked<'a> {
    /// To store.
    Store(&'a mut Remember),
    /// To change fields.
    Update(&'a mut Update),
    /// To forget.
    Forget(&'a mut Forget),
    /// A question.
    Recall(&'a mut RecallRequest),
    /// The question from a user's prompt. The user waits for the answer.
    Prompt(&'a mut Question),
}

impl Asked<'_> {
    /// The operation.
    pub(super) fn event(&self) -> Event {
        match self {
            Self::Store(_) => Event::Store,
            Self::Update(_) => Event::Update,
            Self::Forget(_) => Event::Forget,
            Self::Recall(_) | Self::Prompt(_) => Event::Recall,
        }
    }

    /// True where a prompt waits.
    pub(super) fn is_prompt(&self) -> bool {
        matches!(self, Self::Prompt(_))
    }

    /// True for a removal for good.
    pub(super) fn is_hard(&self) -> bool {
        matches!(self, Self::Forget(forget) if forget.erase == Erase::Hard)
    }

    /// The memories that are named.
    pub(super) fn ids(&self) -> Vec<MemoryRef> {
        match self {
            Self::Update(Update { which: Which::Named(ids), .. }) => ids.clone(),
            Self::Forget(forget) => forget.ids.clone(),
            _ => Vec::new(),
        }
    }

    /// The question.
    pub(super) fn question(&self) -> Option<(&str, Option<&str>)> {
        match self {
            Self::Recall(request) => Some((&request.query, request.expanded_query.as_deref())),
            Self::Prompt(Question::Of { query, expanded }) => Some((query, expanded.as_deref())),
            _ => None,
        }
    }

    /// Returns the present fields of the request as JSON. A secret text is replaced by its description.
    fn fields(&self) -> BTreeMap<Field, Value> {
        let words = |words: &[String]| json!(words);
        let tags = |tags: &[Tag]| json!(tags);
        let mut fields = BTreeMap::new();
        let mut put = |field, value: Option<Value>| fields.extend(value.map(|value| (field, value)));
        match self {
            Self::Store(asked) => {
                put(Field::Content, Some(json!(asked.sensitive.as_ref().unwrap_or(&asked.content))));
                put(Field::Category, asked.category.as_ref().map(|category| json!(category)));
                put(Field::Importance, asked.importance.map(|importance| json!(importance)));
                put(Field::Tags, Some(tags(&asked.tags)));
                put(Field::Keywords, Some(words(&asked.keywords)));
                put(Field::Entities, Some(words(&asked.entities)));
            }
            Self::Update(Update { patch, .. }) => {
                let content = patch.sensitive.as_ref().or(patch.content.as_ref());
                put(Field::Content, content.map(|content| json!(content)));
                put(Field::Category, patch.category.as_ref().map(|category| json!(category)));
                put(Field::Importance, patch.importance.map(|importance| json!(importance)));
                put(Field::Tags, patch.tags.as_ref().map(|given| tags(given)));
                put(Field::Keywords, patch.keywords.as_ref().map(|given| words(given)));
                put(Field::Entities, patch.entities.as_ref().map(|given| words(given)));
            }
            _ => {
                let question = self.question();
                put(Field::Query, question.map(|(query, _)| json!(query)));
                put(Field::ExpandedQuery, question.and_then(|(_, expanded)| expanded).map(|expanded| json!(expanded)));
            }
        }
        fields
    }

    /// True if the whole text is secret.
    fn is_secret(&self) -> bool {
        match self {
            Self::Store(asked) => asked.sensitive.is_some(),
            Self::Update(asked) => asked.patch.sensitive.is_some(),
            _ => false,
        }
    }

    /// Puts changes into it.
    fn take(&mut self, changes: Changes) {
        let Changes { patch, query, expanded } = changes;
        match self {
            Self::Store(asked) => {
                asked.content = patch.content.unwrap_or_else(|| std::mem::take(&mut asked.content));
                asked.category = patch.category.or_else(|| asked.category.take());
                asked.importance = patch.importance.or(asked.importance);
                asked.tags = patch.tags.unwrap_or_else(|| std::mem::take(&mut asked.tags));
                asked.keywords = patch.keywords.unwrap_or_else(|| std::mem::take(&mut asked.keywords));
                asked.entities = patch.entities.unwrap_or_else(|| std::mem::take(&mut asked.entities));
            }
            Self::Update(Update { patch: asked, .. }) => {
                asked.content = patch.content.or_else(|| asked.content.take());
                asked.category = patch.category.or_else(|| asked.category.take());
                asked.importance = patch.importance.or(asked.importance);
                asked.tags = patch.tags.or_else(|| asked.tags.take());
                asked.keywords = patch.keywords.or_else(|| asked.keywords.take());
                asked.entities = patch.entities.or_else(|| asked.entities.take());
            }
            Self::Recall(request) => {
                request.query = query.unwrap_or_else(|| std::mem::take(&mut request.query));
                request.expanded_query = expanded.or_else(|| request.expanded_query.take());
            }
            Self::Prompt(Question::Of { query: asked, expanded: further }) => {
                *asked = query.unwrap_or_else(|| std::mem::take(asked));
                *further = expanded.or_else(|| further.take());
            }
            Self::Prompt(Question::None(_)) | Self::Forget(_) => {}
        }
    }
}

/// Fields that no plugin may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bound {
    /// Nothing.
    Free,
    /// Plugins may not change the text, because all of it is secret.
    Secret,
    /// Plugins may change nothing, because the text of a file determines all fields.
    InFile,
}

/// The request that the chain inspects.
#[derive(Debug)]
pub struct Seen {
    /// The operation.
    pub(super) event: Event,
    /// The caller.
    pub(super) caller: Caller,
    /// When the first link started.
    pub(super) started: Instant,
    /// True where a prompt waits.
    pub(super) is_prompt: bool,
    /// True for a removal for good.
    pub(super) is_hard: bool,
    /// The present fields, without credentials.
    pub(super) fields: BTreeMap<Field, Value>,
    /// The affected memories, without credentials.
    pub(super) memories: Vec<Value>,
    /// The changes of plugins so far.
    pub(super) altered: Vec<Alteration>,
    /// The time, in microseconds since 1970.
    pub(super) now: i64,
    bound: Bound,
    mask: Mask,
}

impl Seen {
    /// Creates a request that no step of the chain has seen.
    pub(super) fn of(store: &Store, caller: &Caller, asked: &Asked<'_>) -> Result<Self, StoreError> {
        let known = asked.ids().into_iter().take(MOST_SHOWN).map(|id| store.get(id));
        let known: Vec<Memory> = known.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect();
        let bound = match known.iter().any(|memory| memory.file.is_some()) {
            true => Bound::InFile,
            false if asked.is_secret() => Bound::Secret,
            false => Bound::Free,
        };
        Ok(Self {
            event: asked.event(),
            caller: caller.clone(),
            started: Instant::now(),
            is_prompt: asked.is_prompt(),
            is_hard: asked.is_hard(),
            fields: BTreeMap::new(),
            memories: known.iter().map(view).collect(),
            altered: Vec::new(),
            now: store.now().as_micros(),
            bound,
            mask: Mask::default(),
        })
    }

    /// Shows the present request, without credentials.
    pub(super) fn show(&mut self, asked: &Asked<'_>) {
        let mut fields = asked.fields();
        fields.values().for_each(|value| self.mask.learn(value));
        fields.values_mut().for_each(|value| self.mask.put_over(value));
        self.fields = fields;
    }

    /// Applies all changes of a plugin, or none. Returns the names of the fields.
    pub(super) fn change(
        &mut self,
        asked: &mut Asked<'_>,
        by: &str,
        wanted: &[(Field, &Value)],
    ) -> Result<Vec<&'static str>, Failure> {
        let wanted: Vec<&(Field, &Value)> =
            wanted.iter().filter(|(field, value)| self.fields.get(field) != Some(*value)).collect();
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        if self.bound == Bound::InFile {
            return Err(Failure::NotGranted("change the text of a file".to_owned()));
        }
        let mut changes = Changes::default();
        let automatic = |field: &Field| self.event == Event::Update && !self.fields.contains_key(field);
        if let Some((field, _)) = wanted.iter().find(|(field, _)| automatic(field)) {
            // An update of several memories would make them equal.
            return Err(Failure::NotGranted(format!("change {}, which the update does not contain", field.as_str())));
        }
        for (field, value) in &wanted {
            changes.set(*field, value, self)?;
        }
        changes.patch.check().map_err(|error| Failure::Answer(error.to_string()))?;
        asked.take(changes);
        self.show(asked);
        let fields: Vec<&str> = wanted.iter().map(|(field, _)| field.as_str()).collect();
        self.altered.push(Alteration { by: by.to_owned(), fields: fields.clone() });
        Ok(fields)
    }
}

/// Fields with new values.
#[derive(Default)]
struct Changes {
    patch: Patch,
    query: Option<String>,
    expanded: Option<String>,
}

impl Changes {
    fn set(&mut self, field: Field, value: &Value, seen: &Seen) -> Result<(), Failure> {
        let wrong = |problem: String| Failure::Answer(format!("{}: {problem}", field.as_str()));
        let text = || {
            let text = value.as_str().ok_or_else(|| wrong("is not text".to_owned()))?;
            seen.mask.taken_off(text).ok_or_else(|| wrong("would show a credential in clear text".to_owned()))
        };
        let list = || {
            let words: Vec<String> = serde_json::from_value(value.clone()).map_err(|error| wrong(error.to_string()))?;
            let words = words.iter().map(|word| seen.mask.taken_off(word));
            words
                .collect::<Option<Vec<String>>>()
                .ok_or_else(|| wrong("would show a credential in clear text".to_owned()))
        };
        let is_question = matches!(field, Field::Query | Field::ExpandedQuery);
        if is_question != (seen.event == Event::Recall) || seen.event == Event::Forget {
            return Err(Failure::NotGranted(format!("change the field {} of this action", field.as_str())));
        }
        match field {
            Field::Content if seen.bound == Bound::Secret => {
                return Err(Failure::NotGranted("change a text that is entirely secret".to_owned()));
            }
            Field::Content => self.patch.content = Some(text()?),
            Field::Category => {
                let category: Category = text()?.parse().map_err(|error| wrong(format!("{error}")))?;
                self.patch.category = Some(category);
            }
            Field::Importance => {
                let importance: Importance =
                    serde_json::from_value(value.clone()).map_err(|error| wrong(error.to_string()))?;
                self.patch.importance = Some(importance);
            }
            Field::Tags => {
                let tags = list()?.iter().map(|tag| tag.parse()).collect::<Result<Vec<Tag>, _>>();
                self.patch.tags = Some(tags.and_then(Tag::unique).map_err(|error| wrong(error.to_string()))?);
            }
            Field::Keywords => self.patch.keywords = Some(list()?),
            Field::Entities => self.patch.entities = Some(list()?),
            Field::Query => self.query = Some(text()?),
            Field::ExpandedQuery => self.expanded = Some(text()?),
        }
        Ok(())
    }
}

/// The credentials of a request, with their placeholders.
#[derive(Default)]
struct Mask {
    values: Vec<(String, String)>,
}

impl std::fmt::Debug for Mask {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Mask({} values)", self.values.len())
    }
}

impl Mask {
    /// Collects the credentials in every text of a value.
    fn learn(&mut self, value: &Value) {
        match value {
            Value::String(text) => {
                for finding in findings(text) {
                    let value = text.get(finding.span).unwrap_or_default();
                    if !value.is_empty() && !self.values.iter().any(|(_, known)| known == value) {
                        let place = format!("[secret {}: {}]", self.values.len() + 1, finding.kind.as_str());
                        self.values.push((place, value.to_owned()));
                    }
                }
                // Longer credentials are replaced first, because they may contain others.
                self.values.sort_by_key(|(_, value)| std::cmp::Reverse(value.len()));
            }
            Value::Array(values) => values.iter().for_each(|value| self.learn(value)),
            _ => {}
        }
    }

    /// Replaces credentials with placeholders in every text of a value, because a credential in one field may also be
    /// in another.
    fn put_over(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                let shown = |text: String, (place, value): &(String, String)| text.replace(value, place);
                *text = self.values.iter().fold(std::mem::take(text), shown);
            }
            Value::Array(values) => values.iter_mut().for_each(|value| self.put_over(value)),
            _ => {}
        }
    }

    /// The text with its credentials put back. Returns `None` if a plugin's change would hide a credential from the
    /// detector. Otherwise the credential would be stored in clear text.
    fn taken_off(&self, text: &str) -> Option<String> {
        let (mut whole, mut put_back, mut rest) = (String::new(), Vec::new(), text);
        let first = |text: &str| {
            let found =
                self.values.iter().filter_map(|(place, value)| Some((text.find(place.as_str())?, place, value)));
            found.min_by_key(|(at, ..)| *at)
        };
        while let Some((at, place, value)) = first(rest) {
            whole.push_str(rest.get(..at)?);
            put_back.push((whole.len()..whole.len() + value.len(), value));
            whole.push_str(value);
            rest = rest.get(at + place.len()..)?;
        }
        whole.push_str(rest);
        let found = findings(&whole);
        // A found credential is also redacted elsewhere.
        let is_covered = |(span, value): &(Range<usize>, &String)| {
            found.iter().any(|finding| {
                let covers = finding.span.start <= span.start && span.end <= finding.span.end;
                covers || whole.get(finding.span.clone()) == Some(value.as_str())
            })
        };
        put_back.iter().all(is_covered).then_some(whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mask(text: &str) -> (Mask, String) {
        let mut mask = Mask::default();
        mask.learn(&json!(text));
        let mut shown = json!(text);
        mask.put_over(&mut shown);
        let shown = shown.as_str().unwrap().to_owned();
        (mask, shown)
    }

    #[test]
    fn a_value_goes_back_only_where_all_of_it_is_known_for_a_credential() {
        let (of, shown) = mask("prod password: \"xK9$ vQ2!bb zR7#kk9 mN4%pq tT6&rr\"");
        assert!(!shown.contains("vQ2"), "{shown}");
        assert!(of.taken_off(&shown).is_some_and(|whole| whole.contains("xK9$ vQ2!bb zR7#kk9 mN4%pq tT6&rr")));
        assert_eq!(of.taken_off(&shown.replace('"', "")), None, "its tail would stand in clear");
        let (of, shown) = mask("note 1: password is xK9ord7N\nport is 5432 xK9ord7N");
        assert!(!shown.contains("xK9ord7N"), "{shown}");
        assert!(of.taken_off(&format!("{shown} END")).is_some_and(|whole| whole.ends_with("5432 xK9ord7N END")));
        let place = shown.split("password is ").nth(1).and_then(|rest| rest.lines().next()).unwrap();
        assert_eq!(of.taken_off(&format!("the tide comes at {place}")), None, "nothing says there what it is");
    }
}
