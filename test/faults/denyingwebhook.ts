/** A validating webhook that denies everything, with the code of a server that is busy or not ready. */
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { createCertificateAuthority } from "../../deploy/local/pki.ts";

/** What the API server needs to reach the webhook. */
export interface DenyingWebhook {
  readonly clientConfig: { readonly url: string; readonly caBundle: string };
  stop(): void;
}

/** Starts the webhook on a free port. Its responses follow `admission.k8s.io/v1`. */
export async function startDenyingWebhook(code: number): Promise<DenyingWebhook> {
  const authority = createCertificateAuthority();
  const server = createServer(authority.server(["127.0.0.1"]), async (request, response) => {
    const {
      apiVersion,
      kind,
      request: asked,
    } = (await json(request)) as {
      readonly apiVersion: string;
      readonly kind: string;
      readonly request: { readonly uid: string };
    };
    const denied = { uid: asked.uid, allowed: false, status: { code, message: "come back later" } };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ apiVersion, kind, response: denied }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    clientConfig: {
      url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/`,
      caBundle: Buffer.from(authority.cert).toString("base64"),
    },
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}
