/** Logs of build pods, read through a real API server, which requests them from the node. */

import { request } from "undici";
import { afterAll, beforeAll, expect, test } from "vitest";
import { resourcePath } from "../../bus/kube/client.ts";
import { Node, Pod } from "../../deploy/simulators/kpack/kinds.ts";
import { type Environment, manager, startEnvironment } from "./environment.ts";

let environment: Environment;
beforeAll(async () => {
  environment = await startEnvironment();
});
afterAll(() => environment?.stop());

/** Opens a container's log. */
async function open(namespace: string, pod: string, container: string, query = "") {
  const { connection } = environment.client;
  const { dispatcher, headers } = await connection.credentials("watches");
  const path = resourcePath(Pod, namespace, pod, "log");
  return request(`${connection.server}${path}?container=${container}${query}`, { dispatcher, headers });
}

async function read(...log: Parameters<typeof open>): Promise<{ status: number; lines: string[] }> {
  const { statusCode, body } = await open(...log);
  return { status: statusCode, lines: (await body.text()).split("\n").filter((line) => line !== "") };
}

const isRunning = (step: string) => (pod: Pod) =>
  pod.status?.initContainerStatuses?.some(({ name, state }) => name === step && state.running) ?? false;

test("a failing step logs 60 lines and ends with the error", async () => {
  const ns = await environment.createNamespace("failing");
  await ns.image("web", { annotations: { "sim.kpk/fail-step": "build" } });
  await ns.untilReady("web", "False/BuildFailed");
  const log = ["failing", "web-build-1-build-pod", "build"] as const;
  const { status, lines } = await read(...log);
  expect([status, lines.length, lines.at(-1)]).toEqual([200, 60, "ERROR: failed to build: exit status 1"]);
  expect((await read(...log, "&tailLines=3")).lines).toEqual(lines.slice(-3));
  expect((await read(...log, "&limitBytes=10")).lines.join("\n")).toBe(lines.join("\n").slice(0, 10));
  expect((await read(...log, "&tailLines=1&timestamps=true")).lines[0]).toMatch(
    /^\d{4}-\d\d-\d\dT[\d:.]+Z ERROR: failed to build/,
  );
  const { lines: times } = await read(...log, "&timestamps=true");
  const last = (times.at(-1) ?? "").slice(0, 19);
  const ofThen = times.filter((line) => line >= last);
  expect((await read(...log, `&timestamps=true&sinceTime=${last}Z`)).lines).toEqual(ofThen);
  expect((await read(...log, "&sinceTime=2999-01-01T00:00:00Z")).lines).toEqual([]);
  expect((await read(...log, "&sinceSeconds=3600")).lines).toEqual(lines);
  expect(await read(...log, "&previous=true")).toMatchObject({ status: 400 });
  expect((await read("failing", "web-build-1-build-pod", "prepare")).lines[0]).toBe(
    "Build reason(s): CONFIG",
  );
});

test("follows the log of a running step until it ends, and rejects that of a waiting step", async () => {
  const ns = await environment.createNamespace("following");
  await ns.image("web", { annotations: { "sim.kpk/hold-step": "detect" } });
  const pod = { namespace: ns.namespace, name: "web-build-1-build-pod" };
  await environment.until(Pod, pod, isRunning("detect"));
  const waiting = await read("following", pod.name, "restore");
  expect([waiting.status, waiting.lines.join()]).toEqual([
    400,
    expect.stringContaining("is waiting to start: PodInitializing"),
  ]);
  const { body } = await open("following", pod.name, "detect", "&follow=true");
  const chunks: string[] = [];
  const received = Promise.withResolvers<void>();
  const over = (async () => {
    for await (const chunk of body) {
      chunks.push(String(chunk));
      received.resolve();
    }
  })();
  await received.promise;
  expect(chunks.join("")).toBe("detect started\n");
  await environment.client.mergePatch(
    Pod,
    pod,
    { metadata: { annotations: { "sim.kpk/hold-step": null } } },
    manager,
  );
  await over;
  expect(chunks.join("")).toBe("detect started\ndetect finished\n");
});

test("the Node has the address of the log server", async () => {
  const { status } = await environment.client.get(Node, { name: "kpack-builds" });
  expect(status).toMatchObject({
    addresses: [{ type: "InternalIP", address: "127.0.0.1" }],
    daemonEndpoints: { kubeletEndpoint: { Port: expect.any(Number) } },
  });
});
