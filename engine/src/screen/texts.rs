//! The texts of a value: everything that a person or a model may have written.

use serde::{Deserialize, Serialize};

use super::found::is_clean;
use crate::domain::{
    Category, Content, Draft, InFile, MAX_CONTENT_BYTES, MAX_NAME_CHARS, Memory, Metadata, Origin, Patch, Scope, Tag,
};
use crate::sync::{Action, Details, Document, Edit, Op, State, SyncState};

/// The kind of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// A text that may contain a credential.
    Text,
    /// A tag or another name without spaces.
    Slug,
    /// The name of a project or directory. Only text that looks like a credential by itself is removed. If somebody's
    /// password is their project's name, the project keeps its name.
    Identity,
    /// A text that is secret as a whole, because the caller marked it as sensitive.
    Whole,
}

/// A value with texts.
pub trait Texts {
    /// Visits each text.
    fn each_text(&self, see: &mut dyn FnMut(Part, &str));
    /// Replaces each text by the result of `change`.
    fn change_texts(&mut self, change: &mut dyn FnMut(Part, &str) -> Option<String>);
    /// The text, and its keywords, names and tags. The text may say that one of these words is a password.
    fn words_beside(&self) -> Option<(&str, Vec<&str>)> {
        None
    }
}

/// A list of texts, each with its kind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Words(pub Vec<(Part, String)>);

impl Texts for Words {
    fn each_text(&self, see: &mut dyn FnMut(Part, &str)) {
        self.0.iter().for_each(|(part, text)| see(*part, text));
    }

    fn change_texts(&mut self, change: &mut dyn FnMut(Part, &str) -> Option<String>) {
        self.0.iter_mut().for_each(|(part, text)| change_in(text, *part, change));
    }
}

/// Replaces one text.
fn change_in(text: &mut String, part: Part, change: &mut dyn FnMut(Part, &str) -> Option<String>) {
    if let Some(changed) = change(part, text) {
        *text = changed;
    }
}

/// Applies a change to each word of a list, and removes duplicates.
fn change_words(words: &mut Vec<String>, change: &mut dyn FnMut(Part, &str) -> Option<String>) {
    for word in words.iter_mut() {
        change_in(word, Part::Text, change);
    }
    let mut seen = std::collections::BTreeSet::new();
    words.retain(|word| seen.insert(word.clone()));
}

/// A changed tag; `None` if the result is not a valid tag.
fn changed_tag(tag: Tag, change: &mut dyn FnMut(Part, &str) -> Option<String>) -> Option<Tag> {
    match change(Part::Slug, tag.as_str()) {
        Some(changed) => changed.parse().ok(),
        None => Some(tag),
    }
}

fn changed_category(category: &mut Category, change: &mut dyn FnMut(Part, &str) -> Option<String>) {
    if let Some(changed) = change(Part::Slug, category.as_str()) {
        *category = changed.parse().unwrap_or_default();
    }
}

/// Replaces the name of a project, which may be an address with a password.
fn changed_scope(scope: &mut Scope, change: &mut dyn FnMut(Part, &str) -> Option<String>) {
    if let Some(changed) = change(Part::Identity, scope.as_str()) {
        *scope = changed.parse().unwrap_or_default();
    }
}

/// Replaces a content. If placeholders make the text too long, its end is cut, so that no credential remains.
fn changed_content(content: &mut Content, change: &mut dyn FnMut(Part, &str) -> Option<String>) {
    let Some(mut changed) = change(Part::Text, content.as_str()) else { return };
    changed.truncate(changed.floor_char_boundary(MAX_CONTENT_BYTES));
    if let Ok(changed) = Content::try_from(changed) {
        *content = changed;
    }
}

/// Visits the texts and field names of metadata. If a field name says that its value is a credential, both are visited
/// as one text.
fn each_kept(metadata: Option<&Metadata>, see: &mut dyn FnMut(Part, &str)) {
    let mut shown = |name: Option<&str>, text: &str| match said_by(name, text) {
        Some(before) => see(Part::Text, &(before + text)),
        None => see(Part::Text, text),
    };
    metadata.iter().for_each(|metadata| metadata.each_text(&mut shown));
}

fn changed_kept(metadata: Option<&mut Metadata>, change: &mut dyn FnMut(Part, &str) -> Option<String>) {
    let mut changed = |name: Option<&str>, text: &str| match said_by(name, text) {
        Some(before) => {
            let changed = change(Part::Text, &format!("{before}{text}"))?;
            // The text before the value may have been removed as a part of it.
            Some(changed.strip_prefix(&before).map_or_else(|| changed.clone(), str::to_owned))
        }
        None => change(Part::Text, text),
    };
    metadata.into_iter().for_each(|metadata| metadata.change_texts(&mut changed));
}

