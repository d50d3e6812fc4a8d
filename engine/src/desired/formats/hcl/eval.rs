//! Expressions of HCL: literals, templates, operators, `for`, calls, and what only names something.
//!
//! Promises: a document makes no more steps and no more text than [`STEPS`]; nothing is read but the document.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

use hcl_edit::expr::{
    BinaryOperator, Expression, ForExpr, FuncCall, ObjectKey, Traversal, TraversalOperator, UnaryOperator,
};

use super::functions;
use super::template;
use super::value::Value;

/// Steps of evaluation in one document, a step being a value or sixteen bytes of text.
const STEPS: u64 = 2_000_000;

pub(super) type Evaluated<T = Value> = Result<T, String>;

/// Names that have values: `var`, `local`, and what a `for` or a `dynamic` block adds.
#[derive(Clone)]
pub(super) struct Scope(Rc<Inner>);

struct Inner {
    values: BTreeMap<String, Value>,
    outer: Option<Scope>,
    left: Rc<Cell<u64>>,
}

impl Scope {
    /// Where a document begins.
    pub(super) fn new() -> Self {
        Self(Rc::new(Inner {
            values: BTreeMap::new(),
            outer: None,
            left: Rc::new(Cell::new(STEPS)),
        }))
    }

    /// This scope and more.
    pub(super) fn with(&self, values: impl IntoIterator<Item = (String, Value)>) -> Self {
        Self(Rc::new(Inner {
            values: values.into_iter().collect(),
            outer: Some(self.clone()),
            left: self.0.left.clone(),
        }))
    }

    fn get(&self, name: &str) -> Option<&Value> {
        match self.0.values.get(name) {
            Some(value) => Some(value),
            None => self.0.outer.as_ref()?.get(name),
        }
    }

    /// Pays for work.
    pub(super) fn spend(&self, steps: usize) -> Evaluated<()> {
        let left = self.0.left.get().checked_sub(steps as u64);
        self.0.left.set(left.unwrap_or(0));
        left.map(|_| ())
            .ok_or_else(|| format!("its expressions make more than {STEPS} steps"))
    }
}

/// The value of an expression.
pub(super) fn evaluate(expression: &Expression, scope: &Scope) -> Evaluated {
    scope.spend(1)?;
    match expression {
        Expression::Null(_) => Ok(Value::Null),
        Expression::Bool(value) => Ok(Value::Bool(*value.value())),
        Expression::Number(number) => {
            let written = number.as_repr().map(|repr| (**repr).to_owned());
            let text = written.unwrap_or_else(|| number.value().to_string());
            Ok(Value::Number(text.split_whitespace().collect::<String>().into()))
        }
        Expression::String(text) => {
            scope.spend(text.value().len() / 16)?;
            Ok(Value::text(text.value()))
        }
        Expression::StringTemplate(found) => match found.as_single_element() {
            // A template of one interpolation alone gives its value as it is.
            Some(hcl_edit::template::Element::Interpolation(only)) => evaluate(&only.expr, scope),
            _ => template::evaluate(found, scope),
        },
        Expression::HeredocTemplate(heredoc) => template::evaluate(&heredoc.template, scope),
        Expression::Array(items) => {
            let items: Evaluated<Vec<Value>> = items.iter().map(|item| evaluate(item, scope)).collect();
            Ok(Value::list(items?))
        }
        Expression::Object(items) => {
            let mut object = BTreeMap::new();
            for (key, value) in items.iter() {
                let key = match key {
                    ObjectKey::Ident(name) => name.as_str().to_owned(),
                    ObjectKey::Expression(key) => evaluate(key, scope)?.to_text()?.to_string(),
                };
                object.insert(key, evaluate(value.expr(), scope)?);
            }
            Ok(Value::Object(Rc::new(object)))
        }
        Expression::Parenthesis(inner) => evaluate(inner.inner(), scope),
        Expression::Conditional(choice) => {
            let chosen = if evaluate(&choice.cond_expr, scope)?.as_bool()? {
                &choice.true_expr
            } else {
                &choice.false_expr
            };
            evaluate(chosen, scope)
        }
        Expression::Variable(name) => {
            let name = name.as_str();
            Ok(scope
                .get(name)
                .cloned()
                .unwrap_or_else(|| Value::Word(name.into())))
        }
        Expression::Traversal(traversal) => self::traversal(traversal, scope),
        Expression::FuncCall(call) => self::call(call, scope),
        Expression::UnaryOp(operation) => {
            let value = evaluate(&operation.expr, scope)?;
            match *operation.operator.value() {
                UnaryOperator::Not => Ok(Value::Bool(!value.as_bool()?)),
                UnaryOperator::Neg => Ok(Value::number(-value.as_number()?)),
            }
        }
        Expression::BinaryOp(operation) => binary(
            *operation.operator.value(),
            &operation.lhs_expr,
            &operation.rhs_expr,
            scope,
        ),
        Expression::ForExpr(repeat) => for_expression(repeat, scope),
    }
}

