import { expect, test } from "vitest";
import type { SecretObject } from "../../bus/kube/kind.ts";
import type { Stored } from "../../bus/kube/object.ts";
import { createCertificateAuthority } from "../../deploy/local/pki.ts";
import { certificateProblem } from "../../functions/pipecd/controlplane/certificate.ts";

const authority = createCertificateAuthority("test");
const [one, other] = [authority.server(["one"]), authority.server(["other"])];

const problemOf = (texts: Readonly<Record<"tls.crt" | "tls.key" | "ca.crt", string>>) =>
  certificateProblem({
    data: Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, btoa(text)])),
  } as unknown as Stored<SecretObject>);
const good = { "tls.crt": one.cert, "tls.key": one.key, "ca.crt": authority.cert };

test("loads a certificate with its key and CA", () => {
  expect(problemOf(good)).toBeUndefined();
  expect(problemOf({ ...good, "tls.crt": `${one.cert}\n${authority.cert}` })).toBeUndefined();
});

test.each([
  ["tls.crt", "nothing", "expected tls.crt to be a certificate in PEM"],
  ["tls.crt", one.key, "expected tls.crt to be a certificate in PEM"],
  ["tls.key", one.cert, "expected tls.key to be a private key in PEM, without a passphrase"],
  ["tls.key", other.key, "expected tls.key to be the key of the certificate in tls.crt"],
  ["ca.crt", "nothing", "expected ca.crt to be a certificate in PEM"],
] as const)("a wrong %s is named", (key, text, problem) => {
  expect(problemOf({ ...good, [key]: text })).toBe(problem);
});
