/**
 * A stand-in of PipeCD's control plane, in this process: it does what v0.57.0 was seen to do on the wire, and what the
 * source of v0.9.0 does, traps included. It has no gateway, no web console and no deployments.
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

/** What a control plane is configured with. */
export interface ControlPlaneOptions extends Startup {
  /** C is v0.57.0, L0 is v0.9.0. */
  readonly profile: "C" | "L0";
  /** Milliseconds since the epoch: the system's unless a test moves time. */
  readonly clock?: () => number;
}

/** A control plane. Its database lives as long as this does, its processes from `restart` or `replace` to `die`. */
export interface ControlPlane extends Inspection, Pick<Answers, "hold"> {
  readonly profile: "C" | "L0";
  /** Calls that reached it, in the order in which they had their effects. */
  readonly calls: readonly Call[];
  /** Stores that tests put out of reach, and back. */
  readonly outage: Outage;
  readonly isUp: boolean;
  /** The process that was started last: new connections reach this one. */
  readonly process: ServerProcess;
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
  /** Ends all processes: connections end, and so do new ones. */
  die(): void;
  /** Starts a process with the same database and an empty memory. It reads the startup settings that are given. */
  restart(startup?: Partial<Startup>): void;
  /**
   * The same as a rollout does it. The process of before, which is returned, goes on to answer on its connections with what it
   * has read, until it is ended.
   */
  replace(startup?: Partial<Startup>): ServerProcess;
  /** Ends the processes that were replaced. */
  endReplaced(): void;
}

/** A running control plane with an empty database. */
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
  /** Those of a process that has read this, and remembers nothing. */
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