/// The name of a field whose value is a credential only because of this name.
fn said_by(name: Option<&str>, text: &str) -> Option<String> {
    let before = format!("{}: ", name?);
    (is_clean(text) && is_clean(&before) && !is_clean(&format!("{before}{text}"))).then_some(before)
}

fn each<'a>(texts: impl IntoIterator<Item = &'a String>, see: &mut dyn FnMut(Part, &str)) {
    texts.into_iter().for_each(|text| see(Part::Text, text));
}

/// Replaces the text of a draft or a patch. If the caller marked the text as sensitive, the whole text is the secret.
/// The caller's description and the placeholder of the secret replace it.
fn changed_text(text: &mut String, sensitive: Option<&String>, change: &mut dyn FnMut(Part, &str) -> Option<String>) {
    let Some(said) = sensitive else { return change_in(text, Part::Text, change) };
    if let Some(place) = change(Part::Whole, text) {
        let said = change(Part::Text, said).unwrap_or_else(|| said.clone());
        *text = format!("{}: {place}", said.trim());
    }
}

/// Calls `see` with the name of the original owner in an import.
fn each_name(origin: &Origin, see: &mut dyn FnMut(Part, &str)) {
    if let Origin::Shared(name) = origin {
        see(Part::Slug, name);
    }
}

fn changed_name(origin: &mut Origin, change: &mut dyn FnMut(Part, &str) -> Option<String>) {
    if let Origin::Shared(name) = origin {
        change_in(name, Part::Slug, change);
    }
}

/// Replaces a heading. If the heading with the placeholder is too long, it is removed.
fn changed_heading(file: &mut InFile, change: &mut dyn FnMut(Part, &str) -> Option<String>) {
    let Some(changed) = file.heading.as_deref().and_then(|heading| change(Part::Text, heading)) else { return };
    file.heading = Some(changed).filter(|heading| heading.chars().count() <= MAX_NAME_CHARS);
}

/// The words given beside a text.
fn words_of<'a>(
    keywords: &'a [String],
    entities: &'a [String],
    tags: impl IntoIterator<Item = &'a Tag>,
) -> Vec<&'a str> {
    keywords.iter().chain(entities).map(String::as_str).chain(tags.into_iter().map(Tag::as_str)).collect()
}

/// Whether the text of a draft or a patch is sensitive as a whole.
fn part_of(sensitive: Option<&String>) -> Part {
    sensitive.map_or(Part::Text, |_| Part::Whole)
}

impl Texts for Metadata {
    fn each_text(&self, see: &mut dyn FnMut(Part, &str)) {
        each_kept(Some(self), see);
    }

    fn change_texts(&mut self, change: &mut dyn FnMut(Part, &str) -> Option<String>) {
        changed_kept(Some(self), change);
    }
}

impl Texts for Draft {
    fn each_text(&self, see: &mut dyn FnMut(Part, &str)) {
        see(part_of(self.sensitive.as_ref()), &self.content);
        each(self.keywords.iter().chain(&self.entities).chain(&self.sensitive), see);
        each(self.session.iter().chain(&self.client), see);
        each(self.file.iter().filter_map(|file| file.heading.as_ref()), see);
        self.cwd.iter().for_each(|dir| see(Part::Identity, dir));
        self.tags.iter().for_each(|tag| see(Part::Slug, tag.as_str()));
        self.category.iter().for_each(|category| see(Part::Slug, category.as_str()));
        see(Part::Identity, self.scope.as_str());
        each_name(&self.origin, see);
        each_kept(self.metadata.as_ref(), see);
    }

    fn words_beside(&self) -> Option<(&str, Vec<&str>)> {
        Some((&self.content, words_of(&self.keywords, &self.entities, &self.tags)))
    }

    fn change_texts(&mut self, change: &mut dyn FnMut(Part, &str) -> Option<String>) {
        changed_scope(&mut self.scope, change);
        changed_text(&mut self.content, self.sensitive.as_ref(), change);
        changed_name(&mut self.origin, change);
        changed_kept(self.metadata.as_mut(), change);
        change_words(&mut self.keywords, change);
        change_words(&mut self.entities, change);
        for name in [&mut self.session, &mut self.client].into_iter().flatten() {
            change_in(name, Part::Text, change);
        }
        self.file.iter_mut().for_each(|file| changed_heading(file, change));
        self.cwd.iter_mut().for_each(|dir| change_in(dir, Part::Identity, change));
        self.tags = std::mem::take(&mut self.tags).into_iter().filter_map(|tag| changed_tag(tag, change)).collect();
        self.category.iter_mut().for_each(|category| changed_category(category, change));
    }
}

