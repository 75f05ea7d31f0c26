/** The launcher that npm links: an older Node starts the Node of the project, and forwards signals and exit codes. */
import { execFileSync } from "node:child_process";
import { symlinkSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { type Environment, run, start, type TestFolder, testFolder } from "./program.ts";

const launcher = fileURLToPath(new URL("../../bus/command/denrei.js", import.meta.url));

/** A Node on this machine that cannot run TypeScript. */
const olderNode = (process.env.PATH ?? "")
  .split(delimiter)
  .map((folder) => join(folder, "node"))
  .find((path) => {
    try {
      const version = execFileSync(path, ["--version"], { encoding: "utf8" });
      return Number(/^v(\d+)/.exec(version)?.[1]) < 24;
    } catch {
      return false;
    }
  });

test("the Node of the project runs the program directly", async () => {
  const { code, stdout } = await run(["--version"], { command: [process.execPath, launcher] });
  expect({ code, stdout }).toEqual({ code: 0, stdout: `${manifest.version}\n` });
});

describe.skipIf(olderNode === undefined)(`an older Node (${olderNode})`, () => {
  const command = [olderNode as string, launcher] as const;

  test("runs the program through a link of npm", async () => {
    const { folder } = testFolder();
    const link = join(folder, "denrei");
    symlinkSync(launcher, link);
    const env = { PATH: `${dirname(olderNode as string)}${delimiter}${process.env.PATH}` };
    const { code, stdout } = await run(["deadletters", "--help"], { command: [link], env });
    expect(code).toBe(0);
    expect(stdout).toContain("Usage: denrei deadletters");
  });

  test("passes the exit code on", async () => {
    const { code, stderr } = await run(["nothing"], { command });
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("unknown command") });
  });

  /** A worker that waits for an API server which never answers, and the PID of its real process. */
  async function waiting(here: TestFolder) {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const connected = new Promise((resolve) => server.once("connection", resolve));
    const path = join(here.folder, "kubeconfig");
    const { port } = server.address() as AddressInfo;
    writeFileSync(
      path,
      JSON.stringify({
        clusters: [{ name: "hangs", cluster: { server: `https://127.0.0.1:${port}` } }],
        users: [{ name: "nobody", user: {} }],
        contexts: [{ name: "hangs", context: { cluster: "hangs", user: "nobody" } }],
        "current-context": "hangs",
      }),
    );
    const env: Environment = { ...here.env, KUBECONFIG: path };
    const worker = start(["worker", "hikawa"], { command, env });
    await connected;
    const pid = Number(
      here
        .processes()
        .find((line) => line.includes("denrei.js worker"))
        ?.split(" ")[0],
    );
    return { worker, pid };
  }

  test.for([
    ["SIGTERM", 0],
    ["SIGINT", 130],
  ] as const)("forwards %s and exits with the code of the program, %i", async ([signal, code]) => {
    const here = testFolder();
    const { worker } = await waiting(here);
    worker.process.kill(signal);
    expect(await worker.ended).toMatchObject({ code, signal: null });
    expect(worker.lines.records().at(-1)).toMatchObject({ msg: "stopped while starting", signal });
    expect(here.processes()).toEqual([]);
  });

  test("ends with the signal that ended the program", async () => {
    const { worker, pid } = await waiting(testFolder());
    process.kill(pid, "SIGKILL");
    expect(await worker.ended).toMatchObject({ code: null, signal: "SIGKILL" });
  });

  test("stops the program when it is killed", async () => {
    const here = testFolder();
    const { worker } = await waiting(here);
    worker.process.kill("SIGKILL");
    // The output closes only after the program has exited.
    expect(await worker.ended).toMatchObject({ signal: "SIGKILL" });
    expect(worker.lines.records().at(-1)).toMatchObject({ msg: "stopped while starting", signal: "SIGTERM" });
    expect(here.processes()).toEqual([]);
  });
});
