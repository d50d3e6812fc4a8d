//! A map of YAML whose keys are known.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::node::{Kind, Node};
use crate::desired::formats::keyword;
use crate::desired::formats::objects::{Name, Reference};
use crate::desired::formats::place::{At, Text};
use crate::error::Result;

/// A map, of which nothing may be left that nobody asked for.
pub(super) struct Fields {
    pub(super) at: At,
    /// Its key in the map around it.
    pub(super) key: String,
    items: Vec<(String, usize, Arc<Node>)>,
    asked: BTreeSet<&'static str>,
}

impl Fields {
    /// The whole document.
    pub(super) fn document(document: &At, node: &Node) -> Result<Self> {
        Self::new(document.clone(), String::new(), node)
    }

    /// A map that stands at a place of its own.
    pub(super) fn inner(at: &At, node: &Node) -> Result<Self> {
        Self::new(at.clone(), String::new(), node)
    }

    fn new(at: At, key: String, node: &Node) -> Result<Self> {
        let items = match &node.kind {
            Kind::Map(items) => items
                .iter()
                .map(|(key, line, value)| (key.clone(), *line, value.clone()))
                .collect(),
            _ if node.is_null() => vec![],
            _ => {
                let why = format!("{} stands where a map is wanted", node.shown());
                return Err(at.malformed(why));
            }
        };
        Ok(Self {
            at,
            key,
            items,
            asked: BTreeSet::new(),
        })
    }

    fn get(&mut self, key: &'static str) -> Option<(Arc<Node>, At)> {
        self.asked.insert(key);
        let (_, line, node) = self.items.iter().find(|(found, _, _)| found == key)?;
        Some((node.clone(), self.at.attribute(*line, key)))
    }

    /// The maps in the map of that key, each with its own key; `kind` is what one of them is.
    pub(super) fn maps(&mut self, key: &'static str, kind: &str) -> Result<Vec<Self>> {
        let mut found = Vec::new();
        for (name, line, node) in self.entries(key)? {
            let at = self.at.block(line, &format!("{kind} {name:?}"));
            found.push(Self::new(at, name, &node)?);
        }
        Ok(found)
    }

    /// The keys, lines and values of the map of that key.
    pub(super) fn entries(&mut self, key: &'static str) -> Result<Vec<(String, usize, Arc<Node>)>> {
        let Some((node, at)) = self.get(key) else {
            return Ok(vec![]);
        };
        Ok(Self::new(at, String::new(), &node)?.items)
    }

    /// A single value; nothing when there is none, or it is empty.
    pub(super) fn text(&mut self, key: &'static str) -> Result<Option<Text>> {
        let Some((node, at)) = self.get(key) else {
            return Ok(None);
        };
        Ok(Some(scalar(&node, &at)?).filter(|text| !text.text.is_empty()))
    }

    /// A single value that may be the empty string.
    pub(super) fn value(&mut self, key: &'static str) -> Result<Option<Text>> {
        match self.get(key) {
            Some((node, at)) if !node.is_null() => scalar(&node, &at).map(Some),
            _ => Ok(None),
        }
    }

    pub(super) fn required(&mut self, key: &'static str) -> Result<Text> {
        self.text(key)?
            .ok_or_else(|| self.at.malformed(format!("{key} is missing")))
    }

    pub(super) fn bool(&mut self, key: &'static str) -> Result<Option<(bool, At)>> {
        let Some((node, at)) = self.get(key) else {
            return Ok(None);
        };
        if node.is_null() {
            return Ok(None);
        }
        let value = match &node.kind {
            Kind::Scalar {
                text, plain: true, ..
            } => match text.to_lowercase().as_str() {
                "true" | "yes" | "on" | "y" => Some(true),
                "false" | "no" | "off" | "n" => Some(false),
                _ => None,
            },
            _ => None,
        };
        match value {
            Some(value) => Ok(Some((value, at))),
            None => Err(at.malformed("it is neither true nor false")),
        }
    }

    pub(super) fn flag(&mut self, key: &'static str, default: bool) -> Result<bool> {
        Ok(self.bool(key)?.map_or(default, |(value, _)| value))
    }

    pub(super) fn integer(&mut self, key: &'static str) -> Result<Option<i64>> {
        let Some(text) = self.text(key)? else {
            return Ok(None);
        };
        let number = text.text.parse();
        number
            .map(Some)
            .map_err(|_| text.at.malformed("it is no whole number"))
    }

    /// A list, or one value with commas between.
    pub(super) fn list(&mut self, key: &'static str) -> Result<Vec<Text>> {
        let Some((node, at)) = self.get(key) else {
            return Ok(vec![]);
        };
        list(&node, &at)
    }

