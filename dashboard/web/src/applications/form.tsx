/** The form for Applications. */
import { Application } from "@denrei/functions/paas/kinds/application";
import { z } from "zod";
import { applications } from "../api/resource.ts";
import type { Path } from "../ui/form/draft.ts";
import { EnvField } from "../ui/form/env.tsx";
import { EnvFromField } from "../ui/form/envfrom.tsx";
import { LinesField, NumberField, TextField } from "../ui/form/field.tsx";
import type { Form } from "../ui/form/form.ts";
import { More } from "../ui/form/group.tsx";
import { NewObject, type ObjectForm } from "../ui/form/object.tsx";
import { PairsField } from "../ui/form/pairs.tsx";
import { withoutReserved } from "./reserved.ts";
import { formText, listText, imageText as text } from "./text.ts";

const shownFields: readonly Path[] = [
  "domains",
  "image",
  "replicas",
  "port",
  "command",
  "args",
  "env",
  "envFrom",
  "healthCheck",
  "resources",
  "attributes",
  "imagePullSecret",
  "serviceAccount",
].map((name) => ["spec", name]);

/** Creates and edits Applications. */
export const applicationForm: ObjectForm<Application> = {
  resource: applications,
  list: ["/applications", listText.title],
  schema: withoutReserved(z.object({ spec: Application.definition?.spec ?? z.object() }), ["spec", "env"]),
  skeleton: { spec: {} },
  fields: shownFields,
  draftOf: (spec) => ({ spec }),
  specOf: ({ spec = {} }) => spec,
  content: (form, namespace) => <SpecFields form={form} namespace={namespace} />,
};

/** The screen that creates an Application. */
export const NewApplication = () => (
  <NewObject kind={applicationForm} title={formText.title} spec={{ replicas: 1 }} />
);

function SpecFields({ form, namespace }: { form: Form; namespace: string }) {
  const field = (...path: string[]) => ({ form, path: ["spec", ...path] });
  return (
    <>
      <LinesField {...field("domains")} label={formText.hosts} rows={2} hint={formText.hostsHint} />
      <TextField
        {...field("image")}
        label={formText.image}
        placeholder={formText.imageExample}
        hint={formText.imageHint}
      />
      <Pin form={form} />
      <EnvField {...field("env")} label={formText.env} namespace={namespace} />
      <EnvFromField {...field("envFrom")} label={formText.envFrom} namespace={namespace} />
      <NumberField {...field("replicas")} label={formText.pods} />
      <NumberField {...field("port")} label={formText.port} min={1} hint={formText.portHint} />
      <More what={formText.more}>
        <LinesField {...field("command")} label={formText.command} hint={formText.commandHint} />
        <LinesField {...field("args")} label={formText.args} hint={formText.argsHint} />
        <TextField
          {...field("healthCheck", "path")}
          label={formText.healthPath}
          placeholder={formText.healthExample}
          hint={formText.healthHint}
        />
        <PairsField
          {...field("resources", "requests")}
          label={formText.requests}
          hint={formText.requestsHint}
        />
        <PairsField {...field("resources", "limits")} label={formText.limits} />
        <PairsField {...field("attributes")} label={formText.attributes} hint={formText.attributesHint} />
        <TextField {...field("imagePullSecret")} label={formText.pullSecret} />
        <TextField {...field("serviceAccount")} label={formText.serviceAccount} />
      </More>
    </>
  );
}

/** Says that a rollback has pinned an image, which the image of the form does not replace. */
function Pin({ form }: { form: Form }) {
  const path = ["spec", "pinnedImage"];
  const image = form.value(path);
  if (typeof image !== "string") return null;
  return (
    <div class="notice busy row">
      <span>
        {text.pinnedTo} <code>{image}</code>. {text.fieldWhilePinned}
      </span>
      <button type="button" onClick={() => form.set(path, undefined)}>
        {text.endPin}
      </button>
    </div>
  );
}
