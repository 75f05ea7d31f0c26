/** The form of an AppPipeline. */
import { z } from "zod";
import { AppPipeline } from "../../../../functions/paas/kinds/apppipeline.ts";
import { appPipelines } from "../api/resource.ts";
import { SwitchField } from "../ui/form/choices.tsx";
import type { Path } from "../ui/form/draft.ts";
import { EnvField } from "../ui/form/env.tsx";
import { ChoiceField, LinesField, NumberField, TextField } from "../ui/form/field.tsx";
import type { Form } from "../ui/form/form.ts";
import type { Draft, ObjectForm } from "../ui/form/object.tsx";

const fields: readonly Path[] = [
  ["base", "github", "owner"],
  ["base", "github", "repo"],
  ["base", "github", "secretName"],
  ["base", "subPath"],
  ["domainBase"],
  ["image", "name"],
  ["image", "secretName"],
  ["maxPreviews"],
  ["ttl"],
  ["pollInterval"],
  ["filter", "labels"],
  ["filter", "baseBranches"],
  ["filter", "drafts"],
  ["filter", "forks"],
  ["filter", "approvalLabel"],
  ["report", "commitStatus"],
  ["report", "deployment"],
  ["report", "comment"],
  ["applicationTemplate", "spec", "env"],
  ["applicationTemplate", "spec", "port"],
  ["applicationTemplate", "spec", "replicas"],
].map((path) => ["spec", ...path]);

/** What the forms of AppPipelines are made of. */
export const pipelineForm: ObjectForm<AppPipeline> = {
  resource: appPipelines,
  place: ["/previews", "Previews"],
  schema: z.object({ spec: AppPipeline.definition?.spec ?? z.object() }),
  skeleton: { spec: { applicationTemplate: {}, base: { github: {} }, image: {} } },
  fields,
  draftOf: (spec) => ({ spec }),
  // A template of which nothing is said is one all the same.
  specOf: ({ spec = {} }: Draft) => ({ applicationTemplate: {}, ...spec }),
  content: (form) => <Fields form={form} />,
};

function Fields({ form }: { form: Form }) {
  const field = (...path: string[]) => ({ form, path: ["spec", ...path] });
  return (
    <>
      <TextField {...field("base", "github", "owner")} label="Owner of the repository" placeholder="acme" />
      <TextField
        {...field("base", "github", "repo")}
        label="Repository"
        placeholder="web"
        hint="Its name, without the owner."
      />
      <TextField
        {...field("base", "github", "secretName")}
        label="Secret with the token of GitHub"
        hint="As an Installation with the format basic-auth keeps it, annotated with kpack.io/git."
      />
      <TextField
        {...field("domainBase")}
        label="Domain of the previews"
        placeholder="preview.example.com"
        hint="Each preview has a host of its own below it."
      />
      <TextField
        {...field("image", "name")}
        label="Where the images go"
        placeholder="registry.example.com/acme/web"
        hint="A repository of a registry, without a tag."
      />
      <TextField
        {...field("image", "secretName")}
        label="Secret with the credentials of the registry"
        hint="To push and to pull. None where the registry asks for none."
      />
      <fieldset>
        <legend>Which pull requests</legend>
        <LinesField
          {...field("filter", "labels")}
          label="Labels"
          rows={2}
          hint="One in each line: those that have all of them."
        />
        <LinesField
          {...field("filter", "baseBranches")}
          label="Branches that they are to be merged into"
          rows={2}
          hint="One in each line; * stands for any letters."
        />
        <SwitchField {...field("filter", "drafts")} label="Drafts as well" unset="on" />
        <ChoiceField
          {...field("filter", "forks")}
          label="From forks"
          choices={[
            ["", "When a commit is approved by a label (the default)"],
            ["Approved", "When a commit is approved by a label"],
            ["Never", "Never"],
            ["Always", "Always: strangers' code runs unseen"],
          ]}
        />
        <TextField
          {...field("filter", "approvalLabel")}
          label="Label that approves"
          placeholder="preview-approved"
        />
      </fieldset>
      <fieldset>
        <legend>How many, and how long</legend>
        <NumberField
          {...field("maxPreviews")}
          label="At most so many previews"
          hint="Others wait. Any number unless given."
        />
        <TextField
          {...field("ttl")}
          label="How long after its last commit a preview goes"
          placeholder="72h"
          hint="Such as 72h or 7d. Until the pull request is closed unless given."
        />
        <TextField
          {...field("pollInterval")}
          label="How often GitHub is asked"
          placeholder="5m"
          hint="Whatever becomes of webhooks."
        />
      </fieldset>
      <fieldset>
        <legend>What GitHub is told</legend>
        <SwitchField {...field("report", "commitStatus")} label="A status of the last commit" unset="on" />
        <SwitchField {...field("report", "comment")} label="A comment on the pull request" unset="on" />
        <SwitchField {...field("report", "deployment")} label="A deployment" unset="off" />
      </fieldset>
      <EnvField {...field("applicationTemplate", "spec", "env")} label="Environment variables of previews" />
      <details>
        <summary>More: port, pods, folder</summary>
        <div class="stack">
          <NumberField
            {...field("applicationTemplate", "spec", "port")}
            label="Port"
            min={1}
            hint="Where previews listen. 8080 unless given."
          />
          <NumberField {...field("applicationTemplate", "spec", "replicas")} label="Pods of each preview" />
          <TextField
            {...field("base", "subPath")}
            label="Folder of the repository"
            placeholder="services/web"
          />
        </div>
      </details>
    </>
  );
}
