/** Events and deployments of PipeCD v0.57.0, from its source; none of this was recorded from a real control plane. */
import { createHash, randomUUID } from "node:crypto";
import { create, type MessageShape } from "@bufbuild/protobuf";
import type { APIService } from "@denrei/functions/pipecd/api/generated/c/apiservice_pb";
import {
  type APIKey,
  type Event,
  EventSchema,
  EventStatus,
} from "@denrei/functions/pipecd/api/generated/c/model_pb";
import type {
  ListEventsRequestSchema,
  WebService,
} from "@denrei/functions/pipecd/api/generated/c/webservice_pb";
import {
  ListEventsRequest_Status as Listed,
  ListOrder,
  type PipedService,
} from "../generated/c/pipedservice_pb.ts";
import { binaryOrder } from "../ids.ts";
import type { PipedCaller } from "../pipedtokens.ts";
import type { Handlers } from "../service.ts";
import { internal, notFound, Panic, permissionDenied, RpcError } from "../status.ts";
import type { Claims } from "../tokens.ts";
import { requireWriter } from "./callers.ts";
import { afterCursor, cursorOf } from "./cursor.ts";
import type { PlaneC } from "./plane.ts";
import { applicationOf, stored } from "./rows.ts";

type Labels = Readonly<Record<string, string>>;

/** The key by which pipeds look up events. */
export function eventKeyOf(name: string, labels: Labels): string {
  const pairs = Object.keys(labels)
    .sort()
    .map((label) => `/${label}:${labels[label]}`);
  return createHash("sha256")
    .update(name + pairs.join(""))
    .digest("hex");
}

const inOrder = (a: Event, b: Event): number => (binaryOrder(a.id) < binaryOrder(b.id) ? -1 : 1);
const byUpdate = (a: Event, b: Event): number => Number(b.updatedAt - a.updatedAt) || inOrder(a, b);
const byCreation = (a: Event, b: Event): number => Number(b.createdAt - a.createdAt) || inOrder(a, b);

/** Whether the event has all these labels. */
const contains = ({ labels }: Event, required: Labels): boolean =>
  Object.entries(required).every(([key, value]) => Object.hasOwn(labels, key) && labels[key] === value);

/** The event method of the APIService. */
export const apiEvents = ({
  store,
  seconds,
}: PlaneC): Pick<Handlers<typeof APIService, APIKey>, "registerEvent"> => ({
  registerEvent({ name, data, labels, contexts, commitHash }, key) {
    requireWriter(key);
    const [id, now] = [randomUUID(), seconds()];
    const event = create(EventSchema, {
      ...{ id, name, data, labels, contexts },
      triggerCommitHash: commitHash,
      eventKey: eventKeyOf(name, labels),
      projectId: key.projectId,
      status: EventStatus.EVENT_NOT_HANDLED,
      statusDescription: `It is going to be replaced by ${data}`,
      createdAt: now,
      updatedAt: now,
    });
    stored(`add event ${id}`, () => store.events.add(event));
    return { eventId: id };
  },
});

/** The event method of the WebService. */
export const webEvents = (plane: PlaneC): Pick<Handlers<typeof WebService, Claims>, "listEvents"> => ({
  listEvents: (request, { project }) => listEvents(plane, request, project),
});

type ListEventsRequest = MessageShape<typeof ListEventsRequestSchema>;

/** Lists events, page by page if labels are given. */
function listEvents(plane: PlaneC, request: ListEventsRequest, project: string) {
  const { options, pageSize, cursor } = request;
  let next = page(plane, request, project, cursor, "list events");
  if (options === undefined) throw new Panic("invalid memory address or nil pointer dereference");
  const { labels } = options;
  if (Object.keys(labels).length === 0 || next.events.length === 0) return next;
  const events = next.events.filter((event) => contains(event, labels));
  if (next.events.length < pageSize) return { events, cursor: next.cursor };
  // PipeCD adds whole pages, so the result may exceed the page size.
  while (events.length < pageSize) {
    next = page(plane, request, project, next.cursor, "Failed to get events");
    if (next.events.length === 0) break;
    events.push(...next.events.filter((event) => contains(event, labels)));
  }
  return { events, cursor: next.cursor };
}

