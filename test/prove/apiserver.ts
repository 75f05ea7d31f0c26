/**
 * A simulated API server for scenarios that publish their objects themselves. It serves only GET of one object, as if the kind
 * had no status subresource: a million changes are too many for a real API server, and only a replay reads its object live.
 */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { resourcePath } from "../../bus/kube/client.ts";
import type { StatusBody } from "../../bus/kube/errors.ts";
import { type Kind, kindText } from "../../bus/kube/kind.ts";
import type { Stored } from "../../bus/kube/object.ts";

/** A running server. */
export interface ObjectServer {
  readonly url: string;
  put(object: Stored): void;
  close(): Promise<void>;
}

/** Serves the objects of one kind. */
export async function serveObjects(kind: Kind): Promise<ObjectServer> {
  const objects = new Map<string, string>();
  const server = createServer((request, response) => {
    const found = request.method === "GET" ? objects.get(request.url ?? "") : undefined;
    const missing: StatusBody & { kind: string; apiVersion: string; status: string } = {
      kind: "Status",
      apiVersion: "v1",
      status: "Failure",
      message: `${kindText(kind)} not found: ${request.method} ${request.url}`,
      reason: "NotFound",
      code: 404,
    };
    response.writeHead(found ? 200 : 404, { "content-type": "application/json" });
    response.end(found ?? JSON.stringify(missing));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    put(object) {
      const { namespace, name } = object.metadata;
      objects.set(resourcePath(kind, namespace, name), JSON.stringify(object));
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
