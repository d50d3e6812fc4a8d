//! A block with its attributes and the blocks in it, `dynamic` ones unrolled.
//!
//! Promises: an attribute or a block that nobody asked for is an error with its own line.

use std::collections::BTreeSet;

use hcl_edit::Span as _;
use hcl_edit::expr::Expression;
use hcl_edit::structure::{Attribute, Block, Body};
use hcl_edit::template::Element;

use super::eval::{self, Scope};
use super::value::Value;
use crate::desired::formats::place::{At, Text};
use crate::error::Result;

/// Where lines begin.
pub(super) struct Lines(Vec<usize>);

impl Lines {
    pub(super) fn of(text: &str) -> Self {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Self(std::iter::once(0).chain(breaks.map(|(at, _)| at + 1)).collect())
    }

    /// 1-based.
    fn at(&self, offset: usize) -> usize {
        self.0.partition_point(|begins| *begins <= offset)
    }
}

/// A block as it stands, or as a `dynamic` block makes it.
pub(super) struct Node<'a> {
    pub(super) kind: String,
    pub(super) labels: Vec<String>,
    pub(super) at: At,
    body: &'a Body,
    lines: &'a Lines,
    scope: Scope,
    asked: BTreeSet<&'static str>,
    read_elsewhere: bool,
}

impl<'a> Node<'a> {
    /// The whole document.
    pub(super) fn document(body: &'a Body, lines: &'a Lines, scope: Scope, at: At) -> Self {
        Self {
            kind: "document".to_owned(),
            labels: vec![],
            at,
            body,
            lines,
            scope,
            asked: BTreeSet::new(),
            read_elsewhere: false,
        }
    }

    /// The same with names that have values now.
    pub(super) fn in_scope(mut self, scope: Scope) -> Self {
        self.scope = scope;
        self
    }

    pub(super) fn scope(&self) -> &Scope {
        &self.scope
    }

