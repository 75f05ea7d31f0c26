import { Hikawa } from "@denrei/functions/zundoko/kinds";
import { wordSuffix } from "@denrei/functions/zundoko/names";
import { z } from "zod";
import { NumberField } from "../ui/form/field.tsx";
import { NewObject, type ObjectForm } from "../ui/form/object.tsx";
import { hikawas } from "./resources.ts";
import { listText, formText as text } from "./text.ts";

const pause = ["spec", "intervalMillis"];

const hikawaForm: ObjectForm<Hikawa> = {
  resource: hikawas,
  list: ["/zundoko", listText.title],
  schema: z.object({ spec: Hikawa.definition?.spec ?? z.object() }),
  skeleton: { spec: {} },
  nameExample: text.nameExample,
  // The names of its words are longer than its own and must fit into 253 characters.
  longestName: 253 - wordSuffix(100_000).length - 1,
  fields: [pause],
  draftOf: (spec) => ({ spec }),
  specOf: ({ spec = {} }) => spec,
  content: (form) => <NumberField form={form} path={pause} label={text.pause} hint={text.pauseHint} />,
};

/** The screen that creates a Hikawa. */
export const NewHikawa = () => (
  <NewObject kind={hikawaForm} title={text.title} spec={{ intervalMillis: 500 }} />
);
