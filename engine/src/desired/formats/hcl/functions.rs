//! The functions of HCL expressions, by the names and meanings that they have in HCL's own library.
//!
//! Not among them, and refused by name: what depends on the clock, prints, or reads another format.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::eval::{Evaluated, Scope, index};
use super::lists;
use super::value::Value;

/// Calls a function; none when there is no function of that name.
pub(super) fn call(name: &str, arguments: &[Value], scope: &Scope) -> Option<Evaluated> {
    // What it makes is at most a few times what it is given.
    let size = arguments.iter().map(size).sum::<usize>();
    if let Err(why) = scope.spend(1 + size) {
        return Some(Err(why));
    }
    strings(name, arguments, scope)
        .or_else(|| numbers(name, arguments))
        .or_else(|| lists::call(name, arguments, scope))
        .or_else(|| absent(name))
}

fn size(value: &Value) -> usize {
    match value {
        Value::List(items) => items.len(),
        Value::Object(items) => items.len(),
        Value::Text(text) => text.len() / 16,
        _ => 1,
    }
}

fn absent(name: &str) -> Option<Evaluated> {
    let names = [
        "csvdecode",
        "formatdate",
        "print",
        "regex",
        "regexall",
        "timeadd",
        "yamldecode",
        "yamlencode",
        "log",
        "setproduct",
        "file",
    ];
    names
        .contains(&name)
        .then(|| Err("this function is not to be had here".to_owned()))
}

/// The arguments, which must be so many.
pub(super) fn exactly<const N: usize>(arguments: &[Value]) -> Evaluated<&[Value; N]> {
    arguments
        .try_into()
        .map_err(|_| format!("it takes {N} arguments, not {}", arguments.len()))
}

fn strings(name: &str, arguments: &[Value], scope: &Scope) -> Option<Evaluated> {
    let one = |change: fn(&str) -> String| {
        let [text] = exactly::<1>(arguments)?;
        Ok(Value::text(change(&text.to_text()?)))
    };
    let two = |change: fn(&str, &str) -> Value| {
        let [first, second] = exactly::<2>(arguments)?;
        Ok(change(&first.to_text()?, &second.to_text()?))
    };
    Some(match name {
        "upper" => one(|text| text.to_uppercase()),
        "lower" => one(|text| text.to_lowercase()),
        "title" => one(title),
        "trimspace" => one(|text| text.trim().to_owned()),
        "chomp" => one(|text| text.trim_end_matches(['\r', '\n']).to_owned()),
        "strrev" => one(|text| text.chars().rev().collect()),
        "startswith" => two(|text, start| Value::Bool(text.starts_with(start))),
        "endswith" => two(|text, end| Value::Bool(text.ends_with(end))),
        "trimprefix" => two(|text, start| Value::text(text.strip_prefix(start).unwrap_or(text))),
        "trimsuffix" => two(|text, end| Value::text(text.strip_suffix(end).unwrap_or(text))),
        "trim" => two(|text, signs| Value::text(text.trim_matches(|c| signs.contains(c)))),
        "split" => two(|by, text| Value::list(text.split(by).map(Value::text).collect())),
        "join" => join(arguments, scope),
        "replace" => replace(arguments, scope),
        "substr" => substr(arguments),
        "indent" => indent(arguments, scope),
        "format" => format(arguments, scope),
        "formatlist" => formatlist(arguments, scope),
        "tostring" => exactly::<1>(arguments).and_then(|[value]| Ok(Value::Text(value.to_text()?))),
        "jsonencode" => exactly::<1>(arguments).and_then(|[value]| Ok(Value::text(json(value)?.to_string()))),
        "jsondecode" => exactly::<1>(arguments).and_then(|[text]| {
            let parsed: serde_json::Value =
                serde_json::from_str(text.as_text()?).map_err(|_| "it is no JSON".to_owned())?;
            Ok(from_json(&parsed))
        }),
        _ => return None,
    })
}

fn title(text: &str) -> String {
    let mut begins = true;
    text.chars()
        .map(|c| {
            let upper = begins;
            begins = c.is_whitespace();
            if upper {
                c.to_uppercase().to_string()
            } else {
                c.to_string()
            }
        })
        .collect()
}