    /// The blocks in this one, in order.
    pub(super) fn blocks(&self) -> Result<Vec<Node<'a>>> {
        let mut found = Vec::new();
        for block in self.body.blocks() {
            if block.ident.as_str() == "dynamic" {
                self.unroll(block, &mut found)?;
            } else {
                found.push(self.child(block));
            }
        }
        Ok(found)
    }

    /// Whether a block of the kind stands in it as it is.
    pub(super) fn has(&self, kind: &str) -> bool {
        self.body.has_blocks(kind)
    }

    /// The blocks in this one that no `dynamic` block makes.
    pub(super) fn plain_blocks(&self) -> Vec<Node<'a>> {
        let blocks = self.body.blocks();
        blocks
            .filter(|block| block.ident.as_str() != "dynamic")
            .map(|block| self.child(block))
            .collect()
    }

    /// Leaves a block that was read elsewhere.
    pub(super) fn ask_all(&mut self) {
        self.read_elsewhere = true;
    }

    /// Blocks in a place that has none of the kind.
    pub(super) fn no_blocks(&self) -> Result<()> {
        match self.blocks()?.first() {
            None => Ok(()),
            Some(found) => Err(found.unknown()),
        }
    }

    /// The error about a block that nothing reads.
    pub(super) fn unknown(&self) -> crate::error::Error {
        self.at.malformed("there is no such block here")
    }

    fn child(&self, block: &'a Block) -> Node<'a> {
        let kind = block.ident.as_str();
        let labels: Vec<String> = block
            .labels
            .iter()
            .map(|label| label.as_str().to_owned())
            .collect();
        self.made(kind, labels, self.line(block), &block.body, self.scope.clone())
    }

    fn made(&self, kind: &str, labels: Vec<String>, line: usize, body: &'a Body, scope: Scope) -> Node<'a> {
        let shown: String = labels.iter().map(|label| format!(" {label:?}")).collect();
        Node {
            at: self.at.block(line, &format!("{kind}{shown}")),
            kind: kind.to_owned(),
            labels,
            body,
            lines: self.lines,
            scope,
            asked: BTreeSet::new(),
            read_elsewhere: false,
        }
    }

    fn line(&self, block: &Block) -> usize {
        block
            .span()
            .map_or(self.at.line, |span| self.lines.at(span.start))
    }

    fn unroll(&self, block: &'a Block, found: &mut Vec<Node<'a>>) -> Result<()> {
        let mut dynamic = self.child(block);
        let [kind] = &dynamic.labels[..] else {
            return Err(dynamic
                .at
                .malformed("it takes one label, the kind of block that it makes"));
        };
        let kind = kind.clone();
        let mut contents = block.body.blocks();
        let (Some(content), None) = (contents.next(), contents.next()) else {
            return Err(dynamic.at.malformed("it holds exactly one content block"));
        };
        if content.ident.as_str() != "content" || kind == "dynamic" {
            return Err(self.child(content).unknown());
        }
        let iterator = match dynamic.value("iterator")? {
            None => kind.clone(),
            Some((Value::Word(name), _)) => name.to_string(),
            Some((_, at)) => return Err(at.malformed("it is not a bare name")),
        };
        let Some((collection, at)) = dynamic.value("for_each")? else {
            return Err(dynamic.at.malformed("for_each is missing"));
        };
        let labels = dynamic.take("labels");
        dynamic.finish()?;
        for (key, value) in eval::elements(&collection).map_err(|why| at.malformed(why))? {
            let element = Value::Object(std::rc::Rc::new(
                [("key".to_owned(), key), ("value".to_owned(), value)].into(),
            ));
            let scope = self.scope.with([(iterator.clone(), element)]);
            let mut made = content
                .labels
                .iter()
                .map(|label| label.as_str().to_owned())
                .collect();
            if let Some(labels) = labels {
                let at = dynamic.attribute_at(labels);
                let value = eval::evaluate(&labels.value, &scope).and_then(|value| {
                    let texts: eval::Evaluated<Vec<_>> =
                        value.as_list()?.iter().map(Value::to_text).collect();
                    texts
                });
                let texts = value.map_err(|why| at.malformed(why))?;
                made = texts.iter().map(ToString::to_string).collect();
            }
            let line = dynamic.at.line;
            found.push(self.made(&kind, made, line, &content.body, scope));
        }
        Ok(())
    }

    fn take(&mut self, name: &'static str) -> Option<&'a Attribute> {
        self.asked.insert(name);
        self.body.get_attribute(name)
    }

    /// Every attribute, for blocks whose attributes have names of their own.
    pub(super) fn attributes(&self) -> impl Iterator<Item = (&'a str, &'a Expression, At)> {
        self.body.attributes().map(|attribute| {
            (
                attribute.key.as_str(),
                &attribute.value,
                self.attribute_at(attribute),
            )
        })
    }

    fn attribute_at(&self, attribute: &Attribute) -> At {
        let line = attribute
            .span()
            .map_or(self.at.line, |span| self.lines.at(span.start));
        self.at.attribute(line, attribute.key.as_str())
    }

    /// An attribute's expression, not evaluated.
    pub(super) fn expression(&mut self, name: &'static str) -> Option<(&'a Expression, At)> {
        let attribute = self.take(name)?;
        Some((&attribute.value, self.attribute_at(attribute)))
    }

    /// An attribute's value and place. One that is null is as if it were not there.
    pub(super) fn value(&mut self, name: &'static str) -> Result<Option<(Value, At)>> {
        let Some((expression, at)) = self.expression(name) else {
            return Ok(None);
        };
        let value = eval::evaluate(expression, &self.scope).map_err(|why| at.malformed(why))?;
        Ok(match value {
            Value::Null => None,
            value => Some((value, at)),
        })
    }

    /// A text with the lines that it has in the document.
    pub(super) fn with_lines(&self, name: &'static str, text: &str, at: &At) -> Text {
        let mut found = Text::new(text, at);
        if let Some(attribute) = self.body.get_attribute(name)
            && let Expression::HeredocTemplate(heredoc) = &attribute.value
            && heredoc
                .template
                .iter()
                .all(|element| matches!(element, Element::Literal(_)))
        {
            found.line = at.line + 1;
            found.steps = true;
        }
        found
    }

    /// Nothing may be left that nobody asked for.
    ///
    /// # Errors
    /// Names the first attribute that is unknown here.
    pub(super) fn finish(&self) -> Result<()> {
        let unknown = self
            .body
            .attributes()
            .find(|attribute| !self.read_elsewhere && !self.asked.contains(attribute.key.as_str()));
        match unknown {
            None => Ok(()),
            Some(attribute) => Err(self
                .attribute_at(attribute)
                .malformed("there is no such attribute here")),
        }
    }
}
