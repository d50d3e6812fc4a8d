//! Packets one after the other (RFC 9580, section 4), every byte accounted for.

use pgp::errors::Error as LibraryError;
use pgp::packet::{Packet, PacketHeader};
use pgp::types::PacketLength;
use ptah_contract::failure::quoted;

/// Every packet, or why they cannot all be read.
///
/// The library's own iterator skips what it cannot read, and takes a cut header for the end. A packet that is skipped
/// may be the revocation.
pub(super) fn read(bytes: &[u8]) -> Result<Vec<Packet>, String> {
    let (mut rest, mut packets) = (bytes, Vec::new());
    while !rest.is_empty() {
        let malformed = "a packet's header is malformed";
        let header = PacketHeader::try_from_reader(&mut rest).map_err(|_| malformed)?;
        let PacketLength::Fixed(length) = header.packet_length() else {
            return Err("a packet does not say how long it is".to_owned());
        };
        let length = usize::try_from(length).map_err(|_| malformed)?;
        let (body, after) = rest.split_at_checked(length).ok_or("it ends within a packet")?;
        let tag = header.tag();
        let packet = Packet::from_reader(header, body)
            .map_err(|error| format!("a packet of the type {tag:?}: {}", reason(&error)))?;
        packets.push(packet);
        rest = after;
    }
    Ok(packets)
}

/// What the library says, without what it says around it: backtraces, and the same once more.
pub(super) fn reason(error: &LibraryError) -> String {
    let mut innermost: &dyn std::error::Error = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    quoted(&innermost.to_string())
}