impl Texts for Patch {
    fn each_text(&self, see: &mut dyn FnMut(Part, &str)) {
        self.content.iter().for_each(|text| see(part_of(self.sensitive.as_ref()), text));
        each(self.keywords.iter().flatten().chain(self.entities.iter().flatten()).chain(&self.sensitive), see);
        self.tags.iter().flatten().for_each(|tag| see(Part::Slug, tag.as_str()));
        self.category.iter().for_each(|category| see(Part::Slug, category.as_str()));
        self.scope.iter().for_each(|scope| see(Part::Identity, scope.as_str()));
        each_kept(self.metadata.as_ref(), see);
    }

    fn words_beside(&self) -> Option<(&str, Vec<&str>)> {
        let [keywords, entities] = [&self.keywords, &self.entities].map(|words| words.as_deref().unwrap_or_default());
        let words = words_of(keywords, entities, self.tags.as_deref().unwrap_or_default());
        Some((self.content.as_ref()?, words))
    }

    fn change_texts(&mut self, change: &mut dyn FnMut(Part, &str) -> Option<String>) {
        self.scope.iter_mut().for_each(|scope| changed_scope(scope, change));
        changed_kept(self.metadata.as_mut(), change);
        if let Some(text) = &mut self.content {
            changed_text(text, self.sensitive.as_ref(), change);
        }
        self.keywords.iter_mut().for_each(|words| change_words(words, change));
        self.entities.iter_mut().for_each(|words| change_words(words, change));
        if let Some(tags) = &mut self.tags {
            *tags = std::mem::take(tags).into_iter().filter_map(|tag| changed_tag(tag, change)).collect();
        }
        self.category.iter_mut().for_each(|category| changed_category(category, change));
    }
}

impl Texts for Memory {
    fn each_text(&self, see: &mut dyn FnMut(Part, &str)) {
        each([&self.content], see);
        each(self.keywords.iter().chain(&self.entities), see);
        each(self.session.iter().chain(&self.client), see);
        each(self.file.iter().filter_map(|file| file.heading.as_ref()), see);
        self.cwd.iter().for_each(|dir| see(Part::Identity, dir));
        self.tags.iter().for_each(|tag| see(Part::Slug, tag.as_str()));
        see(Part::Slug, self.category.as_str());
        see(Part::Identity, self.scope.as_str());
        each_name(&self.origin, see);
        each_kept(self.metadata.as_ref(), see);
    }

    fn words_beside(&self) -> Option<(&str, Vec<&str>)> {
        Some((&self.content, words_of(&self.keywords, &self.entities, &self.tags)))
    }

    fn change_texts(&mut self, change: &mut dyn FnMut(Part, &str) -> Option<String>) {
        changed_scope(&mut self.scope, change);
        change_in(&mut self.content, Part::Text, change);
        changed_name(&mut self.origin, change);
        changed_kept(self.metadata.as_mut(), change);
        change_words(&mut self.keywords, change);
        change_words(&mut self.entities, change);
        for name in [&mut self.session, &mut self.client].into_iter().flatten() {
            change_in(name, Part::Text, change);
        }
        self.file.iter_mut().for_each(|file| changed_heading(file, change));
        self.cwd.iter_mut().for_each(|dir| change_in(dir, Part::Identity, change));
        self.tags = std::mem::take(&mut self.tags).into_iter().filter_map(|tag| changed_tag(tag, change)).collect();
        changed_category(&mut self.category, change);
    }
}

/// A memory as the history records it, with a summary that is not derived again.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema, Deserialize)]
#[serde(transparent)]
pub struct Version(pub Memory);

impl Texts for Version {
    fn each_text(&self, see: &mut dyn FnMut(Part, &str)) {
        self.0.each_text(see);
        see(Part::Text, &self.0.summary);
    }

    fn words_beside(&self) -> Option<(&str, Vec<&str>)> {
        self.0.words_beside()
    }

    fn change_texts(&mut self, change: &mut dyn FnMut(Part, &str) -> Option<String>) {
        self.0.change_texts(change);
        change_in(&mut self.0.summary, Part::Text, change);
    }
}

impl Texts for Details {
    fn each_text(&self, see: &mut dyn FnMut(Part, &str)) {
        each(self.keywords.iter().chain(&self.entities).chain(&self.session), see);
        see(Part::Slug, self.category.as_str());
        see(Part::Identity, self.scope.as_str());
        each_name(&self.origin, see);
        each_kept(self.metadata.as_ref(), see);
    }

