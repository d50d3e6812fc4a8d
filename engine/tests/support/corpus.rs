//! Reads the table files of the corpus.
//!
//! A file holds cases; each begins with `--- case: <name>`, and every line that begins with `--- ` is a mark:
//!
//! - `--- since: <major>`: the first server version that has the syntax or the behaviour.
//! - `--- sensitive`: prints or behaves differently between versions, so it is run on each of them.
//! - `--- same`: both sides say the same in other words, so the plan must be empty. Without it they must differ.
//! - `--- only: forward` or `backward`: the other direction leads out of what a plan covers, such as a schema that
//!   the target no longer names.
//! - `--- refused <direction>: <code> | <text>`: no plan; the text must stand in the message, and may be left out.
//! - `--- fails <direction>: <SQLSTATE>`: planned and proven, but the rows break it: applying ends with this state.
//! - `--- from` and `--- to`: the SQL of both sides.
//! - `--- rows` and `--- rows backward`: run after the side that the direction starts from.
//! - `--- check` and `--- check backward`: one query a line, each of which must give `t` after the direction's apply.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::Path;

/// From `from` to `to`, or back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Forward,
    Backward,
}

impl Direction {
    pub const BOTH: [Self; 2] = [Self::Forward, Self::Backward];

    fn read(word: &str) -> Option<Self> {
        match word {
            "forward" => Some(Self::Forward),
            "backward" => Some(Self::Backward),
            _ => None,
        }
    }
}

/// What a direction has of its own.
#[derive(Clone, Debug, Default)]
pub struct Way {
    /// The code, and what the message must contain.
    pub refused: Option<(String, String)>,
    /// The SQLSTATE that applying ends with.
    pub fails: Option<String>,
    pub rows: String,
    pub checks: String,
}

#[derive(Clone, Debug, Default)]
pub struct Case {
    /// The file's name without its end.
    pub file: String,
    pub line: usize,
    pub name: String,
    pub since: u32,
    pub sensitive: bool,
    pub same: bool,
    pub only: Option<Direction>,
    pub from: String,
    pub to: String,
    ways: [Way; 2],
}

impl Case {
    pub fn way(&self, direction: Direction) -> &Way {
        &self.ways[direction as usize]
    }

    /// The SQL of the side that the direction starts from.
    pub fn start(&self, direction: Direction) -> &str {
        match direction {
            Direction::Forward => &self.from,
            Direction::Backward => &self.to,
        }
    }

    /// The SQL of the side that the direction leads to.
    pub fn end(&self, direction: Direction) -> &str {
        match direction {
            Direction::Forward => &self.to,
            Direction::Backward => &self.from,
        }
    }

    pub fn goes(&self, direction: Direction) -> bool {
        self.only.is_none_or(|only| only == direction)
    }
}

/// Every case of every file in the folder, by name of file; an error names file, line and mark.
pub fn read_all(folder: &Path) -> Result<Vec<Case>, String> {
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    let mut cases = Vec::new();
    for file in files {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        cases.extend(read(&name, &std::fs::read_to_string(&file).unwrap())?);
    }
    Ok(cases)
}

/// The cases of one file.
pub fn read(file: &str, text: &str) -> Result<Vec<Case>, String> {
    let mut cases: Vec<Case> = Vec::new();
    let mut section = None;
    for (index, line) in text.lines().enumerate() {
        let wrong = |why: &str| Err(format!("{file}.sql:{}: {why}: {line}", index + 1));
        let Some(mark) = line.strip_prefix("--- ") else {
            match (cases.last_mut(), section) {
                (Some(case), Some(section)) => {
                    let text = section_of(case, section);
                    text.push_str(line);
                    text.push('\n');
                }
                _ if line.is_empty() || line.starts_with("--") => {}
                _ => return wrong("SQL outside a section"),
            }
            continue;
        };
        let (words, value) = mark
            .split_once(':')
            .map_or((mark, ""), |(words, value)| (words, value.trim()));
        section = None;
        if words == "case" {
            if value.is_empty() || cases.iter().any(|case| case.name == value) {
                return wrong("a case needs a name of its own");
            }
            cases.push(Case {
                file: file.to_owned(),
                line: index + 1,
                name: value.to_owned(),
                since: 14,
                ..Case::default()
            });
            continue;
        }
        let Some(case) = cases.last_mut() else {
            return wrong("a mark before the first case");
        };
        let words: Vec<&str> = words.split_whitespace().collect();
        match words.as_slice() {
            ["since"] => match value.parse() {
                Ok(since) => case.since = since,
                Err(_) => return wrong("since takes a major version"),
            },
            ["sensitive"] => case.sensitive = true,
            ["same"] => case.same = true,
            ["only"] => match Direction::read(value) {
                Some(direction) => case.only = Some(direction),
                None => return wrong("only takes forward or backward"),
            },
            ["refused", direction] => match Direction::read(direction) {
                Some(direction) => {
                    let (code, text) = value.split_once('|').unwrap_or((value, ""));
                    case.ways[direction as usize].refused =
                        Some((code.trim().to_owned(), text.trim().to_owned()));
                }
                None => return wrong("refused takes forward or backward"),
            },
            ["fails", direction] => match Direction::read(direction) {
                Some(direction) => case.ways[direction as usize].fails = Some(value.to_owned()),
                None => return wrong("fails takes forward or backward"),
            },
            ["from"] => section = Some(Section::From),
            ["to"] => section = Some(Section::To),
            ["rows"] => section = Some(Section::Rows(Direction::Forward)),
            ["check"] => section = Some(Section::Check(Direction::Forward)),
            ["rows", "backward"] => section = Some(Section::Rows(Direction::Backward)),
            ["check", "backward"] => section = Some(Section::Check(Direction::Backward)),
            _ => return wrong("no such mark"),
        }
    }
    match cases
        .iter()
        .find(|case| case.from.is_empty() || case.to.is_empty())
    {
        Some(case) => Err(format!("{file}.sql:{}: {} lacks a side", case.line, case.name)),
        None => Ok(cases),
    }
}

#[derive(Clone, Copy)]
enum Section {
    From,
    To,
    Rows(Direction),
    Check(Direction),
}

fn section_of(case: &mut Case, section: Section) -> &mut String {
    match section {
        Section::From => &mut case.from,
        Section::To => &mut case.to,
        Section::Rows(direction) => &mut case.ways[direction as usize].rows,
        Section::Check(direction) => &mut case.ways[direction as usize].checks,
    }
}

#[test]
fn a_wrong_mark_is_refused_with_its_place() {
    let read = |text: &str| read("tables", text).unwrap_err();
    assert_eq!(
        read("\n--- since: 15\n"),
        "tables.sql:2: a mark before the first case: --- since: 15"
    );
    assert_eq!(
        read("--- case: a\n--- frm\n"),
        "tables.sql:2: no such mark: --- frm"
    );
    assert_eq!(
        read("--- case: a\n--- from\nSELECT 1;\n"),
        "tables.sql:1: a lacks a side"
    );
}
