/** Prometheus parses the rules and passes their unit tests: deploy/monitoring/*.test.yaml. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { alerts, natsAlerts } from "../../deploy/generate/monitoring/alerts.ts";
import { programs } from "../harness/programs.ts";

const promtool = (await programs("promtool")).promtool.path;

const folder = fileURLToPath(new URL("../../deploy/monitoring/", import.meta.url));

const ruleTests = ["rules.test.yaml", "rules-of-a-day.test.yaml"];

const run = (args: readonly string[], cwd = folder): Promise<{ failed: boolean; text: string }> =>
  new Promise((resolve) => {
    execFile(promtool, args, { cwd }, (error, stdout, stderr) =>
      resolve({ failed: error !== null, text: `${stdout}${stderr}` }),
    );
  });

interface RuleTests {
  readonly tests: readonly {
    readonly alert_rule_test: readonly {
      readonly alertname: string;
      readonly exp_alerts: readonly object[];
    }[];
  }[];
}

test("the rules are valid", async () => {
  const { failed, text } = await run(["check", "rules", "--lint-fatal", "rules.yaml"]);
  expect({ failed, text }).toEqual({ failed: false, text: expect.stringContaining("SUCCESS") });
});

test("each alert fires exactly when it should", async () => {
  expect(await run(["test", "rules", ...ruleTests])).toMatchObject({ failed: false });
});

test("each alert has a test in which it fires and one in which it does not", () => {
  const files = ruleTests.map((name): RuleTests => parse(readFileSync(join(folder, name), "utf8")));
  const tried = files.flatMap(({ tests }) => tests).flatMap(({ alert_rule_test }) => alert_rule_test);
  const fires = tried.filter(({ exp_alerts }) => exp_alerts.length > 0).map(({ alertname }) => alertname);
  const quiet = tried.filter(({ exp_alerts }) => exp_alerts.length === 0).map(({ alertname }) => alertname);
  for (const { name } of [...alerts, ...natsAlerts]) {
    expect(fires, name).toContain(name);
    expect(quiet, name).toContain(name);
  }
});
