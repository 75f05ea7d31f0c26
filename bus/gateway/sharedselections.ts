/** What functions of other projects on the same bus select: their bridges write it into the projects' records. */
import { JetStreamApiError } from "@nats-io/jetstream";
import type { Logger } from "pino";
import type { Bus } from "../nats/connect.ts";
import { reread } from "../process/reread.ts";
import { readRecords } from "../projects/neighbors.ts";
import type { ProjectRecord } from "../projects/record.ts";
import { bridgeStream } from "../subjects.ts";
import { keyOf, type Selections, schemasOf } from "../webhooks/selection.ts";

/** Options of {@link shareSelections}. */
export interface SharedSelectionsOptions {
  readonly bus: Pick<Bus, "inbox" | "jsm">;
  /** Undefined: this gateway knows no other projects. */
  readonly project: string | undefined;
  readonly log: Logger;
  readonly rereadMillis: number;
}

/** Selections that follow the records until they are stopped. */
export interface SharedSelections extends Selections {
  stop(): void;
}

/** Adds to the selections of this project those of the others, of events from providers that this project has. */
export async function shareSelections(
  own: Selections,
  { bus, project, log, rereadMillis }: SharedSelectionsOptions,
): Promise<SharedSelections> {
  if (project === undefined) return { ...own, stop: () => undefined };
  let isKnown = false;
  const others = await reread({
    async read() {
      isKnown ||= await hasRecords(bus);
      try {
        const records = isKnown ? await readRecords(bus) : [];
        return selectionsIn(records.filter((record) => record.project !== project));
      } catch (error) {
        // The stream may have been deleted.
        isKnown = false;
        throw error;
      }
    },
    everyMillis: rereadMillis,
    isSame: (a, b) => a.text === b.text,
    onChange: ({ projects }) => log.info({ projects }, "webhooks for other projects changed"),
    onError: (error) => log.warn({ err: error }, "failed to read what other projects select, retrying"),
  });
  return {
    ...own,
    of(provider, event) {
      const schemas = own.of(provider, event);
      const more = others.current().schemas.get(keyOf(provider, event));
      return more === undefined ? schemas : [...schemas, ...more];
    },
    stop: others.stop,
  };
}

/** Until the first bridge creates the stream of the records, the server answers no read of it. */
async function hasRecords({ jsm }: Pick<Bus, "jsm">): Promise<boolean> {
  try {
    await jsm.streams.info(bridgeStream);
    return true;
  } catch (error) {
    if (error instanceof JetStreamApiError && error.status === 404) return false;
    throw error;
  }
}

function selectionsIn(records: readonly ProjectRecord[]) {
  const schemas = schemasOf(records.flatMap(({ webhooks }) => webhooks));
  return { schemas, projects: records.map(({ project }) => project), text: JSON.stringify(records) };
}