/// A value's member, or a reference when the first name has no value.
fn traversal(traversal: &Traversal, scope: &Scope) -> Evaluated {
    let first = evaluate(&traversal.expr, scope)?;
    let steps: Vec<&TraversalOperator> = traversal.operators.iter().map(|op| op.value()).collect();
    if let Value::Word(root) = &first {
        if matches!(&**root, "var" | "local") {
            return Err(format!("there is no {root} here"));
        }
        let mut parts = vec![root.to_string()];
        for step in steps {
            parts.push(match step {
                TraversalOperator::GetAttr(name) => name.as_str().to_owned(),
                TraversalOperator::Index(index) => evaluate(index, scope)?.as_text()?.to_owned(),
                _ => return Err(format!("{root} is a reference, and has names only")),
            });
        }
        return Ok(Value::Reference(Rc::new(parts)));
    }
    walk(first, &steps, scope)
}

fn walk(mut value: Value, steps: &[&TraversalOperator], scope: &Scope) -> Evaluated {
    for (at, step) in steps.iter().enumerate() {
        scope.spend(1)?;
        value = match step {
            TraversalOperator::GetAttr(name) => member(&value, name.as_str())?,
            TraversalOperator::Index(index) => self::index(&value, &evaluate(index, scope)?)?,
            TraversalOperator::LegacyIndex(number) => {
                self::index(&value, &Value::integer(i128::from(*number.value())))?
            }
            TraversalOperator::AttrSplat(_) | TraversalOperator::FullSplat(_) => {
                let items = match &value {
                    Value::List(items) => items.to_vec(),
                    Value::Null => vec![],
                    other => vec![other.clone()],
                };
                let rest = &steps[at + 1..];
                let items: Evaluated<Vec<Value>> =
                    items.into_iter().map(|item| walk(item, rest, scope)).collect();
                return Ok(Value::list(items?));
            }
        };
    }
    Ok(value)
}

fn member(value: &Value, name: &str) -> Evaluated {
    let found = value.as_object()?.get(name).cloned();
    found.ok_or_else(|| format!("there is no {name} in it"))
}

/// An element by its number, or a member by its name.
pub(super) fn index(value: &Value, index: &Value) -> Evaluated {
    match value {
        Value::Object(_) => member(value, &index.to_text()?),
        _ => {
            let items = value.as_list()?;
            let at = usize::try_from(index.as_integer()?).ok();
            let found = at.and_then(|at| items.get(at)).cloned();
            found.ok_or_else(|| format!("there is no element {} in it", index.shown_number()))
        }
    }
}

impl Value {
    fn shown_number(&self) -> String {
        self.to_text()
            .map_or_else(|_| self.shown(), |text| text.to_string())
    }
}

fn call(call: &FuncCall, scope: &Scope) -> Evaluated {
    let name = call.name.name.as_str();
    if call.name.is_namespaced() {
        return Err(format!("there is no function {name} with a name before it"));
    }
    // These two look at what fails.
    if matches!(name, "try" | "can") {
        for argument in call.args.iter() {
            match (evaluate(argument, scope), name) {
                (Ok(value), "try") => return Ok(value),
                (Ok(_), _) => return Ok(Value::Bool(true)),
                (Err(_), "try") => {}
                (Err(_), _) => return Ok(Value::Bool(false)),
            }
        }
        return Err(format!("{name}: no argument has a value"));
    }
    let mut arguments = call
        .args
        .iter()
        .map(|argument| evaluate(argument, scope))
        .collect::<Evaluated<Vec<Value>>>()?;
    if call.args.expand_final()
        && let Some(last) = arguments.pop()
    {
        arguments.extend(last.as_list()?.iter().cloned());
    }
    if name == "sql" {
        return match arguments.as_slice() {
            [Value::Text(text)] => Ok(Value::Sql(text.clone())),
            [other] => Err(format!("sql() takes one string, not {}", other.shown())),
            many => Err(format!("sql() takes exactly one string, not {}", many.len())),
        };
    }
    match functions::call(name, &arguments, scope) {
        Some(value) => value.map_err(|why| format!("{name}(): {why}")),
        None => type_call(name, &arguments),
    }
}

/// `varchar(255)`: a type with arguments.
fn type_call(name: &str, arguments: &[Value]) -> Evaluated {
    let arguments: Evaluated<Vec<String>> = arguments
        .iter()
        .map(|argument| match argument {
            Value::Number(text) | Value::Word(text) => Ok(text.to_string()),
            Value::Text(text) => Ok(crate::name::literal(text)),
            other => Err(format!(
                "there is no function {name} that takes {}",
                other.shown()
            )),
        })
        .collect();
    Ok(Value::Call(format!("{name}({})", arguments?.join(",")).into()))
}

