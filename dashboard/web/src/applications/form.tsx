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
import { imageText as text } from "./text.ts";

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
  list: ["/applications", "Applications"],
  schema: withoutReserved(z.object({ spec: Application.definition?.spec ?? z.object() }), ["spec", "env"]),
  skeleton: { spec: {} },
  fields: shownFields,
  draftOf: (spec) => ({ spec }),
  specOf: ({ spec = {} }) => spec,
  content: (form, namespace) => <SpecFields form={form} namespace={namespace} />,
};

/** The screen that creates an Application. */
export const NewApplication = () => (
  <NewObject kind={applicationForm} title="Create an Application" spec={{ replicas: 1 }} />
);

function SpecFields({ form, namespace }: { form: Form; namespace: string }) {
  const field = (...path: string[]) => ({ form, path: ["spec", ...path] });
  return (
    <>
      <LinesField
        {...field("domains")}
        label="Hosts"
        rows={2}
        hint="One per line, such as web.example.com or *.example.com."
      />
      <TextField
        {...field("image")}
        label="Image"
        placeholder="registry.example.com/team/web:1.0"
        hint="If empty, visitors see a placeholder page. A RemoteSync sets it."
      />
      <Pin form={form} />
      <EnvField {...field("env")} label="Environment variables" namespace={namespace} />
      <EnvFromField
        {...field("envFrom")}
        label="Variables from Secrets and ConfigMaps"
        namespace={namespace}
      />
      <NumberField {...field("replicas")} label="Pods" />
      <NumberField
        {...field("port")}
        label="Port"
        min={1}
        hint="The port it listens on, also passed as PORT. Defaults to 8080."
      />
      <More what="command, health check, resources, attributes">
        <LinesField
          {...field("command")}
          label="Command"
          hint="One word per line. Defaults to the image's command."
        />
        <LinesField {...field("args")} label="Arguments" hint="One per line." />
        <TextField
          {...field("healthCheck", "path")}
          label="Health check path"
          placeholder="/healthz"
          hint="Must return 200 if the application is healthy. Defaults to a TCP check of the port."
        />
        <PairsField
          {...field("resources", "requests")}
          label="Resource requests"
          hint="cpu: 100m, memory: 128Mi"
        />
        <PairsField {...field("resources", "limits")} label="Resource limits" />
        <PairsField {...field("attributes")} label="Attributes" hint="Chart parameters." />
        <TextField {...field("imagePullSecret")} label="Image pull Secret" />
        <TextField {...field("serviceAccount")} label="Pod ServiceAccount" />
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
