/** An App, an Installation's spec, a token, and the resulting Secret. */
import { generateKeyPairSync } from "node:crypto";
import { parsePrivateKey } from "../../bus/github/key.ts";
import type { Stored } from "../../bus/kube/object.ts";
import type { Installation } from "../../functions/ghapp/kinds.ts";
import {
  type AppIdentity,
  type DesiredSecret,
  desiredSecret,
  type IssuedToken,
  type SecretObject,
} from "../../functions/ghapp/secret.ts";

/** The spec of an Installation. */
export type Spec = Installation["spec"];

const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
/** The private key of the App. */
export const pem = privateKey.export({ type: "pkcs1", format: "pem" }) as string;
/** An App with a rule. */
export const app: AppIdentity = {
  url: "",
  appID: 12345,
  keyFingerprint: parsePrivateKey(pem).fingerprint,
  allowed: [{ namespaces: ["team-*"], permissions: { contents: "read" } }],
};
/** A spec as users of ghapp-controller write it. */
export const spec: Spec = {
  appRef: { kind: "ClusterGitHubApp", name: "main" },
  installationID: 678,
  repositoryIDs: [4242],
  permissions: { contents: "read", pull_requests: "read" },
  key: "password",
  template: {
    type: "kubernetes.io/basic-auth",
    stringData: { username: "x-access-token" },
    metadata: { annotations: { "kpack.io/git": "https://github.com" }, labels: { team: "a" } },
  },
};
/** A spec with the plain token under `token`. */
export const raw = (template: Spec["template"], more: Partial<Spec> = {}): Spec => ({
  appRef: spec.appRef,
  installationID: 678,
  key: "token",
  template,
  ...more,
});

/** The format of GitHub's tokens until 2026. */
export const short = `ghs_${"a1B2".repeat(9)}`;
/** The format of GitHub's tokens since 2026: a JWT of about 520 characters. */
export const long = `ghs_12345_eyJ${"hbGc".repeat(40)}.eyJ${"pYX-Q".repeat(40)}.${"Sig_na".repeat(24)}`;
/** A token of an hour. */
export const issued: IssuedToken = {
  token: long,
  issued: Date.parse("2026-11-20T18:30:00Z"),
  refresh: Date.parse("2026-11-20T19:20:00Z"),
  expires: Date.parse("2026-11-20T19:30:00Z"),
  change: "2026-11-20T18:00:00.000Z",
};

/** The Secret after its creation, as the API server stores it. */
export const stored = ({ labels, annotations, ...content }: DesiredSecret): Stored<SecretObject> => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: "acme-web", namespace: "team-a", uid: "uid", resourceVersion: "7", labels, annotations },
  spec: undefined,
  ...content,
});
/** The Secret with a token. */
export const wanted = (of: Spec = spec, by: AppIdentity = app, token = issued) =>
  desiredSecret(of, by, token);

/** The same value, deeply frozen. */
export function frozen<T>(value: T): T {
  if (typeof value === "object" && value !== null) {
    for (const part of Object.values(value)) frozen(part);
    Object.freeze(value);
  }
  return value;
}
