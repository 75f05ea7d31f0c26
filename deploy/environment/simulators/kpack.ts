/** The kpack simulator: one machine has nothing to build images with. */
import { z } from "zod";
import type { Simulator } from "./start.ts";

const ready = z.object({ builder: z.object({ kind: z.string(), name: z.string() }) });

/** Prints the builder that Images can refer to. */
export const kpackSimulator: Simulator<z.infer<typeof ready>> = { name: "kpack", service: "kpack", ready };
