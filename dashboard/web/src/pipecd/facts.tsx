/** Summaries of the PipeCD kinds. */
import type {
  Application,
  ControlPlane,
  Environment,
  EventRegistration,
  Minio,
  Mongo,
  Mysql,
  Piped,
} from "@denrei/functions/pipecd/kinds";
import {
  datastoreOf,
  filestoreOf,
  type StoreKind,
  type StoreName,
} from "@denrei/functions/pipecd/stores/usedstores";
import type { KubeObject, Stored } from "denrei/kinds";
import { Age } from "../ui/age.tsx";
import type { Fact } from "../ui/facts.tsx";
import { environments, minios, mongoes, mysqls, pipeds } from "./resources.ts";
import { Connection, EventState, Parts, sourceOf } from "./status.tsx";

const stores = { minio: minios, mongo: mongoes, mysql: mysqls } satisfies Record<StoreKind, unknown>;

const link = ({ metadata }: KubeObject, { plural }: { readonly plural: string }, name: string | undefined) =>
  name && <a href={`/pipecd/${plural}/${metadata.namespace}/${name}`}>{name}</a>;

/** A link to the store, if the configuration names one of the namespace. */
const store = (plane: ControlPlane, found: StoreName | undefined) =>
  found ? link(plane, stores[found.kind], found.name) : "external";

const ofPlane = (plane: ControlPlane): readonly Fact[] => [
  ["Parts", <Parts key="parts" of={plane} />],
  ["Version", plane.spec.version],
  ["Profile", plane.status?.profile],
  ["Datastore", store(plane, datastoreOf(plane))],
  ["Filestore", store(plane, filestoreOf(plane))],
  ["Projects", plane.spec.config.projects?.map(({ id }) => id).join(", ")],
];

const ofStore = ({ spec, status }: Minio | Mongo | Mysql): readonly Fact[] => [
  ["Version", spec.version ?? "default"],
  ["Pods", `${status?.availableReplicas ?? 0} of 1 available`],
  [
    "Data",
    spec.storage?.emptyDir || !spec.storage?.volumeClaimTemplate
      ? "deleted with the pod"
      : "in a volume claim",
  ],
];

const ofPiped = (piped: Piped): readonly Fact[] => [
  ["Connection", <Connection key="connection" of={piped} />],
  ["Version", piped.spec.version],
  ["Name in PipeCD", piped.spec.name],
  ["Project", piped.spec.projectID],
  ["ID", piped.status?.pipedID],
  ["Environment", link(piped, environments, piped.spec.environmentRef?.objectName)],
  ["Repositories", piped.spec.config.repositories?.map(({ repoId }) => repoId).join(", ")],
];

const ofEnvironment = ({ spec, status }: Environment): readonly Fact[] => [
  ["Name in PipeCD", spec.name],
  ["Description", spec.description],
  ["Project", spec.projectID],
  ["ID", status?.environmentID],
];

const ofApplication = (application: Application): readonly Fact[] => [
  ["Name in PipeCD", application.spec.name],
  ["Project", application.spec.projectID],
  ["ID", application.status?.applicationID],
  ["Kind", application.spec.kind],
  ["Piped", link(application, pipeds, application.spec.pipedRef.objectName)],
  ["Environment", link(application, environments, application.spec.environmentRef.objectName)],
  ["Repository", application.spec.repository],
  ["Path", <code key="path">{application.spec.path}</code>],
];

const ofEventRegistration = ({ spec, status, metadata }: EventRegistration): readonly Fact[] => {
  const { remoteSync } = spec.source;
  const { namespace = "" } = metadata;
  const address = remoteSync && `/builds/${namespace}/${remoteSync.name}`;
  const registered = status?.registered;
  return [
    ["Name in PipeCD", spec.name],
    [
      "Labels",
      Object.entries(spec.labels ?? {})
        .map((label) => label.join("="))
        .join(", "),
    ],
    ["Project", spec.projectID],
    ["Source", address ? <a href={address}>{sourceOf(spec)}</a> : sourceOf(spec)],
    ["Event", <EventState key="event" of={status} />],
    ["Data", registered && <code key="data">{registered.data}</code>],
    ["ID", registered?.eventID],
    ["Registered", registered && <Age key="registered" of={registered.time} />],
  ];
};

const facts: Readonly<Record<string, (object: never) => readonly Fact[]>> = {
  ControlPlane: ofPlane,
  Minio: ofStore,
  Mongo: ofStore,
  Mysql: ofStore,
  Piped: ofPiped,
  Environment: ofEnvironment,
  Application: ofApplication,
  EventRegistration: ofEventRegistration,
};

/** The summary of an object. */
export const factsOf = (object: Stored): readonly Fact[] => facts[object.kind]?.(object as never) ?? [];
