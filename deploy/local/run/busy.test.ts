import { existsSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { openRun } from "./run.ts";

test.runIf(existsSync("/proc/self/schedstat"))(
  "a child has more time to start while it is busy",
  async () => {
    const run = await openRun();
    onTestFinished(() => run.close());
    const begun = performance.now();
    const child = run.child({
      ...{ name: "busy", command: "sh", args: ["-c", "while :; do :; done"] },
      readyMillis: 100,
      async ready() {
        if (performance.now() - begun < 300) throw new Error("not yet");
      },
    });
    await expect(child.start()).resolves.toBeUndefined();
    await child.stop("SIGKILL");
  },
);