fn join(arguments: &[Value], scope: &Scope) -> Evaluated {
    let [by, lists @ ..] = arguments else {
        return Err("it takes a separator and lists".to_owned());
    };
    let mut parts = Vec::new();
    for list in lists {
        for item in list.as_list()? {
            parts.push(item.to_text()?);
        }
    }
    let by = by.to_text()?;
    scope.spend(parts.iter().map(|part| (part.len() + by.len()) / 16 + 1).sum())?;
    Ok(Value::text(parts.join(&*by)))
}

fn replace(arguments: &[Value], scope: &Scope) -> Evaluated {
    let [text, from, to] = exactly::<3>(arguments)?;
    let (text, from, to) = (text.to_text()?, from.to_text()?, to.to_text()?);
    if from.len() > 1 && from.starts_with('/') && from.ends_with('/') {
        return Err("regular expressions are not to be had here".to_owned());
    }
    scope.spend(text.matches(&*from).count() * (to.len() / 16 + 1))?;
    Ok(Value::text(text.replace(&*from, &to)))
}

fn substr(arguments: &[Value]) -> Evaluated {
    let [text, from, length] = exactly::<3>(arguments)?;
    let text: Vec<char> = text.to_text()?.chars().collect();
    let (from, length) = (from.as_integer()?, length.as_integer()?);
    let count = i64::try_from(text.len()).unwrap_or(i64::MAX);
    let start = if from < 0 {
        from.saturating_add(count)
    } else {
        from
    }
    .clamp(0, count);
    let end = if length < 0 {
        count
    } else {
        start.saturating_add(length).min(count)
    };
    let at = |index: i64| usize::try_from(index).unwrap_or(0);
    Ok(Value::text(text[at(start)..at(end)].iter().collect::<String>()))
}

fn indent(arguments: &[Value], scope: &Scope) -> Evaluated {
    let [by, text] = exactly::<2>(arguments)?;
    let by = usize::try_from(by.as_integer()?).map_err(|_| "a negative indent".to_owned())?;
    let text = text.to_text()?;
    scope.spend(text.matches('\n').count().saturating_mul(by / 16 + 1))?;
    scope.spend(by / 16)?;
    Ok(Value::text(text.replace('\n', &format!("\n{}", " ".repeat(by)))))
}

/// `%s`, `%v`, `%d`, `%t`, `%q` and `%%`.
fn format(arguments: &[Value], scope: &Scope) -> Evaluated {
    let [pattern, rest @ ..] = arguments else {
        return Err("it takes a pattern".to_owned());
    };
    let (pattern, mut rest) = (pattern.to_text()?, rest.iter());
    let mut out = String::new();
    let mut chars = pattern.chars();
    while let Some(sign) = chars.next() {
        if sign != '%' {
            out.push(sign);
            continue;
        }
        let verb = chars.next().ok_or("the pattern ends with %")?;
        if verb == '%' {
            out.push('%');
            continue;
        }
        let value = rest.next().ok_or("there are fewer values than verbs")?;
        let text = match verb {
            's' | 't' => value.to_text()?.to_string(),
            'v' => value
                .to_text()
                .map(|text| text.to_string())
                .or_else(|_| Ok::<_, String>(json(value)?.to_string()))?,
            'd' => value.as_integer()?.to_string(),
            'q' => json(&Value::Text(value.to_text()?))?.to_string(),
            other => return Err(format!("%{other} is not to be had here")),
        };
        scope.spend(text.len() / 16)?;
        out.push_str(&text);
    }
    match rest.next() {
        None => Ok(Value::text(out)),
        Some(_) => Err("there are more values than verbs".to_owned()),
    }
}

fn formatlist(arguments: &[Value], scope: &Scope) -> Evaluated {
    let lists = arguments.iter().filter_map(|argument| argument.as_list().ok());
    let length = lists.map(<[Value]>::len).max().unwrap_or(1);
    let rows: Evaluated<Vec<Value>> = (0..length)
        .map(|at| {
            let row: Evaluated<Vec<Value>> = arguments
                .iter()
                .map(|argument| match argument {
                    Value::List(_) => index(argument, &Value::integer(at as i128)),
                    other => Ok(other.clone()),
                })
                .collect();
            format(&row?, scope)
        })
        .collect();
    Ok(Value::list(rows?))
}

