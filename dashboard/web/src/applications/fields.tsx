/** The form of an Application. */
import { z } from "zod";
import { Application } from "../../../../functions/paas/kinds/application.ts";
import { applications } from "../api/resource.ts";
import type { Path } from "../ui/form/draft.ts";
import { EnvField } from "../ui/form/env.tsx";
import { EnvFromField } from "../ui/form/envfrom.tsx";
import { LinesField, NumberField, TextField } from "../ui/form/field.tsx";
import type { Form } from "../ui/form/form.ts";
import { More } from "../ui/form/group.tsx";
import type { ObjectForm } from "../ui/form/object.tsx";
import { PairsField } from "../ui/form/pairs.tsx";

/** Paths of what is shown. */
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

/** What the forms of Applications are made of. */
export const applicationForm: ObjectForm<Application> = {
  resource: applications,
  place: ["/applications", "Applications"],
  schema: z.object({ spec: Application.definition?.spec ?? z.object() }),
  skeleton: { spec: {} },
  fields: shownFields,
  draftOf: (spec) => ({ spec }),
  specOf: ({ spec = {} }) => spec,
  content: (form) => <SpecFields form={form} />,
};

/** The fields. */
function SpecFields({ form }: { form: Form }) {
  const field = (...path: string[]) => ({ form, path: ["spec", ...path] });
  return (
    <>
      <LinesField
        {...field("domains")}
        label="Hosts"
        rows={2}
        hint="One in each line: web.example.com, *.example.com"
      />
      <TextField
        {...field("image")}
        label="Image"
        placeholder="registry.example.com/team/web:1.0"
        hint="Left empty, a page says that nothing is deployed yet. A RemoteSync fills it in."
      />
      <EnvField {...field("env")} label="Environment variables" />
      <EnvFromField {...field("envFrom")} label="Variables from all keys of" />
      <NumberField {...field("replicas")} label="Pods" />
      <NumberField
        {...field("port")}
        label="Port"
        min={1}
        hint="Where it listens, also in the variable PORT. 8080 unless given."
      />
      <More what="command, health check, resources, attributes">
        <LinesField
          {...field("command")}
          label="Command"
          hint="Words, one in each line. That of the image unless given."
        />
        <LinesField {...field("args")} label="Arguments" hint="One in each line." />
        <TextField
          {...field("healthCheck", "path")}
          label="Path of the health check"
          placeholder="/healthz"
          hint="Answers 200 when all is well. Without one, it is enough to listen."
        />
        <PairsField
          {...field("resources", "requests")}
          label="Resources that it asks for"
          hint="cpu: 100m, memory: 128Mi"
        />
        <PairsField {...field("resources", "limits")} label="Most that it gets" />
        <PairsField {...field("attributes")} label="Attributes" hint="Parameters of the chart." />
        <TextField {...field("imagePullSecret")} label="Secret to pull the image with" />
        <TextField {...field("serviceAccount")} label="ServiceAccount of its pods" />
      </More>
    </>
  );
}
