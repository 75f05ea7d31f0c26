/** Usage errors of the demos that need simulators. */
import { describe, expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { runHere } from "./here.ts";

/** As `npm run demo -- <act>` has them. */
const [, ...flags] = /demo( .*)$/.exec(manifest.scripts.demo)?.[1]?.split(" ") ?? [];
const without = (flag: string): string[] => flags.toSpliced(flags.indexOf(flag), 2);

describe("a demo", () => {
  test.for([
    ["paas", "--kpack", "a program that plays kpack"],
    ["pipecd", "--pipecd", "a program that plays PipeCD"],
    ["dashboard", "--login", "a program that plays a login"],
  ] as const)("%s without %s says what to do", async ([act, flag, program]) => {
    const { code, stdout, stderr } = await runHere(["demo", act, ...without(flag)]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toBe(
      `denrei: expected ${flag} with the path of ${program}, found none. It comes with a checkout and its development dependencies: npm ci && npm run demo -- ${act}\n`,
    );
  });

  test.for([
    ["paas", "docs/paas.md"],
    ["pipecd", "docs/pipecd.md"],
    ["dashboard", "docs/dashboard.md"],
  ] as const)("%s refuses an existing cluster and names %s", async ([act, page]) => {
    const env = { KUBECONFIG: "/nowhere", NATS_URL: "nats://127.0.0.1:1" };
    const { code, stdout, stderr } = await runHere(["demo", act, ...flags], { env });
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(page);
  });
});