    /// Checks: a list, or one alone. A comma in one that stands alone is part of it, and too easily meant otherwise.
    pub(super) fn checks(&mut self) -> Result<Vec<Text>> {
        match self.get("checks") {
            Some((node, at)) if matches!(&node.kind, Kind::Scalar { text, .. } if text.contains(',')) => {
                Err(at.malformed("write it as a list"))
            }
            Some((node, at)) => list(&node, &at),
            None => Ok(vec![]),
        }
    }

    /// Every key, where they have names of their own.
    pub(super) fn all(&self) -> Vec<(String, usize, Arc<Node>)> {
        self.items.clone()
    }

    pub(super) fn names(&mut self, key: &'static str) -> Result<Vec<String>> {
        Ok(self.list(key)?.into_iter().map(|name| name.text).collect())
    }

    pub(super) fn keyword(
        &mut self,
        key: &'static str,
        among: &[&'static str],
    ) -> Result<Option<&'static str>> {
        let Some(word) = self.text(key)? else {
            return Ok(None);
        };
        match keyword(&word.text, among) {
            Some(found) => Ok(Some(found)),
            None => {
                let why = format!("{:?} is none of {}", word.text, among.join(", "));
                Err(word.at.malformed(why))
            }
        }
    }

    /// The object's name: what `name` says, else its key.
    pub(super) fn name(&mut self) -> Result<Name> {
        let (text, at) = match self.text("name")? {
            Some(name) => (name.text, name.at),
            None => (self.key.clone(), self.at.clone()),
        };
        dotted(&text, &at)
    }

    /// A name that has no schema.
    pub(super) fn plain_name(&mut self) -> Result<String> {
        let name = match self.text("name")? {
            Some(name) => name.text,
            None => self.key.clone(),
        };
        if name.is_empty() {
            return Err(self.at.malformed("its name is empty"));
        }
        Ok(name)
    }

    /// A table or view that it stands on.
    pub(super) fn relation(&mut self, key: &'static str) -> Result<Reference> {
        let table = self.required(key)?;
        let name = dotted(&table.text, &table.at)?;
        Ok(Reference { name, at: table.at })
    }

    /// Keys that have no effect here.
    pub(super) fn leave(&mut self, keys: &[&'static str]) -> Result<()> {
        for key in keys {
            self.text(key)?;
        }
        Ok(())
    }

    /// Keys that another server has.
    pub(super) fn refuse(&mut self, keys: &[(&'static str, &str)]) -> Result<()> {
        for (key, why) in keys {
            if let Some(text) = self.text(key)? {
                return Err(text.at.refused(why));
            }
        }
        Ok(())
    }

    /// Nothing may be left that nobody asked for.
    pub(super) fn finish(&self) -> Result<()> {
        let unknown = self
            .items
            .iter()
            .find(|(key, _, _)| !self.asked.contains(key.as_str()));
        match unknown {
            None => Ok(()),
            Some((key, line, _)) => Err(self
                .at
                .attribute(*line, key)
                .malformed("there is no such key here")),
        }
    }
}

pub(super) fn dotted(text: &str, at: &At) -> Result<Name> {
    crate::desired::formats::dotted_name(text)
        .ok_or_else(|| at.malformed(format!("{text:?} is not NAME or SCHEMA.NAME")))
}

/// The text of a single value, as it was written.
pub(super) fn scalar(node: &Node, at: &At) -> Result<Text> {
    match &node.kind {
        Kind::Scalar { text, literal, .. } => {
            let mut found = Text::new(if node.is_null() { "" } else { text }, at);
            found.line = node.line + usize::from(*literal);
            found.steps = *literal;
            Ok(found)
        }
        _ => Err(at.malformed(format!("{} stands where a single value is wanted", node.shown()))),
    }
}

/// A list, or one value with commas between.
pub(super) fn list(node: &Node, at: &At) -> Result<Vec<Text>> {
    let items = match &node.kind {
        Kind::List(items) => items
            .iter()
            .map(|item| scalar(item, &at.at_line(item.line)))
            .collect::<Result<Vec<_>>>()?,
        Kind::Scalar { .. } => {
            let whole = scalar(node, at)?;
            let parts = whole.text.split(',').map(|part| Text::new(part.trim(), at));
            if whole.text.is_empty() {
                vec![]
            } else {
                parts.collect()
            }
        }
        Kind::Map(_) => return Err(at.malformed("a map stands where a list is wanted")),
    };
    match items.iter().find(|item| item.text.is_empty()) {
        Some(empty) => Err(empty.at.malformed("an element is empty")),
        None => Ok(items),
    }
}
