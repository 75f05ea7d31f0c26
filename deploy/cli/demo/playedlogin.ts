/** The identity provider of a company, played by a program: a local platform is nobody's company, and has none. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { IdentityGround, LocalProcesses } from "../../local/index.ts";
import type { DemoPerson } from "./people.ts";
import { type Part, type PlayedOptions, startPlayed } from "./played.ts";

const ready = z.object({ url: z.url(), clientId: z.string(), clientSecret: z.string() });

/** Where it is, and as which client the dashboard is known there. */
export type PlayedLogin = Readonly<z.infer<typeof ready>>;

/** The part, as `command` needs it. */
export const loginPart = (command: string): Part<PlayedLogin> => ({
  plays: "a login",
  flag: "login",
  command,
  ready,
});

/** How it is played. */
export interface PlayLoginOptions extends Pick<PlayedOptions, "program" | "onEnd" | "signal"> {
  readonly part: Part<PlayedLogin>;
  /** Who can log in. */
  readonly people: readonly DemoPerson[];
  /** Where the dashboard will be. */
  readonly dashboardUrl: string;
}

/** Starts the program; resolves when it answers, with the path of the authority's certificate. Throws what `startPlayed` throws. */
export async function startPlayedLogin(
  { ca, server, directory, spawn }: IdentityGround & Pick<LocalProcesses, "spawn">,
  { part, people, dashboardUrl, ...rest }: PlayLoginOptions,
): Promise<PlayedLogin & { readonly ca: string }> {
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
  const known = people.map(({ name, password, groups }) => ({ name, password, groups }));
  const played = await startPlayed({ spawn }, part, {
    ...rest,
    args: Object.entries(flags).flat(),
    // A command line is for all to see.
    env: { DEMO_PEOPLE: JSON.stringify(known) },
  });
  return { ...played, ca: await write("ca.crt", ca) };
}
