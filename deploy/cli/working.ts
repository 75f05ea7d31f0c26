/** `denrei working` */
import { askInFlight, keyText } from "denrei/bus";
import { aligned } from "denrei/kubernetes";
import { say } from "denrei/runtime";
import { age } from "./age.ts";
import { type BusSettings, withBus } from "./bus.ts";

/** Prints the in-flight requests of each worker, longest first. */
export async function working(settings: BusSettings, { json }: { json?: boolean }): Promise<void> {
  const { cluster } = settings;
  const answers = await withBus(settings, (bus) => askInFlight(bus, cluster));
  if (json) return say(JSON.stringify(answers, null, 2));
  if (answers.length === 0)
    return say(`No worker of the cluster "${cluster}" answers. Select another cluster with --cluster.`);
  const rows = answers.flatMap(({ replica, function: fn, work, more }) => [
    ...work.map(({ namespace, name, since, attempt, trace = "-" }) => [
      replica,
      fn,
      keyText({ namespace, name }),
      age(new Date(since).toISOString()),
      String(attempt),
      trace,
    ]),
    ...(more > 0 ? [[replica, fn, `and ${more} more`, "", "", ""]] : []),
  ]);
  if (rows.length > 0) say(aligned([["REPLICA", "FUNCTION", "OBJECT", "FOR", "FAILED", "TRACE"], ...rows]));
  const replicas = new Set(answers.map(({ replica }) => replica)).size;
  const inFlight = answers.reduce((sum, { work, more }) => sum + work.length + more, 0);
  say(
    `${rows.length > 0 ? "\n" : ""}${replicas} ${replicas === 1 ? "worker" : "workers"}, ${inFlight} in flight.`,
  );
}
