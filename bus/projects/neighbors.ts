/** The projects that share a bus, as the bridge of one of them sees them. */
import { setTimeout as sleep } from "node:timers/promises";
import type { KV } from "@nats-io/kv";
import type { Kind } from "../kube/kind.ts";
import type { Bus } from "../nats/connect.ts";
import { lastValuesOf } from "../nats/lastvalues.ts";
import { bridgeStream } from "../subjects.ts";
import {
  type ProjectContent,
  type ProjectRecord,
  parseRecord,
  recordKey,
  recordOf,
  recordSubjects,
} from "./record.ts";
import { type SharedKind, sharedKind } from "./sharedkind.ts";

/** Reads the records of all projects, in one cluster or in all of them. */
export async function readRecords(bus: Pick<Bus, "inbox">, cluster?: string): Promise<ProjectRecord[]> {
  const values = await lastValuesOf(bus, bridgeStream)(recordSubjects(cluster));
  return values.flatMap((value) => parseRecord(value.string()) ?? []);
}

/** Options of {@link Neighbors}. */
export interface NeighborsOptions {
  readonly bus: Pick<Bus, "inbox">;
  readonly kv: KV;
  readonly cluster: string;
  /** Undefined: this bridge knows no other projects. */
  readonly project: string | undefined;
  readonly annotations: ReadonlySet<string>;
}

/** Keeps the record of this project, and follows those of the others. */
export class Neighbors {
  readonly #options: NeighborsOptions;
  #own: ProjectRecord | undefined;
  #others: readonly ProjectRecord[] = [];

  constructor(options: NeighborsOptions) {
    this.#options = options;
  }

  /** Writes what this project needs from now on, and reads what the others need. */
  async announce(content: Omit<ProjectContent, "annotations">): Promise<void> {
    const { project, annotations } = this.#options;
    if (project === undefined) return;
    this.#own = recordOf(project, { ...content, annotations });
    await this.#put(this.#own);
    await this.refresh();
  }

  /** Reads the records again. Writes that of this project if it was removed. */
  async refresh(): Promise<void> {
    const { bus, cluster, project } = this.#options;
    if (project === undefined) return;
    const records = await readRecords(bus, cluster);
    this.#others = records.filter((record) => record.project !== project);
    // Another version of this project may have written other needs, and stays.
    if (this.#own && this.#others.length === records.length) await this.#put(this.#own);
  }

  /** What bridges publish of a kind. */
  shared(kind: Kind): SharedKind {
    return sharedKind(kind, this.#options.annotations, this.#others);
  }

  /** Reads the records every few seconds until `signal` aborts. */
  async follow({ signal, onRead, onError, everyMillis = 5000 }: FollowOptions): Promise<void> {
    while (!signal.aborted) {
      await sleep(everyMillis * (0.8 + 0.4 * Math.random()), undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      try {
        await this.refresh();
        onRead();
      } catch (error) {
        if (!signal.aborted) onError(error);
      }
    }
  }

  async #put(record: ProjectRecord): Promise<void> {
    const { kv, cluster } = this.#options;
    await kv.put(recordKey(cluster, record.project), JSON.stringify(record));
  }
}

/** Options of {@link Neighbors.follow}. */
export interface FollowOptions {
  readonly signal: AbortSignal;
  /** Called after each read. */
  readonly onRead: () => void;
  readonly onError: (error: unknown) => void;
  readonly everyMillis?: number;
}
