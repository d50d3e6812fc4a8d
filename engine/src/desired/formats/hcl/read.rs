//! Attributes as what their place wants.

use super::block::Node;
use super::value::Value;
use crate::desired::formats::objects::{Name, Reference, Type};
use crate::desired::formats::place::{At, Text};
use crate::error::Result;

impl Node<'_> {
    /// A string, such as a comment. `sql("…")` gives its text.
    pub(super) fn text(&mut self, name: &'static str) -> Result<Option<Text>> {
        let Some((value, at)) = self.value(name)? else {
            return Ok(None);
        };
        match value {
            Value::Text(text) | Value::Sql(text) => Ok(Some(self.with_lines(name, &text, &at))),
            other => Err(at.malformed(format!("{} stands where a string is wanted", other.shown()))),
        }
    }

    /// A piece of SQL: a string, `sql("…")`, or a value that SQL spells in the same way.
    pub(super) fn sql(&mut self, name: &'static str) -> Result<Option<Text>> {
        let Some((value, at)) = self.value(name)? else {
            return Ok(None);
        };
        match value {
            Value::Text(text) | Value::Sql(text) | Value::Number(text) => {
                Ok(Some(self.with_lines(name, &text, &at)))
            }
            Value::Bool(value) => Ok(Some(Text::new(value.to_string(), &at))),
            other => Err(at.malformed(format!("{} stands where SQL is wanted", other.shown()))),
        }
    }

    /// A keyword or a name, bare or as a string.
    pub(super) fn word(&mut self, name: &'static str) -> Result<Option<Text>> {
        let Some((value, at)) = self.value(name)? else {
            return Ok(None);
        };
        match value {
            Value::Word(text) | Value::Text(text) | Value::Sql(text) | Value::Call(text) => {
                Ok(Some(Text::new(&*text, &at)))
            }
            other => Err(at.malformed(format!("{} stands where a name is wanted", other.shown()))),
        }
    }

    /// One of some keywords, in any case, with underscores or spaces.
    pub(super) fn keyword(
        &mut self,
        name: &'static str,
        among: &[&'static str],
    ) -> Result<Option<(&'static str, At)>> {
        let Some(word) = self.word(name)? else {
            return Ok(None);
        };
        match crate::desired::formats::keyword(&word.text, among) {
            Some(found) => Ok(Some((found, word.at))),
            None => Err(word
                .at
                .malformed(format!("{:?} is none of {}", word.text, among.join(", ")))),
        }
    }

    pub(super) fn bool(&mut self, name: &'static str) -> Result<Option<(bool, At)>> {
        let Some((value, at)) = self.value(name)? else {
            return Ok(None);
        };
        let value = value.as_bool().map_err(|why| at.malformed(why))?;
        Ok(Some((value, at)))
    }

    /// The same, and what it is when it is not said.
    pub(super) fn flag(&mut self, name: &'static str, default: bool) -> Result<bool> {
        Ok(self.bool(name)?.map_or(default, |(value, _)| value))
    }

    /// A whole number, also when it is written as a string.
    pub(super) fn integer(&mut self, name: &'static str) -> Result<Option<i64>> {
        let Some((value, at)) = self.value(name)? else {
            return Ok(None);
        };
        let value = match value {
            Value::Text(text) => Value::Number(text),
            other => other,
        };
        value.as_integer().map(Some).map_err(|why| at.malformed(why))
    }

    pub(super) fn list(&mut self, name: &'static str) -> Result<Option<(Vec<Value>, At)>> {
        let Some((value, at)) = self.value(name)? else {
            return Ok(None);
        };
        let items = value.as_list().map_err(|why| at.malformed(why))?.to_vec();
        Ok(Some((items, at)))
    }

    /// A list of strings.
    pub(super) fn texts(&mut self, name: &'static str) -> Result<Option<(Vec<String>, At)>> {
        let Some((items, at)) = self.list(name)? else {
            return Ok(None);
        };
        let texts: std::result::Result<Vec<String>, String> = items
            .iter()
            .map(|item| item.as_text().map(str::to_owned))
            .collect();
        match texts {
            Ok(texts) => Ok(Some((texts, at))),
            Err(why) => Err(at.malformed(why)),
        }
    }

    /// `schema.x`, or the name as a string.
    pub(super) fn schema(&mut self) -> Result<Option<String>> {
        let Some((value, at)) = self.value("schema")? else {
            return Ok(None);
        };
        schema_name(&value)
            .map(Some)
            .ok_or_else(|| at.malformed(format!("{} is not schema.NAME", value.shown())))
    }

    /// The object's name from its labels and its `schema`.
    pub(super) fn name(&mut self) -> Result<Name> {
        let schema = self.schema()?;
        match &self.labels[..] {
            [name] => self.checked(Name::new(schema, &**name)),
            [label, name] => match schema {
                Some(schema) if schema != *label => Err(self.at.malformed(format!(
                    "its label says schema {label:?}, its attribute {schema:?}"
                ))),
                _ => self.checked(Name::new(Some(label.clone()), &**name)),
            },
            _ => Err(self
                .at
                .malformed("it takes one label, its name, or two, schema and name")),
        }
    }

    fn checked(&self, name: Name) -> Result<Name> {
        if name.name.is_empty() || name.schema.as_deref() == Some("") {
            return Err(self.at.malformed("a name is empty"));
        }
        Ok(name)
    }

    /// The one label of a block.
    pub(super) fn label(&self) -> Result<String> {
        match &self.labels[..] {
            [label] if !label.is_empty() => Ok(label.clone()),
            _ => Err(self.at.malformed("it takes exactly one label, its name")),
        }
    }

    /// A block that takes no label.
    pub(super) fn no_label(&self) -> Result<()> {
        if self.labels.is_empty() {
            Ok(())
        } else {
            Err(self.at.malformed("it takes no label"))
        }
    }

    /// A type.
    pub(super) fn data_type(&mut self, name: &'static str) -> Result<Type> {
        let Some((value, at)) = self.value(name)? else {
            return Err(self.at.malformed(format!("{name} is missing")));
        };
        match &value {
            Value::Word(text) | Value::Call(text) | Value::Text(text) | Value::Sql(text) => {
                Ok(Type::Written(Text::new(&**text, &at)))
            }
            Value::Reference(_) => match reference(&value, "enum") {
                Some(name) => Ok(Type::Enum(Reference { name, at })),
                None => Err(at.malformed(format!("{} is not a type", value.shown()))),
            },
            other => Err(at.malformed(format!("{} stands where a type is wanted", other.shown()))),
        }
    }

    /// A list of columns of the block's own table, `[column.a]`.
    pub(super) fn columns(&mut self, name: &'static str) -> Result<Option<Vec<String>>> {
        let Some((value, at)) = self.value(name)? else {
            return Ok(None);
        };
        let items = match value {
            Value::List(items) => items.to_vec(),
            one => vec![one],
        };
        let columns: Result<Vec<String>> = items.iter().map(|item| column(item, &at)).collect();
        columns.map(Some)
    }

    /// One column of the block's own table.
    pub(super) fn column(&mut self, name: &'static str) -> Result<Option<String>> {
        self.value(name)?
            .map(|(value, at)| column(&value, &at))
            .transpose()
    }

    /// A table or view that it stands on.
    pub(super) fn relation(&mut self, name: &'static str) -> Result<Reference> {
        let Some((value, at)) = self.value(name)? else {
            return Err(self.at.malformed(format!("{name} is missing")));
        };
        match relation(&value) {
            Some(name) => Ok(Reference { name, at }),
            None => Err(at.malformed(format!("{} is not table.NAME or view.NAME", value.shown()))),
        }
    }
}

