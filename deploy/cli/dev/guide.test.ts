import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { guide, inspectorPort } from "./guide.ts";

const environment = { kubeconfigPath: "/there", natsUrl: "nats://there" };
const noExtras = { inspector: undefined, receiver: undefined, github: undefined, dashboard: undefined };

function debuggerLine(port: number): string {
  const inspector = { port, forwardTo: () => undefined, close: () => undefined };
  const lines = guide(
    environment,
    { functions: ["a"], resources: [] },
    { ...noExtras, inspector },
    "/here",
  ).split("\n");
  return lines.find((line) => line.startsWith("A debugger")) ?? "";
}

test("adds the group to plurals that two groups share", () => {
  const resources = [
    { plural: "hikawas", group: "zundoko" },
    { plural: "applications", group: "paas" },
    { plural: "applications", group: "pipecd" },
  ];
  expect(guide(environment, { functions: ["a"], resources }, noExtras, "/here")).toContain(
    "kubectl get hikawas,applications.paas,applications.pipecd -A",
  );
});

test("names the launch configuration, and the port to set if it is not the default", () => {
  const launch = readFileSync(new URL("../../../.vscode/launch.json", import.meta.url), "utf8");
  const { configurations } = JSON.parse(launch);
  expect(configurations).toContainEqual(
    expect.objectContaining({ name: "Attach to npm run dev", port: inspectorPort }),
  );
  expect(debuggerLine(inspectorPort)).toBe(
    `A debugger can attach to 127.0.0.1:${inspectorPort}: in VS Code with "Attach to npm run dev", in Chrome at chrome://inspect.`,
  );
  expect(debuggerLine(9230)).toBe(
    'A debugger can attach to 127.0.0.1:9230: in VS Code with "Attach to npm run dev" once .vscode/launch.json has "port": 9230, ' +
      'in Chrome at chrome://inspect with 127.0.0.1:9230 under "Configure".',
  );
});
