//! What stands upon tables: functions, views, triggers, policies, privileges.

use super::{Rendered, comment};
use crate::desired::formats::names::Names;
use crate::desired::formats::objects::{Function, Name, Objects, On, Parameters, Trigger, View};
use crate::desired::formats::pieces;
use crate::desired::formats::place::Text;
use crate::error::Result;
use crate::name::quote;

pub(super) fn render(objects: &Objects, names: &Names, out: &mut Vec<Rendered>) -> Result<()> {
    for sequence in &objects.sequences {
        if let Some((owner, column)) = &sequence.owned_by {
            let table = names.relation(owner, Some(&sequence.name))?.sql();
            let made = Rendered::new("ALTER SEQUENCE", &owner.at);
            let sequence = sequence.name.sql();
            out.push(made.push(&format!(" {sequence} OWNED BY {table}.{}", quote(column))));
        }
    }
    for made in &objects.functions {
        function(made, names, out)?;
    }
    for made in &objects.views {
        view(made, out)?;
    }
    for table in &objects.row_security {
        let name = names.relation(table, None)?.sql();
        let made = Rendered::new("ALTER TABLE", &table.at);
        out.push(made.push(&format!(" {name} ENABLE ROW LEVEL SECURITY")));
    }
    for made in &objects.triggers {
        trigger(made, names, out)?;
    }
    for policy in &objects.policies {
        let (name, table) = (quote(&policy.name), names.relation(&policy.table, None)?.sql());
        let mut made = Rendered::new("CREATE POLICY", &policy.at).push(&format!(" {name} ON {table}"));
        if let Some(command) = policy.command {
            made = made.push(&format!(" FOR {command}"));
        }
        if !policy.roles.is_empty() {
            made = made.push(&format!(" TO {}", policy.roles.join(", ")));
        }
        for (clause, piece) in [("USING ", &policy.using), ("WITH CHECK ", &policy.check)] {
            if let Some(piece) = piece {
                made = made
                    .line(&piece.at, clause)
                    .piece(piece, &pieces::enclosed(piece)?);
            }
        }
        out.push(made);
        comment(out, &format!("POLICY {name} ON {table}"), policy.comment.as_ref());
    }
    for grant in &objects.grants {
        let on = match &grant.on {
            On::Relation(table) => format!("TABLE {}", names.relation(table, None)?.sql()),
            On::Schema(schema) => format!("SCHEMA {}", quote(schema)),
            On::Sequence(sequence) => format!("SEQUENCE {}", names.sequence(sequence)?.sql()),
        };
        let option = if grant.grantable { " WITH GRANT OPTION" } else { "" };
        let (privileges, role) = (grant.privileges.join(", "), &grant.role);
        let made = Rendered::new("GRANT", &grant.at);
        out.push(made.push(&format!(" {privileges} ON {on} TO {role}{option}")));
    }
    Ok(())
}

fn function(function: &Function, names: &Names, out: &mut Vec<Rendered>) -> Result<()> {
    let name = function.name.sql();
    let parameters = match &function.parameters {
        Parameters::None => "()".to_owned(),
        Parameters::Written(text) => pieces::parameters(text)?,
        Parameters::Named(arguments) => {
            let mut written = Vec::new();
            for (argument, data_type, _) in arguments {
                let data_type = names.data_type(data_type, Some(&function.name))?;
                // A body that names it as it is written finds it in lower case.
                written.push(format!("{} {data_type}", quote(&argument.to_lowercase())));
            }
            format!("({})", written.join(", "))
        }
    };
    let mut made = Rendered::new("CREATE FUNCTION", &function.at).push(&format!(" {name}{parameters}"));
    if let Some(returns) = &function.returns {
        made = made.line(&returns.at, &format!("RETURNS {}", pieces::returns(returns)?));
    }
    let language = match &function.language {
        Some(language) => pieces::name(language)?,
        None => "plpgsql".to_owned(),
    };
    made = made.push(&format!("\nLANGUAGE {language} {}", function.volatility));
    if function.definer {
        made = made.push(" SECURITY DEFINER");
    }
    out.push(quoted_body(made, &function.body));
    // The parameters say which of several functions of that name is meant, defaults and all but for an overload.
    let object = format!(
        "FUNCTION {name}{}",
        comment_parameters(&function.parameters, &parameters)
    );
    comment(out, &object, function.comment.as_ref());
    Ok(())
}

