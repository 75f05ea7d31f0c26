/**
 * The webhooks of the stand-in for kpack v0.17.2, before a real API server. As with kpack they are asked for v1alpha2 alone.
 * Left out: rules about builders, which pass as they are, and the conversion webhook.
 */
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { createServer } from "node:https";
import { type AddressInfo, Server as NetServer } from "node:net";
import type { Duplex } from "node:stream";
import { isDeepStrictEqual } from "node:util";
import type { CertificateAuthority } from "../../local/pki.ts";
import { buildErrors } from "./buildrules.ts";
import { decodingError } from "./decoding.ts";
import { buildDefaults, imageDefaults } from "./defaults.ts";
import { describe } from "./fielderrors.ts";
import { type Cluster, imageErrors } from "./imagerules.ts";
import type { Build, Image } from "./kinds.ts";

/** The server that an API server asks. */
export interface AdmissionServer {
  /** `https://127.0.0.1:port`, with a path for each of the two. */
  readonly url: string;
  /** From now on nobody answers there. */
  away(): Promise<void>;
  /** At the same address as before. */
  back(): Promise<void>;
  stop(): Promise<void>;
}

/** The part of an AdmissionReview that is looked at. https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/ */
interface AdmissionRequest {
  readonly uid: string;
  readonly kind: { readonly kind: string };
  readonly operation: "CREATE" | "UPDATE" | "DELETE";
  readonly object: Image | Build | null;
  readonly oldObject: Image | Build | null;
}

/** Starts it on a free port of 127.0.0.1. `cluster` is asked at each request. */
export async function startAdmissionServer(
  authority: CertificateAuthority,
  cluster: () => Cluster,
): Promise<AdmissionServer> {
  const { cert, key } = authority.server(["127.0.0.1"]);
  const server = createServer({ cert, key }, async (request, response) => {
    const review = JSON.parse(await bodyOf(request)) as { request: AdmissionRequest };
    const answer = request.url?.startsWith("/defaults") ? defaulted : validated;
    const body = {
      apiVersion: "admission.k8s.io/v1",
      kind: "AdmissionReview",
      response: { uid: review.request.uid, ...answered(() => answer(review.request, cluster())) },
    };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  // The API server decides when to close a connection.
  server.keepAliveTimeout = 0;
  const sockets = new Set<Duplex>();
  server.on("secureConnection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });

  async function listen(port: number): Promise<void> {
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
  }

  async function away(): Promise<void> {
    if (!server.listening) return;
    const closed = once(server, "close");
    // `https.Server.close` would destroy idle connections before the API server can close its end.
    NetServer.prototype.close.call(server);
    // Once the API server has closed its end, its next request opens a connection, which is refused.
    for (const socket of sockets) socket.end();
    await closed;
  }

  await listen(0);
  const { port } = server.address() as AddressInfo;
  return { url: `https://127.0.0.1:${port}`, away, back: () => listen(port), stop: away };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

type Answer = Readonly<Record<string, unknown>> & { readonly allowed: boolean };

/** A Build that cannot be decoded is refused as well, but not in kpack's words. */
function answered(answer: () => Answer): Answer {
  try {
    return answer();
  } catch (error) {
    return refusal(`cannot decode incoming new object: ${(error as Error).message}`);
  }
}

const refusal = (message: string): Answer => ({
  allowed: false,
  status: { status: "Failure", reason: "BadRequest", code: 400, message },
});

function defaulted({ kind: { kind }, object }: AdmissionRequest, cluster: Cluster): Answer {
  const problem = kind === "Image" && object ? decodingError(object) : undefined;
  if (problem !== undefined) return refusal(`mutation failed: cannot decode incoming new object: ${problem}`);
  const spec =
    kind === "Image"
      ? imageDefaults(object as Image, cluster)
      : kind === "Build"
        ? buildDefaults(object as Build)
        : object?.spec;
  if (isDeepStrictEqual(spec, object?.spec)) return { allowed: true };
  const patch = JSON.stringify([{ op: "add", path: "/spec", value: spec }]);
  return { allowed: true, patchType: "JSONPatch", patch: Buffer.from(patch).toString("base64") };
}

function validated(
  { kind: { kind }, operation, object, oldObject }: AdmissionRequest,
  cluster: Cluster,
): Answer {
  if (operation === "DELETE" || object === null) return { allowed: true };
  const errors =
    kind === "Image"
      ? imageErrors(object as Image, (oldObject as Image | null) ?? undefined, cluster)
      : kind === "Build"
        ? buildErrors(object as Build, (oldObject as Build | null) ?? undefined)
        : [];
  return errors.length === 0 ? { allowed: true } : refusal(`validation failed: ${describe(errors)}`);
}
