/** Clients during a server rollout, when the old pod still serves existing connections. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { openControlPlane } from "../../deploy/simulators/pipecd/controlplane.ts";
import { type Served, serve } from "../../deploy/simulators/pipecd/server.ts";
import { pipecdClient } from "../../functions/pipecd/api/client.ts";

const encryptionKey = Buffer.from("an encryption key of more than 32 bytes");

/** A pod with these projects in its configuration. */
async function startPod(...projects: string[]): Promise<Served> {
  const controlPlane = openControlPlane({ profile: "C", projects, encryptionKey });
  const served = await serve({ controlPlanes: () => [controlPlane] });
  onTestFinished(() => served.stop());
  return served;
}

/** A Service. Connections stay with the pod to which they were opened. */
async function startService(first: Served) {
  let pod = first;
  const sockets = new Set<Socket>();
  const listener = createServer((socket) => {
    const [host, port] = pod.web.split(":");
    const other = connect(Number(port), host);
    for (const [one, another] of [
      [socket, other],
      [other, socket],
    ] as const) {
      sockets.add(one);
      one.pipe(another);
      one.on("error", () => another.destroy());
      one.on("close", () => another.destroy());
    }
  });
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    listener.close();
  });
  return {
    address: `127.0.0.1:${(listener.address() as AddressInfo).port}`,
    leadTo: (other: Served) => {
      pod = other;
    },
  };
}

test("open clients can use a new project as soon as the rollout is complete", async () => {
  const former = await startPod("first");
  const service = await startService(former);
  const clientOf = (projectID: string, revision: string) => {
    const endpoint = { address: service.address, tls: undefined, server: { id: "uid", revision } };
    return pipecdClient({
      ...{ profile: "C", projectID, encryptionKey, apiKey: undefined },
      ...{ web: endpoint, api: endpoint },
      signal: AbortSignal.timeout(30_000),
    });
  };
  const open = clientOf("second", "1");
  expect(await clientOf("first", "1").pipeds.list()).toEqual([]);
  service.leadTo(await startPod("first", "second"));
  // The rollout is still in progress.
  await expect(open.pipeds.list()).rejects.toThrow("PermissionDenied");
  expect(await clientOf("second", "2").pipeds.list()).toEqual([]);
  expect(await open.pipeds.list()).toEqual([]);
  await expect.poll(() => former.connections("web")).toBe(0);
});