/// `COMMENT ON` takes no default values; a name alone is enough where it is the only one.
fn comment_parameters<'a>(written: &Parameters, sql: &'a str) -> &'a str {
    match written {
        Parameters::Written(_) => "",
        Parameters::None | Parameters::Named(_) => sql,
    }
}

fn view(view: &View, out: &mut Vec<Rendered>) -> Result<()> {
    let name = view.name.sql();
    let (kind, object) = if view.materialized {
        ("CREATE MATERIALIZED VIEW", "MATERIALIZED VIEW")
    } else {
        ("CREATE VIEW", "VIEW")
    };
    let made = Rendered::new(kind, &view.at).push(&format!(" {name} AS"));
    let mut made = made
        .line(&view.query.at, "")
        .piece(&view.query, &pieces::query(&view.query)?);
    if let Some(option) = view.check_option {
        made = made.push(&format!("\nWITH {option} CHECK OPTION"));
    }
    out.push(made);
    comment(out, &format!("{object} {name}"), view.comment.as_ref());
    Ok(())
}

fn trigger(trigger: &Trigger, names: &Names, out: &mut Vec<Rendered>) -> Result<()> {
    let owner = names.relation(&trigger.table, None)?;
    let (name, table) = (quote(&trigger.name), owner.sql());
    let function = quote(&trigger_function(&owner, &trigger.name));
    let body = trigger_body(&trigger.body);
    let made = Rendered::new("CREATE FUNCTION", &trigger.at);
    let made = made.push(&format!(" {function}()\nRETURNS trigger\nLANGUAGE plpgsql"));
    out.push(quoted_body(made, &body));
    let each = if trigger.per_row { "ROW" } else { "STATEMENT" };
    let events = trigger.events.join(" OR ");
    let made = Rendered::new("CREATE TRIGGER", &trigger.at);
    out.push(made.push(&format!(
        " {name} {} {events} ON {table} FOR EACH {each} EXECUTE FUNCTION {function}()",
        trigger.timing
    )));
    comment(
        out,
        &format!("TRIGGER {name} ON {table}"),
        trigger.comment.as_ref(),
    );
    Ok(())
}

/// Appends a function's body. The line breaks around it are part of what the server keeps, and are those of the
/// reference: a database that it made has the same function.
fn quoted_body(made: Rendered, body: &Text) -> Rendered {
    let quotes = pieces::dollar_quotes(&body.text);
    made.line(&body.at, &format!("AS {quotes}\n"))
        .piece(body, &body.text)
        .push(&format!("\n{quotes}"))
}

/// A body without its own `BEGIN` gets one.
fn trigger_body(body: &Text) -> Text {
    let text = body.text.trim();
    let blank = body.text.len() - body.text.trim_start().len();
    let line = if body.steps {
        body.line + body.text[..blank].matches('\n').count()
    } else {
        body.line
    };
    let begins = text
        .get(..5)
        .is_some_and(|word| word.eq_ignore_ascii_case("begin"));
    if begins {
        return Text {
            text: text.to_owned(),
            line,
            ..body.clone()
        };
    }
    Text {
        text: format!("BEGIN\n{text}\nEND;"),
        line: line.saturating_sub(usize::from(body.steps)),
        ..body.clone()
    }
}

/// The name that the reference gives to the function of a trigger, so that a schema may be handed back and forth.
fn trigger_function(table: &Name, trigger: &str) -> String {
    const LONGEST: usize = 63;
    let table = match &table.schema {
        Some(schema) => format!("{schema}.{}", table.name),
        None => table.name.clone(),
    };
    let name = format!("ptah_trigger_{}_{}", word(&table), word(trigger));
    if name.len() <= LONGEST {
        return name;
    }
    // FNV-1a of 32 bits, over both names with a zero byte between them.
    let bytes = table.bytes().chain([0]).chain(trigger.bytes());
    let hash = bytes.fold(0x811c_9dc5_u32, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    format!("{}_{hash:08x}", &name[..LONGEST - 9])
}

/// A name in lower case, with one underscore for each run of signs that a bare name cannot have.
fn word(name: &str) -> String {
    let mut word = String::new();
    let mut in_run = false;
    for byte in name.trim().to_lowercase().bytes() {
        let plain = byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        if plain {
            word.push(char::from(byte));
        } else if !in_run {
            word.push('_');
        }
        in_run = !plain;
    }
    let word = word.trim_matches('_');
    match word.bytes().next() {
        None => "object".to_owned(),
        Some(b'0'..=b'9') => format!("_{word}"),
        Some(_) => word.to_owned(),
    }
}
