//! One blob of a repository as a stream.
//!
//! Promises: never a byte more than its descriptor says, and never fewer without an error; whether the bytes give its
//! digest is asked of whoever hashed them.

use ptah_contract::digest::Digest;
use reqwest::Method;
use reqwest::header::CONTENT_LENGTH;
use tokio_util::bytes::Bytes;

use super::Error;
use super::manifest::Descriptor;
use super::session::Session;
use crate::net::Response;

/// A blob on its way, counted.
pub(super) struct Blob<'a> {
    session: &'a Session<'a>,
    layer: &'a Descriptor,
    response: Response,
    received: u64,
}

impl<'a> Blob<'a> {
    pub(super) async fn open(session: &'a Session<'a>, layer: &'a Descriptor) -> Result<Self, Error> {
        let url = session.url(&format!("blobs/{}", layer.digest))?;
        let response = session.ask(Method::GET, &url, "*/*").await?;
        if response.status().as_u16() == 404 {
            return Err(Error::NotFound {
                registry: session.registry(),
                what: "blob",
                name: layer.digest.to_string(),
            });
        }
        let response = response.success()?;
        let length = response.headers().get(CONTENT_LENGTH);
        let length: Option<u64> = length.and_then(|value| value.to_str().ok()?.parse().ok());
        let blob = Self {
            session,
            layer,
            response,
            received: 0,
        };
        match length {
            Some(length) if length != layer.size => Err(blob.other_size(length)),
            _ => Ok(blob),
        }
    }

    /// The next bytes; `None` once as many came as there have to be.
    pub(super) async fn next(&mut self) -> Result<Option<Bytes>, Error> {
        if let Some(bytes) = self.response.chunk(self.session.attempt).await? {
            self.received += bytes.len() as u64;
            if self.received > self.layer.size {
                return Err(self.other_size(self.received));
            }
            return Ok(Some(bytes));
        }
        if self.received < self.layer.size {
            return Err(Error::CutShort {
                digest: self.layer.digest,
                registry: self.session.registry(),
                found: self.received,
                wanted: self.layer.size,
            });
        }
        Ok(None)
    }

    /// All of it, held to its digest. For blobs whose descriptor says that they are small.
    pub(super) async fn whole(mut self) -> Result<Vec<u8>, Error> {
        let mut whole = Vec::new();
        while let Some(bytes) = self.next().await? {
            whole.extend_from_slice(&bytes);
        }
        self.gave(Digest::of(&whole))?;
        Ok(whole)
    }

    /// What its bytes gave has to be its digest.
    pub(super) fn gave(&self, found: Digest) -> Result<(), Error> {
        if found == self.layer.digest {
            return Ok(());
        }
        Err(Error::OtherDigest {
            what: format!("the blob {}", self.layer.digest),
            registry: self.session.registry(),
            found,
            wanted: self.layer.digest,
        })
    }

    fn other_size(&self, found: u64) -> Error {
        Error::OtherSize {
            what: format!("the blob {}", self.layer.digest),
            registry: self.session.registry(),
            found,
            wanted: self.layer.size,
        }
    }
}
