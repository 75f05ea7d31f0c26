/**
 * What a client of PipeCD's control plane can do, for one project. Two versions of its services are spoken; whoever calls need
 * not know which, but for what only one of them can.
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

/** Environments: up to v0.26. */
export interface Environments {
  list(): Promise<readonly EnvironmentRecord[]>;
  /** No id is returned. */
  add(environment: { readonly name: string; readonly description: string }): Promise<void>;
}

/** Pipeds that anybody who has an API key may work on. */
export interface PipedWrites {
  /** Registers one more, even if there is one of that name. PipeCD never returns the key again. */
  register(piped: NewPiped): Promise<RegisteredPiped>;
  enable(id: string): Promise<void>;
  /** There is no call that deletes one. */
  disable(id: string): Promise<void>;
  /** Name and description, both of them. Undefined where a piped can not be changed (up to v0.9.0). */
  readonly update: ((id: string, piped: Pick<NewPiped, "name" | "description">) => Promise<void>) | undefined;
}

/** Pipeds. */
export interface Pipeds extends PipedWrites {
  /** With whether they are connected, which is a few minutes old at most. */
  list(options?: { readonly enabled?: true }): Promise<readonly PipedRecord[]>;
  /**
   * Creates a key that PipeCD lists under `keyID`. In the profile C the newest of the former keys stays valid until
   * {@link endOldKeys}; in v0.9.0 all former keys end.
   */
  newKey(id: string, keyID: string): Promise<string>;
  /** Ends all keys but the newest. Undefined where {@link newKey} has ended them (up to v0.9.0). */
  readonly endOldKeys: ((id: string) => Promise<void>) | undefined;
}

/** Applications. */
export interface Applications {
  /** Those of a piped that are enabled. */
  list(pipedID: string): Promise<readonly ApplicationRecord[]>;
  /** Undefined when there is none. */
  get(id: string): Promise<ApplicationRecord | undefined>;
  /** Makes one more, whatever there is at that place. Returns its id. */
  add(application: NewApplication): Promise<string>;
  enable(id: string): Promise<void>;
  /** Deletes it; up to v0.9.0, which cannot delete, it is disabled. */
  delete(id: string): Promise<void>;
  /** What {@link delete} makes of an application. */
  readonly ending: "Deleted" | "Disabled";
  /** All of them: what is left out is emptied. Undefined where an application can not be changed (up to v0.9.0). */
  readonly update:
    | ((application: ApplicationRecord, settings: ApplicationSettings) => Promise<void>)
    | undefined;
}

/** API keys of the project: from v0.9.1. */
export interface APIKeys {
  list(): Promise<readonly APIKeyRecord[]>;
  /** One that may write. It is told here and never again. */
  generate(name: string): Promise<string>;
  disable(id: string): Promise<void>;
}

/** Calls of one project. Each throws a {@link PipecdError}. */
export interface PipecdClient {
  readonly environments: Environments | undefined;
  readonly pipeds: Pipeds;
  readonly applications: Applications;
  readonly apiKeys: APIKeys | undefined;
  /** Undefined up to v0.9.0, which has none. */
  readonly events: Events | undefined;
}

/** Whom to call, and as whom. */
export interface ClientOptions {
  readonly profile: Profile;
  /** Of the control plane. Unless it is given, all that the profile C has is there. */
  readonly version?: string;
  readonly projectID: string;
  readonly web: Endpoint;
  readonly api: Endpoint;
  /** Signs the tokens of the WebService. */
  readonly encryptionKey: Uint8Array;
  /** With one, the APIService does what it can do. */
  readonly apiKey: string | undefined;
  readonly signal: AbortSignal;
}
