/** Stores a created App in Kubernetes, with the user's own rights: the Secret with its key, the GitHubApp, and the webhook secret. */
import { GitHubApp } from "@denrei/functions/ghapp/kinds";
import type { KubeObject } from "denrei/kinds";
import {
  gatewaySecretName,
  hookOf,
  keySecretName,
  privateKeyName,
  webhookSecretName,
} from "../../api/githubapp.ts";
import type { ApiServer } from "../kubernetes/apiserver.ts";
import { RejectedError, requestJson } from "../kubernetes/responses.ts";
import { specUrl } from "./githuburls.ts";
import type { CreatedApp } from "./manifestflow.ts";

/** The user in whose name objects are read and written. */
export interface KubernetesUser {
  readonly apiServer: Pick<ApiServer, "request">;
  readonly token: string;
}

/** Names of the objects, and the GitHub of the App. */
export interface AppTarget {
  /** Web address of GitHub. */
  readonly url: string;
  readonly namespace: string;
  readonly name: string;
}

/** An object of the same name exists. It is never overwritten. */
export class NameTakenError extends Error {
  override readonly name = "NameTakenError";
}

/** A Secret, as the API server returns it. */
export interface SecretContent {
  readonly metadata: { readonly resourceVersion: string };
  /** In base64. */
  readonly data?: Readonly<Record<string, string>>;
}

/** Not tied to the browser's request: the keys exist only here, so a closed tab must not interrupt the writes. */
const writeMillis = 15_000;
const manager = "fieldManager=denrei-dashboard";

export const secretPath = (namespace: string, name = ""): string =>
  `/api/v1/namespaces/${namespace}/secrets${name && `/${name}`}`;
export const appPath = (namespace: string, name = ""): string =>
  `/apis/${GitHubApp.group}/${GitHubApp.version}/namespaces/${namespace}/${GitHubApp.plural}${name && `/${name}`}`;

/** Reads an object as the user. Throws what `requestJson` throws. */
export const read = <T>(
  { apiServer, token }: KubernetesUser,
  path: string,
  accept = "application/json",
): Promise<T> =>
  requestJson<T>(apiServer, { path, token, headers: { accept }, signal: AbortSignal.timeout(writeMillis) });

const write = (
  { apiServer, token }: KubernetesUser,
  method: "POST" | "PATCH",
  path: string,
  body: object,
): Promise<KubeObject> =>
  requestJson(apiServer, {
    ...{ method, token, path: `${path}?${manager}`, body: JSON.stringify(body) },
    headers: { "content-type": method === "POST" ? "application/json" : "application/merge-patch+json" },
    signal: AbortSignal.timeout(writeMillis),
  });

/**
 * Creates everything that does not exist yet; a retry continues where an earlier attempt failed. Throws a {@link NameTakenError} if
 * another object has a name, and what `requestJson` throws.
 */
export async function storeApp(
  user: KubernetesUser,
  target: AppTarget,
  app: CreatedApp,
  platformNamespace: string,
): Promise<void> {
  const { namespace, name } = target;
  const { webhookSecret } = app;
  const isKept =
    webhookSecret !== null && !(await giveToGateways(user, platformNamespace, target, webhookSecret));
  await createKey(user, target, {
    [privateKeyName]: app.privateKey,
    ...(isKept && { [webhookSecretName]: webhookSecret }),
  });
  const spec = {
    ...specUrl(target.url),
    appID: app.id,
    privateKeySecretRef: { name: keySecretName(name), key: privateKeyName },
  };
  const object = {
    apiVersion: `${GitHubApp.group}/${GitHubApp.version}`,
    kind: GitHubApp.kind,
    metadata: { name, namespace },
    spec,
  };
  await write(user, "POST", appPath(namespace), object).catch(async (error: unknown) => {
    if (!isConflict(error)) throw error;
    const found = await read<GitHubApp>(user, appPath(namespace, name));
    if (found.spec.appID !== app.id)
      throw new NameTakenError(
        `A GitHubApp ${name} of another App exists in ${namespace}. Delete it, then try again.`,
      );
  });
}

async function createKey(
  user: KubernetesUser,
  { namespace, name }: AppTarget,
  stringData: Readonly<Record<string, string>>,
): Promise<void> {
  const secret = keySecretName(name);
  const object = { apiVersion: "v1", kind: "Secret", metadata: { name: secret, namespace }, type: "Opaque" };
  await write(user, "POST", secretPath(namespace), { ...object, stringData }).catch(
    async (error: unknown) => {
      if (!isConflict(error)) throw error;
      // An earlier attempt may have created it. A user who may not read it cannot find out.
      const found = await read<SecretContent>(user, secretPath(namespace, secret)).catch(forbidden);
      if (decoded(found?.data?.[privateKeyName]) !== stringData[privateKeyName])
        throw new NameTakenError(
          `A Secret ${secret} exists in ${namespace}, and a key is never overwritten. Delete or rename that Secret, then try again.`,
        );
    },
  );
}

/** Adds the secret to those of the gateways, which accept each line of a hook. Returns false if the user may not do that. */
async function giveToGateways(
  user: KubernetesUser,
  namespace: string,
  app: AppTarget,
  webhookSecret: string,
): Promise<boolean> {
  const key = `github.${hookOf(app.namespace, app.name)}`;
  try {
    const found = await read<SecretContent>(user, secretPath(namespace, gatewaySecretName)).catch(missing);
    if (found === undefined) {
      const metadata = { name: gatewaySecretName, namespace };
      const object = { apiVersion: "v1", kind: "Secret", metadata, type: "Opaque" };
      await write(user, "POST", secretPath(namespace), {
        ...object,
        data: { [key]: encoded(webhookSecret) },
      });
      return true;
    }
    const lines = (decoded(found.data?.[key]) ?? "").split("\n").filter((line) => line !== "");
    if (lines.includes(webhookSecret)) return true;
    const { resourceVersion } = found.metadata;
    const data = { [key]: encoded([...lines, webhookSecret].join("\n")) };
    await write(user, "PATCH", secretPath(namespace, gatewaySecretName), {
      metadata: { resourceVersion },
      data,
    });
    return true;
  } catch (error) {
    // Also after a concurrent change: the webhook secret is then kept with the private key.
    if (error instanceof RejectedError) return false;
    throw error;
  }
}

function forbidden(error: unknown): undefined {
  if (!(error instanceof RejectedError && error.status === 403)) throw error;
}

function missing(error: unknown): undefined {
  if (!(error instanceof RejectedError && error.status === 404)) throw error;
}

const isConflict = (error: unknown): boolean => error instanceof RejectedError && error.status === 409;
const encoded = (text: string): string => Buffer.from(text).toString("base64");
const decoded = (text: string | undefined): string | undefined =>
  text === undefined ? undefined : Buffer.from(text, "base64").toString();
