/** `denrei requests` */
import { byUrgency, keyText, type ListedRequest, listRequests, type RequestState } from "denrei/bus";
import { aligned } from "denrei/kubernetes";
import { say } from "denrei/runtime";
import { age } from "./age.ts";
import { type BusSettings, withBus } from "./bus.ts";
import { causeText } from "./deadletters.ts";
import { functionName, functionNames } from "./named.ts";

/** Options of the command line. */
export interface RequestsOptions {
  readonly limit: number;
  readonly state?: readonly RequestState[];
  readonly json?: boolean;
}

type FunctionRequest = ListedRequest & { readonly function: string };

/** Prints the requests of one function or of all. */
export async function requests(
  fn: string | undefined,
  settings: BusSettings,
  { limit, state, json }: RequestsOptions,
): Promise<void> {
  const names = fn === undefined ? await functionNames() : [await functionName(fn)];
  const { cluster } = settings;
  const all = await withBus(settings, (bus) =>
    Promise.all(
      names.map(async (name): Promise<FunctionRequest[]> => {
        const found = await listRequests(bus, { fn: name, cluster });
        return found.map((request) => ({ ...request, function: name }));
      }),
    ),
  );
  const matching = all
    .flat()
    .filter((request) => state === undefined || state.includes(request.state))
    .sort(byUrgency);
  const shown = matching.slice(0, limit);
  if (json) return say(JSON.stringify(shown.map(fields), null, 2));
  if (shown.length === 0) return say("No requests.");
  const header = ["FUNCTION", "OBJECT", "STATE", "AGE", "DUE", "FAILED", "REASON", "CAUSE"];
  say(aligned([header, ...shown.map(row)]));
  const more = matching.length - shown.length;
  if (more > 0) say(`\n${more} more. Raise --limit (now ${limit}) to see them.`);
}

const time = (millis: number): string => new Date(millis).toISOString();

function fields({
  function: fn,
  key,
  state,
  storedAt,
  dueAt,
  attempt,
  reason,
  cause,
}: FunctionRequest): object {
  return {
    ...{ function: fn, object: keyText(key), state, time: time(storedAt) },
    ...{ due: dueAt === undefined ? null : time(dueAt), attempt, reason: reason ?? null },
    cause: causeText(cause),
  };
}

function row({
  function: fn,
  key,
  state,
  storedAt,
  dueAt,
  attempt,
  reason = "-",
  cause,
}: FunctionRequest): string[] {
  const now = Date.now();
  // The time left is the age that the present will have at that time.
  const due = dueAt === undefined ? "now" : `in ${age(time(now), Math.max(now, dueAt))}`;
  return [fn, keyText(key), state, age(time(storedAt)), due, String(attempt), reason, causeText(cause)];
}
