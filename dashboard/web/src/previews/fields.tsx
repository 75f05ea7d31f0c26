/** The form of an AppPipeline. */
import { z } from "zod";
import { AppPipeline } from "../../../../functions/paas/kinds/apppipeline.ts";
import { appPipelines } from "../api/resource.ts";
import { BuildFields, commitsOfPullRequest, ImageFields, shownBuildFields } from "../builds/buildfields.tsx";
import { RepositoryFields, TokenSecretField } from "../github/repository.tsx";
import { SwitchField } from "../ui/form/choices.tsx";
import type { Path } from "../ui/form/draft.ts";
import { EnvField } from "../ui/form/env.tsx";
import { ChoiceField, LinesField, NumberField, TextField } from "../ui/form/field.tsx";
import type { Form } from "../ui/form/form.ts";
import { Group, More } from "../ui/form/group.tsx";
import type { Draft, ObjectForm } from "../ui/form/object.tsx";

const github: Path = ["spec", "base", "github"];

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
  ["revision"],
  ["build", "env"],
].map((path) => ["spec", ...path]);

/** What the forms of AppPipelines are made of. */
export const pipelineForm: ObjectForm<AppPipeline> = {
  resource: appPipelines,
  place: ["/previews", "Previews"],
  schema: z.object({ spec: AppPipeline.definition?.spec ?? z.object() }),
  skeleton: { spec: { applicationTemplate: {}, base: { github: {} }, image: {} } },
  fields: [...fields, ...shownBuildFields],
  draftOf: (spec) => ({ spec }),
  // A template of which nothing is said is one all the same.
  specOf: ({ spec = {} }: Draft) => ({ applicationTemplate: {}, ...spec }),
  content: (form, namespace) => <Fields form={form} namespace={namespace} />,
};

function Fields({ form, namespace }: { form: Form; namespace: string }) {
  const field = (...path: string[]) => ({ form, path: ["spec", ...path] });
  return (
    <>
      <RepositoryFields form={form} at={github} />
      <TokenSecretField form={form} at={github} namespace={namespace} />
      <TextField
        {...field("domainBase")}
        label="Domain of the previews"
        placeholder="preview.example.com"
        hint="Each preview has a host of its own below it."
      />
      <ImageFields form={form} />
      <Group label="Which pull requests">
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
      </Group>
      <Group label="How many, and how long">
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
      </Group>
      <Group label="What GitHub is told">
        <SwitchField {...field("report", "commitStatus")} label="A status of the last commit" unset="on" />
        <SwitchField {...field("report", "comment")} label="A comment on the pull request" unset="on" />
        <SwitchField {...field("report", "deployment")} label="A deployment" unset="off" />
      </Group>
      <EnvField {...field("applicationTemplate", "spec", "env")} label="Environment variables of previews" />
      <More what="port, pods, folder, how it is built">
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
        <ChoiceField
          {...field("revision")}
          label="Which commit of a pull request"
          choices={commitsOfPullRequest}
        />
        <EnvField {...field("build", "env")} label="Environment variables of builds" from="values" />
        <BuildFields form={form} />
      </More>
    </>
  );
}
