/**
 * deploy/kind.yaml, read by kind itself: it runs up to what it would have Docker do. Docker is played by a script that
 * writes down what it is told and starts nothing; that the node then works is not shown here.
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

/** Says yes to what kind asks first, writes down what it is told, and starts no container. */
const docker = `#!/bin/sh
echo "$*" >>"$(dirname "$0")/told"
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

/** What kind would start for the node, and what it says in the end. */
async function createCluster(
  args: readonly string[],
): Promise<{ readonly run: string; readonly said: string }> {
  await rm(join(folder, "told"), { force: true });
  const env = {
    PATH: [folder, "/usr/bin", "/bin"].join(delimiter),
    HOME: folder,
    KUBECONFIG: join(folder, "kubeconfig"),
    KIND_EXPERIMENTAL_PROVIDER: "docker",
  };
  const said = await promisify(execFile)(kind, ["create", "cluster", ...args], { env }).then(
    () => "created",
    ({ stderr }: { readonly stderr: string }) => stderr,
  );
  const told = await readFile(join(folder, "told"), "utf8").catch(() => "");
  return { run: told.split("\n").find((line) => line.startsWith("run ")) ?? "", said };
}

describe("deploy/kind.yaml", () => {
  test("has kind start one node, of the image that this version of kind has by default, by digest", async () => {
    const { run } = await createCluster(["--config", path]);
    const image = run.split(" ").at(-1);
    expect(image).toMatch(/^kindest\/node:v\d+\.\d+\.\d+@sha256:[0-9a-f]{64}$/);
    const usual = await createCluster(["--name", "usual"]);
    expect(usual.run.split(" ").at(-1)).toBe(image);
    expect(await readFile(path, "utf8")).toContain(`kind v${versions.kind}`);
  });

  test("is of the minor version of Kubernetes that everything else is tested with", async () => {
    const { nodes } = parse(await readFile(path, "utf8"));
    const minor = versions["kube-apiserver"].split(".").slice(0, 2).join(".");
    expect(nodes.map(({ image }: { image: string }) => /:v(\d+\.\d+)\./.exec(image)?.[1])).toEqual([minor]);
  });

  test("lets this machine, and no other, reach the gateway of the kind overlay", async () => {
    const { run } = await createCluster(["--config", path]);
    const published = [...run.matchAll(/--publish=(\S+):(\d+):(\d+)\/TCP/g)].map(
      ([, host, , port]) => `${host} ${port}`,
    );
    const objects: readonly Manifest[] = await overlay("kind");
    const [port] = find<Service>(objects, "Service", "denrei-gateway").spec.ports;
    expect(published.sort()).toEqual([`127.0.0.1 ${port?.nodePort}`, "127.0.0.1 6443"].sort());
  });

  test("is read strictly: a field that there is not is refused", async () => {
    const wrong = join(folder, "wrong.yaml");
    await writeFile(wrong, (await readFile(path, "utf8")).replace("hostPort:", "hostport:"));
    const { run, said } = await createCluster(["--config", wrong]);
    expect(said).toContain("field hostport not found");
    expect(run).toBe("");
  });
});
