/**
 * The client of a PipeCD control plane, for one project. It supports two versions of the services. Callers need to know the version
 * only for calls that one of them lacks.
 */
import type { Profile } from "../profile.ts";
import type { Endpoint } from "./connections.ts";
import type { Events } from "./events.ts";
import type {
  APIKeyRecord,
  ApplicationRecord,
  ApplicationSettings,
  EnvironmentRecord,
  NewApplication,
  NewPiped,
  PipedRecord,
  RegisteredPiped,
} from "./model.ts";

/** Calls for environments, up to v0.26. */
export interface Environments {
  list(): Promise<readonly EnvironmentRecord[]>;
  /** No id is returned. */
  add(environment: { readonly name: string; readonly description: string }): Promise<void>;
}

/** Calls for pipeds that are available with an API key. */
export interface PipedWrites {
  /** Registers another piped, even if the name exists. PipeCD never returns the key again. */
  register(piped: NewPiped): Promise<RegisteredPiped>;
  enable(id: string): Promise<void>;
  /** PipeCD cannot delete pipeds. */
  disable(id: string): Promise<void>;
  /** Sets both name and description. Undefined up to v0.9.0, which cannot change pipeds. */
  readonly update: ((id: string, piped: Pick<NewPiped, "name" | "description">) => Promise<void>) | undefined;
}

/** Calls for pipeds. */
export interface Pipeds extends PipedWrites {
  /** Includes the connection, which is at most a few minutes old. */
  list(options?: { readonly enabled?: true }): Promise<readonly PipedRecord[]>;
  /**
   * Creates a key that PipeCD lists under `keyID`. In the profile C the newest of the older keys stays valid until
   * {@link disableOldKeys}; in v0.9.0 all older keys become invalid.
   */
  newKey(id: string, keyID: string): Promise<string>;
  /** Disables all keys except the newest. Undefined up to v0.9.0, where {@link newKey} does so. */
  readonly disableOldKeys: ((id: string) => Promise<void>) | undefined;
}

/** Calls for applications. */
export interface Applications {
  /** The enabled applications of a piped. */
  list(pipedID: string): Promise<readonly ApplicationRecord[]>;
  /** Undefined if it does not exist. */
  get(id: string): Promise<ApplicationRecord | undefined>;
  /** Creates another application, even if the place has one. Returns its id. */
  add(application: NewApplication): Promise<string>;
  enable(id: string): Promise<void>;
  /** Deletes it. Up to v0.9.0, which cannot delete applications, disables it. */
  delete(id: string): Promise<void>;
  /** The effect of {@link delete}. */
  readonly removal: "Deleted" | "Disabled";
  /** Sets all settings; omitted ones become empty. Undefined up to v0.9.0, which cannot change applications. */
  readonly update:
    | ((application: ApplicationRecord, settings: ApplicationSettings) => Promise<void>)
    | undefined;
}

/** Calls for API keys of the project, from v0.9.1. */
export interface APIKeys {
  list(): Promise<readonly APIKeyRecord[]>;
  /** Creates a key with write access. PipeCD never returns it again. */
  generate(name: string): Promise<string>;
  disable(id: string): Promise<void>;
}

/** Calls for one project. Each throws a {@link PipecdError}. */
export interface PipecdClient {
  readonly environments: Environments | undefined;
  readonly pipeds: Pipeds;
  readonly applications: Applications;
  readonly apiKeys: APIKeys | undefined;
  /** Undefined up to v0.9.0, which has no events. */
  readonly events: Events | undefined;
}

/** Server and credentials of a client. */
export interface ClientOptions {
  readonly profile: Profile;
  /** Version of the control plane. If undefined, every call of the profile C is assumed to exist. */
  readonly version?: string;
  readonly projectID: string;
  readonly web: Endpoint;
  readonly api: Endpoint;
  /** Signs the tokens of the WebService. */
  readonly encryptionKey: Uint8Array;
  /** If set, the client prefers the APIService where it has the call. */
  readonly apiKey: string | undefined;
  readonly signal: AbortSignal;
}
