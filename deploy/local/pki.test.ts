import { createPrivateKey, createPublicKey, createSign, createVerify, X509Certificate } from "node:crypto";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { connect, createServer, type TLSSocket } from "node:tls";
import { describe, expect, onTestFinished, test } from "vitest";
import { createCertificateAuthority, createSigningKey, type KeyPair } from "./pki.ts";

const authority = createCertificateAuthority();
const server = authority.server(["127.0.0.1", "localhost", "kubernetes.default.svc"]);
const admin = authority.client({ user: "admin", groups: ["system:masters", "another"] });

describe("certificates", () => {
  test("are signed by the authority and belong to their keys", () => {
    const ca = new X509Certificate(authority.cert);
    expect(ca.ca).toBe(true);
    expect(ca.verify(ca.publicKey)).toBe(true);
    for (const { cert, key } of [server, admin]) {
      const leaf = new X509Certificate(cert);
      expect(leaf.ca).toBe(false);
      expect(leaf.checkIssued(ca)).toBe(true);
      expect(leaf.verify(ca.publicKey)).toBe(true);
      expect(leaf.checkPrivateKey(createPrivateKey(key))).toBe(true);
    }
  });

  test("name the server's addresses, and the client's user and groups", () => {
    expect(new X509Certificate(server.cert).subjectAltName).toBe(
      "IP Address:127.0.0.1, DNS:localhost, DNS:kubernetes.default.svc",
    );
    expect(new X509Certificate(admin.cert).subject).toBe("O=system:masters\nO=another\nCN=admin");
  });

  test("are valid from five minutes ago, for a year", () => {
    const { validFromDate, validToDate } = new X509Certificate(server.cert);
    const minutes = (date: Date) => Math.round((date.getTime() - Date.now()) / 60_000);
    expect(minutes(validFromDate)).toBe(-5);
    expect(minutes(validToDate)).toBe(365 * 24 * 60);
  });

  test("have unique serial numbers and keys", () => {
    const again = authority.client({ user: "admin", groups: ["system:masters", "another"] });
    expect(new X509Certificate(again.cert).serialNumber).not.toBe(
      new X509Certificate(admin.cert).serialNumber,
    );
    expect(again.key).not.toBe(admin.key);
  });

  test("may have a subject of more than 255 bytes, in any script", () => {
    const user = `伝令-${"x".repeat(60)}`;
    const groups = Array.from({ length: 40 }, (_, index) => `system:group-${index}`);
    const { subject } = new X509Certificate(authority.client({ user, groups }).cert);
    expect(subject.split("\n")).toEqual([...groups.map((group) => `O=${group}`), `CN=${user}`]);
  });
});

describe("in a TLS handshake", () => {
  /** The client's identity as the server sees it, or the client's error. */
  async function handshake(client: KeyPair, ca: string, name = "localhost") {
    const listener = createServer({
      ca: authority.cert,
      cert: server.cert,
      key: server.key,
      requestCert: true,
      rejectUnauthorized: false,
    });
    listener.on("tlsClientError", () => undefined);
    listener.listen(0, "127.0.0.1");
    await once(listener, "listening");
    onTestFinished(() => void listener.close());
    const accepted = once(listener, "secureConnection") as Promise<[TLSSocket]>;
    const { port } = listener.address() as AddressInfo;
    const socket = connect({ port, host: "127.0.0.1", servername: name, ca, ...client });
    onTestFinished(() => void socket.destroy());
    await once(socket, "secureConnect");
    const [seen] = await accepted;
    return { authorized: seen.authorized, subject: seen.getPeerCertificate().subject };
  }

  test("each side trusts the other", async () => {
    const { authorized, subject } = await handshake(admin, authority.cert);
    expect(authorized).toBe(true);
    expect(subject).toMatchObject({ CN: "admin", O: ["system:masters", "another"] });
  });

  test("a client does not trust the server of another authority", async () => {
    const other = createCertificateAuthority();
    await expect(handshake(admin, other.cert)).rejects.toThrow(/certificate/);
  });

  test("a server does not trust the client of another authority", async () => {
    const stranger = createCertificateAuthority().client({ user: "admin", groups: ["system:masters"] });
    expect((await handshake(stranger, authority.cert)).authorized).toBe(false);
  });

  test("a server's certificate cannot be used by a client", async () => {
    expect((await handshake(server, authority.cert)).authorized).toBe(false);
  });

  test("a server is not trusted under a name that is not in its certificate", async () => {
    await expect(handshake(admin, authority.cert, "example.org")).rejects.toThrow(/altnames/);
  });
});

test("the public signing key verifies signatures of the private one", () => {
  const { privateKey, publicKey } = createSigningKey();
  const signature = createSign("sha256").update("token").sign(privateKey);
  expect(createVerify("sha256").update("token").verify(publicKey, signature)).toBe(true);
  expect(createVerify("sha256").update("tampered").verify(publicKey, signature)).toBe(false);
  expect(createPublicKey(publicKey).asymmetricKeyDetails?.namedCurve).toBe("prime256v1");
});
