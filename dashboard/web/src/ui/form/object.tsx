/** Forms that create or edit an object of one kind. */
import type { KubeObject, Stored } from "denrei/kinds";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { z } from "zod";
import { creating } from "../../api/access.ts";
import { create, patchUnchanged } from "../../api/objects.ts";
import { apiVersionOf, type Resource } from "../../api/resource.ts";
import { Head } from "../head.tsx";
import { namespace } from "../namespace.tsx";
import { notify } from "../notices.tsx";
import { hasPatch, mergePatchOf, type Path, withoutEmpty, withSkeleton } from "./draft.ts";
import { Restored, Send, TextField } from "./field.tsx";
import { type Form, useForm } from "./form.ts";
import { newMetadata } from "./metadata.ts";
import { forgetDraft, savedDraft } from "./saveddraft.ts";
import { text } from "./text.ts";

/** A draft. Fields other than `spec` stay in the form. */
export interface Draft {
  readonly spec?: object;
  readonly [beside: string]: unknown;
}

/** What the create and edit forms of a kind share. */
export interface ObjectForm<T extends KubeObject = KubeObject> {
  readonly resource: Resource<T>;
  /** Address and name of the list screen. */
  readonly list: readonly [to: string, name: string];
  /** Schema of the draft without metadata. It always gets the objects of the skeleton. */
  readonly schema: z.ZodType;
  readonly skeleton: object;
  /** A name that suits the kind. Defaults to that of a web application. */
  readonly nameExample?: string;
  /** Maximum length of the name. Defaults to 63, the limit of label values. */
  readonly longestName?: number;
  /** Paths of the shown fields. */
  readonly fields: readonly Path[];
  /** Turns a specification into a draft. */
  draftOf(spec: object): Draft;
  /** Extracts the specification from a valid draft. */
  specOf(draft: Draft): object;
  /** The fields. The namespace is the object's; empty while it is unknown. */
  readonly content: (form: Form, namespace: string) => ComponentChildren;
}

const metadataFields: readonly Path[] = [
  ["metadata", "name"],
  ["metadata", "namespace"],
];

/** The screen that creates an object. */
export function NewObject<T extends KubeObject>({
  kind,
  title,
  spec = {},
}: {
  kind: ObjectForm<T>;
  title: string;
  /** Initial specification. */
  spec?: object;
}) {
  const [attempt, setAttempt] = useState(0);
  return (
    <>
      <Head title={title} trail={kind.list} />
      <NewForm key={attempt} kind={kind} spec={spec} restart={() => setAttempt(attempt + 1)} />
    </>
  );
}

function NewForm<T extends KubeObject>({
  kind,
  spec,
  restart,
}: {
  kind: ObjectForm<T>;
  spec: object;
  restart: () => void;
}) {
  const { resource, list, schema, skeleton, longestName = 63, fields, draftOf, specOf, content } = kind;
  const { route } = useLocation();
  const form = useForm({
    initial: { metadata: { namespace: namespace.value || undefined }, ...draftOf(spec) },
    schema: z.preprocess(
      (draft) => withSkeleton(draft, { metadata: {}, ...skeleton }),
      z.intersection(z.object({ metadata: newMetadata(longestName) }), schema),
    ),
    fields: [...metadataFields, ...fields],
    restart,
    async send(draft) {
      const { metadata } = draft as KubeObject;
      const object = { apiVersion: apiVersionOf(resource), kind: resource.kind, metadata };
      await create(resource, { ...object, spec: specOf(draft as Draft) } as T);
      notify("good", text.created(metadata.name));
      route(`${list[0]}/${metadata.namespace}/${metadata.name}`);
    },
  });
  const target = String(form.value(["metadata", "namespace"]) ?? "");
  return (
    <form class="card" onSubmit={form.submit} noValidate>
      <Restored form={form} />
      <TextField
        form={form}
        path={["metadata", "name"]}
        label={text.name}
        placeholder={kind.nameExample ?? text.nameExample}
      />
      <TextField form={form} path={["metadata", "namespace"]} label={text.namespace} />
      {content(form, target)}
      <Send form={form} label={text.create} needs={creating(resource, target)}>
        <a class="button" href={list[0]} onClick={() => forgetDraft()}>
          {text.cancel}
        </a>
      </Send>
    </form>
  );
}

