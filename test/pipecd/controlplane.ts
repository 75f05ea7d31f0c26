/**
 * A stand-in of PipeCD's control plane, in this process: it does what v0.57.0 was seen to do on the wire, and what the
 * source of v0.9.0 does, traps included. It has no gateway, no web console and no deployments.
 */
import {
  type DescMessage,
  fromBinary,
  type JsonValue,
  type Message,
  toBinary,
  toJson,
} from "@bufbuild/protobuf";
import { type Answers, openAnswers } from "./answers.ts";
import { overwriteFromGit } from "./c/applications.ts";
import { openPlaneC, servicesOfC } from "./c/open.ts";
import { openMemory as openMemoryC } from "./c/plane.ts";
import { type Inspection, inspectionOfC, inspectionOfL0 } from "./inspection.ts";
import { openPlaneL0, servicesOfL0 } from "./l0/open.ts";
import { openMemory as openMemoryL0 } from "./l0/plane.ts";
import type { Metadata } from "./metadata.ts";
import type { Outage, Plane } from "./plane.ts";
import type { Method, Service } from "./service.ts";
import { internal, ok, Panic, RpcError, unavailable } from "./status.ts";

/** What a control plane is configured with. */
export interface ControlPlaneOptions {
  /** C is v0.57.0, L0 is v0.9.0. */
  readonly profile: "C" | "L0";
  /** Projects of the configuration file. */
  readonly projects: readonly string[];
  /** All of its bytes sign tokens. */
  readonly encryptionKey: string | Buffer;
  /** Milliseconds since the epoch: the system's unless a test moves time. */
  readonly clock?: () => number;
}

/** A call that was made, whatever came of it. */
export interface Call {
  /** In milliseconds since the epoch. */
  readonly at: number;
  /** The full name: grpc.service.webservice.WebService. */
  readonly service: string;
  readonly method: string;
  /** The project of a caller who was let in. */
  readonly project: string | undefined;
  /** As protobuf's JSON; undefined when it could not be read. */
  readonly request: JsonValue | undefined;
  readonly code: number;
  readonly message: string;
}

/** What a caller gets. */
export interface Answer {
  readonly code: number;
  readonly message: string;
  readonly body?: Uint8Array;
}

/** Without an answer, the connection is reset, or it ends, as it does when the process ends. */
export type Outcome = Answer | "reset" | "ended";

/** A control plane. Its database lives as long as this does, its process from `restart` to `die`. */
export interface ControlPlane extends Inspection, Pick<Answers, "hold"> {
  readonly profile: "C" | "L0";
  /** Calls that reached it, in the order in which they had their effects. */
  readonly calls: readonly Call[];
  /** Stores that tests put out of reach, and back. */
  readonly outage: Outage;
  readonly isUp: boolean;
  readonly services: readonly Service[];
  /** Takes a project into the datastore. */
  addProject(id: string): void;
  /** What a running piped does to an application of v0.57.0 whose file in git says something else. */
  overwriteFromGit(
    applicationId: string,
    fields: { name?: string; description?: string; labels?: Record<string, string> },
  ): void;
  /** The next call of the method has its effect, but its caller sees the connection reset. */
  loseAnswer(which: string | ((call: Call) => boolean)): Promise<Call>;
  /**
   * The next change of a row is told as a success and undone: an update reads, changes and writes the whole row without
   * a lock, so that a second one which read before it wins. A key of a piped that was lost so does not let it in.
   */
  loseUpdate(): void;
  /** Ends the process: connections end, and so do new ones. */
  die(): void;
  /** Starts a process that remembers nothing, with the same database, and another key if one is given. */
  restart(encryptionKey?: string | Buffer): void;
  /** Answers a call. */
  perform(service: Service, method: Method, metadata: Metadata, body: Uint8Array): Promise<Outcome>;
}

