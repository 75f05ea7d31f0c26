/** `denrei webhooks list|show|replay` */
import {
  type Bus,
  type DeliveryQuery,
  deliveries,
  replayDelivery,
  type StoredDelivery,
  streams,
} from "denrei/bus";
import { aligned } from "denrei/kubernetes";
import { AbsentError, say, UsageError } from "denrei/runtime";
import { age } from "./age.ts";
import { type AddressSettings, hasStream, withBus } from "./bus.ts";

/** Options of the command line. */
export interface WebhookOptions {
  readonly since?: Date;
  readonly until?: Date;
  readonly repository?: { readonly owner: string; readonly repository: string };
  readonly event?: string;
  readonly limit?: number;
  readonly json?: boolean;
  readonly dryRun?: boolean;
}

/** Before every stored webhook. */
const begin = new Date(0);

const queryOf = ({ since = begin, until, repository, event }: WebhookOptions): DeliveryQuery => ({
  since,
  until,
  ...repository,
  ...(event !== undefined && { event }),
});

/** Calls `each` for every delivery; a bus that no gateway has used yet has none. */
async function eachDelivery(
  bus: Bus,
  query: DeliveryQuery,
  each: (found: StoredDelivery) => void,
): Promise<void> {
  if (!(await hasStream(bus, streams.webhooks))) return;
  for await (const found of deliveries(bus, query)) each(found);
}

const fields = ({ message: _message, data, ...rest }: StoredDelivery): object => ({
  ...rest,
  data: parsed(data),
});

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const repositoryOf = ({ owner, repository }: StoredDelivery): string =>
  [owner, repository].filter(Boolean).join("/") || "-";

/** Prints deliveries, newest first. */
export async function list(settings: AddressSettings, options: WebhookOptions): Promise<void> {
  const { limit = 50 } = options;
  let found: StoredDelivery[] = [];
  let more = false;
  await withBus(settings, (bus) =>
    eachDelivery(bus, queryOf(options), (delivery) => {
      found.push(delivery);
      if (found.length <= 2 * limit) return;
      found = found.slice(-limit);
      more = true;
    }),
  );
  more ||= found.length > limit;
  const shown = found.slice(-limit).reverse();
  if (options.json) return say(JSON.stringify(shown.map(fields), null, 2));
  if (shown.length === 0) return say("No webhooks.");
  const row = (one: StoredDelivery): string[] => [
    one.delivery,
    one.type.replace(/^com\.github\./, ""),
    repositoryOf(one),
    one.subject || "-",
    age(one.time),
  ];
  say(aligned([["DELIVERY", "EVENT", "REPOSITORY", "SUBJECT", "AGE"], ...shown.map(row)]));
  if (more)
    say(
      `\nOlder webhooks are not shown. Raise --limit (now ${limit}) or narrow the list with --since or --repository.`,
    );
}

/** All stored copies of a delivery. */
async function storedOf(bus: Bus, delivery: string): Promise<StoredDelivery[]> {
  const found: StoredDelivery[] = [];
  await eachDelivery(bus, { since: begin, delivery }, (one) => found.push(one));
  return found;
}

/** Prints all fields of a delivery. */
export async function show(
  delivery: string,
  settings: AddressSettings,
  options: { json?: boolean },
): Promise<void> {
  const found = await withBus(settings, (bus) => storedOf(bus, delivery));
  const last = found.at(-1);
  if (last === undefined) throw missing([delivery]);
  if (options.json) return say(JSON.stringify(fields(last), null, 2));
  const { type, subject, time, sequence } = last;
  const lines = { delivery, type, repository: repositoryOf(last), subject: subject || "-", time, sequence };
  const rows = Object.entries({ ...lines, ...(found.length > 1 && { stored: `${found.length} times` }) });
  say(aligned(rows.map(([name, value]) => [`${name}:`, String(value)])));
  say(`\n${JSON.stringify(parsed(last.data), null, 2)}`);
}

/** Publishes deliveries again: the given ones, or all in a range. */
export async function replay(
  ids: readonly string[],
  settings: AddressSettings,
  options: WebhookOptions,
): Promise<void> {
  const { since, until, repository, event } = options;
  const ranged =
    since !== undefined || until !== undefined || repository !== undefined || event !== undefined;
  if (ids.length > 0 === ranged) {
    throw new UsageError(
      `specify ${ranged ? "either " : ""}delivery IDs or a range (--since, --until, --repository, --event)${ranged ? ", not both" : ""}`,
    );
  }
  await withBus(settings, async (bus) => {
    // A delivery can be stored several times: publish only the last copy.
    const selected = new Map<string, StoredDelivery>();
    const query = queryOf(options);
    await eachDelivery(bus, query, (one) => {
      if (!ranged && !ids.includes(one.delivery)) return;
      selected.delete(one.delivery);
      selected.set(one.delivery, one);
    });
    const absent = ids.filter((id) => !selected.has(id));
    if (absent.length > 0) throw missing(absent);
    for (const one of selected.values()) {
      if (!options.dryRun) await replayDelivery(bus, one);
      const what = `${one.delivery} (${one.type.replace(/^com\.github\./, "")} in ${repositoryOf(one)})`;
      say(options.dryRun ? `Would be published again: ${what}` : `Published again: ${what}`);
    }
    if (selected.size === 0) say("No webhooks.");
  });
}

const missing = (ids: readonly string[]): AbsentError =>
  new AbsentError(
    `no stored webhook has the delivery ID ${ids.join(", ")}. Webhooks are kept for three days; list them with \`denrei webhooks list\`.`,
  );
