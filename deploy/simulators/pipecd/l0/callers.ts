/** Authentication and authorization of callers in PipeCD v0.9.0. */
import { cookiesOf, type Metadata, unauthenticatedError } from "../metadata.ts";
import { permissionDenied, RpcError } from "../status.ts";
import { type Claims, claimsOf } from "../tokens.ts";
import type { PlaneL0 } from "./plane.ts";

const [viewer, editor, admin] = [0, 1, 2];

/** Methods for all roles; all others are for administrators. */
const reads = ["ListEnvironments", "ListPipeds", "GetPiped", "ListApplications", "GetApplication"];

/** Authenticates the token in the cookie. PipeCD does not check that the project exists. */
export function webCaller({ encryptionKey, clock }: PlaneL0, metadata: Metadata, method: string): Claims {
  const token = cookiesOf(metadata, "l0").get("token");
  const claims = token && claimsOf(token, encryptionKey, clock(), "l0");
  if (!claims) throw unauthenticatedError();
  const needed = reads.includes(method) ? [viewer, editor, admin] : [admin];
  if (!needed.includes(claims.role)) throw new RpcError(permissionDenied, "Permission Denied");
  return claims;
}
