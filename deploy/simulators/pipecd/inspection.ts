/** Read access to a control plane's database, for tests. */
import { EventStatus } from "@denrei/functions/pipecd/api/generated/c/model_pb";
import { nameOf } from "@denrei/functions/pipecd/api/model";
import type { PlaneC } from "./c/plane.ts";
import type { PlaneL0 } from "./l0/plane.ts";

/** A stored piped. */
export interface PipedState {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly project: string;
  readonly disabled: boolean;
  /** Number of keys. */
  readonly keys: number;
  /** Ids of the reported repositories. */
  readonly repositories: readonly string[];
  /** Ids of the environments; empty in v0.57.0. */
  readonly environments: readonly string[];
}

/** A stored application. */
export interface ApplicationState {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly project: string;
  readonly pipedId: string;
  readonly environment: string;
  readonly kind: number;
  readonly repository: string;
  readonly path: string;
  readonly configFilename: string;
  readonly provider: string;
  readonly disabled: boolean;
  readonly deleted: boolean;
}

/** A stored environment of v0.9.0. */
export interface EnvironmentState {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly project: string;
}

/** A stored API key of v0.57.0. */
export interface ApiKeyState {
  readonly id: string;
  readonly name: string;
  readonly project: string;
  readonly disabled: boolean;
  readonly writes: boolean;
}

/** A stored event of v0.57.0. */
export interface EventState {
  readonly id: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly contexts: Readonly<Record<string, string>>;
  readonly data: string;
  readonly commit: string;
  readonly project: string;
  readonly status: string;
  readonly description: string;
}

/** A deployment that a piped of v0.57.0 has created. */
export interface DeploymentState {
  readonly application: string;
  readonly applicationName: string;
  readonly commit: string;
  readonly message: string;
  readonly summary: string;
}

/** Copies of the rows. Reading them is not a recorded call, and works during an outage. */
export interface Inspection {
  pipeds(): PipedState[];
  /** All applications, including deleted ones. */
  applications(): ApplicationState[];
  environments(): EnvironmentState[];
  apiKeys(): ApiKeyState[];
  /** Events in registration order; empty in v0.9.0. */
  events(): EventState[];
  /** Deployments in creation order; empty in v0.9.0. */
  deployments(): DeploymentState[];
}

/** Inspection of v0.57.0. */
export const inspectionOfC = ({ store, deployments }: PlaneC): Inspection => ({
  pipeds: () => store.pipeds.dump().map((piped) => ({ ...pipedState(piped), environments: [] })),
  applications: () =>
    store.applications.dump().map((one) => ({
      ...applicationState(one),
      description: one.description,
      labels: one.labels,
      environment: "",
      provider: one.platformProvider,
      deleted: one.deleted,
    })),
  environments: () => [],
  apiKeys: () =>
    store.apiKeys.dump().map(({ id, name, projectId, disabled, role }) => ({
      ...{ id, name, disabled },
      project: projectId,
      writes: role === 1,
    })),
  events: () =>
    store.events.dump().map(({ id, name, labels, contexts, data, projectId, status, ...event }) => ({
      ...{ id, name, labels, contexts, data },
      commit: event.triggerCommitHash,
      project: projectId,
      status: nameOf(EventStatus, status) ?? "",
      description: event.statusDescription,
    })),
  deployments: () =>
    deployments.map(({ applicationId, applicationName, trigger, summary }) => ({
      application: applicationId,
      applicationName,
      commit: trigger?.commit?.hash ?? "",
      message: trigger?.commit?.message ?? "",
      summary,
    })),
});

/** Inspection of v0.9.0. */
export const inspectionOfL0 = ({ store }: PlaneL0): Inspection => ({
  pipeds: () => store.pipeds.dump().map((piped) => ({ ...pipedState(piped), environments: piped.envIds })),
  applications: () =>
    store.applications.dump().map((one) => ({
      ...applicationState(one),
      description: "",
      labels: {},
      environment: one.envId,
      provider: one.cloudProvider,
      deleted: false,
    })),
  environments: () =>
    store.environments
      .dump()
      .map(({ id, name, desc, projectId }) => ({ id, name, description: desc, project: projectId })),
  apiKeys: () => [],
  events: () => [],
  deployments: () => [],
});

interface PipedRow {
  readonly id: string;
  readonly name: string;
  readonly desc: string;
  readonly projectId: string;
  readonly disabled: boolean;
  readonly keys: readonly unknown[];
  readonly repositories: readonly { readonly id: string }[];
}

const pipedState = ({ id, name, desc, projectId, disabled, keys, repositories }: PipedRow) => ({
  ...{ id, name, disabled },
  description: desc,
  project: projectId,
  keys: keys.length,
  repositories: repositories.map((one) => one.id),
});

interface ApplicationRow {
  readonly id: string;
  readonly name: string;
  readonly projectId: string;
  readonly pipedId: string;
  readonly kind: number;
  readonly disabled: boolean;
  readonly gitPath?:
    | {
        readonly repo?: { readonly id: string } | undefined;
        readonly path: string;
        readonly configFilename: string;
      }
    | undefined;
}

const applicationState = ({ id, name, projectId, pipedId, kind, disabled, gitPath }: ApplicationRow) => ({
  ...{ id, name, pipedId, kind, disabled },
  project: projectId,
  repository: gitPath?.repo?.id ?? "",
  path: gitPath?.path ?? "",
  configFilename: gitPath?.configFilename ?? "",
});
