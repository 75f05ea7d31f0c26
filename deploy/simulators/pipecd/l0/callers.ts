/** Who calls a control plane of PipeCD v0.9.0, and what they may do. */
import { cookiesOf, type Metadata, stranger } from "../metadata.ts";
import { permissionDenied, RpcError } from "../status.ts";
import { type Claims, claimsOf } from "../tokens.ts";
import type { PlaneL0 } from "./plane.ts";

const [viewer, editor, admin] = [0, 1, 2];

/** What everybody may call, whatever their role; the rest is for administrators. */
const reads = ["ListEnvironments", "ListPipeds", "GetPiped", "ListApplications", "GetApplication"];

/** The bearer of the token in the cookie. That the project exists, nobody checks. */
export function webCaller({ encryptionKey, clock }: PlaneL0, metadata: Metadata, method: string): Claims {
  const token = cookiesOf(metadata, "l0").get("token");
  const claims = token && claimsOf(token, encryptionKey, clock(), "l0");
  if (!claims) throw stranger();
  const needed = reads.includes(method) ? [viewer, editor, admin] : [admin];
  if (!needed.includes(claims.role)) throw new RpcError(permissionDenied, "Permission Denied");
  return claims;
}
