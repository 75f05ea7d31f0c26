/** The PipeCD simulator: pods of a local platform do not run, so no PipeCD would answer. */
import { z } from "zod";
import type { Simulator } from "./start.ts";

const ready = z.object({ web: z.string(), api: z.string() });

/** Addresses, as `host:port`, of the API of its console and of the API for API keys. */
export type SimulatedPipecd = Readonly<z.infer<typeof ready>>;

export const pipecdSimulator: Simulator<SimulatedPipecd> = { name: "pipecd", service: "PipeCD", ready };

/** What a simulated agent reports in a line of output; undefined for any other line. */
export function agentEvent(line: string): string | undefined {
  try {
    return z.object({ did: z.string() }).safeParse(JSON.parse(line)).data?.did;
  } catch {
    return undefined;
  }
}

/** Environment variables that lead workers to it. */
export const addressesOf = ({ web, api }: SimulatedPipecd): Readonly<Record<string, string>> => ({
  DENREI_PIPECD_WEB_ADDRESS: web,
  DENREI_PIPECD_API_ADDRESS: api,
});
