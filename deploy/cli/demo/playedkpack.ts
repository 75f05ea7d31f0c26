/** kpack, played by a program: on one machine there is nothing that containers could be built with. */
import { z } from "zod";
import type { Part } from "./played.ts";

const ready = z.object({ builder: z.object({ kind: z.string(), name: z.string() }) });

/** It says which builder there is. */
type Kpack = z.infer<typeof ready>;

/** The part, as `command` needs it. */
export const kpackPart = (command: string): Part<Kpack> => ({
  plays: "kpack",
  flag: "kpack",
  command,
  ready,
});
