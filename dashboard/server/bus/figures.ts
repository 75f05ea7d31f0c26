/** Figures of queues and kinds, as in `denrei status`. */
import { type Bus, functionStatus, kindStatuses } from "denrei/bus";
import type { ReconcileFunction } from "denrei/runtime";
import type { BusFigures } from "../../api/bus.ts";

/** Cache lifetime: the load on the bus does not depend on the number of viewers. Milliseconds. */
const keptMillis = 1000;

/** Returns a function that reads the figures, cached for a second. */
export function figuresOf(
  bus: Bus,
  cluster: string,
  functions: readonly ReconcileFunction[],
): () => Promise<BusFigures> {
  let known: Promise<BusFigures> | undefined;

  async function read(): Promise<BusFigures> {
    const [statuses, kinds] = await Promise.all([
      Promise.all(functions.map((fn) => functionStatus(bus, fn, cluster))),
      kindStatuses(bus, functions, cluster),
    ]);
    const byName = new Map(functions.map((fn) => [fn.name, fn.for]));
    return {
      cluster,
      functions: statuses.map((status) => ({
        function: status.function,
        for: {
          group: byName.get(status.function)?.group ?? "",
          kind: byName.get(status.function)?.kind ?? "",
        },
        events: status.events ?? null,
        pending: status.pending ?? null,
        parked: status.parked ?? null,
        inFlight: status.inFlight ?? null,
        delayed: status.delayed ?? null,
        retrying: status.retrying ?? null,
        deadLetters: status.deadLetters ?? null,
      })),
      kinds: kinds.map(({ kind, bridges }) => ({
        kind,
        bridges: bridges.map(({ namespace = null, objects, holder, state, resourceVersion, time }) => ({
          ...{ namespace, objects, holder, state, resourceVersion, time },
        })),
      })),
    };
  }

  return () => {
    if (known === undefined) {
      known = read();
      known.then(
        () => setTimeout(forget, keptMillis).unref(),
        () => forget(),
      );
    }
    return known;
  };

  function forget(): void {
    known = undefined;
  }
}
