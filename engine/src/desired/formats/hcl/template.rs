//! Strings with `${…}` and `%{…}` in them.

use hcl_edit::template::{Directive, Element, Strip, Template};

use super::eval::{self, Evaluated, Scope};
use super::value::Value;

/// The text of a template.
pub(super) fn evaluate(template: &Template, scope: &Scope) -> Evaluated {
    let mut out = String::new();
    append(&mut out, template, scope, Strip::None, Strip::None)?;
    Ok(Value::text(out))
}

fn append(
    out: &mut String,
    template: &Template,
    scope: &Scope,
    before: Strip,
    after: Strip,
) -> Evaluated<()> {
    let elements: Vec<&Element> = template.iter().collect();
    for (at, element) in elements.iter().enumerate() {
        let length = out.len();
        match element {
            Element::Literal(text) => {
                let previous = if at == 0 {
                    before
                } else {
                    strips(elements[at - 1]).1
                };
                let next = elements.get(at + 1).map_or(after, |next| strips(next).0);
                out.push_str(stripped(text.as_str(), previous.strip_end(), next.strip_start()));
            }
            Element::Interpolation(found) => {
                out.push_str(&eval::evaluate(&found.expr, scope)?.to_text()?);
            }
            Element::Directive(directive) => self::directive(out, directive, scope)?,
        }
        scope.spend(1 + out.len().saturating_sub(length) / 16)?;
    }
    Ok(())
}

fn directive(out: &mut String, directive: &Directive, scope: &Scope) -> Evaluated<()> {
    match directive {
        Directive::If(choice) => {
            let (when, other, end) = (&choice.if_expr, &choice.else_expr, &choice.endif_expr);
            if eval::evaluate(&when.cond_expr, scope)?.as_bool()? {
                let after = other.as_ref().map_or(end.strip, |other| other.strip);
                append(out, &when.template, scope, when.strip, after)
            } else if let Some(other) = other {
                append(out, &other.template, scope, other.strip, end.strip)
            } else {
                Ok(())
            }
        }
        Directive::For(repeat) => {
            let (each, end) = (&repeat.for_expr, &repeat.endfor_expr);
            let collection = eval::evaluate(&each.collection_expr, scope)?;
            for (key, value) in eval::elements(&collection)? {
                let mut names = vec![(each.value_var.as_str().to_owned(), value)];
                names.extend(each.key_var.as_ref().map(|name| (name.as_str().to_owned(), key)));
                append(out, &each.template, &scope.with(names), each.strip, end.strip)?;
            }
            Ok(())
        }
    }
}

/// What an element strips before and after itself.
fn strips(element: &Element) -> (Strip, Strip) {
    match element {
        Element::Literal(_) => (Strip::None, Strip::None),
        Element::Interpolation(found) => (found.strip, found.strip),
        Element::Directive(directive) => match &**directive {
            Directive::If(choice) => (choice.if_expr.strip, choice.endif_expr.strip),
            Directive::For(repeat) => (repeat.for_expr.strip, repeat.endfor_expr.strip),
        },
    }
}

fn stripped(mut text: &str, start: bool, end: bool) -> &str {
    if start {
        text = text.trim_start();
    }
    if end {
        text = text.trim_end();
    }
    text
}
