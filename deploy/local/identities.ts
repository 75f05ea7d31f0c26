/**
 * Who people are to a local API server: an OpenID Connect issuer that it trusts, as a structured authentication configuration.
 * https://kubernetes.io/docs/reference/access-authn-authz/authentication/#using-authentication-configuration
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { CertificateAuthority, KeyPair } from "./pki.ts";

/** What an issuer is started with: the API server talks to it over TLS only. */
export interface IdentityGround {
  /** The authority that vouches for it, PEM; the API server and the dashboard are told of it. */
  readonly ca: string;
  /** A certificate for these host names and addresses. */
  server(names: readonly string[]): KeyPair;
  /** Of the run, for what it keeps in files. */
  readonly directory: string;
}

/** An issuer whose ID tokens are trusted. */
export interface Issuer {
  /** As its tokens have it in `iss`: `https://host:port`. */
  readonly url: string;
  /** As its tokens have it in `aud`. */
  readonly audiences: readonly string[];
  /** What stands before names of users in Kubernetes; nothing unless given. */
  readonly usernamePrefix?: string;
}

/** How the names in tokens become names in Kubernetes: as they are, which is enough where there is one issuer. */
const claimMappings = (prefix: string) => ({
  username: { claim: "sub", prefix },
  groups: { claim: "groups", prefix: "" },
});

/** Starts the issuer, and returns the path of the configuration that trusts it. */
export async function writeAuthentication(
  directory: string,
  authority: CertificateAuthority,
  start: (ground: IdentityGround) => Promise<Issuer>,
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
