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
import { factText as text } from "./text.ts";

const stores = { minio: minios, mongo: mongoes, mysql: mysqls } satisfies Record<StoreKind, unknown>;

const link = ({ metadata }: KubeObject, { plural }: { readonly plural: string }, name: string | undefined) =>
  name && <a href={`/pipecd/${plural}/${metadata.namespace}/${name}`}>{name}</a>;

/** A link to the store, if the configuration names one of the namespace. */
const store = (plane: ControlPlane, found: StoreName | undefined) =>
  found ? link(plane, stores[found.kind], found.name) : text.externalStore;

const ofPlane = (plane: ControlPlane): readonly Fact[] => [
  [text.parts, <Parts key="parts" of={plane} />],
  [text.version, plane.spec.version],
  [text.profile, plane.status?.profile],
  [text.datastore, store(plane, datastoreOf(plane))],
  [text.filestore, store(plane, filestoreOf(plane))],
  [text.projects, plane.spec.config.projects?.map(({ id }) => id).join(", ")],
];

const ofStore = ({ spec, status }: Minio | Mongo | Mysql): readonly Fact[] => [
  [text.version, spec.version ?? text.defaultVersion],
  [text.pods, text.podsOf(status?.availableReplicas ?? 0)],
  [
    text.data,
    spec.storage?.emptyDir || !spec.storage?.volumeClaimTemplate ? text.dataInPod : text.dataInVolume,
  ],
];

const ofPiped = (piped: Piped): readonly Fact[] => [
  [text.connection, <Connection key="connection" of={piped} />],
  [text.version, piped.spec.version],
  [text.name, piped.spec.name],
  [text.project, piped.spec.projectID],
  [text.id, piped.status?.pipedID],
  [text.environment, link(piped, environments, piped.spec.environmentRef?.objectName)],
  [text.repositories, piped.spec.config.repositories?.map(({ repoId }) => repoId).join(", ")],
];

const ofEnvironment = ({ spec, status }: Environment): readonly Fact[] => [
  [text.name, spec.name],
  [text.description, spec.description],
  [text.project, spec.projectID],
  [text.id, status?.environmentID],
];

const ofApplication = (application: Application): readonly Fact[] => [
  [text.name, application.spec.name],
  [text.project, application.spec.projectID],
  [text.id, application.status?.applicationID],
  [text.kind, application.spec.kind],
  [text.piped, link(application, pipeds, application.spec.pipedRef.objectName)],
  [text.environment, link(application, environments, application.spec.environmentRef.objectName)],
  [text.repository, application.spec.repository],
  [text.path, <code key="path">{application.spec.path}</code>],
];

const ofEventRegistration = ({ spec, status, metadata }: EventRegistration): readonly Fact[] => {
  const { remoteSync } = spec.source;
  const { namespace = "" } = metadata;
  const address = remoteSync && `/builds/${namespace}/${remoteSync.name}`;
  const registered = status?.registered;
  return [
    [text.name, spec.name],
    [
      text.labels,
      Object.entries(spec.labels ?? {})
        .map((label) => label.join("="))
        .join(", "),
    ],
    [text.project, spec.projectID],
    [text.source, address ? <a href={address}>{sourceOf(spec)}</a> : sourceOf(spec)],
    [text.event, <EventState key="event" of={status} />],
    [text.data, registered && <code key="data">{registered.data}</code>],
    [text.id, registered?.eventID],
    [text.registered, registered && <Age key="registered" of={registered.time} />],
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
