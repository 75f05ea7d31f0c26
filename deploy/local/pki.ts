/**
 * A temporary certificate authority (RFC 5280, ECDSA on P-256) for a control plane and a bus.
 *
 * Written on top of Node's crypto: a certificate is some 60 lines of DER, while libraries for it bring a dozen packages and a
 * global polyfill.
 */
import {
  createHash,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
} from "node:crypto";
import { isIPv4 } from "node:net";
import {
  bits,
  booleanTrue,
  explicit,
  implicit,
  octets,
  oid,
  sequence,
  set,
  time,
  unsigned,
  utf8,
} from "./der.ts";

/** A certificate and its private key, as PEM. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

/** The Kubernetes user and groups of a client certificate: its common name and its organizations. */
export interface ClientIdentity {
  readonly user: string;
  readonly groups?: readonly string[] | undefined;
}

/** Signs certificates. Only clients that are configured with its certificate trust it. */
export interface CertificateAuthority {
  /** The CA's certificate, PEM. */
  readonly cert: string;
  /** Issues a server certificate for these DNS names and IPv4 addresses. */
  server(names: readonly string[], validity?: Validity): KeyPair;
  /** Issues a certificate for a server that also connects to its peers as a client with this identity. */
  peer(identity: ClientIdentity, names: readonly string[], validity?: Validity): KeyPair;
  /** Issues a client certificate. */
  client(identity: ClientIdentity, validity?: Validity): KeyPair;
}

/** Validity of a certificate, to the second. Default: from five minutes ago, for a year. */
export interface Validity {
  readonly from?: Date;
  readonly to?: Date;
}

/** Longer than any expected `denrei up`, in days. */
const validDays = 365;

const ids = {
  commonName: "2.5.4.3",
  organization: "2.5.4.10",
  ecdsaWithSha256: "1.2.840.10045.4.3.2",
  subjectKeyId: "2.5.29.14",
  keyUsage: "2.5.29.15",
  subjectAltName: "2.5.29.17",
  basicConstraints: "2.5.29.19",
  authorityKeyId: "2.5.29.35",
  extendedKeyUsage: "2.5.29.37",
  serverAuth: "1.3.6.1.5.5.7.3.1",
  clientAuth: "1.3.6.1.5.5.7.3.2",
} as const;

/** Creates an authority. Its key never leaves this process. */
export function createCertificateAuthority(name = "denrei-local"): CertificateAuthority {
  const { privateKey, publicKey } = newKey();
  const issuer = distinguishedName(name, []);
  const issuerKeyId = keyId(publicKey);

  function issue(
    subject: Buffer,
    key: KeyObject,
    extensions: Buffer[],
    {
      // In the past, to allow for clock differences.
      from = new Date(Date.now() - 300_000),
      to = new Date(Date.now() + validDays * 86_400_000),
    }: Validity,
  ): string {
    const algorithm = sequence(oid(ids.ecdsaWithSha256));
    const body = sequence(
      explicit(0, unsigned(Uint8Array.of(2))),
      unsigned(randomBytes(16)),
      algorithm,
      issuer,
      sequence(time(from), time(to)),
      subject,
      key.export({ type: "spki", format: "der" }),
      explicit(
        3,
        sequence(
          ...extensions,
          extension(ids.subjectKeyId, octets(keyId(key))),
          extension(ids.authorityKeyId, sequence(implicit(0, issuerKeyId))),
        ),
      ),
    );
    return pem(sequence(body, algorithm, bits(sign("sha256", body, privateKey))));
  }

  function leaf(
    subject: Buffer,
    usages: readonly string[],
    extensions: Buffer[],
    validity: Validity,
  ): KeyPair {
    const keys = newKey();
    const all = [
      critical(ids.keyUsage, bits(Uint8Array.of(0b1000_0000), 7)), // digitalSignature
      extension(ids.extendedKeyUsage, sequence(...usages.map((usage) => oid(usage)))),
      ...extensions,
    ];
    const cert = issue(subject, keys.publicKey, all, validity);
    return { cert, key: pkcs8(keys.privateKey) };
  }

  return {
    cert: issue(
      issuer,
      publicKey,
      [
        critical(ids.basicConstraints, sequence(booleanTrue())),
        critical(ids.keyUsage, bits(Uint8Array.of(0b0000_0110), 1)), // keyCertSign, cRLSign
      ],
      {},
    ),
    server(names, validity = {}) {
      const [first = ""] = names;
      return leaf(distinguishedName(first, []), [ids.serverAuth], [alternatives(names)], validity);
    },
    peer({ user, groups = [] }, names, validity = {}) {
      const usages = [ids.serverAuth, ids.clientAuth];
      return leaf(distinguishedName(user, groups), usages, [alternatives(names)], validity);
    },
    client({ user, groups = [] }, validity = {}) {
      return leaf(distinguishedName(user, groups), [ids.clientAuth], [], validity);
    },
  };
}

/** Creates the keys that sign and verify service account tokens, as PEM. */
export function createSigningKey(): { readonly privateKey: string; readonly publicKey: string } {
  const { privateKey } = newKey();
  return {
    privateKey: pkcs8(privateKey),
    publicKey: createPublicKey(privateKey).export({ type: "spki", format: "pem" }).toString(),
  };
}

const newKey = () => generateKeyPairSync("ec", { namedCurve: "P-256" });

const pkcs8 = (key: KeyObject): string => key.export({ type: "pkcs8", format: "pem" }).toString();

/** RFC 7093, method 1: the first 160 bits of the SHA-256 of the public key. */
const keyId = (key: KeyObject): Buffer =>
  createHash("sha256")
    .update(key.export({ type: "spki", format: "der" }))
    .digest()
    .subarray(0, 20);

function distinguishedName(commonName: string, organizations: readonly string[]): Buffer {
  const part = (id: string, value: string) => set(sequence(oid(id), utf8(value)));
  return sequence(
    ...organizations.map((name) => part(ids.organization, name)),
    part(ids.commonName, commonName),
  );
}

const alternatives = (names: readonly string[]): Buffer =>
  extension(ids.subjectAltName, sequence(...names.map(alternativeName)));

/** GeneralName: [2] dNSName or [7] iPAddress. */
function alternativeName(name: string): Buffer {
  return isIPv4(name)
    ? implicit(7, Buffer.from(name.split(".").map(Number)))
    : implicit(2, Buffer.from(name, "ascii"));
}

const extension = (id: string, value: Buffer): Buffer => sequence(oid(id), octets(value));
const critical = (id: string, value: Buffer): Buffer => sequence(oid(id), booleanTrue(), octets(value));

function pem(der: Buffer): string {
  const lines = der.toString("base64").match(/.{1,64}/g) ?? [];
  return ["-----BEGIN CERTIFICATE-----", ...lines, "-----END CERTIFICATE-----", ""].join("\n");
}
