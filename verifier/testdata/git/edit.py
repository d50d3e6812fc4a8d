#!/usr/bin/env python3
"""Edits of objects and keys that git and gpg do not make themselves; used by make.sh alone.

edit.py OPERATION [ARGUMENTS] < before > after
"""
import base64
import sys


def crc24(data):
    crc = 0xB704CE
    for byte in data:
        crc ^= byte << 16
        for _ in range(8):
            crc <<= 1
            if crc & 0x1000000:
                crc ^= 0x1864CFB
    return (crc & 0xFFFFFF).to_bytes(3, "big")


def packets(data):
    """(tag, body) of packets with old or new headers of a fixed length."""
    while data:
        first, data = data[0], data[1:]
        if first & 0x40:
            tag, length = first & 0x3F, data[0]
            if length < 192:
                skip = 1
            elif length < 224:
                length, skip = ((length - 192) << 8) + data[1] + 192, 2
            else:
                length, skip = int.from_bytes(data[1:5], "big"), 5
        else:
            tag, skip = (first >> 2) & 0xF, 1 << (first & 3)
            length = int.from_bytes(data[:skip], "big")
        yield tag, data[skip:skip + length]
        data = data[skip + length:]


def packet(tag, body):
    return bytes([0x80 | tag << 2 | 1]) + len(body).to_bytes(2, "big") + body


def no_back_signature(data):
    """A keyring whose bindings have lost what stands in their unhashed part beside the issuer's key id."""
    for tag, body in packets(data):
        if tag == 2 and body[1] == 0x18:
            hashed = int.from_bytes(body[4:6], "big")
            at = 6 + hashed
            unhashed = int.from_bytes(body[at:at + 2], "big")
            rest, kept = body[at + 2:at + 2 + unhashed], b""
            while rest:
                length, skip = rest[0], 1
                if length >= 192:
                    length, skip = ((length - 192) << 8) + rest[1] + 192, 2
                if rest[skip] & 0x7F != 32:
                    kept += rest[:skip + length]
                rest = rest[skip + length:]
            body = body[:at] + len(kept).to_bytes(2, "big") + kept + body[at + 2 + unhashed:]
        yield packet(tag, body)


def wrong_prefix(body):
    """A signature of version 4 whose two bytes of the hash are others."""
    at = 6 + int.from_bytes(body[4:6], "big")
    at += 2 + int.from_bytes(body[at:at + 2], "big")
    return body[:at] + bytes([body[at] ^ 0xFF]) + body[at + 1:]


def lines(data):
    return data.split(b"\n")


def signature(data):
    """The lines of the header gpgsig, from and to."""
    found = lines(data)
    start = next(n for n, line in enumerate(found) if line.startswith(b"gpgsig"))
    end = start + 1
    while found[end].startswith(b" "):
        end += 1
    return found, start, end


def main():
    what, arguments = sys.argv[1], sys.argv[2:]
    data = sys.stdin.buffer.read()
    out = data
    if what == "replace":
        old, new = (argument.encode().decode("unicode_escape").encode("latin1") for argument in arguments)
        assert old in data, old
        out = data.replace(old, new, 1)
    elif what == "append":
        out = data + arguments[0].encode().decode("unicode_escape").encode("latin1")
    elif what == "chop":
        out = data[:-1]
    elif what == "strip-signature":
        found, start, end = signature(data)
        out = b"\n".join(found[:start] + found[end:])
    elif what == "with-signature-of":
        other, from_, to = signature(open(arguments[0], "rb").read())
        found, start, end = signature(data)
        out = b"\n".join(found[:start] + other[from_:to] + found[end:])
    elif what == "with-armor":
        # A signature header of what stands in a file, in front of the message.
        armor = open(arguments[0], "rb").read().rstrip(b"\n").split(b"\n")
        name = arguments[1].encode() if len(arguments) > 1 else b"gpgsig"
        head, body = data.split(b"\n\n", 1)
        out = head + b"\n" + name + b" " + b"\n ".join(armor) + b"\n\n" + body
    elif what == "twice":
        found, start, end = signature(data)
        out = b"\n".join(found[:end] + found[start:])
    elif what == "after-armor":
        found, start, end = signature(data)
        out = b"\n".join(found[:end] + [b" " + arguments[0].encode()] + found[end:])
    elif what in ("flip-signature", "wrong-prefix"):
        # One bit near the end of the signature, with the checksum put right.
        found = lines(data)
        begin = next(n for n, line in enumerate(found) if b"-----BEGIN " in line) + 1
        lead = b" " if found[begin].startswith(b" ") else b""
        end = next(n for n, line in enumerate(found) if line.startswith(lead + b"-----END "))
        blank = begin + 1 if found[begin].strip() == b"" else begin
        body = [line.strip() for line in found[blank:end]]
        raw = bytearray(base64.b64decode(b"".join(line for line in body if not line.startswith(b"="))))
        if what == "wrong-prefix":
            (tag, whole), = packets(bytes(raw))
            raw = packet(tag, wrong_prefix(whole))
        else:
            raw[-9] ^= 1
        encoded = base64.b64encode(bytes(raw))
        fresh = [lead + encoded[at:at + 64] for at in range(0, len(encoded), 64)]
        if body[-1].startswith(b"="):
            fresh.append(lead + b"=" + base64.b64encode(crc24(bytes(raw))))
        out = b"\n".join(found[:blank] + fresh + found[end:])
    elif what == "no-back-signature":
        out = b"".join(no_back_signature(data))
    elif what == "wrong-prefix-in-key":
        out = b"".join(packet(tag, wrong_prefix(body) if tag == 2 else body) for tag, body in packets(data))
    elif what == "crlf":
        head, body = data.split(b"\n\n", 1)
        out = head + b"\n\n" + body.replace(b"\n", b"\r\n")
    elif what == "sk":
        # SSHSIG by a security key of the type sk-ssh-ed25519, in software: arguments are key file, flags.
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        import hashlib
        secret = Ed25519PrivateKey.from_private_bytes(hashlib.sha256(arguments[0].encode()).digest())
        public, flags = secret.public_key().public_bytes_raw(), int(arguments[1])
        string = lambda value: len(value).to_bytes(4, "big") + value
        kind, application = b"sk-ssh-ed25519@openssh.com", b"ssh:"
        key = string(kind) + string(public) + string(application)
        if arguments[2:] == ["public"]:
            out = kind + b" " + base64.b64encode(key) + b"\n"
        else:
            message = b"SSHSIG" + string(b"git") + string(b"") + string(b"sha512") + string(hashlib.sha512(data).digest())
            tail = bytes([flags]) + (7).to_bytes(4, "big")
            signed = secret.sign(hashlib.sha256(application).digest() + tail + hashlib.sha256(message).digest())
            blob = b"SSHSIG" + (1).to_bytes(4, "big") + string(key) + string(b"git") + string(b"") + string(b"sha512")
            blob += string(string(kind) + string(signed) + tail)
            text = base64.b64encode(blob).decode()
            body = "\n".join(text[at:at + 70] for at in range(0, len(text), 70))
            out = f"-----BEGIN SSH SIGNATURE-----\n{body}\n-----END SSH SIGNATURE-----\n".encode()
    else:
        sys.exit(f"unknown operation {what}")
    sys.stdout.buffer.write(out)


main()
