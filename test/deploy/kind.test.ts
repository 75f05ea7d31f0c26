/**
 * kind reads deploy/kind.yaml, up to the commands that it gives Docker. A script simulates Docker: it records the commands and
 * starts nothing. So these tests do not show that the node works.
 */
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { versions } from "../../deploy/local/index.ts";
import { programs } from "../harness/programs.ts";
import { find, type Manifest, root, type Service } from "./manifests.ts";
import { overlay } from "./overlays.ts";

const kind = (await programs("kind")).kind.path;

const path = join(root, "deploy/kind.yaml");

/** Answers kind's queries, records its commands, and starts no container. */
const docker = `#!/bin/sh
echo "$*" >>"$(dirname "$0")/commands"
case $1 in
  info) echo '{"CgroupVersion":"2","MemoryLimit":true,"PidsLimit":true,"CPUShares":true,"SecurityOptions":[]}' ;;
  inspect | network | ps) ;;
  *) exit 1 ;;
esac
`;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "test-kind-"));
  await writeFile(join(folder, "docker"), docker, { mode: 0o755 });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** The command with which kind would start the node, and kind's output. */
async function createCluster(
  args: readonly string[],
): Promise<{ readonly run: string; readonly output: string }> {
  await rm(join(folder, "commands"), { force: true });
  const env = {
    PATH: [folder, "/usr/bin", "/bin"].join(delimiter),
    HOME: folder,
    KUBECONFIG: join(folder, "kubeconfig"),
    KIND_EXPERIMENTAL_PROVIDER: "docker",
  };
  const output = await promisify(execFile)(kind, ["create", "cluster", ...args], { env }).then(
    () => "created",
    ({ stderr }: { readonly stderr: string }) => stderr,
  );
  const commands = await readFile(join(folder, "commands"), "utf8").catch(() => "");
  return { run: commands.split("\n").find((line) => line.startsWith("run ")) ?? "", output };
}

describe("deploy/kind.yaml", () => {
  test("starts one node with the default image of this version of kind, by digest", async () => {
    const { run } = await createCluster(["--config", path]);
    const image = run.split(" ").at(-1);
    expect(image).toMatch(/^kindest\/node:v\d+\.\d+\.\d+@sha256:[0-9a-f]{64}$/);
    const usual = await createCluster(["--name", "usual"]);
    expect(usual.run.split(" ").at(-1)).toBe(image);
    expect(await readFile(path, "utf8")).toContain(`kind v${versions.kind}`);
  });

  test("has the minor version of Kubernetes that all tests use", async () => {
    const { nodes } = parse(await readFile(path, "utf8"));
    const minor = versions["kube-apiserver"].split(".").slice(0, 2).join(".");
    expect(nodes.map(({ image }: { image: string }) => /:v(\d+\.\d+)\./.exec(image)?.[1])).toEqual([minor]);
  });

  test("exposes the gateway of the kind overlay only to this machine", async () => {
    const { run } = await createCluster(["--config", path]);
    const published = [...run.matchAll(/--publish=(\S+):(\d+):(\d+)\/TCP/g)].map(
      ([, host, , port]) => `${host} ${port}`,
    );
    const objects: readonly Manifest[] = await overlay("kind");
    const [port] = find<Service>(objects, "Service", "denrei-gateway").spec.ports;
    expect(published.sort()).toEqual([`127.0.0.1 ${port?.nodePort}`, "127.0.0.1 6443"].sort());
  });

  test("is parsed strictly: an unknown field is an error", async () => {
    const wrong = join(folder, "wrong.yaml");
    await writeFile(wrong, (await readFile(path, "utf8")).replace("hostPort:", "hostport:"));
    const { run, output } = await createCluster(["--config", wrong]);
    expect(output).toContain("field hostport not found");
    expect(run).toBe("");
  });
});
