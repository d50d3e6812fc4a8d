//! What a commit and a tag say: who, when, of what, and with which signature.

use gix_hash::ObjectId;

use super::object::{Field, Object, Problem, signature_header};

/// Whose work it says to be. Nobody but the signature vouches for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Person<'a> {
    pub(super) address: &'a [u8],
    /// Seconds since 1970, as the person's own clock had them.
    pub(super) time: i64,
}

impl<'a> Person<'a> {
    /// `Name <address> seconds zone`. Git looks for the first `<` and the last `>`; here there is one of each.
    fn read(line: &'a [u8]) -> Option<Self> {
        let only = |wanted: u8| {
            let mut found = line.iter().enumerate().filter(|(_, byte)| **byte == wanted);
            let (at, _) = found.next()?;
            found.next().is_none().then_some(at)
        };
        let (open, close) = (only(b'<')?, only(b'>')?);
        let address = line.get(open + 1..close)?;
        let when = std::str::from_utf8(line.get(close + 1..)?)
            .ok()?
            .strip_prefix(' ')?;
        let (seconds, zone) = when.split_once(' ')?;
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let zone = zone.strip_prefix(['+', '-'])?;
        let fine = digits(seconds) && zone.len() == 4 && digits(zone);
        let time = seconds.parse().ok()?;
        fine.then_some(Self { address, time })
    }
}

/// A signature and the bytes that it is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Signed {
    pub(super) armor: Vec<u8>,
    pub(super) payload: Vec<u8>,
}

/// A commit, as far as it matters here.
#[derive(Debug)]
pub(super) struct Commit<'a> {
    pub(super) committer: Person<'a>,
    pub(super) signed: Option<Signed>,
}

impl<'a> Commit<'a> {
    /// Reads the object behind `commit <length>`.
    pub(super) fn read(bytes: &'a [u8], id: &ObjectId) -> Result<Self, Problem> {
        let order = Problem::Order("tree, parents, author and committer, each once and in that order");
        let object = Object::read(bytes)?;
        let parents = object
            .fields
            .iter()
            .skip(1)
            .take_while(|field| field.name == "parent");
        let parents = parents.count();
        let known = object.fields.get(..parents + 3).ok_or(order.clone())?;
        let names = [known[0].name, known[parents + 1].name, known[parents + 2].name];
        let again = |field: &Field<'_>| matches!(field.name, "tree" | "parent" | "author" | "committer");
        if names != ["tree", "author", "committer"] || object.fields[parents + 3..].iter().any(again) {
            return Err(order);
        }
        for field in &known[..=parents] {
            named(field, id).ok_or(Problem::Value("tree or parent"))?;
        }
        let person = |field: &Field<'a>| field.line().and_then(Person::read);
        // The author is nobody's business here, and many an old one is odd.
        let committer = person(&known[parents + 2]).ok_or(Problem::Value("committer"))?;
        let header = signature_header(id.kind()).ok_or(Problem::Hash)?;
        let armor = object.signature(header)?;
        let signed = armor.map(|armor| Signed {
            armor,
            payload: object.unsigned(object.body),
        });
        Ok(Self { committer, signed })
    }
}

/// A tag object, as far as it matters here.
#[derive(Debug)]
pub(super) struct Tag<'a> {
    pub(super) target: ObjectId,
    /// `commit`, or `tag`.
    pub(super) kind: &'a [u8],
    pub(super) name: &'a [u8],
    /// Old tags have none.
    pub(super) tagger: Option<Person<'a>>,
    pub(super) signed: Option<Signed>,
}

/// What begins a signature in a tag's body, by `gpg.format` in gpg-interface.c of Git.
const BEGINNINGS: [&str; 4] = [
    "-----BEGIN PGP SIGNATURE-----",
    "-----BEGIN PGP MESSAGE-----",
    "-----BEGIN SIGNED MESSAGE-----",
    "-----BEGIN SSH SIGNATURE-----",
];

impl<'a> Tag<'a> {
    /// Reads the object behind `tag <length>`.
    pub(super) fn read(bytes: &'a [u8], id: &ObjectId) -> Result<Self, Problem> {
        let object = Object::read(bytes)?;
        let names: Vec<&str> = object.fields.iter().map(|field| field.name).collect();
        let again = |name: &&str| matches!(*name, "object" | "type" | "tag" | "tagger");
        let known = if names.get(3) == Some(&"tagger") { 4 } else { 3 };
        let (Some(&["object", "type", "tag"]), Some(rest)) = (names.first_chunk::<3>(), names.get(known..))
        else {
            return Err(Problem::Order("object, type, tag and tagger, in that order"));
        };
        if rest.iter().any(again) {
            return Err(Problem::Order("object, type, tag and tagger, each once"));
        }
        let target = named(&object.fields[0], id).ok_or(Problem::Value("object"))?;
        let kind = object.fields[1].line().ok_or(Problem::Value("type"))?;
        let name = object.fields[2].line().ok_or(Problem::Value("tag"))?;
        let tagger = object.fields[3..known].first();
        let tagger = tagger.map(|field| {
            field
                .line()
                .and_then(Person::read)
                .ok_or(Problem::Value("tagger"))
        });
        // A tag's own signature stands in its body; the header of its own hash would be a second one.
        let own = signature_header(id.kind()).ok_or(Problem::Hash)?;
        if object.signature(own)?.is_some() {
            return Err(Problem::OtherSignature(own.to_owned()));
        }
        let signed = signed_body(&object)?;
        Ok(Self {
            target,
            kind,
            name,
            tagger: tagger.transpose()?,
            signed,
        })
    }
}

/// Git takes the last line that begins a signature. Two of them are in doubt: the first may be one that was signed over.
fn signed_body(object: &Object<'_>) -> Result<Option<Signed>, Problem> {
    let body = object.body.unwrap_or_default();
    let (mut at, mut found) = (0, None);
    for line in body.split_inclusive(|byte| *byte == b'\n') {
        if BEGINNINGS
            .iter()
            .any(|beginning| line.starts_with(beginning.as_bytes()))
        {
            if found.is_some() {
                return Err(Problem::TwoSignatures);
            }
            found = Some(at);
        }
        at += line.len();
    }
    Ok(found.map(|at| Signed {
        armor: body[at..].to_vec(),
        payload: object.unsigned(Some(&body[..at])),
    }))
}

/// The object that a header names, in the repository's own hash.
fn named(field: &Field<'_>, like: &ObjectId) -> Option<ObjectId> {
    let value = field.line()?;
    let lower = value.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let id = ObjectId::from_hex(value).ok()?;
    (lower && id.kind() == like.kind()).then_some(id)
}
