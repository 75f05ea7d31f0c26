/** EventRegistration: tells PipeCD of each new value, for which event watchers of agents wait. */
import { z } from "zod";
import { defineKind, type ObjectOf } from "../../../bus/kube/kind.ts";
import { eventStates } from "../api/eventstates.ts";
import { category, group, version } from "../names.ts";
import {
  age,
  apiKeySecretRef,
  conditions,
  controlPlaneRef,
  exactlyOne,
  filled,
  insecure,
  objectName,
  observedGeneration,
  projectID,
  ready,
  text,
  time,
} from "./fields.ts";

/** PipeCD's own rule: contexts become trailers of commits. */
const contextKey = z.string().regex(/^[a-zA-Z0-9]+(-[a-zA-Z0-9]+)*$/);

/** Texts of a status may be redacted, so events are compared by digests. */
const identity = {
  key: text.describe("A digest of project, name and labels."),
  digest: text.describe("A digest of the data."),
};

/** Registers an event at PipeCD for each new value. */
export const EventRegistration = defineKind({
  group,
  version,
  kind: "EventRegistration",
  description:
    "Registers an event at PipeCD for each new value: the image that a RemoteSync has built, or text. The event watcher of an agent can commit the value, and deploy it.",
  shortNames: ["pevent"],
  categories: [category],
  spec: z.object({
    // PipeCD has a column of 50 characters for it.
    name: filled.max(50).describe("Name of the event: matcher.name of an application's eventWatcher."),
    labels: z
      .record(filled, filled)
      .optional()
      .describe("Labels of the event. matcher.labels of an eventWatcher must have exactly these."),
    contexts: z
      .record(contextKey, filled)
      .optional()
      .describe("Trailers of the commit that the agent makes. From PipeCD v0.49.3."),
    projectID,
    source: exactlyOne(
      z.object({
        data: filled.max(4096).optional().describe("This text."),
        remoteSync: z
          .object({
            name: objectName.describe("Name of the RemoteSync, in this namespace."),
            value: z
              .enum(["Image", "Digest"])
              .optional()
              .describe(
                "Image is the whole reference, with its digest; Digest is sha256:… alone. Default: Image.",
              ),
          })
          .optional()
          .describe("The newest image that a RemoteSync has built of its revision."),
      }),
      "data",
      "remoteSync",
    ).describe("Where the value comes from."),
    insecure,
    controlPlaneRef: controlPlaneRef.optional(),
    apiKeySecretRef: apiKeySecretRef.optional(),
  }),
  status: z.object({
    registered: z
      .object({
        ...identity,
        data: text.describe("Its data. Anything that looks like a credential is left out."),
        eventID: text.describe("PipeCD's id of the event."),
        time: time.describe("When it was registered."),
        state: z.enum(eventStates).describe("State of the event at PipeCD."),
        description: text.describe("The same in PipeCD's words."),
      })
      .optional()
      .describe("The last event, and what has become of it."),
    announced: z.object(identity).optional().describe("The event that is being registered."),
    observedGeneration,
    conditions: conditions(
      "Registered: PipeCD has an event of the value. Handled: an agent has handled it. Ready: PipeCD has it, and no agent has failed to handle it.",
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
