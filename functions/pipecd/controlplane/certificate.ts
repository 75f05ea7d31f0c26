/** The certificate of `spec.tls`: the server exits if it cannot load it, and the gateway if it cannot load the authority. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { BlockedError, type Context, type SecretObject, type Stored } from "denrei";
import { retryMillis } from "../intervals.ts";
import type { ControlPlane } from "../kinds.ts";
import { bytesIn, secretWith } from "../kubernetes/secrets.ts";

/** Throws a `BlockedError` unless PipeCD can load the Secret's certificate, key, and authority. */
export async function checkCertificate(
  { spec: { tls } }: Pick<ControlPlane, "spec">,
  ctx: Pick<Context, "live" | "key">,
): Promise<void> {
  if (tls === undefined) return;
  const secret = await secretWith(tls.secretName, ["tls.crt", "tls.key", "ca.crt"], ctx);
  const problem = certificateProblem(secret);
  if (problem)
    throw new BlockedError("SecretInvalid", `the Secret ${tls.secretName}: ${problem}`, retryMillis);
}

/** Why PipeCD cannot load them; undefined if it can. */
export function certificateProblem(secret: Stored<SecretObject>): string | undefined {
  const certificate = read(() => new X509Certificate(bytesIn(secret, "tls.crt")));
  const key = read(() => createPrivateKey(bytesIn(secret, "tls.key")));
  const authority = read(() => new X509Certificate(bytesIn(secret, "ca.crt")));
  if (certificate === undefined) return "expected tls.crt to be a certificate in PEM";
  if (key === undefined) return "expected tls.key to be a private key in PEM, without a passphrase";
  if (!certificate.checkPrivateKey(key))
    return "expected tls.key to be the key of the certificate in tls.crt";
  return authority === undefined ? "expected ca.crt to be a certificate in PEM" : undefined;
}

function read<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch {
    return undefined;
  }
}
