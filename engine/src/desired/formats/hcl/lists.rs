//! Functions of lists, sets and objects.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::eval::{Evaluated, Scope, index};
use super::functions::{exactly, texts};
use super::value::Value;

/// Calls a function; none when there is no function of that name.
pub(super) fn call(name: &str, arguments: &[Value], scope: &Scope) -> Option<Evaluated> {
    let one = |change: fn(&Value) -> Evaluated| exactly::<1>(arguments).and_then(|[value]| change(value));
    let two = |change: fn(&Value, &Value) -> Evaluated| {
        exactly::<2>(arguments).and_then(|[first, second]| change(first, second))
    };
    Some(match name {
        "length" => one(length),
        "keys" => one(|object| Ok(Value::list(object.as_object()?.keys().map(Value::text).collect()))),
        "values" => one(|object| Ok(Value::list(object.as_object()?.values().cloned().collect()))),
        "reverse" => one(|list| Ok(Value::list(list.as_list()?.iter().rev().cloned().collect()))),
        "sort" => one(|list| {
            let mut texts: Vec<Rc<str>> = list
                .as_list()?
                .iter()
                .map(Value::to_text)
                .collect::<Evaluated<_>>()?;
            texts.sort();
            Ok(Value::list(texts.into_iter().map(Value::Text).collect()))
        }),
        "distinct" => one(distinct),
        "toset" => one(|list| Ok(set(texts(list)?))),
        "tolist" => one(|list| Ok(Value::list(list.as_list()?.to_vec()))),
        "compact" => one(|list| {
            let kept = list.as_list()?.iter();
            let kept = kept.filter(|item| !matches!(item, Value::Null) && **item != Value::text(""));
            Ok(Value::list(kept.cloned().collect()))
        }),
        "flatten" => one(|list| {
            let mut flat = Vec::new();
            flatten(list, &mut flat)?;
            Ok(Value::list(flat))
        }),
        "alltrue" => one(|list| {
            let all: Evaluated<Vec<bool>> = list.as_list()?.iter().map(Value::as_bool).collect();
            Ok(Value::Bool(all?.into_iter().all(|value| value)))
        }),
        "contains" => two(|list, wanted| Ok(Value::Bool(list.as_list()?.contains(wanted)))),
        "index" => two(|list, wanted| {
            let at = list.as_list()?.iter().position(|item| item == wanted);
            at.map(|at| Value::integer(at as i128))
                .ok_or_else(|| "there is no such element".to_owned())
        }),
        "element" => two(|list, at| {
            let count = i64::try_from(list.as_list()?.len()).unwrap_or(i64::MAX).max(1);
            index(
                list,
                &Value::integer(i128::from(at.as_integer()?.rem_euclid(count))),
            )
        }),
        "chunklist" => two(|list, size| {
            let size = usize::try_from(size.as_integer()?).ok().filter(|size| *size > 0);
            let size = size.ok_or("a chunk has at least one element")?;
            let chunks = list.as_list()?.chunks(size);
            Ok(Value::list(
                chunks.map(|chunk| Value::list(chunk.to_vec())).collect(),
            ))
        }),
        "zipmap" => two(|keys, values| {
            let (keys, values) = (keys.as_list()?, values.as_list()?);
            if keys.len() != values.len() {
                return Err("there are not as many keys as values".to_owned());
            }
            let pairs = keys.iter().zip(values);
            let object: Evaluated<BTreeMap<String, Value>> = pairs
                .map(|(key, value)| Ok((key.to_text()?.to_string(), value.clone())))
                .collect();
            Ok(Value::Object(Rc::new(object?)))
        }),
        "slice" => exactly::<3>(arguments).and_then(|[list, from, to]| {
            let at = |value: &Value| {
                usize::try_from(value.as_integer()?).map_err(|_| "a negative index".to_owned())
            };
            let part = list.as_list()?.get(at(from)?..at(to)?);
            part.map(|part| Value::list(part.to_vec()))
                .ok_or_else(|| "there are no such elements".to_owned())
        }),
        "concat" => {
            let lists: Evaluated<Vec<&[Value]>> = arguments.iter().map(Value::as_list).collect();
            lists.map(|lists| Value::list(lists.concat()))
        }
        "merge" => {
            let objects: Evaluated<Vec<_>> = arguments.iter().map(Value::as_object).collect();
            objects.map(|objects| {
                let pairs = objects.into_iter().flatten();
                let merged = pairs.map(|(key, value)| (key.clone(), value.clone())).collect();
                Value::Object(Rc::new(merged))
            })
        }
        "coalescelist" => arguments
            .iter()
            .find(|list| list.as_list().is_ok_and(|list| !list.is_empty()))
            .cloned()
            .ok_or_else(|| "every list is empty".to_owned()),
        "setunion" => sets(arguments, |all, next| all.union(next).cloned().collect()),
        "setintersection" => sets(arguments, |all, next| all.intersection(next).cloned().collect()),
        "setsubtract" => sets(arguments, |all, next| all.difference(next).cloned().collect()),
        "range" => range(arguments, scope),
        _ => return None,
    })
}

fn length(value: &Value) -> Evaluated {
    let count = match value {
        Value::List(items) => items.len(),
        Value::Object(items) => items.len(),
        other => other.as_text()?.chars().count(),
    };
    Ok(Value::integer(count as i128))
}

fn distinct(list: &Value) -> Evaluated {
    let mut kept: Vec<Value> = Vec::new();
    let mut seen = BTreeSet::new();
    for item in list.as_list()? {
        // Kinds apart: the number 1 is not the string "1".
        if seen.insert((item.kind(), item.to_text()?)) {
            kept.push(item.clone());
        }
    }
    Ok(Value::list(kept))
}

fn flatten(list: &Value, flat: &mut Vec<Value>) -> Evaluated<()> {
    const MOST: usize = 100_000;
    for item in list.as_list()? {
        match item {
            Value::List(_) => flatten(item, flat)?,
            other if flat.len() < MOST => flat.push(other.clone()),
            _ => return Err(format!("it makes more than {MOST} elements")),
        }
    }
    Ok(())
}

fn set(texts: Texts) -> Value {
    Value::list(texts.into_iter().map(Value::Text).collect())
}

type Texts = BTreeSet<Rc<str>>;

fn sets(arguments: &[Value], combine: fn(&Texts, &Texts) -> Texts) -> Evaluated {
    let [first, rest @ ..] = arguments else {
        return Err("it takes at least one set".to_owned());
    };
    let mut all = texts(first)?;
    for next in rest {
        all = combine(&all, &texts(next)?);
    }
    Ok(set(all))
}

fn range(arguments: &[Value], scope: &Scope) -> Evaluated {
    let numbers: Evaluated<Vec<i64>> = arguments.iter().map(Value::as_integer).collect();
    let (start, end, step) = match numbers?[..] {
        [end] => (0, end, if end < 0 { -1 } else { 1 }),
        [start, end] => (start, end, if end < start { -1 } else { 1 }),
        [start, end, step] => (start, end, step),
        _ => return Err("it takes one to three whole numbers".to_owned()),
    };
    if step == 0 {
        return Err("a step of zero".to_owned());
    }
    let mut made = Vec::new();
    let mut at = i128::from(start);
    while (step > 0 && at < i128::from(end)) || (step < 0 && at > i128::from(end)) {
        scope.spend(1)?;
        made.push(Value::integer(at));
        at += i128::from(step);
    }
    Ok(Value::list(made))
}
