/** The login simulator: an OpenID Connect issuer for a local platform. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { IssuerEnvironment, LocalProcesses } from "../../local/index.ts";
import type { DashboardUser } from "../users.ts";
import { type Simulator, type StartOptions, startSimulator } from "./start.ts";

const ready = z.object({ url: z.url(), clientId: z.string(), clientSecret: z.string() });

/** The issuer, and the client that it knows the dashboard as. */
export type SimulatedLogin = Readonly<z.infer<typeof ready>>;

export const loginSimulator: Simulator<SimulatedLogin> = {
  name: "login",
  service: "login",
  needs: "oidc-provider",
  ready,
};

/** How to start it. */
export interface LoginOptions extends Pick<StartOptions, "onEnd" | "signal"> {
  readonly users: readonly DashboardUser[];
  /** The address of the dashboard, where a login ends. */
  readonly dashboardUrl: string;
}

/** Starts it; resolves when it answers, with the path of the CA certificate. Throws what `startSimulator` throws. */
export async function startLogin(
  { ca, server, directory, spawn }: IssuerEnvironment & Pick<LocalProcesses, "spawn">,
  { users, dashboardUrl, ...rest }: LoginOptions,
): Promise<SimulatedLogin & { readonly ca: string }> {
  const folder = join(directory, "login");
  await mkdir(folder, { mode: 0o700 });
  const write = async (name: string, text: string): Promise<string> => {
    const path = join(folder, name);
    await writeFile(path, text, { mode: 0o600 });
    return path;
  };
  const { cert, key } = server(["127.0.0.1"]);
  const flags = {
    "--tls-cert": await write("tls.crt", cert),
    "--tls-key": await write("tls.key", key),
    "--dashboard-url": dashboardUrl,
  };
  const people = users.map(({ name, password, groups }) => ({ name, password, groups }));
  const login = await startSimulator({ spawn }, loginSimulator, {
    ...rest,
    args: Object.entries(flags).flat(),
    // Other users of the machine can read a command line.
    env: { SIMULATOR_PEOPLE: JSON.stringify(people) },
  });
  return { ...login, ca: await write("ca.crt", ca) };
}
