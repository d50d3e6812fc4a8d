//! A YAML document as a tree that knows its lines.
//!
//! Promises: one document, no key twice, no tag but those of YAML's own scalars, at most [`NODES`] nodes with every
//! alias counted for what it stands for, and at most [`DEPTH`] levels.

use std::collections::BTreeMap;
use std::sync::Arc;

use granit_parser::{Event, Parser, ScalarStyle};

use crate::desired::formats::place::At;
use crate::error::Result;

const NODES: u64 = 1_000_000;
const DEPTH: usize = 64;

/// A node.
#[derive(Debug)]
pub(in crate::desired) struct Node {
    /// 1-based.
    pub(in crate::desired) line: usize,
    pub(in crate::desired) kind: Kind,
    /// How many nodes it is.
    size: u64,
}

/// What it is.
#[derive(Debug)]
pub(in crate::desired) enum Kind {
    Scalar {
        text: String,
        /// Written without quotes, so that it may be a number, a bool or null.
        plain: bool,
        /// A block whose line breaks are those of the document.
        literal: bool,
    },
    List(Vec<Arc<Node>>),
    /// Keys with their lines, in order.
    Map(Vec<(String, usize, Arc<Node>)>),
}

impl Node {
    /// What to call it in an error.
    pub(in crate::desired) fn shown(&self) -> &'static str {
        match &self.kind {
            Kind::Scalar { .. } if self.is_null() => "nothing",
            Kind::Scalar { .. } => "a single value",
            Kind::List(_) => "a list",
            Kind::Map(_) => "a map",
        }
    }

    /// Whether it says nothing.
    pub(in crate::desired) fn is_null(&self) -> bool {
        matches!(&self.kind, Kind::Scalar { text, plain: true, .. } if matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL"))
    }
}

/// Reads a document; none when it is empty.
///
/// # Errors
/// `desired_syntax` with file and line.
pub(in crate::desired) fn parse(document: &At, text: &str) -> Result<Option<Arc<Node>>> {
    let mut reader = Reader {
        parser: Parser::new_from_str(text),
        document,
        anchors: BTreeMap::new(),
        nodes: 0,
    };
    let mut root = None;
    loop {
        let (event, line) = reader.next()?;
        match event {
            Event::StreamEnd => return Ok(root),
            Event::DocumentStart(..) if root.is_some() => {
                return Err(document.at_line(line).malformed("a second document begins here"));
            }
            Event::StreamStart | Event::DocumentStart(..) | Event::DocumentEnd => {}
            event => root = Some(reader.node(event, line, 0)?),
        }
    }
}

struct Reader<'a> {
    parser: Parser<'a, granit_parser::StrInput<'a>>,
    document: &'a At,
    anchors: BTreeMap<usize, Arc<Node>>,
    nodes: u64,
}

impl<'a> Reader<'a> {
    /// The next event that is not a comment, and its line.
    fn next(&mut self) -> Result<(Event<'a>, usize)> {
        loop {
            match self.parser.next_event() {
                None => return Ok((Event::StreamEnd, 0)),
                Some(Err(error)) => {
                    let at = self.document.at_line(error.marker().line().max(1));
                    return Err(at.malformed(format!("it does not parse: {}", error.info())));
                }
                Some(Ok((Event::Comment(..), _))) => {}
                Some(Ok((event, span))) => return Ok((event, span.start.line())),
            }
        }
    }

    fn node(&mut self, event: Event<'a>, line: usize, depth: usize) -> Result<Arc<Node>> {
        let at = self.document.at_line(line);
        if depth > DEPTH {
            return Err(at.malformed("it is nested too deeply"));
        }
        if let Some(tag) = event.tag() {
            let plain = ["str", "int", "float", "bool", "null", "map", "seq", "timestamp"];
            if !plain.iter().any(|name| tag.is_yaml_core_schema_tag(name)) {
                return Err(at.malformed(format!("the tag {} is not known", tag.original())));
            }
        }
        let text_tag = event.tag().is_some_and(|tag| tag.is_yaml_core_schema_tag("str"));
        let anchor = event.anchor_id().filter(|anchor| *anchor > 0);
        let kind = match event {
            Event::Alias(id) => {
                let Some(found) = self.anchors.get(&id).cloned() else {
                    return Err(at.malformed("an alias of what is not complete yet"));
                };
                self.count(found.size, &at)?;
                return Ok(found);
            }
            Event::Scalar(text, style, ..) => Kind::Scalar {
                text: text.into_owned(),
                plain: style == ScalarStyle::Plain && !text_tag,
                literal: style == ScalarStyle::Literal,
            },
            Event::SequenceStart(..) => {
                let mut items = Vec::new();
                loop {
                    match self.next()? {
                        (Event::SequenceEnd, _) => break Kind::List(items),
                        (event, line) => items.push(self.node(event, line, depth + 1)?),
                    }
                }
            }
            Event::MappingStart(..) => self.map(depth)?,
            _ => return Err(at.malformed("a value is missing")),
        };
        let size = 1 + match &kind {
            Kind::Scalar { .. } => 0,
            Kind::List(items) => items.iter().map(|item| item.size).sum::<u64>(),
            Kind::Map(items) => items.iter().map(|(_, _, item)| item.size).sum::<u64>(),
        };
        self.count(1, &at)?;
        let node = Arc::new(Node { line, kind, size });
        if let Some(anchor) = anchor {
            self.anchors.insert(anchor, node.clone());
        }
        Ok(node)
    }

    fn map(&mut self, depth: usize) -> Result<Kind> {
        let mut items: Vec<(String, usize, Arc<Node>)> = Vec::new();
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        loop {
            let (event, line) = self.next()?;
            if event == Event::MappingEnd {
                return Ok(Kind::Map(items));
            }
            let key = self.node(event, line, depth + 1)?;
            let at = self.document.at_line(line);
            let Kind::Scalar { text, plain, .. } = &key.kind else {
                return Err(at.malformed("a key is not a single value"));
            };
            if *plain && text == "<<" {
                return Err(at.malformed("merge keys are not read: write the keys themselves"));
            }
            if let Some(first) = seen.insert(text.clone(), line) {
                return Err(at.malformed(format!("the key {text:?} stands there already, at line {first}")));
            }
            let (event, value_line) = self.next()?;
            items.push((text.clone(), line, self.node(event, value_line, depth + 1)?));
        }
    }

    fn count(&mut self, nodes: u64, at: &At) -> Result<()> {
        self.nodes = self.nodes.saturating_add(nodes);
        if self.nodes > NODES {
            return Err(at.malformed(format!("it is more than {NODES} nodes, aliases counted in full")));
        }
        Ok(())
    }
}
