/** Writes and reads the objects of running functions, and replays their events. */
import type { MsgHdrs } from "@nats-io/transport-node";
import type { ObjectName } from "../../bus/kube/client.ts";
import { apiVersionOf, type Kind } from "../../bus/kube/kind.ts";
import type { Condition, KubeObject, Stored } from "../../bus/kube/object.ts";
import { type Bus, connectBus } from "../../bus/nats/connect.ts";
import { parseObjectSubject, streams } from "../../bus/subjects.ts";
import { kindsOf, type ReconcileFunction } from "../../bus/worker/function.ts";
import { poll } from "../../deploy/local/run/poll.ts";
import { Event, type EventObject } from "../ket/event.ts";
import type { Replica, TestEnvironment } from "./environment.ts";
import { metricSum } from "./metrics.ts";
import { untilQuiet } from "./quiet.ts";

const manager = { fieldManager: "test" };

/** Matches objects whose condition has the status, and the reason if given. */
export const has =
  (type: string, status: Condition["status"], reason?: string) =>
  (object: KubeObject): boolean => {
    const found = conditionOf(object, type);
    return found?.status === status && (reason === undefined || found.reason === reason);
  };

/** A condition of an object. */
export const conditionOf = (object: KubeObject | undefined, type = "Ready"): Condition | undefined =>
  (object as KubeObject<unknown, { conditions?: Condition[] }> | undefined)?.status?.conditions?.find(
    (condition) => condition.type === type,
  );

/** The fields of an object other than its kind. */
export type NewObject = Pick<KubeObject, "metadata"> & Readonly<Record<string, unknown>>;

/** A stored event of an object. */
export interface Change {
  readonly subject: string;
  readonly data: Uint8Array;
  readonly headers: MsgHdrs;
}

/** Options of the helpers. */
export interface TestObjectsOptions {
  /** The default namespace; `default` unless given. */
  readonly namespace?: string;
  /** The only namespaces that bridges watch; all unless given. */
  readonly watched?: readonly string[];
}

/** Helpers that write and read objects and observe their functions. */
export interface TestObjects {
  /** Connected as the administrator. */
  readonly bus: Bus;
  create<T extends KubeObject>(kind: Kind<T>, object: NewObject): Promise<Stored<T>>;
  patch<T extends KubeObject>(kind: Kind<T>, name: string | ObjectName, patch: object): Promise<Stored<T>>;
  /** Changes an annotation, which triggers a reconcile. */
  touch(kind: Kind, name: string | ObjectName): Promise<void>;
  /** Reasons and notes of the Events about an object with this name. */
  events(
    name: string,
    within?: string,
  ): Promise<Pick<EventObject, "type" | "reason" | "note" | "regarding">[]>;
  /** Resolves when nothing is left to do, except for requests that are not due yet. */
  untilQuiet(): Promise<void>;
  /** The newest event of each object of the functions' kinds, or of some subjects. */
  changes(subjects?: string): Promise<readonly Change[]>;
  /** Publishes events again. */
  replay(changes: readonly Change[]): Promise<void>;
  /** Writes of all workers since they started. */
  writes(): Promise<number>;
  /** Closes the connection to the bus. */
  close(): Promise<void>;
}

/** Opens the helpers for an environment whose workers run these functions. */
export async function openTestObjects(
  {
    client,
    platform,
  }: Pick<TestEnvironment, "client"> & { readonly platform: Pick<TestEnvironment["platform"], "natsUrl"> },
  functions: readonly ReconcileFunction[],
  workers: readonly Replica[],
  { namespace = "default", watched }: TestObjectsOptions = {},
): Promise<TestObjects> {
  const bus = await connectBus({ url: platform.natsUrl, name: "test" });
  const at = (name: string | ObjectName): ObjectName =>
    typeof name === "string" ? { name, namespace } : name;
  const patch: TestObjects["patch"] = (kind, name, changes) =>
    client.mergePatch(kind, at(name), changes, manager);
  const kinds = functions.flatMap(kindsOf);
  const isTheirs = ({ group, kind }: { readonly group: string; readonly kind: string }): boolean =>
    kinds.some((one) => one.group === group && one.kind === kind);
  return {
    bus,
    patch,
    create: <T extends KubeObject>(kind: Kind<T>, object: NewObject) =>
      client.create(
        kind,
        { apiVersion: apiVersionOf(kind), kind: kind.kind, ...object } as unknown as T,
        manager,
      ),
    async touch(kind, name) {
      await patch(kind, name, { metadata: { annotations: { touched: String(performance.now()) } } });
    },
    async events(name, within = namespace) {
      const { items } = await client.list(Event, within);
      return items.filter(({ regarding }) => regarding.name === name);
    },
    untilQuiet: () => untilQuiet({ bus, client, functions, watched }),
    async changes(subjects = "objects.>") {
      const changes: Change[] = [];
      const last = await bus.jsm.direct.getLastMessagesFor(streams.objects, { multi_last: [subjects] });
      for await (const { subject, data, header: headers } of last) {
        if (!isTheirs(parseObjectSubject(subject))) continue;
        // Stored with the event, but set by the server.
        for (const name of headers.keys()) if (name.startsWith("Nats-")) headers.delete(name);
        changes.push({ subject, data, headers });
      }
      return changes;
    },
    async replay(changes) {
      await Promise.all(
        changes.map(({ subject, data, headers }) => bus.js.publish(subject, data, { headers })),
      );
    },
    async writes() {
      const of = (metric: string) =>
        metricSum(workers, new RegExp(`^${metric}\\{.*method="(POST|PATCH|PUT|DELETE)"`));
      const allAnswered = async () => {
        const count = await of("rest_client_requests_in_flight");
        if (count !== 0) throw new Error(`${count} requests still unanswered`);
      };
      // Workers write Events in the background.
      await poll("all writes to be answered", allAnswered, { timeoutMillis: 60_000 });
      return of("rest_client_requests_total");
    },
    close: () => bus.nc.close(),
  };
}
