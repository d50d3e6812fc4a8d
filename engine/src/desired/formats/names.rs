//! What the documents of a desired state declare, by name: each once, and where a bare name leads.

use std::collections::BTreeMap;

use super::Document;
use super::objects::{Name, Reference, Type};
use super::pieces;
use super::place::{At, Text};
use crate::error::Result;
use crate::name::quote;

/// Tables, views, sequences and types of all documents.
#[derive(Default)]
pub(super) struct Names {
    relations: BTreeMap<String, Vec<Option<String>>>,
    sequences: BTreeMap<String, Vec<Option<String>>>,
    types: BTreeMap<String, Vec<Option<String>>>,
    seen: BTreeMap<(&'static str, Name), At>,
}

impl Names {
    /// Reads all names.
    ///
    /// # Errors
    /// What is declared twice, with both places.
    pub(super) fn of(documents: &[Document]) -> Result<Self> {
        let mut names = Self::default();
        for document in documents {
            let objects = &document.objects;
            for extension in &objects.extensions {
                names.once("extension", &Name::new(None, &*extension.name), &extension.at)?;
            }
            let types = objects.enums.iter().map(|o| (&o.name, &o.at));
            let types = types.chain(objects.domains.iter().map(|o| (&o.name, &o.at)));
            let types = types.chain(objects.composites.iter().map(|o| (&o.name, &o.at)));
            for (name, at) in types.chain(objects.ranges.iter().map(|o| (&o.name, &o.at))) {
                names.once("type", name, at)?;
                remember(&mut names.types, name);
            }
            for sequence in &objects.sequences {
                names.once("relation", &sequence.name, &sequence.at)?;
                remember(&mut names.sequences, &sequence.name);
            }
            let tables = objects.tables.iter().map(|o| (&o.name, &o.at));
            for (name, at) in tables.chain(objects.views.iter().map(|o| (&o.name, &o.at))) {
                names.once("relation", name, at)?;
                remember(&mut names.relations, name);
            }
        }
        Ok(names)
    }

    fn once(&mut self, kind: &'static str, name: &Name, at: &At) -> Result<()> {
        match self.seen.insert((kind, name.clone()), at.clone()) {
            None => Ok(()),
            Some(first) => Err(declared_twice(at, &first)),
        }
    }

    /// The table or view that is meant. Inside a table, one of the same schema is meant first.
    ///
    /// # Errors
    /// Two schemas have one of that name, and the reference names neither.
    pub(super) fn relation(&self, reference: &Reference, near: Option<&Name>) -> Result<Name> {
        resolve(&self.relations, reference, near)
    }

    /// The sequence that is meant.
    ///
    /// # Errors
    /// Two schemas have one of that name, and the reference names neither.
    pub(super) fn sequence(&self, reference: &Reference) -> Result<Name> {
        resolve(&self.sequences, reference, None)
    }

    /// The type as SQL needs it: one that the documents declare gets its schema.
    ///
    /// # Errors
    /// A text that is no type, or a name that two schemas have.
    pub(super) fn data_type(&self, data_type: &Type, near: Option<&Name>) -> Result<String> {
        let written = match data_type {
            Type::Enum(reference) => return Ok(resolve(&self.types, reference, near)?.sql()),
            Type::Written(written) => written,
        };
        let text = written.text.trim();
        let (name, dimensions) = match text.find('[') {
            Some(at) => text.split_at(at),
            None => (text, ""),
        };
        if self.types.contains_key(name) {
            let reference = Reference {
                name: Name::new(None, name),
                at: written.at.clone(),
            };
            let found = resolve(&self.types, &reference, near)?;
            let array = Text {
                text: format!("int{dimensions}"),
                ..written.clone()
            };
            let array = pieces::data_type(&array)?;
            return Ok(format!("{}{}", found.sql(), &array["int".len()..]));
        }
        // As HCL spells the types of two words.
        for (spelled, sql) in [
            ("double_precision", "double precision"),
            ("character_varying", "character varying"),
            ("bit_varying", "bit varying"),
        ] {
            if let Some(rest) = text.strip_prefix(spelled)
                && !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_')
            {
                let text = format!("{sql}{rest}");
                return pieces::data_type(&Text {
                    text,
                    ..written.clone()
                });
            }
        }
        pieces::data_type(written)
    }
}

/// The error about a second declaration.
pub(super) fn declared_twice(at: &At, first: &At) -> crate::error::Error {
    let place = if at.file() == first.file() {
        format!("line {}", first.line)
    } else {
        format!("{}:{}", first.file(), first.line)
    };
    at.malformed(format!("it is declared already, at {place}"))
}

fn remember(names: &mut BTreeMap<String, Vec<Option<String>>>, name: &Name) {
    names
        .entry(name.name.clone())
        .or_default()
        .push(name.schema.clone());
}

fn resolve(
    names: &BTreeMap<String, Vec<Option<String>>>,
    reference: &Reference,
    near: Option<&Name>,
) -> Result<Name> {
    let name = &reference.name;
    if name.schema.is_some() {
        return Ok(name.clone());
    }
    let schemas = names.get(&name.name).map_or(&[][..], Vec::as_slice);
    let here = near.filter(|near| schemas.contains(&near.schema));
    match (schemas, here) {
        ([], _) => Ok(name.clone()),
        ([one], _) => Ok(Name::new(one.clone(), &*name.name)),
        (_, Some(here)) => Ok(Name::new(here.schema.clone(), &*name.name)),
        (many, None) => {
            let many: Vec<String> = many
                .iter()
                .map(|schema| quote(schema.as_deref().unwrap_or("(no schema)")))
                .collect();
            Err(reference.at.malformed(format!(
                "{} is declared in {}: name the schema",
                quote(&name.name),
                many.join(" and ")
            )))
        }
    }
}
