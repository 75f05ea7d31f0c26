/** `denrei dev --play kpack,pipecd`: what builds and what runs in pods is played. */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { externalKind } from "../../bus/kube/kind.ts";
import type { Condition, KubeObject } from "../../bus/kube/object.ts";
import { Node } from "../../deploy/local/nodes.ts";
import { place, root } from "../cli/program.ts";
import { project, startDev } from "./project.ts";
import { source } from "./stonecode.ts";
import { put, stone, untilMarked } from "./stones.ts";

const program = (name: string): string[] => [`--${name}`, join(root, `test/demo/${name}.ts`)];
const ClusterBuilder = externalKind<KubeObject<object, { conditions?: Condition[] }>>({
  group: "kpack.io",
  version: "v1alpha2",
  kind: "ClusterBuilder",
  plural: "clusterbuilders",
  scope: "Cluster",
});

test("there are a builder and a node, and workers are told where PipeCD is, also after a save", async () => {
  const here = place();
  const mine = project(here);
  const told = (mark: string) => source({ mark: `${mark} " + process.env.DENREI_PIPECD_WEB_ADDRESS + "` });
  mine.save("stones/pebble.ts", told("1"));
  const args = ["--play", "kpack,pipecd", ...program("kpack"), ...program("pipecd")];
  const { client, printed, running } = await startDev(mine, args);
  for (const object of [
    await client.get(ClusterBuilder, { name: "default" }),
    await client.get(Node, { name: "node-1" }),
  ])
    expect(object.status?.conditions).toContainEqual(
      expect.objectContaining({ type: "Ready", status: "True" }),
    );
  await put(client, "first");
  await expect
    .poll(async () => (await stone(client, "first")).status?.mark, { timeout: 60_000, interval: 50 })
    .toMatch(/^1 127\.0\.0\.1:\d+$/);
  const { mark = "" } = (await stone(client, "first")).status ?? {};
  mine.save("stones/pebble.ts", told("2"));
  await printed("Code 2 runs");
  await untilMarked(client, "first", mark.replace("1", "2"));

  running.process.kill("SIGINT");
  expect(await running.ended).toMatchObject({ code: 130, signal: null, stderr: "" });
  expect(here.processes()).toEqual([]);
  expect(here.runs()).toEqual([]);
}, 240_000);

describe("refused:", () => {
  test.each<[args: string[], env: Record<string, string>, says: string]>([
    [
      ["--play", "github"],
      {},
      "expected --github with the path of a program that plays GitHub, found none. It comes with a checkout and its development dependencies: npm ci && npm run dev -- --play github",
    ],
    [
      ["--play", "kpack", ...program("kpack")],
      { KUBECONFIG: "/there", NATS_URL: "nats://there" },
      "expected no KUBECONFIG and NATS_URL for --play kpack, found both",
    ],
    [
      ["--play", "pipecd", ...program("pipecd")],
      { KUBECONFIG: "/there", NATS_URL: "nats://there" },
      "expected no KUBECONFIG and NATS_URL for --play pipecd, found both",
    ],
    [
      ["--nodes", "2"],
      { KUBECONFIG: "/there", NATS_URL: "nats://there" },
      "expected no --nodes with KUBECONFIG and NATS_URL, found --nodes 2: a cluster that exists has its own",
    ],
    [["--play", "kpack,github,gitlab"], {}, 'separated by commas; found "gitlab"'],
  ])("%j", async (args, env, says) => {
    const ended = await project(place()).start(["dev", ...args], env).ended;
    expect(ended).toMatchObject({ code: 2, stdout: "" });
    expect(ended.stderr).toContain(says);
  });
});
