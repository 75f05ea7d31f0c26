/**
 * The journals of workers, one file per replica. Each line is written by one system call, so that a `kill -9` loses no line. Times
 * are milliseconds of the machine's monotonic clock, which all of its processes share.
 */
import { closeSync, createReadStream, openSync, writeSync } from "node:fs";
import { open, readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";
import { now } from "../harness/now.ts";

/** A started reconcile. */
export interface Begun {
  readonly replica: string;
  readonly key: string;
  readonly version: number;
  readonly from: number;
}

/** A reconcile that was allowed to have its effect. */
export interface Effect extends Begun {
  /** When its work was done, before it checked that it still owned the key. */
  readonly to: number;
  /** When it had its effect. */
  readonly at: number;
}

/** The journal of one replica. */
export interface Journal {
  begun(entry: Omit<Begun, "replica">): void;
  effect(entry: Omit<Effect, "replica" | "at">): void;
  close(): void;
}

/** Opens the journal of a replica; its restarted processes write to the same file. */
export function openJournal(folder: string, replica: string): Journal {
  const file = openSync(join(folder, `${replica}.journal`), "a");
  return {
    begun: ({ key, version, from }) => writeSync(file, `b ${key} ${version} ${from}\n`),
    effect: ({ key, version, from, to }) => writeSync(file, `e ${key} ${version} ${from} ${to} ${now()}\n`),
    close: () => closeSync(file),
  };
}

/** The reconciles of matching keys that a replica has started since `since` and not finished, from the end of its journal. */
export async function inFlight(
  folder: string,
  replica: string,
  { since, keys }: { readonly since: number; readonly keys: string },
): Promise<number> {
  const file = await open(join(folder, `${replica}.journal`), "r");
  try {
    const { size } = await file.stat();
    const length = Math.min(size, lastBytes);
    const { buffer } = await file.read(Buffer.alloc(length), 0, length, size - length);
    const begun = new Set<string>();
    for (const line of buffer.toString("utf8").split("\n")) {
      const [what, key = "", version, from] = line.split(" ");
      if (what === "b" && Number(from) >= since && key.startsWith(keys)) begun.add(`${key} ${version}`);
      else begun.delete(`${key} ${version}`);
    }
    return begun.size;
  } finally {
    await file.close();
  }
}

/** Enough for some hundred lines. */
const lastBytes = 16_384;

/** All entries of a folder's journals, in no order between the replicas. */
export async function readJournals(folder: string): Promise<{ begun: Begun[]; effects: Effect[] }> {
  const begun: Begun[] = [];
  const effects: Effect[] = [];
  for (const name of (await readdir(folder)).filter((file) => file.endsWith(".journal"))) {
    const replica = basename(name, ".journal");
    const lines = createInterface({ input: createReadStream(join(folder, name)) });
    for await (const line of lines) {
      const [what, key = "", version, from, to, at] = line.split(" ");
      const common = { replica, key, version: Number(version), from: Number(from) };
      if (what === "b") begun.push(common);
      // A line cut short by a kill is ignored.
      else if (at !== undefined) effects.push({ ...common, to: Number(to), at: Number(at) });
    }
  }
  return { begun, effects };
}
