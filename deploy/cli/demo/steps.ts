/** Printing the steps of a demo: what was done, when, and by which replica. */
import { apiVersionOf, type Kind, type KubeObject, type Stored } from "denrei/kinds";
import { say } from "denrei/runtime";
import type { DemoEnvironment } from "./environment.ts";
import type { LogRecord, Records } from "./records.ts";
import { type Conditioned, settled } from "./settled.ts";

/** What the steps of a demo need. */
export interface Steps {
  readonly environment: DemoEnvironment;
  readonly namespace: string;
  /** Log records of the replicas. */
  readonly records: Records;
  readonly signal: AbortSignal;
}

/** Time for a log record to arrive after the action that it reports. Milliseconds. */
const recordMillis = 2000;

/** Prints a step. */
export type StepPrinter = (actor: string, text: string) => void;

/** Prints time, actor, and text in columns. */
export function stepPrinter({ replicas }: DemoEnvironment): StepPrinter {
  const start = performance.now();
  const width = Math.max(...replicas.map(({ name }) => name.length));
  return (actor, text) => {
    const seconds = ((performance.now() - start) / 1000).toFixed(1).padStart(4);
    say(`  ${seconds} s   ${actor.padEnd(width)}   ${text}`);
  };
}

/** Creates an object in the namespace. */
export function create<T extends KubeObject>(
  { environment, namespace, signal }: Steps,
  kind: Kind<T>,
  name: string,
  content: object,
): Promise<Stored<T>> {
  const object = {
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    metadata: { name, namespace },
    ...content,
  };
  return environment.client.create(kind, object as unknown as T, { fieldManager: "denrei-cli", signal });
}

/** Waits for an object in the namespace. Throws what {@link settled} throws. */
export const settledIn = <T extends Conditioned>(
  { environment, namespace, signal }: Steps,
  kind: Kind<T>,
  name: string,
  isSettled: (object: Stored<T>) => boolean,
): Promise<Stored<T>> => settled({ client: environment.client, namespace, signal, kind, name, isSettled });

/** The replica that logged a matching record; `?` if no replica of the demo did. */
export async function actorOf(
  { records, signal }: Steps,
  matches: (record: LogRecord) => boolean,
): Promise<string> {
  const timeout = AbortSignal.timeout(recordMillis);
  try {
    return (await records.first(matches, AbortSignal.any([signal, timeout]))).replica;
  } catch {
    signal.throwIfAborted();
    return "?";
  }
}
