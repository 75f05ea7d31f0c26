/**
 * The simulated webhooks of kpack v0.17.2, called by a real API server. Like kpack's, they handle only v1alpha2.
 * Not simulated: rules about builders, which are accepted unchanged, and the conversion webhook.
 */
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { createServer } from "node:https";
import { type AddressInfo, Server as NetServer } from "node:net";
import type { Duplex } from "node:stream";
import { isDeepStrictEqual } from "node:util";
import type { CertificateAuthority } from "@denrei/cli/local/pki";
import { buildErrors } from "./buildrules.ts";
import { decodingError } from "./decoding.ts";
import { describe } from "./fielderrors.ts";
import { buildFields, imageFields, known } from "./fields.ts";
import { type Cluster, imageErrors } from "./imagerules.ts";
import type { Build, Image } from "./kinds.ts";

/** The webhook server that the API server calls. */
export interface AdmissionServer {
  /** `https://127.0.0.1:port`; `/defaults` mutates and `/validate` validates. */
  readonly url: string;
  /** Closes the port. */
  stop(): Promise<void>;
  /** Listens again on the same port. */
  restart(): Promise<void>;
}

/** The fields of an AdmissionReview that are read. https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/ */
interface AdmissionRequest {
  readonly uid: string;
  readonly kind: { readonly kind: string };
  readonly operation: "CREATE" | "UPDATE" | "DELETE";
  readonly object: Image | Build | null;
  readonly oldObject: Image | Build | null;
}

/** Starts the server on a free port of 127.0.0.1. `cluster` is called for each request. */
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
      response: { uid: review.request.uid, ...answerOrReject(() => answer(review.request, cluster())) },
    };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  // The API server decides when to close connections.
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

  async function stop(): Promise<void> {
    if (!server.listening) return;
    const closed = once(server, "close");
    // `https.Server.close` would destroy idle connections before the API server can close its end.
    NetServer.prototype.close.call(server);
    // After the API server has closed its end, its next request opens a new connection, which is refused.
    for (const socket of sockets) socket.end();
    await closed;
  }

  await listen(0);
  const { port } = server.address() as AddressInfo;
  return { url: `https://127.0.0.1:${port}`, stop, restart: () => listen(port) };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

type Answer = Readonly<Record<string, unknown>> & { readonly allowed: boolean };

/** Rejects an object that cannot be decoded. For a Build, the message differs from kpack's. */
function answerOrReject(answer: () => Answer): Answer {
  try {
    return answer();
  } catch (error) {
    return rejection(`cannot decode incoming new object: ${(error as Error).message}`);
  }
}

const rejection = (message: string): Answer => ({
  allowed: false,
  status: { status: "Failure", reason: "BadRequest", code: 400, message },
});

function defaulted({ kind: { kind }, object }: AdmissionRequest, cluster: Cluster): Answer {
  const problem = kind === "Image" && object ? decodingError(object) : undefined;
  if (problem !== undefined)
    return rejection(`mutation failed: cannot decode incoming new object: ${problem}`);
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
  return errors.length === 0 ? { allowed: true } : rejection(`validation failed: ${describe(errors)}`);
}

/** Adds kpack's defaults to an Image's spec and drops unknown fields. */
function imageDefaults(image: Image, { hasDefaultStorageClass }: Cluster): Record<string, unknown> {
  return {
    serviceAccountName: "default",
    imageTaggingStrategy: "BuildNumber",
    failedBuildHistoryLimit: 10,
    successBuildHistoryLimit: 10,
    ...(hasDefaultStorageClass && { cache: { volume: { size: "2G" } } }),
    ...known(image.spec ?? {}, imageFields),
  };
}

/** Adds kpack's defaults to a Build's spec and drops unknown fields. */
const buildDefaults = (build: Build): Record<string, unknown> => ({
  serviceAccountName: "default",
  ...known(build.spec ?? {}, buildFields),
});
