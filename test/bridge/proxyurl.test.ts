/** The proxy of a kubeconfig (`proxy-url`), which gives each connection its own tunnel. */
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { type KubeClient, kubeClient, resourcePath } from "../../bus/kube/client.ts";
import { loadKubeconfig, openConnection } from "../../bus/kube/connection.ts";
import { ConfigMap } from "../../bus/kube/kind.ts";
import { startLocalTestEnvironment } from "../harness/environment.ts";
import { createNamespace } from "../harness/namespaces.ts";

const namespaces = ["proxied-1", "proxied-2", "proxied-3"];

/** A proxy that supports only CONNECT (RFC 9110). */
async function startConnectProxy(): Promise<{ readonly url: string; tunnels(): number }> {
  let tunnels = 0;
  const server = createServer().on("connect", ({ url = "" }, socket, head) => {
    const { hostname, port } = new URL(`tcp://${url}`);
    const upstream = connect({ host: hostname, port: Number(port) }, () => {
      tunnels++;
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      upstream.write(head);
      upstream.pipe(socket).pipe(upstream);
    });
    const end = () => [upstream, socket].map((one) => one.destroy());
    for (const one of [upstream, socket]) one.on("error", end).on("close", end);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    tunnels: () => tunnels,
  };
}

/** Watches a namespace until an object of this name exists. The controller manager creates another one. */
async function watchFor(
  client: KubeClient,
  namespace: string,
  name: string,
  signal: AbortSignal,
): Promise<() => Promise<void>> {
  const { metadata } = await client.list(ConfigMap, namespace);
  const events = await client.watch({
    path: resourcePath(ConfigMap, namespace),
    oneOfMany: true,
    query: { resourceVersion: metadata.resourceVersion, timeoutSeconds: 60 },
    signal,
  });
  return async () => {
    for await (const { object } of events) if (object.metadata.name === name) return;
    throw new Error(`the watch of ${namespace} ended without ${name}`);
  };
}

test("requests and the watches of many namespaces use the proxy", async () => {
  const environment = await startLocalTestEnvironment({ crds: [] });
  onTestFinished(() => environment.stop());
  const proxy = await startConnectProxy();
  const path = await environment.platform.kubeconfigFor("behind-a-proxy", ["system:masters"]);
  await writeFile(
    path,
    (await readFile(path, "utf8")).replace(/^(\s*)server: /m, `$1proxy-url: ${proxy.url}\n$&`),
  );
  const client = kubeClient(await openConnection(loadKubeconfig({ path })));
  onTestFinished(() => client.connection.close());
  for (const namespace of namespaces) await createNamespace(environment.client, namespace);
  const ending = new AbortController();
  onTestFinished(() => ending.abort());
  const watches = await Promise.all(
    namespaces.map((one) => watchFor(client, one, `in-${one}`, ending.signal)),
  );
  expect(proxy.tunnels()).toBeGreaterThanOrEqual(namespaces.length + 1);
  for (const namespace of namespaces) {
    const made = { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace, name: `in-${namespace}` } };
    await client.create(ConfigMap, made as never, { fieldManager: "test" });
  }
  await Promise.all(watches.map((arrived) => arrived()));
});
