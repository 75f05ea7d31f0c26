/**
 * Clusters of kind. Docker does not run here, so simulated programs accept and record the command lines, and a local control
 * plane is the cluster; functions, bus and cases are real.
 */
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  test,
  vi,
} from "vitest";
import { start } from "../cli/program.ts";
import { type Machine, simulatedMachine } from "../fixtures/kindsimulator/machine.ts";
import { type LocalTestEnvironment, startLocalTestEnvironment } from "../harness/environment.ts";
import { programs } from "../harness/programs.ts";
import { startKet } from "../harness/startket.ts";

const kubectl = (await programs("kubectl")).kubectl.path;

let environment: LocalTestEnvironment;
beforeAll(async () => {
  environment = await startLocalTestEnvironment();
});
afterAll(() => environment?.stop());

let machine: Machine;
beforeEach(async () => {
  machine = await simulatedMachine({ kubeconfig: environment.platform.kubeconfigPath, kubectl });
  for (const [name, value] of Object.entries(machine.env)) vi.stubEnv(name, value);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await machine.remove();
});

const polling = { timeout: 90_000, interval: 100 };
const other = (cluster: string) => ({ id: "e".repeat(64), cluster, mounts: [], image: "", labels: {} });
const probe = () => ({
  functions: [new URL("../fixtures/functions/probe.ts", import.meta.url)],
  fixtures: fileURLToPath(new URL("../fixtures/cases/probe", import.meta.url)),
});