/** A page of the matching events, with a cursor unless the page is empty. Labels are ignored. */
function page(
  { store }: PlaneC,
  { options, pageSize, pageMinUpdatedAt }: ListEventsRequest,
  project: string,
  cursor: string,
  what: string,
) {
  // PipeCD uses only the first status.
  const [status] = options?.statuses ?? [];
  const name = options?.name ?? "";
  const matches = (event: Event): boolean =>
    event.projectId === project &&
    event.updatedAt >= pageMinUpdatedAt &&
    (name === "" || event.name.toLowerCase() === name.toLowerCase()) &&
    (status ?? event.status) === event.status;
  const found = stored(what, () => afterCursor(store.events.find(matches).sort(byUpdate), cursor));
  const events = pageSize > 0 ? found.slice(0, pageSize) : found;
  const last = events.at(-1);
  return { events, cursor: last === undefined ? "" : cursorOf(last) };
}

const statusOf: Readonly<Record<Listed, EventStatus | undefined>> = {
  [Listed.ALL]: undefined,
  [Listed.NOT_HANDLED]: EventStatus.EVENT_NOT_HANDLED,
  [Listed.SUCCESS]: EventStatus.EVENT_SUCCESS,
  [Listed.FAILURE]: EventStatus.EVENT_FAILURE,
  [Listed.OUTDATED]: EventStatus.EVENT_OUTDATED,
};

/** Methods of the PipedService that an event watcher calls. */
export function pipedEvents(
  plane: PlaneC,
): Pick<
  Handlers<typeof PipedService, PipedCaller>,
  "listApplications" | "getLatestEvent" | "listEvents" | "reportEventStatuses" | "createDeployment"
> {
  const { store, seconds } = plane;
  return {
    listApplications: (_, { id, project }) => ({
      applications: stored("fetch applications", () =>
        store.applications.find(
          ({ projectId, pipedId, disabled }) => projectId === project && pipedId === id && !disabled,
        ),
      ),
    }),
    getLatestEvent({ name, labels }, { project }) {
      const key = eventKeyOf(name, labels);
      const [event] = stored("list event", () =>
        store.events
          .find((one) => one.projectId === project && one.name === name && one.eventKey === key)
          .sort(byCreation),
      );
      if (event === undefined) throw new RpcError(notFound, "no events found");
      return { event };
    },
    listEvents({ from, to, order, status }, { project }) {
      const eventStatus = statusOf[status];
      const events = stored("list events", () =>
        store.events.find(
          (event) =>
            event.projectId === project &&
            (from <= 0 || event.createdAt >= from) &&
            (to <= 0 || event.createdAt < to) &&
            (eventStatus ?? event.status) === event.status,
        ),
      );
      if (order === ListOrder.DESC) events.sort(byCreation);
      if (order === ListOrder.ASC) events.sort((a, b) => Number(a.createdAt - b.createdAt) || inOrder(a, b));
      return { events };
    },
    reportEventStatuses({ events }) {
      for (const { id, status, statusDescription } of events)
        stored(`update status of event ${id}`, () =>
          store.events.update(id, (event) => {
            Object.assign(event, { status, statusDescription });
            // PipeCD leaves the times of an outdated event unchanged.
            if (status !== EventStatus.EVENT_SUCCESS && status !== EventStatus.EVENT_FAILURE) return;
            Object.assign(event, { handledAt: seconds(), updatedAt: seconds() });
          }),
        );
      return {};
    },
    createDeployment({ deployment }, { id }) {
      if (deployment === undefined) throw new RpcError(internal, "validated request has no deployment");
      if (applicationOf(plane, deployment.applicationId).pipedId !== id)
        throw new RpcError(permissionDenied, "requested application doesn't belong to the piped");
      plane.deployments.push(deployment);
      return {};
    },
  };
}
