/**
 * Targets of the contract suite: the simulator, or the real PipeCD control plane in these variables.
 *
 * - `PIPECD_CONTRACT_ADDRESS`: a host with the standard ports, or `web=host:port,api=host:port,piped=host:port`.
 * - `PIPECD_CONTRACT_PROFILE`: `C` for v0.57.0 (default), or `L0` for v0.9.0. The tests of the other version still run
 *   against the simulator.
 * - `PIPECD_CONTRACT_PROJECT` and `PIPECD_CONTRACT_OTHER_PROJECT`: two projects in its configuration file. They default to
 *   `quickstart` and `other`.
 * - `PIPECD_CONTRACT_ENCRYPTION_KEY`, or `PIPECD_CONTRACT_ENCRYPTION_KEY_FILE` with the path of a file.
 *
 * The database need not be empty, because rows use the ids that they have created. Nothing is deleted afterward, because
 * PipeCD cannot delete a piped.
 *
 * Some groups always run against the simulator, with {@link simulatedTarget}: panics, which would crash the real server; outages,
 * restarts, and projects in the datastore, which need control of its stores; and tests that take minutes, for which the
 * simulator has its own clock.
 */
import { readFileSync } from "node:fs";
import { type ControlPlane, openControlPlane } from "../../../deploy/simulators/pipecd/controlplane.ts";
import { serve } from "../../../deploy/simulators/pipecd/server.ts";
import type { Port } from "../../../deploy/simulators/pipecd/service.ts";

/** A running control plane. */
export interface Target {
  readonly addresses: Readonly<Record<Port, string>>;
  readonly project: string;
  readonly otherProject: string;
  readonly encryptionKey: Buffer;
  close(): Promise<void>;
}

/** A simulated target with access to its state. */
export interface SimulatedTarget extends Target {
  readonly controlPlane: ControlPlane;
}

const standardPorts = { web: 9081, api: 9083, piped: 9080 } as const;

/** The target in the variables if it has that version; otherwise a simulator. */
export async function target(profile: "C" | "L0"): Promise<Target> {
  const { PIPECD_CONTRACT_ADDRESS: address, PIPECD_CONTRACT_PROFILE: version = "C" } = process.env;
  if (address === undefined || version !== profile) return simulatedTarget(profile);
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

/** A simulator with an empty database. */
export async function simulatedTarget(
  profile: "C" | "L0",
  clock: () => number = Date.now,
): Promise<SimulatedTarget> {
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
      throw new Error(`PIPECD_CONTRACT_ADDRESS has no ${port}=host:port: "${text}"`);
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
    "PIPECD_CONTRACT_ADDRESS needs PIPECD_CONTRACT_ENCRYPTION_KEY or PIPECD_CONTRACT_ENCRYPTION_KEY_FILE",
  );
}
