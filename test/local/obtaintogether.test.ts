import { execFile, spawn, spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { cacheFolder } from "../../deploy/local/binaries/installed.ts";
import type { Progress } from "../../deploy/local/binaries/progress.ts";
import {
  archiveOf,
  cached,
  env,
  hasReleases,
  name,
  obtainNats,
  paths,
  pinned,
  publishNats,
  putExecutable,
  putGo,
  withEmptyMachine,
} from "./releases.ts";

withEmptyMachine();

describe("several processes", () => {
  const script = fileURLToPath(new URL("../../deploy/local/fixtures/obtain.ts", import.meta.url));

  const ofTests = fileURLToPath(new URL("../fixtures/obtainprograms.ts", import.meta.url));

  /** Starts another process that obtains the same program, and resolves with its steps. */
  function obtainElsewhere(onStep: (step: Progress) => void = () => undefined): Promise<Progress[]> {
    const child = spawn(process.execPath, [script], { env, stdio: ["ignore", "pipe", "inherit"] });
    onTestFinished(() => void child.kill("SIGKILL"));
    const steps: Progress[] = [];
    createInterface({ input: child.stdout }).on("line", (line) => {
      const step: Progress = JSON.parse(line);
      steps.push(step);
      onStep(step);
    });
    return new Promise((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (code) =>
        code === 0 ? resolve(steps) : reject(new Error(`it exited with ${code}`)),
      );
    });
  }

  test.runIf(hasReleases)(
    "get a program once, while the others wait and take it from the cache",
    async () => {
      const archive = await archiveOf(pinned());
      const everyoneWaits = Promise.withResolvers<void>();
      const asked = await publishNats(archive, {
        // The process with the lock gets the archive only after both others have waited.
        [paths().archive]: (_, response) => void everyoneWaits.promise.then(() => response.end(archive)),
      });
      let waiting = 0;
      const onStep = (step: Progress) => {
        if (step.phase === "waiting" && ++waiting === 2) everyoneWaits.resolve();
      };
      const all = await Promise.all([1, 2, 3].map(() => obtainElsewhere(onStep)));
      const origins = all.map((steps) => steps.at(-1)?.detail.split(":")[0]);
      expect(origins.sort()).toEqual(["cache", "cache", "download"]);
      expect(asked.filter((path) => path === paths().archive)).toHaveLength(1);
      expect(cached()).toEqual([name]);
    },
  );

  test("of tests show the progress once", async () => {
    putGo();
    const run = promisify(execFile);
    const outputs = await Promise.all(
      [1, 2, 3].map(() => run(process.execPath, [ofTests], { env, encoding: "utf8" })),
    );
    const said = outputs.map(({ stdout, stderr }) => stdout + stderr).filter((text) => text !== "");
    expect(said).toEqual([expect.stringMatching(/^ {2}nats-server +built/m)]);
    expect(cached()).toEqual([name]);
  });

  test("break the lock of a dead process and remove its scratch folder", async () => {
    putGo();
    const dead = spawnSync("true").pid;
    const folder = cacheFolder(name, env);
    mkdirSync(join(folder, "lock"), { recursive: true });
    writeFileSync(join(folder, "lock/owner.json"), JSON.stringify({ pid: dead, started: "1" }));
    putExecutable(join(folder, `scratch-${dead}-build`, name), "half a program");
    expect((await obtainNats()).binary.origin).toBe("build");
    expect(cached()).toEqual([name]);
  });

  test("break a lock whose owner's pid now belongs to another process", async () => {
    putGo();
    const lock = join(cacheFolder(name, env), "lock");
    mkdirSync(lock, { recursive: true });
    writeFileSync(join(lock, "owner.json"), JSON.stringify({ pid: process.pid, started: "1" }));
    expect((await obtainNats()).binary.origin).toBe("build");
  });
});
