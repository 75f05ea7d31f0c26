/** PipeCD, played by a program: where a demo runs no pod is really run, so nothing would answer. */
import { z } from "zod";
import type { Part } from "./played.ts";

const ready = z.object({ web: z.string(), api: z.string() });

/** Where it is reached, as `host:port`, for its console's API and for holders of API keys. */
export type PlayedPipecd = Readonly<z.infer<typeof ready>>;

/** A deed of an agent, from a line of the program; undefined for any other line. */
export function deedOfAgent(line: string): string | undefined {
  try {
    return z.object({ did: z.string() }).safeParse(JSON.parse(line)).data?.did;
  } catch {
    return undefined;
  }
}

/** The part, as `command` needs it. */
export const pipecdPart = (command: string): Part<PlayedPipecd> => ({
  plays: "PipeCD",
  flag: "pipecd",
  command,
  ready,
});

/** How workers are told of it, in their environment. */
export const addressesOf = ({ web, api }: PlayedPipecd): Readonly<Record<string, string>> => ({
  DENREI_PIPECD_WEB_ADDRESS: web,
  DENREI_PIPECD_API_ADDRESS: api,
});
