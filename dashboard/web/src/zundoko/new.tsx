/** A new Hikawa. */
import { useLocation } from "preact-iso";
import { Hikawa } from "../../../../functions/zundoko/kinds.ts";
import { wordSuffix } from "../../../../functions/zundoko/names.ts";
import { create } from "../api/objects.ts";
import { apiVersionOf } from "../api/resource.ts";
import { NumberField, Send, TextField } from "../ui/form/field.tsx";
import { useForm } from "../ui/form/form.ts";
import { newObject } from "../ui/form/newobject.ts";
import { Head } from "../ui/head.tsx";
import { namespace } from "../ui/namespace.tsx";
import { notify } from "../ui/notices.tsx";
import { hikawas } from "./resources.ts";

/** Names have 253 characters at most, and those of its words are longer than its own. */
const longestName = 253 - wordSuffix(100_000).length - 1;
const schema = newObject(Hikawa, longestName);

const name = ["metadata", "name"];
const place = ["metadata", "namespace"];
const pause = ["spec", "intervalMillis"];

/** The screen. */
export function NewHikawa() {
  const { route } = useLocation();
  const form = useForm({
    initial: { metadata: { namespace: namespace.value || undefined }, spec: { intervalMillis: 500 } },
    schema,
    fields: [name, place, pause],
    async send(draft) {
      const object = { apiVersion: apiVersionOf(hikawas), kind: hikawas.kind, ...(draft as object) };
      const { metadata } = await create(hikawas, object as Hikawa);
      notify("good", `Hikawa ${metadata.name} was created`);
      route(`/zundoko/${metadata.namespace}/${metadata.name}`);
    },
  });
  return (
    <>
      <Head title="Create a Hikawa" trail={["/zundoko", "Zundoko"]} />
      <form class="card" onSubmit={form.submit} noValidate>
        <TextField form={form} path={name} label="Name" placeholder="hikawa" />
        <TextField form={form} path={place} label="Namespace of the Hikawa" />
        <NumberField form={form} path={pause} label="Pause" hint="Between two words, in milliseconds." />
        <Send form={form} label="Create">
          <a class="button" href="/zundoko">
            Cancel
          </a>
        </Send>
      </form>
    </>
  );
}
