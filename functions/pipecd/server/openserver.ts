/** Creates clients of an object's control plane. */
import { BlockedError, type Context, type Stored } from "denrei";
import type { Endpoint } from "../api/connections.ts";
import type { PipecdClient } from "../api/services.ts";
import { profileOfPlane } from "../controlplane/blueprint.ts";
import { retryMillis } from "../intervals.ts";
import { apiKeysSecret, keyOfProject } from "../keynames.ts";
import type { ControlPlane } from "../kinds.ts";
import { bytesIn, findSecret, secretWith } from "../kubernetes/secrets.ts";
import { objectNames, secretKeys } from "../names.ts";
import { firstWithAPIKeys, hasReached } from "../profile.ts";
import { addressOf, isElsewhere, type ServiceName } from "./serveraddress.ts";

/** Credentials and transport settings of the caller. */
export interface Caller {
  readonly projectID: string;
  readonly insecure?: boolean | undefined;
  readonly apiKeySecretRef?: { readonly name: string; readonly key?: string | undefined } | undefined;
  /** For calls that create API keys. */
  readonly withoutApiKey?: true;
}

/** A client for the caller's project. Throws a `BlockedError` if a Secret is missing or the TLS settings do not match. */
export async function openServer(
  plane: Stored<ControlPlane>,
  caller: Caller,
  ctx: Pick<Context, "live" | "key" | "signal">,
): Promise<PipecdClient> {
  const profile = profileOfPlane(plane);
  checkTls(plane, caller);
  const secret = await secretWith(objectNames.secret, [secretKeys.encryptionKey], ctx);
  const tls = caller.insecure ? undefined : { ca: await authorityOf(plane, ctx) };
  const server = { id: plane.metadata.uid, revision: plane.status?.serverRevision };
  const endpoint = (service: ServiceName): Endpoint => ({ address: addressOf(service, plane), tls, server });
  // Imported lazily: the bridge loads these functions and never calls them.
  const { pipecdClient } = await import("../api/client.ts");
  return pipecdClient({
    profile,
    version: plane.spec.version,
    projectID: caller.projectID,
    web: endpoint("web"),
    api: endpoint("api"),
    encryptionKey: bytesIn(secret, secretKeys.encryptionKey),
    apiKey: caller.withoutApiKey ? undefined : await apiKeyOf(plane, caller, ctx),
    signal: ctx.signal,
  });
}

/** Checks that both sides agree on TLS. With a configured address, a proxy may terminate TLS, so there is no check. */
function checkTls({ spec: { tls }, metadata: { name } }: Stored<ControlPlane>, { insecure }: Caller): void {
  if (isElsewhere("web") || (insecure === true) === (tls === undefined)) return;
  throw new BlockedError(
    "TLSMismatch",
    tls === undefined
      ? `expected spec.insecure to be true, because the ControlPlane ${name} has no spec.tls and speaks plain text`
      : `expected spec.insecure to be false, because the ControlPlane ${name} has spec.tls and speaks only TLS`,
    retryMillis,
  );
}

/** The CA certificate of the control plane; undefined to trust the system's authorities. */
async function authorityOf(
  { spec: { tls } }: Stored<ControlPlane>,
  ctx: Pick<Context, "live" | "key">,
): Promise<string | undefined> {
  if (tls === undefined) return undefined;
  return bytesIn(await secretWith(tls.secretName, ["ca.crt"], ctx), "ca.crt").toString();
}

const takesAPIKeys = (plane: Stored<ControlPlane>): boolean =>
  profileOfPlane(plane) === "C" && hasReached(plane.spec.version, firstWithAPIKeys);

/** The key that the object refers to, otherwise the one created for its project. */
async function apiKeyOf(
  plane: Stored<ControlPlane>,
  { projectID, apiKeySecretRef }: Caller,
  ctx: Pick<Context, "live" | "key">,
): Promise<string | undefined> {
  if (!takesAPIKeys(plane)) {
    if (apiKeySecretRef === undefined) return undefined;
    throw new BlockedError(
      "ConfigInvalid",
      `spec.apiKeySecretRef needs a control plane of PipeCD ${firstWithAPIKeys} or later: ${plane.metadata.name} has ${plane.spec.version}`,
      retryMillis,
    );
  }
  if (apiKeySecretRef) {
    const { name, key = secretKeys.apiKey } = apiKeySecretRef;
    return bytesIn(await secretWith(name, [key], ctx), key)
      .toString()
      .trim();
  }
  if (!plane.spec.bootstrapAPIKeys) return undefined;
  const found = await findSecret(apiKeysSecret(plane), ctx);
  const key = found && bytesIn(found, keyOfProject(projectID)).toString();
  return key || undefined;
}