    fn change_texts(&mut self, change: &mut dyn FnMut(Part, &str) -> Option<String>) {
        changed_kept(self.metadata.as_mut(), change);
        change_words(&mut self.keywords, change);
        change_words(&mut self.entities, change);
        self.session.iter_mut().for_each(|session| change_in(session, Part::Text, change));
        changed_category(&mut self.category, change);
        changed_scope(&mut self.scope, change);
        changed_name(&mut self.origin, change);
    }
}

impl Texts for Document {
    fn each_text(&self, see: &mut dyn FnMut(Part, &str)) {
        see(Part::Text, self.content.as_str());
        self.tags.iter().for_each(|tag| see(Part::Slug, tag.as_str()));
        self.details.each_text(see);
    }

    fn words_beside(&self) -> Option<(&str, Vec<&str>)> {
        let Details { keywords, entities, .. } = &self.details;
        Some((self.content.as_str(), words_of(keywords, entities, &self.tags)))
    }

    fn change_texts(&mut self, change: &mut dyn FnMut(Part, &str) -> Option<String>) {
        changed_content(&mut self.content, change);
        self.tags = std::mem::take(&mut self.tags).into_iter().filter_map(|tag| changed_tag(tag, change)).collect();
        self.details.change_texts(change);
    }
}

impl Texts for Edit {
    fn each_text(&self, see: &mut dyn FnMut(Part, &str)) {
        self.content.iter().for_each(|text| see(Part::Text, text.as_str()));
        self.tags_added.iter().for_each(|tag| see(Part::Slug, tag.as_str()));
        self.details.iter().for_each(|details| details.each_text(see));
    }

    fn words_beside(&self) -> Option<(&str, Vec<&str>)> {
        let details = self.details.as_ref();
        let [keywords, entities] =
            details.map_or([&[][..]; 2], |details| [&details.keywords[..], &details.entities[..]]);
        Some((self.content.as_ref()?.as_str(), words_of(keywords, entities, &self.tags_added)))
    }

    fn change_texts(&mut self, change: &mut dyn FnMut(Part, &str) -> Option<String>) {
        self.content.iter_mut().for_each(|text| changed_content(text, change));
        let tags = std::mem::take(&mut self.tags_added).into_iter();
        self.tags_added = tags.filter_map(|tag| changed_tag(tag, change)).collect();
        self.details.iter_mut().for_each(|details| details.change_texts(change));
    }
}

impl Texts for Action {
    fn each_text(&self, see: &mut dyn FnMut(Part, &str)) {
        match self {
            Self::Create(document) => document.each_text(see),
            Self::Edit(edit) => edit.each_text(see),
            Self::Delete | Self::Purge => {}
        }
    }

    fn words_beside(&self) -> Option<(&str, Vec<&str>)> {
        match self {
            Self::Create(document) => document.words_beside(),
            Self::Edit(edit) => edit.words_beside(),
            Self::Delete | Self::Purge => None,
        }
    }

    fn change_texts(&mut self, change: &mut dyn FnMut(Part, &str) -> Option<String>) {
        match self {
            Self::Create(document) => document.change_texts(change),
            Self::Edit(edit) => edit.change_texts(change),
            Self::Delete | Self::Purge => {}
        }
    }
}

impl Texts for Op {
    fn each_text(&self, see: &mut dyn FnMut(Part, &str)) {
        self.action.each_text(see);
    }

    fn words_beside(&self) -> Option<(&str, Vec<&str>)> {
        self.action.words_beside()
    }

    fn change_texts(&mut self, change: &mut dyn FnMut(Part, &str) -> Option<String>) {
        self.action.change_texts(change);
    }
}

impl Texts for State {
    fn each_text(&self, see: &mut dyn FnMut(Part, &str)) {
        self.document().into_iter().for_each(|document| document.each_text(see));
    }

    fn change_texts(&mut self, change: &mut dyn FnMut(Part, &str) -> Option<String>) {
        match self {
            Self::Live(document) | Self::Deleted(document) => document.change_texts(change),
            Self::Purged => {}
        }
    }
}

impl Texts for SyncState {
    fn each_text(&self, see: &mut dyn FnMut(Part, &str)) {
        let (states, action) = self.parts();
        states.into_iter().for_each(|state| state.each_text(see));
        action.into_iter().for_each(|action| action.each_text(see));
    }

    fn change_texts(&mut self, change: &mut dyn FnMut(Part, &str) -> Option<String>) {
        let (states, action) = self.parts_mut();
        states.into_iter().for_each(|state| state.change_texts(change));
        action.into_iter().for_each(|action| action.change_texts(change));
    }
}