describe("a cluster of kind", () => {
  test("is created with its own kubeconfig, runs a case, and is removed by the IDs of its nodes", async () => {
    const ket = await startKet({ cluster: "kind", clusterName: "mine", ...probe() });
    const [node] = await machine.containers();
    try {
      expect(ket.kind).toMatchObject({ name: "mine", context: "kind-mine" });
      await ket.apply("steady");
    } finally {
      await ket.stop();
    }
    expect(await machine.containers()).toEqual([]);
    expect(machine.calls("kind").map((args) => args.slice(0, 4).join(" "))).toEqual([
      "get clusters",
      "create cluster --name mine",
    ]);
    expect(machine.calls("docker").filter(([command]) => command === "rm")).toEqual([
      ["rm", "--force", "--volumes", node?.id],
    ]);
    expect(existsSync(dirname(ket.kubeconfigPath))).toBe(false);
  });

  test("neither reads nor writes the kubeconfig of the user", async () => {
    const folder = await mkdtemp(join(tmpdir(), "ket-user-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const path = join(folder, "config");
    await writeFile(path, "that of the user");
    vi.stubEnv("KUBECONFIG", path);
    const ket = await startKet({ cluster: "kind" });
    expect(ket.kubeconfigPath).not.toBe(path);
    expect(await ket.kind?.kubectl("config", "current-context")).toBe(`${ket.kind?.context}\n`);
    await ket.stop();
    expect(await readdir(folder)).toEqual(["config"]);
    expect(await readFile(path, "utf8")).toBe("that of the user");
  });

  test("carries the run's mark in Docker and on its node", async () => {
    const ket = await startKet({ cluster: "kind" });
    const [node] = await machine.containers();
    await ket.stop();
    const id = ket.kind?.name.replace("ket-", "");
    expect(node).toMatchObject({
      mounts: [`/etc/denrei/ket/${id}`],
      labels: { "test.denrei.dev/ket-run": id },
    });
  });

  test("does not interfere with the cluster of a parallel run", async () => {
    const runs = await Promise.all([startKet({ cluster: "kind" }), startKet({ cluster: "kind" })]);
    expect(new Set(runs.map(({ kubeconfigPath }) => kubeconfigPath)).size).toBe(2);
    await runs[0].stop();
    expect((await machine.containers()).map(({ cluster }) => cluster)).toEqual([runs[1].kind?.name]);
    await runs[1].stop();
    expect(await machine.containers()).toEqual([]);
  });

  test("uses the chosen versions", async () => {
    await machine.behave({ kindVersion: "0.33.0" });
    const ket = await startKet({ cluster: "kind", kindVersion: "0.33.0", kubernetesVersion: "1.34.11" });
    const [node] = await machine.containers();
    await ket.stop();
    expect(node?.image).toMatch(/^kindest\/node:v1\.34\.11@sha256:44e222ee/);
  });

  test("is refused and left unchanged when it already exists", async () => {
    await machine.add(other("theirs"));
    await expect(startKet({ cluster: "kind", clusterName: "theirs" })).rejects.toThrow(
      "a cluster named theirs exists, and this run did not create it. Choose another clusterName",
    );
    expect(await machine.containers()).toEqual([other("theirs")]);
  });

  test("is left unchanged when another process creates one with the same name meanwhile", async () => {
    await machine.behave({ meanwhile: true });
    await expect(startKet({ cluster: "kind", clusterName: "both" })).rejects.toThrow(
      /kind could not create the cluster both .* exited with code 1:\n\s+ERROR: .*node\(s\) already exist/,
    );
    expect(await machine.containers()).toMatchObject([{ cluster: "both", id: "f".repeat(64) }]);
  });

  test("is left unchanged at the end when it has replaced the run's cluster", async () => {
    const ket = await startKet({ cluster: "kind", clusterName: "swapped" });
    await machine.add(other("swapped"));
    await ket.stop();
    expect(await machine.containers()).toEqual([other("swapped")]);
  });

  test("is removed after a failed creation, whose error contains kind's output", async () => {
    await machine.behave({ create: { fails: "no space left" } });
    await expect(startKet({ cluster: "kind" })).rejects.toThrow(
      /kind could not create the cluster ket-\w+ of kindest\/node:\S+ and exited with code 1:\n\s+ERROR: .*no space left/,
    );
    expect(await machine.containers()).toEqual([]);
  });

  test("ends together with its forwarded ports and the process", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    onTestFinished(() => void server.close());
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    await machine.behave({ forwards: { "default service/web 80": port } });
    const program = fileURLToPath(new URL("../fixtures/ketforward.ts", import.meta.url));
    const command: [string, string] = [process.execPath, program];
    const { ended } = start([], { command, env: machine.env, longestMillis: 120_000 });
    expect(await ended).toMatchObject({ code: 0, stdout: "forwarded\n" });
    expect(await machine.containers()).toEqual([]);
  });

  test("is reported with the command that shows its nodes when it cannot be removed", async () => {
    const ket = await startKet({ cluster: "kind", clusterName: "stuck" });
    await machine.behave({ keeps: true });
    await expect(ket.stop()).rejects.toThrow(
      "the cluster stuck may still exist: removing its nodes failed. " +
        "Look: docker ps --all --filter label=io.x-k8s.kind.cluster=stuck --filter volume=/etc/denrei/ket/",
    );
  });
});

describe("after the process of a run was killed", () => {
  const program = fileURLToPath(new URL("../fixtures/ketkind.ts", import.meta.url));
  const run = () => start([], { command: [process.execPath, program], env: machine.env });

  test("removes its own cluster and no other", async () => {
    await machine.add(other("theirs"));
    const { process: killed, lines } = run();
    await lines.until((line) => line.startsWith("ready in "), 200_000);
    expect(await machine.containers()).toHaveLength(2);
    killed.kill("SIGKILL");
    await expect.poll(() => machine.containers(), polling).toEqual([other("theirs")]);
  });

  test("keeps a cluster of its name that another process has created by then", async () => {
    const { process: killed, lines } = run();
    const line = await lines.until((one) => one.startsWith("ready in "), 200_000);
    const name = line.replace("ready in ", "");
    killed.kill("SIGKILL");
    await machine.add(other(name));
    const looks = () => machine.calls("docker").filter(([command]) => command === "ps").length;
    await expect.poll(looks, polling).toBeGreaterThan(10);
    expect(await machine.containers()).toEqual([other(name)]);
  });

  test.each(["SIGKILL", "SIGINT"] as const)(
    "by %s, stops kind as well, and removes its nodes",
    async (signal) => {
      await machine.behave({ create: "hangs" });
      const { process: killed } = run();
      await expect.poll(() => machine.containers(), { timeout: 200_000 }).toHaveLength(1);
      killed.kill(signal);
      await expect.poll(() => machine.containers(), polling).toEqual([]);
    },
  );
});
