/** `denrei status` */
import { functionStatus, kindStatuses } from "denrei/bus";
import { aligned } from "denrei/kubernetes";
import { say } from "denrei/runtime";
import { age } from "./age.ts";
import { type BusSettings, withBus } from "./bus.ts";
import { allFunctions } from "./named.ts";

/** Prints the state of queues and kinds. */
export async function status(settings: BusSettings, { json }: { json?: boolean }): Promise<void> {
  const { cluster } = settings;
  const functions = await allFunctions();
  const { queues, kinds } = await withBus(settings, async (bus) => ({
    queues: await Promise.all(functions.map((fn) => functionStatus(bus, fn, cluster))),
    kinds: await kindStatuses(bus, functions, cluster),
  }));
  if (json) {
    // Scripts get null for unknown values, not missing fields.
    const nullIfUnknown = (_name: string, value: unknown) => value ?? null;
    return say(JSON.stringify({ cluster, functions: queues, kinds }, nullIfUnknown, 2));
  }
  const cell = (value: number | string | undefined) => String(value ?? "-");
  say(
    aligned([
      ["FUNCTION", "EVENTS", "PENDING", "PARKED", "IN FLIGHT", "DELAYED", "RETRYING", "DEAD LETTERS"],
      ...queues.map((queue) => [
        queue.function,
        ...[queue.events, queue.pending, queue.parked, queue.inFlight, queue.delayed, queue.retrying].map(
          cell,
        ),
        cell(queue.deadLetters),
      ]),
    ]),
  );
  say("");
  say(
    aligned([
      ["KIND", "NAMESPACE", "OBJECTS", "BRIDGE", "STATE", "POSITION", "MOVED"],
      ...kinds.flatMap(({ kind, bridges }) => {
        if (bridges.length === 0) return [[kind, "-", "-", "-", "-", "-", "-"]];
        return bridges.map(({ namespace = "(all)", objects, holder, state, resourceVersion, time }) => [
          kind,
          namespace,
          ...[objects, holder, state, resourceVersion].map(cell),
          `${age(time)} ago`,
        ]);
      }),
    ]),
  );
  if (
    queues.every(({ pending }) => pending === undefined) &&
    kinds.every(({ bridges }) => bridges.length === 0)
  ) {
    say(
      `\nNo worker or bridge of the cluster "${cluster}" has used this bus. Select another cluster with --cluster.`,
    );
  }
}