/**
 * The version of the object that the unsaved input changes: an older one, if another user changed the object meanwhile. Forgets input
 * that was for a deleted object, and input that was saved although the user left before the response.
 */
function editedVersion<T extends KubeObject>(kind: ObjectForm<T>, object: Stored<T>): Stored<T> {
  const saved = savedDraft();
  if (saved?.base === undefined) return object;
  const { draft, base } = saved;
  if (base.uid !== object.metadata.uid) {
    forgetDraft();
    notify("bad", text.replaced);
    return object;
  }
  const patch = mergePatchOf(specIn(kind, base.spec), kind.specOf((withoutEmpty(draft) ?? {}) as Draft));
  if (hasPatch(specIn(kind, object.spec), patch)) {
    forgetDraft();
    return object;
  }
  const metadata = { ...object.metadata, generation: base.generation };
  return { ...object, metadata, spec: base.spec as Stored<T>["spec"] };
}

/** A specification without the empty values that a form leaves out. */
const specIn = <T extends KubeObject>({ draftOf, specOf }: ObjectForm<T>, spec: unknown): object =>
  specOf((withoutEmpty(draftOf(spec as object)) ?? {}) as Draft);

/** The form that edits an object. It reports concurrent changes and does not overwrite them. */
export function EditObject<T extends KubeObject>({
  kind,
  object,
}: {
  kind: ObjectForm<T>;
  object: Stored<T>;
}) {
  const [edited, setEdited] = useState(() => editedVersion(kind, object));
  const [isChanged, setChanged] = useState(() => savedDraft() !== undefined);
  const [attempt, setAttempt] = useState(0);
  const isNewer = (object.metadata.generation ?? 0) > (edited.metadata.generation ?? 0);
  const base = isNewer && !isChanged ? object : edited;
  const edit = (version: Stored<T>) => {
    setEdited(version);
    setChanged(false);
  };
  const startOver = () => {
    forgetDraft();
    edit(object);
    setAttempt(attempt + 1);
  };
  return (
    <div class="stack">
      {base !== object && isNewer && (
        <div class="notice busy row" role="status">
          <span>{text.changed}</span>
          <button type="button" onClick={startOver}>
            {text.startOver}
          </button>
        </div>
      )}
      <EditForm
        key={`${base.metadata.generation} ${attempt}`}
        kind={kind}
        base={base}
        onChange={() => setChanged(true)}
        onSaved={edit}
        restart={startOver}
      />
    </div>
  );
}

function EditForm<T extends KubeObject>({
  kind,
  base,
  onChange,
  onSaved,
  restart,
}: {
  kind: ObjectForm<T>;
  base: Stored<T>;
  onChange: () => void;
  onSaved: (saved: Stored<T>) => void;
  restart: () => void;
}) {
  const { resource, schema, skeleton, fields, draftOf, specOf, content } = kind;
  const { uid = "", generation = 0, name } = base.metadata;
  const form = useForm({
    initial: draftOf(base.spec as object),
    base: { uid, generation, spec: base.spec },
    schema: z.preprocess((draft) => withSkeleton(draft, skeleton), schema),
    fields,
    onChange,
    restart,
    async send(draft) {
      const spec = mergePatchOf(specIn(kind, base.spec), specOf(draft as Draft));
      if (spec === undefined) return notify("good", text.noChanges);
      const saved = await patchUnchanged(resource, base, { spec });
      onSaved(saved);
      notify("good", text.saved(name));
    },
  });
  return (
    <form class="card" onSubmit={form.submit} noValidate>
      <Restored form={form} />
      {content(form, base.metadata.namespace ?? "")}
      <Send
        form={form}
        label={text.save}
        needs={{ verb: "patch", resource, namespace: base.metadata.namespace }}
      />
    </form>
  );
}