/// `column.a`, or the name as a string.
fn column(value: &Value, at: &At) -> Result<String> {
    match value {
        Value::Text(name) if !name.is_empty() => Ok(name.to_string()),
        Value::Reference(parts) => match &parts[..] {
            [kind, name] if kind == "column" => Ok(name.clone()),
            _ => Err(at.malformed(format!("{} is not column.NAME", parts.join(".")))),
        },
        other => Err(at.malformed(format!("{} is not column.NAME", other.shown()))),
    }
}

fn schema_name(value: &Value) -> Option<String> {
    match value {
        Value::Text(name) | Value::Sql(name) => Some(name.to_string()),
        Value::Reference(parts) => match &parts[..] {
            [kind, name] if kind == "schema" => Some(name.clone()),
            _ => None,
        },
        _ => None,
    }
}

/// `kind.name` or `kind.schema.name`.
pub(super) fn reference(value: &Value, kind: &str) -> Option<Name> {
    let Value::Reference(parts) = value else {
        return None;
    };
    match &parts[..] {
        [found, name] if found == kind => Some(Name::new(None, &**name)),
        [found, schema, name] if found == kind => Some(Name::new(Some(schema.clone()), &**name)),
        _ => None,
    }
}

/// A table or a view, by reference or as a string with or without a schema.
pub(super) fn relation(value: &Value) -> Option<Name> {
    if let Value::Text(text) = value {
        return crate::desired::formats::dotted_name(text);
    }
    ["table", "view", "materialized"]
        .into_iter()
        .find_map(|kind| reference(value, kind))
}
