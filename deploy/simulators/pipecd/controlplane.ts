/**
 * Simulates PipeCD's control plane in this process. It reproduces v0.57.0 as recorded on the wire, and v0.9.0 from its
 * source, including bugs. Not simulated: the gateway, the web console, and deployments.
 */
import { type Answers, openAnswers } from "./answers.ts";
import { overwriteFromGit } from "./c/applications.ts";
import { openPlaneC, servicesOfC } from "./c/open.ts";
import { openMemory as openMemoryC } from "./c/plane.ts";
import type { Call } from "./call.ts";
import { type Inspection, inspectionOfC, inspectionOfL0 } from "./inspection.ts";
import { openPlaneL0, servicesOfL0 } from "./l0/open.ts";
import { openMemory as openMemoryL0 } from "./l0/plane.ts";
import type { Outage, Plane } from "./plane.ts";
import { openProcess, type ServerProcess, type Startup } from "./serverprocess.ts";
import type { Service } from "./service.ts";

/** Options of a control plane. */
export interface ControlPlaneOptions extends Startup {
  /** The version: C is v0.57.0, L0 is v0.9.0. */
  readonly profile: "C" | "L0";
  /** Returns milliseconds since the epoch. Defaults to the system clock. */
  readonly clock?: () => number;
}

/** A control plane. Its database lives as long as this object; its processes live from `restart` or `replace` to `die`. */
export interface ControlPlane extends Inspection, Pick<Answers, "hold"> {
  readonly profile: "C" | "L0";
  /** Received calls, in the order in which they took effect. */
  readonly calls: readonly Call[];
  /** Simulated outages of the stores. */
  readonly outage: Outage;
  readonly isUp: boolean;
  /** The newest process, which serves new connections. */
  readonly process: ServerProcess;
  /** Adds a project to the datastore. */
  addProject(id: string): void;
  /** Updates an application as a running piped of v0.57.0 does when its file in git differs. */
  overwriteFromGit(
    applicationId: string,
    fields: { name?: string; description?: string; labels?: Record<string, string> },
  ): void;
  /** The next call of the method takes effect, but its connection is reset. */
  loseAnswer(which: string | ((call: Call) => boolean)): Promise<Call>;
  /**
   * The next change of a row is reported as a success, but lost. PipeCD updates by reading and writing whole rows without a
   * lock, so a concurrent update can overwrite it. A piped key lost in this way does not authenticate.
   */
  loseUpdate(): void;
  /** Ends all processes; open and new connections are closed. */
  die(): void;
  /** Starts a process with the same database and empty caches. It reads the given startup settings. */
  restart(startup?: Partial<Startup>): void;
  /**
   * Restarts like a rollout, and returns the previous process. That one keeps serving its connections with its old settings
   * until it is ended.
   */
  replace(startup?: Partial<Startup>): ServerProcess;
  /** Ends all replaced processes. */
  endReplaced(): void;
}

/** Creates a running control plane with an empty database. */
export function openControlPlane(options: ControlPlaneOptions): ControlPlane {
  const { profile, clock = Date.now } = options;
  const outage: Outage = { datastore: false, cache: false };
  const shared = {
    outage,
    race: { isLost: false },
    clock,
    seconds: () => BigInt(Math.trunc(clock() / 1000)),
  };
  const first = { ...shared, ...read(options) };
  const { inspection, servicesOf, addProject, overwrite } =
    profile === "C" ? partsOfC(first) : partsOfL0(first);
  const calls: Call[] = [];
  const answers = openAnswers();
  let startup: Startup = options;
  const processes: ServerProcess[] = [];
  let process = start();

  function start(changed: Partial<Startup> = {}): ServerProcess {
    startup = { ...startup, ...changed };
    const started = openProcess(servicesOf(read(startup)), { calls, answers, clock });
    processes.push(started);
    return started;
  }

  function die(): void {
    for (const one of processes.splice(0)) one.end();
  }

  return {
    ...inspection,
    profile,
    calls,
    outage,
    get isUp() {
      return process.isUp;
    },
    get process() {
      return process;
    },
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
    restart(changed) {
      die();
      process = start(changed);
    },
    replace(changed) {
      const former = process;
      process = start(changed);
      return former;
    },
    endReplaced() {
      for (const one of processes.splice(0, processes.length - 1)) one.end();
    },
  };
}

const read = ({ projects, encryptionKey }: Startup): Pick<Plane, "projects" | "encryptionKey"> => ({
  projects: new Set(projects),
  encryptionKey: Buffer.from(encryptionKey),
});

interface Parts {
  readonly inspection: Inspection;
  /** Services of a new process with these settings and empty caches. */
  readonly servicesOf: (startup: Pick<Plane, "projects" | "encryptionKey">) => readonly Service[];
  readonly addProject: (id: string) => void;
  readonly overwrite: ControlPlane["overwriteFromGit"];
}

function partsOfC(first: Plane): Parts {
  const plane = openPlaneC(first);
  return {
    inspection: inspectionOfC(plane),
    servicesOf: (startup) => servicesOfC({ ...plane, ...startup, memory: openMemoryC(plane.clock) }),
    addProject: (id) => plane.store.projects.add(id),
    overwrite: (id, fields) => overwriteFromGit(plane, id, fields),
  };
}

function partsOfL0(first: Plane): Parts {
  const plane = openPlaneL0(first);
  return {
    inspection: inspectionOfL0(plane),
    servicesOf: (startup) => servicesOfL0({ ...plane, ...startup, memory: openMemoryL0(plane.clock) }),
    addProject: (id) => plane.store.projects.add(id),
    overwrite() {
      throw new Error("pipeds of v0.9.0 do not overwrite applications");
    },
  };
}
