"""A reader and a writer of keyrings, written only from the article on their format: it must read the keyrings that Coffer writes, and vice versa.

    keyring.py read FILE KIND       reads the secret from standard input; prints each epoch, its data key, and the salt of its database
    keyring.py write FILE KIND      creates a keyring with one slot, and prints the same

KIND is passphrase, raw (64 digits), command (64 digits, the output of its program; only for reading), recovery (the groups), or identity (its text; only for reading). Needs the package cryptography.
"""

import hashlib
import hmac
import os
import sys

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
KEM = b"KEM\x00\x20"
HPKE = b"HPKE\x00\x20\x00\x01\x00\x02"


def code(key, message):
    return hmac.new(key, message, hashlib.sha256).digest()


# RFC 9180


def extract(suite, salt, label, secret):
    return code(salt, b"HPKE-v1" + suite + label + secret)


def expand(suite, key, label, info, size):
    return code(key, size.to_bytes(2, "big") + b"HPKE-v1" + suite + label + info + b"\x01")[:size]


def derive_private_key(seed):
    return expand(KEM, extract(KEM, b"", b"dkp_prk", seed), b"sk", b"", 32)


def public_key(private):
    return X25519PrivateKey.from_private_bytes(private).public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)


def schedule(private, public, encapsulation, recipient, info):
    agreed = X25519PrivateKey.from_private_bytes(private).exchange(X25519PublicKey.from_public_bytes(public))
    shared = expand(KEM, extract(KEM, b"", b"eae_prk", agreed), b"shared_secret", encapsulation + recipient, 32)
    context = b"\x00" + extract(HPKE, b"", b"psk_id_hash", b"") + extract(HPKE, b"", b"info_hash", info)
    secret = extract(HPKE, shared, b"secret", b"")
    return AESGCM(expand(HPKE, secret, b"key", context, 32)), expand(HPKE, secret, b"base_nonce", context, 12)


def seal(secret, public, info):
    ephemeral = os.urandom(32)
    encapsulation = public_key(ephemeral)
    cipher, nonce = schedule(ephemeral, public, encapsulation, public, info)
    return encapsulation, cipher.encrypt(nonce, secret, b"")


def unseal(encapsulation, ciphertext, private, info):
    cipher, nonce = schedule(private, encapsulation, encapsulation, public_key(private), info)
    return cipher.decrypt(nonce, ciphertext, b"")


# Keyrings


def labeled(label, identifier, epoch):
    return b"coffer keyring 1 " + label + b" " + identifier + epoch.to_bytes(8, "big")


def salt(identifier, epoch):
    return hashlib.sha256(labeled(b"salt", identifier, epoch)).digest()[:16]


def body_code(data_key, identifier, body):
    return code(code(data_key, b"coffer keyring 1 code " + identifier), body)


def private_key(kind, secret, parameters):
    if kind == "passphrase":
        n, r, p, salt_of_slot = parameters
        return derive_private_key(hashlib.scrypt(secret, salt=salt_of_slot, n=1 << n, r=r, p=p, maxmem=1 << 29, dklen=32))
    if kind == "recipient":
        return secret
    return derive_private_key(code(secret, b"coffer keyring 1 " + kind.encode()))


def secret_of(kind, text):
    if kind == "passphrase":
        return text.rstrip("\n").encode()
    if kind in ("raw", "command"):
        return bytes.fromhex(text.strip())
    if kind == "identity":
        prefix = "coffer-identity-1-"
        data = bytes.fromhex(text.strip().removeprefix(prefix))
        assert code(data[:32], prefix.encode())[:4] == data[32:], "the check sum of the identity"
        return data[:32]
    text = "".join(text.upper().replace("-", "").split()).replace("O", "0").replace("I", "1").replace("L", "1")
    number = 0
    for character in text:
        number = number << 5 | ALPHABET.index(character)
    assert len(text) == 56, "the length of the recovery key"
    data = number.to_bytes(35, "big")
    assert code(data[:32], b"coffer recovery key 1")[:3] == data[32:], "the check sum of the recovery key"
    return data[:32]


def read(content, kind, secret):
    half = len(content) // 2
    text = content[:half]
    assert text == content[half:], "two equal copies"
    lines = text.decode().split("\n")
    assert lines[0] == "coffer keyring 1" and lines[-1] == ""
    before_check = text[: text.rindex(b"check ")]
    assert lines[-2] == "check " + hashlib.sha256(before_check).hexdigest(), "the check sum"
    identifier = bytes.fromhex(lines[1].removeprefix("id "))
    epochs = [int(line.split()[1]) for line in lines if line.startswith("key ")]
    codes = [bytes.fromhex(line.split()[2]) for line in lines if line.startswith("code ")]
    body = text[: text.index(b"\ncode ") + 1]
    slots = []
    for line in lines:
        words = line.split(" ")
        if words[0] == "slot":
            slots.append({"kind": words[2], "sealed": [], "parameters": None})
        elif words[0] == "public":
            slots[-1]["public"] = bytes.fromhex(words[1])
        elif words[0] == "scrypt":
            slots[-1]["parameters"] = (int(words[1]), int(words[2]), int(words[3]), bytes.fromhex(words[4]))
        elif words[0] == "sealed":
            slots[-1]["sealed"].append((bytes.fromhex(words[2]), bytes.fromhex(words[3])))
    wanted = "recipient" if kind == "identity" else kind
    for slot in slots:
        if slot["kind"] != wanted:
            continue
        private = private_key(slot["kind"], secret, slot["parameters"])
        if public_key(private) != slot["public"]:
            continue
        keys = [unseal(*sealed, private, labeled(b"data key", identifier, epoch)) for epoch, sealed in zip(epochs, slot["sealed"])]
        assert [body_code(key, identifier, body) for key in keys] == codes, "the codes"
        return [(epoch, key, salt(identifier, epoch)) for epoch, key in zip(epochs, keys)]
    raise SystemExit("no slot is opened by this secret")


def write(kind, secret):
    identifier, data_key = os.urandom(16), os.urandom(32)
    parameters = (14, 8, 1, os.urandom(16)) if kind == "passphrase" else None
    public = public_key(private_key(kind, secret, parameters))
    encapsulation, ciphertext = seal(data_key, public, labeled(b"data key", identifier, 1))
    lines = ["coffer keyring 1", "id " + identifier.hex(), "generation 1", "key 1", f"slot 1 {kind} made by Python", "public " + public.hex()]
    if parameters:
        lines.append(f"scrypt {parameters[0]} {parameters[1]} {parameters[2]} {parameters[3].hex()}")
    lines.append(f"sealed 1 {encapsulation.hex()} {ciphertext.hex()}")
    body = "".join(line + "\n" for line in lines).encode()
    text = body + f"code 1 {body_code(data_key, identifier, body).hex()}\n".encode()
    text += f"check {hashlib.sha256(text).hexdigest()}\n".encode()
    return text + text


def main():
    work, path, kind = sys.argv[1:]
    secret = secret_of(kind, sys.stdin.read())
    if work == "write":
        with open(path, "xb") as file:
            file.write(write(kind, secret))
    with open(path, "rb") as file:
        for epoch, key, salt_of_database in read(file.read(), kind, secret):
            print(epoch, key.hex(), salt_of_database.hex())


if __name__ == "__main__":
    main()
