/** `denrei up` (npm start): it stays up until it is told to go, and then nothing is left. */
import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { kubeClient } from "../../bus/kube/client.ts";
import { loadKubeconfig, openConnection } from "../../bus/kube/connection.ts";
import { Hikawa } from "../../functions/zundoko/kinds.ts";
import { hikawa } from "../harness/song.ts";
import { place, run } from "./program.ts";
import { pidOf, printed, up } from "./up.ts";

/** 5 s are promised on a machine that does nothing else. */
const stopMillis = 10_000;

test("its guide works as it is printed, what dies is started again, and Ctrl-C stops everything", async () => {
  const here = place();
  const running = up(here, 2);
  await printed(running, "hikawa-sample-kiyoshi");
  const guide = running.lines.all.filter((line) => line.startsWith("    ")).map((line) => line.trim());
  const [exported = "", objects, status = "", again, kill = ""] = guide;
  expect(objects).toBe("kubectl get hikawas,zundokos,kiyoshis");
  expect(status).toBe("npx denrei status");
  expect(again).toBe("kubectl replace --force -f functions/zundoko/sample.yaml");
  const [, KUBECONFIG, NATS_URL] = /^export KUBECONFIG=(\S+) NATS_URL=(\S+)$/.exec(exported) ?? [];
  // The bridge writes down once a second how much there is.
  const counted = async () => (await run(["status"], { env: { KUBECONFIG, NATS_URL } })).stdout;
  await expect
    .poll(counted, { timeout: 30_000, interval: 100 })
    .toMatch(/^Kiyoshi\S+ +\(all\) +1 +bridge-1 +watching/m);

  expect(kill).toBe(`kill -9 ${/\d+$/.exec(kill)?.[0]}`);
  execFileSync("sh", ["-c", kill]);
  process.kill(pidOf(here, "denrei.js bridge"), "SIGKILL");
  process.kill(pidOf(here, "/nats-server --config"), "SIGKILL");
  for (const name of ["worker-1", "bridge-1", "nats-server"]) {
    await printed(running, `${name} was ended by SIGKILL; starting it again.`);
    await printed(running, new RegExp(`^${name} was started again \\(pid \\d+\\)`));
  }
  const connection = await openConnection(loadKubeconfig({ path: KUBECONFIG }));
  await kubeClient(connection).create(Hikawa, hikawa("another", 0), { fieldManager: "test" });
  await connection.close();
  await printed(running, "another-kiyoshi");

  const asked = performance.now();
  running.process.kill("SIGINT");
  const ended = await running.ended;
  expect(performance.now() - asked).toBeLessThan(stopMillis);
  expect(ended).toMatchObject({ code: 130, signal: null, stderr: "" });
  expect(here.processes()).toEqual([]);
  expect(here.runs()).toEqual([]);
});

test.for(["Starting a local platform:", "  etcd  ", "1 worker, 1 bridge"])(
  "Ctrl-C during the start, at %o, leaves nothing",
  async (moment) => {
    const here = place();
    const running = up(here);
    await printed(running, moment);
    running.process.kill("SIGINT");
    const { code, signal, stdout, stderr } = await running.ended;
    expect({ code, signal, stderr }).toEqual({ code: 130, signal: null, stderr: "" });
    expect(stdout).toMatch(/\nStopping everything\.\n$/);
    expect(here.processes()).toEqual([]);
    expect(here.runs()).toEqual([]);
  },
);
