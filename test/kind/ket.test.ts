/** KET on clusters that kind creates in Docker: creates, uses, and removes them. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { obtainBinaries } from "../../deploy/local/index.ts";
import { Hikawa } from "../../functions/zundoko/kinds.ts";
import { wordsVariable } from "../../functions/zundoko/words.ts";
import { start } from "../cli/program.ts";
import { hikawa, isFinished } from "../harness/song.ts";
import { startKet } from "../harness/startket.ts";
import { type Ket, platformSecrets } from "../ket/index.ts";

const { kind } = await obtainBinaries(["kind"]);

const polling = { timeout: 120_000, interval: 1000 };
const cases = fileURLToPath(new URL("../fixtures/cases/zundoko", import.meta.url));
const clusters = async () => {
  const { stdout } = await promisify(execFile)(kind.path, ["get", "clusters"]);
  return stdout.split("\n");
};

describe("functions outside a cluster of kind", () => {
  test("pass a test case, and the cluster is removed", async () => {
    const ket = await startKet({
      cluster: "kind",
      clusterName: "denrei-ket-beside",
      functions: ["hikawa"],
      fixtures: cases,
      env: { [wordsVariable]: "Doko,Zun,Zun,Doko,Zun,Zun,Zun,Zun,Doko" },
    });
    onTestFinished(() => ket.stop());
    const again = startKet({ cluster: "kind", clusterName: "denrei-ket-beside" });
    await expect(again).rejects.toThrow("a cluster named denrei-ket-beside exists");
    await ket.apply("sample");
    await ket.stop();
    expect(await clusters()).not.toContain("denrei-ket-beside");
  });

  test("leave no cluster behind when their process is killed", async () => {
    const program = fileURLToPath(new URL("../fixtures/ketkind.ts", import.meta.url));
    const { process: killed, lines } = start([], { command: [process.execPath, program] });
    const line = await lines.until((one) => one.startsWith("ready in "), 280_000);
    const name = line.replace("ready in ", "");
    expect(await clusters()).toContain(name);
    killed.kill("SIGKILL");
    await expect.poll(clusters, polling).not.toContain(name);
  });
});

describe("functions that skaffold deploys", () => {
  let ket: Ket;
  beforeAll(async () => {
    ket = await startKet({
      cluster: "kind",
      functions: ["hikawa"],
      skaffold: {
        file: "deploy/skaffold.yaml",
        before: [
          "deploy/kubernetes/base/namespace.yaml",
          ...(await platformSecrets({ webhooks: { "github.app": "secret" } })),
        ],
      },
    });
  });
  afterAll(() => ket?.stop());

  test("reconcile in their pods", async () => {
    const { metadata, ...object } = hikawa("in-a-pod", 0);
    await ket.kubectl.apply({ ...object, metadata: { name: metadata.name } });
    // The song is random and may take minutes.
    await ket.waitFor({ kind: Hikawa, name: "in-a-pod" }, isFinished, 500_000);
  });

  test("receive webhooks through a forwarded port", async () => {
    const target = { namespace: "denrei", resource: "service/denrei-gateway", port: 80 };
    const gateway = await ket.kind?.forward(target);
    const answer = await fetch(`http://127.0.0.1:${gateway?.port}/github/app`, {
      method: "POST",
      body: "{}",
    });
    // Not signed.
    expect(answer.status).toBe(401);
    await gateway?.stop();
  });
});
