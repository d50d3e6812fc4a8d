//! Canonical JSON: keys sorted, no white space, UTF-8, no escaping beyond JSON's own.
//!
//! Every digest of this project that is not taken over a file's own bytes is taken over this encoding, so that
//! two programs that mean the same thing compute the same identity.

use serde::Serialize;

use crate::digest::Digest;

/// Encodes a value as canonical JSON.
///
/// `serde_json::Value` keeps objects in a sorted map (the `preserve_order` feature is off in this workspace;
/// a test below fails when some dependency turns it on), so going through it sorts the keys at every depth.
///
/// # Errors
/// Only when `value` cannot be represented in JSON at all, such as a map whose keys are not strings.
pub fn to_bytes<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, serde_json::Error> {
    serde_json::to_vec(&serde_json::to_value(value)?)
}

/// The digest of a value's canonical encoding.
///
/// # Errors
/// As [`to_bytes`].
pub fn digest<T: Serialize + ?Sized>(value: &T) -> Result<Digest, serde_json::Error> {
    Ok(Digest::of(&to_bytes(value)?))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn keys_are_sorted_at_every_depth_whatever_order_they_came_in() {
        #[derive(serde::Serialize)]
        struct Unsorted {
            zebra: u8,
            apple: serde_json::Value,
        }
        let value = Unsorted {
            zebra: 1,
            apple: json!({"y": [1, {"b": "ü", "a": null}], "x": true}),
        };
        let bytes = super::to_bytes(&value).unwrap();
        assert_eq!(
            String::from_utf8(bytes).unwrap(),
            r#"{"apple":{"x":true,"y":[1,{"a":null,"b":"ü"}]},"zebra":1}"#
        );
    }
}
