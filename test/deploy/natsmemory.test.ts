/** A NATS server stays below its container's memory limit, whatever the limit is. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type LocalNats, startLocalNats } from "../../deploy/local/index.ts";
import { withFreePorts } from "../../deploy/local/parts/ports.ts";
import { programs } from "../harness/programs.ts";
import { type Chart, openChart } from "./chart.ts";
import { find, type Manifest, type Workload } from "./manifests.ts";
import { baseObjects, overlay } from "./overlays.ts";

const nats = (await programs("nats-server"))["nats-server"].path;

let chart: Chart;
let local: LocalNats;
beforeAll(async () => {
  [chart, local] = await Promise.all([openChart(), startLocalNats()]);
  // Without kubectl, kustomize may have to be built first.
}, 900_000);
afterAll(() => Promise.all([chart?.remove(), local?.stop()]));

const units: Readonly<Record<string, number>> = { Mi: 2 ** 20, Gi: 2 ** 30, M: 1e6, G: 1e9 };
function bytesOf(quantity: string): number {
  const [, count, unit = ""] = /^(\d+)(\w+)$/.exec(quantity) ?? [];
  return Number(count) * (units[unit] ?? Number.NaN);
}

/** The limit of the server's container in bytes, and GOMEMLIMIT as the kubelet derives it. */
function memoryIn(objects: readonly Manifest[]) {
  const { containers } = find<Workload>(objects, "StatefulSet", "nats").spec.template.spec;
  const { env = [], resources } = containers.find(({ name }) => name === "nats") ?? {};
  const limit = bytesOf(resources?.limits?.memory ?? "");
  const known = new Map<string, string>();
  for (const { name, value, valueFrom } of env) {
    const { resource, divisor = "" } = valueFrom?.resourceFieldRef ?? {};
    if (resource === "limits.memory") known.set(name, String(Math.ceil(limit / bytesOf(divisor))));
    else
      known.set(
        name,
        (value ?? "").replaceAll(/\$\((\w+)\)/g, (text, of) => known.get(of) ?? text),
      );
  }
  return { limit, variable: known.get("GOMEMLIMIT") ?? "" };
}

/** The memory limit that a server reports. */
const keptTo = (name: string, variable: string): Promise<number> =>
  withFreePorts(2, async ([port, monitorPort]) => {
    const varz = async () => {
      const answer = await fetch(`http://127.0.0.1:${monitorPort}/varz`);
      return (await answer.json()) as { gomemlimit: number };
    };
    const server = await local.spawn({
      name,
      command: nats,
      args: ["--addr", "127.0.0.1", "--port", String(port), "--http_port", String(monitorPort)],
      env: { GOMEMLIMIT: variable },
      ready: varz,
    });
    const { gomemlimit } = await varz();
    await server.stop();
    return gomemlimit;
  });

const limited = (memory: string) => () => chart.template({ nats: { resources: { limits: { memory } } } });
const renderings: readonly (readonly [string, () => Promise<Manifest[]>])[] = [
  ["the base", baseObjects],
  ["three servers", () => overlay("production")],
  ["a chart with more", limited("4Gi")],
  ["a chart with less", limited("300M")],
];

test.for(renderings)(
  "the server of %s collects garbage before it reaches the limit",
  async ([name, objects]) => {
    const { limit, variable } = memoryIn(await objects());
    const kept = await keptTo(name.replaceAll(" ", "-"), variable);
    expect(kept).toBe(Number(variable));
    // Three percent of the smallest sensible limit are 8 MB. Go recommends five to ten.
    expect(kept / limit).toBeLessThan(0.97);
    expect(kept / limit).toBeGreaterThan(0.9);
  },
);
