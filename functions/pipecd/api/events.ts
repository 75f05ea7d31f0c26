/** Events of v0.44 and later: https://pipecd.dev/docs/user-guide/event-watcher/ */
import type { CallOptions } from "@connectrpc/connect";
import type { EventState } from "../kinds/eventregistration.ts";
import type { RegisterEventRequest, RegisterEventResponse } from "./generated/c/apiservice_pb.ts";
import { type Event, EventStatus } from "./generated/c/model_pb.ts";
import type { ListEventsResponse } from "./generated/c/webservice_pb.ts";
import { wrapCall } from "./wrapcall.ts";

/** The fields by which agents match events: the name, and exactly these labels. */
export interface EventKey {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** The fields of a new event. */
export interface NewEvent extends EventKey {
  readonly data: string;
  /** Trailers of the agents' commits. Servers before v0.49.3 ignore them. */
  readonly contexts: Readonly<Record<string, string>>;
  /** The commit that led to the event, or empty. Servers before v0.51.0 ignore it. */
  readonly commitHash: string;
}

/** A registered event. */
export interface EventRecord extends EventKey {
  readonly id: string;
  readonly data: string;
  readonly state: EventState;
  /** PipeCD's description of the state. */
  readonly description: string;
  /** Seconds since the epoch, by the server's clock. */
  readonly createdAt: number;
}

/** Read calls, which only the WebService has. */
export interface EventReads {
  /** All events with the key that were created at or after `since` (seconds since the epoch), newest first. */
  list(key: EventKey, since: number): Promise<readonly EventRecord[]>;
}

/** Write calls, which only the APIService has. */
export interface EventWrites {
  /** Registers another event, even if the same one exists. Returns its id. */
  register(event: NewEvent): Promise<string>;
}

/** Events of one project. */
export interface Events extends EventReads {
  /** Undefined without an API key. */
  readonly register: EventWrites["register"] | undefined;
  /** The id of the API key in the project's list. Undefined without one. */
  readonly apiKeyID: string | undefined;
}

type Call<Request, Response> = (request: Request, options: CallOptions) => Promise<Response>;

interface Reader {
  readonly listEvents: Call<
    {
      readonly options: { readonly name: string };
      readonly pageSize: number;
      readonly cursor: string;
      readonly pageMinUpdatedAt: bigint;
    },
    Pick<ListEventsResponse, "events" | "cursor">
  >;
}

interface Writer {
  readonly registerEvent: Call<
    Pick<RegisterEventRequest, "name" | "data" | "labels" | "contexts" | "commitHash">,
    Pick<RegisterEventResponse, "eventId">
  >;
}

const pageSize = 100;

/** Reads events with the WebService. */
export const eventReads = (service: Reader, context: CallOptions): EventReads => ({
  async list(key, since) {
    const found: EventRecord[] = [];
    let cursor = "";
    do {
      // Without options, the server crashes. Its label filter would also return events with additional labels.
      const request = {
        options: { name: key.name },
        pageSize,
        cursor,
        // The update time is never before the creation time.
        pageMinUpdatedAt: BigInt(Math.max(0, Math.floor(since))),
      };
      const page = await wrapCall("ListEvents", service.listEvents(request, context));
      found.push(...page.events.map(eventRecord).filter((event) => hasKey(event, key)));
      // A full page has a cursor even if it is the last one.
      cursor = page.events.length < pageSize ? "" : page.cursor;
    } while (cursor !== "");
    return found
      .filter(({ createdAt }) => createdAt >= since)
      .sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? -1 : 1));
  },
});

/** Registers events with the APIService. */
export const eventWrites = (service: Writer, context: CallOptions): EventWrites => ({
  async register({ labels, contexts, ...event }) {
    const request = { ...event, labels: { ...labels }, contexts: { ...contexts } };
    return (await wrapCall("RegisterEvent", service.registerEvent(request, context))).eventId;
  },
});

const states: Readonly<Record<EventStatus, EventState>> = {
  [EventStatus.EVENT_NOT_HANDLED]: "NotHandled",
  [EventStatus.EVENT_SUCCESS]: "Succeeded",
  [EventStatus.EVENT_FAILURE]: "Failed",
  [EventStatus.EVENT_OUTDATED]: "Outdated",
};

const eventRecord = ({
  id,
  name,
  labels,
  data,
  status,
  statusDescription,
  createdAt,
}: Event): EventRecord => ({
  id,
  name,
  labels,
  data,
  // A state that a later version has added counts as not handled.
  state: states[status] ?? "NotHandled",
  description: statusDescription,
  createdAt: Number(createdAt),
});

/** Whether an event matches the key, with exactly its labels. */
export function hasKey({ name, labels }: EventKey, key: EventKey): boolean {
  const desired = Object.entries(key.labels);
  return (
    name === key.name &&
    Object.keys(labels).length === desired.length &&
    desired.every(([label, value]) => Object.hasOwn(labels, label) && labels[label] === value)
  );
}
