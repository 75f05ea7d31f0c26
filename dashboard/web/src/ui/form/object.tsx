/** Screens with a form for an object of one kind: a new one, and one that is changed. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { z } from "zod";
import type { KubeObject, Stored } from "../../../../../bus/kube/object.ts";
import { create, patchUnchanged } from "../../api/objects.ts";
import { apiVersionOf, type Resource } from "../../api/resource.ts";
import { Head } from "../head.tsx";
import { namespace } from "../namespace.tsx";
import { notify } from "../notices.tsx";
import { mergePatchOf, type Path, withoutEmpty, withSkeleton } from "./draft.ts";
import { Send, TextField } from "./field.tsx";
import { type Form, useForm } from "./form.ts";
import { newMetadata } from "./metadata.ts";

/** What is typed beside the specification stays in the form. */
export interface Draft {
  readonly spec?: object;
  readonly [beside: string]: unknown;
}

/** What the forms of a kind have in common. */
export interface ObjectForm<T extends KubeObject = KubeObject> {
  readonly resource: Resource<T>;
  /** Its list's address and name. */
  readonly place: readonly [to: string, name: string];
  /** Of the whole draft but for the metadata; gets each object of the skeleton, even where it is empty. */
  readonly schema: z.ZodType;
  readonly skeleton: object;
  /** Characters; 63 unless given, for names that become values of labels. */
  readonly longestName?: number;
  /** Paths of what is shown. */
  readonly fields: readonly Path[];
  /** The draft of a specification. */
  draftOf(spec: object): Draft;
  /** The specification in a draft that has been checked. */
  specOf(draft: Draft): object;
  /** What is typed into. The namespace is that of the object, as far as it is known. */
  readonly content: (form: Form, namespace: string) => ComponentChildren;
}

const metadataFields: readonly Path[] = [
  ["metadata", "name"],
  ["metadata", "namespace"],
];

/** Creates an object. */
export function NewObject<T extends KubeObject>({
  kind: { resource, place, schema, skeleton, longestName = 63, fields, draftOf, specOf, content },
  title,
  spec = {},
}: {
  kind: ObjectForm<T>;
  title: string;
  /** What is in it already. */
  spec?: object;
}) {
  const { route } = useLocation();
  const form = useForm({
    initial: { metadata: { namespace: namespace.value || undefined }, ...draftOf(spec) },
    schema: z.preprocess(
      (draft) => withSkeleton(draft, { metadata: {}, ...skeleton }),
      z.intersection(z.object({ metadata: newMetadata(longestName) }), schema),
    ),
    fields: [...metadataFields, ...fields],
    async send(draft) {
      const { metadata } = draft as KubeObject;
      const object = { apiVersion: apiVersionOf(resource), kind: resource.kind, metadata };
      await create(resource, { ...object, spec: specOf(draft as Draft) } as T);
      notify("good", `${metadata.name} is created.`);
      route(`${place[0]}/${metadata.namespace}/${metadata.name}`);
    },
  });
  return (
    <>
      <Head title={title} trail={place} />
      <form class="card" onSubmit={form.submit} noValidate>
        <TextField form={form} path={["metadata", "name"]} label="Name" placeholder="web" />
        <TextField form={form} path={["metadata", "namespace"]} label="In the namespace" />
        {content(form, String(form.value(["metadata", "namespace"]) ?? ""))}
        <Send form={form} label="Create">
          <a class="button" href={place[0]}>
            Cancel
          </a>
        </Send>
      </form>
    </>
  );
}

/** Changes an object. What somebody else changes meanwhile is said, and not written over. */
export function ChangedObject<T extends KubeObject>({
  kind,
  object,
}: {
  kind: ObjectForm<T>;
  object: Stored<T>;
}) {
  const [begun, setBegun] = useState(object);
  const generation = object.metadata.generation ?? 0;
  const isOther = generation > (begun.metadata.generation ?? 0);
  return (
    <div class="stack">
      {isOther && (
        <div class="notice busy row" role="status">
          <span>Somebody has changed it since you began.</span>
          <button type="button" onClick={() => setBegun(object)}>
            Begin anew with what is there now
          </button>
        </div>
      )}
      <ChangeForm key={begun.metadata.generation} kind={kind} begun={begun} onSaved={setBegun} />
    </div>
  );
}

function ChangeForm<T extends KubeObject>({
  kind: { resource, schema, skeleton, fields, draftOf, specOf, content },
  begun,
  onSaved,
}: {
  kind: ObjectForm<T>;
  begun: Stored<T>;
  onSaved: (saved: Stored<T>) => void;
}) {
  const form = useForm({
    initial: draftOf(begun.spec as object),
    base: `${begun.metadata.uid} ${begun.metadata.generation}`,
    schema: z.preprocess((draft) => withSkeleton(draft, skeleton), schema),
    fields,
    async send(draft) {
      const before = specOf((withoutEmpty(draftOf(begun.spec as object)) ?? {}) as Draft);
      const spec = mergePatchOf(before, specOf(draft as Draft));
      if (spec === undefined) return notify("good", "Nothing is different.");
      onSaved(await patchUnchanged(resource, begun, { spec }));
      notify("good", `${begun.metadata.name} is changed.`);
    },
  });
  return (
    <form class="card" onSubmit={form.submit} noValidate>
      {content(form, begun.metadata.namespace ?? "")}
      <Send form={form} label="Save" />
    </form>
  );
}
