/**
 * What the contract suite talks to: the stand-in, or a running control plane of PipeCD that these variables tell of.
 *
 * - `PIPECD_CONTRACT_ADDRESS`: a host with the standard ports, or `web=host:port,api=host:port,piped=host:port`.
 * - `PIPECD_CONTRACT_PROFILE`: `C` for v0.57.0, which is the default, or `L0` for v0.9.0. The tables of the other one
 *   go on to run against the stand-in.
 * - `PIPECD_CONTRACT_PROJECT` and `PIPECD_CONTRACT_OTHER_PROJECT`: two projects of its configuration file, `quickstart`
 *   and `other` unless it says otherwise.
 * - `PIPECD_CONTRACT_ENCRYPTION_KEY`, or `PIPECD_CONTRACT_ENCRYPTION_KEY_FILE` with the path of a file.
 *
 * The database need not be empty: rows know the ids that they made. Nothing that they make is deleted, as PipeCD has no
 * way to delete a piped.
 *
 * Some groups run against the stand-in whatever the variables say, and take {@link standIn}: panics, which would end the
 * real server; outages, restarts and projects of the datastore, which need a hand on its stores; and what takes minutes,
 * for which the stand-in has a clock of its own.
 */
import { readFileSync } from "node:fs";
import { type ControlPlane, openControlPlane } from "../../../deploy/simulators/pipecd/controlplane.ts";
import { serve } from "../../../deploy/simulators/pipecd/server.ts";
import type { Port } from "../../../deploy/simulators/pipecd/service.ts";

/** A control plane that listens. */
export interface Target {
  readonly addresses: Readonly<Record<Port, string>>;
  readonly project: string;
  readonly otherProject: string;
  readonly encryptionKey: Buffer;
  close(): Promise<void>;
}

/** A target with the inside of the stand-in. */
export interface StandIn extends Target {
  readonly controlPlane: ControlPlane;
}

const standardPorts = { web: 9081, api: 9083, piped: 9080 } as const;

/** The one that the variables tell of, if it is of that version; otherwise a stand-in. */
export async function target(profile: "C" | "L0"): Promise<Target> {
  const { PIPECD_CONTRACT_ADDRESS: address, PIPECD_CONTRACT_PROFILE: version = "C" } = process.env;
  if (address === undefined || version !== profile) return standIn(profile);
  const { PIPECD_CONTRACT_PROJECT: project = "quickstart", PIPECD_CONTRACT_OTHER_PROJECT = "other" } =
    process.env;
  return {
    addresses: addressesIn(address),
    project,
    otherProject: PIPECD_CONTRACT_OTHER_PROJECT,
    encryptionKey: encryptionKey(),
    close: async () => undefined,
  };
}

/** A stand-in with an empty database. */
export async function standIn(profile: "C" | "L0", clock: () => number = Date.now): Promise<StandIn> {
  const [project, otherProject] = ["quickstart", "other"];
  const key = Buffer.from("encryption-key-of-more-than-32-bytes\n");
  const projects = [project, otherProject];
  const controlPlane = openControlPlane({ profile, projects, encryptionKey: key, clock });
  const { web, api, piped, stop } = await serve({ controlPlanes: () => [controlPlane] });
  const addresses = { web, api, piped };
  return { addresses, project, otherProject, encryptionKey: key, controlPlane, close: stop };
}

function addressesIn(text: string): Record<Port, string> {
  const of = (port: Port): string => {
    if (!text.includes("=")) return `${text}:${standardPorts[port]}`;
    const found = text.split(",").find((one) => one.startsWith(`${port}=`));
    if (found === undefined) {
      throw new Error(`expected ${port}=host:port in PIPECD_CONTRACT_ADDRESS, found "${text}"`);
    }
    return found.slice(port.length + 1);
  };
  return { web: of("web"), api: of("api"), piped: of("piped") };
}

function encryptionKey(): Buffer {
  const { PIPECD_CONTRACT_ENCRYPTION_KEY: key, PIPECD_CONTRACT_ENCRYPTION_KEY_FILE: path } = process.env;
  if (key !== undefined) return Buffer.from(key);
  if (path !== undefined) return readFileSync(path);
  throw new Error(
    "expected PIPECD_CONTRACT_ENCRYPTION_KEY or PIPECD_CONTRACT_ENCRYPTION_KEY_FILE beside PIPECD_CONTRACT_ADDRESS",
  );
}
