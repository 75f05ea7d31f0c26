/** Authentication and authorization of callers in PipeCD v0.57.0. */
import { type APIKey, APIKey_Role } from "@denrei/functions/pipecd/api/generated/c/model_pb";
import { cookiesOf, credentialsOf, type Metadata, unauthenticatedError } from "../metadata.ts";
import { ifStored } from "../pipedtokens.ts";
import { matches } from "../secrets.ts";
import { permissionDenied, RpcError } from "../status.ts";
import { type Claims, claimsOf } from "../tokens.ts";
import { type PlaneC, storeHasProject } from "./plane.ts";

/** WebService methods by role; administrators may call all. */
const reads = [
  "ListPipeds",
  "GetPiped",
  "ListApplications",
  "GetApplication",
  "ListDeployments",
  "GetMe",
  "ListEvents",
];
const changesOfApplications = [
  ...["AddApplication", "UpdateApplication", "DeleteApplication", "SyncApplication"],
  ...["EnableApplication", "DisableApplication"],
];
const allowed: Readonly<Record<string, readonly string[]>> = {
  Editor: [...reads, ...changesOfApplications, "ListUnregisteredApplications"],
  Viewer: [...reads, "ListUnregisteredApplications"],
};

/** Authenticates the token in the cookie. */
export function webCaller(plane: PlaneC, metadata: Metadata, method: string): Claims {
  const token = cookiesOf(metadata, "c").get("token");
  const claims = token && claimsOf(token, plane.encryptionKey, plane.clock(), "c");
  if (!claims) throw unauthenticatedError();
  const may = (role: string) => role === "Admin" || (allowed[role]?.includes(method) ?? false);
  if (!hasRoles(plane, claims.project) || !claims.roles.some(may)) {
    throw new RpcError(permissionDenied, "Permission Denied");
  }
  return claims;
}

/** A project that cannot be looked up has no roles, like a missing one. */
function hasRoles(plane: PlaneC, project: string): boolean {
  if (plane.projects.has(project) || plane.memory.roles.get(project)) return true;
  const found = ifStored(() => storeHasProject(plane, project)) ?? false;
  if (found) plane.memory.roles.put(project, true);
  return found;
}

/** Authenticates the API key in `authorization`. Redis records its use; without Redis every key is rejected. */
export function apiCaller(plane: PlaneC, metadata: Metadata): APIKey {
  const text = credentialsOf(metadata, "API-KEY");
  const id = apiKeyId(text);
  const key = id === undefined ? undefined : cachedKey(plane, id);
  if (id === undefined || key === undefined || key.disabled || !matches(key.keyHash, text))
    throw unauthenticatedError();
  if (plane.outage.cache) throw unauthenticatedError();
  plane.redis.lastUsed.set(id, plane.seconds());
  return key;
}

/** The public part of an API key. */
export function apiKeyId(text: string): string | undefined {
  const [id, secret, ...rest] = text.split(".");
  return id && secret && rest.length === 0 ? id : undefined;
}

function cachedKey({ memory, store }: PlaneC, id: string): APIKey | undefined {
  const cached = memory.apiKeys.get(id);
  if (cached !== undefined) return cached;
  const key = ifStored(() => store.apiKeys.get(id));
  if (key !== undefined) memory.apiKeys.put(id, key);
  return key;
}

/** Throws unless the key has write access. */
export function requireWriter(key: APIKey): void {
  if (key.role !== APIKey_Role.READ_WRITE) throw new RpcError(permissionDenied, "Permission denied");
}
