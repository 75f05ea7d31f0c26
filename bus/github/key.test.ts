import { createHash, createPrivateKey, generateKeyPairSync } from "node:crypto";
import { inspect } from "node:util";
import { expect, test } from "vitest";
import { PrivateKeyError, parsePrivateKey } from "./key.ts";

const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const pem = (type: "pkcs1" | "pkcs8"): string => privateKey.export({ type, format: "pem" }) as string;

/** SPKI of a 2048-bit RSA key, put together by hand (RFC 8017, A.1.1). */
function fingerprintByHand(): string {
  const modulus = Buffer.from(publicKey.export({ format: "jwk" }).n as string, "base64url");
  const head = "30820122300d06092a864886f70d01010105000382010f003082010a0282010100";
  const der = Buffer.concat([Buffer.from(head, "hex"), modulus, Buffer.from("0203010001", "hex")]);
  return `SHA256:${createHash("sha256").update(der).digest("base64")}`;
}

test("private key - PKCS#1 and PKCS#8 are the same key, with the fingerprint that GitHub shows", () => {
  for (const type of ["pkcs1", "pkcs8"] as const) {
    const key = parsePrivateKey(pem(type));
    expect(key.fingerprint).toBe(fingerprintByHand());
    expect(createPrivateKey(key.pem()).equals(privateKey)).toBe(true);
    expect(key.pem()).toMatch(/^-----BEGIN PRIVATE KEY-----\n/);
  }
});

test("private key - accepts Windows line ends and text around the block", () => {
  const text = `a note\r\n${pem("pkcs1").replaceAll("\n", "\r\n")}\r\n\r\n`;
  expect(parsePrivateKey(text).pem()).toBe(parsePrivateKey(pem("pkcs8")).pem());
});

test("private key - logs and serializers see only the fingerprint", () => {
  const key = parsePrivateKey(pem("pkcs1"));
  const { fingerprint } = key;
  const shown = inspect({ key }, { depth: 9, showHidden: true, getters: true });
  expect(shown).toContain(fingerprint);
  expect(shown).not.toContain("PRIVATE KEY");
  expect(JSON.parse(JSON.stringify(key))).toEqual({ fingerprint });
  expect({ ...key }).toEqual({ fingerprint });
  expect(structuredClone(key)).toEqual({ fingerprint });
});

const body = (text: string): string[] => text.split("\n").filter((line) => /^[\w+/=]{12,}$/.test(line));
const damaged = pem("pkcs1").split("\n").toSpliced(3, 9).join("\n");
const ec = generateKeyPairSync("ec", { namedCurve: "P-256" });
const refused: Record<string, { text: string; found: RegExp }> = {
  nothing: { text: " \n", found: /found nothing\./ },
  "a text": { text: "bXkgc2VjcmV0IHRleHQgaXMgbm90IGEga2V5\n", found: /found a text without a PEM block/ },
  "half a key": { text: damaged, found: /found a damaged PEM block "RSA PRIVATE KEY"/ },
  "a key on one line": {
    text: pem("pkcs8").replaceAll("\n", "\\n"),
    found: /found a damaged PEM block "PRIVATE KEY"/,
  },
  "an EC key": {
    text: ec.privateKey.export({ type: "pkcs8", format: "pem" }) as string,
    found: /found a private key of the type ec\./,
  },
  "an EC key in SEC 1 form": {
    text: ec.privateKey.export({ type: "sec1", format: "pem" }) as string,
    found: /found a private key of the type ec\./,
  },
  "an RSA-PSS key": {
    text: generateKeyPairSync("rsa-pss", { modulusLength: 2048 }).privateKey.export({
      type: "pkcs8",
      format: "pem",
    }) as string,
    found: /found a private key of the type rsa-pss\./,
  },
  "the public key": {
    text: publicKey.export({ type: "spki", format: "pem" }) as string,
    found: /found a PEM block "PUBLIC KEY"/,
  },
  "a protected key": {
    text: privateKey.export({
      type: "pkcs8",
      format: "pem",
      cipher: "aes-256-cbc",
      passphrase: "x",
    }) as string,
    found: /found a private key that a passphrase protects/,
  },
  "a protected key of the old form": {
    text: privateKey.export({
      type: "pkcs1",
      format: "pem",
      cipher: "aes-256-cbc",
      passphrase: "x",
    }) as string,
    found: /found a private key that a passphrase protects/,
  },
};

test.each(Object.entries(refused))(
  "private key - rejects %s, names its kind, and quotes nothing",
  (_, it) => {
    let error: unknown;
    try {
      parsePrivateKey(it.text);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(PrivateKeyError);
    expect((error as Error).message).toMatch(
      /^expected a PEM RSA private key .*, found .*\. Generate one there/,
    );
    expect((error as Error).message).toMatch(it.found);
    const shown = inspect(error, { depth: 9, showHidden: true });
    for (const line of body(it.text)) expect(shown).not.toContain(line);
  },
);
