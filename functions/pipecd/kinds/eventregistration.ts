/** EventRegistration: registers an event with PipeCD for each new value, which event watchers of agents handle. */
import { defineKind, type ObjectOf, z } from "denrei/kinds";
import { category, group, version } from "../names.ts";
import {
  age,
  apiKeySecretRef,
  conditions,
  controlPlaneRef,
  exactlyOne,
  insecure,
  nonEmpty,
  objectName,
  observedGeneration,
  projectID,
  ready,
  text,
  time,
} from "./fields.ts";

/** States of an event in PipeCD. */
const eventStates = ["NotHandled", "Succeeded", "Failed", "Outdated"] as const;
export type EventState = (typeof eventStates)[number];

/** PipeCD's own rule, because contexts become commit trailers. */
const contextKey = z.string().regex(/^[a-zA-Z0-9]+(-[a-zA-Z0-9]+)*$/);

/** Digests identify events, because texts in a status may be redacted. */
const identity = {
  key: text.describe("A digest of project, name, and labels."),
  digest: text.describe("A digest of the data."),
};

/** Registers an event with PipeCD for each new value. */
export const EventRegistration = defineKind({
  group,
  version,
  kind: "EventRegistration",
  description:
    "Registers an event with PipeCD for each new value: the image that a RemoteSync has built, or text. The event watcher of an agent can commit and deploy the value.",
  shortNames: ["pevent"],
  categories: [category],
  spec: z.object({
    // PipeCD has a column of 50 characters for it.
    name: nonEmpty.max(50).describe("Name of the event: matcher.name of an application's eventWatcher."),
    labels: z
      .record(nonEmpty, nonEmpty)
      .optional()
      .describe("Labels of the event. matcher.labels of an eventWatcher must have exactly these."),
    contexts: z
      .record(contextKey, nonEmpty)
      .optional()
      .describe("Trailers of the agent's commit. Since PipeCD v0.49.3."),
    projectID,
    source: exactlyOne(
      z.object({
        data: nonEmpty.max(4096).optional().describe("This text."),
        remoteSync: z
          .object({
            name: objectName.describe("Name of the RemoteSync, in this namespace."),
            value: z
              .enum(["Image", "Digest"])
              .optional()
              .describe(
                "Image is the whole reference with its digest; Digest is only sha256:…. Default: Image.",
              ),
          })
          .optional()
          .describe("The newest image that a RemoteSync has built from its revision."),
      }),
      "data",
      "remoteSync",
    ).describe("Source of the value."),
    insecure,
    controlPlaneRef: controlPlaneRef.optional(),
    apiKeySecretRef: apiKeySecretRef.optional(),
  }),
  status: z.object({
    registered: z
      .object({
        ...identity,
        data: text.describe("Data of the event. Anything that looks like a credential is redacted."),
        eventID: text.describe("Id of the event in PipeCD."),
        time: time.describe("When it was registered."),
        state: z.enum(eventStates).describe("State of the event in PipeCD."),
        description: text.describe("PipeCD's description of the state."),
      })
      .optional()
      .describe("The last event and its state."),
    announced: z.object(identity).optional().describe("The registration in progress."),
    observedGeneration,
    conditions: conditions(
      "Registered: PipeCD has an event for the value. Handled: an agent has handled it. Ready: PipeCD has it, and it has neither failed nor expired.",
    ),
  }),
  columns: [
    { name: "Project", type: "string", jsonPath: ".spec.projectID" },
    { name: "Event", type: "string", jsonPath: ".spec.name" },
    { name: "State", type: "string", jsonPath: ".status.registered.state" },
    { name: "Data", type: "string", jsonPath: ".status.registered.data", priority: 1 },
    ready,
    age,
  ],
});
export type EventRegistration = ObjectOf<typeof EventRegistration>;
