/** The certificates that a client presents. */
import type { TlsOptions } from "./kubeconfig.ts";

const certificates = /-----BEGIN CERTIFICATE-----/g;

/**
 * TLS options that present only the certificates in `cert`, as client-go does. OpenSSL would add the issuer of a lone certificate
 * if it is in `ca`, and an API server verifies a client's whole chain again with each request: twice the time for a root that it
 * has itself. OpenSSL adds nothing to a chain, so the certificate is repeated, which verifiers have to ignore:
 * https://www.rfc-editor.org/rfc/rfc8446#section-4.4.2
 */
export function withoutIssuer(tls: TlsOptions): TlsOptions {
  const text = tls.cert?.toString() ?? "";
  return text.match(certificates)?.length === 1 ? { ...tls, cert: `${text}\n${text}` } : tls;
}
