//! What an HCL expression gives.

use std::collections::BTreeMap;
use std::rc::Rc;

/// A value, or what HCL cannot compute with and a schema means by itself: a bare word, a reference, a type, raw SQL.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Null,
    Bool(bool),
    /// As it was written, since `1.50` is not `1.5` to everybody.
    Number(Rc<str>),
    Text(Rc<str>),
    List(Rc<Vec<Value>>),
    Object(Rc<BTreeMap<String, Value>>),
    /// `sql("…")`.
    Sql(Rc<str>),
    /// `CASCADE`.
    Word(Rc<str>),
    /// `table.t.column.c`.
    Reference(Rc<Vec<String>>),
    /// `varchar(255)`.
    Call(Rc<str>),
}

impl Value {
    pub(super) fn text(text: impl AsRef<str>) -> Self {
        Self::Text(text.as_ref().into())
    }

    pub(super) fn list(values: Vec<Self>) -> Self {
        Self::List(Rc::new(values))
    }

    /// A computed number, whole where it is whole.
    pub(super) fn number(number: f64) -> Self {
        Self::Number(format!("{number}").into())
    }

    pub(super) fn integer(number: i128) -> Self {
        Self::Number(number.to_string().into())
    }

    /// What to call it in an error.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a bool",
            Self::Number(_) => "a number",
            Self::Text(_) => "a string",
            Self::List(_) => "a list",
            Self::Object(_) => "an object",
            Self::Sql(_) => "raw SQL",
            Self::Word(_) => "a bare word",
            Self::Reference(_) => "a reference",
            Self::Call(_) => "a call",
        }
    }

    pub(super) fn as_text(&self) -> Result<&str, String> {
        match self {
            Self::Text(text) => Ok(text),
            other => Err(format!("{} stands where a string is wanted", other.shown())),
        }
    }

    pub(super) fn as_bool(&self) -> Result<bool, String> {
        match self {
            Self::Bool(value) => Ok(*value),
            other => Err(format!("{} stands where true or false is wanted", other.shown())),
        }
    }

    pub(super) fn as_list(&self) -> Result<&[Self], String> {
        match self {
            Self::List(values) => Ok(values),
            other => Err(format!("{} stands where a list is wanted", other.shown())),
        }
    }

    pub(super) fn as_object(&self) -> Result<&BTreeMap<String, Self>, String> {
        match self {
            Self::Object(values) => Ok(values),
            other => Err(format!("{} stands where an object is wanted", other.shown())),
        }
    }

    pub(super) fn as_number(&self) -> Result<f64, String> {
        let number = match self {
            Self::Number(text) => text.parse().ok().filter(|number: &f64| number.is_finite()),
            _ => None,
        };
        number.ok_or_else(|| match self {
            Self::Number(text) => format!("{text:?} is not a number"),
            other => format!("{} stands where a number is wanted", other.shown()),
        })
    }

    pub(super) fn as_integer(&self) -> Result<i64, String> {
        let number = match self {
            Self::Number(text) => text.parse().ok(),
            _ => None,
        };
        number.ok_or_else(|| match self {
            Self::Number(text) => format!("{text} is not a whole number"),
            other => format!("{} stands where a whole number is wanted", other.shown()),
        })
    }

    /// The text that it has inside a string.
    pub(super) fn to_text(&self) -> Result<Rc<str>, String> {
        match self {
            Self::Text(text) | Self::Number(text) => Ok(text.clone()),
            Self::Bool(value) => Ok(value.to_string().into()),
            other => Err(format!("{} has no value that is text", other.shown())),
        }
    }

    /// The value in an error: its name when it is a reference, which is then most often one that is not declared.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Word(word) | Self::Call(word) => word.to_string(),
            Self::Reference(parts) => parts.join("."),
            other => other.kind().to_owned(),
        }
    }
}
