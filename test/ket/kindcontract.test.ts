/**
 * Feeds the configuration of a run's cluster to the real kind and records its Docker commands. Docker is a script that records its
 * arguments and starts nothing.
 */
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { programs } from "../harness/programs.ts";
import { configurationOf } from "./kind.ts";
import { planOf } from "./kindoptions.ts";

const kind = (await programs("kind")).kind.path;

const docker = `#!/bin/sh
echo "$*" >>"$(dirname "$0")/calls"
case $1 in
  info) echo '{"CgroupVersion":"2","MemoryLimit":true,"PidsLimit":true,"CPUShares":true,"SecurityOptions":[]}' ;;
  inspect | network | ps) ;;
  *) exit 1 ;;
esac
`;

async function createCluster(...more: readonly string[]): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), "ket-contract-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, "docker"), docker, { mode: 0o755 });
  const plan = await planOf({ clusterName: "mine" });
  const config = join(folder, "kind.yaml");
  await writeFile(
    config,
    configurationOf(plan, { hostPath: "/run-of-mine", containerPath: "/etc/denrei/ket/1" }),
  );
  const env = { PATH: [folder, "/usr/bin", "/bin"].join(delimiter), KIND_EXPERIMENTAL_PROVIDER: "docker" };
  const args = ["create", "cluster", "--name", plan.name, "--config", config, "--image", plan.image, ...more];
  await promisify(execFile)(kind, args, { env }).catch(() => undefined);
  return (await readFile(join(folder, "calls"), "utf8")).trim().split("\n");
}

test("makes kind start the node with the mark as a mount, and with the label that identifies its cluster", async () => {
  const calls = await createCluster("--retain");
  const start = calls.find((line) => line.startsWith("run ")) ?? "";
  expect(start).toContain(" --name mine-control-plane ");
  expect(start).toContain(" --label io.x-k8s.kind.cluster=mine ");
  expect(start).toContain(" --volume=/run-of-mine:/etc/denrei/ket/1:ro ");
  expect(start).toMatch(/ kindest\/node:v[\d.]+@sha256:[0-9a-f]{64}$/);
});

test("keeps kind from removing nodes by name when it fails", async () => {
  const after = (calls: string[]) => calls.slice(calls.findIndex((line) => line.startsWith("run ")) + 1);
  const byName = /^ps .*label=io\.x-k8s\.kind\.cluster=mine/;
  expect(after(await createCluster()).filter((line) => byName.test(line))).not.toEqual([]);
  expect(after(await createCluster("--retain")).filter((line) => byName.test(line))).toEqual([]);
});
