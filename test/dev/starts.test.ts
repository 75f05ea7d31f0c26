/** `denrei dev` while it starts. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { start, testFolder } from "../cli/program.ts";
import { printed } from "../cli/up.ts";
import { platformPrograms, programs } from "../harness/programs.ts";
import { project } from "./project.ts";
import { source } from "./stonecode.ts";

const { kubectl } = await programs("kubectl", ...platformPrograms);

/** Enough for the start of a platform. */
const pollOptions = { timeout: 180_000, interval: 50 };

test("all functions start without a gateway, and kubectl lists the kinds of the printed line", async () => {
  const here = testFolder();
  const running = start(["dev"], { env: here.env });
  const [, kubeconfig = ""] = /KUBECONFIG=(\S+)/.exec(await printed(running, "export KUBECONFIG=")) ?? [];
  const line = await printed(running, "    kubectl get ");
  expect(line).toContain(",applications.modoki.tsuzu.dev,");
  expect(line).toContain(",applications.pipecd.kanatakita.com,");
  const args = line.trim().split(" ").slice(1);
  const { stderr } = await promisify(execFile)(kubectl.path, ["--kubeconfig", kubeconfig, ...args]);
  expect(stderr).toBe("No resources found\n");
});

test("a stop signal ends it while code starts", async () => {
  const here = testFolder();
  const mine = project(here);
  const never = "await new Promise(() => setInterval(() => undefined, 1000));\n";
  mine.save("stones/pebble.ts", `${source()}${never}`);
  const running = mine.start(["dev"]);
  const workers = () => here.processes().filter((line) => line.includes("/replica.ts worker"));
  await expect.poll(workers, pollOptions).toHaveLength(1);
  running.process.kill("SIGINT");
  expect((await running.ended).code).toBe(130);
  expect(here.processes()).toEqual([]);
});