fn numbers(name: &str, arguments: &[Value]) -> Option<Evaluated> {
    let one = |change: fn(f64) -> f64| {
        let [number] = exactly::<1>(arguments)?;
        Ok(Value::number(change(number.as_number()?)))
    };
    let most = |better: fn(f64, f64) -> bool| {
        let mut best: Option<&Value> = None;
        for value in arguments {
            let number = value.as_number()?;
            if best.map_or(Ok(true), |best| {
                Ok::<_, String>(better(number, best.as_number()?))
            })? {
                best = Some(value);
            }
        }
        best.cloned()
            .ok_or_else(|| "it takes at least one number".to_owned())
    };
    Some(match name {
        "abs" => one(f64::abs),
        "ceil" => one(f64::ceil),
        "floor" => one(f64::floor),
        "signum" => one(|number| if number == 0.0 { 0.0 } else { number.signum() }),
        "max" => most(|new, best| new > best),
        "min" => most(|new, best| new < best),
        "pow" => exactly::<2>(arguments).and_then(|[base, power]| {
            let made = base.as_number()?.powf(power.as_number()?);
            made.is_finite()
                .then(|| Value::number(made))
                .ok_or_else(|| "the result is not a number".to_owned())
        }),
        "parseint" => exactly::<2>(arguments).and_then(|[text, base]| {
            let base = u32::try_from(base.as_integer()?)
                .ok()
                .filter(|base| (2..=36).contains(base));
            let base = base.ok_or("the base is not one of 2 to 36")?;
            let number = i64::from_str_radix(&text.to_text()?, base);
            number
                .map(|number| Value::integer(i128::from(number)))
                .map_err(|_| "it is no whole number".to_owned())
        }),
        "tonumber" => exactly::<1>(arguments).and_then(|[value]| {
            let number = Value::Number(value.to_text()?);
            number.as_number().map(|_| number)
        }),
        "tobool" => exactly::<1>(arguments).and_then(|[value]| match &*value.to_text()? {
            "true" => Ok(Value::Bool(true)),
            "false" => Ok(Value::Bool(false)),
            _ => Err("it is neither true nor false".to_owned()),
        }),
        _ => return None,
    })
}

fn json(value: &Value) -> Evaluated<serde_json::Value> {
    Ok(match value {
        Value::Null => serde_json::Value::Null,
        Value::Bool(value) => (*value).into(),
        Value::Number(text) => {
            serde_json::from_str(text).map_err(|_| format!("{text} is no number of JSON"))?
        }
        Value::Text(text) => (&**text).into(),
        Value::List(items) => items.iter().map(json).collect::<Evaluated<Vec<_>>>()?.into(),
        Value::Object(items) => {
            let mut object = serde_json::Map::new();
            for (key, value) in items.iter() {
                object.insert(key.clone(), json(value)?);
            }
            object.into()
        }
        other => return Err(format!("{} has no JSON", other.shown())),
    })
}

fn from_json(value: &serde_json::Value) -> Value {
    match value {
        serde_json::Value::Null => Value::Null,
        serde_json::Value::Bool(value) => Value::Bool(*value),
        serde_json::Value::Number(number) => Value::Number(number.to_string().into()),
        serde_json::Value::String(text) => Value::text(text),
        serde_json::Value::Array(items) => Value::list(items.iter().map(from_json).collect()),
        serde_json::Value::Object(items) => {
            let items: BTreeMap<String, Value> = items
                .iter()
                .map(|(key, value)| (key.clone(), from_json(value)))
                .collect();
            Value::Object(Rc::new(items))
        }
    }
}

/// Texts of a list, for what works on sets of them.
pub(super) fn texts(value: &Value) -> Evaluated<BTreeSet<Rc<str>>> {
    value.as_list()?.iter().map(Value::to_text).collect()
}
