import { Hikawa } from "@denrei/functions/zundoko/kinds";
import { wordSuffix } from "@denrei/functions/zundoko/names";
import { z } from "zod";
import { NumberField } from "../ui/form/field.tsx";
import { NewObject, type ObjectForm } from "../ui/form/object.tsx";
import { hikawas } from "./resources.ts";

const pause = ["spec", "intervalMillis"];

const hikawaForm: ObjectForm<Hikawa> = {
  resource: hikawas,
  list: ["/zundoko", "Zundoko"],
  schema: z.object({ spec: Hikawa.definition?.spec ?? z.object() }),
  skeleton: { spec: {} },
  // The names of its words are longer than its own and must fit into 253 characters.
  longestName: 253 - wordSuffix(100_000).length - 1,
  fields: [pause],
  draftOf: (spec) => ({ spec }),
  specOf: ({ spec = {} }) => spec,
  content: (form) => (
    <NumberField form={form} path={pause} label="Pause" hint="Between two words, in milliseconds." />
  ),
};

/** The screen that creates a Hikawa. */
export const NewHikawa = () => (
  <NewObject kind={hikawaForm} title="Create a Hikawa" spec={{ intervalMillis: 500 }} />
);
