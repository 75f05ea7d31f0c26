/**
 * An OpenID Connect issuer for a local API server, which trusts it through a structured authentication configuration.
 * https://kubernetes.io/docs/reference/access-authn-authz/authentication/#using-authentication-configuration
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { CertificateAuthority, KeyPair } from "./pki.ts";

/** What starting an issuer needs. The API server connects to it over TLS only. */
export interface IssuerEnvironment {
  /** Certificate (PEM) of the authority that signs the issuer's certificate. The API server and the dashboard trust it. */
  readonly ca: string;
  /** Issues a server certificate for these host names and addresses. */
  server(names: readonly string[]): KeyPair;
  /** The run's directory, for files of the issuer. */
  readonly directory: string;
}

/** An issuer whose ID tokens the API server trusts. */
export interface Issuer {
  /** The `iss` claim of its tokens: `https://host:port`. */
  readonly url: string;
  /** The accepted `aud` claims. */
  readonly audiences: readonly string[];
  /** Prefix of user names in Kubernetes. Default: none. */
  readonly usernamePrefix?: string;
}

/** Maps claims to the same names in Kubernetes, with an optional prefix for users. This suffices with a single issuer. */
const claimMappings = (prefix: string) => ({
  username: { claim: "sub", prefix },
  groups: { claim: "groups", prefix: "" },
});

/** Starts the issuer and returns the path of the authentication configuration. */
export async function writeAuthentication(
  directory: string,
  authority: CertificateAuthority,
  start: (environment: IssuerEnvironment) => Promise<Issuer>,
): Promise<string> {
  const {
    url,
    audiences,
    usernamePrefix = "",
  } = await start({ ca: authority.cert, server: authority.server, directory });
  const configuration = {
    apiVersion: "apiserver.config.k8s.io/v1",
    kind: "AuthenticationConfiguration",
    jwt: [
      {
        issuer: { url, audiences, certificateAuthority: authority.cert },
        claimMappings: claimMappings(usernamePrefix),
      },
    ],
  };
  const path = join(directory, "authentication.json");
  await writeFile(path, JSON.stringify(configuration));
  return path;
}