fn binary(operator: BinaryOperator, left: &Expression, right: &Expression, scope: &Scope) -> Evaluated {
    let left = evaluate(left, scope)?;
    match operator {
        BinaryOperator::And if !left.as_bool()? => return Ok(Value::Bool(false)),
        BinaryOperator::Or if left.as_bool()? => return Ok(Value::Bool(true)),
        _ => {}
    }
    let right = evaluate(right, scope)?;
    Ok(match operator {
        BinaryOperator::And | BinaryOperator::Or => Value::Bool(right.as_bool()?),
        BinaryOperator::Eq => Value::Bool(equal(&left, &right)),
        BinaryOperator::NotEq => Value::Bool(!equal(&left, &right)),
        BinaryOperator::Less => Value::Bool(left.as_number()? < right.as_number()?),
        BinaryOperator::LessEq => Value::Bool(left.as_number()? <= right.as_number()?),
        BinaryOperator::Greater => Value::Bool(left.as_number()? > right.as_number()?),
        BinaryOperator::GreaterEq => Value::Bool(left.as_number()? >= right.as_number()?),
        arithmetic => compute(arithmetic, &left, &right)?,
    })
}

fn equal(left: &Value, right: &Value) -> bool {
    match (left.as_number(), right.as_number()) {
        (Ok(left), Ok(right)) => left == right,
        _ => left == right,
    }
}

fn compute(operator: BinaryOperator, left: &Value, right: &Value) -> Evaluated {
    if let (Ok(left), Ok(right)) = (left.as_integer(), right.as_integer()) {
        let (left, right) = (i128::from(left), i128::from(right));
        let whole = match operator {
            BinaryOperator::Plus => left.checked_add(right),
            BinaryOperator::Minus => left.checked_sub(right),
            BinaryOperator::Mul => left.checked_mul(right),
            BinaryOperator::Mod => left.checked_rem(right),
            _ => left
                .checked_rem(right)
                .filter(|rest| *rest == 0)
                .map(|_| left / right),
        };
        if let Some(whole) = whole {
            return Ok(Value::integer(whole));
        }
    }
    let (left, right) = (left.as_number()?, right.as_number()?);
    let number = match operator {
        BinaryOperator::Plus => left + right,
        BinaryOperator::Minus => left - right,
        BinaryOperator::Mul => left * right,
        BinaryOperator::Mod => left % right,
        _ => left / right,
    };
    if number.is_finite() {
        Ok(Value::number(number))
    } else {
        Err("the result is not a number".to_owned())
    }
}

/// Keys and values of what can be gone through.
pub(super) fn elements(value: &Value) -> Evaluated<Vec<(Value, Value)>> {
    match value {
        Value::List(items) => Ok(items
            .iter()
            .enumerate()
            .map(|(at, item)| (Value::integer(at as i128), item.clone()))
            .collect()),
        Value::Object(items) => Ok(items
            .iter()
            .map(|(key, item)| (Value::text(key), item.clone()))
            .collect()),
        other => Err(format!("{} cannot be gone through", other.shown())),
    }
}

fn for_expression(repeat: &ForExpr, scope: &Scope) -> Evaluated {
    let intro = &repeat.intro;
    let collection = evaluate(&intro.collection_expr, scope)?;
    let (mut list, mut object) = (Vec::new(), BTreeMap::<String, Value>::new());
    for (key, value) in elements(&collection)? {
        scope.spend(1)?;
        let mut names = vec![(intro.value_var.as_str().to_owned(), value)];
        names.extend(intro.key_var.as_ref().map(|name| (name.as_str().to_owned(), key)));
        let inner = scope.with(names);
        if let Some(condition) = &repeat.cond
            && !evaluate(&condition.expr, &inner)?.as_bool()?
        {
            continue;
        }
        let made = evaluate(&repeat.value_expr, &inner)?;
        let Some(key) = &repeat.key_expr else {
            list.push(made);
            continue;
        };
        let key = evaluate(key, &inner)?.to_text()?.to_string();
        if repeat.grouping {
            let group = object.entry(key).or_insert_with(|| Value::list(vec![]));
            let mut items = group.as_list()?.to_vec();
            scope.spend(items.len())?;
            items.push(made);
            *group = Value::list(items);
        } else if object.insert(key.clone(), made).is_some() {
            return Err(format!("two elements have the key {key}"));
        }
    }
    Ok(if repeat.key_expr.is_some() {
        Value::Object(Rc::new(object))
    } else {
        Value::list(list)
    })
}
