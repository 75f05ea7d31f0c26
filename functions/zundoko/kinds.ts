/** Hikawa, Zundoko and Kiyoshi: `zundokokiyoshi.kaitoy.github.com/v1beta1`. */
import { conditions, defineKind, type ObjectOf, observedGeneration, z } from "denrei/kinds";
import { group, version } from "./names.ts";

const age = { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" } as const;

/** A singer: says Zun and Doko until the last five words are Zun, Zun, Zun, Zun, Doko, then Kiyoshi. */
export const Hikawa = defineKind({
  group,
  version,
  kind: "Hikawa",
  description: "Hikawa says Zun and Doko until it is time for Kiyoshi.",
  shortNames: ["hkw"],
  categories: ["zundoko"],
  spec: z.object({
    intervalMillis: z.int32().min(0).max(86_400_000).describe("Pause between two words, in milliseconds."),
    numZundokos: z.int32().min(0).optional().describe("Number of words so far. Written by the reconciler."),
    sayKiyoshi: z
      .boolean()
      .optional()
      .describe("Whether it is time to say Kiyoshi. Written by the reconciler."),
  }),
  status: z.object({
    numZundokosSaid: z.int32().min(0).optional().describe("Number of words said."),
    kiyoshied: z.boolean().optional().describe("Whether the Kiyoshi exists."),
    observedGeneration,
    conditions: conditions("Ready: the song is over. Progressing: more words follow."),
  }),
  columns: [
    { name: "Interval", type: "integer", jsonPath: ".spec.intervalMillis" },
    { name: "Said", type: "integer", jsonPath: ".status.numZundokosSaid" },
    { name: "Kiyoshied", type: "boolean", jsonPath: ".status.kiyoshied" },
    age,
  ],
});
export type Hikawa = ObjectOf<typeof Hikawa>;

/** One word. */
export const Zundoko = defineKind({
  group,
  version,
  kind: "Zundoko",
  description: "A word that a Hikawa said.",
  shortNames: ["zdk"],
  categories: ["zundoko"],
  spec: z.object({ say: z.enum(["Zun", "Doko"]).describe("The word.") }),
  columns: [{ name: "Say", type: "string", jsonPath: ".spec.say" }, age],
});
export type Zundoko = ObjectOf<typeof Zundoko>;

/** The end of the song. */
export const Kiyoshi = defineKind({
  group,
  version,
  kind: "Kiyoshi",
  plural: "kiyoshis",
  description: "The last word of a Hikawa.",
  shortNames: ["kys"],
  categories: ["zundoko"],
  spec: z.object({ say: z.enum(["Kiyoshi!"]).describe("The word.") }),
  columns: [{ name: "Say", type: "string", jsonPath: ".spec.say" }, age],
});
export type Kiyoshi = ObjectOf<typeof Kiyoshi>;
