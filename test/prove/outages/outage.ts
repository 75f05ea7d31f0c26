/** The setup and the checks that all outages share. */
import { tmpdir } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { crdOf } from "../../../bus/kube/crd.ts";
import { type BusAddress, connectBus } from "../../../bus/nats/connect.ts";
import { objectStore } from "../../../bus/objects/store.ts";
import { streams } from "../../../bus/subjects.ts";
import type { NatsStorage } from "../../../deploy/local/index.ts";
import { Probe } from "../../fixtures/functions/probe.ts";
import { differences } from "../../harness/agreement.ts";
import {
  type OwnTestEnvironment,
  type Replica,
  startOwnTestEnvironment,
  type TestEnvironment,
} from "../../harness/environment.ts";
import { bounded, type Check, type Outcome, type Trial } from "../scenario.ts";

/** Path of the function that the workers run: it copies `spec.value` into the status. */
export const probePath = fileURLToPath(new URL("../../fixtures/functions/probe.ts", import.meta.url));

/** Limit of every wait, also on a busy machine. Milliseconds. */
export const deadlineMillis = 240_000;

/** An environment with the kind of {@link probePath}, stopped at the end of the trial. */
export async function startProbeEnvironment(
  trial: Trial,
  storage: NatsStorage = {},
): Promise<OwnTestEnvironment> {
  const environment = await startOwnTestEnvironment({ crds: [crdOf(Probe)], storage });
  trial.defer(() => environment.stop());
  return environment;
}

/** Creates or changes a probe; `bulk` bytes make it large. */
export const put = (environment: TestEnvironment, name: string, value: number, bulk = 0) =>
  environment.client.apply(
    Probe,
    {
      apiVersion: "test.denrei.dev/v1",
      kind: "Probe",
      metadata: { name, namespace: "default", annotations: { bulk: "x".repeat(bulk) } },
      spec: { mode: "ok", value },
    },
    { fieldManager: "trial", force: "take-ownership" },
  );

/** Waits until a replica's `/readyz` satisfies the condition, and returns the response; rejects with the last one. */
export async function untilReadiness(
  replica: Replica,
  condition: (answer: { readonly status: number; readonly text: string }) => boolean,
): Promise<{ readonly status: number; readonly text: string }> {
  let last: unknown;
  for (const until = performance.now() + deadlineMillis; performance.now() < until; await sleep(50)) {
    const answer = await replica.probe("/readyz");
    if (condition(answer)) return answer;
    last = answer;
  }
  throw new Error(`${replica.name}: expected ${condition}, found ${JSON.stringify(last)}`);
}

/**
 * Checks the end state of every outage: the API server has all desired objects, the bus has the same state, each is
 * reconciled, and none is dead-lettered.
 */
export async function settled(
  environment: TestEnvironment,
  what: string,
  desired: ReadonlyMap<string, number>,
  address: Omit<BusAddress, "name"> = { url: environment.platform.natsUrl },
): Promise<readonly Check[]> {
  const bus = await connectBus({ ...address, name: "trial" });
  try {
    const store = objectStore(bus, "default");
    const wrong = async (): Promise<string[]> => {
      const objects = new Map(
        (await environment.list(Probe)).map((object) => [object.metadata.name, object]),
      );
      const names = new Set([...desired.keys(), ...objects.keys()]);
      const unlike = [...names].flatMap((name) => {
        const { spec, status } = objects.get(name) ?? {};
        const is = `spec ${spec?.value}, reconciled ${status?.value}`;
        return spec?.value === desired.get(name) && status?.value === desired.get(name)
          ? []
          : [`${name}: expected ${desired.get(name)}, found ${is}`];
      });
      return [...unlike, ...(await differences(environment.client, store, Probe))];
    };
    let found = ["nothing was compared"];
    for (const until = performance.now() + deadlineMillis; performance.now() < until; await sleep(200)) {
      found = await wrong().catch((error: unknown) => [String(error)]);
      if (found.length === 0) break;
    }
    const stored = await bus.jsm.streams.info(streams.deadLetters, { subjects_filter: "deadletters.>" });
    const deadLettered = Object.keys(stored.state.subjects ?? {});
    return [
      bounded(`${what}: lost or stale objects`, found.length, "=", 0, "", {
        history: found,
      }),
      bounded(`${what}: dead letters`, deadLettered.length, "=", 0, "", { history: deadLettered }),
    ];
  } finally {
    await bus.nc.close();
  }
}

/** A check that a text contains the words. If not, `found` is the text, without the path of the temporary folder. */
export function mentions(what: string, words: string, text: string): Check {
  const holds = text.includes(words);
  const found = text.replaceAll(tmpdir(), "$TMPDIR");
  return {
    what,
    limit: `"${words}"`,
    found: holds ? "yes" : found.length > 300 ? `${found.slice(0, 300)}…` : found,
    holds,
  };
}

/** The error records in a replica's log. */
export const errorsOf = (replica: Replica): readonly Record<string, unknown>[] =>
  replica.log.records().filter(({ level }) => level === "error");

/** Merges the outcomes. */
export const mergeOutcomes = (outcomes: readonly Outcome[]): Outcome => ({
  injected: outcomes.flatMap(({ injected }) => injected),
  checks: outcomes.flatMap(({ checks }) => checks),
  figures: outcomes.flatMap(({ figures = [] }) => figures),
});
