/**
 * What is done with kind. Docker is nowhere here, so stand-ins of `docker` and `kind` write down what they are asked for, and
 * the cluster that is made is a local control plane.
 */
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { versions } from "../../../deploy/local/index.ts";
import { type LocalKit, startLocalKit } from "../kit.ts";
import { startKet } from "./index.ts";

let kit: LocalKit;
beforeAll(async () => {
  kit = await startLocalKit();
});
afterAll(() => kit?.stop());

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "ket-kind-"));
  vi.stubEnv("PATH", `${folder}${delimiter}${process.env.PATH}`);
  await program("docker", "echo 28.2.2");
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true });
});

async function program(name: string, script: string): Promise<void> {
  await writeFile(join(folder, name), `#!/bin/sh\n${script}\n`);
  await chmod(join(folder, name), 0o755);
}

/** Makes a cluster with this script, in which `$4` is its name and `$6` the path of its kubeconfig. */
const kind = (create: string): Promise<void> =>
  program(
    "kind",
    `[ "$1" = --version ] && echo "kind version ${versions.kind}" && exit
echo "$*" >>"${folder}/asked"
case $1 in
  get) echo theirs ;;
  create) ${create} ;;
esac`,
  );
const asked = async () => (await readFile(join(folder, "asked"), "utf8")).trim().split("\n");

test("a cluster of the run's own is made of the pinned image, and deleted at the end; no other is", async () => {
  await kind(`cp "${kit.platform.kubeconfigPath}" "$6"`);
  const ket = await startKet({ cluster: "kind" });
  try {
    await ket.kubectl.apply({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "there" } });
  } finally {
    await ket.stop();
  }
  const [, create = "", remove] = await asked();
  const name = /^create cluster --name (ket-[0-9a-f]{12}) --kubeconfig \S+ --image (\S+) /.exec(create);
  expect(await readFile("deploy/kind.yaml", "utf8")).toContain(`image: ${name?.[2]}\n`);
  expect(name?.[2]).toMatch(/^kindest\/node:v[\d.]+@sha256:[0-9a-f]{64}$/);
  expect(remove).toBe(`delete cluster --name ${name?.[1]} --kubeconfig /dev/null`);
  expect(await asked()).toHaveLength(3);
});

test("a cluster that can not be made is said with kind's words, and what there is of it is deleted", async () => {
  await kind("echo no space left >&2; exit 1");
  await expect(startKet({ cluster: "kind" })).rejects.toThrow(
    /expected kind to make the cluster ket-\w+ of .*, but no space left/,
  );
  expect((await asked()).at(-1)).toMatch(/^delete cluster --name ket-/);
});
