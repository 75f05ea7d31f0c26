/** Applies objects like `kubectl apply --server-side --validate=strict`, and returns warnings. */
import { request } from "undici";
import type { KubeConnection } from "../../bus/kube/connection.ts";
import type { Manifest } from "./manifests.ts";

/** The response of the API server. */
export interface Answer {
  readonly status: number;
  /** `Warning` headers (RFC 9110), such as deprecated versions or pods that the namespace would reject. */
  readonly warnings: readonly string[];
  /** The error message, if the request failed. */
  readonly message: string | undefined;
}

/** The response to a valid new object. */
export const accepted: Answer = { status: 201, warnings: [], message: undefined };

/** Applies an object. A dry run is validated and admitted but not stored. */
export async function apply(
  connection: KubeConnection,
  object: Manifest,
  mode: "dry-run" | "for-real",
): Promise<Answer> {
  const path = `${await collectionOf(connection, object)}/${object.metadata.name}?fieldManager=test`;
  return send(connection, "PATCH", path, "application/apply-patch+yaml", object, mode);
}

/** Creates a pod in a dry run. */
export const dryRunPod = (connection: KubeConnection, pod: Manifest): Promise<Answer> =>
  send(
    connection,
    "POST",
    `/api/v1/namespaces/${pod.metadata.namespace}/pods?`,
    "application/json",
    pod,
    "dry-run",
  );

async function send(
  connection: KubeConnection,
  method: "PATCH" | "POST",
  path: string,
  contentType: string,
  body: object,
  mode: "dry-run" | "for-real",
): Promise<Answer> {
  const query = `&fieldValidation=Strict${mode === "dry-run" ? "&dryRun=All" : ""}`;
  const answer = await request(`${connection.server}${path}${query}`, {
    method,
    dispatcher: connection.requests,
    headers: { "content-type": contentType },
    body: JSON.stringify(body),
  });
  const { message } = (await answer.body.json()) as { message?: string };
  const warnings = answer.headers.warning ?? [];
  return {
    status: answer.statusCode,
    warnings: Array.isArray(warnings) ? warnings : [warnings],
    message: answer.statusCode < 300 ? undefined : message,
  };
}

/** The collection path of the object, from the API server's discovery. */
async function collectionOf(connection: KubeConnection, { apiVersion, kind, metadata }: Manifest) {
  const group = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const { body } = await request(`${connection.server}${group}`, { dispatcher: connection.requests });
  const { resources } = (await body.json()) as {
    resources: { name: string; kind: string; namespaced: boolean }[];
  };
  const resource = resources.find((candidate) => candidate.kind === kind && !candidate.name.includes("/"));
  if (resource === undefined) throw new Error(`the API server has no ${kind} in ${apiVersion}`);
  return `${group}${resource.namespaced ? `/namespaces/${metadata.namespace}` : ""}/${resource.name}`;
}
