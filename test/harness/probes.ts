/** A bridge and two workers with functions that behave as their objects specify. */
import { expect, vi } from "vitest";
import { crdOf } from "../../bus/kube/crd.ts";
import type { Kind } from "../../bus/kube/kind.ts";
import type { Condition, Stored } from "../../bus/kube/object.ts";
import { type Bus, connectBus } from "../../bus/nats/connect.ts";
import { Probe } from "../fixtures/functions/probe.ts";
import { startTestEnvironment } from "./environment.ts";

export const polling = { timeout: 60_000, interval: 20 };
export const probeScope = { fn: "probe", cluster: "default" };
/** The object name of a probe. */
export const at = (name: string) => ({ namespace: "default", name });

export const condition = ({ status }: Stored<Probe>, type: string): Condition | undefined =>
  status?.conditions?.find((one) => one.type === type);
export const isReady = (probe: Stored<Probe>): boolean => condition(probe, "Ready")?.status === "True";
export const isStalled = (probe: Stored<Probe>): boolean => condition(probe, "Stalled")?.status === "True";

export type Probes = Awaited<ReturnType<typeof startProbes>>;

/**
 * Starts them on their own bus. `paths` are the modules of the functions, `kinds` their kinds. Where no worker dies, AckWait may be long:
 * a worker that is paused for a moment keeps its tickets.
 */
export async function startProbes(paths: readonly string[], kinds: readonly Kind[], ackWaitSeconds = 3) {
  const environment = await startTestEnvironment({ crds: kinds.map((kind) => crdOf(kind)) });
  const bus: Bus = await connectBus({ url: environment.platform.natsUrl, name: "test" });
  const env = { DENREI_ACK_WAIT_SECONDS: String(ackWaitSeconds) };
  const bridge = await environment.bridge("bridge-1", { args: paths, env });
  const start = (name: string) => environment.worker(name, paths, { env });
  const [first, second] = await Promise.all([start("worker-1"), start("worker-2")]);
  const workers = [first, second];

  /** Log records about a probe, of all workers since their first start. */
  const logged = (name: string, msg: string) =>
    workers
      .flatMap(({ log }) => log.records())
      .filter((record) => record.msg === msg && record.key === `default/${name}`)
      .sort((a, b) => String(a.time).localeCompare(String(b.time)));
  /** Starts of the function for a probe. */
  const runs = (name: string) => logged(name, "probing");
  return {
    environment,
    bus,
    bridge,
    first,
    second,
    workers,
    logged,
    runs,
    untilRuns: (name: string, count: number) =>
      vi.waitFor(() => expect(runs(name).length).toBeGreaterThanOrEqual(count), polling),
    create: (name: string, spec: Probe["spec"]) =>
      environment.client.create(
        Probe,
        { apiVersion: "test.denrei.dev/v1", kind: "Probe", metadata: at(name), spec },
        { fieldManager: "test" },
      ),
    change: (name: string, spec: Partial<Probe["spec"]>) =>
      environment.client.mergePatch(Probe, at(name), { spec }, { fieldManager: "test" }),
    async stop() {
      await bus.nc.close();
      await environment.stop();
    },
  };
}