/** A running control plane with an empty database. */
export function openControlPlane(options: ControlPlaneOptions): ControlPlane {
  const { profile, projects, encryptionKey, clock = Date.now } = options;
  const outage: Outage = { datastore: false, cache: false };
  const shared: Plane = {
    encryptionKey: Buffer.from(encryptionKey),
    projects: new Set(projects),
    outage,
    race: { isLost: false },
    clock,
    seconds: () => BigInt(Math.trunc(clock() / 1000)),
  };
  const { inspection, services, forget, addProject, overwrite } =
    profile === "C" ? partsOfC(shared) : partsOfL0(shared);
  const calls: Call[] = [];
  const answers = openAnswers();
  let death = Promise.withResolvers<void>();
  let isUp = true;

  function die(): void {
    isUp = false;
    death.resolve();
  }

  async function perform(
    service: Service,
    method: Method,
    metadata: Metadata,
    body: Uint8Array,
  ): Promise<Outcome> {
    if (!isUp) return "ended";
    const { answer, call } = handled(service, method, metadata, body, clock());
    calls.push(call);
    if (answer === undefined) die();
    const ended = death.promise.then(() => "ended" as const);
    const passed = answers.pass(call).then((passes) => (passes && answer) || "reset");
    return Promise.race([ended, passed]);
  }

  return {
    ...inspection,
    profile,
    calls,
    outage,
    get isUp() {
      return isUp;
    },
    services,
    addProject,
    overwriteFromGit: overwrite,
    hold: answers.hold,
    loseAnswer(which) {
      const held = answers.hold(which);
      held.drop();
      return held.arrived;
    },
    loseUpdate() {
      shared.race.isLost = true;
    },
    die,
    restart(newKey) {
      die();
      forget(newKey);
      death = Promise.withResolvers();
      isUp = true;
    },
    perform,
  };
}

interface Parts {
  readonly inspection: Inspection;
  readonly services: readonly Service[];
  /** `newKey` is what it signs with from now on. */
  readonly forget: (newKey?: string | Buffer) => void;
  readonly addProject: (id: string) => void;
  readonly overwrite: ControlPlane["overwriteFromGit"];
}

function partsOfC(shared: Plane): Parts {
  const plane = openPlaneC(shared);
  return {
    inspection: inspectionOfC(plane),
    services: servicesOfC(plane),
    forget(newKey = plane.encryptionKey) {
      plane.encryptionKey = Buffer.from(newKey);
      plane.memory = openMemoryC(plane.clock);
    },
    addProject: (id) => plane.store.projects.add(id),
    overwrite: (id, fields) => overwriteFromGit(plane, id, fields),
  };
}

function partsOfL0(shared: Plane): Parts {
  const plane = openPlaneL0(shared);
  return {
    inspection: inspectionOfL0(plane),
    services: servicesOfL0(plane),
    forget(newKey = plane.encryptionKey) {
      plane.encryptionKey = Buffer.from(newKey);
      plane.memory = openMemoryL0(plane.clock);
    },
    addProject: (id) => plane.store.projects.add(id),
    overwrite() {
      throw new Error("pipeds of v0.9.0 do not overwrite applications");
    },
  };
}

/** Decodes, then authenticates, validates and handles. There is no answer when the process ends of it. */
function handled(
  service: Service,
  method: Method,
  metadata: Metadata,
  body: Uint8Array,
  at: number,
): { answer: Answer | undefined; call: Call } {
  const { input, output } = method;
  let project: string | undefined;
  let request: Message | undefined;
  const ended = (code: number, message: string, reply?: Uint8Array) => ({
    answer: { code, message, ...(reply && { body: reply }) },
    call: callOf(code, message),
  });
  const callOf = (code: number, message: string): Call => ({
    ...{ at, project, code, message },
    service: service.name,
    method: method.name,
    request: request && toJson(input, request),
  });
  try {
    request = decoded(input, body);
    const calledBy = (of: string) => {
      project = of;
    };
    return ended(ok, "", toBinary(output, method.invoke({ metadata, request, calledBy })));
  } catch (error) {
    if (error instanceof RpcError) return ended(error.code, error.message);
    if (!(error instanceof Panic)) throw error;
    return { answer: undefined, call: callOf(unavailable, error.message) };
  }
}

function decoded(schema: DescMessage, body: Uint8Array): Message {
  try {
    return fromBinary(schema, body);
  } catch (error) {
    // What decodes text throws this.
    const problem =
      error instanceof TypeError
        ? "string field contains invalid UTF-8"
        : "proto: cannot parse invalid wire-format data";
    throw new RpcError(internal, `grpc: error unmarshalling request: ${problem}`);
  }
}
