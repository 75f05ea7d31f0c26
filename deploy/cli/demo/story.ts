/** Telling a demo step by step: what was done, when, and by which replica. */
import { apiVersionOf, type Kind } from "../../../bus/kube/kind.ts";
import type { KubeObject, Stored } from "../../../bus/kube/object.ts";
import { say } from "../output.ts";
import type { DemoEnvironment } from "./environment.ts";
import type { LogRecord, Records } from "./records.ts";
import { type Conditioned, settled } from "./settled.ts";

/** What the steps are made with. */
export interface Steps {
  readonly environment: DemoEnvironment;
  /** Its Secrets are looked at. */
  readonly namespace: string;
  /** Those of the replicas. */
  readonly records: Records;
  readonly signal: AbortSignal;
}

/** How long a record may be on its way after what it tells of. Milliseconds. */
const recordMillis = 2000;

/** Prints what was done, with when and by whom in columns. */
export function stepPrinter({ replicas }: DemoEnvironment): (by: string, what: string) => void {
  const begun = performance.now();
  const width = Math.max(...replicas.map(({ name }) => name.length));
  return (by, what) => {
    const seconds = ((performance.now() - begun) / 1000).toFixed(1).padStart(4);
    say(`  ${seconds} s   ${by.padEnd(width)}   ${what}`);
  };
}

/** Creates an object in the namespace. */
export function create<T extends KubeObject>(
  { environment: stage, namespace, signal }: Steps,
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
  return stage.client.create(kind, object as unknown as T, { fieldManager: "denrei-cli", signal });
}

/** An object of the namespace, once it is as it should be. Throws an `AbsentError` when it does not become so. */
export const settledIn = <T extends Conditioned>(
  { environment: stage, namespace, signal }: Steps,
  kind: Kind<T>,
  name: string,
  isSettled: (object: Stored<T>) => boolean,
): Promise<Stored<T>> => settled({ client: stage.client, namespace, signal, kind, name, isSettled });

/** The replica that has logged what fits; `?` when it is none of the demo's. */
export async function actorOf(
  { records, signal }: Steps,
  fits: (record: LogRecord) => boolean,
): Promise<string> {
  const late = AbortSignal.timeout(recordMillis);
  try {
    return (await records.first(fits, AbortSignal.any([signal, late]))).replica;
  } catch {
    signal.throwIfAborted();
    return "?";
  }
}
