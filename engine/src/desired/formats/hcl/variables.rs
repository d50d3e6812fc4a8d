//! `variable` and `locals` blocks: what expressions may name.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use hcl_edit::expr::Expression;

use super::block::Node;
use super::eval::{self, Evaluated, Scope};
use super::value::Value;
use crate::desired::formats::place::At;
use crate::error::Result;

/// The scope of the document's other blocks.
pub(super) fn read(root: &Node<'_>) -> Result<Scope> {
    let mut variables = BTreeMap::new();
    let mut locals: BTreeMap<String, (&Expression, At)> = BTreeMap::new();
    let named = |kind: &str| root.has(kind);
    if !named("variable") && !named("locals") {
        return Ok(bind(root.scope(), variables, BTreeMap::new()));
    }
    for mut node in root.plain_blocks() {
        match node.kind.as_str() {
            "variable" => {
                let (name, value) = variable(&mut node)?;
                variables.insert(name, value);
            }
            "locals" => {
                node.no_label()?;
                node.no_blocks()?;
                for (name, expression, at) in node.attributes() {
                    locals.insert(name.to_owned(), (expression, at));
                }
            }
            _ => {}
        }
    }
    let mut known = BTreeMap::new();
    // One may name another that stands later.
    loop {
        let scope = bind(root.scope(), variables.clone(), known.clone());
        let mut stuck = None;
        let before = known.len();
        for (name, (expression, at)) in &locals {
            if known.contains_key(name) {
                continue;
            }
            match local(expression, &scope) {
                Ok(value) => {
                    known.insert(name.clone(), value);
                }
                Err(why) => stuck = stuck.or(Some(at.malformed(why))),
            }
        }
        match stuck {
            None => return Ok(bind(root.scope(), variables, known)),
            Some(error) if known.len() == before => return Err(error),
            Some(_) => {}
        }
    }
}

/// A local is a value: a bare word in it is most often a name that was not declared.
fn local(expression: &Expression, scope: &Scope) -> Evaluated {
    match eval::evaluate(expression, scope)? {
        value @ (Value::Word(_) | Value::Reference(_) | Value::Call(_)) => {
            Err(format!("there is no {} here", value.shown()))
        }
        value => Ok(value),
    }
}

fn bind(scope: &Scope, variables: BTreeMap<String, Value>, locals: BTreeMap<String, Value>) -> Scope {
    scope.with([
        ("var".to_owned(), Value::Object(Rc::new(variables))),
        ("local".to_owned(), Value::Object(Rc::new(locals))),
    ])
}

fn variable(node: &mut Node<'_>) -> Result<(String, Value)> {
    let name = node.label()?;
    node.no_blocks()?;
    if let Some((_, at)) = node.expression("sensitive") {
        return Err(at.refused("a schema holds no secrets, and none is given to it"));
    }
    node.text("description")?;
    let Some((wanted, at)) = node.value("type")? else {
        return Err(node.at.malformed("type is missing"));
    };
    let default = node.value("default")?;
    node.finish()?;
    let Some((default, default_at)) = default else {
        return Err(node
            .at
            .malformed("it has no default, and nothing here gives it a value"));
    };
    let wanted = wanted_type(&wanted).ok_or_else(|| {
        at.malformed(
            "a variable is bool, int, number or string, or list(…), set(…) or map(…) of one of these",
        )
    })?;
    let value = converted(&default, &wanted).map_err(|why| default_at.malformed(why))?;
    Ok((name, value))
}

enum Wanted {
    One(Scalar),
    List(Scalar),
    Set(Scalar),
    Map(Scalar),
}

#[derive(Clone, Copy)]
enum Scalar {
    Bool,
    Number,
    Text,
}

fn wanted_type(value: &Value) -> Option<Wanted> {
    let scalar = |name: &str| match name {
        "bool" => Some(Scalar::Bool),
        "int" | "number" => Some(Scalar::Number),
        "string" => Some(Scalar::Text),
        _ => None,
    };
    match value {
        Value::Word(name) => scalar(name).map(Wanted::One),
        Value::Call(call) => {
            let (name, element) = call.strip_suffix(')')?.split_once('(')?;
            let element = scalar(element)?;
            match name {
                "list" => Some(Wanted::List(element)),
                "set" => Some(Wanted::Set(element)),
                "map" => Some(Wanted::Map(element)),
                _ => None,
            }
        }
        _ => None,
    }
}

fn converted(value: &Value, wanted: &Wanted) -> Evaluated {
    let each = |element: Scalar| -> Evaluated<Vec<Value>> {
        value
            .as_list()?
            .iter()
            .map(|item| scalar(item, element))
            .collect()
    };
    match wanted {
        Wanted::One(one) => scalar(value, *one),
        Wanted::List(element) => Ok(Value::list(each(*element)?)),
        Wanted::Set(element) => {
            let mut seen = BTreeSet::new();
            let mut kept = each(*element)?;
            kept.retain(|item| item.to_text().is_ok_and(|text| seen.insert(text)));
            Ok(Value::list(kept))
        }
        Wanted::Map(element) => {
            let items = value.as_object()?.iter();
            let items: Evaluated<BTreeMap<String, Value>> = items
                .map(|(key, item)| Ok((key.clone(), scalar(item, *element)?)))
                .collect();
            Ok(Value::Object(Rc::new(items?)))
        }
    }
}

fn scalar(value: &Value, wanted: Scalar) -> Evaluated {
    match wanted {
        Scalar::Text => Ok(Value::Text(value.to_text()?)),
        Scalar::Number => {
            let number = Value::Number(value.to_text()?);
            number.as_number().map(|_| number)
        }
        Scalar::Bool => match &*value.to_text()? {
            "true" => Ok(Value::Bool(true)),
            "false" => Ok(Value::Bool(false)),
            other => Err(format!("{other:?} is neither true nor false")),
        },
    }
}
