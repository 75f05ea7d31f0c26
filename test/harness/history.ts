/** Records the messages of OBJECTS. */
import type { JsMsg } from "@nats-io/jetstream";
import { attribute } from "../../bus/events/binding.ts";
import { versionOf } from "../../bus/events/kubernetes.ts";
import { compareVersions, type Stored } from "../../bus/kube/object.ts";
import type { Bus } from "../../bus/nats/connect.ts";
import { type GroupKind, type ObjectAddress, parseObjectSubject, streams } from "../../bus/subjects.ts";

/** One message of OBJECTS. */
export interface ObjectMessage {
  readonly subject: string;
  /** The stream sequence. */
  readonly sequence: number;
  readonly at: ObjectAddress & { readonly cluster: string };
  /** `added`, `modified` or `deleted`. */
  readonly change: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly object: Stored;
  /** Headers and payload as received. */
  readonly raw: string;
}

/** All messages since the stream began. */
export interface History {
  readonly all: readonly ObjectMessage[];
  /** The messages of a kind, or of one of its objects. */
  of(kind: GroupKind, name?: string): ObjectMessage[];
  /** Resolves when the condition holds; rejects with the last messages when the deadline passes first. */
  until(condition: () => boolean, deadlineMillis?: number): Promise<void>;
  /** Messages whose version is not above that of the previous message on their subject. */
  disorder(among?: readonly ObjectMessage[]): string[];
}

/** Subscribes to the whole stream in order. Ends with the connection. */
export async function openHistory({ nc, js }: Bus): Promise<History> {
  const all: ObjectMessage[] = [];
  const checks = new Set<() => void>();
  const consumer = await js.consumers.get(streams.objects);
  const messages = await consumer.consume();
  void (async () => {
    for await (const message of messages) {
      const stored = parseMessage(message);
      if (stored === undefined) continue;
      all.push(stored);
      for (const check of checks) check();
    }
  })().catch((error: unknown) => {
    // The client library may acknowledge once more after the connection is closed.
    if (!nc.isClosed()) throw error;
  });
  const print = ({ subject, change, resourceVersion }: ObjectMessage) =>
    `${change} ${subject} at ${resourceVersion}`;

  return {
    all,
    of: (kind, name) =>
      all.filter(
        ({ at }) =>
          at.kind === kind.kind && at.group === kind.group && (name === undefined || at.name === name),
      ),
    until: (condition, deadlineMillis = 60_000) =>
      new Promise((resolve, reject) => {
        const end = () => {
          clearTimeout(timer);
          checks.delete(check);
        };
        const check = () => {
          if (!condition()) return;
          end();
          resolve();
        };
        const timer = setTimeout(() => {
          end();
          const last = all.slice(-10).map(print).join("\n");
          reject(
            new Error(
              `condition not met within ${deadlineMillis} ms: ${condition}; the last of ${all.length}:\n${last}`,
            ),
          );
        }, deadlineMillis);
        checks.add(check);
        check();
      }),
    disorder: (among = all) =>
      [...Map.groupBy(among, ({ subject }) => subject).values()].flatMap((changes) =>
        changes.flatMap((change, i) => {
          const before = changes[i - 1];
          return before && compareVersions(change.resourceVersion, before.resourceVersion) <= 0
            ? [`${print(change)} after ${print(before)}`]
            : [];
        }),
      ),
  };
}

/** Parses a message; undefined where a test has written garbage. */
function parseMessage(message: JsMsg): ObjectMessage | undefined {
  try {
    const id = versionOf(attribute(message.headers, "id")) ?? { uid: "", resourceVersion: "0" };
    return {
      ...id,
      subject: message.subject,
      sequence: message.seq,
      at: parseObjectSubject(message.subject),
      change: attribute(message.headers, "type").split(".").at(-1) ?? "",
      object: message.json<Stored>(),
      raw: `${String(message.headers)}\n${message.string()}`,
    };
  } catch {
    return undefined;
  }
}
